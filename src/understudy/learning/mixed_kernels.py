"""The compiled search for the nearest records by the mixed distance: exact, block by block.

A first pass compares coarse values of 16 bits, which gives a lower bound; only pairs that may be
nearer than the nearest so far are compared exactly. Coverage is not measured here, for it cannot
see into compiled code: the test has a plain twin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy.counting.compiling import inlined_kernel, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Table = tuple[NDArray[np.int32], NDArray[np.int16]]
    Measure = tuple[int, NDArray[np.int32], NDArray[np.int16], int]
    Best = tuple[NDArray[np.int64], NDArray[np.int64]]
    Sums = tuple[NDArray[np.int16], NDArray[np.int16]]


BLOCK = 2048
"""Records of the reference that are compared at a time: their coarse values stay in the cache."""
_FIRST_BLOCK = 32
"""The first block is so small, and each further one twice as large, up to `BLOCK`: until something
near is known, nothing can be passed over."""
_PART = 256
"""Records of a block that are passed over together if none of them may be near enough."""
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
def _next_block(end: int, rows: int) -> tuple[int, int]:
    """Return where the next block starts, and where it ends; see `_FIRST_BLOCK`."""
    return end, min(end + min(max(end, _FIRST_BLOCK), BLOCK), rows)


@inlined_kernel
def _sized(value: np.int16, other: np.int16, cap: np.int16) -> np.int16:
    """Return the least that two values with a size may differ by, from their coarse values."""
    apart = min(np.int16(abs(np.int16(other - value))), cap)
    return max(np.int16(apart - _STEP), _NONE)


@kernel
def _add_sized(
    query: NDArray[np.int16],
    others: NDArray[np.int16],
    caps: NDArray[np.int16],
    attribute: int,
    span: tuple[int, int],
    sums: Sums,
) -> None:
    """Add the coarse differences in an attribute that has sizes."""
    (total, top), (start, end) = sums, span
    value, cap, column = query[attribute], caps[attribute], others[attribute, start:end]
    for place in range(end - start):
        apart = _sized(value, column[place], cap)
        total[place] = np.int16(total[place] + apart)
        top[place] = max(top[place], apart)


@kernel
def _add_four_sized(
    query: NDArray[np.int16],
    others: NDArray[np.int16],
    caps: NDArray[np.int16],
    attribute: int,
    span: tuple[int, int],
    sums: Sums,
) -> None:
    """Add those in four such attributes at once: sums are fetched and put back once for all."""
    (total, top), (start, end) = sums, span
    one, two, three, four = attribute, attribute + 1, attribute + 2, attribute + 3
    ones, twos = others[one, start:end], others[two, start:end]
    threes, fours = others[three, start:end], others[four, start:end]
    for place in range(end - start):
        first = _sized(query[one], ones[place], caps[one])
        second = _sized(query[two], twos[place], caps[two])
        third = _sized(query[three], threes[place], caps[three])
        fourth = _sized(query[four], fours[place], caps[four])
        total[place] = np.int16(total[place] + first + second + third + fourth)
        top[place] = max(top[place], first, second, third, fourth)


@kernel
def _add_labels(
    query: NDArray[np.int16],
    others: NDArray[np.int16],
    caps: NDArray[np.int16],
    attribute: int,
    span: tuple[int, int],
    sums: Sums,
) -> None:
    """Add the differences in an attribute that has labels."""
    (total, top), (start, end) = sums, span
    value, cap, column = query[attribute], caps[attribute], others[attribute, start:end]
    for place in range(end - start):
        apart = cap if column[place] != value else _NONE
        total[place] = np.int16(total[place] + apart)
        top[place] = max(top[place], apart)


@kernel
def _bound(
    query: NDArray[np.int16],
    others: NDArray[np.int16],
    span: tuple[int, int],
    numeric: int,
    caps: NDArray[np.int16],
    sums: Sums,
) -> None:
    """Add up the coarse differences to a span of records, and keep the largest of each."""
    sums[0][:] = 0
    sums[1][:] = 0
    fours = numeric - numeric % 4
    for attribute in range(0, fours, 4):
        _add_four_sized(query, others, caps, attribute, span, sums)
    for attribute in range(fours, numeric):
        _add_sized(query, others, caps, attribute, span, sums)
    for attribute in range(numeric, len(query)):
        _add_labels(query, others, caps, attribute, span, sums)


@kernel
def _least(sums: Sums, start: int, end: int) -> tuple[int, int]:
    """Return the smallest coarse sum of a part of a block, and the smallest without the largest."""
    total, top = sums
    whole = trimmed = np.int16(np.iinfo(np.int16).max)
    for place in range(start, end):
        whole = min(whole, total[place])
        trimmed = min(trimmed, np.int16(total[place] - top[place]))
    return int(whole), int(trimmed)


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
    numeric, _, caps, _ = measure
    sums = np.empty(BLOCK, np.int16), np.empty(BLOCK, np.int16)
    end = 0
    while end < others.shape[1]:
        start, end = _next_block(end, others.shape[1])
        for query in range(len(exact)):
            limit, trimmed_limit = _limit(whole, query, measure), _limit(trimmed, query, measure)
            if limit == 0 and trimmed_limit == 0:
                continue
            _bound(coarse[query], coarse_others, (start, end), numeric, caps, sums)
            for first in range(0, end - start, _PART):
                last = min(first + _PART, end - start)
                least, least_trimmed = _least(sums, first, last)
                if least >= limit and least_trimmed >= trimmed_limit:
                    continue
                for place in range(first, last):
                    total, row = sums[0][place], start + place
                    if total >= limit and total - sums[1][place] >= trimmed_limit:
                        continue
                    if groups[row] == own[query]:
                        continue
                    distance, largest = _distance(exact[query], others, row, measure)
                    _insert(whole, query, distance, row, groups)
                    _insert(trimmed, query, distance - largest, row, groups)
                    limit = _limit(whole, query, measure)
                    trimmed_limit = _limit(trimmed, query, measure)


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

    The bound: if no difference counts for more than `most`, those that are left out add that much
    each, at most. So the sum of all, less so much, is no more than the sum of the smallest. Where
    differences are spread evenly, the largest that counts is twice their mean.
    """
    (exact, coarse), (others, coarse_others) = queries, reference
    numeric, _, caps, _ = measure
    sums = np.empty(BLOCK, np.int16), np.empty(BLOCK, np.int16)
    exactly = np.empty(kept, np.int64)
    left_out, largest = len(caps) - kept, int(caps.max())
    end = 0
    while end < others.shape[1]:
        start, end = _next_block(end, others.shape[1])
        for query in range(len(exact)):
            limit = _limit(best, query, measure)
            if limit == 0:
                continue
            most = min(2 * limit // kept + 1, largest)
            capped = np.minimum(caps, np.int16(most))
            _bound(coarse[query], coarse_others, (start, end), numeric, capped, sums)
            for first in range(0, end - start, _PART):
                last = min(first + _PART, end - start)
                if _least(sums, first, last)[0] - left_out * most >= limit:
                    continue
                for place in range(first, last):
                    row = start + place
                    if sums[0][place] - left_out * most >= limit or groups[row] == own[query]:
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
    numeric, _, caps, _ = measure
    sums = np.empty(BLOCK, np.int16), np.empty(BLOCK, np.int16)
    for start in range(0, others.shape[1], BLOCK):
        end = min(start + BLOCK, others.shape[1])
        for query in range(len(exact)):
            within, trimmed_within = int(limits[0][query]), int(limits[1][query])
            limit = _coarse(within, measure) if within > 0 else 0
            trimmed_limit = _coarse(trimmed_within, measure) if trimmed_within > 0 else 0
            if limit == 0 and trimmed_limit == 0:
                continue
            _bound(coarse[query], coarse_others, (start, end), numeric, caps, sums)
            for first in range(0, end - start, _PART):
                last = min(first + _PART, end - start)
                least, least_trimmed = _least(sums, first, last)
                if least >= limit and least_trimmed >= trimmed_limit:
                    continue
                for place in range(first, last):
                    total = sums[0][place]
                    if total >= limit and total - sums[1][place] >= trimmed_limit:
                        continue
                    distance, largest = _distance(exact[query], others, start + place, measure)
                    counts[0][query] += distance < within
                    counts[1][query] += distance - largest < trimmed_within
