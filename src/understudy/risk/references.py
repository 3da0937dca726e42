"""What an attacker reaches without the release, and how sure a share of records is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.errors import ParameterError


@dataclass(frozen=True)
class Baseline:
    """Guessing the sensitive attribute from its shares alone.

    Parameters
    ----------
    zero_rule : float
        Share of right guesses of one who always says the most frequent value.
    proportional : float
        The same of one who guesses each value as often as it occurs: the sum of squared shares.
    """

    zero_rule: float
    proportional: float

    @classmethod
    def of(cls, counts: NDArray[np.int64]) -> Baseline:
        """Return the baseline for the counts of a column's values.

        Examples
        --------
        >>> Baseline.of(np.array([3, 1]))
        Baseline(zero_rule=0.75, proportional=0.625)
        """
        total = int(counts.sum())
        squares = int((counts.astype(object) ** 2).sum()) if total else 0
        if not total:
            return cls(math.nan, math.nan)
        return cls(int(counts.max()) / total, squares / total**2)


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
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence lies between 0 and 1; got {confidence!r}.")
    if total == 0 or math.isnan(hits):
        return math.nan, math.nan
    from statistics import NormalDist

    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = hits / total
    centre = share + z**2 / (2 * total)
    spread = z * math.sqrt(share * (1 - share) / total + z**2 / (4 * total**2))
    scale = 1 + z**2 / total
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
