"""Tables of many pairs at once, and what the columns of each tell about each other."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.counting import (
    LocalEngine,
    entropy,
    joint_counts,
    mutual_information,
    pair_counts,
    pairwise_information,
)
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


def one_by_one(coded):
    return np.array(
        [
            [entropy(coded, a) if a == b else mutual_information(coded, a, b) for b in coded.names]
            for a in coded.names
        ]
    ).reshape(len(coded.names), -1)


def test_information_by_hand():
    # a and b are independent coins, c tells both: H(c) = 2.
    coded = Coded.from_arrays({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "c": [0, 1, 2, 3]})
    assert pairwise_information(coded).tolist() == [[1, 0, 1], [0, 1, 1], [1, 1, 2]]


@given(data=st.data())
def test_the_matrix_holds_the_single_measures_to_the_bit(tables, in_batches, data):
    coded = data.draw(tables)
    expected = one_by_one(coded)
    stream = in_batches(coded, *data.draw(st.lists(st.integers(0, 300), max_size=4)))
    for threads in (1, 3):
        engine = LocalEngine(threads)
        np.testing.assert_array_equal(pairwise_information(coded, engine=engine), expected)
        np.testing.assert_array_equal(pairwise_information(stream, engine=engine), expected)


def test_threads_and_batches_do_not_change_a_bit(random_table, in_batches, monkeypatch):
    coded = random_table([20] * 9 + [300, 2, 40_000], rows=30_000, seed=6)
    expected = pairwise_information(coded)
    monkeypatch.setattr(pairs_module, "_THREADS_PAY", 0)
    for cuts in ((), (1,), (7777, 20_000, 20_001)):
        for threads in (1, 3):
            engine = LocalEngine(threads)
            source = in_batches(coded, *cuts) if cuts else coded
            np.testing.assert_array_equal(pairwise_information(source, engine=engine), expected)


@given(data=st.data())
def test_rows_columns_and_labels_in_another_order(tables, data):
    coded = data.draw(tables)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    order = rng.permutation(len(coded.names))
    other = coded.take(rng.permutation(len(coded))).select([coded.names[k] for k in order])
    columns = tuple(
        rng.permutation(size)[column].astype(column.dtype)
        for column, size in zip(other.columns, other.cardinalities, strict=True)
    )
    other = Coded(other.names, columns, other.cardinalities)
    np.testing.assert_array_equal(
        pairwise_information(other), pairwise_information(coded)[np.ix_(order, order)]
    )


def test_trivial_worlds():
    assert pairwise_information(Coded((), (), ())).shape == (0, 0)
    assert pairwise_information(Coded.from_arrays({"a": [0, 1]})).tolist() == [[1.0]]
    empty = Coded.from_arrays({"a": [], "b": [], "c": []}, {"a": 2, "b": 0, "c": 10**7})
    assert pairwise_information(empty).tolist() == [[0.0] * 3] * 3
    one = Coded.from_arrays({"a": [3], "b": [0]})
    assert pairwise_information(one).tolist() == [[0.0] * 2] * 2


def test_many_levels_never_become_a_dense_table(random_table):
    coded = random_table([10_000, 10_000, 10_000], rows=2000, seed=9)
    pairwise_information(coded)
    tracemalloc.start()
    matrix = pairwise_information(coded)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6  # one dense table would take 800 MB
    np.testing.assert_array_equal(matrix, one_by_one(coded))


@pytest.mark.slow
def test_few_rows_are_not_counted_in_large_dense_tables(random_table, in_batches):
    coded = random_table([900] * 12, rows=100, seed=1)
    expected = pairwise_information(in_batches(coded, 50))  # dense: a stream may be long
    tracemalloc.start()
    matrix = pairwise_information(coded)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6  # dense tables would take 66 * 900 * 900 * 8 bytes: 428 MB
    np.testing.assert_array_equal(matrix, expected)


@pytest.fixture
def small_passes(monkeypatch):
    pairs_module._passes.cache_clear()
    monkeypatch.setattr(pairs_module, "_PASS_CELLS", 2500)
    yield
    pairs_module._passes.cache_clear()


def test_tables_too_large_to_be_held_together_take_several_passes(
    random_table, in_batches, small_passes
):
    coded = random_table([20] * 9 + [70_000], rows=5000, seed=11)
    expected = one_by_one(coded)
    stream = in_batches(coded, 3000)
    np.testing.assert_array_equal(pairwise_information(stream), expected)
    np.testing.assert_array_equal(pairwise_information(coded), expected)
    # 36 tables of 400 cells, six to a pass, and nine large ones by themselves.
    assert stream.passes == 6 + 9
    assert (
        sum(len(layout.pairs) for layout in pairs_module._passes(coded.cardinalities, 2**20)) == 45
    )
