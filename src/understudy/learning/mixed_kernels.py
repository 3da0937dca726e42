"""The compiled search for the nearest records by the mixed distance: exact, block by block.

A first pass compares coarse values of 16 bits, which gives a lower bound; only pairs that may be
nearer than the nearest so far are compared exactly. Coverage is not measured here, for it cannot
see into compiled code: the test has a plain twin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from understudy.counting.compiling import announce_compilation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Table = tuple[NDArray[np.int32], NDArray[np.int16]]
    Measure = tuple[int, NDArray[np.int32], NDArray[np.int16], int]
    Best = tuple[NDArray[np.int64], NDArray[np.int64]]

announce_compilation()

BLOCK = 512
"""Records of the reference that are compared at a time: their coarse values stay in the cache."""
_NONE = np.int16(0)


@njit(cache=True, nogil=True)  # pragma: no cover
def _insert(best: Best, query: int, distance: int, row: int) -> None:
    """Put a record among the nearest ones of a query; of equally near ones, the first stays."""
    distances, rows = best
    last = distances.shape[1] - 1
    if last < 0 or distance >= distances[query, last]:
        return
    place = last
    while place > 0 and distances[query, place - 1] > distance:
        distances[query, place] = distances[query, place - 1]
        rows[query, place] = rows[query, place - 1]
        place -= 1
    distances[query, place] = distance
    rows[query, place] = row


@njit(cache=True, nogil=True)  # pragma: no cover
def _bound(
    query: NDArray[np.int16],
    others: NDArray[np.int16],
    span: tuple[int, int],
    measure: Measure,
    total: NDArray[np.int16],
    top: NDArray[np.int16],
) -> None:
    """Add up the coarse differences to a span of records, and keep the largest of each."""
    numeric, _, caps, _ = measure
    start, end = span
    size = end - start
    total[:] = 0
    top[:] = 0
    for attribute in range(len(query)):
        value, cap, column = query[attribute], caps[attribute], others[attribute, start:end]
        if attribute < numeric:
            for place in range(size):
                apart = np.int16(min(np.int16(abs(np.int16(column[place] - value))), cap))
                total[place] = np.int16(total[place] + apart)
                top[place] = max(top[place], apart)
        else:
            for place in range(size):
                apart = cap if column[place] != value else _NONE
                total[place] = np.int16(total[place] + apart)
                top[place] = max(top[place], apart)


@njit(cache=True, nogil=True)  # pragma: no cover
def _distance(
    query: NDArray[np.int32], others: NDArray[np.int32], row: int, measure: Measure
) -> tuple[int, int]:
    """Return how far a record is away, and the largest single difference."""
    numeric, caps, _, _ = measure
    distance = largest = 0
    for attribute in range(len(query)):
        apart = abs(int(query[attribute]) - int(others[attribute, row]))
        cap = int(caps[attribute])
        apart = min(apart, cap) if attribute < numeric or apart == 0 else cap
        distance += apart
        largest = max(largest, apart)
    return distance, largest


@njit(cache=True, nogil=True)  # pragma: no cover
def _limit(best: Best, query: int, measure: Measure) -> int:
    """Return the coarse sum from which on a record cannot be nearer; 0 if none is asked for."""
    numeric, _, _, shift = measure
    if best[0].shape[1] == 0:
        return 0
    # One step of rounding for each attribute that differs by size, and one for the limit.
    return (int(best[0][query, -1]) >> shift) + 1 + numeric


@njit(cache=True, nogil=True)  # pragma: no cover
def find_nearest(
    queries: Table,
    own: NDArray[np.int64],
    reference: Table,
    measure: Measure,
    whole: Best,
    trimmed: Best,
) -> None:
    """Find the nearest records of each query, by the sum of differences and without the largest.

    Tables are (exact, coarse) values: a row for each query, and a column for each record of the
    reference. The first attributes differ by size, at most by their cap, the others by nothing or
    their cap. `whole` and `trimmed` hold (distances, rows), which are filled; with no columns they
    are not asked for.
    """
    (exact, coarse), (others, coarse_others) = queries, reference
    total, top = np.empty(BLOCK, np.int16), np.empty(BLOCK, np.int16)
    for start in range(0, others.shape[1], BLOCK):
        end = min(start + BLOCK, others.shape[1])
        for query in range(len(exact)):
            _bound(coarse[query], coarse_others, (start, end), measure, total, top)
            limit, trimmed_limit = _limit(whole, query, measure), _limit(trimmed, query, measure)
            for place in range(end - start):
                if total[place] >= limit and total[place] - top[place] >= trimmed_limit:
                    continue
                row = start + place
                if row == own[query]:
                    continue
                distance, largest = _distance(exact[query], others, row, measure)
                _insert(whole, query, distance, row)
                _insert(trimmed, query, distance - largest, row)


@njit(cache=True, nogil=True)  # pragma: no cover
def find_nearest_by_best(
    queries: NDArray[np.int32],
    own: NDArray[np.int64],
    others: NDArray[np.int32],
    measure: tuple[int, NDArray[np.int32], int],
    best: Best,
) -> None:
    """Find the nearest records of each query by the smallest differences only, so many of them.

    There is a row for each query and for each record of the reference. `measure` has how many
    attributes differ by size, the caps, and how many differences count.
    """
    numeric, caps, kept = measure
    smallest = np.empty(kept, np.int64)
    for query in range(len(queries)):
        for row in range(len(others)):
            if row == own[query]:
                continue
            limit = best[0][query, -1]
            held, total = 0, np.int64(0)
            for attribute in range(len(caps)):
                apart = abs(np.int64(queries[query, attribute]) - np.int64(others[row, attribute]))
                cap = np.int64(caps[attribute])
                apart = min(apart, cap) if attribute < numeric or apart == 0 else cap
                if held < kept:
                    total += apart
                    held += 1
                elif apart < smallest[kept - 1]:
                    total += apart - smallest[kept - 1]
                else:
                    continue
                place = held - 1
                while place > 0 and smallest[place - 1] > apart:
                    smallest[place] = smallest[place - 1]
                    place -= 1
                smallest[place] = apart
            if total < limit:
                _insert(best, query, int(total), row)


@njit(cache=True, nogil=True)  # pragma: no cover
def count_within(
    queries: Table,
    reference: Table,
    measure: Measure,
    limits: tuple[NDArray[np.int64], NDArray[np.int64]],
    counts: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> None:
    """Count the records that are nearer to each query than its limit, by either distance."""
    (exact, coarse), (others, coarse_others) = queries, reference
    numeric, _, _, shift = measure
    total, top = np.empty(BLOCK, np.int16), np.empty(BLOCK, np.int16)
    for start in range(0, others.shape[1], BLOCK):
        end = min(start + BLOCK, others.shape[1])
        for query in range(len(exact)):
            within, trimmed_within = int(limits[0][query]), int(limits[1][query])
            limit = (within >> shift) + 1 + numeric if within > 0 else 0
            trimmed_limit = (trimmed_within >> shift) + 1 + numeric if trimmed_within > 0 else 0
            if limit == 0 and trimmed_limit == 0:
                continue
            _bound(coarse[query], coarse_others, (start, end), measure, total, top)
            for place in range(end - start):
                if total[place] >= limit and total[place] - top[place] >= trimmed_limit:
                    continue
                distance, largest = _distance(exact[query], others, start + place, measure)
                counts[0][query] += distance < within
                counts[1][query] += distance - largest < trimmed_within
