"""The compiled loops of the search for the nearest records, over packed keys.

Two ways lead to the same counts: `add_agreeing` looks for keys that agree on a set of attributes,
`compare_all` compares each key with every other. Counts are kept in a `Store`. Coverage is not
measured here, for it cannot see into compiled code: every kernel has a plain twin in its test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy.counting.compiling import kernel
from understudy.learning.matching_kernels import (
    BLOCK,
    add_count,
    clear_counts,
    hash_block,
    power_of_two,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from understudy.learning.matching_kernels import Store


# A table of few slots looks at other bits of a hash than the bitmap that let the row pass.
_SPENT = np.uint32(7)


@kernel
def _bits(rows: int) -> int:
    """Return the size of a bitmap in which few bits are set, unless it would leave the cache."""
    return power_of_two(min(max(32 * rows, 1024), 2**23))


@kernel
def _set_bits(bitmap: NDArray[np.uint64], hashes: NDArray[np.uint32]) -> None:
    last = np.uint32(64 * len(bitmap) - 1)
    for number in hashes:
        place = number & last
        bitmap[place >> np.uint32(6)] |= np.uint64(1) << np.uint64(place & np.uint32(63))


@kernel
def _choose_rows(
    bitmap: NDArray[np.uint64],
    words: NDArray[np.uint64],
    mask: NDArray[np.uint64],
    span: tuple[int, int],
    chosen: tuple[NDArray[np.int32], NDArray[np.uint32]],
) -> int:
    """Find the rows of a span whose bit is set, with their hashes; return how many there are."""
    mixed, hashes = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint32)
    rows, hashes_of = chosen
    last = np.uint32(64 * len(bitmap) - 1)
    found = np.int64(0)
    for begin in range(span[0], span[1], BLOCK):
        for i in range(hash_block(words, mask, (begin, span[1]), mixed, hashes)):
            place = hashes[i] & last
            # Written whether or not it stays, for a branch would often be guessed wrongly.
            rows[found], hashes_of[found] = begin + i, hashes[i]
            bit = (bitmap[place >> np.uint32(6)] >> np.uint64(place & np.uint32(63))) & np.uint64(1)
            found += np.int64(bit)
    return int(found)


@kernel
def _group_rows(
    words: NDArray[np.uint64],
    mask: NDArray[np.uint64],
    chosen: tuple[NDArray[np.int32], NDArray[np.uint32]],
    table: NDArray[np.int32],
    first: NDArray[np.int32],
    following: NDArray[np.int32],
) -> int:
    """Chain the chosen rows that agree in a hash table of groups; return how many groups there are.

    The table holds the number of a group; `first` one of its rows, and `following` the next of a
    row, or -1.
    """
    rows, hashes = chosen
    table[:] = -1
    last = np.uint32(len(table) - 1)
    groups = 0
    for place in range(len(rows)):
        row = rows[place]
        slot = (hashes[place] >> _SPENT) & last
        while table[slot] >= 0:
            other = first[table[slot]]
            same = True
            for word in range(len(mask)):
                if (words[word, row] ^ words[word, other]) & mask[word]:
                    same = False
            if same:
                break
            slot = np.uint32(slot + np.uint32(1)) & last
        group = table[slot]
        if group < 0:
            group = groups
            table[slot] = group
            first[group] = -1
            groups += 1
        following[row] = first[group]
        first[group] = row
    return groups


@kernel
def _join_groups(
    words: tuple[NDArray[np.uint64], NDArray[np.uint64]],
    mask: NDArray[np.uint64],
    chosen: tuple[NDArray[np.int32], NDArray[np.uint32]],
    table: NDArray[np.int32],
    firsts: tuple[NDArray[np.int32], NDArray[np.int32]],
    following: NDArray[np.int32],
) -> None:
    """Chain the chosen rows of the other side that agree with a group of `_group_rows`."""
    keys, others = words
    rows, hashes = chosen
    first, first_too = firsts
    last = np.uint32(len(table) - 1)
    for place in range(len(rows)):
        row = rows[place]
        slot = (hashes[place] >> _SPENT) & last
        while table[slot] >= 0:
            other = first[table[slot]]
            same = True
            for word in range(len(mask)):
                if (others[word, row] ^ keys[word, other]) & mask[word]:
                    same = False
            if same:
                following[row] = first_too[table[slot]]
                first_too[table[slot]] = row
                break
            slot = np.uint32(slot + np.uint32(1)) & last


@kernel
def _add_groups(
    chains: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]],
    lines: NDArray[np.int32],
    names: NDArray[np.int32],
    reference: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
    store: Store,
    tally: NDArray[np.int64],
    touched: NDArray[np.int32],
) -> None:
    """Add what the reference keys of each group say to the counts of all keys of the group."""
    starts, values, weights = reference
    first, first_too, following, following_too = chains
    for group in range(len(first)):
        different = 0
        key = first_too[group]
        while key >= 0:
            for entry in range(starts[names[key]], starts[names[key] + 1]):
                if tally[values[entry]] == 0:
                    touched[different] = values[entry]
                    different += 1
                tally[values[entry]] += weights[entry]
            key = following_too[key]
        key = first[group] if different else np.int32(-1)
        while key >= 0:
            for place in range(different):
                add_count(store, lines[key], touched[place], tally[touched[place]])
            key = following[key]
        for place in range(different):
            tally[touched[place]] = 0


@kernel
def add_agreeing(
    masks: NDArray[np.uint64],
    mine: tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int64]],
    theirs: tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int64]],
    reference: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
    store: Store,
) -> None:
    """Add to the counts of each key the values of all reference keys that agree under a mask.

    Both sides come in parts that agree on one attribute of all masks, which keeps what is looked up
    in the cache. Most keys agree with none: bitmaps of hashes leave few on either side. Those are
    grouped in a hash table, and each group is added up once for all its keys.

    `mine` are the packed keys without a match so far, the line of the store that belongs to each,
    and where each part starts; `theirs` the same of the reference, with the number of each key;
    `reference` says where the entries of each number start, and each entry's value and weight.
    """
    keys, lines, parts = mine
    others, names, parts_too = theirs
    most, most_too = np.max(np.diff(parts)), np.max(np.diff(parts_too))
    mixed, block = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint32)
    bitmaps = np.empty(_bits(most) // 64, np.uint64)
    chosen = np.empty(most + 1, np.int32), np.empty(most + 1, np.uint32)
    chosen_too = np.empty(most_too + 1, np.int32), np.empty(most_too + 1, np.uint32)
    tables = np.empty(power_of_two(2 * most), np.int32)
    first, first_too = np.empty(most, np.int32), np.empty(most, np.int32)
    following, following_too = np.empty(keys.shape[1], np.int32), np.empty(len(names), np.int32)
    levels = store[0].shape[1]
    tally, touched = np.zeros(levels, np.int64), np.empty(levels, np.int32)
    for part in range(len(parts) - 1):
        span = parts[part], parts[part + 1]
        span_too = parts_too[part], parts_too[part + 1]
        if span[0] == span[1] or span_too[0] == span_too[1]:
            continue
        bitmap = bitmaps[: _bits(span[1] - span[0]) // 64]
        for number in range(len(masks)):
            mask = masks[number]
            bitmap[:] = np.uint64(0)
            for begin in range(span[0], span[1], BLOCK):
                length = hash_block(keys, mask, (begin, span[1]), mixed, block)
                _set_bits(bitmap, block[:length])
            left_too = _choose_rows(bitmap, others, mask, span_too, chosen_too)
            if left_too == 0:
                continue
            bitmap[:] = np.uint64(0)
            _set_bits(bitmap, chosen_too[1][:left_too])
            left = _choose_rows(bitmap, keys, mask, span, chosen)

            table = tables[: power_of_two(2 * left)]
            some = chosen[0][:left], chosen[1][:left]
            groups = _group_rows(keys, mask, some, table, first, following)
            first_too[:groups] = -1
            some = chosen_too[0][:left_too], chosen_too[1][:left_too]
            _join_groups((keys, others), mask, some, table, (first, first_too), following_too)
            chains = first[:groups], first_too[:groups], following, following_too
            _add_groups(chains, lines, names, reference, store, tally, touched)


@kernel
def _differences(
    key: NDArray[np.uint8],
    columns: NDArray[np.uint8],
    ends: NDArray[np.bool_],
    differs: NDArray[np.uint8],
    distances: NDArray[np.unsignedinteger],
) -> None:
    """Fill `distances` with the number of attributes in which each column of codes differs."""
    length = columns.shape[1]
    distances[:] = 0
    starts = True
    for place in range(len(key)):
        code, column = key[place], columns[place]
        if starts and ends[place]:
            for i in range(length):
                distances[i] += column[i] != code
        else:
            if starts:
                differs[:] = 0
            for i in range(length):
                differs[i] |= column[i] != code
            if ends[place]:
                for i in range(length):
                    distances[i] += differs[i]
        starts = ends[place]


@kernel
def _least(numbers: NDArray[np.unsignedinteger]) -> int:
    least = numbers[0]
    for number in numbers:
        least = min(least, number)
    return least  # type: ignore[no-any-return]


@kernel
def compare_all(
    keys: NDArray[np.uint8],
    lines: NDArray[np.int32],
    others: NDArray[np.uint8],
    ends: NDArray[np.bool_],
    reference: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
    store: Store,
    nearest: NDArray[np.unsignedinteger],
) -> None:
    """Compare each key with all reference keys, and count the values at the smallest distance.

    `keys` and `others` are codes as bytes, and `ends` marks the last byte of each attribute;
    `lines` are those of the store, whose counts are 0 before; `reference` is as in `add_agreeing`.
    `nearest` is filled with the smallest distance, so its type must hold the number of attributes.
    """
    starts, values, weights = reference
    distances, differs = np.empty(BLOCK, nearest.dtype), np.empty(BLOCK, np.uint8)
    nearest[:] = np.sum(ends)
    for begin in range(0, others.shape[1], BLOCK):
        length = min(BLOCK, others.shape[1] - begin)
        columns = others[:, begin : begin + length]
        for key in range(len(keys)):
            _differences(keys[key], columns, ends, differs[:length], distances[:length])
            least = _least(distances[:length])
            if least > nearest[key]:
                continue
            if least < nearest[key]:
                nearest[key] = least
                clear_counts(store, lines[key])
            for i in range(length):
                if distances[i] == least:
                    for entry in range(starts[begin + i], starts[begin + i + 1]):
                        add_count(store, lines[key], values[entry], weights[entry])
