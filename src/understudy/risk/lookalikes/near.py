"""What is near to some people by one distance, and who of them has a lookalike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Near:
    """The distances of some people by one kind of distance.

    Parameters
    ----------
    record : ndarray
        To the nearest synthetic record.
    row : ndarray of int64
        Which one that is.
    person, second : ndarray
        To the nearest and second nearest other person of the original.
    rounding : float
        What is nearer by no more than this is as near.
    step : float
        What a synthetic record is taken to be farther away than it seems: see `rank_step`.
    person_row : ndarray of int64, optional
        Which is the nearest other person.
    """

    record: NDArray[np.float64]
    row: NDArray[np.int64]
    person: NDArray[np.float64]
    second: NDArray[np.float64]

    rounding: float
    step: float = 0.0
    person_row: NDArray[np.int64] | None = None

    def limits(self, ratio: float) -> NDArray[np.float64]:
        """Return how near a lookalike of each person must be."""
        nearest = np.where(np.isfinite(self.person), self.person, 0.0)
        return ratio * nearest - self.rounding - self.step

    def found(self, ratio: float) -> NDArray[np.bool_]:
        """Return who has a lookalike: a synthetic record much nearer than the next person."""
        return self.record < self.limits(ratio)

    def paired(self, ratio: float) -> NDArray[np.bool_]:
        """Return for whom the next person is as near, beside the second nearest."""
        return self.person < ratio * self.second - self.rounding
