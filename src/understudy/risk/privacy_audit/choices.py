"""How probable a noisy choice among scores is, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from understudy.privacy.ledger import Mechanism

_MOST_NODES = 400


def log_chance(
    mechanism: Mechanism, scores: NDArray[np.float64], scale: float, chosen: int
) -> float:
    """Return the log probability that a candidate is chosen.

    Parameters
    ----------
    mechanism : {"exponential", "permute and flip"}
        The largest score after Gumbel noise, or after exponential noise.
    scores : ndarray
        How good each candidate is.
    scale : float
        The scale of the noise.
    chosen : int
        The place of the candidate.

    Notes
    -----
    With Gumbel noise it is the softmax of scores over scale. With exponential noise (permute and
    flip), a candidate wins at the height x with density exp(-(x - q_r) / s) / s, if all others stay
    below, and x is at least the largest score. With y = exp(-(x - max q) / s) and w_j = exp((q_j -
    max q) / s) that is w_r times the integral of prod_(j != r) (1 - w_j y) over y from 0 to 1: a
    polynomial, for which the Gauss-Legendre rule is exact.

    Examples
    --------
    >>> round(float(np.exp(log_chance("permute and flip", np.array([0.0, 0.0]), 1.0, 0))), 12)
    0.5
    """
    shares = (scores - scores.max()) / scale
    if mechanism == "exponential":
        return float(shares[chosen] - logsumexp(shares))
    others = np.exp(np.delete(shares, chosen))
    places, weights = np.polynomial.legendre.leggauss(min(len(scores) // 2 + 1, _MOST_NODES))
    points = (places + 1) / 2
    with np.errstate(divide="ignore"):
        logs = np.log1p(-np.multiply.outer(points, others)).sum(axis=1)
    return float(shares[chosen] + logsumexp(logs, b=weights / 2))
