"""The two tables of an attack in the model's codes, and what a release does not show."""

from __future__ import annotations

import logging

import numpy as np
import polars as pl
import pytest

from understudy import BayesNet, Cart, Independent, Schema, load
from understudy.data.coded import Coded
from understudy.errors import DataError, ParameterError, SchemaError
from understudy.risk.strong.release import Release


@pytest.fixture
def frame():
    return pl.DataFrame(
        {
            "sex": ["f", "m"] * 20,
            "job": ["cook", "clerk", "cook", None] * 10,
            "age": [20, 30, 40, 50, 60] * 8,
        }
    )


@pytest.fixture
def model(frame):
    return Independent(random_state=1).fit(frame)


def test_codes_are_the_models(frame, model):
    synthetic = model.sample(random_state=2)
    release = Release.of(model, frame, synthetic)
    assert release.withheld == ()
    for found, table in ((release.original, frame), (release.synthetic, synthetic)):
        expected = model.codec_.encode(table)
        assert found.names == expected.names
        assert found.cardinalities == expected.cardinalities
        for mine, other in zip(found.columns, expected.columns, strict=True):
            assert mine.tolist() == other.tolist()


def test_columns_that_do_not_matter_may_be_anything(frame, model):
    synthetic = model.sample().with_columns(age=pl.lit("gone"))
    release = Release.of(model, frame.drop("age"), synthetic, {"sex", "job"})
    assert release.original.names == release.synthetic.names == ("sex", "job")
    assert release.withheld == ()
    with pytest.raises(SchemaError, match="age"):
        Release.of(model, frame.drop("age"), synthetic)
    coded = model.codec_.encode(frame)
    assert Release.of(model, coded, coded, ["job"]).original.names == ("job",)


@pytest.mark.parametrize(
    "value", [None, "withheld", 7, "cook", True], ids=["gap", "word", "number", "level", "truth"]
)
def test_constant_columns_are_withheld(frame, model, value, caplog):
    synthetic = model.sample().with_columns(pl.lit(value).alias("job"))
    release = Release.of(model, frame, synthetic)
    assert release.withheld == ("job",)
    assert not release.synthetic["job"].any()
    assert release.synthetic["sex"].any()
    assert "'job'" in caplog.text
    assert "withheld" in caplog.text


def test_absent_columns_are_withheld(frame, model):
    release = Release.of(model, frame, model.sample(30).select("sex"))
    assert release.withheld == ("job", "age")
    assert len(release.synthetic) == 30
    assert release.synthetic.names == model.codec_.names
    # None of the columns that matter is shown, but others are.
    assert Release.of(model, frame, model.sample(30).select("sex"), ["job"]).withheld == ("job",)
    assert len(Release.of(model, frame, model.sample(30).select("sex"), ["job"]).synthetic) == 30


def test_a_constant_by_chance_is_none(frame, model, caplog):
    # Half of the records are f. 29 in a row have 2^-29 = 1.9e-9, 30 have 9.3e-10.
    short, long = (
        pl.DataFrame(
            {
                "sex": ["f"] * n,
                "age": [20, 30] * (n // 2) + [40] * (n % 2),
                "job": ["cook", "clerk"] * (n // 2) + ["cook"] * (n % 2),
            }
        )
        for n in (29, 30)
    )
    assert Release.of(model, frame, short).withheld == ()
    assert not caplog.text
    assert Release.of(model, frame, long).withheld == ("sex",)


def test_a_smoothed_model_can_draw_what_nobody_has():
    frame = pl.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "v"] * 20})
    schema = Schema.infer(frame).edit("b", levels=("u", "v", "w"))
    smoothed, plain = (
        BayesNet(1, [("a", "b")], smoothing=strength).fit(frame, schema) for strength in (5, 0)
    )
    # w has 5/3 of 45: 6 in a row have 2.6e-9, 7 have 9.5e-11.
    found = {
        n: [
            Release.of(model, frame, pl.DataFrame({"a": ["x"] * n, "b": ["w"] * n})).withheld
            for model in (smoothed, plain)
        ]
        for n in (1, 6, 7)
    }
    assert found == {1: [(), ("b",)], 6: [(), ("b",)], 7: [("b",), ("b",)]}


def test_a_constant_original_is_shown():
    frame = pl.DataFrame({"k": ["x"] * 50, "y": ["u", "v"] * 25})
    model = Independent().fit(frame)
    assert Release.of(model, frame, model.sample(5000)).withheld == ()


def test_a_level_that_no_record_has(frame):
    # The coding knows m, but no record has it: a model would not draw it at all.
    coded = Independent().fit(frame).codec_.encode(frame)
    columns = (np.zeros_like(coded["sex"]), *coded.columns[1:])
    model = Independent().fit(frame).refit(Coded(coded.names, columns, coded.cardinalities))
    drawn = Coded(
        coded.names, (np.ones_like(coded["sex"]), *coded.columns[1:]), coded.cardinalities
    )
    original = Coded(coded.names, columns, coded.cardinalities)
    assert Release.of(model, original, drawn.take(slice(2))).withheld[0] == "sex"


def test_coded_releases_too(frame, model):
    drawn = model.sample_coded(60)
    columns = (drawn["sex"], np.full_like(drawn["job"], 1), drawn["age"])
    release = Release.of(model, frame, Coded(drawn.names, columns, drawn.cardinalities))
    assert release.withheld == ("job",)
    assert not release.synthetic["job"].any()


def test_values_that_cannot_be_drawn(frame, model):
    synthetic = model.sample(20).with_columns(
        pl.Series("sex", ["f", "x", "m", "y"] + ["f", "m"] * 8)
    )
    with pytest.raises(
        DataError, match=r"2 rows with a value in 'sex' that .* draw; the first is row 1.*black_box"
    ):
        Release.of(model, frame, synthetic)
    both = synthetic.with_columns(job=pl.Series(["pilot"] * 3 + ["cook", "clerk"] * 8 + ["cook"]))
    with pytest.raises(DataError, match=r"4 rows .* 'sex' \(2 rows\) or 'job' \(3 rows\) that"):
        Release.of(model, frame, both)


def test_no_rows_and_no_columns(frame, model):
    with pytest.raises(DataError, match="no rows"):
        Release.of(model, frame, frame[:0])
    with pytest.raises(DataError, match="none of the model's columns 'sex', 'job' and 'age'"):
        Release.of(model, frame, pl.DataFrame({"other": [1, 2]}))
    with pytest.raises(DataError, match="fitted to 40 records, and the original has 80"):
        Release.of(model, pl.concat([frame, frame]), frame)


def test_smoothed_numbers_only_where_they_matter():
    frame = load("cmc").select("age", "method").head(200).with_columns(pl.col("age").cast(float))
    model = Cart(smoothing={"age": "density"}, random_state=1).fit(frame)
    with pytest.raises(ParameterError, match=r"'age': numbers of the release are smoothed"):
        Release.of(model, frame, model.sample())
    assert Release.of(model, frame, model.sample(), ["method"]).original.names == ("method",)


def test_quiet_when_all_is_shown(frame, model, caplog):
    caplog.set_level(logging.INFO)
    Release.of(model, frame, model.sample())
    assert not caplog.text


RULES = ["if job is missing then age = 20", "if sex == 'f' then age = 40"]


class TestRules:
    """Of several rules, the first that holds decides."""

    @pytest.fixture
    def model(self, frame, caplog):
        caplog.set_level(logging.ERROR)
        return Cart(rules=RULES, random_state=1).fit(frame)

    @pytest.fixture
    def drawn(self, model):
        return model.sample(200, random_state=2)

    def test_a_release_of_the_model_breaks_none(self, frame, model, drawn):
        assert Release.of(model, frame, drawn).withheld == ()

    def test_which_rule_is_broken_and_how_often(self, frame, model, drawn):
        women = (pl.col("sex") == "f") & pl.col("job").is_not_null()
        wrong = drawn.with_columns(age=pl.when(women).then(60).otherwise("age"))
        count = drawn.filter(women).height
        with pytest.raises(
            DataError, match=rf"breaks a rule of the model: if sex == 'f' .* \({count} records\)\."
        ):
            Release.of(model, frame, wrong)
        jobless = pl.col("job").is_null()
        both = wrong.with_columns(age=pl.when(jobless).then(30).otherwise("age"))
        with pytest.raises(DataError, match=r"breaks 2 rules .*if job is missing.*; if sex == 'f'"):
            Release.of(model, frame, both)

    def test_what_a_withheld_column_decides_is_not_known(self, frame, model, drawn):
        women = (pl.col("sex") == "f") & pl.col("job").is_not_null()
        wrong = drawn.with_columns(age=pl.when(women).then(60).otherwise("age"))
        # Whether the first rule covers a record cannot be seen, so the second is not known to.
        assert Release.of(model, frame, wrong.drop("job")).withheld == ("job",)
        jobless = pl.col("job").is_null()
        first = drawn.with_columns(age=pl.when(jobless).then(30).otherwise("age"))
        with pytest.raises(DataError, match="if job is missing"):
            Release.of(model, frame, first.drop("sex"))
        assert Release.of(model, frame, first.drop("sex", "age")).withheld == ("sex", "age")

    @pytest.mark.parametrize("value", [20, 40, 60])
    def test_a_constant_that_rules_do_not_set_is_withheld(self, frame, model, drawn, value):
        constant = drawn.with_columns(age=pl.lit(value, pl.Int64))
        assert Release.of(model, frame, constant).withheld == ("age",)

    def test_a_constant_that_rules_set_is_shown(self, frame, model, drawn):
        women = drawn.filter((pl.col("sex") == "f") & pl.col("job").is_not_null())
        release = Release.of(model, frame, women)
        assert "age" not in release.withheld
