"""How much the runs of one world differ: as chance gives, or more because the fit is random."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FEWEST_EXPECTED = 5
"""Cells with fewer rows expected in a run are merged: chi-square does not hold for them."""

CHANCE = 0.001
"""Runs differ clearly if chance alone would make them differ as much less often than this."""

_LEAST_CONCENTRATION = 1e-6


@dataclass(frozen=True)
class RunCounts:
    """The runs of one world.

    Parameters
    ----------
    rows : ndarray of int
        Rows in each cell of the release, a row for each run.
    totals : ndarray of int64
        Rows in all, one for each run.
    """

    rows: NDArray[np.integer]
    totals: NDArray[np.int64]


@dataclass(frozen=True)
class Dispersion:
    """How much runs of a world differ.

    Parameters
    ----------
    factor : float
        How many times more than counts of one multinomial differ by chance; nan if unknown.
    concentration : float
        That of a Dirichlet distribution of the fits' shares; infinite if all fits count as alike.
    """

    factor: float
    concentration: float


def find_dispersion(worlds: Iterable[RunCounts]) -> Dispersion:
    """Return how much runs of a world differ, over all worlds.

    The factor is the sum of Pearson's chi-square of all worlds, of the runs' counts against their
    pooled shares, over the sum of the degrees of freedom. It counts as above 1 if a chi-square
    with the degrees of freedom of one world exceeds it with a probability below `CHANCE`: the runs
    of all worlds have the same seeds, so that more worlds may tell nothing new.

    Notes
    -----
    A Dirichlet-multinomial of n rows and the concentration A varies (n + A) / (1 + A) times as
    much as a multinomial. Solved for A, with n the mean number of rows of a run.

    Examples
    --------
    >>> runs = RunCounts(np.array([[40, 60], [60, 40]]), np.array([100, 100]))
    >>> find_dispersion([runs])  # 4 cells, each 10 from 50 expected; no clear difference of 2 runs
    Dispersion(factor=8.0, concentration=inf)
    >>> find_dispersion([RunCounts(10 * runs.rows, 10 * runs.totals)])  # (1000 - 80) / (80 - 1)
    Dispersion(factor=80.0, concentration=11.645569620253164)
    """
    from scipy.special import chdtri

    found = [_chi_square(world) for world in worlds]
    chi_square, freedom, rows = (math.fsum(part) for part in zip(*found, strict=True))
    if not freedom:
        return Dispersion(math.nan, math.inf)
    factor = chi_square / freedom
    in_one = freedom / sum(1 for _, own, _ in found if own)
    if factor <= max(1.0, chdtri(in_one, CHANCE) / in_one):
        return Dispersion(factor, math.inf)
    mean = rows / len(found)
    # Runs that differ as much as they can have fits without any spread of their own.
    concentration = max((mean - factor) / (factor - 1), _LEAST_CONCENTRATION)
    return Dispersion(factor, concentration)


def _chi_square(world: RunCounts) -> tuple[float, float, float]:
    """Return chi-square of the runs of a world, its degrees of freedom, and the rows of a run."""
    mean = float(world.totals.mean())
    pooled = world.rows.sum(axis=0, dtype=np.int64)
    order = np.argsort(pooled, kind="stable")
    all_rows = int(world.totals.sum())
    fewest = FEWEST_EXPECTED * len(world.totals)
    # The cells that the release lacks are one; small cells join it until it is large enough.
    lacking = all_rows - int(pooled.sum())
    merged = int((pooled < fewest).sum())
    while merged < len(order) and 0 < lacking + pooled[order[:merged]].sum() < fewest:
        merged += 1
    kept = world.rows[:, order[merged:]].astype(np.int64)
    rest = world.totals - kept.sum(axis=1)
    counts = np.column_stack([kept, rest]) if rest.any() else kept
    expected = np.outer(world.totals, counts.sum(axis=0) / all_rows)
    freedom = (len(counts) - 1) * (counts.shape[1] - 1)
    if freedom <= 0:
        return 0.0, 0.0, mean
    return float(((counts - expected) ** 2 / expected).sum()), float(freedom), mean
