"""Whole numbers that are dates or times: 1345 for 13:45, 20240229 for the last of February 2024.

As numbers they have gaps: nothing lies between 1359 and 1400. So they are coded by the minutes,
days or months that they stand for, and written in their own way again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data.dependencies.families import Code
from understudy.data.values import Numbers, numbers

DAY = 1440
"""Minutes of a day."""

FEWEST_TIMES = 30
"""Different clock times that a column needs to be taken for such: fewer may be any codes."""

FEWEST_DATES = 10
"""Different dates or months that a column needs to be taken for such."""

LEAST_DATE = 10_000_101
"""The first date that is written as yyyymmdd; months as yyyymm are below it."""

_MONTHS = (180_001, 219_912)
"""Months that are taken for such: area codes may end in 01 to 12, too."""

_FULL_HOURS = 0.3
"""A column of clock times has this share of its values past the half hour, or none at all.

Numbers of any kind seldom stop at 59 in every hundred: with 30 of them, by chance once in 10^6."""


def minutes_of(codes: NDArray[Any]) -> NDArray[Any]:
    """Return the minutes since midnight of times as hhmm.

    Examples
    --------
    >>> minutes_of(np.array([5, 1345, 2400]))
    array([   5,  825, 1440])
    """
    return np.asarray(codes // 100 * 60 + codes % 100)


def clock_code(minutes: NDArray[Any], *, midnight: bool = False) -> NDArray[Any]:
    """Return minutes since midnight as hhmm; with `midnight`, that of 24 hours is 2400, not 0.

    Examples
    --------
    >>> clock_code(np.array([825, 1440]), midnight=True)
    array([1345, 2400])
    """
    within = minutes % DAY
    if midnight:
        within = np.where(within == 0, DAY, within)
    return np.asarray(within // 60 * 100 + within % 60)


def are_clock_times(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which whole numbers are times as hhmm, from 0 to 2400."""
    return (values >= 0) & (values <= 2400) & (values % 100 < 60)


def are_months(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which whole numbers are months as yyyymm, of years with four digits."""
    month = values % 100
    return np.asarray((values > 100_000) & (values < 1_000_000) & (month >= 1) & (month <= 12))


def days_of(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the days since 1970 of dates as yyyymmdd, and which of them are dates.

    Examples
    --------
    >>> days_of(np.array([19700102, 20230229]))
    (array([1, 0]), array([ True, False]))
    """
    year, month, day = codes // 10000, codes // 100 % 100, codes % 100
    valid = (year >= 1000) & (year <= 9999) & (month >= 1) & (month <= 12) & (day >= 1)
    months = np.where(valid, (year - 1970) * 12 + month - 1, 0)
    first = months.astype("M8[M]").astype("M8[D]").astype(np.int64)
    after = (months + 1).astype("M8[M]").astype("M8[D]").astype(np.int64)
    valid &= day <= after - first
    return np.where(valid, first + day - 1, 0), valid


def date_code(days: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return days since 1970 as yyyymmdd.

    Examples
    --------
    >>> date_code(np.array([1]))
    array([19700102])
    """
    date = days.astype("M8[D]")
    month = date.astype("M8[M]")
    months = month.astype(np.int64)
    day = days - month.astype("M8[D]").astype(np.int64) + 1
    return (months // 12 + 1970) * 10000 + (months % 12 + 1) * 100 + day


def are_codes(values: NDArray[np.int64]) -> bool:
    """Return whether all of some whole numbers could be dates or times."""
    kinds = (are_clock_times(values), are_months(values), days_of(values)[1])
    return len(values) > 0 and any(bool(one.all()) for one in kinds)


def code_of(values: NDArray[Any]) -> Code | None:
    """Return how the different values of a column of whole numbers write dates or times, if at all.

    Every value must be one. Clock times must go on in many hours, and near the end of the hour as
    near its beginning: prices and ages below 60 do not.
    """
    if values.dtype.kind != "i" or not len(values):
        return None
    if are_clock_times(values).all() and spread_over_hours(values):
        return "hhmm"
    if len(values) >= FEWEST_DATES and values[0] >= LEAST_DATE and days_of(values)[1].all():
        return "yyyymmdd"
    years = len(np.unique(values // 100))
    if len(values) >= FEWEST_DATES and years > 1 and are_months(values).all():
        return "yyyymm" if values[0] >= _MONTHS[0] and values[-1] <= _MONTHS[1] else None
    return None


def spread_over_hours(values: NDArray[Any]) -> bool:
    """Return whether different numbers are clock times as hhmm, and not so by chance."""
    minutes, hours = values % 100, values // 100
    late = float(np.mean(minutes >= 30))
    return (
        len(values) >= FEWEST_TIMES
        and len(np.unique(hours)) >= 6
        and late >= _FULL_HOURS
        and values.max() >= 1300
    )


def as_count(array: pa.Array, code: Code, name: str) -> Numbers:
    """Return the minutes, days or months of codes; what is none is -1, which none of them is."""
    found = numbers(array, name).as_whole()
    if code == "hhmm":
        valid, counted = are_clock_times(found.values), minutes_of(found.values)
    elif code == "yyyymm":
        valid, counted = are_months(found.values), found.values // 100 * 12 + found.values % 100 - 1
    else:
        counted, valid = days_of(found.values)
        counted = counted + _FIRST_DAY
    return Numbers(np.where(valid, counted, -1), found.missing)


def as_code(counted: NDArray[np.int64], code: Code) -> NDArray[np.int64]:
    """Return minutes, days or months as the codes that `as_count` read."""
    if code == "hhmm":
        return np.asarray(counted // 60 * 100 + counted % 60)
    if code == "yyyymm":
        return np.asarray(counted // 12 * 100 + counted % 12 + 1)
    return date_code(counted - _FIRST_DAY)


_FIRST_DAY = 719_528
"""Days from the year 0 to 1970: dates are counted from there, so that none is below 0."""
