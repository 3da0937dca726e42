"""Lower bounds on epsilon, from what was drawn: wrong with at most a chosen probability."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from understudy.intervals import exact_limits

_HEIGHTS = 8
"""How many limits of the loss are tried: the error is divided by it."""


def epsilon_of_event(one: int, other: int, runs: int, *, delta: float, error: float) -> float:
    """Return the epsilon that an event proves, which happened so often in each of two worlds.

    If (epsilon, delta) holds, its probability in the first world is at most exp(epsilon) times that
    in the second, plus delta.

    Parameters
    ----------
    one, other : int
        How often it happened in each world.
    runs : int
        Of so many runs in each.
    delta, error : float
        The delta that is claimed, and the probability with which the bound may be wrong.

    Examples
    --------
    >>> round(epsilon_of_event(900, 100, 1000, delta=0, error=0.05), 3)  # log 9 is 2.197
    1.99
    >>> epsilon_of_event(100, 100, 1000, delta=0, error=0.05)
    0.0
    """
    low, high = exact_limits(one, runs, error / 2)[0], exact_limits(other, runs, error / 2)[1]
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0


def epsilon_of_losses(losses: NDArray[np.float64], *, delta: float, error: float) -> float:
    """Return the epsilon that exact losses of drawn releases prove, at a delta.

    Parameters
    ----------
    losses : ndarray
        The log of how much more probable each release is in the world that it was drawn in.
    delta, error : float
        The delta that is claimed, and the probability with which the bound may be wrong.

    Notes
    -----
    The event that the loss exceeds h has probability p in one world and at most exp(-h) p in the
    other. So delta is at least p (1 - exp(epsilon - h)), and epsilon at least h + log(1 - delta /
    p). With p there is its Clopper-Pearson limit, for a few h that are fixed before: quantiles of
    the first half of the losses, tested on the second.
    """
    half = len(losses) // 2
    if not half:
        return 0.0
    first, second = losses[:half], losses[half:]
    shares = 1 - np.geomspace(1 / half, 0.5, _HEIGHTS)
    found = 0.0
    for height in np.unique(np.quantile(first, shares, method="lower")):
        hits = int(np.count_nonzero(second >= height))
        low = exact_limits(hits, len(second), error / _HEIGHTS)[0]
        if low > delta and height > 0:
            found = max(found, float(height) + math.log1p(-delta / low))
    return found
