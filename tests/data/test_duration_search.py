"""Durations found from their texts, what they mean, and how they are written."""

from __future__ import annotations

import datetime as dt
import json

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.duration_format import DurationFormat
from understudy.data.duration_search import find_durations, looks_like_duration
from understudy.data.formats import ColumnFormat


def read(form, texts):
    return pl.DataFrame({"t": texts}).select(form.parsed(pl.col("t"))).to_series()


@pytest.mark.parametrize(
    ("texts", "values", "words"),
    [
        (["2h 15m", "45m", "3h", "0m"], [135, 45, 180, 0], "9h 9m, in minutes"),
        (["2h 15m", "0h 0m"], [135, 0], "9h 9m, in minutes"),
        (["2h15m", "12h05m"], [135, 725], "9h09m, in minutes"),
        (["-2h 5m", "1h 3m"], [-125, 63], "9h 9m, in minutes"),
        (["1d 2h 0m 5s", "3m 1s"], [93605, 181], "9d 9h 9m 9s, in seconds"),
        (["1 day 3 hours", "2 days"], [27, 48], "9 days 9 hours, in hours"),
        (["1 day, 1 hour", "2 days, 0 hours"], [25, 48], "9 days, 9 hours, in hours"),
        (["1 hour and 5 minutes", "2 hours"], [65, 120], "9 hours and 9 minutes, in minutes"),
        (["1 day", "45 days"], [1, 45], "9 days, in days"),
        (["1 Tag 3 Stunden", "2 Tage"], [27, 48], "9 Tage 9 Stunden, in hours"),
        (["2 Std. 5 Min."], [125], "9 Std. 9 Min., in minutes"),
        (["3 years 4 months", "1 year"], [40, 12], "9 years 9 months, in months"),
        (["1y 3m", "2y"], [15, 24], "9y 9m, in months"),
        (["PT1H30M", "PT45M", "P1DT2H"], [90, 45, 1560], "P9DT9H9M, in minutes"),
        (["P0DT1H0M", "P2DT0H5M"], [60, 2885], "P9DT9H9M, in minutes"),
        (["PT1.5S", "-PT2S", "PT0S"], [15, -20, 0], "PT9.9S, in tenths of a second"),
        (["P1W2D", "P3W"], [9, 21], "P10W2D, in days"),
        (["3 days, 4:05:06", "0:00:01"], [273906, 1], "9 days, 9:09:09, in seconds"),
        (["-1 day, 23:00:00", "1:00:00"], [-3600, 3600], "9 days, 9:09:09, in seconds"),
        (
            ["-1 days +23:00:00", "1 days 00:00:00", "0 days 00:00:01"],
            [-3600, 86400, 1],
            "9 days 09:09:09, in seconds",
        ),
        (["36:15:00", "04:15:00"], [130500, 15300], "09:09:09, in seconds"),
        (["125:30", "20:05"], [7530, 1205], "9:09, in 60ths of the first number"),
        (["1:23.456", "2:03.100"], [83456, 123100], "9:09.999, in milliseconds"),
    ],
)
def test_durations_are_read_and_written_as_they_were(texts, values, words):
    form = find_durations(pl.Series(texts))
    assert read(form, texts).to_list() == values
    assert form.words == f"durations as {words}"
    assert form.rendered(pl.Series(values)).to_list() == texts
    column = ColumnFormat(form, ("n/a",))
    assert ColumnFormat.from_plain(json.loads(json.dumps(column.to_plain()))) == column


@pytest.mark.parametrize(
    "texts",
    [
        ["1 week", "10 days", "3 weeks"],  # answers: 10 days are no 1 week 3 days
        ["2h 15m", "much"],
        ["2h 15m", "15m 2h"],
        ["2h 15m", "2h, 15m"],
        ["1 days 2 hours", "1 day 2 hours"],
        ["16:9", "4:3"],  # ratios
        ["101:98", "87:91"],  # scores
        ["25:12", "31:30"],  # none has a zero in front
        ["6 ft 2 in", "5 ft 11 in"],
        ["P", "PT"],
        ["5h", "PT5H"],
        ["1:00", "1:00:00"],
        [""],
    ],
)
def test_other_texts_are_no_durations(texts):
    assert find_durations(pl.Series(texts)) is None


def test_nothing_is_no_duration():
    assert find_durations(pl.Series([], dtype=pl.String)) is None
    assert not looks_like_duration("-")


@given(st.lists(st.timedeltas(dt.timedelta(-9999), dt.timedelta(9999)), min_size=1, max_size=9))
def test_durations_of_python_and_pandas_keep_their_value(spans):
    for write in (str, lambda span: str(pd.Timedelta(span))):
        texts = pl.Series(list(map(write, spans))).unique(maintain_order=True)
        form = find_durations(texts)
        unit = dt.timedelta(seconds=1) / 10**form.digits
        assert [round(span / unit) for span in dict.fromkeys(spans)] == read(form, texts).to_list()


def test_new_durations_are_written_alike():
    form = find_durations(pl.Series(["2 hours 15 minutes", "45 minutes"]))
    assert form.rendered(pl.Series([60.0, 61.4, None, 0.0])).to_list() == [
        "1 hour",
        "1 hour 1 minute",
        None,
        "0 minutes",
    ]


@pytest.mark.parametrize(
    "wrong",
    [{"units": ()}, {"units": ("hour", "month")}, {"units": ("second",), "digits": 40}],
)
def test_what_is_no_format_is_refused(wrong):
    with pytest.raises(ValueError, match="no format"):
        DurationFormat("clock", **wrong)
