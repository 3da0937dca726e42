"""How a CSV file is written: its encoding, delimiter and decimal sign, found by its beginning.

What its columns are like is found by all of their texts: see `understudy.data.format_search`.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, BinaryIO

from understudy.data.formats import ColumnFormat
from understudy.data.frames import check_names
from understudy.errors import DataError, did_you_mean

DELIMITERS = (",", ";", "\t", "|")
FALLBACK_ENCODING = "cp1252"
"""What text that is not Unicode is read as, if its encoding is not given."""

ROW = "row"
"""What a first column without a name is called: mostly it numbers the rows."""

OTHER_DELIMITERS = ("^", "~", "\x01", ":", " ")
"""Signs that are no delimiters unless a user says so: texts and times have them too."""

_SAMPLE_BYTES = 2**18
_SAMPLE_ROWS = 200
_DUPLICATED = "_duplicated_"
"""What polars calls all columns without a name but the first."""
_BLANK_LINE = re.compile(rb"\n\r?\n")
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,\d+\s*")
_DECIMAL_POINT = re.compile(r"\s*[-+]?\d+\.\d+\s*")
_THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{0,2}[.,]\d{3}\s*")
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
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
        Whether a space follows each delimiter. It is no part of the value.
    mark : bool
        Whether the file begins with a byte order mark, beside one that its encoding has itself.
    newline : str
        What ends a line.
    ending : int
        How many line ends follow the last record: none, one, or more.
    header_quoted : bool
        Whether all names of columns are in quotes.
    unnamed : tuple of str
        What columns are called here that have no name, such as the first one, where R and pandas
        write row numbers; they are written without one.
    unnamed_quoted : bool
        Whether two quotes stand in place of the first name.
    separator_told : bool
        Whether a line above the header names the delimiter, as Excel has it: ``sep=;``.
    formats : mapping
        How each column is written, by its name. Columns without one are written plainly.
    notices : tuple of str
        What a person should know about how the file was read.
    """

    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    padded: bool = False
    mark: bool = False
    newline: str = "\n"
    ending: int = 1
    header_quoted: bool = False
    unnamed: tuple[str, ...] = ()
    unnamed_quoted: bool = False
    separator_told: bool = False
    formats: Mapping[str, ColumnFormat] = field(default_factory=dict, hash=False)
    notices: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.delimiter) != 1 or not self.delimiter.isascii() or self.delimiter in '"\r\n':
            raise DataError(f"The delimiter must be one character; got {self.delimiter!r}.")
        if self.decimal not in (".", ","):
            raise DataError(f"The decimal sign must be '.' or ','; got {self.decimal!r}.")
        if self.decimal == self.delimiter:
            raise DataError(f"Delimiter and decimal sign cannot both be {self.decimal!r}.")
        if self.newline not in ("\n", "\r\n", "\r"):
            raise DataError(f"A line must end in \\n, \\r\\n or \\r; got {self.newline!r}.")
        object.__setattr__(self, "unnamed", tuple(self.unnamed))  # JSON has lists

    @property
    def in_words(self) -> dict[str, str]:
        """How columns are written, in words for a person, where there is something to say."""
        return {name: form.words for name, form in self.formats.items() if form.words}

    @property
    def texts_of_polars(self) -> dict[str, Any]:
        """The arguments with which polars reads all fields of this dialect as text."""
        return {
            "separator": self.delimiter,
            "infer_schema": False,
            # A name such as data[1].csv is no pattern.
            "glob": False,
        }

    def to_plain(self) -> dict[str, Any]:
        """Return the dialect as JSON can hold it."""
        plain = {
            item.name: getattr(self, item.name)
            for item in fields(self)
            if item.name not in ("formats", "notices") and getattr(self, item.name) != item.default
        }
        formats = {name: form.to_plain() for name, form in self.formats.items()}
        return {**plain, "formats": formats}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Dialect:
        """Return the dialect that `to_plain` described; raise `ValueError` if it is none."""
        try:
            formats = {
                name: ColumnFormat.from_plain(form) for name, form in plain["formats"].items()
            }
            return cls(**{**plain, "formats": formats})
        except (KeyError, TypeError, AttributeError, DataError) as error:
            raise ValueError(f"no dialect of a CSV file: {error}") from error


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
    source: Path | bytes,
    *,
    name: Path | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> Dialect:
    """Return a CSV file's dialect by its beginning, detected where it is not given.

    The formats of its columns are not in it. The source may be the content of a file that is not
    there as such; `name` is then what it is called in messages.
    """
    if isinstance(source, bytes):
        path, head = name or Path("the table"), source[:_SAMPLE_BYTES]
        if not head.strip():
            raise DataError(f"{path} is empty.")
    else:
        path, head = source, check_table_file(source)
    encoding = _canonical(encoding) if encoding else _detect_encoding(source, head, path)
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeError as error:
        raise DataError(
            f"{path} cannot be read as {encoding}: {error}. Give its `encoding`."
        ) from error
    mark = text.startswith("\ufeff")
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise DataError(f"{path} is empty.")
    cut = len(head) == _SAMPLE_BYTES
    delimiter = delimiter or _detect_delimiter(text, cut)
    Dialect(delimiter)  # says what is wrong with a delimiter that was given
    rows = _split(text, delimiter, cut)
    names = rows[0] if rows else []
    unnamed = _names_of_unnamed(names)
    check_names(plain_names(names, unnamed))
    decimal = decimal or detect_decimal(rows[1:], delimiter)
    return Dialect(
        delimiter,
        decimal,
        encoding,
        padded=_is_padded(_split(text, delimiter, cut, strip=False)),
        mark=mark,
        newline="\n" if "\n" in text or "\r" not in text else "\r",
        unnamed=unnamed,
        unnamed_quoted=bool(unnamed) and not names[0].strip() and text.lstrip().startswith('""'),
    )


def _is_padded(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a space follows each delimiter; more may fill numbers up to a width."""
    names = [name[:1] == " " != name[1:2] for name in (rows[0][1:] if rows else ())]
    # A space alone may be a word for missing.
    values = [value[:1] == " " for row in rows for value in row[1:] if not value.isspace()]
    return 2 * sum(names) >= len(names) and 2 * sum(values) > len(values)


def has_blank_lines(file: BinaryIO) -> bool:
    """Return whether a file has lines with nothing on them, which are no records."""
    tail = b""
    while chunk := file.read(2**22):
        tail += chunk
        if _BLANK_LINE.search(tail):
            return True
        tail = tail[-2:]
    return False


def plain_names(names: Sequence[str], unnamed: Sequence[str] = ()) -> list[str]:
    """Return a CSV header's names as they are meant: polars leaves quotes in them doubled.

    Columns without a name are called as `unnamed` says, in their order.
    """
    given = iter(unnamed)
    return [
        next(given, name)
        if not name.strip() or (unnamed and name.startswith(_DUPLICATED))
        else name.replace('""', '"')
        for name in names
    ]


def _names_of_unnamed(names: Sequence[str]) -> tuple[str, ...]:
    """Return what columns without a name are called, if most have one."""
    gaps = [place for place, name in enumerate(names) if not name.strip()]
    if 2 * len(gaps) >= len(names) and not (gaps == [0] and len(names) == 2):
        return ()
    found = []
    for place in gaps:
        name = f"column {place + 1}" if place else ROW
        while name in names or name in found:
            name += "_"
        found.append(name)
    return tuple(found)


def _canonical(encoding: str) -> str:
    try:
        found = codecs.lookup(encoding)
        "".encode(encoding)  # some codecs, such as base64, are for bytes
        return found.name.replace("utf-8-sig", "utf-8").replace("ascii", "utf-8")
    except LookupError:
        raise DataError(
            f"There is no encoding {encoding!r}; common ones are utf-8, cp1252 and iso8859-2."
        ) from None


def _detect_encoding(source: Path | bytes, head: bytes, path: Path) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return encoding
    if b"\0" in head:
        raise DataError(f"{path} is a binary file, not a CSV or Parquet table.")
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
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


def detect_decimal(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    """Return the decimal sign that most numbers in some rows have."""
    if delimiter == ",":
        return "."
    values = [value for row in rows for value in row]
    # 1.234 and 1,234 may have thousands; the others tell, if there are any.
    values = [value for value in values if not _THOUSANDS.fullmatch(value)] or values
    commas = sum(bool(_DECIMAL_COMMA.fullmatch(value)) for value in values)
    points = sum(bool(_DECIMAL_POINT.fullmatch(value)) for value in values)
    return "," if commas > points else "."
