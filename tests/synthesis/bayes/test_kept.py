"""Partial synthesis by networks: kept columns come back as they are, and others follow them."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

from understudy import BayesNet, Schema, Synthesizer, scan, write
from understudy.errors import ParameterError
from understudy.risk import strong_attacker


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(2)
    rows = 800
    pay = np.round(rng.gamma(2, 1500, rows), 2)
    return pl.DataFrame(
        {
            "born": [
                dt.date(1950, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 9999, rows)
            ],
            "pay": pl.Series(pay).set(pl.Series(rng.random(rows) < 0.05), None),
            "job": [("a", "b", None)[n] for n in rng.integers(0, 3, rows)],
            "rich": np.where(pay > 3000, "yes", "no"),
            "spent": pay * 0.5 + rng.normal(0, 50, rows),
        }
    )


def test_kept_columns_are_those_of_the_original(people):
    model = BayesNet(keep=["born", "pay", "job"], random_state=1).fit(people)
    first, second = model.sample(copies=2)
    for table in (first, second):
        assert table.select("born", "pay", "job").equals(people.select("born", "pay", "job"))
        assert table.columns == people.columns
    assert not first["spent"].equals(second["spent"])
    assert model.kept_columns == ("born", "pay", "job")


def test_the_others_follow_the_kept_ones(people):
    drawn = BayesNet(keep="pay", random_state=1).fit(people).sample()
    # pay decides rich; by chance about half of the records would agree.
    assert (drawn["rich"] == people["rich"]).mean() > 0.9


def test_save_load_and_streams_draw_the_same(people, tmp_path):
    model = BayesNet(keep=["pay"], random_state=1).fit(people)
    path = model.save(tmp_path / "m.us")
    again = Synthesizer.load(path)
    assert again.sample().equals(model.sample())
    assert again.kept_columns == ("pay",)
    table = people.drop("born", "job")
    source = write(table, tmp_path / "people.parquet")
    streamed = BayesNet(2, "genetic", keep=["pay"], generations=5, random_state=1)
    whole = streamed.clone().fit(table, Schema.infer(scan(source)))
    assert streamed.fit(scan(source)).sample().equals(whole.sample())
    assert streamed.sample()["pay"].equals(table["pay"])


def test_density_is_given_the_kept_columns():
    table = pl.DataFrame({"x": ["a", "a", "b", "b"], "y": ["p", "p", "p", "q"]})
    model = BayesNet(structure=[("x", "y")], smoothing=0, keep="x").fit(table)
    # p(y | x): 1 for both a's, one half for the b's.
    assert np.allclose(np.exp(model.log_likelihood(table)), [1, 1, 0.5, 0.5])


def test_the_strong_attacker_is_not_asked_for_what_is_shown(people):
    table = people.select("job", "rich")
    model = BayesNet(structure=[("job", "rich")], keep="job", random_state=1).fit(table)
    with pytest.raises(ParameterError, match="'job' of all records is kept as it is"):
        strong_attacker(model, table, model.sample(), unknown=["job"])
    found = strong_attacker(model, table, model.sample(), unknown=["rich"], records=range(5))
    assert np.isfinite(found.accuracy_after)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"keep": ["x"]}, "keep: 'x' is not a column"),
        ({"keep": ["born", "pay", "job", "rich", "spent"]}, "nothing to synthesize"),
        ({"keep": "pay", "decode": "dependent"}, "decode='dependent' cannot be used with keep"),
        ({"keep": "pay", "epsilon": 1.0}, "keep cannot be had with epsilon"),
        ({"keep": "pay", "structure": [("job", "pay")]}, "may not be a parent of 'pay'"),
    ],
)
def test_what_cannot_be_kept(people, arguments, message):
    with pytest.raises(ParameterError, match=message):
        BayesNet(**arguments).fit(people)


def test_as_many_records_as_the_original(people):
    model = BayesNet(keep="pay", random_state=1).fit(people)
    with pytest.raises(
        ParameterError, match="stay as they are, so the synthetic table has as many"
    ):
        model.sample(10)
    coded = model.codec_.encode(people)
    assert model.refit(coded).sample(random_state=3).equals(model.sample(random_state=3))
    with pytest.raises(ParameterError, match="cannot be fitted to records that differ there"):
        model.refit(coded.take(slice(0, 400)))
