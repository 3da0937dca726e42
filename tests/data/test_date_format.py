"""How dates are written."""

from __future__ import annotations

import datetime as dt

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.date_format import DateFormat


@given(st.lists(st.dates(dt.date(1, 1, 1)), min_size=1))
def test_days_keep_their_order_in_any_rows(days):
    form = DateFormat("date", "%-d/%-m/%Y")
    assert form.rendered(pl.Series(days)).to_list() == [
        f"{day.day}/{day.month}/{day.year:04}" for day in days
    ]


def test_gaps_and_other_types_of_dates():
    form = DateFormat("date", "%d/%m/%Y")
    moments = pl.Series([dt.datetime(2020, 1, 31, 12), None])  # noqa: DTZ001
    assert form.rendered(moments).to_list() == ["31/01/2020", None]
