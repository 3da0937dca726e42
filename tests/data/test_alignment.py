"""A column of several tables as one: what it returns, and which tables a message names.

Which values of which types are equal is tested where rows are removed, in test_control.py.
"""

from __future__ import annotations

import datetime as dt

import polars as pl
import pyarrow as pa
import pytest

from understudy.data.alignment import plain_series, stack_series
from understudy.errors import DataError


def stack_column(name, arrays):
    return stack_series(name, {table: plain_series(held, name) for table, held in arrays.items()})


def stack(*arrays):
    named = {f"table {place}": pa.array(array) for place, array in enumerate(arrays)}
    return [series.to_list() for series in stack_column("x", named)]


def test_tables_are_stacked_in_their_order():
    assert stack([3, 1], [2], [], [None, 3]) == [[3, 1, 2, None, 3]]
    assert stack(["b", None], ["a"]) == [["b", None, "a"]]


def test_whole_numbers_and_floats_are_two_series():
    whole, rest = stack([2**60 + 1, None], [0.5, 3.0, float("nan"), float("inf")])
    assert whole == [2**60 + 1, None, None, 3, None, None]
    assert rest == [None, None, 0.5, None, None, float("inf")]


def test_nan_is_a_gap():
    assert stack([0.5, float("nan")]) == [[0.5, None]]


def test_categories_are_their_values():
    named = {"one": pa.array(["b", "a", None]).dictionary_encode(), "two": pa.array(["b"])}
    (series,) = stack_column("x", named)
    assert series.to_list() == ["b", "a", None, "b"]


def test_all_tables_have_a_say_in_the_type():
    day = dt.date(2020, 1, 1)
    nanoseconds = (day - dt.date(1970, 1, 1)).days * 86_400 * 10**9
    named = {
        str(kind): pa.array([day]).cast(kind)
        for kind in (pa.date32(), pa.timestamp("ms"), pa.timestamp("ns"))
    }
    (series,) = stack_column("x", named)
    assert series.to_list() == [nanoseconds] * 3
    assert series.dtype == pl.Int128


def test_a_table_of_gaps_has_no_say():
    assert stack([None, None], [1], [None]) == [[None, None, 1, None]]
    assert stack([None], [None]) == [[None, None]]
    named = {"one": pa.array([None], pa.int64()), "two": pa.array(["a"])}
    assert [series.to_list() for series in stack_column("x", named)] == [[None, "a"]]


def test_a_message_names_the_two_tables_that_differ():
    named = {
        "original": pa.array([None], pa.int64()),
        "first": pa.array([1]),
        "second": pa.array([2.5]),
        "third": pa.array(["a"]),
    }
    with pytest.raises(
        DataError, match="'x' holds numbers in the first table and text in the third table"
    ):
        stack_column("x", named)


def test_what_no_table_holds():
    with pytest.raises(DataError, match="Column 'x' holds lists, which"):
        stack([[1, 2]])
