"""The compiled loops that ask of numbers how far the leaves of a tree are to be smoothed."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.counting.compiling import kernel

Nodes: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Start, length and row above of rows within rows."""

Sorted: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32]]
"""Records by place, in the order of their codes within each row of a level, and these codes."""

Known: TypeAlias = tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]
"""What the levels above tell.

For each level below the first, and each record in the order of that level, where in the order of
the level above the first record of the same row and code stands; the strength of each level; the
sums of the shares of codes above all rows.
"""


@kernel
def _find_groups(
    codes: NDArray[np.int32], start: int, length: int, most: int, edges: NDArray[np.int64]
) -> int:
    """Put the sorted codes of a row into groups, and return how many groups there are.

    There are at most `most` groups, and half as many as records, but two at least. Codes that are
    no more than that are groups by themselves. More of them are put into groups of about the same
    number of records. `edges` is filled with where each group begins, and with the end of the row.
    """
    most = max(min(most, length // 2), 2)
    different = 1
    for place in range(start + 1, start + length):
        different += codes[place] != codes[place - 1]
        if different > most:
            break
    found, latest, begin = 0, -1, start
    while begin < start + length:
        end = begin + 1
        while end < start + length and codes[end] == codes[begin]:
            end += 1
        # Where the middle one of the code's records stands decides.
        group = found if different <= most else most * (begin + end - 2 * start) // (2 * length)
        if group != latest:
            edges[found] = begin
            found += 1
            latest = group
        begin = end
    edges[found] = start + length
    return found


@kernel
def _expect_groups(
    parent: int,
    level: int,
    nodes: Nodes,
    codes: NDArray[np.int32],
    known: Known,
    edges: NDArray[np.int64],
    share: NDArray[np.float64],
) -> None:
    """Fill `share` with the probability of each group in a row when one of its records is left out.

    The row is one of the level, -1 for what is above all rows. `codes` are sorted within the row,
    whose groups are as many as `share` has places.
    """
    starts, lengths, above = nodes
    firsts, strengths, cumulative = known
    groups = len(share)
    moved = edges[: groups + 1].copy()
    share[:] = 0.0
    left, higher = 1.0, parent if level >= 0 else -1
    while higher >= 0:
        moved[0], moved[groups] = starts[higher], starts[higher] + lengths[higher]
        rest = lengths[higher] - 1
        if rest > 0:
            total = rest + strengths[level]
            for group in range(groups):
                share[group] += left * (moved[group + 1] - moved[group] - 1) / total
            left *= strengths[level] / total
        if level > 0:
            for group in range(1, groups):
                moved[group] = firsts[level, moved[group]]
        higher = above[higher]
        level -= 1
    low = 0
    for group in range(groups):
        # Codes between two groups belong to the lower one.
        high = len(cumulative) - 1 if group == groups - 1 else codes[edges[group + 1]]
        share[group] += left * (cumulative[high] - cumulative[low])
        low = high


@kernel
def count_groups(
    level: int,
    nodes: Nodes,
    bounds: NDArray[np.int64],
    codes: tuple[NDArray[np.int32], NDArray[np.int32]],
    known: Known,
    most: int,
    cells: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
) -> int:
    """Count the records of each row of a level by group, and return how many cells there are.

    Groups are those of the row above, or of all records at level 0. `codes` are sorted within the
    rows of the level above, and within those of the level. `cells` are filled with the records of
    the group in the row, all records of the row, and the probability of the group in the row above
    when one record of the group is left out.
    """
    starts, lengths, above = nodes
    higher_codes, own_codes = codes
    joint, whole, shares = cells
    edges, share = np.empty(most + 1, np.int64), np.empty(most)
    found, groups, latest = 0, 0, -1
    for row in range(bounds[level], bounds[level + 1]):
        parent = 0 if level == 0 else above[row]
        if parent != latest:
            latest = parent
            groups = _find_groups(higher_codes, starts[parent], lengths[parent], most, edges)
            _expect_groups(parent, level - 1, nodes, higher_codes, known, edges, share[:groups])
        place, end = starts[row], starts[row] + lengths[row]
        for group in range(groups):
            first, last = place, group == groups - 1
            while place < end and (last or own_codes[place] < higher_codes[edges[group + 1]]):
                place += 1
            if place > first:
                joint[found], whole[found] = place - first, lengths[row]
                shares[found] = share[group]
                found += 1
    return found


@kernel
def sort_within(
    level: int,
    nodes: Nodes,
    bounds: NDArray[np.int64],
    records: Sorted,
    lower: Sorted,
    firsts: NDArray[np.int32],
) -> None:
    """Sort records within the rows of a level, given their order within those of the level above.

    `lower` is filled with their places and codes, and `firsts` with where, in the order of the
    level above, the first record of the same row and code stands.
    """
    starts, lengths, above = nodes
    order, codes = records
    lower_order, lower_codes = lower
    row_of = np.empty(len(order), np.int32)
    ends = np.empty(bounds[level + 1] - bounds[level], np.int64)
    for row in range(bounds[level], bounds[level + 1]):
        ends[row - bounds[level]] = starts[row]
        for place in range(starts[row], starts[row] + lengths[row]):
            row_of[place] = row - bounds[level]
    latest = -1
    for row in range(bounds[level], bounds[level + 1]):
        parent = above[row]
        if parent == latest:
            continue
        latest = parent
        first = starts[parent]
        for place in range(starts[parent], starts[parent] + lengths[parent]):
            if codes[place] != codes[first]:
                first = place
            own = row_of[order[place]]
            to = ends[own]
            ends[own] += 1
            lower_order[to] = order[place]
            lower_codes[to] = codes[place]
            firsts[to] = first
