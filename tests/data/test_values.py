"""Arrow columns as numbers, times as text, and identifiers that are made up."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.counted import Counted
from understudy.data.values import (
    all_differ,
    decimals_of,
    form_of,
    make_identifiers,
    numbers,
    numbers_to_arrow,
    text_to_time,
    time_to_text,
)
from understudy.errors import DataError

UNITS = ["s", "ms", "us", "ns"]


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (pa.string(), "category"),
        (pa.large_string(), "category"),
        (pa.string_view(), "category"),
        (pa.null(), "category"),
        (pa.dictionary(pa.int8(), pa.string()), "category"),
        (pa.dictionary(pa.int8(), pa.int64()), "category"),
        (pa.dictionary(pa.int8(), pa.bool_()), "category"),
        (pa.bool_(), "boolean"),
        (pa.uint8(), "whole"),
        (pa.duration("s"), "whole"),
        (pa.float16(), "number"),
        (pa.decimal128(5, 2), "number"),
        (pa.date32(), "time"),
        (pa.date64(), "time"),
        (pa.time32("s"), "time"),
        (pa.timestamp("ns", "UTC"), "time"),
    ],
)
def test_the_stored_type_says_what_values_can_be(kind, form):
    assert form_of(kind, "x") == form


@pytest.mark.parametrize(
    "kind",
    [
        pa.binary(),
        pa.list_(pa.int64()),
        pa.struct([("a", pa.int64())]),
        pa.month_day_nano_interval(),
        pa.dictionary(pa.int8(), pa.float64()),
    ],
)
def test_what_no_table_of_records_holds_is_refused_by_name(kind):
    with pytest.raises(DataError, match=r"Column 'x' h.* [cC]onvert"):
        form_of(kind, "x")


@pytest.mark.parametrize(
    ("array", "values"),
    [
        (pa.array([1, None, 3], pa.int8()), [1, 0, 3]),
        (pa.array([1.5, None, float("nan")]), [1.5, 0, 0]),
        (pa.array([Decimal("1.25"), None, Decimal(2)], pa.decimal128(5, 2)), [1.25, 0, 2]),
        (pa.array([dt.date(1970, 1, 2), None], pa.date32()), [1, 0]),
        (pa.array([dt.date(1970, 1, 2), None], pa.date64()), [86_400_000, 0]),
        (pa.array([dt.time(0, 1), None], pa.time32("s")), [60, 0]),
        (pa.array([dt.timedelta(1), None], pa.duration("ms")), [86_400_000, 0]),
    ],
)
def test_columns_become_numbers_with_their_gaps_and_back(array, values):
    found = numbers(array, "x")
    assert found.values.tolist() == values
    gaps = pc.is_null(array, nan_is_null=True)
    assert found.missing.tolist() == gaps.to_pylist()
    back = numbers_to_arrow(found, array.type)
    assert back.type == array.type
    assert back.drop_null() == array.filter(pc.invert(gaps))


def test_numbers_beyond_64_bits_with_a_sign_are_refused():
    with pytest.raises(DataError, match="Column 'id' holds whole numbers beyond 64 bits"):
        numbers(pa.array([2**63], pa.uint64()), "id")


@pytest.mark.parametrize(
    ("array", "whole"),
    [
        (pa.array([1.0, 2.0, None]), True),
        (pa.array([1.0, 2.5]), False),
        (pa.array([1.0, float("inf")]), False),
        (pa.array([2.0**53]), False),  # floats skip whole numbers from here
        (pa.array([2.0**53 - 1]), True),
        (pa.array([2.0**24], pa.float32()), False),
        (pa.array([2.0**24 - 1], pa.float32()), True),
        (pa.array([2**60]), True),
        (pa.array([None, None], pa.float64()), True),
    ],
)
def test_floats_are_whole_while_they_skip_no_whole_number(array, whole):
    assert numbers(array, "x").whole is whole


def test_what_is_not_whole_is_missing_among_whole_numbers():
    found = numbers(pa.array([1.0, 2.5, None, float("inf")]), "x").as_whole()
    assert found.values.tolist() == [1, 0, 0, 0]
    assert found.missing.tolist() == [False, True, True, True]


@pytest.mark.parametrize(
    ("ticks", "kind", "text"),
    [
        (18_262, pa.date32(), "2020-01-01"),
        (-1, pa.date32(), "1969-12-31"),
        (86_400_000, pa.date64(), "1970-01-02T00:00:00.000"),
        (90, pa.timestamp("s"), "1970-01-01T00:01:30"),
        (1, pa.timestamp("ns", "Europe/Berlin"), "1970-01-01T00:00:00.000000001"),
        (61_000_000, pa.time64("us"), "00:01:01.000000"),
    ],
)
def test_times_as_text_by_hand(ticks, kind, text):
    assert time_to_text(ticks, kind) == text
    assert text_to_time(text, kind) == ticks


@given(st.sampled_from(UNITS), st.integers(-(2**55), 2**55))
def test_timestamps_come_back_from_their_text(unit, ticks):
    kind = pa.timestamp(unit)
    # Python's years: NumPy writes others with a sign or more digits.
    if abs(ticks) < 2**55 // {"s": 2**20, "ms": 2**10}.get(unit, 1):
        assert text_to_time(time_to_text(ticks, kind), kind) == ticks


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T01:00:00Z", 3_600),
        ("1970-01-01T01:00:00+00:00", 3_600),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-01T00:00:00-0130", 5_400),
        ("1970-01-02", 86_400),
    ],
)
def test_an_offset_from_utc_is_taken_off(text, seconds):
    assert text_to_time(text, pa.timestamp("s", "UTC")) == seconds


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("yesterday", pa.date32()),
        ("", pa.timestamp("s")),
        ("NaT", pa.timestamp("s")),
        ("25:00:00", pa.time32("s")),
        ("3000-01-01", pa.timestamp("ns")),  # nanoseconds end in 2262
    ],
)
def test_text_that_is_no_time_of_the_type_is_refused(text, kind):
    with pytest.raises(ValueError):
        text_to_time(text, kind)


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        ([1.5, 2.25, 3.0], 2),
        ([1.0, 2.0], 0),
        ([0.1, 0.2, 0.3], 1),
        ([0.1 + 0.2], None),
        ([1 / 3], None),
        ([0.5, np.inf], 1),
        ([], 0),
        ([1e300], None),
        ([123_456_789_012.3], 1),
        ([9e15 + 1], 0),
        ([2.0**51 + 0.5], None),  # every float of this size is a multiple of a half
    ],
)
def test_decimals_are_those_that_hold_every_value(values, decimals):
    assert decimals_of(np.array(values)) == decimals


def test_single_precision_hides_no_decimals():
    tenths = np.array([0.1, 0.7], dtype=np.float32).astype(np.float64)
    assert decimals_of(tenths) is None
    assert decimals_of(tenths, single=True) == 1


@given(st.integers(0, 6), st.lists(st.integers(-(10**6), 10**6), min_size=1))
def test_numbers_that_are_rounded_need_no_more_decimals(decimals, whole):
    found = decimals_of(np.array(whole) / 10**decimals)
    assert found is not None
    assert found <= decimals


def test_decimals_are_the_floats_that_their_digits_name():
    digits = [Decimal(cents).scaleb(-2) for cents in range(-500, 500)]
    found = numbers(pa.array(digits, pa.decimal128(9, 2)), "price")
    assert found.values.tolist() == [float(str(value)) for value in digits]


# Made-up identifiers


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.string(), ["synthetic-1", "synthetic-2"]),
        (pa.large_string(), ["synthetic-1", "synthetic-2"]),
        (pa.dictionary(pa.int8(), pa.string()), ["synthetic-1", "synthetic-2"]),
        (pa.int64(), [-1, -2]),
        (pa.uint8(), [255, 254]),
        (pa.float32(), [-1.0, -2.0]),
        (pa.decimal128(5, 2), [Decimal("-1.00"), Decimal("-2.00")]),
    ],
)
def test_numbers_are_negative_and_texts_say_what_they_are(kind, expected):
    assert make_identifiers("id", kind, 2).to_pylist() == expected


def test_a_later_batch_goes_on_where_the_one_before_ended():
    first, second = (make_identifiers("id", pa.string(), 2, start) for start in (0, 2))
    assert second.to_pylist() == ["synthetic-3", "synthetic-4"]
    assert not set(first.to_pylist()) & set(second.to_pylist())


@pytest.mark.parametrize(("kind", "most"), [(pa.int8(), 127), (pa.uint8(), 255)])
def test_a_type_that_holds_too_few_numbers_is_named(kind, most):
    assert len(set(make_identifiers("id", kind, most).to_pylist())) == most
    with pytest.raises(DataError, match=rf"'id' is stored as {kind}, which cannot hold {most + 1}"):
        make_identifiers("id", kind, most + 1)


def test_no_rows_need_no_identifiers():
    assert len(make_identifiers("id", pa.int64(), 0)) == 0


@given(
    st.lists(st.floats(allow_nan=True) | st.sampled_from([0.0, -0.0, 1.0]), max_size=20),
    st.sampled_from([pa.float64(), pa.float32(), pa.int64()]),
    st.integers(0, 3),
)
def test_numbers_that_all_differ_are_told_from_others(values, kind, start):
    if pa.types.is_integer(kind):
        values = [int(value) for value in values if abs(value) < 1e6]
    array = pa.array(np.array(values, np.float64)).cast(kind, safe=False)[start:]
    plain = array.to_pylist()
    differ = len(plain) == len(set(plain)) and not any(map(math.isnan, plain))
    assert all_differ(array) == (differ and len(plain) > 0)
    # What is counted is the same, whichever way, but for the order.
    counted, found = Counted.of(array), array.value_counts()
    ours = zip(map(repr, counted.values.to_pylist()), counted.counts.tolist(), strict=True)
    theirs = zip(map(repr, found.field("values").to_pylist()), found.field("counts"), strict=True)
    assert sorted(ours) == sorted((value, times.as_py()) for value, times in theirs)


def test_what_is_no_number_or_missing_is_not_told():
    assert not all_differ(pa.array(["a", "b"]))
    assert not all_differ(pa.array([1, None]))
    assert not all_differ(pa.array([], pa.int64()))
    assert all_differ(pa.array(range(5_000)))
    assert not all_differ(pa.array([*range(5_000), 4_999]))
