"""Sums over the values that a noisy count may have, compiled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from understudy.counting.compiling import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


_NEGLIGIBLE = 50.0
"""A term that is so many nats below the largest cannot be seen in a sum of float64."""


@kernel
def log_sums(
    logs: NDArray[np.float64], first: float, rates: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the log of the sum of exp(logs[i] - rate * (first + i)) for each of ascending rates.

    `logs` must be concave, as those of a log-concave law times a power are. So the terms of a rate
    rise to the largest and then fall, and the larger the rate, the earlier the largest comes.
    """
    found = np.empty(len(rates))
    peak = len(logs) - 1
    for place, rate in enumerate(rates):
        while peak > 0 and logs[peak - 1] + rate >= logs[peak]:
            peak -= 1
        largest = logs[peak] - rate * (first + peak)
        total = 1.0
        for step in (-1, 1):
            own = peak + step
            while 0 <= own < len(logs):
                below = logs[own] - rate * (first + own) - largest
                if below < -_NEGLIGIBLE:
                    break
                total += math.exp(below)
                own += step
        found[place] = largest + math.log(total)
    return found
