"""How far leaves are smoothed: the compiled loops against a plain twin, and what decides."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy import Cart, Schema
from understudy.errors import ParameterError
from understudy.synthesis.cart.smoothing import FOR_A_SPLIT, MOST_GROUPS, SLACK, leaf_strengths
from understudy.synthesis.cart.trees import Tree
from understudy.synthesis.shrinkage import best_strength, fit_levels

seeds = st.integers(0, 2**32 - 1)


def random_tree(rng, splits):
    """Return a tree of random form, numbered depth first."""
    feature, children = [], []

    def add(left_over):
        node = len(feature)
        feature.append(-1)
        children.append([0, 0])
        if left_over:
            first = int(rng.integers(0, left_over))
            feature[node] = 0
            children[node] = [add(first), add(left_over - 1 - first)]
        return node

    add(splits)
    nodes = len(feature)
    return Tree(np.array(feature, np.int32), np.zeros(nodes, np.int32), np.array(children), {})


def groups_of(values):
    """Return the first code of each group of a node's numbers, in plain Python."""
    codes, most = sorted(set(values)), max(min(MOST_GROUPS, len(values) // 2), 2)
    if len(codes) <= most:
        return codes
    ranked = sorted(values)
    number = {}
    for code in codes:
        twice_the_middle = 2 * ranked.index(code) + ranked.count(code)
        number[code] = most * twice_the_middle // (2 * len(values))
    return [code for n, code in enumerate(codes) if not n or number[code] != number[codes[n - 1]]]


def slow_strengths(rows, donors, base):
    """Return the strengths of numbers from the definition: every record is left out in turn."""
    donors, strengths = donors.tolist(), []

    def values_of(row):
        return donors[rows.starts[row] : rows.starts[row] + rows.lengths[row]]

    for level in range(rows.levels):
        joint, whole, shares = [], [], []
        for row in range(rows.bounds[level], rows.bounds[level + 1]):
            above = int(rows.above[row])
            firsts = groups_of(values_of(max(above, 0)))
            edges = [0, *firsts[1:], len(base)]
            for low, high in pairwise(edges):
                own = sum(low <= value < high for value in values_of(row))
                if not own:
                    continue
                ways, node = [], above
                while node >= 0:
                    ways.insert(0, node)
                    node = int(rows.above[node])
                share = sum(base[low:high])
                for strength, node in zip(strengths, ways, strict=True):
                    near = values_of(node)
                    others = sum(low <= value < high for value in near) - 1
                    if len(near) > 1:
                        share = (others + strength * share) / (len(near) - 1 + strength)
                joint.append(own)
                whole.append(int(rows.lengths[row]))
                shares.append(share)
        counts = np.array(joint), np.array(whole)
        slack = SLACK if level else 0.0
        strengths.append(best_strength(counts, np.array(shares), 1, slack)[0])
    return strengths


@given(seeds, st.integers(0, 8), st.sampled_from([3, 19, 20, 21, 22, 60, 400]))
def test_strengths_of_numbers_are_those_of_leaving_each_out(seed, splits, cardinality):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, splits)
    sizes = rng.integers(1, 40 if splits < 3 else 12, splits + 1)
    rows = tree.nest(sizes)
    # Leaves differ, some numbers are frequent, and some have no record.
    centres = rng.integers(0, cardinality, splits + 1)
    donors = np.concatenate(
        [
            np.sort(np.clip(np.rint(rng.normal(centre, cardinality / 6, size)), 0, cardinality - 1))
            for centre, size in zip(centres, sizes, strict=True)
        ]
    ).astype(np.uint16)
    base = np.full(cardinality, 1 / cardinality)
    found = leaf_strengths("auto", rows, donors, base, numbers=True)
    assert found.tolist() == slow_strengths(rows, donors, base)


def slow_category_strengths(rows, donors, base):
    """Return the strengths of categories from the definition, with shares in plain Python."""
    donors, strengths = donors.tolist(), []
    for level in range(rows.levels):
        own = range(rows.bounds[level], rows.bounds[level + 1])
        joint, whole, shares = [], [], []
        for row in own:
            near = donors[rows.starts[row] : rows.starts[row] + rows.lengths[row]]
            for value in sorted(set(near)):
                ways, node = [], int(rows.above[row])
                while node >= 0:
                    ways.insert(0, node)
                    node = int(rows.above[node])
                share = base[value]
                for strength, node in zip(strengths, ways, strict=True):
                    start, length = rows.starts[node], rows.lengths[node]
                    others = donors[start : start + length].count(value) - 1
                    if length > 1:
                        share = (others + strength * share) / (length - 1 + strength)
                joint.append(near.count(value))
                whole.append(len(near))
                shares.append(share)
        # A row that was split into four was split three times.
        splits = len(own) - len({int(rows.above[row]) for row in own})
        slack = max(SLACK, splits * FOR_A_SPLIT) if level else 0.0
        counts = np.array(joint), np.array(whole)
        strengths.append(best_strength(counts, np.array(shares), 1, slack)[0])
    return strengths


@given(seeds, st.integers(0, 30), st.sampled_from([2, 3, 8]))
def test_strengths_of_categories_are_those_of_leaving_each_out(seed, splits, cardinality):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 15, splits + 1)
    rows = random_tree(rng, splits).nest(sizes)
    likely = rng.dirichlet(np.full(cardinality, 0.5), splits + 1)
    drawn = [
        np.sort(rng.choice(cardinality, size, p=own))
        for own, size in zip(likely, sizes, strict=True)
    ]
    donors = np.concatenate(drawn).astype(np.uint8)
    base = np.full(cardinality, 1 / cardinality)
    found = leaf_strengths("auto", rows, donors, base, numbers=False)
    assert found == pytest.approx(slow_category_strengths(rows, donors, base), rel=1e-12)


def test_splits_that_chance_alone_made_are_not_believed():
    # Nothing tells of anything, but each tree finds its hundreds of splits.
    rng = np.random.default_rng(3)
    answers = {f"q{n}": rng.choice(list("abcdef"), 2000) for n in range(7)}
    trees = Cart(random_state=1).fit(pl.DataFrame(answers)).trees()
    assert min(tree.leaves for tree in trees[3:]) > 150
    # Were each level believed that gains 3 nats, leaves would decide up to a third of all draws.
    assert max(tree.own_share for tree in trees) < 0.1


def test_few_different_numbers_are_looked_for_one_by_one():
    # Where all codes have records, each is then a group, as a category is.
    rng = np.random.default_rng(1)
    rows = random_tree(rng, 0).nest(np.array([300 + MOST_GROUPS]))
    some = rng.binomial(MOST_GROUPS - 1, 0.3, 300)
    donors = np.sort(np.append(some, np.arange(MOST_GROUPS))).astype(np.uint8)
    base = np.full(MOST_GROUPS, 1 / MOST_GROUPS)
    found = leaf_strengths("auto", rows, donors, base, numbers=True)
    assert found.tolist() == fit_levels(rows, donors, base).strengths


def test_numbers_that_all_differ():
    # As codes, no number would be expected where it was left out: all leaves would seem useless.
    rng = np.random.default_rng(2)
    rows = random_tree(rng, 1).nest(np.array([500, 500]))
    base = np.full(1000, 1 / 1000)
    told = np.arange(1000, dtype=np.uint16)
    assert fit_levels(rows, told, base).strengths[1] > 1e5
    assert leaf_strengths("auto", rows, told, base, numbers=True)[1] < 5
    mixed = rng.permutation(1000).astype(np.uint16)
    untold = np.concatenate([np.sort(mixed[:500]), np.sort(mixed[500:])])
    assert leaf_strengths("auto", rows, untold, base, numbers=True)[1] > 500


def test_no_record_at_all():
    rows = Tree.stump().nest(np.array([0]))
    found = leaf_strengths("auto", rows, np.empty(0, np.uint8), np.full(4, 1 / 4), numbers=True)
    assert found.shape == (1,)
    assert found[0] > 0


def test_fine_dependence_of_numbers_is_kept_and_chance_is_not():
    # y copies x, z has nothing to do with it; numbers all differ.
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=(2, 1500))
    table = pl.DataFrame({"x": x, "y": x + 1e-9, "z": z})
    # Kept as a dependency, y would be no tree.
    schema = Schema.infer(table, dependencies=False)
    model = Cart(smoothing_leaves="auto", random_state=1).fit(table, schema)
    drawn = model.sample()
    near = (drawn["x"] - drawn["y"]).abs()
    # With leaves of five to fifteen records and no smoothing, the median is about 0.005.
    assert near.median() < 0.01
    _, copy, chance = model.trees()
    assert copy.own_share > 0.5
    assert chance.own_share < 0.05


@pytest.mark.parametrize(
    "smoothing", [-1, -0.5, math.inf, math.nan, "much", None, True, [1.0], {"x": "little"}]
)
def test_smoothing_that_cannot_be_used(smoothing):
    with pytest.raises(ParameterError, match="smoothing_leaves must be 'auto', or a number of"):
        Cart(smoothing_leaves=smoothing).fit(pl.DataFrame({"x": [1, 2, 3]}))
