"""Verdicts on releases of which it is known whether they give people away.

`run_gallery` makes the releases of `understudy.worlds.gallery`, audits each with and without
control records, and says which verdicts are mistakes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import polars as pl

from understudy.arguments import check_whole
from understudy.audit.answers import QUESTIONS
from understudy.audit.findings import ReleaseFindings
from understudy.audit.measures.declaration import Question
from understudy.audit.result import Audit
from understudy.audit.run import audit
from understudy.audit.task import MeasureSet
from understudy.errors import DataError, ParameterError
from understudy.learning.jobs import mapped
from understudy.progress import quietly, track
from understudy.wording import markdown_table, quoted
from understudy.worlds.gallery import KINDS, TABLES, GalleryTable, Kind, Setting

Named = TypeVar("Named", Kind, GalleryTable)

ALARM = 0.05
ALARMING = ("raised", "high")
NOT_MEASURED, REFUSED = "not measured", "refused"


@dataclass(frozen=True)
class Judged:
    """The verdict on one release of the gallery.

    Parameters
    ----------
    kind : Kind
        The kind of release.
    table : str
        The table it was made from.
    seed : int
        Which of the releases of this kind and table it is.
    control : bool
        Whether the audit had control records.
    level : str
        The verdict in a word.
    answers : mapping
        The level of each of the three answers.
    p_values : mapping
        The p-value of each test.
    power : float
        The smallest share of copies that a search for lookalikes would have seen.
    share : float
        The share of the people whom the release gives away, if it leaks.
    patterns : tuple of str
        The questions that are raised by a pattern alone, and are told to be.
    errors : tuple of str
        The measures that failed.
    """

    kind: Kind
    table: str
    seed: int
    control: bool
    level: str
    answers: Mapping[Question, str]
    p_values: Mapping[str, float]
    power: float
    share: float = 1.0
    patterns: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    @property
    def seen_by(self) -> tuple[str, ...]:
        """The tests that speak of a leak at the level 5%."""
        return tuple(name for name, value in self.p_values.items() if value < ALARM)

    @property
    def _without_model(self) -> list[tuple[Question, str]]:
        """The answers that need no model."""
        return [held for held in self.answers.items() if held[0] != "strongest"]

    @property
    def alarms(self) -> bool:
        """Whether the records or an ordinary attacker raise the verdict, by more than a pattern."""
        return any(
            level in ALARMING and question not in self.patterns
            for question, level in self._without_model
        )

    @property
    def missed(self) -> bool:
        """Whether the release leaks, and both answers that need no model call it low.

        It does not count if fewer people are given away than the answer says would be seen.
        """
        return self._low and not self.share < self.power

    @property
    def below_power(self) -> bool:
        """Whether the release gives fewer people away than the answer says would be seen."""
        return self._low and self.share < self.power

    @property
    def _low(self) -> bool:
        return self.kind.leaks and all(level == "low" for _, level in self._without_model)

    @property
    def false_alarm(self) -> bool:
        """Whether the release is harmless, and the verdict alarms.

        With control records, any alarm counts; without them, people and patterns cannot be told
        apart, and only the level high counts.
        """
        if self.kind.leaks:
            return False
        return self.alarms if self.control else "high" in self.answers.values()


@dataclass(frozen=True)
class GalleryTest:
    """The verdicts on all releases of the gallery, and which of them are mistakes.

    Parameters
    ----------
    measures : str
        How much was measured.
    judged : tuple of Judged
        The verdict on each release.
    """

    measures: str
    judged: tuple[Judged, ...]

    @property
    def missed(self) -> tuple[Judged, ...]:
        """The leaks that no verdict speaks of."""
        return tuple(one for one in self.judged if one.missed)

    @property
    def below_power(self) -> tuple[Judged, ...]:
        """The leaks of so few people that the audit says it would not have seen them."""
        return tuple(one for one in self.judged if one.below_power)

    @property
    def false_alarms(self) -> tuple[Judged, ...]:
        """The harmless releases that raised an alarm."""
        return tuple(one for one in self.judged if one.false_alarm)

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each verdict."""
        return pl.DataFrame(
            [
                {
                    "kind": one.kind.name,
                    "leaks": one.kind.leaks,
                    "table": one.table,
                    "seed": one.seed,
                    "control": one.control,
                    "level": one.level,
                    **one.answers,
                    "seen_by": ", ".join(one.seen_by),
                    "power": one.power,
                    "share": one.share,
                    "errors": ", ".join(one.errors),
                    "mistake": one.missed or one.false_alarm,
                }
                for one in self.judged
            ]
        )

    def p_values(self) -> pl.DataFrame:
        """Return a row for each release and test, with its p-value."""
        return pl.DataFrame(
            [
                {
                    "kind": one.kind.name,
                    "leaks": one.kind.leaks,
                    "table": one.table,
                    "seed": one.seed,
                    "control": one.control,
                    "test": name,
                    "p_value": value,
                }
                for one in self.judged
                for name, value in one.p_values.items()
            ]
        )

    def markdown(self) -> str:
        """Return a line for each kind, with the mistakes among its releases on each table."""
        tables = list(dict.fromkeys(one.table for one in self.judged))
        kinds = list(dict.fromkeys(one.kind for one in self.judged))
        lines = [
            [kind.name, "leak" if kind.leaks else "harmless", kind.meaning]
            + [self._cell(kind, table) for table in tables]
            for kind in kinds
        ]
        return markdown_table(["release", "", "why", *tables], lines)

    def _cell(self, kind: Kind, table: str) -> str:
        held = [one for one in self.judged if one.kind == kind and one.table == table]
        right = sum(not (one.missed or one.false_alarm) for one in held)
        return f"{right}/{len(held)}" if held else ""


def run_gallery(  # noqa: PLR0913  # what is made, how it is audited, and the way
    measures: MeasureSet = "quick",
    seeds: int = 1,
    *,
    tables: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
    rows: int = 600,
    controls: Sequence[bool] = (True, False),
    random_state: int = 0,
    processes: int = 1,
) -> GalleryTest:
    """Audit releases of which it is known whether they give people away.

    Parameters
    ----------
    measures : {"quick", "standard", "full"}
        How much each audit measures.
    seeds : int
        How many releases of each kind and table.
    tables, kinds : list of str, optional
        Names of the tables and of the kinds of release; all by default. Real tables whose files
        are not found are left out unless they are named.
    rows : int
        At most so many people are in the data.
    controls : list of bool
        Whether to audit with control records, without, or both.
    random_state : int
        The first seed.
    processes : int
        Audits that run at the same time.

    Returns
    -------
    GalleryTest

    Examples
    --------
    >>> found = run_gallery(tables=["clinic"], kinds=["bootstrap", "fresh people"], rows=200,
    ...                     controls=[False])
    >>> len(found.judged), found.missed, found.false_alarms
    (2, (), ())
    """
    check_whole("seeds", seeds, 1)
    check_whole("processes", processes, 1)
    wanted = _named("kinds", kinds, {kind.name: kind for kind in KINDS})
    places = _named("tables", tables, {table.name: table for table in TABLES})
    jobs = [
        _Job(table.name, seed, rows, kind, measures, tuple(controls))
        for table in places
        for seed in range(random_state, random_state + seeds)
        for setting in _settings(table, seed, rows, needed=tables is not None)
        for kind in wanted
        if kind.fits(setting)
    ]
    with mapped(_Job.judged, jobs, processes, must_travel=None) as found:
        judged = [one for some in track(found, "Attacking", total=len(jobs)) for one in some]
    return GalleryTest(measures, tuple(judged))


@dataclass(frozen=True)
class _Job:
    """One release to make and to audit."""

    table: str
    seed: int
    rows: int
    kind: Kind
    measures: MeasureSet
    controls: tuple[bool, ...]

    def judged(self) -> list[Judged]:
        setting = _setting(self.table, self.seed, self.rows)
        return list(_judge(setting, self.kind, self.measures, self.table, self.controls))


@lru_cache(maxsize=1)
def _setting(table: str, seed: int, rows: int) -> Setting:
    (place,) = (held for held in TABLES if held.name == table)
    return place.setting(seed, rows)


def _named(argument: str, names: Sequence[str] | None, known: Mapping[str, Named]) -> list[Named]:
    if names is None:
        return list(known.values())
    if unknown := [name for name in names if name not in known]:
        raise ParameterError(
            f"{argument} must be names out of {quoted(known)}; got {quoted(unknown)}."
        )
    return [known[name] for name in names]


def _settings(table: GalleryTable, seed: int, rows: int, *, needed: bool) -> Iterator[Setting]:
    """Split a table, if it is there."""
    try:
        yield _setting(table.name, seed, rows)
    except DataError:
        if needed:
            raise


def _judge(
    setting: Setting, kind: Kind, measures: MeasureSet, table: str, controls: Sequence[bool]
) -> Iterator[Judged]:
    """Make a release, and audit it with and without control records."""
    with quietly():
        release = kind.release(setting)
        for control in controls:
            try:
                held = audit(
                    setting.original,
                    release,
                    keys=setting.keys,
                    sensitive=setting.sensitive,
                    measures=measures,
                    control=setting.control if control else None,
                    random_state=setting.seed,
                )
            except DataError:
                # What cannot be compared is refused, which nobody takes for a pass.
                nothing = dict.fromkeys(QUESTIONS, NOT_MEASURED)
                yield Judged(kind, table, setting.seed, control, REFUSED, nothing, {}, math.nan)
            else:
                share = kind.share_of(setting)
                yield _judged(held, kind, table, control=control, share=share)


def _judged(held: Audit, kind: Kind, table: str, *, control: bool, share: float) -> Judged:
    (release,) = held.findings.releases
    (verdict,) = held.verdict.releases
    alarming = {
        question: [clue for clue in answer.clues if clue.level in ALARMING]
        for question, answer in verdict.answers.items()
    }
    return Judged(
        kind,
        table,
        held.findings.seed,
        control,
        verdict.level,
        {question: answer.level for question, answer in verdict.answers.items()},
        p_values(release),
        release.numbers.get("lookalikes.power", math.nan),
        share,
        tuple(
            question
            for question, clues in alarming.items()
            if clues and all(clue.pattern for clue in clues)
        ),
        tuple(release.errors),
    )


def p_values(release: ReleaseFindings) -> dict[str, float]:
    """Return the p-value of each test, by measure."""
    return {
        name.removesuffix("p_value").rstrip("._"): float(value)
        for name, value in release.numbers.items()
        if name.endswith("p_value") and not math.isnan(value)
    }
