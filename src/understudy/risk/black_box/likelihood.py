"""The log likelihood of a release in each world, estimated from simulated syntheses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from understudy.risk.black_box.cells import CellCounts, Cells


class SimulatedLikelihood:
    """Collects simulations and turns those of a world into a log likelihood when all are there.

    Parameters
    ----------
    cells : Cells
        The cells, and the rows of the release in each.
    worlds, runs : int
        How many worlds there are, and simulations of each.
    smoothing : float
        What is added to the count of every cell.

    Attributes
    ----------
    log_likelihood : ndarray of float64
        One for each world; nan until its runs are there.
    without : ndarray of float64
        The same without each of the runs, a row for each world. A single run has none.

    Notes
    -----
    All rows of a world's runs are pooled. With c(cell) of them in a cell, t in all, C cells and
    the smoothing s, the log likelihood is the sum over the cells of the release's count times
    log (c(cell) + s) / (t + s C).
    """

    def __init__(self, cells: Cells, worlds: int, runs: int, smoothing: float) -> None:
        self._times = cells.released.counts
        self._smoothing = smoothing
        self._spread = smoothing * cells.count
        # Other cells than those of the release count only in the total.
        self._place = np.full(cells.count, -1, np.int64)
        self._place[cells.released.cells] = np.arange(len(cells.released.cells))
        self._runs = runs
        self._partial: dict[int, dict[int, tuple[NDArray[np.int64], int]]] = {}
        self.log_likelihood = np.full(worlds, np.nan)
        self.without = np.full((worlds, runs if runs > 1 else 0), np.nan)

    def add(self, world: int, run: int, found: CellCounts) -> None:
        """Take in one simulation, once; runs beyond the last are not counted."""
        if run >= self._runs:
            return
        place = self._place[found.cells]
        row = np.zeros(len(self._times), np.int64)
        row[place[place >= 0]] = found.counts[place >= 0]
        partial = self._partial.setdefault(world, {})
        partial[run] = row, int(found.counts.sum())
        if len(partial) == self._runs:
            self._finish(world, self._partial.pop(world))

    def missing(self) -> list[tuple[int, int]]:
        """Return the worlds and runs that are still to come, world by world."""
        return [
            (world, run)
            for world in np.flatnonzero(np.isnan(self.log_likelihood)).tolist()
            for run in range(self._runs)
            if run not in self._partial.get(world, ())
        ]

    def _finish(self, world: int, partial: dict[int, tuple[NDArray[np.int64], int]]) -> None:
        rows = np.stack([partial[run][0] for run in range(self._runs)])
        totals = np.array([partial[run][1] for run in range(self._runs)])
        pooled, total = rows.sum(axis=0), totals.sum()
        self.log_likelihood[world] = self._log_likelihood(pooled[None], total[None])[0]
        if self._runs > 1:
            self.without[world] = self._log_likelihood(pooled - rows, total - totals)

    def _log_likelihood(
        self, counts: NDArray[np.int64], totals: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        shares = np.log(counts + self._smoothing) - np.log(totals + self._spread)[:, None]
        summed: NDArray[np.float64] = (shares * self._times).sum(axis=1)
        return summed
