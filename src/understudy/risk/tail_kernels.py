"""The compiled sums behind tails of the hypergeometric distribution.

Coverage is not measured here, for it cannot see into compiled code: the test has a plain twin.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from understudy.counting.compiling import kernel


@kernel
def hypergeometric_tails(
    least: NDArray[np.int64],
    total: NDArray[np.int64],
    marked: NDArray[np.int64],
    drawn: NDArray[np.int64],
    order: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the tail from each of `least` on; `order` puts equal distributions side by side.

    Neighbouring probabilities have a simple ratio, so that all follow from the most probable one.
    They are added from the far end, where they are small.
    """
    found = np.empty(len(order))
    tails = np.empty(int(np.minimum(marked, drawn).max()) + 2 if len(order) else 0)
    before, first, last = -1, 0, 0
    for at in order:
        every, good, taken = total[at], marked[at], drawn[at]
        if before < 0 or every != total[before] or good != marked[before] or taken != drawn[before]:
            first, last = max(0, taken + good - every), min(good, taken)
            likeliest = min(max((good + 1) * (taken + 1) // (every + 2), first), last)
            tails[likeliest - first] = 1.0
            for k in range(likeliest, last):
                ratio = (good - k) * (taken - k) / ((k + 1.0) * (every - good - taken + k + 1))
                tails[k + 1 - first] = tails[k - first] * ratio
            for k in range(likeliest - 1, first - 1, -1):
                ratio = (good - k) * (taken - k) / ((k + 1.0) * (every - good - taken + k + 1))
                tails[k - first] = tails[k + 1 - first] / ratio
            tails[last + 1 - first] = 0.0
            for k in range(last - 1, first - 1, -1):
                tails[k - first] += tails[k + 1 - first]
            before = at
        place = min(max(least[at], first), last + 1)
        found[at] = tails[place - first] / tails[0]
    return found
