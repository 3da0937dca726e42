"""Success rates of attacks, and the risk that is left when patterns are taken off.

The form is that of Giomi et al. (2023), so that figures can be compared with their tool's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.intervals import wilson_interval

Interval = tuple[float, float]
_ROUNDING = 1e-9
EXCHANGES = 499
"""How often members and control records change places for the test of their difference."""


@dataclass(frozen=True)
class Rate:
    """The share of attacks that succeed.

    Parameters
    ----------
    hits : float
        How many succeed; not always a whole number, for it can be an expected one.
    attacks : int
        How many there are.
    value : float
        Their ratio; nan without attacks.
    interval : (float, float)
        The Wilson interval of it.
    """

    hits: float
    attacks: int
    value: float
    interval: Interval

    @classmethod
    def of(cls, hits: float, attacks: int, confidence: float = 0.95) -> Rate:
        """Return the rate with its interval.

        Examples
        --------
        >>> Rate.of(8, 10).value
        0.8
        """
        value = hits / attacks if attacks else math.nan
        return cls(hits, attacks, value, wilson_interval(hits, attacks, confidence))


def residual_risk(attack: Rate, control: Rate | None) -> tuple[float, Interval]:
    """Return the attack's success beyond that on control records, as a share of what is left.

    Without control records it is the attack's success itself.

    Notes
    -----
    With the centres of the Wilson intervals as rates ``a`` and ``c``, and half their widths as
    errors, the risk is ``(a - c) / (1 - c)``; its error is propagated to the first order, and all
    is cut off at 0 and 1. The error is that of the number of attacks alone: it takes the people as
    given.

    References
    ----------
    .. [1] Giomi, M., Boenisch, F., Wehmeyer, C., Tasnádi, B. (2023). A unified framework for
       quantifying privacy risk in synthetic data. Proceedings on Privacy Enhancing Technologies
       2023(2), doi:10.56553/popets-2023-0055

    Examples
    --------
    >>> risk, (low, high) = residual_risk(Rate.of(600, 1000), Rate.of(200, 1000))
    >>> round(risk, 3), round(low, 3), round(high, 3)
    (0.499, 0.458, 0.54)
    """
    rate, error = _centre(attack)
    if control is None or math.isnan(control.value):
        return _within(rate, error)
    other, other_error = _centre(control)
    left = 1 - other
    risk = (rate - other) / left
    return _within(risk, math.hypot(error / left, other_error * (1 - rate) / left**2))


def _centre(rate: Rate) -> tuple[float, float]:
    low, high = rate.interval
    return (low + high) / 2, (high - low) / 2


def _within(value: float, error: float) -> tuple[float, Interval]:
    def cut(number: float) -> float:
        return number if math.isnan(number) else min(max(number, 0.0), 1.0)

    return cut(value), (cut(value - error), cut(value + error))


def exchange_p_value(found: float, exchanged: NDArray[np.float64]) -> float:
    """Return how often a difference is at least as large when who is who is drawn at random.

    What was found counts as one of them, so that the p-value is never 0 and never too small.

    Examples
    --------
    >>> exchange_p_value(2.0, np.array([0.0, 1.0, 2.0]))
    0.5
    """
    as_large = int((exchanged >= found - _ROUNDING).sum())
    return (1 + as_large) / (1 + len(exchanged))
