"""Texts of a CSV file that are dates or times, told from a few of them before all are parsed.

Polars can look for dates while it reads, but tries many forms on every text of thousands of rows.
Most columns of text are settled by their first value; only the others are parsed, and each
different text once.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from understudy.data.values import to_numpy

if TYPE_CHECKING:
    from collections.abc import Collection

    from polars._typing import PolarsDataType

_SAMPLE = 100
_DIGIT = re.compile(r"\d")


def with_dates(frame: pl.DataFrame, texts: Collection[str] = ()) -> pl.DataFrame:
    """Return a table with columns of text as dates or times where all of their values are such.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    texts : collection of str
        Columns that stay text.

    Examples
    --------
    >>> import polars as pl
    >>> with_dates(pl.DataFrame({"day": ["31/12/2023", None], "size": ["S", "M"]})).dtypes
    [Date, String]
    """
    found = {
        column.name: _as_dates(column)
        for column in frame
        if column.dtype == pl.String and column.name not in texts
    }
    return frame.with_columns(column for column in found.values() if column is not None)


def date_type(texts: pl.Series) -> PolarsDataType | None:
    """Return the type of dates or times that the first of some texts have, None if they are others.

    Examples
    --------
    >>> import polars as pl
    >>> date_type(pl.Series(["2023-12-31 10:30", None])), date_type(pl.Series(["<=50K"]))
    (Datetime(time_unit='us', time_zone=None), None)
    """
    first = texts.head(_SAMPLE).drop_nulls()
    if not len(first):
        first = texts.drop_nulls().head(_SAMPLE)
    if not len(first) or not _DIGIT.search(first[0]):
        return None
    parsed = _parsed(first.unique())
    return None if parsed is None else parsed.dtype


def are_dates(distinct: pl.Series, kind: PolarsDataType) -> bool:
    """Return whether all of some texts are dates or times of a type, and of one form."""
    return _parsed(distinct.drop_nulls(), kind) is not None


def _as_dates(column: pl.Series) -> pl.Series | None:
    kind = date_type(column)
    if kind is None:
        return None
    encoded = column.to_arrow().dictionary_encode()
    parsed = _parsed(pl.Series(pl.from_arrow(encoded.dictionary)), kind)
    if parsed is None:
        return None
    # The place of a gap is one past the last text.
    places = to_numpy(encoded.indices, missing=len(parsed)).astype(np.int64)
    return parsed.extend_constant(None, 1).gather(places).alias(column.name)


def _parsed(texts: pl.Series, kind: PolarsDataType | None = None) -> pl.Series | None:
    """Return different texts as dates or times, as polars reads them from a CSV file."""
    content = pl.DataFrame([texts.alias("x")]).write_csv(quote_style="always").encode()
    try:
        read = pl.read_csv(
            io.BytesIO(content),
            try_parse_dates=True,
            infer_schema_length=None if kind is None else 0,
            schema_overrides=None if kind is None else {"x": kind},
        )["x"]
    except pl.exceptions.PolarsError:
        return None  # of several forms
    return read if read.dtype.is_temporal() and not read.null_count() else None
