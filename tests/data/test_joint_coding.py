"""Several tables coded alike: equal values have equal codes, in the order of the values."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.joint_coding import CodedTables, code_together, encode
from understudy.errors import DataError, ParameterError


def column(values, kind=None):
    return pl.DataFrame({"x": pl.Series(values, dtype=kind, strict=False)})


def code(*tables, **options):
    """Return the codes of column x in each table, and its levels."""
    frames = {f"table {place}": table for place, table in enumerate(tables)}
    coded = code_together(frames, ["x"], **options)
    return [coded[name]["x"].tolist() for name in frames], coded.levels["x"]


def test_codes_by_hand(as_frame):
    frames = {
        "original": as_frame({"name": ["b", None, "a"], "size": [3, 1, 3]}),
        "synthetic": as_frame({"size": [2, 3], "name": ["c", "b"], "other": [0, 0]}),
    }
    together = code_together(frames, ["size", "name"])
    assert list(together.tables) == ["original", "synthetic"]
    assert together["original"].names == together["synthetic"].names == ("size", "name")
    assert together["original"].cardinalities == together["synthetic"].cardinalities == (3, 4)
    assert together["original"]["size"].tolist() == [2, 0, 2]
    assert together["synthetic"]["size"].tolist() == [1, 2]
    assert together["original"]["name"].tolist() == [1, 3, 0]
    assert together["synthetic"]["name"].tolist() == [2, 1]
    sizes, names = together.levels["size"], together.levels["name"]
    assert (sizes.labels, sizes.missing) == (("1", "2", "3"), None)
    assert sizes.numbers.tolist() == [1, 2, 3]
    assert (names.labels, names.missing, names.numbers) == (("a", "b", "c", "missing"), 3, None)
    assert len(names) == 4


def test_codes_are_stored_as_small_as_they_can_be():
    frames = {"one": pl.DataFrame({"x": np.arange(300), "y": [0] * 300})}
    coded = code_together(frames, ["x", "y"])["one"]
    assert [held.dtype for held in coded.columns] == [np.uint16, np.uint8]
    assert all(held.flags.c_contiguous for held in coded.columns)


def test_tables_of_different_libraries():
    tables = [pd.DataFrame({"x": [2, 1]}), pl.DataFrame({"x": [1.0]}), pa.table({"x": [None, 3]})]
    codes, levels = code(*tables)
    assert codes == [[1, 0], [0], [3, 2]]
    assert levels.labels == ("1", "2", "3", "missing")
    assert levels.numbers[:3].tolist() == [1, 2, 3]
    assert math.isnan(levels.numbers[3])


# Levels of each kind


@pytest.mark.parametrize(
    ("values", "kind", "labels"),
    [
        ([True, False, True], pl.Boolean, ("False", "True")),
        (["é", "Z", "a", ""], pl.String, ("", "Z", "a", "é")),
        ([10, 9, -1], pl.Int8, ("-1", "9", "10")),
        ([1.5, -0.0, 0.0, 10.0], pl.Float64, ("0", "1.5", "10")),
        ([2**63, 3], pl.UInt64, ("3", str(2**63))),
        ([Decimal("1.50"), Decimal("-2.00")], pl.Decimal(10, 2), ("-2.00", "1.50")),
        ([dt.date(2020, 1, 2), dt.date(1960, 5, 5)], pl.Date, ("1960-05-05", "2020-01-02")),
        ([dt.time(3), dt.time(1, 2)], pl.Time, ("01:02:00", "03:00:00")),
        ([dt.timedelta(2), dt.timedelta(1)], pl.Duration, ("1 day, 0:00:00", "2 days, 0:00:00")),
    ],
)
def test_levels_are_sorted_by_value(values, kind, labels):
    codes, levels = code(column(values, kind), column([None, values[0]], kind))
    assert levels.labels == (*labels, "missing")
    assert codes[1] == [len(labels), codes[0][0]]
    ranks = sorted(set(values))
    assert codes[0] == [ranks.index(value) for value in values]


@pytest.mark.parametrize("kind", [pl.Int64, pl.UInt8, pl.Float32, pl.Decimal(10, 2)])
def test_numbers_have_their_numbers(kind):
    assert code(column([2, 1], kind))[1].numbers.tolist() == [1, 2]


@pytest.mark.parametrize("value", ["1", True, dt.date(2020, 1, 1), dt.time(1), dt.timedelta(1)])
def test_other_values_have_none(value):
    assert code(column([value]))[1].numbers is None


def test_categories_keep_their_own_order(as_frame):
    order = ["low", "high", "middle"]
    enum = pl.DataFrame({"x": pl.Series(["high", "low"], dtype=pl.Enum(order))})
    codes, levels = code(enum, column(["middle", "another", "low"]))
    assert levels.labels == ("low", "high", "middle", "another")  # unknown ones come last
    assert codes == [[1, 0], [2, 3, 0]]
    ordered = pd.DataFrame({"x": pd.Categorical(["low", "high"], order, ordered=True)})
    assert code(ordered)[1].labels == ("low", "high")
    unordered = pd.DataFrame({"x": pd.Categorical(["low", "high"], order)})
    assert code(unordered)[1].labels == ("high", "low")
    # The first table decides.
    assert code(as_frame({"x": ["low", "high"]}), ordered)[1].labels == ("high", "low")


def test_categories_that_are_numbers():
    table = pd.DataFrame({"x": pd.Categorical([10, 9, 10])})
    codes, levels = code(table)
    assert codes == [[1, 0, 1]]
    assert levels.labels == ("9", "10")
    assert levels.numbers is None


# Numbers, however they are stored

whole = st.integers(-(2**60), 2**60) | st.integers(-3, 3)


@given(st.lists(st.none() | whole, max_size=8), st.lists(st.none() | whole, max_size=8))
def test_whole_numbers_are_compared_exactly(first, second):
    codes, levels = code(column(first, pl.Int64), column(second, pl.Int64))
    assert_twin(first + second, codes, levels)


numbers = st.none() | st.sampled_from([math.nan, -0.0, 0.5, 1.0, 2.0, 1e300, math.inf])


@given(st.lists(numbers, max_size=8), st.lists(st.none() | st.integers(-2, 2), max_size=8))
def test_floats_and_whole_numbers_are_compared(first, second):
    codes, levels = code(column(first, pl.Float64), column(second, pl.Int64))
    known = [None if value is None or math.isnan(value) else value for value in first]
    assert_twin(known + second, codes, levels)


def assert_twin(values, codes, levels):
    ranks = sorted({value for value in values if value is not None})
    expected = [len(ranks) if value is None else ranks.index(value) for value in values]
    assert codes[0] + codes[1] == expected
    assert levels.missing == (len(ranks) if None in values else None)
    assert len(levels) == len(ranks) + (None in values)
    if levels.numbers is not None:  # a column of gaps has no kind
        assert levels.numbers[: len(ranks)].tolist() == [float(value) for value in ranks]


def test_large_whole_numbers_beside_floats_are_not_rounded():
    large = 2**60
    codes, levels = code(column([large, large + 1, 3, None]), column([float(large), 0.5, 3.0]))
    assert codes == [[2, 3, 1, 4], [2, 0, 1]]
    assert levels.missing == 4
    assert levels.numbers[:2].tolist() == [0.5, 3]


def test_a_limit_of_what_floats_hold():
    for largest in (2**53, 2**53 + 1, -(2**53) - 1):
        codes, _ = code(column([largest, largest - 1]), column([0.5]))
        assert sorted(codes[0] + codes[1]) == [0, 1, 2]


def test_dates_beside_times():
    codes, levels = code(
        column([dt.date(2020, 1, 1), dt.date(9999, 1, 1)]),
        column([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 12)]),  # noqa: DTZ001
    )
    assert codes == [[0, 2], [0, 1]]
    assert levels.numbers is None


def test_signed_beside_unsigned():
    codes, _ = code(column([-1, 5], pl.Int64), column([2**64 - 1, 5], pl.UInt64))
    assert codes == [[0, 1], [2, 1]]


# Nothing to code


def test_tables_without_rows_or_values():
    codes, levels = code(column([], pl.Int64), column([], pl.Int64))
    assert codes == [[], []]
    assert len(levels) == 0
    codes, levels = code(column([None, None], pl.Null), column([1, 2]))
    assert codes == [[2, 2], [0, 1]]
    codes, levels = code(column([None], pl.Null))
    assert (codes, levels.labels, levels.missing) == ([[0]], ("missing",), 0)


# Groups


def test_groups_by_hand():
    original = column([1, 2, 3, 4, 5, 6, 7, 8, 9])
    codes, levels = code(original, column([0, 4, 100, None]), groups={"x": 2})
    assert levels.labels == ("1 to 5", "5 to 9", "missing")
    assert codes == [[0] * 4 + [1] * 5, [0, 0, 1, 2]]  # a group holds its lower limit
    assert levels.numbers[:2].tolist() == [3, 7]  # the middles
    assert levels.missing == 2


def test_groups_do_not_depend_on_other_tables():
    original = column(list(range(100)))
    alone = code(original, groups={"x": 5})
    beside = code(original, column([10_000] * 1000), groups={"x": 5})
    assert alone[0][0] == beside[0][0]
    assert alone[1].labels == beside[1].labels
    assert np.bincount(alone[0][0]).tolist() == [20] * 5
    assert beside[0][1] == [4] * 1000


def test_special_numbers_are_not_grouped():
    original = column([-8, -8, -8, -8, 1, 2, 3, 4, None])
    codes, levels = code(original, column([-8, -9]), groups={"x": 2}, special={"x": [-8, -9, -7]})
    assert levels.labels == ("1 to 2.5", "2.5 to 4", "-9", "-8", "missing")
    assert codes == [[3, 3, 3, 3, 0, 0, 1, 1, 4], [3, 2]]
    assert levels.numbers[2:4].tolist() == [-9, -8]


def test_few_numbers_are_groups_of_their_own():
    codes, levels = code(column([1, 5, 5, 1]), column([0, 1, 4, 5, 9]), groups={"x": 2})
    assert levels.labels == ("1", "5")
    assert codes == [[0, 1, 1, 0], [0, 0, 0, 1, 1]]


def test_skewed_numbers_have_fewer_groups():
    codes, levels = code(column([0] * 8 + [1, 2, 3, 4]), groups={"x": 3})
    assert levels.labels == ("0 to 0.333333333333", "0.333333333333 to 4")
    assert codes[0] == [0] * 8 + [1] * 4


def test_infinity_is_in_the_outer_groups():
    original = column([1.0, 2.0, 3.0, 4.0, math.inf, -math.inf])
    codes, levels = code(original, groups={"x": 2})
    assert levels.labels == ("1 to 2.5", "2.5 to 4")
    assert codes == [[0, 0, 1, 1, 1, 0]]


@given(st.lists(st.integers(-5, 30), min_size=1, max_size=30), st.integers(2, 6))
def test_groups_are_in_the_order_of_their_numbers(values, groups):
    codes, levels = code(column(values), groups={"x": groups})
    pairs = sorted(zip(values, codes[0], strict=True))
    assert [place for _, place in pairs] == sorted(codes[0])
    assert len(levels) <= groups
    distinct = len(set(values))
    assert len(levels) == distinct or distinct > groups


# Tables that are encoded once, and selections of them

KINDS = {
    "whole": (st.integers(-3, 3), pl.Int64),
    "large": (st.integers(2**53 - 1, 2**53 + 2), pl.Int64),
    "double": (st.sampled_from([-0.0, 0.1, 0.5, 2.0, math.nan, math.inf]), pl.Float64),
    "single": (st.sampled_from([0.1, 0.5, 2.0]), pl.Float32),
    "day": (st.sampled_from([dt.date(2020, 1, 1), dt.date(1999, 1, 1)]), pl.Date),
    "time": (
        st.sampled_from([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 12)]),  # noqa: DTZ001
        pl.Datetime,
    ),
    "category": (st.sampled_from(["low", "high", "b"]), pl.Enum(["low", "high", "b"])),
    "text": (st.sampled_from(["low", "high", "c"]), pl.String),
}
COMPARABLE = [("whole", "large", "double", "single"), ("day", "time"), ("category", "text")]


@st.composite
def three_tables(draw):
    kinds = draw(st.sampled_from(COMPARABLE))
    tables = {}
    for name in ("one", "two", "three"):
        values, kind = KINDS[draw(st.sampled_from(kinds))]
        rows = draw(st.lists(st.none() | values, min_size=1, max_size=6))
        tables[name] = column(rows, kind).with_columns(y=pl.lit(1))
    return tables


def assert_same(found, expected):
    assert list(found.tables) == list(expected.tables)
    assert all(found[name] == expected[name] for name in expected.tables)
    for name, levels in expected.levels.items():
        same = found.levels[name]
        held, expected_values = (one.values_of(range(len(one))) for one in (same, levels))
        assert held == expected_values
        assert list(map(type, held)) == list(map(type, expected_values))
        assert (same.labels, same.missing) == (levels.labels, levels.missing)
        assert (same.numbers is None) == (levels.numbers is None)
        if levels.numbers is not None:
            np.testing.assert_array_equal(same.numbers, levels.numbers)


@given(three_tables(), st.permutations(["one", "two", "three"]), st.integers(1, 3))
def test_a_selection_is_as_if_it_alone_were_coded(frames, names, size):
    encoded = {name: encode(frame) for name, frame in frames.items()}
    chosen = names[:size]
    found = code_together(encoded, ["x", "y"]).select(chosen, ["x"])
    assert_same(found, code_together({name: frames[name] for name in chosen}, ["x"]))


@given(three_tables(), st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_some_records_are_as_if_they_alone_were_coded(frames, rows):
    frame = frames["one"]
    rows = np.array([row % frame.height for row in rows])
    taken = {"one": encode(frame).take(rows), "two": frames["two"]}
    found = code_together(taken, ["x"])
    assert_same(found, code_together({"one": frame[rows], "two": frames["two"]}, ["x"]))


def test_groups_can_be_made_afterwards():
    frames = {"one": column([*range(9), None]), "two": column([-8, 4, 100])}
    options = {"groups": {"x": 2}, "special": {"x": [-8]}}
    direct = code_together(frames, ["x"], **options)
    tables = code_together(frames, ["x"])
    assert_same(tables.grouped(**options), direct)
    assert_same(
        tables.grouped(**options).select(["one"]),
        code_together({"one": frames["one"]}, ["x"], **options),
    )
    assert_same(tables.grouped(None), tables)
    with pytest.raises(ParameterError, match="got 'y'"):
        tables.grouped({"y": 2})


def test_a_table_is_encoded_once_and_only_the_columns_that_are_used():
    table = encode(pl.DataFrame({"x": [2, 1], "other": [[1], [2]]}))
    tables = CodedTables.of({"original": table, "synthetic": table})
    assert tables.columns == ("x", "other")
    assert tables.select(columns=["x"])["synthetic"]["x"].tolist() == [1, 0]
    assert (
        tables.select(columns=["x"])["original"]["x"]
        is tables.select(columns=["x"])["original"]["x"]
    )
    with pytest.raises(DataError, match="Column 'other' holds"):
        tables.tables  # noqa: B018  # this column is a list, which no measure can use
    assert (len(table), table.backend, encode(table) is table) == (2, "polars", True)


def test_a_table_without_rows_is_told():
    frames = {"original": column([1]), "synthetic": column([], pl.Int64)}
    with pytest.raises(DataError, match="The synthetic table has no rows"):
        CodedTables.of(frames).check_rows()


# Mistakes


def test_what_cannot_be_coded():
    numbers, text = column([1, 2]), column(["a"])
    with pytest.raises(ParameterError, match=r"The one table has no column 'y'\..*'z'.* two table"):
        code_together({"one": column([1]), "two": column([1])}, ["y", "z"])
    with pytest.raises(ParameterError, match=r"no column 'xx'\. Did you mean 'x'\?"):
        code_together({"one": numbers}, ["xx"])
    with pytest.raises(ParameterError, match="'x' is named twice"):
        code_together({"one": numbers}, ["x", "x"])
    with pytest.raises(DataError, match="numbers in the table 0 table and text in the table 1"):
        code(numbers, text)
    with pytest.raises(DataError, match="A table is a pandas or polars DataFrame"):
        code({"x": [1]})


@pytest.mark.parametrize("groups", [1, 0, True, 2.0, "3"])
def test_what_is_no_number_of_groups(groups):
    with pytest.raises(ParameterError, match="groups of 'x' must be a whole number from 2; got"):
        code(column([1, 2]), groups={"x": groups})


def test_what_cannot_be_grouped():
    with pytest.raises(ParameterError, match="groups: 'x' holds no numbers"):
        code(column(["a"]), groups={"x": 2})
    for values in ([-8], [None], [math.inf]):
        with pytest.raises(DataError, match="no ordinary number in the original to group by"):
            code(
                column(values, pl.Float64),
                column([1.0]),
                groups={"x": 2},
                special={"x": [-8]},
            )
