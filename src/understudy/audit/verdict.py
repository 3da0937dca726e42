"""The verdict: what an attacker gains from a release, in plain words for one who must decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from understudy.audit.advice import Advice, give_advice
from understudy.audit.disagreements import find_disagreements
from understudy.audit.evidence import (
    LARGE_GAIN,
    LARGE_SHARE,
    STANDARD_ERRORS,
    Evidence,
    Level,
    weigh,
)
from understudy.audit.findings import Findings, ReleaseFindings
from understudy.audit.phrases import column, count_of, listed, percent, points, scale
from understudy.audit.sentences import (
    attack_sentences,
    certain_sentence,
    control_sentences,
    knowledge,
)
from understudy.audit.tradeoff import tradeoff, utility_sentences

LEVELS: tuple[Level, ...] = ("high", "raised", "unknown", "low")
"""The most serious first. What is unknown may hide anything, so it is never taken for low."""

_TITLES = {
    "high": "High risk",
    "raised": "Raised risk",
    "unknown": "Risk unknown",
    "low": "Low risk by what was tried",
}


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
    The levels, and the limits that decide them, are explained in `understudy.audit.evidence`.

    Examples
    --------
    >>> from understudy.audit.findings import Figure
    >>> gcap = Figure("gcap", "GCAP", "", baseline=0.61, synthetic=0.65, gain=0.04)
    >>> release = ReleaseFindings("cart.csv", "", 1, 1000, figures=(gcap,))
    >>> give_verdict(Findings("1", "", 0, 0, "", "quick", 1000, 5, ("age",), None, "income", "",
    ...                       (release,))).headline[:58]
    'Raised risk: with the release, income is guessed right for'
    """
    verdicts = tuple(_judge(findings, release) for release in findings.releases)
    level: Level = min((one.level for one in verdicts), key=LEVELS.index, default="unknown")
    if not verdicts:
        headline = f"{_TITLES['unknown']}: no release was audited."
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
        f"{_TITLES[evidence.level]}: {_reason(findings, release, evidence)}",
        sentences,
        find_disagreements(findings, release),
        give_advice(findings, release, evidence),
    )


def _reason(findings: Findings, release: ReleaseFindings, evidence: Evidence) -> str:
    sensitive = column(findings.sensitive)
    strong, largest = release.strong, evidence.largest
    if evidence.copy:
        return (
            f"the release is a copy of the original, or as good as one: it holds "
            f"{percent(release.copied)} of the {release.one_of_a_kind:,} original records that no "
            "other is like."
        )
    if evidence.certain and strong is not None:
        return (
            f"{sensitive} of {evidence.certain:,} of {count_of(strong.records)} is certain to be "
            "disclosed to one who knows the model and all other records."
        )
    if largest is not None and largest.size != "none":
        return (
            f"with the release, {sensitive} is guessed right for "
            f"{percent(largest.figure.synthetic)} of the people, without it for "
            f"{percent(largest.figure.baseline)}."
        )
    if evidence.level in {"raised", "high"} and strong is not None:
        return (
            f"one who knows the model and all other records learns {sensitive} of some people: "
            f"a true value becomes up to {scale(strong.max_gain_bits)} as probable."
        )
    if evidence.level == "unknown" and evidence.too_few:
        return (
            f"there are too few people, or too few with another value of {sensitive} than the "
            "commonest, to tell a gain from chance."
        )
    if evidence.level == "unknown":
        why = "no sensitive column was named" if not findings.sensitive else ""
        return f"{why or 'neither of the main measures (GCAP, the vote) could be taken'}."
    tried = [one.figure.title for one in evidence.gains if one.size == "none"]
    tried += ["the strong attacker"] if strong is not None else []
    return (
        f"with the release, {sensitive} is guessed no better than without it, beyond chance "
        f"(tried: {listed(tried)})."
    )


def _overall(findings: Findings) -> Iterator[str]:
    """Yield what was assumed, what counts, and how the releases compare."""
    yield (
        f"The attacker wants to learn {column(findings.sensitive)} of a person, and knows "
        f"{knowledge(findings)}."
    )
    yield (
        f"What counts is the gain over a guess without the release. Within "
        f"{STANDARD_ERRORS:.0f} standard errors of 0 it counts as none, since chance explains it; "
        f"from {points(LARGE_GAIN)}, or from {percent(LARGE_SHARE, 0)} of the guesses that were "
        "wrong, as large. The risk is high if a gain is large or anybody is certain to be "
        "disclosed, and raised if there is any gain, or somebody's true value becomes twice as "
        "probable."
    )
    if len(findings.releases) > 1:
        yield from _comparison(findings)
    yield (
        "This is what came of the attacks that were tried. One who knows more of a person than "
        "these keys, or tries something else, may learn more."
    )


def _comparison(findings: Findings) -> Iterator[str]:
    compared = tradeoff(findings)
    if compared is None:
        yield "The releases cannot be compared, for want of measures of risk and use in common."
        return
    best = compared.frontier()
    rest = [place.name for place in compared.places if place not in best]
    named = listed([place.name for place in best])
    text = (
        f"By risk (gain over the baseline) and loss of use ({compared.loss_name}), {named} "
        f"{'is' if len(best) == 1 else 'are'} worth a choice: no other release has less of both."
    )
    if rest:
        text += f" For {listed(rest)} there is one that is no worse in either and better in one."
    text += f" Differences of up to {points(compared.risk_noise)} of risk"
    if compared.loss_noise:
        text += f", and of {points(compared.loss_noise)} of right predictions,"
    text += f" count as none: they are within {STANDARD_ERRORS:.0f} standard errors of a share."
    absent = len(findings.releases) - len(compared.places)
    if absent:
        text += f" {absent} could not be compared, for want of measures."
    yield text


def _headline_of_several(verdicts: Sequence[ReleaseVerdict]) -> str:
    parts = [
        f"{level} for {listed([one.name for one in verdicts if one.level == level])}"
        for level in LEVELS
        if any(one.level == level for one in verdicts)
    ]
    return f"Of {len(verdicts)} releases, the risk by what was tried is {'; '.join(parts)}."
