"""People in the data against people kept back: by hand, and as often wrong as it says."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from understudy.risk import attackers, attribution, disclosure
from understudy.risk.kept_back import People, compare_people, newcombe_interval, strata_of


def people(scores, strata=None):
    held = np.asarray(scores, float)
    return People(held, np.zeros(len(held), int) if strata is None else np.asarray(strata))


def test_by_hand():
    # 3 of 4 inside, 1 of 4 outside. Of 8 people 4 are right: drawing 4 gives 2 on average, with the
    # variance 4 * 4 / 8 / 7 * (8 * 1/2 * 1/2) = 4/7. Three is one more, or half with continuity.
    found = compare_people(people([1, 1, 1, 0]), people([1, 0, 0, 0]))
    assert (found.members, found.control, found.difference) == (0.75, 0.25, 0.5)
    assert found.p_value == pytest.approx(0.5 * math.erfc(0.5 / math.sqrt(4 / 7) / math.sqrt(2)))
    assert found.matched == 0.5


def test_people_with_the_same_value_are_compared():
    # Who has the first value is always guessed, who has the second never: nothing is told about
    # people in the data, of whom more have the first.
    inside, outside = people([1, 1, 1, 0], [0, 0, 0, 1]), people([1, 0, 0, 0], [0, 1, 1, 1])
    found = compare_people(inside, outside)
    assert found.difference == 0.5
    assert (found.matched, found.matched_interval, found.matched_p_value) == (0, (0, 0), 1)


def test_nobody_to_compare():
    found = compare_people(people([]), people([1.0]))
    assert math.isnan(found.difference)
    assert math.isnan(found.members)
    assert found.control == 1
    apart = compare_people(people([1, 0], [0, 0]), people([1, 0], [1, 1]))
    assert apart.difference == 0
    assert math.isnan(apart.matched)


def test_strata_of_numbers_are_tenths():
    own, other = strata_of(np.arange(100), np.array([0, 9, 10, 55, 99]), numbers=True)
    assert np.bincount(own).tolist() == [10] * 10
    assert other.tolist() == [0, 0, 1, 5, 9]


def test_newcombe_of_nothing():
    assert newcombe_interval((0.0, (0.0, 0.3)), (0.0, (0.0, 0.4))) == (-0.4, 0.3)


def test_chance_alone_is_seen_in_one_of_twenty():
    # 2,000 comparisons: 5% give 100, with a standard deviation of 10. With continuity it is fewer.
    rng = np.random.default_rng(1)
    alarms, covered = np.zeros(2), 0
    for _ in range(2000):
        strata = rng.choice(3, 150, p=[0.6, 0.3, 0.1])
        scores = (rng.random(150) < np.array([0.8, 0.3, 0.1])[strata]).astype(float)
        found = compare_people(
            people(scores[:100], strata[:100]), people(scores[100:], strata[100:])
        )
        alarms += [found.p_value <= 0.05, found.matched_p_value <= 0.05]
        covered += found.interval[0] <= 0 <= found.interval[1]
    assert (alarms <= 130).all()
    assert (alarms >= 40).all()
    assert covered >= 1870


def table(rng, rows):
    keys = rng.integers(0, 6, (rows, 3))
    return pl.DataFrame(keys, schema=["a", "b", "c"], orient="row").with_columns(
        s=pl.Series(rng.choice(["x", "y", "z"], rows, p=[0.6, 0.3, 0.1])),
        pay=pl.Series(rng.normal(size=rows).round(3)),
    )


@pytest.mark.parametrize("sensitive", ["s", "pay"])
def test_a_copy_is_told_from_a_pattern(sensitive):
    rng = np.random.default_rng(2)
    original, control, fresh = (table(rng, 400) for _ in range(3))
    scenario = {"keys": ["a", "b", "c"], "sensitive": sensitive, "control": control}
    told = attribution(original, original, **scenario).control.compared
    assert told.p_value < 1e-6
    assert told.interval[0] > 0.1
    # Over sets of keys, people with the same value are told apart best.
    several = attribution(original, original, known=2, **scenario).control.compared
    assert several.matched_p_value < min(1e-3, several.p_value)
    assert several.matched_interval[0] > 0
    harmless = attribution(original, fresh, known=2, **scenario).control.compared
    assert harmless.interval[0] < 0 < harmless.interval[1]
    assert harmless.p_value > 0.05


def test_every_attack_compares():
    rng = np.random.default_rng(3)
    original, control = table(rng, 300), table(rng, 200)
    scenario = {"keys": ["a", "b", "c"], "sensitive": "s", "control": control}
    votes = attackers(original, original, preset="papers", **scenario)
    score = votes.models["fixed_radius"]
    assert score.compared.difference == pytest.approx(score.accuracy - score.control)
    assert votes.mean.compared.difference == pytest.approx(votes.mean.accuracy - votes.mean.control)
    assert score.compared.p_value < 1e-3
    assert (
        attackers(original, original, keys="a", sensitive="s", preset="papers").mean.compared
        is None
    )
    told = disclosure(original, original, **scenario).control
    assert told.compared.difference == pytest.approx(told.disco_difference)
    assert told.compared.interval == pytest.approx(told.difference_interval)
    rule = attribution(original, original, unmatched="ignore", **scenario).control
    assert rule.compared.difference == pytest.approx(rule.difference)
