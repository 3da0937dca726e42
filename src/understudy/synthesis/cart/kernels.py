"""The compiled loops that ask of numbers how far the leaves of a tree are to be smoothed."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from understudy.counting.compiling import announce_compilation

announce_compilation()

Nodes: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Start, length and row above of rows within rows."""

Sorted: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32]]
"""Records by place, in the order of their codes within each row of a level, and these codes."""


@njit(cache=True, nogil=True)  # pragma: no cover
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


@njit(cache=True, nogil=True)  # pragma: no cover
def count_groups(
    level: int,
    nodes: Nodes,
    bounds: NDArray[np.int64],
    records: Sorted,
    firsts: NDArray[np.int32],
    strengths: NDArray[np.float64],
    cumulative: NDArray[np.float64],
    most: int,
    cells: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
) -> int:
    """Count the records of each row of a level by group, and return how many cells there are.

    Groups are those of the row above, or of all records at level 0. `records` are sorted within
    the rows of the level above. `firsts` says for each level below the first, and each record in
    the order of that level, where in the order of the level above the first record of the same
    row and code stands. `cumulative` are the sums of the shares of codes above all rows.

    `cells` are filled with the records of the group in the row, all records of the row, and the
    probability of the group in the row above when one record of the group is left out.
    """
    starts, lengths, above = nodes
    order, codes = records
    joint, whole, shares = cells
    edges = np.empty(most + 1, np.int64)
    moved = np.empty(most + 1, np.int64)
    share = np.empty(most)
    inside = np.empty(most, np.int64)
    found = 0
    for row in range(bounds[level], bounds[level + 1], 1 if level == 0 else 2):
        parent = 0 if level == 0 else above[row]
        start, length = starts[parent], lengths[parent]
        groups = _find_groups(codes, start, length, most, edges)
        for group in range(groups):
            share[group] = 0.0
            moved[group] = edges[group]
        left = 1.0
        if level > 0:
            higher, own_level = parent, level - 1
            while higher >= 0:
                moved[0], moved[groups] = starts[higher], starts[higher] + lengths[higher]
                rest = lengths[higher] - 1
                if rest > 0:
                    total = rest + strengths[own_level]
                    for group in range(groups):
                        others = moved[group + 1] - moved[group] - 1
                        share[group] += left * others / total
                    left *= strengths[own_level] / total
                for group in range(1, groups):
                    if own_level > 0:
                        moved[group] = firsts[own_level, moved[group]]
                higher = above[higher]
                own_level -= 1
        for group in range(groups):
            # Codes between two groups belong to the lower one.
            low = 0 if group == 0 else codes[edges[group]]
            high = len(cumulative) - 1 if group == groups - 1 else codes[edges[group + 1]]
            share[group] += left * (cumulative[high] - cumulative[low])
        middle = starts[row + 1] if level > 0 else start + length
        for group in range(groups):
            count = 0
            for place in range(edges[group], edges[group + 1]):
                count += order[place] < middle
            inside[group] = count
        for side in range(1 if level == 0 else 2):
            for group in range(groups):
                count = inside[group]
                if side == 1:
                    count = edges[group + 1] - edges[group] - count
                if count > 0:
                    joint[found] = count
                    whole[found] = lengths[row + side]
                    shares[found] = share[group]
                    found += 1
    return found


@njit(cache=True, nogil=True)  # pragma: no cover
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
    starts, lengths, _ = nodes
    order, codes = records
    lower_order, lower_codes = lower
    for row in range(bounds[level], bounds[level + 1], 2):
        middle = starts[row + 1]
        left, right = starts[row], middle
        first = left
        for place in range(starts[row], middle + lengths[row + 1]):
            if codes[place] != codes[first]:
                first = place
            if order[place] < middle:
                to = left
                left += 1
            else:
                to = right
                right += 1
            lower_order[to] = order[place]
            lower_codes[to] = codes[place]
            firsts[to] = first
