"""The log likelihood of a release in each world, estimated from simulated syntheses."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.risk.black_box.cells import CellCounts, Cells
from understudy.risk.black_box.dispersion import Dispersion, RunCounts, find_dispersion


@dataclass(frozen=True, eq=False)
class Likelihood:
    """How likely a release is in each world.

    Parameters
    ----------
    logs : ndarray of float64
        The log likelihood of each world.
    without : ndarray of float64
        The same without each of the runs, a row for each world. A single run has none.
    dispersion : Dispersion
        How much the runs of a world differ.
    unreached : ndarray of int64
        Cells of the release that no run of a world reached, for each world.
    """

    logs: NDArray[np.float64]
    without: NDArray[np.float64]
    dispersion: Dispersion
    unreached: NDArray[np.int64]


class SimulatedLikelihood:
    """Collects simulations and turns them into log likelihoods when all are there.

    Parameters
    ----------
    cells : Cells
        The cells, and the rows of the release in each.
    worlds, runs : int
        How many worlds there are, and simulations of each.
    smoothing : float
        What is added to the count of every cell.

    Notes
    -----
    All rows of a world's runs are pooled. With c(cell) of them in a cell, t in all, C cells and
    the smoothing s, the share of a cell is (c(cell) + s) / (t + s C). If the runs differ as chance
    gives, the log likelihood is the sum over the cells of the release's count times the logarithm
    of the share. If they differ clearly more, it is that of a Dirichlet-multinomial with these mean
    shares, and the same concentration in all worlds. What only depends on the release is left out.
    """

    def __init__(self, cells: Cells, worlds: int, runs: int, smoothing: float) -> None:
        self._times = cells.released.counts
        self._smoothing = smoothing
        self._spread = smoothing * cells.count
        # Other cells than those of the release count only in the total.
        self._place = np.full(cells.count, -1, np.int64)
        self._place[cells.released.cells] = np.arange(len(cells.released.cells))
        self._worlds = worlds
        self._runs = runs
        self._partial: dict[int, dict[int, tuple[NDArray[np.integer], int]]] = {}
        self._finished: dict[int, RunCounts] = {}

    def add(self, world: int, run: int, found: CellCounts) -> None:
        """Take in one simulation, once; runs beyond the last are not counted."""
        if run >= self._runs:
            return
        place = self._place[found.cells]
        # All runs are kept until the end, so in as little space as they need.
        row = np.zeros(len(self._times), np.min_scalar_type(int(found.counts.max())))
        row[place[place >= 0]] = found.counts[place >= 0]
        partial = self._partial.setdefault(world, {})
        partial[run] = row, int(found.counts.sum())
        if len(partial) == self._runs:
            rows, totals = zip(*(partial[number] for number in range(self._runs)), strict=True)
            self._finished[world] = RunCounts(np.stack(rows), np.array(totals, np.int64))
            del self._partial[world]

    def missing(self) -> list[tuple[int, int]]:
        """Return the worlds and runs that are still to come, world by world."""
        return [
            (world, run)
            for world in range(self._worlds)
            if world not in self._finished
            for run in range(self._runs)
            if run not in self._partial.get(world, ())
        ]

    def result(self) -> Likelihood:
        """Return the log likelihoods, when all simulations are there."""
        worlds = [self._finished[world] for world in range(self._worlds)]
        dispersion = find_dispersion(worlds)
        logs = np.empty(self._worlds)
        without = np.empty((self._worlds, self._runs if self._runs > 1 else 0))
        unreached = np.empty(self._worlds, np.int64)
        for number, world in enumerate(worlds):
            pooled, total = world.rows.sum(axis=0, dtype=np.int64), world.totals.sum()
            logs[number] = self._logs(pooled[None], total[None], dispersion.concentration)[0]
            unreached[number] = np.count_nonzero(pooled == 0)
            if self._runs > 1:
                without[number] = self._logs(
                    pooled - world.rows, total - world.totals, dispersion.concentration
                )
        return Likelihood(logs, without, dispersion, unreached)

    def _logs(
        self, counts: NDArray[np.int64], totals: NDArray[np.int64], concentration: float
    ) -> NDArray[np.float64]:
        summed: NDArray[np.float64]
        if math.isinf(concentration):
            shares = np.log(counts + self._smoothing) - np.log(totals + self._spread)[:, None]
            summed = (shares * self._times).sum(axis=1)
            return summed
        from scipy.special import gammaln

        weights = concentration * (counts + self._smoothing) / (totals + self._spread)[:, None]
        summed = (gammaln(self._times + weights) - gammaln(weights)).sum(axis=1)
        return summed
