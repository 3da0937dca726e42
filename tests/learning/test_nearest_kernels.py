"""The two ways to the counts at the smallest distance, against plain twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.learning.matching_kernels import BLOCK, new_store, stored_entries
from understudy.learning.nearest_kernels import add_agreeing, compare_all

ROOMS = {"cells": 0, "entries": 10**5}
in_both_stores = pytest.mark.parametrize("room", ROOMS.values(), ids=ROOMS)


def counted(store):
    """Return the counts of a store as a list for each line."""
    starts, values, counts = stored_entries(store)
    table = np.zeros((len(starts) - 1, store[0].shape[1]), int)
    np.add.at(table, (np.repeat(np.arange(len(table)), np.diff(starts)), values), counts)
    return table.tolist()


def agreeing(masks, keys, others, reference, shape, room):
    store = new_store(*shape, room)
    add_agreeing(np.array(masks, np.uint64), keys, others, reference, store)
    return counted(store)


def entries(values, weights=None):
    """Return the entries of reference keys that have one value each."""
    return (
        np.arange(len(values) + 1),
        np.array(values, np.int32),
        np.array(weights if weights is not None else [1] * len(values)),
    )


def side(words, parts=None):
    words = np.atleast_2d(np.array(words, np.uint64))
    rows = words.shape[1]
    return words, np.arange(rows, dtype=np.int32), np.array(parts or [0, rows])


@in_both_stores
def test_values_of_agreeing_keys_are_added(room):
    # Of the bytes (high, low): keys 1-2 and 3-4; reference 1-9 (value 0, twice), 3-9 (value 1),
    # 7-2 (value 1), 3-3 (value 0).
    keys = side([0x0102, 0x0304])
    others = side([0x0109, 0x0309, 0x0702, 0x0303])
    reference = entries([0, 1, 1, 0], [2, 1, 1, 1])
    counts = agreeing([[0xFF00]], keys, others, reference, (2, 2), room)
    assert counts == [[2, 0], [1, 1]]
    # With the low byte as well, 7-2 is added to the first key.
    counts = agreeing([[0xFF00], [0x00FF]], keys, others, reference, (2, 2), room)
    assert counts == [[2, 1], [1, 1]]


@in_both_stores
def test_lines_and_names_say_whose_counts_and_entries(room):
    words, _, parts = side([0x0102, 0x0304])
    keys = words, np.array([2, 0], np.int32), parts
    words, _, parts = side([0x0309, 0x0109])
    others = words, np.array([1, 0], np.int32), parts
    counts = agreeing([[0xFF00]], keys, others, entries([0, 1], [5, 7]), (3, 2), room)
    assert counts == [[0, 7], [0, 0], [5, 0]]


def test_parts_that_one_side_lacks_are_passed_over():
    keys = side([0x0102, 0x0304], [0, 1, 1, 2])
    others = side([0x0105, 0x0206], [0, 1, 2, 2])
    counts = agreeing([[0xFF00]], keys, others, entries([0, 0]), (2, 1), 0)
    assert counts == [[1], [0]]


@in_both_stores
@pytest.mark.parametrize("rows", [1, 50, 2 * BLOCK + 3])
def test_agreeing_keys_in_two_words(rows, room):
    rng = np.random.default_rng(rows)
    mine, theirs = rng.integers(4, size=(2, rows)), rng.integers(4, size=(2, rows + 1))
    values, weights = rng.integers(3, size=rows + 1), rng.integers(1, 4, size=rows + 1)
    masks, reference = [[3, 1], [0, 2]], entries(values, weights)
    counts = agreeing(masks, side(mine), side(theirs), reference, (rows, 3), room)
    expected = np.zeros((rows, 3), int)
    for low, high in masks:
        agree = ((mine[0][:, None] ^ theirs[0]) & low) | ((mine[1][:, None] ^ theirs[1]) & high)
        for value in range(3):
            expected[:, value] += (agree == 0) @ (weights * (values == value))
    assert counts == expected.tolist()


def compared(keys, others, ends, values, weights, levels, room=0):
    keys, others = np.array(keys, np.uint8), np.array(others, np.uint8)
    store = new_store(len(keys), levels, room)
    nearest = np.zeros(len(keys), np.min_scalar_type(sum(ends)))
    lines = np.arange(len(keys), dtype=np.int32)
    reference = entries(values, weights)
    others = np.ascontiguousarray(others.T)
    compare_all(keys, lines, others, np.array(ends), reference, store, nearest)
    return counted(store), nearest.tolist()


def test_the_nearest_are_those_at_the_smallest_distance():
    # (1, 2, 3) differs from (1, 2, 4) and (9, 2, 3) in one place, from (1, 5, 5) in two.
    counts, nearest = compared(
        [[1, 2, 3]], [[1, 5, 5], [1, 2, 4], [9, 2, 3]], [True] * 3, [0, 1, 0], [9, 2, 3], 2
    )
    assert (counts, nearest) == ([[3, 2]], [1])


def test_bytes_of_one_attribute_differ_once():
    # Two bytes, then one: (1, 2 | 3) differs from (0, 0 | 3) in one attribute of two.
    counts, nearest = compared(
        [[1, 2, 3]], [[0, 0, 3], [1, 2, 4], [1, 0, 4]], [False, True, True], [0, 1, 1], None, 2
    )
    assert (counts, nearest) == ([[1, 1]], [1])


def test_who_agrees_on_nothing_is_as_near_as_all():
    assert compared([[1, 1]], [[0, 0], [2, 2]], [True] * 2, [0, 1], None, 2) == ([[1, 1]], [2])


codes = st.integers(0, 2)


@in_both_stores
@given(
    keys=st.lists(st.tuples(*[codes] * 4), min_size=1, max_size=12),
    others=st.lists(st.tuples(*[codes] * 5), min_size=1, max_size=25),
)
def test_comparisons_are_those_of_a_loop(keys, others, room):
    values = [other[4] for other in others]
    counts, nearest = compared(keys, [o[:4] for o in others], [True] * 4, values, None, 3, room)
    for place, key in enumerate(keys):
        distances = [sum(a != b for a, b in zip(key, other, strict=False)) for other in others]
        near = [v for v, d in zip(values, distances, strict=True) if d == min(distances)]
        assert nearest[place] == min(distances)
        assert counts[place] == [near.count(value) for value in range(3)]


@in_both_stores
def test_comparisons_beyond_one_block(room):
    rng = np.random.default_rng(3)
    keys, others = rng.integers(6, size=(20, 5)), rng.integers(6, size=(3 * BLOCK + 7, 5))
    values = rng.integers(2, size=len(others))
    counts, nearest = compared(keys, others, [True] * 5, values, None, 2, room)
    distances = (keys[:, None, :] != others).sum(axis=2)
    assert nearest == distances.min(axis=1).tolist()
    near = distances == distances.min(axis=1, keepdims=True)
    assert counts == [[np.count_nonzero(row & (values == v)) for v in range(2)] for row in near]
