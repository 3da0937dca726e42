"""Tables in files: reading CSV and Parquet, and writing them whole or not at all."""

from __future__ import annotations

import codecs
import logging
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import polars as pl
import pyarrow as pa

from understudy.data.csv_files import CsvOptions, read_csv
from understudy.data.csv_text import put_rows
from understudy.data.date_format import DayOrder
from understudy.data.dialect import FALLBACK_ENCODING, Dialect, is_parquet
from understudy.data.frames import Backend, Frame, to_arrow, to_backend
from understudy.errors import AlreadyThereError, DataError

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


def read(  # noqa: PLR0913  # one keyword for each thing that can be detected
    path: str | Path,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
    dates: DayOrder | None = None,
    like: Dialect | None = None,
    backend: Backend = "polars",
) -> Frame:
    """Read a table from a CSV or Parquet file.

    Parameters
    ----------
    path : path
        The file. Parquet is recognised by its content; everything else is read as CSV.
    delimiter, decimal, encoding : str, optional
        How the CSV is written; detected where not given.
    missing : sequence of str, optional
        Texts that stand for a missing value, beside the empty field. If it is not given, the usual
        words such as ``NA``, ``N/A``, ``null`` and ``?`` are recognised, and a message says which.
        If it is empty, only the empty field is missing.
    dates : {"dmy", "mdy"}, optional
        Whether the day or the month comes first in dates such as 01/02/2020, where that cannot be
        told.
    like : Dialect, optional
        How another file is written, such as the original of a synthetic table: its formats are
        tried first.
    backend : {"polars", "pandas", "pyarrow"}
        The kind of frame to return.

    Raises
    ------
    DataError
        If there is no table in the file; the message says what was found instead.
    """
    frame, _ = read_with_dialect(
        path,
        delimiter=delimiter,
        decimal=decimal,
        encoding=encoding,
        missing=missing,
        dates=dates,
        like=like,
    )
    return to_backend(frame, backend)


def read_with_dialect(
    path: str | Path,
    *,
    quietly: bool = False,
    **options: Any,  # noqa: ANN401  # as in `read`
) -> tuple[pl.DataFrame, Dialect | None]:
    """Return the table in a file, and how it is written if it is CSV.

    What a person should know about how it was read is told, unless `quietly`.
    """
    path = Path(path)
    if is_parquet(path):
        return _read_parquet(path), None
    table = read_csv(path, CsvOptions(**options))
    if not quietly:
        tell_notices(path, table.dialect, given=options.get("encoding") is not None)
    return table.frame, table.dialect


def tell_notices(path: Path, dialect: Dialect, *, given: bool) -> None:
    """Say what a person should know about how a CSV file was read; `given` is its encoding."""
    log = logging.getLogger("understudy")
    if not given and dialect.encoding == FALLBACK_ENCODING:
        log.warning(
            "%s is not in UTF-8 and was read as %s. If letters look wrong, give its encoding.",
            path,
            FALLBACK_ENCODING,
        )
    for notice in dialect.notices:
        log.warning("%s: %s", path, notice)


def detect(
    path: str | Path,
    **options: Any,  # noqa: ANN401  # as in `read`
) -> Dialect | None:
    """Return how a CSV file is written, or None for a Parquet file.

    It is found by all texts of the file, so this takes as long as reading it. Given to `write`, it
    writes a table as that file is written.

    Parameters
    ----------
    path : path
        The file.
    **options
        As in `read`: delimiter, decimal, encoding, missing, dates and like.
    """
    return read_with_dialect(path, quietly=True, **options)[1]


def _read_parquet(path: Path) -> pl.DataFrame:
    try:
        frame = pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{path} is a damaged Parquet file: {error}") from error
    return _with_rows(frame, path)


def _with_rows(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    if frame.height == 0:
        raise DataError(f"{path} has a header but no rows.")
    return frame


def write(
    frame: Frame, path: str | Path, *, overwrite: bool = False, dialect: Dialect | None = None
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
    """
    table = to_arrow(frame)
    return write_tables(lambda sink: sink(table), path, overwrite=overwrite, dialect=dialect)


Sink = Callable[[pa.Table], None]


def write_tables(
    produce: Callable[[Sink], object],
    path: str | Path,
    *,
    overwrite: bool = False,
    dialect: Dialect | None = None,
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
            _write_csv(produce, temporary, dialect or Dialect(delimiter=delimiter))
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

    def encode(text: str) -> bytes:
        try:
            return encoder.encode(text)
        except UnicodeEncodeError as error:
            character = error.object[error.start]
            raise DataError(
                f"The table holds {character!r}, which {dialect.encoding} cannot write. "
                "Choose another encoding, such as utf-8."
            ) from error

    def sink(table: pa.Table) -> None:
        nonlocal headed
        frame = cast("pl.DataFrame", pl.from_arrow(table))
        try:
            put_rows(frame, dialect, file, encode, header=not headed)
        except pl.exceptions.PolarsError as error:
            raise DataError(
                f"The table cannot be written as CSV: {error}. Write a .parquet file instead."
            ) from error
        headed = True

    with temporary.open("wb") as file:
        if dialect.mark:
            file.write(encode("\ufeff"))
        produce(sink)
        if not headed:
            return
        line_end = encode(dialect.newline)
        if dialect.ending:
            file.write(line_end * (dialect.ending - 1))
        else:
            file.truncate(file.tell() - len(line_end))


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
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            # mkstemp makes a private file; the finished one has the usual permissions.
            mask = os.umask(0)
            os.umask(mask)
            temporary.chmod(0o666 & ~mask)
            yield temporary
            check_writable(path, overwrite=overwrite)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error
