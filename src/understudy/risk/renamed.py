"""Columns whose values have other names, scales or shares in a release than in the original.

A copy does not look like one in them: grams for kilograms, 1 for 2, women for men. What is compared
by equal values finds nothing there, so that it says nothing either.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from understudy.learning.mixed_distance import UNIT, PlacedTable

RENAMED = 0.5
"""If fewer of the values of a release are values of the original, they have other names."""
SHARED_BY = 10
"""So many people share a value on average in a column whose values can have other names: each
person's own name, number or date is new in any release."""
FEWEST = 20
"""Of fewer records, it cannot be told."""
OTHER_SHARES, OTHER_SIZES = 0.2, 0.1
"""If this share of a release's records would need another value to have the original's shares,
beyond what chance explains, the values may not mean the same. The second is the largest difference
of the shares below a number."""
_BY_CHANCE, _EXCHANGED = 1.5, 3.0
_HARDLY = 0.05
"""A correlation that says nothing about directions."""

Values = NDArray[np.integer]


def known_share(original: Values, released: Values) -> float:
    """Return the share of a release's records whose value the original has too, by codes.

    It is 1 for columns in which hardly two people share a value, and for a few records.

    Examples
    --------
    >>> known_share(np.repeat([0, 1], 20), np.repeat([1, 2], 10))
    0.5
    >>> known_share(np.arange(40), np.arange(40) + 50)
    1.0
    """
    known = np.unique(original)
    if len(known) * SHARED_BY > len(original) or len(released) < FEWEST:
        return 1.0
    return float(np.isin(released, known).mean())


def renamed_columns(original: PlacedTable, released: PlacedTable) -> list[str]:
    """Return columns whose values have other names in the release, or no size."""
    no_numbers = released.without_size - original.without_size > 1 - RENAMED
    return [
        name
        for place, name in enumerate(original.columns)
        if (
            no_numbers[place]
            if place < original.numeric
            else known_share(original.values[place], released.values[place]) < RENAMED
        )
    ]


def unlike_columns(original: PlacedTable, released: PlacedTable) -> list[str]:
    """Return columns whose values have quite other shares in the release: see `OTHER_SHARES`.

    Examples
    --------
    >>> import polars as pl
    >>> from understudy.learning.mixed_distance import place_together
    >>> own = pl.DataFrame({"sex": ["f"] * 60 + ["m"] * 20, "age": range(80)})
    >>> swapped = pl.DataFrame({"sex": ["m"] * 60 + ["f"] * 20, "age": range(80)})
    >>> unlike_columns(*place_together({"original": own, "release": swapped}, own.columns).values())
    ['sex']
    """
    if min(original.rows, released.rows) < FEWEST:
        return []
    return [
        name
        for place, name in enumerate(original.columns)
        if name in released.rescaled
        or _are_unlike(
            original.values[place], released.values[place], by_size=place < original.numeric
        )
    ]


def _are_unlike(ours: Values, theirs: Values, *, by_size: bool) -> bool:
    """Tell whether the shares differ by much more than those of two samples would.

    Of labels, it is also told that they are exchanged: then the shares are the same, sorted.
    """
    each = 1 / len(ours) + 1 / len(theirs)
    if by_size:
        return bool(largest_gap(ours, theirs) > OTHER_SIZES + _BY_CHANCE * np.sqrt(each))
    values, where = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
    shares, others = (
        np.bincount(part, minlength=len(values)) / len(part)
        for part in (where[: len(ours)], where[len(ours) :])
    )
    if np.count_nonzero(shares) * SHARED_BY > len(ours):
        return False
    apart, matched = (
        float(np.abs(one - other).sum()) / 2
        for one, other in ((shares, others), (np.sort(shares), np.sort(others)))
    )
    by_chance = 0.4 * float(np.sqrt(shares * (1 - shares) * each).sum())
    exchanged = apart > _EXCHANGED * by_chance and matched < by_chance
    return exchanged or apart > OTHER_SHARES + _BY_CHANCE * by_chance


def largest_gap(ours: Values, theirs: Values) -> float:
    """Return the largest difference of the shares of both that are at most so large.

    Examples
    --------
    >>> largest_gap(np.array([1, 2, 2, 5], np.int32), np.array([2, 7], np.int32))
    0.5
    """
    # One sort of both, in which the last bit says whose a number is.
    marked = np.concatenate([ours.astype(np.int64) * 2, theirs.astype(np.int64) * 2 + 1])
    marked.sort()
    ends = np.flatnonzero(np.append(np.diff(marked >> 1) > 0, True))
    own = np.cumsum(1 - (marked & 1))[ends]
    return float(np.abs(own / len(ours) - (ends + 1 - own) / len(theirs)).max())


def recoded(
    original: PlacedTable, released: PlacedTable, columns: Collection[str], *, flip: bool = False
) -> PlacedTable:
    """Return a release with some columns as an attacker would read them who suspects a code.

    Numbers are placed by their own ranks, and labels stand for the original's by how frequent they
    are. A number that is larger where the original's is smaller, as its relations with other
    numbers tell, is turned round; with `flip`, all numbers are once more. So are those that keep
    their scale, if any does not.
    """
    values = released.values.copy()
    chosen = [place for place, name in enumerate(original.columns) if name in columns]
    numbers = [place for place in chosen if place < original.numeric]
    for place in numbers:
        values[place] = _own_ranks(values[place])
    for place in chosen[len(numbers) :]:
        values[place] = _by_frequency(original.values[place], values[place])
    # A number that is as often large as small may run the other way and have the same shares.
    free = range(original.numeric) if numbers else ()
    signs = _directions(original.values[: original.numeric], values[: original.numeric], free)
    for place in free:
        if signs[place] * (-1 if flip else 1) < 0:
            known = values[place] >= 0
            values[place] = np.where(known, UNIT - values[place], values[place])
    return replace(released, values=values)


def ranked(table: PlacedTable, original: PlacedTable, columns: Collection[str]) -> PlacedTable:
    """Return people with some numbers by their exact ranks in the original, as codes are read."""
    values = table.values.copy()
    for place, name in enumerate(original.columns[: original.numeric]):
        if name in columns:
            ours = original.values[place]
            sizes, first = np.unique(ours, return_index=True)
            ranks = _own_ranks(ours)[first]
            sized = sizes >= -2 * UNIT
            if sized.any():
                known = values[place] >= -2 * UNIT
                found = np.rint(np.interp(values[place], sizes[sized], ranks[sized]))
                values[place] = np.where(known, found, values[place])
    return replace(table, values=values)


def _own_ranks(values: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return places by rank among the values themselves; what has no size stays."""
    sized = values >= -2 * UNIT
    _, where, times = np.unique(values[sized], return_inverse=True, return_counts=True)
    ranks = (np.cumsum(times) - times / 2) / max(int(times.sum()), 1)
    found = values.copy()
    found[sized] = np.rint(ranks[where] * UNIT)
    return found


def _by_frequency(ours: NDArray[np.int32], theirs: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return labels of the original for those that are as frequent; others get labels of none."""
    own, times = np.unique(ours, return_counts=True)
    labels, where, frequent = np.unique(theirs, return_inverse=True, return_counts=True)
    meant = np.full(len(labels), own.max() + 1) + np.arange(len(labels))
    order, other = np.argsort(-times, kind="stable"), np.argsort(-frequent, kind="stable")
    both = min(len(own), len(labels))
    meant[other[:both]] = own[order[:both]]
    return meant[where].astype(np.int32)


def _directions(
    ours: NDArray[np.int32], theirs: NDArray[np.int32], free: Collection[int]
) -> NDArray[np.int64]:
    """Return 1 or -1 for each row of numbers: those of `free` may run the other way.

    One after the other, each follows its strongest correlation with those that are settled.
    """
    signs = np.ones(len(ours), np.int64)
    first, second = (_correlations(rows) for rows in (ours, theirs))
    settled, rest = list(free)[:1], list(free)[1:]
    while rest:
        strengths = np.abs(first[np.ix_(rest, settled)])
        at, beside = np.unravel_index(int(strengths.argmax()), strengths.shape)
        place, by = rest.pop(int(at)), settled[int(beside)]
        if strengths.max() > _HARDLY:
            agreed = first[place, by] * second[place, by] >= 0
            signs[place] = signs[by] if agreed else -signs[by]
        settled.append(place)
    return signs


def rank_correlations(rows: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the correlation of the ranks of each pair of rows, whatever their scale."""
    return _correlations(np.stack([_own_ranks(row) for row in rows]))


def _correlations(rows: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the correlation of each pair of rows; 0 with a row that does not vary."""
    placed = np.maximum(rows, 0).astype(np.float64)
    placed -= placed.mean(axis=1, keepdims=True)
    length = np.sqrt((placed**2).sum(axis=1))
    scaled = placed / np.where(length > 0, length, 1.0)[:, None]
    return scaled @ scaled.T
