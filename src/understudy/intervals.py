"""How sure a share of records is."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from understudy.errors import ParameterError


def wilson_interval(hits: float, total: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson interval for a share; nan if there is nothing to count.

    References
    ----------
    .. [1] Wilson (1927). Probable inference, the law of succession, and statistical inference.
       Journal of the American Statistical Association 22, doi:10.1080/01621459.1927.10502953

    Examples
    --------
    >>> low, high = wilson_interval(8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    if not isinstance(confidence, float | np.floating) or not 0 < confidence < 1:
        raise ParameterError(f"confidence must lie between 0 and 1; got {confidence!r}.")
    if total == 0 or math.isnan(hits):
        return math.nan, math.nan
    # Hits may be a mean times a number of records, and rounding may put it beyond.
    if total < 0 or not -1e-9 * total <= hits <= total * (1 + 1e-9):
        raise ParameterError(f"hits must lie between 0 and total; got {hits!r} of {total!r}.")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = min(max(hits / total, 0.0), 1.0)
    centre = share + z**2 / (2 * total)
    spread = z * math.sqrt(share * (1 - share) / total + z**2 / (4 * total**2))
    scale = 1 + z**2 / total
    # At 0 and 1, one limit is the share itself, and rounding may put it beyond.
    return (
        max(0.0, min(share, (centre - spread) / scale)),
        min(1.0, max(share, (centre + spread) / scale)),
    )


def exact_limits(hits: int, total: int, error: float) -> tuple[float, float]:
    """Return limits of a probability, each of which is wrong with at most the given probability.

    References
    ----------
    .. [1] Clopper, Pearson (1934). The use of confidence or fiducial limits illustrated in the case
       of the binomial. Biometrika 26, doi:10.1093/biomet/26.4.404

    Examples
    --------
    >>> low, high = exact_limits(0, 100, 0.05)  # (1 - high)^100 = 0.05
    >>> low, round(high, 5)
    (0.0, 0.02951)
    """
    from scipy.special import betaincinv

    low = float(betaincinv(hits, total - hits + 1, error)) if hits else 0.0
    high = float(betaincinv(hits + 1, total - hits, 1 - error)) if hits < total else 1.0
    return low, high
