"""Trees of cliques: how tables of columns that overlap hang together without a cycle."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.synthesis.marginals.kernels import MapArrays, TreeArrays, cells_with, eliminate

Columns: TypeAlias = tuple[int, ...]
"""Columns by their places, in increasing order."""


def cells_of(columns: Iterable[int], sizes: Sequence[int]) -> int:
    """Return the number of cells of the table of some columns."""
    return math.prod(sizes[column] for column in columns)


def smallest_first(columns: Iterable[int], sizes: Sequence[int]) -> Columns:
    """Return columns in the order of their numbers of codes, so that the last have long runs."""
    return tuple(sorted(columns, key=lambda column: (sizes[column], column)))


def cell_map(columns: Columns, part: Columns, sizes: Sequence[int]) -> NDArray[np.int32]:
    """Return, for each cell of the table of some columns, its cell in the table of a part of them.

    Examples
    --------
    >>> cell_map((0, 1), (1,), [2, 3])
    array([0, 1, 2, 0, 1, 2], dtype=int32)
    """
    found = np.zeros(1, np.int32)
    for column, step in zip(columns, _steps(columns, part, sizes), strict=True):
        found = np.add.outer(found, np.arange(sizes[column], dtype=np.int32) * step).ravel()
    return found


def _steps(columns: Columns, part: Columns, sizes: Sequence[int]) -> list[int]:
    """Return how far the next code of each column is in the table of a part; 0 outside of it."""
    return [
        cells_of(part[part.index(column) + 1 :], sizes) if column in part else 0
        for column in columns
    ]


def map_arrays(pairs: Iterable[tuple[Columns, Columns]], sizes: Sequence[int]) -> MapArrays:
    """Return how tables lie in larger ones, given the columns of both."""
    firsts, lengths, apart = [np.empty(0, np.int32)], [], []
    for columns, part in pairs:
        steps = _steps(columns, part, sizes)
        length, step = (sizes[columns[-1]], steps[-1]) if columns else (1, 0)
        for column, before in zip(columns[-2::-1], steps[-2::-1], strict=True):
            if before != step * length:
                break
            length *= sizes[column]
        firsts.append(cell_map(columns, part, sizes)[::length])
        lengths.append(length)
        apart.append(step)
    starts = np.cumsum([len(runs) for runs in firsts], dtype=np.int64)
    return np.concatenate(firsts), starts, np.array(lengths, np.int64), np.array(apart, np.int64)


def linked(sets: Iterable[Columns], count: int) -> NDArray[np.bool_]:
    """Return which columns stand in a set together."""
    links = np.zeros((count, count), bool)
    for columns in sets:
        links[np.ix_(columns, columns)] = True
    np.fill_diagonal(links, val=False)
    return links


@dataclass(frozen=True, eq=False)
class Sets:
    """Many sets of columns, one after the other in one array."""

    columns: tuple[Columns, ...]

    @cached_property
    def flat(self) -> NDArray[np.int64]:
        """The columns of all sets."""
        return np.array([column for own in self.columns for column in own], np.int64)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each set starts, and where the last one ends."""
        return np.cumsum([0, *map(len, self.columns)], dtype=np.int64)

    def cells_in_tree(
        self, sets: Iterable[Columns], sizes: Sequence[int], most: float
    ) -> NDArray[np.float64]:
        """Return how many cells the tree of some sets would have with each of these as well.

        Beyond `most`, it is a number above that.
        """
        links = linked(sets, len(sizes))
        return cells_with(links, np.array(sizes, float), self.flat, self.starts, most)


@dataclass(frozen=True, eq=False)
class Tree:
    """Cliques of columns that form a tree: what two of them share stands in all between them.

    Parameters
    ----------
    sizes : tuple of int
        The number of codes of each column.
    cliques : tuple of tuple of int
        The columns of each, those with most codes last, so that loops over these are long. Parents
        come before their children.
    parents : tuple of int
        The parent of each clique; -1 for the first.

    Examples
    --------
    >>> tree = Tree.of([(0, 1), (1, 2)], [2, 3, 4])
    >>> sorted(tree.cliques), tree.separators
    ([(0, 1), (1, 2)], ((), (1,)))
    """

    sizes: tuple[int, ...]
    cliques: tuple[Columns, ...]
    parents: tuple[int, ...]

    @classmethod
    def of(cls, sets: Iterable[Columns], sizes: Sequence[int]) -> Tree:
        """Return a tree in which each of the sets, and each column, is inside a clique."""
        count = len(sizes)
        links = linked(sets, count)
        order = np.empty(count, np.int64)
        eliminate(links, np.array(sizes, float), order, np.inf)
        rank = np.empty(count, np.int64)
        rank[order] = np.arange(count)
        cliques: list[Columns] = []
        clique_of: dict[int, int] = {}
        parents: list[int] = []
        for column in order[::-1].tolist():
            later = [int(one) for one in np.flatnonzero(links[column]) if rank[one] > rank[column]]
            # The neighbour that goes next has all the others in its clique.
            above = (
                clique_of[min(later, key=rank.__getitem__)] if later else min(len(cliques), 1) - 1
            )
            if later and set(later) == set(cliques[above]):
                cliques[above] = smallest_first((*later, column), sizes)
                clique_of[column] = above
                continue
            clique_of[column] = len(cliques)
            cliques.append(smallest_first((*later, column), sizes))
            parents.append(above)
        return cls(tuple(sizes), tuple(cliques), tuple(parents))

    def __len__(self) -> int:
        return len(self.cliques)

    @property
    def cells(self) -> int:
        """The cells of all cliques."""
        return int(self.starts[-1])

    @cached_property
    def separators(self) -> tuple[Columns, ...]:
        """What each clique shares with its parent; nothing for the first."""
        return tuple(
            () if above < 0 else tuple(column for column in own if column in self.cliques[above])
            for own, above in zip(self.cliques, self.parents, strict=True)
        )

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the table of each clique starts, and the cells of all."""
        return np.cumsum([0, *(cells_of(own, self.sizes) for own in self.cliques)], dtype=np.int64)

    @cached_property
    def separator_starts(self) -> NDArray[np.int64]:
        """The same for the separators."""
        own = (cells_of(columns, self.sizes) for columns in self.separators)
        return np.cumsum([0, *own], dtype=np.int64)

    @cached_property
    def arrays(self) -> TreeArrays:
        """What belief propagation goes by."""
        above = (self.cliques[max(place, 0)] for place in self.parents)
        return (
            np.array(self.parents, np.int64),
            self.separator_starts,
            map_arrays(zip(self.cliques, self.separators, strict=True), self.sizes),
            map_arrays(zip(above, self.separators, strict=True), self.sizes),
        )

    def clique_with(self, columns: Columns) -> int:
        """Return the smallest clique that holds some columns."""
        fitting = [
            (int(end - start), place)
            for place, (own, (start, end)) in enumerate(
                zip(self.cliques, pairwise(self.starts), strict=True)
            )
            if set(columns) <= set(own)
        ]
        if not fitting:
            raise ValueError("no clique holds these columns")
        return min(fitting)[1]
