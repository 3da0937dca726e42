"""The coded table: small types, selections, pieces, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.coded import Coded, code_dtype
from understudy.errors import DataError


@pytest.fixture
def table():
    return Coded.from_arrays({"a": [0, 1, 2, 1], "b": [3, 0, 3, 1]}, {"a": 3, "b": 300})


@pytest.mark.parametrize(
    ("cardinality", "dtype"),
    [(0, "u1"), (1, "u1"), (256, "u1"), (257, "u2"), (65_536, "u2"), (65_537, "u4")],
)
def test_the_type_is_the_smallest_that_holds_the_largest_code(cardinality, dtype):
    assert code_dtype(cardinality) == dtype


def test_columns_are_contiguous_and_as_small_as_their_cardinality_allows(table):
    assert [column.dtype.str for column in table.columns] == ["|u1", "<u2"]
    assert all(column.flags.c_contiguous for column in table.columns)
    assert len(table) == 4
    assert table.cardinality("b") == 300


def test_a_cardinality_that_is_not_given_is_the_largest_code_and_one():
    assert Coded.from_arrays({"a": [0, 4], "b": [0, 0]}).cardinalities == (5, 1)


def test_rows_and_columns_can_be_selected(table):
    assert table.select(["b"]).names == ("b",)
    assert table.select(["b", "a"]).cardinalities == (300, 3)
    assert table.select(["a"])["a"] is table["a"]
    assert table.take(slice(1, 3))["b"].tolist() == [0, 3]
    assert table.take(np.array([3, 0]))["a"].tolist() == [1, 0]
    assert table.take(np.array([True, False, False, True]))["a"].tolist() == [0, 1]


@given(st.lists(st.integers(0, 9), min_size=1), st.integers(1, 12))
def test_pieces_of_any_size_stack_to_the_whole(codes, rows):
    table = Coded.from_arrays({"a": codes}, {"a": 10})
    pieces = list(table.batches(rows))
    assert all(0 < len(piece) <= rows for piece in pieces)
    assert Coded.concatenate(pieces) == table


def test_tables_are_equal_by_content(table):
    same = Coded.from_arrays({"a": [0, 1, 2, 1], "b": [3, 0, 3, 1]}, {"a": 3, "b": 300})
    assert table == same
    assert table != same.select(["b", "a"])
    assert table != Coded.from_arrays({"a": [0, 1, 2, 1], "b": [3, 0, 3, 1]}, {"a": 4, "b": 300})
    assert table != Coded.from_arrays({"a": [0, 1, 2, 0], "b": [3, 0, 3, 1]}, {"a": 3, "b": 300})
    assert table != same.take(slice(0, 3))
    assert table != "a table"


def test_a_table_without_columns_or_rows_has_no_rows():
    assert len(Coded((), (), ())) == 0
    empty = Coded.from_arrays({"a": []}, {"a": 2})
    assert len(empty) == 0
    assert list(empty.batches(3)) == []


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Coded.from_arrays({"a": [0], "b": [0, 1]}), r"one length, not \[1, 2\]"),
        (lambda: Coded(("a",), (), ()), "one name and one cardinality"),
        (lambda: Coded.from_arrays({"a": [0, 3]}, {"a": 3}), r"outside 0..2: .* 0 to 3"),
        (lambda: Coded.from_arrays({"a": [-1, 3]}), "from -1 to 3"),
        (lambda: Coded.from_arrays({"a": [0.5]}), "integers; column 'a' holds float64"),
        (lambda: Coded.from_arrays({"age": [0]})["agee"], "Did you mean 'age'"),
        (
            lambda: Coded.concatenate(
                [Coded.from_arrays({"a": [0]}), Coded.from_arrays({"a": [1]})]
            ),
            "same columns and cardinalities",
        ),
    ],
)
def test_what_is_no_table_is_refused(make, message):
    with pytest.raises(DataError, match=message):
        make()
