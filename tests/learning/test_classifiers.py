"""How models are shown the keys, their seeds, and the median of the nearest records."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from understudy.data.joint_coding import Levels
from understudy.learning import nearest
from understudy.learning.classifiers import CLASSIFIERS, Model, NearestMedian, encode

keys = st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 3))
beyond = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))


@pytest.mark.parametrize("cells", [2**25, 40])
@given(
    st.lists(st.tuples(keys, st.integers(-9, 9)), min_size=1, max_size=25),
    st.lists(keys | beyond, min_size=1, max_size=10),
)
def test_median_of_the_nearest_is_that_of_a_loop(cells, records, asked):
    model = NearestMedian().fit(
        np.array([key for key, _ in records]), np.array([float(number) for _, number in records])
    )
    expected = []
    for one in asked:
        far = [sum(a != b for a, b in zip(one, key, strict=True)) for key, _ in records]
        near = [number for (_, number), d in zip(records, far, strict=True) if d == min(far)]
        expected.append(statistics.median_low(near))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nearest, "_CELLS", cells)
        assert model.predict(np.array(asked)).tolist() == expected


def test_median_of_the_nearest():
    keys = np.array([[0, 0], [0, 0], [0, 0], [1, 1], [1, 1]])
    model = NearestMedian().fit(keys, np.array([5.0, 1.0, 9.0, 2.0, 4.0]))
    # Of 1, 5, 9 it is 5; of 2, 4 the lower; of all five, 4.
    assert model.predict(np.array([[0, 0], [1, 7], [0, 1]])).tolist() == [5, 2, 4]


def test_encodings_by_hand():
    labels = Levels(("a", "b", "c"), None, None)
    numbers = Levels(("10", "30", "missing"), np.array([10.0, 30.0, np.nan]), 2)
    plain = Levels(("10", "30"), np.array([10.0, 30.0]), None)
    levels = (labels, numbers, plain)
    train, asked = np.array([[0, 0, 0], [2, 1, 1]]), np.array([[1, 2, 1]])
    shown = {
        name: [np.asarray(part).tolist() for part in encode(name, train, asked, levels)]
        for name in ("codes", "places", "grouped", "standardised")
    }
    assert shown["codes"] == shown["grouped"] == [train.tolist(), asked.tolist()]
    assert shown["places"] == [[[0, 0, 10], [2, 1, 30]], [[1, 2, 30]]]
    # Means 1, 1/2 and 20; deviations 1, 1/2 and 10.
    assert shown["standardised"] == [[[-1, -1, -1], [1, 1, 1]], [[0, 3, 1]]]
    native = encode("native", train, asked, levels)
    assert native[0].tolist() == [[0, 10, 10], [2, 30, 30]]
    np.testing.assert_array_equal(native[1], [[1, np.nan, 30]])
    indicators = encode("indicators", train, asked, levels)
    # Three columns for the label, three and two for the numbers, and both numbers standardised;
    # the missing one is as good as the mean.
    assert indicators[0].toarray().tolist() == [
        [1, 0, 0, 1, 0, 0, 1, 0, -1, -1],
        [0, 0, 1, 0, 1, 0, 0, 1, 1, 1],
    ]
    assert indicators[1].toarray().tolist() == [[0, 1, 0, 0, 0, 1, 0, 1, 0, 1]]


def test_numbers_with_many_levels_are_grouped():
    values = np.append(np.arange(200.0), np.nan)
    levels = (Levels(tuple(map(str, values)), values, 200),)
    train = np.arange(200)[:, None]
    grouped, missing = encode("grouped", train, np.array([[200]]), levels)
    assert np.bincount(grouped[:, 0]).tolist() == [10] * 20
    assert missing.tolist() == [[20]]
    bayes = CLASSIFIERS["strong"]["naive_bayes"].new(0, 200, levels)
    assert bayes.min_categories == [21]


def test_infinite_numbers_are_beyond_the_others():
    values = np.array([-np.inf, 10.0, 30.0, np.inf, np.nan])
    levels = (Levels(tuple(map(str, values)), values, 4),)
    codes = np.arange(5)[:, None]
    # The finite ones are 20 apart.
    np.testing.assert_array_equal(
        encode("native", codes, codes, levels)[0][:, 0], [-10, 10, 30, 50, np.nan]
    )
    alone = (Levels(("5", "inf"), np.array([5.0, np.inf]), None),)
    assert encode("places", codes[:2], codes[:2], alone)[0].tolist() == [[5], [6]]
    nothing = (Levels(("-inf", "inf"), np.array([-np.inf, np.inf]), None),)
    assert encode("places", codes[:2], codes[:2], nothing)[0].tolist() == [[-1], [1]]


def test_the_seed_reaches_models_and_pipelines():
    tree = make_pipeline(FunctionTransformer(), DecisionTreeClassifier())
    model = Model("places", tree)
    assert model.new(7, 10, ()).get_params()["decisiontreeclassifier__random_state"] == 7
    fixed = Model("places", DecisionTreeClassifier(random_state=3)).new(7, 10, ())
    assert fixed.random_state == 3
    assert not model.is_ours
    assert CLASSIFIERS["papers"]["random_forest"].new(7, 10, ()).random_state == 7
    assert CLASSIFIERS["papers"]["k_nearest"].new(7, 3, ()).n_neighbors == 3
