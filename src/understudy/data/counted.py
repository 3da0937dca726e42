"""A column as the values that occur and how many records have each: a sum over batches of rows.

All that describing and coding a column take is in here, so that no column need be held whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, Self, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.units import without_gaps
from understudy.data.values import (
    from_numpy,
    mostly_differ,
    numbers,
    sorted_if_different,
    to_numpy,
)

Counts = NDArray[np.int64]

MOST_DISTINCT = 2**18
"""Different values of a column that are counted beside all other columns, in one pass."""

_PIECE = 2**16


@dataclass(frozen=True, eq=False)
class Counted:
    """The different values of a column, each with the number of records that have it.

    Parameters
    ----------
    values : Array
        The different values, in no order that anything may rest on. Missing is one of them, and so
        is NaN.
    counts : ndarray of int64
        How many records have each.
    standing : Order or Array, optional
        How the values stand in the column, or the column itself, to be looked at when that is
        asked for; None if its records have no order, as on a cluster.

    Examples
    --------
    >>> found = Counted.of(pa.array([7, None, 7])) + Counted.of(pa.array([7, 5]))
    >>> found.values.to_pylist(), found.counts.tolist(), found.rows, found.gaps
    ([7, None, 5], [3, 1, 1], 5, 1)
    """

    values: pa.Array
    counts: Counts
    standing: Order | pa.Array | None = None

    @classmethod
    def of(cls, array: pa.Array | Counted) -> Counted:
        """Count the values of a column, or of a part of it."""
        if isinstance(array, Counted):
            return array
        if pa.types.is_nested(array.type):  # which no table can hold; Arrow cannot count it
            return cls(array, np.ones(len(array), np.int64), array)
        ordered = sorted_if_different(array)
        if ordered is not None:
            none = np.zeros(len(ordered), bool)
            return cls(from_numpy(ordered, none), once(len(ordered)), array)
        if array.null_count == 0 and len(array) > MOST_DISTINCT and mostly_differ(array):
            return cls.of_numbers(to_numpy(array).copy(), 0, array)
        # Arrow takes missing views for empty texts here.
        view = pa.types.is_string_view(array.type)
        found = (array.cast(pa.large_string()) if view else array).value_counts()
        values = found.field("values").cast(array.type) if view else found.field("values")
        return cls(values, to_numpy(found.field("counts")), array)

    @classmethod
    def of_numbers(
        cls, values: NDArray[Any], gaps: int, standing: Order | pa.Array | None
    ) -> Counted:
        """Count numbers that nearly all differ, and gaps beside them; `values` are sorted in place.

        A hash table of so many would take ten times their memory.

        Examples
        --------
        >>> found = Counted.of_numbers(np.array([7.5, 1, 7.5]), 2, None)
        >>> found.values.to_pylist(), found.counts.tolist()
        ([1.0, 7.5, None], [1, 2, 2])
        """
        values.sort()
        none = int(np.isnan(values).sum()) if values.dtype.kind == "f" else 0
        known = values[: len(values) - none]
        if known.dtype.kind == "f":
            known += known.dtype.type(0)  # -0.0 is the same as 0.0
        is_new = np.ones(len(known), bool)
        np.not_equal(known[1:], known[:-1], out=is_new[1:])
        counts = once(len(known))
        if not is_new.all():
            starts = np.flatnonzero(is_new)
            known, end = known[starts], len(known)
            _to_lengths(starts, end)
            counts = starts
        if not (none or gaps):
            return cls(from_numpy(known, np.zeros(len(known), bool)), counts, standing)
        beside = [(np.nan, none)] * bool(none) + [(0, gaps)] * bool(gaps)
        known = np.append(known, np.array([value for value, _ in beside], known.dtype))
        missing = np.zeros(len(known), bool)
        missing[-1] = gaps > 0
        counts = np.append(counts, [times for _, times in beside])
        return cls(from_numpy(known, missing), counts, standing)

    @cached_property
    def order(self) -> Order | None:
        """How the values stand in the column; None if its records have no order."""
        held = self.standing
        return Order.of(held) if isinstance(held, pa.Array) else held

    @property
    def type(self) -> pa.DataType:
        """How the values are stored."""
        return self.values.type

    @cached_property
    def rows(self) -> int:
        """How many records there are."""
        return int(self.counts.sum())

    @cached_property
    def gaps(self) -> int:
        """How many records have no value, or NaN."""
        return self.records(to_numpy(pc.is_null(self.values, nan_is_null=True)))

    @cached_property
    def present(self) -> int:
        """How many records have a value, if only NaN."""
        return self.rows - self.records(to_numpy(pc.is_null(self.values)))

    def records(self, which: NDArray[np.bool_]) -> int:
        """Return how many records have one of some of the values."""
        return int(self.counts[which].sum())

    def numbers_of(
        self, name: str, *, whole: bool = False, dtype: np.dtype[Any] | None = None
    ) -> tuple[NDArray[Any], Counts]:
        """Return the different numbers of the column, increasing, and how many records have each.

        If they are to be `whole`, those that are not are left out.
        """
        found = numbers(self.values, name)
        found = found.as_whole() if whole else found
        present = found.present if dtype is None else found.present.astype(dtype, copy=False)
        return tally(present, self.counts[~found.missing] if found.missing.any() else self.counts)

    def without_gaps(self) -> Counted:
        """Return the values that are not missing, as they are and not as a dictionary."""
        plain = self.values
        if pa.types.is_dictionary(plain.type):
            plain = plain.dictionary_decode()
        gaps = to_numpy(pc.is_null(plain, nan_is_null=True))
        return replace(self, values=without_gaps(plain), counts=self.counts[~gaps])

    def __add__(self, other: Counted) -> Counted:
        return total([self, other])


def once(length: int) -> Counts:
    """Return counts of one record each, which take no memory."""
    return np.broadcast_to(np.int64(1), length)


def _to_lengths(starts: Counts, end: int) -> None:
    """Put the distance to the next one, or to the end, in the place of each increasing number."""
    for first in range(0, len(starts), _PIECE):
        part = starts[first : first + _PIECE]
        after = starts[first + _PIECE] if first + _PIECE < len(starts) else end
        part[:] = np.diff(part, append=after)


@dataclass(frozen=True, eq=False)
class Order:
    """How the values stand in a column, or in a part of it.

    Parameters
    ----------
    runs : int
        Runs of equal values, without those that are missing.
    rising : bool
        Whether no value is smaller than the one before.
    ends : Array
        The first and the last value; none if all are missing.
    """

    runs: int
    rising: bool
    ends: pa.Array

    @classmethod
    def of(cls, array: pa.Array) -> Self:
        """Look at the values of a column in their order."""
        held = without_gaps(array)
        if not len(held) or pa.types.is_null(held.type):
            return cls(0, rising=True, ends=held[:0])
        before, after = held[:-1], held[1:]
        runs = 1 + (pc.sum(pc.not_equal(before, after)).as_py() or 0)
        rising = len(held) == 1 or bool(pc.all(pc.greater_equal(after, before)).as_py())
        return cls(runs, rising, pa.concat_arrays([held[:1], held[-1:]]))

    def __add__(self, other: Order) -> Order:
        if not self.runs or not other.runs:
            return self if self.runs else other
        last, following = self.ends[1].as_py(), other.ends[0].as_py()
        runs = self.runs + other.runs - (last == following)
        rising = self.rising and other.rising and last <= following
        return Order(runs, rising, pa.concat_arrays([self.ends[:1], other.ends[1:]]))


def total(parts: Sequence[Counted]) -> Counted:
    """Return the sum of what was counted in parts of a column, which are in order."""
    if len(parts) == 1:
        return parts[0]
    stacked = pa.chunked_array([part.values for part in parts]).unify_dictionaries()
    values = cast("pa.Array", stacked.combine_chunks())
    coded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode("encode")
    gap = len(coded.dictionary)
    places = to_numpy(coded.indices.cast(pa.int64()), missing=gap)
    kept, firsts, which = np.unique(places, return_index=True, return_inverse=True)
    sums = np.bincount(which, np.concatenate([part.counts for part in parts]), len(kept))
    ranked = np.argsort(firsts)
    orders = [part.order for part in parts if part.order is not None]
    order = reduce(add, orders) if len(orders) == len(parts) else None
    kept_values = values.take(from_numpy(firsts[ranked], np.zeros(len(ranked), bool)))
    return Counted(kept_values, sums[ranked].astype(np.int64), order)


class Tallies:
    """Counts the values of several columns batch by batch, as long as they are not too many.

    Examples
    --------
    >>> tallies = Tallies(["x"])
    >>> tallies.add(pa.table({"x": [7, 5]}))
    >>> tallies.add(pa.table({"x": [7, 7]}))
    >>> found = tallies.counted("x")
    >>> sorted(zip(found.values.to_pylist(), found.counts.tolist(), strict=True))
    [(5, 1), (7, 3)]
    """

    def __init__(self, names: Iterable[str], *, ordered: bool = True) -> None:
        self._ordered = ordered
        self._parts: dict[str, list[Counted] | None] = {name: [] for name in names}

    def add(self, batch: pa.Table) -> None:
        """Count one more batch."""
        for name, parts in self._parts.items():
            if parts is not None:
                found = Counted.of(batch[name].combine_chunks())
                self._take(name, parts, found if self._ordered else replace(found, standing=None))

    def _take(self, name: str, parts: list[Counted], found: Counted) -> None:
        """Add what was counted; small parts are added up when they outgrow the sum so far."""
        parts.append(replace(found, standing=found.order))
        if len(parts) > 1 and sum(len(one.values) for one in parts[1:]) >= len(parts[0].values):
            parts[:] = [total(parts)]
        if len(parts[0].values) > MOST_DISTINCT:
            self._parts[name] = None

    def counted(self, name: str) -> Counted | None:
        """Return what was counted of a column; None if it has too many different values."""
        parts = self._parts[name]
        return total(parts) if parts else None

    def __add__(self, other: Tallies) -> Tallies:
        for name, parts in other._parts.items():  # of this class
            mine = self._parts[name]
            if parts is None or mine is None:
                self._parts[name] = None
            elif parts:
                self._take(name, mine, total(parts))
        return self


def tally(values: NDArray[Any], counts: Counts) -> tuple[NDArray[Any], Counts]:
    """Return the different values, increasing, with the sums of their counts.

    What is so already is not copied.

    Examples
    --------
    >>> tally(np.array([5, 1, 5]), np.array([1, 2, 3]))
    (array([1, 5]), array([2, 4]))
    """
    if (values[1:] > values[:-1]).all():
        return values, counts
    if (counts == 1).all():
        found = np.sort(values)
        if (found[1:] > found[:-1]).all():
            return found, counts
    found, firsts = np.unique(values, return_inverse=True)
    if len(found) == len(values):  # as is usual: they were different before
        summed = np.empty(len(values), np.int64)
        summed[firsts] = counts
        return found, summed
    summed = np.zeros(len(found), np.int64)
    np.add.at(summed, firsts, counts)
    return found, summed


@dataclass(frozen=True, eq=False)
class Ranked:
    """Sorted numbers that may repeat, by how often each occurs; so may those that are counted.

    It can be asked what a sorted array of all of them can: how many there are, which number has a
    rank, and where others would stand.

    Examples
    --------
    >>> held = Ranked(np.array([1, 5]), np.array([2, 3]))  # 1 1 5 5 5
    >>> len(held), held[np.array([1, 2])], held.searchsorted(5, side="left")
    (5, array([1, 5]), np.int64(2))
    """

    values: NDArray[Any]
    counts: Counts

    @cached_property
    def _before(self) -> Counts:
        """How many numbers come before each, and how many there are."""
        before = np.zeros(len(self.counts) + 1, np.int64)
        np.cumsum(self.counts, out=before[1:])
        return before

    @cached_property
    def _once(self) -> bool:
        """Whether each number occurs once, so that none need be counted."""
        return bool((self.counts == 1).all())

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self.values.dtype

    def __len__(self) -> int:
        return len(self.values) if self._once else int(self._before[-1])

    def __getitem__(self, ranks: Any) -> Any:  # noqa: ANN401  # a rank or several, as of an array
        wanted = np.where(np.less(ranks, 0), np.add(ranks, len(self)), ranks)
        if self._once:
            return self.values[wanted]
        return self.values[np.searchsorted(self._before, wanted, side="right") - 1]

    def searchsorted(self, wanted: Any, side: Any = "left") -> Any:  # noqa: ANN401  # as of an array
        """Return how many numbers are below some (with side "right", not above)."""
        places = np.searchsorted(self.values, wanted, side=side)
        return places if self._once else self._before[places]

    def only(self, which: NDArray[np.bool_]) -> Ranked:
        """Return those with some of the different numbers."""
        return self if which.all() else Ranked(self.values[which], self.counts[which])

    def folded(self, ends: NDArray[Any], bottom: float | None, top: float | None) -> Ranked:
        """Return them with the lower of `ends` for those up to `bottom`, likewise from `top` on.

        Examples
        --------
        >>> held = Ranked(np.array([3, 20, 97, 99]), once(4)).folded(np.array([5, 98]), None, 97)
        >>> held.values
        array([ 3, 20, 98, 98])
        """
        size = len(self.values)
        low = 0 if bottom is None else int(np.searchsorted(self.values, bottom, side="right"))
        high = size if top is None else int(np.searchsorted(self.values, top, side="left"))
        if not low and high == size:
            return self
        high = max(low, high)
        values = np.empty_like(self.values)
        values[:low], values[low:high], values[high:] = ends[0], self.values[low:high], ends[-1]
        return Ranked(values, self.counts)

    def tails(self, least: int) -> tuple[NDArray[Any], Counts]:
        """Return the numbers near both ends that at least so many records have, and their counts.

        What is between them does not matter to who looks at the ends alone; some of it is there.
        """
        each = 2 * least
        if len(self.values) <= 4 * each:
            return self.values, self.counts
        parts = slice(None, each), slice(-each, None)
        values, counts = (
            np.concatenate([held[part] for part in parts]) for held in (self.values, self.counts)
        )
        return values, counts
