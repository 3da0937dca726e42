"""Conditional tables: how an attribute is distributed for each combination of its parents' values.

A table is the attribute's codes of all records, sorted by the parents' codes. Drawing from the
conditional distribution is picking a random position in the range of records that share the
combination: see `ranges` for how it is found, and what an unseen combination falls back on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.counting import ContingencyTable, group_ids
from understudy.data.coded import Coded, Codes, code_dtype
from understudy.synthesis.ranges import (
    DenseRanges,
    Ranges,
    build_ranges,
    is_dense,
    joint_code,
)


@dataclass(frozen=True, eq=False)
class ConditionalTable:
    """The distribution of one attribute given its parents, from counts of records.

    Parameters
    ----------
    cardinality : int
        Number of codes of the attribute.
    ranges : Ranges
        Where the records of each combination of the parents' codes stand in `donors`.
    donors : ndarray
        The attribute's codes of all records, by combination, increasing within each.

    Examples
    --------
    >>> coded = Coded.from_arrays({"sex": [0, 1, 1, 1], "smokes": [1, 0, 1, 1]})
    >>> table = ConditionalTable.of(coded, "smokes", ["sex"])
    >>> table.donors.tolist(), table.ranges.starts.tolist()
    ([1, 0, 1, 1], [0, 1, 4])
    """

    cardinality: int
    ranges: Ranges
    donors: Codes

    @classmethod
    def of(cls, coded: Coded, child: str, parents: Sequence[str]) -> ConditionalTable:
        """Count a coded table that is in memory; the most informative parent comes first."""
        from understudy.synthesis.table_kernels import sort_donors

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
        sort_donors(groups, np.ascontiguousarray(coded[child]), cardinality, starts, donors)
        if dense:
            return cls(cardinality, DenseRanges(sizes, starts), donors)
        configurations = np.stack([coded[p][found.representatives] for p in parents], axis=1)
        return cls(
            cardinality, build_ranges(configurations, starts[:-1], len(coded), sizes), donors
        )

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
        new = np.ones(len(before), bool)
        new[1:] = (before[1:] != before[:-1]).any(axis=1)
        begins = np.concatenate([[0], np.cumsum(seen.counts)])[:-1][new]
        donors = np.repeat(seen.combinations[:, -1], seen.counts).astype(code_dtype(cardinality))
        ranges = build_ranges(before[new], begins, len(donors), tuple(sizes))
        return cls(cardinality, ranges, donors)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the table as arrays: combinations that occur, where each starts, and donors."""
        configurations, begins = self.ranges.seen
        return {"configurations": configurations, "begins": begins, "donors": self.donors}

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
        donors = arrays["donors"].astype(code_dtype(cardinality), casting="safe")
        fits = (
            donors.shape == (records,)
            and int(donors.max(initial=0)) < max(cardinality, 1)
            and configurations.shape == (len(begins), len(sizes))
            and bool((configurations < np.array(sizes, np.int64)).all())
            and begins.dtype == np.int64
            and bool((np.diff(np.append(begins, records)) > 0).all())
            and begins[0] == 0
        )
        if not fits:
            raise ValueError("a conditional table whose parts do not fit together")
        return cls(cardinality, build_ranges(configurations, begins, records, sizes), donors)

    def draw(self, parents: Sequence[Codes], rows: int, rng: np.random.Generator) -> Codes:
        """Draw the attribute for `rows` records with the given codes of the parents."""
        return self.ranges.draw(parents, rng.random(rows), self.donors)

    def probability(self, child: Codes, parents: Sequence[Codes]) -> NDArray[np.float64]:
        """Return the probability with which `draw` gives each code of `child`."""
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
        new = np.ones(len(begins), bool)
        shorter = configurations[:, :level]
        new[1:] = (shorter[1:] != shorter[:-1]).any(axis=1)
        starts = begins[new]
        number = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(self.donors))))
        keys, counts = np.unique(number * self.cardinality + self.donors, return_counts=True)
        return starts, keys, counts

    def cell_counts(self) -> NDArray[np.int64]:
        """Return the count of each combination of parents and attribute that occurs."""
        return self._cells(len(self.ranges.sizes))[2]
