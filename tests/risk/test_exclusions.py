"""Levels as a user writes them; what is left out is tested with `disclosure`."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import polars as pl
import pytest

from understudy.data.joint_coding import code_together
from understudy.errors import ParameterError
from understudy.risk.exclusions import find_level


def levels_of(values, **options):
    frame = pl.DataFrame({"x": values})
    return code_together({"one": frame}, ["x"], **options).levels["x"]


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, 10, None],
        [0.5, 1.0, 1234567.25, 1234567.5],  # the last two read alike in six digits
        ["a", "missing", "1", None],
        [2**53 - 1, 5, -8],
    ],
)
def test_each_value_is_found_and_named(values):
    levels = levels_of(values)
    for value in values:
        code = find_level("x", levels, value)
        assert levels.values[code] == value
        assert type(levels.values[code]) in {type(value), int}


def test_missing_is_none_or_nan_and_not_its_label():
    levels = levels_of(["a", None])
    assert find_level("x", levels, None) == find_level("x", levels, math.nan) == 1
    with pytest.raises(ParameterError, match=r"not have the value 'missing'.* None for missing"):
        find_level("x", levels, "missing")
    with pytest.raises(ParameterError, match="'x' has no missing values"):
        find_level("x", levels_of(["a"]), None)


def test_the_text_of_a_value_is_enough():
    assert find_level("x", levels_of([1, 2]), "2") == 1
    assert find_level("x", levels_of([1, 2]), np.int64(2)) == 1
    assert find_level("x", levels_of([True, False]), True) == 1
    day = dt.date(2020, 1, 1)
    assert find_level("x", levels_of([day]), day) == find_level("x", levels_of([day]), str(day))
    assert find_level("x", levels_of(["1", "2"]), 2) == 1


def test_numbers_that_are_near_have_different_texts():
    levels = levels_of([1234567.25, 1234567.5])
    assert [find_level("x", levels, text) for text in levels.labels] == [0, 1]
    with pytest.raises(ParameterError, match=r"does not have the value '1\.23457e\+06'"):
        find_level("x", levels, "1.23457e+06")


def test_a_date_is_its_midnight():
    day, midnight = dt.date(2020, 1, 1), dt.datetime(2020, 1, 1)  # noqa: DTZ001
    noon = midnight.replace(hour=12)
    for held in (day, midnight):
        levels = levels_of([held])
        assert find_level("x", levels, day) == find_level("x", levels, midnight) == 0
        assert levels.values[0] == held
        with pytest.raises(ParameterError, match="does not have the value datetime"):
            find_level("x", levels, noon)


def test_a_number_of_single_precision_is_found_in_both():
    levels = levels_of(pl.Series([0.1, 0.5], dtype=pl.Float32))
    assert (levels.values, levels.labels) == ((0.1, 0.5), ("0.1", "0.5"))
    assert find_level("x", levels, 0.1) == find_level("x", levels, np.float32(0.1)) == 0
    assert find_level("x", levels, float(np.float32(0.1))) == 0
    with pytest.raises(ParameterError, match="does not have the value"):
        find_level("x", levels, 0.1000001)


def test_booleans_are_no_numbers():
    assert [levels_of([True, False]).values[code] for code in (0, 1)] == [False, True]
    for levels, value in ((levels_of([0, 1]), True), (levels_of([True, False]), 1)):
        with pytest.raises(ParameterError, match="does not have the value"):
            find_level("x", levels, value)


def test_groups_have_names():
    options = {"groups": {"x": 2}, "special": {"x": [-8]}}
    levels = levels_of([1, 2, 3, 4, -8], **options)
    assert [levels.values[code] for code in range(3)] == [*("1 to 2.5", "2.5 to 4", "-8")]
    assert find_level("x", levels, "2.5 to 4") == 1
    assert find_level("x", levels, -8) == find_level("x", levels, -8.0)
    middle = float(levels.numbers[0])
    with pytest.raises(ParameterError, match=r"does not have the value 1\.75"):
        find_level("x", levels, middle)


def test_whole_numbers_beyond_what_floats_count():
    levels = levels_of([2**62, 2**62 + 1])
    assert [levels.values[code] for code in (0, 1)] == [2**62, 2**62 + 1]
    assert [find_level("x", levels, 2**62 + more) for more in (0, 1)] == [0, 1]
    assert find_level("x", levels, np.int64(2**62 + 1)) == 1
    assert isinstance(levels_of([2.0**60]).values[0], float)
