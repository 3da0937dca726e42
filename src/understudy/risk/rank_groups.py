"""Numbers in groups of about the same number of records, by their codes in rising order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]


def rank_limits(codes: NDArray[np.integer], groups: int) -> Codes:
    """Return the last code of each group but the last; equal ones are one.

    Examples
    --------
    >>> rank_limits(np.array([0, 1, 2, 3, 4, 5]), 3).tolist()
    [1, 3]
    """
    shares = np.arange(1, groups) / groups
    return np.unique(np.quantile(codes, shares, method="inverted_cdf")).astype(np.int64)


def rank_groups(codes: NDArray[np.integer], missing: NDArray[np.bool_], groups: int) -> Codes:
    """Put codes into groups; those that are `missing` are a group of their own.

    Examples
    --------
    >>> rank_groups(np.array([0, 9, 9, 9, 5]), np.array([False] * 4 + [True]), 2).tolist()
    [0, 0, 0, 0, 2]
    """
    if missing.all():
        return np.zeros(len(codes), np.int64)
    limits = rank_limits(codes[~missing], groups)
    found = np.searchsorted(limits, codes, side="left").astype(np.int64)
    return np.where(missing, len(limits) + 1, found)
