"""Tables in several files: folders and patterns of Parquet and CSV, and pipes with a name."""

from __future__ import annotations

import gzip
import os
import threading

import polars as pl
import pytest

from understudy import Independent
from understudy.data import detect, read, scan, write
from understudy.data.files import suffix_like
from understudy.errors import DataError


@pytest.fixture
def pieces(tmp_path):
    """Write one table as three CSV files, which end and begin in different ways."""
    (tmp_path / "1.csv").write_bytes(b"\xef\xbb\xbfa;b\r\n1,5;x\r\n2,5;y")
    (tmp_path / "2.csv").write_bytes(b"a;b\n3;z\n")
    (tmp_path / "3.csv.gz").write_bytes(gzip.compress(b"a;b\r\n4,25;?\r\n"))
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".hidden.csv").write_text("nothing")
    return tmp_path


def test_a_folder_of_csv_files_is_one_table(pieces):
    assert read(pieces).rows() == [(1.5, "x"), (2.5, "y"), (3.0, "z"), (4.25, None)]
    assert detect(pieces).delimiter == ";"
    assert suffix_like(pieces) == ".csv"
    assert scan(pieces).rows == 4


def test_a_pattern_chooses_files(pieces):
    assert read(pieces / "[12].csv").height == 3
    assert read(str(pieces / "*.gz")).height == 1


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path):
    (tmp_path / "a[1].csv").write_text("a,b\n1,2\n")
    (tmp_path / "a1.csv").write_text("a,b\n3,4\n")
    assert read(tmp_path / "a[1].csv").row(0) == (1, 2)


def test_files_with_other_columns_are_not_one_table(pieces):
    (pieces / "4.csv").write_text("b;a\nx;1\n")
    with pytest.raises(DataError, match=r"4.csv does not have the header of .*1.csv"):
        read(pieces)


def test_a_header_with_a_line_end_in_quotes(tmp_path):
    for name in ("1.csv", "2.csv"):
        (tmp_path / name).write_text('"a\nb",c\n1,2\n')
    assert read(tmp_path).rows() == [(1, 2), (1, 2)]


def test_messages_name_the_folder_and_no_temporary_file(tmp_path):
    for name in ("1.csv", "2.csv"):
        (tmp_path / name).write_text("a,a\n1,2\n")
    with pytest.raises(DataError, match="repeated"):
        read(tmp_path)
    (tmp_path / "one.csv.gz").write_bytes(gzip.compress(b"a,b\n"))
    with pytest.raises(DataError, match=r"one.csv.gz has a header but no rows"):
        read(tmp_path / "one.csv.gz")


@pytest.mark.parametrize(
    "begins", ["<!DOCTYPE html>", "\ufeff <HTML><body>", "<?xml version='1.0'?>"]
)
def test_a_page_that_is_called_a_table_is_none(tmp_path, begins):
    (tmp_path / "t.xls").write_text(f"{begins}\n<table><tr><td>a</td></tr></table>\n")
    with pytest.raises(DataError, match=r"t\.xls is a page in HTML or XML"):
        read(tmp_path / "t.xls")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((), "is a folder without Parquet or CSV files"),
        (("notes.txt",), "is a folder without Parquet or CSV files"),
        (("a.csv", "b.parquet"), "holds Parquet files and CSV files"),
        (("year=1/a.csv", "year=2/a.csv"), "which only Parquet files may have"),
    ],
)
def test_folders_that_hold_no_table(tmp_path, names, message):
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(pl.DataFrame({"a": [1]}), tmp_path / name)
    with pytest.raises(DataError, match=message):
        read(tmp_path)


def test_a_pattern_without_files_and_one_with_files_of_several_kinds(tmp_path):
    with pytest.raises(DataError, match="none whose name fits it as a pattern"):
        read(tmp_path / "*.csv")
    write(pl.DataFrame({"a": [1]}), tmp_path / "a.csv")
    write(pl.DataFrame({"a": [1]}), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"several kinds: .*a.csv is CSV, .*b.parquet is Parquet"):
        read(tmp_path / "*")
    for name in "cd":
        write(pl.DataFrame({"a": [1]}), tmp_path / f"{name}.jsonl")
    with pytest.raises(DataError, match="Only Parquet and CSV can be in pieces"):
        read(tmp_path / "*.jsonl")


def test_a_partitioned_folder_has_its_columns(tmp_path):
    for year in (2020, 2021):
        folder = tmp_path / f"year={year}" / "town=Köln"
        folder.mkdir(parents=True)
        write(pl.DataFrame({"x": [1, 2]}), folder / "p[1].parquet")
    expected = [(1, 2020, "Köln"), (2, 2020, "Köln"), (1, 2021, "Köln"), (2, 2021, "Köln")]
    assert read(tmp_path).rows() == expected
    assert read(tmp_path / "*" / "*" / "*.parquet").rows() == expected
    assert suffix_like(tmp_path) == ".parquet"
    stream = scan(tmp_path, batch_rows=3)
    assert pl.concat(stream.batches()).rows() == expected
    model = Independent(random_state=1)
    assert model.fit(stream).sample().equals(model.fit(read(tmp_path)).sample())


def test_parquet_files_of_other_columns_are_not_one_table(tmp_path):
    write(pl.DataFrame({"a": [1]}), tmp_path / "1.parquet")
    write(pl.DataFrame({"b": ["x"]}), tmp_path / "2.parquet")
    with pytest.raises(DataError, match="do not have the same columns and types"):
        read(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name here")
def test_a_pipe_with_a_name_can_be_read_twice(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"a,b\n1,2\n",))
    writer.start()
    assert read(pipe).rows() == [(1, 2)]
    writer.join()
    assert detect(pipe).delimiter == ","
