from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.counting import group_ids
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


def test_by_hand():
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
