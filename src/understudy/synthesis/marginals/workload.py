"""The workload: which tables a private model shall get right, and how much each counts."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_whole, is_number, is_whole
from understudy.errors import ParameterError, unknown_columns
from understudy.progress import track
from understudy.synthesis.marginals.kernels import PARTS, count_sets, distances
from understudy.synthesis.marginals.tree import Columns, Sets, cells_of

Workload: TypeAlias = int | Sequence[Any]
"""How many columns tables have, or sets of columns, each by itself or with a weight."""

FOR_TARGETS = 1.25
"""How much a set counts that has a target, beside others."""

MOST_SETS = 20_000
"""So many tables are compared in each round; with more, the largest sets are left out."""

MOST_CELLS = 2**26
"""So many cells these tables have in all."""

_AT_ONCE = 100
"""So many tables are counted before an interrupt is heard."""


def read_workload(
    workload: Any,  # noqa: ANN401  # whatever a user gave
    names: Sequence[str],
    targets: Collection[str] = (),
) -> dict[Columns, float]:
    """Return the sets of columns that a workload stands for, by places, with their weights.

    Examples
    --------
    >>> read_workload(2, ["a", "b", "c"], ["c"])
    {(0, 1): 1.0, (0, 2): 1.25, (1, 2): 1.25}
    >>> read_workload([["c", "a"], (["b"], 3)], ["a", "b", "c"])
    {(0, 2): 1.0, (1,): 3.0}
    """
    if is_whole(workload):
        size = min(check_whole("workload", workload, 1), len(names))
        while size > 1 and math.comb(len(names), size) > MOST_SETS:
            size -= 1
        return {
            own: FOR_TARGETS if any(names[place] in targets for place in own) else 1.0
            for own in combinations(range(len(names)), size)
        }
    if isinstance(workload, str) or not isinstance(workload, Sequence) or not workload:
        raise ParameterError(_NO_WORKLOAD.format(workload))
    found: dict[Columns, float] = {}
    for one in workload:
        weighted = not isinstance(one, str) and isinstance(one, Sequence) and len(one) == 2
        columns, weight = one if weighted and is_number(one[1]) else (one, 1.0)
        known = isinstance(columns, Sequence) and all(isinstance(name, str) for name in columns)
        if isinstance(columns, str) or not known or not columns or not 0 < weight < math.inf:
            raise ParameterError(_NO_WORKLOAD.format(one))
        if problems := unknown_columns(columns, names):
            raise ParameterError(f"workload: {' '.join(problems)}")
        places = tuple(sorted({names.index(name) for name in columns}))
        found[places] = found.get(places, 0.0) + float(weight)
    return found


_NO_WORKLOAD = (
    "workload must be a whole number, or sets of columns such as [['age', 'income']], each by "
    "itself or in a pair with a positive weight; got {!r}."
)


def without_protected(
    workload: Mapping[Columns, float], names: Sequence[str], protect: Mapping[str, str | None]
) -> dict[Columns, float]:
    """Return a workload in which protected columns stand with their targets alone.

    Examples
    --------
    >>> without_protected({(0, 1, 2): 1.0}, ["a", "b", "c"], {"a": "b"})
    {(1, 2): 1.0, (0, 1): 1.0}
    """
    hidden = {names.index(sensitive) for sensitive in protect}
    found: dict[Columns, float] = {}
    for own, weight in workload.items():
        rest = tuple(place for place in own if place not in hidden)
        if rest:
            found[rest] = found.get(rest, 0.0) + weight
    for sensitive, target in protect.items():
        if target is not None:
            pair = tuple(sorted((names.index(sensitive), names.index(target))))
            found[pair] = max(workload.values())
    return found


@dataclass(frozen=True, eq=False)
class Candidates:
    """Sets of columns whose tables may be measured, and how much each counts.

    Parameters
    ----------
    sets : Sets
        The columns of each.
    weights : ndarray
        How much it counts; at most 1.
    sizes : tuple of int
        The number of codes of each column.
    """

    sets: Sets
    weights: NDArray[np.float64]
    sizes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.weights)

    @classmethod
    def of(
        cls, workload: Mapping[Columns, float], sizes: Sequence[int], most_cells: float
    ) -> Candidates:
        """Return all parts of the sets of a workload whose tables have at most so many cells.

        A part counts as much as the columns that it has in common with each set of the workload
        (McKenna et al., 2022).
        """
        single = {(column,) for column in range(len(sizes))}
        parts = sorted(
            single
            | {
                part
                for own in workload
                for size in range(1, len(own) + 1)
                for part in combinations(own, size)
                if cells_of(part, sizes) <= most_cells
            },
            key=lambda part: (len(part), part),
        )
        parts = _few_enough(parts, sizes)
        shared = np.zeros((len(sizes),))
        for own, weight in workload.items():
            shared[list(own)] += weight
        # What a part has in common with all sets is the sum over its columns.
        weights = np.array([shared[list(part)].sum() for part in parts])
        return cls(Sets(tuple(parts)), weights / weights.max(initial=1e-300), tuple(sizes))

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """The number of cells of each table."""
        return np.array([cells_of(own, self.sizes) for own in self.sets.columns], np.int64)

    @cached_property
    def cell_starts(self) -> NDArray[np.int64]:
        """Where each table starts if they lie one after the other."""
        return np.concatenate([[0], np.cumsum(self.cells)])

    @cached_property
    def _size_array(self) -> NDArray[np.int64]:
        return np.array(self.sizes, np.int64)

    def _pieces(self) -> Iterable[tuple[int, int]]:
        for first in range(0, len(self), _AT_ONCE):
            yield first, min(first + _AT_ONCE, len(self))

    def _count(
        self, codes: NDArray[np.unsignedinteger], first: int, last: int
    ) -> NDArray[np.int32]:
        """Return the records of all cells of the tables from `first` to before `last`."""
        starts, cell_starts = self.sets.starts[first : last + 1], self._from(first, last)
        found = np.empty(cell_starts[-1], np.int32)
        count_sets(codes, self._size_array, self.sets.flat, starts, cell_starts, found)
        return found

    def _from(self, first: int, last: int) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self.cell_starts[first : last + 1] - self.cell_starts[first]
        return found

    def counts(self, codes: NDArray[np.unsignedinteger]) -> NDArray[np.int32]:
        """Return the records of all cells of all tables, given a row of codes for each column."""
        found = np.empty(int(self.cell_starts[-1]), np.int32)
        for first, last in track(list(self._pieces()), "Counting tables"):
            own = self._count(codes, first, last)
            found[self.cell_starts[first] : self.cell_starts[last]] = own
        return found

    def distances(
        self, codes: NDArray[np.unsignedinteger], counts: NDArray[np.int32], total: float
    ) -> NDArray[np.float64]:
        """Return how far counts are from what other records say of a total, summed over cells."""
        found = np.empty(len(self))
        scale = total / codes.shape[1]
        for first, last in self._pieces():
            own = counts[self.cell_starts[first] : self.cell_starts[last]]
            drawn = self._count(codes, first, last)
            distances(own, drawn, scale, self._from(first, last), found[first:last])
        return found

    def shares(self, number: int, codes: NDArray[np.unsignedinteger]) -> NDArray[np.float64]:
        """Return the share of each cell of one table in some records, one axis for each column."""
        shape = [self.sizes[column] for column in self.sets.columns[number]]
        found: NDArray[np.float64] = self._count(codes, number, number + 1) / codes.shape[1]
        return found.reshape(shape)

    def table(self, number: int, counts: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the counts of one table, one axis for each column."""
        own = counts[self.cell_starts[number] : self.cell_starts[number + 1]]
        shape = [self.sizes[column] for column in self.sets.columns[number]]
        return own.astype(np.int64).reshape(shape)


def distance(counts: NDArray[np.int64], expected: NDArray[np.float64]) -> float:
    """Return how far counts are from what is expected of them, summed exactly, as in `distances`.

    Examples
    --------
    >>> distance(np.array([3, 1]), np.array([1.5, 2.5]))
    3.0
    """
    parts = np.rint(expected * PARTS).astype(np.int64)
    return int(np.abs(counts * PARTS - parts).sum()) / PARTS


def _few_enough(parts: list[Columns], sizes: Sequence[int]) -> list[Columns]:
    """Return the sets in order until there are too many, or they have too many cells."""
    cells = np.cumsum([cells_of(part, sizes) for part in parts])
    most = min(MOST_SETS, int(np.searchsorted(cells, MOST_CELLS, side="right")))
    if most >= len(parts):
        return parts
    # Some of the sets of one size alone would favour the first columns.
    too_many = max(len(parts[most]), 2)
    return [part for part in parts if len(part) < too_many]
