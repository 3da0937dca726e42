"""Which columns of numbers seem to be computed from one other, as far as a few records tell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from understudy.data.dependencies.families import Form, Formula
from understudy.data.dependencies.formulas import Floats, plain_formula
from understudy.data.dependencies.looks import (
    FEWEST,
    FEWEST_MOVES,
    GLANCED,
    Looks,
    mostly,
    round_numbers,
    significant,
)
from understudy.data.dependencies.views import View

_PARTS = 4
"""Parts of the first look: a slip in one of them hides nothing in the others."""
_FEWEST_POINTS = 8
"""Records of a part that a correlation rests on, at least."""
_PAIRS_AT_ONCE = 2**22
"""Pairs of columns whose correlations are held at a time, about."""
_NEAR_A_LINE = 0.99
"""Correlation of columns that may lie on a line."""
_ROUNDED_LINE = 0.9
"""The same of columns of which one may be the other, rounded."""
_LOGARITHMS: tuple[Form, ...] = ("log", "log10", "log2", "log1p")
_ROUNDED: tuple[Form, ...] = ("rounded", "rounded down", "rounded up")
_DIVIDED: tuple[Form, ...] = ("quotient", "remainder")
_TENS = (10.0, 100.0, 1000.0, 10000.0)
_PARTS_OF_ONE = (3, 6, 7, 9, 11, 12)
"""Fractions are tried in these parts: 5/9 of a degree, a twelfth of a year."""
_SLIPS = (0, 1, 2, 4)
"""Of the first look, so many records may keep a slope from being as round as the others let it."""


@dataclass(frozen=True, eq=False)
class OneNumber:
    """The formulas of one number that a first look suggests."""

    looks: Looks
    _told: dict[str, Mapping[tuple[Form, float], Floats]] = field(default_factory=dict)
    _units: dict[str, float] = field(default_factory=dict)

    @cached_property
    def suggested(self) -> dict[tuple[str, str], set[str]]:
        """The pairs of columns that lie near a line, a parabola or a logarithm, and near which.

        Or of which one is what is left of the other in a whole division.
        """
        names = self.looks.names
        if len(names) < 2:
            return {}
        values, strict, _ = self.looks.first
        units = np.array([self._unit(name) for name in names])
        found: dict[tuple[str, str], set[str]] = {}

        def note(shape: str, places: Iterable[tuple[int, int]]) -> None:
            for i, j in places:
                if i != j:
                    found.setdefault((names[i], names[j]), set()).add(shape)

        with np.errstate(all="ignore"):
            shapes = {"line": values, "square": values**2}
            shapes |= {"log": np.log(values), "log1p": np.log1p(values)}
            together = max(1, _PAIRS_AT_ONCE // len(names))
            for shape, one in shapes.items():
                for start in range(0, len(names), together):
                    some = slice(start, start + together)
                    near = np.where(units[some, None] > units, _ROUNDED_LINE, _NEAR_A_LINE)
                    pairs = np.add(np.argwhere(_close(values[some], one, near)), [start, 0])
                    note(shape, pairs.tolist())
            spread = np.fmax.reduce(values, 1) - np.fmin.reduce(values, 1)
            for factor in _TENS:
                wide = np.flatnonzero(spread > factor)
                for form in (np.floor(values[wide] / factor), np.mod(values[wide], factor)):
                    for place, told in zip(wide, form, strict=True):
                        rows = np.flatnonzero(_near(told, values, strict)).tolist()
                        note("divided", ((row, int(place)) for row in rows))
        return found

    def suggested_for(self, name: str) -> list[str]:
        """Return the columns that a column may be computed from, in their order."""
        return self._sources.get(name, [])

    @cached_property
    def _sources(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, other in sorted(self.suggested, key=lambda pair: self.looks.places[pair[1]]):
            found.setdefault(name, []).append(other)
        return found

    def formulas(self, name: str, other: str) -> Iterator[Formula]:
        """Yield the formulas of a suggested pair, the simplest first."""
        mine, a = self.looks.places[name], self.looks.places[other]
        numbers, strict, tolerance = self.looks.first
        both = ~(np.isnan(numbers[mine]) | np.isnan(numbers[a]))
        y, x = numbers[mine][both], numbers[a][both]
        if len(y) < FEWEST or y.min() == y.max() or x.min() == x.max():
            return
        near, unit = self.suggested[name, other], self._unit(name)
        if "line" in near and unit > self._unit(other):
            told = np.stack([plain_formula(form, [x], unit, 0.0) for form in _ROUNDED])
            for place in np.flatnonzero(_convincing(told, y, tolerance[mine][both])):
                yield Formula(name, _ROUNDED[place], (other,), factor=unit)
        lines = list(_lines(name, other, x, y, strict[mine][both])) if "line" in near else []
        if all(_exact(one, x, y) for one in lines):
            yield from lines
        if "square" in near:
            yield from _squares(name, other, x, y, strict[mine][both])
        # What is rounded down lies near a line as well, but is not written alike.
        forms = self._told_by(other) if not near <= {"line", "square"} or lines else {}
        if forms:
            told = np.stack([one[both] for one in forms.values()])
            whole = np.array([form in _DIVIDED for form, _ in forms])
            room = np.where(whole[:, None], tolerance[mine][both], strict[mine][both])
            for (form, factor), good in zip(forms, _convincing(told, y, room), strict=True):
                if good:
                    yield Formula(name, form, (other,), factor=factor)
        yield from lines

    def _told_by(self, other: str) -> Mapping[tuple[Form, float], Floats]:
        """Return what forms without a number to find give for the records of the first look."""
        if other not in self._told:
            x = self.looks.first[0][self.looks.places[other]]
            forms: list[tuple[Form, float]] = [(form, 1.0) for form in _LOGARITHMS]
            spread = np.fmax.reduce(x) - np.fmin.reduce(x)
            forms += [(form, factor) for factor in _TENS if spread > factor for form in _DIVIDED]
            self._told[other] = {key: plain_formula(key[0], [x], key[1], 0.0) for key in forms}
        return self._told[other]

    def _unit(self, name: str) -> float:
        if name not in self._units:
            self._units[name] = _unit(self.looks.views[name])
        return self._units[name]


def _unit(view: View) -> float:
    """Return the unit that all numbers of a column are multiples of: 0.01, 1, or 1000."""
    if view.column.kind == "real":
        return 0.0 if view.column.decimals is None else 10.0**-view.column.decimals
    known = view.floats[~np.isnan(view.floats)]
    unit = float(np.gcd.reduce(known.astype(np.int64))) if len(known) else 1.0
    return max(unit, 1.0)


def _lines(name: str, other: str, x: Floats, y: Floats, room: Floats) -> Iterator[Formula]:
    """Yield the line that most records lie on."""
    line = _line(x, y)
    if line is None:
        return
    tried = np.array([*_round_lines(*line), *_narrowed(*line, x, y, room)])
    told = tried[:, :1] * x + tried[:, 1:]
    best = int(np.argmax(np.count_nonzero(np.abs(told - y) <= room, axis=1)))
    if _convincing(told[best], y, room):
        factor, constant = tried[best].tolist()
        yield Formula(name, "multiple", (other,), factor=factor, constant=constant)


def _exact(line: Formula, x: Floats, y: Floats) -> bool:
    """Return whether numbers lie on a line, and need no rounding."""
    return bool(_convincing(line.factor * x + line.constant, y, 1e-6 * (1 + np.abs(y))))


def _squares(name: str, other: str, x: Floats, y: Floats, room: Floats) -> Iterator[Formula]:
    known = x != 0
    if not known.any() or len(np.unique(x)) <= 2:  # the square of two numbers is a line
        return
    for factor in round_numbers(float(np.median(y[known] / x[known] ** 2))):
        if factor and _convincing(factor * x * x, y, room):
            yield Formula(name, "square", (other,), factor=factor)
            return


def _convincing(told: Floats, y: Floats, room: Floats) -> NDArray[np.bool_]:
    """Return whether most numbers are what formulas tell, and also most of the less common ones."""
    values, counts = np.unique(y, return_counts=True)
    common = values[np.argmax(counts)]
    agree = np.abs(told - y) <= room
    asked = (np.abs(told - common) > room) | (np.abs(y - common) > room)
    count = np.count_nonzero(asked, axis=-1)
    enough = np.count_nonzero(agree & asked, axis=-1) >= GLANCED * np.maximum(count, FEWEST_MOVES)
    return np.asarray(mostly(agree) & enough)


def _line(x: Floats, y: Floats) -> tuple[float, float] | None:
    """Return the slope and the height of a line through points, or None if they lie on none.

    Slips of the pen do not bend it: they lie far from the line of most other points.
    """
    with np.errstate(all="ignore"):
        steps, rises = np.diff(x), np.diff(y)
        wide = np.abs(steps) >= np.median(np.abs(steps))
        slope = float(np.median((rises / steps)[wide & (steps != 0)]))
    if not math.isfinite(slope):
        return None
    left = y - slope * x
    left = np.abs(left - np.median(left))
    near = left <= _FAR * float(np.median(left)) + 1e-9 * float(np.abs(y).max())
    x, y = x[near], y[near]
    spread = x - x.mean()
    if np.count_nonzero(near) < FEWEST or not spread.any():
        return None
    slope = float(spread @ (y - y.mean()) / (spread @ spread))
    if slope == 0 or not math.isfinite(slope):
        return None
    height = float(np.median(y - slope * x))
    # A rounded column still lies near its line.
    if np.abs(y - slope * x - height).max() > 0.2 * np.ptp(y) + 1e-9:
        return None
    return slope, height


_FAR = 6
"""Points that lie so many times as far from a line as the middle one may be slips of the pen."""


def _heights(slope: float, height: float) -> list[float]:
    """Return heights near one, the roundest first; also where x has a round distance."""
    shifted = slope * round(height / slope)
    return list(
        dict.fromkeys((0.0, round(height), round(height, 2), shifted, round(height, 6), height))
    )


def _round_lines(slope: float, height: float) -> Iterator[tuple[float, float]]:
    """Yield slopes and heights near those found, the roundest first."""
    slopes = [significant(slope, digits) for digits in (1, 2, 3)]
    slopes += [round(slope * parts) / parts for parts in _PARTS_OF_ONE]
    slopes += [significant(slope, digits) for digits in (4, 6, 9, 12)]
    for rounded in dict.fromkeys(one for one in slopes if one):
        for constant in _heights(rounded, height):
            yield rounded, float(constant)


def _narrowed(
    slope: float, height: float, x: Floats, y: Floats, room: Floats
) -> Iterator[tuple[float, float]]:
    """Yield the roundest slopes that rounded numbers allow, for each of some heights.

    A number y that was rounded lies within some room of its line, so that the slope lies between
    (y - room) / x and (y + room) / x: the more records, the narrower.
    """
    known = np.abs(x) > 1e-12
    for constant in _heights(slope, height):
        ends = (np.stack([y - room, y + room]) - constant)[:, known] / x[known]
        lows, highs = np.sort(ends.min(0)), np.sort(ends.max(0))
        for slips in _SLIPS:
            if len(lows) <= slips or lows[-1 - slips] > highs[slips]:
                continue
            low, high = float(lows[-1 - slips]), float(highs[slips])
            tried = (significant((low + high) / 2, digits) for digits in range(1, 13))
            yield next((one for one in tried if low <= one <= high), (low + high) / 2), constant
            break


def _close(values: Floats, shape: Floats, near: Floats) -> NDArray[np.bool_]:
    """Return which rows lie near a line with which rows of a shape, in some part of the records."""
    shape = np.where(np.isfinite(shape), shape, np.nan)
    parts = (slice(first, None, _PARTS) for first in range(_PARTS))
    found = [_correlations(values[:, part], shape[:, part]) > near for part in parts]
    return np.asarray(np.any(found, axis=0))


def _correlations(values: Floats, others: Floats) -> Floats:
    """Return how far each row correlates with each row of others; 0 if few records have both."""
    known, seen = (~np.isnan(values)).astype(float), (~np.isnan(others)).astype(float)
    v, o = _standardized(values), _standardized(others)
    together = known @ seen.T
    count = np.maximum(together, 1)
    mean_v, mean_o = v @ seen.T / count, known @ o.T / count
    covariance = v @ o.T / count - mean_v * mean_o
    squares = (v * v) @ seen.T / count - mean_v**2, known @ (o * o).T / count - mean_o**2
    found = np.abs(covariance) / np.sqrt(np.maximum(squares[0] * squares[1], 1e-300))
    return np.where(together >= _FEWEST_POINTS, found, 0.0)


def _standardized(values: Floats) -> Floats:
    """Return rows less their mean and over their spread, 0 where nothing is known."""
    known = ~np.isnan(values)
    count = np.maximum(known.sum(1, keepdims=True), 1)
    zero = np.where(known, values, 0.0)
    centred = np.where(known, zero - zero.sum(1, keepdims=True) / count, 0.0)
    spread = np.sqrt((centred**2).sum(1, keepdims=True) / count)
    return centred / np.where(spread > 0, spread, 1.0)


def _near(told: Floats, values: Floats, room: Floats) -> NDArray[np.bool_]:
    """Return which rows of numbers are mostly what a formula tells, where that tells anything."""
    known = np.flatnonzero(~np.isnan(told))
    near = np.zeros(len(values), bool)
    if len(known) < FEWEST:
        return near
    first = known[:FEWEST]  # at a glance, most are something else
    agree = np.abs(values[:, first] - told[first]) <= room[:, first]
    left = np.flatnonzero(agree.mean(1) >= GLANCED / 2)
    agree = np.abs(values[np.ix_(left, known)] - told[known]) <= room[np.ix_(left, known)]
    near[left] = agree.mean(1) >= GLANCED
    return near
