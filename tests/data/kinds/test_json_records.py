"""JSON files: tables in two forms, and messages without what is in them."""

from __future__ import annotations

import datetime as dt
import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import read, write
from understudy.errors import DataError

SECRET = "Quetzalcoatl"  # noqa: S105  # a value of a record


@pytest.mark.parametrize(
    "text",
    [
        '[{"a": 1, "day": "2020-01-31"}, {"a": null, "b": "x"}]',
        ' \n[\n{"a": 1, "day": "2020-01-31"},\n{"a": null, "b": "x"}]',
        '\ufeff[{"a": 1, "day": "2020-01-31"}, {"a": null, "b": "x"}]',
        '{"a": 1, "day": "2020-01-31"}\n{"a": null, "b": "x"}\n',
    ],
)
@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.ndjson", "t.csv"])
def test_arrays_and_lines_are_told_apart_by_their_content(tmp_path, text, name):
    (tmp_path / name).write_text(text, encoding="utf-8")
    table = read(tmp_path / name)
    assert table.to_dicts() == [
        {"a": 1, "day": dt.date(2020, 1, 31), "b": None},
        {"a": None, "day": None, "b": "x"},
    ]


@pytest.mark.parametrize(
    "text",
    [
        f'{{"data": [{{"name": "{SECRET}"}}],\n "more": 1}}',
        f'["{SECRET}", 1]',
        f'[{{"name": "{SECRET}"}}, 2]',
        f'[{{"name": "{SECRET}"',
        f'{{"name": "{SECRET}"}}\n{{"name": ',
        f'"{SECRET}"',
        f'{{"{SECRET}": {{"age": 31}}, "{SECRET}2": {{"age": 32}}}}',
        f'[{{"name": {{"first": "{SECRET}"}}}}]',
        f'[{{"name": ["{SECRET}"]}}]',
        f"[[{SECRET!r}, 1]]",
        "[]",
        "{}",
        "null",
    ],
)
@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
def test_what_is_no_table_gets_one_sentence_without_values(tmp_path, text, name):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError) as error:
        read(tmp_path / name)
    assert SECRET not in str(error.value)
    assert name in str(error.value)
    assert len(str(error.value)) < 400
    assert error.value.__cause__ is None


def test_what_python_writes_for_no_number_is_named(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps([{"a": 1.5}, {"a": float("nan")}]))
    with pytest.raises(DataError, match="NaN or Infinity in the place of a number"):
        read(tmp_path / "t.json")


def test_texts_for_missing_values_are_left_out(tmp_path):
    (tmp_path / "t.json").write_text('[{"a": "k.A."}, {"a": "x"}]')
    assert read(tmp_path / "t.json", missing=["k.A."])["a"].to_list() == [None, "x"]


def test_other_programs_read_what_is_written(tmp_path):
    table = pl.DataFrame({"a": [1, None], "text": ['"\n{', "ü"]})
    assert json.loads(write(table, tmp_path / "t.json").read_text("utf-8")) == table.to_dicts()
    lines = write(table, tmp_path / "t.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == table.to_dicts()


@given(
    st.lists(
        st.tuples(st.integers(-(2**63), 2**63 - 1), st.text().map(lambda text: f"t{text}")),
        min_size=1,
    )
)
def test_any_numbers_and_texts_come_back(tmp_path_factory, rows):
    table = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.String}, orient="row")
    folder = tmp_path_factory.mktemp("json")
    for name in ("t.json", "t.jsonl.gz"):
        assert read(write(table, folder / name)).equals(table)


def test_an_array_of_one_record_with_an_object_in_it_is_no_single_object(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('[{"home": {"town": "Bonn"}}]')
    with pytest.raises(DataError, match="'home' holds lists or objects"):
        read(path)
