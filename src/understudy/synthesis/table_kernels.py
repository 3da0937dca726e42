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
    starts[:] = end
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
