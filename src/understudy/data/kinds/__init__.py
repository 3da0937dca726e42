"""The kinds of files that hold tables: one declaration each, and one module for each that needs it.

`KINDS` is the place where a kind is declared: what its files are called, how they begin, which
module reads and writes them, and what must be installed for that. `read`, `scan`, `write`, the
command line and the documentation all go by it.

A module of a kind has ``read_table(opened, options)``, which leaves texts as they are, and if its
files can be written, ``write_table(produce, path, like, ending)``; `like` is a `TypedDialect`. If
they can be read in batches, it has ``scan_table(opened)``. If there is more to how a file is
written than its kind and its texts, ``written_as(opened, options)`` returns it. If a column can
hold numbers beside texts, ``mixes(opened, name)`` says whether one does.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import pyarrow as pa

from understudy.data.csv_files import CsvOptions
from understudy.errors import DataError

Sink = Callable[[pa.Table], None]
Produce = Callable[[Sink], object]
"""Is called with a sink, and feeds it tables of the same columns and types."""

COMPRESSED = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}
"""The endings of compressed files, and how such files begin."""


@dataclass(frozen=True)
class ReadOptions(CsvOptions):
    """What a user says about how a table is written; what is None is detected.

    Parameters
    ----------
    sheet : str or int, optional
        The sheet of a workbook, by its name or its number from 1.
    header_row : int, optional
        The row of a sheet, or the line of a CSV file, that holds the names, counted from 1.
    """

    sheet: str | int | None = None
    header_row: int | None = None


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Parameters
    ----------
    name : str
        What it is called in messages.
    endings : tuple of str
        What the names of its files end in.
    begins : regular expression, optional
        How its files begin. A file that begins like this is of this kind, whatever it is called.
    module : str
        The module of this package that reads and writes it; empty for CSV, which `files` does.
    writes : tuple of str
        The endings with which it can be written. The first one is that of an output that is to be
        like an input of this kind; if there is none, that is CSV.
    batches : bool
        Whether it can be read in batches.
    text : bool
        Whether it is text, and so is often compressed.
    needs : tuple of str
        Packages that must be installed.
    extra : str
        The extra of understudy that installs them.
    """

    name: str
    endings: tuple[str, ...]
    begins: re.Pattern[bytes] | None = None
    module: str = ""
    writes: tuple[str, ...] = ()
    batches: bool = False
    text: bool = False
    needs: tuple[str, ...] = ()
    extra: str = ""

    def load(self) -> Any:  # noqa: ANN401  # a module
        """Return the module that reads and writes it, or say what must be installed."""
        require(self.name, self.needs, self.extra)
        return importlib.import_module(f"{__name__}.{self.module}")


def require(what: str, packages: Sequence[str], extra: str) -> None:
    """Raise if a package is missing that `what` needs, with what to type to install it."""
    if any(importlib.util.find_spec(package.partition(".")[0]) is None for package in packages):
        raise DataError(
            f"{what} needs more than a plain installation: pip install 'understudy[{extra}]'"
        )


def _begins(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern, re.DOTALL)


_STATISTICS = {"module": "labelled", "needs": ("pyreadstat",), "extra": "files"}
_SAS7BDAT = rb"\x00{12}\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00"

CSV = Kind(
    "CSV", (".csv", ".tsv", ".txt"), writes=(".csv", ".tsv", ".txt"), batches=True, text=True
)
PARQUET = Kind(
    "Parquet",
    (".parquet", ".pq"),
    _begins(rb"PAR1"),
    module="columnar",
    writes=(".parquet", ".pq"),
    batches=True,
)
ARROW = Kind(
    "Arrow",
    (".arrow", ".feather", ".ipc"),
    # A file, or a stream, whose first message has a length of its own.
    _begins(rb"ARROW1|\xff\xff\xff\xff.{3}\x00\x10\x00\x00\x00"),
    module="columnar",
    writes=(".arrow", ".feather", ".ipc"),
    batches=True,
)
EXCEL = Kind(
    "Excel",
    (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    _begins(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),  # those in a zip archive: see `opening`
    module="excel",
    writes=(".xlsx",),
    needs=("fastexcel", "xlsxwriter"),
    extra="files",
)
JSON_LINES = Kind(
    "JSON lines",
    (".jsonl", ".ndjson"),
    _begins(rb"(\xef\xbb\xbf)?\s*\{\s*(\"|\})"),
    module="json_records",
    writes=(".jsonl", ".ndjson"),
    text=True,
)
JSON = Kind(
    "JSON",
    (".json",),
    _begins(rb"(\xef\xbb\xbf)?\s*\[\s*(\{\s*(\"|\})|\[|\])"),
    module="json_records",
    writes=(".json",),
    text=True,
)
STATA = Kind(
    "Stata",
    (".dta",),
    _begins(rb"<stata_dta>|[\x69-\x73][\x01\x02]\x01\x00"),
    writes=(".dta",),
    **_STATISTICS,  # type: ignore[arg-type]
)
SPSS = Kind("SPSS", (".sav",), _begins(rb"\$FL2"), writes=(".sav",), **_STATISTICS)  # type: ignore[arg-type]
SPSS_COMPRESSED = Kind(
    "compressed SPSS",
    (".zsav",),
    _begins(rb"\$FL3"),
    writes=(".zsav",),
    **_STATISTICS,  # type: ignore[arg-type]
)
SPSS_PORTABLE = Kind(
    "portable SPSS",
    (".por",),
    _begins(rb".{200,500}SPSSPORT"),
    **_STATISTICS,  # type: ignore[arg-type]
)
SAS = Kind("SAS", (".sas7bdat",), _begins(_SAS7BDAT), **_STATISTICS)  # type: ignore[arg-type]
SAS_TRANSPORT = Kind(
    "SAS transport",
    (".xpt",),
    _begins(rb"HEADER RECORD\*{7}LIB"),
    **_STATISTICS,  # type: ignore[arg-type]
)

KINDS = (
    CSV,
    PARQUET,
    ARROW,
    EXCEL,
    JSON_LINES,
    JSON,
    STATA,
    SPSS,
    SPSS_COMPRESSED,
    SPSS_PORTABLE,
    SAS,
    SAS_TRANSPORT,
)
"""Every kind of file that holds a table."""

ONLY_FOR = {"delimiter": (CSV,), "sheet": (EXCEL,), "header_row": (CSV, EXCEL)}
"""What a user may say about how a table is written that is about files of some kinds alone."""

WRITABLE: dict[str, Kind] = {
    ending + packed: kind
    for packed in ("", *COMPRESSED)
    for kind in KINDS
    for ending in kind.writes
    if kind.text or not packed
}
"""The endings with which a table can be written, and the kind of each."""


def ending_of(path: PurePath) -> str:
    """Return what says what is in a file, in small letters: also the ending before ``.gz``.

    Examples
    --------
    >>> ending_of(PurePath("a.b/Survey.CSV.gz")), ending_of(PurePath("v1.2.sav"))
    ('.csv.gz', '.sav')
    """
    last = path.suffix.lower()
    if last in COMPRESSED:
        before = PurePath(path.stem).suffix.lower()
        return before + last if _by_ending(before) is not None else last
    return last


def stem_of(path: PurePath) -> str:
    """Return the name of a file without its ending.

    Examples
    --------
    >>> stem_of(PurePath("out/survey.csv.gz"))
    'survey'
    """
    return path.name[: len(path.name) - len(ending_of(path))]


def kind_of(head: bytes, ending: str) -> Kind | None:
    """Return the kind of a file that begins with `head`; its ending says what the bytes do not.

    Returns None if it is none of those that its bytes or its ending could tell: then it may be CSV.

    Examples
    --------
    >>> kind_of(b"PAR1", ".csv").name, kind_of(b"a,b", ".csv").name
    ('Parquet', 'CSV')
    """
    for kind in KINDS:
        if kind.begins is not None and kind.begins.match(head):
            # A single record in one line may be both.
            return JSON if kind is JSON_LINES and ending == ".json" else kind
    return _by_ending(ending)


def _by_ending(ending: str) -> Kind | None:
    return next((kind for kind in KINDS if ending in kind.endings), None)
