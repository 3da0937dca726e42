"""Rows of CSV files as a dialect writes them."""

from __future__ import annotations

import io

import polars as pl
import pytest

from understudy.data.csv_text import put_rows
from understudy.data.dialect import Dialect
from understudy.data.formats import BooleanFormat, ColumnFormat, TextFormat
from understudy.data.number_format import NumberFormat

FRAME = pl.DataFrame({"a": [1.5, None, 2.0], "b": ["x", 'y, "z"', None], "c": [True, None, False]})
MONEY = ColumnFormat(NumberFormat(places=2, prefix="$"), ("N/A",))


def text(dialect, frame=FRAME, *, header=True):
    file = io.BytesIO()
    put_rows(frame, dialect, file, lambda one: one.encode(dialect.encoding), header=header)
    return file.getvalue().decode(dialect.encoding)


@pytest.mark.parametrize(
    ("dialect", "lines"),
    [
        (Dialect(), ["a,b,c", "1.5,x,true", ',"y, ""z""",', "2.0,,false"]),
        (Dialect(";", ","), ["a;b;c", "1,5;x;true", ';"y, ""z""";', "2,0;;false"]),
        (Dialect(padded=True), ["a, b, c", "1.5, x, true", ', "y, ""z""", ', "2.0, , false"]),
        (Dialect(header_quoted=True), ['"a","b","c"', "1.5,x,true", ',"y, ""z""",', "2.0,,false"]),
        (
            Dialect(formats={"a": MONEY, "c": ColumnFormat(BooleanFormat("Y", "N"))}),
            ["a,b,c", "$1.50,x,Y", 'N/A,"y, ""z""",', "$2.00,,N"],
        ),
        (
            Dialect(formats={"b": ColumnFormat(missing=("NA",), quoted=True)}),
            ["a,b,c", '1.5,"x",true', ',"y, ""z""",', "2.0,NA,false"],
        ),
        (
            Dialect(formats={"b": ColumnFormat(missing=("NA",), quoted=True, missing_quoted=True)}),
            ["a,b,c", '1.5,"x",true', ',"y, ""z""",', '2.0,"NA",false'],
        ),
        (
            Dialect(formats={"b": ColumnFormat(missing_quoted=True)}),
            ["a,b,c", "1.5,x,true", ',"y, ""z""",', '2.0,"",false'],
        ),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_rows_by_hand(dialect, lines, newline, encoding):
    from dataclasses import replace

    dialect = replace(dialect, newline=newline, encoding=encoding)
    assert text(dialect) == "".join(line + newline for line in lines)
    assert text(dialect, header=False) == "".join(line + newline for line in lines[1:])
    assert text(dialect, FRAME.clear()) == lines[0] + newline


def test_an_empty_text_is_not_missing():
    frame = pl.DataFrame({"a": ["", None, "x"]})
    assert text(Dialect(), frame) == 'a\n""\n\nx\n'
    form = ColumnFormat(TextFormat(empty=True), quoted=True)
    assert text(Dialect(formats={"a": form}), frame) == 'a\n""\n\n"x"\n'


def test_spaces_at_the_ends_are_kept_in_padded_files():
    assert text(Dialect(padded=True), pl.DataFrame({"a": [1], "b": [" x"]})) == 'a, b\n1, " x"\n'
