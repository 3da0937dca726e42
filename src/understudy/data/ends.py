"""The lowest and the highest number of a column, so that each rests on several records.

The largest income is a person's income. Statistical offices replace the values above a limit by
their mean before they release a file; the same is done here, at both ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from understudy.data.bins import Grid, Numeric

Number = int | float
Side = Literal[-1, 1]

FEWEST_AT_ENDS = 5
"""Records that an end rests on, unless a user says otherwise."""

_MOST_TIMES = 10


@dataclass(frozen=True, eq=False)
class Ends:
    """The numbers of a column with its ends folded.

    Parameters
    ----------
    values : ndarray
        All numbers that are left, increasing; none if there were too few records.
    bottom : int or float, optional
        Numbers up to this one are now the first of `values`. None if the end is as it was.
    top : int or float, optional
        Numbers from this one on are now the last of `values`. None if the end is as it was.
    """

    values: Numeric
    bottom: Number | None = None
    top: Number | None = None


def fold_ends(
    values: Numeric,
    counts: NDArray[np.int64],
    least: int,
    grid: Grid,
    *,
    special: Numeric | None = None,
    listed: bool = False,
) -> Ends:
    """Replace the few lowest and the few highest numbers of a column by one number each.

    Parameters
    ----------
    values : ndarray
        The finite numbers of the column, increasing.
    counts : ndarray of int64
        Records with each of them.
    least : int
        Records that each end must rest on, at least; with 1, everything stays as it is.
    grid : Grid
        The numbers that the column can hold.
    special : ndarray, optional
        Numbers that an end must not become.
    listed : bool
        Whether `values` are all that the column can hold, so that an end is one of them.

    Notes
    -----
    The records of an end are those with the most extreme values, as many values as hold `least`
    records. There are four cases.

    - The most extreme value has `least` records by itself: nothing changes.
    - The innermost value of the end has `least` records by itself: the others, fewer than `least`,
      take this value.
    - Otherwise all records of the end, fewer than twice `least`, take their mean, rounded inwards.
      In the mean no record is further from the innermost value than ten times what all but the two
      furthest are together. This is the p% rule with p = 10 [1]_: without it, who sees that one
      value dwarfs the others would know it from the mean.
    - The two ends overlap: they hold all records but those of a single value. Then all of them take
      the median.

    With fewer records than `least` there is no number that could be shown, and none is left.

    References
    ----------
    .. [1] Hundepool et al. (2012). Statistical Disclosure Control. Wiley, section 4.2,
       doi:10.1002/9781118348239

    Examples
    --------
    >>> from understudy.data.bins import WholeGrid
    >>> ages = np.array([18, 40, 84, 85, 87, 90, 99])
    >>> fold_ends(ages, np.array([6, 9, 1, 1, 1, 1, 1]), 5, WholeGrid()).values  # 445 / 5
    array([18, 40, 89])
    """
    seen = np.flatnonzero(counts)
    if least == 1 or not len(seen):
        return Ends(values)
    below = np.cumsum(counts[seen])
    records = int(below[-1])
    if records < least:
        return Ends(values[:0])
    # The innermost values of both ends, among those that occur.
    low = int(np.searchsorted(below, least))
    high = int(np.searchsorted(below, records - least, side="right"))
    folds = _Folds(values, counts, least, grid, values[:0] if special is None else special, listed)
    if low >= high and len(seen) > 1:
        one = folds.median()
        return Ends(np.array([one], values.dtype), one, one)
    kept, bottom, top = values, None, None
    if high < len(seen) - 1:
        top = values[seen[high]].item()
        kept = np.append(kept[kept < top], folds.end(seen[high:], 1))
    if low > 0:
        bottom = values[seen[low]].item()
        kept = np.append(folds.end(seen[: low + 1], -1), kept[kept > bottom])
    return Ends(kept, bottom, top)


@dataclass(frozen=True, eq=False)
class _Folds:
    """What numbers are folded into; the fields are the arguments of `fold_ends`."""

    values: Numeric
    counts: NDArray[np.int64]
    least: int
    grid: Grid
    special: Numeric
    listed: bool

    def end(self, places: NDArray[np.intp], side: Side) -> Number:
        """Return the number of the lower (-1) or the upper (1) end, whose values are given."""
        outwards = places[::side]
        inner: Number = self.values[outwards[0]].item()
        if self.counts[outwards[0]] >= self.least:
            return inner
        group = np.repeat(self.values[outwards], self.counts[outwards]).tolist()
        mean = side * _mean([side * value for value in group])
        found = self._inwards(mean, side)
        # A mean between two neighbouring floats may be rounded to one of them.
        return inner if side * found <= side * inner or found == group[-1] else found

    def median(self) -> Number:
        """Return the median of all records, rounded down."""
        below = np.cumsum(self.counts)
        records = int(below[-1])
        middle = np.searchsorted(below, [(records - 1) // 2, records // 2], side="right")
        low: Number
        high: Number
        low, high = self.values[middle].tolist()
        whole = self.values.dtype.kind == "i"
        found = self._inwards((low + high) // 2 if whole else low / 2 + high / 2, 1)
        return max(found, low)

    def _inwards(self, number: Number, side: Side) -> Number:
        """Return the next number towards the middle that the column can hold."""
        if self.listed:
            place = np.searchsorted(self.values, number, side="right" if side == 1 else "left")
            listed: Number = self.values[place - (side == 1)].item()
            return listed
        rounded = self.grid.at_most if side == 1 else self.grid.at_least
        near = rounded(np.array([number], self.values.dtype))
        for _ in self.special:
            if np.isin(near, self.special).any():
                near = self.grid.step_from(near, -1 if side == 1 else 1)
        found: Number = near.item()
        return found


def _mean(group: Sequence[Number]) -> Number:
    """Return the mean of an upper end's records, rounded down if they are whole numbers.

    `group` begins with the smallest. Distances from it are counted up to ten times the sum of all
    but the two largest.

    Examples
    --------
    >>> _mean([10, 11, 12, 13, 14]), _mean([10, 10, 11, 30, 1_000_000])  # (0+0+1+10+10) / 5 = 4.2
    (12, 14)
    """
    inner = group[0]
    most = inner + _MOST_TIMES * sum(value - inner for value in group[:-2])
    counted = [min(value, most) for value in group]
    if isinstance(inner, int):
        return int(sum(counted) // len(group))
    # Divided first, since the sum of huge numbers could overflow.
    return math.fsum(value / len(group) for value in counted)
