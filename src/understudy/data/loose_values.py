"""One column of several tables as values that are compared loosely: by size, or as text.

For finding records that are alike, not equal: a number stored as text is a number, dates count by
their place in time, and case and outer spaces of text do not matter. Whatever cannot be compared
is different; nothing is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.data.joint_coding import EncodedColumn

_ENOUGH = 0.95
"""Of the records of a text column, so many must hold numbers for the column to be one of numbers:
the others may hold marks such as "?"."""
_FORMATS = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S")


@dataclass(frozen=True, eq=False)
class LooseColumn:
    """The different values of a column in each table, made comparable.

    Parameters
    ----------
    ordered : bool
        Whether values count by size, as those of numbers and dates.
    numbers : mapping
        For each table, the size of each of its values; nan if it has none.
    labels : mapping
        For each table, the number of each value's text among all texts; missing is 0. In an
        ordered column only values without a size have one.
    """

    ordered: bool
    numbers: Mapping[str, NDArray[np.float64]]
    labels: Mapping[str, NDArray[np.int64]]


def compare_loosely(columns: Mapping[str, EncodedColumn]) -> LooseColumn:
    """Return the different values of a column in each table as sizes or texts.

    The first table is the original, which decides how values are compared. For each table there
    are as many entries as it has different values, and one more for what is missing.

    Examples
    --------
    >>> import polars as pl
    >>> from understudy.data.joint_coding import encode
    >>> tables = {"original": pl.DataFrame({"x": [10, 2]}), "other": pl.DataFrame({"x": [" 2.0"]})}
    >>> found = compare_loosely({name: encode(t).column("x") for name, t in tables.items()})
    >>> found.ordered, found.numbers["other"].tolist()
    (True, [2.0, nan])
    """
    first = next(iter(columns.values()))
    numbers = {table: _sizes(column.values, first) for table, column in columns.items()}
    ordered = _counts_by_size(first, next(iter(numbers.values())))
    # Of an ordered column, only what has no size is told apart by its text.
    texts = {
        table: _texts(column.values.filter(np.isnan(numbers[table])) if ordered else column.values)
        for table, column in columns.items()
    }
    every = pl.concat([pl.Series("text", [], pl.String), *texts.values()]).replace("", None)
    codes = every.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
    labels = {}
    for table, column in columns.items():
        own, codes = np.split(codes, [len(texts[table])])
        labels[table] = np.zeros(len(column.values) + 1, np.int64)
        named = np.isnan(numbers[table]) if ordered else slice(len(column.values))
        labels[table][:-1][named] = own
    gap = np.array([np.nan])
    return LooseColumn(
        ordered, {table: np.append(held, gap) for table, held in numbers.items()}, labels
    )


def _counts_by_size(column: EncodedColumn, sizes: NDArray[np.float64]) -> bool:
    """Tell whether enough records of the original have a number or a date."""
    if column.form in ("boolean", "category") and column.values.dtype != pl.String:
        return False  # categories that are stored as such
    if column.order is not None:
        return False
    times = np.bincount(column.codes, minlength=len(column.values) + 1)[: len(column.values)]
    known = int(times.sum())
    return known > 0 and float(times[np.isfinite(sizes)].sum()) >= _ENOUGH * known


def _sizes(values: pl.Series, first: EncodedColumn) -> NDArray[np.float64]:
    """Return values as numbers, or as moments if the original holds such; nan if they are none."""
    kind = values.dtype
    temporal = first.values.dtype.is_temporal() or (
        first.values.dtype == pl.String and _are_moments(first.values)
    )
    if kind.is_temporal():
        if not temporal:
            return np.full(len(values), np.nan)
        return _moments(values)
    if kind == pl.String:
        text = values.str.strip_chars()
        if temporal:
            return _moments(_parsed(text))
        found = text.cast(pl.Float64, strict=False)
    elif temporal:
        return np.full(len(values), np.nan)
    else:
        found = values.cast(pl.Float64, strict=False)
    numbers = found.fill_null(np.nan).to_numpy().astype(np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _moments(values: pl.Series) -> NDArray[np.float64]:
    """Return dates, times and durations as seconds."""
    unit = getattr(values.dtype, "time_unit", None)
    ticks = {"ns": 1e9, "us": 1e6, "ms": 1e3}[unit] if unit else 1.0
    scale = 86_400.0 if values.dtype == pl.Date else 1.0
    if values.dtype == pl.Time:
        ticks = 1e9
    seconds = values.to_physical().cast(pl.Float64) * scale / ticks
    return seconds.fill_null(np.nan).to_numpy()


def _are_moments(values: pl.Series) -> bool:
    if not len(values) or values.str.strip_chars().cast(pl.Float64, strict=False).count():
        return False
    return _parsed(values.str.strip_chars()).count() >= _ENOUGH * len(values)


def _parsed(text: pl.Series) -> pl.Series:
    """Return text as moments, in the forms of ISO 8601; null where it is none."""
    tried = [text.str.to_datetime(form, strict=False, time_unit="us") for form in _FORMATS[1:]]
    days = text.str.to_date(_FORMATS[0], strict=False).cast(pl.Datetime("us"))
    frame = pl.DataFrame([days.alias("0"), *(one.alias(str(n)) for n, one in enumerate(tried, 1))])
    return frame.select(pl.coalesce(pl.all())).to_series()


def _texts(values: pl.Series) -> pl.Series:
    """Return values as text without case and outer spaces; equal numbers are equal."""
    if values.dtype == pl.Boolean:
        return values.cast(pl.Int8).cast(pl.Float64).cast(pl.String).alias("text")
    if values.dtype == pl.String or not values.dtype.is_numeric():
        text = values.cast(pl.String).str.strip_chars().str.to_lowercase()
        text = text.replace({"true": "1", "false": "0"})
    else:
        text = values.cast(pl.String)
    number = text.cast(pl.Float64, strict=False).cast(pl.String)
    frame = pl.DataFrame([number.alias("number"), text.alias("text")])
    return frame.select(text=pl.coalesce("number", "text")).to_series()
