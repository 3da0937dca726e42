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
_GLANCE = 32
_GLANCED = 0.75
"""Share of the first few records that must agree before more are looked at."""
_RELATIVE = 0.005
_FEWEST_MOVES = 6
"""Records that a suggestion rests on, at least."""
_MOST_FOR_ONE = 4
"""Formulas that are kept for one column, at most: one of them is chosen in the end."""
_NEAR_A_LINE = 0.9
"""Correlation of columns that may lie on a line, as far as rounding lets them."""
_FEW_LEVELS = 50
"""A column with no more values is not taken for rounded: too much would round to it."""
_LOGARITHMS: tuple[Form, ...] = ("log", "log10", "log2", "log1p")
_ROUNDED: tuple[Form, ...] = ("rounded", "rounded down", "rounded up")
_DIVIDED: tuple[Form, ...] = ("quotient", "remainder")
_WHOLE: tuple[Form, ...] = (*_ROUNDED, *_DIVIDED, *PARTS, "clock", "date", "gap")
"""Forms that give numbers which are rounded already."""
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

    def of_one(self) -> Iterator[Formula]:
        """Yield the formulas of one column."""
        numbers = self.numbers
        tests = len(numbers) ** 2 * 20 + 1
        suggested = self._suggested(numbers)
        # Columns that come later were more often computed from earlier ones than the reverse.
        for name in reversed(numbers):
            for other in [*self.times, *self.codes]:
                yield from self._checked(self._parts(name, other), tests)
            for other in numbers:
                if (name, other) in suggested:
                    found = self._checked(self._of_number(name, other), tests)
                    yield from islice(found, 1)
        for name, other in permutations(self.times, 2):
            if pa.types.is_date(self.views[name].array.type):
                one = Formula(name, "date", (other,))
                if pa.types.is_timestamp(self.views[other].array.type):
                    yield from self._checked([one], tests)

    def _suggested(self, numbers: Sequence[str]) -> set[tuple[str, str]]:
        """Return the pairs of columns that lie near a line, a parabola or a logarithm.

        Or of which one is what is left of the other in a whole division.
        """
        if len(numbers) < 2:
            return set()
        values, tolerance = self._few(numbers, _FIRST_LOOK)
        with np.errstate(all="ignore"):
            close = np.zeros((len(numbers), len(numbers)), bool)
            for shape in (values, values**2, np.log(values), np.log1p(values)):
                found = _correlations(values, np.where(np.isfinite(shape), shape, np.nan))
                close |= np.abs(found) > _NEAR_A_LINE
            for factor in _TENS:
                wide = np.flatnonzero(
                    np.fmax.reduce(values, 1) - np.fmin.reduce(values, 1) > factor
                )
                for form in (np.floor(values / factor), np.mod(values, factor)):
                    for place in wide:
                        told = form[place]
                        agree = np.abs(values - told) <= tolerance
                        close[:, place] |= _shares(agree, ~np.isnan(told)) >= _GLANCED
        np.fill_diagonal(close, False)
        return {(numbers[i], numbers[j]) for i, j in np.argwhere(close)}

    def _few(self, numbers: Sequence[str], rows: int) -> tuple[Floats, Floats]:
        """Return the numbers of a few records, and how far they may be off."""
        small = self.views.sample
        chosen = np.unique(np.linspace(0, small.rows - 1, rows).astype(int))
        values = np.stack([small[name].floats[chosen] for name in numbers])
        return values, np.stack([self._exact(name, small)[chosen] for name in numbers])

    def _exact(self, name: str, views: Views) -> Floats:
        """Return how far numbers may be off: of a column with few values, not at all.

        Otherwise anything would round to a few whole numbers.
        """
        found = views[name].tolerance
        few = self.views[name].levels <= _FEW_LEVELS
        return np.minimum(found, 1e-6 * (1 + np.abs(views[name].floats))) if few else found

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

    def _of_number(self, name: str, other: str) -> Iterator[Formula]:  # noqa: C901, PLR0912  # one form after the other
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
        strict = self._exact(name, small)[both]

        def agrees(form: Form, factor: float = 1.0, constant: float = 0.0) -> bool:
            told = plain_formula(form, [a], factor, constant)
            return _mostly(agreeing(told, mine, tolerance if form in _WHOLE else strict))

        unit, finer = _unit(self.views[name]), _unit(self.views[other])
        if unit > finer:
            for form in _ROUNDED:
                if agrees(form, unit):
                    yield Formula(name, form, (other,), factor=unit)
        line = _line(a, mine)
        if line is not None:
            for factor, constant in _nice(*line):
                if agrees("multiple", factor, constant):
                    yield Formula(name, "multiple", (other,), factor=factor, constant=constant)
                    break
        if (a != 0).any() and len(np.unique(a)) > 2:  # the square of two numbers is a line
            for nice in _nice_numbers(float(np.median(mine[a != 0] / a[a != 0] ** 2))):
                if nice and agrees("square", nice):
                    yield Formula(name, "square", (other,), factor=nice)
                    break
        for form in _LOGARITHMS:
            if agrees(form):
                yield Formula(name, form, (other,))
        for factor in _TENS:
            for form in _DIVIDED:
                if np.ptp(a) > factor and agrees(form, factor):
                    yield Formula(name, form, (other,), factor=factor)

    def of_two(self) -> Iterator[Formula]:
        """Yield the formulas of two columns: of times, then of numbers."""
        yield from self._gaps()
        yield from self._clocks()
        numbers = self.numbers[:MOST_NUMBERS]
        if len(numbers) < 3:
            return
        tests = math.comb(len(numbers), 2) * len(numbers) * 8
        values, tolerance = self._few(numbers, _FIRST_LOOK)
        later: list[Formula] = []
        for form, (a, b), place in self._triples(numbers):
            one = _fitted(form, (a, b), place, values, tolerance, numbers)
            if one is None:
                continue
            if one.form in ("sum", "product") and self._natural(one):
                yield from self._checked([one], tests)
            else:
                later.append(one)
        yield from self._checked(later, tests)

    def _triples(self, numbers: Sequence[str]) -> Iterator[tuple[_TwoForm, tuple[int, int], int]]:
        """Yield the columns that a few records suggest to be a form of two others.

        Sums and differences are looked at from record to record, so that constants drop out;
        products and ratios likewise, by their logarithms.
        """
        values, tolerance = self._few(numbers, _GLANCE)
        with np.errstate(all="ignore"):
            logs = np.log(np.abs(values))
            logs[~np.isfinite(logs)] = np.nan
            # Numbers that are nearly rounded away would agree with anything.
            relative = np.minimum(tolerance / np.abs(values), _RELATIVE)
            looks = {
                False: (np.diff(values, axis=1), tolerance[:, 1:] + tolerance[:, :-1]),
                True: (np.diff(logs, axis=1), relative[:, 1:] + relative[:, :-1]),
            }
            for form in _TWO_FORMS:
                steps, room = looks[form.logs]
                known = ~np.isnan(steps)
                moved = np.abs(steps) > room
                for a in range(len(numbers)):
                    told = form.first * steps[a] + form.second * steps
                    # What stays as it is in both agrees by itself, and tells nothing.
                    asked = (known & known[a])[:, None] & known[None]
                    asked &= moved[None] | (np.abs(told)[:, None] > room)
                    agree = asked & (np.abs(steps[None] - told[:, None]) <= room + 1e-9)
                    found = agree.sum(2) >= _GLANCED * np.maximum(asked.sum(2), _FEWEST_MOVES)
                    for b, place in np.argwhere(found):
                        both = a < b if form.symmetric else a != b
                        if both and place not in (a, b):
                            yield form, (a, int(b)), int(place)
        yield from self._interactions(numbers)

    def _interactions(
        self, numbers: Sequence[str]
    ) -> Iterator[tuple[_TwoForm, tuple[int, int], int]]:
        """Yield the columns that may be products of two others, of which many are 0."""
        values, tolerance = self._few(numbers, _FIRST_LOOK)
        sparse = np.flatnonzero((values == 0).mean(1) > 0.2)
        mine, room = values[sparse], tolerance[sparse]
        for a in range(len(numbers)):
            told = values[a] * values
            with np.errstate(invalid="ignore"):
                asked = (told != 0)[:, None] | (mine != 0)[None]
                agree = asked & (np.abs(mine[None] - told[:, None]) <= room)
            found = agree.sum(2) >= _GLANCED * np.maximum(asked.sum(2), _FEWEST_MOVES)
            for b, one in np.argwhere(found):
                place = int(sparse[one])
                if a < b and place not in (a, b):
                    yield _TWO_FORMS[-1], (a, int(b)), place

    def _natural(self, formula: Formula) -> bool:
        """Return whether a sum is that of parts, none of which is below zero."""
        return formula.factor > 0 and all(
            np.fmin.reduce(self.views[name].floats) >= 0 for name in formula.of
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
                    told = told_by(formula, small)
                    apart = small[name].floats - told
                    apart = apart[~np.isnan(apart)]
                    off = float(np.round(np.median(apart))) if len(apart) else 0.0
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
            few = self.views[formula.column].levels <= _FEW_LEVELS
            quick = _tally(self.views.sample, formula, few=few, chance=True)
            if quick.share > _SLACK * MOST_EXCEPTIONS or quick.tries < _FEWEST:
                continue
            tally = _tally(self.views, formula, few=few)
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
        tolerance = np.minimum(tolerance, 1e-6 * (1 + np.abs(view.floats)))
    agree = agreeing(told, view.floats, tolerance)
    excused = np.isnan(told)
    if not agree.all():
        excused |= excused_rows(told, view, [views[name] for name in formula.of])
    tries = len(agree) - int(np.count_nonzero(excused))
    wrong = int(np.count_nonzero(~agree & ~excused))
    if not chance or wrong > _SLACK * MOST_EXCEPTIONS * tries:
        return _Tally(tries, wrong, 0.0)
    asked = np.flatnonzero(~excused)
    mine, told, tolerance = view.floats[asked], told[asked], tolerance[asked]
    shuffled = np.random.default_rng(0).permutation(len(asked))
    by_chance = ~agreeing(told, mine[shuffled], tolerance[shuffled])
    return _Tally(tries, wrong, float(by_chance.mean()) if len(asked) else 0.0)


def told_by(formula: Formula, views: Views) -> Floats:
    """Return what a formula gives for the records of some views."""
    of = [views[name] for name in formula.of]
    reckoned = formula.form != "gap" and not any(one.timed for one in of)
    plain = [one.floats for one in of] if reckoned else None
    return computed(formula, [one.array for one in of], plain)


def excused_rows(told: Floats, view: View, of: Sequence[View]) -> NDArray[np.bool_]:
    """Return where a formula has no answer, or a number that means something else is involved."""
    excused = np.isnan(told)
    special = view.special.copy()
    for one in of:
        special |= one.special
    if special.any():
        excused |= special & ~agreeing(told, view.floats, view.tolerance)
    return excused


@dataclass(frozen=True)
class _TwoForm:
    """A form of two numbers, as a weighted sum of them or of their logarithms."""

    form: Form
    first: float
    second: float
    logs: bool = False
    factor: float = 1.0

    @property
    def symmetric(self) -> bool:
        """Whether the two can be interchanged."""
        return self.first == self.second


_TWO_FORMS = (
    _TwoForm("sum", 1, 1),
    _TwoForm("sum", -1, -1, factor=-1.0),
    _TwoForm("sum", 0.5, 0.5, factor=0.5),
    _TwoForm("difference", 1, -1),
    _TwoForm("ratio", 1, -1, logs=True),
    _TwoForm("ratio to square", 1, -2, logs=True),
    _TwoForm("product", 1, 1, logs=True),
)


def _fitted(
    form: _TwoForm,
    pair: tuple[int, int],
    place: int,
    values: Floats,
    tolerance: Floats,
    names: Sequence[str],
) -> Formula | None:
    """Return the formula with its constant or factor, if more records agree with it."""
    of = (names[pair[0]], names[pair[1]])
    mine = values[place]
    told = plain_formula(form.form, [values[one] for one in pair], form.factor, 0.0)
    known = ~np.isnan(told) & ~np.isnan(mine)
    if np.count_nonzero(known) < _FEWEST:
        return None
    mine, told, room = mine[known], told[known], tolerance[place][known]
    if not form.logs:
        # Differences are exact up to rounding, so the constant is a round number.
        constant = float(np.round(np.median(mine - told), 6))
        if not _mostly(np.abs(mine - told - constant) <= room):
            return None
        return Formula(names[place], form.form, of, factor=form.factor, constant=constant)
    if not (told != 0).any():
        return None
    middle = float(np.median(mine[told != 0] / told[told != 0]))
    if middle == 0:
        middle = 1.0  # mostly zeros
    for factor in _nice_numbers(middle):
        if factor and _mostly(np.abs(mine - factor * told) <= room):
            return Formula(names[place], form.form, of, factor=factor)
    return None


def _correlations(values: Floats, others: Floats) -> Floats:
    """Return the correlation of each row with each row of others, of the records with both."""
    known, seen = (~np.isnan(values)).astype(float), (~np.isnan(others)).astype(float)
    v, o = _standardized(values), _standardized(others)
    count = np.maximum(known @ seen.T, 1)
    mean_v, mean_o = v @ seen.T / count, known @ o.T / count
    covariance = v @ o.T / count - mean_v * mean_o
    squares = (v * v) @ seen.T / count - mean_v**2, known @ (o * o).T / count - mean_o**2
    return np.asarray(covariance / np.sqrt(np.maximum(squares[0] * squares[1], 1e-300)))


def _standardized(values: Floats) -> Floats:
    """Return rows less their mean and over their spread, 0 where nothing is known."""
    known = ~np.isnan(values)
    count = np.maximum(known.sum(1, keepdims=True), 1)
    zero = np.where(known, values, 0.0)
    centred = np.where(known, zero - zero.sum(1, keepdims=True) / count, 0.0)
    spread = np.sqrt((centred**2).sum(1, keepdims=True) / count)
    return centred / np.where(spread > 0, spread, 1.0)


def _shares(agree: NDArray[np.bool_], known: NDArray[np.bool_]) -> Floats:
    """Return the share of agreement of each row, where something is known."""
    count = int(np.count_nonzero(known))
    return agree[:, known].mean(1) if count >= _FEWEST else np.zeros(len(agree))


def _mostly(agree: NDArray[np.bool_]) -> bool:
    return len(agree) >= _FEWEST and bool(agree.mean() >= 1 - _SLACK * MOST_EXCEPTIONS)


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
        for constant in dict.fromkeys(
            (0.0, round(height), round(height, 2), round(height, 6), height)
        ):
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
