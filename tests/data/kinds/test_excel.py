"""Workbooks: sheets, headers, dates, and cells that are no formulas."""

from __future__ import annotations

import datetime as dt
import zipfile

import polars as pl
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from understudy.data import detect, read, write
from understudy.errors import DataError


@pytest.fixture
def book(tmp_path):
    """Write a workbook with several sheets, a title above the table, and notes beside none."""
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(path) as made:
        day = made.add_format({"num_format": "dd/mm/yyyy"})
        made.add_worksheet("notes")
        people = made.add_worksheet("people")
        people.write(2, 1, "Our survey")
        people.write_row(4, 1, ["id", "born", "income", "empty", "town"])
        for row in range(3):
            people.write(5 + row, 1, row)
            people.write_datetime(5 + row, 2, dt.date(1980, 1, 1 + row), day)
            people.write(5 + row, 3, "NA" if row == 1 else 1000.5)
            people.write(5 + row, 5, ["Bonn", "?", "Köln"][row])
        other = made.add_worksheet("other")
        other.write_column(0, 0, ["a", 1, 2])
    return path


def test_a_sheet_is_chosen_by_name_or_number(book):
    assert read(book, sheet="other")["a"].to_list() == [1, 2]
    assert read(book, sheet=3).equals(read(book, sheet="3"))


def test_the_message_about_several_sheets_says_how_to_choose(book, caplog):
    read(book, header_row=5)
    expected = (
        "has 3 sheets: 'notes', 'people', 'other'. 'people' was read. To read another one, give"
    )
    assert expected in caplog.text
    assert detect(book, header_row=5).own.name == "people"


def test_a_header_below_a_title(book):
    table = read(book, sheet="people", header_row=5)
    assert table.columns == ["id", "born", "income", "empty", "town"]
    assert table["born"].to_list() == [dt.date(1980, 1, day) for day in (1, 2, 3)]
    assert table["income"].to_list() == [1000.5, None, 1000.5]
    assert table["town"].to_list() == ["Bonn", None, "Köln"]
    assert table["id"].dtype == pl.Int64
    assert table["empty"].null_count() == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sheet": "poeple"}, "has no sheet 'poeple'; .* Did you mean 'people'"),
        ({"sheet": 4}, "has no sheet '4'"),
        ({"sheet": "notes"}, "has nothing in its sheet 'notes'"),
        ({"sheet": "people"}, "column 3 of the sheet 'people' has values, but no name in row 3"),
        ({"sheet": "people", "header_row": 1}, "has nothing in row 1"),
        ({"sheet": "people", "header_row": 999}, "has nothing in row 999"),
        ({"sheet": "people", "header_row": 0}, "counted from 1"),
    ],
)
def test_what_is_not_there_is_told(book, options, message):
    with pytest.raises(DataError, match=message):
        read(book, **options)


def test_the_only_sheet_is_read_whatever_it_is_called(tmp_path, caplog):
    path = write(pl.DataFrame({"a": [1]}), tmp_path / "t.xlsx")
    assert read(path, sheet="people")["a"].to_list() == [1]
    assert "has no sheet 'people', but only one, 'Sheet1', which was read" in caplog.text


def test_an_output_has_the_sheet_of_the_input(book, tmp_path):
    path = write(pl.DataFrame({"a": [1]}), tmp_path / "t.xlsx", dialect=detect(book, header_row=5))
    assert detect(path).own.name == "people"


@pytest.mark.parametrize("text", ["=1+1", "http://example.org", "@x", "-1", "007", "+2"])
def test_texts_stay_texts(tmp_path, text):
    path = write(pl.DataFrame({"a": [text, "other"]}), tmp_path / "t.xlsx")
    assert read(path)["a"].to_list() == [text, "other"]


def test_what_excel_cannot_hold_is_written_as_text(tmp_path):
    table = pl.DataFrame(
        {
            "large": [2**60, 1],
            "early": [dt.date(1789, 7, 14), dt.date(1900, 1, 1)],
            "zoned": [dt.datetime(2020, 1, 1, 12, tzinfo=dt.UTC)] * 2,
            "fine": pl.Series([1, 2]).cast(pl.Datetime("us")),
        }
    )
    found = read(write(table, tmp_path / "t.xlsx"))
    assert found["large"].to_list() == table["large"].to_list()
    assert found["early"].to_list() == table["early"].to_list()
    assert found["fine"].to_list() == table["fine"].to_list()


def test_more_rows_than_excel_has_are_refused(tmp_path):
    table = pl.DataFrame({"a": pl.repeat(1, 1_048_576, eager=True)})
    with pytest.raises(DataError, match="at most 1,048,576 rows"):
        write(table, tmp_path / "t.xlsx")


def test_cells_far_apart_do_not_take_all_memory(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as made:
        sheet = made.add_worksheet()
        sheet.write(0, 0, "a")
        sheet.write(1_048_575, 16_383, 1)
    with pytest.raises(DataError, match="has cells far apart: 1,048,576 rows and 16,384 columns"):
        read(tmp_path / "t.xlsx")


VALUES = {
    "whole": st.integers(-(2**53), 2**53),
    "number": st.floats(-1e9, 1e9).filter(lambda x: x != int(x) and abs(x) > 1e-9),
    "text": st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]), min_size=1).map(
        lambda text: f"t{text}"
    ),
    "day": st.dates(dt.date(1900, 3, 1), dt.date(2100, 1, 1)),
    "yes": st.booleans(),
}


@given(st.data())
def test_any_table_comes_back(tmp_path_factory, data):
    rows = data.draw(st.integers(1, 5))
    table = pl.DataFrame(
        {
            name: data.draw(st.lists(kind, min_size=rows, max_size=rows))
            for name, kind in VALUES.items()
        }
    )
    path = write(table, tmp_path_factory.mktemp("any") / "t.xlsx")
    assert_frame_equal(read(path), table, rel_tol=1e-14)


ROWS = (("id", "born", "town"), (1, dt.date(1980, 1, 2), "Bonn"), (2, dt.date(1981, 3, 4), "Köln"))


def old_workbook(path):
    """Write a workbook of Excel 97, as another program does."""
    xlwt = pytest.importorskip("xlwt", reason="xlwt, which writes .xls files, is not installed")
    made = xlwt.Workbook()
    sheet = made.add_sheet("people")
    day = xlwt.easyxf(num_format_str="DD/MM/YYYY")
    for row, cells in enumerate(ROWS):
        for column, cell in enumerate(cells):
            style = (day,) if isinstance(cell, dt.date) else ()
            sheet.write(row, column, cell, *style)
    made.save(str(path))


def open_document(path):
    """Write a spreadsheet of LibreOffice: a zip file with the cells as XML."""

    def cell(value):
        if isinstance(value, dt.date):
            kind = f'office:value-type="date" office:date-value="{value}"'
        elif isinstance(value, int):
            kind = f'office:value-type="float" office:value="{value}"'
        else:
            kind = 'office:value-type="string"'
        return f"<table:table-cell {kind}><text:p>{value}</text:p></table:table-cell>"

    rows = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in ROWS)
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content{names} '
        'office:version="1.2"><office:body><office:spreadsheet><table:table table:name="people">'
        f"{rows}</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        '<?xml version="1.0" encoding="UTF-8"?><manifest:manifest '
        'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<manifest:file-entry manifest:media-type="{kind}" manifest:full-path="/"/>'
        '<manifest:file-entry manifest:media-type="text/xml" manifest:full-path="content.xml"/>'
        "</manifest:manifest>"
    )
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("mimetype", kind)
        made.writestr("META-INF/manifest.xml", manifest)
        made.writestr("content.xml", content)


@pytest.mark.parametrize(
    ("ending", "make"), [(".xls", old_workbook), (".ods", open_document)], ids=["xls", "ods"]
)
def test_workbooks_of_other_programs(tmp_path, ending, make):
    path = tmp_path / f"people{ending}"
    make(path)
    expected = pl.DataFrame(ROWS[1:], schema=list(ROWS[0]), orient="row")
    assert_frame_equal(read(path), expected)
    assert_frame_equal(read(path, sheet="people"), expected)
    copy = write(read(path), tmp_path / "copy.xlsx", dialect=detect(path))
    assert_frame_equal(read(copy), expected)


def test_row_numbers_without_a_name_keep_none(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 1, ["a", "b"])  # as pandas writes a frame with its index
        sheet.write_row(1, 0, [0, 1.5, "x"])
        sheet.write_row(2, 0, [1, 2.5, "y"])
    found = read(tmp_path / "t.xlsx")
    assert found.rows(named=True)[0] == {"row": 0, "a": 1.5, "b": "x"}
    copy = write(found, tmp_path / "u.xlsx", dialect=detect(tmp_path / "t.xlsx"))
    assert detect(copy) == detect(tmp_path / "t.xlsx")
    assert read(copy).equals(found)
