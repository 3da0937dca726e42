"""Reading a CSV file: all fields as text first, then each column as what all of its texts are."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import polars as pl

from understudy.arguments import check_choice
from understudy.data.csv_shape import shape_of, tidied, with_quotes
from understudy.data.date_format import DateFormat, DayOrder
from understudy.data.dialect import (
    OTHER_DELIMITERS,
    ROW,
    Dialect,
    has_blank_lines,
    plain_names,
    resolve_dialect,
)
from understudy.data.format_search import Found, Search, doubts_in_words
from understudy.data.formats import ColumnFormat, TextFormat
from understudy.data.number_format import NumberFormat
from understudy.errors import DataError
from understudy.showing import reason
from understudy.wording import quoted

_MARK = "\ufeff"
LARGE_FILE = 2**23
"""Bytes from which on the columns of a file that polars can read directly are looked for."""
ROWS_OF_SAMPLE = 500
ROWS_FOR_THREADS = 10_000
_MANY_DIGITS, _MOST = r"\.\d{6}", 0.99


@dataclass(frozen=True)
class CsvTable:
    """A table that was read from a CSV file, and how the file is written."""

    frame: pl.DataFrame
    dialect: Dialect


@dataclass(frozen=True)
class CsvOptions:
    """What a user says about a CSV file; the rest is detected.

    Parameters
    ----------
    delimiter, decimal, encoding : str, optional
        How the file is written.
    missing : sequence of str, optional
        The texts that stand for a missing value beside the empty field. Without it, the usual
        words are recognised.
    dates : {"dmy", "mdy"}, optional
        Whether the day or the month comes first in dates such as 01/02/2020.
    like : Dialect, optional
        How another file is written: its formats are tried first.
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: Sequence[str] | None = None
    dates: DayOrder | None = None
    like: object = None

    def __post_init__(self) -> None:
        if self.dates is not None:
            check_choice("dates", self.dates, get_args(DayOrder))

    def dialect(self, source: Path | bytes, name: Path | None = None) -> Dialect:
        """Return a file's dialect by its beginning, without the formats of its columns."""
        return resolve_dialect(
            source,
            name=name,
            delimiter=self.delimiter,
            decimal=self.decimal,
            encoding=self.encoding,
        )

    def search(self, dialect: Dialect) -> Search:
        """Return what finds the formats of columns."""
        known = getattr(self.like, "formats", {})
        return Search(dialect.decimal, self.missing_words, self.dates, known)

    @property
    def missing_words(self) -> tuple[str, ...] | None:
        """The texts that stand for a missing value, if a user said which."""
        missing = (self.missing,) if isinstance(self.missing, str) else self.missing
        return None if missing is None else tuple(word for word in missing if word)


def read_csv(source: Path | bytes, options: CsvOptions, name: Path | None = None) -> CsvTable:
    """Return the table in a CSV file, or in the bytes of one, and how it is written.

    Parameters
    ----------
    source : path or bytes
        The file, or its content.
    options : CsvOptions
        What is known of it.
    name : path, optional
        What it is called in messages; needed for bytes.
    """
    path = source if isinstance(source, Path) else name or Path("the table")
    dialect = options.dialect(source, path)
    content = _in_utf8(source, dialect, path)
    search = options.search(dialect)
    direct = direct_columns(content, dialect, search)
    try:
        texts, direct = _read_fields(content, dialect, direct)
    except pl.exceptions.NoDataError:
        raise DataError(f"{path} has a header but no rows.") from None
    except pl.exceptions.PolarsError as error:
        raise DataError(unreadable(path, dialect, error)) from error
    shape = shape_of(content, dialect.delimiter, texts.width, padded=dialect.padded)
    rows = texts.height
    texts = _without_blank_lines(texts, content, dialect, shape.ending)
    blank = texts.height < rows - max(shape.ending - 1, 0)
    if texts.height == 0:
        raise DataError(f"{path} has a header but no rows.")
    found = found_columns(texts, search, direct)
    quotes = dict(zip(texts.columns, shape.quotes, strict=True))
    forms = {name: with_quotes(one.format, quotes[name]) for name, one in found.items()}
    notices = (*unnamed_in_words(dialect), *doubts_in_words(found))
    dialect = replace(
        dialect,
        newline=dialect.newline if dialect.newline == "\r" else shape.newline,
        ending=shape.ending,
        header_quoted=shape.header_quoted,
        formats=forms,
        notices=(
            *header_in_words(forms),
            *delimiter_in_words(texts),
            *notices,
            *shape.in_words(forms, blank=blank),
        ),
    )
    frame = pl.DataFrame([one.values.alias(name) for name, one in found.items()])
    return CsvTable(frame, dialect)


def unnamed_in_words(dialect: Dialect) -> Iterator[str]:
    """Yield what was done with columns without a name, if there are any."""
    first = [name for name in dialect.unnamed if name.startswith(ROW)]
    others = [name for name in dialect.unnamed if name not in first]
    if first:
        yield (
            f"The first column has no name, like row numbers that R or pandas wrote along. It is "
            f"called {first[0]!r} here, and written without a name again."
        )
    if others:
        yield (
            f"Columns without a name are called {quoted(others)} here, and written without one "
            "again. If the header is further down, give its line as `header_row`."
        )


def header_in_words(forms: Mapping[str, ColumnFormat]) -> Iterator[str]:
    """Yield that the header looks like a record, without saying what is in it, if it does.

    All columns of numbers, dates and truth values then have names of their own kind, and some name
    is no whole number, as years are that stand above columns.
    """
    typed = {name: form for name, form in forms.items() if not isinstance(form.values, TextFormat)}
    if not typed or any(form.parse(pl.Series([name]))[0] is None for name, form in typed.items()):
        return
    if any(not name.strip().isdigit() for name in typed):
        yield (
            "The first line looks like a record, and is taken for the names of columns, which are "
            "shown in messages and in the release. If the file has no names, add a line of them."
        )


def delimiter_in_words(texts: pl.DataFrame) -> Iterator[str]:
    """Yield the sign that may cut a single column into several, if there is one."""
    if texts.width > 1:
        return
    lines = texts.to_series().head(ROWS_OF_SAMPLE).drop_nulls()
    for sign in OTHER_DELIMITERS:
        count = lines.name.count(sign)
        if count and (lines.str.count_matches(sign, literal=True) == count).all():
            yield (
                f"All is in one column, which {sign!r} would cut into {count + 1} everywhere. If "
                "that stands between fields, give it as `delimiter`."
            )
            return


def unreadable(path: Path, dialect: Dialect, error: pl.exceptions.PolarsError) -> str:
    """Return why polars cannot read a CSV file, in a sentence without the fields that it quotes."""
    told = f"{path} cannot be read as a table with {dialect.delimiter!r} between its fields"
    return f"{told}{_why(error)}."


def _why(error: pl.exceptions.PolarsError) -> str:
    text = str(error)
    if "found more fields" in text:
        return (
            ": a row has more fields than the header. If a title or a comment stands above the "
            "header, give the header's line as `header_row`"
        )
    if any(word in text for word in ("CSV malformed", "quote", "not properly escaped")):
        return ": a quotation mark is not closed, or stands inside a field"
    return f" ({reason(error)})"


def direct_columns(
    source: Path | bytes, dialect: Dialect, search: Search
) -> dict[str, ColumnFormat]:
    """Return columns of a large file whose numbers polars may read without their texts.

    They have so many digits that decimals with zeros at the end, or whole numbers, would be seen
    in the first rows. Reading them as texts first would take twice as long.
    """
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    if size < LARGE_FILE or dialect.padded or dialect.decimal != "." or search.missing:
        return {}
    try:
        first = _read_texts(source, dialect, n_rows=ROWS_OF_SAMPLE)
    except pl.exceptions.PolarsError:
        return {}
    long = [one for one in first if '"' not in one.name and _has_many_digits(one)]
    # Numbers further down may have more decimals than those at the beginning.
    plain = ColumnFormat(NumberFormat())
    return {
        name: plain
        for name, one in found_columns(long, search, {}).items()
        if isinstance(one.format.values, NumberFormat) and not one.doubts
        if replace(one.format, values=replace(one.format.values, digits=0, significant=0)) == plain
    }


def _has_many_digits(texts: pl.Series) -> bool:
    known = texts.drop_nulls()
    return len(known) > 0 and known.str.contains(_MANY_DIGITS).sum() >= _MOST * len(known)


def found_columns(
    texts: Iterable[pl.Series], search: Search, direct: Mapping[str, ColumnFormat]
) -> dict[str, Found]:
    """Return how columns are written, and their values, from all of their texts.

    Those that were read as numbers are such. Where day and month cannot be told apart, they come
    in the order of the file's other dates.
    """
    columns = list(texts)

    def find(column: pl.Series) -> Found:
        known = direct.get(column.name)
        return search.column(column) if known is None else Found(known, column)

    names = [one.name for one in columns]
    if columns and len(columns[0]) < ROWS_FOR_THREADS:
        found = dict(zip(names, map(find, columns), strict=True))
    else:
        with ThreadPoolExecutor() as pool:
            found = dict(zip(names, pool.map(find, columns), strict=True))
    orders: set[DayOrder] = {
        order
        for one in found.values()
        if isinstance(one.format.values, DateFormat) and "order" not in one.doubts
        if (order := one.format.values.order)
    }
    if len(orders) == 1:
        same = replace(search, dates=orders.pop())
        unsure = [one for one in columns if "order" in found[one.name].doubts]
        found |= {one.name: same.column(one) for one in unsure}
    return found


def _in_utf8(source: Path | bytes, dialect: Dialect, path: Path) -> Path | bytes:
    """Return a file or its content in UTF-8, with line ends that polars knows."""
    if dialect.encoding == "utf-8" and dialect.newline != "\r":
        return source
    try:
        content = source if isinstance(source, bytes) else source.read_bytes()
        text = content.decode(dialect.encoding).removeprefix(_MARK)
    except UnicodeError as error:
        raise DataError(
            f"{path} cannot be read as {dialect.encoding}: {error}. Give its `encoding`."
        ) from error
    if dialect.newline == "\r":
        text = text.replace("\r", "\n")
    return text.encode()


def _read_fields(
    source: Path | bytes, dialect: Dialect, direct: dict[str, ColumnFormat]
) -> tuple[pl.DataFrame, dict[str, ColumnFormat]]:
    """Return the fields of a file, and which columns of it are numbers and not texts."""
    if direct:
        options = dialect.texts_of_polars | {"schema_overrides": dict.fromkeys(direct, pl.Float64)}
        try:
            fields = pl.read_csv(source, **options)
        except pl.exceptions.PolarsError:  # a late text
            pass
        else:
            fields.columns = plain_names(fields.columns, dialect.unnamed)
            if not any(fields[name].is_nan().any() for name in direct):
                return fields, direct
    return _read_texts(source, dialect), {}


def _read_texts(
    source: Path | bytes, dialect: Dialect, *, n_rows: int | None = None
) -> pl.DataFrame:
    """Return all fields of a CSV file as texts; empty ones are null, empty quotes are not."""
    if dialect.padded:
        source = tidied(_content(source), dialect.delimiter, padded=True)
    texts = pl.read_csv(source, n_rows=n_rows, **dialect.texts_of_polars)
    texts.columns = plain_names(texts.columns, dialect.unnamed)
    if dialect.padded:
        texts.columns = [name.strip() for name in texts.columns]
        texts = texts.with_columns(pl.all().str.strip_chars())
    return texts


def _without_blank_lines(
    texts: pl.DataFrame, source: Path | bytes, dialect: Dialect, ending: int
) -> pl.DataFrame:
    """Return records without the blank lines between them and at the end, which are none."""
    if texts.width < 2:
        return texts
    if ending > 1:
        after = texts.tail(ending - 1)
        if after.select(pl.all_horizontal(pl.all().is_null()).all()).item():
            texts = texts.head(texts.height - after.height)
    if not texts.select(pl.all_horizontal(pl.all().is_null()).any()).item():
        return texts
    with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
        if not has_blank_lines(file):
            return texts
    return _read_texts(tidied(_content(source), dialect.delimiter), dialect)


def _content(source: Path | bytes) -> bytes:
    return source if isinstance(source, bytes) else source.read_bytes()
