"""Which columns are computed from one other column, or from two.

Every form is tried on a sample of records, for all columns at once. What agrees there is checked
on all records, and must agree far more often than if the column were shuffled.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, permutations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data.dependencies.checks import parts_of
from understudy.data.dependencies.evidence import (
    LIKELY_FORMULA,
    MOST_EXCEPTIONS,
    beyond_chance,
    can_be_told,
)
from understudy.data.dependencies.families import PART_CODES, PARTS, SECONDS, Code, Form, Formula
from understudy.data.dependencies.formulas import Floats, agreeing, as_floats, computed
from understudy.data.dependencies.looks import FEWEST, FIRST_LOOK, SLACK, Looks, exactly
from understudy.data.dependencies.of_one_number import OneNumber
from understudy.data.dependencies.of_two_numbers import formulas_of_two
from understudy.data.dependencies.views import View, Views

MOST_NUMBERS = 60
"""Columns of numbers that are tried in pairs, the first ones: a table with more has 1,770 pairs."""

_MOST_FOR_ONE = 4
"""Formulas that are kept for one column, at most: one of them is chosen in the end."""
_WHOLE: tuple[Form, ...] = (
    *("rounded", "rounded down", "rounded up", "quotient", "remainder"),
    *PARTS,
    *("clock", "date", "gap", "years"),
)
"""Forms that give numbers which are rounded already."""
_TICKS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def find_formulas(views: Views, codes: Mapping[str, Code]) -> list[Formula]:
    """Return the formulas that hold, the simplest first; there may be several for a column.

    `codes` are the columns that write dates or times as whole numbers.
    """
    search = _Search(views, codes)
    return [*search.of_one(), *search.of_two()]


@dataclass(frozen=True, eq=False)
class _Search:
    views: Views
    codes: Mapping[str, Code]
    _found: dict[str, int] = field(default_factory=dict)

    @cached_property
    def numbers(self) -> list[str]:
        """The columns of numbers that one can reckon with."""
        return [
            name
            for name, view in self.views.columns.items()
            if view.numeric and view.levels > 1 and name not in self.codes and view.exact
        ]

    @property
    def times(self) -> list[str]:
        """The columns of dates and times."""
        return [name for name, view in self.views.columns.items() if view.timed]

    @cached_property
    def looks(self) -> Looks:
        """The numbers of a few records."""
        return Looks(self.views, self.numbers)

    def of_one(self) -> Iterator[Formula]:
        """Yield the formulas of one column."""
        numbers = self.numbers
        tests = len(numbers) ** 2 * 20 + 1
        if not can_be_told(self.views.rows, tests, LIKELY_FORMULA):
            numbers = []
        one_number = OneNumber(self.looks)
        parts = list(self._parts()) if numbers else []
        # Columns that come later were more often computed from earlier ones than the reverse.
        for name in reversed(numbers):
            yield from self._checked([one for one in parts if one.column == name], tests)
            for other in one_number.suggested_for(name):
                found = self._checked(one_number.formulas(name, other), tests)
                yield from islice(found, 1)
        yield from self._checked(self._in_codes(), max(len(self.codes) * len(self.times), 1))
        for name, other in permutations(self.times, 2):
            if pa.types.is_date(self.views[name].array.type):
                one = Formula(name, "date", (other,))
                if pa.types.is_timestamp(self.views[other].array.type):
                    yield from self._checked([one], tests)

    def _parts(self) -> Iterator[Formula]:
        """Yield the columns that seem to be parts of dates and times."""
        for other in [*self.times, *self.codes]:
            array = self._first_look(other)
            plain = [as_floats(array, other)] if other in self.codes else None
            for form in self._forms(other):
                told = computed(Formula("", form, (other,)), [array], plain)
                yield from (Formula(name, form, (other,)) for name in self.looks.near(told))

    def _in_codes(self) -> Iterator[Formula]:
        """Yield the columns that may write dates or times of others as whole numbers."""
        for name, code in self.codes.items():
            for other in self.times:
                if code in self._forms(other):
                    yield Formula(name, code, (other,))

    def _first_look(self, name: str) -> pa.Array:
        return self.views.sample[name].take(self.looks.rows(FIRST_LOOK)).array

    def _forms(self, other: str) -> Sequence[Form]:
        """Return the parts that a column of dates, times or their codes has."""
        if other in self.codes:
            return PART_CODES[self.codes[other]]
        return parts_of(self.views[other].array.type)

    def of_two(self) -> Iterator[Formula]:
        """Yield the formulas of two columns: of times, then of numbers."""
        yield from self._gaps()
        yield from self._ages()
        yield from self._clocks()
        numbers = self.numbers[:MOST_NUMBERS]
        tests = math.comb(len(numbers), 2) * len(numbers) * 8
        yield from self._checked(formulas_of_two(Looks(self.views, numbers)), tests)

    def _gaps(self) -> Iterator[Formula]:
        """Yield the columns that seem to be the time between two others."""
        found = []
        for a, b in permutations(self.times, 2) if self.numbers else ():
            kinds = self.views[a].array.type, self.views[b].array.type
            if pa.types.is_time(kinds[0]) != pa.types.is_time(kinds[1]):
                continue
            both = [self._first_look(a), self._first_look(b)]
            seconds = computed(Formula("", "gap", (a, b)), both)
            for unit in dict.fromkeys((*SECONDS, *_TICKS.values())):
                # The first and the last day may both count.
                found += [
                    Formula(name, "gap", (a, b), factor=unit, constant=constant)
                    for constant in (0.0, 1.0, -1.0)
                    for name in self.looks.near(seconds / unit + constant)
                    if self._ticks(name) in (None, unit)
                ]
        yield from self._checked(found, max(len(found), 1))

    def _ages(self) -> Iterator[Formula]:
        """Yield the columns that seem to be the whole years between two dates."""
        found = []
        dates = [name for name in self.times if not pa.types.is_time(self.views[name].array.type)]
        for a, b in permutations(dates, 2) if self.numbers else ():
            told = computed(Formula("", "years", (a, b)), [*map(self._first_look, (a, b))])
            found += [Formula(name, "years", (a, b)) for name in self.looks.near(told)]
        yield from self._checked(found, max(len(found), 1))

    def _ticks(self, name: str) -> float | None:
        """Return the seconds of a column's unit if it holds lengths of time."""
        kind = self.views[name].array.type
        return _TICKS[kind.unit] if pa.types.is_duration(kind) else None

    def _clocks(self) -> Iterator[Formula]:
        clocks = [name for name, code in self.codes.items() if code == "hhmm"]
        found = [
            Formula(
                name,
                "clock",
                (other, minutes),
                constant=2400.0 if np.fmax.reduce(self.views[name].floats) == 2400 else 0.0,
            )
            for name, other in permutations(clocks, 2)
            for minutes in self.numbers
        ]
        yield from self._checked(found, max(len(found), 1))

    def _checked(self, formulas: Iterable[Formula], tests: int) -> Iterator[Formula]:
        """Yield the formulas that hold on the sample, and then on all records, beyond chance."""
        for formula in formulas:
            if self._found.get(formula.column, 0) >= _MOST_FOR_ONE:
                continue
            few = self.views[formula.column].few_levels
            small = self.views.sample
            quick = _tally(small, formula, few=few, chance=True)
            if quick.share > SLACK * MOST_EXCEPTIONS or quick.tries < FEWEST:
                continue
            tally = quick if small is self.views else _tally(self.views, formula, few=few)
            if beyond_chance(tally.exceptions, tally.tries, quick.chance, tests, LIKELY_FORMULA):
                self._found[formula.column] = self._found.get(formula.column, 0) + 1
                yield replace(formula, exceptions=tally.exceptions / self.views.rows)


@dataclass(frozen=True)
class _Tally:
    """Records that a formula speaks of, those that break it, and how many would by chance."""

    tries: int
    exceptions: int
    chance: float

    @property
    def share(self) -> float:
        return self.exceptions / max(self.tries, 1)


def _tally(views: Views, formula: Formula, *, few: bool, chance: bool = False) -> _Tally:
    """Count on all records of some views; a column with few values must agree exactly."""
    view = views[formula.column]
    told = told_by(formula, views)
    tolerance = view.tolerance
    if few and formula.form not in _WHOLE:
        tolerance = exactly(tolerance, view.floats)
    agree = agreeing(told, view.floats, tolerance)
    excused = np.isnan(told) | view.missing
    if not agree.all():
        excused |= excused_rows(told, view, [views[name] for name in formula.of])
    tries = len(agree) - int(np.count_nonzero(excused))
    wrong = int(np.count_nonzero(~agree & ~excused))
    if not chance or wrong > SLACK * MOST_EXCEPTIONS * tries:
        return _Tally(tries, wrong, 0.0)
    asked = np.flatnonzero(~excused)
    mine, told, tolerance = view.floats[asked], told[asked], tolerance[asked]
    shuffled = np.random.default_rng(0).permutation(len(asked))
    by_chance = ~agreeing(told, mine[shuffled], tolerance[shuffled])
    return _Tally(tries, wrong, float(by_chance.mean()) if len(asked) else 0.0)


def told_by(formula: Formula, views: Views) -> Floats:
    """Return what a formula gives for the records of some views."""
    of = [views[name] for name in formula.of]
    reckoned = formula.form not in ("gap", "years") and not any(one.timed for one in of)
    plain = [one.floats for one in of] if reckoned else None
    return computed(formula, [one.array for one in of], plain)


def excused_rows(told: Floats, view: View, of: Sequence[View]) -> NDArray[np.bool_]:
    """Return where a formula or its column has no number, or one that means something else."""
    excused = np.isnan(told) | view.missing
    special = view.special.copy()
    for one in of:
        special |= one.special
    if special.any():
        excused |= special & ~agreeing(told, view.floats, view.tolerance)
    return excused
