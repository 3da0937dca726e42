"""Tables in files of every kind: reading them, and writing them whole or not at all."""

from __future__ import annotations

import codecs
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, cast

import polars as pl
import pyarrow as pa

from understudy.data.csv_files import read_csv
from understudy.data.csv_preamble import below_preamble
from understudy.data.csv_text import put_rows
from understudy.data.date_format import DayOrder
from understudy.data.declared import declare_like
from understudy.data.dialect import FALLBACK_ENCODING, Dialect
from understudy.data.formula_cells import Guard
from understudy.data.frames import Backend, Frame, to_arrow, to_backend
from understudy.data.kinds import (
    COMPRESSED,
    CSV,
    KINDS,
    ONLY_FOR,
    WRITABLE,
    Produce,
    ReadOptions,
    Sink,
    ending_of,
)
from understudy.data.kinds.database import Address, is_address, mixes_in, read_address
from understudy.data.kinds.opening import STANDARD, Opened, open_table
from understudy.data.kinds.spool import Spool, pack, to_standard_output
from understudy.data.memory import check_memory
from understudy.data.partial import note_finished, under_way
from understudy.data.text_columns import Mixes, never, read_texts
from understudy.data.typed_dialect import TypedDialect
from understudy.errors import AlreadyThereError, DataError
from understudy.showing import reason
from understudy.stopping import whole
from understudy.wording import listed

SUFFIXES = tuple(WRITABLE)
"""The endings with which a table can be written."""

Place: TypeAlias = str | Path | Address
"""Where a table is: a file, a folder, a pattern, ``-``, or the address of one in a database."""

Written: TypeAlias = Any
"""How a table is written: a `Dialect`, or the `TypedDialect` of a file that has types."""


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
    missing: Sequence[str] | None = None,
    dates: DayOrder | None = None,
    like: Written | None = None,
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
    missing : sequence of str, optional
        Texts that stand for a missing value, beside the empty field. If it is not given, the usual
        words such as ``NA``, ``N/A``, ``null`` and ``?`` are recognised, and a message says which.
        If it is empty, only the empty field is missing.
    dates : {"dmy", "mdy"}, optional
        Whether the day or the month comes first in dates such as 01/02/2020, where that cannot be
        told.
    like : Dialect or TypedDialect, optional
        How another file is written, such as the original of a synthetic table: its formats are
        tried first.
    sheet : str or int, optional
        The sheet of a workbook, by name or by number from 1; by default the first with something
        in it.
    header_row : int, optional
        The row of a sheet, or the line of a CSV file, that holds the names of the columns, counted
        from 1; by default the first with something in it that is no comment (``#``).
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
        sheet=sheet,
        header_row=header_row,
    )
    return declare_like(to_backend(frame, backend), frame)


def read_with_dialect(
    path: Place,
    *,
    quietly: bool = False,
    **options: Any,  # noqa: ANN401  # as in `read`
) -> tuple[pl.DataFrame, Written | None]:
    """Return the table in a file, and how it is written, as `detect` says it.

    What a person should know about how it was read is told, unless `quietly`.
    """
    if is_address(path):
        address = path if isinstance(path, Address) else Address(str(path))
        frame, asked = _with_rows(read_address(address), address), ReadOptions(**options)
        return _with_texts(frame, asked, address, mixes=mixes_in(address), quietly=quietly)
    opened, asked = open_table(cast("str | Path", path)), ReadOptions(**options)
    if not quietly:
        tell_without_effect(opened, asked)
    with opened.called_by_name():
        check_memory(opened.path, packed=not opened.kind.text, quietly=quietly)
        if opened.kind is CSV:
            opened, asked, above = below_preamble(opened, asked)
            with opened.called_by_name():
                table = read_csv(opened.path, asked)
            dialect = above.noted(table.dialect)
            if not quietly:
                tell_notices(opened.name, dialect, given=asked.encoding is not None)
            return table.frame, dialect
        kind = opened.kind.load()
        frame = _with_rows(kind.read_table(opened, asked), opened.name)
        own = kind.written_as(opened, asked) if hasattr(kind, "written_as") else None
        mixes = partial(kind.mixes, opened) if hasattr(kind, "mixes") else None
        return _with_texts(frame, asked, opened.name, own, mixes, quietly=quietly)


def _with_texts(
    frame: pl.DataFrame,
    options: ReadOptions,
    name: object,
    own: object = None,
    mixes: Mixes | None = None,
    *,
    quietly: bool,
) -> tuple[pl.DataFrame, TypedDialect | None]:
    """Return a table of a file that has types with its texts read, and how it is written."""
    found, dialect = read_texts(frame, options, mixes or never)
    if not quietly:
        tell_notices(name, dialect)
    written = replace(dialect, own=own)
    return cast("pl.DataFrame", declare_like(found, frame)), written or None


def tell_without_effect(opened: Opened, options: ReadOptions) -> None:
    """Say which options are about files of other kinds; not of a table that is read `like` one."""
    for name, kinds in ONLY_FOR.items():
        if getattr(options, name) is None or options.like is not None or opened.kind in kinds:
            continue
        logging.getLogger("understudy").warning(
            "`%s` has no effect on %s: it is for %s files.",
            name,
            opened.name,
            listed([kind.name for kind in kinds]),
        )


def tell_notices(name: object, dialect: Written, *, given: bool = True) -> None:
    """Say what a person should know about how a file was read; `given` is a CSV's encoding."""
    log = logging.getLogger("understudy")
    if not given and dialect.encoding == FALLBACK_ENCODING:
        log.warning(
            "%s is not in UTF-8 and was read as %s. If letters look wrong, give its `encoding`.",
            name,
            FALLBACK_ENCODING,
        )
    for notice in dialect.notices:
        log.warning("%s: %s", name, notice)


def detect(
    path: Place,
    **options: Any,  # noqa: ANN401  # as in `read`
) -> Written | None:
    """Return how a table is written, for another one that is to be written like it.

    This is found by all texts of the file, so it takes as long as reading it. Given to `write`, it
    writes a table as that file is written.

    Parameters
    ----------
    path : path
        The file.
    **options
        As in `read`.

    Returns
    -------
    Dialect, TypedDialect or None
        The dialect of a CSV file; of another one, how its texts are written, and its sheet or its
        labels; None where there is nothing to say.
    """
    return read_with_dialect(path, quietly=True, **options)[1]


def fitted(like: Written | None, path: Path) -> Written | None:
    """Return how a file is written that is to be like another: .tsv always has tabs."""
    if isinstance(like, Dialect) and ending_of(path).startswith(".tsv"):
        return replace(like, delimiter="\t", padded=False)
    return like


def _with_rows(frame: pl.DataFrame, path: object) -> pl.DataFrame:
    if frame.height == 0:
        raise DataError(f"{path} has a header but no rows.")
    return frame


def write(
    frame: Frame,
    path: str | Path,
    *,
    overwrite: bool = False,
    dialect: Written | None = None,
    safe_cells: bool = False,
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
    dialect : Dialect or TypedDialect, optional
        How to write it, for instance as `detect` found the input to be written. What does not suit
        the kind of file is left aside.
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


def write_tables(
    produce: Callable[[Sink], object],
    path: str | Path,
    *,
    overwrite: bool = False,
    dialect: Written | None = None,
    safe_cells: bool = False,
) -> Path:
    """Write a table that comes in pieces: `produce` is called with a sink and feeds it.

    The pieces have the same columns and types. The result is the same as from one piece.
    """
    path = Path(path)
    suffix, guard = check_target(path, overwrite=overwrite), Guard(safe=safe_cells)
    if str(path) == STANDARD:
        spool = Spool()
        _write_as(suffix, produce, spool.path, dialect, guard)
        guard.warn("The standard output")
        to_standard_output(spool)
        return path
    packed = next((packed for packed in COMPRESSED if suffix.endswith(packed)), "")
    with _replacement(path, overwrite=overwrite) as temporary:
        if packed:
            spool = Spool()
            _write_as(suffix.removesuffix(packed), produce, spool.path, dialect, guard)
            pack(spool, temporary, packed)
        else:
            _write_as(suffix, produce, temporary, dialect, guard)
        guard.warn(path.name)
    return path


def _write_as(
    suffix: str,
    produce: Callable[[Sink], object],
    path: Path,
    like: Written | None,
    guard: Guard,
) -> None:
    """Write a table in the way that an ending asks for."""
    kind = WRITABLE[suffix]
    typed = like if isinstance(like, TypedDialect) else TypedDialect()
    if kind is not CSV:
        guard.tell_needless(f"A {suffix} file")
        kind.load().write_table(_with_stored(produce, typed), path, typed, suffix)
        return
    delimiter = "\t" if suffix == ".tsv" else ","
    plain = Dialect(delimiter=delimiter, formats=typed.formats)
    dialect = like if isinstance(like, Dialect) else plain
    _write_csv(lambda sink: produce(guard.before(sink)), path, dialect)


def _with_stored(produce: Produce, typed: TypedDialect) -> Produce:
    """Return what produces a table with the texts that its file has in the place of values."""
    if not typed.formats:
        return produce

    def stored(table: pa.Table) -> pa.Table:
        return to_arrow(typed.stored(cast("pl.DataFrame", pl.from_arrow(table))))

    return lambda sink: produce(lambda table: sink(stored(table)))


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
                f"The table cannot be written as CSV ({reason(error)}). Write a .parquet file "
                "instead."
            ) from error
        headed = True

    with temporary.open("wb") as file:
        if dialect.mark:
            file.write(encode("\ufeff"))
        if dialect.separator_told:
            file.write(encode(f"sep={dialect.delimiter}{dialect.newline}"))
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
