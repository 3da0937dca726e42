"""Agreement beyond chance against all ways to deal guesses out, and corrections for looks."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.joint_coding import code_together
from understudy.risk.chance import Agreement, agreement, corrected, gain_error, shares_right
from understudy.risk.tolerance import number_target


@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 2)), min_size=2, max_size=6))
def test_mean_and_variance_are_those_of_all_permutations(pairs):
    guesses, truths = (np.array(held) for held in zip(*pairs, strict=True))
    found = agreement(guesses, truths)
    hits = [
        np.count_nonzero(guesses[list(way)] == truths) for way in permutations(range(len(pairs)))
    ]
    assert found.hits == np.count_nonzero(guesses == truths)
    assert found.expected == pytest.approx(np.mean(hits))
    assert found.variance == pytest.approx(np.var(hits), abs=1e-9)
    if found.variance > 1e-9:
        skewed = np.mean((hits - np.mean(hits)) ** 3) / np.var(hits)
        assert found.step == pytest.approx(np.clip(skewed, 1, 2), abs=1e-9)


@given(
    st.lists(st.tuples(st.integers(-1, 5), st.integers(0, 5)), min_size=2, max_size=6),
    st.sampled_from([0, 1, 2]),
)
def test_the_same_for_numbers(pairs, within):
    coded = code_together({"original": pl.DataFrame({"s": range(6)})}, ["s"])
    number = number_target("s", coded.levels["s"], coded["original"]["s"], within)
    guesses, truths = (np.array(held) for held in zip(*pairs, strict=True))

    def hits(dealt):
        return np.count_nonzero((np.abs(dealt - truths) <= within) & (dealt >= 0))

    every = [hits(guesses[list(way)]) for way in permutations(range(len(pairs)))]
    found = agreement(guesses, truths, number)
    assert found.hits == hits(guesses)
    assert found.expected == pytest.approx(np.mean(every))
    assert found.variance == pytest.approx(np.var(every), abs=1e-9)
    if found.variance > 1e-9:
        skewed = np.mean((every - np.mean(every)) ** 3) / np.var(every)
        assert found.step == pytest.approx(np.clip(skewed, 1, 2), abs=1e-9)


def test_weights_repeat_people():
    guesses, truths, weights = np.array([0, 1]), np.array([0, 0]), np.array([3, 2])
    once = agreement(np.repeat(guesses, weights), np.repeat(truths, weights))
    assert agreement(guesses, truths, weights=weights) == once


def test_nothing_varies():
    constant = agreement(np.zeros(5, int), np.array([0, 0, 0, 1, 2]))
    assert (constant.hits, constant.expected, constant.variance) == (3, 3.0, 0.0)
    assert constant.p_value == 1
    assert constant.limit(0.05) == pytest.approx(3)
    nobody = agreement(np.array([], int), np.array([], int))
    assert math.isnan(nobody.p_value)
    assert math.isnan(nobody.excess)
    assert math.isnan(nobody.limit(0.05))


def test_a_match_of_all_different_values_is_as_rare_as_poisson_says():
    # With all values different, the hits of a random permutation are nearly Poisson(1).
    found = Agreement(100, 4, 1.0, 1.0)
    assert found.p_value == pytest.approx(
        1 - sum(math.exp(-1) / math.factorial(k) for k in range(4))
    )
    assert found.limit(0.05) == 3


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.9, 0.08, 0.02], [0.2] * 5])
def test_chance_alone_is_seen_in_one_of_twenty_at_most(shares):
    rng = np.random.default_rng(4)
    alarms, beyond = 0, 0
    for _ in range(1000):
        guesses, truths = (rng.choice(len(shares), 80, p=shares) for _ in range(2))
        found = agreement(guesses, truths)
        alarms += found.p_value <= 0.05
        beyond += found.hits > found.limit(0.05)
    # 50 are expected of a perfect test, and 70 are three standard deviations more.
    assert max(alarms, beyond) <= 70


def every_way(guesses, truths):
    """The hits of all ways to deal the guesses out."""
    return np.array([np.count_nonzero(guesses[list(way)] == truths)
                     for way in permutations(range(len(truths)))])  # fmt: skip


@pytest.mark.parametrize(
    ("guesses", "truths"),
    [
        ([0] * 6 + [1], [0] * 6 + [1]),
        ([0] * 6 + [1], [0] * 5 + [1, 2]),
        ([0] * 5 + [1, 2], [0] * 6 + [1]),
        ([0] * 4 + [1, 2, 3], [0] * 6 + [3]),
        ([-1] * 6 + [0], [0] * 6 + [1]),
    ],
)
def test_hits_that_hardly_vary_are_no_news(guesses, truths):
    # The next whole number above the mean is likely, however small the variance is.
    guesses, truths = np.array(guesses), np.array(truths)
    found = agreement(guesses, truths)
    hits = every_way(guesses, truths)
    for level in (0.001, 0.01, 0.05):
        told = [replace(found, hits=int(h)).p_value <= level for h in hits]
        assert np.mean(told) <= level
        assert np.mean(hits > found.limit(level)) <= level


def test_what_chance_nearly_always_gives_has_a_large_p_value():
    # All but one person have the value 0, all but one guess says so: 98 or, once in 100, 100.
    found = agreement(np.array([0] * 99 + [1]), np.array([1] + [0] * 99))
    likely = replace(found, hits=98)
    assert found.variance < 0.05
    assert likely.p_value > 0.9
    assert replace(found, hits=100).p_value <= 0.01


@pytest.mark.parametrize("rare", [0.002, 0.01, 0.03, 0.1])
def test_chance_is_rarely_called_news_however_little_varies(rare):
    rng = np.random.default_rng(6)
    levels = np.array([0.001, 0.01, 0.05])
    runs, alarms, beyond = 2000, np.zeros(3), np.zeros(3)
    for _ in range(runs):
        guesses, truths = (rng.random(60) < rare).astype(int), (rng.random(60) < rare).astype(int)
        found = agreement(guesses, truths)
        alarms += found.p_value <= levels
        beyond += found.hits > np.array([found.limit(level) for level in levels])
    most = levels * runs + 3 * np.sqrt(levels * runs)
    assert (alarms <= most).all()
    assert (beyond <= most).all()


def test_corrections_by_hand():
    found = corrected(np.array([0.04, math.nan, 0.01, 0.03]))
    # The smallest times 3, the next times 2 but no less, the last: no less than 0.06.
    assert found[[2, 3, 0]].tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert math.isnan(found[1])
    assert corrected(np.array([0.01, 0.3]), 10).tolist() == pytest.approx([0.1, 1.0])


def test_the_share_of_each_value():
    coded = code_together({"original": pl.DataFrame({"s": [1, 2, 4, None]})}, ["s"])
    number = number_target("s", coded.levels["s"], coded["original"]["s"], 1)
    # 1 and 2 are near each other: half of the four people for both; 4 is alone.
    assert shares_right(coded["original"]["s"], number).tolist() == [0.5, 0.5, 0.25, 0.0]


def test_the_error_of_a_gain_by_hand():
    truths = np.repeat([0, 1, 2], [6, 3, 1])
    guesses = np.array([0, 0, 0, 0, 0, 1, 1, 1, 0, 0])
    # Seven are right, and six by always saying 0. One who has 0 is lost, two who have 1 are won:
    # three of ten differ, and the gain is 0.1.
    expected = math.sqrt((0.3 - 0.1**2) / 10)
    assert gain_error(guesses == truths, truths, 0.6) == pytest.approx(expected)
    # The same people, those who are alike counted together.
    pairs, times = np.unique(np.stack([guesses, truths]), axis=1, return_counts=True)
    together = gain_error(pairs[0] == pairs[1], pairs[1], 0.6, times)
    assert together == pytest.approx(expected)
    assert math.isnan(gain_error(np.zeros(0, bool), np.zeros(0, int), math.nan))


def test_the_error_of_a_gain_is_how_much_it_varies():
    rng = np.random.default_rng(1)
    gains, errors = [], []
    for _ in range(500):
        truths = (rng.random(400) < 0.3).astype(int)
        right = np.where(rng.random(400) < 0.4, rng.random(400) < 0.8, truths == 0)
        gains.append(right.mean() - (truths == 0).mean())
        errors.append(gain_error(right, truths, float((truths == 0).mean())))
    # 500 standard deviations vary by a thirtieth.
    assert np.mean(errors) == pytest.approx(np.std(gains), rel=0.1)


def test_the_error_of_a_gain_of_numbers_is_that_of_unrelated_guesses():
    coded = code_together({"original": pl.DataFrame({"s": list(range(100))})}, ["s"])
    number = number_target("s", coded.levels["s"], coded["original"]["s"], 5)
    right = np.arange(100) < 30
    expected = math.sqrt((0.3 * 0.89 + 0.7 * 0.11 - 0.19**2) / 100)
    found = gain_error(right, coded["original"]["s"], 0.11, number=number)
    assert found == pytest.approx(expected)
