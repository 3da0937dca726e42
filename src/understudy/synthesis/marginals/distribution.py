"""A distribution over a tree of cliques: its fit to noisy tables, its density, its draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Codes, code_dtype
from understudy.synthesis.marginals.kernels import (
    LayoutArrays,
    descend,
    draw_evenly,
    find_marginals,
    shares_in_groups,
)
from understudy.synthesis.marginals.layout import layout_arrays
from understudy.synthesis.marginals.measurement import Wanted
from understudy.synthesis.marginals.tree import Columns, Tree, cell_map, cells_of

Floats = NDArray[np.float64]

_CELLS_AT_ONCE = 100_000_000
"""So many cells are worked on before an interrupt is heard."""

_ALIKE_IN = 4
"""In so many columns are rows alike that get different cells of others."""

_ENOUGH = 1e-6
"""The fit ends when a round gains less than this part of the misfit."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """A product of factors, each a table of some columns.

    Parameters
    ----------
    sizes : tuple of int
        The number of codes of each column.
    factors : mapping of tuple of int to ndarray
        The logarithms of the factors, flat, by their columns. A column without any is even.

    Examples
    --------
    >>> one = Distribution((2, 2), {(0,): np.log([1.0, 3.0])})
    >>> one.marginal((0,)).tolist()
    [0.25, 0.75]
    >>> np.exp(one.log_density([np.array([1]), np.array([0])])).round(3)
    array([0.375])
    """

    sizes: tuple[int, ...]
    factors: Mapping[Columns, Floats]

    @cached_property
    def tree(self) -> Tree:
        """The tree of cliques that holds the factors."""
        return Tree.of(self.factors, self.sizes)

    @cached_property
    def _layout(self) -> LayoutArrays:
        return layout_arrays(self.tree, tuple(self.factors))

    def fitted(self, wanted: Wanted, total: float, rounds: int) -> Distribution:
        """Return the distribution whose marginals fit noisy tables best, starting from this one.

        Parameters
        ----------
        wanted : Wanted
            The tables, which become the factors.
        total : float
            The number of records.
        rounds : int
            Rounds of mirror descent at most.

        Notes
        -----
        Of all distributions with the least weighted squares it has the largest entropy. McKenna,
        Sheldon, Miklau (2019), Graphical-model based estimation and inference for differential
        privacy, arXiv:1901.09136.
        """
        sizes = [cells_of(columns, self.sizes) for columns in wanted.sets]
        known = [
            self.factors.get(columns, np.zeros(size))
            for columns, size in zip(wanted.sets, sizes, strict=True)
        ]
        found = Distribution(self.sizes, dict.fromkeys(wanted.sets, np.empty(0)))
        logs = np.concatenate([np.empty(0), *known])
        tables, separators = found._work()
        at_once = max(1, _CELLS_AT_ONCE // max(found.tree.cells, 1))
        step = 1.0 / (max(total, 1.0) * float(wanted.weights.max()))
        done = False
        while rounds > 0 and not done:
            step, _, done = descend(
                logs,
                wanted.counts,
                wanted.weights,
                total,
                step,
                min(rounds, at_once),
                _ENOUGH,
                found.tree.arrays,
                found._layout,
                tables,
                separators,
            )
            rounds -= at_once
        parts = np.split(logs, np.cumsum(sizes)[:-1])
        return Distribution(self.sizes, dict(zip(wanted.sets, parts, strict=True)))

    def _work(self) -> tuple[Floats, Floats]:
        return np.empty(self._layout[0][-1]), np.empty(self.tree.separator_starts[-1])

    @cached_property
    def _cliques(self) -> Floats:
        """The marginals of all cliques."""
        logs = np.concatenate([np.empty(0), *self.factors.values()])
        tables, separators = self._work()
        find_marginals(logs, 1.0, self.tree.arrays, self._layout, tables, separators)
        return tables[: self.tree.cells].copy()

    def marginal(self, columns: Columns) -> Floats:
        """Return the probabilities of the combinations of columns of one clique, one axis each."""
        tree = self.tree
        clique = tree.clique_with(columns)
        cells = cell_map(tree.cliques[clique], columns, self.sizes)
        own = self._cliques[tree.starts[clique] : tree.starts[clique + 1]]
        found = np.zeros([self.sizes[column] for column in columns])
        np.add.at(found.reshape(-1), cells, own)
        return found

    @cached_property
    def _given(self) -> list[Floats]:
        """The probability of each cell of a clique, given what it shares with its parent."""
        starts = pairwise(self.tree.starts.tolist())
        return [
            shares_in_groups(self._cliques[start:end], groups, int(groups.max()) + 1)
            for (start, end), groups in zip(starts, self._shared_cells, strict=True)
        ]

    @cached_property
    def _shared_cells(self) -> list[NDArray[np.int32]]:
        """For each clique and each of its cells, the cell of what it shares with its parent."""
        tree = self.tree
        return [
            cell_map(own, shared, self.sizes)
            for own, shared in zip(tree.cliques, tree.separators, strict=True)
        ]

    @cached_property
    def _for_draws(self) -> list[tuple[Floats, NDArray[np.int32], NDArray[np.int64]]]:
        """For each clique, its cells in the order of what it shares, with their probabilities."""
        found = []
        for given, groups in zip(self._given, self._shared_cells, strict=True):
            order = np.argsort(groups, kind="stable").astype(np.int32)
            starts = np.searchsorted(groups[order], np.arange(groups.max() + 2)).astype(np.int64)
            found.append((given[order], order, starts))
        return found

    def log_density(self, codes: list[Codes]) -> Floats:
        """Return the log probability of each record, given by its codes, column by column."""
        found = np.zeros(len(codes[0]))
        with np.errstate(divide="ignore"):
            for columns, given in zip(self.tree.cliques, self._given, strict=True):
                found += np.log(given)[self._cell(codes, columns)]
        return found

    def _cell(
        self, codes: list[Codes] | NDArray[np.unsignedinteger], columns: Columns
    ) -> NDArray[np.int64]:
        cells = np.zeros(len(codes[0]), np.int64)
        for column in columns:
            cells *= self.sizes[column]
            cells += codes[column]
        return cells

    def draw(self, rows: int, rng: np.random.Generator) -> NDArray[np.unsignedinteger]:
        """Draw records: a row of codes for each column.

        Each record by itself has exactly the probabilities of `log_density`. Together they are
        nearer to these than independent draws would be: of records that are alike in some columns,
        each value of the others gets its share.
        """
        tree = self.tree
        codes = np.zeros((len(self.sizes), rows), code_dtype(max(self.sizes)))
        drawn_before: list[int] = []
        for clique, (shares, cells, starts) in enumerate(self._for_draws):
            shared = tree.separators[clique]
            # Rows that agree in some other columns get all cells, each as often as it should come.
            order = rng.permutation(rows)
            others = [column for column in drawn_before if column not in shared]
            for column in rng.permutation(others)[:_ALIKE_IN]:
                order = order[np.argsort(codes[column][order], kind="stable")]
            drawn = np.empty(rows, np.int32)
            groups = self._cell(codes, shared)
            draw_evenly(shares, cells, starts, groups, order, rng.random(len(starts) - 1), drawn)
            rest = drawn
            for column in reversed(tree.cliques[clique]):
                rest, code = np.divmod(rest, self.sizes[column])
                if column not in shared:
                    codes[column] = code
                    drawn_before.append(column)
        return codes
