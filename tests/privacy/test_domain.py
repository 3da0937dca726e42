"""The public domain: refused unless declared, and made without a look at the records."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from understudy import Schema
from understudy.data import Determined
from understudy.data.schema import Column
from understudy.errors import PublicDomainError
from understudy.privacy import Accountant, Guarantee
from understudy.privacy.domain import (
    check_public,
    clamping,
    count_outside,
    open_columns,
    public_codec,
    records_inside,
    schema_of_types,
)

COLUMNS = (
    Column("sex", "categorical", levels=("f", "m")),
    Column("age", "integer", range=(20, 60), binning="width", bins=4),
    Column("id", "identifier"),
)
SCHEMA = Schema(COLUMNS).as_public()
TABLE = pl.DataFrame(
    {
        "sex": ["f", "m", "x", "m", None],
        "age": [20, 99, 30, 60, 30],
        "id": ["a", "b", "c", "d", "e"],
    }
)


def test_columns_that_are_not_public_are_named():
    with pytest.raises(PublicDomainError) as error:
        check_public(Schema(COLUMNS).edit("age", public=True))
    assert error.value.problems == ("not declared public: 'sex'.",)
    check_public(SCHEMA)


def test_a_public_column_must_say_what_it_can_hold():
    schema = Schema([Column("sex", "categorical"), Column("age", "integer")]).as_public()
    assert open_columns(schema) == ("sex", "age")
    with pytest.raises(PublicDomainError, match="'sex' is public, but has no levels") as error:
        check_public(schema)
    assert "'age' is public, but has neither a range nor edges." in str(error.value)


def test_types_alone_say_what_columns_are(as_frame):
    columns = {"a": ["x", None], "b": [1, 2], "c": [0.5, 1.5], "d": [True, False]}
    found = schema_of_types(as_frame(columns), {"b": "categorical"})
    kinds = {column.name: column.kind for column in found}
    assert kinds == {"a": "categorical", "b": "categorical", "c": "real", "d": "boolean"}
    assert not any(column.levels or column.range or column.missing for column in found)


def test_the_codec_is_the_same_whatever_the_records_are():
    other = TABLE.with_columns(sex=pl.lit("secret"), age=pl.lit(12_345, pl.Int64))
    assert public_codec(TABLE, SCHEMA).to_plain() == public_codec(other, SCHEMA).to_plain()


def test_dependencies_are_not_kept_and_a_message_says_so(caplog):
    between = Determined("age", ("sex",)), Determined("sex", ("id",), keep=False)
    codec = public_codec(TABLE, SCHEMA.with_dependencies(*between))
    assert not codec.plan
    assert "'age' follows from 'sex'" in caplog.text
    assert "'id'" not in caplog.text


def test_categories_of_a_type_are_those_of_the_schema():
    for kind in (pl.Enum(["f", "m", "secret"]), pl.Categorical):
        table = TABLE.head(2).with_columns(
            pl.col("sex").cast(kind), pl.col("id").cast(kind, strict=False)
        )
        assert "secret" not in str(public_codec(table, SCHEMA).to_plain())


def test_quantiles_would_have_to_be_read_so_bins_have_one_width():
    schema = SCHEMA.edit("age", binning="quantile")
    assert public_codec(TABLE, schema).coders["age"].bins.edges.tolist()[:2] == [20, 30]


def test_records_are_clamped_or_left_out_as_declared():
    # 99 is moved to 60; "x" is no level; None is not allowed.
    records = records_inside(TABLE, public_codec(TABLE, SCHEMA))
    assert records.places.tolist() == [2, 1, 2]
    assert records.coded["age"].tolist() == [0, 3, 3]
    dropping = SCHEMA.edit("age", outside="drop")
    assert records_inside(TABLE, public_codec(TABLE, dropping)).places.tolist() == [2, 0, 3]


def test_numbers_beyond_listed_levels_are_clamped():
    schema = Schema([Column("n", "integer", levels=(3, 1, 2))]).as_public()
    table = pl.DataFrame({"n": [0, 1, 2, 3, 9]})
    codec = clamping(public_codec(table, schema))
    assert codec.decode(codec.encode(table))["n"].to_list() == [1, 1, 2, 3, 3]


@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
def test_one_record_moves_the_places_as_much_as_is_paid_for(neighbours):
    values = [("f", 30), ("f", 99), ("x", 30)]
    accountant = Accountant(Guarantee(Fraction(1), Fraction(0), neighbours), pure=True)

    def places(rows):
        table = pl.DataFrame(
            {"sex": [r[0] for r in rows], "age": [r[1] for r in rows], "id": ["a"] * len(rows)}
        )
        return records_inside(table, public_codec(table, SCHEMA)).places

    if neighbours == "change-one":
        pairs = [(places([a]), places([b])) for a in values for b in values]
    else:
        pairs = [(places([a, b]), places([a])) for a in values for b in values]
    moved = [np.abs(one - other).sum() for one, other in pairs]
    assert max(moved) == accountant.l1


def test_what_lies_outside_is_told_with_noise_alone(caplog):
    many = pl.concat([TABLE] * 2000)
    records = records_inside(many, public_codec(many, SCHEMA))
    accountant = Accountant(Guarantee(Fraction(10), Fraction(0)), pure=True)
    about = count_outside(records, accountant)
    assert about == pytest.approx(6000, abs=500)
    assert accountant.ledger.spent == Fraction(1, 10)
    assert "were left out" in caplog.text
    assert "moved to the nearer end" in caplog.text


def test_nothing_is_said_if_nothing_lies_outside(caplog):
    few = TABLE.head(1)
    records = records_inside(few, public_codec(few, SCHEMA))
    count_outside(records, Accountant(Guarantee(Fraction(10), Fraction(0)), pure=True))
    # By chance each of two sentences is said in one of 100,000 runs.
    assert caplog.text == ""
