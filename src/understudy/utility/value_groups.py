"""Columns as a few groups of records: levels, and numbers between limits that the release decides.

Limits come from the release, so that no label shows a value that only the original has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Codes
from understudy.data.groups import GROUPS, group_names, numbers_of, quantile_limits
from understudy.data.levels import Levels, in_words


@dataclass(frozen=True, eq=False)
class ValueGroups:
    """The groups of one column.

    Parameters
    ----------
    place : ndarray of int64
        The group of each level; `count` for those that are too rare to be looked at.
    count : int
        How many groups there are.
    levels : Levels
        What they are made from.
    limits : ndarray of float64 or None
        The lower limits of groups of numbers but the first; None where each level is a group.
    """

    place: NDArray[np.int64]
    count: int
    levels: Levels
    limits: NDArray[np.float64] | None

    def label(self, group: int) -> str:
        """Return a group in words."""
        own = np.flatnonzero(self.place == group)
        if self.limits is None or len(own) == 1:
            return self.levels.label(int(own[0]))
        names = group_names(self.limits.tolist(), self._limit, whole=self._whole())
        numbers = numbers_of(self.levels)
        assert numbers is not None  # noqa: S101  # limits are of numbers
        return names[int(np.searchsorted(self.limits, numbers[own[0]], side="right"))]

    def _whole(self) -> bool:
        numbers = numbers_of(self.levels)
        finite = numbers[np.isfinite(numbers)] if numbers is not None else np.zeros(0)
        return bool(np.all(np.floor(finite) == finite))

    def _limit(self, number: float) -> str:
        if self.levels.numbers is None:
            return self.levels.label(min(int(number), len(self.levels) - 1))
        return in_words(float(f"{number:.6g}"))


def value_groups(
    levels: Levels,
    original: Codes,
    release: Codes,
    numbers: NDArray[np.float64] | None,
    *,
    fewest: int,
    fewest_made: int = 0,
) -> ValueGroups:
    """Return the groups of a column that enough records have.

    Parameters
    ----------
    levels : Levels
        What codes stand for.
    original, release : ndarray
        The codes of both tables.
    numbers : ndarray of float64 or None
        The numbers of a column that is grouped, NaN for codes, which are groups of their own;
        None to take each level by itself.
    fewest, fewest_made : int
        Groups that fewer records of the original, or of the release, have are not looked at.

    Examples
    --------
    >>> levels = Levels(("a", "b", "c"), None, None)
    >>> found = value_groups(levels, np.array([0, 0, 1]), np.array([0, 1, 2]), None, fewest=1)
    >>> found.place.tolist(), found.count, found.label(1)
    ([0, 1, 2], 2, 'b')
    """
    place = np.arange(len(levels))
    limits = None
    if numbers is not None:
        places = numbers_of(levels)
        assert places is not None  # noqa: S101  # it holds numbers or times
        known = ~np.isnan(numbers)
        counts = np.bincount(release, minlength=len(levels)) * known
        if np.count_nonzero(counts) > GROUPS:
            limits = quantile_limits(np.repeat(places, counts), GROUPS)
            if bool(np.all(np.floor(places[known]) == places[known])):
                limits = np.unique(np.ceil(limits))
            grouped = np.searchsorted(limits, places, side="right")
            place = np.where(known, grouped, len(limits) + 1 + np.arange(len(levels)))
    size = int(place.max(initial=0)) + 1
    held, made = (np.bincount(place[codes], minlength=size) for codes in (original, release))
    enough = (held >= fewest) & (made >= fewest_made)
    count = int(enough.sum())
    final = np.where(enough, np.cumsum(enough) - 1, count)[place]
    return ValueGroups(final.astype(np.int64), count, levels, limits)
