"""How a CSV file looks around its values: line ends, quotes, and how it ends."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from understudy.data.formats import ColumnFormat
from understudy.wording import counted, quoted

BYTES_OF_SHAPE = 2**26
"""So much of a file tells where it has quotes."""

_TAIL_BYTES = 2**16
_ENDS = re.compile(rb"(?:\r?\n|\r)*\Z")
_ONE_END = re.compile(rb"\r?\n|\r")
_SOME = 1_000
_QUOTE, _RETURN, _NEWLINE, _SPACE = b'"\r\n '
_MARK = b"\xef\xbb\xbf"

Positions = NDArray[np.int64]


@dataclass(frozen=True)
class ColumnQuotes:
    """Where a column has quotes.

    Parameters
    ----------
    everywhere : bool
        Whether every field that is not empty is in quotes, and some need not be.
    needless : bool
        Whether some field is in quotes that need not be.
    bare : frozenset of str
        Some of the texts that are not in quotes.
    """

    everywhere: bool = False
    needless: bool = False
    bare: frozenset[str] = frozenset()


@dataclass(frozen=True)
class CsvShape:
    """How a CSV file looks around its values.

    Parameters
    ----------
    newline : str
        What ends a line.
    ending : int
        How many line ends follow the last record.
    header_quoted : bool
        Whether every name is in quotes.
    quotes : tuple of ColumnQuotes
        Where each column has quotes.
    mixed : bool
        Whether lines end in more than one way.
    escaped : int
        The first line where a backslash stands before a quotation mark within a field; 0 for none.
    short : int
        How many lines have fewer fields than there are columns, but some.
    """

    newline: str = "\n"
    ending: int = 1
    header_quoted: bool = False
    quotes: tuple[ColumnQuotes, ...] = ()
    mixed: bool = False
    escaped: int = 0
    short: int = 0

    def in_words(self, forms: Mapping[str, ColumnFormat], *, blank: bool) -> Iterator[str]:
        """Yield what will not be written as it was: a sentence for each; `blank` lines are one."""
        some = [
            name
            for (name, form), quotes in zip(forms.items(), self.quotes, strict=True)
            if quotes.needless and not form.quoted
        ]
        if some:
            yield (
                f"Some texts are in quotes that they do not need in {quoted(some)}: new ones are "
                "in quotes only where they must be."
            )
        if self.escaped:
            yield (
                f"Line {self.escaped} has a backslash before a quotation mark within a field, and "
                "only doubled ones are understood: such fields may be misread, and cut in the "
                "wrong places. Write the file with quotation marks doubled."
            )
        if self.short:
            have = "has" if self.short == 1 else "have"
            yield (
                f"{counted(self.short, 'row')} {have} fewer fields than the header: what is not "
                "there counts as missing, and will be written as an empty field."
            )
        if self.mixed:
            kept = "CRLF" if self.newline == "\r\n" else "LF"
            yield f"Lines end in LF and in CRLF: new ones will all end in {kept}."
        if blank:
            yield "Blank lines are no records, and are not written."


def shape_of(source: Path | bytes, delimiter: str, width: int, *, padded: bool = False) -> CsvShape:
    """Return how a CSV file in UTF-8 looks around its values."""
    with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
        head = file.read(BYTES_OF_SHAPE)
        size = file.seek(0, io.SEEK_END)
        file.seek(max(0, size - _TAIL_BYTES))
        tail = file.read()
    head = head.removeprefix(_MARK)
    ends = _ENDS.search(tail)
    ending = len(_ONE_END.findall(ends[0])) if ends else 0
    if width == 1:
        ending = min(ending, 1)  # an empty line is a record
    if b'"' not in head:
        first = _ONE_END.search(head)
        newline = first[0].decode() if first else "\n"
        returned = head.count(b"\r\n")
        mixed = 0 < returned < head.count(b"\n")
        quotes = (ColumnQuotes(),) * width
        short = _short_lines(head, delimiter.encode()[0], width, whole=len(head) == size)
        return CsvShape(newline, ending, quotes=quotes, mixed=mixed, short=short)
    fields = _Fields(np.frombuffer(head, np.uint8), delimiter.encode()[0], width, padded=padded)
    header, quotes = fields.header_quoted(), fields.quotes()
    # After a quotation mark that closes a field, there is a delimiter or a line end.
    within = re.search(rb'\\"[^"\r\n' + re.escape(delimiter.encode()) + rb"]", head)
    escaped = head.count(b"\n", 0, within.start()) + 1 if within else 0
    short = fields.short if len(head) == size else max(fields.short - 1, 0)
    return CsvShape(fields.newline, ending, header, quotes, fields.mixed, escaped, short)


def _short_lines(text: bytes, delimiter: int, width: int, *, whole: bool) -> int:
    """Return how many lines of a text without quotes have too few fields, but some.

    The last line may be cut off if the text is not `whole`, and does not count then.
    """
    if text.count(delimiter) >= (text.count(b"\n") + (text[-1:] != b"\n")) * (width - 1):
        return 0  # as a rule
    held = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(held == _NEWLINE)
    if whole and text[-1:] != b"\n":
        ends = np.append(ends, len(held))
    fields = np.diff(np.searchsorted(np.flatnonzero(held == delimiter), ends), prepend=0) + 1
    starts = np.concatenate([[0], ends[:-1] + 1])[: len(ends)]
    return int(np.count_nonzero((fields < width) & _filled(held, starts, ends)))


def _filled(text: NDArray[np.uint8], starts: Positions, ends: Positions) -> NDArray[np.bool_]:
    """Return which lines have something on them."""
    returned = text[np.maximum(ends - 1, 0)] == _RETURN
    return np.asarray(ends - starts - returned > 0)


class _Fields:
    """The fields of a CSV text, found by counting quotes: those inside come in pairs."""

    def __init__(
        self, text: NDArray[np.uint8], delimiter: int, width: int, *, padded: bool
    ) -> None:
        self.text = text
        self.delimiter = delimiter
        self.width = width
        self.marks = np.flatnonzero(text == _QUOTE)
        self.delimiters = np.flatnonzero(text == delimiter)
        self.lines = np.flatnonzero(text == _NEWLINE)
        ends = _outside(self.marks, self.lines)
        returned = int(np.count_nonzero(text[np.maximum(ends - 1, 0)] == _RETURN))
        self.mixed = 0 < returned < len(ends)
        self.newline = "\n"
        if len(ends) and ends[0] and text[ends[0] - 1] == _RETURN:
            self.newline = "\r\n"
        if not len(text) or text[-1] != _NEWLINE:
            ends = np.append(ends, len(text))
        stops = np.sort(np.concatenate([_outside(self.marks, self.delimiters), ends]))
        starts = np.concatenate([[0], stops[:-1] + 1])
        # Only rows that are complete tell about their columns.
        line_of = np.searchsorted(ends, stops)
        first = np.searchsorted(line_of, np.arange(len(ends)))
        lengths = np.diff(np.append(first, len(stops)))
        whole = np.flatnonzero(lengths == width)
        filled = _filled(text, np.concatenate([[0], ends[:-1] + 1])[: len(ends)], ends)
        self.short = int(np.count_nonzero((lengths < width) & filled))
        index = first[whole][:, None] + np.arange(width)
        self.starts, self.stops = starts[index], stops[index]
        if width and len(whole):
            last = self.stops[:, -1]
            held = (last > self.starts[:, -1]) & (text[np.maximum(last - 1, 0)] == _RETURN)
            self.stops[:, -1] = last - held
        if padded and width > 1:
            inside = self.starts[:, 1:] < self.stops[:, 1:]
            space = text[np.minimum(self.starts[:, 1:], len(text) - 1)] == _SPACE
            self.starts[:, 1:] += inside & space

    def _in_quotes(self, starts: Positions, stops: Positions) -> NDArray[np.bool_]:
        first = self.text[np.minimum(starts, len(self.text) - 1)]
        return np.asarray((stops - starts >= 2) & (first == _QUOTE))

    def header_quoted(self) -> bool:
        if not len(self.starts):
            return False
        quoted = self._in_quotes(self.starts[0], self.stops[0])
        needed = self._needed(self.starts[0], self.stops[0])
        return bool(quoted.all() and not needed.all())

    def quotes(self) -> tuple[ColumnQuotes, ...]:
        return tuple(
            self._column(self.starts[1:, column], self.stops[1:, column])
            for column in range(self.width)
        )

    def _column(self, starts: Positions, stops: Positions) -> ColumnQuotes:
        quoted = self._in_quotes(starts, stops)
        filled = (stops > starts) & ~(quoted & (stops - starts == 2))
        some = np.flatnonzero(quoted & filled)
        needless = not self._needed(starts[some], stops[some]).all()
        if not needless:
            return ColumnQuotes()
        bare = np.flatnonzero(filled & ~quoted)
        texts = {
            self.text[starts[at] : stops[at]].tobytes().decode(errors="replace")
            for at in bare[:_SOME]
        }
        return ColumnQuotes(everywhere=not len(bare), needless=True, bare=frozenset(texts))

    def _needed(self, starts: Positions, stops: Positions) -> NDArray[np.bool_]:
        """Return which fields have a delimiter, a quote or a line end between their quotes."""
        inner = self._count(self.marks, starts + 1, stops - 1)
        inner += self._count(self.delimiters, starts, stops)
        inner += self._count(self.lines, starts, stops)
        inner += self._count(np.flatnonzero(self.text == _RETURN), starts, stops)
        return np.asarray(inner > 0)

    @staticmethod
    def _count(places: Positions, starts: Positions, stops: Positions) -> Positions:
        found: Positions = np.searchsorted(places, stops) - np.searchsorted(places, starts)
        return found


def _outside(marks: Positions, places: Positions) -> Positions:
    """Return the places that are not between quotes, which are at `marks`."""
    outside: Positions = places[np.searchsorted(marks, places) % 2 == 0]
    return outside


def tidied(content: bytes, delimiter: str, *, padded: bool = False) -> bytes:
    """Return a CSV text without blank lines, and without spaces after delimiters if `padded`."""
    text = np.frombuffer(content, np.uint8)
    marks = np.flatnonzero(text == _QUOTE)
    kept = np.ones(len(text), bool)
    ends = _outside(marks, np.flatnonzero(text == _NEWLINE))
    starts = np.concatenate([[0], ends[:-1] + 1])[: len(ends)]
    returned = (ends - starts == 1) & (text[starts] == _RETURN)
    kept[starts[returned]] = False
    kept[ends[returned | (ends == starts)]] = False
    places = _outside(marks, np.flatnonzero(text == delimiter.encode()[0])) + 1
    while padded and len(places):
        places = places[places < len(text)]
        places = places[text[places] == _SPACE]
        kept[places] = False
        places = places + 1
    return text[kept].tobytes()


def with_quotes(form: ColumnFormat, quotes: ColumnQuotes) -> ColumnFormat:
    """Return the format of a column with its quotes."""
    bare = quotes.needless and bool(quotes.bare) and quotes.bare <= {*form.missing}
    quoted = form.missing_quoted if not form.missing[0] else quotes.everywhere
    return replace(form, quoted=quotes.everywhere or bare, missing_quoted=quoted)
