"""Removing, coding and labelling rows: small tables by hand, a slow twin, and every type."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections import Counter
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy import Independent, Schema, load
from understudy.data.frames import Layout, to_arrow
from understudy.errors import DataError, ParameterError
from understudy.synthesis import control
from understudy.synthesis.control import (
    group_rare,
    group_rare_levels,
    label,
    limits_by_share,
    remove_replicated_uniques,
    remove_uniques_in_original,
    top_bottom_code,
)

REMOVALS = [remove_replicated_uniques, remove_uniques_in_original]
ORIGINAL = {"age": [31, 45, 45, 28, None], "sex": ["f", "m", "m", "f", "m"]}
SYNTHETIC = {"sex": ["f", "m", "f", "f", "m", "m"], "age": [31, 45, 28, 28, None, 60]}
# Rows 0 and 4 are unique in both tables, row 1 is unique here and twice in the original, rows 2
# and 3 are not unique here, and row 5 is not in the original.


def rows_of(frame):
    return nw.from_native(frame, eager_only=True).rows()


def found(remove, original, synthetic, **options):
    return remove(original, synthetic, **options).rows.tolist()


def column(values, kind=None):
    return pl.DataFrame({"a": pl.Series(values, dtype=kind, strict=False)})


# Removing records


def test_removals_by_hand(as_frame):
    original, synthetic = as_frame(ORIGINAL), as_frame(SYNTHETIC)
    before = to_arrow(synthetic)
    replicated = remove_replicated_uniques(original, synthetic)
    assert replicated.rows.tolist() == [0, 4]
    assert replicated.count == 2
    assert str(replicated) == replicated.to_text()
    assert str(replicated) == (
        "Removed 2 of 6 rows (33.3%) that are unique in both tables, with the same values, "
        "by 'age' and 'sex'."
    )
    occurring = remove_uniques_in_original(original, synthetic)
    assert occurring.rows.tolist() == [0, 1, 4]
    assert str(occurring) == (
        "Removed 3 of 6 rows (50.0%) that are unique and occur in the original, by 'age' and 'sex'."
    )
    for change in (replicated, occurring):
        assert type(change.frame) is type(synthetic)
        kept = np.setdiff1d(np.arange(6), change.rows)
        assert to_arrow(change.frame).equals(before.take(pa.array(kept)))
        assert Layout.of(change.frame) == Layout.of(synthetic)
    assert to_arrow(synthetic).equals(before)


@pytest.mark.parametrize("keys", ["age", ["age"], ["age", "age"]])
def test_one_key(keys):
    original, synthetic = pl.DataFrame(ORIGINAL), pl.DataFrame(SYNTHETIC)
    # By age alone, 31, 45, missing and 60 are unique; 45 is twice in the original.
    assert found(remove_replicated_uniques, original, synthetic, keys=keys) == [0, 4]
    assert found(remove_uniques_in_original, original, synthetic, keys=keys) == [0, 1, 4]
    assert "by 'age'." in str(remove_uniques_in_original(original, synthetic, keys=keys))


def test_two_tables_of_different_libraries():
    synthetic = pd.DataFrame(SYNTHETIC)
    change = remove_uniques_in_original(pa.table(ORIGINAL), synthetic)
    assert change.rows.tolist() == [0, 1, 4]
    assert isinstance(change.frame, pd.DataFrame)


def test_a_pandas_index_stays_with_its_rows():
    synthetic = pd.DataFrame(SYNTHETIC, index=list("aabbcc"))
    change = remove_uniques_in_original(pd.DataFrame(ORIGINAL), synthetic)
    assert change.frame.index.tolist() == ["b", "b", "c"]


def test_columns_of_one_table_alone_do_not_count():
    original = pl.DataFrame({"age": [1, 2], "name": ["x", "y"]})
    synthetic = pl.DataFrame({"flag": ["s", "s"], "age": [1, 3]})
    assert found(remove_replicated_uniques, original, synthetic) == [0]


@pytest.mark.parametrize("remove", REMOVALS)
def test_a_copy_loses_its_uniques(remove):
    survey = load("cmc")
    counts = Counter(survey.rows())
    change = remove(survey, survey)
    assert change.count == sum(count == 1 for count in counts.values())
    assert change.count > 1000  # the survey has them
    assert all(counts[row] > 1 for row in change.frame.rows())
    assert "by 10 columns" in str(change)


@pytest.mark.parametrize("remove", REMOVALS)
def test_trivial_worlds(remove):
    table = pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})
    unrelated = table.with_columns(pl.col("a") + 10)
    assert found(remove, unrelated, table) == []
    assert found(remove, table, pl.concat([table, table])) == []  # nothing is unique
    assert found(remove, table, table.head(1)) == [0]
    assert found(remove, table.head(0), table) == []
    empty = remove(table, table.head(0))
    assert empty.frame.equals(table.head(0))
    assert str(empty).startswith("Removed 0 of 0 rows that are")
    assert found(remove, table.head(0), table.head(0)) == []


def test_all_duplicates_in_the_original():
    table = pl.DataFrame({"a": [1, 2, 3]})
    twice = pl.concat([table, table])
    assert found(remove_replicated_uniques, twice, table) == []
    assert found(remove_uniques_in_original, twice, table) == [0, 1, 2]


VALUES = {
    "number": st.one_of(st.none(), st.integers(0, 2), st.sampled_from([0.0, 0.5, float("nan")])),
    "text": st.one_of(st.none(), st.sampled_from(["", "a", "b"])),
    "flag": st.one_of(st.none(), st.booleans()),
}
TABLE = st.lists(st.tuples(*VALUES.values()), max_size=12)


def by_counting(original, synthetic, enough):
    """Count the records one by one, with NaN as missing."""

    def tidy(rows):
        return [tuple(None if value != value else value for value in row) for row in rows]  # noqa: PLR0124  # NaN

    originals, ours = Counter(tidy(original)), Counter(tidy(synthetic))
    return [
        place
        for place, row in enumerate(tidy(synthetic))
        if ours[row] == 1 and enough(originals[row])
    ]


@given(TABLE, TABLE)
def test_removals_are_those_of_a_plain_count(original, synthetic):
    kinds = {"number": pl.Float64, "text": pl.String, "flag": pl.Boolean}
    tables = [pl.DataFrame(t, schema=kinds, orient="row") for t in (original, synthetic)]
    once = by_counting(original, synthetic, lambda count: count == 1)
    ever = by_counting(original, synthetic, lambda count: count > 0)
    assert found(remove_replicated_uniques, *tables) == once
    assert found(remove_uniques_in_original, *tables) == ever
    # Removing once is enough: the records that are left do not become unique.
    left = remove_uniques_in_original(*tables).frame
    assert found(remove_uniques_in_original, tables[0], left) == []


@given(TABLE, st.randoms(use_true_random=False))
def test_the_order_of_the_original_does_not_matter(original, random):
    kinds = {"number": pl.Float64, "text": pl.String, "flag": pl.Boolean}
    shuffled = random.sample(original, len(original))
    tables = [pl.DataFrame(t, schema=kinds, orient="row") for t in (original, shuffled)]
    for remove in REMOVALS:
        assert found(remove, tables[0], tables[0]) == found(remove, tables[1], tables[0])


# Comparing values of different types

DAY = dt.date(2024, 2, 29)
NOON = dt.datetime(2024, 2, 29, 12)  # noqa: DTZ001  # naive on purpose
UTC = dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)
PAIRS = {
    "int64 and int8": (pl.Series([7, None, 300]), pl.Series([7, None, 8], dtype=pl.Int8)),
    "uint64 and int64": (
        pl.Series([2**63, None, 5], dtype=pl.UInt64),
        pl.Series([5, None, -(2**63)]),
    ),
    "large int and float": (
        pl.Series([2**53 + 1, None, 2**60]),
        pl.Series([2.0**60, None, 2.0**53]),
    ),
    "uint64 and float": (
        pl.Series([2**64 - 2048, None], dtype=pl.UInt64),
        pl.Series([2.0**64 - 2048, float("nan"), 2.0**64, float("inf")]),
    ),
    "int and float": (pl.Series([-1, None, 4]), pl.Series([-1.0, float("nan"), 1.5])),
    "zeros": (pl.Series([0.0, None]), pl.Series([-0.0, None])),
    "zero and int": (pl.Series([0, None]), pl.Series([-0.0, None])),
    "single and double": (
        pl.Series([0.1, None, 0.2], dtype=pl.Float32),
        pl.Series([0.1, None, 0.25]),
    ),
    "decimals": (
        pl.Series([Decimal("1.50"), None], dtype=pl.Decimal(10, 2)),
        pl.Series([Decimal("1.5"), None, Decimal("1.4")], dtype=pl.Decimal(5, 1)),
    ),
    "decimal and int": (
        pl.Series([Decimal("2.00"), None], dtype=pl.Decimal(10, 2)),
        pl.Series([2, None, 3]),
    ),
    "decimal and float": (
        pl.Series([Decimal("0.10"), None], dtype=pl.Decimal(10, 2)),
        pl.Series([0.1, None, 0.3]),
    ),
    "text and category": (
        pl.Series(["a", None, "b"]),
        pl.Series(["a", None, "c"], dtype=pl.Categorical),
    ),
    "enum and category": (
        pl.Series(["a", None], dtype=pl.Enum(["z", "a"])),
        pl.Series(["a", None, "c"], dtype=pl.Categorical),
    ),
    "date and datetime": (
        pl.Series([DAY, None]),
        pl.Series([dt.datetime(2024, 2, 29), None, NOON], dtype=pl.Datetime("ms")),  # noqa: DTZ001
    ),
    "units": (
        pl.Series([NOON, None, dt.datetime(9999, 1, 1)], dtype=pl.Datetime("us")),  # noqa: DTZ001
        pl.Series([NOON, None], dtype=pl.Datetime("ns")),
    ),
    "zones": (
        pl.Series([UTC], dtype=pl.Datetime("us", "UTC")).extend_constant(None, 1),
        pl.Series([UTC, None], dtype=pl.Datetime("us", "UTC")).dt.convert_time_zone("Asia/Tokyo"),
    ),
    "durations": (
        pl.Series([dt.timedelta(1), None], dtype=pl.Duration("ms")),
        pl.Series([dt.timedelta(1), None, dt.timedelta(2)], dtype=pl.Duration("us")),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_values_are_compared_not_types(name):
    first, second = (series.alias("a").to_frame() for series in PAIRS[name])
    # In each pair, the first of the synthetic values and missing are common, and nothing else.
    assert found(remove_uniques_in_original, first, second) == [0, 1]
    there = [1, 2] if name in ("uint64 and int64", "large int and float") else [0, 1]
    assert found(remove_uniques_in_original, second, first) == there


@given(st.lists(st.integers(-(10**15), 10**15), min_size=1, unique=True), st.integers(0, 9))
def test_a_decimal_equals_the_float_that_is_written_alike(digits, scale):
    decimals = [Decimal(number).scaleb(-scale) for number in digits]
    first = column(decimals, pl.Decimal(20, scale))
    second = column([float(number) for number in decimals])
    assert found(remove_replicated_uniques, first, second) == list(range(len(digits)))


def test_numbers_of_many_digits():
    wide = pa.table({"a": pa.array([Decimal("1.5"), None], pa.decimal256(50, 1))})
    assert found(remove_replicated_uniques, wide, column([None, 1.5])) == [0, 1]
    huge = pa.table({"a": pa.array([Decimal(10) ** 45], pa.decimal256(50, 1))})
    with pytest.raises(DataError, match="'a' have more than 38 digits"):
        remove_replicated_uniques(huge, huge)
    long = column([Decimal(10) ** 30], pl.Decimal(38, 0))
    fine = column([Decimal("0.1")], pl.Decimal(38, 20))
    with pytest.raises(DataError, match="'a' have more than 38 digits"):
        remove_replicated_uniques(long, fine)


@pytest.mark.parametrize(
    "numbers",
    [
        pd.DataFrame({"a": pd.Categorical([3, None, 5])}),
        pd.DataFrame({"a": pd.array([3, None, 5], dtype="Int8")}),
        pd.DataFrame({"a": [3, None, 5]}),
        pd.DataFrame({"a": pd.Series([3, None, 5], dtype=object)}),
        pa.table({"a": pa.array([3, None, 5], pa.float16())}),
    ],
    ids=["category", "nullable", "float", "object", "half"],
)
def test_numbers_however_they_are_stored(numbers):
    assert found(remove_uniques_in_original, numbers, column([5, 4, None])) == [0, 2]
    assert found(remove_uniques_in_original, column([5, 4, None]), numbers) == [1, 2]


@pytest.mark.parametrize(
    "nothing",
    [pa.nulls(1), pa.array([None], pa.string()), pa.array([float("nan")])],
    ids=["null", "text", "nan"],
)
def test_a_column_of_gaps_matches_gaps_of_any_type(nothing):
    gaps = pa.table({"a": nothing})
    for values in ([1, None], ["x", None], [True, None], [DAY, None]):
        assert found(remove_replicated_uniques, gaps, column(values)) == [1]
        assert found(remove_replicated_uniques, column(values), gaps) == [0]
    assert found(remove_replicated_uniques, gaps, gaps) == [0]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([1], ["1"], "numbers in the original table and text in the synthetic"),
        ([1], [True], "numbers in the original table and booleans in"),
        ([DAY], ["2024-02-29"], "dates or times without a zone in the original table and text in"),
        (
            [UTC],
            [NOON],
            "times with a zone in the original table and dates or times without a zone",
        ),
        ([dt.time(1)], [NOON], "times of day in the original table and dates"),
        ([dt.timedelta(1)], [1], "durations in the original table and numbers"),
    ],
)
def test_kinds_that_cannot_be_compared(first, second, message):
    for remove in REMOVALS:
        with pytest.raises(DataError, match=f"Column 'a' holds {message}"):
            remove(column(first), column(second))


def test_what_is_wrong_with_keys():
    original, synthetic = pl.DataFrame(ORIGINAL), pl.DataFrame(SYNTHETIC).drop("age")
    with pytest.raises(ParameterError, match=r"original table, 'agee' .* Did you mean 'age'\?"):
        remove_replicated_uniques(original, original, keys=["agee"])
    with pytest.raises(ParameterError, match="In the synthetic table, 'age' is not a column"):
        remove_replicated_uniques(original, synthetic, keys="age")
    with pytest.raises(ParameterError, match="keys names no column"):
        remove_replicated_uniques(original, original, keys=[])
    with pytest.raises(DataError, match="no column in common"):
        remove_replicated_uniques(original, column([1]))
    with pytest.raises(DataError, match=r"Column 'a' holds .*list"):
        remove_replicated_uniques(column([[1]]), column([[1]]))
    with pytest.raises(DataError, match=r"Call \.collect\(\)"):
        remove_replicated_uniques(original, synthetic.lazy())


# Top and bottom coding


def test_coding_by_hand(as_frame):
    table = as_frame(
        {
            "age": [15, 16, 31, 92, 99, -8],
            "income": [None, 0.5, 2.5, 9.5, float("nan"), -8.0],
            "sex": list("fmfmfm"),
        }
    )
    before = rows_of(table)
    change = top_bottom_code(
        table, {"age": (16, 90), "income": (None, 5)}, special={"age": [-8, 99]}
    )
    coded = nw.from_native(change.frame)
    assert coded["age"].to_list() == [16, 16, 31, 90, 99, -8]
    assert coded["income"].to_list()[1:4] == [0.5, 2.5, 5.0]
    assert coded["income"].to_list()[5] == -8.0
    assert coded["sex"].to_list() == list("fmfmfm")
    assert change.rows.tolist() == [0, 3]
    assert change.count == 2
    assert (change.below, change.above) == ({"age": 1, "income": 0}, {"age": 1, "income": 1})
    assert str(change) == (
        "Changed 2 of 6 rows (33.3%): 'age' has 1 set to the bottom 16 and 1 set to the top 90; "
        "'income' has 1 set to the top 5."
    )
    assert type(change.frame) is type(table)
    assert Layout.of(change.frame) == Layout.of(table)
    assert repr(rows_of(table)) == repr(before)


def test_special_codes_are_for_all_columns_or_by_name():
    table = pl.DataFrame({"a": [-8, 1, 7], "b": [-8, 1, 7]})
    limits = {"a": (0, None), "b": (0, None)}
    assert top_bottom_code(table, limits).below == {"a": 1, "b": 1}
    assert top_bottom_code(table, limits, special=[-8]).below == {"a": 0, "b": 0}
    assert top_bottom_code(table, limits, special={"b": [-8]}).below == {"a": 1, "b": 0}
    # What a type cannot hold does not occur in it.
    assert top_bottom_code(table, limits, special=(0.5, 10**30)).below == {"a": 1, "b": 1}


def test_gaps_and_nan_stay_what_they_are():
    table = column([1.0, None, float("nan"), 9.0])
    coded = top_bottom_code(table, {"a": (2, 8)}).frame["a"]
    assert coded.null_count() == 1
    assert coded.is_nan().to_list() == [False, None, True, False]
    mixed = pd.DataFrame({"a": pd.Series([1, None, np.nan, 9], dtype=object)})
    stored = top_bottom_code(mixed, {"a": (2, 8)}).frame["a"].tolist()
    assert stored[0::3] == [2, 8]
    assert stored[1] is None
    assert np.isnan(stored[2])


def test_infinity_is_above_every_top():
    table = column([float("inf"), float("-inf"), 3.0])
    assert top_bottom_code(table, {"a": (0, 5)}).frame["a"].to_list() == [5, 0, 3]


@given(
    st.lists(st.one_of(st.none(), st.integers(-50, 50)), max_size=30),
    st.integers(-40, 0),
    st.integers(0, 40),
    st.lists(st.integers(-50, 50), max_size=4),
)
def test_coding_is_clipping_but_for_special_codes(values, bottom, top, special):
    expected = [
        value if value is None or value in special else min(max(value, bottom), top)
        for value in values
    ]
    change = top_bottom_code(column(values, pl.Int8), {"a": (bottom, top)}, special=special)
    assert change.frame["a"].to_list() == expected
    assert change.frame.schema == {"a": pl.Int8}
    moved = [place for place, value in enumerate(values) if value != expected[place]]
    assert change.rows.tolist() == moved
    assert change.below["a"] + change.above["a"] == len(moved)


MONEY = [Decimal("1.50"), None, Decimal("9.25")]
DAYS = [dt.date(2020, 1, 1), None, dt.date(2024, 1, 1)]
MOMENTS = [None if day is None else dt.datetime(day.year, 1, 1, 12) for day in DAYS]  # noqa: DTZ001
NUMBERS = ((2, 8), [1, None, 9], [2, None, 8])
FRACTIONS = ((0.25, 0.75), [0.0, None, 1.0], [0.25, None, 0.75])
PRICES = ((2, 8.5), MONEY, [Decimal(2), None, Decimal("8.5")])
DATES = (
    (dt.date(2021, 1, 1), "2022-01-01"),
    DAYS,
    [dt.date(2021, 1, 1), None, dt.date(2022, 1, 1)],
)
TIMES = (
    (np.datetime64("2021-01-01"), dt.datetime(2022, 1, 1, 6)),  # noqa: DTZ001
    MOMENTS,
    [dt.datetime(2021, 1, 1), None, dt.datetime(2022, 1, 1, 6)],  # noqa: DTZ001
)
ARROW_CASES = {
    pa.int8(): NUMBERS,
    pa.uint64(): NUMBERS,
    pa.float16(): FRACTIONS,
    pa.float32(): FRACTIONS,
    pa.decimal128(10, 2): PRICES,
    pa.decimal256(50, 2): PRICES,
    pa.date32(): DATES,
    pa.date64(): DATES,
    pa.timestamp("s"): TIMES,
    pa.timestamp("ns"): TIMES,
    pa.time32("s"): (
        ("06:00", dt.time(18)),
        [dt.time(1), None, dt.time(23)],
        [dt.time(6), None, dt.time(18)],
    ),
}


def in_library(array, library):
    if library == "pandas":
        return pd.DataFrame({"a": pd.arrays.ArrowExtensionArray(array)}, index=[4, 4, 2])
    table = pa.table({"a": array})
    return pl.from_arrow(table) if library == "polars" else table


@pytest.mark.parametrize("kind", ARROW_CASES, ids=str)
@pytest.mark.parametrize("library", ["pyarrow", "polars", "pandas"])
def test_types_are_kept(kind, library):
    if library == "polars" and pa.types.is_decimal256(kind):
        pytest.skip("polars has no such type")
    limits, values, after = ARROW_CASES[kind]
    table, expected = (in_library(pa.array(v, kind), library) for v in (values, after))
    change = top_bottom_code(table, {"a": limits})
    assert Layout.of(change.frame) == Layout.of(table)
    assert to_arrow(change.frame).equals(to_arrow(expected))
    assert (change.below, change.above) == ({"a": 1}, {"a": 1})
    if library == "pandas":
        assert change.frame.index.tolist() == [4, 4, 2]


@pytest.mark.parametrize("dtype", ["int8", "uint64", "Int16", "float32", "Float64", "object"])
def test_pandas_types_are_kept(dtype):
    index = list("xxy")
    table = pd.DataFrame({"a": pd.Series([1, 5, 9], index, dtype), "b": 1})
    change = top_bottom_code(table, {"a": (2, 8)})
    expected = pd.DataFrame({"a": pd.Series([2, 5, 8], index, dtype), "b": 1})
    pd.testing.assert_frame_equal(change.frame, expected)


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
def test_pandas_times_are_kept(unit, zone):
    times = pd.Series(pd.to_datetime(["2020-01-01", None])).dt.as_unit(unit).dt.tz_localize(zone)
    limit = pd.Timestamp("2021-01-01", tz=zone)
    coded = top_bottom_code(pd.DataFrame({"a": times}), {"a": (limit, None)}).frame["a"]
    assert coded.dtype == times.dtype
    assert coded.iloc[0] == limit
    assert coded.isna().tolist() == [False, True]


def test_a_zone_of_the_limit_is_converted():
    table = column([UTC]).cast(pl.Datetime("us", "UTC"))
    change = top_bottom_code(table, {"a": (None, "2024-02-29T12:30:00+01:00")})
    assert change.frame["a"].to_list() == [dt.datetime(2024, 2, 29, 11, 30, tzinfo=dt.UTC)]


def test_coding_nothing(as_frame):
    empty = as_frame({"a": []})
    assert top_bottom_code(empty, {"a": (1, 2)}).rows.tolist() == []
    gaps = pa.table({"a": pa.nulls(2)})
    change = top_bottom_code(gaps, {"a": (1, 2)}, special=[5])
    assert change.frame.equals(gaps)
    assert change.count == 0


def test_the_result_is_a_table_of_its_own():
    table = pd.DataFrame({"a": [1, 2]})
    change = top_bottom_code(table, {"a": (0, 9)})  # nothing to change
    change.frame.loc[0, "a"] = 7
    assert table["a"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("values", "pair", "message"),
    [
        ([1], (1.5, None), "'a', which holds whole numbers: it cannot hold 1.5"),
        ([1], (None, 2**63), "it cannot hold 9223372036854775808"),
        ([1], (None, float("nan")), "nan is not a finite number"),
        ([1.5], (float("-inf"), None), "-inf is not a finite number"),
        ([1.5], (None, 2**53 + 1), "it cannot hold 9007199254740993"),
        ([1.5], (None, 10**400), "it cannot hold 1000"),
        ([Decimal("1.5")], (Decimal("0.123"), None), "it cannot hold 0.123"),
        ([1], ("0", None), "which holds whole numbers, must be numbers; got '0'"),
        ([1], (True, None), "must be numbers; got True"),
        ([DAY], (5, None), "dates, times or ISO text such as '2024-12-31'; got 5"),
        ([DAY], ("soon", None), "'soon'"),
        ([DAY], (NOON, None), "2024-02-29T12:00:00 falls between two days"),
        ([DAY], (UTC, None), "has a time zone, and the column has none"),
        ([UTC], (NOON, None), "has no time zone, and the column has one"),
        (["x"], ("a", None), "holds text; top and bottom coding is for numbers"),
        ([True], (0, None), "holds booleans; top and bottom"),
        ([dt.timedelta(1)], (0, None), "holds durations;"),
        ([1], (5, 2), r"\(bottom, top\), but 5 is above 2"),
        ([1], (None, None), r"a pair \(bottom, top\), not both None"),
        ([1], 5, r"a pair \(bottom, top\), not both None; got 5"),
        ([1], (1, 2, 3), r"a pair \(bottom, top\)"),
    ],
)
def test_what_is_wrong_with_limits(values, pair, message):
    with pytest.raises(ParameterError, match=message):
        top_bottom_code(column(values), {"a": pair})


@pytest.mark.parametrize(
    ("kind", "limit", "message"),
    [
        (pa.float32(), 1e300, "it cannot hold 1e"),
        (pa.timestamp("s"), "2024-01-01T00:00:00.5", "falls between two ticks of s"),
        (pa.time32("s"), "12:00:00.5", "falls between two ticks of s"),
        (pa.date64(), "2024-01-01T12:00", "falls between two days"),
        (pa.timestamp("ns"), "9999-01-01", "further away than"),
    ],
)
def test_limits_that_a_type_cannot_hold(kind, limit, message):
    with pytest.raises(ParameterError, match=message):
        top_bottom_code(pa.table({"a": pa.nulls(1, kind)}), {"a": (None, limit)})


def test_what_is_wrong_with_names_and_codes():
    table = pl.DataFrame({"age": [1]})
    with pytest.raises(ParameterError, match=r"'agee' is not a column. Did you mean 'age'\?"):
        top_bottom_code(table, {"agee": (1, 2)})
    with pytest.raises(ParameterError, match=r"special names 'agee'.* Did you mean 'age'\?"):
        top_bottom_code(table, {"age": (1, 2)}, special={"agee": [9]})
    with pytest.raises(ParameterError, match=r"special must be a list of codes, .* got 9"):
        top_bottom_code(table, {"age": (1, 2)}, special={"age": 9})
    with pytest.raises(ParameterError, match="must be numbers; got 'x'"):
        top_bottom_code(table, {"age": (1, 2)}, special=["x"])
    for limits in ({}, "age"):
        with pytest.raises(ParameterError, match=r"limits must give a pair \(bottom, top\)"):
            top_bottom_code(table, limits)


# Labelling


def test_a_label_stands_first(survey):
    before = to_arrow(survey)
    change = label(survey, value="made up")
    after = to_arrow(change.frame)
    assert type(change.frame) is type(survey)
    assert after.column_names == ["synthetic", *before.column_names]
    assert after["synthetic"].to_pylist() == ["made up"] * 6
    assert after.drop_columns("synthetic").equals(before)
    assert change.rows.tolist() == list(range(6))
    assert str(change) == "Marked all 6 rows as 'made up', in the new first column 'synthetic'."
    assert to_arrow(survey).equals(before)


def test_a_label_keeps_a_pandas_index():
    table = pd.DataFrame({"a": [1, 2]}, index=[7, 7])
    frame = label(table, column="flag").frame
    assert frame.index.tolist() == [7, 7]
    assert frame.columns.tolist() == ["flag", "a"]


def test_a_label_of_no_rows(as_frame):
    frame = label(as_frame({"a": []})).frame
    assert next(iter(nw.from_native(frame).schema.items())) == ("synthetic", nw.String)
    assert len(frame) == 0


def test_what_is_wrong_with_a_label():
    with pytest.raises(
        ParameterError, match=r"already has a column 'a'. Give another name with column="
    ):
        label(column([1]), column="a")
    with pytest.raises(ParameterError, match="column must be a text that is not empty; got ''"):
        label(column([1]), column="")
    with pytest.raises(ParameterError, match="value must be a text that is not empty; got 1"):
        label(column([1]), value=1)


# What all of them return


def test_a_change_is_frozen_and_prints_no_records():
    change = label(column(["secret"]))
    assert "secret" not in repr(change)
    with pytest.raises(dataclasses.FrozenInstanceError):
        change.total = 5


def test_public_names():
    assert set(control.__all__) == {
        "Change",
        "Grouped",
        "group_rare",
        "group_rare_levels",
        "label",
        "limits_by_share",
        "remove_replicated_uniques",
        "remove_uniques_in_original",
        "top_bottom_code",
    }
    assert all(hasattr(control, name) for name in control.__all__)


# Limits by share


def test_limits_by_share_by_hand(as_frame):
    # Of ten ages, one is below 20 and two are above 80; codes and gaps do not count.
    frame = as_frame({"age": [90, 10, 20, 30, 40, 99, 50, None, 60, 70, 80, 85]})
    found = limits_by_share(frame, {"age": (0.1, 0.8)}, special=[99])
    assert found == {"age": (20, 80)}
    change = top_bottom_code(frame, found, special=[99])
    assert (change.below, change.above) == ({"age": 1}, {"age": 2})
    assert limits_by_share(frame, {"age": (None, 0.5)}) == {"age": (None, 60)}


def test_a_share_is_not_lost_to_rounding():
    hundred = column(list(range(1, 101)))
    for percent in range(1, 100):
        assert limits_by_share(hundred, {"a": (percent / 100, percent / 100)}) == {
            "a": (percent + 1, percent)
        }
    assert limits_by_share(hundred, {"a": (1 - 1e-12, 1e-12)}) == {"a": (100, 1)}


@pytest.mark.parametrize(
    ("values", "limit"),
    [
        ([1.5, float("nan"), 2.5, 3.5], 2.5),
        ([dt.date(2020, 1, 1), dt.date(2021, 1, 1)], dt.date(2020, 1, 1)),
        ([Decimal("1.10"), Decimal("2.20")], Decimal("1.10")),
    ],
)
def test_limits_of_other_kinds(values, limit):
    table = column(values)
    limits = limits_by_share(table, {"a": (None, 0.5)})
    assert limits == {"a": (None, limit)}
    assert top_bottom_code(table, limits).above == {"a": 1}


@pytest.mark.parametrize(
    ("values", "pair", "says"),
    [
        ([1, 2], (None, 1.0), "must be between 0 and 1; got 1.0"),
        ([1, 2], (0, None), "must be between 0 and 1; got 0"),
        ([1, 2], (None, None), "not both None"),
        ([1, 2], (None, "0.9"), "must be between 0 and 1; got '0.9'"),
        (["x", "y"], (None, 0.9), "is for numbers, dates and times"),
        ([float("nan")], (None, 0.9), "has no values to read a limit from"),
    ],
)
def test_shares_that_are_refused(values, pair, says):
    with pytest.raises(ParameterError, match=says):
        limits_by_share(column(values), {"a": pair})


# Grouping rare values

TOWNS = ["Ulm"] * 4 + ["Rom"] * 3 + ["Ems"] * 2 + ["Au", None]


def test_grouping_by_hand(as_frame):
    original = as_frame({"town": TOWNS, "n": range(11)})
    synthetic = as_frame({"town": ["Au", "Ems", "Rom", None, "Bonn", "Ulm"], "n": range(6)})
    # 'Ems' and 'Au' have fewer than 3 people, and 3 together; 'Bonn' has none.
    change = group_rare(original, synthetic, {"town": 3})
    assert to_arrow(change.frame).to_pydict() == {
        "town": ["other", "other", "Rom", None, "other", "Ulm"],
        "n": list(range(6)),
    }
    assert change.rows.tolist() == [0, 1, 4]
    assert str(change) == "Changed 3 of 6 rows (50.0%): 'town' has 3 set to 'other'."
    assert type(change.frame) is type(synthetic)


@pytest.mark.parametrize(
    ("least", "stays"),
    [
        (1, {"Ulm", "Rom", "Ems", "Au"}),
        # 'Au' alone would be as rare as before: 'Ems' joins it.
        (2, {"Ulm", "Rom"}),
        (4, {"Ulm"}),
        (5, set()),
        (100, set()),
    ],
)
def test_the_group_is_as_large_as_a_value_must_be(least, stays):
    table = column(TOWNS)
    found = group_rare(table, table, {"a": least}).frame["a"]
    assert set(found.drop_nulls()) - {"other"} == stays
    assert found.null_count() == 1


def test_a_group_that_is_there_is_joined():
    table = column([*TOWNS, "rest", "rest"])
    found = group_rare(table, table, {"a": 2}, other="rest")
    assert dict(found.frame["a"].value_counts().rows()) == {
        "Ulm": 4, "Rom": 3, "Ems": 2, "rest": 3, None: 1
    }  # fmt: skip
    assert found.count == 1


def test_categories_become_text_and_an_index_stays():
    frame = pd.DataFrame({"town": pd.Categorical(TOWNS)}, index=range(5, 16))
    found = group_rare(frame, frame[::-1], {"town": 3}).frame
    assert found.index.tolist() == list(range(15, 4, -1))
    assert found["town"].tolist()[1:] == ["other"] * 3 + ["Rom"] * 3 + ["Ulm"] * 4
    enum = column(TOWNS, pl.Enum(["Ulm", "Rom", "Ems", "Au"]))
    assert group_rare(enum, enum, {"a": 3}).frame["a"].dtype == pl.String
    assert group_rare(enum, enum, {"a": 1}).frame["a"].dtype == enum["a"].dtype


@pytest.mark.parametrize(
    ("least", "more", "says"),
    [
        ({}, {}, "least must say for each column"),
        ({"b": 3}, {}, "In the original table, 'b' is not a column"),
        ({"a": 0}, {}, "must be a whole number from 1; got 0"),
        ({"a": 3}, {"other": ""}, "other must be a text that is not empty"),
    ],
)
def test_groupings_that_are_refused(least, more, says):
    with pytest.raises(ParameterError, match=says):
        group_rare(column(TOWNS), column(TOWNS), least, **more)


def test_numbers_are_not_grouped():
    with pytest.raises(
        ParameterError, match="holds whole numbers; rare values are grouped in columns of"
    ):
        group_rare(column([1, 2]), column([1, 2]), {"a": 2})


class TestRareLevels:
    TOWNS = ("Ulm",) * 6 + ("Bonn",) * 5 + ("Ems", "Rom", "Kiel", "Linz")

    def test_by_hand(self, as_frame):
        found = group_rare_levels(as_frame({"town": list(self.TOWNS), "n": [1, 2, 3] * 5}), 5)
        # Four records in rare towns are too few: the next rarest town, Bonn, joins them.
        assert found.schema["town"].levels == ("Ulm", "other")
        assert found.joined == {"town": 5}

    def test_other_tables_are_grouped_alike(self):
        frame = pl.DataFrame({"town": [*self.TOWNS, "Metz"]})
        found = group_rare_levels(frame, 5)
        assert found.frame["town"].to_list() == ["Ulm"] * 6 + ["Bonn"] * 5 + ["other"] * 5
        other = pl.DataFrame({"town": ["Ulm", "Paris", None, "Ems"]})
        assert found.alike(other)["town"].to_list() == ["Ulm", "other", None, "other"]
        assert found.alike(pl.DataFrame({"x": [1]})).columns == ["x"]

    def test_an_existing_level_is_not_taken_for_the_group(self):
        frame = pl.DataFrame({"town": ["other"] * 5 + ["Ulm"] * 5 + list("abcde")})
        found = group_rare_levels(frame, 5)
        assert found.schema["town"].levels == ("Ulm", "other", "other (grouped)")
        assert found.frame["town"].value_counts()["count"].to_list() == [5, 5, 5]

    def test_numbers_identifiers_and_flags_stay(self):
        frame = pl.DataFrame(
            {
                "id": [f"k{n}" for n in range(30)],
                "age": [*range(15)] * 2,
                "room": [1, 2] * 15,
                "well": [True] * 29 + [False],
            }
        )
        schema = Schema.infer(frame, kinds={"room": "categorical"})
        found = group_rare_levels(frame, 50, schema)
        assert found.other == {}
        assert found.schema == schema
        assert "none was grouped" in found.to_text()
        assert found.frame.equals(frame)

    def test_categories_and_an_order_of_levels(self):
        towns = pl.Series([*self.TOWNS, "Metz"], dtype=pl.Categorical)
        found = group_rare_levels(pl.DataFrame({"town": towns}), 5)
        assert found.schema["town"].levels == ("Bonn", "Ulm", "other")
        Independent(random_state=1).fit(found.frame, found.schema).sample()

    def test_the_text_may_be_without_figures(self):
        found = group_rare_levels(pl.DataFrame({"town": [*self.TOWNS, "Metz"]}), 5)
        assert found.to_text(counts=False) == (
            "Grouped levels of fewer than 5 records: 'town' as 'other'."
        )

    @pytest.mark.parametrize("least", [0, 2.5, "many"])
    def test_a_number_that_cannot_be_is_refused(self, least):
        with pytest.raises(ParameterError, match="least must be"):
            group_rare_levels(pl.DataFrame({"town": ["a"]}), least)

    @given(st.lists(st.sampled_from("abcdefgh"), min_size=1), st.integers(1, 6))
    def test_every_level_that_is_left_has_enough_records_or_is_alone(self, values, least):
        found = group_rare_levels(pl.DataFrame({"x": values}), least)
        counts = found.frame["x"].value_counts()["count"].to_list()
        assert sum(counts) == len(values)
        assert min(counts) >= least or len(counts) == 1
        assert set(found.frame["x"]) <= set(found.schema["x"].levels)
