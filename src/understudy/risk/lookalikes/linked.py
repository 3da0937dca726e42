"""Which columns of a release still hang together as they do in the original.

If some columns were cut loose from the others, as by drawing or permuting them, a copy of the rest
does not look like one over all columns, and hardly over half of them if strangers agree in many.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from understudy.learning.mixed_distance import UNIT, PlacedTable

FEWEST = 4
"""So many columns at least make a group that is compared by itself."""
MOST_GROUPS = 2
PARTS = 5
"""Values of a column are put in so many parts: numbers by size, and the rarest labels in one."""
MOST_RECORDS = 2_000
"""Of more records, so many tell whether columns hang together."""
PLAIN = 40.0
"""A relation counts if its chi-squared is so much beyond what chance gives; see `KEPT`."""
KEPT = 0.4
"""A relation is kept if the release has more of it than this share of the original's. The plainness
makes the share of a relation that is lost 0 with a standard deviation of 0.16 at most, and that of
fresh people 1 with 0.22, so that either is taken for the other in fewer than 1% of the cases."""

Floats = NDArray[np.float64]
Values = NDArray[np.int32]


def linked_groups(original: PlacedTable, released: PlacedTable) -> list[tuple[str, ...]]:
    """Return groups of columns that hang together in both tables, the largest first.

    There are none if the release has the groups of the original. What hangs together is learnt
    from pairs of columns; a column that is plainly related to no other is in no group.

    Examples
    --------
    >>> import polars as pl
    >>> from understudy.learning.mixed_distance import place_together
    >>> rng = np.random.default_rng(1)
    >>> common = rng.normal(size=(400, 1))
    >>> own = pl.DataFrame(common + 0.5 * rng.normal(size=(400, 6)), schema=[*"abcdef"])
    >>> loose = own.with_columns(pl.col("b").shuffle(seed=1), pl.col("e").shuffle(seed=2))
    >>> linked_groups(*place_together({"original": own, "release": loose}, own.columns).values())
    [('a', 'c', 'd', 'f')]
    >>> linked_groups(*place_together({"original": own, "release": own}, own.columns).values())
    []
    """
    if len(original.columns) <= FEWEST:
        return []
    tables = [one.take(some_rows(one, MOST_RECORDS)) for one in (original, released)]
    parts = [
        _parts(ours, theirs, by_size=place < original.numeric)
        for place, (ours, theirs) in enumerate(zip(*(one.values for one in tables), strict=True))
    ]
    related, kept = _relations([ours for ours, _ in parts], [theirs for _, theirs in parts])
    before, after = _connected(related), _connected(kept)
    if len(np.unique(before)) == len(np.unique(after)):
        return []
    names = np.array(original.columns)
    groups = [tuple(names[after == group].tolist()) for group in np.unique(after)]
    return sorted((one for one in groups if len(one) >= FEWEST), key=len, reverse=True)[
        :MOST_GROUPS
    ]


def some_rows(table: PlacedTable, most: int) -> NDArray[np.int64]:
    """Return so many rows at most, from all of a table, which may have an order."""
    return np.unique(np.linspace(0, table.rows - 1, min(table.rows, most)).astype(np.int64))


def _parts(ours: Values, theirs: Values, *, by_size: bool) -> tuple[Floats, Floats]:
    """Return a column of zeros and ones for each part that the values of both tables fall in."""
    if by_size:
        sized = ours[ours >= -2 * UNIT]
        inner = np.arange(1, PARTS) / PARTS
        cuts = np.unique(np.quantile(sized, inner)) if len(sized) else np.empty(0)
        # What has no size is a part of its own.
        codes = [
            np.where(held < -2 * UNIT, 0, 1 + np.searchsorted(cuts, held, "right"))
            for held in (ours, theirs)
        ]
    else:
        labels, times = np.unique(ours, return_counts=True)
        frequent = np.sort(labels[np.argsort(-times, kind="stable")[: PARTS - 1]])
        codes = [
            np.where(np.isin(held, frequent), 1 + np.searchsorted(frequent, held), 0)
            for held in (ours, theirs)
        ]
    known = np.unique(codes[0])
    one, other = ((held[:, None] == known).astype(np.float64) for held in codes)
    return one, other


def _relations(
    ours: list[Floats], theirs: list[Floats]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which pairs of columns are related in the original, and which of them in both."""
    wide = [np.concatenate(tables, axis=1) for tables in (ours, theirs)]
    apart = [_beyond_chance(held) for held in wide]
    ends = np.cumsum([one.shape[1] for one in ours])
    starts, records = np.append(0, ends[:-1]), min(len(one) for one in wide)
    related = np.zeros((len(ours), len(ours)), bool)
    kept = related.copy()
    widths = ends - starts
    for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
        own, other = (held[start:end] for held in apart)
        size, both = (np.add.reduceat(held.sum(axis=0), starts) for held in (own**2, own * other))
        by_chance = (widths[place] - 1) * (widths - 1) / len(wide[0])
        related[place] = records * (size - by_chance) > PLAIN
        kept[place] = related[place] & (both > KEPT * (size - by_chance))
        related[place, place] = kept[place, place] = False
    return related, kept


def _connected(links: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return for each column the first of those that it hangs together with, over any others.

    Columns are few. What `scipy.sparse.csgraph` has for this takes longer to load than to compute.
    """
    reached = links | links.T | np.eye(len(links), dtype=bool)
    while True:
        steps = reached.astype(np.float32)
        further = steps @ steps > 0
        if (further == reached).all():
            return np.asarray(reached.argmax(axis=1), np.int64)
        reached = further


def _beyond_chance(parts: Floats) -> Floats:
    """Return by how much parts of columns meet more often than by chance, standardised.

    The sum of the squares over the cells of two columns is their chi-squared, per record.
    """
    shares = parts.mean(axis=0)
    expected = np.outer(shares, shares)
    apart: Floats = parts.T @ parts / len(parts) - expected
    return apart / np.sqrt(np.maximum(expected, 1e-12))
