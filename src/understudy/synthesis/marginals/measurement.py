"""What is known of the records: tables of counts with noise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.synthesis.marginals.tree import Columns


@dataclass(frozen=True, eq=False)
class Measurement:
    """The noisy counts of the combinations of some columns.

    Parameters
    ----------
    columns : tuple of int
        The columns by their places, in increasing order.
    counts : ndarray of int64
        The counts, one axis for each column.
    scale : float
        The scale of the noise: about its standard deviation.
    """

    columns: Columns
    counts: NDArray[np.int64]
    scale: float


@dataclass(frozen=True, eq=False)
class Wanted:
    """What a distribution is fitted to: one table of counts for each set of columns.

    Parameters
    ----------
    sets : tuple of tuple of int
        The columns of each.
    counts : ndarray
        The counts of all, one table after the other. Where columns were counted more than once,
        the mean, weighted by what each is worth.
    weights : ndarray
        One over the variance of each.
    """

    sets: tuple[Columns, ...]
    counts: NDArray[np.float64]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, measurements: Iterable[Measurement]) -> Wanted:
        """Return what some measurements say together."""
        sums: dict[Columns, NDArray[np.float64]] = {}
        weights: dict[Columns, float] = {}
        for one in measurements:
            weight = one.scale**-2
            before = sums.get(one.columns, np.zeros(one.counts.size))
            sums[one.columns] = before + weight * one.counts.ravel()
            weights[one.columns] = weights.get(one.columns, 0.0) + weight
        own = [np.full(len(table), weights[columns]) for columns, table in sums.items()]
        together = np.concatenate(own)
        return cls(tuple(sums), np.concatenate(list(sums.values())) / together, together)


def estimated_total(measurements: Sequence[Measurement]) -> tuple[float, float]:
    """Return how many records there are by noisy tables of all of them, and its standard error.

    Each is weighted by what it is worth: noise adds up over cells.

    Examples
    --------
    >>> estimated_total([Measurement((0,), np.array([40, 60]), 1.0)])
    (100.0, 1.4142135623730951)
    """
    worth = np.array([1 / (one.counts.size * one.scale**2) for one in measurements])
    sums = np.array([one.counts.sum() for one in measurements], np.float64)
    return float(worth @ sums / worth.sum()), float(worth.sum() ** -0.5)
