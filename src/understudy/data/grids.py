"""The numbers that a column can hold: whole ones in steps, or real ones of so many decimals.

A number that is drawn must be one that can be written, and still lie where it was drawn. A grid
knows the writable numbers next to any number, so that the ends of a bin can be put on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data.values import TICKS_PER_SECOND, unit_of

Numeric = NDArray[Any]  # int64 or float64
Sign = Literal[-1, 1]

_ALL_DECIMALS = 2.0**52  # floats beyond this have none


class Grid(Protocol):
    """The numbers that a column can hold."""

    def nearest(self, values: Numeric) -> Numeric:
        """Return the number of the grid next to each value."""
        ...

    def at_least(self, values: Numeric) -> Numeric:
        """Return the smallest number of the grid that is not below each value."""
        ...

    def at_most(self, values: Numeric) -> Numeric:
        """Return the largest number of the grid that is not above each value."""
        ...

    def step_from(self, values: Numeric, sign: Sign) -> Numeric:
        """Return the number after (1) or before (-1) each number of the grid."""
        ...

    def between(self, low: Numeric, high: Numeric, share: NDArray[np.float64]) -> Numeric:
        """Return the numbers that lie a share of the way from `low` to `high`, on the grid."""
        ...


@dataclass(frozen=True)
class WholeGrid:
    """Whole numbers and times: `start` plus or minus any multiple of `step`.

    Examples
    --------
    >>> WholeGrid(step=60).at_least(np.array([59, 60, 61]))
    array([ 60,  60, 120])
    """

    step: int = 1
    start: int = 0

    def nearest(self, values: Numeric) -> Numeric:
        """Return the number of the grid next to each value."""
        return self.at_most(values + self.step // 2)

    def at_least(self, values: Numeric) -> Numeric:
        """Return the smallest number of the grid that is not below each value."""
        return np.asarray(values + (self.start - values % self.step) % self.step)

    def at_most(self, values: Numeric) -> Numeric:
        """Return the largest number of the grid that is not above each value."""
        return np.asarray(values - (values % self.step - self.start) % self.step)

    def step_from(self, values: Numeric, sign: Sign) -> Numeric:
        """Return the number after (1) or before (-1) each number of the grid."""
        return np.asarray(values + sign * self.step)

    def between(self, low: Numeric, high: Numeric, share: NDArray[np.float64]) -> Numeric:
        """Return the numbers that lie a share of the way from `low` to `high`, on the grid."""
        steps = (high - low) // self.step
        # Each of the steps + 1 numbers, the ends included, has the same share of the way.
        passed = np.minimum((share * (steps + 1)).astype(np.int64), steps)
        return np.asarray(low + self.step * passed)


@dataclass(frozen=True)
class RealGrid:
    """Real numbers of at most so many decimals, in the precision that stores them.

    Examples
    --------
    >>> RealGrid(decimals=1).at_most(np.array([0.25, 0.3]))
    array([0.2, 0.3])
    """

    decimals: int | None = None
    precision: Literal["float64", "float32", "float16"] = "float64"

    def nearest(self, values: Numeric) -> Numeric:
        """Return the number of the grid next to each value."""
        if self.decimals is not None:
            small = np.abs(values) < _ALL_DECIMALS
            rounded = np.round(np.where(small, values, 0.0), self.decimals)
            values = np.where(small, rounded, values)
        return np.asarray(values, dtype=self.precision).astype(np.float64)

    def at_least(self, values: Numeric) -> Numeric:
        """Return the smallest number of the grid that is not below each value."""
        near = self.nearest(values)
        return np.where(near < values, self.step_from(near, 1), near)

    def at_most(self, values: Numeric) -> Numeric:
        """Return the largest number of the grid that is not above each value."""
        near = self.nearest(values)
        return np.where(near > values, self.step_from(near, -1), near)

    def step_from(self, values: Numeric, sign: Sign) -> Numeric:
        """Return the number after (1) or before (-1) each number of the grid."""
        towards = np.dtype(self.precision).type(sign * np.inf)
        adjacent: Numeric = np.nextafter(values.astype(self.precision), towards).astype(np.float64)
        if self.decimals is None:
            return adjacent
        stepped = self.nearest(values + sign * 10.0**-self.decimals)
        # Large numbers lie further apart than one decimal.
        return np.where(stepped == values, adjacent, stepped)

    def between(self, low: Numeric, high: Numeric, share: NDArray[np.float64]) -> Numeric:
        """Return the numbers that lie a share of the way from `low` to `high`, on the grid."""
        # In this form the difference of two huge numbers cannot overflow.
        drawn = self.nearest(low * (1 - share) + high * share)
        return np.asarray(np.clip(drawn, low, high))


def grid_of(kind: pa.DataType, ordered: Numeric, decimals: int | None) -> Grid:
    """Return the grid of a column stored as `kind`, that holds the sorted values."""
    if ordered.dtype.kind == "f":
        if pa.types.is_decimal(kind):
            return RealGrid(kind.scale if decimals is None else min(decimals, kind.scale))
        if pa.types.is_float32(kind):
            return RealGrid(decimals, "float32")
        return RealGrid(decimals, "float16" if pa.types.is_float16(kind) else "float64")
    if not pa.types.is_temporal(kind):
        return WholeGrid()
    step = time_step(ordered, unit_of(kind))
    return WholeGrid(step, int(ordered[0]) % step if len(ordered) else 0)


def time_step(ordered: NDArray[np.int64], unit: str) -> int:
    """Return the coarsest of day, hour, minute, second, ... that divides all steps between times.

    Examples
    --------
    >>> time_step(np.array([30, 90, 3630]), "s")
    60
    """
    if unit == "D" or len(ordered) < 2:
        return 1
    common = int(np.gcd.reduce(np.diff(ordered)))
    second = TICKS_PER_SECOND[unit]
    candidates = [86400 * second, 3600 * second, 60 * second, second]
    candidates += [ticks for ticks in (10**6, 10**3) if ticks < second]
    return next((ticks for ticks in candidates if common and common % ticks == 0), 1)
