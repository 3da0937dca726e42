"""From a frame to codes and back: by hand, and for arbitrary frames of all three libraries."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from understudy.data.bundled import simulate
from understudy.data.codec import Codec
from understudy.data.coded import Coded
from understudy.data.frames import Layout, to_arrow
from understudy.data.schema import Column, Schema
from understudy.data.stream import scan
from understudy.data.values import numbers
from understudy.errors import DataError, ParameterError, SchemaError

HOWS = ["interpolate", "uniform"]


def through_json(codec):
    return Codec.from_plain(json.loads(json.dumps(codec.to_plain(), allow_nan=False)))


def values(frame, name):
    return to_arrow(frame)[name].to_pylist()


# By hand


def test_levels_are_coded_in_their_order_and_missing_last(survey):
    codec = Codec.fit(survey)
    coded = codec.encode(survey)
    assert codec.names == ("sex", "age", "income", "smoker")
    assert coded["sex"].tolist() == [0, 1, 2, 0, 1, 0]  # f, m, missing
    assert coded["age"].tolist() == [1, 2, 1, 0, 3, 2]  # 28, 31, 45, 60
    assert coded["income"].tolist() == [1, 3, 0, 2, 0, 4]  # 0, 1500.5, 1800.75, 2300.25, missing
    assert coded["smoker"].tolist() == [1, 0, 0, 1, 0, 1]  # False, True
    assert coded.cardinalities == (3, 4, 5, 2)


def test_a_small_table_comes_back_whole(survey):
    codec = Codec.fit(survey)
    back = codec.decode(codec.encode(survey))
    assert type(back) is type(survey)
    assert to_arrow(back).equals(to_arrow(survey))


def test_each_code_has_a_label(survey):
    codec = Codec.fit(survey)
    assert codec.labels("sex") == ["f", "m", "missing"]
    assert codec.labels("age") == ["28", "31", "45", "60"]
    assert [len(codec.labels(name)) for name in codec.names] == list(codec.cardinalities)


def test_quantile_bins_by_hand():
    # 0 makes up 8 of 18 rows: special. The others in two bins: the fifth of ten, 6, starts the
    # second one.
    frame = pl.DataFrame({"x": [*[0] * 8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]})
    codec = Codec.fit(frame, Schema.infer(frame, bins=2, special_share=0.1))
    assert codec.encode(frame)["x"].tolist() == [0] * 8 + [1] * 5 + [2] * 5
    assert codec.labels("x") == ["0", "1 to 5", "6 to 10"]


def test_width_bins_by_hand():
    frame = pl.DataFrame({"x": [0, 1, 2, 3, 10]})
    codec = Codec.fit(frame, Schema([Column("x", "integer", binning="width", bins=2)]))
    assert codec.encode(frame)["x"].tolist() == [0, 0, 0, 0, 1]
    assert codec.labels("x") == ["0 to 4", "5 to 10"]


@pytest.mark.parametrize(
    ("column", "data", "codes", "labels"),
    [
        (
            Column("x", "integer", binning="edges", edges=(0, 17.5, 64.5, 99)),
            [0, 17, 18, 64, 65, 99],
            [0, 0, 1, 1, 2, 2],
            ["0 to 17", "18 to 64", "65 to 99"],
        ),
        (
            Column("x", "real", binning="edges", edges=(0, 0.5, 1), special=(-8.0,), decimals=1),
            [-8.0, 0.0, 0.4, 0.5, 1.0],
            [0, 1, 1, 2, 2],
            ["-8", "0 to 0.4", "0.5 to 1"],
        ),
        (
            Column(
                "x", "datetime", binning="edges", edges=("2020-01-01", "2021-01-01", "2021-12-31")
            ),
            [dt.date(2020, 1, 1), dt.date(2020, 12, 31), dt.date(2021, 1, 1)],
            [0, 0, 1],
            ["2020-01-01 to 2020-12-31", "2021-01-01 to 2021-12-31"],
        ),
    ],
)
def test_given_edges_by_hand(as_frame, column, data, codes, labels):
    frame = as_frame({"x": data})
    codec = through_json(Codec.fit(frame, Schema([column])))
    assert codec.encode(frame)["x"].tolist() == codes
    assert codec.labels("x") == labels


def test_a_schema_gives_the_order_of_levels_and_may_leave_them_open(as_frame):
    frame = as_frame({"size": ["s", "l", "m"], "grade": ["b", "a", "b"]})
    schema = Schema(
        [Column("size", "categorical", levels=("s", "m", "l")), Column("grade", "categorical")]
    )
    codec = Codec.fit(frame, schema)
    assert codec.encode(frame)["size"].tolist() == [0, 2, 1]
    assert codec.schema["grade"].levels == ("a", "b")


@pytest.mark.parametrize("dtype", ["int8", "int64", "Int16", "float64", "int32[pyarrow]"])
def test_whole_numbers_that_are_called_categorical_are_coded_by_levels(dtype):
    # Seven values only, but the inferred schema would cut them into three bins.
    frame = pd.DataFrame({"code": pd.Series([5, 1, 9, 7, 3, 8, 2] * 4, dtype=dtype)})
    schema = Schema.infer(frame, bins=3, special_share=1)
    assert schema["code"].binned
    text = schema.to_toml().replace('kind = "integer"', 'kind = "categorical"')
    codec = through_json(Codec.fit(frame, Schema.from_toml(text)))
    assert codec.schema["code"].levels == (1, 2, 3, 5, 7, 8, 9)
    assert codec.encode(frame)["code"].tolist() == [3, 0, 6, 4, 2, 5, 1] * 4
    pd.testing.assert_frame_equal(codec.decode(codec.encode(frame)), frame)


def test_a_categorical_number_with_gaps_has_no_level_for_them():
    frame = pd.DataFrame({"code": [2.0, np.nan, 1.0]})
    codec = Codec.fit(frame, Schema([Column("code", "categorical", missing=0.3)]))
    assert codec.encode(frame)["code"].tolist() == [1, 2, 0]
    pd.testing.assert_frame_equal(codec.decode(codec.encode(frame)), frame)


def test_whole_numbers_that_are_called_real_stay_whole(as_frame):
    frame = as_frame({"x": list(range(40)) * 2})
    column = Column("x", "real", bins=4, range=(-0.5, 40.5), special=(7.0, 7.5))
    codec = through_json(Codec.fit(frame, Schema([column])))
    coded = codec.encode(frame)
    back = codec.decode(coded, random_state=0)
    assert to_arrow(back).schema == to_arrow(frame).schema
    assert codec.encode(back) == coded


def test_identifiers_are_not_coded_and_made_up_anew(as_frame):
    frame = as_frame({"id": [f"person {n}" for n in range(18)] + ["x", "y"], "x": [1, 2] * 10})
    codec = Codec.fit(frame)
    assert codec.names == ("x",)
    back = codec.decode(codec.encode(frame))
    assert values(back, "id") == [f"synthetic-{n}" for n in range(1, 21)]
    assert "person" not in json.dumps(codec.to_plain())


def test_a_table_without_its_identifier_can_be_coded(as_frame):
    frame = as_frame({"id": [f"k{n}" for n in range(20)], "x": [1, 2] * 10})
    codec = Codec.fit(frame)
    assert codec.encode(as_frame({"x": [2, 1]}))["x"].tolist() == [1, 0]


def test_free_text_is_refused_with_advice(as_frame):
    texts = [f"He said on day {n} that it hurt" for n in range(20)]
    with pytest.raises(SchemaError, match="'note' looks like free text") as error:
        Codec.fit(as_frame({"note": texts, "other": texts}))
    assert len(error.value.problems) == 2


# Errors


def test_everything_that_cannot_be_coded_is_counted_before_it_is_raised(as_frame):
    frame = as_frame(
        {
            "sex": ["f", "m", "f"] * 10,
            "age": list(range(30)),
            "flag": [True, False, True] * 10,
            "when": [dt.date(2020, 1, 1)] * 30,
        }
    )
    schema = Schema.infer(frame).edit("age", kind="integer", role="ordinary", bins=5, range=(0, 29))
    codec = Codec.fit(frame, schema)
    other = as_frame(
        {
            "sex": ["f", "x", "mm", "mm"],
            "age": [1, 99, -3, 2],
            "flag": [True, None, None, False],
            "when": ["a", "b", "c", "d"],
        }
    )
    with pytest.raises(SchemaError, match="The table cannot be coded") as error:
        codec.encode(other)
    problems = "\n".join(error.value.problems)
    hidden = "(2 values, not shown: fewer than 5 rows have each)."
    assert f"'sex' has 3 rows with a value that is not among its 2 levels {hidden}" in problems
    assert f"'age' has 2 rows outside its range {hidden}" in problems
    assert "'flag' has 2 rows without a value" in problems
    assert "'when' holds" in problems
    assert "but the schema says datetime" in problems


def test_absent_columns_are_named_with_near_misses(as_frame):
    codec = Codec.fit(as_frame({"age": [1, 2], "sex": ["f", "m"]}))
    with pytest.raises(SchemaError, match=r"no column 'age'. Did you mean 'Age'") as error:
        codec.encode(as_frame({"Age": [1], "other": [1]}))
    assert len(error.value.problems) == 4


def test_times_too_far_apart_for_their_unit_are_refused():
    moments = [dt.datetime(1700, 1, 1), *(dt.datetime(2200, 1, d) for d in range(1, 31))]  # noqa: DTZ001
    with pytest.raises(SchemaError, match=r"'t' holds values too far apart.* coarser unit"):
        Codec.fit(pl.DataFrame({"t": pl.Series(moments, dtype=pl.Datetime("ns"))}))


def test_whole_numbers_too_far_apart_are_refused_and_not_miscounted(as_frame):
    frame = as_frame({"x": [-(2**63), 2**63 - 1, *range(30), *range(30)]})
    with pytest.raises(SchemaError, match="too far apart"):
        Codec.fit(frame)


@pytest.mark.parametrize("how", HOWS)
def test_the_widest_span_that_is_taken_is_decoded_in_range(as_frame, how):
    low, high = -(2**62), 2**62 - 2**12
    frame = as_frame({"x": [low, high, *range(0, 2**60, 2**54), *range(0, 2**60, 2**54)]})
    codec = Codec.fit(frame)
    coded = codec.encode(frame)
    assert codec.encode(codec.decode(coded, how, 0)) == coded


def test_codes_of_another_codec_and_unknown_ways_are_refused(survey):
    codec = Codec.fit(survey)
    coded = codec.encode(survey)
    with pytest.raises(ParameterError, match="not this codec's"):
        codec.decode(coded.select(["sex"]))
    with pytest.raises(ParameterError, match="'interpolate' or 'uniform'; got 'median'"):
        codec.decode(coded, "median")


def test_a_schema_that_the_table_does_not_fit_is_refused_with_all_problems(survey):
    schema = Schema.infer(survey).edit("sex", levels=("f",)).edit("age", kind="datetime", levels=())
    with pytest.raises(SchemaError) as error:
        Codec.fit(survey, schema)
    assert len(error.value.problems) == 2


# Times


def test_times_in_another_unit_are_the_same_times():
    moments = [dt.datetime(2020, 1, 1) + dt.timedelta(hours=h) for h in range(50)] * 2  # noqa: DTZ001
    frame = pl.DataFrame({"t": pl.Series(moments, dtype=pl.Datetime("us"))})
    codec = Codec.fit(frame)
    for unit in ("ms", "ns"):
        assert codec.encode(frame.cast(pl.Datetime(unit))) == codec.encode(frame)


def test_durations_in_another_unit_are_the_same_durations():
    frame = pl.DataFrame({"t": pl.Series(list(range(50)) * 2, dtype=pl.Duration("ms"))})
    codec = Codec.fit(frame)
    assert codec.encode(frame.cast(pl.Duration("us"))) == codec.encode(frame)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (dt.timedelta(days=1), pl.Datetime("ns", "UTC")),
        (dt.timedelta(minutes=15), pl.Datetime("us")),
        (dt.timedelta(seconds=1), pl.Datetime("ms")),
    ],
)
def test_drawn_times_are_no_finer_than_the_data(how, step, kind):
    start = dt.datetime(2020, 1, 1, 8, 30)  # noqa: DTZ001
    times = [start + n * n * step for n in range(60)] * 2
    frame = pl.DataFrame({"t": pl.Series(times).cast(kind)})
    codec = Codec.fit(frame)
    back = codec.decode(codec.encode(frame), how, 1)
    day_or_less = {dt.timedelta(minutes=15): dt.timedelta(minutes=1)}.get(step, step)
    assert back.schema == frame.schema
    assert (
        (back["t"] - frame["t"][0]).dt.total_microseconds()
        % (day_or_less // dt.timedelta(microseconds=1))
        == 0
    ).all()


# What a draw may be


@pytest.mark.parametrize("how", HOWS)
def test_drawn_numbers_keep_type_range_decimals_and_special_values(as_frame, how):
    rng = np.random.default_rng(5)
    amounts = np.where(rng.random(500) < 0.3, 0.0, np.round(rng.gamma(2, 500, 500), 2))
    frame = as_frame({"amount": amounts, "age": rng.integers(18, 99, 500)})
    codec = Codec.fit(frame)
    assert codec.schema["amount"].special == (0.0,)
    assert codec.schema["amount"].decimals == 2
    back = to_arrow(codec.decode(codec.encode(frame), how, 0))
    drawn, ages = back["amount"].to_numpy(), back["age"].to_numpy()
    np.testing.assert_array_equal(drawn == 0, amounts == 0)
    np.testing.assert_array_equal(np.round(drawn, 2), drawn)
    assert drawn.max() <= amounts.max()
    assert drawn[drawn != 0].min() >= amounts[amounts != 0].min()
    assert ages.dtype == np.int64
    assert ages.min() >= 18
    assert ages.max() <= 98


@pytest.mark.parametrize("rows", [21, 50, 100, 5_000])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_no_continuous_original_is_handed_out(rows, dtype):
    original = np.random.default_rng(rows).normal(size=rows).astype(dtype)
    codec = Codec.fit(pd.DataFrame({"x": original}))
    codes = Coded.from_arrays({"x": np.arange(20).repeat(100)}, {"x": 20})
    drawn = codec.decode(codes, "interpolate", 0)["x"]
    assert drawn.dtype == dtype
    # In single precision a draw can meet a neighbour by chance: 2 ** 24 numbers, 2,000 draws.
    assert np.isin(drawn, original).mean() <= (0 if dtype == "float64" else 0.001)


def test_the_two_ways_keep_the_marginals_of_the_bins():
    frame = simulate("credit_card", rows=2_000)
    codec = Codec.fit(frame)
    coded = codec.encode(frame)
    for how in HOWS:
        assert codec.encode(codec.decode(coded, how, 0)) == coded


def test_a_seed_decides_the_draws(as_frame):
    frame = as_frame({"x": np.random.default_rng(0).normal(size=100)})
    codec = Codec.fit(frame)
    coded = codec.encode(frame)
    one, same, other = (values(codec.decode(coded, random_state=seed), "x") for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_decimals_that_the_user_lowers_are_kept(as_frame):
    frame = as_frame({"x": np.random.default_rng(0).uniform(0, 9, size=200)})
    codec = Codec.fit(frame, Schema.infer(frame).edit("x", decimals=1, range=(0, 9)))
    drawn = np.array(values(codec.decode(codec.encode(frame), random_state=0), "x"))
    np.testing.assert_array_equal(np.round(drawn, 1), drawn)


# Trivial worlds


@pytest.mark.parametrize(
    "column",
    [
        ["a"],
        [7],
        [2.5],
        [True],
        [dt.date(2020, 1, 1)],
        ["a"] * 30,
        [7] * 30,
        [float("inf")] * 3,
        [float("inf"), float("-inf"), 1.0],
    ],
    ids=str,
)
def test_one_row_and_constant_columns_come_back(as_frame, column):
    frame = as_frame({"x": column})
    codec = through_json(Codec.fit(frame))
    for how in HOWS:
        assert to_arrow(codec.decode(codec.encode(frame), how)).equals(to_arrow(frame))


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.int8(), pa.float32(), pa.bool_(), pa.date32(), pa.null()], ids=str
)
@pytest.mark.parametrize("rows", [0, 3])
def test_columns_without_a_value_come_back(kind, rows):
    frame = pa.table({"x": pa.nulls(rows, kind)})
    codec = through_json(Codec.fit(frame))
    coded = codec.encode(frame)
    assert len(coded) == rows
    assert codec.decode(coded).equals(frame)


def test_no_rows_can_be_decoded(survey):
    codec = Codec.fit(survey)
    none = codec.encode(survey).take(slice(0, 0))
    assert to_arrow(codec.decode(none)).schema == to_arrow(survey).schema


# Arbitrary frames

text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
EARLY, LATE = dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)  # noqa: DTZ001  # also in nanoseconds
COLUMNS = {
    "text": text,
    "label": st.sampled_from(["a", "b", "c"]),
    "int": st.integers(-(2**60), 2**60),
    "small": st.integers(-40, 40),
    "float": st.floats(allow_nan=True, allow_infinity=True),
    "money": st.integers(-500_00, 500_00).map(lambda n: n / 100),
    "bool": st.booleans(),
    "date": st.dates(),
    "time": st.times(),
    "moment": st.datetimes(EARLY, LATE),
    "zoned": st.datetimes(EARLY, LATE, timezones=st.just(dt.UTC)),
    "duration": st.timedeltas(dt.timedelta(-9_999), dt.timedelta(9_999)),
    "decimal": st.decimals(-999, 999, places=2),
    "gap": st.none(),
}


@st.composite
def tables(draw):
    """Return columns of any kind, of one length, some with gaps, as Arrow arrays."""
    rows = draw(st.sampled_from([1, 2, 5, 19, 20, 23, 60]))
    kinds = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=5))
    table = {}
    for place, kind in enumerate(kinds):
        strategy = COLUMNS[kind]
        if draw(st.booleans()):
            strategy = st.one_of(st.none(), strategy)
        # One seed stands for a column: hypothesis would spend its budget on long lists.
        few = draw(st.lists(strategy, min_size=1, max_size=25))
        order = np.random.default_rng(draw(st.integers(0, 99))).integers(0, len(few), rows)
        table[f"{kind} {place}"] = pa.array([few[place] for place in order], _stored(kind, draw))
    return pa.table(table)


def _stored(kind, draw):
    units = st.sampled_from(["ms", "us", "ns"])
    types = {
        "text": st.sampled_from([pa.string(), pa.large_string()]),
        "label": st.sampled_from([pa.string(), pa.dictionary(pa.int8(), pa.string())]),
        "int": st.just(pa.int64()),
        "small": st.sampled_from([pa.int8(), pa.int16(), pa.float32(), pa.float64()]),
        "float": st.just(pa.float64()),
        "money": st.sampled_from([pa.float64(), pa.float32()]),
        "bool": st.just(pa.bool_()),
        "date": st.just(pa.date32()),
        "time": st.just(pa.time64("us")),
        "moment": units.map(pa.timestamp),
        "zoned": units.map(lambda unit: pa.timestamp(unit, "Europe/Berlin")),
        "duration": units.map(pa.duration),
        "decimal": st.just(pa.decimal128(9, 2)),
        "gap": st.sampled_from([pa.null(), pa.string(), pa.int32(), pa.float64(), pa.bool_()]),
    }
    return draw(types[kind])


def in_library(table, library):
    """Return an Arrow table as each library stores it by itself."""
    if library == "pyarrow":
        return table
    return table.to_pandas() if library == "pandas" else pl.from_arrow(table)


arbitrary = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.fixture(params=["pandas", "polars", "pyarrow"], scope="module")
def library(request):
    return request.param


def codable(schema):
    """Return the schema with what would be refused as free text declared to be categories."""
    texts = [column.name for column in schema if column.kind == "text"]
    return schema.edit(*texts, kind="categorical")


@arbitrary
@given(
    table=tables(),
    how=st.sampled_from(HOWS),
    binning=st.sampled_from(["quantile", "width"]),
    bins=st.sampled_from([1, 3, 20]),
    special_share=st.sampled_from([0.05, 1]),
)
def test_arbitrary_frames_survive_the_round_trip(library, table, how, binning, bins, special_share):
    frame = in_library(table, library)
    schema = Schema.infer(frame, bins=bins, binning=binning, special_share=special_share)
    assert Schema.from_toml(schema.to_toml()) == schema
    schema.check(frame)
    codec = Codec.fit(frame, codable(schema))
    coded = codec.encode(frame)
    back = codec.decode(coded, how, 0)

    assert codec.encode(back) == coded
    assert Layout.of(back).forget_values(codec.schema.identifiers) == codec.layout
    before, after = to_arrow(frame), to_arrow(back)
    assert after.column_names == before.column_names
    assert after.num_rows == before.num_rows
    for name in codec.names:
        column, old, new = codec.schema[name], before[name], after[name]
        assert old.is_null(nan_is_null=True) == new.is_null(nan_is_null=True)
        if not column.binned:
            assert _values(new) == _values(old)
        elif column.decimals is not None and column.kind == "real":
            drawn = numbers(new.combine_chunks(), name).present
            stored = "float32" if pa.types.is_float32(new.type) else "float64"
            rounded = np.round(drawn, column.decimals).astype(stored)
            np.testing.assert_array_equal(rounded, drawn.astype(stored))

    again = through_json(codec)
    assert again.schema == codec.schema
    assert again.layout == codec.layout
    assert again.encode(frame) == coded
    same = to_arrow(again.decode(coded, how, 0))
    assert [_values(column) for column in same.columns] == [_values(c) for c in after.columns]


def _values(column):
    return ["gap" if v is None or v != v else v for v in column.to_pylist()]  # noqa: PLR0124  # NaN


@arbitrary
@given(
    rows=st.lists(
        st.tuples(
            text,
            st.integers(-100, 100),
            st.floats(-1e6, 1e6),
            st.booleans(),
            st.dates(EARLY.date(), LATE.date()),
        ),
        min_size=1,
        max_size=40,
    )
)
def test_the_same_table_has_the_same_codes_in_every_library(rows):
    columns = dict(zip("abcde", map(list, zip(*rows, strict=True)), strict=True))
    frames = [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]
    schemas = [Schema.infer(frame) for frame in frames]
    assert schemas[0] == schemas[1] == schemas[2]
    pandas, polars, pyarrow = (
        Codec.fit(frame, codable(schemas[0])).encode(frame) for frame in frames
    )
    assert pandas == polars == pyarrow


@arbitrary
@given(
    numbers=st.lists(st.integers(-1_000, 1_000), min_size=1, max_size=60),
    cuts=st.lists(st.integers(-2_000, 2_000), min_size=1, max_size=8, unique=True),
    special=st.lists(st.integers(-20, 20), max_size=6, unique=True),
    decimals=st.sampled_from([None, 0, 1, 2]),
    how=st.sampled_from(HOWS),
    kind=st.sampled_from(["integer", "real"]),
)
def test_given_edges_and_special_values_survive_the_round_trip(
    library, numbers, cuts, special, decimals, how, kind
):
    scale = 1 if kind == "integer" else 10 ** (decimals or 0)
    data = [number / scale if kind == "real" else number for number in numbers]
    edges = sorted({-3_000, *(cut / 2 for cut in cuts), 3_000})
    column = Column("x", kind, binning="edges", edges=edges, special=special, decimals=decimals)
    frame = in_library(pa.table({"x": data}), library)
    codec = Codec.fit(frame, Schema([column]))
    coded = codec.encode(frame)
    for _ in range(3):
        assert codec.encode(codec.decode(coded, how)) == coded


@pytest.mark.parametrize("how", HOWS)
def test_bins_that_are_full_of_special_values_give_the_others(how):
    # Of 0 to 9 only 9 is not special: redrawing alone would miss it.
    frame = pl.DataFrame({"x": [*range(10), 9, 9] * 3})
    column = Column("x", "integer", binning="edges", edges=(0, 20), special=tuple(range(9)))
    codec = Codec.fit(frame, Schema([column]))
    coded = Coded.from_arrays({"x": np.full(5_000, 9)}, {"x": 10})
    assert codec.encode(codec.decode(coded, how, 0)) == coded


def test_decimal_columns_of_whole_numbers_stay_decimal(library):
    table = pa.table({"x": pa.array([Decimal(n) for n in range(50)] * 2, pa.decimal128(5, 2))})
    frame = in_library(table, library)
    codec = Codec.fit(frame)
    assert codec.schema["x"].kind == "integer"
    back = codec.decode(codec.encode(frame), random_state=0)
    assert Layout.of(back) == Layout.of(frame)
    assert all(isinstance(value, Decimal) for value in values(back, "x"))


def test_an_edge_of_a_single_precision_column_parts_the_same_numbers():
    tenths = np.arange(200, dtype=np.float32) / np.float32(10)
    frame = pl.DataFrame({"x": np.repeat(tenths, 2)})
    codec = Codec.fit(frame)
    assert codec.schema["x"].decimals == 1
    coded = codec.encode(frame)
    for seed in range(20):
        back = codec.decode(coded, "uniform", seed)
        assert codec.encode(back) == coded


def test_bins_reach_to_the_ends_of_the_range_even_if_the_data_do_not(as_frame):
    # Quantiles of 10, 20, 30 cut at 20; the first bin starts at 0, and the last ends at 100.
    frame = as_frame({"x": [10, 20, 30] * 10})
    codec = Codec.fit(frame, Schema([Column("x", "integer", range=(0, 100), bins=2)]))
    assert codec.labels("x") == ["0 to 19", "20 to 100"]
    assert codec.encode(as_frame({"x": [0, 100]}))["x"].tolist() == [0, 1]


def test_values_that_each_stand_for_one_record_are_pointed_out(caplog):
    Codec.fit(pl.DataFrame({"name": ["Ann", "Bob", "Eve"], "sex": ["f", "m", "f"]}))
    assert "value of its own in 'name', and" in caplog.text
    caplog.clear()
    Codec.fit(pl.DataFrame({"sex": ["f", "m", "f"]}))
    assert not caplog.text


# Exact codes


def through_parts(codec):
    plain = json.loads(json.dumps(codec.to_plain(), allow_nan=False))
    return Codec.from_plain(plain, codec.to_arrays())


def test_exact_codes_by_hand(as_frame):
    frame = as_frame({"c": ["b", "a", "b", None], "x": [2.5, 0.0, None, -8.0], "n": [7, 7, 5, 6]})
    schema = Schema.infer(frame).edit("x", levels=(), special=(-8.0,), range=None)
    codec = Codec.fit(frame, schema, exact=True)
    coded = codec.encode(frame)
    assert coded["c"].tolist() == [1, 0, 1, 2]
    assert coded["x"].tolist() == [2, 1, 3, 0]  # -8 is special, then 0 and 2.5, then missing
    assert coded["n"].tolist() == [2, 2, 0, 1]
    assert codec.cardinalities == (3, 4, 3)
    assert codec.labels("x") == ["-8", "0", "2.5", "missing"]
    assert to_arrow(codec.decode(coded)).equals(to_arrow(frame))
    assert list(codec.to_arrays()) == ["1", "2"]
    assert codec.to_arrays()["1"].tolist() == [0, 2.5]


def test_bins_of_the_schema_do_not_matter_to_exact_codes():
    frame = simulate("credit_card", rows=500)
    codec = Codec.fit(frame, Schema.infer(frame, bins=2), exact=True)
    assert len(codec.names) >= 29
    assert list(codec.cardinalities) == [frame[name].n_unique() for name in codec.names]
    assert codec.decode(codec.encode(frame)).select(codec.names).equals(frame.select(codec.names))


def test_exact_codes_of_a_stream_are_those_of_the_table(tmp_path):
    frame = simulate("credit_card", rows=300)
    frame.write_parquet(path := tmp_path / "t.parquet")
    file = scan(path, batch_rows=70)
    codec = Codec.fit(file, exact=True)
    assert codec.encode(file) == Codec.fit(frame, exact=True).encode(frame)


def test_the_ends_of_exact_codes(tmp_path):
    frame = pl.DataFrame({"x": [1, 2, 3, 4, *[7] * 9, 20, 30, 40, 50, 60], "y": [0.5, 1.5] * 9})
    codec = Codec.fit(frame, exact=True, ends=5)
    # Four records are beyond 7, and take it; the mean of the others is 40. Nine records have 0.5.
    assert codec.decode(codec.encode(frame))["x"].to_list() == [7] * 13 + [40] * 5
    assert codec.decode(codec.encode(frame))["y"].equals(frame["y"])
    again = Codec.from_plain(codec.to_plain(), codec.to_arrays())
    assert again.encode(frame) == codec.encode(frame)
    frame.write_parquet(path := tmp_path / "t.parquet")
    file = scan(path, batch_rows=4)
    assert Codec.fit(file, exact=True, ends=5).encode(file) == codec.encode(frame)


def test_columns_with_too_few_numbers_for_an_end_are_named():
    frame = pl.DataFrame({"a": [1.5, 2.5, None] * 2, "b": [1, 2] * 3, "c": [0.5] * 2 + [1.5] * 4})
    missing = Codec.fit(frame, exact=True, ends=5)
    assert missing.decode(missing.encode(frame))["a"].null_count() == 6
    with pytest.raises(DataError, match=r"Fewer than 7 records have a number in 'b', 'c', and"):
        Codec.fit(frame, exact=True, ends=7)


def test_numbers_that_an_exact_codec_has_not_seen(as_frame):
    frame = as_frame({"x": list(range(40)) * 2, "y": [1.5, *np.arange(79) / 10]})
    codec = Codec.fit(frame, exact=True)
    other = as_frame({"x": [3, 99, 3, -1], "y": [0.0, 0.0, 99.5, 88.8]})
    coded, seen = codec.encode_seen(other)
    assert seen.tolist() == [True, False, False, False]
    assert coded["x"][0] == codec.encode(frame)["x"][3]
    assert coded.cardinalities == codec.cardinalities
    with pytest.raises(SchemaError, match="3 rows hold a number that does not occur"):
        codec.encode(other)
    known, seen = codec.encode_seen(frame)
    assert seen.all()
    assert known == codec.encode(frame)


@pytest.mark.parametrize("exact", [True, False])
def test_rows_with_what_is_not_known_are_marked(as_frame, exact):
    frame = as_frame({"c": ["a", "b"] * 30, "x": list(range(30)) * 2})
    codec = Codec.fit(frame, exact=exact)
    other = as_frame({"c": ["z", "a", "a", "b"], "x": [1, None, 99, 3]})
    coded, seen = codec.encode_seen(other)
    assert seen.tolist() == [False, False, False, True]
    assert coded.take(seen) == codec.encode(as_frame({"c": ["b"], "x": [3]}))
    with pytest.raises(SchemaError, match=r"not among its 2 levels \(1 value, not shown"):
        codec.encode(other)


def test_other_columns_and_kinds_are_errors_in_any_case(as_frame):
    frame = as_frame({"c": ["a", "b"] * 30, "x": list(range(30)) * 2})
    codec = Codec.fit(frame, exact=True)
    for other, message in [
        ({"c": ["a"], "x": ["one"]}, "'x' holds"),
        ({"c": ["a"]}, "no column 'x'"),
    ]:
        with pytest.raises(SchemaError, match=message):
            codec.encode_seen(as_frame(other))


def test_a_codec_of_bins_sees_every_row(survey):
    codec = Codec.fit(survey)
    coded, seen = codec.encode_seen(survey)
    assert seen.all()
    assert coded == codec.encode(survey)
    assert codec.to_arrays() == {}


def test_an_exact_codec_without_its_numbers_cannot_be_put_together(survey):
    plain = Codec.fit(survey, exact=True).to_plain()
    with pytest.raises(KeyError):
        Codec.from_plain(plain)


@settings(arbitrary, max_examples=25)
@given(table=tables(), special_share=st.sampled_from([0.05, 1]))
def test_arbitrary_frames_come_back_whole_from_exact_codes(library, table, special_share):
    frame = in_library(table, library)
    schema = codable(Schema.infer(frame, special_share=special_share))
    codec = Codec.fit(frame, schema, exact=True)
    coded = codec.encode(frame)
    before = to_arrow(frame)
    for one in (codec, through_parts(codec)):
        assert one.schema == codec.schema
        assert one.encode(frame) == coded
        after = to_arrow(one.decode(coded))
        for name in codec.names:
            assert _values(after[name]) == _values(before[name])


@settings(arbitrary, max_examples=25)
@given(table=tables(), special_share=st.sampled_from([0.05, 1]), ends=st.integers(2, 6))
def test_arbitrary_frames_with_ends_keep_their_codes(table, special_share, ends):
    schema = codable(Schema.infer(table, special_share=special_share))
    try:
        codec = Codec.fit(table, schema, exact=True, ends=ends)
    except DataError as error:
        assert "have a number" in str(error)  # noqa: PT017  # a table of few records may have enough
        return
    coded = codec.encode(table)
    after = codec.decode(coded)
    for one in (codec, through_parts(codec)):
        assert one.encode(table) == coded
        assert one.encode(after) == coded
        assert one.decode(coded).equals(after)
    assert after.schema == table.schema


# Some of the columns


def test_a_codec_of_some_columns_codes_them_alike(survey):
    codec = Codec.fit(survey)
    names = ["smoker", "sex"]
    part = codec.select(names)
    assert part.names == tuple(names)
    assert part.cardinalities == (2, 3)
    assert [column.name for column in part.schema] == names
    whole = codec.encode(survey)
    found = part.encode(to_arrow(survey).select(["sex", "smoker"]))
    for name in names:
        assert found[name].tolist() == whole[name].tolist()
    # The codec itself stays as it was, and others are not part of the new one.
    with pytest.raises(SchemaError, match="'income' is not in the schema"):
        part.encode(survey)
    assert codec.names == ("sex", "age", "income", "smoker")


def test_a_codec_of_some_columns_checks_these(survey):
    part = Codec.fit(survey).select(["sex"])
    with pytest.raises(SchemaError, match="'sex' has 1 row"):
        part.encode(pl.DataFrame({"sex": ["f", "x"]}))
    coded, seen = part.encode_seen(pl.DataFrame({"sex": ["f", "x"]}))
    assert seen.tolist() == [True, False]
    assert len(coded) == 2
    with pytest.raises(SchemaError, match="sex"):
        part.encode(pl.DataFrame({"smoker": [True]}))


def test_a_codec_of_some_columns_without_the_identifiers():
    frame = pl.DataFrame({"name": [f"person {i}" for i in range(30)], "age": [30, 40] * 15})
    codec = Codec.fit(frame)
    part = codec.select(["age"])
    assert not part.schema.identifiers
    assert part.encode(frame.drop("name"))["age"].tolist() == codec.encode(frame)["age"].tolist()
