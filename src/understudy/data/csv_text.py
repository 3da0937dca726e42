"""CSV text: rows as a dialect writes them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, BinaryIO

import polars as pl

from understudy.data.dialect import Dialect
from understudy.data.formats import ColumnFormat, as_text
from understudy.data.number_format import NumberFormat
from understudy.errors import DataError


def put_rows(
    frame: pl.DataFrame,
    dialect: Dialect,
    file: BinaryIO,
    encode: Callable[[str], bytes],
    *,
    header: bool,
) -> None:
    """Write a table as CSV, with its header or without.

    Polars writes what needs quotes only where CSV does; the rest is put together here.
    """
    forms = [dialect.formats.get(name) or ColumnFormat() for name in frame.columns]
    quotes = any(form.quoted or form.missing_quoted for form in forms)
    if quotes or dialect.padded or dialect.header_quoted or dialect.newline == "\r":
        file.write(encode(_rows(frame, dialect, header=header)))
        return
    if header and _lacks_names(frame, dialect):
        file.write(encode(_header(frame, dialect) + dialect.newline))
        header = False
    ready = pl.DataFrame([_for_polars(values, dialect) for values in frame])
    options: dict[str, Any] = {
        "include_header": header,
        "separator": dialect.delimiter,
        "decimal_comma": dialect.decimal == ",",
        "line_terminator": dialect.newline,
    }
    if dialect.encoding == "utf-8":
        ready.write_csv(file, **options)
    else:
        file.write(encode(ready.write_csv(**options)))


def _rows(frame: pl.DataFrame, dialect: Dialect, *, header: bool) -> str:
    lines = [_joined(_fields(frame, dialect), dialect), ""] if frame.height else [""]
    if header:
        lines.insert(0, _header(frame, dialect))
    return dialect.newline.join(lines)


def _header(frame: pl.DataFrame, dialect: Dialect) -> str:
    names = pl.Series("name", frame.columns, pl.String).to_frame()
    quoted = names.select(_quoted(pl.col("name"), dialect, always=dialect.header_quoted))
    fields = quoted.to_series().to_list()
    for place, name in enumerate(frame.columns):
        if name in dialect.unnamed:
            fields[place] = '""' if dialect.unnamed_quoted and not place else ""
    return _separator(dialect).join(fields)


def _lacks_names(frame: pl.DataFrame, dialect: Dialect) -> bool:
    """Return whether columns had no name in the file, and are to have none again."""
    return any(name in dialect.unnamed for name in frame.columns)


def _for_polars(values: pl.Series, dialect: Dialect) -> pl.Series:
    """Return a column as polars writes it in the right way: mostly as it is, else as text."""
    form = dialect.formats.get(values.name)
    if form is None:
        return values
    # Polars would write more decimals than the original has, or exponents.
    anew = isinstance(form.values, NumberFormat) and form.values.exceeded(values)
    if not anew and form.plain(dialect.decimal) and form.dtype == values.dtype:
        return values
    return form.render(values).alias(values.name)


def _separator(dialect: Dialect) -> str:
    return dialect.delimiter + " " * dialect.padded


def _joined(fields: pl.DataFrame, dialect: Dialect) -> str:
    row = pl.concat_str(pl.all(), separator=_separator(dialect))
    return str(fields.select(row.str.join(dialect.newline)).item())


def _fields(frame: pl.DataFrame, dialect: Dialect) -> pl.DataFrame:
    """Return the fields of a table as they stand in a file."""
    return pl.DataFrame(
        [_column(column, dialect.formats.get(column.name), dialect) for column in frame]
    )


def _column(values: pl.Series, form: ColumnFormat | None, dialect: Dialect) -> pl.Series:
    if values.dtype.is_nested() or values.dtype in (pl.Object, pl.Binary):
        raise DataError(
            f"The table cannot be written as CSV: column {values.name!r} holds {values.dtype}. "
            "Write a .parquet file instead."
        )
    if form is None:
        form = ColumnFormat()
        if values.dtype.is_float() and dialect.decimal == ",":
            values = as_text(values).str.replace(".", ",", literal=True)
    present = form.texts(values)
    text = pl.col("text")
    field = _quoted(text, dialect, always=form.quoted)
    gap = _quoted(pl.lit(form.missing[0]), dialect, always=form.missing_quoted, empty=False)
    frame = present.to_frame("text").select(
        pl.when(text.is_null()).then(gap).otherwise(field).alias(values.name)
    )
    return frame.to_series()


def _quoted(text: pl.Expr, dialect: Dialect, *, always: bool, empty: bool = True) -> pl.Expr:
    """Return texts in quotes, where they need them or always; an `empty` text needs them."""
    inside = pl.lit('"') + text.str.replace_all('"', '""', literal=True) + pl.lit('"')
    if always:
        return inside
    needed = text.str.contains("[" + re.escape(f'{dialect.delimiter}"') + "\r\n]")
    if empty:
        needed |= text == ""
    if dialect.padded:
        needed |= text.str.contains(r"^\s|\s$")
    return pl.when(needed).then(inside).otherwise(text)
