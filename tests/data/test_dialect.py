"""How a CSV file is written, found out by looking at it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from understudy.data import read
from understudy.data.dialect import Dialect, resolve_dialect
from understudy.data.files import detect, fitted, write
from understudy.data.formats import ColumnFormat
from understudy.data.number_format import NumberFormat
from understudy.errors import DataError


@pytest.fixture
def csv(tmp_path):
    def make(content, encoding="utf-8"):
        path = tmp_path / "data.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return make


def bare(dialect):
    """Return a dialect without the formats of its columns."""
    return replace(dialect, formats={})


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
        ("a,b\r\n1,2\r\n", Dialect(newline="\r\n")),
        ("a,b\r1,2\r", Dialect(newline="\r")),
        ("a,b\n1,2", Dialect(ending=0)),
        ("a,b\n1,2\n\n\n", Dialect(ending=3)),
        ('"a","b"\n1,2\n', Dialect(header_quoted=True)),
        ("\ufeffa,b\n1,2\n", Dialect(mark=True)),
        ("a;b\n1.234;1,5\n", Dialect(";", ",")),  # a point before thousands
        ("a;b\n1.234,5;2\n2,5;3\n", Dialect(";", ",")),
        ("a,b\nx\u2028y,1\n", Dialect()),  # no line end in CSV
    ],
)
def test_delimiter_decimal_sign_and_padding_are_detected(csv, text, dialect):
    assert bare(detect(csv(text))) == dialect


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
    assert "give its `encoding`" in caplog.text
    caplog.clear()
    read(path, encoding="cp1252")
    assert not caplog.text


def test_bytes_that_no_western_letter_has_are_refused(csv):
    path = csv("word\n", "utf-8")
    path.write_bytes(b"word\n\x81\x8d\n")
    with pytest.raises(DataError, match=r"cannot be read as cp1252.*Give its `encoding`"):
        read(path)


@OLD
def test_an_encoding_that_is_mistaken_still_writes_the_bytes_that_were_read(csv, encoding, words):
    path = csv(in_rows(words * 20), encoding)
    copy = write(read(path), path.with_name("copy.csv"), dialect=detect(path))
    assert copy.read_bytes() == path.read_bytes()


def test_ascii_is_utf_8(csv):
    assert resolve_dialect(csv("a,b\n1,2\n"), encoding="ascii").encoding == "utf-8"


def test_an_umlaut_after_the_sample_is_found(csv):
    path = csv("a,b\n" + "x,1\n" * 100_000 + "ü,2\n", "cp1252")
    assert detect(path).encoding != "utf-8"
    assert read(path, encoding="cp1252")["a"][-1] == "ü"


def test_the_sample_may_end_inside_a_row_or_a_quoted_field(csv):
    long = "y" * 100_000
    assert bare(detect(csv(f'a;b\n1;2\n3;"{long}\n{long}\n{long}"\n'))) == Dialect(";")
    assert bare(detect(csv("a;b\n" + '"x\n";"y,y"\n' * 300))) == Dialect(";")


def test_what_is_given_is_not_detected(csv):
    path = csv("a;b,c\n1;2,5\n")
    assert resolve_dialect(path, delimiter=",") == Dialect(",")
    assert resolve_dialect(path, delimiter=";", decimal=".") == Dialect(";", ".")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delimiter": ";;"}, "delimiter must be one character; got ';;'"),
        ({"delimiter": '"'}, "delimiter must be one character"),
        ({"delimiter": ""}, "delimiter must be one character"),
        ({"decimal": "'"}, "decimal sign must be '.' or ','"),
        ({"delimiter": ",", "decimal": ","}, "cannot both be ','"),
        ({"newline": "x"}, "A line must end in"),
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
        (b"\xef\xbb\xbf\n", {}, "is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", {}, "is a binary file"),
        (b"a,a\n1,2\n", {}, "must differ; repeated: 'a'"),
        (b"a,,\n1,2,3\n", {}, "Column 2 has no name"),
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
        resolve_dialect(tmp_path)


def test_parquet_has_no_dialect(tmp_path, survey):
    assert detect(write(survey, tmp_path / "x.parquet")) is None


def test_the_content_of_a_file_will_do():
    content = "ä;b\n1,5;2\n".encode("cp1252")
    assert resolve_dialect(content) == Dialect(";", ",", "cp1252")
    with pytest.raises(DataError, match=r"inner.csv is empty"):
        resolve_dialect(b" ", name=Path("inner.csv"))


@pytest.mark.parametrize("encoding", ["utf-16-be", "utf-32-be"])
def test_marks_of_the_other_order_of_bytes_come_back(csv, encoding):
    path = csv("\ufeffä,b\n1,2\n", encoding)
    copy = write(read(path), path.with_name("copy.csv"), dialect=detect(path))
    assert copy.read_bytes() == path.read_bytes()


def test_a_dialect_goes_through_json():
    money = ColumnFormat(NumberFormat(places=2, prefix="$"), ("N/A", ""), quoted=True)
    dialect = Dialect(";", ",", newline="\r\n", ending=0, formats={"a": money})
    plain = dialect.to_plain()
    assert plain["formats"]["a"] == {
        "kind": "number",
        "values": {"places": 2, "prefix": "$"},
        "missing": ["N/A", ""],
        "quoted": True,
    }
    assert Dialect.from_plain(json.loads(json.dumps(plain))) == dialect
    assert Dialect.from_plain(Dialect().to_plain()) == Dialect()


@pytest.mark.parametrize(
    "plain",
    [{}, {"formats": 1}, {"formats": {"a": {}}}, {"formats": {"a": {"kind": "x"}}},
     {"formats": {}, "delimiter": "--"}, {"formats": {}, "colour": 1},
     {"formats": {"a": {"kind": "number", "values": {"colour": 1}}}}],
)  # fmt: skip
def test_what_is_no_dialect_is_refused(plain):
    with pytest.raises(ValueError, match=r"no dialect|no format"):
        Dialect.from_plain(plain)


def test_a_file_with_tabs_keeps_the_rest_of_the_dialect():
    dialect = Dialect(";", ",", padded=True)
    assert fitted(dialect, Path("x.TSV")) == fitted(dialect, Path("x.tsv.gz")) == Dialect("\t", ",")
    assert fitted(dialect, Path("x.csv")) is dialect
