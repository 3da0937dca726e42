"""Frames of three libraries in, Arrow inside, the same library and types out."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import polars.testing
import pyarrow as pa
import pytest

from understudy.data.frames import (
    Layout,
    arrow_type,
    check_names,
    describe_arrow,
    to_arrow,
    to_backend,
)
from understudy.errors import DataError

MOMENTS = [dt.datetime(2020, 3, day, 12, 30) for day in (1, 2, 3)]  # noqa: DTZ001  # naive on purpose
DAYS = [moment.date() for moment in MOMENTS]
TIMES = [dt.time(1, 2, 3), None, dt.time(4, 5, 6)]
MONEY = [Decimal("1.50"), None, Decimal("2.25")]


def pandas_columns():
    moments = pd.Series(MOMENTS)
    plain = {
        "int8": [1, 2, 3],
        "uint64": [1, 2, 3],
        "Int8": [1, None, 3],
        "UInt16": [1, None, 3],
        "float32": [0.1, None, 0.3],
        "Float64": [0.1, None, 0.3],
        "bool": [True, False, True],
        "boolean": [True, None, False],
        "str": ["a", None, "b"],
        "string": ["a", None, "b"],
        "string[python]": ["a", None, "b"],
        "timedelta64[s]": [1, None, 3],
        "int16[pyarrow]": [1, None, 3],
        "bool[pyarrow]": [True, None, False],
    }
    yield from (pytest.param(pd.Series(v, dtype=k), id=k) for k, v in plain.items())
    arrow = {
        pa.string(): ["a", None, "b"],
        pa.timestamp("us", "Europe/Berlin"): MOMENTS,
        pa.date32(): DAYS,
        pa.time64("us"): TIMES,
        pa.duration("ms"): [dt.timedelta(1), None, None],
        pa.decimal128(10, 2): MONEY,
        pa.dictionary(pa.int8(), pa.string()): ["b", None, "a"],
    }
    yield from (
        pytest.param(pd.Series(v, dtype=pd.ArrowDtype(k)), id=f"arrow-{k}")
        for k, v in arrow.items()
    )
    objects = {
        "none": ["a", None, "b"],
        "nan": ["a", np.nan, "b"],
        "bools": [True, None, False],
        "ints": [1, None, 2],
        "floats": [1.0, None, 2.0],
        "dates": [*DAYS[:2], None],
        "times": TIMES,
        "decimals": MONEY,
        "gaps": [None, None, None],
    }
    yield from (
        pytest.param(pd.Series(v, dtype=object), id=f"object-{k}") for k, v in objects.items()
    )
    yield pytest.param(moments.astype("datetime64[s]"), id="datetime-s")
    yield pytest.param(moments.astype("datetime64[ns]"), id="datetime-ns")
    yield pytest.param(moments.dt.tz_localize("Asia/Tokyo"), id="datetime-zone")
    yield pytest.param(pd.Series([pd.NaT, MOMENTS[0], pd.NaT]), id="datetime-gaps")
    categories = {
        "ordered-unused": pd.Categorical(["b", None, "c"], ["c", "x", "b"], ordered=True),
        "unordered": pd.Categorical(["b", "a", "b"]),
        "numbers": pd.Categorical([30, None, 10], [30, 20, 10]),
        "booleans": pd.Categorical([True, None, False]),
        "objects": pd.Categorical(["b", None], pd.Index(["b", "a"], dtype=object)),
        "none": pd.Categorical([None, None]),
    }
    yield from (pytest.param(pd.Series(v), id=f"category-{k}") for k, v in categories.items())


POLARS_COLUMNS = [
    pl.Series([1, None], dtype=pl.Int8),
    pl.Series([1, 2**63 - 1], dtype=pl.UInt64),
    pl.Series([0.1, None], dtype=pl.Float32),
    pl.Series([True, None]),
    pl.Series(["a", None]),
    pl.Series(["b", None, "a"], dtype=pl.Categorical),
    pl.Series(["b", None, "a"], dtype=pl.Enum(["unused", "b", "a"])),
    pl.Series(DAYS),
    pl.Series(TIMES),
    pl.Series(MOMENTS, dtype=pl.Datetime("ms")),
    pl.Series(MOMENTS, dtype=pl.Datetime("ns", "America/New_York")),
    pl.Series([dt.timedelta(1), None], dtype=pl.Duration("ms")),
    pl.Series(MONEY, dtype=pl.Decimal(10, 2)),
    pl.Series([None, None], dtype=pl.Null),
]

PYARROW_COLUMNS = [
    pa.array([1, None], pa.int8()),
    pa.array([1, None], pa.uint64()),
    pa.array([0.1, None], pa.float32()),
    pa.array([0.5, None], pa.float16()),
    pa.array([True, None]),
    pa.array(["a", None], pa.string()),
    pa.array(["a", None], pa.large_string()),
    pa.array(["a", None], pa.string_view()),
    pa.array(DAYS, pa.date32()),
    pa.array(DAYS, pa.date64()),
    pa.array(TIMES, pa.time32("s")),
    pa.array(MOMENTS, pa.timestamp("ms", "+02:00")),
    pa.array([1, None], pa.duration("s")),
    pa.array(MONEY, pa.decimal32(5, 2)),
    pa.array(MONEY, pa.decimal128(10, 2)),
    pa.array(MONEY, pa.decimal256(50, 2)),
    pa.nulls(2),
    pa.DictionaryArray.from_arrays(pa.array([2, None], pa.int8()), ["x", "y", "z"], ordered=True),
    pa.DictionaryArray.from_arrays(pa.array([1, None], pa.uint16()), pa.array([7, 5])),
]


def through_arrow(frame):
    """Take a frame apart and put it together again, with its layout through JSON."""
    layout = Layout.of(frame)
    layout = Layout(layout.backend, json.loads(json.dumps(layout.types, allow_nan=False)))
    table = to_arrow(frame)
    columns = dict(zip(table.column_names, table.columns, strict=True))
    return layout.restore({name: column.combine_chunks() for name, column in columns.items()})


@pytest.mark.parametrize("series", list(pandas_columns()))
def test_pandas_columns_come_out_as_they_went_in(series):
    frame = pd.DataFrame({"x": series})
    pd.testing.assert_frame_equal(through_arrow(frame), frame)


@pytest.mark.parametrize("series", POLARS_COLUMNS, ids=lambda series: str(series.dtype))
def test_polars_columns_come_out_as_they_went_in(series):
    frame = pl.DataFrame({"x": series})
    polars.testing.assert_frame_equal(through_arrow(frame), frame)


@pytest.mark.parametrize("array", PYARROW_COLUMNS, ids=lambda array: str(array.type))
def test_pyarrow_columns_come_out_as_they_went_in(array):
    table = pa.table({"x": array})
    assert through_arrow(table).equals(table)


def test_objects_keep_their_python_types():
    frame = pd.DataFrame({"x": pd.Series([1.0, None, 2.0], dtype=object)})
    assert [type(value) for value in through_arrow(frame)["x"]] == [float, type(None), float]


def test_a_row_index_is_no_column():
    frame = pd.DataFrame({"x": [1, 2]}, index=["first", "second"])
    assert to_arrow(frame).column_names == ["x"]


def test_pieces_of_a_pyarrow_dictionary_share_one_list_of_levels():
    pieces = pa.chunked_array(
        [pa.array(["a"]).dictionary_encode(), pa.array(["b"]).dictionary_encode()]
    )
    assert through_arrow(pa.table({"x": pieces}))["x"].to_pylist() == ["a", "b"]


def test_a_layout_forgets_the_categories_of_identifiers(as_frame):
    frame = as_frame({"id": ["k1", "k2"]})
    names = {
        "pandas": lambda: pd.DataFrame({"id": pd.Categorical(["k1", "k2"])}),
        "polars": lambda: frame.cast(pl.Enum(["k1", "k2"])),
        "pyarrow": lambda: pa.table({"id": frame["id"].dictionary_encode()}),
    }
    layout = Layout.of(names[Layout.of(frame).backend]())
    assert "k1" in str(layout)
    assert "k1" not in str(layout.forget_values(["id"]))
    assert layout.forget_values(["other"]) == layout


def test_an_arrow_dictionary_in_pandas_forgets_its_categories_too():
    series = pd.Series(["k1"], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())))
    layout = Layout.of(pd.DataFrame({"id": series}))
    assert "k1" in str(layout)
    assert "k1" not in str(layout.forget_values(["id"]))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "b", "a"], "must differ; repeated: 'a'"),
        (["a", ""], "Column 2 has no name"),
        ([None], "Column 1 has no name"),
        (["a", 7], "names are text; 7 is int"),
        (["a", "Smith" * 1000], "Column 2 has a name of 5,000 characters; 1,000 are the most"),
        (["a\x1b[31m"], "The name of column 1 holds control characters"),
    ],
)
def test_names_that_are_no_names_are_refused(names, message):
    with pytest.raises(DataError, match=message):
        check_names(names)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ([1, 2], "not builtins.list"),
        ({"a": [1]}, "not builtins.dict"),
        (pl.LazyFrame({"a": [1]}), r"not polars.LazyFrame. Call .collect\(\) on it first"),
        (pl.Series([1]), "not polars.Series"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "repeated: 'a'"),
        (pd.DataFrame([[1, 2]]), "names are text; 0 is int"),
        (pd.DataFrame({"a": [1, "x"]}, dtype=object), "Column 'a' cannot be read as values of one"),
        (pd.DataFrame({"a": [1j]}), "Column 'a' cannot be read"),
    ],
)
def test_what_is_no_table_is_refused_with_advice(frame, message):
    with pytest.raises(DataError, match=message):
        to_arrow(frame)


def test_a_frame_without_columns_comes_back(as_frame):
    assert to_arrow(through_arrow(as_frame({}))).num_columns == 0


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_any_library_can_be_asked_for(backend):
    frame = to_backend(pl.DataFrame({"x": [1, 2]}), backend)
    assert Layout.of(frame).backend == backend
    assert to_arrow(frame).equals(pa.table({"x": [1, 2]}))


def test_a_library_that_we_do_not_know_is_refused():
    with pytest.raises(DataError, match="one of polars, pandas, pyarrow; got 'dask'"):
        to_backend(pl.DataFrame({"x": [1]}), "dask")


@pytest.mark.parametrize(
    "kind",
    [array.type for array in PYARROW_COLUMNS if not pa.types.is_dictionary(array.type)],
    ids=str,
)
def test_arrow_types_come_back_from_their_words(kind):
    assert arrow_type(json.loads(json.dumps(describe_arrow(kind)))) == kind


def test_a_type_that_is_none_is_not_looked_up():
    layout = Layout("polars", {"a": {"type": "show_versions"}})
    with pytest.raises(DataError, match="no type 'show_versions'"):
        layout.restore({"a": pa.array([1])})
