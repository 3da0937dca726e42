"""Finding how the dates and times of a column are written.

The first text suggests patterns. One is taken only if it reads every different text of the
column, and it is exact if it also writes each as it was.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import polars as pl

from understudy.data.date_format import MICROSECONDS, OFFSET, DateFormat, DayOrder
from understudy.data.dependencies.composites import spread_over_hours
from understudy.data.month_names import months_named

LAST_YEAR = 2049
"""Years of two digits are read as years up to this one, as many databases do."""

_DAY_MONTH_YEAR = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?!\d)")
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)")
_DAY_NAME_YEAR = re.compile(r"(\d{1,2})([-/. ]?)([A-Za-z]{3,9})\2(\d{4}|\d{2})(?!\d)")
_NAME_DAY_YEAR = re.compile(r"([A-Za-z]{3,9}) (\d{1,2})(,?) (\d{4})(?!\d)")
_DAY_WORD_YEAR = re.compile(
    r"(?P<day>\d{1,2})(?P<first>\. ?| de |[-/ ]?)(?P<name>[^\W\d_]{3,10}\.?)(?P<second> de |[-/ ]?)"
    r"(?P<year>\d{4}|\d{2})(?!\d)"
)
_WORD_YEAR = re.compile(r"(?P<name>[^\W\d_]{3,10}\.?)(?P<second> de |[-/ ])(?P<year>\d{4}|\d{2})")
_MONTHS = {
    re.compile(r"(?:1[89]|2[01])\d\d([-/])(?:0[1-9]|1[0-2])"): "%Y{}%m",
    re.compile(r"(?:0[1-9]|1[0-2])([-/])(?:1[89]|2[01])\d\d"): "%m{}%Y",
    re.compile(r"[A-Z][a-z]{2}([- ])(?:1[89]|2[01])\d\d"): "%b{}%Y",
    re.compile(r"[A-Z][a-z]{2}([-'])\d\d"): "%b{}%y",
    re.compile(r"[A-Z][a-z]{2,8}([- ])(?:1[89]|2[01])\d\d"): "%B{}%Y",
    re.compile(r"(?:1[89]|2[01])\d\d([- ]?)Q[1-4]"): "%Y{}Q%q",
    re.compile(r"Q[1-4]([-/ ]?)(?:1[89]|2[01])\d\d"): "Q%q{}%Y",
    re.compile(r"(?:1[89]|2[01])\d\d(-?)W[0-5]\d"): "%G{}W%V",
    re.compile(r"(?:1[89]|2[01])\d\d(-?)W[0-5]\d\1[1-7]"): "%G{0}W%V{0}%u",
}
"""Months, quarters and weeks: texts without a day of the month. Other years are more likely codes.
"""
_WEEKDAY = re.compile(r"((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)|[A-Z][a-z]{2,5}day)(,? )(?=[\w])")
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d)(\.\d{1,9})?)?( ?[AaPp][Mm]?(?![A-Za-z]))?(?!\d)")
_PADDED_CLOCK = re.compile(r"[0-2]\d[0-5]\d")
PADDED = "%H%M"
"""Clock times without a colon, with zeros in front: numbers of four digits may be so by chance."""
PADDED_DATES = ("%d%m%Y", "%m%d%Y")
_PADDED_DATE = re.compile(r"(?:[0-2]\d|3[01]){2}(?:19|20)\d\d")
FEWEST_PADDED = 10
"""So many different codes of eight digits that are all dates are no codes: 05012021."""
_ZONE = re.compile(r"Z| ?(?:UTC|GMT)| ?[-+]\d\d:?\d\d")
_SEPARATOR = re.compile(r"T|, | |:")
_ZONES = (
    *("Europe/Berlin", "Europe/London", "Europe/Helsinki", "Europe/Lisbon", "America/New_York"),
    *("America/Chicago", "America/Denver", "America/Los_Angeles", "America/Sao_Paulo"),
    *("Australia/Sydney", "Australia/Adelaide", "Pacific/Auckland", "Asia/Jerusalem"),
)
_SAMPLE = 100


@dataclass(frozen=True)
class FoundDates:
    """A format that reads all texts of a column, whether it is exact, and what is doubtful."""

    format: DateFormat
    exact: bool
    ambiguous: bool = False


def looks_like_dates(text: str) -> bool:
    """Return whether a text may be a date or time."""
    return next(_candidates(text), None) is not None


def find_dates(different: pl.Series, order: DayOrder | None = None) -> FoundDates | None:
    """Return how dates or times are written, or None if some texts are others.

    Parameters
    ----------
    different : Series
        The different texts, none missing. The first decides the form.
    order : {"dmy", "mdy"}, optional
        What comes first where that cannot be told; the day, if not given.
    """
    if not len(different):
        return None
    candidates = list(_candidates(different[0]))
    sample = different.head(_SAMPLE).to_list()
    strict = [form for form in candidates if all(map(_strict(form), sample))]
    readable: dict[str, FoundDates] = {}
    for form in strict:
        if form.order in readable or ("" in readable):
            continue
        found = _fits(form, different)
        if found is not None and found.exact:
            readable[form.order] = found
    if readable:
        best = readable.get(order or "dmy") or next(iter(readable.values()))
        return replace(best, ambiguous={"dmy", "mdy"} <= readable.keys())
    # Some have zeros in front and some have not, or the seconds have parts here and there.
    loose = [
        form
        for form in candidates
        if form.pattern not in PADDED_DATES and not re.search("%y|z$", form.pattern)
    ]
    preferred = sorted(loose, key=lambda form: form.order not in ("", order or "dmy"))
    return next(filter(None, (_fits(form, different) for form in preferred)), None)


def _fits(form: DateFormat, different: pl.Series) -> FoundDates | None:
    """Return a format if it reads all texts, with its years and its digits after the second."""
    frame, text = different.to_frame("text"), pl.col("text")
    if not different.str.contains(_shape(form)).all():
        return None
    if form.pattern in PADDED_DATES and len(different) < FEWEST_PADDED:
        return None
    if "%.f" in form.pattern:
        part = text.str.extract(r":\d\d\.(\d+)").str.len_bytes().fill_null(0)
        lengths = set(frame.select(part.unique()).to_series().to_list())
        mixed = -MICROSECONDS if lengths == {0, MICROSECONDS} else 0
        form = replace(form, digits=lengths.pop() if len(lengths) == 1 else mixed)
    if "%y" in form.pattern:
        years = frame.select((form.parsed(text).dt.year() % 100).unique()).to_series()
        form = replace(form, first_year=first_of_hundred(years.drop_nulls().to_list()))
    values = frame.select(form.parsed(text)).to_series()
    if values.null_count():
        return None
    if form.pattern == PADDED and not spread_over_hours(
        (values.dt.hour().cast(pl.Int64) * 100 + values.dt.minute()).to_numpy()
    ):
        return None
    return FoundDates(form, exact=form.rendered(values).equals(different))


_LOOSE = {
    "%Y": r"\d{4}",
    "%y": r"\d{2}",
    "%b": "[A-Za-z]{3}",
    "%B": "[A-Za-z]{3,9}",
    "%M": r"[0-5]\d",
    "%S": r"[0-5]\d",
    "%.f": r"(?:\.\d{1,9})?",
    "%p": "[AP]M",
    "%P": "[ap]m",
    "%z": r"[-+]\d{4}",
    "%:z": r"[-+]\d\d:\d\d",
    "%q": "[1-4]",
    "%G": r"\d{4}",
    "%V": r"[0-5]\d",
    "%u": "[1-7]",
    "%a": "[A-Za-z]{3}",
    "%A": "[A-Za-z]{6,9}",
    **dict.fromkeys(("%d", "%-d", "%m", "%-m", "%H", "%-H", "%I", "%-I"), r"\d{1,2}"),
}
_STRICT = _LOOSE | {
    "%d": r"(?:0[1-9]|[12]\d|3[01])",
    "%-d": r"(?:[1-9]|[12]\d|3[01])",
    "%m": r"(?:0[1-9]|1[0-2])",
    "%-m": "(?:[1-9]|1[0-2])",
    "%H": r"(?:[01]\d|2[0-3])",
    "%-H": r"(?:\d|1\d|2[0-3])",
    "%I": r"(?:0[1-9]|1[0-2])",
    "%-I": "(?:[1-9]|1[0-2])",
}


def _shape(form: DateFormat, parts: Mapping[str, str] = _LOOSE) -> str:
    """Return a regular expression for texts of a format, with or without zeros in front."""
    pieces = re.split(r"(%[-:.]?[A-Za-z])", form.pattern)
    if form.months:
        parts = {**parts, "%B": f"(?:{'|'.join(map(re.escape, form.months))})"}
    shape = "".join(parts.get(piece) or re.escape(piece) for piece in pieces)
    if form.letter:
        shape = shape[:-1]  # of am or pm, the first letter alone
    return f"^{shape}{'' if 'z' in form.pattern else re.escape(form.zone)}$"


@lru_cache(maxsize=256)
def _strict(form: DateFormat) -> Callable[[str], object]:
    return re.compile(_shape(form, _STRICT)).match


def first_of_hundred(years: Sequence[int]) -> int:
    """Return the first of the hundred years that two digits stand for.

    The years lie together: the hundred begins after the widest gap between them, so that they end
    by `LAST_YEAR`, and begin in 1900 or later.

    Examples
    --------
    >>> first_of_hundred([25, 40, 60, 80, 99]), first_of_hundred([98, 3, 21])
    (1925, 1998)
    """
    known = sorted(set(years))
    if not known:
        return LAST_YEAR - 99
    before = [known[-1], *known[:-1]]
    best: tuple[int, int] = (-1, LAST_YEAR - 99)
    for earlier, start in zip(before, known, strict=True):
        span = max((year - start) % 100 for year in known)
        first = 2000 + start if 2000 + start + span <= LAST_YEAR else 1900 + start
        if first + span <= LAST_YEAR:
            best = max(best, ((start - earlier - 1) % 100, first))
    return best[1]


def _candidates(text: str) -> Iterator[DateFormat]:
    """Yield the formats that a text may have, from the likeliest on."""
    if found := _WEEKDAY.match(text):
        day = ("%A" if found[1].endswith("day") else "%a") + found[2]
        for form in _without_weekday(text[found.end() :]):
            yield replace(form, pattern=day + form.pattern)
    else:
        yield from _without_weekday(text)


def _without_weekday(text: str) -> Iterator[DateFormat]:
    matches = ((shape.fullmatch(text), pattern) for shape, pattern in _MONTHS.items())
    yield from (DateFormat("date", pattern.format(found[1])) for found, pattern in matches if found)
    for date, rest, case in _dates(text):
        yield from _with_clock(DateFormat("date", date, case=case), rest)
    yield from _in_other_languages(text)
    yield from (
        DateFormat("time", clock, letter=letter) for clock, end, letter in _clocks(text) if not end
    )


def _in_other_languages(text: str) -> Iterator[DateFormat]:
    """Yield formats with names of months that are not English, of days and of months."""
    found = _DAY_WORD_YEAR.match(text) or _WORD_YEAR.fullmatch(text)
    if found is None:
        return
    month = f"%B{found['second']}{_year(found['year'])}"
    days = [f"{day}{found['first']}" for day in ("%d", "%-d")] if found.re.groups > 3 else [""]
    for day, months in itertools.product(days, months_named(found["name"])):
        yield from _with_clock(DateFormat("date", day + month, months=months), text[found.end() :])


def _with_clock(date: DateFormat, rest: str) -> Iterator[DateFormat]:
    """Yield the formats of a date, and of the time and the zone that may follow it."""
    if not rest:
        yield date
        return
    gap = _SEPARATOR.match(rest)
    if gap is None:
        return
    for clock, end, letter in _clocks(rest[gap.end() :]):
        pattern = date.pattern + gap[0] + clock
        whole = replace(date, kind="datetime", pattern=pattern, letter=letter)
        if not end:
            yield whole
        elif not letter and _ZONE.fullmatch(end):
            yield replace(whole, zone=end)
            if offset := OFFSET.search(end):
                style = "%:z" if ":" in offset[0] else "%z"
                gap_before = " " if end.startswith(" ") else ""
                varying = replace(whole, pattern=whole.pattern + gap_before + style)
                yield from (replace(varying, zone=zone) for zone in _ZONES)


_Dates = Iterator[tuple[str, str, Literal["", "upper", "lower"]]]
_DAYS = (("%d", "%m"), ("%-d", "%-m"), ("%d", "%-m"), ("%-d", "%m"))


def _dates(text: str) -> _Dates:
    """Yield patterns for the date at the beginning of a text, with the rest of the text."""
    if match := _YEAR_FIRST.match(text):
        for day, month in _DAYS:
            yield f"%Y{match[2]}{month}{match[2]}{day}", text[match.end() :], ""
    elif match := _DAY_MONTH_YEAR.match(text):
        yield from _numbered_dates(match)
    elif _PADDED_DATE.fullmatch(text):
        yield from ((pattern, "", "") for pattern in PADDED_DATES)
    elif match := _DAY_NAME_YEAR.match(text):
        sign, year = match[2], _year(match[4])
        for name, day in itertools.product(("%b", "%B"), ("%d", "%-d")):
            yield f"{day}{sign}{name}{sign}{year}", text[match.end() :], _case(match[3])
    elif match := _NAME_DAY_YEAR.match(text):
        for name, day in itertools.product(("%b", "%B"), ("%d", "%-d")):
            yield f"{name} {day}{match[3]} %Y", text[match.end() :], _case(match[1])


def _numbered_dates(match: re.Match[str]) -> _Dates:
    sign, year, rest = match[2], _year(match[4]), match.string[match.end() :]
    # 1.2.20 may be a chapter or a version.
    days = _DAYS[:1] if sign == "." and year == "%y" else _DAYS
    for day, month in days:
        yield f"{day}{sign}{month}{sign}{year}", rest, ""
    if sign == ".":
        return
    for day, month in days:
        yield f"{month}{sign}{day}{sign}{year}", rest, ""
    if year == "%y":
        yield f"%y{sign}%m{sign}%d", rest, ""


def _year(digits: str) -> str:
    return "%y" if len(digits) == 2 else "%Y"


def _case(name: str) -> Literal["", "upper", "lower"]:
    return "upper" if name.isupper() else "lower" if name.islower() else ""


def _clocks(text: str) -> Iterator[tuple[str, str, bool]]:
    """Yield patterns for the time at the beginning of a text, with the rest of the text.

    Whether its half of the day is a single letter comes last.
    """
    match = _CLOCK.match(text)
    if match is None:
        if _PADDED_CLOCK.fullmatch(text):
            yield PADDED, "", False
        return
    tail = ":%M"
    if match[3]:
        tail += ":%S"
    halves = match[5] or ""
    letter = len(halves.strip()) == 1
    if halves:
        halves = halves.replace(halves.strip(), "%p" if halves.strip().isupper() else "%P")
    for hour in ("I", "-I") if halves else ("H", "-H"):
        # A part of a second may be missing where it is none.
        for part in ("", "%.f") if match[3] else ("",):
            yield f"%{hour}{tail}{part}{halves}", text[match.end() :], letter
