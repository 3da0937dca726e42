"""How columns are written: values to texts and back."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from understudy.data.date_format import DateFormat
from understudy.data.formats import BooleanFormat, ColumnFormat, TextFormat, as_text
from understudy.data.number_format import NumberFormat

FORMATS = [
    ColumnFormat(),
    ColumnFormat(TextFormat(codes=True), ("NA",), quoted=True),
    ColumnFormat(BooleanFormat("TRUE", "FALSE")),
    ColumnFormat(NumberFormat(whole=True), ("-", ""), missing_quoted=True),
    ColumnFormat(DateFormat("date", "%d/%m/%Y"), ("N/A",)),
]


@pytest.mark.parametrize("form", FORMATS)
def test_a_format_goes_through_plain_values(form):
    assert ColumnFormat.from_plain(form.to_plain()) == form


def test_formats_in_words():
    assert [form.words for form in FORMATS] == [
        "",
        "codes with zeros in front, kept as text; missing is 'NA'",
        "TRUE and FALSE",
        "missing is '-'",
        "dates as dd/mm/yyyy; missing is 'N/A'",
    ]


@pytest.mark.parametrize(
    ("form", "texts", "values"),
    [
        (ColumnFormat(), ["x", "", None], ["x", None, None]),
        (ColumnFormat(TextFormat(empty=True)), ["x", "", None], ["x", "", None]),
        (ColumnFormat(TextFormat(), ("NA", "")), ["x", "", "NA"], ["x", None, None]),
        (ColumnFormat(BooleanFormat("T", "F"), ("?",)), ["T", "F", "?"], [True, False, None]),
        (ColumnFormat(NumberFormat(whole=True), ("-9",)), ["1", "-9", ""], [1, None, None]),
        (ColumnFormat(NumberFormat(), ("NaN",)), ["1.5", "NaN"], [1.5, None]),
    ],
)
def test_texts_become_values(form, texts, values):
    assert form.parse(pl.Series(texts)).to_list() == values


def test_the_first_word_for_missing_is_written():
    form = ColumnFormat(NumberFormat(places=2), ("N/A", ""))
    assert form.render(pl.Series([1.5, None, float("nan")])).to_list() == ["1.50", "N/A", "N/A"]


@pytest.mark.parametrize(
    "values",
    [
        pl.Series(["a", None]),
        pl.Series([dt.date(2020, 1, 1), None]),
        pl.Series([dt.datetime(2020, 1, 1, 1, 2, 3), None]),  # noqa: DTZ001
        pl.Series([True, None]),
        pl.Series([1.5, None]),
        pl.Series([1, None]),
    ],
    ids=lambda values: str(values.dtype),
)
def test_values_of_another_kind_are_written_plainly(values):
    # As after a change of the table that made text of numbers.
    lines = pl.DataFrame({"x": values}).write_csv(include_header=False).split("\n")
    plain = [lines[0], None]
    assert as_text(values).to_list() == plain
    for form in FORMATS:
        if not form.fits(values.dtype):
            assert form.texts(values).to_list() == plain


def test_what_polars_writes_so_by_itself():
    assert ColumnFormat().plain()
    assert ColumnFormat(NumberFormat(decimal=",")).plain(",")
    assert not ColumnFormat(NumberFormat(decimal=",")).plain(".")
    assert ColumnFormat(DateFormat("date", "%Y-%m-%d")).plain()
    assert [form.plain() for form in FORMATS] == [True, False, False, False, False]


@pytest.mark.parametrize("plain", [{}, {"kind": "x"}, {"kind": "number", "values": [1]}, 5])
def test_what_is_no_format_is_refused(plain):
    with pytest.raises(ValueError, match="no format of a column"):
        ColumnFormat.from_plain(plain)
