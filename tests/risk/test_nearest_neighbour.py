"""The nearest-neighbour attack against a plain twin, and in trivial worlds."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest

from understudy.errors import DataError, ParameterError
from understudy.risk import gcap, nearest_neighbour
from understudy.risk.nearest_neighbour import LEAST_WEIGHT, telling_weights
from understudy.risk.prepare import prepare
from understudy.risk.scenario import Scenario

KEYS = ["age", "job"]


def people(seed, rows=200):
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 15, rows).round(1)
    return pl.DataFrame(
        {
            "age": age,
            "job": rng.choice(list("abc"), rows),
            "ill": np.where(rng.random(rows) < 0.8, np.where(age > 50, "yes", "no"), "flu"),
            "pay": rng.lognormal(10, 1, rows).round(2),
        }
    )


@pytest.mark.parametrize("neighbours", [1, 3])
@pytest.mark.parametrize("sensitive", ["ill", "pay"])
def test_a_plain_twin(sensitive, neighbours):
    rng = np.random.default_rng(0)
    # No two are equally near.
    original, release = (
        people(seed, rows).with_columns(pl.col("age") + pl.Series(rng.random(rows)))
        for seed, rows in ((1, 36), (2, 80))
    )
    weights = {"age": 1.0, "job": 0.5}
    found = nearest_neighbour(
        original, release, keys=KEYS, sensitive=sensitive, neighbours=neighbours, weights=weights
    )
    ages = np.sort(original["age"].to_numpy())
    sizes, counts = np.unique(ages, return_counts=True)
    ranks = (np.cumsum(counts) - counts / 2) / 36

    def place(age):
        beyond = (max(age - sizes[-1], 0) - max(sizes[0] - age, 0)) / (sizes[-1] - sizes[0])
        return np.interp(age, sizes, ranks) + beyond / (1 + abs(beyond))

    every = np.sort(original["pay"].to_numpy())
    for row, (age, job, truth) in enumerate(original.select(*KEYS, sensitive).iter_rows()):
        away = np.array(
            [
                abs(place(age) - place(other)) + 0.5 * (job != theirs)
                for other, theirs in release.select(KEYS).iter_rows()
            ]
        )
        order = np.lexsort((np.arange(80), away.round(6)))[:neighbours]
        told = [release[sensitive][int(place)] for place in order]
        if sensitive == "ill":
            guess = max(told, key=lambda value: (told.count(value), -told.index(value)))
            right = guess == truth
        else:
            guess = sorted(told)[(neighbours - 1) // 2]
            between = ((every > min(guess, truth)) & (every < max(guess, truth))).sum()
            right = guess == truth or between < 0.05 * 36
        found_row = found.per_record().row(row, named=True)
        assert found_row["distance"] == pytest.approx(away.min(), abs=1e-5)
        assert (found_row["guess"], found_row["right"]) == (str(guess), right)
    assert found.accuracy == found.per_record()["right"].mean()


def test_equally_near_records_vote():
    original = pl.DataFrame({"k": ["a", "b"], "s": ["x", "y"]})
    release = pl.DataFrame({"k": ["a", "a", "a", "b"], "s": ["y", "x", "x", "y"]})
    found = nearest_neighbour(original, release, keys="k", sensitive="s")
    assert found.accuracy == 1
    same = gcap(original, release, keys="k", sensitive="s")
    assert found.accuracy == same.accuracy


@pytest.mark.parametrize("sensitive", ["ill", "pay"])
def test_worlds(sensitive):
    original, control, fresh = people(3, 500), people(4, 400), people(5, 500)
    scenario = {"keys": KEYS, "sensitive": sensitive, "control": control}
    rng = np.random.default_rng(6)
    # Keys and numbers are a little off, so that nothing is equal.
    copied = original.with_columns(
        pl.col("age") + pl.Series(rng.normal(0, 0.001, 500)), pl.col("pay") * 1.0001
    )
    found = nearest_neighbour(original, copied, **scenario)
    assert found.accuracy > 0.8
    assert found.compared.p_value < 1e-6
    assert found.p_value < 1e-6
    assert gcap(original, copied, **scenario).accuracy < found.accuracy - 0.1
    harmless = nearest_neighbour(original, fresh, **scenario)
    assert harmless.compared.p_value > 0.01
    shuffled = nearest_neighbour(
        original, fresh.with_columns(pl.col(sensitive).shuffle(1)), **scenario
    )
    assert shuffled.gain < 0.03


def test_weights_follow_what_the_release_tells():
    rng = np.random.default_rng(7)
    table = people(8, 2000).with_columns(
        noise=pl.Series(rng.normal(size=2000)), name=pl.Series([f"p{n}" for n in range(2000)])
    )
    keys = [*KEYS, "noise", "name"]
    found = telling_weights(prepare(table, [table], Scenario(keys, "ill")))
    assert found["age"] == 1
    assert found["noise"] <= 2 * LEAST_WEIGHT
    assert found["job"] == LEAST_WEIGHT
    assert found["name"] <= 2 * LEAST_WEIGHT
    constant = table.with_columns(ill=pl.lit("no"))
    told = telling_weights(prepare(constant, [constant], Scenario(keys, "ill")))
    assert told == dict.fromkeys(keys, 1.0)
    gaps = table.with_columns(age=pl.lit(None, pl.Float64))
    assert telling_weights(prepare(table, [gaps], Scenario(KEYS, "ill")))["age"] >= LEAST_WEIGHT


def test_several_releases_and_samples():
    original = people(9)
    parts = [original[:100], original[100:]]
    whole = nearest_neighbour(original, original, keys=KEYS, sensitive="pay")
    found = nearest_neighbour(original, parts, keys=KEYS, sensitive="pay")
    assert found.to_dict() == whole.to_dict()
    some = nearest_neighbour(original, original, keys=KEYS, sensitive="pay", people=50)
    assert (some.records, len(some.per_record())) == (50, 50)
    assert some.baseline == whole.baseline
    assert "50 of 200 people" in some.reasons["records"]


def test_the_result_in_all_its_forms(as_frame):
    original = as_frame(people(10, 60).to_dict(as_series=False))
    found = nearest_neighbour(original, original, keys=KEYS, sensitive="ill", weights="equal")
    assert type(found.to_frame()) is type(original)
    assert found.weights == {"age": 1.0, "job": 1.0}
    json.dumps(found.to_dict(), allow_nan=False)
    assert "most similar record" in found.summary()
    (line,) = found.lines()
    assert line.gain == found.gain
    assert math.isnan(found.control)


def test_mistakes():
    table = people(11, 30)
    for weights, message in (
        ("most", "weights must be 'telling', 'equal' or a mapping"),
        ({"town": 1}, "'town' is not among the keys age, job"),
        ({"age": 2}, "weights must be numbers from 0 to 1; got 2"),
    ):
        with pytest.raises(ParameterError, match=message):
            nearest_neighbour(table, table, keys=KEYS, sensitive="ill", weights=weights)
    with pytest.raises(ParameterError, match="neighbours must be a whole number from 1"):
        nearest_neighbour(table, table, keys=KEYS, sensitive="ill", neighbours=0)
    nothing = table.with_columns(pay=pl.lit(None, pl.Float64))
    with pytest.raises(DataError, match="no number in 'pay' to guess from"):
        nearest_neighbour(table, nothing, keys=KEYS, sensitive="pay")
