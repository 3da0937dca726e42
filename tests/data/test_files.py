"""Tables in files: read as they were meant, written whole or not at all."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal

import pandas as pd
import polars as pl
import polars.testing
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.dialect import Dialect
from understudy.data.files import detect, read, write, write_bytes, write_tables
from understudy.data.frames import to_arrow
from understudy.data.stream import scan
from understudy.errors import DataError


@pytest.fixture
def csv(tmp_path):
    def make(content, encoding="utf-8"):
        path = tmp_path / "data.csv"
        path.write_bytes(content.encode(encoding))
        return path

    return make


# Reading


@pytest.mark.parametrize("backend", ["polars", "pandas", "pyarrow"])
def test_a_file_is_read_into_the_library_that_is_asked_for(csv, backend):
    frame = read(csv("a,b\n1,x\n2,y\n"), backend=backend)
    kinds = {"polars": pl.DataFrame, "pandas": pd.DataFrame, "pyarrow": pa.Table}
    assert type(frame) is kinds[backend]
    assert to_arrow(frame).to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


def test_columns_get_the_type_that_fits_all_their_rows(csv):
    rows = "".join(f"{n},{n},2020-01-0{n},true,1.5,2020-01-01T10:00:0{n}\n" for n in range(1, 4))
    frame = read(csv("late,n,day,flag,x,moment\n" + rows * 400 + "text,4,2020-01-04,false,2,\n"))
    assert frame.dtypes == [
        pl.String,  # one late text makes a column of numbers text
        pl.Int64,
        pl.Date,
        pl.Boolean,
        pl.Float64,
        pl.Datetime("us"),
    ]


def test_tokens_stand_for_missing_values(csv):
    path = csv("a,b,c\n1,x,-9\n?,NA,2\n,,3\n")
    assert read(path).rows() == [(1, "x", -9), (None, None, 2), (None, None, 3)]
    # What is given replaces the usual words.
    assert read(path, missing=["-9"]).rows() == [("1", "x", None), ("?", "NA", 2), (None, None, 3)]
    assert read(path, missing="?").rows() == [(1, "x", -9), (None, "NA", 2), (None, None, 3)]
    assert read(path, missing=()).rows() == [("1", "x", -9), ("?", "NA", 2), (None, None, 3)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_semicolons_decimal_commas_and_umlauts(csv, encoding):
    path = csv('Größe;"Straße; Ort"\n1,75;"Köln; ""Süd"""\n1,8;"a\nb"\n', encoding)
    frame = read(path, encoding=encoding if encoding == "cp1252" else None)
    assert frame.rows() == [(1.75, 'Köln; "Süd"'), (1.8, "a\nb")]
    assert frame.columns == ["Größe", "Straße; Ort"]


def test_a_space_after_each_delimiter_is_no_part_of_the_values(csv):
    # As in the census file of the UCI repository.
    frame = read(csv('age, workclass, fnl\n39, State-gov, 7\n50, ?, 8\n, "a, b", 9\n'))
    assert frame.columns == ["age", "workclass", "fnl"]
    assert frame.rows() == [(39, "State-gov", 7), (50, None, 8), (None, "a, b", 9)]


def test_padding_is_removed_in_any_encoding(csv):
    path = csv("ä, b\nö, 1\nü, 2\n", "cp1252")
    assert read(path, encoding="cp1252").rows() == [("ö", 1), ("ü", 2)]
    assert read(csv("ä, b\nö, 1\n", "utf-8-sig")).columns == ["ä", "b"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blank_lines_are_no_records_but_empty_fields_are(csv, end):
    path = csv(end.join(["a,b", "1,x", "", ",", '"2","y', "", 'z"', "", ""]))
    assert read(path).rows() == [(1, "x"), (None, None), (2, f"y{end}{end}z")]


def test_an_empty_line_of_a_single_column_is_a_missing_value(csv):
    assert read(csv("a\n1\n\n2\n"))["a"].to_list() == [1, None, 2]


def test_parquet_is_recognised_by_its_content(tmp_path, survey):
    path = write(survey, tmp_path / "x.parquet").rename(tmp_path / "x.data")
    assert to_arrow(read(path)).to_pydict() == to_arrow(survey).to_pydict()


@pytest.mark.parametrize("content", ["a,b\n", "a,b", "a,b\n\n"])
def test_a_header_alone_is_no_table(csv, content):
    with pytest.raises(DataError, match="has a header but no rows"):
        read(csv(content))


def test_rows_of_different_lengths_are_refused(csv):
    with pytest.raises(DataError, match="cannot be read as a table with ',' between its fields"):
        read(csv("a,b\n1,2,3\n"))


@pytest.mark.parametrize("above", ["Survey of 2020\n", "Survey of 2020,,\n,,\n"])
def test_a_title_above_the_header_is_thought_of(csv, above):
    with pytest.raises(DataError, match="title"):
        read(csv(above + "age,sex,answer\n31,f,2\n"))


def test_a_damaged_parquet_file_is_named_as_such(tmp_path):
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(DataError, match=r"x.parquet is a damaged Parquet file"):
        read(path)


def test_a_parquet_file_without_rows_is_refused(tmp_path):
    path = write(pl.DataFrame({"a": [1]}).clear(), tmp_path / "x.parquet")
    with pytest.raises(DataError, match="no rows"):
        read(path)


def test_an_unknown_library_is_refused(csv):
    with pytest.raises(DataError, match="got 'dask'"):
        read(csv("a\n1\n"), backend="dask")


# Writing


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.txt", "x.parquet", "x.pq", "X.CSV"])
def test_what_was_written_can_be_read(tmp_path, survey, name):
    path = write(survey, tmp_path / name)
    assert to_arrow(read(path)).to_pydict() == to_arrow(survey).to_pydict()
    assert [item.name for item in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "dialect",
    [
        Dialect(";", ","),
        Dialect("\t", ",", "utf-16"),
        Dialect("|", ".", "cp1252"),
        Dialect(",", ".", "iso8859-2"),
    ],
    ids=str,
)
def test_a_file_is_written_in_the_dialect_of_another(tmp_path, as_frame, dialect):
    columns = {"größe": [1.75, None, 2.0], "ort": ["Köln", 'a;b,|"', "x\ny"], "n": [1, 2, 3]}
    path = write(as_frame(columns), tmp_path / "x.csv", dialect=dialect)
    if dialect.encoding == "utf-16":
        assert replace(detect(path), formats={}) == dialect
    given = {
        "encoding": dialect.encoding,
        "delimiter": dialect.delimiter,
        "decimal": dialect.decimal,
    }
    assert read(path, **given).to_dict(as_series=False) == columns


def test_csv_text_by_hand(tmp_path, as_frame):
    frame = as_frame({"a;b": [0.5, None], "day": [dt.date(2020, 1, 2), None], "t": ["x;y", None]})
    path = write(frame, tmp_path / "x.csv", dialect=Dialect(";", ","))
    assert path.read_text() == '"a;b";day;t\n0,5;2020-01-02;"x;y"\n;;\n'


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1),
            st.integers(-(2**60), 2**60),
            st.floats(allow_nan=False, allow_infinity=False),
        ),
        min_size=1,
        max_size=10,
    )
)
def test_any_text_and_number_comes_back_from_csv(tmp_path_factory, rows):
    texts, whole, real = zip(*rows, strict=True)
    # An x in front keeps texts from being read as numbers, dates or missing values.
    frame = pl.DataFrame({'t,"\n': [f"x{text}x" for text in texts], "w": whole, "r": real})
    path = write(frame, tmp_path_factory.mktemp("csv") / "x.csv")
    polars.testing.assert_frame_equal(read(path), frame, check_exact=True)


@pytest.mark.parametrize(
    "series",
    [
        pl.Series(["a", None], dtype=pl.Enum(["b", "a"])),
        pl.Series([1, None], dtype=pl.Int8),
        pl.Series([dt.datetime(2020, 1, 1), None], dtype=pl.Datetime("ns", "Europe/Berlin")),  # noqa: DTZ001
        pl.Series([dt.timedelta(1), None], dtype=pl.Duration("ms")),
        pl.Series([Decimal("1.50"), None], dtype=pl.Decimal(10, 2)),
        pl.Series([0.1, None], dtype=pl.Float32),
        pl.Series([dt.time(1), None]),
    ],
    ids=lambda series: str(series.dtype),
)
def test_parquet_keeps_types(tmp_path, series):
    frame = pl.DataFrame({"x": series})
    polars.testing.assert_frame_equal(read(write(frame, tmp_path / "x.parquet")), frame)


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_pandas_categories_of_numbers_can_be_written(tmp_path, name):
    frame = pd.DataFrame({"x": pd.Categorical([3, None, 1]), "y": [1, 2, 3]})
    assert to_arrow(read(write(frame, tmp_path / name)))["x"].to_pylist() == [3, None, 1]


def test_a_character_that_the_encoding_lacks_is_named_and_nothing_written(tmp_path):
    with pytest.raises(DataError, match="holds '→', which cp1252 cannot write"):
        write(pl.DataFrame({"x": ["a→b"]}), tmp_path / "x.csv", dialect=Dialect(encoding="cp1252"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_pieces_make_the_same_file_as_the_whole(tmp_path, name):
    table = pa.table({"a": list(range(10)), "b": [f"t{n}" for n in range(10)]})
    write(table, tmp_path / f"whole-{name}")

    def produce(sink):
        sink(table.slice(0, 4))
        sink(table.slice(4))

    write_tables(produce, tmp_path / name)
    assert read(tmp_path / name).equals(read(tmp_path / f"whole-{name}"))


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("before", [None, b"as it was"])
def test_an_interrupted_write_leaves_everything_as_it_was(tmp_path, name, error, before):
    path = tmp_path / name
    if before:
        path.write_bytes(before)

    def produce(sink):
        sink(pa.table({"a": [1]}))
        raise error

    with pytest.raises(error):
        write_tables(produce, path, overwrite=True)
    assert [item.read_bytes() for item in tmp_path.iterdir()] == ([before] if before else [])


def test_an_existing_file_is_kept_unless_told(tmp_path, survey):
    path = tmp_path / "x.csv"
    path.write_text("precious")
    with pytest.raises(DataError, match="already exists"):
        write(survey, path)
    with pytest.raises(DataError, match="already exists"):
        write_bytes(b"new", path)
    assert path.read_text() == "precious"
    write(survey, path, overwrite=True)
    assert read(path).columns == ["sex", "age", "income", "smoker"]


def test_a_file_that_appears_meanwhile_is_kept(tmp_path):
    path = tmp_path / "x.csv"

    def produce(sink):
        sink(pa.table({"a": [1]}))
        path.write_text("precious")

    with pytest.raises(DataError, match="already exists"):
        write_tables(produce, path)
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x.docx", "should end in one of .csv"),
        ("x", "should end in one of .csv"),
        ("nowhere/x.csv", "There is no folder .*nowhere; create it first"),
        ("folder.csv", "is a folder"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_any_work(tmp_path, name, message):
    (tmp_path / "folder.csv").mkdir()

    def produce(sink):
        raise AssertionError("not to be called")

    with pytest.raises(DataError, match=message):
        write_tables(produce, tmp_path / name)


def test_written_files_have_the_usual_permissions(tmp_path):
    (tmp_path / "usual").touch()
    path = write_bytes(b"x", tmp_path / "ours")
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_name_with_brackets_is_no_pattern(tmp_path, suffix):
    write(pl.DataFrame({"a": ["wrong"]}), tmp_path / f"data1.{suffix}")
    path = write(pl.DataFrame({"a": ["right"]}), tmp_path / f"data[1].{suffix}")
    assert read(path)["a"].to_list() == ["right"]
    assert pl.concat(scan(path).batches())["a"].to_list() == ["right"]


def test_codes_keep_their_leading_zeros(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text("place,n\n01067,0\n80331,10\n,2\n")
    for frame in (read(path), pl.concat(scan(path).batches())):
        assert frame["place"].to_list() == ["01067", "80331", None]
        assert frame["n"].to_list() == [0, 10, 2]


@pytest.mark.parametrize("late", ["+5", " 5", "2.5", "x", "5"])
def test_a_late_odd_value_has_the_same_type_whole_and_in_batches(tmp_path, late):
    path = tmp_path / "late.csv"
    path.write_text("a,b\n" + "1,x\n" * 10_001 + f"{late},y\n")
    whole = read(path)
    assert pl.concat(scan(path).batches()).equals(whole)
    assert whole["a"][-1] is not None


def test_dates_of_different_forms_stay_text(tmp_path):
    path = tmp_path / "dates.csv"
    path.write_text("a,n\n2024-01-05,1\n31.12.2023,2\n")
    for frame in (read(path), pl.concat(scan(path).batches())):
        assert frame["a"].to_list() == ["2024-01-05", "31.12.2023"]
        assert frame["n"].to_list() == [1, 2]


def test_what_csv_cannot_hold_is_refused_and_nothing_is_left(tmp_path):
    frame = pl.DataFrame({"a": [[1], [2]]})
    with pytest.raises(DataError, match=r"cannot be written as CSV.*\.parquet"):
        write(frame, tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_message_and_nothing_is_left(tmp_path):
    def produce(sink):
        raise OSError(28, "No space left on device")

    with pytest.raises(DataError, match="cannot be written: No space left on device"):
        write_tables(produce, tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("encoding", ["base64", "rot13", "no such"])
def test_encodings_that_are_none_are_refused(tmp_path, encoding):
    path = write(pl.DataFrame({"a": [1]}), tmp_path / "t.csv")
    with pytest.raises(DataError, match="There is no encoding"):
        read(path, encoding=encoding)


def test_options_about_files_of_another_kind_are_told(tmp_path, caplog):
    table = pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    for name in ("t.csv", "t.parquet"):
        write(table, tmp_path / name)
    for name, options in (("t.csv", {"sheet": "2"}), ("t.parquet", {"delimiter": ";"})):
        caplog.clear()
        assert read(tmp_path / name, **options).equals(table)
        (option,) = options
        (told,) = caplog.messages
        assert told.startswith(f"`{option}` has no effect on {tmp_path / name}: it is for")
    caplog.clear()
    read(tmp_path / "t.csv", delimiter=",", header_row=1)
    read(tmp_path / "t.parquet", delimiter=";", like=detect(tmp_path / "t.csv"))
    assert not caplog.messages
