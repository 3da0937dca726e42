"""The verdict: what an attacker gains from a release, in plain words for whoever must decide."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from understudy.audit.advice import Advice, give_advice
from understudy.audit.answers import Answer, Evidence, weigh
from understudy.audit.clues import STRONGEST
from understudy.audit.disagreements import find_disagreements
from understudy.audit.findings import Figure, Findings, ReleaseFindings
from understudy.audit.levels import LEVELS, Level, gain_of, uniform_prior
from understudy.audit.limits import NAMES, Limits
from understudy.audit.measures.declaration import Question
from understudy.audit.privacy_findings import INSIDE
from understudy.audit.tradeoff import in_order, lost_sentences, tradeoff, utility_sentences
from understudy.wording import (
    listed,
    percent,
    points,
    quoted,
    sentence,
    times_by_bits,
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
            f"chance the release does not help to guess {_sensitive(findings)}."
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


def _sensitive(findings: Findings) -> str:
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
    sensitive, everybody = _sensitive(findings), findings.everybody
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


def _overall(findings: Findings) -> Iterator[str]:
    """Yield what was assumed, what counts, and how the releases compare."""
    yield (
        f"The attacker wants to learn {_sensitive(findings)} of {findings.units.any}, and knows "
        f"{knowledge(findings)}."
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
