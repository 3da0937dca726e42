"""What was found about a release, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator

from understudy.audit.evidence import Evidence, Gain, gain_of, uniform_prior
from understudy.audit.findings import Figure, Findings, ReleaseFindings
from understudy.audit.phrases import column, count_of, ended, listed, percent, points, scale


def attack_sentences(findings: Findings, release: ReleaseFindings) -> Iterator[str]:
    """Yield what is guessed right without the release, with it, and with the original."""
    sensitive = column(findings.sensitive)
    people = count_of(findings.rows)
    gcap, vote, icap = (_known(release.figure(name)) for name in ("gcap", "vote", "icap"))
    if gcap is not None:
        if gcap.baseline >= 1:
            yield (
                f"All {people} of the original have the same {sensitive}. Everybody can know it "
                "without a release, and there is nothing to learn."
            )
        yield (
            f"Without the release, an attacker guesses {sensitive} right for "
            f"{percent(gcap.baseline)} of {people}. One who knows {knowledge(findings)} and looks "
            f"up the records most alike (GCAP) is right for "
            f"{_with_original(gcap, release)}. {_gain_in_words(gain_of(gcap, findings.rows))}"
        )
    if vote is not None:
        without = "" if gcap is not None else f", against {percent(vote.baseline)} without it"
        yield (
            f"The vote of classifiers that learn from it is right for "
            f"{_with_original(vote, release)}{without}. "
            f"{_gain_in_words(gain_of(vote, findings.rows))}"
        )
    if icap is not None:
        yield (
            f"Counting only people whose keys occur in the release (ICAP), the guess is right for "
            f"{_with_original(icap, release)}; without the release for {percent(icap.baseline)}."
        )


def _known(figure: Figure | None) -> Figure | None:
    return figure if figure is not None and not math.isnan(figure.synthetic) else None


def knowledge(findings: Findings) -> str:
    """Return what the attacker knows of a person."""
    keys = listed(findings.keys) or "nothing else"
    if findings.known is None or findings.known == len(findings.keys):
        return keys
    return f"{findings.known} of the {len(findings.keys)} keys {keys}"


def _with_original(figure: Figure, release: ReleaseFindings) -> str:
    spread = ""
    if release.syntheses > 1 and not math.isnan(figure.spread):
        spread = f" (± {points(figure.spread)} over {release.syntheses} syntheses)"
    own = "" if math.isnan(figure.original) else f", with the original {percent(figure.original)}"
    return f"{percent(figure.synthetic)} with the release{spread}{own}"


def _gain_in_words(found: Gain) -> str:
    if found.size == "unknown":
        return "What the release adds is not known."
    if round(found.gain, 4) <= 0:
        fewer = f": {points(found.gain)} fewer" if round(found.gain, 3) < 0 else ""
        return f"The release adds nothing{fewer}."
    chance = points(found.noise)
    added = f"The release adds {points(found.gain)}, about {count_of(found.people)}"
    if found.size == "none":
        return f"{added}; chance alone explains {chance}, so this counts as none."
    large = ", and this is large" if found.size == "large" else ""
    return f"{added}: more than the {chance} that chance explains{large}."


def certain_sentence(findings: Findings, release: ReleaseFindings) -> str:
    """Say how many people are certain to be disclosed."""
    strong = release.strong
    if strong is None:
        if "strong" in release.errors:
            why = f"since the strong attacker failed: {ended(release.errors['strong'])}"
        elif release.method:
            why = f"since the strong attacker was not run (measures: {findings.measures})."
        else:
            why = "since the model was not given."
        return f"How many people are certain to be disclosed is not known, {why}"
    of_all = f"of {strong.records:,}"
    if strong.certain:
        are = "is" if strong.certain == 1 else "are"
        first = (
            f"{count_of(strong.certain)} {of_all} ({percent(strong.certain / strong.records)}) "
            f"{are} certain to be disclosed to one who knows the model and all other records"
        )
    else:
        first = (
            f"Nobody {of_all} is certain to be disclosed to one who knows the model and all other "
            "records"
        )
    most = strong.max_gain_bits
    if not math.isnan(most):
        first += (
            f"; at most, somebody's true value becomes {scale(most)} as probable ({most:.2f} bits)"
        )
    if uniform_prior(strong) or math.isnan(strong.accuracy_after):
        return f"{first}."
    return (
        f"{first}. This attacker is right for {percent(strong.accuracy_before)} without the "
        f"release and for {percent(strong.accuracy_after)} with it."
    )


def control_sentences(evidence: Evidence) -> Iterator[str]:
    """Yield how much of the gain concerns people in the data."""
    known = [
        one
        for one in evidence.gains
        if one.size != "unknown" and not math.isnan(one.figure.control)
    ]
    found = max(known, key=lambda one: one.gain, default=None)
    if found is None:
        return
    figure = found.figure
    own = figure.synthetic - figure.control
    start = (
        f"For people who are not in the data, the same attack ({figure.title}) is right for "
        f"{percent(figure.control)}"
    )
    if found.size == "none":
        yield f"{start}. There is no gain beyond chance that could concern one or the other."
    elif round(own, 3) <= 0:
        yield (
            f"{start}, no less often. What the release tells is told of everybody, and is not "
            "particular to the people in the data."
        )
    elif found.gain > own:
        yield (
            f"{start}. So {points(own)} of the gain of {points(found.gain)} concern the people in "
            "the data; the rest is told of everybody."
        )
    else:
        yield (
            f"{start}, {points(own)} less often. The whole gain concerns the people in the data."
        )
