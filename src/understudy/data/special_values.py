"""Numbers with a meaning of their own among the others: 0 for none, -8 or 99 for no answer.

Repetition alone does not make a number special. It must stand apart from the others, or occur many
times as often as the numbers beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

SPIKE = 4
"""A number that occurs so many times as often as its neighbours is no part of their law."""

FEWEST_CODED = 5
"""Records that a code such as 99 needs if it is rarer than the share that makes numbers special."""

MOST_APART = 4
"""At most so many different numbers together stand apart at one end of a column."""

_NEIGHBOURS = 3
_AROUND = 10
"""Numbers on each side that tell how often chance alone repeats one."""
_CHANCE = 0.01
"""How rarely, at most, a column without any spike has one."""
_NEAR = 10
_FAR = 3
"""How many times the usual distance from one number to the next a number lies away, at least."""

CODES = frozenset(
    [sign * code for sign in (1, -1) for nines in (99, 999, 9999) for code in (nines, nines - 1)]
    + [sign * code for sign in (1, -1) for code in (77, 88, 97, 777, 888, 997, 7777, 8888, 9997)]
    + [-1, -2, -3, -4, -5, -6, -7, -8, -9]
)
"""Numbers that surveys use for no answer, refused, does not apply and the like."""


def special_values(
    values: NDArray[Any],
    counts: NDArray[np.int64],
    rows: int,
    share: float,
    *,
    coded: bool = True,
    spikes: bool = True,
) -> NDArray[np.bool_]:
    """Return which of a column's distinct numbers have a meaning of their own.

    Parameters
    ----------
    values : ndarray
        The distinct numbers, in increasing order.
    counts : ndarray
        How many records have each.
    rows : int
        All records of the column.
    share : float
        A number of more than this share of the records is special if it stands apart or is a spike;
        1 for none. Codes that surveys use need fewer records, but must stand apart.
    coded : bool
        Whether such codes are looked for: not among dates.
    spikes : bool
        Whether a number may be special by its frequency alone.

    Examples
    --------
    >>> numbers, times = np.array([-8, *range(1, 28)]), np.array([9, *[1] * 27])
    >>> numbers[special_values(numbers, times, 36, 0.05)].tolist()
    [-8]
    >>> numbers, times = np.arange(-6, 30), np.array([8] * 6 + [2] * 30)  # all in one row
    >>> special_values(numbers, times, 108, 0.05).any()
    np.False_
    """
    found = np.zeros(len(values), bool)
    if share >= 1 or len(values) < 3:
        return found
    often = counts > share * rows
    known = np.isin(values, list(CODES)) & (counts >= FEWEST_CODED) if coded else found
    if not (often.any() or known.any()):
        return found
    spread = values.astype(np.float64)
    apart = _apart(spread, often | known)
    if coded:
        apart |= _of_other_sign(spread, often)
    apart &= often | known
    return apart | (often & _is_spike(counts, often)) if spikes else apart


def _apart(values: NDArray[np.float64], candidates: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the candidates at both ends that a gap divides from all other numbers.

    The gap is long against the distances between the numbers that follow it, and all numbers
    beyond it are candidates.
    """
    found = np.zeros(len(values), bool)
    for turned in (False, True):
        ordered = -values[::-1] if turned else values
        asked = candidates[::-1] if turned else candidates
        gaps = np.diff(ordered)
        for place in range(min(MOST_APART, len(gaps) - 1)):
            if not asked[place]:
                break
            near = gaps[place + 1 : place + 1 + _NEAR]
            # The tail of a law has long gaps as well: the longest nearby counts, too.
            if gaps[place] >= _FAR * np.median(near) and gaps[place] > near.max():
                beyond = slice(0, place + 1)
                found[::-1][beyond] |= turned
                found[beyond] |= not turned
    return found


def _of_other_sign(values: NDArray[np.float64], often: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return frequent negative numbers, if a column of other than negative ones has a few."""
    negative = values < 0
    few = 0 < np.count_nonzero(negative) <= MOST_APART and not np.any(negative & ~often)
    beyond = values[negative].max() < -1 if few else False
    return negative & bool(few and beyond)


def _is_spike(counts: NDArray[np.int64], often: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the frequent numbers that occur many times as often as those on both sides.

    In a short column, chance alone repeats some number a few times: that is no spike.
    """
    from scipy.special import bdtrc

    found = np.zeros(len(counts), bool)
    for place in np.flatnonzero(often):
        near, around = (_beside(counts, int(place), reach) for reach in (_NEIGHBOURS, _AROUND))
        if counts[place] >= SPIKE * np.median(near):
            together = counts[place] + around.sum()
            chance = bdtrc(counts[place] - 1, together, 1 / (len(around) + 1))
            found[place] = chance * len(counts) <= _CHANCE
    return found


def _beside(counts: NDArray[np.int64], place: int, reach: int) -> NDArray[np.int64]:
    """Return the counts of the numbers on both sides of one."""
    below, above = counts[max(place - reach, 0) : place], counts[place + 1 : place + 1 + reach]
    return np.concatenate([below, above])
