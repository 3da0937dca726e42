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
_NO_TEXT = pl.Series("text", [], pl.String)
_STRIPPED = pl.col("text").str.strip_chars()


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
    moments = first.once("are moments", _are_moments)
    numbers = {
        table: column.once(f"sizes, {moments=}", lambda values: _sizes(values, moments))
        for table, column in columns.items()
    }
    ordered = _counts_by_size(first, next(iter(numbers.values())))
    # Of an ordered column, only what has no size is told apart by its text.
    texts = {
        table: _texts(column.values, np.isnan(numbers[table]))
        if ordered
        else column.once("texts", _texts)
        for table, column in columns.items()
    }
    codes = _ranks(pl.concat([_NO_TEXT, *texts.values()]))
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


def _sizes(values: pl.Series, moments: bool) -> NDArray[np.float64]:
    """Return values as numbers, or as moments if the original holds such; nan if they are none."""
    kind = values.dtype
    if kind.is_temporal() or kind == pl.String:
        if kind == pl.String and moments:
            return _moments(values.to_frame("text").select(_parsed()).to_series())
        if kind == pl.String:
            number = _STRIPPED.cast(pl.Float64, strict=False).fill_null(np.nan)
            return _finite(values.to_frame("text").select(number).to_series().to_numpy())
        return _moments(values) if moments else np.full(len(values), np.nan)
    if moments:
        return np.full(len(values), np.nan)
    if kind.is_integer() or kind.is_float():
        return _finite(values.to_numpy().astype(np.float64, copy=False))
    return _finite(values.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy())


def _finite(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    finite = np.isfinite(numbers)
    return numbers if finite.all() else np.where(finite, numbers, np.nan)


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
    """Tell whether values are moments, or texts nearly all of which are and none a number."""
    if values.dtype.is_temporal():
        return True
    if values.dtype != pl.String or not len(values):
        return False
    frame = values.to_frame("text")
    if frame.select(_STRIPPED.cast(pl.Float64, strict=False).count()).item():
        return False
    return bool(frame.select(_parsed().count()).item() >= _ENOUGH * len(values))


def _parsed() -> pl.Expr:
    """Return text as moments, in the forms of ISO 8601; null where it is none."""
    tried = [_STRIPPED.str.to_datetime(form, strict=False, time_unit="us") for form in _FORMATS[1:]]
    days = _STRIPPED.str.to_date(_FORMATS[0], strict=False).cast(pl.Datetime("us"))
    return pl.coalesce(days, *tried)


def _texts(values: pl.Series, chosen: NDArray[np.bool_] | None = None) -> pl.Series:
    """Return values, or the chosen ones, as text without case and outer spaces.

    Equal numbers are equal.
    """
    if chosen is not None:
        if not chosen.any():
            return _NO_TEXT
        values = values.filter(pl.Series(chosen))
    kind = values.dtype
    if kind == pl.Boolean:
        text = pl.col("text").cast(pl.Int8).cast(pl.String)
    elif kind.is_numeric():
        text = pl.col("text").cast(pl.String)
    elif kind == pl.Duration:
        text = pl.col("text").to_physical().cast(pl.String)
    else:
        text = pl.col("text").cast(pl.String).str.strip_chars().str.to_lowercase()
        text = text.replace({"true": "1", "false": "0"})
    number = text.cast(pl.Float64, strict=False).cast(pl.String)
    return values.to_frame("text").select(text=pl.coalesce(number, text)).to_series()


def _ranks(texts: pl.Series) -> NDArray[np.int64]:
    """Return the place of each text among the different ones, from 1; 0 if it is empty."""
    if not len(texts):
        return np.empty(0, np.int64)
    place = pl.col("text").replace("", None).rank("dense").fill_null(0).cast(pl.Int64)
    return texts.to_frame().select(place).to_series().to_numpy()
