"""Trees on bins: beside the exact ones, a plain search, and what bins may hold."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from understudy import Cart, Schema, Synthesizer
from understudy.data import load, simulate
from understudy.errors import ParameterError
from understudy.synthesis.cart import binned, plan
from understudy.synthesis.cart.binned import MOST_BINS, BinnedColumns, Bins, whole_numbers
from understudy.synthesis.cart.features import Feature
from understudy.synthesis.cart.trees import Outcome, grow

seeds = st.integers(0, 2**32 - 1)


def number(cardinality, name="x", special=0):
    """Return a numeric feature whose codes are the numbers 0, 1, ..."""
    codes = np.arange(cardinality)
    return Feature(name, cardinality, (codes + 1).astype(np.int32), codes.astype(float), special)


def both(places, features, outcome, minbucket=3, cp=0.0):
    """Return the exact tree of all columns, and the one on bins."""
    columns = tuple(range(len(features)))
    bins = BinnedColumns(features, places)
    return [
        grow(places, features, columns, outcome, minbucket=minbucket, cp=cp, binned=given)
        for given in (None, bins)
    ]


def records(rng, rows, sizes):
    """Return records with numbers and categories of these sizes, by turns, and their features."""
    places = np.stack([rng.integers(0, size, rows) for size in sizes], axis=1).astype(np.int32)
    places[:, ::2] += 1  # a number's rank
    features = [number(size) if i % 2 == 0 else Feature("c", size) for i, size in enumerate(sizes)]
    return np.asfortranarray(places), features


def assert_same(one, other):
    for name in ("feature", "threshold", "children"):
        np.testing.assert_array_equal(getattr(one.tree, name), getattr(other.tree, name))
    assert one.tree.orders.keys() == other.tree.orders.keys()
    for column, order in one.tree.orders.items():
        np.testing.assert_array_equal(order, other.tree.orders[column])
    np.testing.assert_array_equal(one.table.donors, other.table.donors)
    np.testing.assert_array_equal(one.leaf_sizes, other.leaf_sizes)


SIZES = st.lists(st.sampled_from([1, 2, 3, 7, 40, 250]), min_size=1, max_size=7)


@settings(max_examples=60)
@given(
    seeds, SIZES, st.integers(2, 90), st.integers(1, 7), st.sampled_from([0.0, 1e-8, 0.004, 0.1])
)
def test_classes_give_the_exact_trees(seed, sizes, classes, minbucket, cp):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(5, 600))
    places, features = records(rng, rows, sizes)
    codes = (places[:, 0] + rng.integers(0, classes, rows)) % classes
    outcome = Outcome(codes.astype(np.uint8), classes)
    assert_same(*both(places, features, outcome, minbucket, cp))


@settings(max_examples=60)
@given(seeds, SIZES, st.integers(1, 7), st.sampled_from([0.0, 1e-8, 0.004, 0.1]))
def test_numbers_that_floats_add_exactly_give_the_exact_trees(seed, sizes, minbucket, cp):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(5, 600))
    places, features = records(rng, rows, sizes)
    numbers = (places[:, 0] + rng.integers(-20, 20, rows)) / 8
    values, codes = np.unique(numbers, return_inverse=True)
    outcome = Outcome(codes.astype(np.uint16), len(values), values[codes])
    assert_same(*both(places, features, outcome, minbucket, cp))


@settings(max_examples=30)
@given(seeds, st.integers(1, 7), st.floats(0.1, 1e4))
def test_any_numbers_give_the_leaves_of_the_exact_trees(seed, minbucket, scale):
    # Of two columns that part the same records, rounding decides there, and the order here. Columns
    # have numbers in units of their quartile distance, so that scales are those of this test.
    rng = np.random.default_rng(seed)
    places, features = records(rng, 400, [30, 5, 200])
    values = np.sort(scale * (rng.normal(size=400) + 7))
    codes = rng.permutation(400)
    outcome = Outcome(codes.astype(np.uint16), 400, values[codes])
    exact, quick = both(places, features, outcome, minbucket)
    pairs = np.stack([exact.tree.find(places), quick.tree.find(places)])
    together = np.unique(pairs, axis=1).shape[1]
    assert together == exact.tree.leaves == quick.tree.leaves


@pytest.mark.parametrize("minbucket", [1, 5])
def test_the_survey_has_the_exact_leaves(minbucket):
    survey = load("cmc").with_columns(pl.col("method", "religion", "working").cast(pl.String))
    exact, quick = (
        Cart(minbucket=minbucket, splits=splits, smoothing_leaves=0, random_state=1).fit(survey)
        for splits in ("exact", "histogram")
    )
    for one, other in zip(exact.sequences_[0].columns, quick.sequences_[0].columns, strict=True):
        if one.feature.is_category:
            assert_same(one.value, other.value)
        assert one.value.tree.leaves == pytest.approx(other.value.tree.leaves, abs=2)


# More places than bins


def plain_search(codes, explained, least):
    """Return the best split of numbers as (sum of squares left, column, last bin on the left)."""
    found = []
    for column in range(codes.shape[1]):
        for last in np.unique(codes[:, column])[:-1]:
            left = codes[:, column] <= last
            if min(left.sum(), (~left).sum()) >= least:
                parts = explained[left], explained[~left]
                found.append((sum(((p - p.mean()) ** 2).sum() for p in parts), column, last))
    return min(found)


@given(seeds)
def test_the_first_split_is_the_best_between_bins(seed):
    rng = np.random.default_rng(seed)
    rows, least = 900, 40
    places = rng.permuted(np.tile(np.arange(1, rows + 1), (3, 1)), axis=1).T.astype(np.int32)
    features = [number(rows) for _ in range(3)]
    explained = rng.normal(size=rows) + places[:, 1] / 300
    values, codes = np.unique(explained, return_inverse=True)
    outcome = Outcome(codes.astype(np.uint16), rows, values[codes])
    _, quick = both(places, features, outcome, least, cp=0.0)
    columns = BinnedColumns(features, places)
    in_bins = np.stack([columns.column(column)[0] for column in range(3)], axis=1)
    assert len(np.unique(in_bins[:, 0])) == MOST_BINS
    _, column, last = plain_search(in_bins, explained, least)
    assert quick.tree.feature[0] == column
    left = places[:, column] <= quick.tree.threshold[0]
    np.testing.assert_array_equal(left, in_bins[:, column] <= last)


@given(seeds, st.integers(1, 6))
def test_a_tree_on_bins_is_the_exact_tree_of_the_bins(seed, minbucket):
    rng = np.random.default_rng(seed)
    rows = 1_500
    places = rng.integers(1, 1_200, (rows, 2)).astype(np.int32)
    features = [number(1_200)] * 2
    outcome = Outcome((places[:, 0] // 301 + rng.integers(0, 3, rows)).astype(np.uint8), 9)
    _, quick = both(places, features, outcome, minbucket)
    columns = BinnedColumns(features, places)
    in_bins = np.stack([columns.column(c)[0] for c in range(2)], axis=1).astype(np.int32) + 1
    exact = grow(in_bins, [number(256)] * 2, (0, 1), outcome, minbucket=minbucket, cp=0.0)
    np.testing.assert_array_equal(exact.tree.feature, quick.tree.feature)
    np.testing.assert_array_equal(exact.tree.find(in_bins), quick.tree.find(places))
    # Each record is a donor of the leaf that it is led to.
    sizes = np.bincount(quick.tree.find(places), minlength=quick.tree.leaves)
    assert quick.leaf_sizes.tolist() == sizes.tolist()
    assert sizes.min() >= minbucket


def test_more_categories_than_bins_are_put_together_in_their_order():
    # The outcome is the category's parity times a hundred: two values, which one split parts. A bin
    # may have categories of both, and a leaf of its own.
    rng = np.random.default_rng(1)
    places = rng.integers(0, 600, (6_000, 1)).astype(np.int32)
    numbers = (places[:, 0] % 2 * 100).astype(float)
    outcome = Outcome((places[:, 0] % 2).astype(np.uint8), 2, numbers)
    exact, quick = both(places, [Feature("c", 600)], outcome, minbucket=5, cp=1e-8)
    assert exact.tree.leaves == 2
    found = quick.tree.find(places)
    leaf_of = {category: set(found[places[:, 0] == category].tolist()) for category in range(600)}
    assert all(len(leaves) == 1 for leaves in leaf_of.values())
    odd, even = (set().union(*(leaf_of[c] for c in range(first, 600, 2))) for first in (1, 0))
    mixed = odd & even
    assert len(mixed) <= 1
    assert sum(bool(leaf_of[c] & mixed) for c in range(600)) <= 600 // MOST_BINS + 2


# Bins


def test_bins_by_hand(monkeypatch):
    monkeypatch.setattr(binned, "MOST_BINS", 4)
    # 16 records at 6 places, 4 to a bin: 1 and 2 end at 3 of 16, 8 stands alone from 3 to 11.
    #   middle of each:  0.5  2  7  11.5  13  15  of 16; times 4:  0 0 1 2 3 3
    bins = Bins.of(np.array([1, 2, 0, 8, 1, 2, 2]))
    assert bins.of_place.tolist() == [0, 0, 0, 1, 2, 3, 3]
    assert bins.lowest.tolist() == [0, 3, 4, 5]
    assert bins.highest.tolist() == [1, 3, 4, 6]


def test_a_missing_or_special_value_is_alone():
    counts = np.ones(2_000, int)
    together, apart = Bins.of(counts), Bins.of(counts, [0, 1_500])
    for place in (0, 1_500):
        assert np.count_nonzero(together.of_place == together.of_place[place]) > 1
        assert np.count_nonzero(apart.of_place == apart.of_place[place]) == 1
    feature = number(2_000, special=2)
    assert feature.apart == [0, 1, 2]
    assert Feature("c", 5).apart == []


@settings(max_examples=200)
@given(seeds, st.integers(1, 3_000), st.integers(0, 300))
def test_bins_are_neighbours_of_about_the_same_size(seed, places, few):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 9, places) * rng.integers(0, 2, places)
    counts[rng.integers(0, places)] += int(rng.integers(1, 5_000))
    alone = rng.integers(0, places, few)
    bins = Bins.of(counts, alone)
    seen = np.flatnonzero(counts)
    own = bins.of_place[seen].astype(int)
    assert (np.diff(own) >= 0).all()
    assert (np.diff(own) <= 1).all()
    assert own[0] == 0
    assert len(bins.lowest) == own[-1] + 1 <= MOST_BINS
    for one in range(own[-1] + 1):
        inside = seen[own == one]
        assert (bins.lowest[one], bins.highest[one]) == (inside[0], inside[-1])
    if len(seen) <= MOST_BINS:
        assert len(bins.lowest) == len(seen)
        return
    sizes = np.bincount(own, counts[seen])
    several = np.bincount(own) > 1
    # Bins of several places hold two shares at most: half of the first, and half of the last one.
    assert sizes[several].max(initial=0) <= 2 * counts.sum() / (MOST_BINS // 2)


@given(st.lists(st.floats(-1_000, 1_000), min_size=1, max_size=400), seeds)
@example([2.3e-308, 5e-324], 0)
def test_sums_of_whole_numbers_do_not_depend_on_their_order(values, seed):
    numbers = whole_numbers(np.array(values))
    assert (numbers == np.rint(numbers)).all()
    order = np.random.default_rng(seed).permutation(len(numbers))
    total = sum(int(one) for one in numbers)
    assert np.cumsum(numbers[order])[-1] == float(total) == total
    assert np.abs(numbers).sum() < 2**53
    largest = int(np.argmax(np.abs(values)))
    if values[largest]:
        shares = np.array(values) / values[largest]
        np.testing.assert_allclose(numbers / numbers[largest], shares, atol=1e-12)


# Models


def payments(rows=3_000):
    return simulate("credit_card", rows).select("V1", "V2", "V3", "Amount", "Class")


def test_many_records_have_bins_and_few_have_not(monkeypatch):
    frame = payments(900)
    wanted = {
        splits: Cart(splits=splits, random_state=1).fit(frame) for splits in ("exact", "histogram")
    }
    exact, quick = (wanted[name].sample() for name in ("exact", "histogram"))
    assert not exact.equals(quick)
    for most, used, sample in ((900, "exact", exact), (899, "histogram", quick)):
        monkeypatch.setattr(plan, "MANY_ROWS", most)
        model = Cart(random_state=1).fit(frame)
        assert model.splits_ == used
        assert model.sample().equals(sample)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"proper": True},
        {"strata": "Class", "minbucket": 1},
        {"rules": ["if V1 > 2 then Amount = 0.0"]},
        {"smoothing_leaves": 0},
    ],
)
def test_a_model_with_bins_is_saved_and_refitted(more, tmp_path):
    frame = payments().with_columns(
        pl.when(pl.col("V2").is_between(-0.1, 0.2)).then(None).otherwise("V2").alias("V2"),
        pl.when(pl.col("V3") > 1).then(-8.0).otherwise("V3").alias("V3"),
    )
    schema = Schema.infer(frame).edit("V3", special=(-8,))
    model = Cart(splits="histogram", random_state=1, **more).fit(frame, schema)
    loaded = Synthesizer.load(model.save(tmp_path / "model.us"))
    assert loaded.splits == loaded.splits_ == "histogram"
    assert loaded.sample(500, copies=2)[1].equals(model.sample(500, copies=2)[1])
    np.testing.assert_array_equal(loaded.log_likelihood(frame), model.log_likelihood(frame))
    coded = model.codec_.encode(frame)
    again = loaded.refit(coded)
    assert again.trees() == model.trees()
    changed = loaded.refit_changed(coded, ["V1"])
    assert changed.trees() == model.trees()


def test_a_record_that_changed_changes_only_trees_that_see_it():
    frame = payments(800)
    model = Cart(splits="histogram", random_state=1).fit(frame)
    coded = model.codec_.encode(frame)
    columns = list(coded.columns)
    place = coded.position("V3")
    columns[place] = columns[place].copy()
    columns[place][:40] = columns[place][40:80]
    other = type(coded)(coded.names, tuple(columns), coded.cardinalities)
    quick, whole = model.refit_changed(other, ["V3"]), model.refit(other)
    assert quick.trees() == whole.trees() != model.trees()
    np.testing.assert_array_equal(quick.log_likelihood(other), whole.log_likelihood(other))
    assert quick.sequences_[0].columns[0] is model.sequences_[0].columns[0]


def test_records_that_ask_for_other_splits_grow_all_trees_anew(monkeypatch):
    frame = payments(900)
    monkeypatch.setattr(plan, "MANY_ROWS", 899)
    model = Cart(random_state=1).fit(frame)
    fewer = model.codec_.encode(frame[:899])
    found = model.refit_changed(fewer, ["V1"])
    assert (model.splits_, found.splits_) == ("histogram", "exact")
    assert found.trees() == model.refit(fewer).trees()


def test_a_model_file_from_before_has_exact_trees(monkeypatch):
    monkeypatch.setattr(plan, "MANY_ROWS", 10)
    assert Cart.former_params["splits"] == "exact"


def test_probabilities_are_those_of_the_draws():
    frame = payments(1_200).select("V1", "Class")
    model = Cart(splits="histogram", random_state=1).fit(frame)
    # All values that a record can have, given the other: they sum to 1.
    names, sizes = model.codec_.names, model.codec_.cardinalities
    coded = model.codec_.encode(frame)
    every = [np.repeat(np.arange(n), m) for n, m in ((sizes[0], sizes[1]),)]
    every.append(np.tile(np.arange(sizes[1]), sizes[0]))
    table = type(coded)(
        names,
        tuple(codes.astype(old.dtype) for codes, old in zip(every, coded.columns, strict=True)),
        sizes,
    )
    assert np.exp(model.log_likelihood(table)).sum() == pytest.approx(1)


@pytest.mark.parametrize("splits", ["fast", None, True])
def test_other_words_are_refused(splits):
    with pytest.raises(ParameterError, match="splits must be one of auto, exact, histogram"):
        Cart(splits=splits).fit(load("cmc"))
