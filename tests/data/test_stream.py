"""A file read in pieces gives the same schema, codec and codes as the file read whole."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

from understudy.data import counted, stream
from understudy.data.codec import Codec
from understudy.data.coded import Coded
from understudy.data.files import read, write
from understudy.data.schema import Schema
from understudy.data.source import FrameSource
from understudy.data.stream import scan
from understudy.errors import DataError, SchemaError


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(11)
    rows = 203
    days = [dt.date(2020, 1, 1) + dt.timedelta(int(n)) for n in rng.integers(0, 900, rows)]
    sizes = rng.choice(["small", "large", "medium"], rows)
    return pl.DataFrame(
        {
            "id": [f"p{n}" for n in range(rows)],
            'si"ze': [None if n % 17 == 0 else size for n, size in enumerate(sizes)],
            "age": rng.integers(18, 90, rows),
            "income": np.where(rng.random(rows) < 0.2, 0.0, np.round(rng.gamma(2, 900, rows), 2)),
            "day": days,
            "flag": rng.random(rows) < 0.5,
            # The type of a CSV column is decided by all its rows, however late.
            "late": [*(str(n % 5) for n in range(rows - 1)), "x"],
        }
    )


@pytest.fixture(scope="module", params=["x.csv", "x.parquet"])
def path(request, frame, tmp_path_factory):
    return write(frame, tmp_path_factory.mktemp("stream") / request.param)


@pytest.fixture(scope="module")
def categories(frame, tmp_path_factory):
    levels = pl.Enum(["small", "medium", "large", "unused"])
    typed = frame.select(pl.col('si"ze').cast(levels), pl.col("late").cast(pl.Categorical))
    return write(typed, tmp_path_factory.mktemp("stream") / "categories.parquet")


@pytest.mark.parametrize("batch_rows", [1, 7, 100, 203, 10_000])
def test_pieces_of_any_size_give_the_schema_codec_and_codes_of_the_whole(path, batch_rows):
    whole = read(path)
    stream = scan(path, batch_rows=batch_rows)
    assert stream.rows == 203
    assert stream.names == tuple(whole.columns)
    assert Schema.infer(stream) == Schema.infer(whole)
    codec, streamed = Codec.fit(whole), Codec.fit(stream)
    assert streamed.to_plain() == codec.to_plain()
    batches = list(codec.stream(stream).coded_batches())
    assert all(0 < len(batch) <= batch_rows for batch in batches)
    assert Coded.concatenate(batches) == codec.encode(whole)
    assert codec.encode(stream) == codec.encode(whole)


@pytest.mark.parametrize("batch_rows", [3, 100])
def test_categories_of_a_file_are_the_same_in_pieces(categories, batch_rows):
    whole, stream = read(categories), scan(categories, batch_rows=batch_rows)
    codec = Codec.fit(stream)
    assert codec.to_plain() == Codec.fit(whole).to_plain()
    assert codec.schema['si"ze'].levels == ("small", "medium", "large", "unused")
    assert codec.encode(stream) == codec.encode(whole)


def test_pieces_are_the_rows_in_order(path):
    pieces = list(scan(path, batch_rows=50).batches())
    assert [piece.height for piece in pieces[:-1]] == [50] * (len(pieces) - 1)
    assert pl.concat(pieces).equals(read(path))


def test_pieces_of_many_columns_have_fewer_rows(path, frame, monkeypatch):
    monkeypatch.setattr(stream, "FEWEST_ROWS", 10)
    monkeypatch.setattr(stream, "VALUES_OF_BATCH", 100)
    few, one = (len(next(iter(scan(path).batches(names)))) for names in (None, ["id"]))
    assert (few, one) == (max(10, 100 // frame.width), 100)


def _times(column):
    return dict(zip(map(str, column.values.to_pylist()), column.counts.tolist(), strict=True))


@pytest.mark.parametrize("most", [0, 5, 10_000])
def test_a_file_is_described_as_the_whole_is(path, monkeypatch, most):
    monkeypatch.setattr(counted, "MOST_DISTINCT", most)
    whole = dict(FrameSource(read(path)).describe())
    streamed = dict(scan(path, batch_rows=10).describe())
    assert list(streamed) == list(whole)
    for name, own in whole.items():
        other = streamed[name]
        assert other.type == own.type
        assert _times(other) == _times(own)
        assert (other.order.runs, other.order.rising) == (own.order.runs, own.order.rising)
    assert Codec.fit(scan(path, batch_rows=10)).to_plain() == Codec.fit(read(path)).to_plain()


def test_a_coded_stream_knows_its_columns(path):
    stream = scan(path)
    codec = Codec.fit(stream)
    coded = codec.stream(stream)
    assert coded.names == codec.names
    assert coded.cardinalities == codec.cardinalities


def test_an_unknown_level_in_a_piece_is_an_error(tmp_path, frame):
    codec = Codec.fit(frame)
    other = frame.with_columns(pl.lit("huge").alias('si"ze'))
    stream = scan(write(other, tmp_path / "x.csv"), batch_rows=100)
    with pytest.raises(SchemaError, match=r"has 100 rows with a value .* 'huge'"):
        list(codec.stream(stream).coded_batches())


def test_options_are_those_of_reading(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a;b\n1,5;-9\n2,5;x\n")
    (batch,) = scan(path, missing=["-9"]).batches()
    assert batch.rows() == [(1.5, None), (2.5, "x")]


def test_a_mark_at_the_beginning_is_no_part_of_the_first_name(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("ä,b\n1,2\n".encode("utf-8-sig"))
    assert scan(path).names == ("ä", "b")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\nö,1\n".encode("utf-16"), "only UTF-8 text can be read in batches"),
        (b"a, b\n1, 2\n", "has spaces after its delimiters"),
        (b"a,b\n1,2\n\n", "has blank lines"),
        (b"a,b\n", "a header but no rows"),
        (b"a,a\n1,2\n", "repeated: 'a'"),
        (b"", "is empty"),
    ],
)
def test_what_cannot_be_read_in_pieces_is_refused(tmp_path, content, message):
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        scan(path)


def test_a_record_without_values_is_no_blank_line(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n,\n")
    assert scan(path).rows == 2


@pytest.mark.parametrize("batch_rows", [0, -1])
def test_a_piece_has_at_least_one_row(path, batch_rows):
    with pytest.raises(DataError, match=f"at least 1; got {batch_rows}"):
        scan(path, batch_rows=batch_rows)


def test_a_missing_file_and_a_damaged_one_are_refused(tmp_path):
    with pytest.raises(DataError, match="There is no file"):
        scan(tmp_path / "x.parquet")
    (tmp_path / "y.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(DataError, match="cannot be read"):
        scan(tmp_path / "y.parquet")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_can_be_left_out(tmp_path, suffix):
    frame = pl.DataFrame({"a": [1, 2], "note": ["x y", "z"], "b": ["u", "v"]})
    path = write(frame, tmp_path / f"table.{suffix}")
    stream = scan(path, drop=["note"])
    assert stream.names == ("a", "b")
    assert pl.concat(stream.batches()).equals(frame.drop("note"))
    with pytest.raises(
        DataError, match=r"Columns to drop: 'nte' is not a column. Did you mean 'note'"
    ):
        scan(path, drop=["nte"])


@pytest.mark.parametrize("content", ["a,b\n1,x\n2,y\nSmith,z\n", "a\n1\n", None])
def test_a_file_that_changes_while_it_is_read_is_refused_without_its_values(tmp_path, content):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,x\n2,y\n3,z\n")
    held = scan(path)
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    with pytest.raises(DataError, match="has changed since it was opened") as caught:
        Schema.infer(held)
    assert "Smith" not in str(caught.value)


def test_a_text_that_a_number_became_while_the_file_was_read_is_not_shown(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" + "1,x\n" * 9)
    held = scan(path)
    path.write_text("a,b\n" + "1,x\n" * 8 + "Smith,x\n")
    object.__setattr__(held, "state", held._state())  # changed within a tick of the clock
    with pytest.raises(DataError, match="cannot be read as a table") as caught:
        list(held.batches())
    assert "Smith" not in str(caught.value)
