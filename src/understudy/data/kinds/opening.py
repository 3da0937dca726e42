"""Finding out where a table is, and of what kind: a file, a folder, a pattern, or what is piped in.

What is compressed is unpacked, and the parts of a CSV file in several pieces are put together, so
that each kind is read from plain files.
"""

from __future__ import annotations

import glob
import re
import stat
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from understudy.data.dialect import check_table_file
from understudy.data.kinds import COMPRESSED, CSV, EXCEL, PARQUET, Kind, ending_of, kind_of
from understudy.data.kinds.spool import Spool, check_unpacked, standard_input, unpack
from understudy.errors import DataError

STANDARD = "-"
"""What stands for the standard input, and for the standard output."""

_FOREIGN = {
    b"SQLite format 3\x00": "is a SQLite database. Name a table in it: sqlite:///{path}?table=NAME",
    b"BZh": "is compressed with bzip2. Unpack it first.",
    b"\xfd7zXZ\x00": "is compressed with xz. Unpack it first.",
    b"7z\xbc\xaf": "is a 7z archive. Unpack it first.",
    b"%PDF": "is a PDF document. Give the table that it was made from.",
    b"\x89HDF": "is an HDF5 file. Export the table as CSV or Parquet.",
    b"RDX": "is an R data file. Export the table from R as CSV or Parquet.",
    b"X\n\x00\x00\x00": "is an R data file. Export the table from R as CSV or Parquet.",
}
"""How some files begin that hold no table that can be read, and what to do."""

_MARKUP = re.compile(
    rb"(\xef\xbb\xbf)?\s*<(!doctype|html|head|body|table|\?xml|!--)", re.IGNORECASE
)
"""How web pages begin; some programs call them .xls or .csv."""
_DUCKDB = "is a DuckDB database. Name a table in it: duckdb:///{path}?table=NAME"
_WORKBOOKS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")


@dataclass(frozen=True)
class Opened:
    """A table in plain files, and of which kind they are.

    Parameters
    ----------
    path : Path
        A plain file that can be opened any number of times.
    name : str
        What the table is called in messages.
    kind : Kind
        What kind of file it is.
    ending : str
        What the name ends in, as `ending_of` says.
    files : tuple of Path
        The files of a table in several pieces, in order; `path` is the first.
    partitioned : bool
        Whether the names of folders, such as ``year=2024``, hold columns.
    spool : Spool, optional
        What `path` is a path of; it is kept as long as it is needed.
    """

    path: Path
    name: str
    kind: Kind
    ending: str
    files: tuple[Path, ...] = ()
    partitioned: bool = False
    spool: Spool | None = None

    @contextmanager
    def called_by_name(self) -> Iterator[None]:
        """Call the table by its name in messages, and not by that of a temporary file."""
        try:
            yield
        except DataError as error:
            if str(self.path) == self.name:
                raise
            raise DataError(str(error).replace(str(self.path), self.name)) from None


def open_table(where: str | Path) -> Opened:
    """Return the plain files of a table, or say what was found in its place."""
    if str(where) == STANDARD:
        return _plain(standard_input().path, "The standard input", "", standard_input())
    path = Path(where)
    if path.is_dir():
        return _in_pieces(*_in_folder(path), str(path), path)
    if not path.exists() and glob.has_magic(str(path)):
        return _in_pieces(*_matching(path), str(path), Path(glob.escape(path.anchor)))
    if path.exists() and stat.S_ISFIFO(path.stat().st_mode):
        spool = _from_pipe(path)
        return _plain(spool.path, str(path), ending_of(path), spool)
    return _plain(path, str(path), ending_of(path))


_pipes: dict[str, Spool] = {}


def _from_pipe(path: Path) -> Spool:
    """Return what came through a pipe, which can be read only once."""
    if str(path) not in _pipes:
        spool = Spool()
        try:
            with path.open("rb") as file:
                spool.fill(file)
        except OSError as error:
            raise DataError(f"{path} cannot be opened: {error.strerror}.") from error
        if not spool.path.stat().st_size:
            raise DataError(f"{path} is empty.")
        _pipes[str(path)] = spool
    return _pipes[str(path)]


def _plain(
    path: Path, name: str, ending: str, spool: Spool | None = None, *, unpacked: bool = False
) -> Opened:
    """Return one file, unpacked."""
    found = Opened(path, name, CSV, ending, spool=spool)
    with found.called_by_name():
        head = check_table_file(path)
    for packed, begins in COMPRESSED.items():
        if head.startswith(begins):
            if unpacked:  # perhaps without end
                raise DataError(f"{name} is compressed more than once. Unpack it first.")
            spool = unpack(path, packed, name)
            inner = ending.removesuffix(packed)
            inside = _plain(spool.path, name, inner, spool, unpacked=True)
            return replace(inside, ending=inner + packed)
    if ending.endswith(tuple(COMPRESSED)):
        ending = ending.removesuffix("." + ending.rpartition(".")[2])
    return replace(found, kind=_kind(found, head, ending), ending=ending)


def _kind(found: Opened, head: bytes, ending: str) -> Kind:
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _in_archive(found)
    for begins, what in _FOREIGN.items():
        if head.startswith(begins):
            raise DataError(f"{found.name} {what.format(path=found.name)}")
    if _MARKUP.match(head):
        raise DataError(
            f"{found.name} is a page in HTML or XML, whatever its name says. Open it in a "
            "spreadsheet program, and save the table as CSV or .xlsx."
        )
    if head[8:12] == b"DUCK":
        raise DataError(f"{found.name} {_DUCKDB.format(path=found.name)}")
    kind = kind_of(head, ending)
    if kind is None or kind.text:
        return CSV if kind is None else kind
    if kind.begins is None or not kind.begins.match(head):
        # The name says one thing and the bytes another: text may be CSV all the same.
        if b"\0" in head or kind.text:
            raise DataError(f"{found.name} is not a file of {kind.name}, or it is damaged.")
        return CSV
    return kind


def _in_archive(found: Opened) -> Kind:
    """Return the kind of a zip archive: a workbook is one."""
    try:
        with zipfile.ZipFile(found.path) as archive:
            inside = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise DataError(f"{found.name} is a damaged workbook or zip archive.") from None
    if not any(item.filename in _WORKBOOKS for item in inside):
        raise DataError(f"{found.name} is a zip archive. Unpack it first.")
    check_unpacked(found.name, found.path.stat().st_size, sum(item.file_size for item in inside))
    return EXCEL


def _in_folder(folder: Path) -> tuple[list[Path], str]:
    """Return the files of a folder that hold its table."""
    inside = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    )
    parquet = [path for path in inside if ending_of(path) in PARQUET.endings]
    text = [path for path in inside if ending_of(path).startswith((".csv", ".tsv"))]
    if parquet and text:
        raise DataError(
            f"{folder} holds Parquet files and CSV files. Give a pattern for those that are one "
            f"table, such as '{folder / '*.parquet'}'."
        )
    if not parquet and not text:
        raise DataError(f"{folder} is a folder without Parquet or CSV files.")
    return parquet or text, "folder"


def _matching(pattern: Path) -> tuple[list[Path], str]:
    """Return the files whose names fit a pattern."""
    found = sorted(Path(name) for name in glob.glob(str(pattern), recursive=True))  # noqa: PTH207
    files = [path for path in found if path.is_file() and not path.name.startswith("_")]
    if not files:
        raise DataError(f"There is no file {pattern}, and none whose name fits it as a pattern.")
    return files, "pattern"


def _in_pieces(files: Sequence[Path], how: str, name: str, folder: Path) -> Opened:
    """Return a table in several files, all of one kind."""
    if len(files) == 1 and how == "pattern":
        return _plain(files[0], str(files[0]), ending_of(files[0]))
    pieces = [_plain(path, str(path), ending_of(path)) for path in files]
    kinds = {piece.kind.name: piece for piece in pieces}
    if len(kinds) > 1:
        one, other = list(kinds.values())[:2]
        raise DataError(
            f"{name} holds files of several kinds: {one.name} is {one.kind.name}, {other.name} is "
            f"{other.kind.name}. Give a pattern for those that are one table."
        )
    kind = pieces[0].kind
    inside = [path.relative_to(folder) if how == "folder" else path for path in files]
    partitioned = any("=" in part for path in inside for part in path.parts[:-1])
    if kind is PARQUET:
        return Opened(files[0], name, kind, files[0].suffix, tuple(files), partitioned)
    if kind is not CSV:
        raise DataError(
            f"{name} holds several files of {kind.name}. Only Parquet and CSV can be in pieces: "
            "give one file."
        )
    if partitioned:
        raise DataError(
            f"{name} has columns in the names of its folders, which only Parquet files may have."
        )
    spool = _joined(pieces)
    return Opened(spool.path, name, CSV, ending_of(files[0]), spool=spool)


def _joined(pieces: Sequence[Opened]) -> Spool:
    """Return CSV files one below the other, under one header."""
    spool, first = Spool(), b""
    for piece in pieces:
        with piece.path.open("rb") as file:
            header = _header(file.readline)
            if not first:
                first = header
                spool.add(header.rstrip(b"\r\n") + b"\n")
            elif _names(header) != _names(first):
                raise DataError(
                    f"{piece.name} does not have the header of {pieces[0].name}. The files of one "
                    "table have the same columns in the same order."
                )
            spool.fill(file)
        _end_line(spool)
    return spool


def _names(header: bytes) -> bytes:
    """Return a header without its line end, and without a byte order mark."""
    return header.removeprefix(b"\xef\xbb\xbf").strip()


def _header(readline: object) -> bytes:
    """Return the first line, with the line ends inside its quotes."""
    line: bytes = readline()  # type: ignore[operator]
    while line.count(b'"') % 2 and (more := readline()):  # type: ignore[operator]
        line += more
    return line


def _end_line(spool: Spool) -> None:
    """End the last line of a file that lacks its end, so that the next one begins anew."""
    with spool.path.open("rb") as file:
        file.seek(-1, 2)
        if file.read(1) != b"\n":
            spool.add(b"\n")
            spool.flush()
