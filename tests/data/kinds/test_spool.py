"""Files without a name: unpacked, piped in, and never larger than is sane."""

from __future__ import annotations

import gzip
import io
import sys

import polars as pl
import pyarrow as pa
import pytest

from understudy.data import read, write
from understudy.data.kinds.spool import (
    LIMIT_VARIABLE,
    PLAIN_LIMIT,
    RATIO_LIMIT,
    Spool,
    to_standard_output,
    unpack_limit,
)
from understudy.errors import DataError

TEXT = b"a,b\n" + b"1,2\n" * 50_000


def pipe(monkeypatch, content):
    stdin = io.TextIOWrapper(io.BytesIO(content))
    monkeypatch.setattr(sys, "stdin", stdin)


def test_a_spool_can_be_opened_again_and_again():
    spool = Spool()
    spool.fill(io.BytesIO(TEXT))
    assert spool.path.read_bytes() == spool.path.read_bytes() == TEXT


def test_a_spool_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    spool = Spool()
    spool.fill(io.BytesIO(TEXT))
    assert not list(tmp_path.iterdir())
    del spool
    assert not list(tmp_path.iterdir())


def test_no_room_gets_one_sentence(monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    with pytest.raises(DataError, match=r"cannot be unpacked in /nowhere: .* set TMPDIR"):
        Spool()


def test_the_limit_grows_with_the_file():
    assert unpack_limit(1) == PLAIN_LIMIT
    assert unpack_limit(PLAIN_LIMIT) == RATIO_LIMIT * PLAIN_LIMIT


@pytest.mark.parametrize("value", ["much", "0", "-1", "inf", "nan"])
def test_a_limit_that_is_no_number_is_refused(monkeypatch, value):
    monkeypatch.setenv(LIMIT_VARIABLE, value)
    with pytest.raises(DataError, match=f"{LIMIT_VARIABLE} must be a number of gigabytes"):
        unpack_limit(1)


@pytest.mark.parametrize("packed", [".gz", ".zst"])
def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch, packed):
    content = gzip.compress(TEXT) if packed == ".gz" else pa.compress(TEXT, "zstd", asbytes=True)
    path = tmp_path / f"t.csv{packed}"
    path.write_bytes(content)
    assert read(path).height == 50_000
    monkeypatch.setenv(LIMIT_VARIABLE, "0.0001")
    with pytest.raises(
        DataError, match=f"t.csv{packed} unpacks to more than .* set {LIMIT_VARIABLE}"
    ):
        read(path)


def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    path = write(pl.DataFrame({"a": ["x" * 1000] * 100}), tmp_path / "t.xlsx")
    monkeypatch.setenv(LIMIT_VARIABLE, "0.000001")
    with pytest.raises(DataError, match=r"t.xlsx unpacks to more than"):
        read(path)


def test_a_file_compressed_twice_is_not_unpacked_without_end(tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(gzip.compress(TEXT)))
    with pytest.raises(DataError, match="compressed more than once"):
        read(tmp_path / "t.csv.gz")


@pytest.mark.parametrize("cut", [3, 20, -5])
def test_a_file_that_is_cut_off_is_damaged(tmp_path, cut):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(TEXT)[:cut])
    with pytest.raises(DataError, match="is damaged, or cut off"):
        read(tmp_path / "t.csv.gz")


def test_parts_compressed_one_by_one_are_one_file(tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n"))
    assert read(tmp_path / "t.csv.gz").rows() == [(1, 2), (3, 4)]


@pytest.mark.parametrize("ending", [".csv.gz", ".csv.zst", ".xlsx"])
def test_the_same_table_gives_the_same_bytes(tmp_path, ending):
    table = pl.DataFrame({"a": [1, 2]})
    one, other = (write(table, tmp_path / f"{name}{ending}") for name in "ab")
    assert one.read_bytes() == other.read_bytes()


def test_the_standard_input_can_be_read_twice(monkeypatch):
    pipe(monkeypatch, b"a,b\n1,2\n")
    assert read("-").rows() == read("-").rows() == [(1, 2)]
    pipe(monkeypatch, b"a,b\n3,4\n")
    assert read("-").rows() == [(3, 4)]


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".csv.gz", ".xlsx", ".json"])
def test_what_is_piped_in_is_recognised_by_its_content(tmp_path, monkeypatch, ending):
    path = write(pl.DataFrame({"a": [1, 2]}), tmp_path / f"t{ending}")
    pipe(monkeypatch, path.read_bytes())
    assert read("-")["a"].to_list() == [1, 2]


def test_an_arrow_stream_can_be_piped_in(monkeypatch):
    table = pa.table({"a": [1, 2]})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    pipe(monkeypatch, sink.getvalue())
    assert read("-")["a"].to_list() == [1, 2]


def test_nothing_piped_in_gets_one_sentence(monkeypatch):
    pipe(monkeypatch, b"")
    with pytest.raises(DataError, match="The standard input is empty"):
        read("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataError, match="but there is none"):
        read("-")


def test_a_terminal_is_not_waited_for(monkeypatch):
    pipe(monkeypatch, b"")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    with pytest.raises(DataError, match="nothing is piped in"):
        read("-")


def test_a_table_goes_to_the_standard_output_as_csv(capfdbinary):
    write(pl.DataFrame({"a": [1], "b": ["x"]}), "-")
    assert capfdbinary.readouterr().out == b"a,b\n1,x\n"


def test_an_output_that_is_closed_gets_one_sentence(monkeypatch):
    class Closed(io.BytesIO):
        def write(self, _):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(Closed(), write_through=True))
    spool = Spool()
    spool.fill(io.BytesIO(TEXT))
    with pytest.raises(DataError, match="closed before the whole table was written"):
        to_standard_output(spool)
