"""Excel workbooks, and those of LibreOffice: one sheet is one table."""

from __future__ import annotations

import datetime as dt
import logging
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import polars as pl
import pyarrow as pa

from understudy.data.dialect import ROW
from understudy.data.frames import check_names
from understudy.data.kinds import Produce, ReadOptions
from understudy.data.kinds.opening import Opened
from understudy.data.typed_dialect import TypedDialect
from understudy.errors import DataError, did_you_mean

MOST_ROWS = 1_048_576
"""Rows of a sheet of Excel, with the header."""

MOST_COLUMNS = 16_384
"""Columns of a sheet of Excel."""

_LARGEST_WHOLE = 2**53
"""Excel has only floating-point numbers: larger whole numbers are written as text."""

_FIRST_YEAR = 1900
_EMPTY_ROWS = 200
"""Rows above the table that are skipped if nothing is in them."""

_CELLS = 50_000_000
"""Cells between the first and the last one; a sheet with more of them must be full of values."""

_NO_ARCHIVE = (
    *(zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError),
    *(NotImplementedError, RuntimeError),
)
"""What Python raises for damaged archives, and for those with a password."""

_CELL = re.compile(rb'<c [^<>]{0,80}?\br="([A-Z]{1,3})([0-9]{1,7})"')
_FORMATS = {pl.Date: "yyyy-mm-dd", pl.Datetime: "yyyy-mm-dd hh:mm:ss", pl.Time: "hh:mm:ss"}


@dataclass(frozen=True)
class Sheet:
    """How a workbook's table is written.

    Parameters
    ----------
    name : str
        What its sheet is called.
    above : int
        The rows above the header.
    unnamed : str
        What the first column is called here, if it has no name in the sheet; empty if it has one.
    """

    name: str
    above: int = 0
    unnamed: str = ""


def read_table(opened: Opened, options: ReadOptions) -> pl.DataFrame:
    """Return the table of one sheet, with dates as dates and whole numbers as such.

    Beside words for missing values, a sheet makes all texts.
    """
    _check_size(opened)
    with _reading(opened) as book:
        sheet = _chosen(book, opened, options, tell=True)
        header = _header_row(book, sheet, opened, options)
        names = _names(book, sheet, header)
        names = _with_first(book, sheet, header, names)
        check_names(list(names.values()))
        loaded = book.load_sheet(
            sheet, header_row=None, skip_rows=header + 1, schema_sample_rows=None
        )
        frame = _with_words(book, sheet, header, loaded.to_polars())
    places = [column.absolute_index for column in loaded.selected_columns]
    found = dict(zip(places, frame, strict=True))
    for place, column in found.items():
        if place not in names and column.null_count() < len(column):
            raise DataError(
                f"{opened.name}: column {place + 1} of the sheet {sheet!r} has values, but no name "
                f"in row {header + 1}. Name it or remove it, or give the row of the header."
            )
    empty = pl.Series([None] * frame.height, dtype=pl.String)
    named = [found.get(place, empty).alias(name) for place, name in names.items()]
    frame = pl.DataFrame(named).filter(~pl.all_horizontal(pl.all().is_null()))
    return pl.DataFrame([_typed(column) for column in frame])


def _with_words(book: Any, sheet: str, header: int, frame: pl.DataFrame) -> pl.DataFrame:  # noqa: ANN401
    """Return a table with columns as texts that hold words such as N/A beside other values.

    The reader would leave these words out.
    """
    gaps = [
        place
        for place, column in enumerate(frame)
        if column.dtype not in (pl.String, pl.Null) and _gaps(column)
    ]
    if not gaps:
        return frame
    texts = book.load_sheet(
        sheet,
        header_row=None,
        skip_rows=header + 1,
        schema_sample_rows=None,
        dtypes=dict.fromkeys((frame.columns[place] for place in gaps), "string"),
    ).to_polars()
    worded = [
        texts.to_series(place).alias(frame.columns[place])
        for place in gaps
        if texts.to_series(place).null_count() < _gaps(frame.to_series(place))
    ]
    return frame.with_columns(worded)


def _gaps(column: pl.Series) -> int:
    not_numbers = int(column.is_nan().sum()) if column.dtype.is_float() else 0
    return column.null_count() + not_numbers


def _with_first(book: Any, sheet: str, header: int, names: dict[int, str]) -> dict[int, str]:  # noqa: ANN401
    """Return the names with one for a first column that lacks it: pandas writes row numbers so."""
    if 0 in names or 1 not in names:
        return names
    first = book.load_sheet(sheet, header_row=None, skip_rows=header + 1, n_rows=1)
    if not any(
        column.absolute_index == 0 and values.null_count() < len(values)
        for column, values in zip(first.selected_columns, first.to_polars(), strict=True)
    ):
        return names
    name = ROW
    while name in names.values():
        name += "_"
    return {0: name, **names}


def mixes(opened: Opened, name: str) -> bool:  # noqa: ARG001  # any column can
    """Return whether a column of text may have cells with numbers."""
    return True


def written_as(opened: Opened, options: ReadOptions) -> Sheet:
    """Return what the sheet is called, for an output that is to be like this file.

    If the row of its header is given, that of the output is the same, so that both are read alike.
    """
    with _reading(opened) as book:
        sheet = _chosen(book, opened, options, tell=False)
        header = _header_row(book, sheet, opened, options)
        named = _names(book, sheet, header)
        added = {*_with_first(book, sheet, header, named).values()} - {*named.values()}
        return Sheet(sheet, (options.header_row or 1) - 1, next(iter(added), ""))


@contextmanager
def _reading(opened: Opened) -> Iterator[Any]:
    """Give a workbook; what goes wrong with it is said without what is in it."""
    import fastexcel

    log = logging.getLogger("fastexcel")
    before = log.level
    log.setLevel(logging.ERROR)  # a column without values is no reason to worry
    try:
        yield fastexcel.read_excel(opened.path)
    except fastexcel.FastExcelError:
        raise DataError(
            f"{opened.name} is a damaged workbook, or it is protected by a password."
        ) from None
    except (pl.exceptions.PolarsError, pa.ArrowException, OSError):
        raise DataError(f"{opened.name} is a damaged workbook.") from None
    finally:
        log.setLevel(before)


def _check_size(opened: Opened) -> None:
    """Raise if a few cells lie so far apart that the sheet between them takes all memory."""
    if not zipfile.is_zipfile(opened.path):
        return
    try:
        with zipfile.ZipFile(opened.path) as archive:
            for name in archive.namelist():
                if not re.fullmatch(r"xl/worksheets/[^/]*\.xml", name):
                    continue
                with archive.open(name) as file:
                    _check_spread(file, opened.name)
    except DataError:
        raise
    except _NO_ARCHIVE:
        raise DataError(f"{opened.name} is a damaged workbook.") from None


def _check_spread(file: Any, name: str) -> None:  # noqa: ANN401  # a file in an archive
    columns: set[bytes] = set()
    cells, last, tail = 0, 0, b""
    while chunk := file.read(2**22):
        chunk = tail + chunk
        found = _CELL.findall(chunk)
        cut = chunk.rfind(b"<c ")
        tail = chunk[cut:] if cut > len(chunk) - 100 and not _CELL.match(chunk, cut) else b""
        columns.update(column for column, _ in found)
        cells += len(found)
        last = max(last, max((int(row) for _, row in found), default=0))
    widest = max((_column_number(column) for column in columns), default=0)
    if last * widest > max(_CELLS, 50 * cells):
        raise DataError(
            f"{name} has cells far apart: {last:,} rows and {widest:,} columns, nearly all empty. "
            "Delete the cells outside the table."
        )


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def _chosen(book: Any, opened: Opened, options: ReadOptions, *, tell: bool) -> str:  # noqa: ANN401
    """Return the sheet that is asked for; if none is, the first one with something in it."""
    names: list[str] = book.sheet_names
    listed = ", ".join(map(repr, names))
    log = logging.getLogger("understudy")
    if options.sheet is not None:
        return _asked_for(names, options.sheet, opened, tell=tell)
    if len(names) == 1:
        return names[0]
    filled = [name for name in names if _width(book, name)]
    if not filled:
        raise DataError(f"{opened.name} has nothing in its sheets.")
    if tell:
        log.warning(
            "%s has %d sheets: %s. %r was read. To read another one, give it as the sheet.",
            opened.name,
            len(names),
            listed,
            filled[0],
        )
    return filled[0]


def _asked_for(names: list[str], asked: str | int, opened: Opened, *, tell: bool) -> str:
    if str(asked) in names:
        return str(asked)
    if str(asked).isdecimal() and 1 <= int(asked) <= len(names):
        return names[int(asked) - 1]
    if len(names) == 1:
        # The original has sheets, and a synthetic table beside it has one of another name.
        if tell:
            logging.getLogger("understudy").warning(
                "%s has no sheet %r, but only one, %r, which was read.",
                opened.name,
                str(asked),
                names[0],
            )
        return names[0]
    raise DataError(
        f"{opened.name} has no sheet {str(asked)!r}; there is {', '.join(map(repr, names))}."
        f"{did_you_mean(str(asked), names)}"
    )


def _width(book: Any, sheet: str) -> int:  # noqa: ANN401
    return len(book.load_sheet(sheet, header_row=None, n_rows=1).available_columns())


def _header_row(book: Any, sheet: str, opened: Opened, options: ReadOptions) -> int:  # noqa: ANN401
    """Return the row of the names, counted from 0."""
    if not _width(book, sheet):
        raise DataError(f"{opened.name} has nothing in its sheet {sheet!r}.")
    if options.header_row is not None:
        if options.header_row < 1:
            raise DataError(f"The row of the header is counted from 1; got {options.header_row}.")
        if not _names(book, sheet, options.header_row - 1):
            raise DataError(
                f"{opened.name} has nothing in row {options.header_row} of its sheet {sheet!r}, "
                "where its header should be."
            )
        return options.header_row - 1
    for row in range(_EMPTY_ROWS):
        if _names(book, sheet, row):
            return row
    raise DataError(
        f"{opened.name} has nothing in the first {_EMPTY_ROWS} rows of its sheet {sheet!r}. Give "
        "the row of its header."
    )


def _names(book: Any, sheet: str, row: int) -> dict[int, str]:  # noqa: ANN401
    """Return what is in a row, by the place of its cell."""
    import fastexcel

    try:
        loaded = book.load_sheet(
            sheet, header_row=None, skip_rows=row, n_rows=1, dtypes="string", schema_sample_rows=1
        )
    except fastexcel.FastExcelError:  # the sheet ends above
        return {}
    frame = loaded.to_polars()
    if not frame.height:
        return {}
    found = zip(loaded.selected_columns, frame.row(0), strict=True)
    return {
        column.absolute_index: str(value).strip()
        for column, value in found
        if value is not None and str(value).strip()
    }


def _typed(column: pl.Series) -> pl.Series:
    """Return a column with the type that its values have: a sheet knows text and floats."""
    if column.dtype == pl.Float64 and _is_whole(column):
        return column.cast(pl.Int64)
    if column.dtype == pl.Datetime:
        days = bool((column.dt.truncate("1d") == column).all())
        return column.cast(pl.Date if days else pl.Datetime("us"))
    return column


def _is_whole(column: pl.Series) -> bool:
    values = column.drop_nulls()
    if not len(values) or not values.is_finite().all():
        return False
    return bool((values == values.round()).all() and (values.abs() <= _LARGEST_WHOLE).all())


def write_table(produce: Produce, path: Path, like: TypedDialect, ending: str) -> None:  # noqa: ARG001
    """Write a table to a sheet of a new workbook; nothing in it is taken for a formula."""
    import xlsxwriter

    tables: list[pa.Table] = []
    produce(tables.append)
    frame = cast("pl.DataFrame", pl.from_arrow(pa.concat_tables(tables)))
    if frame.height >= MOST_ROWS or frame.width > MOST_COLUMNS:
        raise DataError(
            f"A sheet of Excel has at most {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns; the "
            f"table has {frame.height:,} rows and {frame.width:,} columns. Write a .csv or "
            ".parquet file instead."
        )
    options = {
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
        "nan_inf_to_errors": True,
    }
    own = like.own if isinstance(like.own, Sheet) else None
    with xlsxwriter.Workbook(str(path), options) as book:
        # The same table gives the same bytes.
        book.set_properties({"created": dt.datetime(2000, 1, 1)})  # noqa: DTZ001
        sheet = book.add_worksheet(own.name if own else None)
        above = own.above if own else 0
        unnamed = own.unnamed if own else ""
        names = [None if unnamed and name == unnamed else name for name in frame.columns]
        sheet.write_row(above, 0, names, book.add_format({"bold": True}))
        sheet.freeze_panes(above + 1, 0)
        for place, column in enumerate(frame):
            shown = _for_excel(column)
            form = _FORMATS.get(shown.dtype.base_type())
            cells = book.add_format({"num_format": form}) if form else None
            if form:
                sheet.set_column(place, place, len(form) + 2)
            word = like.words.get(column.name)
            values = [word if value is None else value for value in shown.to_list()]
            sheet.write_column(above + 1, place, values, cells)


def _for_excel(column: pl.Series) -> pl.Series:
    """Return a column as Excel can hold it: as text, where it would lose something."""
    kind = column.dtype
    if kind.is_integer() and len(column) and (column.abs().max() or 0) > _LARGEST_WHOLE:  # type: ignore[operator]
        return column.cast(pl.String)
    if isinstance(kind, pl.Decimal):
        return column.cast(pl.Float64)
    if isinstance(kind, pl.Datetime):
        early = (column.dt.year() < _FIRST_YEAR).any()
        finer = (column.dt.truncate("1ms") != column).any()
        zoned = kind.time_zone is not None
        return column.dt.to_string("iso") if early or finer or zoned else column
    if kind == pl.Date and (column.dt.year() < _FIRST_YEAR).any():
        return column.dt.to_string("iso")
    if kind in (pl.Duration, pl.Categorical, pl.Enum) or kind == pl.Null:
        return column.cast(pl.String)
    return column
