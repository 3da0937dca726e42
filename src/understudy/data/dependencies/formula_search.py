"""Which columns are computed from one other column, or from two.

Every form is tried on a sample of records, for all columns at once. What agrees there is checked
on all records, and must agree far more often than if the column were shuffled.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data.dependencies.evidence import (
    LIKELY_FORMULA,
    MOST_EXCEPTIONS,
    beyond_chance,
)
from understudy.data.dependencies.families import PARTS, SECONDS, Code, Form, Formula
from understudy.data.dependencies.formulas import Floats, agreeing, computed, plain_formula
from understudy.data.dependencies.views import View, Views

MOST_NUMBERS = 60
"""Columns of numbers that are tried in pairs, the first ones: a table with more has 1,770 pairs."""

_FIRST_LOOK = 200
_SLACK = 10
"""On the first look, so many times the tolerated share of records may disagree."""
_FEWEST = 15
_GLANCE = 24
_GLANCED = 0.8
"""Share of the first few records that must agree before more are looked at."""
_LOGARITHMS: tuple[Form, ...] = ("log", "log10", "log2", "log1p")
_ROUNDED: tuple[Form, ...] = ("rounded", "rounded down", "rounded up")
_TENS = (10.0, 100.0, 1000.0, 10000.0)
_PART_CODES: Mapping[Code, tuple[Form, ...]] = {
    "hhmm": ("hour", "minute"),
    "yyyymmdd": ("year", "month", "day"),
}


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

    @property
    def numbers(self) -> list[str]:
        """The columns of numbers that one can reckon with."""
        return [
            name
            for name, view in self.views.columns.items()
            if view.numeric and view.levels > 1 and name not in self.codes
        ]

    @property
    def times(self) -> list[str]:
        """The columns of dates and times."""
        return [name for name, view in self.views.columns.items() if view.timed]

    def of_one(self) -> Iterator[Formula]:
        """Yield the formulas of one column."""
        numbers = self.numbers
        tests = len(numbers) ** 2 * 20 + 1
        # Columns that come later were more often computed from earlier ones than the reverse.
        for name in reversed(numbers):
            for other in [*self.times, *self.codes]:
                yield from self._checked(self._parts(name, other), tests)
            for other in numbers:
                if other != name:
                    yield from self._checked(self._of_number(name, other), tests)
        for name, other in permutations(self.times, 2):
            if pa.types.is_date(self.views[name].array.type):
                one = Formula(name, "date", (other,))
                if pa.types.is_timestamp(self.views[other].array.type):
                    yield from self._checked([one], tests)

    def _parts(self, name: str, other: str) -> Iterator[Formula]:
        if other in self.codes:
            forms: Sequence[Form] = _PART_CODES[self.codes[other]]
        else:
            kind = self.views[other].array.type
            of_day = ("hour", "minute", "second")
            if pa.types.is_date(kind):
                forms = [form for form in PARTS if form not in of_day]
            elif pa.types.is_time(kind):
                forms = [form for form in PARTS if form in of_day]
            else:
                forms = PARTS
        yield from (Formula(name, form, (other,)) for form in forms)

    def _of_number(self, name: str, other: str) -> Iterator[Formula]:
        """Yield the formulas of one number that a few records suggest."""
        small = self.views.sample
        mine, a = small[name].floats, small[other].floats
        both = np.flatnonzero(~np.isnan(mine) & ~np.isnan(a))[:_FIRST_LOOK]
        if len(both) < _FEWEST:
            return
        mine, a = mine[both], a[both]
        if np.ptp(mine) == 0 or np.ptp(a) == 0:
            return
        tolerance = small[name].tolerance[both]

        def agrees(form: Form, factor: float = 1.0, constant: float = 0.0) -> bool:
            told = plain_formula(form, [a], factor, constant)
            return _mostly(agreeing(told, mine, tolerance))

        unit, finer = _unit(self.views[name]), _unit(self.views[other])
        if unit > finer:
            found = [form for form in _ROUNDED if agrees(form, unit)]
            if found:
                yield Formula(name, found[0], (other,), factor=unit)
                return
        line = _line(a, mine)
        if line is not None:
            for factor, constant in _nice(*line):
                if agrees("multiple", factor, constant):
                    yield Formula(name, "multiple", (other,), factor=factor, constant=constant)
                    return
        if (a != 0).any() and not _few_values(a):
            factor = float(np.median(mine[a != 0] / a[a != 0] ** 2))
            for nice in _nice_numbers(factor):
                if nice and agrees("square", nice):
                    yield Formula(name, "square", (other,), factor=nice)
                    return
        for form in _LOGARITHMS:
            if agrees(form):
                yield Formula(name, form, (other,))
                return
        for factor in _TENS:
            for whole in ("quotient", "remainder"):
                form: Form = "quotient" if whole == "quotient" else "remainder"
                if np.ptp(a) > factor and agrees(form, factor):
                    yield Formula(name, form, (other,), factor=factor)

    def of_two(self) -> Iterator[Formula]:
        """Yield the formulas of two columns: of times, then of numbers."""
        yield from self._gaps()
        yield from self._clocks()
        numbers = self.numbers[:MOST_NUMBERS]
        if len(numbers) < 3:
            return
        small = self.views.sample
        rows = slice(None, _FIRST_LOOK)
        values = np.stack([small[name].floats[rows] for name in numbers])
        tolerance = np.stack([small[name].tolerance[rows] for name in numbers])
        tests = math.comb(len(numbers), 2) * len(numbers) * 8
        later: list[Formula] = []
        for a, b in combinations(range(len(numbers)), 2):
            pair = (numbers[a], numbers[b])
            for one in _of_pair(pair, (a, b), values, tolerance, numbers):
                if one.form in ("sum", "product") and self._natural(one):
                    yield from self._checked([one], tests)
                else:
                    later.append(one)
        yield from self._checked(later, tests)

    def _natural(self, formula: Formula) -> bool:
        """Return whether a sum is that of parts, none of which is below zero."""
        return formula.factor > 0 and all(
            np.nanmin(self.views.sample[name].floats) >= 0 for name in formula.of
        )

    def _gaps(self) -> Iterator[Formula]:
        small = self.views.sample
        found = []
        for a, b in permutations(self.times, 2):
            kinds = self.views[a].array.type, self.views[b].array.type
            if pa.types.is_time(kinds[0]) != pa.types.is_time(kinds[1]):
                continue
            for name in self.numbers:
                kind = self.views[name].array.type
                units = list(SECONDS)
                if pa.types.is_duration(kind):
                    units = [{"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[kind.unit]]
                for unit in units:
                    formula = Formula(name, "gap", (a, b), factor=unit)
                    told = computed(formula, [small[a].array, small[b].array])
                    off = float(np.round(np.nanmedian(small[name].floats - told))) if len(
                        told
                    ) and not np.isnan(small[name].floats - told).all() else 0.0
                    # The first and the last day may both count.
                    constant = off if abs(off) == 1 else 0.0
                    found.append(replace(formula, constant=constant))
        yield from self._checked(found, max(len(found), 1))

    def _clocks(self) -> Iterator[Formula]:
        clocks = [name for name, code in self.codes.items() if code == "hhmm"]
        found = [
            Formula(
                name,
                "clock",
                (other, minutes),
                constant=2400.0 if np.nanmax(self.views[name].floats) == 2400 else 0.0,
            )
            for name, other in permutations(clocks, 2)
            for minutes in self.numbers
        ]
        yield from self._checked(found, max(len(found), 1))

    def _checked(self, formulas: Collection[Formula] | Iterator[Formula], tests: int) -> Iterator[Formula]:
        """Yield the formulas that hold on the sample, and then on all records, beyond chance."""
        for formula in formulas:
            quick = _tally(self.views.sample, formula)
            if quick.share > _SLACK * MOST_EXCEPTIONS or quick.tries < _FEWEST:
                continue
            tally = _tally(self.views, formula)
            if beyond_chance(tally.exceptions, tally.tries, quick.chance, tests, LIKELY_FORMULA):
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


def _tally(views: Views, formula: Formula) -> _Tally:
    """Count on all records of some views."""
    of = [views[name] for name in formula.of]
    view = views[formula.column]
    told = computed(formula, [one.array for one in of])
    excused = excused_rows(told, view, of)
    asked = np.flatnonzero(~excused)
    mine, told, tolerance = view.floats[asked], told[asked], view.tolerance[asked]
    wrong = int(np.count_nonzero(~agreeing(told, mine, tolerance)))
    shuffled = np.random.default_rng(0).permutation(len(asked))
    by_chance = ~agreeing(told, mine[shuffled], tolerance[shuffled])
    return _Tally(len(asked), wrong, float(by_chance.mean()) if len(asked) else 0.0)


def excused_rows(told: Floats, view: View, of: Sequence[View]) -> NDArray[np.bool_]:
    """Return where a formula has no answer, or a number that means something else is involved."""
    excused = np.isnan(told)
    special = view.special.copy()
    for one in of:
        special |= one.special
    if special.any():
        excused |= special & ~agreeing(told, view.floats, view.tolerance)
    return excused


def _of_pair(
    pair: tuple[str, str],
    places: tuple[int, int],
    values: Floats,
    tolerance: Floats,
    names: Sequence[str],
) -> Iterator[Formula]:
    """Yield the formulas of two numbers that a few records suggest, for all other columns."""
    a, b = values[places[0]], values[places[1]]
    turned = (pair[1], pair[0])
    sums: tuple[tuple[Form, tuple[str, str], Floats, float], ...] = (
        ("sum", pair, a + b, 1.0),
        ("sum", pair, -(a + b), -1.0),
        ("sum", pair, (a + b) / 2, 0.5),
        ("difference", pair, a - b, 1.0),
        ("difference", turned, b - a, 1.0),
    )
    with np.errstate(all="ignore"):
        shares: tuple[tuple[Form, tuple[str, str], Floats], ...] = (
            ("product", pair, a * b),
            ("ratio", pair, a / b),
            ("ratio", turned, b / a),
            ("ratio to square", pair, a / (b * b)),
            ("ratio to square", turned, b / (a * a)),
        )
        for form, of, told, factor in sums:
            off = values[:, :_GLANCE] - told[:_GLANCE]
            # Differences are exact up to rounding, so the constant is a round number.
            constant = np.round(_middle(off), 6)
            near = np.abs(off - constant[:, None]) <= tolerance[:, :_GLANCE]
            for place in _places(near, told[:_GLANCE], places):
                agree = np.abs(values[place] - told - constant[place]) <= tolerance[place]
                if _mostly(agree[~np.isnan(told)]):
                    yield Formula(
                        names[place], form, of, factor=factor, constant=float(constant[place])
                    )
        for form, of, told in shares:
            told = np.where(np.isfinite(told), told, np.nan)
            few = told[:_GLANCE]
            ratio = np.where(few != 0, values[:, :_GLANCE] / few, np.nan)
            middle = _middle(ratio)
            room = 3 * tolerance[:, :_GLANCE] + 0.02 * np.abs(values[:, :_GLANCE])
            near = np.abs(values[:, :_GLANCE] - middle[:, None] * few) <= room
            for place in _places(near, few, places):
                known = ~np.isnan(told)
                for nice in _nice_numbers(float(middle[place])):
                    agree = np.abs(values[place] - nice * told) <= tolerance[place]
                    if nice and _mostly(agree[known]):
                        yield Formula(names[place], form, of, factor=nice)
                        break


def _middle(values: Floats) -> Floats:
    """Return the median of each row, of what is known; 0 where nothing is."""
    ordered = np.sort(values, axis=1)  # what is not known comes last
    known = np.count_nonzero(~np.isnan(values), axis=1)
    found = ordered[np.arange(len(values)), np.maximum(known - 1, 0) // 2]
    return np.nan_to_num(found, nan=0.0, posinf=0.0, neginf=0.0)


def _places(agree: NDArray[np.bool_], told: Floats, taken: tuple[int, int]) -> list[int]:
    known = ~np.isnan(told)
    if np.count_nonzero(known) < _FEWEST // 2 or np.ptp(told[known]) == 0:
        return []
    share = agree[:, known].mean(axis=1)
    found = np.flatnonzero(share >= _GLANCED)
    return [int(place) for place in found if place not in taken]


def _mostly(agree: NDArray[np.bool_]) -> bool:
    return len(agree) >= _FEWEST and bool(agree.mean() >= 1 - _SLACK * MOST_EXCEPTIONS)


def _few_values(values: Floats) -> bool:
    """Whether numbers are two at most: their square is a line."""
    return len(np.unique(values)) <= 2


def _unit(view: View) -> float:
    """Return the unit that all numbers of a column are multiples of: 0.01, 1, or 1000."""
    if view.column.kind == "real":
        return 0.0 if view.column.decimals is None else 10.0**-view.column.decimals
    known = view.floats[~np.isnan(view.floats)]
    unit = float(np.gcd.reduce(known.astype(np.int64))) if len(known) else 1.0
    return max(unit, 1.0)


def _line(a: Floats, mine: Floats) -> tuple[float, float] | None:
    """Return the slope and the height of a line through points, or None if they lie on none."""
    spread = a - a.mean()
    slope = float(spread @ (mine - mine.mean()) / (spread @ spread))
    if slope == 0 or not math.isfinite(slope):
        return None
    height = float(np.median(mine - slope * a))
    left = mine - slope * a - height
    # A rounded column still lies near its line.
    near = np.abs(left).max() <= 0.2 * np.ptp(mine) + 1e-9
    if not near:
        return None
    return slope, height


def _nice(slope: float, height: float) -> Iterator[tuple[float, float]]:
    """Yield slopes and heights near those found, the roundest first."""
    for digits in (1, 2, 3, 4, 6, 9, 12):
        rounded = _significant(slope, digits)
        for constant in dict.fromkeys((0.0, round(height), round(height, 2), round(height, 6), height)):
            yield rounded, float(constant)


def _nice_numbers(value: float) -> list[float]:
    """Return numbers near one, the roundest first."""
    return list(dict.fromkeys(_significant(value, digits) for digits in (1, 2, 3, 5, 8)))


def _significant(value: float, digits: int) -> float:
    """Return a number with so many digits that count.

    Examples
    --------
    >>> _significant(0.45359237, 3)
    0.454
    """
    return float(f"{value:.{digits - 1}e}") if math.isfinite(value) else 0.0
