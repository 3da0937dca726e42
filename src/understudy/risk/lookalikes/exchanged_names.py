"""Whether numbers stand under each other's names in a release, as their relations tell.

If "age" holds the incomes and "income" the ages, no record looks like a person's. But each column's
relations with the others are those of another column of the original.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from understudy.learning.mixed_distance import PlacedTable
from understudy.risk.renamed import rank_correlations

FEWEST = 4
"""Fewer columns have too few relations to be told apart by them."""
AS_NAMED, AS_FOUND = 0.5, 0.8
"""Names are right if the strengths of relations agree so well with the original's (as a correlation
over all pairs of columns), and others are better if theirs agree at least as well as the second."""
STRONG = 0.5
"""A release that has less of the relations, as a share of the original's, has lost them."""

Floats = NDArray[np.float64]


def exchanged_names(original: PlacedTable, released: PlacedTable) -> tuple[int, ...] | None:
    """Return for each number of the original which one of the release has its relations.

    None if they are where their names say, or cannot be told apart.

    Examples
    --------
    >>> import polars as pl
    >>> from understudy.learning.mixed_distance import place_together
    >>> rng = np.random.default_rng(1)
    >>> shares = np.array([0.2, 0.9, 0.5, 0.7, 0.35])
    >>> values = rng.normal(size=(500, 1)) * shares + 0.5 * rng.normal(size=(500, 5))
    >>> own, moved = (pl.DataFrame(values, schema=[*names]) for names in ("abcde", "cabed"))
    >>> exchanged_names(*place_together({"own": own, "release": moved}, own.columns).values())
    (2, 0, 1, 4, 3)
    >>> exchanged_names(*place_together({"own": own, "release": own}, own.columns).values()) is None
    True
    """
    if original.numeric < FEWEST:
        return None
    ours, theirs = (
        np.abs(rank_correlations(table.values[: table.numeric])) for table in (original, released)
    )
    pairs = ~np.eye(len(ours), dtype=bool)
    if theirs[pairs].sum() < STRONG * ours[pairs].sum():
        return None
    if _agreement(ours[pairs], theirs[pairs]) >= AS_NAMED:
        return None
    from scipy.optimize import linear_sum_assignment

    # Sorted, the relations of a column do not depend on what the others are called.
    own, other = (np.sort(table, axis=1) for table in (ours, theirs))
    apart = np.abs(own[:, None, :] - other[None, :, :]).sum(axis=2)
    _, found = linear_sum_assignment(apart)
    if _agreement(ours[pairs], theirs[np.ix_(found, found)][pairs]) < AS_FOUND:
        return None
    return tuple(found.tolist())


def _agreement(ours: Floats, theirs: Floats) -> float:
    """Return the correlation of two lists of strengths; 1 if either does not vary."""
    if ours.std() == 0 or theirs.std() == 0:
        return 1.0
    return float(np.corrcoef(ours, theirs)[0, 1])
