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

    Two counting sorts, the less significant first: by the child's code, then by group.

    Parameters
    ----------
    groups : ndarray of uint32
        The group of each row, below ``len(starts) - 1``: this is not checked here.
    child : ndarray of unsigned int
        The child's code of each row, below `cardinality`: this is not checked here.
    cardinality : int
        Number of codes of the child.
    starts : ndarray of int64, shape (groups + 1,)
        Filled with where each group starts in `donors`; the last is the number of rows.
    donors : ndarray of the same type as `child`
        Filled with the sorted codes.
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
    """Draw a donor from the range of each row's combination.

    Parameters
    ----------
    codes : ndarray of uint32
        The combination of each row: this is not checked here.
    ranges : tuple of two ndarrays of uint32
        Start and length of each combination's range of donors.
    chances : ndarray of float64
        A number in [0, 1) for each row.
    donors, drawn : ndarray of the same unsigned type
        What to draw from, and what is filled.
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

    Parameters
    ----------
    left, right : ndarray of int64
        Children of each node, -1 for a leaf; every child comes after its parent.
    risk : ndarray of float64
        Share of the records in the node times its impurity.
    price : float
        What a leaf costs.
    ends : ndarray of int64
        Filled with the node at which records of each node end in the smaller tree: the node
        itself if it is kept, and else the ancestor that became a leaf.
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
    """Lead each record down a tree.

    Parameters
    ----------
    places : ndarray of int32, shape (rows, columns)
        Numbers by rank, categories by code.
    feature : ndarray of int32
        The column that a node looks at, -1 for a leaf.
    threshold : ndarray of int32
        A record goes left if its place is not above; of a leaf, the leaf's number.
    children : ndarray of int32, shape (nodes, 2)
        Left and right child.
    order_of : ndarray of int32
        Where the order of a column's categories starts in `orders`; -1 if its places are compared
        as they are.
    orders : ndarray of int32
        The place of each category in the tree's own order.
    leaves : ndarray of uint32
        Filled with the number of each record's leaf.
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
