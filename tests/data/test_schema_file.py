"""The schema as a TOML file: everything comes back, and every mistake is named."""

from __future__ import annotations

import json
import math
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.schema import Column, Schema
from understudy.data.schema_file import column_from_plain, column_to_plain
from understudy.errors import SchemaError

NAMES = [
    'quo"ted',
    "it's",
    "ünï çødé 漢字 🎭",
    "two\nlines",
    "a.b.c",
    "[[column]]",
    "# no",
    "x" * 300,
    "\x7f\t",
]

texts = st.text(st.characters(codec="utf-8"), max_size=20)
numbers = st.floats(allow_nan=False, allow_infinity=False)


def distinct(values):
    return st.lists(values, max_size=5, unique=True).map(tuple)


@st.composite
def columns(draw):
    name, kind = (
        draw(texts.filter(bool)),
        draw(st.sampled_from(["text", "level", "int", "real", "day"])),
    )
    common = {"missing": draw(st.floats(0, 1)), "role": draw(st.sampled_from(["ordinary", "key"]))}
    bins = {
        "binning": draw(st.sampled_from(["quantile", "width"])),
        "bins": draw(st.integers(1, 99)),
    }
    if kind == "text":
        return Column(name, "boolean", **common)
    if kind == "level":
        values = draw(st.sampled_from([texts, st.integers(-(2**62), 2**62)]))
        return Column(name, "categorical", levels=draw(distinct(values)), **common)
    if kind == "int":
        ends = sorted(draw(st.tuples(st.integers(-99, 99), st.integers(-99, 99))))
        return Column(
            name,
            "integer",
            special=draw(distinct(st.integers(-(2**63), 2**63 - 1))),
            range=ends,
            **bins,
            **common,
        )
    if kind == "day":
        days = sorted(draw(st.lists(st.dates(), min_size=2, max_size=4, unique=True)))
        edges = tuple(day.isoformat() for day in days)
        return Column(name, "datetime", binning="edges", edges=edges, **common)
    special = draw(distinct(st.floats(allow_nan=False)))
    decimals = draw(st.none() | st.integers(0, 15))
    if draw(st.booleans()):
        return Column(name, "real", levels=special or (0.5,), decimals=decimals, **common)
    return Column(name, "real", special=special, decimals=decimals, **bins, **common)


@given(st.lists(columns(), min_size=1, max_size=4, unique_by=lambda column: column.name))
def test_any_schema_comes_back_from_toml_and_json(described):
    schema = Schema(described)
    assert Schema.from_toml(schema.to_toml()) == schema
    plain = json.loads(json.dumps([column_to_plain(column) for column in schema], allow_nan=False))
    assert Schema(column_from_plain(column) for column in plain) == schema


@pytest.mark.parametrize("name", NAMES)
def test_weird_names_and_levels_come_back(name):
    schema = Schema([Column(name, "categorical", levels=(name, "other"))])
    assert Schema.from_toml(schema.to_toml()) == schema


def test_infinities_are_levels_and_special_values():
    schema = Schema(
        [
            Column("x", "real", levels=(-math.inf, 0.5, math.inf)),
            Column("y", "real", special=(math.inf,)),
            Column("z", "categorical", levels=("inf", "-inf")),  # texts stay texts
        ]
    )
    assert Schema.from_toml(schema.to_toml()) == schema


def test_each_field_has_a_comment_for_the_person_who_edits_it():
    schema = Schema(
        [
            Column("a", "integer", range=(0, 9), special=(-8,)),
            Column("b", "real", binning="edges", edges=(0, 1), decimals=1),
            Column("c", "categorical", levels=("x", "y")),
        ]
    )
    text = schema.to_toml()
    assert "treat it as confidentially as the data" in text
    fields = [line for line in text.splitlines() if " = " in line and line[0] not in "#[ "]
    assert all("#" in line for line in fields if not line.startswith("name"))
    explained = {
        line.split()[1]
        for line in text.splitlines()
        if line.startswith("# ") and len(line.split()) > 1
    }
    assert {line.split()[0] for line in fields} - {"understudy_schema"} <= explained


def test_only_fields_that_matter_for_the_kind_are_written():
    assert set(column_to_plain(Column("x", "boolean"))) == {"name", "kind", "role", "missing"}
    assert "bins" not in column_to_plain(Column("x", "integer", levels=(1, 2)))
    assert "levels" not in column_to_plain(Column("id", "identifier", levels=("k1", "k2")))


def test_a_person_may_write_dates_as_toml_dates():
    text = """
    understudy_schema = 1
    [[column]]
    name = "d"
    kind = "datetime"
    binning = "edges"
    edges = [2020-01-01, 2021-01-01T12:00:00]
    """
    assert Schema.from_toml(text)["d"].edges == ("2020-01-01", "2021-01-01T12:00:00")


HEAD = "understudy_schema = 1\n"
AGE = '[[column]]\nname = "age"\nkind = "integer"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = [", "is not a TOML file"),
        ("", "understudy_schema must be 1; got None"),
        (AGE, "understudy_schema must be 1; got None"),
        ("understudy_schema = 2\n" + AGE, "format 2, newer than 1: update understudy"),
        ('understudy_schema = "1"\n' + AGE, "must be 1; got '1'"),
        (HEAD, r"no \[\[column\]\] section"),
        (HEAD + "column = 3", r"no \[\[column\]\] section"),
        (HEAD + "column = [1]", "column 1 is not a section of fields"),
        (HEAD + '[[column]]\nkind = "integer"', "column 1: name is missing"),
        (HEAD + '[[column]]\nname = "x"', "'x': kind is missing"),
        (HEAD + AGE + "bin = 3", "'age': there is no field 'bin'. Did you mean 'bins'"),
        (HEAD + AGE + "role = 3", "'age': role must be text; got 3"),
        (HEAD + '[[column]]\nname = 3\nkind = "real"', "column 1: name must be text; got 3"),
        (HEAD + AGE + "levels = 3", "'age': levels must be a list; got one int"),
        (
            HEAD + AGE + "levels = [[1]]",
            r"'age': levels must be texts.* number 1 of the list is list",
        ),
        (
            HEAD + AGE + 'bins = "many"',
            "'age': bins must be a whole number from 1 to 1,000,000; got 'many'",
        ),
        (HEAD + AGE + "special = [nan]", "'age': special .* number 1 of the list is a real number"),
    ],
)
def test_each_mistake_in_a_file_has_its_sentence(text, message):
    with pytest.raises(SchemaError, match=message):
        Schema.from_toml(text)


def test_all_mistakes_are_named_at_once():
    text = """
    [[column]]
    name = "a"
    kind = "reel"
    [[column]]
    bin = 3
    [[column]]
    name = "b"
    kind = "real"
    bins = 0
    """
    with pytest.raises(SchemaError) as error:
        Schema.from_toml(text)
    sentences = "\n".join(error.value.problems)
    for part in (
        "understudy_schema",
        "'a': kind",
        "column 2: name",
        "column 2: kind",
        "'bin'",
        "'b': bins",
    ):
        assert part in sentences


def test_a_file_is_saved_and_loaded_and_not_overwritten(tmp_path):
    schema = Schema([Column("ä", "boolean")])
    path = tmp_path / "schema.toml"
    schema.save(path)
    assert Schema.load(path) == schema
    assert tomllib.loads(path.read_text(encoding="utf-8"))["column"][0]["name"] == "ä"
    with pytest.raises(ValueError, match="already exists"):
        schema.save(path)
    schema.save(path, overwrite=True)


def test_files_that_cannot_be_read_are_refused(tmp_path):
    (tmp_path / "schema.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SchemaError, match=r"schema\.toml is not .*: it is not text in UTF-8"):
        Schema.load(tmp_path / "schema.toml")
    with pytest.raises(SchemaError, match=r"Did you mean 'schema.toml'"):
        Schema.load(tmp_path / "shema.toml")
    with pytest.raises(SchemaError, match="cannot be opened"):
        Schema.load(tmp_path)
    (tmp_path / "bad.toml").write_text("a =")
    with pytest.raises(SchemaError, match=r"bad.toml is not a TOML file"):
        Schema.load(tmp_path / "bad.toml")
