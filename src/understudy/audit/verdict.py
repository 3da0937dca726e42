"""The verdict: what an attacker gains from a release, in plain words for whoever must decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from understudy.audit.advice import Advice, give_advice
from understudy.audit.answers import Answer, Evidence, weigh
from understudy.audit.disagreements import find_disagreements
from understudy.audit.findings import Findings, ReleaseFindings
from understudy.audit.levels import LEVELS, Level
from understudy.audit.limits import NAMES, Limits
from understudy.audit.measures.declaration import Question
from understudy.audit.tradeoff import in_order, lost_sentences, tradeoff, utility_sentences
from understudy.audit.verdict_sentences import (
    attack_sentences,
    certain_sentence,
    control_sentences,
    knowledge,
    privacy_sentences,
    sensitive_column,
)
from understudy.wording import (
    listed,
    percent,
    points,
)

TITLES: Mapping[Level, str] = {
    "high": "High risk",
    "raised": "Raised risk",
    "not measured": "Low as far as measured",
    "low": "Low risk, as far as tested",
}
_CONDITIONS: Mapping[Level, str] = {
    "raised": " only if you accept a raised risk",
    "not measured": " only after more is measured",
}


@dataclass(frozen=True)
class ReleaseVerdict:
    """The verdict on one release.

    Parameters
    ----------
    name : str
        The release.
    level : {"low", "raised", "high", "not measured"}
        The most serious of the three answers; low only if all of them were measured.
    answers : mapping
        The answers to "records" (are people's records in it?), "ordinary" and "strongest" (what
        does it tell these attackers?).
    headline : str
        The level and its reason, in a sentence.
    sentences : tuple of str
        What was found, in plain words.
    disagreements : tuple of str
        Measures that disagree and why, and measures that are undefined.
    advice : tuple of Advice
        What to try next.
    lost : str
        The strong correlations that the release has lost, in words; empty if there are none.
    """

    name: str
    level: Level
    answers: Mapping[Question, Answer]
    headline: str
    sentences: tuple[str, ...]
    disagreements: tuple[str, ...]
    advice: tuple[Advice, ...]
    lost: str = ""


@dataclass(frozen=True)
class Verdict:
    """The verdict on all releases of an audit.

    Parameters
    ----------
    level : {"low", "raised", "high", "not measured"}
        That of the release; of several, that of the first in `order`.
    headline : str
        The level and its reason, in a sentence.
    sentences : tuple of str
        What the attacker knows, what counts as a gain, and how the releases compare.
    releases : tuple of ReleaseVerdict
        The verdict on each release.
    order : tuple of str
        The names of the releases, the one to choose first.
    choice : str
        Of several releases the first in `order`; empty if there is one, or the risk of all is high.
    """

    level: Level
    headline: str
    sentences: tuple[str, ...]
    releases: tuple[ReleaseVerdict, ...]
    order: tuple[str, ...] = ()
    choice: str = ""


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
    >>> from understudy.audit.findings import Figure
    >>> gcap = Figure("gcap", "GCAP", "", baseline=0.61, synthetic=0.65, gain=0.04)
    >>> release = ReleaseFindings("cart.csv", "", 1, 1000, figures=(gcap,))
    >>> found = give_verdict(Findings("1", "", 0, 0, "", "quick", 1000, 5, ("age",), None,
    ...                               "income", "", (release,)))
    >>> found.level, found.releases[0].answers["records"].level
    ('raised', 'not measured')
    """
    verdicts = tuple(_judge(findings, release) for release in findings.releases)
    if not verdicts:
        headline = "Nothing was measured: no release was audited."
        return Verdict("not measured", headline, tuple(_overall(findings)), ())
    order = in_order(findings)
    first = next(one for one in verdicts if one.name == order[0])
    choice, headline = "", first.headline
    if len(verdicts) > 1:
        choice = "" if first.level == "high" else first.name
        headline = _headline_of_several(first, verdicts)
    return Verdict(first.level, headline, tuple(_overall(findings)), verdicts, order, choice)


def _judge(findings: Findings, release: ReleaseFindings) -> ReleaseVerdict:
    evidence = weigh(findings, release)
    sentences = (
        *privacy_sentences(release),
        *attack_sentences(findings, release),
        certain_sentence(findings, release),
        *control_sentences(findings, evidence),
        *utility_sentences(release.utility),
    )
    return ReleaseVerdict(
        release.name,
        evidence.level,
        evidence.answers,
        _headline(findings, evidence),
        sentences,
        find_disagreements(findings, release),
        give_advice(findings, release, evidence),
        " ".join(lost_sentences(release.utility)),
    )


def _headline(findings: Findings, evidence: Evidence) -> str:
    """Return the overall word, and what decided it."""
    level, answers = evidence.level, evidence.answers
    if level in {"high", "raised"}:
        first = next(one for one in answers.values() if one.level == level)
        return f"{TITLES[level]}: {_lowered(first.sentence)}"
    if level == "low":
        return (
            f"{TITLES['low']}: no more of the original's records than chance explains, and beyond "
            f"chance the release does not help to guess {sensitive_column(findings)}."
        )
    reasons = _lowered(_open_questions(findings, answers))
    if any(one.level == "low" for one in answers.values()):
        return f"{TITLES[level]}; {reasons}"
    return f"None of the three questions could be answered: {reasons}"


def _open_questions(findings: Findings, answers: Mapping[Question, Answer]) -> str:
    """Return what was not measured, and why."""
    asked: dict[Question, str] = {
        "records": f"It is not known whether the original's {findings.units.many} are in it. ",
        "ordinary": "It is not known what it tells an ordinary attacker. ",
    }
    return " ".join(
        f"{asked.get(question, '')}{answer.sentence}"
        for question, answer in answers.items()
        if answer.level == "not measured"
    )


def _lowered(sentence: str) -> str:
    """Return a sentence as it goes on after a colon; names of measures keep their capitals."""
    first = sentence.split(" ", 1)[0]
    return sentence if any(map(str.isupper, first[1:])) else sentence[0].lower() + sentence[1:]


def _overall(findings: Findings) -> Iterator[str]:
    """Yield what was assumed, what counts, and how the releases compare."""
    yield (
        f"The attacker wants to learn {sensitive_column(findings)} of {findings.units.any}, and "
        f"knows {knowledge(findings)}."
    )
    limits = findings.limits
    yield (
        "Three questions are asked: whether original records are in the release, what it tells an "
        "ordinary attacker, and what the strongest. The worst answer decides, and the risk is low "
        "only if all three were answered. What counts is the gain over a guess without the "
        f"release. A gain within {limits.standard_errors:.0f} standard errors of 0 counts as none, "
        f"because chance explains it. A gain is large from {points(limits.large_gain)}, or from "
        f"{percent(limits.large_share, 0)} of the guesses that were wrong. Only what is told about "
        f"{findings.units.many} because they are in the data can be high; control records tell it "
        "apart from a pattern."
    )
    if other := other_limits(limits):
        yield other
    if len(findings.releases) > 1:
        yield from _comparison(findings)
    yield (
        "These are the results of the attacks that were tried. Someone who knows more about "
        f"{findings.units.any} than these keys, or tries something else, may learn more."
    )


def other_limits(limits: Limits) -> str:
    """Say which limits are not the defaults; empty if all are.

    Examples
    --------
    >>> other_limits(Limits(power=0.1))
    'The verdict rests on limits of your own: power is 0.1 (by default 0.05).'
    """
    changed = [
        f"{name} is {getattr(limits, name):g} (by default {default:g})"
        for name in NAMES
        if getattr(limits, name) != (default := getattr(Limits(), name))
    ]
    return f"The verdict rests on limits of your own: {listed(changed)}." if changed else ""


def _comparison(findings: Findings) -> Iterator[str]:
    compared = tradeoff(findings)
    if compared is None:
        yield "The releases cannot be compared: they have no measures of risk and use in common."
        return
    best = compared.frontier()
    if not best:
        yield "None of the releases is worth choosing: the risk of each is high."
        return
    high = [place.name for place in compared.places if place.level == "high"]
    rest = [place.name for place in compared.places if place not in best and place.name not in high]
    named = listed([place.name for place in best])
    text = (
        f"By risk ({compared.risk_name}) and loss of use ({compared.loss_name}), {named} "
        f"{'is' if len(best) == 1 else 'are'} worth choosing: "
    )
    if len(best) == 1:
        text += "no other release whose risk is not high costs less use."
    else:
        text += "each costs less use than all releases with less risk."
    if rest:
        text += f" For {listed(rest)}, another release has no more risk and costs no more use."
    if high:
        text += f" The risk of {listed(high)} is high."
    text += f" Differences of up to {points(compared.risk_noise)} of risk"
    if compared.loss_noise:
        text += f", and of {points(compared.loss_noise)} of correct predictions,"
    errors = findings.limits.standard_errors
    text += f" count as none: they are within {errors:.0f} standard errors of a share."
    absent = len(findings.releases) - len(compared.places)
    if absent:
        text += f" {absent} could not be compared, because measures are missing."
    yield text


def choose(name: str, level: Level) -> str:
    """Say to choose a release of several; unless its risk is low, not without a condition.

    Examples
    --------
    >>> choose("cart", "low"), choose("cart", "raised")
    ("Choose 'cart'", "Choose 'cart' only if you accept a raised risk")
    """
    return f"Choose {name!r}{_CONDITIONS.get(level, '')}"


def _headline_of_several(first: ReleaseVerdict, verdicts: Sequence[ReleaseVerdict]) -> str:
    """Say which release to choose and on which condition, and how the risks compare."""
    parts = [
        f"{level} for {listed([one.name for one in verdicts if one.level == level])}"
        for level in LEVELS
        if any(one.level == level for one in verdicts)
    ]
    risks = f"Of {len(verdicts)} releases, as far as tested, the risk is {'; '.join(parts)}."
    if first.level == "high":
        return f"Choose none of them. {risks}"
    why = "" if first.level == "low" else f" {first.headline}"
    return f"{choose(first.name, first.level)}.{why} {risks}"
