"""Texts that a spreadsheet would run."""

from __future__ import annotations

import logging

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy import write
from understudy.data.formula_cells import escaped, formula_columns, unescaped


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "=cmd|' /C calc'!A0",
        "+A1",
        "-A1",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "=",
        "- none -",
    ],
)
def test_formulas(text):
    assert formula_columns(pa.table({"a": ["b", None, text]})) == ["a"]
    assert formula_columns(pa.table({text: [1]})) == [text]
    assert escaped(pa.table({"a": [text, None]}))["a"].to_pylist() == [f"'{text}", None]


@pytest.mark.parametrize(
    "text", ["", "a=b", "-", "-5", "+5.5", "-1,234.50", "-5%", "-$5.00", "-5 €", "<=50K", "'=x"]
)
def test_what_is_none(text):
    assert formula_columns(pa.table({"a": [text]})) == []
    assert escaped(pa.table({"a": [text]}))["a"].to_pylist() == [text]


def test_numbers_and_dates_are_no_texts():
    table = pa.table({"a": [-5, 3], "b": [-0.5, None], "c": [None, None]})
    assert formula_columns(table) == []
    assert escaped(table) == table


def test_categories_are_texts():
    table = pa.table({"a": pa.array(["=1", "b", None]).dictionary_encode()})
    assert formula_columns(table) == ["a"]
    assert escaped(table)["a"].to_pylist() == ["'=1", "b", None]


@given(st.lists(st.none() | st.text("=+-@\t'ab1", max_size=4).filter(lambda t: t[:1] != "'")))
def test_back_and_forth(texts):
    table = pa.table({"a": pa.array(texts, pa.string())})
    assert unescaped(pl.DataFrame(escaped(table)))["a"].to_list() == texts
    assert formula_columns(escaped(table)) == []


def test_a_file_is_warned_about_or_escaped(tmp_path, caplog):
    frame = pl.DataFrame({"a": ["=1", "b"], "n": [-1, 2]})
    with caplog.at_level(logging.WARNING, "understudy"):
        plain = write(frame, tmp_path / "plain.csv")
    assert "plain.csv has texts in 'a' that a spreadsheet takes for formulas" in caplog.text
    assert "=1" not in caplog.text
    assert plain.read_text() == "a,n\n=1,-1\nb,2\n"
    caplog.clear()
    safe = write(frame, tmp_path / "safe.csv", safe_cells=True)
    write(frame, tmp_path / "other.parquet")
    assert safe.read_text() == "a,n\n'=1,-1\nb,2\n"
    assert caplog.text == ""
