"""What a table's columns are, found by looking at their values."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.data.schema import Column, Schema
from understudy.errors import DataError, ParameterError


def infer(as_frame, values, **options):
    return Schema.infer(as_frame({"x": values}), **options)["x"]


@pytest.mark.parametrize(
    ("values", "column"),
    [
        (["b", "a", "b"], Column("x", "categorical", levels=("a", "b"))),
        (["b", None, "b", "b"], Column("x", "categorical", levels=("b",), missing=0.25)),
        ([True, False], Column("x", "boolean")),
        ([3, 1, 3], Column("x", "integer", levels=(1, 3))),
        ([0.5, 0.25], Column("x", "real", levels=(0.25, 0.5), decimals=2)),
        ([1.0, 2.0], Column("x", "integer", levels=(1, 2))),
        ([1 / 3], Column("x", "real", levels=(1 / 3,))),
        ([dt.date(2020, 1, 2)], Column("x", "datetime", levels=("2020-01-02",))),
        ([0.5, math.inf], Column("x", "real", levels=(0.5, math.inf), decimals=1)),
        ([None, None], Column("x", "categorical", missing=1.0)),
    ],
    ids=str,
)
def test_small_columns_by_hand(as_frame, values, column):
    assert infer(as_frame, values) == column


def test_numbers_with_more_values_than_bins_are_cut(as_frame):
    twenty, more = [*range(20), 0], [*range(21), 0]  # 0 twice: no identifier
    column = Column("x", "integer", range=(0, 20))
    assert infer(as_frame, more, special_share=1) == column
    assert infer(as_frame, more, special_share=1, binning="width").binning == "width"
    assert infer(as_frame, twenty, special_share=1).levels == tuple(range(20))
    assert infer(as_frame, twenty, special_share=1, bins=19).range == (0, 19)
    # Without the special 0 (2 of 22 rows), twenty values are left: each is a level again.
    assert infer(as_frame, more).levels == tuple(range(21))


def test_a_frequent_number_is_special_and_outside_the_range(as_frame):
    values = [-8] * 3 + list(range(1, 28))  # 3 of 30 rows
    assert infer(as_frame, values, special_share=0.09).special == (-8,)
    assert infer(as_frame, values, special_share=0.09).range == (1, 27)
    assert infer(as_frame, values, special_share=0.1).special == ()  # not more than the share
    assert infer(as_frame, values, special_share=1).range == (-8, 27)


def test_infinities_are_special_however_rare(as_frame):
    column = infer(as_frame, [math.inf, -math.inf, *(n / 8 for n in range(50))])
    assert column.special == (-math.inf, math.inf)
    assert column.range == (0.0, 49 / 8)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([f"k{n}" for n in range(20)], "identifier"),
        ([f"k{n}" for n in range(19)], "categorical"),  # too few to tell
        (list(range(20)), "identifier"),
        (list(range(19)), "integer"),
        ([f"k{n}" for n in range(20)] + [None], "identifier"),
        ([n / 8 for n in range(20)], "real"),  # measured numbers differ by nature
        ([dt.date(2020, 1, 1) + dt.timedelta(n) for n in range(20)], "datetime"),
        ([f"He came on day {n}" for n in range(20)], "text"),
        ([f"name {n % 15}" for n in range(20)], "text"),  # mostly one person each
        ([f"name {n % 10}" for n in range(20)], "categorical"),
    ],
)
def test_identifiers_and_free_text(as_frame, values, kind):
    assert infer(as_frame, values).kind == kind


def test_durations_are_measured_and_no_identifiers():
    frame = pl.DataFrame({"x": pl.Series(range(30), dtype=pl.Duration("ms"))})
    assert Schema.infer(frame)["x"].kind == "integer"


@pytest.mark.parametrize(
    ("frame", "levels"),
    [
        (pd.DataFrame({"x": pd.Categorical(["b"], ["c", "b"])}), ("c", "b")),
        (pl.DataFrame({"x": pl.Series(["b"], dtype=pl.Enum(["c", "b"]))}), ("c", "b")),
        (pl.DataFrame({"x": pl.Series(["c", "b"], dtype=pl.Categorical)}), ("b", "c")),
        (
            pa.table({"x": pa.DictionaryArray.from_arrays([1], ["c", "b"], ordered=True)}),
            ("c", "b"),
        ),
        # Without an order, the dictionary is in the order in which the file brought the values.
        (pa.table({"x": pa.DictionaryArray.from_arrays([0, 1], ["c", "b"])}), ("b", "c")),
        (pd.DataFrame({"x": pd.Categorical([30, 10], [30, 20, 10])}), (30, 20, 10)),
    ],
)
def test_levels_that_a_type_lists_are_kept_in_their_order(frame, levels):
    assert Schema.infer(frame)["x"].levels == levels


def test_decimals_are_those_of_the_values(as_frame):
    assert infer(as_frame, [n / 100 for n in range(300)]).decimals == 2
    assert infer(as_frame, np.random.default_rng(0).normal(size=50)).decimals is None


def test_single_precision_numbers_have_the_decimals_that_were_written():
    frame = pa.table({"x": pa.array([n / 10 for n in range(300)], pa.float32())})
    assert Schema.infer(frame)["x"].decimals == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": 0}, "bins must be at least 1; got 0"),
        ({"binning": "edges"}, "'quantile' or 'width'; got 'edges'"),
        ({"special_share": 0}, "above 0 and up to 1; got 0"),
        ({"special_share": 1.1}, "above 0 and up to 1; got 1.1"),
    ],
)
def test_settings_that_cannot_be_are_refused(survey, options, message):
    with pytest.raises(ParameterError, match=message):
        Schema.infer(survey, **options)


def test_a_column_that_no_table_can_hold_is_named():
    with pytest.raises(DataError, match="Column 'tags' holds"):
        Schema.infer(pl.DataFrame({"tags": [["a"], ["b"]]}))


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 60), st.floats(-9, 9)), min_size=1),
    st.randoms(use_true_random=False),
)
def test_the_order_of_rows_and_columns_does_not_matter(rows, random):
    columns = dict(zip("xyz", zip(*rows, strict=True), strict=True))
    shuffled = random.sample(rows, len(rows))
    other = dict(zip("xyz", zip(*shuffled, strict=True), strict=True))
    schema = Schema.infer(pl.DataFrame(columns))
    assert Schema.infer(pl.DataFrame(other)) == schema
    turned = Schema.infer(pl.DataFrame({name: other[name] for name in "zxy"}))
    assert [turned[name] for name in "xyz"] == list(schema)


@settings(deadline=None)
@given(st.lists(st.sampled_from([0, 1, 2, None]), min_size=1, max_size=30))
def test_duplicating_every_row_changes_nothing_but_identifiers(values):
    frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.Int64)})
    assert Schema.infer(pl.concat([frame, frame])) == Schema.infer(frame)


def test_names_that_are_stored_as_categories_are_not_handed_out():
    names = [f"person {number}" for number in range(59)]
    frame = pl.DataFrame({"name": pl.Series([*names, names[0]], dtype=pl.Categorical)})
    assert Schema.infer(frame)["name"].kind == "text"
