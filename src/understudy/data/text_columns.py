"""Reading the texts of a file that has types: those that are numbers, dates and truth values.

They are read as those of a CSV file, but for whole numbers: whoever stored them as text beside
columns of numbers meant labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import islice

import polars as pl

from understudy.data.csv_files import CsvOptions, found_columns
from understudy.data.date_format import DateFormat
from understudy.data.dialect import detect_decimal
from understudy.data.format_search import Found, Search, doubts_in_words
from understudy.data.formats import ColumnFormat, TextFormat
from understudy.data.number_format import NumberFormat
from understudy.data.typed_dialect import TypedDialect

_SAMPLE = 200
_MOMENT = "%Y-%m-%d %H:%M:%S"

Mixes = Callable[[str], bool]
"""Says of a column of text whether numbers or dates in it may have been stored as such."""


def never(name: str) -> bool:  # noqa: ARG001  # of any column
    """Return that no column has numbers beside texts, as in files whose columns have one type."""
    return False


def read_texts(
    frame: pl.DataFrame, options: CsvOptions, mixes: Mixes = never
) -> tuple[pl.DataFrame, TypedDialect]:
    """Return a table with its texts as the values that they are, and how they were written.

    Parameters
    ----------
    frame : DataFrame
        The table as it is stored.
    options : CsvOptions
        What a user says about texts.
    mixes : callable
        Says of a column of text whether numbers or dates in it may have been stored as such, beside
        texts that stand for a missing value.

    Examples
    --------
    >>> paid = pl.DataFrame({"paid": ["$12.50", "N/A"], "age": [31, 45]})
    >>> found, written = read_texts(paid, CsvOptions())
    >>> found["paid"].to_list(), written.in_words
    ([12.5, None], {'paid': "money: '$' before, 2 decimals; missing is 'N/A'"})
    """
    found, dialect = find_texts([frame], frame.schema, options, mixes)
    return frame.with_columns(one.values.alias(name) for name, one in found.items()), dialect


def find_texts(
    parts: Iterable[pl.DataFrame],
    schema: Mapping[str, pl.DataType],
    options: CsvOptions,
    mixes: Mixes = never,
    *,
    with_values: bool = True,
) -> tuple[dict[str, Found], TypedDialect]:
    """Return the columns of text that hold more than plain text, and how a table is written.

    Each part of the table has some columns whole. Values may be left out for their size.
    """
    all_texts = all(kind == pl.String for kind in schema.values())
    found: dict[str, Found] = {}
    for part in parts:
        texts = [column for column in part if column.dtype == pl.String]
        search = _search(options, texts)
        looked_at = found_columns(texts, search, {})
        only_texts = all_texts and not any(
            _is_mixed(one.format, mixes, name) for name, one in looked_at.items()
        )
        for name, one in looked_at.items():
            kept = _as_meant(one, part[name], search, only_texts=only_texts, mixes=mixes)
            if not _is_plain_text(kept.format):
                found[name] = kept if with_values else replace(kept, values=kept.values.clear())
    mixed = tuple(name for name, one in found.items() if _is_mixed(one.format, mixes, name))
    for name in mixed:
        found[name] = replace(found[name], values=_as_cells(found[name].values))
    formats = {name: one.format for name, one in found.items()}
    return found, TypedDialect(formats, mixed, notices=(*doubts_in_words(found),))


def _search(options: CsvOptions, texts: list[pl.Series]) -> Search:
    some = (column.drop_nulls().head(_SAMPLE).to_list() for column in texts)
    decimal = options.decimal or detect_decimal([*islice(some, _SAMPLE)], ";")
    known = getattr(options.like, "formats", {})
    return Search(decimal, options.missing_words, options.dates, known)


def _as_meant(
    found: Found, column: pl.Series, search: Search, *, only_texts: bool, mixes: Mixes
) -> Found:
    """Return a column as text, if it holds whole numbers that were stored as text on purpose."""
    values = found.format.values
    if not isinstance(values, NumberFormat) or not values.whole or not values.plain:
        return found
    known = search.like.get(column.name)
    if known is None:
        meant = only_texts or _is_mixed(found.format, mixes, column.name)
    else:
        meant = not isinstance(known.values, TextFormat)
    return found if meant else search.as_text(column)


def _is_mixed(form: ColumnFormat, mixes: Mixes, name: str) -> bool:
    """Return whether numbers or dates are stored as such, beside words for a missing value."""
    if not any(form.missing):
        return False
    held = form.values
    plain = (isinstance(held, NumberFormat) and held.undressed) or (
        isinstance(held, DateFormat) and held.pattern == _MOMENT and not held.zone
    )
    return plain and mixes(name)


def _is_plain_text(form: ColumnFormat) -> bool:
    return isinstance(form.values, TextFormat) and not any(form.missing) and not form.missing_quoted


def _as_cells(values: pl.Series) -> pl.Series:
    """Return moments that are all midnights as dates."""
    if values.dtype != pl.Datetime or not (values.dt.truncate("1d") == values).all():
        return values
    return values.cast(pl.Date)
