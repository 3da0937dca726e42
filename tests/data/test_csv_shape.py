"""Line ends and quotes of CSV files, found in their bytes."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.csv_shape import ColumnQuotes, CsvShape, shape_of, tidied, with_quotes
from understudy.data.formats import ColumnFormat

NONE = ColumnQuotes()
SOME = ColumnQuotes(needless=True, bare=frozenset({"NA"}))
ALL = ColumnQuotes(everywhere=True, needless=True)


@pytest.mark.parametrize(
    ("content", "shape"),
    [
        (b"a,b\n1,2\n", CsvShape(quotes=(NONE, NONE))),
        (b"a,b\r\n1,2", CsvShape("\r\n", 0, quotes=(NONE, NONE))),
        (b"a,b\r\n1,2\r\n\r\n", CsvShape("\r\n", 2, quotes=(NONE, NONE))),
        (b'"a","b"\n1,"x"\n2,"y"\n', CsvShape(header_quoted=True, quotes=(NONE, ALL))),
        (b'a,b\n1,"x,y"\n2,z\n', CsvShape(quotes=(NONE, NONE))),  # needed
        (b'a,b\n1,"x""y"\n2,z\n', CsvShape(quotes=(NONE, NONE))),
        (b'a,b\r\n1,"x\ny"\r\n2,z\r\n', CsvShape("\r\n", quotes=(NONE, NONE))),
        (b'a,b\n1,""\n2,""\n', CsvShape(quotes=(NONE, NONE))),  # empty ones do not tell
        (
            b'a,b\n1,"x"\n2,NA\n',
            CsvShape(quotes=(NONE, SOME)),
        ),
        (b"a,b\r\n1,2\n", CsvShape("\r\n", quotes=(NONE, NONE), mixed=True)),
        (b'a,b\r\n1,"x"\n', CsvShape("\r\n", quotes=(NONE, ALL), mixed=True)),
        (b'a,b\r\n1,"x"', CsvShape("\r\n", 0, quotes=(NONE, ALL))),
        (b'a\n"x"\n\n', CsvShape(ending=1, quotes=(ALL,))),  # an empty line is a record
    ],
)
def test_shapes(content, shape, tmp_path):
    width = content.split(b"\n")[0].count(b",") + 1
    assert shape_of(content, ",", width) == shape
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xef\xbb\xbf" + content)
    assert shape_of(path, ",", width) == shape


def test_rows_of_other_lengths_do_not_tell():
    assert shape_of(b'a,b\n1,"x"\n"2"\n3,"y"\n', ",", 2).quotes == (NONE, ALL)


def test_spaces_after_delimiters_are_no_part_of_a_field():
    assert shape_of(b'a, b\n1, "x"\n2, "y"\n', ",", 2, padded=True).quotes == (NONE, ALL)


@pytest.mark.parametrize(
    ("quotes", "form", "quoted", "missing"),
    [
        (NONE, ColumnFormat(), False, False),
        (ALL, ColumnFormat(missing=("NA",)), True, True),
        (ALL, ColumnFormat(missing=("",)), True, False),
        (ALL, ColumnFormat(missing=("",), missing_quoted=True), True, True),
        (SOME, ColumnFormat(missing=("NA",)), True, False),
        (SOME, ColumnFormat(missing=("?",)), False, False),
    ],
)
def test_quotes_of_values_and_of_words_for_missing(quotes, form, quoted, missing):
    found = with_quotes(form, quotes)
    assert (found.quoted, found.missing_quoted) == (quoted, missing)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blank_lines_and_padding_go(end):
    text = end.join(["", "a, b", "", '1, "x,  y', "", 'z"', end, "2,   3", ""])
    left = end.join(["a,b", '1,"x,  y', "", 'z"', "2,3", ""])
    assert tidied(text.encode(), ",", padded=True).decode() == left
    assert tidied(b"", ",") == b""


FIELDS = st.text(st.sampled_from('ab,";\n \r'), max_size=4)


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(FIELDS, min_size=width, max_size=width), min_size=1)
    ),
    st.booleans(),
)
def test_quotes_are_found_where_the_csv_module_writes_them(rows, always):
    text = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if always else csv.QUOTE_MINIMAL
    width = len(rows[0])
    csv.writer(text, quoting=quoting).writerows([["h"] * width, *rows])
    shape = shape_of(text.getvalue().encode(), ",", width)
    for place, quotes in enumerate(shape.quotes):
        plain = [row[place] for row in rows if row[place] and not set(row[place]) & {*',"\r\n'}]
        assert quotes.everywhere == (always and bool(plain))
    assert shape.newline == "\r\n"
    assert shape.header_quoted == always


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b'a,b\n1,"x"\n2,"he said \\"yes\\" to it"\n', 3),
        (b'a,b\n1,"C:\\"\n2,"say ""x"""\n3,"\\""x"\n', 0),
    ],
)
def test_backslashes_before_quotation_marks_are_found(content, line):
    shape = shape_of(content, ",", 2)
    assert shape.escaped == line
    forms = dict.fromkeys("ab", ColumnFormat())
    assert any(f"Line {line} " in one for one in shape.in_words(forms, blank=False)) == bool(line)


@pytest.mark.parametrize(
    ("content", "short"),
    [
        (b"a,b,c\n1,2,3\n4,5\n6\n7,8,9\n", 2),
        (b"a,b,c\r\n1,2,3\r\n\r\n4,5\r\n6,7,8\r\n\r\n", 1),
        (b"a,b,c\n1,2,3\n4,5", 1),
        (b'a,b,c\n"1,1",2,3\n"4,4",5\n6,7,8\n', 1),
        (b'a,b,c\n"1\n1",2,3\n\n4,5,6\n', 0),
        (b"a,b\n1,2\n\n3,4\n", 0),
        (b"a\n1\n2\n", 0),
    ],
)
def test_rows_with_too_few_fields_are_counted(content, short):
    width = len(content.split(b"\n")[0].split(b","))
    found = shape_of(content, ",", width)
    assert found.short == short
    sentences = replace(found, quotes=()).in_words({}, blank=False)
    told = [one.split(" ")[0] for one in sentences if "fewer fields" in one]
    assert told == [str(short)] * (short > 0)
