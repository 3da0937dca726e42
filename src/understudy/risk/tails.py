"""How far out a count is: the tails of distributions, in terms of `scipy.special`.

`scipy.stats` has them too, but loading it takes as long as an attack on a small table. Even
`scipy.special` is loaded when it is first needed, so that a mistyped name is answered at once.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Chances = NDArray[np.float64]


def normal_tail(score: float) -> float:
    """Return how often a standard normal number is above this one.

    Examples
    --------
    >>> normal_tail(0.0)
    0.5
    """
    from scipy.special import ndtr

    return float(ndtr(-score))


def poisson_tail(least: float, mean: float) -> float:
    """Return how often a Poisson number with this mean is at least so large.

    Examples
    --------
    >>> round(poisson_tail(1, 2.0), 6)  # 1 - exp(-2)
    0.864665
    """
    from scipy.special import pdtrc

    return float(pdtrc(least - 1, mean)) if least > 0 else 1.0


def poisson_limit(level: float, mean: float) -> float:
    """Return the least number that a Poisson number exceeds with at most this probability.

    Examples
    --------
    >>> poisson_limit(0.05, 2.0)  # 5 or more come with 5.3%, 6 or more with 1.7%
    5.0
    """
    from scipy.special import pdtr, pdtrik

    share = 1 - level
    found = math.ceil(pdtrik(share, mean))
    below = max(found - 1, 0)
    return float(below if pdtr(below, mean) >= share else found)


def even_tail(least: int, trials: int) -> float:
    """Return how often a fair coin falls on one side at least so often.

    Examples
    --------
    >>> even_tail(3, 3)
    0.125
    """
    from scipy.special import betainc

    return float(betainc(least, trials - least + 1, 0.5)) if least > 0 else 1.0


def hypergeometric_tail(
    least: ArrayLike, total: ArrayLike, marked: ArrayLike, drawn: ArrayLike
) -> Chances:
    """Return how often at least so many of the marked are drawn, without putting any back.

    Parameters
    ----------
    least : array of int
        So many marked, or more.
    total, marked, drawn : array of int
        How many there are, how many of them are marked, and how many are drawn.

    Notes
    -----
    Each distribution is computed once.

    Examples
    --------
    >>> hypergeometric_tail([1, 0, 2], 4, 1, 2).tolist()
    [0.5, 1.0, 0.0]
    """
    from understudy.risk.tail_kernels import hypergeometric_tails

    counts = np.broadcast_arrays(least, total, marked, drawn)
    reached, every, good, taken = (np.array(held, np.int64).ravel() for held in counts)
    order = np.lexsort([every, good, taken])
    found = hypergeometric_tails(reached, every, good, taken, order)
    return np.asarray(found).reshape(counts[0].shape)
