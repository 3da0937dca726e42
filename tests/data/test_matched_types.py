"""Columns that are stored in another way than in the original."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import polars as pl
import pytest

from understudy.data.matched_types import match_types

DAY, OTHER = dt.date(2020, 1, 2), dt.date(2021, 5, 6)
MOMENT = dt.datetime.fromisoformat("2020-01-02T03:00:00")


def matched(original, release):
    """Return a column as it becomes in both tables, and what is said of it."""
    tables = [pl.DataFrame({"x": pl.Series(values)}) for values in (original, release)]
    found = match_types(tables[0], [("release", tables[1])])
    return found.original["x"].to_list(), found.others[0]["x"].to_list(), found.notes


@pytest.mark.parametrize(
    ("original", "release", "expected"),
    [
        ([1, 2], ["1", " 2 "], [1, 2]),
        ([1, 2], ["1 year", "2 years"], [1, 2]),
        ([1.5, 2.0], ["1.5", "-2e3"], [1.5, -2000.0]),
        ([1000.0, 2.5], ["1,000", "$ 2.5"], [1000.0, 2.5]),
        ([1, 2], ["1", None], [1, None]),
        ([45, 60], ["40-49", "(50.0, 60.0]"], [44.5, 55.0]),
        ([45, 60], ["(-inf, 40]", "50 to inf"], [40, 50]),
        ([0.0, 1.0], ["yes", "no"], [1.0, 0.0]),
        ([1, 2], ["1.5", "2"], [1.5, 2.0]),
        ([DAY], ["2020-01-02"], [DAY]),
        ([DAY, OTHER], ["02.01.2020", "06.05.2021"], [DAY, OTHER]),
        ([MOMENT], ["2020-01-02T03:00:00"], [MOMENT]),
        ([True, False], ["yes", "No"], [True, False]),
        ([True, False], [1, 0], [True, False]),
        ([1, 0], [True, False], [1, 0]),
        ([1, 0], ["yes", "no"], [1, 0]),
        (["1", "2.0"], [1, 2], ["1", "2.0"]),
        (["1", "2"], [2.0, 3.5], ["2", "3.5"]),
        (["Yes", "No"], [True, False], ["Yes", "No"]),
        (["2020-01-02", "2021-05-06"], [OTHER, None], ["2021-05-06", None]),
        (["06.05.2021"], [OTHER], ["06.05.2021"]),
    ],
)
def test_values_are_read_as_the_originals(original, release, expected):
    first, other, notes = matched(original, release)
    assert first == original
    assert other == expected
    assert len(notes) == 1
    assert "read as" in notes[0]


@pytest.mark.parametrize(
    ("original", "release"),
    [([1, 2], ["one", "two"]), ([DAY], [20200102]), ([DAY], ["soon"]), ([True], ["perhaps"])],
)
def test_what_cannot_be_read_is_text_in_both(original, release):
    first, other, notes = matched(original, release)
    assert other == [str(value) for value in release]
    assert all(isinstance(value, str) for value in first)
    assert "compared as text" in notes[0]


def test_a_few_values_may_be_no_numbers():
    numbers = [str(number) for number in range(99)]
    _, other, notes = matched(list(range(100)), [*numbers, "?"])
    assert other == [*range(99), None]
    assert "read as numbers" in notes[0]


@pytest.mark.parametrize("kind", [pl.Int8, pl.Float64, pl.UInt32])
def test_tables_that_can_be_compared_are_the_same_objects(kind):
    original = pl.DataFrame({"x": [1, 2], "y": ["a", "b"]})
    other = original.with_columns(pl.col("x").cast(kind), pl.col("y").cast(pl.Categorical))
    found = match_types(original, [("release", other)])
    assert found.original is original
    assert found.others[0] is other
    assert found.notes == ()


def test_each_table_by_itself():
    original = pl.DataFrame({"x": [1, 2], "y": [1, 2]})
    tables = [
        ("release", original),
        ("control table", original.cast({"x": pl.String}).to_pandas()),
        ("test table", pl.DataFrame({"y": ["a"]})),
    ]
    found = match_types(original, tables)
    assert found.others[1]["x"].to_list() == [1, 2]
    assert [note.split(" and ")[1].split(":")[0] for note in found.notes] == [
        "text in the control table",
        "text in the test table, which cannot be read as numbers",
    ]
    # One table that cannot be read makes the column text in all.
    assert [table["y"].to_list() for table in (found.original, *found.others)] == [
        ["1", "2"], ["1", "2"], ["1", "2"], ["a"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (["0,5", "1,25", "-3,0"], [0.5, 1.25, -3.0]),
        (["1.234,5", "2,0", "3,5"], [1234.5, 2.0, 3.5]),
        (["1,234.5", "2.0", "3.5"], [1234.5, 2.0, 3.5]),
    ],
)
def test_a_comma_before_decimals(text, numbers):
    original = pl.DataFrame({"size": sorted(numbers)})
    found = match_types(original, [("release", pl.DataFrame({"size": text}))])
    assert found.others[0]["size"].to_list() == numbers


def test_three_digits_after_a_comma_are_thousands_or_decimals_as_the_original_says():
    release = pl.DataFrame({"size": ["1,234", "2,500"]})
    for own, read in (([1000.0, 3000.0], [1234, 2500]), ([1.0, 3.0], [1.234, 2.5])):
        found = match_types(pl.DataFrame({"size": own}), [("release", release)])
        assert found.others[0]["size"].to_list() == read


def test_objects_of_several_kinds_are_text():
    mixed = pd.DataFrame({"code": pd.Series([1, "a", None], dtype=object)})
    found = match_types(pl.DataFrame({"code": ["1", "b", "a"]}), [("release", mixed)])
    assert found.others[0]["code"].to_list() == ["1", "a", None]
