"""Tables in files of every kind: reading them, and writing them whole or not at all."""

from __future__ import annotations

import codecs
import csv
import io
import logging
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, cast

import polars as pl
import pyarrow as pa

from understudy.data.declared import declare_like
from understudy.data.dialect import (
    FALLBACK_ENCODING,
    Dialect,
    has_blank_lines,
    plain_names,
    resolve_dialect,
    with_dates,
)
from understudy.data.frames import Backend, Frame, to_arrow, to_backend
from understudy.data.kinds import COMPRESSED, CSV, KINDS, WRITABLE, ReadOptions, Sink, ending_of
from understudy.data.kinds.database import Address, is_address, read_address
from understudy.data.kinds.opening import STANDARD, Opened, open_table
from understudy.data.kinds.spool import Spool, pack, to_standard_output
from understudy.errors import AlreadyThereError, DataError

ROWS_FOR_TYPES = 10_000
"""Rows of a CSV file that decide the types of its columns, if all others agree with them."""

SUFFIXES = tuple(WRITABLE)
"""The endings with which a table can be written."""

Place: TypeAlias = str | Path | Address
"""Where a table is: a file, a folder, a pattern, ``-``, or the address of one in a database."""

Written: TypeAlias = Any
"""How a table is written: a `Dialect`, the labels of a file of SPSS or Stata, or a sheet."""


def suffix_like(path: Place) -> str:
    """Return the ending of a table that is to be written as another one is.

    Examples
    --------
    >>> suffix_like(Path("data.TSV")), suffix_like(Path("adult.data"))
    ('.tsv', '.csv')
    """
    if is_address(path):
        return ".csv"
    ending = ending_of(Path(str(path)))
    try:
        opened = open_table(cast("str | Path", path))
    except DataError:
        return ending if ending in WRITABLE else ".csv"
    if WRITABLE.get(opened.ending) is opened.kind:
        return opened.ending
    return opened.kind.writes[0] if opened.kind.writes else ".csv"


def read(  # noqa: PLR0913  # one keyword for each thing that can be detected
    path: Place,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] = (),
    sheet: str | int | None = None,
    header_row: int | None = None,
    backend: Backend = "polars",
) -> Frame:
    """Read a table from a file of any kind, from a folder, from a pipe or from a database.

    Parameters
    ----------
    path : path
        The file. Its kind is recognised by its content, and where that does not tell, by its
        ending; everything else is read as CSV. Compressed files (.gz, .zst) are unpacked. A folder
        or a pattern, such as ``"data/*.parquet"``, stands for all its files, one below the other;
        ``"-"`` for the standard input. ``"sqlite:///survey.db?table=people"`` is a table in a
        database.
    delimiter, decimal, encoding : str, optional
        How the CSV is written; detected where not given.
    missing : sequence of str
        Texts that stand for a missing value, beside the empty field, ``?`` and ``NA``.
    sheet : str or int, optional
        The sheet of a workbook, by name or by number from 1; by default the first with something
        in it.
    header_row : int, optional
        The row of a workbook's sheet that holds the names of the columns, counted from 1; by
        default the first with something in it.
    backend : {"polars", "pandas", "pyarrow"}
        The kind of frame to return.

    Raises
    ------
    DataError
        If there is no table in the file; the message says what was found instead.
    """
    options = ReadOptions(delimiter, decimal, encoding, missing, sheet, header_row)
    if is_address(path):
        address = path if isinstance(path, Address) else Address(str(path))
        frame = _with_rows(read_address(address), address)
    else:
        frame = read_opened(open_table(cast("str | Path", path)), options)
    return declare_like(to_backend(frame, backend), frame)


def read_opened(opened: Opened, options: ReadOptions) -> pl.DataFrame:
    """Return the whole table of some plain files."""
    with opened.called_by_name():
        if opened.kind is not CSV:
            return _with_rows(opened.kind.load().read_table(opened, options), opened.name)
        dialect, tokens = resolve_dialect(opened.path, **options.of_text)
        if options.encoding is None and dialect.encoding == FALLBACK_ENCODING:
            logging.getLogger("understudy").warning(
                "%s is not in UTF-8 and was read as %s. If letters look wrong, give its encoding.",
                opened.name,
                FALLBACK_ENCODING,
            )
        return _read_csv(opened.path, dialect, tokens)


def detect(
    path: Place,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
    header_row: int | None = None,
) -> Written | None:
    """Return how a table is written, for another one that is to be written like it.

    Returns
    -------
    Dialect, Labels, Sheet or None
        The dialect of a CSV file, the labels of a file of SPSS, Stata or SAS, the sheet of a
        workbook; None where there is nothing to say.
    """
    if is_address(path):
        return None
    opened = open_table(cast("str | Path", path))
    options = ReadOptions(delimiter, decimal, encoding, sheet=sheet, header_row=header_row)
    with opened.called_by_name():
        if opened.kind is CSV:
            return resolve_dialect(opened.path, **options.of_text)[0]
        module = opened.kind.load() if opened.kind.needs else None
        return None if module is None else module.written_as(opened, options)


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
        first = str(error).splitlines()[0]
        raise DataError(
            f"{path} cannot be read as a table with {dialect.delimiter!r} between its fields: "
            f"{first}"
        ) from error
    frame.columns = plain_names(frame.columns)
    return _with_rows(frame, path)


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


def _with_rows(frame: pl.DataFrame, path: object) -> pl.DataFrame:
    if frame.height == 0:
        raise DataError(f"{path} has a header but no rows.")
    return frame


def write(
    frame: Frame, path: str | Path, *, overwrite: bool = False, dialect: Written | None = None
) -> Path:
    """Write a table to a file, whole or not at all.

    The rows go to a temporary file beside `path`, which takes its name only when it is complete.

    Parameters
    ----------
    frame : frame
        A pandas or polars DataFrame or a pyarrow Table.
    path : path
        The file; its ending says what to write: .csv, .csv.gz, .parquet, .xlsx, .sav and others.
        ``"-"`` is the standard output, which gets CSV.
    overwrite : bool
        Whether an existing file may be replaced.
    dialect : Dialect, Labels or Sheet, optional
        How to write it, for instance as `detect` found the input to be written. What does not suit
        the kind of file is left aside.
    """
    table = to_arrow(frame)
    return write_tables(lambda sink: sink(table), path, overwrite=overwrite, dialect=dialect)


def write_tables(
    produce: Callable[[Sink], object],
    path: str | Path,
    *,
    overwrite: bool = False,
    dialect: Written | None = None,
) -> Path:
    """Write a table that comes in pieces: `produce` is called with a sink and feeds it.

    The pieces have the same columns and types. The result is the same as from one piece.
    """
    path = Path(path)
    suffix = check_target(path, overwrite=overwrite)
    if str(path) == STANDARD:
        spool = Spool()
        _write_as(suffix, produce, spool.path, dialect)
        to_standard_output(spool)
        return path
    packed = next((packed for packed in COMPRESSED if suffix.endswith(packed)), "")
    with _replacement(path, overwrite=overwrite) as temporary:
        if packed:
            spool = Spool()
            _write_as(suffix.removesuffix(packed), produce, spool.path, dialect)
            pack(spool, temporary, packed)
        else:
            _write_as(suffix, produce, temporary, dialect)
    return path


def _write_as(
    suffix: str, produce: Callable[[Sink], object], path: Path, like: Written | None
) -> None:
    """Write a table in the way that an ending asks for."""
    kind = WRITABLE[suffix]
    if kind is not CSV:
        kind.load().write_table(produce, path, like, suffix)
        return
    delimiter = "\t" if suffix == ".tsv" else ","
    _write_csv(produce, path, like if isinstance(like, Dialect) else Dialect(delimiter=delimiter))


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
                f"The table cannot be written as CSV: {error}. Write a .parquet file instead."
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
    if str(path) == STANDARD:
        return ".csv"
    suffix = ending_of(path)
    if suffix not in WRITABLE:
        known = ", ".join(ending for kind in KINDS for ending in kind.writes)
        packed = " or ".join(COMPRESSED)
        raise DataError(
            f"{path} should end in one of {known}: the ending says what to write. Text can also "
            f"be compressed, with {packed} after it, as in .csv.gz."
        )
    if WRITABLE[suffix].needs:
        WRITABLE[suffix].load()
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
