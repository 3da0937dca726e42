"""The verdict: what an attacker gains from a release, in plain words for whoever must decide."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from understudy.audit.advice import Advice, give_advice
from understudy.audit.disagreements import find_disagreements
from understudy.audit.findings import Figure, Findings, ReleaseFindings
from understudy.audit.levels import (
    LARGE_GAIN,
    LARGE_SHARE,
    STANDARD_ERRORS,
    Evidence,
    Gain,
    Level,
    gain_of,
    uniform_prior,
    weigh,
)
from understudy.audit.measures import figure_kinds
from understudy.audit.tradeoff import tradeoff, utility_sentences
from understudy.wording import (
    listed,
    people,
    percent,
    points,
    quoted,
    sentence,
    times_by_bits,
)

LEVELS: tuple[Level, ...] = ("high", "raised", "unknown", "low")
"""The most serious first. What is unknown may hide anything, so it is never taken for low."""

TITLES = {
    "high": "High risk",
    "raised": "Raised risk",
    "unknown": "Risk unknown",
    "low": "Low risk, as far as tested",
}
STRONGEST = "an attacker who knows the model and everyone else's record"


@dataclass(frozen=True)
class ReleaseVerdict:
    """The verdict on one release.

    Parameters
    ----------
    name : str
        The release.
    level : {"low", "raised", "high", "unknown"}
        How much an attacker gains.
    headline : str
        The level and its reason, in a sentence.
    sentences : tuple of str
        What was found, in plain words.
    disagreements : tuple of str
        Measures that disagree and why, and measures that are undefined.
    advice : tuple of Advice
        What to try next.
    """

    name: str
    level: Level
    headline: str
    sentences: tuple[str, ...]
    disagreements: tuple[str, ...]
    advice: tuple[Advice, ...]


@dataclass(frozen=True)
class Verdict:
    """The verdict on all releases of an audit.

    Parameters
    ----------
    level : {"low", "raised", "high", "unknown"}
        The most serious level of a release; unknown counts as more serious than low.
    headline : str
        The level and its reason, in a sentence.
    sentences : tuple of str
        What the attacker knows, what counts as a gain, and how the releases compare.
    releases : tuple of ReleaseVerdict
        The verdict on each release.
    """

    level: Level
    headline: str
    sentences: tuple[str, ...]
    releases: tuple[ReleaseVerdict, ...]


def give_verdict(findings: Findings) -> Verdict:
    """Say in plain words what an attacker gains from the releases of an audit.

    The verdict rests on the gain over what is guessed without the release, never on the height of
    a single measure. It says what was tried; what was not tried may tell more.

    Parameters
    ----------
    findings : Findings
        What the audit found.

    Returns
    -------
    Verdict

    Notes
    -----
    The levels, and the limits that decide them, are explained in `understudy.audit.levels`.

    Examples
    --------
    >>> gcap = Figure("gcap", "GCAP", "", baseline=0.61, synthetic=0.65, gain=0.04)
    >>> release = ReleaseFindings("cart.csv", "", 1, 1000, figures=(gcap,))
    >>> give_verdict(Findings("1", "", 0, 0, "", "quick", 1000, 5, ("age",), None, "income", "",
    ...                       (release,))).headline
    "Raised risk: with the release, 'income' is guessed correctly for 65.0% of the people; without
    it, for 61.0%."
    """
    verdicts = tuple(_judge(findings, release) for release in findings.releases)
    level: Level = min((one.level for one in verdicts), key=LEVELS.index, default="unknown")
    if not verdicts:
        headline = f"{TITLES['unknown']}: no release was audited."
    elif len(verdicts) == 1:
        headline = verdicts[0].headline
    else:
        headline = _headline_of_several(verdicts)
    return Verdict(level, headline, tuple(_overall(findings)), verdicts)


def _judge(findings: Findings, release: ReleaseFindings) -> ReleaseVerdict:
    evidence = weigh(findings, release)
    sentences = (
        *attack_sentences(findings, release),
        certain_sentence(findings, release),
        *control_sentences(evidence),
        *utility_sentences(release.utility),
    )
    return ReleaseVerdict(
        release.name,
        evidence.level,
        f"{TITLES[evidence.level]}: {_reason(findings, release, evidence)}",
        sentences,
        find_disagreements(findings, release),
        give_advice(findings, release, evidence),
    )


def _sensitive(findings: Findings) -> str:
    return quoted([findings.sensitive]) if findings.sensitive else "the sensitive column"


def _reason(findings: Findings, release: ReleaseFindings, evidence: Evidence) -> str:
    sensitive = _sensitive(findings)
    strong, largest = release.strong, evidence.largest
    if evidence.copy:
        return (
            f"the release is a copy of the original, or nearly one. It holds "
            f"{percent(release.copied)} of the {release.one_of_a_kind:,} original records that are "
            "like no other."
        )
    if evidence.certain and strong is not None:
        return (
            f"{sensitive} is certain to be disclosed for {evidence.certain:,} of "
            f"{people(strong.records)}, to {STRONGEST}."
        )
    if largest is not None and largest.size != "none":
        return (
            f"with the release, {sensitive} is guessed correctly for "
            f"{percent(largest.figure.synthetic)} of the people; without it, for "
            f"{percent(largest.figure.baseline)}."
        )
    if evidence.level in {"raised", "high"} and strong is not None:
        return (
            f"{STRONGEST} learns something about {sensitive} for some people: a true value becomes "
            f"up to {times_by_bits(strong.max_gain_bits)} as probable."
        )
    if evidence.level == "unknown" and evidence.too_few:
        return (
            f"too few people differ in {sensitive}, or there are too few people, to tell a gain "
            "from chance."
        )
    if evidence.level == "unknown":
        if not findings.sensitive:
            return "no sensitive column was named."
        main = [kind.title for kind in figure_kinds() if kind.question == "ordinary"]
        return f"none of the main measures ({listed(main)}) could be computed."
    tried = [one.figure.title for one in evidence.gains if one.size == "none"]
    tried += ["the strong attacker"] if strong is not None else []
    return (
        f"beyond chance, the release does not help to guess {sensitive} (tried: {listed(tried)})."
    )


def attack_sentences(findings: Findings, release: ReleaseFindings) -> Iterator[str]:
    """Yield what is guessed without the release, with it, and with the original."""
    sensitive, everybody = _sensitive(findings), people(findings.rows)
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
            f"{_with_original(gcap, release)}. {_gain_in_words(gain_of(gcap, findings.rows))}"
        )
    if vote is not None:
        without = "" if gcap is not None else f"; without it, for {percent(vote.baseline)}"
        yield (
            "A vote of classifiers trained on the release is correct for "
            f"{_with_original(vote, release)}{without}. "
            f"{_gain_in_words(gain_of(vote, findings.rows))}"
        )
    if icap is not None:
        yield (
            "Among the people whose keys occur in the release (ICAP), the guess is correct for "
            f"{_with_original(icap, release)}; without the release, for {percent(icap.baseline)}."
        )


def _known(figure: Figure | None) -> Figure | None:
    return figure if figure is not None and not math.isnan(figure.synthetic) else None


def knowledge(findings: Findings) -> str:
    """Return what the attacker knows about a person."""
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


def _gain_in_words(found: Gain) -> str:
    if found.size == "unknown":
        return "What the release adds is not known."
    if round(found.gain, 4) <= 0:
        fewer = f": {points(found.gain)} fewer" if round(found.gain, 3) < 0 else ""
        return f"The release adds nothing{fewer}."
    chance = points(found.noise)
    added = f"The release adds {points(found.gain)}, about {people(found.people)}"
    if found.size == "none":
        return f"{added}. Chance alone explains {chance}, so this counts as none."
    large = ", and it is large" if found.size == "large" else ""
    return f"{added}. This is more than the {chance} that chance explains{large}."


def certain_sentence(findings: Findings, release: ReleaseFindings) -> str:
    """Say how many people are certain to be disclosed."""
    strong = release.strong
    if strong is None:
        if "strong" in release.errors:
            why = f"because the strong attacker failed: {sentence(release.errors['strong'])}"
        elif release.method:
            why = f"because the strong attacker was not run (measures: {findings.measures})."
        else:
            why = "because the model was not given."
        return f"How many people are certain to be disclosed is not known, {why}"
    everybody = people(strong.records)
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
        f"For people who are not in the data, the same attack ({figure.title}) is correct for "
        f"{percent(figure.control)}"
    )
    if found.size == "none":
        yield f"{start}. There is no gain beyond chance for either group."
    elif round(own, 3) <= 0:
        yield (
            f"{start}, no less often. What the release reveals is true of everybody, not only of "
            "the people in the data."
        )
    elif found.gain > own:
        yield (
            f"{start}. So {points(own)} of the gain of {points(found.gain)} concern the people in "
            "the data; the rest is true of everybody."
        )
    else:
        yield (
            f"{start}, {points(own)} less often. The whole gain concerns the people in the data."
        )


def _overall(findings: Findings) -> Iterator[str]:
    """Yield what was assumed, what counts, and how the releases compare."""
    yield (
        f"The attacker wants to learn a person's {_sensitive(findings).removeprefix('the ')}, and "
        f"knows {knowledge(findings)}."
    )
    yield (
        "What counts is the gain over a guess without the release. A gain within "
        f"{STANDARD_ERRORS:.0f} standard errors of 0 counts as none, because chance explains it. A "
        f"gain is large from {points(LARGE_GAIN)}, or from {percent(LARGE_SHARE, 0)} of the "
        "guesses that were wrong. The risk is high if a gain is large or somebody is certain to "
        "be disclosed. It is raised if there is any gain, or if someone's true value becomes "
        "twice as probable."
    )
    if len(findings.releases) > 1:
        yield from _comparison(findings)
    yield (
        "These are the results of the attacks that were tried. Someone who knows more about a "
        "person than these keys, or tries something else, may learn more."
    )


def _comparison(findings: Findings) -> Iterator[str]:
    compared = tradeoff(findings)
    if compared is None:
        yield "The releases cannot be compared: they have no measures of risk and use in common."
        return
    best = compared.frontier()
    rest = [place.name for place in compared.places if place not in best]
    named = listed([place.name for place in best])
    text = (
        f"By risk (gain over the baseline) and loss of use ({compared.loss_name}), {named} "
        f"{'is' if len(best) == 1 else 'are'} worth choosing: no other release has less of both."
    )
    if rest:
        text += (
            f" For {listed(rest)}, another release is at least as good in both and better in one."
        )
    text += f" Differences of up to {points(compared.risk_noise)} of risk"
    if compared.loss_noise:
        text += f", and of {points(compared.loss_noise)} of correct predictions,"
    text += f" count as none: they are within {STANDARD_ERRORS:.0f} standard errors of a share."
    absent = len(findings.releases) - len(compared.places)
    if absent:
        text += f" {absent} could not be compared, because measures are missing."
    yield text


def _headline_of_several(verdicts: Sequence[ReleaseVerdict]) -> str:
    parts = [
        f"{level} for {listed([one.name for one in verdicts if one.level == level])}"
        for level in LEVELS
        if any(one.level == level for one in verdicts)
    ]
    return f"Of {len(verdicts)} releases, as far as tested, the risk is {'; '.join(parts)}."
