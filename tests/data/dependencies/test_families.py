"""What dependencies say, and how files hold them."""

from __future__ import annotations

import pytest

from tests.data.dependencies.planted import planted
from understudy.data import (
    Column,
    Composite,
    Determined,
    Formula,
    MissingTogether,
    MissingWhen,
    Ordered,
    Schema,
)
from understudy.data.dependencies.families import FAMILIES, dependency_from_plain
from understudy.errors import SchemaError

EACH = [
    Determined("b", ("a",), exceptions=0.01),
    Determined("c", ("a", "b"), keep=False),
    Formula("c", "difference", ("a", "b"), constant=-6.0),
    Formula("c", "square", ("a",), factor=0.01),
    Ordered("a", "b"),
    MissingTogether(("a", "b", "c")),
    MissingWhen("a", "b", "no", exactly=True),
    MissingWhen("a", "b"),
    Composite("a", "yyyymmdd"),
]
COLUMNS = [Column(name, "integer", range=(0, 9)) for name in "abc"]


@pytest.mark.parametrize("one", EACH, ids=lambda one: one.sentence)
def test_each_survives_a_file(one):
    assert dependency_from_plain(one.to_plain()) == one
    schema = Schema(COLUMNS, [one])
    assert Schema.from_toml(schema.to_toml()) == schema
    assert f"# {one.sentence}" in schema.to_toml()


def test_every_family_is_tried():
    assert {one.kind for one in EACH} == set(FAMILIES)


def test_a_schema_with_all_that_was_found_survives_a_file():
    schema = Schema.infer(planted(400))
    assert Schema.from_toml(schema.to_toml()) == schema


def test_files_of_former_versions_have_none():
    text = Schema(COLUMNS).to_toml()
    assert "[[dependency]]\n" not in text
    assert Schema.from_toml(text).dependencies == ()


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ('kind = "determind"', "Did you mean 'determined'"),
        ('kind = "ordered"\nlow = "a"', "high is missing"),
        ('kind = "ordered"\nlow = "a"\nhigh = "d"', "there is no column 'd'"),
        ('kind = "ordered"\nlow = "a"\nhigh = "a"', "names a column twice"),
        ('kind = "ordered"\nlow = "a"\nhigh = "b"\nhihg = 1', "no field 'hihg'"),
        ('kind = "determined"\ncolumn = "a"\nby = "b"', "by must be a list"),
        ('kind = "determined"\ncolumn = "a"\nby = []', "one or two columns"),
        ('kind = "formula"\ncolumn = "a"\nform = "sun"\nof = ["b", "c"]', "Did you mean 'sum'"),
        ('kind = "formula"\ncolumn = "a"\nform = "sum"\nof = ["b"]', "'of' names 1"),
        ('kind = "formula"\ncolumn = "a"\nform = "log"\nof = ["b"]\nfactor = 0', "other than 0"),
        ('kind = "composite"\ncolumn = "a"\ncode = "mmhh"', "hhmm, yyyymmdd"),
        ('kind = "missing together"\ncolumns = ["a"]', "two or more"),
        ('kind = "ordered"\nlow = "a"\nhigh = "b"\nkeep = "no"', "keep must be"),
        ('kind = "ordered"\nlow = "a"\nhigh = "b"\nexceptions = 7', "between 0 and 1"),
    ],
)
def test_mistakes_in_a_file_are_told(section, message):
    text = f"{Schema(COLUMNS).to_toml()}\n[[dependency]]\n{section}\n"
    with pytest.raises(SchemaError, match=message):
        Schema.from_toml(text)


def test_a_schema_without_a_column_has_no_dependency_of_it():
    schema = Schema(COLUMNS, [Ordered("a", "b"), Ordered("b", "c")])
    assert schema.drop("a").dependencies == (Ordered("b", "c"),)
    assert schema.edit("a", role="key").dependencies == schema.dependencies


def test_a_declared_one_takes_the_place_of_another():
    schema = Schema(COLUMNS, [Determined("c", ("a",)), Ordered("a", "b")])
    changed = schema.with_dependencies(Formula("c", "sum", ("a", "b")), keep=False)
    assert changed.dependencies == (
        Ordered("a", "b", keep=False),
        Formula("c", "sum", ("a", "b")),
    )
