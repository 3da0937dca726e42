"""Every kind of column against every operator, the same in three libraries; and what is refused."""

from __future__ import annotations

from datetime import date, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from understudy.errors import ParameterError
from understudy.showing import showing_records
from understudy.synthesis.cart.grammar import read_condition

NAN = float("nan")
MOMENTS = pl.Series(
    ["1900-01-01 00:00", "2020-02-29 12:30", "9999-12-31 00:00", None]
).str.to_datetime("%Y-%m-%d %H:%M")
# Each column goes up, and has its gap in the last row: row 0 is below row 1, row 1 below row 2.
RISING = pl.DataFrame(
    {
        "text": ["ant", "bee", "cat", None],
        "category": pl.Series(["ant", "bee", "cat", None], dtype=pl.Categorical),
        # By its list, and not by the alphabet.
        "level": pl.Series(["low", "mid", "high", None], dtype=pl.Enum(["low", "mid", "high"])),
        "small": pl.Series([1, 2, 3, None], dtype=pl.Int8),
        "whole": pl.Series([-(2**62), 2**53 + 1, 2**62, None], dtype=pl.Int64),
        "positive": pl.Series([0, 2**53, 2**53 + 2, None], dtype=pl.UInt64),
        "real": [-1.5, 0.1, 7.0, NAN],
        "single": pl.Series([-1.5, 0.1, 7.0, None], dtype=pl.Float32),
        "decimal": pl.Series(
            [Decimal("-1.50"), Decimal("0.10"), Decimal("1234567.89"), None],
            dtype=pl.Decimal(18, 2),
        ),
        "day": [date(1900, 1, 1), date(2020, 2, 29), date(9999, 12, 31), None],
        "moment": MOMENTS.cast(pl.Datetime("us")),
        "coarse": MOMENTS.cast(pl.Datetime("ms")),
        "zoned": MOMENTS.cast(pl.Datetime("us", "UTC")).dt.convert_time_zone("Asia/Tokyo"),
        "clock": [time(0), time(12, 30, 0, 250000), time(23, 59, 59), None],
    }
)
MIDDLE = {
    "text": "'bee'",
    "category": "'bee'",
    "level": "'mid'",
    "small": "2",
    "whole": str(2**53 + 1),
    "positive": str(2**53),
    "real": "0.1",
    "single": "0.1",
    "decimal": "0.1",
    "day": "'2020-02-29'",
    "moment": "'2020-02-29 12:30'",
    "coarse": "'2020-02-29T12:30:00.000000000'",
    "zoned": "'2020-02-29T21:30+09:00'",
    "clock": "'12:30:00.25'",
}
OPERATORS = {
    "==": [False, True, False],
    "!=": [True, False, True],
    "<": [True, False, False],
    "<=": [True, True, False],
    ">": [False, False, True],
    ">=": [False, True, True],
}
LIBRARIES = {
    "polars": lambda frame: frame,
    "pandas": pl.DataFrame.to_pandas,
    "pyarrow": pl.DataFrame.to_arrow,
}


@pytest.fixture(params=LIBRARIES)
def library(request):
    return LIBRARIES[request.param]


def holds(text, frame):
    mask = read_condition(text, list(frame.columns)).holds(frame)
    assert mask.dtype == np.bool_
    return mask.tolist()


@pytest.mark.parametrize("column", MIDDLE)
def test_every_operator_on_every_kind(column, library):
    # One column only, so that pandas keeps its type where it can.
    frame = RISING.select(column)
    names = [column]
    for operator, expected in OPERATORS.items():
        condition = read_condition(f"{column} {operator} {MIDDLE[column]}", names)
        if column in {"whole", "positive"} and library is pl.DataFrame.to_pandas:
            frame = RISING.select(column).head(3)  # a gap would make them floats in pandas
        found = condition.holds(library(frame)).tolist()
        assert found == [*expected, False][: len(frame)], operator


@pytest.mark.parametrize("column", MIDDLE)
def test_lists_and_gaps_on_every_kind(column, library):
    def evaluate(text):
        frame = RISING.select(column)
        return read_condition(text, [column]).holds(library(frame)).tolist()

    if column not in {"whole", "positive"}:  # with the gap, pandas has floats, which round these
        assert evaluate(f"{column} in ({MIDDLE[column]})") == [False, True, False, False]
        assert evaluate(f"{column} not in ({MIDDLE[column]})") == [True, False, True, False]
    assert evaluate(f"{column} is missing") == [False, False, False, True]
    assert evaluate(f"{column} is not missing") == [True, True, True, False]


@pytest.mark.parametrize("column", MIDDLE)
@pytest.mark.parametrize("operator", OPERATORS)
def test_two_columns_of_every_kind(column, operator):
    # The middle value against each: 'operator' read from the right.
    middle = RISING[column][1]
    other = pl.Series("other", [middle] * 4, dtype=RISING[column].dtype)
    frame = RISING.select(column).with_columns(other)
    assert holds(f"{column} {operator} other", frame) == [*OPERATORS[operator], False]


def test_booleans(library):
    frame = pl.DataFrame({"x": [True, False, None], "y": [True, True, True]})
    for text, expected in {
        "x == true": [True, False, False],
        "x != TRUE": [False, True, False],
        "x in (false)": [False, True, False],
        "x == y": [True, False, False],
    }.items():
        assert read_condition(text, ["x", "y"]).holds(library(frame)).tolist() == expected
    for text in ("x < true", "x <= y"):
        with pytest.raises(ParameterError, match="booleans"):
            read_condition(text, ["x", "y"]).holds(library(frame))


def test_whole_numbers_are_not_rounded():
    frame = pl.DataFrame({"x": [2**53, 2**53 + 1, 2**63 - 1]})
    assert holds(f"x == {2**53}", frame) == [True, False, False]
    assert holds(f"x == {2**53}.0", frame) == [True, False, False]
    assert holds(f"x < {2**63}", frame) == [True, True, True]
    assert holds("x < 1e300", frame) == [True, True, True]
    assert holds("x > -1e300", frame) == [True, True, True]


def test_a_fraction_between_whole_numbers():
    frame = pl.DataFrame({"x": [-3, -2, 2, 3]})
    assert holds("x < 2.5", frame) == holds("x <= 2.5", frame) == [True, True, True, False]
    assert holds("x > -2.5", frame) == holds("x >= -2.5", frame) == [False, True, True, True]
    assert holds("x == 2.5", frame) == [False] * 4
    assert holds("x != 2.5", frame) == [True] * 4
    assert holds("x in (2.5, 3)", frame) == [False, False, False, True]


def test_a_moment_finer_than_the_column():
    coarse = pl.Series("x", [1_577_836_801_000]).cast(pl.Datetime("ms"))
    fine = pl.Series("x", [1_577_836_801_000_000_001]).cast(pl.Datetime("ns"))
    assert holds("x == '2020-01-01T00:00:01.0005'", coarse.to_frame()) == [False]
    assert holds("x < '2020-01-01T00:00:01.0005'", coarse.to_frame()) == [True]
    assert holds("x == '2020-01-01T00:00:01'", fine.to_frame()) == [False]  # a nanosecond later
    assert holds("x > '2020-01-01T00:00:01'", fine.to_frame()) == [True]


def test_single_precision_has_its_own_tenth(library):
    frame = library(pl.DataFrame({"x": pl.Series([0.1, 1e38], dtype=pl.Float32)}))
    for text, expected in {
        "x == 0.1": [True, False],
        "x > 0.1": [False, True],
        "x in (0.1)": [True, False],
        "x < 1e300": [True, True],
    }.items():
        assert read_condition(text, ["x"]).holds(frame).tolist() == expected


def test_dates_and_moments_compare():
    assert holds("day < moment", RISING) == [False, True, False, False]
    assert holds("day <= moment", RISING) == [True, True, True, False]
    assert holds("moment == coarse", RISING) == [True, True, True, False]


def test_numbers_of_several_types_compare():
    assert holds("small > real", RISING) == [True, True, False, False]
    assert holds("real == decimal", RISING) == [True, True, False, False]
    assert holds("positive > whole", RISING) == [True, False, False, False]


def test_text_and_categories_and_levels_compare():
    assert holds("text == category", RISING) == [True, True, True, False]
    assert holds("text != level", RISING) == [True, True, True, False]


def test_durations_compare_with_each_other():
    frame = pl.DataFrame({"x": [timedelta(1), None], "y": [timedelta(2), timedelta(2)]})
    assert holds("x < y", frame) == [True, False]
    with pytest.raises(ParameterError, match=r"holds durations.*Ask only whether it `is missing`"):
        holds("x < 3", frame)


def test_a_column_of_gaps_is_never_known(as_frame):
    frame = as_frame({"x": [None, None], "y": ["a", "b"]})
    for text in ("x == 1", "not x == 'a'", "x in (true)", "x != y", "x is not missing"):
        assert read_condition(text, ["x", "y"]).holds(frame).tolist() == [False, False], text
    assert read_condition("x is missing", ["x"]).holds(frame).tolist() == [True, True]


def test_pandas_categories_of_every_type():
    frame = pd.DataFrame(
        {
            "number": pd.Categorical([3, 10, None]),
            "boolean": pd.Categorical([True, False, None]),
            "grade": pd.Categorical(["b", "a", None], categories=["b", "z", "a"], ordered=True),
        }
    )
    assert holds("number < 5", frame) == [True, False, False]
    assert holds("boolean == true", frame) == [True, False, False]
    assert holds("grade > 'b'", frame) == [False, True, False]  # by the list: a comes last


def test_pandas_object_columns():
    frame = pd.DataFrame(
        {
            "yes": pd.Series([True, None, False], dtype=object),
            "number": pd.Series([Decimal("1.5"), None, Decimal(2)], dtype=object),
            "clock": pd.Series([time(1), None, time(2)], dtype=object),
            "day": pd.Series([date(2020, 1, 1), None, date(2021, 1, 1)], dtype=object),
        }
    )
    assert holds("yes == true", frame) == [True, False, False]
    assert holds("number > 1.5", frame) == [False, False, True]
    assert holds("clock == '01:00'", frame) == [True, False, False]
    assert holds("day < '2021-01-01'", frame) == [True, False, False]


def test_dictionaries_in_chunks():
    chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c"]).dictionary_encode()]
    table = pa.table({"x": pa.chunked_array(chunks)})
    assert read_condition("x >= 'b'", ["x"]).holds(table).tolist() == [False, True, True]


@pytest.mark.parametrize("name", ["*", "^.*$", "a`b", "and", "c0"])
def test_names_that_mean_something_elsewhere(name):
    frame = pl.DataFrame({name: [1, 2], "c1": [2, 1], "other": [5, 5]})
    quoted = "`" + name.replace("`", "``") + "`"
    assert holds(f"{quoted} == 1 and c1 == 2 and other == 5", frame) == [True, False]


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("text", "1", "holds text and cannot be compared with the number 1. Write text in quotes"),
        ("category", "true", "holds text and cannot be compared with true"),
        ("level", "3", "holds levels and cannot be compared with the number 3. Write one of its"),
        ("level", "'hihg'", "has no level 'hihg'. Did you mean 'high'?"),
        ("small", "'1'", "holds numbers and cannot be compared with the text '1'. Write a number"),
        ("real", "true", "holds numbers and cannot be compared with true"),
        ("decimal", "'a'", "holds numbers and cannot be compared with the text 'a'"),
        ("day", "20200101", "holds dates and cannot be compared with the number 20200101"),
        ("day", "'29.2.2020'", "Write a date in quotes, such as '2020-12-31'"),
        ("day", "'2020-02-30'", "holds dates and cannot be compared with the text '2020-02-30'"),
        ("moment", "'yesterday'", "Write a date and time in quotes"),
        ("moment", "1", "holds dates with times and cannot be compared with the number 1"),
        ("moment", "'2020-01-01T00:00Z'", "since it has no time zone"),
        ("moment", "'2020-01-01T00:00:00.0000001'", "holds dates with times and cannot"),
        ("clock", "'12:30+01:00'", "Write a time in quotes"),
        ("clock", "'noon'", "Write a time in quotes"),
        ("clock", "'00:00:00.0000001'", "Write a time in quotes"),
        ("text", "small", "'text' holds text and column 'small' holds numbers: they cannot be"),
        ("zoned", "moment", "both or neither with a time zone"),
        ("zoned", "day", "both or neither with a time zone"),
        ("clock", "day", "holds times and column 'day' holds dates"),
    ],
)
@showing_records()
def test_what_cannot_be_compared(column, value, expected):
    for form in ("{} == {}", "not ({} != {})"):
        with pytest.raises(ParameterError) as caught:
            holds(form.format(column, value), RISING)
        assert expected in str(caught.value)
        assert column in str(caught.value)


@showing_records()
def test_lists_are_checked_too():
    with pytest.raises(ParameterError, match=r"`small in \(1, 'a'\)` cannot be decided.*numbers"):
        holds("small in (1, 'a')", RISING)
    with pytest.raises(ParameterError, match=r"has no level 'lwo'. Did you mean 'low'"):
        holds("level in ('lwo')", RISING)
    with pytest.raises(ParameterError, match="holds text"):
        holds("text in ('a', 1)", RISING)


def test_levels_of_other_lists_have_no_common_order():
    frame = RISING.select("level", other=pl.lit("low").cast(pl.Enum(["high", "low"])))
    assert holds("level == other", frame) == [True, False, False, False]
    with pytest.raises(ParameterError, match=r"cannot be compared by order.*same list of levels"):
        holds("level < other", frame)
    with pytest.raises(ParameterError, match="cannot be compared by order"):
        holds("level < text", RISING)


def test_lists_can_only_be_missing():
    frame = pl.DataFrame({"x": [[1], None], "y": [[1], [2]]})
    assert holds("x is missing", frame) == [False, True]
    for text in ("x == 1", "x == 'a'", "x == y"):
        with pytest.raises(ParameterError, match="holds values that cannot be compared"):
            holds(text, frame)


def test_a_column_that_is_not_there():
    condition = read_condition("agee > 1", ["agee"])
    with pytest.raises(ParameterError, match=r"'agee' is not a column\. Did you mean 'age'\?"):
        condition.holds(pl.DataFrame({"age": [1]}))


def test_no_rows(library):
    for column, value in MIDDLE.items():
        frame = library(RISING.select(column).clear())
        if column in {"clock", "decimal", "day"} and isinstance(frame, pd.DataFrame):
            continue  # an empty object column has no type to tell
        condition = read_condition(f"{column} == {value}", [column])
        assert condition.holds(frame).tolist() == []
