"""Releases whose records repeat each other: they count as fewer."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from understudy.learning.mixed_distance import PlacedTable

FEWER_DIFFERENT, FEWEST_RECORDS = 0.8, 100
"""If a release of so many records has fewer than this share of as many different ones as the
original has among as many, they repeat each other."""


def without_surplus(
    original: PlacedTable, synthetic: PlacedTable, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the rows of the releases that are looked at: all, unless many repeat each other.

    Ten people in 500 rows each are no more fresh people than ten. So if there are clearly fewer
    different records than the original has among as many, so many of the repetitions are left out
    that the share of different ones is the original's.
    """
    if synthetic.rows < FEWEST_RECORDS:
        return np.arange(synthetic.rows)
    ours, theirs = _marks(original), _marks(synthetic)
    compared = min(original.rows, synthetic.rows)
    different = len(np.unique(rng.permutation(ours)[:compared])) / compared
    _, first = np.unique(theirs, return_index=True)
    if len(first) >= FEWER_DIFFERENT * different * compared:
        return np.arange(synthetic.rows)
    kept = min(synthetic.rows, math.ceil(len(first) / different))
    others = np.setdiff1d(np.arange(synthetic.rows), first)
    return np.sort(np.concatenate([first, rng.permutation(others)[: kept - len(first)]]))


def _marks(table: PlacedTable) -> NDArray[np.uint64]:
    """Return a number for each record, the same for equal ones."""
    weights = np.random.default_rng(0).integers(1, 2**63, len(table.columns), dtype=np.uint64)
    marks = np.zeros(table.rows, np.uint64)
    for weight, values in zip(weights, table.values, strict=True):
        # A product alone would make differences of columns cancel each other.
        marks = (marks ^ (values.astype(np.int64).view(np.uint64) + np.uint64(1))) * (
            weight | np.uint64(1)
        )
    return marks
