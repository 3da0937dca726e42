"""Membership by shadow releases: counts against a twin, trivial tools, and how often it errs."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import Ridge

from understudy import BayesNet, Independent, load
from understudy.data.joint_coding import encode
from understudy.errors import DataError, ParameterError
from understudy.learning.mixed_distance import UNIT
from understudy.risk import Command, membership_by_shadows
from understudy.risk.membership.features import LOOSELY, FeatureMaker
from understudy.risk.membership.kernels import count_agreeing
from understudy.risk.membership.telling_apart import FOLDS, RIDGE, _unseen_scores, tell_apart


@pytest.fixture(scope="module")
def people():
    return load("cmc")[:200]


def copy(table, seed):
    return table.sample(len(table), shuffle=True, seed=seed)


def fresh(table, seed):
    """Draw from a population that has nothing to do with the table."""
    rng = np.random.default_rng(seed)
    return load("cmc")[200:].sample(len(table), seed=int(rng.integers(2**31)))


def test_counts_agree_with_a_slow_twin():
    rng = np.random.default_rng(2)
    targets = rng.integers(0, 6, (4, 3)).astype(np.int32)
    records = rng.integers(0, 6, (4, 50)).astype(np.int32)
    reach = np.array([[0, 0, 0, 0], [2, 1, 0, 0]], np.int32)
    queries = np.array([[1, 0], [0, 3], [4, 3], [15, 0], [0, 15]], np.uint64)
    counts, fewest = np.empty((3, 5), np.int64), np.empty((3, 2), np.int64)
    count_agreeing(targets, records, reach, queries, counts, fewest)
    for target in range(3):
        apart = np.abs(records - targets[:, target : target + 1])
        strict, loose = apart <= reach[0][:, None], apart <= reach[1][:, None]
        assert fewest[target].tolist() == [(~strict).sum(0).min(), (~loose).sum(0).min()]
        for number, query in enumerate(queries.tolist()):
            held = np.ones(50, bool)
            for column in range(4):
                held &= strict[column] | ~np.bool_(query[0] >> column & 1)
                held &= loose[column] | ~np.bool_(query[1] >> column & 1)
            assert counts[target, number] == held.sum()


def test_features_by_hand():
    original = pl.DataFrame({"x": ["a", "a", "b", "b"], "n": [1, 2, 3, 4]})
    maker = FeatureMaker(encode(original), ("x", "n"), np.array([0]), queries=0, seed=0)
    release = pl.DataFrame({"x": ["a", "c", "b", "a"], "n": [1.0, 1.0, 4.0, 2.0]})
    (found,) = maker.of(release)
    # The number stands first: places 1/8, 1/8, 7/8 and 3/8, none without a size.
    assert found[:11].tolist() == [0, 0.5, 0, 0.25, 0, 0, 0, 0, 0.25, 0, 0]
    # Then a and b, and whatever is new.
    assert found[11:14].tolist() == [0.5, 0.25, 0.25]
    # A correlation; one of four agrees with the target in both columns; nobody is nearer than 0.
    assert found[15:].tolist() == [0.25, 0.25, 0, 0]
    assert LOOSELY == UNIT // 20
    # Features of a release do not depend on labels that only another release has.
    assert maker.of(release[::-1])[0] == pytest.approx(found)


def test_a_tool_that_hands_out_its_table_is_seen_through(people):
    found = membership_by_shadows(copy, people, people, targets=3, shadows=60)
    assert (found.auc > 0.95).all()
    assert (found.advantage_low > 0.5).all()
    assert found.smallest_p_value < 0.01
    assert (np.diff(found.exposure) <= 0).all()
    assert np.isnan(found.probability).all()
    assert "half of the records" in found.reasons["probability"]


def test_a_release_is_judged_by_what_its_shadows_teach(people):
    arguments = {"targets": 2, "shadows": 40, "others": "all"}
    found = membership_by_shadows(copy, people, people, **arguments)
    assert (found.probability > 0.8).all()
    without = people.filter(pl.int_range(pl.len()) != found.record[0])
    told = membership_by_shadows(copy, people, without, **arguments)
    assert told.probability[0] < 0.2
    assert told.probability[1] > 0.8


def test_a_tool_that_does_not_look_tells_nothing(people):
    found = membership_by_shadows(fresh, people, targets=3, shadows=60)
    assert found.smallest_p_value > 0.01
    assert np.isnan(found.probability).all()
    assert found.reasons == {"probability": "no release was given"}
    constant = membership_by_shadows(
        lambda *_: people[:50], people, people[:50], records=[3], shadows=20, others="all"
    )
    assert (constant.auc[0], constant.probability[0]) == (0.5, 0.5)


@pytest.mark.slow
def test_all_others_make_the_strongest_shadows(people):
    odd = people.with_columns(
        age=pl.when(pl.int_range(pl.len()) == 7).then(99).otherwise(pl.col("age"))
    )

    def tool(table, seed):
        return Independent(random_state=seed).fit(table).sample(random_state=seed)

    found = membership_by_shadows(tool, odd, records=[7, 8], shadows=40, others="all")
    assert found.runs == 60  # 20 with everybody for both, and 20 without each
    assert found.auc[0] > 0.6
    assert found.others == "all"


def test_threads_do_not_change_the_result(people):
    arguments = {"targets": 2, "shadows": 30, "queries": 20}
    one = membership_by_shadows(copy, people, **arguments)
    several = membership_by_shadows(copy, people, **arguments, processes=2)
    assert one.to_frame().equals(several.to_frame(), null_equal=True)


def test_a_command_is_a_tool(people, tmp_path):
    script = tmp_path / "copy.py"
    script.write_text("import shutil, sys\nshutil.copy(sys.argv[1], sys.argv[2])\n")
    command = Command(f"{sys.executable} {script} {{original}} {{synthetic}} {{seed}}")
    found = membership_by_shadows(command, people, people, targets=1, shadows=20)
    assert found.auc[0] > 0.9


def test_at_most_a_quarter_of_the_people_are_attacked(people):
    assert len(membership_by_shadows(copy, people[:12], shadows=20)) == 3


def test_frames_and_words(people):
    found = membership_by_shadows(copy, people, people, targets=2, shadows=20)
    assert found.per_record().height == 2
    assert "tried it 20 times" in found.summary()
    assert "2 people who are most exposed" in found.summary()
    assert found.to_dict()["max_auc"] == found.max_auc
    assert len(found.lines()) == 2


def test_what_cannot_be_used_is_refused(people):
    with pytest.raises(ParameterError, match="tool must be a function"):
        membership_by_shadows(3, people)
    with pytest.raises(ParameterError, match="shadows must be a whole number from 20"):
        membership_by_shadows(copy, people, shadows=5)
    with pytest.raises(ParameterError, match="targets must be a whole number from 1"):
        membership_by_shadows(copy, people, targets=0)
    with pytest.raises(ParameterError, match="each person once"):
        membership_by_shadows(copy, people, records=[1, 1])
    with pytest.raises(DataError, match="at least 4 records"):
        membership_by_shadows(copy, people[:3])
    with pytest.raises(DataError, match=r"failed in shadow release 1 .* no column 'age'"):
        membership_by_shadows(lambda table, _: table.drop("age"), people, shadows=20)
    with pytest.raises(DataError, match="ZeroDivisionError"):
        membership_by_shadows(lambda *_: 1 / 0, people, shadows=20)
    with pytest.raises(DataError, match="no rows"):
        membership_by_shadows(lambda table, _: table[:0], people, shadows=20)


def test_scores_agree_with_a_ridge_regression_of_the_other_parts():
    rng = np.random.default_rng(4)
    features, labels = rng.normal(size=(40, 6)), np.where(rng.random(40) < 0.5, 1.0, -1.0)
    kernel = features @ features.T
    unseen = _unseen_scores(kernel, np.random.default_rng(1)) @ labels
    part = np.random.default_rng(1).permutation(40) % FOLDS
    for fold in range(FOLDS):
        model = Ridge(RIDGE, fit_intercept=False)
        model.fit(features[part != fold], labels[part != fold])
        assert unseen[part == fold] == pytest.approx(model.predict(features[part == fold]))


@pytest.mark.long
def test_chance_is_called_chance():
    """Features that tell nothing, and hang together as those of a table do."""
    alarms, held = 0, 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        features = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 40)) + rng.normal(size=(60, 40))
        found = tell_apart(features, rng.permutation(np.arange(60) < 30), None, rng)
        alarms += found.p_value < 0.05
        held += found.auc_low <= 0.5 <= found.auc_high
    assert alarms <= 0.07 * 200
    assert held >= 0.92 * 200  # 95% and two standard errors


@pytest.mark.slow
def test_a_network_that_memorises_is_seen_through():
    people = load("cmc")

    def tool(table, seed):
        model = BayesNet(3, smoothing=0, random_state=seed)
        return model.fit(table).sample(random_state=seed)

    found = membership_by_shadows(tool, people, targets=5)
    assert found.mean_auc > 0.7
