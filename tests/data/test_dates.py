"""Dates and times among texts: the types that polars itself finds, and one column at a time."""

from __future__ import annotations

import datetime as dt
import io

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import read, scan
from understudy.data.dates import are_dates, date_type, with_dates

FORMS = (
    *("2020-01-31", "2021-12-01", "31/01/2020", "31.01.2020", "2020/01/31", "31/01/20", "2020-1-5"),
    *("10:30", "11:45", "10:30:15", "10:30:15.5", "2020-01-31 10:30", "2020-01-31 10:30:15.5"),
    *("2020-01-31T10:30:15", "2020-01-31T10:30:15Z", "2020-01-31T10:30:15+02:00"),
    *("2020-13-45", "01/31/2020", "2020-01", "31-Jan-2020", "x", "<=50K", "1,5", '"'),
)


def by_polars(values):
    """Return what polars makes of a column of texts; text, if it finds dates of several forms."""
    content = pl.DataFrame({"x": values}, {"x": pl.String}).write_csv(quote_style="always")
    options = {"infer_schema_length": None, "null_values": [""]}
    try:
        return pl.read_csv(io.StringIO(content), try_parse_dates=True, **options)["x"]
    except pl.exceptions.PolarsError:
        return pl.read_csv(io.StringIO(content), **options)["x"]


@given(st.lists(st.none() | st.sampled_from(FORMS), min_size=1, max_size=4))
def test_types_and_values_are_those_that_polars_finds(values):
    frame = pl.DataFrame({"x": values, "n": 1}, {"x": pl.String, "n": pl.Int64})
    found = with_dates(frame)
    assert found["x"].dtype == by_polars(values).dtype
    assert found["x"].to_list() == by_polars(values).to_list()
    assert found.columns == ["x", "n"]


@pytest.mark.parametrize("form", FORMS)
def test_each_form(form):
    found = with_dates(pl.DataFrame({"x": [None, form, None, form]}))["x"]
    assert found.equals(by_polars([None, form, None, form]))


def test_columns_may_stay_text():
    frame = pl.DataFrame({"day": ["2020-01-31"], "code": ["2020-01-31"]})
    assert with_dates(frame, ["code"]).dtypes == [pl.Date, pl.String]


def test_all_values_have_a_say():
    days = [f"2020-01-{day:02}" for day in range(1, 30)] * 10
    kind = date_type(pl.Series(days))
    assert kind == pl.Date
    assert are_dates(pl.Series(days).unique(), kind)
    for late in ("soon", "2020-02-01 10:30", "01/02/2020"):
        late_days = pl.Series([*days, late])
        assert date_type(late_days) == pl.Date
        assert not are_dates(late_days.unique(), kind)
        assert with_dates(pl.DataFrame({"x": late_days}))["x"].dtype == pl.String
    assert date_type(pl.Series([None], dtype=pl.String)) is None


@pytest.mark.parametrize("late", ["2020-01-31", "31.01.2020", "soon", ""])
def test_columns_are_decided_one_by_one_whole_and_in_batches(tmp_path, late):
    path = tmp_path / "days.csv"
    rows = "2020-01-05,31/12/2023,10:30,a\n" * 10_001
    path.write_text(f"a,b,c,d\n{rows}{late},30/12/2023,11:00,b\n")
    whole = read(path)
    assert pl.concat(scan(path).batches()).equals(whole)
    first = pl.String if late in ("31.01.2020", "soon") else pl.Date
    assert whole.dtypes == [first, pl.Date, pl.Time, pl.String]
    assert whole["b"][-1] == dt.date(2023, 12, 30)
