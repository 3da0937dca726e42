"""Conditional tables: how an attribute is distributed for each combination of its parents' values.

A table is the attribute's codes of all records, sorted by the parents' codes, the most informative
parent first. The records of a combination are then a range, and so are those of a combination
without its last parents. Equal codes of a combination are held as one, with their number, so that
a table does not grow with the records. Drawing from the conditional distribution is picking a
random position in the range. A combination that no record has gets the range of the longest
beginning of it that some record has: the parents that tell least are dropped first. With
shrinkage, a range borrows from the one that it lies in, and the more so the fewer records it has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.counting import ContingencyTable, group_ids
from understudy.data.coded import Coded, Codes, code_dtype
from understudy.data.counted import tally
from understudy.synthesis.sampler import Shrinkage
from understudy.synthesis.shrinkage import (
    Cells,
    NestedRows,
    Positions,
    ShrunkRows,
    fit_levels,
    held_by,
)

if TYPE_CHECKING:
    from understudy.synthesis.kernels import Held

# An array over all combinations is used up to this many, or this many for each record.
_ALWAYS_DENSE = 2**18
_DENSE_PER_RECORD = 4
_MOST_DENSE = 2**22
# From so many on, numbers are looked up by a hash: a binary search would wait for memory each time.
_MANY_KEYS = 2**14


def is_dense(sizes: Sequence[int], records: int) -> bool:
    """Tell whether an array over all combinations of the parents is small beside the records."""
    return math.prod(sizes) <= min(max(_ALWAYS_DENSE, _DENSE_PER_RECORD * records), _MOST_DENSE)


@dataclass(frozen=True, eq=False)
class DenseRanges:
    """Ranges looked up in arrays over all combinations; the quick way for small tables.

    `sizes` are the parents' cardinalities. `starts` says where the records of each combination
    start; the last is the number of records.
    """

    sizes: tuple[int, ...]
    starts: Positions

    def _at_level(self, level: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return start and length for every combination of the first `level` parents."""
        step = math.prod(self.sizes[level:])
        # Records in memory are fewer than 2^32; small numbers stay in the caches for longer.
        edges = self.starts[::step].astype(np.uint32)
        return edges[:-1], np.diff(edges)

    @cached_property
    def _resolved(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Start and length for every combination, with those that do not occur filled in."""
        start, length = self._at_level(0)
        for level, size in enumerate(self.sizes, 1):
            own, own_length = self._at_level(level)
            occurs = own_length > 0
            start = np.where(occurs, own, np.repeat(start, size))
            length = np.where(occurs, own_length, np.repeat(length, size))
        return start, length

    @property
    def seen(self) -> tuple[Codes, Positions]:
        """The combinations that occur, in lexicographic order, and where each starts."""
        codes = np.flatnonzero(np.diff(self.starts))
        configurations = np.empty(
            (len(codes), len(self.sizes)), code_dtype(max(self.sizes, default=1))
        )
        rest = codes
        for place in range(len(self.sizes) - 1, -1, -1):
            rest, configurations[:, place] = np.divmod(rest, self.sizes[place])
        return configurations, self.starts[codes]

    def find(self, parents: Sequence[Codes], rows: int) -> tuple[Positions, Positions]:
        """Return the start and the length of each row's range."""
        codes = joint_code(parents, self.sizes, rows)
        start, length = self._resolved
        return start[codes].astype(np.int64), length[codes].astype(np.int64)

    def draw(self, parents: Sequence[Codes], chances: NDArray[np.float64], held: Held) -> Codes:
        """Return the donor that lies a given share, in [0, 1), into each row's range."""
        from understudy.synthesis.kernels import draw_donors

        codes = joint_code(parents, self.sizes, len(chances))
        drawn = np.empty(len(chances), held[0].dtype)
        draw_donors(codes, self._resolved, chances, held, drawn)
        return drawn

    @cached_property
    def _numbers(self) -> NDArray[np.int32]:
        """The number of every combination's range, with those that do not occur filled in."""
        numbers, first = np.zeros(1, np.int32), 1
        for level, size in enumerate(self.sizes, 1):
            occurs = self._at_level(level)[1] > 0
            own = np.cumsum(occurs, dtype=np.int32) + np.int32(first - 1)
            numbers = np.where(occurs, own, np.repeat(numbers, size))
            first += int(np.count_nonzero(occurs))
        return numbers

    def numbers(self, parents: Sequence[Codes], rows: int) -> Positions:
        """Return the number of each row's range among all of `NestedRows`."""
        return self._numbers[joint_code(parents, self.sizes, rows)].astype(np.int64)

    def parents_used(self, parents: Sequence[Codes], rows: int) -> NDArray[np.int64]:
        """Return how many parents decide each row's range: fewer than all where it falls back."""
        used = np.zeros(rows, np.int64)
        for level in range(1, len(self.sizes) + 1):
            codes = joint_code(parents[:level], self.sizes[:level], rows)
            used += self._at_level(level)[1][codes] > 0
        return used


@dataclass(frozen=True, eq=False)
class Keys:
    """Different numbers, in increasing order, among which others are looked up.

    Examples
    --------
    >>> Keys(np.array([3, 5, 8])).places(np.array([5, 4, 8, 9]))
    array([ 1, -1,  2, -1])
    """

    numbers: Positions

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def _index(self) -> tuple[Positions, Positions]:
        from understudy.synthesis.kernels import index_numbers

        size = 2 ** (2 * len(self)).bit_length()
        index = np.empty(size, np.int64), np.full(size, -1)
        index_numbers(self.numbers, index)
        return index

    def places(self, wanted: Positions) -> Positions:
        """Return which of the numbers each wanted one is; -1 if it is none."""
        if len(self) < _MANY_KEYS:
            found = np.minimum(np.searchsorted(self.numbers, wanted), len(self) - 1)
            return np.where(self.numbers[found] == wanted, found, -1)
        from understudy.synthesis.kernels import look_up

        found = np.empty(len(wanted), np.int64)
        look_up(wanted, self._index, found)
        return found


@dataclass(frozen=True, eq=False)
class SparseRanges:
    """Ranges looked up parent by parent among the combinations that occur.

    `configurations` are these, in lexicographic order, and `begins` is where the records of each
    start.
    """

    sizes: tuple[int, ...]
    configurations: Codes
    begins: Positions
    records: int

    @property
    def seen(self) -> tuple[Codes, Positions]:
        """The combinations that occur, in lexicographic order, and where each starts."""
        return self.configurations, self.begins

    @cached_property
    def _levels(self) -> list[tuple[Keys, Positions, Positions]]:
        """For each number of parents: keys, starts and lengths.

        A key is the place of the shorter combination times the parent's cardinality plus its code,
        so that it fits 64 bits however many parents there are.
        """
        levels = []
        shorter = np.zeros(len(self.configurations), np.int64)
        for place, size in enumerate(self.sizes):
            keys = shorter * size + self.configurations[:, place]
            firsts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
            starts = self.begins[firsts]
            levels.append((Keys(keys[firsts]), starts, np.diff(np.append(starts, self.records))))
            shorter = np.repeat(np.arange(len(firsts)), np.diff(np.append(firsts, len(keys))))
        return levels

    def _walk(
        self, parents: Sequence[Codes], rows: int
    ) -> tuple[Positions, Positions, NDArray[np.int64], Positions]:
        """Return each row's range, how many parents decide it, and its place among such ranges."""
        start, length = np.zeros(rows, np.int64), np.full(rows, self.records, np.int64)
        used, place, live = np.zeros(rows, np.int64), np.zeros(rows, np.int64), np.arange(rows)
        for (keys, starts, lengths), size, codes in zip(
            self._levels, self.sizes, parents, strict=True
        ):
            found = keys.places(place[live] * size + codes[live])
            hit = found >= 0
            live, found = live[hit], found[hit]
            start[live], length[live], place[live] = starts[found], lengths[found], found
            used[live] += 1
        return start, length, used, place

    def find(self, parents: Sequence[Codes], rows: int) -> tuple[Positions, Positions]:
        """Return the start and the length of each row's range."""
        start, length, _, _ = self._walk(parents, rows)
        return start, length

    def draw(self, parents: Sequence[Codes], chances: NDArray[np.float64], held: Held) -> Codes:
        """Return the donor that lies a given share, in [0, 1), into each row's range."""
        from understudy.synthesis.kernels import draw_donors

        start, length = self.find(parents, len(chances))
        drawn = np.empty(len(chances), held[0].dtype)
        ranges = start.astype(np.uint32), length.astype(np.uint32)
        draw_donors(np.arange(len(chances), dtype=np.uint32), ranges, chances, held, drawn)
        return drawn

    def numbers(self, parents: Sequence[Codes], rows: int) -> Positions:
        """Return the number of each row's range among all of `NestedRows`."""
        _, _, used, place = self._walk(parents, rows)
        firsts = np.cumsum([0, 1, *(len(keys) for keys, _, _ in self._levels)])
        return firsts[used] + place

    def parents_used(self, parents: Sequence[Codes], rows: int) -> NDArray[np.int64]:
        """Return how many parents decide each row's range: fewer than all where it falls back."""
        return self._walk(parents, rows)[2]


def joint_code(parents: Sequence[Codes], sizes: Sequence[int], rows: int) -> NDArray[np.uint32]:
    """Return the place of each row's combination among all of them, in lexicographic order.

    For dense ranges alone, whose combinations are few enough for 32 bits.

    Examples
    --------
    >>> joint_code([np.array([1, 0], np.uint8), np.array([2, 1], np.uint8)], (2, 3), 2)
    array([5, 1], dtype=uint32)
    """
    codes = np.zeros(rows, np.uint32)
    for size, column in zip(sizes, parents, strict=True):
        codes *= np.uint32(size)
        codes += column
    return codes


Ranges: TypeAlias = DenseRanges | SparseRanges


def build_ranges(
    configurations: Codes, begins: Positions, records: int, sizes: tuple[int, ...]
) -> Ranges:
    """Return the ranges of the combinations that occur, in the form that suits their number."""
    if not is_dense(sizes, records):
        return SparseRanges(sizes, configurations, begins, records)
    codes = joint_code(list(configurations.T), sizes, len(configurations))
    counts = np.zeros(math.prod(sizes) + 1, np.int64)
    counts[codes.astype(np.int64) + 1] = np.diff(np.append(begins, records))
    return DenseRanges(sizes, np.cumsum(counts))


@dataclass(frozen=True, eq=False)
class ConditionalTable:
    """The distribution of one attribute given its parents, from counts of records.

    Parameters
    ----------
    cardinality : int
        Number of codes of the attribute.
    ranges : Ranges
        Where the records of each combination of the parents' codes stand in `donors`.
    held : Cells or ndarray
        The attribute's codes of all records, by combination, increasing within each: by how many
        records of a combination have a code, or one by one.
    shrinkage : Shrinkage, optional
        How ranges are drawn towards those with a parent fewer; they are drawn from as they are if
        not given.

    Examples
    --------
    >>> coded = Coded.from_arrays({"sex": [0, 1, 1, 1], "smokes": [1, 0, 1, 1]})
    >>> table = ConditionalTable.of(coded, "smokes", ["sex"])
    >>> table.donors.tolist(), table.ranges.starts.tolist()
    ([1, 0, 1, 1], [0, 1, 4])
    """

    cardinality: int
    ranges: Ranges
    held: Cells | Codes
    shrinkage: Shrinkage | None = None

    @classmethod
    def of(cls, coded: Coded, child: str, parents: Sequence[str]) -> ConditionalTable:
        """Count a coded table that is in memory; the most informative parent comes first."""
        from understudy.synthesis.kernels import sort_donors

        sizes = tuple(coded.cardinality(parent) for parent in parents)
        dense = is_dense(sizes, len(coded))
        if dense:
            groups = joint_code([coded[parent] for parent in parents], sizes, len(coded))
            count = math.prod(sizes)
        else:
            found = group_ids(coded, parents)
            groups, count = found.ids, found.count
        cardinality = coded.cardinality(child)
        starts = np.empty(count + 1, np.int64)
        donors = np.empty(len(coded), code_dtype(cardinality))
        # Of the same type as the donors, so that the kernel is compiled for few types.
        values = np.ascontiguousarray(coded[child], donors.dtype)
        sort_donors(groups, values, cardinality, starts, donors)
        if dense:
            return cls(cardinality, DenseRanges(sizes, starts), donors)
        configurations = np.stack([coded[p][found.representatives] for p in parents], axis=1)
        ranges = SparseRanges(sizes, configurations, starts[:-1], len(coded))
        return cls(cardinality, ranges, donors)

    @classmethod
    def from_counts(cls, counts: ContingencyTable) -> ConditionalTable:
        """Build the table from joint counts, whose last column is the attribute.

        The result is the same as from the records themselves.
        """
        seen = counts.to_sparse()
        if seen.combinations is None:
            raise TypeError("a sparse table has combinations")
        *sizes, cardinality = counts.cardinalities
        before = seen.combinations[:, :-1]
        new = is_new(before)
        begins = np.concatenate([[0], np.cumsum(seen.counts)])[:-1][new]
        cells = Cells.from_counts(
            seen.combinations[:, -1].astype(code_dtype(cardinality)), seen.counts
        )
        ranges = build_ranges(before[new], begins, cells.records, tuple(sizes))
        return cls(cardinality, ranges, cells)

    @property
    def records(self) -> int:
        """How many records there are."""
        return self.held.records if isinstance(self.held, Cells) else len(self.held)

    @property
    def donors(self) -> Codes:
        """The attribute's codes of all records, by combination, increasing within each."""
        return self.held.donors if isinstance(self.held, Cells) else self.held

    @cached_property
    def cells(self) -> Cells:
        """How many records of each combination have which code."""
        if not self.records:  # which are in no row
            return Cells.from_counts(self.donors, np.empty(0, np.int64))
        return Cells.of(self.nested, self.held)

    def compact(self) -> ConditionalTable:
        """Return the table with codes counted, which does not grow with the records."""
        return replace(self, held=self.cells)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the table as arrays: combinations that occur, where each starts, and cells."""
        configurations, begins = self.ranges.seen
        cells, most = self.cells, int(self.cells.counts.max(initial=0))
        times = cells.counts.astype(np.min_scalar_type(most))
        held = {"values": cells.values, "times": times}
        return {"configurations": configurations, "begins": begins, **held}

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        cardinality: int,
        sizes: tuple[int, ...],
        records: int,
    ) -> ConditionalTable:
        """Return the table that `to_arrays` took apart; raise ValueError if they do not fit."""
        configurations, begins = arrays["configurations"], arrays["begins"]
        if "donors" in arrays:  # as former versions wrote them
            values, times = arrays["donors"], np.ones(records, np.int64)
        else:
            values, times = arrays["values"], arrays["times"].astype(np.int64, casting="safe")
        values = values.astype(code_dtype(cardinality), casting="safe")
        cells = Cells.from_counts(values, times) if values.shape == times.shape else None
        fits = (
            cells is not None
            and int(times.min(initial=1)) > 0
            and cells.records == records
            and int(values.max(initial=0)) < max(cardinality, 1)
            and bool(np.isin(begins, cells.begins).all())
            and configurations.shape == (len(begins), len(sizes))
            and bool((configurations < np.array(sizes, np.int64)).all())
            and begins.dtype == np.int64
            and bool((np.diff(np.append(begins, records)) > 0).all())
            and begins[0] == 0
        )
        if cells is None or not fits:
            raise ValueError("a conditional table whose parts do not fit together")
        ranges = build_ranges(configurations, begins, records, sizes)
        if "donors" in arrays:
            return cls(cardinality, ranges, values).compact()
        return cls(cardinality, ranges, cells)

    def shrunk(
        self,
        strengths: NDArray[np.float64] | None = None,
        min_count: int = 1,
        first: float | None = None,
    ) -> ConditionalTable:
        """Return the table with each range drawn towards the one with a parent fewer.

        Parameters
        ----------
        strengths : ndarray of float64, optional
            How far, for each number of parents from none on; what left-out records advise if not
            given. All records together are drawn towards codes that are equally likely.
        min_count : int
            The fewest records of a range that is used.
        first : float, optional
            The strength for no parent, if left-out records decide of the others alone.

        Raises
        ------
        ValueError
            If there are not as many strengths as levels, or some cannot be.

        Examples
        --------
        >>> coded = Coded.from_arrays({"sex": [0, 1, 1, 1], "smokes": [1, 0, 1, 1]})
        >>> table = ConditionalTable.of(coded, "smokes", ["sex"]).shrunk(np.array([2.0, 1.0]))

        Of all four, (3 + 2 * 1/2) / (4 + 2) = 2/3 smoke; and of the one with sex 0,
        (1 + 2/3) / (1 + 1):

        >>> table.probability(np.array([1], np.uint8), [np.array([0], np.uint8)])
        array([0.83333333])
        """
        base = np.full(self.cardinality, 1 / self.cardinality)
        # What is known of the table already: its rows, and how left-out records are described.
        known: dict[str, Any] = {"nested": self.nested} if "nested" in self.__dict__ else {}
        if strengths is None:
            fitted = fit_levels(self.nested, self.held, base, min_count, first=first)
            strengths = np.array(fitted.strengths)
            known = {"nested": self.nested, "left_out": fitted.total}
        fits = strengths.shape == (len(self.ranges.sizes) + 1,)
        if not fits or not np.isfinite(strengths).all() or strengths.min() < 0 or min_count < 1:
            raise ValueError("strengths of smoothing that do not fit the table")
        found = replace(self, shrinkage=Shrinkage(strengths, base, min_count))
        found.__dict__.update(known)
        return found

    @cached_property
    def nested(self) -> NestedRows:
        """The ranges of all combinations that occur, and of all their beginnings."""
        return NestedRows.of(*self.ranges.seen, self.records)

    @cached_property
    def _shrunk_rows(self) -> ShrunkRows | None:
        if self.shrinkage is None:
            return None
        return ShrunkRows(self.nested, self.held, self.shrinkage)

    @cached_property
    def left_out(self) -> float:
        """The log likelihood, in nats, of all records, each under the others alone.

        Only of a table with shrinkage, whose strengths are held.
        """
        if self._shrunk_rows is None:
            raise TypeError("a table without shrinkage")
        return self._shrunk_rows.left_out()

    def draw(self, parents: Sequence[Codes], rows: int, rng: np.random.Generator) -> Codes:
        """Draw the attribute for `rows` records with the given codes of the parents."""
        if self._shrunk_rows is not None:
            return self._shrunk_rows.draw(self.ranges.numbers(parents, rows), rng.random(rows))
        return self.ranges.draw(parents, rng.random(rows), held_by(self.held))

    def probability(self, child: Codes, parents: Sequence[Codes]) -> NDArray[np.float64]:
        """Return the probability with which `draw` gives each code of `child`."""
        if self._shrunk_rows is not None:
            return self._shrunk_rows.probability(self.ranges.numbers(parents, len(child)), child)
        start, length = self.ranges.find(parents, len(child))
        used = self.ranges.parents_used(parents, len(child))
        counts = np.zeros(len(child), np.int64)
        for level in np.unique(used).tolist():
            rows = used == level
            counts[rows] = self._count(level, start[rows], child[rows])
        return counts / length

    def _count(self, level: int, start: NDArray[np.int64], child: Codes) -> NDArray[np.int64]:
        """Return how many records of the ranges from `start`, of `level` parents, have a code."""
        starts, keys, counts = self._cells(level)
        wanted = np.searchsorted(starts, start) * self.cardinality + child
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[found] == wanted, counts[found], 0)

    def _cells(self, level: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the starts of the ranges of `level` parents, and the counts of each range's codes.

        A code is counted under the key: number of the range times cardinality plus code.
        """
        configurations, begins = self.ranges.seen
        starts = begins[is_new(configurations[:, :level])]
        cells = self.cells
        number = np.searchsorted(starts, cells.begins, side="right") - 1
        keys, counts = tally(number * self.cardinality + cells.values, cells.counts)
        return starts, keys, counts

    def cell_counts(self) -> NDArray[np.int64]:
        """Return the count of each combination of parents and attribute that occurs."""
        return self.cells.counts

    def code_counts(self) -> NDArray[np.int64]:
        """Return how many records have each code of the attribute."""
        found = np.bincount(self.cells.values, self.cells.counts, self.cardinality)
        return found.astype(np.int64)


def is_new(combinations: Codes) -> NDArray[np.bool_]:
    """Return which of some sorted combinations differ from the one before."""
    new = np.ones(len(combinations), bool)
    new[1:] = (combinations[1:] != combinations[:-1]).any(axis=1)
    return new
