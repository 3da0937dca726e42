"""The compiled search for records that are nearest by one set of columns and by another.

Coverage is not measured here, for it cannot see into compiled code: the test has a plain twin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy.counting.compiling import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Side = tuple[NDArray[np.int32], NDArray[np.int32], int, NDArray[np.int32]]


@kernel
def _measure(side: Side, person: int, distances: NDArray[np.signedinteger]) -> None:
    """Fill in how far each record is from a person."""
    people, records, numeric, caps = side
    distances[:] = 0
    for column in range(records.shape[0]):
        value, cap, held = people[person, column], caps[column], records[column]
        if column < numeric:
            for row in range(len(held)):
                distances[row] += min(abs(held[row] - value), cap)
        else:
            for row in range(len(held)):
                distances[row] += cap if held[row] != value else 0


@kernel
def _last_near(distances: NDArray[np.signedinteger], nearest: NDArray[np.signedinteger]) -> int:
    """Return the distance of the last of the nearest records; `nearest` has a place for each."""
    if len(nearest) == 1:
        return int(distances.min())
    nearest[:] = distances.max()
    for row in range(len(distances)):
        distance = distances[row]
        if distance >= nearest[-1]:
            continue
        place = len(nearest) - 1
        while place > 0 and nearest[place - 1] > distance:
            nearest[place] = nearest[place - 1]
            place -= 1
        nearest[place] = distance
    return int(nearest[-1])


@kernel
def count_links(
    first: Side,
    second: Side,
    buffers: tuple[NDArray[np.signedinteger], ...],
    found: NDArray[np.int64],
) -> None:
    """Count the records that are near a person by two sets of columns.

    A side has the people's values (a row each), the records' (a column each), how many columns
    differ by size, and the largest difference of each. For each person, `found` is given: the
    records nearer than the last of the nearest, and those as near as it, on the first side and on
    the second; then those nearer on both, nearer on the first and as near on the second, the other
    way round, and as near on both.
    """
    one, other, nearest = buffers
    for person in range(len(first[0])):
        _measure(first, person, one)
        _measure(second, person, other)
        near, near_other = _last_near(one, nearest), _last_near(other, nearest)
        own = found[person]
        own[:] = 0
        for row in range(len(one)):
            if one[row] > near:
                if other[row] <= near_other:
                    own[2 if other[row] < near_other else 3] += 1
                continue
            tied = one[row] == near
            own[1 if tied else 0] += 1
            if other[row] > near_other:
                continue
            tied_too = other[row] == near_other
            own[3 if tied_too else 2] += 1
            own[4 + 2 * tied + tied_too] += 1


@kernel
def exchange_sums(
    values: NDArray[np.float64], groups: tuple[int, int], draws: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Return the sums of values in the first group when who is in it is drawn at random.

    Parameters
    ----------
    values : ndarray
        Of those whose value is not 0.
    groups : (int, int)
        The members of the first group, and of both.
    draws : ndarray
        A row of random numbers from 0 to 1 for each exchange, one for each value.
    """
    found = np.zeros(len(draws))
    for turn in range(len(draws)):
        left, rest = groups
        for place in range(len(values)):
            # As many as there are in the first group, whoever is drawn: sampling in sequence.
            if draws[turn, place] * rest < left:
                found[turn] += values[place]
                left -= 1
            rest -= 1
    return found
