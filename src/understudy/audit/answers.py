"""The three answers of a verdict, each from the evidence of the measures that are about it.

Are people's records in the release? What does it tell an ordinary attacker, and what the strongest
one? Each is answered by measures that declare the question (`FigureKind.question`), so that a new
measure counts by itself. A measure that failed, was not run or had no power answers nothing.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from understudy.audit.clues import Clue, clues, is_copy
from understudy.audit.findings import Findings, ReleaseFindings
from understudy.audit.levels import LEVELS, Gain, Level, gain_of, worst_of
from understudy.audit.measures import main_figures
from understudy.audit.measures.declaration import Question
from understudy.wording import Unit

QUESTIONS: Mapping[Question, str] = {
    "records": "Are original records in it?",
    "ordinary": "What does it tell an ordinary attacker?",
    "strongest": "What does it tell the strongest attacker?",
}


DECIDED_BY: Mapping[Question, tuple[str, ...]] = {
    "records": (
        "chance",
        "sure",
        "power",
        "own_copy",
        "large_gain",
        "told_apart",
        "copied",
        "enough_to_copy",
        "beside_copies",
    ),
    "ordinary": (
        "chance",
        "standard_errors",
        "worth",
        "large_gain",
        "large_share",
        "known_values",
    ),
    "strongest": ("certain", "members", "doubled_bits", "large_gain", "large_share"),
}
"""The limits that decide each answer, by their names in `Limits`."""


def questions_about(unit: Unit) -> dict[Question, str]:
    """Return the three questions in the words for what a record is about.

    Examples
    --------
    >>> questions_about(Unit.of("flights"))["records"]
    "Are the original's flights in it?"
    """
    own = {"people": "Are people's records in it?", "records": QUESTIONS["records"]}
    return {**QUESTIONS, "records": own.get(unit.many, f"Are the original's {unit.many} in it?")}


@dataclass(frozen=True)
class Answer:
    """The answer to one of the three questions.

    Parameters
    ----------
    question : {"records", "ordinary", "strongest"}
        Which.
    level : {"low", "raised", "high", "not measured"}
        The most serious of its clues; "not measured" if none of them could be had.
    sentence : str
        What decided.
    clues : tuple of Clue
        What each measure says.
    limits : mapping
        The limits that decide it, by their names in `Limits`.
    power : float
        For records: the smallest share of them whose copies would have been seen, 0 if the model
        that drew the release tells them all; else nan.
    """

    question: Question
    level: Level
    sentence: str
    clues: tuple[Clue, ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict)
    power: float = math.nan

    @property
    def deciding(self) -> tuple[Clue, ...]:
        """The clues of the same level: those about records in the data come before patterns."""
        held = (clue for clue in self.clues if clue.level == self.level)
        return tuple(sorted(held, key=lambda clue: clue.pattern))

    def said(self, unit: Unit) -> str:
        """Return the question and the answer, in the words for what a record is about."""
        asked = questions_about(unit)[self.question]
        return f"{asked} {self.level.capitalize()}. {self.sentence}"


@dataclass(frozen=True)
class Evidence:
    """What decides the verdict on one release.

    Parameters
    ----------
    answers : mapping
        The three answers.
    gains : tuple of Gain
        What the main measures of guessing gain.
    certain : int or None
        People who are certain to be disclosed; None if that is not known.
    doubled : bool
        Whether the strong attacker's belief in somebody's true value has doubled.
    copy : bool
        Whether the release holds nearly all of the original's one-of-a-kind records.
    """

    answers: Mapping[Question, Answer]
    gains: tuple[Gain, ...]
    certain: int | None
    doubled: bool
    copy: bool

    @property
    def levels(self) -> tuple[Level, ...]:
        """Those of the three answers, the most serious first."""
        return tuple(sorted((one.level for one in self.answers.values()), key=LEVELS.index))

    @property
    def level(self) -> Level:
        """The overall word: the most serious of the three; low only if all were measured."""
        return self.levels[0]

    @property
    def largest(self) -> Gain | None:
        """The main measure with the largest gain; None if none is defined."""
        known = [one for one in self.gains if one.size != "unknown"]
        return max(known, key=lambda one: one.gain, default=None)


def weigh(findings: Findings, release: ReleaseFindings) -> Evidence:
    """Answer the three questions about a release, from what was found."""
    limits = findings.limits
    figures = [release.figure(measure) for measure in main_figures("ordinary")]
    strong = release.strong
    return Evidence(
        {
            question: replace(
                _answer(question, found := tuple(clues(findings, release, question)), release),
                limits={name: float(getattr(limits, name)) for name in DECIDED_BY[question]},
                power=_power(question, found, release),
            )
            for question in QUESTIONS
        },
        tuple(gain_of(one, findings.counted, limits) for one in figures if one is not None),
        strong.certain if strong is not None else None,
        strong is not None and strong.max_gain_bits >= limits.doubled_bits,
        is_copy(release, limits),
    )


def _answer(question: Question, found: Sequence[Clue], release: ReleaseFindings) -> Answer:
    """Return the most serious of the clues; those that say nothing do not count."""
    told = [clue for clue in found if clue.level != "not measured"]
    level = worst_of(clue.level for clue in told)
    if level in {"high", "raised"}:
        answer = Answer(question, level, "", tuple(found))
        return replace(answer, sentence=answer.deciding[0].sentence)
    absent = [clue for clue in found if clue.level == "not measured"]
    # A suspicion that could not be followed is no pass, whatever the others found.
    first = next((clue for clue in absent if clue.open), absent[0] if absent else None)
    answered = any(clue.measure in _powerful(question) for clue in told)
    if level == "low" and answered and not (first and first.open):
        tried = ", ".join(dict.fromkeys(clue.title for clue in told))
        sentence = f"Nothing beyond chance was found ({tried})."
        more = [clue.sentence for clue in told if clue.measure in _powerful("records")]
        return Answer(question, "low", " ".join([sentence, *more]), tuple(found))
    sentence = _not_tried(question, release) if first is None else first.sentence
    return Answer(question, "not measured", sentence, tuple(found))


def _power(question: Question, found: Sequence[Clue], release: ReleaseFindings) -> float:
    if question != "records":
        return math.nan
    if any(clue.measure == "own_copies" for clue in found):
        return 0.0
    return float(release.numbers.get("lookalikes.power", math.nan))


def _powerful(question: Question) -> Collection[str]:
    """Return the measures that would have seen something: without them, nothing is called low."""
    told = {"records": ("lookalikes", "own_copies"), "strongest": ("strong",)}
    return told.get(question, main_figures("ordinary"))


def _not_tried(question: Question, release: ReleaseFindings) -> str:
    if question == "strongest":
        if "strong" in release.errors:
            return f"The strongest attacker failed: {release.errors['strong']}"
        return "The strongest attacker was not tried: it needs the model that made the release."
    return "None of its measures could be computed."
