"""What a table's columns are, and in what ways a table does not fit a schema."""

from __future__ import annotations

import datetime as dt
import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.files import write
from understudy.data.schema import Column, Schema
from understudy.data.stream import scan
from understudy.errors import DataError, ParameterError, SchemaError
from understudy.showing import showing_records


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
        ([f"took {n} pills in {n} days, he said" for n in range(20)], "text"),
        ([f"DE{n} 5001 0517 5407 324{n}" for n in range(20)], "identifier"),
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


@given(st.lists(st.sampled_from([0, 1, 2, None]), min_size=1, max_size=30))
def test_duplicating_every_row_changes_nothing_but_identifiers(values):
    frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.Int64)})
    assert Schema.infer(pl.concat([frame, frame])) == Schema.infer(frame)


def test_names_that_are_stored_as_categories_are_not_handed_out():
    names = [f"person {number}" for number in range(59)]
    frame = pl.DataFrame({"name": pl.Series([*names, names[0]], dtype=pl.Categorical)})
    assert Schema.infer(frame)["name"].kind == "text"


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
        ("age", [15, 100], "'age' has 2 rows outside its range: 15, 100."),
        ("age", [20.5, 30.0], "'age' has 1 row with a number that is not whole, but the schema "
         "says integer."),
        ("income", [-0.5, 1.0], "'income' has 1 row outside its range: "
         "-0.5."),
        ("income", [np.inf, 1.0], "'income' has 1 row outside its range: "
         "inf."),
        (
            "born",
            [dt.date(2011, 1, 1), dt.date(1900, 1, 1)],
            "'born' has 1 row outside its range: 2011-01-01.",
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
@showing_records()
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


def test_values_of_few_rows_are_not_shown_and_those_of_many_are(as_frame):
    schema = Schema([Column("x", "categorical", levels=("female", "rare"))])
    frame = as_frame({"x": ["female"] * 5 + ["femal"] * 5 + ["Smith"] * 4 + ["rare", "rear"]})
    assert problems(schema, frame) == (
        "'x' has 10 rows with a value that is not among its 2 levels: 'femal' and 2 more. "
        "Did you mean 'female'?",
    )
    (sentence,) = problems(schema, as_frame({"x": ["rare", "rear", "Smith"]}))
    assert sentence == (
        "'x' has 2 rows with a value that is not among its 2 levels (2 values, not shown: fewer "
        "than 5 rows have each)."
    )
    (sentence,) = problems(
        Schema([Column("x", "integer", range=(987, 1234))]), as_frame({"x": [1000, 4321]})
    )
    assert not {"987", "1234", "4321"} & set(re.findall(r"\d+", sentence))


@pytest.mark.parametrize(
    "column",
    [
        Column("x", "datetime", range=("1931-13-01", "2020-01-01")),
        Column("x", "datetime", levels=("2020-01-01", "Smith")),
    ],
)
def test_what_does_not_fit_in_the_schema_is_not_shown(column):
    (sentence,) = problems(Schema([column]), pl.DataFrame({"x": [dt.date(2020, 1, 1)]}))
    assert sentence == "'x': the schema gives a value that does not fit date32[day]."


@showing_records()
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


@showing_records()
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


@showing_records()
def test_a_file_in_pieces_is_checked_like_a_table(tmp_path):
    path = write(pl.DataFrame(GOOD | {"age": [7, 8]}), tmp_path / "x.parquet")
    assert problems(SCHEMA, scan(path, batch_rows=1)) == (
        "'age' has 2 rows outside its range: 7, 8.",
    )
