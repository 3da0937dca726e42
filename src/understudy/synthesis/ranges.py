"""Which records share a combination of the parents' values, as ranges of the sorted records.

Records are sorted by the parents' codes, the most informative parent first. The records of a
combination are then a range, and so are those of a combination without its last parents. A
combination that no record has gets the range of the longest beginning of it that some record has:
the parents that tell least are dropped first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Codes, code_dtype

Positions = NDArray[np.int64]

# An array over all combinations is used up to this many, or this many for each record.
_ALWAYS_DENSE = 2**18
_DENSE_PER_RECORD = 4


def is_dense(sizes: Sequence[int], records: int) -> bool:
    """Tell whether an array over all combinations of the parents is small beside the records."""
    return math.prod(sizes) <= min(max(_ALWAYS_DENSE, _DENSE_PER_RECORD * records), 2**31)


class Ranges(Protocol):
    """The ranges of all combinations of some parents."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The parents' cardinalities."""
        ...

    @property
    def seen(self) -> tuple[Codes, Positions]:
        """The combinations that occur, in lexicographic order, and where each starts."""
        ...

    def find(self, parents: Sequence[Codes], rows: int) -> tuple[Positions, Positions]:
        """Return the start and the length of each row's range."""
        ...

    def draw(self, parents: Sequence[Codes], chances: NDArray[np.float64], donors: Codes) -> Codes:
        """Return the donor that lies a given share, in [0, 1), into each row's range."""
        ...

    def parents_used(self, parents: Sequence[Codes], rows: int) -> NDArray[np.int64]:
        """Return how many parents decide each row's range: fewer than all where it falls back."""
        ...


@dataclass(frozen=True, eq=False)
class DenseRanges:
    """Ranges looked up in arrays over all combinations; the quick way for small tables.

    Parameters
    ----------
    sizes : tuple of int
        The parents' cardinalities.
    starts : ndarray of int64, shape (product of sizes + 1,)
        Where the records of each combination start; the last is the number of records.
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

    def draw(self, parents: Sequence[Codes], chances: NDArray[np.float64], donors: Codes) -> Codes:
        """Return the donor that lies a given share, in [0, 1), into each row's range."""
        from understudy.synthesis.table_kernels import draw_donors

        codes = joint_code(parents, self.sizes, len(chances))
        drawn = np.empty(len(chances), donors.dtype)
        draw_donors(codes, self._resolved, chances, donors, drawn)
        return drawn

    def parents_used(self, parents: Sequence[Codes], rows: int) -> NDArray[np.int64]:
        """Return how many parents decide each row's range: fewer than all where it falls back."""
        used = np.zeros(rows, np.int64)
        for level in range(1, len(self.sizes) + 1):
            codes = joint_code(parents[:level], self.sizes[:level], rows)
            used += self._at_level(level)[1][codes] > 0
        return used


@dataclass(frozen=True, eq=False)
class SparseRanges:
    """Ranges looked up parent by parent among the combinations that occur.

    Parameters
    ----------
    sizes : tuple of int
        The parents' cardinalities.
    configurations : ndarray, shape (configurations, parents)
        The combinations that occur, in lexicographic order.
    begins : ndarray of int64
        Where the records of each combination start.
    records : int
        Number of records.
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
    def _levels(self) -> list[tuple[Positions, Positions, Positions]]:
        """For each number of parents: sorted keys, starts and lengths.

        A key is the place of the shorter combination times the parent's cardinality plus its code,
        so that it fits 64 bits however many parents there are.
        """
        levels = []
        shorter = np.zeros(len(self.configurations), np.int64)
        for place, size in enumerate(self.sizes):
            keys = shorter * size + self.configurations[:, place]
            firsts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
            starts = self.begins[firsts]
            levels.append((keys[firsts], starts, np.diff(np.append(starts, self.records))))
            shorter = np.repeat(np.arange(len(firsts)), np.diff(np.append(firsts, len(keys))))
        return levels

    def _walk(
        self, parents: Sequence[Codes], rows: int
    ) -> tuple[Positions, Positions, NDArray[np.int64]]:
        start, length = np.zeros(rows, np.int64), np.full(rows, self.records, np.int64)
        used, place, live = np.zeros(rows, np.int64), np.zeros(rows, np.int64), np.arange(rows)
        for (keys, starts, lengths), size, codes in zip(
            self._levels, self.sizes, parents, strict=True
        ):
            wanted = place[live] * size + codes[live]
            found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            hit = keys[found] == wanted
            live, found = live[hit], found[hit]
            start[live], length[live], place[live] = starts[found], lengths[found], found
            used[live] += 1
        return start, length, used

    def find(self, parents: Sequence[Codes], rows: int) -> tuple[Positions, Positions]:
        """Return the start and the length of each row's range."""
        start, length, _ = self._walk(parents, rows)
        return start, length

    def draw(self, parents: Sequence[Codes], chances: NDArray[np.float64], donors: Codes) -> Codes:
        """Return the donor that lies a given share, in [0, 1), into each row's range."""
        start, length = self.find(parents, len(chances))
        return donors[start + (chances * length).astype(np.int64)]

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
