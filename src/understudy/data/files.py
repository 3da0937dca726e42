"""Tables in files: reading CSV and Parquet, and writing them whole or not at all."""

from __future__ import annotations

import codecs
import csv
import io
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import polars as pl
import pyarrow as pa

from understudy.data.dialect import (
    FALLBACK_ENCODING,
    Dialect,
    has_blank_lines,
    is_parquet,
    plain_names,
    resolve_dialect,
    with_dates,
)
from understudy.data.formula_cells import Guard
from understudy.data.frames import Backend, Frame, to_arrow, to_backend
from understudy.data.memory import check_memory
from understudy.data.partial import note_finished, under_way
from understudy.errors import AlreadyThereError, DataError
from understudy.showing import reason
from understudy.stopping import whole

ROWS_FOR_TYPES = 10_000
"""Rows of a CSV file that decide the types of its columns, if all others agree with them."""

_COLUMN = re.compile(r"at column '(.*?)' \(column number")

SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".pq")


def suffix_like(path: Path) -> str:
    """Return the ending of a table that is to be written as another one is.

    Examples
    --------
    >>> suffix_like(Path("data.TSV")), suffix_like(Path("adult.data"))
    ('.tsv', '.csv')
    """
    if path.is_file() and is_parquet(path):
        return ".parquet"
    return path.suffix.lower() if path.suffix.lower() in SUFFIXES else ".csv"


def read(  # one keyword for each thing that can be detected
    path: str | Path,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] = (),
    backend: Backend = "polars",
) -> Frame:
    """Read a table from a CSV or Parquet file.

    Parameters
    ----------
    path : path
        The file. Parquet is recognised by its content; everything else is read as CSV.
    delimiter, decimal, encoding : str, optional
        How the CSV is written; detected where not given.
    missing : sequence of str
        Texts that stand for a missing value, beside the empty field, ``?`` and ``NA``.
    backend : {"polars", "pandas", "pyarrow"}
        The kind of frame to return.

    Raises
    ------
    DataError
        If there is no table in the file; the message says what was found instead.
    """
    path = Path(path)
    parquet = is_parquet(path)  # raises if there is no such file
    check_memory(path)
    if parquet:
        return to_backend(_read_parquet(path), backend)
    dialect, tokens = resolve_dialect(
        path, delimiter=delimiter, decimal=decimal, encoding=encoding, missing=missing
    )
    if encoding is None and dialect.encoding == FALLBACK_ENCODING:
        logging.getLogger("understudy").warning(
            "%s is not in UTF-8 and was read as %s. If letters look wrong, give its encoding.",
            path,
            FALLBACK_ENCODING,
        )
    return to_backend(_read_csv(path, dialect, tokens), backend)


def _read_parquet(path: Path) -> pl.DataFrame:
    try:
        with silent_panics():
            frame = pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise DataError(f"{path} is a damaged Parquet file ({reason(error)}).") from error
    return _with_rows(frame, path)


@contextmanager
def silent_panics() -> Iterator[None]:
    """Keep polars from writing to the terminal where it panics, with what it was reading."""
    sys.stderr.flush()
    try:
        before = os.dup(2)
    except OSError:  # there is no such stream
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nowhere)


def _read_csv(path: Path, dialect: Dialect, tokens: Sequence[str]) -> pl.DataFrame:
    source: Path | bytes = path
    if dialect.encoding != "utf-8":
        try:
            source = path.read_text(encoding=dialect.encoding).encode("utf-8")
        except (UnicodeError, LookupError) as error:
            raise DataError(
                f"{path} cannot be read as {dialect.encoding}: {error}. Give its encoding."
            ) from error
    options = dialect.polars_options(tokens)
    try:
        if dialect.padded:
            source = _tidied(source, dialect)
        frame = _parsed(source, options)
        if not dialect.padded and _may_have_blank_lines(frame, source):
            frame = _parsed(_tidied(source, dialect), options)
        frame = with_dates(frame, dialect.texts)
    except pl.exceptions.NoDataError:
        raise DataError(f"{path} has a header but no rows.") from None
    except pl.exceptions.PolarsError as error:
        raise DataError(
            f"{path} cannot be read as a table with {dialect.delimiter!r} between its fields"
            f"{_why(error)}."
        ) from error
    frame.columns = plain_names(frame.columns)
    return _with_rows(frame, path)


def _why(error: pl.exceptions.PolarsError) -> str:
    """Return why polars cannot read a CSV file, without the fields that it quotes."""
    text = str(error)
    if "could not parse" in text and (column := _COLUMN.search(text)):
        return f": column {column[1]!r} has a value that cannot be read as the others are"
    if "found more fields" in text:
        return ": a row has more fields than the header"
    if "CSV malformed" in text or "quote" in text:
        return ": a quotation mark is not closed, or stands inside a field"
    return f" ({reason(error)})"


def _parsed(source: Path | bytes, options: dict[str, Any]) -> pl.DataFrame:
    """Return a CSV with the types that all of its rows allow, as `options` ask for.

    Deciding them takes a pass over the file of its own. It is saved where the types of the first
    rows turn out to fit the others; a column without any value there could become anything.
    """
    try:
        frame = pl.read_csv(source, **(options | {"infer_schema_length": ROWS_FOR_TYPES}))
    except pl.exceptions.PolarsError:
        pass
    else:
        if not has_empty_column(frame.head(ROWS_FOR_TYPES)):
            return frame
    return pl.read_csv(source, **options)


def has_empty_column(first: pl.DataFrame) -> bool:
    """Return whether a column has no value in the first rows, so that its type is not known."""
    return any(column.null_count() == len(column) for column in first)


def _may_have_blank_lines(frame: pl.DataFrame, source: Path | bytes) -> bool:
    """Return whether rows without a value may be blank lines, as at the end of some files."""
    if frame.width < 2 or not frame.select(pl.all_horizontal(pl.all().is_null()).any()).item():
        return False
    with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
        return has_blank_lines(file)


def _tidied(source: Path | bytes, dialect: Dialect) -> bytes:
    """Return a CSV without blank lines, and without padding, which would make numbers text."""
    content = source if isinstance(source, bytes) else source.read_bytes()
    text = io.StringIO(content.decode("utf-8-sig"), newline="")
    # The csv module, unlike polars, takes `1, "a, b"` for two fields.
    reader = csv.reader(text, delimiter=dialect.delimiter, skipinitialspace=dialect.padded)
    rows = ([field.strip() for field in row] if dialect.padded else row for row in reader if row)
    tidied = io.StringIO(newline="")
    try:
        csv.writer(tidied, delimiter=dialect.delimiter).writerows(rows)
    except csv.Error as error:
        raise DataError(f"The file cannot be read as CSV: {error}.") from error
    return tidied.getvalue().encode()


def _with_rows(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    if frame.height == 0:
        raise DataError(f"{path} has a header but no rows.")
    return frame


def write(
    frame: Frame,
    path: str | Path,
    *,
    overwrite: bool = False,
    dialect: Dialect | None = None,
    safe_cells: bool = False,
) -> Path:
    """Write a table to a CSV or Parquet file, whole or not at all.

    The rows go to a temporary file beside `path`, which takes its name only when it is complete.

    Parameters
    ----------
    frame : frame
        A pandas or polars DataFrame or a pyarrow Table.
    path : path
        The file; its ending (.csv, .tsv, .txt, .parquet) says what to write.
    overwrite : bool
        Whether an existing file may be replaced.
    dialect : Dialect, optional
        How to write CSV, for instance as `detect` found the input to be written.
    safe_cells : bool
        Whether to put an apostrophe before each text of a CSV file that a spreadsheet would run as
        a formula. Without it, a warning says in which columns there are such texts.
    """
    table = to_arrow(frame)
    return write_tables(
        lambda sink: sink(table),
        path,
        overwrite=overwrite,
        dialect=dialect,
        safe_cells=safe_cells,
    )


Sink = Callable[[pa.Table], None]


def write_tables(
    produce: Callable[[Sink], object],
    path: str | Path,
    *,
    overwrite: bool = False,
    dialect: Dialect | None = None,
    safe_cells: bool = False,
) -> Path:
    """Write a table that comes in pieces: `produce` is called with a sink and feeds it.

    The pieces have the same columns and types. The result is the same as from one piece.
    """
    path = Path(path)
    suffix = check_target(path, overwrite=overwrite)
    with _replacement(path, overwrite=overwrite) as temporary:
        if suffix in (".parquet", ".pq"):
            _write_parquet(produce, temporary)
        else:
            delimiter = "\t" if suffix == ".tsv" else ","
            guard = Guard(safe=safe_cells)
            _write_csv(
                lambda sink: produce(guard.before(sink)),
                temporary,
                dialect or Dialect(delimiter=delimiter),
            )
            guard.warn(path.name)
    return path


def _write_parquet(produce: Callable[[Sink], object], temporary: Path) -> None:
    import pyarrow.parquet as pq

    writers: list[pq.ParquetWriter] = []

    def sink(table: pa.Table) -> None:
        if not writers:
            writers.append(pq.ParquetWriter(temporary, table.schema))
        writers[0].write_table(table)

    try:
        produce(sink)
    finally:
        for writer in writers:
            writer.close()


def _write_csv(produce: Callable[[Sink], object], temporary: Path, dialect: Dialect) -> None:
    headed = False
    encoder = codecs.getincrementalencoder(dialect.encoding)()  # one byte order mark in all

    def sink(table: pa.Table) -> None:
        nonlocal headed
        frame = cast("pl.DataFrame", pl.from_arrow(table))
        options: dict[str, Any] = {
            "include_header": not headed,
            "separator": dialect.delimiter,
            "decimal_comma": dialect.decimal == ",",
        }
        headed = True
        try:
            if dialect.encoding == "utf-8":
                frame.write_csv(file, **options)
            else:
                file.write(encoder.encode(frame.write_csv(**options)))
        except pl.exceptions.PolarsError as error:
            raise DataError(
                f"The table cannot be written as CSV ({reason(error)}). Write a .parquet file "
                "instead."
            ) from error
        except UnicodeEncodeError as error:
            character = error.object[error.start]
            raise DataError(
                f"The table holds {character!r}, which {dialect.encoding} cannot write. "
                "Choose another encoding, such as utf-8."
            ) from error

    with temporary.open("wb") as file:
        produce(sink)


def write_bytes(content: bytes, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a file whole or not at all; an existing one is kept unless `overwrite`."""
    path = Path(path)
    check_writable(path, overwrite=overwrite)
    with _replacement(path, overwrite=overwrite) as temporary:
        temporary.write_bytes(content)
    return path


def check_target(path: Path, *, overwrite: bool) -> str:
    """Raise unless a table can be written to `path`; return its ending."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError(
            f"{path} should end in one of {', '.join(SUFFIXES)}: the ending says what to write."
        )
    check_writable(path, overwrite=overwrite)
    return suffix


def check_writable(path: Path, *, overwrite: bool) -> None:
    """Raise unless a file can be written to `path`, before any work is done for it."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; give the name of a file in it.")
    if path.exists() and not overwrite:
        raise AlreadyThereError(path)
    if not path.parent.is_dir():
        raise DataError(f"There is no folder {path.parent}; create it first.")
    if not os.access(path.parent, os.W_OK):
        raise DataError(f"The folder {path.parent} cannot be written to.")


@contextmanager
def _replacement(path: Path, *, overwrite: bool) -> Iterator[Path]:
    """Give a temporary file beside `path` that takes its place at the end, or goes on an error."""
    try:
        with under_way(path) as temporary:
            # It is made as a private file; the finished one has the usual permissions.
            mask = os.umask(0)
            os.umask(mask)
            temporary.chmod(0o666 & ~mask)
            yield temporary
            check_writable(path, overwrite=overwrite)
            with whole():
                temporary.replace(path)
                note_finished(path)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error
