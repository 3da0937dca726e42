"""What the verdict says of the attacks on one release, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator

from understudy.audit.answers import Evidence
from understudy.audit.clues import STRONGEST
from understudy.audit.findings import Figure, Findings, ReleaseFindings
from understudy.audit.levels import gain_of, uniform_prior
from understudy.audit.privacy_findings import INSIDE
from understudy.wording import percent, points, quoted, sentence, times_by_bits


def sensitive_column(findings: Findings) -> str:
    """Return the name of the sensitive column in quotes, or what to call it without one."""
    return quoted([findings.sensitive]) if findings.sensitive else "the sensitive column"


def privacy_sentences(release: ReleaseFindings) -> Iterator[str]:
    """Yield what is claimed, demonstrated and measured of a private release, a sentence each."""
    if release.privacy is None:
        return
    for title, text in release.privacy.lines():
        yield f"{title}: {text}"
    yield INSIDE


def attack_sentences(findings: Findings, release: ReleaseFindings) -> Iterator[str]:
    """Yield what is guessed without the release, with it, and with the original."""
    sensitive, everybody = sensitive_column(findings), findings.everybody
    gcap, vote, icap = (_known(release.figure(name)) for name in ("gcap", "vote", "icap"))
    if gcap is not None:
        if gcap.baseline >= 1:
            yield (
                f"All {everybody} of the original have the same value of {sensitive}. Everybody "
                "can know it without a release, and there is nothing to learn."
            )
        yield (
            f"Without the release, an attacker guesses {sensitive} correctly for "
            f"{percent(gcap.baseline)} of {everybody}. An attacker who knows {knowledge(findings)} "
            "and looks up the most similar records (GCAP) guesses correctly for "
            f"{_with_original(gcap, release)}. "
            f"{_gain_in_words(findings, gcap)}"
        )
    if vote is not None:
        without = "" if gcap is not None else f"; without it, for {percent(vote.baseline)}"
        yield (
            "A vote of classifiers trained on the release is correct for "
            f"{_with_original(vote, release)}{without}. "
            f"{_gain_in_words(findings, vote)}"
        )
    if icap is not None:
        yield (
            f"Among the {findings.units.many} whose keys occur in the release (ICAP), the guess is "
            "correct for "
            f"{_with_original(icap, release)}; without the release, for {percent(icap.baseline)}."
        )


def _known(figure: Figure | None) -> Figure | None:
    return figure if figure is not None and not math.isnan(figure.synthetic) else None


def knowledge(findings: Findings) -> str:
    """Return what the attacker knows."""
    keys = quoted(findings.keys) or "nothing else"
    if findings.known is None or findings.known >= len(findings.keys):
        return keys
    return f"{findings.known} of the {len(findings.keys)} keys {keys}"


def _with_original(figure: Figure, release: ReleaseFindings) -> str:
    spread = ""
    if release.syntheses > 1 and not math.isnan(figure.spread):
        spread = f" (± {points(figure.spread)} over {release.syntheses} syntheses)"
    own = "" if math.isnan(figure.original) else f" ({percent(figure.original)} with the original)"
    return f"{percent(figure.synthetic)}{spread}{own}"


def _gain_in_words(findings: Findings, figure: Figure) -> str:
    found = gain_of(figure, findings.counted, findings.limits)
    if found.size == "unknown":
        return "What the release adds is not known."
    if round(found.gain, 4) <= 0:
        fewer = f": {points(found.gain)} fewer" if round(found.gain, 3) < 0 else ""
        return f"The release adds nothing{fewer}."
    chance = points(found.noise)
    added = f"The release adds {points(found.gain)}, about {findings.units.count(found.people)}"
    if found.size == "none":
        return f"{added}. Chance alone explains {chance}, so this counts as none."
    large = ", and it is large" if found.size == "large" else ""
    return f"{added}. This is more than the {chance} that chance explains{large}."


def certain_sentence(findings: Findings, release: ReleaseFindings) -> str:
    """Say how many are certain to be disclosed."""
    strong = release.strong
    if strong is None:
        if release.privacy is not None:
            why = "because the model learnt with noise that nobody can draw again."
        elif "strong" in release.errors:
            why = f"because the strong attacker failed: {sentence(release.errors['strong'])}"
        elif release.method:
            why = f"because the strong attacker was not run (measures: {findings.measures})."
        else:
            why = "because the model was not given."
        return f"How many {findings.units.many} are certain to be disclosed is not known, {why}"
    everybody = findings.units.count(strong.records)
    if strong.certain:
        are = "is" if strong.certain == 1 else "are"
        share = percent(strong.certain / strong.records)
        who = f"{strong.certain:,} of {everybody} ({share}) {are}"
    else:
        who = f"None of {everybody} is"
    first = f"{who} certain to be disclosed to {STRONGEST}."
    most = strong.max_gain_bits
    if not math.isnan(most):
        first += (
            f" At most, someone's true value becomes {times_by_bits(most)} as probable "
            f"({most:.2f} bits)."
        )
    if uniform_prior(strong) or math.isnan(strong.accuracy_after):
        return first
    return (
        f"{first} This attacker guesses correctly for {percent(strong.accuracy_before)} without "
        f"the release and for {percent(strong.accuracy_after)} with it."
    )


def control_sentences(findings: Findings, evidence: Evidence) -> Iterator[str]:
    """Yield how much of the gain concerns those in the data."""
    many = findings.units.many
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
        f"For {many} that are not in the data, the same attack ({figure.title}) is correct for "
        f"{percent(figure.control)}"
    )
    if found.size == "none":
        yield f"{start}. There is no gain beyond chance for either group."
    elif round(own, 3) <= 0:
        yield (
            f"{start}, no less often. What the release reveals is true of everybody, not only of "
            f"the {many} in the data."
        )
    elif found.gain > own:
        yield (
            f"{start}. So {points(own)} of the gain of {points(found.gain)} concern the {many} in "
            "the data; the rest is true of everybody."
        )
    else:
        yield (
            f"{start}, {points(own)} less often. The whole gain concerns the {many} in the data."
        )
