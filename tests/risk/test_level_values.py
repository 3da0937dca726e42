"""Levels as a user writes them, and as a result names them."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import polars as pl
import pytest

from understudy.data.together import Levels, code_together
from understudy.errors import ParameterError
from understudy.risk.level_values import find_level, level_value


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
        assert level_value(levels, code) == value
        assert type(level_value(levels, code)) in {type(value), int}


def test_missing_is_none_or_nan_and_not_its_label():
    levels = levels_of(["a", None])
    assert find_level("x", levels, None) == find_level("x", levels, math.nan) == 1
    with pytest.raises(ParameterError, match=r"no level 'missing'.* None for missing"):
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


def test_a_text_that_several_levels_share_is_refused():
    levels = levels_of([1234567.25, 1234567.5])
    with pytest.raises(ParameterError, match=r"several levels that read '1\.23457e\+06'"):
        find_level("x", levels, "1.23457e+06")


def test_groups_have_names():
    options = {"groups": {"x": 2}, "special": {"x": [-8]}}
    levels = levels_of([1, 2, 3, 4, -8], **options)
    assert [level_value(levels, code, grouped=True) for code in range(3)] == [
        *("1 to 2.5", "2.5 to 4", "-8")
    ]
    assert find_level("x", levels, "2.5 to 4", grouped=True) == 1
    assert find_level("x", levels, -8, grouped=True) == find_level("x", levels, -8.0, grouped=True)
    middle = float(levels.numbers[0])
    with pytest.raises(ParameterError, match=r"no level 1\.75"):
        find_level("x", levels, middle, grouped=True)


def test_a_number_beyond_what_floats_count_stays_a_float():
    levels = Levels((str(2**60),), np.array([2.0**60]), None)
    assert isinstance(level_value(levels, 0), float)
