"""Reading CSV files: columns decided by all of their texts, large files without reading twice."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import polars as pl
import polars.testing
import pytest

from understudy.data import Schema, csv_files, detect, read, write
from understudy.data.csv_files import CsvOptions, direct_columns, read_csv
from understudy.data.dialect import Dialect
from understudy.data.format_search import Search
from understudy.data.stream import scan
from understudy.errors import DataError, ParameterError


@pytest.fixture
def large(monkeypatch, tmp_path):
    """Return how to make a file that counts as large: with many digits in a column."""
    monkeypatch.setattr(csv_files, "LARGE_FILE", 1)

    def make(*late, rows=2000):
        numbers = [*map(repr, np.random.default_rng(1).normal(size=rows).tolist()), *late]
        path = tmp_path / "large.csv"
        path.write_text("x,n\n" + "".join(f"{one},1.50\n" for one in numbers))
        return path

    return make


def test_numbers_with_many_digits_are_read_directly(large):
    path = large("")
    direct = direct_columns(path, Dialect(), Search())
    assert list(direct) == ["x"]
    found = read_csv(path, CsvOptions())
    assert found.frame.dtypes == [pl.Float64, pl.Float64]
    assert found.frame["x"].null_count() == 1
    assert found.dialect.formats["n"].words == "numbers: 2 decimals"


@pytest.mark.parametrize("late", ["x", "NaN", "N/A", "-", '""', "1.50", "2020-01-31"])
def test_a_late_text_in_a_large_file_is_read_as_in_a_small_one(large, monkeypatch, late):
    path = large(late)
    found = read_csv(path, CsvOptions()).frame
    streamed = pl.concat(scan(path).batches())
    monkeypatch.setattr(csv_files, "LARGE_FILE", 2**40)
    polars.testing.assert_frame_equal(found, read_csv(path, CsvOptions()).frame)
    polars.testing.assert_frame_equal(streamed, found)


def test_small_files_padded_ones_and_decimal_commas_are_not_read_directly(large, monkeypatch):
    path = large()
    assert not direct_columns(path, Dialect(padded=True), Search())
    assert not direct_columns(path, Dialect(";", ","), Search())
    assert not direct_columns(path, Dialect(), Search(missing=("1",)))
    monkeypatch.setattr(csv_files, "LARGE_FILE", 2**40)
    assert not direct_columns(path, Dialect(), Search())


def test_bytes_are_read_like_a_file(tmp_path):
    content = "ä;b\n1,5;x\n2,5;NA\n".encode("utf-16")
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    from_bytes, from_path = read_csv(content, CsvOptions()), read_csv(path, CsvOptions())
    polars.testing.assert_frame_equal(from_bytes.frame, from_path.frame)
    assert from_bytes.dialect == from_path.dialect
    with pytest.raises(DataError, match=r"inner.csv has a header but no rows"):
        read_csv(b"a,b\n", CsvOptions(), Path("inner.csv"))


def test_other_dates_of_the_file_tell_which_comes_first():
    content = b"a,b,c\n01/02/2020,02/25/2020,1/2/2020\n03/04/2020,01/30/2021,3/4/2020\n"
    found = read_csv(content, CsvOptions())
    assert found.frame["a"][0] == dt.date(2020, 1, 2)
    assert found.frame["c"][0] == dt.date(2020, 1, 2)
    assert found.dialect.notices == ()
    both = read_csv(b"a,b,c\n01/02/2020,02/25/2020,25/02/2020\n", CsvOptions())
    assert both.frame["a"][0] == dt.date(2020, 2, 1)
    assert "cannot be told apart in 'a'" in both.dialect.notices[0]


def test_an_unknown_order_is_refused():
    with pytest.raises(ParameterError, match="dates"):
        CsvOptions(dates="ymd")


def test_the_same_columns_whatever_the_threads(monkeypatch):
    content = b"a,b\n" + b"1.50,x\n" * 20
    one = read_csv(content, CsvOptions())
    monkeypatch.setattr(csv_files, "ROWS_FOR_THREADS", 1)
    many = read_csv(content, CsvOptions())
    assert one.dialect == many.dialect
    polars.testing.assert_frame_equal(one.frame, many.frame)


@pytest.mark.parametrize("header", ['"","x"', ",x", '"",x'])
def test_row_numbers_without_a_name_come_back_without_one(tmp_path, caplog, header):
    path = tmp_path / "r.csv"
    rows = "".join(f'"{row}",{row * 7 % 5}\n' for row in range(1, 41))
    path.write_text(f"{header}\n{rows}")
    frame = read(path)
    assert frame.columns == ["row", "x"]
    assert "The first column has no name" in caplog.text
    assert Schema.infer(frame)["row"].kind == "identifier"
    assert write(frame, tmp_path / "o.csv", dialect=detect(path)).read_text() == path.read_text()
    part = write(frame.select("x"), tmp_path / "p.csv", dialect=detect(path)).read_text()
    assert part.splitlines()[0].strip('"') == "x"


def test_the_name_of_row_numbers_is_new(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(",row\n1,5\n2,6\n")
    assert read(path).columns == ["row_", "row"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'a,b\n1,"x"\n2,y\n', "Some texts are in quotes that they do not need in 'b'"),
        (b'a,b\n1,"x"\n2,"y"\n', None),
        (b"a,b\r\n1,x\n2,y\r\n", "new ones will all end in CRLF"),
        (b"a,b\n1,x\n\n2,y\n", "Blank lines are no records"),
        (b"a,b\n1,x\n2,y\n\n\n", None),
        (b"1,5.20,x\n2,6.10,y\n", "The first line looks like a record"),
        (b"2020-01-31,x\n2020-02-29,y\n", "The first line looks like a record"),
        (b"2001,2002\n5,6\n", None),
        (b"1.5,x\nlow,y\n", None),
        (b"a b\n1 x\n2 y\n", "which ' ' would cut into 2 everywhere"),
        (b"name\nAnna Li\nBo Ng\n", None),
        (b"a b\nAnna\nBo\n", None),
    ],
)
def test_what_a_person_should_know_of_a_file_is_told(content, told):
    notices = read_csv(content, CsvOptions()).dialect.notices
    assert len(notices) == (told is not None)
    assert told is None or told in notices[0]
