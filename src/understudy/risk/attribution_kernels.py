"""The compiled loops of attribution: grouping records by their keys, and scoring them.

Keys are packed into 64-bit words, one array per word: a set of keys is an AND mask, with one number
per word. All kernels release the GIL and are cached on disk. Coverage is not measured here, for it
cannot see into compiled code: every kernel has a plain twin in its test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from understudy.counting.compiling import announce_compilation

if TYPE_CHECKING:
    from numpy.typing import NDArray

announce_compilation()

# Odd numbers without pattern (the golden ratio's, and one of splitmix64's): a product with them
# spreads the bits of a key upwards, a shift to the right spreads them downwards.
_ODD = np.uint64(0x9E3779B97F4A7C15)
_ODD_TOO = np.uint64(0xBF58476D1CE4E5B9)
_HALF = np.uint64(32)
_THIRD = np.uint64(29)
BLOCK = 1024
"""Rows that are worked on at once; their buffers stay in the L1 cache."""


@njit(cache=True, nogil=True)  # pragma: no cover
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


@njit(cache=True, nogil=True)  # pragma: no cover
def power_of_two(least: int) -> int:
    """Return the first power of two from 16 that is not below `least`."""
    size = 16
    while size < least:
        size *= 2
    return size


@njit(cache=True, nogil=True)  # pragma: no cover
def number_rows(
    words: NDArray[np.uint64], mask: NDArray[np.uint64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Give each different masked row a number, in the order in which they first occur.

    Parameters
    ----------
    words : ndarray of uint64, shape (words, rows)
        The packed rows.
    mask : ndarray of uint64, shape (words,)
        The bits that count.

    Returns
    -------
    tuple of ndarray of int32
        The number of each row, and the first row of each number.
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


@njit(cache=True, nogil=True)  # pragma: no cover
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


@njit(cache=True, nogil=True)  # pragma: no cover
def score_matches(
    reference: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
    queries: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]],
    levels: int,
    found: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]],
) -> None:
    """Score the queries whose key is a group of the reference.

    Parameters
    ----------
    reference : tuple of ndarray
        Where each group's entries start, and for each entry its value and how often it occurs.
    queries : tuple of ndarray
        Where each group's rows start, the rows in this order, and the value of each row. There can
        be more groups than the reference has; they are left alone.
    levels : int
        Number of values; of two that are as frequent, the lower one is the guess.
    found : tuple of ndarray
        For each row how many of the reference share its value, how many there are, and the guess;
        changed in place.
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


@njit(cache=True, nogil=True)  # pragma: no cover
def score_counts(
    counts: NDArray[np.uint32],
    groups: NDArray[np.int32],
    queries: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]],
    found: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]],
) -> None:
    """Score the queries of some groups, given the counts of values among their nearest records.

    Parameters
    ----------
    counts : ndarray of uint32, shape (groups, levels)
        How often each value occurs.
    groups : ndarray of int32
        The group that each line of `counts` is of.
    queries, found
        As in `score_matches`.
    """
    firsts, rows, wanted = queries
    same, total, guess = found
    for line in range(len(groups)):
        all_of_them, best, winner = np.int64(0), np.int64(0), np.int32(0)
        for value in range(counts.shape[1]):
            all_of_them += np.int64(counts[line, value])
            if counts[line, value] > best:
                best, winner = np.int64(counts[line, value]), np.int32(value)
        for place in range(firsts[groups[line]], firsts[groups[line] + 1]):
            row = rows[place]
            same[row] = counts[line, wanted[row]]
            total[row], guess[row] = all_of_them, winner


@njit(cache=True, nogil=True)  # pragma: no cover
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

    Parameters
    ----------
    words : ndarray of uint64, shape (words, rows)
        The packed records: those of the reference, and then the queries. If there are as many as
        the reference has, they are the queries too.
    mask : ndarray of uint64, shape (words,)
        The bits of the keys.
    reference : tuple of ndarray
        Value and weight of each record of the reference.
    wanted : ndarray of int32
        Value of each query.
    levels : int
        Number of values; of two that are as frequent, the lower one is the guess.

    Returns
    -------
    tuple
        The group of each query, the first row of each group, and how many groups the reference
        has, which are the first ones; `reference`, `queries` and `found` as in `score_matches`.
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
