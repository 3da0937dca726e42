"""The compiled loops of columns that are drawn in steps: rows of a table, parted by a step."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.counting.compiling import kernel

Ints: TypeAlias = NDArray[np.int64]

Rows: TypeAlias = tuple[Ints, Ints, Ints, Ints]
"""Start, length and row above of rows within rows, and the first row of each level."""

Counted: TypeAlias = tuple[Ints, NDArray[np.unsignedinteger], Ints]
"""Where each cell begins, its value and how many records it has."""

Wanted: TypeAlias = tuple[Ints, NDArray[np.unsignedinteger], int]
"""For each code what is drawn in a step, negative for nothing, and the part of the codes that it is
in; and how many parts there are."""


@kernel
def _rows_of_parts(rows: Rows, cells: Counted, step: Wanted) -> Ints:
    """Return how many rows each level (row) has with records of each part (column)."""
    starts, lengths, _, bounds = rows
    begins, codes, _ = cells
    values, parts, count = step
    found = np.zeros((len(bounds) - 1, count), np.int64)
    for level in range(len(bounds) - 1):
        latest = np.full(count, -1, np.int64)
        cell = 0
        for row in range(bounds[level], bounds[level + 1]):
            end = starts[row] + lengths[row]
            while cell < len(begins) and begins[cell] < end:
                code = codes[cell]
                if values[code] >= 0 and latest[parts[code]] != row:
                    latest[parts[code]] = row
                    found[level, parts[code]] += 1
                cell += 1
    return found


@kernel
def _records_of_parts(cells: Counted, step: Wanted) -> Ints:
    """Return how many records each part has."""
    _, codes, counts = cells
    values, parts, count = step
    found = np.zeros(count, np.int64)
    for cell in range(len(codes)):
        if values[codes[cell]] >= 0:
            found[parts[codes[cell]]] += counts[cell]
    return found


@kernel
def part_rows(rows: Rows, cells: Counted, step: Wanted) -> tuple[Rows, tuple[Ints, Ints, Ints]]:
    """Return the rows of a step, and which of them each row of the whole table became.

    A row becomes one for each part of the codes that its records have; rows are in the order of
    parts, and within one in that of the table. If there are several parts, a row of all of them
    stands above. The last three arrays are where what a row of the table became begins, for each
    of these its part, and its number.
    """
    starts, lengths, above, bounds = rows
    begins, codes, counts = cells
    values, parts, count = step
    levels, top = len(bounds) - 1, 1 if count > 1 else 0
    by_level = _rows_of_parts(rows, cells, step)
    total = by_level.sum()
    new_starts, new_lengths = np.zeros(total + top, np.int64), np.zeros(total + top, np.int64)
    new_above = np.full(total + top, -1, np.int64)
    new_bounds = np.zeros(levels + top + 1, np.int64)
    new_bounds[top] = top
    first = np.zeros(len(starts) + 1, np.int64)
    part_of, number_of = np.empty(total, np.int64), np.empty(total, np.int64)
    of_part = _records_of_parts(cells, step)
    if top:
        new_lengths[0] = of_part.sum()
    latest, upper = np.empty(count, np.int64), np.empty(count, np.int64)
    entry = 0
    for level in range(levels):
        # What is next of each part: the number of a row, and the place of a record.
        own = by_level[level]
        following = np.cumsum(own) - own + new_bounds[level + top]
        place = np.cumsum(of_part) - of_part
        latest[:] = -1
        new_bounds[level + top + 1] = new_bounds[level + top] + own.sum()
        cell, higher = 0, -1
        for row in range(bounds[level], bounds[level + 1]):
            if level and above[row] != higher:
                higher = above[row]
                for one in range(first[higher], first[higher + 1]):
                    upper[part_of[one]] = number_of[one]
            first[row] = entry
            end = starts[row] + lengths[row]
            while cell < len(begins) and begins[cell] < end:
                code = codes[cell]
                if values[code] >= 0:
                    part = parts[code]
                    if latest[part] < first[row]:
                        latest[part] = entry
                        number = following[part]
                        following[part] += 1
                        part_of[entry], number_of[entry] = part, number
                        new_starts[number] = place[part]
                        new_above[number] = upper[part] if level else top - 1
                        entry += 1
                    new_lengths[number_of[latest[part]]] += counts[cell]
                    place[part] += counts[cell]
                cell += 1
            first[row + 1] = entry
    return (new_starts, new_lengths, new_above, new_bounds), (first, part_of, number_of)


@kernel
def part_cells(
    rows: Rows, cells: Counted, step: Wanted, several: int
) -> tuple[NDArray[np.uint8], Ints]:
    """Return the values of a step and their counts, in the order of its rows.

    `several` is how many values there are.
    """
    starts, lengths, _, bounds = rows
    begins, codes, counts = cells
    values, parts, count = step
    value_of, records_of = np.empty(len(codes), np.uint8), np.empty(len(codes), np.int64)
    part_of = np.empty(len(codes), np.int64)
    known = np.zeros((count, several), np.int64)
    latest, seen = np.full(count, -1, np.int64), np.empty(count, np.int64)
    ends = np.zeros(count + 1, np.int64)
    cell, found = 0, 0
    for row in range(bounds[-2], bounds[-1]):
        end, parts_seen = starts[row] + lengths[row], 0
        while cell < len(begins) and begins[cell] < end:
            code = codes[cell]
            if values[code] >= 0:
                part = parts[code]
                if latest[part] != row:
                    latest[part] = row
                    seen[parts_seen] = part
                    parts_seen += 1
                known[part, values[code]] += counts[cell]
            cell += 1
        for one in range(parts_seen):
            part = seen[one]
            for value in range(several):
                if known[part, value]:
                    value_of[found], records_of[found] = value, known[part, value]
                    part_of[found] = part
                    ends[part + 1] += 1
                    known[part, value] = 0
                    found += 1
    for part in range(count):
        ends[part + 1] += ends[part]
    step_values, step_counts = np.empty(found, np.uint8), np.empty(found, np.int64)
    for one in range(found):
        place = ends[part_of[one]]
        step_values[place], step_counts[place] = value_of[one], records_of[one]
        ends[part_of[one]] += 1
    return step_values, step_counts


@kernel
def find_parts(
    numbers: Ints, wanted: Ints, above: Ints, became: tuple[Ints, Ints, Ints], found: Ints
) -> None:
    """Fill `found` with the row of a step of some rows of the table, or of those above them.

    That is the first one which has records of the wanted part. If there is none, `found` stays as
    it is. `became` is what `part_rows` returns last.
    """
    first, parts, rows = became
    for one in range(len(numbers)):
        row, part, open_ = numbers[one], wanted[one], True
        while row >= 0 and open_:
            for entry in range(first[row], first[row + 1]):
                if parts[entry] == part:
                    found[one] = rows[entry]
                    open_ = False
                    break
            row = above[row]
