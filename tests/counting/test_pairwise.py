from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.counting import (
    LocalEngine,
    entropy,
    mutual_information,
    pairwise_information,
)
from understudy.counting import pairs as pairs_module
from understudy.counting import pairwise as pairwise_module
from understudy.data.coded import Coded


def one_by_one(coded):
    return np.array(
        [
            [entropy(coded, a) if a == b else mutual_information(coded, a, b) for b in coded.names]
            for a in coded.names
        ]
    ).reshape(len(coded.names), -1)


def test_by_hand():
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
    pairwise_module._passes.cache_clear()
    monkeypatch.setattr(pairwise_module, "_PASS_CELLS", 2500)
    yield
    pairwise_module._passes.cache_clear()


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
        sum(len(layout.pairs) for layout in pairwise_module._passes(coded.cardinalities, 2**20))
        == 45
    )
