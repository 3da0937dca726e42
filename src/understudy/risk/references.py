"""What an attacker reaches without the release, and how sure a share of records is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from understudy.errors import ParameterError


class Baseline(float):
    """Guessing the sensitive attribute from its shares alone: as a number, by the zero rule.

    Parameters
    ----------
    zero_rule : float
        Share of right guesses of one who always says the most frequent value.
    proportional : float
        The same of one who guesses each value as often as it occurs: the sum of squared shares.

    Examples
    --------
    >>> baseline = Baseline.of(np.array([3, 1]))
    >>> baseline, baseline + 0.125
    (Baseline(zero_rule=0.75, proportional=0.625), 0.875)
    """

    proportional: float

    def __new__(cls, zero_rule: float, proportional: float) -> Self:
        """Make the number, with the other reference beside it."""
        made = super().__new__(cls, zero_rule)
        made.proportional = proportional
        return made

    @classmethod
    def of(cls, counts: NDArray[np.int64]) -> Self:
        """Return the baseline for the counts of a column's values; nan if there are none."""
        total = int(counts.sum())
        if not total:
            return cls(math.nan, math.nan)
        squares = int((counts.astype(object) ** 2).sum())
        return cls(int(counts.max()) / total, squares / total**2)

    @classmethod
    def mean(cls, baselines: Sequence[Baseline]) -> Self:
        """Return the mean of several baselines; those that are undefined are left out."""
        defined = [one for one in baselines if not math.isnan(one)]
        if not defined:
            return cls(math.nan, math.nan)
        zero_rules = math.fsum(one.zero_rule for one in defined)
        proportional = math.fsum(one.proportional for one in defined)
        return cls(zero_rules / len(defined), proportional / len(defined))

    @property
    def zero_rule(self) -> float:
        """Share of right guesses of one who always says the most frequent value."""
        return float(self)

    def to_dict(self) -> dict[str, float | None]:
        """Return both references as plain values, with None for nan."""
        both = {"zero_rule": self.zero_rule, "proportional": self.proportional}
        return {name: None if math.isnan(value) else value for name, value in both.items()}

    def __repr__(self) -> str:
        return f"Baseline(zero_rule={self.zero_rule!r}, proportional={self.proportional!r})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Baseline) and self.proportional != other.proportional:
            return False
        return float(self) == other

    def __hash__(self) -> int:
        return super().__hash__()

    def __reduce__(self) -> tuple[type[Self], tuple[float, float]]:
        return type(self), (self.zero_rule, self.proportional)


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
        raise ParameterError(f"confidence lies between 0 and 1; got {confidence!r}.")
    if total == 0 or math.isnan(hits):
        return math.nan, math.nan
    # Hits may be a mean times a number of records, and rounding may put it beyond.
    if total < 0 or not -1e-9 * total <= hits <= total * (1 + 1e-9):
        raise ParameterError(f"hits lie between 0 and total; got {hits!r} of {total!r}.")
    from statistics import NormalDist

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
