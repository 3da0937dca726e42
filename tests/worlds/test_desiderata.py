"""The desiderata, decided from scores that are made up."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.worlds.desiderata import DESIDERATA, judge
from understudy.worlds.measures import Measure
from understudy.worlds.releases import NOISE_STEPS, WORLDS

RECORD = Measure("made up", "record", 0.25, "")
TABLE = Measure("made up", "table", 0.25, "")
SOUND = {
    "present": [1, 1, 1],
    "absent": [0.2, 0.1],
    "copy": [1],
    "constant": [0.25, 0.26, 0.24],
    "unrelated": [0.25, 0.25, 0.25],
    "noise 0": [1, 0.2, 1],
    "noise 0.05": [0.5, 0.4, 0.6],
    "noise 0.2": [0.4, 0.5, 0.3],
    "noise 0.5": [0.3, 0.2, 0.3],
    "noise 1": [0.25, 0.25, 0.25],
}


def verdicts(measure=RECORD, **worlds):
    """Judge a sound measure, with other scores in some worlds."""
    changed = {world.replace("_", " "): scores for world, scores in worlds.items()}
    scores = {world: np.array(found, float) for world, found in (SOUND | changed).items()}
    return {verdict.desideratum: verdict for verdict in judge(measure, scores)}


def failed(measure=RECORD, **worlds):
    found = verdicts(measure, **worlds)
    return [name for name, verdict in found.items() if not verdict.passed]


def test_there_are_scores_for_all_worlds():
    assert set(SOUND) == set(WORLDS)
    assert list(verdicts()) == list(DESIDERATA)


@pytest.mark.parametrize("measure", [RECORD, TABLE])
def test_a_sound_measure_meets_all(measure):
    assert failed(measure) == []


def test_one_certain_release_below_the_maximum_fails_d1():
    assert failed(present=[1, 0.9, 1]) == ["D1"]
    assert failed(copy=[0.9]) == ["D1"]
    assert failed(present=[1, 1 - 1e-13, 1]) == []  # a rounding error
    why = verdicts(present=[1, 0.9, 1])["D1"].why
    assert (
        "certain in the 4 releases, and the score is 0.900 to 1.000 where the maximum is 1" in why
    )


def test_a_table_is_at_its_maximum_in_a_copy_alone():
    # One record of many moves a mean by little, but all are certain in a copy.
    assert failed(TABLE, present=[0.9, 0.9, 0.9]) == []
    assert failed(TABLE, copy=[0.9]) == ["D1"]


def test_a_rise_with_noise_fails_d2():
    found = verdicts(**{"noise 0.5": [0.5, 0.6, 0.4]})["D2"]
    # Each pair rises by 0.1.
    assert not found.passed
    assert found.why.endswith("it rises by 0.100 from noise 0.2 to noise 0.5.")
    assert found.numbers["noise 0.5"] == pytest.approx(0.5)


def test_a_rise_counts_if_it_is_more_than_chance_and_more_than_slight():
    # Differences 0.3, -0.1, 0.1: mean 0.1, standard error 0.2 / sqrt(3) = 0.115.
    assert failed(**{"noise 0.5": [0.7, 0.4, 0.4]}) == []
    # The same rise of 0.009 for each: sure, but slight.
    assert failed(**{"noise 1": [0.309, 0.209, 0.309], "noise 0.5": [0.3, 0.2, 0.3]}) == []


def test_a_rise_by_small_steps_counts():
    # Each step is slight, and three of them are not: 0.3, 0.306, 0.312, 0.318 for each draw.
    steps = zip(NOISE_STEPS[1:], (0.3, 0.306, 0.312, 0.318), strict=True)
    found = verdicts(**{step: [score] * 3 for step, score in steps})["D2"]
    assert not found.passed
    assert found.why.endswith("it rises by 0.018 from noise 0.05 to noise 1.")


def test_pairs_are_compared_and_not_all_releases():
    # The spread between draws is wide; within each pair, noise adds 0.1.
    wide = {"noise 0.2": [0.0, 0.4, 0.8], "noise 0.5": [0.1, 0.5, 0.9]}
    assert "D2" in failed(**wide)


@pytest.mark.parametrize("world", ["constant", "unrelated", "noise 1"])
def test_a_gain_from_nothing_fails_d3(world):
    found = verdicts(**{world: [0.35, 0.36, 0.37]})["D3"]
    assert not found.passed
    assert f"a gain for {world}." in found.why
    # 0.25, 0.5, 0.75 is 0.25 above on average, with a standard error of 0.144: may be chance.
    assert "D3" not in failed(**{world: [0.25, 0.5, 0.75]})
    assert "D3" not in failed(**{world: [0.259, 0.259, 0.259]})
    # What is below the baseline is no gain.
    assert "D3" not in failed(**{world: [0.0, 0.0, 0.0]})


@pytest.mark.parametrize("world", ["absent", "constant", "unrelated", "noise 1"])
def test_as_much_where_less_is_told_fails_d4(world):
    found = verdicts(**{world: [1, 1, 1]})["D4"]
    assert not found.passed
    assert f"not lower for {world}." in found.why


def test_a_difference_that_may_be_chance_is_no_rise():
    # 0.5 against 0.4, with a standard error of 0.3 / sqrt(3) = 0.17 of the former.
    assert "D4" in failed(present=[0.2, 0.5, 0.8], absent=[0.4, 0.4])


def test_a_low_score_of_what_is_certain_fails_d5():
    assert failed(copy=[0.25]) == ["D1", "D5"]
    assert failed(TABLE, present=[0.9] * 30 + [0.25]) == ["D5"]
    found = verdicts(present=[0.2, 0.25, 1])["D5"]
    assert "it is no higher in 2 of the 4 releases" in found.why
    assert "higher in all of the 4" in verdicts()["D5"].why


def test_a_measure_that_says_nothing_fails_three():
    always = {world: [0.25] * len(found) for world, found in SOUND.items()}
    assert failed(**always) == ["D1", "D4", "D5"]


def test_sentences_are_sentences():
    for verdict in [*verdicts().values(), *verdicts(**{w: [0.3] * 3 for w in SOUND}).values()]:
        assert verdict.why[0].isupper()
        assert verdict.why.endswith(".")
    assert len(NOISE_STEPS) == len(verdicts()["D2"].numbers)
