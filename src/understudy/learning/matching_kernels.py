"""The compiled loops of attribution: grouping records by keys, counting values, and scoring them.

Keys are packed into 64-bit words, one array per word: a set of keys is an AND mask, with one number
per word. All kernels release the GIL and are cached on disk. Coverage is not measured here, for it
cannot see into compiled code: every kernel has a plain twin in its test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy.counting.compiling import inlined_kernel, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Store = tuple[
        NDArray[np.uint32],
        NDArray[np.int32],
        tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]],
        NDArray[np.int64],
    ]


# Odd numbers without pattern (the golden ratio's, and one of splitmix64's): a product with them
# spreads the bits of a key upwards, a shift to the right spreads them downwards.
_ODD = np.uint64(0x9E3779B97F4A7C15)
_ODD_TOO = np.uint64(0xBF58476D1CE4E5B9)
_HALF = np.uint64(32)
_THIRD = np.uint64(29)
BLOCK = 1024
"""Rows that are worked on at once; their buffers stay in the L1 cache."""
COUNTED = 16
"""One of so many codes must be there for counting all of them to be quicker than sorting."""


@kernel
def hash_block(
    words: NDArray[np.uint64],
    mask: NDArray[np.uint64],
    span: tuple[int, int],
    mixed: NDArray[np.uint64],
    hashes: NDArray[np.uint32],
) -> int:
    """Hash at most `BLOCK` rows of a span by their masked words; return how many there were."""
    begin = span[0]
    length = min(BLOCK, span[1] - begin)
    mixed[:length] = np.uint64(0)
    for place in range(words.shape[0]):
        word, kept = words[place, begin : begin + length], mask[place]
        for i in range(length):
            both = mixed[i] ^ (word[i] & kept)
            mixed[i] = (both ^ (both >> _HALF)) * _ODD
    for i in range(length):
        hashes[i] = np.uint32(((mixed[i] ^ (mixed[i] >> _THIRD)) * _ODD_TOO) >> _HALF)
    return length


@kernel
def power_of_two(least: int) -> int:
    """Return the first power of two from 16 that is not below `least`."""
    size = 16
    while size < least:
        size *= 2
    return size


@kernel
def number_rows(
    words: NDArray[np.uint64], mask: NDArray[np.uint64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Give each different masked row a number, in the order in which they first occur.

    `words` has the shape (words, rows), `mask` the bits that count. Returns the number of each row,
    and the first row of each number.
    """
    rows = words.shape[1]
    mixed, hashes = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint32)
    size = power_of_two(2 * rows)
    table = np.full(size, np.int32(-1), np.int32)
    last = np.uint32(size - 1)
    ids, firsts = np.empty(rows, np.int32), np.empty(rows, np.int32)
    count = 0
    for row in range(rows):
        if row % BLOCK == 0:
            hash_block(words, mask, (row, rows), mixed, hashes)
        slot = hashes[row % BLOCK] & last
        while True:
            group = table[slot]
            if group < 0:
                table[slot] = count
                firsts[count] = row
                ids[row] = count
                count += 1
                break
            other = firsts[group]
            same = True
            for place in range(words.shape[0]):
                if (words[place, row] ^ words[place, other]) & mask[place]:
                    same = False
            if same:
                ids[row] = group
                break
            slot = np.uint32(slot + np.uint32(1)) & last
    return ids, firsts[:count].copy()


@kernel
def sort_by_group(
    ids: NDArray[np.int32], groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return where each group's rows start, and the rows in the order of their groups."""
    starts = np.zeros(groups + 1, np.int64)
    for row in range(len(ids)):
        starts[ids[row] + 1] += 1
    for group in range(groups):
        starts[group + 1] += starts[group]
    following = starts[:-1].copy()
    order = np.empty(len(ids), np.int32)
    for row in range(len(ids)):
        order[following[ids[row]]] = row
        following[ids[row]] += 1
    return starts, order


def new_store(lines: int, levels: int, entries: int) -> Store:
    """Return counts of values for a number of lines, all 0.

    So many `entries` can be held as chains; if 0, there is a cell for each line and value instead.
    The store has the cells; the first entry of each line, or -1 if nothing was counted; the value,
    the count and the following entry of each entry; and three numbers: how many entries were ever
    taken, the first that was given back, and whether there were too few.
    """
    return (
        np.zeros((0 if entries else lines, levels), np.uint32),
        np.full(lines, -1, np.int32),
        (np.empty(entries, np.int32), np.empty(entries, np.int64), np.empty(entries, np.int32)),
        np.array([0, -1, 0]),
    )


# Inlined, for a call for each count would take most of the time.
@inlined_kernel
def add_count(store: Store, line: int, value: int, count: int) -> None:
    """Add to the count of a value; in a store without room, only note that there was none."""
    cells, heads, (values, counts, following), state = store
    if len(cells):
        cells[line, value] += np.uint32(count)
        heads[line] = 0
        return
    entry = state[1]
    if entry >= 0:
        state[1] = following[entry]
    elif state[0] < len(values):
        entry = state[0]
        state[0] += 1
    else:
        state[2] = 1
        return
    values[entry], counts[entry], following[entry] = value, count, heads[line]
    heads[line] = entry


@kernel
def clear_counts(store: Store, line: int) -> None:
    """Set all counts of a line to 0."""
    cells, heads, (_, _, following), state = store
    if len(cells):
        cells[line] = 0
    else:
        entry = heads[line]
        while entry >= 0:
            after = following[entry]
            following[entry] = state[1]
            state[1] = entry
            entry = after
    heads[line] = -1


@kernel
def stored_entries(
    store: Store,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return where each line's entries start, and each entry's value and count.

    A value can have several entries in a line; they add up.
    """
    cells, heads, (values, counts, following), _ = store
    starts = np.zeros(len(heads) + 1, np.int64)
    for line in range(len(heads)):
        here = np.int64(0)
        if len(cells):
            for value in range(cells.shape[1]):
                here += cells[line, value] > 0
        else:
            entry = heads[line]
            while entry >= 0:
                here += 1
                entry = following[entry]
        starts[line + 1] = starts[line] + here
    told, weights = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int64)
    for line in range(len(heads)):
        place = starts[line]
        if len(cells):
            for value in range(cells.shape[1]):
                if cells[line, value] > 0:
                    told[place], weights[place] = value, cells[line, value]
                    place += 1
        else:
            entry = heads[line]
            while entry >= 0:
                told[place], weights[place] = values[entry], counts[entry]
                place += 1
                entry = following[entry]
    return starts, told, weights


@kernel
def score_matches(
    reference: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
    queries: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]],
    levels: int,
    found: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]],
) -> None:
    """Score the queries whose key is a group of the reference; `found` is changed in place.

    `reference` says where each group's entries start, and each entry's value and how often it
    occurs; `queries` where each group's rows start, the rows in this order, and the value of each
    row. Groups beyond those of the reference are left alone. `found` has for each row how many of
    the reference share its value, how many there are, and the guess: of values that are as
    frequent, the lowest.
    """
    starts, values, weights = reference
    firsts, rows, wanted = queries
    same, total, guess = found
    counts = np.zeros(levels, np.int64)
    for group in range(len(starts) - 1):
        if firsts[group] == firsts[group + 1]:
            continue
        all_of_them, best, winner = np.int64(0), np.int64(0), np.int32(0)
        for entry in range(starts[group], starts[group + 1]):
            counts[values[entry]] += weights[entry]
            all_of_them += weights[entry]
        for entry in range(starts[group], starts[group + 1]):
            value = values[entry]
            if counts[value] > best or (counts[value] == best and value < winner):
                best, winner = counts[value], value
        for place in range(firsts[group], firsts[group + 1]):
            row = rows[place]
            same[row], total[row], guess[row] = counts[wanted[row]], all_of_them, winner
        for entry in range(starts[group], starts[group + 1]):
            counts[values[entry]] = 0


@kernel
def _sorted_codes(
    entries: tuple[NDArray[np.int32], NDArray[np.int64]], codes: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the codes of some entries in their order, and how many records come before each."""
    values, sizes = entries
    own = np.empty(len(values), np.int32)
    in_order = True
    for place in range(len(values)):
        own[place] = codes[values[place]]
        in_order = in_order and (place == 0 or own[place - 1] <= own[place])
    if not in_order:
        order = np.argsort(own)
        own, sizes = own[order], sizes[order]
    before = np.zeros(len(own) + 1, np.int64)
    for place in range(len(own)):
        before[place + 1] = before[place] + sizes[place]
    return own, before


@kernel
def _count_codes(
    entries: tuple[NDArray[np.int32], NDArray[np.int64]],
    codes: NDArray[np.int32],
    before: NDArray[np.int64],
) -> None:
    """Write how many records of some entries come before each code, whether it is there or not."""
    values, sizes = entries
    before[:] = 0
    for place in range(len(values)):
        before[codes[values[place]] + 1] += sizes[place]
    for code in range(len(codes)):
        before[code + 1] += before[code]


@kernel
def score_between(
    reference: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
    codes: NDArray[np.int32],
    queries: tuple[NDArray[np.int64], NDArray[np.int32]],
    limits: tuple[NDArray[np.int32], NDArray[np.int32]],
    found: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]],
) -> None:
    """Score queries as `score_matches` does, by values that have an order.

    `codes` are those of the values, in their order. `limits` are the first and the last code that
    count for each row. The guess is the middle code: the first with at least half of the records
    up to it.
    """
    starts, values, weights = reference
    firsts, rows = queries
    same, total, guess = found
    every = np.arange(len(codes), dtype=np.int32)
    counted = np.empty(len(codes) + 1, np.int64)
    for group in range(len(starts) - 1):
        if firsts[group] == firsts[group + 1]:
            continue
        begin, end = starts[group], starts[group + 1]
        entries = values[begin:end], weights[begin:end]
        # Many entries are counted by code, few are sorted: a key without any match has them all.
        if (end - begin) * COUNTED > len(codes):
            _count_codes(entries, codes, counted)
            own, before = every, counted
        else:
            own, before = _sorted_codes(entries, codes)
        all_of_them = before[-1]
        middle = np.searchsorted(before[1:], (all_of_them + 1) // 2)
        for place in range(firsts[group], firsts[group + 1]):
            row = rows[place]
            low = np.searchsorted(own, limits[0][row])
            high = max(np.searchsorted(own, limits[1][row], side="right"), low)
            same[row], total[row] = before[high] - before[low], all_of_them
            guess[row] = own[middle]


@kernel
def match_keys(
    words: NDArray[np.uint64],
    mask: NDArray[np.uint64],
    reference: tuple[NDArray[np.int32], NDArray[np.int64]],
    wanted: NDArray[np.int32],
    levels: int,
) -> tuple[
    tuple[NDArray[np.int32], NDArray[np.int32], int],
    tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
    tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]],
    tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]],
]:
    """Group the records of both sides by their masked keys, and score the queries that match.

    `words` are the packed records of the reference, and then the queries; if there are as many as
    the reference has, they are the queries too. `reference` has value and weight of each record,
    `wanted` the value of each query. Returns the group of each query, the first row of each group,
    and how many groups the reference has, which are the first ones; then what `score_matches` takes
    and fills.
    """
    told, weights = reference
    own = len(told)
    ids, firsts = number_rows(words, mask)
    groups = 0
    while groups < len(firsts) and firsts[groups] < own:
        groups += 1
    starts, order = sort_by_group(ids[:own], groups)
    values, counts = np.empty(own, np.int32), np.empty(own, np.int64)
    for place in range(own):
        values[place], counts[place] = told[order[place]], weights[order[place]]
    asking = ids[len(ids) - len(wanted) :].copy()
    asked, rows = sort_by_group(asking, len(firsts))
    size = len(wanted)
    found = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int32)
    entries, queries = (starts, values, counts), (asked, rows, wanted)
    score_matches(entries, queries, levels, found)
    return (asking, firsts, groups), entries, queries, found
