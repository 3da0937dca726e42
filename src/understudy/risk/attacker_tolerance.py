"""When a guess of a number is right, and how often one who knows nothing is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.errors import ParameterError
from understudy.risk.references import Baseline

Numbers = NDArray[np.float64]

# A limit that is hit exactly in decimals may be missed by the last bits: 0.8 - 0.1 > 0.7.
_LAST_BITS = 8 * np.finfo(np.float64).eps


def _is_size(value: object) -> bool:
    return (
        isinstance(value, int | float | np.integer | np.floating)
        and not isinstance(value, bool)
        and bool(0 <= value < np.inf)
    )


@dataclass(frozen=True)
class Tolerance:
    """How far from the truth a guess may be; the limits themselves count as right.

    Parameters
    ----------
    size : float
        The largest difference that is right.
    relative : bool
        Whether that is a share of the true number's size, rather than the same for all.

    Examples
    --------
    >>> Tolerance(10).right(np.array([110.0, 111.0]), np.array([100.0, 100.0])).tolist()
    [True, False]
    """

    size: float
    relative: bool = False

    @classmethod
    def of(cls, tolerance: float | None, relative_tolerance: float | None) -> Tolerance | None:
        """Return the tolerance that a user asked for, or None."""
        named = {"tolerance": tolerance, "relative_tolerance": relative_tolerance}
        given = {name: value for name, value in named.items() if value is not None}
        if not given:
            return None
        if len(given) == 2:
            raise ParameterError("Give either tolerance or relative_tolerance, not both.")
        ((name, value),) = given.items()
        if not _is_size(value):
            raise ParameterError(f"{name} is a number from 0; got {value!r}.")
        return cls(float(value), name == "relative_tolerance")

    def limits(self, truths: Numbers) -> tuple[Numbers, Numbers]:
        """Return the smallest and the largest right guess for each true number."""
        reach = self.size * np.abs(truths) if self.relative else np.full(len(truths), self.size)
        if self.size:
            reach = reach + _LAST_BITS * np.maximum(np.abs(truths), reach)
        return truths - reach, truths + reach

    def right(self, guesses: Numbers, truths: Numbers) -> NDArray[np.bool_]:
        """Tell which guesses are right."""
        low, high = self.limits(truths)
        return (low <= guesses) & (guesses <= high)

    def baseline(self, truths: Numbers) -> Baseline:
        """Return how often the best constant guess, and a guess drawn from `truths`, is right.

        Each true number has an interval of right guesses. The best constant lies where the most
        of them overlap, and such a place is the lower end of one of them.

        Examples
        --------
        >>> Tolerance(1).baseline(np.array([1.0, 2.0, 3.0, 9.0]))  # 2 is within 1 of three numbers
        Baseline(zero_rule=0.75, proportional=0.5)
        """
        low, high = (np.sort(limit) for limit in self.limits(truths))
        hits = [
            np.searchsorted(low, guesses, side="right") - np.searchsorted(high, guesses)
            for guesses in (low, truths)
        ]
        total = len(truths)
        return Baseline(int(hits[0].max()) / total, int(hits[1].sum()) / total**2)
