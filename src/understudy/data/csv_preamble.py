"""Lines above the header of a CSV file: comments, a title, or Excel's own line about delimiters.

They are no part of the table. What follows them is read as if it were the whole file.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from understudy.data.dialect import DELIMITERS, Dialect, check_table_file
from understudy.data.kinds import ReadOptions
from understudy.data.kinds.opening import Opened
from understudy.data.kinds.spool import Spool
from understudy.errors import DataError
from understudy.wording import counted

_SEPARATOR = re.compile(rb'"?sep=([^\r\n"])"?[ \t]*(?:\r\n|\n|\r)', re.IGNORECASE)
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


@dataclass(frozen=True)
class Preamble:
    """What stands above the header.

    Parameters
    ----------
    lines : int
        How many lines are left out.
    separator : str
        The delimiter that Excel's line ``sep=;`` names; empty if there is no such line.
    """

    lines: int = 0
    separator: str = ""

    def noted(self, dialect: Dialect) -> Dialect:
        """Return a dialect that knows what stood above the header."""
        told: tuple[str, ...] = ()
        if self.lines:
            told = (
                f"{counted(self.lines, 'line')} above the header "
                f"{'is' if self.lines == 1 else 'are'} left out, and will not be written.",
            )
        return replace(
            dialect, separator_told=bool(self.separator), notices=(*told, *dialect.notices)
        )


def below_preamble(opened: Opened, options: ReadOptions) -> tuple[Opened, ReadOptions, Preamble]:
    """Return a CSV file from its header on, and what stands above that."""
    head = check_table_file(opened.path)
    if head.startswith(_WIDE):
        if (options.header_row or 1) > 1:
            raise DataError(
                f"{opened.path}: the row of the header can only be given for text with one byte "
                "for a plain letter. Save the file in UTF-8."
            )
        return opened, options, Preamble()
    mark = codecs.BOM_UTF8 if head.startswith(codecs.BOM_UTF8) else b""
    text = head.removeprefix(mark)
    told = _SEPARATOR.match(text)
    above = told.end() if told else 0
    separator = told[1].decode("latin-1") if told else ""
    lines = text[above:].splitlines(keepends=True)
    left_out = _lines_above(lines, options)
    if left_out >= len(lines):
        row = options.header_row
        raise DataError(
            f"{opened.path} has no line {row} where its header should be."
            if row
            else f"{opened.path} has comments, but no table."
        )
    preamble = Preamble(left_out, separator)
    if not preamble.lines and not preamble.separator:
        return opened, options, preamble
    above += sum(map(len, lines[:left_out]))
    spool = Spool()
    spool.add(mark)
    with opened.path.open("rb") as file:
        file.seek(len(mark) + above)
        spool.fill(file)
    if separator and options.delimiter is None:
        options = replace(options, delimiter=separator)
    return replace(opened, path=spool.path, spool=spool), options, preamble


def _lines_above(lines: list[bytes], options: ReadOptions) -> int:
    """Return how many of the first lines are above the header."""
    if options.header_row is not None:
        # A release has none of the lines that its original has.
        known = {*getattr(options.like, "formats", {})}
        return 0 if known and known <= {*_fields(lines[0], options)} else options.header_row - 1
    blank = _while(lines, lambda line: not line.strip())
    comments = _while(lines[blank:], lambda line: line.startswith(b"#"))
    if not comments:
        return blank
    last = blank + comments
    gap = _while(lines[last:], lambda line: not line.strip())
    if last + gap < len(lines) and not gap:
        width = len(_fields(lines[last], options))
        # Some programs put the sign before the names of columns.
        if width == len(_fields(lines[last - 1], options)) and (
            width > 1 or not lines[last - 1].startswith(b"# ")
        ):
            return last - 1
    return last + gap


def _while(lines: Sequence[bytes], good: Callable[[bytes], bool]) -> int:
    """Return how many of the first lines are of a kind."""
    return sum(1 for _ in takewhile(good, lines))


def _fields(line: bytes, options: ReadOptions) -> list[str]:
    """Return the fields of a line, cut by the sign that cuts it into most."""
    text = line.decode(options.encoding or "utf-8", errors="replace").rstrip("\r\n")
    signs = [options.delimiter] if options.delimiter else DELIMITERS
    rows = [next(csv.reader([text], delimiter=sign), []) for sign in signs]
    return [field.strip() for field in max(rows, key=len)]
