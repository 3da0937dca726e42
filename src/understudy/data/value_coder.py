"""Coding numbers one by one: every number that occurs has a code of its own, and none is lost.

Synthesizers that draw from the original's own numbers (trees, copulas) work on these codes. They
are ranks: special values first, then all others in increasing order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data.bins import Decoding, Grid, WholeGrid, grid_from_plain, grid_of, grid_to_plain
from understudy.data.coders import (
    IntCodes,
    NumberLevelCoder,
    as_numbers,
    as_stored,
    folded,
    off_special,
    place_in,
    special_first,
)
from understudy.data.counted import Counted
from understudy.data.ends import Number, fold_ends
from understudy.data.schema import Column
from understudy.data.values import Numbers, numbers_to_arrow

Smoothing = Literal["interpolate", "density"]

_CACHED = 4096


@dataclass(frozen=True, eq=False)
class ValueCoder(NumberLevelCoder):
    """Codes each number or time that occurs by its rank.

    Parameters
    ----------
    values : ndarray
        All values that are not special, increasing.
    kind : pyarrow.DataType
        The column's stored type.
    name : str
        The column's name.
    special : ndarray
        Values that stand for something of their own, such as -8; they have the first codes.
    grid : Grid
        The numbers that the column can hold, for smoothing.
    smoothing : {"interpolate", "density"}, optional
        How a number is moved when codes become values; special values stay as they are.
    bandwidth : float
        Standard deviation of the noise of ``smoothing="density"``, as a share of the range.
    bottom, top : int or float, optional
        Finite numbers up to `bottom` have the code of the lowest of `values`, and those from `top`
        on that of the highest (see `fold_ends`).
    withheld : bool
        Whether numbers without a code are read as missing, because too few records have one.
    """

    special: NDArray[Any]
    grid: Grid
    smoothing: Smoothing | None = None
    bandwidth: float = 0.0
    bottom: Number | None = None
    top: Number | None = None
    withheld: bool = False

    @property
    def numbers(self) -> NDArray[Any]:
        """The number that each code stands for."""
        return np.concatenate([self.special, self.values])

    def assign(self, array: pa.Array) -> tuple[IntCodes, NDArray[np.bool_]]:
        """Return the code of each value (-1: unknown), and where values are missing."""
        codes, missing = super().assign(array)
        return codes, missing | (codes < 0) if self.withheld else missing

    def _places(self, found: NDArray[Any]) -> IntCodes:
        codes = np.full(len(found), -1, np.int64)
        if len(self.values):
            known = self._folded(found)
            places = _first_places(self.values, known)
            np.minimum(places, len(self.values) - 1, out=places)
            codes = np.where(self.values[places] == known, places + len(self.special), -1)
        return special_first(self.special, found, codes)

    def _folded(self, found: NDArray[Any]) -> NDArray[Any]:
        """Return numbers with the column's ends in place of those that are part of them."""
        finite = self.values[np.isfinite(self.values)]
        return folded(found, finite[[0, -1]], self.bottom, self.top) if len(finite) else found

    def build(self, codes: IntCodes, how: Decoding, rng: np.random.Generator) -> pa.Array:  # noqa: ARG002
        """Return values for codes; a code of `known` or more stands for missing."""
        missing = codes >= self.known
        values = self._numbers_of(codes, missing)
        if self.smoothing is not None and len(self.values):
            moved = np.flatnonzero((codes >= len(self.special)) & ~missing & np.isfinite(values))
            values[moved] = self._smooth(codes[moved] - len(self.special), rng)
        return numbers_to_arrow(Numbers(values, missing), self.kind)

    def _smooth(self, ranks: IntCodes, rng: np.random.Generator) -> NDArray[Any]:
        """Return numbers near those of `ranks`, never a special value and never out of range."""
        drawn = self._move(ranks, rng)
        return off_special(
            self.special, drawn, lambda hit: self._move(ranks[hit], rng), self.values[ranks]
        )

    def _move(self, ranks: IntCodes, rng: np.random.Generator) -> NDArray[Any]:
        finite = self.values[np.isfinite(self.values)]
        ranks = ranks - int(np.count_nonzero(np.isneginf(self.values)))
        at = _shares_of_range(finite)
        if self.smoothing == "interpolate":
            middles = np.concatenate([at[:1], (at[:-1] + at[1:]) / 2, at[-1:]])
            low, high = middles[ranks], middles[ranks + 1]
            moved = low + (high - low) * rng.random(len(ranks))
        else:
            moved = at[ranks] + self.bandwidth * rng.standard_normal(len(ranks))
            # Turned back at the ends, where cutting off would pile up the extremes themselves.
            moved = np.abs(moved)
            moved = np.clip(np.where(moved > at[-1], 2 * at[-1] - moved, moved), 0, at[-1])
        first, last = finite[0], finite[-1]
        if finite.dtype.kind == "i":
            values = first + np.rint(moved * float(int(last) - int(first))).astype(np.int64)
        else:
            # In this form the difference of two huge numbers cannot overflow.
            values = first * (1 - moved) + last * moved
        return np.clip(self.grid.nearest(values), first, last)

    def smoothed(self, smoothing: Smoothing | None, counts: NDArray[np.int64]) -> ValueCoder:
        """Return the coder with smoothing; `counts` are the records with each known code."""
        if smoothing is None:
            return replace(self, smoothing=None, bandwidth=0.0)
        finite = np.isfinite(self.values)
        own = counts[len(self.special) : self.known]
        bandwidth = _bandwidth(self.values[finite], own[finite])
        return replace(self, smoothing=smoothing, bandwidth=bandwidth)

    def with_ends(self, counts: NDArray[np.int64], least: int, *, listed: bool) -> ValueCoder:
        """Return the coder with a lowest and a highest number that rest on `least` records each.

        `counts` are the records with each of `values`; `listed` is whether these are all that the
        column can hold.
        """
        finite = np.isfinite(self.values)
        found = fold_ends(
            self.values[finite],
            counts[finite],
            least,
            self.grid,
            special=self.special,
            listed=listed,
        )
        infinite = self.values[np.isneginf(self.values)], self.values[np.isposinf(self.values)]
        return replace(
            self,
            values=np.concatenate([infinite[0], found.values, infinite[1]]),
            bottom=found.bottom,
            top=found.top,
            withheld=bool(finite.any()) and not len(found.values),
        )

    def to_plain(self) -> dict[str, Any]:
        """Return all but the values in what JSON can hold exactly."""
        smoothing = {"smoothing": self.smoothing, "bandwidth": self.bandwidth}
        ends = {"bottom": self.bottom, "top": self.top, "withheld": self.withheld}
        return smoothing | ends | grid_to_plain(self.grid)


def _first_places(values: NDArray[Any], wanted: NDArray[Any]) -> NDArray[np.intp]:
    """Return what `numpy.searchsorted` does, several times as fast among many values."""
    if len(values) <= _CACHED:
        return np.searchsorted(values, wanted)
    # In increasing order, neighbouring searches end in neighbouring places of the memory.
    order = np.argsort(wanted)
    places = np.empty(len(wanted), np.intp)
    places[order] = np.searchsorted(values, wanted[order])
    return places


def _shares_of_range(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return where increasing numbers lie between the smallest (0) and the largest (1)."""
    if values.dtype.kind == "f":
        distance = values / 2 - values[:1] / 2  # by halves, which cannot overflow
    else:
        # Times are too large for floats to hold every tick, their differences are not.
        distance = (values - values[:1]).astype(np.float64)
    return np.asarray(distance / distance[-1] if len(values) > 1 else distance)


def _bandwidth(values: NDArray[Any], counts: NDArray[np.int64]) -> float:
    """Return Silverman's rule of thumb for the width of a normal kernel, as a share of the range.

    References
    ----------
    .. [1] Silverman (1986). Density Estimation for Statistics and Data Analysis, section 3.4.2.
    """
    total = int(counts.sum())
    if total < 2:
        return 0.0
    at = _shares_of_range(values)
    mean = float(at @ counts) / total
    deviation = float(np.sqrt(((at - mean) ** 2) @ counts / (total - 1)))
    below = np.cumsum(counts)
    quarters = at[np.searchsorted(below, [0.25 * total, 0.75 * total])]
    spread = float(quarters[1] - quarters[0]) / 1.34
    width = min(deviation, spread) if spread > 0 else deviation
    return float(0.9 * width * total**-0.2)


def build_value_coder(column: Column, array: pa.Array | Counted, ends: int = 1) -> ValueCoder:
    """Return the coder of a column of numbers or times, one code for each that occurs.

    A column whose schema lists its numbers (`levels`) has a code for each of these. The lowest and
    the highest number rest on at least `ends` records each (see `fold_ends`).
    """
    kind = array.type
    column = as_stored(column, kind)
    special = _special(column, kind)
    whole = column.kind != "real"
    values, counts = Counted.of(array).numbers_of(column.name, whole=whole, dtype=special.dtype)
    if column.levels:
        listed = np.unique(as_numbers(column.levels, column, kind))
        places = place_in(listed, values)
        values, held = listed, counts
        counts = np.zeros(len(listed), np.int64)
        counts[places[places >= 0]] = held[places >= 0]
    if len(special):
        ordinary = ~np.isin(values, special)
        values, counts = values[ordinary], counts[ordinary]
    grid = grid_of(kind, values, column.decimals)
    coder = ValueCoder(values, kind, column.name, special, grid)
    return coder if ends == 1 else coder.with_ends(counts, ends, listed=bool(column.levels))


def _special(column: Column, kind: pa.DataType) -> NDArray[Any]:
    # A list of levels leaves no number outside it, and so nothing that is special beside it.
    return as_numbers(column.special if column.binned else (), column, kind)


def restore_value_coder(
    column: Column, kind: pa.DataType, plain: Mapping[str, Any], values: NDArray[Any]
) -> ValueCoder:
    """Return the coder of a saved codec; raise ValueError if its parts do not fit together."""
    special = _special(as_stored(column, kind), kind)
    fit = values.ndim == 1 and values.dtype == special.dtype
    if not fit or not bool((values[1:] > values[:-1]).all()):
        raise ValueError(f"values of {column.name!r} that are not increasing numbers")
    if plain["smoothing"] not in (None, *get_args(Smoothing)):
        raise ValueError(f"a smoothing of {column.name!r} that is not known")
    grid = grid_from_plain(plain)
    bandwidth = float(plain["bandwidth"])
    if not 0 <= bandwidth < np.inf or (isinstance(grid, WholeGrid) != (values.dtype.kind == "i")):
        raise ValueError(f"a smoothing of {column.name!r} that cannot be")
    bottom, top = plain.get("bottom"), plain.get("top")
    if not _are_ends(values[np.isfinite(values)], bottom, top):
        raise ValueError(f"ends of {column.name!r} that are not those of its values")
    return ValueCoder(
        values,
        kind,
        column.name,
        special,
        grid,
        plain["smoothing"],
        bandwidth,
        bottom,
        top,
        bool(plain.get("withheld")),
    )


def _are_ends(values: NDArray[Any], bottom: Number | None, top: Number | None) -> bool:
    """Return whether no other of the finite values lies as far out as an end does."""
    own = int if values.dtype.kind == "i" else float
    given = [end for end in (bottom, top) if end is not None]
    if not given or not len(values):
        return not given
    low, high = values[0] if bottom is None else bottom, values[-1] if top is None else top
    fit = all(type(end) is own for end in given) and values[0] <= low and high <= values[-1]
    return bool(fit and (values[1:] > low).all() and (values[:-1] < high).all())
