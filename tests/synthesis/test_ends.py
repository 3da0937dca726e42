"""Ends of columns that rest on several records, in networks and independent columns."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from understudy import BayesNet, Independent, Schema, Synthesizer, load, scan, write
from understudy.data import Codec

ROWS = 400
MODELS = {
    "independent": lambda **more: Independent(random_state=1, **more),
    "network": lambda **more: BayesNet(2, random_state=1, **more),
}


@pytest.fixture(scope="module")
def people():
    """Make numbers, times and few different numbers, each with single extremes and a gap."""
    rng = np.random.default_rng(3)
    income = np.round(rng.lognormal(7, 0.5, ROWS), 1)
    income[:2] = 900_000.0, 0.1
    age = rng.integers(20, 80, ROWS)
    age[:2] = 121, 1
    children = rng.integers(0, 4, ROWS)
    children[:2] = 19, 11
    born = [dt.date(1950, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 900, ROWS)]
    born[0] = dt.date(1899, 1, 1)
    frame = pl.DataFrame({"income": income, "age": age, "children": children, "born": born})
    hole = pl.when(pl.int_range(pl.len()) == 7).then(None)
    return frame.with_columns(hole.otherwise(pl.col("income")).alias("income"))


@pytest.mark.parametrize("decode", ["interpolate", "uniform"])
@pytest.mark.parametrize("make", MODELS.values(), ids=list(MODELS))
def test_nobody_is_the_end_of_a_column(people, make, decode):
    drawn = make(decode=decode).fit(people).sample(5000)
    for column in people.columns:
        ordered = people[column].drop_nulls().sort()
        # An end is the mean of the five outermost: between the outermost and the fifth.
        assert drawn[column].max() < ordered[-1] or column == "born"
        assert drawn[column].max() >= ordered[-5]
        assert drawn[column].min() > ordered[0] or column == "children"  # many have none
        assert drawn[column].min() <= ordered[4]


@pytest.mark.parametrize("binning", ["quantile", "width", "edges"])
def test_what_is_drawn_is_coded_as_it_was_drawn(people, binning):
    schema = Schema.infer(people.select("income", "age"), binning="quantile")
    if binning == "width":
        schema = Schema.infer(people.select("income", "age"), binning="width", bins=7)
    elif binning == "edges":
        cuts = {"binning": "edges", "edges": (0, 18, 40, 65, 100, 130), "range": None}
        schema = Schema([schema["income"], replace(schema["age"], **cuts, special=())])
    codec = Codec.fit(people.select("income", "age"), schema, ends=5)
    coded = codec.encode(people.select("income", "age"))
    for how in ("interpolate", "uniform"):
        again = codec.encode(codec.decode(coded, how, 1))
        assert again == coded


def test_numbers_beyond_an_end_belong_to_it(people):
    model = Independent(random_state=1).fit(people)
    stranger = people.head(1).with_columns(
        age=pl.lit(150, people["age"].dtype), children=pl.lit(30, people["children"].dtype)
    )
    likely = model.log_likelihood(stranger)
    assert np.isfinite(likely).all()
    assert likely == pytest.approx(model.log_likelihood(people.head(1)))


def test_one_record_is_enough_if_that_is_wanted(people):
    drawn = Independent(ends=1, random_state=1).fit(people).sample(20_000)
    assert drawn["children"].max() == 19
    assert drawn["age"].max() == 121


def test_networks_without_smoothing_are_those_of_the_literature(people):
    plain = BayesNet(2, "greedy", smoothing=0, random_state=1).fit(people)
    same = BayesNet(2, "greedy", smoothing=0, ends=1, random_state=1).fit(people)
    assert plain.sample().equals(same.sample())
    other = BayesNet(2, "greedy", smoothing=0, ends=5, random_state=1).fit(people)
    assert other.sample()["children"].max() < 11


def test_files_and_streams_have_the_same_ends(people, tmp_path):
    model = BayesNet(1, "optimal", random_state=1).fit(people)
    loaded = Synthesizer.load(model.save(tmp_path / "model.us"))
    assert loaded.sample().equals(model.sample())
    np.testing.assert_array_equal(loaded.log_likelihood(people), model.log_likelihood(people))
    path = tmp_path / "people.parquet"
    write(people, path)
    streamed = BayesNet(1, "optimal", random_state=1).fit(scan(path, batch_rows=70))
    assert streamed.sample().equals(model.sample())


def test_few_numbers_stay_as_they_are():
    frame = pl.DataFrame({"age": [31, 45, 52], "sex": ["f", "m", "f"]})
    drawn = Independent(random_state=1).fit(frame).sample(50)
    assert set(drawn["age"]) <= set(range(31, 53))


def test_a_column_with_one_frequent_value_keeps_it():
    frame = pl.DataFrame({"children": [0] * 30 + [1, 2]})
    assert set(Independent(random_state=1).fit(frame).sample(200)["children"]) == {0}


def test_shares_of_the_survey_are_kept_but_for_its_ends():
    survey = load("cmc")
    before, after = (Codec.fit(survey, ends=least).cardinalities for least in (1, 5))
    changed = [n for n, a, b in zip(survey.columns, before, after, strict=True) if a != b]
    assert changed == ["children"]
