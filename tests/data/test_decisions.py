"""What is said about how columns were read: each remark by hand, and nothing of a single record."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

from understudy import Column, Schema, load, scan, write
from understudy.data import Determined, decisions

RNG = np.random.default_rng(3)
ROWS = 400


def remarks(values, name="x", schema=None, **more):
    return decisions(pl.DataFrame({name: values}), schema, **more)[name].remarks


def only(values, name="x", schema=None, **more):
    (remark,) = remarks(values, name, schema, **more)
    return remark


def test_an_identifier_is_replaced_and_says_why():
    remark = only([f"P{n}" for n in range(30)])
    assert remark.topic == "made up"
    assert remark.why == "values replaced: all 30 differ, and they look like codes"
    assert remark.line == 'kind = "categorical"'
    assert (remark.setting, remark.value) == ("kind", "categorical")
    assert only(range(30)).why == "values replaced: all 30 differ, and they count up"
    assert only(range(30)).value == "integer"
    assert "look like names" in only([f"Anna M{n}" for n in range(30)]).why


def test_an_identifier_of_the_schema_is_one_because_it_says_so():
    schema = Schema([Column("x", "identifier")])
    assert "the schema says" in only(["a", "a"], schema=schema).why
    assert "the schema says" in only([1, 1], schema=schema).why


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([f"He came on day {n}" for n in range(30)], "most are sentences"),
        ([f"name {n % 18}" for n in range(30)], "most values stand for one record each"),
        ([f"${n}.50" for n in range(30)], "looks like numbers written as text"),
    ],
)
def test_text_is_refused_and_can_be_dropped(values, why):
    remark = only(values)
    assert remark.topic == "refused"
    assert remark.why.startswith("refused: ")
    assert why in remark.why
    assert remark.setting == "drop"


def test_numbers_that_all_differ_are_a_question():
    times = np.unique(RNG.exponential(9000, ROWS).astype(int))
    remark = only(times, "survival")
    assert remark.topic == "all differ"
    assert remark.line == 'kind = "identifier"'
    seconds = 1_600_000_000 + RNG.choice(10**7, ROWS, replace=False)
    assert "times since 1970" in only(seconds, "x").why
    assert remarks(np.unique(RNG.normal(size=ROWS))) == ()  # real numbers differ by nature


def test_a_name_that_names_somebody_although_it_repeats():
    for kind, values in (
        ("integer", RNG.integers(0, 100, ROWS)),
        ("categorical", [f"p{n % 60}" for n in range(ROWS)]),
    ):
        remark = only(values, "person_id")
        assert (remark.topic, remark.setting, remark.value) == ("unit", "unit", kind)
        assert "looks like the name of a unit with several records" in remark.why
    few = [*range(30)] * 50  # too few for so many records to be people
    assert [remark.topic for remark in remarks(few, "person_id")] == ["may be a name"]


def test_codes_that_are_read_as_amounts():
    codes = RNG.choice(RNG.integers(10_000, 99_999, 40), ROWS)
    assert only(codes, "x").topic == "codes"  # few of many numbers of five digits
    regions = RNG.integers(1, 60, ROWS)
    assert only(regions, "region").line == 'kind = "categorical"'
    assert remarks(regions, "x") == ()
    years = RNG.integers(1940, 2000, ROWS)
    assert remarks(years, "x") == ()  # dense
    rounded = 100 * RNG.integers(10, 99, ROWS)
    assert remarks(rounded, "x") == ()  # amounts


def test_special_values_are_listed_if_enough_records_have_them():
    remark = only([*RNG.integers(1, 60, ROWS), *[-8] * 50, *[999] * 50])
    assert remark.topic == "special"
    assert remark.why == "-8 and 999 are groups of their own"
    assert remark.line == "special = []"
    column = Column("x", "integer", special=(999, -8), range=(0, 60))
    few = only([*RNG.integers(0, 60, ROWS), 999, *[-8] * 9], schema=Schema([column]))
    assert few.why == "-8 and 1 other number are groups of their own"
    assert "999" not in few.why


def test_special_dates_are_listed():
    days = [
        *(dt.date(2000, 1, 1) + dt.timedelta(n) for n in range(99)),
        *[dt.date(1900, 1, 1)] * 20,
    ]
    assert only(days).why == "1900-01-01 is a group of its own"


def test_levels_that_occur_once_are_counted():
    remark = only([*"aaabbbb", "c", "d"])
    assert remark.topic == "rare"
    assert remark.why == "2 of 4 levels occur once"
    assert (remark.setting, remark.value) == ("group", "5")
    numbers = only([1, 1, 2])
    assert (numbers.why, numbers.setting) == ("1 of 2 levels occurs once", "")


def test_formats_are_told():
    remark = only(["a", "b"] * 9, formats={"x": "dates as dd/mm/yyyy"})
    assert (remark.topic, remark.why) == ("format", "dates as dd/mm/yyyy")


def test_what_needs_a_look_comes_first_and_the_rest_together():
    frame = pl.DataFrame(
        {
            "sex": ["f", "m"] * 20,
            "town": [*["a", "b"] * 19, "c", "d"],
            "job": ["x", "y"] * 20,
            "id": range(40),
        }
    )
    found = decisions(frame)
    assert [row.columns for row in found.readings()] == [("id",), ("town",), ("sex", "job")]
    assert str(found).splitlines() == [
        'id: identifier; values replaced: all 40 differ, and the name says so (kind = "integer")',
        "town: category; 2 of 4 levels occur once (group levels of fewer than 5 records)",
        "2 columns: sex, job: category",
    ]
    assert [one.column for one in found] == frame.columns
    assert len(found) == 4


def test_the_same_remark_about_several_columns_is_one_row():
    values = [*["a", "b"] * 9, "c"]
    (row,) = decisions(pl.DataFrame({"p": values, "q": values})).readings()
    assert row.columns == ("p", "q")
    ids = [f"k{n}" for n in range(30)]
    (row,) = decisions(pl.DataFrame({"p": ids, "q": ids})).readings()
    assert row.change == 'kind = "categorical"'


def test_many_columns_are_shortened():
    frame = pl.DataFrame({f"c{n}": [True, False] for n in range(31)})
    (row,) = decisions(frame).readings()
    assert row.named == "31 columns: c0, c1, c2, c3, c4, c5, c6, c7, 23 more"


def test_it_is_a_frame_of_the_kind_that_went_in(as_frame):
    found = decisions(as_frame({"x": [*range(30)], "y": ["a", "b"] * 15}))
    frame = found.to_frame()
    assert type(frame) is type(as_frame({"x": [1]}))
    table = found.to_frame(backend="polars")
    assert table["column"].to_list() == ["x", "y"]
    assert table["topic"].to_list() == ["made up", ""]
    assert table["change"].to_list() == ['kind = "integer"', ""]


def test_html_is_escaped():
    shown = decisions(pl.DataFrame({"<b>": range(30)}))._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;" in shown


def test_a_stream_is_read_like_a_table(tmp_path):
    survey = load("cmc")
    path = write(survey, tmp_path / "s.parquet")
    assert str(decisions(scan(path, batch_rows=100))) == str(decisions(survey))


def test_a_table_that_does_not_fit_its_schema_is_no_error():
    schema = Schema([Column("x", "integer", special=(1,)), Column("gone", "boolean")])
    found = decisions(pl.DataFrame({"x": ["a"], "new": [1]}), schema)
    assert [one.column for one in found] == ["x"]


def test_nothing_of_a_single_record_is_told():
    planted = {
        "income": [*np.round(RNG.lognormal(7, 1, ROWS), 2), 987654.32],
        "town": [*RNG.choice(["a", "b"], ROWS), "Rarityville"],
        "age": [*RNG.integers(20, 60, ROWS), 117],
        "name": [*(f"person {n}" for n in range(ROWS)), "Zaphod Beeblebrox"],
        "note": [*(f"it was day {n} of it" for n in range(ROWS)), "he is called Ford Prefect here"],
        "special": [*RNG.integers(0, 60, ROWS), -777777],
        "number": [*np.unique(RNG.exponential(10**6, ROWS + 50).astype(int))[:ROWS], 31415926],
    }
    found = decisions(pl.DataFrame(planted))
    told = str(found) + found._repr_html_() + str(found.to_frame().rows())
    for value in ("987654", "Rarity", "117", "Zaphod", "Ford", "777777", "31415926"):
        assert value not in told


def test_dependencies_stand_beside_the_column_that_they_give():
    rows = 400
    town = [f"t{n % 40}" if n < 390 else f"rare{n}" for n in range(rows)]
    table = pl.DataFrame({"town": town, "state": [one[:2] for one in town]}).with_columns(
        state=pl.col("town").str.slice(1).str.len_chars().cast(pl.String)
    )
    schema = Schema.infer(table, dependencies=False).with_dependencies(
        Determined("state", ("town",), exceptions=0.0025)
    )
    (remark,) = decisions(table, schema)["state"].remarks
    assert remark.topic == "dependency"
    assert remark.why == (
        "follows from 'town', and is derived; 10 of 50 entries rest on fewer than 5 records; "
        "not so in 0.25% of records"
    )
    off = decisions(table, schema.with_dependencies(keep=False))["state"].remarks[0]
    assert off.why.endswith("; not kept")
    assert off.line == "keep = true in its [[dependency]]"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["unknown"] * 9, "numbers but for 'unknown': if it stands for missing values, say so"),
        (["unknown"] * 9 + ["Zyxwvut"], "numbers but for 'unknown' and 1 other text: if they"),
        (["Zyxwvut"] * 4, "numbers but for 1 text: if it stands"),
        (["low", "mid", "high", "top"] * 5, ""),
        (["unknown"] * 70, ""),
    ],
)
def test_numbers_beside_a_few_words_are_told(words, why):
    table = pl.DataFrame({"age": [*map(str, [*range(20, 50)] * 2), *words]})
    found = [remark for remark in decisions(table)["age"].remarks if remark.topic == "words"]
    assert [one.why.startswith(why) for one in found] == ([True] if why else [])
    assert not any("Zyxwvut" in one.why + one.value for one in found)


def test_refused_numbers_and_dates_beside_a_few_words_are_told():
    days = [f"2021-{1 + n // 28:02}-{1 + n % 28:02}" for n in range(200)]
    table = pl.DataFrame(
        {
            "paid": [*(f"{n}.50" for n in range(200)), *["unknown"] * 6],
            "born": [*days, *["0000-00-00"] * 6],
            "seen": [*days, *["Zyxwvut"] * 4, "?", "?"],
            "note": [f"the story of number {n}" for n in range(206)],
        }
    )
    found = {one.column: one.remarks[0] for one in decisions(table)}
    assert all(one.topic == "refused" for one in found.values())
    assert (found["paid"].setting, found["paid"].value) == ("missing", "unknown")
    assert found["paid"].why.startswith("refused: numbers but for 'unknown': if it stands for")
    assert (found["born"].setting, found["born"].value) == ("missing", "0000-00-00")
    assert found["seen"].why.startswith("refused: dates or times but for 2 texts: if they stand")
    assert found["seen"].value == "WORD"
    assert found["note"].setting == "drop"


def test_remarks_on_very_many_columns_are_not_all_shown(monkeypatch):
    monkeypatch.setitem(decisions.__globals__, "MOST_REMARKS", 2)
    # How many levels occur once is different in each.
    table = pl.DataFrame(
        {f"v{odd}": [*"abcdefgh"[:odd], *"xy" * 20][:40] for odd in range(1, 8)} | {"z": ["a"] * 40}
    )
    *first, rest, plain = decisions(table).readings()
    assert [row.columns for row in first] == [("v1",), ("v2",)]
    assert rest.columns == ("v3", "v4", "v5", "v6", "v7")
    assert "to_frame() has all" in rest.why.replace("`", "")
    assert plain.columns == ("z",)
