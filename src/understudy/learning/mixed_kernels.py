"""The compiled search for the nearest records by the mixed distance: exact, block by block.

A first pass compares coarse values of 16 bits, which gives a lower bound; only pairs that may be
nearer than the nearest so far are compared exactly. Coverage is not measured here, for it cannot
see into compiled code: the test has a plain twin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy.counting.compiling import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Table = tuple[NDArray[np.int32], NDArray[np.int16]]
    Measure = tuple[int, NDArray[np.int32], NDArray[np.int16], int]
    Best = tuple[NDArray[np.int64], NDArray[np.int64]]


BLOCK = 512
"""Records of the reference that are compared at a time: their coarse values stay in the cache."""
_NONE = np.int16(0)
_STEP = np.int16(1)
"""Coarse values are rounded down, so that their difference may be so much too large."""


@kernel
def _insert(best: Best, query: int, distance: int, row: int, groups: NDArray[np.int64]) -> None:
    """Put a record among the nearest ones of a query; of equally near ones, the first stays.

    Of each group of records, the nearest one counts.
    """
    distances, rows = best
    last = distances.shape[1] - 1
    if last < 0 or distance >= distances[query, last]:
        return
    place = last
    for earlier in range(last + 1):
        held = rows[query, earlier]
        if held >= 0 and groups[held] == groups[row]:
            if distances[query, earlier] <= distance:
                return
            place = earlier
            break
    while place > 0 and distances[query, place - 1] > distance:
        distances[query, place] = distances[query, place - 1]
        rows[query, place] = rows[query, place - 1]
        place -= 1
    distances[query, place] = distance
    rows[query, place] = row


@kernel
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
                apart = max(np.int16(apart - _STEP), _NONE)
                total[place] = np.int16(total[place] + apart)
                top[place] = max(top[place], apart)
        else:
            for place in range(size):
                apart = cap if column[place] != value else _NONE
                total[place] = np.int16(total[place] + apart)
                top[place] = max(top[place], apart)


@kernel
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


@kernel
def _coarse(distance: int, measure: Measure) -> int:
    """Return the least coarse sum that no record below this distance has."""
    return (distance >> measure[3]) + 1


@kernel
def _limit(best: Best, query: int, measure: Measure) -> int:
    """Return the coarse sum from which on a record cannot be nearer; 0 if none is to be found."""
    if best[0].shape[1] == 0 or best[0][query, -1] == 0:
        return 0
    return int(_coarse(int(best[0][query, -1]), measure))


@kernel
def find_nearest(
    queries: Table,
    own: NDArray[np.int64],
    groups: NDArray[np.int64],
    reference: Table,
    measure: Measure,
    whole: Best,
    trimmed: Best,
) -> None:
    """Find the nearest records of each query, by the sum of differences and without the largest.

    Of each group of the reference the nearest record is found, and none of the query's own group.
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
                if groups[row] == own[query]:
                    continue
                distance, largest = _distance(exact[query], others, row, measure)
                _insert(whole, query, distance, row, groups)
                _insert(trimmed, query, distance - largest, row, groups)
                limit = _limit(whole, query, measure)
                trimmed_limit = _limit(trimmed, query, measure)


@kernel
def _bound_of_best(
    query: NDArray[np.int16],
    others: NDArray[np.int16],
    span: tuple[int, int],
    measure: Measure,
    smallest: NDArray[np.int16],
    apart: NDArray[np.int16],
) -> None:
    """Add up the smallest coarse differences to a span of records, in `apart`.

    Whole spans are sorted into `smallest` at once, by comparisons alone: no branch depends on data.
    """
    numeric, _, caps, _ = measure
    start, end = span
    size, kept = end - start, len(smallest)
    smallest[:] = np.iinfo(np.int16).max
    for attribute in range(len(query)):
        value, cap, column = query[attribute], caps[attribute], others[attribute, start:end]
        if attribute < numeric:
            for place in range(size):
                away = np.int16(min(np.int16(abs(np.int16(column[place] - value))), cap))
                apart[place] = max(np.int16(away - _STEP), _NONE)
        else:
            for place in range(size):
                apart[place] = cap if column[place] != value else _NONE
        for rank in range(min(attribute + 1, kept)):
            row = smallest[rank]
            for place in range(size):
                held, moved = row[place], apart[place]
                row[place] = min(held, moved)
                apart[place] = max(held, moved)
    apart[:] = 0
    for rank in range(kept):
        row = smallest[rank]
        for place in range(size):
            apart[place] = np.int16(apart[place] + row[place])


@kernel
def _distance_by_best(
    query: NDArray[np.int32],
    others: NDArray[np.int32],
    row: int,
    measure: Measure,
    smallest: NDArray[np.int64],
) -> int:
    """Return how far a record is away by the smallest differences; `smallest` is for their use."""
    numeric, caps, _, _ = measure
    held, total, kept = 0, 0, len(smallest)
    for attribute in range(len(query)):
        apart = abs(int(query[attribute]) - int(others[attribute, row]))
        cap = int(caps[attribute])
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
    return total


@kernel
def find_nearest_by_best(
    queries: Table,
    own: NDArray[np.int64],
    groups: NDArray[np.int64],
    reference: Table,
    measure: Measure,
    kept: int,
    best: Best,
) -> None:
    """Find the nearest records of each query by the smallest differences only, so many of them.

    Tables, groups and `best` are as in `find_nearest`.
    """
    (exact, coarse), (others, coarse_others) = queries, reference
    smallest, apart = np.empty((kept, BLOCK), np.int16), np.empty(BLOCK, np.int16)
    exactly = np.empty(kept, np.int64)
    for start in range(0, others.shape[1], BLOCK):
        end = min(start + BLOCK, others.shape[1])
        for query in range(len(exact)):
            _bound_of_best(coarse[query], coarse_others, (start, end), measure, smallest, apart)
            limit = _limit(best, query, measure)
            for place in range(end - start):
                row = start + place
                if apart[place] >= limit or groups[row] == own[query]:
                    continue
                distance = _distance_by_best(exact[query], others, row, measure, exactly)
                if distance < best[0][query, -1]:
                    _insert(best, query, distance, row, groups)
                    limit = _limit(best, query, measure)


@kernel
def count_within(
    queries: Table,
    reference: Table,
    measure: Measure,
    limits: tuple[NDArray[np.int64], NDArray[np.int64]],
    counts: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> None:
    """Count the records that are nearer to each query than its limit, by either distance."""
    (exact, coarse), (others, coarse_others) = queries, reference
    total, top = np.empty(BLOCK, np.int16), np.empty(BLOCK, np.int16)
    for start in range(0, others.shape[1], BLOCK):
        end = min(start + BLOCK, others.shape[1])
        for query in range(len(exact)):
            within, trimmed_within = int(limits[0][query]), int(limits[1][query])
            limit = _coarse(within, measure) if within > 0 else 0
            trimmed_limit = _coarse(trimmed_within, measure) if trimmed_within > 0 else 0
            if limit == 0 and trimmed_limit == 0:
                continue
            _bound(coarse[query], coarse_others, (start, end), measure, total, top)
            for place in range(end - start):
                if total[place] >= limit and total[place] - top[place] >= trimmed_limit:
                    continue
                distance, largest = _distance(exact[query], others, start + place, measure)
                counts[0][query] += distance < within
                counts[1][query] += distance - largest < trimmed_within
