"""Lines above the header of a CSV file."""

import pytest

from understudy.data import detect, read, scan, write
from understudy.errors import DataError


def csv(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("text", "options", "names"),
    [
        ("# exported by Anna\na,b\n1,x\n", {}, ["a", "b"]),
        ("# one\n# two, three\n\na,b\n1,x\n", {}, ["a", "b"]),
        ("\ufeff# one\na,b\n1,x\n", {}, ["a", "b"]),
        ("\n\na,b\n1,x\n", {}, ["a", "b"]),
        ("Survey\nof 2023,\n\na,b,c\n1,x,2\n", {"header_row": 4}, ["a", "b", "c"]),
        ("# note\nid\n1\n2\n", {}, ["id"]),
        ("#a\tb\n1\tx\n", {}, ["#a", "b"]),
        ("#id\n1\n2\n", {}, ["#id"]),
        ("# note\n#a,b\n1,x\n", {}, ["#a", "b"]),
        ("sep=;\na;b\n1;x\n", {}, ["a", "b"]),
        ('"SEP=|"\r\na|b\r\n1|x\r\n', {}, ["a", "b"]),
        ("sep=,\n# note\na,b\n1,x\n", {}, ["a", "b"]),
    ],
)
def test_the_table_begins_with_its_header(tmp_path, text, options, names):
    path = csv(tmp_path, text)
    found = read(path, **options)
    assert found.columns == names
    assert found.row(0)[0] == 1
    stream = scan(path, **options)
    assert stream.names == tuple(names)
    assert stream.rows == found.height
    copy = write(found, tmp_path / "copy.csv", dialect=detect(path, **options))
    # What is made from a table is read with the same options.
    assert read(copy, like=detect(path, **options), **options).equals(found)


@pytest.mark.parametrize(
    "text", ["sep=;\na;b\n1;x\n", "\ufeffsep=|\r\na|b\r\n1|x\r\n", "#a,b\n1,x\n"]
)
def test_excels_own_line_comes_back(tmp_path, text):
    path = csv(tmp_path, text)
    copy = write(read(path), tmp_path / "copy.csv", dialect=detect(path))
    assert copy.read_bytes() == path.read_bytes()


def test_a_line_about_delimiters_names_any_sign(tmp_path):
    assert read(csv(tmp_path, "sep=^\na^b\n1^x\n")).columns == ["a", "b"]


def test_comments_are_told_and_not_written(tmp_path, caplog):
    path = csv(tmp_path, "# by Anna\n\na,b\n1,x\n")
    copy = write(read(path), tmp_path / "copy.csv", dialect=detect(path))
    assert copy.read_text() == "a,b\n1,x\n"
    assert "2 lines above the header are left out, and will not be written." in caplog.text
    assert "Anna" not in caplog.text


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("Survey\nby me\na,b,c\n1,x,2\n", {}, "give the header's line as `header_row`"),
        ("Survey,,\na,b,c\n1,x,2\n", {}, "give its line as `header_row`"),
        ("a,b\n1,2\n", {"header_row": 3}, "has no line 3 where its header should be"),
        ("# one\n# two\n", {}, "has comments, but no table"),
    ],
)
def test_what_is_wrong_is_told(tmp_path, text, options, message):
    with pytest.raises(DataError, match=message):
        read(csv(tmp_path, text), **options)


def test_the_row_is_not_given_for_wide_letters(tmp_path):
    path = csv(tmp_path, "Title\na,b\n1,x\n", "utf-16")
    with pytest.raises(DataError, match="Save the file in UTF-8"):
        read(path, header_row=2)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b,\n1,x,\n2,y,\n", ["a", "b", "column 3"]),
        ("a,,c\n1,2,3\n", ["a", "column 2", "c"]),
        (",b,c,d,\n1,2,3,4,5\n", ["row", "b", "c", "d", "column 5"]),
        ("a,,column 2\n1,2,3\n", ["a", "column 2_", "column 2"]),
    ],
)
def test_columns_without_a_name_get_one_and_lose_it_again(tmp_path, text, names, caplog):
    path = csv(tmp_path, text)
    found = read(path)
    assert found.columns == names
    assert scan(path).table().column_names == names
    assert write(found, tmp_path / "o.csv", dialect=detect(path)).read_text() == text
    assert "without a name" in caplog.text
