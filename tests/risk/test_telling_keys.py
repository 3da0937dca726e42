"""Which keys tell most: by hand, in trivial worlds, and how often chance is called more."""

from __future__ import annotations

import json
from importlib import import_module

import numpy as np
import polars as pl
import pytest

from understudy.risk import attribution, telling_keys


def table(rng, rows=200, levels=4):
    keys = {name: rng.integers(0, levels, rows) for name in "abcd"}
    return pl.DataFrame(keys).with_columns(
        s=pl.Series(rng.choice(["x", "y", "z"], rows, p=[0.6, 0.3, 0.1])),
        pay=pl.Series(rng.normal(size=rows)),
    )


SCENARIO = {"keys": list("abcd"), "sensitive": "s"}


def test_the_sets_that_are_looked_at():
    rng = np.random.default_rng(1)
    original, release = table(rng), table(rng)
    found = telling_keys(original, release, **SCENARIO)
    sizes = [len(one.keys) for one in found.sets]
    assert sizes == [1] * 4 + [2] * 6 + [3] * 4 + [4]
    assert found.looks == 15
    one = telling_keys(original, release, keys="a", sensitive="s")
    assert [held.keys for held in one.sets] == [("a",)]
    two = telling_keys(original, release, keys=["a", "b"], sensitive="s")
    assert [held.keys for held in two.sets] == [("a",), ("b",), ("a", "b")]


@pytest.mark.parametrize("sensitive", ["s", "pay"])
def test_each_set_is_that_of_attribution(sensitive):
    rng = np.random.default_rng(2)
    original, release, control = table(rng), table(rng), table(rng, 90)
    found = telling_keys(original, release, keys=list("abcd"), sensitive=sensitive, control=control)
    for one in found.sets:
        alone = attribution(original, release, keys=one.keys, sensitive=sensitive, control=control)
        assert one.accuracy == alone.accuracy
        assert one.gain == pytest.approx(alone.gain)
        assert one.control_accuracy == alone.control.accuracy
        assert one.compared == alone.control.compared
    assert found.gain == max(one.gain for one in found.sets)
    assert found.limit == max(one.limit for one in found.sets)
    right = np.mean([one.accuracy for one in found.sets])
    assert found.per_record()["right"].mean() == pytest.approx(right)


def test_the_telling_pair_is_found():
    rng = np.random.default_rng(3)
    original = table(rng, 400).with_columns(s=((pl.col("b") + pl.col("d")) % 4).cast(pl.String))
    found = telling_keys(original, original, **SCENARIO)
    # Neither alone tells anything: their sum is even among the values of each.
    assert set(found.best.keys) >= {"b", "d"}
    pair = next(one for one in found.sets if one.keys == ("b", "d"))
    assert pair.accuracy == 1
    assert found.exceeds
    assert found.p_value < 1e-6


def test_a_leak_below_the_zero_rule_is_beyond_chance():
    # A tenth of the people are copied and the rest of the release is noise that never says x: the
    # gain is negative, and the guesses still agree with the people more often than by chance.
    rng = np.random.default_rng(4)
    original = table(rng, 1000, levels=12)
    noise = table(rng, 1000, levels=12).with_columns(s=pl.Series(rng.choice(["y", "z"], 1000)))
    found = telling_keys(original, pl.concat([original[:100], noise]), **SCENARIO)
    assert found.gain <= 0
    assert found.p_value < 1e-3


def test_people_in_the_data_are_told_from_others():
    rng = np.random.default_rng(5)
    original, control, fresh = (table(rng, 500, levels=6) for _ in range(3))
    copied = telling_keys(original, original, control=control, **SCENARIO)
    assert copied.difference_p_value < 1e-6
    assert telling_keys(original, fresh, control=control, **SCENARIO).difference_p_value > 0.05


def test_some_people_are_drawn():
    rng = np.random.default_rng(9)
    original = table(rng)
    found = telling_keys(original, original, people=50, **SCENARIO)
    assert found.records == 50
    assert found.per_record()["right"].count() == 50
    assert "50 of 200 people" in found.reasons["records"]


def test_many_pairs_are_not_all_looked_at(monkeypatch):
    rng = np.random.default_rng(6)
    original = table(rng, 300).with_columns(s=pl.col("c").cast(pl.String))
    monkeypatch.setattr(import_module("understudy.risk.telling_keys"), "MOST_PAIRS", 3)
    found = telling_keys(original, original, **SCENARIO)
    pairs = [one.keys for one in found.sets if len(one.keys) == 2]
    assert len(pairs) == 1
    assert "c" in pairs[0]
    assert found.looks == 15
    assert "1 of 6 pairs" in found.reasons["sets"]


def test_the_result_in_all_its_forms(as_frame):
    rng = np.random.default_rng(7)
    original = as_frame(table(rng).to_dict(as_series=False))
    found = telling_keys(original, original, **SCENARIO)
    assert type(found.to_frame()) is type(original)
    assert len(found.to_frame(backend="polars")) == 15
    json.dumps(found.to_dict(), allow_nan=False)
    assert "of keys" in found.summary()
    (line,) = found.lines()
    assert line.gain == found.gain


@pytest.mark.long
@pytest.mark.parametrize("sensitive", ["s", "pay"])
def test_chance_exceeds_the_limit_in_one_of_twenty_at_most(sensitive):
    rng = np.random.default_rng(8)
    exceeds, alarms = 0, 0
    for _ in range(200):
        original, release = table(rng, 300), table(rng, 300)
        found = telling_keys(original, release, keys=list("abcd"), sensitive=sensitive)
        exceeds += found.exceeds
        alarms += found.p_value <= 0.05
    assert max(exceeds, alarms) <= 14
