"""The schema: what it refuses, all at once, and how it is edited."""

from __future__ import annotations

import datetime as dt
import math

import polars as pl
import pytest

from understudy.data.schema import Column, Schema
from understudy.errors import ParameterError, SchemaError
from understudy.showing import showing_records


@pytest.fixture
def schema():
    return Schema(
        [
            Column("age", "integer", range=(16, 99)),
            Column("sex", "categorical", levels=("f", "m"), missing=0.1),
            Column("income", "real", special=(0.0,), decimals=2),
            Column("id", "identifier"),
        ]
    )


@pytest.mark.parametrize(
    ("column", "codes"),
    [
        (Column("x", "boolean"), 2),
        (Column("x", "boolean", missing=0.5), 3),
        (Column("x", "categorical", levels=("a", "b", "c")), 3),
        (Column("x", "integer", bins=7, special=(0, -8), missing=0.1), 7 + 2 + 1),
        (Column("x", "real", binning="edges", edges=(0, 1, 2)), 2),
        (Column("x", "integer", levels=(1, 5)), 2),
    ],
)
def test_codes_are_levels_or_bins_and_special_values_and_missing(column, codes):
    assert column.codes == codes


def test_kind_and_role_identifier_imply_each_other():
    assert Column("id", "categorical", role="identifier").kind == "identifier"
    assert Column("id", "identifier").role == "identifier"


def test_a_unit_is_left_out_of_models_like_an_identifier():
    schema = Schema(
        [Column("home", "integer", role="unit"), Column("year", "integer", role="time")]
    )
    assert (schema["home"].kind, schema.units, schema.time) == ("identifier", ("home",), "year")
    assert schema.identifiers == ("home",)
    assert Schema([Column("x", "real")]).time is None


def test_lists_become_tuples_so_that_a_column_is_frozen():
    column = Column("x", "integer", range=[0, 9], special=[1], levels=[2])
    assert (column.range, column.special, column.levels) == ((0, 9), (1,), (2,))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (Column("x", "catgorical"), r"kind must be one of .*got 'catgorical'. Did you mean 'cat"),
        (Column("x", "real", role="keys"), "role must be .*Did you mean 'key'"),
        (Column("x", "real", binning="width "), "binning must be .*Did you mean 'width'"),
        (Column("x", "real", missing=1.5), "missing must be a share between 0 and 1; got 1.5"),
        (Column("x", "real", missing="few"), "missing must be a share .* got 'few'"),
        (Column("x", "real", missing=math.nan), "missing must be a share .* got nan"),
        (Column("x", "categorical", levels=("a", "b", "a")), "more than once: 'a'"),
        (Column("x", "categorical", levels=("a", 1)), "all texts, all numbers"),
        (Column("x", "categorical", levels=(True, 5)), "all texts, all numbers"),
        (Column("x", "categorical", levels=(["a"],)), r"levels must be texts.*: \['a'\]"),
        (Column("x", "categorical", levels=(dt.date(2020, 1, 1),)), "levels must be texts"),
        (Column("x", "identifier", role="key"), "cannot have the role 'key'"),
        (Column("x", "integer", levels=("a",)), "levels .* must be whole numbers; .*: 'a'"),
        (Column("x", "integer", special=(0.5,)), "special .* must be whole numbers; .*: 0.5"),
        (Column("x", "integer", special=(True,)), "special .* must be whole numbers; .*: True"),
        (Column("x", "real", range=("a", 1)), "range .* must be finite numbers; .*: 'a'"),
        (Column("x", "real", range=(0, math.inf)), "range .* must be finite numbers; .*: inf"),
        (Column("x", "real", special=(math.nan,)), "special .* must be finite numbers; .*: nan"),
        (Column("x", "datetime", range=(1, 2)), "range .* ISO .*: 1"),
        (Column("x", "real", range=(2, 1)), r"range must be \[smallest, largest\]; got \[2, 1\]"),
        (Column("x", "real", range=(1,)), r"range must be \[smallest, largest\]; got \[1\]"),
        (Column("x", "real", binning="edges"), r"at least two numbers .* got \[\]"),
        (Column("x", "real", binning="edges", edges=(1, 3, 2)), "in increasing order"),
        (Column("x", "real", binning="edges", edges=(1, 1)), "in increasing order"),
        (Column("x", "real", binning="edges", edges=(1, math.inf)), "finite numbers; .*: inf"),
        (Column("x", "real", edges=(1, 2)), "edges are given, but binning is 'quantile'"),
        (Column("x", "real", bins=0), "bins must be a whole number from 1 to 1,000,000; got 0"),
        (Column("x", "real", bins=2.5), "bins must be a whole number from 1 to 1,000,000; got 2.5"),
        (
            Column("x", "real", bins=True),
            "bins must be a whole number from 1 to 1,000,000; got True",
        ),
        (Column("x", "real", decimals=-1), "decimals must be a whole number from 0 to 15; got -1"),
    ],
)
def test_each_problem_of_a_column_has_its_sentence(column, message):
    with showing_records(), pytest.raises(SchemaError, match=f"'x': .*{message}") as error:
        Schema([column])
    assert len(error.value.problems) == 1


def test_infinity_may_be_a_level_or_special_but_no_limit():
    Schema([Column("x", "real", levels=(0.0, math.inf)), Column("y", "real", special=(-math.inf,))])


def test_every_problem_of_every_column_is_raised_at_once():
    with pytest.raises(SchemaError) as error:
        Schema(
            [
                Column("a", "reel", role="kee", missing=2),
                Column("b", "real", bins=0, range=(2, 1), decimals=99),
                Column("a", "real"),
            ]
        )
    assert len(error.value.problems) == 1 + 3 + 3
    assert error.value.problems[0] == "columns are described twice: 'a'."


def test_columns_are_found_by_name(schema):
    assert len(schema) == 4
    assert [column.name for column in schema] == list(schema.names)
    assert "age" in schema
    assert "Age" not in schema
    assert schema["age"].range == (16, 99)
    with pytest.raises(SchemaError, match=r"'agee' is not a column. Did you mean 'age'"):
        schema["agee"]


def test_roles_are_given_and_looked_up(schema):
    cast = schema.with_roles(keys=["age", "sex"], sensitive=["income"])
    assert (cast.keys, cast.sensitive, cast.targets) == (("age", "sex"), ("income",), ())
    assert cast.with_roles(target=["sex"]).targets == ("sex",)
    assert cast.with_roles(target=["sex"]).keys == ("age",)
    assert cast.identifiers == ("id",)
    assert schema.keys == ()  # the first one is as it was


def test_editing_changes_the_named_columns_alone(schema):
    edited = schema.edit("age", "income", bins=5)
    assert [column.bins for column in edited] == [5, 20, 5, 20]
    assert schema.edit("age", bins=20) == schema


def test_dropped_columns_are_gone(schema):
    assert schema.drop("sex", "id").names == ("age", "income")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.edit("agee", bins=3), "Did you mean 'age'"),
        (lambda s: s.edit("age", bin=3), "no field 'bin'. Did you mean 'bins'"),
        (lambda s: s.edit("age", name="x"), "no field 'name'"),
        (lambda s: s.edit("age", bins=-3), "bins must be a whole number"),
        (lambda s: s.drop("sx"), "Did you mean 'sex'"),
        (lambda s: s.with_roles(keys=["agee"], target=["sx"]), "'age'.*\n.*'sex'"),
        (lambda s: s.with_roles(keys=["id"]), "identifier cannot have the role 'key'"),
    ],
)
def test_an_edit_that_cannot_be_is_refused(schema, change, message):
    with pytest.raises(SchemaError, match=message):
        change(schema)


def test_one_column_can_be_given_by_its_name_alone():
    schema = Schema([Column("age", "integer"), Column("sex", "boolean")])
    assert schema.with_roles(keys="age", target="sex").keys == ("age",)


def test_an_identifier_that_gets_another_kind_is_one_no_longer():
    schema = Schema([Column("person", "identifier")]).edit("person", kind="categorical")
    assert (schema["person"].kind, schema["person"].role) == ("categorical", "ordinary")


def test_kinds_that_are_given_decide():
    frame = pl.DataFrame(
        {"n": range(30), "t": [f"k{n}" for n in range(30)], "b": [True, False] * 15}
    )
    plain = Schema.infer(frame)
    assert [one.kind for one in plain] == ["identifier", "identifier", "boolean"]
    given = Schema.infer(frame, kinds={"n": "real", "t": "categorical"})
    assert (given["n"].kind, given["n"].range) == ("real", (0, 29))
    assert len(given["t"].levels) == 30
    assert Schema.infer(frame, kinds={"n": "categorical"})["n"].levels == tuple(range(30))
    for name, kind, others in (
        ("t", "integer", "categorical, text or identifier"),
        ("n", "datetime", "categorical, integer, real or identifier"),
        ("b", "real", "categorical or boolean"),
    ):
        with pytest.raises(
            ParameterError,
            match=f"Column '{name}' holds .* cannot be read as {kind}. It can be {others}",
        ):
            Schema.infer(frame, kinds={name: kind})


def test_some_columns_can_be_read_anew():
    frame = pl.DataFrame({"n": range(30), "t": ["a", "b"] * 15})
    schema = Schema.infer(frame).with_roles(keys="t")
    found = schema.read_anew(frame, {"n": "integer", "t": "identifier"})
    assert (found["n"].kind, found["n"].role) == ("integer", "ordinary")
    assert (found["t"].kind, found["t"].role) == ("identifier", "identifier")
    assert schema.read_anew(frame, {"t": "categorical"}) == schema
    with pytest.raises(ParameterError, match="'m' is not a column"):
        schema.read_anew(frame, {"m": "real"})
