"""The compiled loop of shadow releases: how many records agree with a person on sets of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy.counting.compiling import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def count_agreeing(
    targets: NDArray[np.int32],
    records: NDArray[np.int32],
    reach: NDArray[np.int32],
    queries: NDArray[np.uint64],
    counts: NDArray[np.int64],
    fewest: NDArray[np.int64],
) -> None:
    """Count the records that agree with each target on each query's columns.

    Parameters
    ----------
    targets, records : ndarray, columns by people
        Comparable values, of at most 64 columns.
    reach : ndarray of shape (2, columns)
        By how much values may differ and still agree: strictly, and loosely.
    queries : ndarray of shape (queries, 2)
        Columns that must agree strictly, and loosely, a bit for each.
    counts : ndarray of shape (targets, queries)
        Gets the counts.
    fewest : ndarray of shape (targets, 2)
        Gets the smallest number of columns in which a record disagrees, strictly and loosely.
    """
    columns = len(targets)
    for target in range(targets.shape[1]):
        counts[target] = 0
        fewest[target] = columns
        for record in range(records.shape[1]):
            strict = np.uint64(0)
            loose = np.uint64(0)
            apart_strictly, apart_loosely = 0, 0
            for column in range(columns):
                bit = np.uint64(1) << np.uint64(column)
                apart = abs(np.int64(targets[column, target]) - np.int64(records[column, record]))
                if apart <= reach[0, column]:
                    strict |= bit
                else:
                    apart_strictly += 1
                if apart <= reach[1, column]:
                    loose |= bit
                else:
                    apart_loosely += 1
            fewest[target, 0] = min(fewest[target, 0], apart_strictly)
            fewest[target, 1] = min(fewest[target, 1], apart_loosely)
            for query in range(len(queries)):
                if queries[query, 0] & ~strict == np.uint64(0) and queries[
                    query, 1
                ] & ~loose == np.uint64(0):
                    counts[target, query] += 1
