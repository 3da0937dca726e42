"""How a CSV file is written: encoding, delimiter, decimal sign and dates, all detected.

Polars can look for dates while it reads, but tries many forms on every text of thousands of rows.
Most columns of text are settled by their first value; only the others are parsed, and each
different text once.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl

from understudy.data.frames import check_names
from understudy.data.values import to_numpy
from understudy.errors import DataError, did_you_mean

DELIMITERS = (",", ";", "\t", "|")
MISSING = ("", "?", "NA")
"""Texts that stand for a missing value in every CSV file."""

FALLBACK_ENCODING = "cp1252"
"""What text that is not Unicode is read as, if its encoding is not given."""

_SAMPLE_BYTES = 2**18
_SAMPLE_ROWS = 200
_SAMPLE_TEXTS = 100
_BLANK_LINE = re.compile(rb"\n\r?\n")
_LEADING_ZERO = re.compile(r"0\d+")
_DIGIT = re.compile(r"\d")
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,\d+\s*")
_DECIMAL_POINT = re.compile(r"\s*[-+]?\d+\.\d+\s*")
_JSON = re.compile(r'\s*(\[\s*[\[{]|\{\s*"[^"]*"\s*:)')
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    Parameters
    ----------
    delimiter : str
        The character between fields.
    decimal : {".", ","}
        The decimal sign of numbers.
    encoding : str
        The text encoding, by its Python name.
    padded : bool
        Whether a space follows each delimiter. It is read as no part of the value, and not written.
    texts : tuple of str
        Columns that hold codes with leading zeros, such as 01067, which as numbers would lose them.
    """

    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    padded: bool = False
    texts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.delimiter) != 1 or not self.delimiter.isascii() or self.delimiter in '"\r\n':
            raise DataError(f"The delimiter must be one character; got {self.delimiter!r}.")
        if self.decimal not in (".", ","):
            raise DataError(f"The decimal sign must be '.' or ','; got {self.decimal!r}.")
        if self.decimal == self.delimiter:
            raise DataError(f"Delimiter and decimal sign cannot both be {self.decimal!r}.")

    def polars_options(self, missing: Sequence[str]) -> dict[str, Any]:
        """Return the arguments with which polars reads this dialect."""
        return {
            "separator": self.delimiter,
            "decimal_comma": self.decimal == ",",
            "null_values": list(missing),
            # Types are decided by all rows: a late text must not break a column of numbers.
            "infer_schema_length": None,
            # A name such as data[1].csv is no pattern.
            "glob": False,
            "schema_overrides": dict.fromkeys(self.texts, pl.String),
        }


def detect(
    path: str | Path,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> Dialect | None:
    """Return how a CSV file is written, detected where not given, or None for a Parquet file."""
    path = Path(path)
    if is_parquet(path):
        return None
    return resolve_dialect(path, delimiter=delimiter, decimal=decimal, encoding=encoding)[0]


def is_parquet(path: Path) -> bool:
    """Return whether a file is Parquet, by its content; raise if there is no such file."""
    return check_table_file(path).startswith(b"PAR1")


def check_table_file(path: Path) -> bytes:
    """Return the first bytes of a file that may hold a table, or say why it cannot."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; give a CSV or Parquet file.")
    if path.exists() and not path.is_file():
        raise DataError(
            f"{path} is a pipe or a device, and a table is read more than once. Save it in a file "
            "first."
        )
    try:
        with path.open("rb") as file:
            head = file.read(_SAMPLE_BYTES)
    except FileNotFoundError:
        near = [item.name for item in path.parent.glob("*")]
        raise DataError(f"There is no file {path}.{did_you_mean(path.name, near)}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be opened: {error.strerror}.") from error
    if not head.strip():
        raise DataError(f"{path} is empty.")
    return head


def resolve_dialect(
    path: Path,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] = (),
) -> tuple[Dialect, tuple[str, ...]]:
    """Return a CSV file's dialect, detected where it is not given, and its tokens for missing."""
    head = check_table_file(path)
    encoding = _canonical(encoding) if encoding else _detect_encoding(path, head)
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeError as error:
        raise DataError(
            f"{path} cannot be read as {encoding}: {error}. Give its encoding."
        ) from error
    text = text.removeprefix("\ufeff")
    if _JSON.match(text):
        raise DataError(
            f"{path} holds JSON, not a table of CSV. Convert it to a CSV or Parquet file."
        )
    cut = len(head) == _SAMPLE_BYTES
    delimiter = delimiter or _detect_delimiter(text, cut)
    Dialect(delimiter)  # says what is wrong with a delimiter that was given
    rows = _split(text, delimiter, cut)
    check_names(rows[0])
    decimal = decimal or _detect_decimal(rows[1:], delimiter)
    if isinstance(missing, str):
        missing = (missing,)
    tokens = tuple(dict.fromkeys((*MISSING, *missing)))
    unstripped = _split(text, delimiter, cut, strip=False)
    padded = [value.startswith(" ") for row in unstripped for value in row[1:]]
    texts = _code_columns(rows)
    return Dialect(delimiter, decimal, encoding, 2 * sum(padded) > len(padded), texts), tokens


def has_blank_lines(file: BinaryIO) -> bool:
    """Return whether a file has lines with nothing on them, which are no records."""
    tail = b""
    while chunk := file.read(2**22):
        tail += chunk
        if _BLANK_LINE.search(tail):
            return True
        tail = tail[-2:]
    return False


def plain_names(names: Sequence[str]) -> list[str]:
    """Return a CSV header's names as they are meant: polars leaves quotes in them doubled."""
    return [name.replace('""', '"') for name in names]


def _code_columns(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the columns of a sample in which some value is digits after a zero."""
    names, *records = rows
    return tuple(
        name
        for place, name in enumerate(names)
        if any(_LEADING_ZERO.fullmatch(record[place]) for record in records if place < len(record))
    )


def _canonical(encoding: str) -> str:
    try:
        found = codecs.lookup(encoding)
        "".encode(encoding)  # some codecs, such as base64, are for bytes
        return found.name.replace("utf-8-sig", "utf-8").replace("ascii", "utf-8")
    except LookupError:
        raise DataError(
            f"There is no encoding {encoding!r}; common ones are utf-8, cp1252 and iso8859-2."
        ) from None


def _detect_encoding(path: Path, head: bytes) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return encoding
    if b"\0" in head:
        raise DataError(f"{path} is a binary file, not a CSV or Parquet table.")
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as file:
            while chunk := file.read(2**22):
                if not chunk.isascii() or decoder.getstate()[0]:
                    decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        # One byte per letter: which letter cannot be told from the bytes, least of all in a table
        # of few words. The most common such encoding is taken, and `read` says so.
        return FALLBACK_ENCODING
    return "utf-8"


def _split(text: str, delimiter: str, cut: bool, *, strip: bool = True) -> list[list[str]]:
    """Return the first rows of a text; the last one may be `cut` off and is then left out."""
    # newline="" leaves the line ends inside quoted fields to csv.
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=strip)
    rows: list[list[str]] = []
    try:
        rows.extend(row for row in itertools.islice(reader, _SAMPLE_ROWS + 1) if row)
    except csv.Error as error:  # a field longer than csv takes; the rows before it will do
        if not rows:
            raise DataError(
                "The file cannot be read as CSV: its first line has a field of more than "
                f"{csv.field_size_limit():,} characters. Is it a table, with the right delimiter, "
                "and is every quotation mark closed?"
            ) from error
    cut = cut or len(rows) > _SAMPLE_ROWS
    return rows[:-1] if cut and len(rows) > 1 else rows


def _detect_delimiter(text: str, cut: bool) -> str:
    """Return the delimiter that cuts every line into the same, largest number of fields."""

    def score(delimiter: str) -> tuple[bool, int]:
        try:
            widths = [len(row) for row in _split(text, delimiter, cut)]
        except DataError:  # another delimiter leaves no field too long
            return (False, 0)
        return (min(widths) == max(widths) > 1, widths[0])

    return max(DELIMITERS, key=score)


def _detect_decimal(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    values = [value for row in rows for value in row]
    commas = sum(bool(_DECIMAL_COMMA.fullmatch(value)) for value in values)
    points = sum(bool(_DECIMAL_POINT.fullmatch(value)) for value in values)
    return "," if commas > points else "."


def with_dates(frame: pl.DataFrame, texts: Collection[str] = ()) -> pl.DataFrame:
    """Return a table with columns of text as dates or times where all of their values are such.

    The columns `texts` stay text.

    Examples
    --------
    >>> import polars as pl
    >>> with_dates(pl.DataFrame({"day": ["31/12/2023", None], "size": ["S", "M"]})).dtypes
    [Date, String]
    """
    found = {
        column.name: _as_dates(column)
        for column in frame
        if column.dtype == pl.String and column.name not in texts
    }
    return frame.with_columns(column for column in found.values() if column is not None)


def date_type(texts: pl.Series) -> pl.DataType | None:
    """Return the type of dates or times that the first of some texts have, None if they are others.

    Examples
    --------
    >>> import polars as pl
    >>> date_type(pl.Series(["2023-12-31 10:30", None])), date_type(pl.Series(["<=50K"]))
    (Datetime(time_unit='us', time_zone=None), None)
    """
    first = texts.head(_SAMPLE_TEXTS).drop_nulls()
    if not len(first):
        first = texts.drop_nulls().head(_SAMPLE_TEXTS)
    if not len(first) or not _DIGIT.search(first[0]):
        return None
    parsed = _parsed(first.unique(maintain_order=True))  # the first text decides the form
    return None if parsed is None else parsed.dtype


def are_dates(distinct: pl.Series, kind: pl.DataType) -> bool:
    """Return whether all of some texts are dates or times of a type, and of one form."""
    return _parsed(distinct.drop_nulls(), kind) is not None


def _as_dates(column: pl.Series) -> pl.Series | None:
    kind = date_type(column)
    if kind is None:
        return None
    encoded = column.to_arrow().dictionary_encode()
    parsed = _parsed(pl.Series(pl.from_arrow(encoded.dictionary)), kind)
    if parsed is None:
        return None
    # The place of a gap is one past the last text.
    places = to_numpy(encoded.indices, missing=len(parsed)).astype(np.int64)
    return parsed.extend_constant(None, 1).gather(places).alias(column.name)


def _parsed(texts: pl.Series, kind: pl.DataType | None = None) -> pl.Series | None:
    """Return different texts as dates or times, as polars reads them from a CSV file."""
    content = pl.DataFrame([texts.alias("x")]).write_csv(quote_style="always").encode()
    try:
        read = pl.read_csv(
            io.BytesIO(content),
            try_parse_dates=True,
            infer_schema_length=None if kind is None else 0,
            schema_overrides=None if kind is None else {"x": kind},
        )["x"]
    except pl.exceptions.PolarsError:
        return None  # of several forms
    return read if read.dtype.is_temporal() and not read.null_count() else None
