"""The fixed-radius classifier by hand, against a slow twin, and by scikit-learn's own checks."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from understudy.errors import DataError
from understudy.learning import nearest
from understudy.learning.fixed_radius import FixedRadiusClassifier
from understudy.risk import attribution


# No check is expected to fail. One skips itself: that of other array libraries, which needs an
# environment variable of scipy's.
@parametrize_with_checks([FixedRadiusClassifier()], expected_failed_checks=lambda _: {})
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_by_hand():
    records = [["f", 30], ["f", 30], ["f", 30], ["m", 30], ["m", 55]]
    classifier = FixedRadiusClassifier().fit(records, ["no", "no", "yes", "yes", "yes"])
    asked = [
        ["f", 30],  # equal to three: two no, one yes
        ["f", 55],  # one feature off: the three f (2 no, 1 yes) and m 55 (yes): 2 against 2,
        #             and yes is more frequent overall
        ["x", 99],  # nothing agrees: all five, 2 no and 3 yes
    ]
    assert classifier.predict(asked).tolist() == ["no", "yes", "yes"]
    np.testing.assert_allclose(
        classifier.predict_proba(asked), [[2 / 3, 1 / 3], [2 / 4, 2 / 4], [2 / 5, 3 / 5]]
    )
    assert classifier.classes_.tolist() == ["no", "yes"]
    assert classifier.n_features_in_ == 2
    assert classifier.score(asked, ["no", "no", "yes"]) == pytest.approx(2 / 3)


def test_a_tie_overall_goes_to_the_first_class():
    classifier = FixedRadiusClassifier().fit([[1], [1], [2]], ["b", "a", "c"])
    assert classifier.predict([[1], [2], [3]]).tolist() == ["a", "c", "a"]


def test_missing_values_agree_with_each_other_alone():
    records = pd.DataFrame(
        {"sex": ["f", None, "m"], "age": [1.0, np.nan, 2.0], "job": ["a", "b", pd.NA]}
    )
    classifier = FixedRadiusClassifier().fit(records, [0, 1, 2])
    assert classifier.feature_names_in_.tolist() == ["sex", "age", "job"]
    asked = pd.DataFrame(
        {"sex": [np.nan, "m"], "age": [None, 9.0], "job": [None, float("nan")]}, dtype=object
    )
    assert classifier.predict(asked).tolist() == [1, 2]
    raw = FixedRadiusClassifier().fit(np.array([[pd.NA, 1], ["x", 2]], object), [0, 1])
    assert raw.predict(np.array([[None, 9], [np.nan, 9], ["x", 9]], object)).tolist() == [0, 0, 1]
    numbers = FixedRadiusClassifier().fit([[np.nan, 1.0], [3.0, 1.0]], ["gap", "three"])
    assert numbers.predict([[np.nan, 7.0], [3.0, 7.0]]).tolist() == ["gap", "three"]
    without = FixedRadiusClassifier().fit([[1.0, 1.0], [3.0, 2.0]], ["one", "three"])
    assert without.predict([[np.nan, 2.0]]).tolist() == ["three"]


def test_equal_values_of_other_types_are_equal():
    classifier = FixedRadiusClassifier().fit(np.array([[1], [2]]), ["one", "two"])
    for asked in (np.array([[2.0]]), np.array([[2]], object), np.array([[2]], np.uint8)):
        assert classifier.predict(asked).tolist() == ["two"]
    words = FixedRadiusClassifier().fit(np.array([["a"], ["bc"]]), [0, 1])
    assert words.predict(np.array([["bc"], ["a"]], object)).tolist() == [1, 0]
    everything = FixedRadiusClassifier().fit(np.array([["1"], [1], [(1, 2)]], object), [0, 1, 2])
    assert everything.predict(np.array([[(1, 2)], ["1"], [1.0]], object)).tolist() == [2, 0, 1]


def test_values_that_are_no_categories_are_refused():
    with pytest.raises(DataError, match="cannot be categories: unhashable type: 'list'"):
        FixedRadiusClassifier().fit(np.array([[[1]], [None]], object), [0, 1])


def test_pipelines_and_cross_validation():
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {"a": rng.choice(["x", "y", "z"], 200), "b": rng.integers(0, 3, 200)}
    ).with_columns(y=pl.col("a") == "x")
    features, classes = table.select("a", "b"), table["y"].to_numpy()
    assert cross_val_score(FixedRadiusClassifier(), features, classes).tolist() == [1.0] * 5
    pipeline = make_pipeline(OrdinalEncoder(), FixedRadiusClassifier())
    assert cross_val_score(pipeline, features, classes).tolist() == [1.0] * 5


def twin(records, classes, asked):
    """Look at every pair of records, in plain Python: return the class, and the shares of all."""
    overall = Counter(classes)
    found, shares = [], []
    for one in asked:
        distance = [sum(a != b for a, b in zip(one, other, strict=True)) for other in records]
        near = Counter(
            label for label, far in zip(classes, distance, strict=True) if far == min(distance)
        )
        found.append(min(near, key=lambda label: (-near[label], -overall[label], label)))
        shares.append([near[label] / near.total() for label in sorted(overall)])
    return found, shares


@st.composite
def tables(draw):
    features = draw(st.integers(1, 5))
    row = st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=features, max_size=features)
    records = draw(st.lists(row, min_size=1, max_size=25))
    labels = st.lists(st.integers(0, 3), min_size=len(records), max_size=len(records))
    return records, draw(labels), draw(st.lists(row, min_size=1, max_size=10))


WAYS = {
    "as planned": {},
    "sets of features": {"_FEW": 0, "_PER_MASKED_KEY": 1e-12},
    "all pairs": {"_FEW": 0, "_PER_MASKED_KEY": 1e12},
    "few at a time": {"_CELLS": 7},
}


@pytest.mark.parametrize("way", WAYS)
@given(table=tables())
def test_agrees_with_the_twin(table, way):
    records, labels, asked = table
    with pytest.MonkeyPatch.context() as patch:
        for name, value in WAYS[way].items():
            patch.setattr(nearest, name, value)
        classifier = FixedRadiusClassifier().fit(records, labels)
        predicted, shares = classifier.predict(asked), classifier.predict_proba(asked)
    assert (predicted.tolist(), shares.tolist()) == twin(records, labels, asked)


@given(table=tables(), seed=st.integers(0, 99))
def test_order_and_copies_do_not_matter(table, seed):
    records, labels, asked = (np.array(part) for part in table)
    expected = FixedRadiusClassifier().fit(records, labels).predict(asked)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(records)), rng.permutation(records.shape[1])
    twice = np.concatenate([rows, rows])
    other = FixedRadiusClassifier().fit(records[twice][:, columns], labels[twice])
    assert other.predict(asked[:, columns]).tolist() == expected.tolist()


def test_large_tables_go_both_ways_with_the_same_shares(monkeypatch):
    rng = np.random.default_rng(1)
    records, classes = rng.integers(0, 5, (400, 7)), rng.integers(0, 3, 400)
    asked = rng.integers(0, 6, (300, 7))
    classifier = FixedRadiusClassifier().fit(records, classes)
    monkeypatch.setattr(nearest, "_FEW", 0)
    found = []
    for cost in (1e-12, 1e12):
        monkeypatch.setattr(nearest, "_PER_MASKED_KEY", cost)
        found.append(classifier.predict_proba(asked))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0].sum(axis=1), 1)


@pytest.mark.parametrize("levels", [3, 100])
def test_guesses_are_those_of_the_generalized_attribution(levels):
    rng = np.random.default_rng(levels)
    keys = ["a", "b", "c", "d"]
    original, synthetic = (
        pl.DataFrame(rng.integers(0, 5, (400, 4)), schema=keys, orient="row").with_columns(
            s=rng.integers(0, levels, 400)
        )
        for _ in range(2)
    )
    result = attribution(original, synthetic, keys=keys, sensitive="s", tolerance="exact")
    assert result.unmatched > 0.3
    guesses = FixedRadiusClassifier().fit(synthetic[keys], synthetic["s"]).predict(original[keys])
    assert guesses.tolist() == [int(guess) for guess in result.per_record(0)["guess"]]
