"""A schema checked against a second table: every way in which it does not fit."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from understudy.data.files import write
from understudy.data.schema import Column, Schema
from understudy.data.stream import scan
from understudy.errors import SchemaError

SCHEMA = Schema(
    [
        Column("sex", "categorical", levels=("female", "male")),
        Column("age", "integer", range=(16, 99), special=(-8,)),
        Column("income", "real", binning="edges", edges=(0, 1000, 5000)),
        Column("born", "datetime", range=("1900-01-01", "2010-12-31")),
        Column("smoker", "boolean"),
        Column("children", "integer", levels=(0, 1, 2)),
    ]
)
GOOD = {
    "sex": ["female", "male"],
    "age": [16, -8],
    "income": [0.0, 5000.0],
    "born": [dt.date(1900, 1, 1), dt.date(2010, 12, 31)],
    "smoker": [True, False],
    "children": [0, 2],
}


def problems(schema, frame):
    with pytest.raises(SchemaError, match="The table does not fit the schema") as error:
        schema.check(frame)
    return error.value.problems


def test_a_table_that_fits_raises_nothing(as_frame):
    SCHEMA.check(as_frame(GOOD))


def test_a_table_fits_the_schema_inferred_from_it(survey):
    Schema.infer(survey).check(survey)


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        (
            "sex",
            ["Female", "male"],
            "'sex' has 1 row with a value that is not among its 2 levels: 'Female'. "
            "Did you mean 'female'?",
        ),
        ("age", [15, 100], "'age' has 2 rows outside its range 16 to 99: 15, 100."),
        ("age", [20.5, 30.0], "'age' has 1 row with a number that is not whole, but the schema "
         "says integer."),
        ("income", [-0.5, 1.0], "'income' has 1 row outside its range 0 to 5000: -0.5."),
        ("income", [np.inf, 1.0], "'income' has 1 row outside its range 0 to 5000: inf."),
        (
            "born",
            [dt.date(2011, 1, 1), dt.date(1900, 1, 1)],
            "'born' has 1 row outside its range 1900-01-01 to 2010-12-31: 2011-01-01.",
        ),
        (
            "children",
            [3, 0],
            "'children' has 1 row with a value that is not among its 3 levels: 3.",
        ),
        (
            "sex",
            [None, "male"],
            "'sex' has 1 row without a value, but the schema says that none is missing "
            "(missing = 0).",
        ),
    ],
)  # fmt: skip
def test_each_misfit_has_its_sentence(as_frame, name, values, sentence):
    assert problems(SCHEMA, as_frame(GOOD | {name: values})) == (sentence,)


@pytest.mark.parametrize("name", ["age", "income", "born", "smoker", "children"])
def test_text_where_something_else_is_described_is_named(as_frame, name):
    (sentence,) = problems(SCHEMA, as_frame(GOOD | {name: ["1", "2"]}))
    assert sentence.startswith(f"'{name}' holds ")
    assert sentence.endswith(f"but the schema says {SCHEMA[name].kind}.")


def test_absent_and_extra_columns_are_named_with_near_misses(as_frame):
    renamed = {("Sex" if name == "sex" else name): values for name, values in GOOD.items()}
    assert problems(SCHEMA, as_frame(renamed)) == (
        "the table has no column 'sex'. Did you mean 'Sex'?",
        "'Sex' is not in the schema; describe it there, or drop it from the table.",
    )


def test_everything_is_found_at_once(as_frame):
    bad = {
        "sex": ["f", None],
        "age": [1, 2],
        "income": ["a", "b"],
        "born": [dt.date(2050, 1, 1)] * 2,
        "smoker": [None, True],
        "extra": [1, 2],
    }
    found = problems(SCHEMA, as_frame(bad))
    # children absent, extra spare, sex twice, and one each of the other four
    assert len(found) == 1 + 1 + 2 + 4


def test_only_some_of_many_unknown_values_are_listed(as_frame):
    frame = as_frame({"x": [f"new{n}" for n in range(1_234)]})
    (sentence,) = problems(Schema([Column("x", "categorical", levels=("old",))]), frame)
    assert sentence == (
        "'x' has 1,234 rows with a value that is not among its 1 levels: "
        "'new0', 'new1', 'new2' and 1,231 more."
    )


def test_missing_values_are_allowed_where_the_schema_says_so(as_frame):
    frame = as_frame({"x": [1.5, None, np.nan]})
    Schema([Column("x", "real", missing=0.1)]).check(frame)
    assert "2 rows without a value" in problems(Schema([Column("x", "real")]), frame)[0]


def test_what_is_left_open_fits_everything(as_frame):
    frame = as_frame({"a": ["x", "y"], "b": [1, 2], "c": [0.5, np.inf]})
    Schema([Column("a", "categorical"), Column("b", "integer"), Column("c", "real")]).check(frame)


@pytest.mark.parametrize("kind", ["identifier", "text"])
def test_identifiers_and_texts_may_hold_anything(as_frame, kind):
    Schema([Column("x", kind)]).check(as_frame({"x": ["new", None]}))


@pytest.mark.parametrize(
    ("kind", "low"),
    [
        (pa.date32(), "2020-01-01"),
        (pa.timestamp("s"), "2020-01-01"),
        (pa.timestamp("ns", "UTC"), "2020-01-01T01:00:00+01:00"),
    ],
)
def test_dates_are_compared_as_times_whatever_their_unit(kind, low):
    schema = Schema([Column("x", "datetime", range=(low, "2020-12-31"))])
    inside = pa.array([dt.date(2020, 1, 1)], pa.date32()).cast(pa.timestamp("s")).cast(kind)
    schema.check(pa.table({"x": inside}))
    outside = pa.array([dt.date(2019, 12, 31)], pa.date32()).cast(pa.timestamp("s")).cast(kind)
    assert "1 row outside its range" in problems(schema, pa.table({"x": outside}))[0]


def test_a_date_in_the_schema_that_is_none_is_named(as_frame):
    schema = Schema([Column("x", "datetime", range=("2020-01-01", "2020-13-01"))])
    (sentence,) = problems(schema, as_frame({"x": [dt.date(2020, 1, 1)]}))
    assert sentence.startswith("'x': ")
    assert "2020-13-01" in sentence


def test_a_column_that_no_table_can_hold_is_a_problem_among_others():
    frame = pl.DataFrame({"a": [["x"]], "b": [5]})
    schema = Schema([Column("a", "categorical"), Column("b", "integer", range=(0, 1))])
    found = problems(schema, frame)
    assert len(found) == 2
    assert found[0].startswith("Column 'a' holds")


def test_a_file_in_pieces_is_checked_like_a_table(tmp_path):
    path = write(pl.DataFrame(GOOD | {"age": [7, 8]}), tmp_path / "x.parquet")
    assert problems(SCHEMA, scan(path, batch_rows=1)) == (
        "'age' has 2 rows outside its range 16 to 99: 7, 8.",
    )
