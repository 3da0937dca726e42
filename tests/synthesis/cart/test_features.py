"""Columns as trees see them: orders by hand, and that they lose no split."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.codec import Codec
from understudy.data.schema import Column, Schema
from understudy.synthesis.cart import Cart
from understudy.synthesis.cart.features import (
    MOST_CLASSES,
    frequent_classes,
    matrix_of,
    order_by_mean,
    order_by_shares,
    read_features,
)
from understudy.synthesis.cart.trees import Outcome, grow

seeds = st.integers(0, 2**32 - 1)


def features_of(columns, *described):
    frame = pl.DataFrame(columns)
    codec = Codec.fit(frame, Schema(described) if described else None, exact=True)
    return read_features(codec), codec.encode(frame)


# Numbers


def test_special_values_stand_among_the_numbers_and_missing_below_all():
    column = Column("x", "real", special=(5.0, -8.0), missing=0.2)
    (feature,), coded = features_of({"x": [1.5, 7.0, 5.0, None, -8.0]}, column)
    # Codes: 5 and -8 are special, in the order of the schema; then 1.5 and 7; then missing.
    assert coded["x"].tolist() == [2, 3, 0, 4, 1]
    # Ranks: -8 < 1.5 < 5 < 7, and missing below them.
    assert feature.ranks.tolist() == [3, 1, 2, 4, 0]
    # Quartiles of -8, 1.5, 5, 7 are -0.875, 3.25 and 5.5.
    wanted = (np.array([5, -8, 1.5, 7]) - 3.25) / 6.375
    np.testing.assert_allclose(feature.numbers[:4], wanted, rtol=1e-14)
    assert np.isnan(feature.numbers[4])
    assert (feature.special, feature.kinds) == (2, 4)
    assert feature.kind_of(np.arange(5)).tolist() == [0, 1, 2, 2, 3]
    assert feature.code_of_kind().tolist() == [0, 1, -1, 4]
    assert feature.places(coded["x"]).tolist() == [2, 4, 3, 0, 1]
    assert not feature.is_category


def test_kinds_of_columns():
    features, coded = features_of(
        {
            "word": ["a", "b", None],
            "flag": [True, False, True],
            "whole": [3, 1, 3],
            "gap": [2, None, 2],
            "none": pl.Series([None] * 3, dtype=pl.Float64),
        }
    )
    assert [feature.kinds for feature in features] == [1, 1, 1, 2, 2]
    assert [feature.is_category for feature in features] == [True, True, False, False, False]
    assert [feature.needs_order for feature in features] == [True, False, False, False, False]
    # Of the last column no record has an ordinary number: every code is missing.
    assert features[4].kind_of(np.array([0])).tolist() == [1]
    assert features[4].code_of_kind().tolist() == [-1, 0]
    assert matrix_of(features, coded).tolist() == [
        [0, 1, 2, 1, 0],
        [1, 0, 1, 0, 0],
        [2, 1, 2, 1, 0],
    ]


def test_infinite_numbers_are_as_far_as_the_furthest_finite_one():
    (feature,), _ = features_of({"x": [float("inf"), 2.5, 1.0, float("-inf")]})
    assert feature.numbers.tolist() == [-0.5, -0.5, 0.5, 0.5]
    assert feature.ranks.tolist() == [1, 2, 3, 4]
    (feature,), _ = features_of({"x": [float("inf"), float("-inf")]})
    assert feature.numbers.tolist() == [0, 0]


def test_moments_keep_every_tick():
    start = 1_600_000_000_000_000_000
    moments = pl.Series([start + 3, start, start + 1], dtype=pl.Datetime("ns"))
    (feature,), _ = features_of({"t": moments})
    # Quartiles of 0, 1, 3 are 0.5, 1 and 2.
    assert feature.numbers.tolist() == [
        -1 / 1.5,
        0,
        2 / 1.5,
    ]  # as floats, the moments themselves are equal
    assert len({float(start + tick) for tick in (0, 1, 3)}) == 1


@pytest.mark.parametrize(("offset", "scale"), [(1e8, 1.0), (0.0, 1e-12), (0.0, 1e300)])
def test_the_scale_of_numbers_does_not_matter(offset, scale):
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 200)
    values = offset + scale * (0.5 * group + rng.normal(0, 0.1, 400))
    frame = pl.DataFrame({"g": np.where(group, "a", "b"), "x": values})
    (_, tree) = Cart(minbucket=100).fit(frame).trees()
    assert tree.leaves == 2


@pytest.mark.parametrize("outlier", [1e8, 1e10, 1e300])
@pytest.mark.parametrize("cp", [0, 1e-8])
def test_one_far_number_does_not_hide_the_others(outlier, cp):
    rng = np.random.default_rng(0)
    x = rng.random(1000)
    y = x + rng.normal(0, 0.01, 1000)
    leaves = []
    for last in (y[-1], outlier):
        y[-1] = last
        leaves.append(Cart(cp=cp).fit(pl.DataFrame({"x": x, "y": y})).trees()[-1].leaves)
    # Splits that explain less than cp of the impurity, most of which is the far number's, are lost.
    assert leaves[1] >= (leaves[0] - 5 if cp == 0 else leaves[0] / 3)


def test_means_of_any_size_are_ordered():
    for scale in (1e-14, 1.0, 1e300):
        outcome = scale * np.array([3.0, 1.0, 2.0])
        assert order_by_mean(np.array([0, 1, 2]), 3, outcome).tolist() == [2, 0, 1]


# Orders by hand


def test_order_by_mean_by_hand():
    # Means: 0: (1 + 5) / 2 = 3; 1: 10; 2 does not occur; 3: (0 + 0 + 6) / 3 = 2.
    codes = np.array([0, 0, 1, 3, 3, 3])
    assert order_by_mean(codes, 4, np.array([1.0, 5, 10, 0, 0, 6])).tolist() == [1, 2, 3, 0]


def test_equal_means_stay_in_the_order_of_their_codes():
    codes = np.array([2, 2, 2, 0, 0, 0, 1])
    # 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 are not the same sum of floats.
    outcome = np.array([0.1, 0.2, 0.3, 0.3, 0.2, 0.1, 0.0])
    assert order_by_mean(codes, 3, outcome).tolist() == [1, 0, 2]


def test_order_by_shares_of_two_classes_by_hand():
    # Shares of class 1: 1/2, 1, 0; and code 3 does not occur.
    codes, outcome = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 0])
    order = order_by_shares(codes, 4, outcome, 2).tolist()
    assert order[3] == 3
    assert order[:3] in ([1, 2, 0], [1, 0, 2])
    assert order == order_by_shares(codes, 4, outcome, 2).tolist()


def test_order_by_shares_of_three_classes_by_hand():
    # Shares (1, 0, 0), (1/2, 1/2, 0), (0, 1, 0), with weights 1/3 each. Around the mean
    # (1/2, 1/2, 0) they lie on a line in the direction (1, -1, 0), at 1/2, 0, -1/2.
    codes = np.array([1, 1, 0, 0, 2, 2])
    outcome = np.array([0, 0, 0, 1, 1, 1])
    assert order_by_shares(codes, 3, outcome, 3).tolist() in ([1, 0, 2], [1, 2, 0])


def test_rare_classes_count_as_one():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 9, 800)
    outcome = (rng.gamma(0.7, 40, 800) + 3 * codes).astype(int)
    classes = int(outcome.max()) + 1
    assert classes > MOST_CLASSES
    # The 63 most frequent ones keep a number of their own, of equals the one with a lower code.
    by_size = sorted(range(classes), key=lambda one: (-np.count_nonzero(outcome == one), one))
    number = {one: min(place, MOST_CLASSES - 1) for place, one in enumerate(by_size)}
    merged = np.array([number[one] for one in outcome.tolist()])
    assert np.count_nonzero(merged == MOST_CLASSES - 1) > 50
    found, size = frequent_classes(outcome, classes)
    assert size == MOST_CLASSES
    np.testing.assert_array_equal(found, merged)
    few, unchanged = frequent_classes(codes, 9)
    assert few is codes
    assert unchanged == 9


# Invariants


@given(seeds, st.integers(2, 9))
def test_of_two_classes_both_orders_agree_up_to_direction(seed, levels):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, 60)
    outcome = rng.integers(0, 2, 60)
    seen = np.unique(codes)
    shares = np.array([outcome[codes == level].mean() for level in seen])
    by_mean = order_by_mean(codes, levels, outcome.astype(float))[seen]
    by_shares = order_by_shares(codes, levels, outcome, 2)[seen]
    along = shares[np.argsort(by_shares)]
    assert (np.diff(shares[np.argsort(by_mean)]) >= 0).all()
    assert (np.diff(along) >= -1e-12).all() or (np.diff(along) <= 1e-12).all()


@given(seeds, st.integers(2, 9))
def test_orders_are_permutations_with_the_unseen_last(seed, levels):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, 12)
    outcome = rng.integers(0, 4, 12)
    for order in (
        order_by_mean(codes, levels, outcome.astype(float)),
        order_by_shares(codes, levels, outcome, 4),
    ):
        assert sorted(order.tolist()) == list(range(levels))
        unseen = np.setdiff1d(np.arange(levels), codes)
        assert (order[unseen] >= levels - len(unseen)).all()


@given(seeds, st.integers(3, 8))
def test_relabelled_levels_keep_their_order(seed, levels):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(200) % levels)
    numbers = rng.normal(size=200)  # no two means agree
    labels = rng.permutation(levels)
    np.testing.assert_array_equal(
        order_by_mean(labels[codes], levels, numbers)[labels], order_by_mean(codes, levels, numbers)
    )
    first = order_by_shares(codes, levels, numbers > 0, 2)
    second = order_by_shares(labels[codes], levels, numbers > 0, 2)[labels]
    shares = np.array([(numbers[codes == level] > 0).mean() for level in range(levels)])
    # Levels with the same share are in the order of their codes, which were changed; and which
    # end comes first says nothing.
    along = shares[np.argsort(second)].tolist()
    assert shares[np.argsort(first)].tolist() in (along, along[::-1])


def best_of_all_subsets(codes, levels, outcome, minbucket):
    """Return the least sum of squares after a split into any two sets of levels."""
    best = np.inf
    for size in range(1, levels):
        for left in combinations(range(levels), size):
            inside = np.isin(codes, left)
            if min(inside.sum(), (~inside).sum()) < minbucket:
                continue
            best = min(best, sum(np.var(part) * len(part) for part in _parts(outcome, inside)))
    return best


def _parts(outcome, inside):
    return outcome[inside], outcome[~inside]


@given(seeds, st.integers(3, 6), st.booleans())
def test_no_set_of_levels_splits_better_than_a_threshold_in_the_order(seed, levels, binary):
    """Breiman's theorem, for a numeric outcome and for two classes (Gini is twice the variance)."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, 40).astype(np.int32)
    numbers = rng.integers(0, 2, 40) if binary else rng.integers(0, 10, 40)
    whole = np.var(numbers) * 40
    best = best_of_all_subsets(codes, levels, numbers, minbucket=1)
    if not best < whole * (1 - 1e-9):
        return
    outcome = (
        Outcome(numbers.astype(np.uint8), 2)
        if binary
        else Outcome(numbers.astype(np.uint8), 10, numbers.astype(float))
    )
    features, _ = features_of({"c": [f"{code}" for code in range(levels)]})
    tree = grow(codes[:, None], features, (0,), outcome, minbucket=1, cp=0.0).tree
    left = tree.orders[0][codes] <= tree.threshold[0]
    found = sum(np.var(part) * len(part) for part in _parts(numbers, left))
    assert found == pytest.approx(best)


def test_level_codes_are_not_read_as_numbers():
    # The outcome is 1 for the levels 1, 3, 5, 7: in the order of codes this needs seven splits.
    codes = np.repeat(np.arange(8), 20).astype(np.int32)
    outcome = Outcome((codes % 2).astype(np.uint8), 2)
    features, _ = features_of({"c": list("abcdefgh")})
    tree = grow(codes[:, None], features, (0,), outcome, minbucket=5, cp=1e-8).tree
    assert tree.leaves == 2


def test_a_table_becomes_one_contiguous_column_for_each_feature():
    features, coded = features_of({"c": ["a", "b", "a"], "x": [5, 7, 6]})
    matrix = matrix_of(features, coded)
    assert matrix.flags.f_contiguous
    assert matrix.dtype == np.int32
    assert matrix_of(features, coded.take(slice(0, 0))).shape == (0, 2)
