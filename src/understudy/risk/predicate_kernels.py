"""The compiled loops of singling out: whom a predicate fits, and what exchanged labels would give.

A condition is a range of codes of one column, or all but that range. The records of each column
are sorted by their codes, so that the records a condition fits are one piece of that order (or all
but one): a predicate looks only at those of its rarest condition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy.counting.compiling import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Index = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]
    Conditions = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]


@kernel
def sort_records(
    codes: NDArray[np.int32], offsets: NDArray[np.int64], order: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Fill in each column's records by code; return where each code starts, all columns in a row.

    `offsets` says where a column's codes begin; it has one entry more than a column has codes.
    """
    starts = np.zeros(offsets[-1], np.int32)
    for column in range(codes.shape[0]):
        own = starts[offsets[column] : offsets[column + 1]]
        for row in range(codes.shape[1]):
            own[codes[column, row] + 1] += 1
        for code in range(1, len(own)):
            own[code] += own[code - 1]
        filled = own.copy()
        for row in range(codes.shape[1]):
            code = codes[column, row]
            order[column, filled[code]] = row
            filled[code] += 1
    return starts


@kernel
def _span(conditions: Conditions, index: Index, at: int, place: int) -> tuple[int, int, int]:
    """Return where a condition's range starts and ends in its column, and how many it fits."""
    columns, lows, highs, negated = conditions
    codes, _, starts, offsets = index
    offset = offsets[columns[at, place]]
    begin, end = starts[offset + lows[at, place]], starts[offset + highs[at, place] + 1]
    fits = codes.shape[1] - (end - begin) if negated[at, place] else end - begin
    return begin, end, fits


@kernel
def _fits(conditions: Conditions, codes: NDArray[np.int32], at: int, but: int, row: int) -> bool:
    """Tell whether a record meets all conditions of a predicate but one."""
    columns, lows, highs, negated = conditions
    for place in range(columns.shape[1]):
        if place == but:
            continue
        code = codes[columns[at, place], row]
        if (lows[at, place] <= code <= highs[at, place]) == negated[at, place]:
            return False
    return True


@kernel
def find_people(
    conditions: Conditions,
    index: Index,
    group: tuple[int, bool],
    limit: int,
    counts: NDArray[np.int64],
    people: NDArray[np.int32],
) -> None:
    """Count whom each predicate fits, and note up to `limit` of them.

    The first so many records are one group, the others a second one. Once more than `limit` are
    found, the search ends as soon as neither group can have exactly one: counts are exact up to
    `limit` in all, and beyond it they tell whether a group has none, one or more.

    Parameters
    ----------
    conditions : tuple of arrays
        For each predicate, its columns, lowest and highest codes, and whether it is all but these.
    index : tuple of arrays
        Codes by column, records in the order of codes, where codes start, where columns start.
    group : (int, bool)
        Records of the first group, and whether the second one counts.
    limit : int
        How many people are noted.
    counts, people : arrays
        Filled in: people of each group, and their rows.
    """
    columns, negated = conditions[0], conditions[3]
    codes, order = index[0], index[1]
    first, both = group
    for at in range(columns.shape[0]):
        best = 0
        begin, end, length = _span(conditions, index, at, 0)
        for place in range(1, columns.shape[1]):
            span = _span(conditions, index, at, place)
            if span[2] < length:
                best = place
                begin, end, length = span
        own = other = 0
        for step in range(length):
            place = step + begin
            if negated[at, best]:
                place = step if step < begin else step + end - begin
            row = order[columns[at, best], place]
            if not _fits(conditions, codes, at, best, row):
                continue
            if own + other < limit:
                people[at, own + other] = row
            own += row < first
            other += row >= first
            if own + other > limit and own > 1 and (other > 1 or not both):
                break
        counts[at, 0], counts[at, 1] = own, other


@kernel
def exchange_labels(
    people: NDArray[np.int64],
    starts: NDArray[np.int64],
    groups: tuple[int, int],
    weights: tuple[NDArray[np.float64], NDArray[np.float64]],
    draws: NDArray[np.float32],
) -> NDArray[np.float64]:
    """Return the differences of two groups when who is in which is drawn at random.

    Parameters
    ----------
    people : ndarray
        The people of each predicate, one after the other, by numbers from 0.
    starts : ndarray
        Where each predicate's people start, and the end.
    groups : (int, int)
        The records of the first group, and of both.
    weights : two arrays
        What a predicate counts in the first and in the second group, by the number of people there.
    draws : ndarray
        A row of random numbers from 0 to 1 for each exchange, one for each person.
    """
    found = np.zeros(draws.shape[0])
    member = np.empty(draws.shape[1], np.bool_)
    for turn in range(draws.shape[0]):
        left, rest = groups[0], groups[1]
        for person in range(draws.shape[1]):
            # As many as there are in the first group, whoever is drawn: sampling in sequence.
            member[person] = draws[turn, person] * rest < left
            left -= member[person]
            rest -= 1
        total = 0.0
        for at in range(len(starts) - 1):
            own = 0
            for place in range(starts[at], starts[at + 1]):
                own += member[people[place]]
            total += weights[0][own] - weights[1][starts[at + 1] - starts[at] - own]
        found[turn] = total
    return found
