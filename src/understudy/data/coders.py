"""The two ways of coding a column: by its levels, or by special values and bins.

A coder gives the known values the codes 0, 1, ... and, where values may be missing, the next code
to the missing ones. `assign` answers -1 for a value that it does not know.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data.bins import (
    Bins,
    Decoding,
    build_bins,
    given_edges,
    grid_of,
    quantile_edges,
    width_edges,
)
from understudy.data.counted import Counted, Ranked
from understudy.data.ends import Number, fold_ends
from understudy.data.quantiles import Quantiles
from understudy.data.schema import NUMERIC, Column
from understudy.data.values import (
    Numbers,
    from_numpy,
    numbers,
    numbers_to_arrow,
    text_to_time,
    time_to_text,
    to_numpy,
)

IntCodes = NDArray[np.int64]
_REDRAWS = 20


@dataclass(frozen=True)
class LevelCoder:
    """Codes categories and booleans by their place in a list of levels."""

    levels: tuple[Any, ...]

    @property
    def known(self) -> int:
        """The number of codes for values that are not missing."""
        return len(self.levels)

    def labels(self) -> list[str]:
        """Return what each known code stands for, in words."""
        return [str(level) for level in self.levels]

    def assign(self, array: pa.Array) -> tuple[IntCodes, NDArray[np.bool_]]:
        """Return the code of each value (-1: unknown), and where values are missing."""
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        places = {level: place for place, level in enumerate(self.levels)}
        values = array.dictionary.to_pylist()
        codes = np.array([places.get(value, -1) for value in values] + [-1], dtype=np.int64)
        # A dictionary may itself hold a missing value, and a number may be NaN.
        gaps = np.array([is_gap(value) for value in values] + [True])
        rows = to_numpy(array.indices.cast(pa.int64()), missing=len(values))
        return codes[rows], gaps[rows]

    def build(self, codes: IntCodes, how: Decoding, rng: np.random.Generator) -> pa.Array:  # noqa: ARG002
        """Return values for codes; a code of `known` or more stands for missing."""
        indices = from_numpy(codes, codes >= self.known)
        return pa.DictionaryArray.from_arrays(indices, pa.array(list(self.levels)))


@dataclass(frozen=True, eq=False)
class NumberLevelCoder:
    """Codes numbers and times by their place in a list of `values`, in any order."""

    values: NDArray[Any]
    kind: pa.DataType
    name: str

    @property
    def numbers(self) -> NDArray[Any]:
        """The number that each code stands for."""
        return self.values

    @property
    def known(self) -> int:
        """The number of codes for values that are not missing."""
        return len(self.numbers)

    def labels(self) -> list[str]:
        """Return what each known code stands for, in words."""
        return [in_words(value, self.kind) for value in self.numbers]

    def assign(self, array: pa.Array) -> tuple[IntCodes, NDArray[np.bool_]]:
        """Return the code of each value (-1: unknown), and where values are missing."""
        found = as_type(numbers(in_unit(array, self.kind), self.name), self.values)
        return self._places(found.values), found.missing

    def _places(self, found: NDArray[Any]) -> IntCodes:
        return place_in(self.values, found)

    def build(self, codes: IntCodes, how: Decoding, rng: np.random.Generator) -> pa.Array:  # noqa: ARG002
        """Return values for codes; a code of `known` or more stands for missing."""
        missing = codes >= self.known
        return numbers_to_arrow(Numbers(self._numbers_of(codes, missing), missing), self.kind)

    def _numbers_of(self, codes: IntCodes, missing: NDArray[np.bool_]) -> NDArray[Any]:
        return self.numbers[np.where(missing, 0, codes)] if self.known else codes


@dataclass(frozen=True, eq=False)
class FoldedCoder(NumberLevelCoder):
    """Codes listed numbers of which the few lowest, or the few highest, became one.

    `values` are those that are left, increasing. Numbers up to `bottom` have the code of the first,
    and those from `top` on that of the last (see `fold_ends`).
    """

    bottom: Number | None = None
    top: Number | None = None

    def _places(self, found: NDArray[Any]) -> IntCodes:
        return place_in(self.values, folded(found, self.values[[0, -1]], self.bottom, self.top))

    def to_plain(self) -> dict[str, Any]:
        """Return the numbers and the ends in values that JSON can hold exactly."""
        return {"values": self.values.tolist(), "bottom": self.bottom, "top": self.top}


@dataclass(frozen=True, eq=False)
class BinCoder:
    """Codes numbers and times: special values first, then bins.

    Where the few lowest numbers became one (see `fold_ends`), numbers up to `bottom` are in the
    first bin; likewise numbers from `top` on in the last. `spread` is how the numbers lie inside
    the bins, if positions there are of use.
    """

    special: NDArray[Any]
    bins: Bins
    kind: pa.DataType
    name: str
    bottom: Number | None = None
    top: Number | None = None
    spread: Quantiles | None = None

    @property
    def known(self) -> int:
        """The number of codes for values that are not missing."""
        return len(self.special) + len(self.bins)

    def labels(self) -> list[str]:
        """Return what each known code stands for, in words."""
        bounds = [
            (in_words(low, self.kind), in_words(high, self.kind)) for low, high in self.bins.bounds
        ]
        bins = [low if low == high else f"{low} to {high}" for low, high in bounds]
        return [in_words(value, self.kind) for value in self.special] + bins

    def assign(self, array: pa.Array) -> tuple[IntCodes, NDArray[np.bool_]]:
        """Return the code of each value (-1: unknown), and where values are missing."""
        found = self._found(array)
        binned = self.bins.assign(self._folded(found.values))
        codes = np.where(binned >= 0, binned + len(self.special), -1)
        return special_first(self.special, found.values, codes), found.missing

    def _found(self, array: pa.Array) -> Numbers:
        return as_type(numbers(in_unit(array, self.kind), self.name), self.bins.edges)

    def _folded(self, found: NDArray[Any]) -> NDArray[Any]:
        return folded(found, self.bins.edges[[0, -1]], self.bottom, self.top)

    def positions(self, array: pa.Array, codes: IntCodes) -> NDArray[np.float64]:
        """Return where in its bin each value lies, from 0 to 1; `codes` are those of the values.

        Where a value is in no bin, being special or missing, the position means nothing.
        """
        if self.spread is None:
            raise TypeError("a coder without quantiles knows no positions")
        values = self._folded(self._found(array).values)
        return self.spread.positions(self._bins_of(codes), values)

    def _bins_of(self, codes: IntCodes) -> IntCodes:
        """Return the bin of each code, any for a code that stands for something else."""
        return np.clip(codes - len(self.special), 0, len(self.bins) - 1)

    def to_plain(self) -> dict[str, Any]:
        """Return the bins and the ends in values that JSON can hold exactly."""
        ends = {"bottom": self.bottom, "top": self.top}
        plain = self.bins.to_plain() | {side: at for side, at in ends.items() if at is not None}
        return plain if self.spread is None else plain | {"spread": self.spread.to_plain()}

    def build(
        self,
        codes: IntCodes,
        how: Decoding,
        rng: np.random.Generator,
        positions: NDArray[np.float64] | None = None,
    ) -> pa.Array:
        """Return values for codes; a code of `known` or more stands for missing.

        With `positions`, these say where in its bin each number lies, in place of chance.
        """
        bins = self._bins_of(codes)
        if positions is not None and self.spread is not None:
            values = self.spread.at(bins, positions, self.bins.grid)
        else:
            values = self.bins.draw(bins, how, rng)
        return self._built(codes, bins, values, how, rng)

    def build_at(
        self,
        codes: IntCodes,
        how: Decoding,
        shares: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> pa.Array:
        """Return values for codes, each number a given share of the way through its bin.

        Where a special value stands there, which is none of the bin's, another is drawn.
        """
        bins = self._bins_of(codes)
        return self._built(codes, bins, self.bins.at(bins, how, shares), how, rng)

    def _built(
        self,
        codes: IntCodes,
        bins: IntCodes,
        values: NDArray[Any],
        how: Decoding,
        rng: np.random.Generator,
    ) -> pa.Array:
        """Return numbers in their bins, or what else their codes stand for."""
        missing = codes >= self.known
        specials = len(self.special)
        if specials:
            lowest = self.bins.bounds[bins, 0]  # never a special value
            values = off_special(
                self.special, values, lambda hit: self.bins.draw(bins[hit], how, rng), lowest
            )
            special = self.special[np.minimum(codes, specials - 1)]
            values = np.where(codes < specials, special, values)
        return numbers_to_arrow(Numbers(values, missing), self.kind)


Coder = LevelCoder | NumberLevelCoder | BinCoder
"""Turns the values of one column into codes, and codes into values."""


def folded(
    found: NDArray[Any], ends: NDArray[Any], bottom: Number | None, top: Number | None
) -> NDArray[Any]:
    """Return numbers with the lower of `ends` for those up to `bottom`, likewise from `top` on.

    Examples
    --------
    >>> folded(np.array([3, 20, 97]), np.array([5, 90]), None, 85)
    array([ 3, 20, 90])
    """
    if bottom is None and top is None:
        return found
    # The smallest whole number stands for one that is not whole, which has no code.
    known = found > np.iinfo(np.int64).min if found.dtype.kind == "i" else np.isfinite(found)
    if bottom is not None:
        found = np.where(known & (found <= bottom), ends[0], found)
    if top is not None:
        found = np.where(known & (found >= top), ends[1], found)
    return found


def off_special(
    special: NDArray[Any],
    values: NDArray[Any],
    draw: Callable[[NDArray[np.intp]], NDArray[Any]],
    instead: NDArray[Any],
) -> NDArray[Any]:
    """Draw again where a special value was drawn, which stands for itself alone."""
    for _ in range(_REDRAWS):
        hit = np.flatnonzero(np.isin(values, special))
        if not len(hit):
            return values
        values[hit] = draw(hit)
    return np.where(np.isin(values, special), instead, values)


def special_first(special: NDArray[Any], values: NDArray[Any], codes: IntCodes) -> IntCodes:
    """Return the codes of values, those of special ones in place of the given."""
    if not len(special):
        return codes
    places = place_in(special, values)
    return np.where(places >= 0, places, codes)


def in_words(value: Any, kind: pa.DataType) -> str:  # noqa: ANN401  # int64 or float64
    """Return a number or time of a column stored as `kind` as a person reads it."""
    if pa.types.is_temporal(kind) and not pa.types.is_duration(kind):
        return time_to_text(int(value), kind)
    return f"{value:g}" if isinstance(value, float) else str(value)


def as_type(found: Numbers, like: NDArray[Any]) -> Numbers:
    """Return numbers in the coder's own type; numbers that are not whole match nothing whole."""
    if like.dtype.kind == "f":
        return Numbers(found.values.astype(np.float64), found.missing)
    whole = found.as_whole()
    broken = whole.missing & ~found.missing
    values = (
        np.where(broken, np.iinfo(np.int64).min, whole.values) if broken.any() else whole.values
    )
    return Numbers(values, found.missing)


def place_in(levels: NDArray[Any], values: NDArray[Any]) -> IntCodes:
    """Return the place of each value among `levels` (in any order), -1 where it is not there."""
    if not len(levels):
        return np.full(len(values), -1, dtype=np.int64)
    order = np.argsort(levels, kind="stable")
    places = np.minimum(np.searchsorted(levels[order], values), len(levels) - 1)
    found = order[places]
    return np.where(levels[found] == values, found, -1)


def is_gap(value: object) -> bool:
    """Return whether a value stands for a missing one."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def levels_of(array: pa.Array | Counted) -> tuple[Any, ...]:
    """Return the different values of a column, sorted."""
    values = array.values if isinstance(array, Counted) else array.unique()
    return tuple(sorted(value for value in values.to_pylist() if not is_gap(value)))


def in_unit(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return times in the unit of `kind`, rounded down; other columns as they are."""
    if not pa.types.is_temporal(kind) or array.type == kind:
        return array
    return array.cast(kind, safe=False)


def build_coder(
    column: Column, array: pa.Array | Counted, ends: int = 1, *, positions: bool = False
) -> Coder:
    """Return the coder of a column, with what its schema leaves open read from the data.

    The lowest and the highest number rest on at least `ends` records each (see `fold_ends`), if
    the column has so many numbers. With `positions`, it knows how numbers lie inside bins.
    """
    kind = array.type
    if column.kind == "boolean":
        return LevelCoder((False, True))
    if column.kind not in NUMERIC:
        return LevelCoder(column.levels)
    column = as_stored(column, kind)
    if column.levels:
        listed = NumberLevelCoder(as_numbers(column.levels, column, kind), kind, column.name)
        return _fold_listed(listed, Counted.of(array), ends) if ends > 1 else listed
    return _bin_coder(column, Counted.of(array), ends, positions=positions)


def _fold_listed(listed: NumberLevelCoder, found: Counted, least: int) -> NumberLevelCoder:
    """Return the coder of listed numbers with ends that rest on `least` records each."""
    values = np.unique(listed.values)
    codes, _ = replace(listed, values=values).assign(found.values)
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, codes[codes >= 0], found.counts[codes >= 0])
    if not np.isfinite(values).all():
        return listed  # infinity is nobody's number
    ends = fold_ends(values, counts, least, grid_of(listed.kind, values, None), listed=True)
    if not len(ends.values) or (ends.bottom is None and ends.top is None):
        return listed
    return FoldedCoder(ends.values, listed.kind, listed.name, ends.bottom, ends.top)


def as_stored(column: Column, kind: pa.DataType) -> Column:
    """Return the description of a real column that is stored as whole numbers as that of these."""
    whole = column.kind == "real" and pa.types.is_integer(kind)
    if not whole or any(level % 1 for level in column.levels):
        return column
    limits = column.range and (math.ceil(column.range[0]), math.floor(column.range[1]))
    special = tuple(int(value) for value in column.special if value % 1 == 0)
    return replace(column, kind="integer", range=limits, special=special)


def as_numbers(values: tuple[Any, ...], column: Column, kind: pa.DataType) -> NDArray[Any]:
    """Return numbers or dates as a schema writes them as numbers of the column's own type."""
    if column.kind == "datetime":
        return np.array([text_to_time(value, kind) for value in values], dtype=np.int64)
    return np.array(values, dtype=np.int64 if column.kind == "integer" else np.float64)


def _bin_coder(column: Column, found: Counted, least: int, *, positions: bool) -> Coder:
    kind = found.type
    special = as_numbers(column.special, column, kind)
    whole = column.kind != "real"
    ordered = Ranked(*found.numbers_of(column.name, whole=whole, dtype=special.dtype))
    if len(special):
        ordered = ordered.only(~np.isin(ordered.values, special))
    if column.range is not None:
        low, high = as_numbers(column.range, column, kind)
        ordered = ordered.only((ordered.values >= low) & (ordered.values <= high))
    elif len(ordered):
        low, high = ordered.values[[0, -1]]
    elif column.binning != "edges":  # nothing to cut, and nothing outside the special values
        return NumberLevelCoder(special, kind, column.name)
    grid = grid_of(kind, ordered.values, column.decimals)
    bottom, top = None, None
    if least > 1 and np.isfinite(ordered.values).all():
        found_ends = fold_ends(*ordered.tails(least), least, grid, special=special)
        if len(found_ends.values):
            bottom, top = found_ends.bottom, found_ends.top
            low = low if bottom is None else found_ends.values[0]
            high = high if top is None else found_ends.values[-1]
            ordered = ordered.folded(found_ends.values[[0, -1]], bottom, top)
    if column.binning == "edges":
        cuts = column.edges
        if column.kind == "datetime":
            cuts = tuple(text_to_time(cut, kind) for cut in cuts)
        edges = given_edges(cuts, whole)
    elif column.binning == "width" or not len(ordered):
        edges = width_edges(low, high, column.bins)
    else:
        edges = quantile_edges(ordered, column.bins)
        # The range may be wider than this table's data.
        edges[0], edges[-1] = min(edges[0], low), max(edges[-1], high)
        edges = np.unique(np.append(edges, high)) if len(edges) == 1 else edges
    edges = _cut_off(edges, low if bottom is not None else None, high if top is not None else None)
    bins = build_bins(edges, ordered, grid, special)
    spread = Quantiles.of(bins, ordered) if positions else None
    return BinCoder(special, bins, kind, column.name, bottom, top, spread)


def _cut_off(edges: NDArray[Any], low: Number | None, high: Number | None) -> NDArray[Any]:
    """Return cut points that begin at `low` and end at `high`, where these are given.

    Examples
    --------
    >>> _cut_off(np.array([0, 18, 65, 120]), None, 89)
    array([ 0, 18, 65, 89])
    """
    if low is not None:
        edges = np.append(np.array([low], edges.dtype), edges[edges > low])
    if high is not None:
        edges = np.append(edges[edges < high], np.array([high], edges.dtype))
    return edges


def restore_coder(
    column: Column,
    kind: pa.DataType,
    bins: Mapping[str, Any] | None,
    listed: Mapping[str, Any] | None = None,
) -> Coder:
    """Return the coder of a saved codec, from its bins or its `FoldedCoder`, if it has some."""
    if listed is not None:
        stored = as_numbers((), as_stored(column, kind), kind).dtype
        values = np.array(listed["values"], stored)
        if not len(values) or not (np.diff(values) > 0).all():
            raise ValueError(f"numbers of {column.name!r} that are not increasing")
        return FoldedCoder(values, kind, column.name, listed["bottom"], listed["top"])
    if bins is None:
        return build_coder(column, pa.nulls(0, kind))
    special = as_numbers(column.special, as_stored(column, kind), kind)
    found = Bins.from_plain(bins)
    bottom, top = bins.get("bottom"), bins.get("top")
    own = int if found.edges.dtype.kind == "i" else float
    if not all(end is None or type(end) is own for end in (bottom, top)):
        raise ValueError(f"ends of {column.name!r} that are not numbers of the column")
    spread = Quantiles.from_plain(bins["spread"], found) if "spread" in bins else None
    return BinCoder(special, found, kind, column.name, bottom, top, spread)
