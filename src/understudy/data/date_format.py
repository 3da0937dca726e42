"""How the dates and times of a column are written: their order, signs, names, zones."""

from __future__ import annotations

import re
from calendar import month_name
from dataclasses import dataclass
from typing import Literal

import polars as pl

DayOrder = Literal["dmy", "mdy"]
"""Whether the day or the month comes first in a date such as 01/02/2020."""

OFFSET = re.compile(r"([-+])(\d\d):?(\d\d)")
_LETTERS = {
    "%d": "dd",
    "%-d": "d",
    "%m": "mm",
    "%-m": "m",
    "%Y": "yyyy",
    "%y": "yy",
    "%b": "Mon",
    "%B": "Month",
    "%H": "hh",
    "%-H": "h",
    "%I": "hh",
    "%-I": "h",
    "%M": "mm",
    "%S": "ss",
    "%p": "AM",
    "%P": "am",
    "%z": "+zzzz",
    "%:z": "+zz:zz",
    "%.f": "",
    "%q": "q",
    "%G": "yyyy",
    "%V": "ww",
    "%u": "d",
    "%a": "Day",
    "%A": "Weekday",
}
MICROSECONDS = 6
_ENGLISH = month_name[1:]


@dataclass(frozen=True)
class DateFormat:
    """How the dates or times of a column are written.

    Parameters
    ----------
    kind : {"date", "datetime", "time"}
        What they are.
    pattern : str
        The pattern, as chrono and `strftime` have it. ``%.f`` stands for a part of a second.
    digits : int
        Digits after the second: a number, 0 for as many as are needed, or -6 for six or none.
    case : {"", "upper", "lower"}
        How the names of months are written.
    first_year : int
        The first of the hundred years that two digits stand for.
    zone : str
        The zone as it stands at the end, such as ``Z`` or ``+02:00``, or its name, such as
        ``Europe/Berlin``, where the pattern has the offset.
    letter : bool
        Whether a or p stands at the end for am or pm, as in 1:47p.
    months : tuple of str
        The names of the twelve months, unless they are English.
    """

    kind: Literal["date", "datetime", "time"]
    pattern: str
    digits: int = 0
    case: Literal["", "upper", "lower"] = ""
    first_year: int = 0
    zone: str = ""
    letter: bool = False
    months: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "months", tuple(self.months))  # JSON has lists
        if len(self.months) not in (0, len(_ENGLISH)):
            raise ValueError("no format of dates")

    @property
    def dtype(self) -> pl.DataType:
        """The type in which the values are stored."""
        if self.kind == "date":
            return pl.Date()
        if self.kind == "time":
            return pl.Time()
        return pl.Datetime("ns" if self.fine else "us", "UTC" if self.zone else None)

    @property
    def fine(self) -> bool:
        """Whether microseconds are too coarse."""
        return self.digits > MICROSECONDS

    @property
    def words(self) -> str:
        """The pattern in words, such as: dates as dd/mm/yyyy."""
        shown = re.sub(r"%(?:-|:|\.)?[A-Za-z]", lambda found: _LETTERS[found[0]], self.pattern)
        if "%.f" in self.pattern:
            shown = shown.replace("ss", "ss.f", 1)
        shown = shown.upper() if self.case == "upper" else shown
        shown = shown[:-1] if self.letter else shown
        zone = self.zone if self.zone and "z" not in self.pattern else ""
        kind = {"date": "dates", "datetime": "dates and times", "time": "times"}[self.kind]
        if self.zone and "z" in self.pattern:
            kind = f"{kind} of {self.zone}"
        years = f", years from {self.first_year}" if self.first_year else ""
        months = f", months as {self.months[0]}" if self.months else ""
        return f"{kind} as {shown}{zone}{years}{months}"

    @property
    def order(self) -> DayOrder | Literal[""]:
        """Whether the day or the month comes first, if both are numbers before the year."""
        if re.match(r"%-?d[-/.]?%-?m", self.pattern):
            return "dmy"
        return "mdy" if re.match(r"%-?m[-/.]?%-?d", self.pattern) else ""

    def parsed(self, text: pl.Expr) -> pl.Expr:
        """Return texts as dates or times, null where they are none."""
        pattern = self.pattern
        if self.months:
            # A longer name may begin with a shorter one.
            longest = sorted(zip(self.months, _ENGLISH, strict=True), key=lambda two: -len(two[0]))
            text = text.str.replace_many(*map(list, zip(*longest, strict=True)), leftmost=True)
        if self.letter:
            text = text + pl.lit("M" if pattern.endswith("%p") else "m")
        if self.kind == "time":
            return text.str.to_time(pattern, strict=False)
        if self.kind == "date":
            return self._in_century(self._first_day(text))
        if not self.zone:
            return self._in_century(self._naive(text, pattern))
        if "z" in pattern:
            return text.str.to_datetime(
                pattern, strict=False, time_unit="ns" if self.fine else "us", time_zone="UTC"
            )
        local = self._in_century(self._naive(text, pattern + self.zone))
        return (local - self._ahead()).dt.replace_time_zone("UTC")

    def _first_day(self, text: pl.Expr) -> pl.Expr:
        """Return texts as dates; a month, a quarter or a week stands for its first day."""
        if "%d" in self.pattern or "%-d" in self.pattern or "%u" in self.pattern:
            return text.str.to_date(self.pattern, strict=False)
        if "%q" in self.pattern:
            month = text.str.extract(r"Q(\d)").cast(pl.Int8, strict=False) * 3 - 2
            text = text.str.extract(r"(\d{4})") + pl.lit("-") + month.cast(pl.String)
            return (text + pl.lit("-1")).str.to_date("%Y-%m-%d", strict=False)
        day = "%u" if "%V" in self.pattern else "%d"
        return (text + pl.lit("-1")).str.to_date(f"{self.pattern}-{day}", strict=False)

    def _naive(self, text: pl.Expr, pattern: str) -> pl.Expr:
        return text.str.to_datetime(pattern, strict=False, time_unit="ns" if self.fine else "us")

    def _in_century(self, value: pl.Expr) -> pl.Expr:
        if not self.first_year:
            return value
        year = self.first_year + (value.dt.year().cast(pl.Int32) - self.first_year) % 100
        return value.dt.replace(year=year)

    def _ahead(self) -> pl.Expr:
        """Return how far the zone is ahead of UTC."""
        offset = OFFSET.search(self.zone)
        minutes = int(f"{offset[1]}1") * (60 * int(offset[2]) + int(offset[3])) if offset else 0
        return pl.duration(minutes=minutes, time_unit="ns" if self.fine else "us")

    def rendered(self, values: pl.Series) -> pl.Series:
        """Return dates or times as texts of this format."""
        different = values.unique()
        if values.dtype != self.dtype:
            different = different.cast(self.dtype) if self.kind != "time" else different
        value = pl.col("value")
        tail = ""
        if self.zone and "z" in self.pattern:
            value = value.dt.convert_time_zone(self.zone)
        elif self.zone:
            value = value.dt.replace_time_zone(None) + self._ahead()
            tail = self.zone
        text = value.dt.to_string(self.pattern.replace("%.f", "%.9f"))
        if "%.f" in self.pattern:
            text = self._cut(text)
        if self.months:
            text = text.str.replace_many(_ENGLISH, list(self.months))
        if self.letter:
            text = text.str.head(-1)
        if self.case:
            text = text.str.to_uppercase() if self.case == "upper" else text.str.to_lowercase()
        made = pl.DataFrame({"key": values.unique(), "value": different}).select(
            "key", text=text + pl.lit(tail) if tail else text
        )
        joined = values.to_frame("key").join(
            made, on="key", how="left", maintain_order="left", nulls_equal=True
        )
        return joined["text"]

    def _cut(self, text: pl.Expr) -> pl.Expr:
        """Return texts with nine digits after the second with as many as this format has."""
        if self.digits > 0:
            return text.str.replace(rf"(:\d\d\.\d{{{self.digits}}})\d{{{9 - self.digits}}}", "$1")
        if self.digits < 0:
            some = text.str.replace(r"(:\d\d\.\d{6})\d{3}", "$1")
            return some.str.replace(r"(:\d\d)\.000000", "$1")
        return text.str.replace(r"(:\d\d:\d\d(?:\.\d*[1-9])?)\.?0*", "$1")
