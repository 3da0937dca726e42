"""The compiled loops of the searches: totals of many sets of columns, and what a parent splits.

All kernels release the GIL and are cached on disk. They fill arrays that they are given and return
at most a number: numba runs Python code to wrap an array, and a Ctrl-C that is heard there comes
out as a SystemError. Coverage is not measured here, for it cannot see into compiled code: every
kernel has a NumPy twin in its test.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.counting.compiling import kernel
from understudy.counting.kernels import scaled_c_log2_c

Ints: TypeAlias = NDArray[np.int64]
UInts8: TypeAlias = NDArray[np.uint8]
UInts16: TypeAlias = NDArray[np.uint16]
UInts32: TypeAlias = NDArray[np.uint32]
Terms: TypeAlias = tuple[Ints, int]
"""`Information.table` and `Information.shift`."""

# Rows whose cells are numbered in one vectorized sweep; the buffer stays in the L1 cache.
_SWEEP = 2048
# Cell numbers have 16 bits: they are computed and read faster than with 32.
CELLS = 2**16
# A histogram is read cell by cell as long as there are at most this many cells per row. With more,
# most cells are empty, and following the rows is quicker.
_CELLS_PER_ROW = 4
# Rows with rare values are listed in blocks of at least this many rows, for children of at least
# so many parent sets: otherwise a list costs more than it saves.
_LISTED_BLOCK = 1024
_LISTED_SETS = 8
# The longest list, so that their memory does not grow with the rows times the columns.
_LISTED_ROWS = 2**19


@kernel
def _term(count: int, table: Ints, shift: int) -> np.int64:
    """Return the entropy term of a count, from the table if it is there."""
    if count < len(table):
        return np.int64(table[np.uint64(count)])
    return scaled_c_log2_c(count, shift)


@kernel
def _place(places: UInts16, high: NDArray[np.unsignedinteger], low: UInts8, width: int) -> None:
    """Give each row the number of its cell (high, low)."""
    for i in range(len(high)):
        places[i] = np.uint16(high[i]) * np.uint16(width) + np.uint16(low[i])


@kernel
def _number(codes: UInts16, bound: int, counts: UInts32, numbers: UInts16, members: UInts32) -> int:
    """Renumber the codes that occur from 0 without gaps, in place, and return how many there are.

    `counts` is 0 before and after; `members` becomes the number of rows of each code.
    """
    # Unsigned subscripts: a signed one is tested for being negative, at every row.
    for i in range(len(codes)):
        counts[np.uint64(codes[i])] += np.uint32(1)
    found = 0
    if bound <= _CELLS_PER_ROW * len(codes):
        for cell in range(bound):
            if counts[cell]:
                numbers[cell] = found
                members[found] = counts[cell]
                found += 1
        counts[:bound] = 0
    else:
        for i in range(len(codes)):
            code = np.uint64(codes[i])
            if counts[code]:
                numbers[code] = found
                members[found] = counts[code]
                counts[code] = 0
                found += 1
    # Codes that all occur are their own numbers.
    if found < bound:
        for i in range(len(codes)):
            codes[i] = numbers[np.uint64(codes[i])]
    return found


@kernel
def _full_total(
    codes: UInts16,
    column: UInts8,
    shape: tuple[int, int],
    counts: UInts32,
    places: UInts16,
    terms: Terms,
) -> np.int64:
    """Return the total of the cells (code, value of the column), counting all rows."""
    table, shift = terms
    cells = shape[0] * shape[1]
    total = np.int64(0)
    for begin in range(0, len(codes), _SWEEP):
        high = codes[begin : begin + _SWEEP]
        _place(places, high, column[begin : begin + _SWEEP], shape[1])
        for i in range(len(high)):
            counts[np.uint64(places[i])] += np.uint32(1)
    if cells > _CELLS_PER_ROW * len(codes):
        for begin in range(0, len(codes), _SWEEP):
            high = codes[begin : begin + _SWEEP]
            _place(places, high, column[begin : begin + _SWEEP], shape[1])
            # A cell gives its term to the first row that finds it; emptied, it gives 0 to others.
            for i in range(len(high)):
                place = np.uint64(places[i])
                total += _term(counts[place], table, shift)
                counts[place] = 0
        return total
    # No count is larger than the number of rows; without that test, a cell takes half the time.
    if len(codes) < len(table):
        for cell in range(cells):
            total += table[np.uint64(counts[cell])]
    else:
        for cell in range(cells):
            total += _term(counts[cell], table, shift)
    counts[:cells] = 0
    return total


@kernel
def _list_rare(column: UInts8, rows: UInts32, values: UInts8) -> int:
    """List the rows whose value is not the most common one, and return how many these are.

    If there is no room for them, because no value is common enough, or if there are too few rows
    for a list to pay, the answer is -1.
    """
    if len(column) < _LISTED_BLOCK:
        return -1
    counts = np.zeros(256, np.int64)
    for i in range(len(column)):
        counts[np.uint64(column[i])] += 1
    common = 0
    for value in range(256):
        if counts[value] > counts[common]:
            common = value
    if len(column) - counts[common] > len(rows):
        return -1
    found = 0
    for i in range(len(column)):
        if column[i] != common:
            rows[found] = i
            values[found] = column[i]
            found += 1
    return found


@kernel
def _rare_total(
    codes: UInts16,
    rows: UInts32,
    values: UInts8,
    width: int,
    members: UInts32,
    counts: UInts32,
    terms: Terms,
) -> np.int64:
    """Return the total of the cells (code, value), counting only rows with a rare value.

    What the rare values leave of a code's members has the common value.
    """
    table, shift = terms
    for i in range(len(rows)):
        code = np.uint64(codes[np.uint64(rows[i])])
        counts[code * np.uint64(width) + np.uint64(values[i])] += np.uint32(1)
    total = np.int64(0)
    for group in range(len(members)):
        cells = counts[group * width : (group + 1) * width]
        left = members[group]
        for i in range(width):
            left -= cells[i]
            total += _term(cells[i], table, shift)
        total += _term(left, table, shift)
    counts[: len(members) * width] = 0
    return total


@kernel
def group_rows(ids: UInts32, members: UInts32, order: UInts32, ends: Ints) -> int:
    """List the rows of each group, leaving out groups of a single row: their terms are 0.

    `ids` has the group of each row, `members` the number of rows of each group. `order` is filled
    with the rows, group after group, and `ends` with where each group ends in it. Returns the
    number of groups with two or more rows.
    """
    groups = 0
    listed = np.int64(0)
    nexts = np.full(len(members), -1, np.int64)
    for group in range(len(members)):
        if members[group] > 1:
            nexts[group] = listed
            listed += np.int64(members[group])
            ends[groups] = listed
            groups += 1
    for row in range(len(ids)):
        place = nexts[np.uint64(ids[row])]
        if place >= 0:
            order[place] = row
            nexts[np.uint64(ids[row])] = place + 1
    return groups


@kernel
def grouped_total(
    order: UInts32, ends: Ints, column: UInts32, counts: UInts32, terms: Terms
) -> np.int64:
    """Return the total of a column within groups of rows, with one cell per code and no more.

    The total is the sum of the entropy terms over all cells (group, code). `order` and `ends` are
    those of `group_rows`, without the room that it left empty; `terms` are `Information.table` and
    `Information.shift`; `counts` has a cell for each code, and is 0 before and after.
    """
    table, shift = terms
    one = np.uint32(1)
    total = np.int64(0)
    start = np.int64(0)
    for group in range(len(ends)):
        rows = order[start : ends[group]]
        start = ends[group]
        for i in range(len(rows)):
            counts[np.uint64(column[np.uint64(rows[i])])] += one
        # A cell gives its term to the first row that finds it; emptied, it gives 0 to the others.
        for i in range(len(rows)):
            code = np.uint64(column[np.uint64(rows[i])])
            total += _term(counts[code], table, shift)
            counts[code] = 0
    return total


@kernel
def _longest(bounds: Ints) -> np.int64:
    """Return the number of rows of the longest block."""
    longest = np.int64(0)
    for block in range(len(bounds) - 1):
        longest = max(longest, bounds[block + 1] - bounds[block])
    return longest


@kernel
def _rank(children: Ints, ranks: Ints) -> int:
    """Give numbers to the columns that are somebody's child, and return how many these are.

    `ranks` is -1 for all columns before, and for the others afterwards.
    """
    different = 0
    for child in children:
        if ranks[child] < 0:
            ranks[child] = different
            different += 1
    return different


@kernel
def score_families(
    stack: UInts8,
    bounds: Ints,
    sizes: Ints,
    families: tuple[Ints, Ints, Ints],
    terms: Terms,
    alone: Ints,
    joint: Ints,
) -> None:
    """Compute the totals of parent sets that differ in two columns, alone and with each child.

    The rows are sorted by the parents that all sets share, and one block of equal rows is counted
    after the other: the histogram of the other parents and the child stays in the L1 cache. What
    the parents need is done once for all children, and what a child needs, once for all parents.

    Parameters
    ----------
    stack : ndarray of uint8, shape (columns, rows)
        The codes, each below its column's size: this is not checked here.
    bounds : ndarray of int64
        Where each block of rows with the same values in the shared parents starts, and the number
        of rows.
    sizes : ndarray of int64
        Number of codes of each column.
    families : tuple of (ndarray, ndarray, ndarray) of int64
        The two parents of each set that are not shared, as an array of shape (sets, 2); where the
        children of each set end in the third array; and the children of all sets. A constant
        column stands for a parent that is not there. The product of the sizes of both parents and
        of a child is at most `CELLS`.
    terms : tuple of (ndarray of int64, int)
        `Information.table` and `Information.shift`.
    alone : ndarray of int64
        The total of each parent set is added to it.
    joint : ndarray of int64
        The total of each child with its parent set is added to it.
    """
    table, shift = terms
    others, ends, children = families
    longest = _longest(bounds)
    counts, numbers = np.zeros(CELLS, np.uint32), np.empty(CELLS, np.uint16)
    members, codes_of_block = np.empty(longest, np.uint32), np.empty(longest, np.uint16)
    places = np.empty(_SWEEP, np.uint16)
    ranks = np.full(len(sizes), -1, np.int64)
    different = _rank(children, ranks)
    listing = len(children) >= _LISTED_SETS * different
    room = (different, min(int(longest) // 2, _LISTED_ROWS) if listing else 0)
    rare_rows, rare_values = np.empty(room, np.uint32), np.empty(room, np.uint8)
    rare = np.full(different, -1, np.int64)
    for block in range(len(bounds) - 1):
        begin, end = bounds[block], bounds[block + 1]
        rows = end - begin
        if rows < 2:
            continue  # the term of a single row is 0
        if listing:
            for place in range(len(ranks)):
                r = ranks[place]
                if r >= 0:
                    column = stack[place, begin:end]
                    rare[r] = _list_rare(column, rare_rows[r, : rows // 2], rare_values[r])
        codes = codes_of_block[:rows]
        for s in range(len(others)):
            high, low = others[s]
            _place(codes, stack[high, begin:end], stack[low, begin:end], sizes[low])
            groups = _number(codes, sizes[high] * sizes[low], counts, numbers, members)
            for group in range(groups):
                alone[s] += _term(members[group], table, shift)
            for c in range(ends[s - 1] if s else 0, ends[s]):
                column, width, r = (
                    stack[children[c], begin:end],
                    sizes[children[c]],
                    ranks[children[c]],
                )
                if rare[r] >= 0 and groups * width <= _CELLS_PER_ROW * rows:
                    listed, found = rare_rows[r, : rare[r]], rare_values[r, : rare[r]]
                    known = members[:groups]
                    joint[c] += _rare_total(codes, listed, found, width, known, counts, terms)
                else:
                    joint[c] += _full_total(codes, column, (groups, width), counts, places, terms)
