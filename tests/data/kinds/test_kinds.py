"""Every kind of file: what is written is read again, and the page about files tells of all."""

from __future__ import annotations

import contextlib
import datetime as dt
import random
import re
from pathlib import Path, PurePath

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from understudy.data import Schema, detect, read, scan, write
from understudy.data.files import suffix_like
from understudy.data.kinds import (
    COMPRESSED,
    CSV,
    KINDS,
    WRITABLE,
    ending_of,
    kind_of,
    require,
    stem_of,
)
from understudy.errors import DataError

HOW_TO = Path(__file__).parents[3] / "docs" / "howto" / "files.md"
ENUM = pl.Enum(["low", "middle", "high"])
TABLE = pl.DataFrame(
    {
        "whole": [1, 2, None, -4],
        "number": [1.5, None, 2.25, 0.001],
        "text": ["=1+1", 'a,"b"\nc', None, "0123"],
        "day": [dt.date(2020, 1, 31), None, dt.date(1999, 12, 31), dt.date(2021, 1, 1)],
        "time": pl.Series(["2020-01-01 10:30", None, "2020-01-01 23:59", None]).str.to_datetime(),
        "yes": [True, False, None, True],
        "level": pl.Series(["high", "low", None, "low"], dtype=ENUM),
    }
)
WITH_LEVELS = (".parquet", ".pq", ".arrow", ".feather", ".ipc", ".dta", ".sav", ".zsav")


@pytest.mark.parametrize("ending", WRITABLE)
def test_what_is_written_is_read_again(tmp_path, ending):
    path = write(TABLE, tmp_path / f"table{ending}")
    expected = TABLE if ending in WITH_LEVELS else TABLE.cast({"level": pl.String})
    assert_frame_equal(read(path), expected)
    assert suffix_like(path) == ending
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("ending", WRITABLE)
def test_a_table_in_pieces_is_written_as_a_whole_one(tmp_path, ending):
    from understudy.data.files import write_tables
    from understudy.data.frames import to_arrow

    whole = to_arrow(TABLE)

    def produce(sink):
        sink(whole.slice(0, 3))
        sink(whole.slice(3))

    path = write_tables(produce, tmp_path / f"pieces{ending}")
    assert read(path).equals(read(write(TABLE, tmp_path / f"whole{ending}")))


@pytest.mark.parametrize("ending", [*WRITABLE])
def test_a_stream_has_the_rows_of_the_table(tmp_path, ending, caplog):
    path = write(TABLE, tmp_path / f"table{ending}")
    stream = scan(path, batch_rows=3, drop=["text"])
    assert_frame_equal(pl.concat(stream.batches()), read(path).drop("text"))
    assert Schema.infer(stream) == Schema.infer(read(path).drop("text"))
    told = "cannot be read in batches: the whole table is held in memory" in caplog.text
    assert told != WRITABLE[ending].batches


@pytest.mark.parametrize(
    "ending", [".parquet", ".xlsx", ".sav", ".zsav", ".dta", ".arrow", ".json", ".jsonl"]
)
def test_the_content_says_what_a_file_is_whatever_it_is_called(tmp_path, ending):
    path = write(TABLE, tmp_path / f"table{ending}")
    expected = read(path)
    named = path.rename(tmp_path / "table.csv")
    assert_frame_equal(read(named), expected)
    assert suffix_like(named) == (".json" if ending == ".json" else ending)


@pytest.mark.parametrize("packed", COMPRESSED)
def test_a_compressed_file_may_be_called_anything(tmp_path, packed):
    path = write(TABLE, tmp_path / f"table.csv{packed}")
    assert read(path.rename(tmp_path / "table.csv")).height == 4


def test_a_plain_file_with_the_ending_of_a_compressed_one_is_read_as_it_is(tmp_path):
    (tmp_path / "t.csv.gz").write_text("a,b\n1,2\n")
    assert read(tmp_path / "t.csv.gz").row(0) == (1, 2)
    assert suffix_like(tmp_path / "t.csv.gz") == ".csv"


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if not kind.text], ids=lambda one: one.name
)
def test_a_damaged_file_gets_one_sentence(tmp_path, kind):
    ending = kind.endings[0]
    if kind.writes:
        whole = write(TABLE, tmp_path / f"whole{ending}").read_bytes()
        (tmp_path / f"cut{ending}").write_bytes(whole[: len(whole) // 2])
        with pytest.raises(DataError) as error:
            read(tmp_path / f"cut{ending}")
        assert f"cut{ending}" in str(error.value)
        assert "\n" not in str(error.value)
        assert "0123" not in str(error.value)
    (tmp_path / f"other{ending}").write_bytes(b"\x01\x00nothing of it")
    with pytest.raises(DataError, match=f"other{ending} is "):
        read(tmp_path / f"other{ending}")


@pytest.mark.parametrize("ending", [".xlsx", ".sav", ".dta", ".parquet", ".arrow", ".csv.gz"])
@given(data=st.data())
@settings(max_examples=15)
def test_any_damage_is_our_own_error_without_values(tmp_path_factory, ending, data):
    folder = tmp_path_factory.mktemp("damage")
    content = bytearray(write(TABLE, folder / f"whole{ending}").read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        place = data.draw(st.integers(0, len(content) - 2))
        content[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    (folder / f"t{ending}").write_bytes(content)
    try:
        read(folder / f"t{ending}")
    except DataError as error:
        assert "0123" not in str(error)  # noqa: PT017  # it may be whole all the same


@pytest.mark.slow
def test_a_damaged_compressed_spss_file_does_not_end_the_program(tmp_path):
    rng = random.Random(1)  # noqa: S311  # no secret
    content = write(TABLE, tmp_path / "whole.zsav").read_bytes()
    for _ in range(10):
        changed = bytearray(content)
        for _ in range(20):
            changed[rng.randrange(4, len(changed))] = rng.randrange(256)
        (tmp_path / "t.zsav").write_bytes(changed)
        with contextlib.suppress(DataError):
            read(tmp_path / "t.zsav")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"BZh91AY", "compressed with bzip2"),
        (b"\xfd7zXZ\x00", "compressed with xz"),
        (b"%PDF-1.7", "PDF document"),
        (b"SQLite format 3\x00", r"Name a table in it: sqlite:///.*\?table=NAME"),
        (b"\0" * 8 + b"DUCK" + b"\0" * 9, r"Name a table in it: duckdb:///.*\?table=NAME"),
    ],
)
def test_files_without_a_table_that_can_be_read_are_called_by_their_name(
    tmp_path, content, message
):
    (tmp_path / "table.csv").write_bytes(content)
    with pytest.raises(DataError, match=message):
        read(tmp_path / "table.csv")


def test_a_missing_extra_says_what_to_type(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    hint = r"pip install 'understudy\[files\]'"
    with pytest.raises(DataError, match=f"Excel needs more than a plain installation: {hint}"):
        write(TABLE, tmp_path / "table.xlsx")
    (tmp_path / "t.sav").write_bytes(b"$FL2@(#)")
    with pytest.raises(DataError, match=hint):
        read(tmp_path / "t.sav")
    assert not (tmp_path / "table.xlsx").exists()


def test_nothing_is_required_that_is_there():
    require("This", ("polars",), "files")


@pytest.mark.parametrize(
    ("name", "ending", "stem"),
    [
        ("a.CSV", ".csv", "a"),
        ("a.b.csv.gz", ".csv.gz", "a.b"),
        ("a.tar.gz", ".gz", "a.tar"),
        ("a", "", "a"),
        ("a.jsonl.zst", ".jsonl.zst", "a"),
    ],
)
def test_endings(name, ending, stem):
    assert ending_of(PurePath(name)) == ending
    assert stem_of(PurePath(name)) == stem


def test_kinds_are_told_apart():
    endings = [ending for kind in KINDS for ending in kind.endings]
    assert len(set(endings)) == len(endings)
    assert kind_of(b"a,b\n", ".data") is None
    assert kind_of(b"a,b\n", ".tsv") is CSV


def test_the_page_about_files_has_a_line_for_each_kind():
    lines = re.findall(
        r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", HOW_TO.read_text("utf-8"), re.MULTILINE
    )
    told = {line[0].strip(): line[1:] for line in lines}
    for kind in KINDS:
        endings, written, extra = (cell.replace("`", "") for cell in told[kind.name])
        assert tuple(endings.split(", ")) == kind.endings
        assert written.strip() == (", ".join(kind.writes) or "no")
        assert extra.strip() == (kind.extra or "none")


def test_how_a_table_is_written_is_none_for_files_that_say_it_themselves(tmp_path):
    assert detect(write(TABLE, tmp_path / "t.parquet")) is None
    dates = detect(write(TABLE, tmp_path / "t.jsonl")).in_words
    assert dates["day"] == "dates as yyyy-mm-dd"
