"""Rare values one by one: by hand, in trivial worlds, and how often chance is called more."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import fisher_exact

from understudy.errors import ParameterError
from understudy.risk import gcap, rare_values


def table(rng, rows=400, levels=8):
    return pl.DataFrame({name: rng.integers(0, levels, rows) for name in "abc"}).with_columns(
        s=pl.Series(rng.choice(["no", "flu", "rare"], rows, p=[0.8, 0.18, 0.02]))
    )


SCENARIO = {"keys": list("abc"), "sensitive": "s"}


def test_by_hand():
    original = pl.DataFrame({"k": range(20), "s": ["r"] * 5 + ["n"] * 15})
    release = pl.DataFrame({"k": range(20), "s": ["r"] * 3 + ["n"] * 16 + ["r"]})
    found = rare_values(original, release, keys="k", sensitive="s")
    rare, often = found.values
    assert (rare.value, rare.people, rare.guesses, rare.told, rare.expected) == ("r", 5, 4, 3, 1.0)
    assert (often.value, often.people, often.guesses, often.told) == ("n", 15, 16, 14)
    assert often.expected == 12
    # Of 20, 5 have it and 4 are said to: 3 or 4 of these are right in so many of 4,845 ways.
    ways = math.comb(5, 3) * math.comb(15, 1) + math.comb(5, 4)
    assert rare.p_value == pytest.approx(2 * ways / math.comb(20, 4))
    assert found.worst is rare
    assert (rare.share, rare.precision) == (0.6, 0.75)
    assert found.per_record()["told"].to_list() == [True] * 3 + [False] * 2 + [True] * 14 + [False]


def test_five_people_are_a_leak():
    rng = np.random.default_rng(1)
    original, noise = table(rng, 3000), table(rng, 3000)
    noise = noise.with_columns(s=pl.Series(rng.choice(["no", "flu"], 3000)))
    ill = original.filter(pl.col("s") == "rare")[:6]
    release = pl.concat([noise, *[ill] * 20])
    found = rare_values(original, release, **SCENARIO)
    assert found.worst.value == "rare"
    assert found.worst.told >= 6
    assert found.p_value < 1e-3
    assert gcap(original, release, **SCENARIO).gain < 0


def test_the_test_against_control_records_is_fishers():
    rng = np.random.default_rng(2)
    original, control = table(rng), table(rng, 300)
    found = rare_values(original, original, control=control, **SCENARIO)
    assert found.worst.difference_p_value < 1e-3
    p_values = []
    for one in found.values:
        counts = [
            [one.told, one.people - one.told],
            [one.control_told, one.control_people - one.control_told],
        ]
        p_values.append(fisher_exact(counts, alternative="greater").pvalue)
        assert one.difference == pytest.approx(
            one.told / one.people - one.control_told / one.control_people
        )
        assert one.interval[0] <= one.difference <= one.interval[1]
    smallest = min(p_values) * len(p_values)
    assert found.difference_p_value == pytest.approx(min(smallest, 1.0))
    fresh = rare_values(original, table(rng), control=control, **SCENARIO)
    assert fresh.difference_p_value > 0.05
    assert "difference" in fresh.to_frame().columns


def test_values_that_the_release_lacks_are_not_named():
    original = pl.DataFrame({"k": range(20), "s": ["secret"] * 5 + ["n"] * 15})
    release = original.with_columns(s=pl.lit("n"))
    found = rare_values(original, release, keys="k", sensitive="s")
    text = f"{found.summary()}{json.dumps(found.to_dict())}{found.to_frame()}"
    assert "secret" not in text
    assert [one.released for one in found.values] == [False, True]
    assert found.p_value == 1


def test_numbers_are_put_into_groups():
    rng = np.random.default_rng(3)
    original = pl.DataFrame({"k": range(400), "pay": rng.lognormal(size=400)})
    gaps = original.with_columns(pay=pl.when(pl.col("k") < 7).then(None).otherwise(pl.col("pay")))
    found = rare_values(gaps, gaps, keys="k", sensitive="pay")
    assert len(found.values) == 21
    assert all(one.told == one.people for one in found.values)
    assert found.values[0].value is None
    assert "of 20 by size" in found.values[1].value
    # No limit of a group is told: they are the original's.
    assert "." not in "".join(one.value or "" for one in found.values)


def test_values_of_too_few_people_are_left_out():
    original = pl.DataFrame({"k": range(6), "s": ["x"] * 2 + ["y"] * 4})
    found = rare_values(original, original, keys="k", sensitive="s")
    assert (found.values, found.worst) == ((), None)
    assert math.isnan(found.p_value)
    assert "No value of 's' has 5 people or more" in found.summary()
    assert found.lines() == []
    assert len(rare_values(original, original, keys="k", sensitive="s", least=3).values) == 1
    with pytest.raises(ParameterError, match="least must be a whole number from 1"):
        rare_values(original, original, keys="k", sensitive="s", least=0)


def test_the_result_in_all_its_forms(as_frame):
    original = as_frame(table(np.random.default_rng(4)).to_dict(as_series=False))
    found = rare_values(original, original, **SCENARIO)
    assert type(found.to_frame()) is type(original)
    json.dumps(found.to_dict(), allow_nan=False)
    assert "people who have it" in found.summary()
    (line,) = found.lines()
    assert line.gain == pytest.approx(found.worst.share - found.worst.expected / found.worst.people)


@pytest.mark.long
def test_chance_is_called_more_in_one_of_twenty_at_most():
    rng = np.random.default_rng(5)
    alarms, differences = 0, 0
    for _ in range(200):
        original, release, control = (table(rng, 300) for _ in range(3))
        found = rare_values(original, release, control=control, **SCENARIO)
        alarms += found.p_value <= 0.05
        differences += found.difference_p_value <= 0.05
    assert max(alarms, differences) <= 14
