"""The compiled loops of conditional tables (sorting, drawing) and of trees (pruning, finding)."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from understudy.counting.compiling import announce_compilation

announce_compilation()


@njit(cache=True, nogil=True)  # pragma: no cover
def sort_donors(
    groups: NDArray[np.uint32],
    child: NDArray[np.unsignedinteger],
    cardinality: int,
    starts: NDArray[np.int64],
    donors: NDArray[np.unsignedinteger],
) -> None:
    """Put the child's codes in the order of their groups, and increasing within a group.

    Two counting sorts, the less significant first: by the child's code, then by group. That groups
    are below ``len(starts) - 1`` and codes below `cardinality` is not checked here. `starts` is
    filled with where each group starts in `donors`, and with the number of rows.
    """
    of_child = np.zeros(cardinality + 1, np.int64)
    for i in range(len(child)):
        of_child[np.uint64(child[i]) + np.uint64(1)] += 1
    for value in range(cardinality):
        of_child[value + 1] += of_child[value]
    place = of_child.copy()
    by_child = np.empty(len(groups), np.uint32)
    # 32 bits hold the positions of four billion records, and stay in the caches for longer.
    end = np.zeros(len(starts), np.uint32)
    one = np.uint32(1)
    for i in range(len(groups)):
        code, group = np.uint64(child[i]), np.uint64(groups[i])
        by_child[np.uint64(place[code])] = groups[i]
        place[code] += 1
        end[group + np.uint64(1)] += one
    for number in range(len(starts) - 1):
        end[number + 1] += end[number]
    # Loops, because numba takes a second to compile the assignment of a slice.
    for number in range(len(starts)):
        starts[number] = end[number]
    for value in range(cardinality):
        for i in range(of_child[value], of_child[value + 1]):
            group = np.uint64(by_child[np.uint64(i)])
            donors[np.uint64(end[group])] = value
            end[group] += one


@njit(cache=True, nogil=True)  # pragma: no cover
def draw_donors(
    codes: NDArray[np.uint32],
    ranges: tuple[NDArray[np.uint32], NDArray[np.uint32]],
    chances: NDArray[np.float64],
    donors: NDArray[np.unsignedinteger],
    drawn: NDArray[np.unsignedinteger],
) -> None:
    """Draw a donor from the range of each row's combination, by a number in [0, 1) for each row.

    `ranges` are start and length of each combination's range of donors. That each code has one is
    not checked here.
    """
    starts, lengths = ranges
    for i in range(len(codes)):
        code = np.uint64(codes[i])
        drawn[i] = donors[np.uint64(starts[code]) + np.uint64(chances[i] * lengths[code])]


@njit(cache=True, nogil=True)  # pragma: no cover
def prune(
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    risk: NDArray[np.float64],
    price: float,
    ends: NDArray[np.int64],
) -> None:
    """Find the smallest subtree with the least sum of its leaves' risks and a price for each leaf.

    `left` and `right` are the children of each node, -1 for a leaf; every child comes after its
    parent. `risk` is the share of the records in the node times its impurity. `ends` is filled with
    the node at which records of each node end in the smaller tree: the node itself if it is kept,
    and else the ancestor that became a leaf.
    """
    best = risk + price
    cut = np.ones(len(left), np.bool_)
    for node in range(len(left) - 1, -1, -1):
        if left[node] >= 0:
            below = best[left[node]] + best[right[node]]
            if below < best[node]:
                best[node] = below
                cut[node] = False
    ends[0] = 0
    for node in range(len(left)):
        if left[node] >= 0:
            stop = ends[node] != node or cut[node]
            ends[left[node]] = ends[node] if stop else left[node]
            ends[right[node]] = ends[node] if stop else right[node]


@njit(cache=True, nogil=True)  # pragma: no cover
def find_leaves(
    places: NDArray[np.int32],
    feature: NDArray[np.int32],
    threshold: NDArray[np.int32],
    children: NDArray[np.int32],
    order_of: NDArray[np.int32],
    orders: NDArray[np.int32],
    leaves: NDArray[np.uint32],
) -> None:
    """Lead each record down a tree, and fill `leaves` with the number of its leaf.

    `places` has numbers by rank and categories by code. A node looks at the column `feature`, -1
    for a leaf; a record goes left if its place is not above `threshold`, which of a leaf is its
    number. `order_of` says where the order of a column's categories starts in `orders`, and is -1
    if its places are compared as they are.
    """
    for row in range(len(places)):
        node = 0
        column = feature[0]
        while column >= 0:
            place = places[row, column]
            if order_of[column] >= 0:
                place = orders[order_of[column] + place]
            node = children[node, 0 if place <= threshold[node] else 1]
            column = feature[node]
        leaves[row] = threshold[node]
