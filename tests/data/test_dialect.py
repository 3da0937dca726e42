"""How a CSV file is written, found out by looking at it."""

from __future__ import annotations

import datetime as dt
import io

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import read, scan
from understudy.data.dialect import (
    Dialect,
    are_dates,
    date_type,
    detect,
    resolve_dialect,
    with_dates,
)
from understudy.data.files import write
from understudy.errors import DataError


@pytest.fixture
def csv(tmp_path):
    def make(content, encoding="utf-8"):
        path = tmp_path / "data.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return make


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("a,b\n1,2\n", Dialect()),
        ("a;b\n1,5;2\n2,5;3\n", Dialect(";", ",")),
        ("a;b\n1.5;2\n", Dialect(";", ".")),
        ("a\tb\n1,5\t2\n", Dialect("\t", ",")),
        ("a|b\nx|y\n", Dialect("|")),
        ("a, b\n1, 2\n", Dialect(padded=True)),
        ("a\n1\n", Dialect()),
        ('a;b\n"x, y, z";1\n"u";2\n', Dialect(";")),  # commas inside quotes part nothing
        ('a,b\n"x;\ny;z",1\n', Dialect()),
        ("a,b\r\n1,2\r\n", Dialect()),
        ("a;b\n1.234,5;2\n2,5;3\n", Dialect(";", ",")),
        ("a,b\nx\u2028y,1\n", Dialect()),  # no line end in CSV
    ],
)
def test_delimiter_decimal_sign_and_padding_are_detected(csv, text, dialect):
    assert detect(csv(text)) == dialect


@pytest.mark.parametrize(
    ("encoding", "found"),
    [("utf-8", "utf-8"), ("utf-8-sig", "utf-8"), ("utf-16", "utf-16"), ("utf-32", "utf-32")],
)
def test_unicode_is_detected_with_and_without_a_mark(csv, encoding, found):
    assert detect(csv("näme,b\nž,1\n", encoding)).encoding == found


OLD = pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("cp1252", ["Müller-Lüdenscheidt", "Straße", "naïve café", "“quoted” words"]),
        ("iso8859-2", ["Łódź", "Žluťoučký kůň", "příliš žluťoučký", "úpěl ďábelské ódy"]),
    ],
)


def in_rows(words):
    return "word;n\n" + "".join(f"{word};{n}\n" for n, word in enumerate(words))


@OLD
def test_a_file_in_an_old_encoding_that_is_given_is_read_as_it_was_meant(csv, encoding, words):
    path = csv(in_rows(words * 20), encoding)
    assert read(path, encoding=encoding)["word"].to_list() == words * 20


def test_text_that_is_not_unicode_is_read_as_western_and_said_so(csv, caplog):
    words = ["Müller-Lüdenscheidt", "Straße", "naïve café", "“quoted” words"]
    path = csv(in_rows(words), "cp1252")
    assert read(path)["word"].to_list() == words
    assert "is not in UTF-8 and was read as cp1252" in caplog.text
    assert "give its encoding" in caplog.text
    caplog.clear()
    read(path, encoding="cp1252")
    assert not caplog.text


def test_bytes_that_no_western_letter_has_are_refused(csv):
    path = csv("word\n", "utf-8")
    path.write_bytes(b"word\n\x81\x8d\n")
    with pytest.raises(DataError, match=r"cannot be read as cp1252.*Give its encoding"):
        read(path)


@OLD
def test_an_encoding_that_is_mistaken_still_writes_the_bytes_that_were_read(csv, encoding, words):
    path = csv(in_rows(words * 20), encoding)
    copy = write(read(path), path.with_name("copy.csv"), dialect=detect(path))
    assert copy.read_bytes() == path.read_bytes()


def test_ascii_is_utf_8(csv):
    assert resolve_dialect(csv("a,b\n1,2\n"), encoding="ascii")[0].encoding == "utf-8"


def test_an_umlaut_after_the_sample_is_found(csv):
    path = csv("a,b\n" + "x,1\n" * 100_000 + "ü,2\n", "cp1252")
    assert detect(path).encoding != "utf-8"
    assert read(path, encoding="cp1252")["a"][-1] == "ü"


def test_the_sample_may_end_inside_a_row_or_a_quoted_field(csv):
    long = "y" * 100_000
    assert detect(csv(f'a;b\n1;2\n3;"{long}\n{long}\n{long}"\n')) == Dialect(";")
    assert detect(csv("a;b\n" + '"x\n";"y,y"\n' * 300)) == Dialect(";")


def test_what_is_given_is_not_detected(csv):
    path = csv("a;b,c\n1;2,5\n")
    assert resolve_dialect(path, delimiter=",")[0] == Dialect(",")
    assert resolve_dialect(path, delimiter=";", decimal=".")[0] == Dialect(";", ".")


def test_tokens_for_missing_are_added_to_the_usual_ones(csv):
    path = csv("a,b\n1,2\n")
    assert resolve_dialect(path, missing=["-9", "NA"])[1] == ("", "?", "NA", "-9")
    assert resolve_dialect(path, missing="-9")[1] == ("", "?", "NA", "-9")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delimiter": ";;"}, "delimiter must be one character; got ';;'"),
        ({"delimiter": '"'}, "delimiter must be one character"),
        ({"delimiter": ""}, "delimiter must be one character"),
        ({"decimal": "'"}, "decimal sign must be '.' or ','"),
        ({"delimiter": ",", "decimal": ","}, "cannot both be ','"),
    ],
)
def test_a_dialect_that_cannot_be_is_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        Dialect(**arguments)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (b"", {}, "is empty"),
        (b" \n\n", {}, "is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", {}, "is a binary file"),
        (b"a,a\n1,2\n", {}, "must differ; repeated: 'a'"),
        (b",a\n1,2\n", {}, "Column 1 has no name"),
        (b"a,b\n1,2\n", {"encoding": "klingon"}, "no encoding 'klingon'"),
        (b"a,b\n\xfc,2\n", {"encoding": "utf-8"}, "cannot be read as utf-8"),
        (b"a,b\n1,2\n", {"delimiter": "--"}, "one character; got '--'"),
        (b'"a,b\n1,' + b"x" * 200_000, {}, "cannot be read as CSV"),
    ],
)
def test_what_is_no_table_is_refused(csv, content, options, message):
    with pytest.raises(DataError, match=message):
        resolve_dialect(csv(content), **options)


def test_a_missing_file_gets_a_near_miss_and_a_folder_is_named(csv, tmp_path):
    csv("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"no file .*date.csv. Did you mean 'data.csv'"):
        detect(tmp_path / "date.csv")
    with pytest.raises(DataError, match="is a folder"):
        detect(tmp_path)


def test_parquet_has_no_dialect(tmp_path, survey):
    assert detect(write(survey, tmp_path / "x.parquet")) is None


FORMS = (
    *("2020-01-31", "2021-12-01", "31/01/2020", "31.01.2020", "2020/01/31", "31/01/20", "2020-1-5"),
    *("10:30", "11:45", "10:30:15", "10:30:15.5", "2020-01-31 10:30", "2020-01-31 10:30:15.5"),
    *("2020-01-31T10:30:15", "2020-01-31T10:30:15Z", "2020-01-31T10:30:15+02:00"),
    *("2020-13-45", "01/31/2020", "2020-01", "31-Jan-2020", "x", "<=50K", "1,5", '"'),
)


def by_polars(values):
    """Return what polars makes of a column of texts; text, if it finds dates of several forms."""
    content = pl.DataFrame({"x": values}, {"x": pl.String}).write_csv(quote_style="always")
    options = {"infer_schema_length": None, "null_values": [""]}
    try:
        return pl.read_csv(io.StringIO(content), try_parse_dates=True, **options)["x"]
    except pl.exceptions.PolarsError:
        return pl.read_csv(io.StringIO(content), **options)["x"]


@given(st.lists(st.none() | st.sampled_from(FORMS), min_size=1, max_size=4))
def test_types_and_values_are_those_that_polars_finds(values):
    frame = pl.DataFrame({"x": values, "n": 1}, {"x": pl.String, "n": pl.Int64})
    found = with_dates(frame)
    assert found["x"].dtype == by_polars(values).dtype
    assert found["x"].to_list() == by_polars(values).to_list()
    assert found.columns == ["x", "n"]


@pytest.mark.parametrize("form", FORMS)
def test_each_form(form):
    found = with_dates(pl.DataFrame({"x": [None, form, None, form]}))["x"]
    assert found.equals(by_polars([None, form, None, form]))


def test_columns_may_stay_text():
    frame = pl.DataFrame({"day": ["2020-01-31"], "code": ["2020-01-31"]})
    assert with_dates(frame, ["code"]).dtypes == [pl.Date, pl.String]


def test_all_values_have_a_say():
    days = [f"2020-01-{day:02}" for day in range(1, 30)] * 10
    kind = date_type(pl.Series(days))
    assert kind == pl.Date
    assert are_dates(pl.Series(days).unique(), kind)
    for late in ("soon", "2020-02-01 10:30", "01/02/2020"):
        late_days = pl.Series([*days, late])
        assert date_type(late_days) == pl.Date
        assert not are_dates(late_days.unique(), kind)
        assert with_dates(pl.DataFrame({"x": late_days}))["x"].dtype == pl.String
    assert date_type(pl.Series([None], dtype=pl.String)) is None


@pytest.mark.parametrize("late", ["2020-01-31", "31.01.2020", "soon", ""])
def test_columns_are_decided_one_by_one_whole_and_in_batches(tmp_path, late):
    path = tmp_path / "days.csv"
    rows = "2020-01-05,31/12/2023,10:30,a\n" * 10_001
    path.write_text(f"a,b,c,d\n{rows}{late},30/12/2023,11:00,b\n")
    whole = read(path)
    assert pl.concat(scan(path).batches()).equals(whole)
    first = pl.String if late in ("31.01.2020", "soon") else pl.Date
    assert whole.dtypes == [first, pl.Date, pl.Time, pl.String]
    assert whole["b"][-1] == dt.date(2023, 12, 30)
