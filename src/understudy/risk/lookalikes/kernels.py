"""Which records are equal in all columns, or in all but one: compiled, in one pass per column.

A record's hash is the sum of a number for each of its values, so that the hash without one column
is a difference. Hashes have 64 bits: that two different records among a million share one has a
probability below one in ten million.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy.counting.compiling import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


_EMPTY = np.int64(0)


@kernel
def _mixed(value: int, column: int) -> np.uint64:
    """Return a number that looks random for a value of a column."""
    number = np.uint64(value) + np.uint64(column + 1) * np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    # Twice, since sums of numbers that are mixed once may collide.
    number = (number ^ (number >> np.uint64(31))) * np.uint64(0xD6E8FEB86659FD93)
    return number ^ (number >> np.uint64(32))


@kernel
def hash_records(values: NDArray[np.int32], hashes: NDArray[np.uint64]) -> None:
    """Add up the numbers of each record's values; a row of `values` is a column of the table."""
    for column in range(values.shape[0]):
        for record in range(values.shape[1]):
            hashes[record] += _mixed(values[column, record], column)


@kernel
def leave_out(
    values: NDArray[np.int32], column: int, hashes: NDArray[np.uint64], left: NDArray[np.uint64]
) -> None:
    """Put the hashes without one column, whose values are given, into `left`."""
    for record in range(len(values)):
        left[record] = hashes[record] - _mixed(values[record], column)


@kernel
def count_equal(
    reference: NDArray[np.uint64],
    queries: NDArray[np.uint64],
    slots: tuple[NDArray[np.uint64], NDArray[np.int64]],
    counts: NDArray[np.int64],
) -> None:
    """Add to `counts` how many records of the reference have the hash of each query.

    There is a power of two of slots, more than twice as many as the reference has records.
    """
    keys, times = slots
    last = np.uint64(len(keys) - 1)
    times[:] = _EMPTY
    for number in reference:
        place = number & last
        while times[place] and keys[place] != number:
            place = (place + np.uint64(1)) & last
        keys[place] = number
        times[place] += 1
    for query in range(len(queries)):
        number = queries[query]
        place = number & last
        while times[place]:
            if keys[place] == number:
                counts[query] += times[place]
                break
            place = (place + np.uint64(1)) & last
