"""The compiled loops of CART: cutting weak branches off, and leading records to their leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from understudy.counting.compiling import announce_compilation

if TYPE_CHECKING:
    from numpy.typing import NDArray

announce_compilation()


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
