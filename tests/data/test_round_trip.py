"""Any CSV whose values are understood goes through `read` and `write` unchanged, byte by byte."""

from __future__ import annotations

import datetime as dt
import json
import logging
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import polars as pl
import polars.testing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.data import Dialect, detect, read, scan, write
from understudy.data.missing_words import ALWAYS, BESIDE_VALUES

LETTERS = st.text(
    st.characters(codec="cp1252", categories=["L"], exclude_characters="\x81"),
    min_size=3,
    max_size=8,
)
ODD = st.sampled_from(["a, b", 'say "x"', "two\nlines", "semi;colon", "tab\tbar|", "'", "it's"])
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MONATE = ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September")
MONATE += ("Oktober", "November", "Dezember")
MOIS = ("janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.")
MOIS += ("déc.",)
MESES = ("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre")
MESES += ("octubre", "noviembre", "diciembre")
DAYS = st.dates(dt.date(1950, 1, 1), dt.date(2049, 12, 31))
MOMENTS = st.datetimes(dt.datetime(1950, 1, 1), dt.datetime(2049, 12, 31))  # noqa: DTZ001


def grouped(cents, sign=",", point="."):
    whole, part = divmod(abs(cents), 100)
    return f"{whole:,}".replace(",", sign) + f"{point}{part:02}"


def money(cents):
    return ("-$" if cents < 0 else "$") + grouped(cents)


def euros(cents):
    return "-" * (cents < 0) + grouped(cents, ".", ",") + " €"


def in_lakhs(number):
    """Return a whole number as India writes it: 1,23,45,678."""
    digits = str(abs(number))
    pairs, thousand = digits[:-3], digits[-3:]
    cut = [pairs[max(end - 2, 0) : end] for end in range(len(pairs), 0, -2)]
    return "-" * (number < 0) + ",".join([*reversed(cut), thousand])


def in_brackets(cents):
    return f"({grouped(cents)})" if cents < 0 else grouped(cents)


CENTS = st.integers(-(10**9), 10**9)
MINUTES = st.integers(0, 5000)
COLUMNS = {
    "whole": st.integers(-(2**62), 2**62).map(str),
    "small": st.integers(0, 5).map(str),
    "codes": st.integers(0, 99999).map("{:05}".format),
    "shortest": st.floats(-1e15, 1e15, allow_nan=False).map(repr),
    "tiny": st.integers(1, 99999).map(lambda n: f"{n / 10**8:.8f}".rstrip("0")),
    "fifteen": st.floats(-99, 99).map(
        lambda x: np.format_float_positional(float(f"{x:.15g}"), trim="0")
    ),
    "tenths": st.integers(-999, 999).map(lambda n: f"{n / 10:.1f}"),
    "hundredths": st.integers(-99999, 99999).map(lambda n: f"{n / 100:.2f}"),
    "three": st.integers(0, 99999).map(lambda n: f"{n / 1000:.3f}"),
    "bare": st.integers(1, 99).map(".{:02}".format),
    "signed": st.integers(-99, 99).map("{:+d}".format),
    "money": CENTS.map(money),
    "euros": CENTS.map(euros),
    "brackets": CENTS.map(in_brackets),
    "lakhs": st.integers(-(10**9), 10**9).map(in_lakhs),
    "thousands": st.integers(-(10**9), 10**9).map("{:,}".format),
    "commas": st.integers(-99999, 99999).map(lambda n: f"{n / 100}".replace(".", ",")),
    "weight": st.integers(-999, 999).map(lambda n: f"{n / 10:.1f} kg"),
    "filled": st.integers(-999, 9999).map("{:6}".format),
    "minus": st.integers(-99, 99).map(lambda n: str(n).replace("-", "\u2013")),
    "magnitudes": st.tuples(st.integers(10, 9999), st.sampled_from("kM")).map(
        lambda two: f"{two[0] / 10}{two[1]}"
    ),
    "percent": st.integers(0, 1000).map(lambda n: f"{n / 10:.1f}%"),
    "iso": DAYS.map(str),
    "dmy": DAYS.map("{:%d/%m/%Y}".format),
    "mdy": DAYS.map("{:%m/%d/%Y}".format),
    "dotted": DAYS.map("{:%d.%m.%Y}".format),
    "unpadded": DAYS.map(lambda day: f"{day.day}/{day.month}/{day.year}"),
    "named": DAYS.map(lambda day: f"{day.day}-{MONTHS[day.month - 1]}-{day.year}"),
    "capitals": DAYS.map(lambda day: f"{day.day:02}{MONTHS[day.month - 1].upper()}{day.year}"),
    "month": DAYS.map("{:%Y-%m}".format),
    "quarter": DAYS.map(lambda day: f"{day.year}Q{(day.month + 2) // 3}"),
    "week": DAYS.map("{:%G-W%V}".format),
    "weekday": DAYS.map("{:%a, %d %b %Y}".format),
    "german": DAYS.map(lambda day: f"{day.day}. {MONATE[day.month - 1]} {day.year}"),
    "french": DAYS.map(lambda day: f"{day:%d} {MOIS[day.month - 1]} {day.year}"),
    "mes": DAYS.map(lambda day: f"{MESES[day.month - 1]} de {day.year}"),
    "two digits": DAYS.map("{:%d/%m/%y}".format),
    "moment": MOMENTS.map("{:%Y-%m-%d %H:%M:%S}".format),
    "minutes": MOMENTS.map("{:%d.%m.%Y %H:%M}".format),
    "halves": MOMENTS.map("{:%m/%d/%Y %I:%M:%S %p}".format),
    "letters": MOMENTS.map(
        lambda one: (
            f"{one.month}/{one.day}/{one:%Y} {(one.hour - 1) % 12 + 1}:{one:%M}"
            + ("p" if one.hour > 11 else "a")
        )
    ),
    "python": MOMENTS.map(str),
    "milli": MOMENTS.map(lambda one: one.isoformat(timespec="milliseconds")),
    "zulu": MOMENTS.map("{:%Y-%m-%dT%H:%M:%SZ}".format),
    "offset": MOMENTS.map("{:%Y-%m-%dT%H:%M:%S+02:00}".format),
    "clock": st.times().map("{:%H:%M}".format),
    "h m": MINUTES.map(lambda n: f"{n // 60}h {n % 60:02}m"),
    "spoken": MINUTES.map(
        lambda n: f"{n // 60} hour{'s' * (n // 60 != 1)} {n % 60} minute{'s' * (n % 60 != 1)}"
    ),
    "delta": st.integers(-(10**7), 10**7).map(lambda n: str(dt.timedelta(seconds=n))),
    "pandas": st.integers(-(10**7), 10**7).map(lambda n: str(pd.Timedelta(seconds=n))),
    "iso duration": MINUTES.map(lambda n: f"PT{n // 60}H{n % 60}M"),
    "laps": st.integers(0, 10**7).map(lambda n: f"{n // 60000}:{n / 1000 % 60:06.3f}"),
    "truth": st.sampled_from(["TRUE", "FALSE"]),
    "Truth": st.sampled_from(["True", "False"]),
    "yes": st.sampled_from(["yes", "no"]),
    "T": st.sampled_from(["T", "F"]),
    "text": LETTERS,
    "odd": LETTERS | ODD,
    "levels": st.sampled_from(["None", "-", "x", "low", "1-5", "<=50K"]),
}


TEXTS = ("text", "odd", "levels", "yes", "T", "codes")


@dataclass(frozen=True)
class Shape:
    delimiter: str
    newline: str
    encoding: str
    quotes: str
    ending: int
    padded: bool
    unnamed: bool


shapes = st.builds(
    Shape,
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    st.sampled_from(["needed", "all", "texts", "texts but missing"]),
    st.integers(0, 3),
    st.booleans(),
    st.booleans(),
)


def field(text, shape, *, quoted):
    if quoted or any(sign in text for sign in f'{shape.delimiter}"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def written(names, columns, words, shape):
    """Return a CSV file, put together by hand."""
    fields = []
    for name, column, word in zip(names, columns, words, strict=True):
        always = shape.quotes == "all" or (name in TEXTS and shape.quotes != "needed")
        bare = {word} if shape.quotes == "texts but missing" else set()
        called = "" if shape.unnamed and name == names[0] else name
        header = field(called, shape, quoted=shape.quotes != "needed")
        fields.append(
            [header, *(field(one, shape, quoted=always and one not in bare) for one in column)]
        )
    between = shape.delimiter + " " * shape.padded
    lines = shape.newline.join(between.join(row) for row in zip(*fields, strict=True))
    return (lines + shape.newline * shape.ending).encode(shape.encoding)


@st.composite
def files(draw):
    kinds = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=5, unique=True))
    rows = draw(st.integers(2, 12))
    shape = draw(shapes)
    if "\n" in shape.newline and shape.padded:
        kinds = [kind for kind in kinds if kind != "odd"] or ["text"]
    if shape.padded:  # one space would be told from many by the header alone
        kinds = [kind for kind in kinds if kind != "filled"] or ["text"]
    if len(kinds) == 1:  # an empty line at the end would be a record
        shape = replace(shape, ending=min(shape.ending, 1), padded=False, unnamed=False)
    columns, chosen = [], []
    for kind in kinds:
        values = draw(st.lists(COLUMNS[kind], min_size=rows, max_size=rows))
        possible = ["", *ALWAYS] if kind in TEXTS else ["", *ALWAYS, *BESIDE_VALUES]
        word = draw(
            st.sampled_from(possible).filter(lambda one: not shape.padded or one.strip() == one)
        )
        gaps = draw(st.lists(st.booleans(), min_size=rows - 1, max_size=rows - 1))
        columns.append(
            [word if gap else one for gap, one in zip([False, *gaps], values, strict=True)]
        )
        chosen.append(word)
    return written(kinds, columns, chosen, shape), shape


@pytest.fixture(scope="module", autouse=True)
def quiet():
    log = logging.getLogger("understudy")
    before, log.level = log.level, logging.ERROR
    yield
    log.level = before


def check(folder, made):
    content, shape = made
    path = folder / "x.csv"
    path.write_bytes(content)
    options = {"encoding": shape.encoding, "delimiter": shape.delimiter}
    frame, dialect = read(path, **options), detect(path, **options)
    copy = write(frame, folder / "y.csv", dialect=dialect)
    assert copy.read_bytes() == content
    # The same format reads its own writing, and JSON holds it.
    assert Dialect.from_plain(json.loads(json.dumps(dialect.to_plain()))) == dialect
    if dialect.encoding == "utf-8" and not shape.padded and shape.ending < 2:
        polars.testing.assert_frame_equal(pl.concat(scan(path, **options).batches()), frame)


@settings(max_examples=40)
@given(files())
def test_a_file_comes_back_byte_by_byte(tmp_path_factory, made):
    check(tmp_path_factory.mktemp("round"), made)


@pytest.mark.slow
@settings(max_examples=1000)
@given(files())
def test_many_files_come_back_byte_by_byte(tmp_path_factory, made):
    check(tmp_path_factory.mktemp("round"), made)
