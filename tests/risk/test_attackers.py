"""Attacks by classifiers: the papers' figures, small tables by hand, and trivial worlds."""

from __future__ import annotations

import functools
import json
import math
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from understudy.data import load
from understudy.errors import DataError, ParameterError
from understudy.learning.classifiers import CLASSIFIERS
from understudy.learning.fixed_radius import FixedRadiusClassifier
from understudy.learning.jobs import Job, Remembered
from understudy.progress import reporting
from understudy.risk.attackers import attackers, attackers_on
from understudy.risk.attribution import attribution
from understudy.risk.prepare import prepare
from understudy.risk.scenario import Baseline, Scenario
from understudy.showing import showing_records

HUSBAND = ["age", "education", "children", "religion", "working"]
METHOD = [*HUSBAND, "husband_education", "husband_occupation"]
SCENARIOS = {"method": (METHOD, 3), "husband_education": (HUSBAND, 4)}
FIXED = {"fixed": FixedRadiusClassifier()}


class Always(ClassifierMixin, BaseEstimator):
    """Guess one level whatever it sees."""

    def __init__(self, code=0):
        self.code = code

    def fit(self, X, y):  # noqa: ARG002, N803  # scikit-learn's names
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):  # noqa: N803  # scikit-learn's name
        return np.full(len(X), self.code)


class Failing(Always):
    """Fail in a way that `code` tells."""

    def predict(self, X):  # noqa: N803  # scikit-learn's name
        if self.code == 1:
            return super().predict(X)[:1]
        raise RuntimeError("no luck")


class Endless(RegressorMixin, BaseEstimator):
    """Guess an infinite number."""

    def fit(self, X, y):  # noqa: ARG002, N803  # scikit-learn's names
        self.fitted_ = True
        return self

    def predict(self, X):  # noqa: N803  # scikit-learn's name
        return np.full(len(X), math.inf)


@functools.cache
def papers(sensitive):
    keys, known = SCENARIOS[sensitive]
    survey = load("cmc")
    return attackers(survey, survey, keys=keys, sensitive=sensitive, known=known, preset="papers")


# Tables 6 and 9 of the paper of 2020, the originals' row. One cell differs: the paper prints 1.5
# for the deviation of the second support vector machine, we have 1.57. Its accuracies, rounded to
# a tenth of a percent first, may have 1.5 or 1.6: that depends on a record or two, and these on the
# order in which the records are learnt from.
@pytest.mark.parametrize(
    ("sensitive", "model", "mean", "deviation"),
    [
        ("method", "naive_bayes", 47.4, 2.8),
        ("method", "svm", 49.9, 3.6),
        ("method", "logistic_regression", 45.7, 2.6),
        ("method", "fixed_radius", 54.9, 7.8),
        ("husband_education", "naive_bayes", 64.2, 1.7),
        ("husband_education", "svm", 65.0, 1.6),
        ("husband_education", "logistic_regression", 64.4, 1.6),
        ("husband_education", "fixed_radius", 77.8, 7.0),
    ],
)
@pytest.mark.slow
def test_the_papers_figures(sensitive, model, mean, deviation):
    score = papers(sensitive).models[model]
    assert round(100 * score.original, 1) == mean
    assert round(100 * score.original_std, 1) == deviation


@pytest.mark.slow
def test_the_papers_nearest_neighbours_and_averages():
    # Which of several neighbours at one distance come first depends on the order of records: five
    # shuffled tables gave 48.4 to 50.0 and 68.8 to 69.4 where the paper has 48.5 and 69.4. The
    # average over models of Table IX of 2022, 69.6, has a sixth of that noise.
    assert papers("method").models["k_nearest"].original == pytest.approx(0.485, abs=0.015)
    husband = papers("husband_education")
    assert husband.models["k_nearest"].original == pytest.approx(0.694, abs=0.006)
    assert husband.mean.original == pytest.approx(0.696, abs=0.0015)
    assert round(100 * husband.baseline.zero_rule, 1) == 61.0
    assert round(100 * papers("method").baseline.zero_rule, 1) == 42.7


# The papers' forests are one draw each; the default seed is another.
@pytest.mark.parametrize(
    ("sensitive", "mean", "deviation", "seeds"),
    [("method", 54.4, 7.5, 3), ("husband_education", 77.0, 6.6, 8)],
)
@pytest.mark.slow
def test_the_papers_forest_within_the_noise_of_its_seed(sensitive, mean, deviation, seeds):
    keys, known = SCENARIOS[sensitive]
    survey = load("cmc")
    results = [
        attackers(
            survey,
            survey,
            keys=keys,
            sensitive=sensitive,
            known=known,
            models={"forest": RandomForestClassifier(10)},
            random_state=seed,
        ).models["forest"]
        for seed in range(seeds)
    ]
    means = np.array([100 * score.original for score in results])
    deviations = np.array([100 * score.original_std for score in results])
    # What is printed is rounded by up to 0.05.
    assert abs(means.mean() - mean) < 0.05 + 3 * means.std()
    assert abs(deviations.mean() - deviation) < 0.05 + 3 * deviations.std()
    assert means.std() < 0.3
    assert deviations.std() < 0.3


@pytest.mark.slow
def test_a_copy_is_as_good_as_the_original():
    result = papers("husband_education")
    for score in result.scores.values():
        assert (score.accuracy, score.accuracy_std) == (score.original, score.original_std)
    best = result.models["fixed_radius"]
    assert (result.maximum, result.best) == (best, "fixed_radius")
    assert result.mean.accuracy == pytest.approx(
        np.mean([score.accuracy for score in result.models.values()])
    )
    assert result.reasons == {"control": "No control records were given."}


def square():
    """Return four people; key a tells s, key b does not."""
    return pl.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "s": ["x", "x", "y", "y"]})


def test_by_hand(as_frame):
    table = as_frame(square().to_dict(as_series=False))
    result = attackers(table, table, keys=["a", "b"], sensitive="s", known=1, models=FIXED)
    # With a, all four are right. With b, each value has x once and y once: the guess is x, which
    # is right for the first two.
    assert [subset.synthetic["fixed"] for subset in result.subsets] == [1.0, 0.5]
    assert [subset.keys for subset in result.subsets] == [("a",), ("b",)]
    score = result.models["fixed"]
    assert (score.accuracy, score.accuracy_std) == (0.75, 0.25)
    assert (score.original, score.gain) == (0.75, 0.25)
    assert result.baseline == Baseline(0.5, 0.5, 0.5, 0.5)
    assert result.per_record(backend="polars").to_dict(as_series=False) == {
        "record": [0, 1, 2, 3],
        "fixed": [1.0, 1.0, 0.5, 0.5],
        "ensemble": [1.0, 1.0, 0.5, 0.5],
    }
    assert (result.records, result.preset) == (4, None)
    # Wilson's interval of 3 of 4, as statistical software gives it.
    assert score.interval == pytest.approx((0.3006, 0.9544), abs=1e-4)


def test_forms_of_the_result():
    result = attackers(
        square(), square(), keys=["a", "b"], sensitive="s", known=1, models=FIXED, control=square()
    )
    assert result.to_frame(backend="polars").to_dicts()[1] == {
        "attacker": "ensemble",
        "baseline": 0.5,
        "accuracy": 0.75,
        "accuracy_std": 0.25,
        "original": 0.75,
        "original_std": 0.25,
        "gain": 0.25,
        "control": 0.75,
        "control_std": 0.25,
    }
    assert result.to_frame()["attacker"].to_list() == ["fixed", "ensemble", "mean", "maximum"]
    content = json.loads(json.dumps(result.to_dict()))
    assert content["models"]["fixed"]["accuracy"] == 0.75
    assert content["scenario"] == {"keys": ["a", "b"], "sensitive": "s", "known": 1}
    assert "shares" not in content
    assert str(result) == (
        "An attacker who knows 1 of 2 keys guesses 's' correctly for 75.0% of the records by a "
        "vote of one model (mean 75.0%, best 75.0% with fixed). Without the release it is 50.0%, "
        "with the original 75.0%. For people who are not in the data it is 75.0%."
    )


def test_control_records_are_other_people():
    # Outside the data, a does not tell s: half of the guesses are right with a, and none with b,
    # for the guess is x where b is 0 or 1.
    control = pl.DataFrame({"a": [0, 1], "b": [0, 1], "s": ["y", "y"]})
    result = attackers(
        square(), square(), keys=["a", "b"], sensitive="s", known=1, models=FIXED, control=control
    )
    assert [subset.control["fixed"] for subset in result.subsets] == [0.5, 0.0]
    score = result.models["fixed"]
    assert (score.control, score.control_std) == (0.25, 0.25)
    assert (result.control_records, result.control_baseline) == (2, Baseline(1.0, 1.0, 0.0, 1.0))
    assert score.accuracy == 0.75
    assert result.reasons == {}


def test_vote_by_hand():
    # Three of x, two of y, one of z to train on.
    synthetic = pl.DataFrame({"a": [1, 2, 3, 4, 5, 6], "s": ["x", "x", "x", "y", "y", "z"]})
    original = pl.DataFrame({"a": [1, 2, 3, 4], "s": ["y", "x", "z", "z"]})

    def vote(*codes):
        models = {f"model {place}": Always(code) for place, code in enumerate(codes)}
        return attackers(original, synthetic, keys="a", sensitive="s", models=models).ensemble

    assert vote(2, 2, 0).accuracy == 0.5  # two for z: two of four are z
    assert vote(2, 1).accuracy == 0.25  # z and y: y is more frequent in the training data
    # Trained on the original, z is more frequent than y.
    assert vote(2, 1).original == 0.5
    assert vote(1, 2, 2, 1, 0).accuracy == 0.25  # two each for y and z


def related(rows, seed, *, shuffled=False):
    """Return records whose keys tell the sensitive attribute, or those with it shuffled."""
    rng = np.random.default_rng(seed)
    job = rng.choice(["baker", "nurse", "smith"], rows)
    sick = np.where(job == "nurse", "yes", "no")
    table = pl.DataFrame({"job": job, "age": rng.integers(20, 60, rows), "sick": sick})
    return table.with_columns(pl.col("sick").shuffle(seed)) if shuffled else table


@pytest.mark.parametrize("preset", ["papers", "strong"])
def test_related_and_unrelated_worlds(preset):
    original = related(300, 1)
    keys = {"keys": ["job", "age"], "sensitive": "sick", "preset": preset}
    near = attackers(original, related(300, 2), **keys)
    assert near.ensemble.accuracy > 0.95
    assert near.ensemble.gain == near.ensemble.accuracy - near.baseline.zero_rule
    far = attackers(original, related(300, 3, shuffled=True), **keys)
    # A guess that knows nothing is right less often than the zero rule, except by chance: three
    # standard errors of a share of 300 records are 0.08.
    assert far.ensemble.gain < 0.08
    assert far.mean.gain < 0.08
    assert far.ensemble.original > 0.95
    assert set(near.models) == set(CLASSIFIERS[preset])
    assert near.reasons.keys() == far.reasons.keys() == {"control"}


@pytest.mark.parametrize("preset", ["papers", "strong"])
def test_nothing_to_learn(preset):
    original = pl.DataFrame({"a": [1, 2, 3, 4], "s": ["x", "x", "y", "z"]})
    one_class = pl.DataFrame({"a": [1, 2, 3], "s": ["x"] * 3})
    result = attackers(original, one_class, keys="a", sensitive="s", preset=preset)
    assert {score.accuracy for score in result.scores.values()} == {0.5}
    one_key = pl.DataFrame({"a": [1, 1, 1], "s": ["x", "y", "y"]})
    result = attackers(original, one_key, keys="a", sensitive="s", preset=preset)
    assert {score.accuracy for score in result.scores.values()} == {0.25}
    # Of numbers, the lower one in the middle: 1 of 1 and 3.
    numbers = pl.DataFrame({"a": [1, 1, 2], "s": [3, 1, 4]})
    result = attackers(
        numbers, numbers.head(2), keys="a", sensitive="s", preset=preset, tolerance=0
    )
    assert {score.accuracy for score in result.scores.values()} == {1 / 3}
    constant = original.with_columns(s=pl.lit("x"))
    result = attackers(constant, constant, keys="a", sensitive="s", preset=preset)
    assert {score.accuracy for score in result.scores.values()} == {1.0}
    assert {score.gain for score in result.scores.values()} == {0.0}
    assert result.reasons.keys() == {"control"}


def ragged(rows, seed, letters):
    """Return a table with gaps, levels of its own, many levels, and a column of gaps alone."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "label": rng.choice([*letters, None], rows).tolist(),
            "whole": [None if value == 3 else int(value) for value in rng.integers(0, 6, rows)],
            "real": [None if value < 0.1 else float(value) for value in rng.random(rows)],
            "name": [f"{letters}{number}" for number in range(rows)],
            "empty": pl.Series([None] * rows if "a" in letters else [1.5] * rows, dtype=pl.Float64),
            "s": rng.choice([*letters, "z", None], rows).tolist(),
            "pay": [None if value > 90 else float(value) for value in rng.integers(0, 99, rows)],
        },
        strict=False,
    )


@pytest.mark.parametrize("preset", ["papers", pytest.param("strong", marks=pytest.mark.slow)])
@pytest.mark.parametrize("tolerance", [None, 20])
def test_gaps_and_levels_of_one_side(preset, tolerance):
    original, synthetic = ragged(300, 0, "abc"), ragged(280, 1, "bcd")
    result = attackers(
        original,
        synthetic,
        keys=["label", "whole", "real", "name", "empty"],
        sensitive="s" if tolerance is None else "pay",
        known=4,
        preset=preset,
        tolerance=tolerance,
        control=synthetic.head(50),
    )
    assert result.reasons == {}
    for score in result.scores.values():
        assert 0 < score.accuracy < 1
        assert 0 < score.control <= 1
    shares = result.per_record()["ensemble"]
    gaps = 0 if tolerance is None else original["pay"].null_count()
    assert shares.null_count() == gaps
    assert result.records == 300 - gaps
    assert shares.mean() == pytest.approx(result.ensemble.accuracy)


@pytest.mark.slow
def test_few_records_to_learn_from():
    two = pl.DataFrame({"a": ["p", "q"], "s": ["x", "y"], "n": [1, 2]})
    for preset in ("papers", "strong"):
        result = attackers(two, two, keys="a", sensitive="s", preset=preset)
        numbers = attackers(two, two, keys="a", sensitive="n", preset=preset, tolerance=0)
        assert result.reasons.keys() == numbers.reasons.keys() == {"control"}
        assert result.models["fixed_radius"].accuracy == 1
        assert numbers.models["fixed_radius"].accuracy == 1


def test_tolerance_by_hand():
    original = pl.DataFrame({"a": [1, 2, 3, 4], "pay": [100.0, 105.0, 120.0, None]})
    synthetic = pl.DataFrame({"a": [1, 2, 3], "pay": [100.0, 110.0, None]})
    attack = functools.partial(
        attackers,
        original,
        synthetic,
        keys="a",
        sensitive="pay",
        models={"constant": DummyRegressor()},
    )
    # The guess is 105, the mean of the synthetic numbers: right within 5 for 100 and 105. No
    # number is within 5 of all three.
    result = attack(tolerance=5)
    assert result.models["constant"].accuracy == 2 / 3
    assert result.baseline.zero_rule == 2 / 3
    # 100 guessed for 100 or 105, 105 for either, 120 for itself: 5 of 9 pairs.
    assert result.baseline.proportional == 5 / 9
    assert result.per_record()["constant"].to_list() == [1, 1, 0, None]
    # The mean of the original is 108.3, within 5 of 105 alone.
    assert result.models["constant"].original == 1 / 3
    # Within a tenth of the truth: 90 to 110, 94.5 to 115.5, 108 to 132, and 108 is in all of them.
    result = attack(tolerance="0.1 relative")
    assert result.models["constant"].accuracy == 2 / 3
    assert result.models["constant"].original == 1
    assert result.baseline.zero_rule == 1
    assert attack(tolerance=4.9).baseline.zero_rule == pytest.approx(2 / 3)
    assert attack(tolerance=2).baseline.zero_rule == pytest.approx(1 / 3)


@pytest.mark.parametrize("preset", ["papers", "strong"])
def test_numbers_that_follow_from_the_keys(preset):
    rng = np.random.default_rng(4)
    sex, age = rng.choice(["f", "m"], 300), rng.integers(20, 60, 300)
    pay = 100 * age + np.where(sex == "f", 0, 500)
    table = pl.DataFrame({"sex": sex, "age": age, "pay": pay})
    result = attackers(
        table, table, keys=["sex", "age"], sensitive="pay", preset=preset, tolerance=300
    )
    assert result.models["fixed_radius"].accuracy == 1
    # 600 wide, of about 4,000: a constant guess is right for a sixth, and a fit for nearly all.
    assert result.baseline.zero_rule < 0.3
    assert result.ensemble.accuracy > 0.9
    assert result.reasons.keys() == {"control"}


@pytest.mark.parametrize(
    ("preset", "levels"),
    [
        ("papers", 5),
        ("papers", 150),
        pytest.param("strong", 5, marks=pytest.mark.slow),
        ("strong", 150),
    ],
)
@pytest.mark.parametrize("tolerance", [None, 1])
def test_no_model_fails_on_infinity(preset, levels, tolerance):
    rng = np.random.default_rng(0)
    debt = rng.integers(0, levels, 300).astype(float)
    debt[:40], debt[40:60] = math.inf, -math.inf
    table = pl.DataFrame({"debt": debt, "age": rng.integers(0, 9, 300), "s": (debt > 2) + 0})
    result = attackers(
        table, table, keys=["debt", "age"], sensitive="s", preset=preset, tolerance=tolerance
    )
    assert result.reasons.keys() == {"control"}
    assert result.voters == len(result.models)
    assert result.ensemble.accuracy > 0.9


@pytest.mark.slow
def test_same_seed_same_result_whatever_the_processes():
    original, synthetic = related(80, 5), related(80, 6, shuffled=True)
    attack = functools.partial(
        attackers, original, synthetic, keys=["job", "age"], sensitive="sick", known=1
    )
    once, again, two = (
        attack(preset="papers", processes=processes, control=original.head(9))
        for processes in (1, 1, 2)
    )
    assert once.to_dict() == again.to_dict() == two.to_dict()
    assert once.per_record().equals(two.per_record())


@pytest.mark.slow
def test_a_script_without_a_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import polars as pl\n"
        "from understudy.risk import attackers\n"
        "table = pl.DataFrame({'a': [0, 1], 's': [0, 1]})\n"
        "attackers(table, table, keys='a', sensitive='s', preset='papers', processes=2)\n"
    )
    done = subprocess.run(
        [sys.executable, script], check=False, capture_output=True, encoding="utf-8"
    )
    # Python may still warn of what the processes left.
    words = "understudy.errors.ParameterError: The processes that train the models"
    (told,) = {line for line in done.stderr.splitlines() if line.startswith(words)}
    assert "__main__" in told


def test_a_users_model_is_copied():
    mine = Always(1)
    attackers(square(), square(), keys="a", sensitive="s", models={"mine": mine})
    assert not hasattr(mine, "classes_")


def test_a_model_that_fails_has_a_reason_and_no_vote():
    models = {"raises": Failing(0), "shape": Failing(1), "y": Always(1)}
    with showing_records():
        result = attackers(square(), square(), keys="a", sensitive="s", models=models)
    assert math.isnan(result.models["raises"].accuracy)
    assert math.isnan(result.models["shape"].original)
    assert result.ensemble.accuracy == result.mean.accuracy == result.maximum.accuracy == 0.5
    assert result.reasons["raises"] == ("It failed on the synthetic table with 'a': no luck")
    assert "shape (1,) for 2 records" in result.reasons["shape"]
    assert result.reasons["mean"] == "It leaves out the models that failed: raises, shape."
    assert result.voters == 1
    assert "by a vote of one model (mean" in str(result)
    assert result.per_record()["raises"].null_count() == 4
    assert result.to_dict()["models"]["raises"]["accuracy"] is None
    strange = {"other": Always(7), "y": Always(1)}
    result = attackers(square(), square(), keys="a", sensitive="s", models=strange)
    assert result.reasons["other"].endswith("it guessed a level that it was not shown")
    assert result.ensemble.accuracy == 0.5
    nobody = attackers(square(), square(), keys="a", sensitive="s", models={"no": Failing(0)})
    assert nobody.reasons["ensemble"] == "All models failed."
    assert nobody.best is None
    assert all(math.isnan(score.accuracy) for score in nobody.scores.values())
    assert nobody.voters == 0
    assert "correctly for an unknown share of the records by a vote of no model" in str(nobody)
    both = attackers(square(), square(), keys="a", sensitive="s", models=models | {"x": Always(0)})
    assert both.voters == 2
    assert "by a vote of 2 models" in str(both)


def test_a_guess_that_is_no_number():
    table = pl.DataFrame({"a": [1, 2], "n": [1.0, 2.0]})
    models = {"nan": make_pipeline(FunctionTransformer(), Endless())}
    result = attackers(table, table, keys="a", sensitive="n", tolerance=1, models=models)
    assert result.reasons["nan"].endswith("it guessed something that is not a number")


def test_no_number_to_learn_from_or_to_guess():
    gaps = pl.DataFrame({"a": [1, 2], "n": pl.Series([None, None], dtype=pl.Float64)})
    full = pl.DataFrame({"a": [1, 2], "n": [1.0, 2.0]})
    attack = functools.partial(
        attackers, keys="a", sensitive="n", tolerance=1, models={"line": LinearRegression()}
    )
    result = attack(full, gaps, control=gaps)
    assert result.reasons["line"].endswith("there is no number to learn from")
    assert result.models["line"].original == 1
    assert result.reasons["control"] == "No control record has a number to guess."
    assert math.isnan(result.control_baseline.zero_rule)
    with pytest.raises(DataError, match="no number in 'n' to guess"):
        attack(gaps, full)


@pytest.mark.parametrize("known", [1, 2, 3])
def test_the_fixed_radius_attacker_is_the_generalized_attribution(known):
    original, synthetic = ragged(90, 2, "abc"), ragged(80, 3, "bcd")
    scenario = {"keys": ["label", "whole", "empty"], "sensitive": "s", "known": known}
    score = attackers(original, synthetic, models=FIXED, **scenario).models["fixed"]
    expected = attribution(original, synthetic, unmatched="nearest", **scenario)
    assert score.accuracy == pytest.approx(expected.accuracy)
    assert score.accuracy_std == pytest.approx(expected.accuracy_std)


@pytest.mark.parametrize(
    ("preset", "tolerance"),
    [
        ("papers", None),
        ("papers", 20),
        pytest.param("strong", 20, marks=pytest.mark.slow),
        pytest.param("strong", None, marks=pytest.mark.slow),
    ],
)
def test_order_of_records_and_keys(preset, tolerance):
    # Few different keys and many records: most neighbours are equally near.
    original, synthetic = ragged(150, 2, "abc"), ragged(150, 3, "bcd")
    order = np.random.default_rng(0).permutation(150)
    attack = functools.partial(
        attackers,
        sensitive="s" if tolerance is None else "pay",
        preset=preset,
        tolerance=tolerance,
        control=original.head(20),
    )
    keys = ["label", "whole"]
    before = attack(original, synthetic, keys=keys)
    after = attack(original[order], synthetic[order[::-1]], keys=keys)
    assert before.to_dict() == after.to_dict()
    shares = before.per_record().drop("record")
    assert shares[order].equals(after.per_record().drop("record"))
    if preset == "papers":
        other = attack(original, synthetic, keys=keys[::-1])
        assert other.models["k_nearest"] == before.models["k_nearest"]


def test_the_order_of_training_is_drawn_by_the_seed():
    original, synthetic = ragged(150, 2, "abc"), ragged(150, 3, "bcd")
    scores = {
        attackers(
            original,
            synthetic,
            keys=["label", "whole"],
            sensitive="s",
            models={"near": KNeighborsClassifier()},
            random_state=seed,
        ).ensemble.accuracy
        for seed in range(5)
    }
    assert len(scores) > 1


def test_groups_of_a_sensitive_number():
    table = pl.DataFrame({"a": [0, 0, 1, 1], "pay": [1.0, 2.0, 8.0, 9.0]})
    attack = functools.partial(attackers, table, table, keys="a", sensitive="pay", models=FIXED)
    assert attack().ensemble.accuracy == 0.5
    assert attack(groups={"pay": 2}).ensemble.accuracy == 1


def test_many_levels_are_warned_of(caplog):
    table = pl.DataFrame({"a": [0, 1] * 60, "pay": np.arange(120)})
    attackers(table, table, keys="a", sensitive="pay", models=FIXED)
    assert "'pay' has 120 levels" in caplog.text


def test_one_progress_bar():
    seen = []

    class Reporter:
        def track(self, items, description, total):
            seen.append((description, total))
            for item in items:
                seen.append("step")
                yield item

    with reporting(Reporter()):
        attackers(square(), square(), keys=["a", "b"], sensitive="s", known=1, models=FIXED)
    # Two sets of keys, two tables to train on, one model.
    assert seen == [("Attacking", 4), *["step"] * 4]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"preset": "paper"},
            "preset must be one of papers, strong; got 'paper'. Did you mean 'papers'",
        ),
        ({"models": {}}, "models must be a mapping of names to estimators"),
        ({"models": [Always()]}, "models must be a mapping of names to estimators"),
        ({"models": {"mean": Always()}}, "cannot be called 'mean'"),
        ({"models": {"x": 5}}, "'x' is not an estimator"),
        ({"models": {"x": LinearRegression()}}, "'x' is a regressor. Give a tolerance"),
        ({"models": FIXED, "tolerance": 1}, "'fixed' is a classifier"),
        ({"tolerance": 1}, "'s' holds labels"),
        ({"tolerance": "1 of them"}, "tolerance must be a number, 'exact', or a number and its"),
        ({"tolerance": Scenario}, "tolerance must be a number of at least 0; got"),
        ({"tolerance": -1}, "tolerance must be a number of at least 0; got -1"),
        ({"tolerance": True}, "tolerance must be a number of at least 0; got True"),
        ({"tolerance": math.nan}, "tolerance must be a number of at least 0; got nan"),
        ({"tolerance": 1, "groups": {"s": 2}}, "both in groups and guessed"),
        ({"processes": 0}, "processes must be a whole number from 1 to 10,000; got 0"),
        ({"random_state": -1}, "random_state must be a whole number from 0 to 4294967295; got -1"),
        ({"random_state": True}, "random_state must be a whole number"),
        ({"known": 3}, "known must be a whole number from 1 to 2"),
        (
            {
                "processes": 2,
                "models": {"x": make_pipeline(FunctionTransformer(lambda x: x), Always())},
            },
            "cannot be sent to other processes",
        ),
    ],
)
def test_mistakes(arguments, message):
    with pytest.raises(ParameterError, match=message):
        attackers(square(), square(), keys=["a", "b"], sensitive="s", **arguments)


# What is remembered

SOME = load("cmc")[:200].select("age", "education", "husband_education")


def shuffled(seed, table=SOME):
    """Return a release with the same levels, whose columns have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    return table.select(pl.col(name).gather(rng.permutation(200)) for name in table.columns)


def attacked(release, original=SOME, **more):
    scenario = Scenario(["age", "education"], "husband_education", known=1)
    return attackers_on(prepare(original, [release], scenario), "papers", **more).to_dict()


@pytest.fixture
def trained(monkeypatch):
    """Note for each training whether it is on the original."""
    found = []
    guesses = Job.guesses

    def noted(job):
        found.append(job.may_recur)
        return guesses(job)

    monkeypatch.setattr(Job, "guesses", noted)
    return found


@pytest.mark.slow
def test_models_learn_from_the_original_once(trained):
    remembered = Remembered()
    found = [attacked(shuffled(seed), remembered=remembered) for seed in (1, 2, 3)]
    # Two sets of one key, and six models: once on the original, and on each of three releases.
    assert (trained.count(True), trained.count(False)) == (2 * 6, 2 * 6 * 3)
    assert found == [attacked(shuffled(seed)) for seed in (1, 2, 3)]
    assert found[0] != found[1]


OLDER = shuffled(1).with_columns(age=pl.when(pl.col("age") == 49).then(99).otherwise("age"))
CHANGED = SOME.with_columns(husband_education=5 - pl.col("husband_education"))


@pytest.mark.parametrize(
    ("release", "more"),
    [
        (OLDER, {}),  # a level of its own, so that codes stand for something else
        (shuffled(1), {"original": CHANGED}),
        (shuffled(1), {"original": SOME.reverse().with_columns(SOME["education"])}),
        (shuffled(1), {"random_state": 1}),
    ],
)
def test_only_the_same_is_remembered(trained, release, more):
    remembered = Remembered()
    attacked(shuffled(1), remembered=remembered)
    before = trained.count(True)
    assert attacked(release, remembered=remembered, **more) == attacked(release, **more)
    assert trained.count(True) > before + 2 * 6  # those without a memory are 2 x 6
