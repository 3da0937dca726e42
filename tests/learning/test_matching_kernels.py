"""Grouping records by their keys and scoring them, against plain twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.learning.matching_kernels import (
    BLOCK,
    add_count,
    clear_counts,
    match_keys,
    new_store,
    number_rows,
    power_of_two,
    score_matches,
    sort_by_group,
    stored_entries,
)

ALL = np.uint64(2**64 - 1)


def packed(*words):
    return np.array(words, np.uint64)


def first_seen(rows):
    """Number rows in the order in which they first occur, one by one."""
    numbers = {}
    ids = [numbers.setdefault(row, len(numbers)) for row in rows]
    return ids, [rows.index(row) for row in numbers]


def test_rows_are_numbered_as_they_come():
    ids, firsts = number_rows(packed([7, 3, 7, 9]), packed(ALL))
    assert ids.tolist() == [0, 1, 0, 2]
    assert firsts.tolist() == [0, 1, 3]


def test_only_bits_of_the_mask_count():
    # 7 = 111 and 3 = 011 agree on the two lower bits, 4 = 100 does not.
    ids, firsts = number_rows(packed([7, 3, 4]), packed(0b011))
    assert ids.tolist() == [0, 0, 1]
    assert firsts.tolist() == [0, 2]


def test_rows_that_differ_in_any_word_are_different():
    ids, _ = number_rows(packed([1, 1, 2], [5, 6, 5]), packed(ALL, ALL))
    assert ids.tolist() == [0, 1, 2]


@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 2), min_size=1, max_size=40),
    st.sampled_from([0, 1, 2, 3]),
    st.sampled_from([0, 1, 2, 3]),
)
def test_numbers_are_those_of_a_dictionary(rows, low, high):
    words = packed(*zip(*rows, strict=True)) << np.uint64(40)
    ids, firsts = number_rows(words, packed(low << 40, high << 40))
    expected = first_seen([(a & low, b & high) for a, b in rows])
    assert (ids.tolist(), firsts.tolist()) == expected


def test_numbers_beyond_one_block():
    rows = np.random.default_rng(1).integers(500, size=3 * BLOCK + 5)
    ids, firsts = number_rows(packed(rows), packed(ALL))
    assert (ids.tolist(), firsts.tolist()) == first_seen(rows.tolist())


@pytest.mark.parametrize(("least", "size"), [(0, 16), (16, 16), (17, 32), (1000, 1024)])
def test_power_of_two(least, size):
    assert power_of_two(least) == size


@given(st.lists(st.integers(0, 5), max_size=30))
def test_rows_of_a_group_stay_in_order(ids):
    starts, order = sort_by_group(np.array(ids, np.int32), 6)
    assert order.tolist() == np.argsort(ids, kind="stable").tolist()
    assert np.diff(starts).tolist() == [ids.count(group) for group in range(6)]


def nothing_found(rows):
    return np.zeros(rows, np.int64), np.zeros(rows, np.int64), np.full(rows, -7, np.int32)


def test_a_match_is_scored_by_weighted_counts():
    # Group 0 holds value 1 twice and value 0 thrice (1 + 2); group 1 a tie of values 2 and 1.
    reference = (
        np.array([0, 3, 5]),
        np.array([1, 0, 0, 2, 1], np.int32),
        np.array([2, 1, 2, 4, 4]),
    )
    # Rows 1 and 2 ask for group 0, row 0 for group 1, row 3 for a group without a reference.
    queries = (
        np.array([0, 2, 3, 4]),
        np.array([1, 2, 0, 3], np.int32),
        np.array([2, 1, 2, 0], np.int32),
    )
    found = nothing_found(4)
    score_matches(reference, queries, 3, found)
    same, total, guess = found
    assert same.tolist() == [4, 2, 0, 0]
    assert total.tolist() == [8, 5, 5, 0]
    assert guess.tolist() == [1, 0, 0, -7]  # the lower of tied values; row 3 is left alone


def counted(store, lines, levels):
    """Return the counts of a store as a list for each line."""
    starts, values, counts = stored_entries(store)
    assert len(starts) == lines + 1
    table = np.zeros((lines, levels), int)
    np.add.at(table, (np.repeat(np.arange(lines), np.diff(starts)), values), counts)
    return table.tolist()


@pytest.mark.parametrize("room", [0, 3])
def test_counts_add_up_and_can_be_cleared(room):
    store = new_store(3, 4, room)
    add_count(store, 2, 1, 5)
    add_count(store, 2, 3, 1)
    add_count(store, 0, 3, 2)
    assert counted(store, 3, 4) == [[0, 0, 0, 2], [0] * 4, [0, 5, 0, 1]]
    assert (store[1] >= 0).tolist() == [True, False, True]
    clear_counts(store, 2)
    assert (store[1] >= 0).tolist() == [True, False, False]
    # There is room for two entries that were given back.
    add_count(store, 1, 0, 7)
    add_count(store, 0, 3, 1)
    assert counted(store, 3, 4) == [[0, 0, 0, 3], [7, 0, 0, 0], [0] * 4]
    assert store[3][2] == 0


def test_a_count_without_room_is_noted():
    store = new_store(2, 4, 1)
    add_count(store, 0, 1, 1)
    assert store[3][2] == 0
    add_count(store, 1, 1, 1)
    assert store[3][2] == 1


@pytest.mark.parametrize("room", [0, 100])
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 3), st.none() | st.integers(1, 9)), max_size=40
    )
)
def test_counts_are_those_of_a_table(room, steps):
    store, expected = new_store(3, 4, room), np.zeros((3, 4), int)
    for line, value, count in steps:
        if count is None:
            clear_counts(store, line)
            expected[line] = 0
        else:
            add_count(store, line, value, count)
            expected[line, value] += count
    assert counted(store, 3, 4) == expected.tolist()
    assert (store[1] >= 0).tolist() == expected.any(axis=1).tolist()


record = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(1, 3))


@given(st.lists(record, min_size=1, max_size=20), st.lists(record, min_size=1, max_size=20))
def test_matching_keys_are_those_of_a_loop(reference, queries):
    words = packed([key for key, _, _ in reference + queries])
    told = np.array([value for _, value, _ in reference], np.int32)
    weights = np.array([weight for _, _, weight in reference])
    wanted = np.array([value for _, value, _ in queries], np.int32)
    (ids, firsts, groups), _, _, found = match_keys(words, packed(ALL), (told, weights), wanted, 3)
    assert groups == len({key for key, _, _ in reference})
    for row, (key, value, _) in enumerate(queries):
        counts = [sum(w for k, v, w in reference if (k, v) == (key, level)) for level in range(3)]
        assert (found[0][row], found[1][row]) == (counts[value], sum(counts))
        if sum(counts):
            assert found[2][row] == counts.index(max(counts))
        assert (ids[row] < groups) == (sum(counts) > 0)
        assert words[0, firsts[ids[row]]] == key


def test_a_table_can_be_looked_up_in_itself():
    told = np.array([0, 1, 0], np.int32)
    words = packed([4, 4, 9])
    (ids, _, groups), _, _, (same, total, _) = match_keys(
        words, packed(ALL), (told, np.array([2, 1, 1])), told, 2
    )
    assert (ids.tolist(), groups) == ([0, 0, 1], 2)
    assert same.tolist() == [2, 1, 1]
    assert total.tolist() == [3, 3, 1]
