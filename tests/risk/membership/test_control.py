"""Membership by control records: by hand, a slow twin, trivial worlds, and calibration."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from understudy import BayesNet, Independent, load
from understudy.data import Coded
from understudy.errors import DataError, ParameterError
from understudy.risk import membership_by_control
from understudy.risk.membership.density import log_density, log_density_of_others


@pytest.fixture(scope="module")
def halves():
    people = load("cmc")
    order = np.random.default_rng(0).permutation(len(people))
    return people[order[:736]], people[order[736:]]


def two_columns(ages, sexes):
    return pl.DataFrame({"age": ages, "sex": sexes})


def test_distances_by_hand():
    # Ages of the original stand at 1/20, 3/20, ..; each step is a tenth.
    original = two_columns([20, 30, 40, 50, 60, 70, 80, 90, 100, 110], ["f", "m"] * 5)
    control = two_columns([25, 35, 45, 55, 65, 75, 85, 95, 105, 115], ["f", "m"] * 5)
    found = membership_by_control(original, two_columns([20, 45], ["f", "f"]), control)
    own = found.scores["closeness"]
    # 20 f is there; 40 f is half a step from 45 f; 30 m is one step from 20 f, and of another sex.
    assert -own.original[:3] == pytest.approx([0.0, 1.1, 0.05], abs=1e-5)
    assert own.control[2] == pytest.approx(0, abs=1e-5)  # 45 f
    relative = found.scores["relative_closeness"]
    # 40 f: 0.05 to the release, 0.05 to the nearest other person, 45 f.
    assert relative.original[2] == pytest.approx(0.5, abs=1e-4)
    assert relative.original[0] == pytest.approx(1)


def test_density_agrees_with_a_slow_twin():
    rng = np.random.default_rng(3)
    table, records = (
        Coded.from_arrays(
            {"x": rng.integers(0, 3, n), "y": rng.integers(0, 4, n), "z": rng.integers(0, 2, n)},
            {"x": 3, "y": 4, "z": 2},
        )
        for n in (20, 15)
    )
    network = {"x": (), "y": ("x",), "z": ("y", "x")}
    expected = []
    for row in range(15):
        total = 0.0
        for child, parents in network.items():
            share, alike = 1 / table.cardinality(child), np.ones(20, bool)
            for parent in (None, *parents):
                if parent is not None:
                    alike &= table[parent] == records[parent][row]
                same = alike & (table[child] == records[child][row])
                share = (same.sum() + share) / (alike.sum() + 1)
            total += np.log(share)
        expected.append(total)
    assert log_density(network, table, records) == pytest.approx(expected)
    # Each record with the counts of all others, one after the other.
    every = np.arange(20)
    without = [
        log_density(network, table.take(every != row), table.take(every == row))[0] for row in every
    ]
    assert log_density_of_others(network, table) == pytest.approx(without)


def test_a_copy_tells_who_was_in(halves):
    found = membership_by_control(halves[0], halves[0], halves[1])
    assert found.auc > 0.95
    assert found.p_value < 1e-6
    assert found.true_positive_rate(0.01) > 0.8
    assert np.isnan(found.true_positive_rate(0.001))
    assert "needs at least 1,000" in found.reasons["tpr_at_0.001"]


def test_a_release_that_knows_no_person_tells_nothing(halves):
    drawn = Independent(random_state=1).fit(halves[0]).sample()
    found = membership_by_control(halves[0], drawn, halves[1])
    assert found.p_value > 0.01
    assert 0.45 < found.auc < 0.55


def test_the_other_way_round_is_as_clear(halves):
    found = membership_by_control(halves[0], halves[1], halves[1])
    assert found.scores["relative_closeness"].separation.auc < 0.05
    assert found.scores["relative_closeness"].separation.p_value > 0.99


def test_a_network_that_memorises_is_seen_by_all_scores(halves):
    drawn = BayesNet(3, smoothing=0, random_state=1).fit(halves[0]).sample()
    found = membership_by_control(halves[0], drawn, halves[1])
    assert all(scored.separation.auc > 0.6 for scored in found.scores.values())


def test_releases_are_pooled(halves):
    parts = [halves[0][:300], halves[0][300:]]
    together = membership_by_control(halves[0], parts, halves[1])
    whole = membership_by_control(halves[0], halves[0], halves[1])
    assert together.releases == 2
    for name in ("closeness", "relative_closeness"):
        assert together.scores[name].original == pytest.approx(whole.scores[name].original)


def test_people_are_sampled_from_large_tables(halves):
    found = membership_by_control(*halves, halves[1], most=100)
    assert len(found.record) == len(found.control_record) == 100
    assert "100 records of the 736 of the original" in found.notes[0]
    whole = membership_by_control(*halves, halves[1])
    chosen = whole.scores["closeness"].original[found.record]
    assert found.scores["closeness"].original == pytest.approx(chosen)


def test_frames_and_words(halves):
    found = membership_by_control(halves[0], halves[0], halves[1])
    assert found.to_frame().height == 3
    told = found.per_record()
    assert told.height == 736
    # A person who is in the file is closer than nearly all control records.
    assert told["relative_closeness_control_share"].median() < 0.05
    assert "picks the right one" in found.summary()
    assert found.to_dict()["scores"]["closeness"]["detections"][1]["true_positive_rate"] is None
    assert len(found.lines()) == 6
    pandas = membership_by_control(
        halves[0].to_pandas(), halves[0].to_pandas(), halves[1].to_pandas()
    )
    assert pandas.per_record()["closeness"].tolist() == told["closeness"].to_list()


def test_what_cannot_be_compared_is_refused(halves):
    with pytest.raises(DataError, match="at least 10 records; got 9"):
        membership_by_control(*halves, halves[1][:9])
    with pytest.raises(ParameterError, match="no column in common"):
        membership_by_control(*halves, pl.DataFrame({"other": [1] * 20}))
    with pytest.raises(ParameterError, match="got an empty list"):
        membership_by_control(halves[0], [], halves[1])
    with pytest.raises(DataError, match="synthetic table has no rows"):
        membership_by_control(halves[0], halves[0][:0], halves[1])
    with pytest.raises(ParameterError, match="no column 'nowhere'"):
        membership_by_control(*halves, halves[1], columns=["nowhere"])


@pytest.mark.slow
def test_fresh_people_raise_an_alarm_at_level_5_in_at_most_7_percent():
    people = load("cmc")
    third = len(people) // 3
    alarms = np.zeros(4)
    for seed in range(200):
        order = np.random.default_rng(seed).permutation(len(people))
        inside, outside, release = (people[order[n * third : (n + 1) * third]] for n in range(3))
        found = membership_by_control(inside, release, outside, random_state=seed)
        single = [scored.separation.p_value for scored in found.scores.values()]
        alarms += np.array([*single, found.p_value]) < 0.05
    # Of each score alone, 5% and three standard errors; of all together, what is promised.
    assert (alarms[:3] <= 0.097 * 200).all()
    assert alarms[3] <= 0.07 * 200
