from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.counting import LocalEngine, joint_counts, pair_counts
from understudy.counting import pairs as pairs_module
from understudy.data.coded import Coded
from understudy.errors import DataError, ParameterError


def assert_counts_of(counts, coded, pairs):
    assert set(counts.pairs) == set(pairs)
    assert counts.rows == len(coded)
    for left, right in pairs:
        assert counts[left, right] == joint_counts(coded, [left, right])
        assert counts[right, left] == joint_counts(coded, [right, left])


def every_pair(coded):
    return [(a, b) for k, a in enumerate(coded.names) for b in coded.names[k + 1 :]]


def test_by_hand():
    coded = Coded.from_arrays({"a": [0, 1, 1], "b": [2, 0, 2], "c": [0, 0, 1]})
    counts = pair_counts(coded)
    assert counts["a", "b"].counts.tolist() == [[0, 0, 1], [1, 0, 1]]
    assert counts["c", "b"].counts.tolist() == [[1, 0, 1], [0, 0, 1]]


@given(data=st.data())
def test_every_pair_has_the_counts_of_its_columns(tables, in_batches, data):
    coded = data.draw(tables)
    stream = in_batches(coded, *data.draw(st.lists(st.integers(0, 300), max_size=3)))
    engine = LocalEngine(data.draw(st.sampled_from([1, 3])))
    assert_counts_of(pair_counts(coded, engine=engine), coded, every_pair(coded))
    assert_counts_of(pair_counts(stream, engine=engine), coded, every_pair(coded))


def test_triples_pairs_and_sparse_tables_side_by_side(random_table):
    # Triples for the small columns, pairs with 300 and 5,000 levels, a sparse 300 x 5,000 one.
    coded = random_table([3, 20, 7, 300, 2, 5000, 9, 256], rows=20_000, seed=2)
    counts = pair_counts(coded)
    cover = pairs_module._cover(counts.layout, 4096)
    assert cover.triples
    assert cover.pairs
    assert counts.layout.sparse == ((3, 5), (5, 7))
    assert_counts_of(counts, coded, every_pair(coded))


def test_pieces_of_rows_and_threads_give_the_same_tables(random_table, monkeypatch):
    coded = random_table([4, 5, 6, 300, 7, 8], rows=9000, seed=4)
    once = pair_counts(coded)
    monkeypatch.setattr(pairs_module, "_STACKED_ROWS", 1000)
    monkeypatch.setattr(pairs_module, "_CALL_WORK", 2000)
    monkeypatch.setattr(pairs_module, "_THREADS_PAY", 0)
    for threads in (1, 3):
        pieces = pair_counts(coded, engine=LocalEngine(threads))
        np.testing.assert_array_equal(pieces.cells, once.cells)


def test_chosen_pairs_only(random_table):
    coded = random_table([3, 4, 5, 6], rows=400, seed=0)
    counts = pair_counts(coded, [("c2", "c0"), ("c1", "c3"), ("c0", "c2")])
    assert counts.pairs == (("c0", "c2"), ("c1", "c3"))
    assert_counts_of(counts, coded, counts.pairs)
    with pytest.raises(DataError, match=r"\('c0', 'c1'\) was not counted"):
        counts["c0", "c1"]
    with pytest.raises(ParameterError, match="Each column is counted once"):
        pair_counts(coded, [("c1", "c1")])
    with pytest.raises(DataError, match="same pairs"):
        counts + pair_counts(coded)


def test_a_read_only_or_strided_column_is_counted_like_any(random_table):
    coded = random_table([5, 6, 7], rows=500, seed=8)
    strided = Coded(
        coded.names,
        tuple(np.repeat(column, 2)[::2] for column in coded.columns),
        coded.cardinalities,
    )
    for column in strided.columns:
        column.flags.writeable = False
    np.testing.assert_array_equal(pair_counts(strided).cells, pair_counts(coded).cells)


def test_a_code_beyond_the_cardinality_is_refused_before_it_reaches_a_kernel():
    good = np.zeros(1000, np.uint8)
    for size in (5, 500):
        bad = np.full(1000, size, np.uint16 if size > 256 else np.uint8)
        broken = Coded(("a", "b", "c"), (good, good, bad), (2, 2, size))
        with pytest.raises(DataError, match=f"'c' has {size} levels, but holds the code {size}"):
            pair_counts(broken)
