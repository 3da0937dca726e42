from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from understudy.data.joint_coding import encode
from understudy.data.loose_values import compare_loosely

KINDS = {
    "numbers": [1.5, 2.0],
    "texts": ["a", "B "],
    "digits": ["1", " 2"],
    "truths": [True, False],
    "days": [dt.date(2020, 1, 1), dt.date(2021, 1, 1)],
    "times": [dt.time(3, 4), dt.time(5, 6)],
    "durations": [dt.timedelta(days=3), dt.timedelta(days=4)],
    "gaps": [None, None],
}


@pytest.mark.parametrize("other", KINDS)
@pytest.mark.parametrize("first", KINDS)
def test_whatever_cannot_be_compared_is_different_and_never_an_error(first, other):
    tables = {"first": KINDS[first], "other": KINDS[other]}
    columns = {name: encode(pl.DataFrame({"x": held})).column("x") for name, held in tables.items()}
    found = compare_loosely(columns)
    assert len(found.numbers["other"]) == len(found.labels["other"])
    if {first, other} == {"texts", "durations"}:
        assert not set(found.labels["first"][:-1]) & set(found.labels["other"][:-1])
