"""The compiled loop behind conditional tables: sorting a child's values by its parents'."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from understudy.counting.compiling import announce_compilation

if TYPE_CHECKING:
    from numpy.typing import NDArray

announce_compilation()


@njit(cache=True, nogil=True)  # pragma: no cover
def _count_into(codes: NDArray[np.uint32], starts: NDArray[np.int64]) -> None:
    """Fill `starts` with where each code would start if the codes were sorted."""
    starts[:] = 0
    for i in range(len(codes)):
        starts[np.uint64(codes[i]) + np.uint64(1)] += 1
    for code in range(len(starts) - 1):
        starts[code + 1] += starts[code]


@njit(cache=True, nogil=True)  # pragma: no cover
def sort_donors(
    groups: NDArray[np.uint32],
    child: NDArray[np.uint32],
    cardinality: int,
    starts: NDArray[np.int64],
    donors: NDArray[np.uint32],
) -> None:
    """Put the child's codes in the order of their groups, and increasing within a group.

    Two counting sorts, the less significant first: by the child's code, then by group.

    Parameters
    ----------
    groups : ndarray of uint32
        The group of each row, below ``len(starts) - 1``: this is not checked here.
    child : ndarray of uint32
        The child's code of each row, below `cardinality`: this is not checked here.
    cardinality : int
        Number of codes of the child.
    starts : ndarray of int64, shape (groups + 1,)
        Filled with where each group starts in `donors`; the last is the number of rows.
    donors : ndarray of uint32
        Filled with the sorted codes.
    """
    of_child = np.empty(cardinality + 1, np.int64)
    _count_into(child, of_child)
    place = of_child.copy()
    by_child = np.empty(len(groups), np.uint32)
    for i in range(len(groups)):
        code = np.uint64(child[i])
        by_child[np.uint64(place[code])] = groups[i]
        place[code] += 1
    _count_into(groups, starts)
    end = starts.copy()
    for value in range(cardinality):
        for i in range(of_child[value], of_child[value + 1]):
            group = np.uint64(by_child[i])
            donors[np.uint64(end[group])] = np.uint32(value)
            end[group] += 1


@njit(cache=True, nogil=True)  # pragma: no cover
def pick_positions(
    codes: NDArray[np.uint32],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    chances: NDArray[np.float64],
    positions: NDArray[np.int64],
) -> None:
    """Pick a position in the range of each row's combination: its start plus a share of its length.

    Parameters
    ----------
    codes : ndarray of uint32
        The combination of each row, below ``len(starts)``: this is not checked here.
    starts, lengths : ndarray of int64
        The range of each combination.
    chances : ndarray of float64
        A number in [0, 1) for each row.
    positions : ndarray of int64
        Filled with the positions.
    """
    for i in range(len(codes)):
        code = np.uint64(codes[i])
        positions[i] = starts[code] + np.int64(chances[i] * lengths[code])
