"""Groups of rows, and contingency tables: by hand, against NumPy, in batches."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.counting import (
    ContingencyTable,
    LocalEngine,
    group_ids,
    joint_counts,
    marginal_counts,
)
from understudy.data.coded import Coded
from understudy.errors import DataError, ParameterError


def assert_groups_like_unique(coded, columns):
    rows = np.column_stack([coded[name].astype(np.uint64) for name in columns])
    seen, first, ids, _ = np.unique(
        rows, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    groups = group_ids(coded, columns)
    assert groups.count == len(seen)
    assert groups.ids.dtype == np.uint32
    np.testing.assert_array_equal(groups.ids, ids.ravel())
    np.testing.assert_array_equal(groups.representatives, first)


def test_groups_by_hand():
    coded = Coded.from_arrays({"a": [1, 0, 1, 0], "b": [0, 2, 0, 1]})
    groups = group_ids(coded, ["a", "b"])
    # In order: (0, 1) in row 3, (0, 2) in row 1, (1, 0) in rows 0 and 2.
    assert groups.ids.tolist() == [2, 1, 2, 0]
    assert groups.representatives.tolist() == [3, 1, 0]


@given(data=st.data())
def test_groups_are_the_unique_rows_in_lexicographic_order(tables, data):
    coded = data.draw(tables)
    columns = data.draw(st.permutations(coded.names))
    assert_groups_like_unique(coded, columns)


def test_cardinalities_whose_product_is_beyond_64_bits(random_table):
    coded = random_table([70_000] * 12 + [2, 300], rows=500, seed=1)
    assert_groups_like_unique(coded, coded.names)
    few = coded.take(np.arange(500) // 10)
    assert_groups_like_unique(few, few.names)


def test_a_column_with_more_levels_than_signed_integers():
    codes = np.array([2**64 - 1, 0, 2**63, 0, 2**64 - 1], np.uint64)
    pairs = Coded(("a", "b"), (codes, codes[::-1].copy()), (2**64, 2**64))
    assert group_ids(pairs, "a").ids.tolist() == [2, 0, 1, 0, 2]
    # The column is the same backwards, so the pairs are equal where its codes are.
    assert group_ids(pairs, ["a", "b"]).ids.tolist() == [2, 0, 1, 0, 2]


def test_no_columns_are_one_group_and_no_rows_are_none():
    coded = Coded.from_arrays({"a": [3, 1]})
    groups = group_ids(coded, [])
    assert (groups.ids.tolist(), groups.count, groups.representatives.tolist()) == ([0, 0], 1, [0])
    for cardinality in (0, 5, 10**6):
        empty = Coded.from_arrays({"a": [], "b": []}, {"a": cardinality, "b": cardinality})
        groups = group_ids(empty, ["a", "b"])
        assert (len(groups.ids), groups.count, len(groups.representatives)) == (0, 0, 0)


def test_wrong_columns_and_wrong_codes_are_refused():
    coded = Coded.from_arrays({"age": [0, 1], "sex": [1, 0]})
    with pytest.raises(ParameterError, match=r"'agee' is not a column. Did you mean 'age'\?"):
        group_ids(coded, ["agee"])
    with pytest.raises(ParameterError, match="Each column is counted once"):
        group_ids(coded, ["age", "age"])
    broken = Coded(("age",), (np.array([0, 7], np.uint8),), (5,))
    with pytest.raises(DataError, match="'age' has 5 levels, but holds the code 7"):
        group_ids(broken, "age")


def as_counter(table):
    sparse = table.to_sparse()
    combinations = map(tuple, sparse.combinations.tolist())
    return Counter(dict(zip(combinations, sparse.counts.tolist(), strict=True)))


def test_by_hand():
    coded = Coded.from_arrays({"a": [0, 1, 1, 1], "b": [2, 0, 2, 2]})
    table = joint_counts(coded, ["a", "b"])
    assert table.counts.tolist() == [[0, 0, 1], [1, 0, 2]]
    assert table.total == 4
    assert table.marginal("b").counts.tolist() == [1, 0, 3]
    assert table.marginal(["b", "a"]).counts.tolist() == [[0, 1], [0, 0], [1, 2]]
    assert table.marginal([]).counts.tolist() == 4
    sparse = table.to_sparse()
    assert sparse.combinations.tolist() == [[0, 2], [1, 0], [1, 2]]
    assert sparse.counts.tolist() == [1, 1, 2]


@given(data=st.data())
def test_counts_are_those_of_a_python_counter(tables, data):
    coded = data.draw(tables)
    columns = data.draw(st.permutations(coded.names))
    rows = zip(*(coded[name].tolist() for name in columns), strict=True)
    table = joint_counts(coded, columns)
    assert as_counter(table) == Counter(rows)
    cells = np.prod([float(size) for size in table.cardinalities])
    assert (table.combinations is None) == (cells <= 2**20)


@given(data=st.data())
def test_dense_and_sparse_tables_are_the_same_table(random_table, in_batches, data):
    sizes = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    coded = random_table(sizes, data.draw(st.integers(0, 50)), data.draw(st.integers(0, 99)))
    cut = data.draw(st.integers(0, 50))
    kept = data.draw(st.lists(st.sampled_from(coded.names), unique=True))
    dense = joint_counts(coded, coded.names)
    kernel = partial(ContingencyTable.of, columns=coded.names, dense_cells=0)
    sparse = LocalEngine().sum_over(in_batches(coded, cut), kernel)
    assert dense.combinations is None
    assert sparse.combinations is not None
    assert dense == sparse == dense.to_sparse()
    np.testing.assert_array_equal(sparse.to_dense().counts, dense.counts)
    np.testing.assert_array_equal(dense.to_sparse().combinations, sparse.combinations)
    assert dense.marginal(kept) == sparse.marginal(kept)
    assert (dense + sparse).counts.sum() == 2 * len(coded)


@given(data=st.data())
def test_a_stream_gives_the_counts_of_the_table(tables, in_batches, data):
    coded = data.draw(tables)
    stream = in_batches(coded, *data.draw(st.lists(st.integers(0, 300), max_size=4)))
    engine = LocalEngine(data.draw(st.sampled_from([1, 3])))
    streamed = joint_counts(stream, coded.names, engine=engine)
    whole = joint_counts(coded, coded.names)
    assert streamed == whole
    assert streamed.counts.dtype == whole.counts.dtype == np.int64
    if whole.combinations is not None:
        assert streamed.combinations.dtype == whole.combinations.dtype
    for mine, theirs in zip(
        marginal_counts(coded), marginal_counts(stream, engine=engine), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)


@given(data=st.data())
def test_marginals_of_a_table_are_counts_of_fewer_columns(tables, data):
    coded = data.draw(tables)
    kept = data.draw(st.lists(st.sampled_from(coded.names), unique=True))
    table = joint_counts(coded, coded.names)
    assert table.marginal(kept) == joint_counts(coded, kept)
    assert table.total == len(coded)


def test_trivial_tables():
    empty = Coded.from_arrays({"a": [], "b": []}, {"a": 0, "b": 3})
    assert joint_counts(empty, ["a", "b"]).counts.shape == (0, 3)
    assert joint_counts(empty, "b").counts.tolist() == [0, 0, 0]
    assert [len(counts) for counts in marginal_counts(empty)] == [0, 3]
    one = Coded.from_arrays({"a": [1], "b": [0]})
    assert joint_counts(one, ["a", "b"]).counts.tolist() == [[0], [1]]
    assert joint_counts(one, []).counts.tolist() == 1
    large = Coded.from_arrays({"a": [], "b": []}, {"a": 10**6, "b": 10**6})
    assert joint_counts(large, ["a", "b"]).combinations.shape == (0, 2)


def test_more_cells_than_64_bits_can_number(random_table):
    coded = random_table([70_000] * 6, rows=200, seed=5)
    table = joint_counts(coded, coded.names)
    assert table.total == 200
    assert table.combinations.shape[0] <= 200
    assert table + table == joint_counts(Coded.concatenate([coded, coded]), coded.names)
    with pytest.raises(DataError, match=r"cells; a dense one has at most 134,217,728"):
        table.to_dense()


def test_marginal_counts_by_hand():
    counts = marginal_counts(Coded.from_arrays({"a": [0, 1, 1], "b": [2, 2, 0]}, {"a": 4, "b": 3}))
    assert [each.tolist() for each in counts] == [[1, 2, 0, 0], [1, 0, 2]]


def test_tables_of_different_columns_do_not_mix():
    coded = Coded.from_arrays({"a": [0, 1], "b": [1, 0]})
    a, b = joint_counts(coded, "a"), joint_counts(coded, "b")
    assert a != b
    assert a != "a"
    with pytest.raises(DataError, match="Only tables of the same columns"):
        a + b
    with pytest.raises(ParameterError, match="'c' is not a column"):
        a.marginal("c")


def test_equality_notices_one_moved_row():
    a = ContingencyTable(("a",), (3,), np.array([1, 0, 2]))
    b = ContingencyTable(("a",), (3,), np.array([0, 1, 2]))
    assert a != b
    assert a.to_sparse() != b
    assert a == a.to_sparse()
    assert a.to_dense() is a
