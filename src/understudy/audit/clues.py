"""What each measure says about its question: a level, and why, in a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from understudy.audit.attack_findings import DecidingLook
from understudy.audit.findings import Figure, Findings, ReleaseFindings, StrongFindings
from understudy.audit.levels import Gain, Level, gain_of, strong_size, uniform_prior
from understudy.audit.limits import Limits
from understudy.audit.measures import figure_kinds
from understudy.audit.measures.declaration import FigureKind, Question
from understudy.audit.privacy_findings import PrivacyFindings
from understudy.risk.strong.candidates import DERIVES
from understudy.wording import Unit, mean_count, percent, points, times_by_bits

_WITHOUT_CONTROL = (
    "Control records would tell whether that is about the {units} in the data, or a pattern."
)
_PATTERN = (
    "That is a pattern: it holds as much for {units} that are not in the data. Whether it may be "
    "told is for you to decide."
)
_UNRESOLVED = (
    "That may be a pattern, which holds for {units} that are not in the data as well, or be about "
    "those in the data: there are too few control records to tell."
)


_OTHER_VALUES = (
    "A key or the sensitive column holds other values in the release than in the original, or "
    "quite other shares of them, so that no guess can be compared."
)
QUESTIONS_TESTED = 2
"""Whether records are in it, and what it tells an ordinary attacker."""
MOST_POWERFUL, OF_THE_CHANCE = "lookalikes", 0.6
"""The measure of records that sees most, and its part of the chance of a false alarm."""
_SURELY_IN = "membership.share_above_90_percent"
STRONGEST = "an attacker who knows the model and everyone else's record"


@dataclass(frozen=True)
class Clue:
    """What one measure says about a question.

    Parameters
    ----------
    measure, title : str
        The measure, by name and for people.
    level : {"low", "raised", "high", "not measured"}
        What it says.
    sentence : str
        Why, in a sentence.
    pattern : bool
        Whether it is about everybody alike, in the data or not, or may be.
    open : bool
        Whether something was found of which it cannot be told what it is: then the question is not
        answered by others that found nothing.
    """

    measure: str
    title: str
    level: Level
    sentence: str
    pattern: bool = False
    open: bool = False


def clues(findings: Findings, release: ReleaseFindings, question: Question) -> Iterator[Clue]:
    """Yield what each measure of a question says."""
    if question == "records":
        yield from _about_records(findings, release)
    elif question == "ordinary":
        yield from _about_guesses(findings, release)
    else:
        yield from _about_the_strongest(findings, release)


def is_copy(release: ReleaseFindings, limits: Limits) -> bool:
    """Tell whether a release holds nearly all of the original's one-of-a-kind records, and no more.

    Where there are few different records, fresh people and made-up ones hold nearly all as well;
    but they hold others, too.
    """
    copied = release.one_of_a_kind >= limits.enough_to_copy and release.copied >= limits.copied
    return copied and not release.new_records > limits.beside_copies


def _number(release: ReleaseFindings, kind: FigureKind, name: str) -> float:
    return float(release.numbers.get(f"{kind.name}.{name}", math.nan))


def _asked(release: ReleaseFindings, question: Question) -> Iterator[tuple[FigureKind, Figure]]:
    """Yield the figures of a question that a release has, with what is declared of each."""
    for kind in figure_kinds():
        figure = release.figure(kind.name)
        if kind.question == question and figure is not None:
            yield kind, figure


def _told(kind: FigureKind, figure: Figure, units: Unit) -> str:
    """Return what was found, as a sentence."""
    shares = {name: percent(getattr(figure, name)) for name in ("synthetic", "baseline", "control")}
    if not kind.told and figure.note:
        return figure.note
    told = kind.told or f"{kind.title}: {{synthetic}}; without the release it is {{baseline}}"
    return f"{told.format(**shares, units=units.many)}."


def _about_records(findings: Findings, release: ReleaseFindings) -> Iterator[Clue]:
    """Yield whether there are more of the original's records than fresh ones would explain."""
    limits, units = findings.limits, findings.units
    if is_copy(release, limits):
        yield Clue(
            "copies",
            "Copies",
            "high",
            "The release is a copy of the original, or nearly one. It holds "
            f"{percent(release.copied)} of the {release.one_of_a_kind:,} original records that "
            "are like no other.",
        )
    if (of_model := _own_copies_clue(release, limits, units)) is not None:
        yield of_model
    tests = {
        kind.name: [
            p_value
            for name in ("p_value", "control_p_value")
            if not math.isnan(p_value := _number(release, kind, name))
        ]
        for kind, _ in _asked(release, "records")
    }
    rest = sum(len(held) for name, held in tests.items() if name != MOST_POWERFUL)
    for kind, figure in _asked(release, "records"):
        if not tests[kind.name]:
            continue
        # One chance is shared by all of them, and by both questions that are tested.
        own = kind.name == MOST_POWERFUL
        part = OF_THE_CHANCE if own else 1 - OF_THE_CHANCE
        looks = QUESTIONS_TESTED * (len(tests[kind.name]) if own else rest) / part
        p_value = min(tests[kind.name]) * looks
        control_decided = _number(release, kind, "p_value") * looks >= limits.chance > p_value
        told = _told(kind, figure, units)
        if (look := _deciding_look(release, control=control_decided)) and own:
            told = _told_of_look(look, units)
        elif control_decided:
            told = _beside_control(kind, figure, units)
        power = _number(release, kind, "power")
        if p_value < limits.chance and not _is_slight(figure, limits):
            level: Level = "high" if p_value < limits.sure else "raised"
            yield Clue(kind.name, kind.title, level, told)
        elif not own:
            yield Clue(kind.name, kind.title, "low", told)
        elif power <= limits.power:
            seen = (
                f"Whole copies of {percent(power)} of the {units.many} or more would have been "
                "seen."
            )
            yield Clue(kind.name, kind.title, "low", seen)
        else:
            share = percent(power)
            missed = "all of" if math.isnan(power) or share == "100.0%" else f"up to {share} of"
            unseen = (
                f"It cannot be told, since the {units.many} resemble each other or are few: whole "
                f"copies of {missed} them could have been missed."
            )
            yield Clue(kind.name, kind.title, "not measured", unseen)


def _own_copies_clue(release: ReleaseFindings, limits: Limits, units: Unit) -> Clue | None:
    """Return what the model says of copies that are owed to a person's own record.

    That there are hardly any means something only if nobody can have changed the release since,
    and if parts of records do not tell either who was in the data.
    """
    figure = release.figure("own_copies")
    if figure is None or math.isnan(figure.gain):
        return None
    largest = float(release.numbers.get("own_copies.largest", math.nan))
    level: Level = "low"
    if figure.gain > limits.power or largest > limits.own_copy:
        level = "high" if figure.gain >= limits.large_gain else "raised"
    told_to_be_in = float(release.numbers.get(_SURELY_IN, math.nan))
    if level == "low" and not (release.drawn and told_to_be_in < limits.members / 10):
        return None
    told = (
        f"By its model, {percent(figure.gain)} of the {units.many} have a copy of their whole "
        "record in the release because they are in the data"
    )
    most = f"nobody's chance of one rises by more than {points(largest)}"
    if largest > limits.own_copy:
        most = f"for one of them, the chance of one rises by {points(largest)}"
    return Clue("own_copies", "Own copies", level, f"{told}; {most}.")


def _deciding_look(release: ReleaseFindings, *, control: bool) -> DecidingLook | None:
    """Return the count of lookalikes that decided; None if findings do not have it."""
    found = release.lookalikes
    if found is None:
        return None
    return found.control_look if control else found.look


def _told_of_look(look: DecidingLook, units: Unit) -> str:
    """Return what the look found that decided, and what it is compared with.

    Shares of everybody may say the contrary if it was a look at the most isolated.
    """
    whom = f"{percent(look.found / max(look.people, 1))} of the {units.many}"
    if look.isolated < 1:
        whom = f"Of the {look.people:,} most isolated {units.many}, {mean_count(look.found)}"
    text = f"{whom} have a lookalike in the release, a record much closer than any of the others is"
    if look.other_people:
        others = percent(look.others / look.other_people)
        if look.isolated < 1:
            others = f"{mean_count(look.others)} of the {look.other_people:,} that are as isolated"
        return (
            f"{text}; of those that are not in the data, {others}. That is more than chance "
            "explains."
        )
    if look.isolated < 1:
        return f"{text}; {mean_count(look.others)} would be no surprise."
    return f"{text}; {percent(look.others / max(look.people, 1))} would be no surprise."


def _beside_control(kind: FigureKind, figure: Figure, units: Unit) -> str:
    """Return what was found where only control records tell that it is much."""
    inside, outside = percent(figure.synthetic), percent(figure.control)
    if kind.name == "lookalikes":
        return (
            f"{inside} of the {units.many} have a lookalike in the release, a record much closer "
            f"than any of the others is; of those that are not in the data, {outside}. That is "
            "more than chance explains."
        )
    return f"{kind.title}: {inside}; for {units.many} that are not in the data, {outside}."


def _is_slight(figure: Figure, limits: Limits) -> bool:
    """Tell whether records in the data are told from others hardly at all, however sure that is.

    Any release that keeps single values, such as the largest income, does so a little.
    """
    told_apart = {
        "membership_control": figure.synthetic - figure.baseline,
        "singling_out": figure.synthetic - figure.control,
    }
    return told_apart.get(figure.measure, 1.0) < limits.told_apart


def _about_guesses(findings: Findings, release: ReleaseFindings) -> Iterator[Clue]:
    """Yield what guesses say: about records in the data if there is control, else in full."""
    limits = findings.limits
    asked = list(_asked(release, "ordinary"))
    known = float(release.numbers.get("gcap.known_values", 1.0))
    differences = {
        kind.name: p_value
        for kind, _ in asked
        if not math.isnan(p_value := _number(release, kind, "difference_p_value"))
    }
    tests = [kind for kind, _ in asked if kind.tested and not kind.beside_control]
    for kind, figure in asked:
        found = gain_of(figure, findings.counted, limits)
        if kind.beside_control:
            p_value = differences.get(kind.name, math.nan) * len(differences) * QUESTIONS_TESTED
            if p_value < limits.chance:
                yield _controlled(findings, release, kind, found, plain=False, beyond=True)
            continue
        if kind.tested and math.isnan(_number(release, kind, "p_value")):
            continue
        if kind.tested:
            shared = _number(release, kind, "p_value") * len(tests) * QUESTIONS_TESTED
            plain = shared < limits.chance and _is_a_gain(release, kind, found, limits)
        else:
            plain = found.size in {"some", "large"}
        if kind.name in differences:
            p_value = differences[kind.name] * len(differences) * QUESTIONS_TESTED
            beyond = p_value < limits.chance
            clue = _controlled(findings, release, kind, found, plain=plain, beyond=beyond)
        else:
            clue = _uncontrolled(findings, kind, found, plain=plain)
        if clue.level == "low" and known < limits.known_values and kind.name != "carriers":
            clue = replace(clue, level="not measured", sentence=_OTHER_VALUES)
        yield clue


def _is_a_gain(release: ReleaseFindings, kind: FigureKind, found: Gain, limits: Limits) -> bool:
    """Tell whether what a test calls no chance is more than the best constant guess tells.

    Some tests ask for any order among guesses, and some attacks are the best of many: then the gain
    must be beyond its error, and worth something.
    """
    gain, least = found.gain, float(release.numbers.get(f"{kind.name}.limit", 0.0))
    error = _number(release, kind, "gain_error")
    if math.isnan(error):
        return gain > least
    of_wrong_guesses = limits.large_share * (1 - found.figure.baseline)
    worth = min(limits.worth, of_wrong_guesses)
    return gain >= worth and gain > max(least, limits.standard_errors * error)


def _controlled(
    findings: Findings,
    release: ReleaseFindings,
    kind: FigureKind,
    found: Gain,
    *,
    plain: bool,
    beyond: bool,
) -> Clue:
    """Return what a figure says where records that are not in the data were attacked, too."""
    limits, units, figure = findings.limits, findings.units, found.figure
    told = _told(kind, figure, units)
    difference = _number(release, kind, "difference")
    large = limits.large(figure.baseline)
    if beyond:
        less = "less" if math.isnan(difference) else f"{points(difference)} less"
        level: Level = "high" if difference >= large else "raised"
        sentence = f"{told} For {units.many} that are not in the data it is {less}."
        return Clue(kind.name, kind.title, level, sentence)
    if not plain:
        return _too_few(kind, found, findings) or Clue(kind.name, kind.title, "low", told)
    if kind.name == "carriers":
        return Clue(kind.name, kind.title, "raised", told)
    if found.gain < large:
        return Clue(kind.name, kind.title, "low", told, pattern=True)
    # What the difference may be for all we know.
    resolved = _number(release, kind, "difference_high") < large
    sentence = f"{told} {(_PATTERN if resolved else _UNRESOLVED).format(units=units.many)}"
    if not kind.tested:
        return Clue(kind.name, kind.title, "raised", sentence, pattern=True)
    if resolved:
        return Clue(kind.name, kind.title, "low", sentence, pattern=True)
    return Clue(kind.name, kind.title, "not measured", sentence, open=True)


def _uncontrolled(findings: Findings, kind: FigureKind, found: Gain, *, plain: bool) -> Clue:
    """Return what a figure says where people and patterns cannot be told apart."""
    if (few := _too_few(kind, found, findings)) is not None:
        return few
    told = _told(kind, found.figure, findings.units)
    if not plain:
        return Clue(kind.name, kind.title, "low", told)
    sentence = f"{told} {_WITHOUT_CONTROL.format(units=findings.units.many)}"
    return Clue(kind.name, kind.title, "raised", sentence)


def _too_few(kind: FigureKind, found: Gain, findings: Findings) -> Clue | None:
    """Return that a gain is not known, or that chance alone may give a large one; else None."""
    if kind.tested:
        return None
    if found.size == "unknown":
        return Clue(kind.name, kind.title, "not measured", f"{kind.title} is not defined.")
    baseline = found.figure.baseline
    if baseline >= 1:
        same = f"All {findings.units.many} have the same value: there is nothing to guess."
        return Clue(kind.name, kind.title, "not measured", same)
    if found.noise < findings.limits.large(baseline):
        return None
    few = f"There are too few {findings.units.many} to tell a gain."
    return Clue(kind.name, kind.title, "not measured", few)


def _about_the_strongest(findings: Findings, release: ReleaseFindings) -> Iterator[Clue]:
    """Yield what an attacker learns who knows the model and everyone else's record."""
    limits, units = findings.limits, findings.units
    if release.privacy is not None:
        yield _privacy_clue(release.privacy)
    elif release.strong is not None:
        yield _strong_clue(release.strong, limits, units)
    elif DERIVES in release.errors.get("strong", ""):
        # Whether somebody was in the data says nothing about what the other columns tell of them.
        failed = f"The strongest attacker was not tried: {release.errors['strong']}"
        yield Clue("strong", "Strong attacker", "not measured", failed, open=True)
    share = float(release.numbers.get(_SURELY_IN, math.nan))
    if not math.isnan(share):
        level: Level = "low"
        if share >= limits.members / 10:
            level = "high" if share >= limits.members else "raised"
        yield Clue(
            "membership",
            "Membership",
            level,
            f"For {percent(share)} of the {units.many}, {STRONGEST} is more than 90% sure that "
            "they were in the data.",
        )


def _privacy_clue(privacy: PrivacyFindings) -> Clue:
    """Say that epsilon is a bound, not a measurement; a ledger that proves nothing is a finding."""
    if privacy.problems or privacy.is_disproved:
        told = " ".join(f"{title}: {text}" for title, text in privacy.lines()[:2])
        return Clue("privacy", "Differential privacy", "raised", told)
    # A record that may be absent is two steps away from one that is another.
    steps = 2 if privacy.neighbours == "add-remove" else 1
    but = f", but for a probability of {privacy.delta:.2g}" if privacy.delta else ""
    text = (
        "The strongest attacker was not tried: the model learnt with noise that nobody can draw "
        f"again. By its ledger, epsilon is {privacy.claim}. So whatever this attacker believes of "
        f"one record becomes at most {times_by_bits(steps * privacy.epsilon / math.log(2))} as "
        f"probable{but}. That is a bound, not a measurement."
    )
    return Clue("privacy", "Differential privacy", "not measured", text, open=True)


def _strong_clue(strong: StrongFindings, limits: Limits, units: Unit) -> Clue:
    size = "none" if uniform_prior(strong) else strong_size(strong, limits)
    most = (
        f"At most, the true value of one of the {units.many} becomes "
        f"{times_by_bits(strong.max_gain_bits)} as probable to {STRONGEST}."
    )
    level: Level = "low"
    if strong.certain:
        share = strong.certain / strong.records
        level = "high" if share >= limits.certain else "raised"
        text = (
            f"{strong.certain:,} of {units.count(strong.records)} ({percent(share)}) "
            f"{'is' if strong.certain == 1 else 'are'} certain to be disclosed to {STRONGEST}."
        )
    else:
        text = f"{most} None is certain to be disclosed."
    if size in {"some", "large"}:
        level = "high" if size == "large" else "raised" if level == "low" else level
        text += (
            f" This attacker guesses correctly for {percent(strong.accuracy_after)}; without the "
            f"release, for {percent(strong.accuracy_before)}."
        )
    if level == "low" and strong.max_gain_bits >= limits.doubled_bits:
        level = "raised"
    return Clue("strong", "Strong attacker", level, text)
