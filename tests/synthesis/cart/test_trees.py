"""Trees: the compiled loops against plain twins, and what a leaf may hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from understudy.synthesis.cart.features import Feature
from understudy.synthesis.cart.trees import MOST_DEPTH, Outcome, Tree, grow
from understudy.synthesis.kernels import prune
from understudy.synthesis.sampler import ENDED

seeds = st.integers(0, 2**32 - 1)


def number(cardinality, name="x"):
    """Return a numeric feature whose codes are the numbers 0, 1, ..."""
    codes = np.arange(cardinality)
    return Feature(name, cardinality, (codes + 1).astype(np.int32), codes.astype(float))


def category(cardinality, name="c"):
    return Feature(name, cardinality)


def walk(tree, record):
    """Return the node at which a record ends, in plain Python."""
    node = 0
    while tree.feature[node] >= 0:
        column = int(tree.feature[node])
        place = int(record[column])
        if column in tree.orders:
            place = int(tree.orders[column][place])
        node = int(tree.children[node, 0 if place <= tree.threshold[node] else 1])
    return node


@dataclass
class Nodes:
    left: np.ndarray
    right: np.ndarray
    risk: np.ndarray


def random_nodes(rng, splits):
    """Return a random tree in which splits never raise the sum of risks; children come later."""
    left, right, risk = [-1], [-1], [float(rng.integers(1, 100))]
    ends = [0]
    for _ in range(splits):
        # Depth first, as scikit-learn has it, or in any other order: children come after parents.
        node = ends.pop(int(rng.integers(len(ends))))
        left[node], right[node] = len(left), len(left) + 1
        # Whole numbers add up exactly, so that subtrees which cost the same are found.
        below = int(rng.integers(0, risk[node] + 1)) if rng.integers(0, 2) else int(risk[node])
        first = int(rng.integers(0, below + 1))
        risk += [float(first), float(below - first)]
        left += [-1, -1]
        right += [-1, -1]
        ends += [left[node], right[node]]
    return Nodes(np.array(left), np.array(right), np.array(risk))


def all_prunings(nodes, node=0):
    """Return each subtree with the same root, as (sum of risks, its leaves)."""
    found = [(nodes.risk[node], (node,))]
    if nodes.left[node] >= 0:
        for first, left in all_prunings(nodes, nodes.left[node]):
            for second, right in all_prunings(nodes, nodes.right[node]):
                found.append((first + second, left + right))
    return found


@given(seeds, st.integers(0, 5), st.integers(0, 40))
def test_pruning_is_the_cheapest_of_all_subtrees(seed, splits, price):
    nodes = random_nodes(np.random.default_rng(seed), splits)
    ends = np.empty(len(nodes.left), np.int64)
    prune(nodes.left, nodes.right, nodes.risk, float(price), ends)
    leaves = {int(end) for end in ends if nodes.left[end] < 0 or _stops(nodes, ends, end)}
    costs = {kept: risk + price * len(kept) for risk, kept in all_prunings(nodes)}
    cheapest = min(costs.values())
    mine = tuple(sorted(leaves, key=lambda leaf: _path(nodes, leaf)))
    assert costs[mine] == cheapest
    assert len(mine) == min(len(kept) for kept, cost in costs.items() if cost == cheapest)


def _stops(nodes, ends, node):
    return ends[node] == node and ends[nodes.left[node]] == node


def _path(nodes, wanted, node=0, so_far=""):
    """Return the way to a node, so that leaves can be sorted from left to right."""
    if node == wanted:
        return so_far
    if nodes.left[node] < 0:
        return None
    left = _path(nodes, wanted, nodes.left[node], so_far + "0")
    return left if left is not None else _path(nodes, wanted, nodes.right[node], so_far + "1")


def test_pruning_by_hand():
    #        0: 10
    #   1: 4       2: 5       splitting 0 saves 1, splitting 2 saves 3: both together 4 for two
    #            3: 1   4: 1  more leaves
    left, right = np.array([1, -1, 3, -1, -1]), np.array([2, -1, 4, -1, -1])
    risk = np.array([10.0, 4, 5, 1, 1])
    for price, wanted in [
        (0.0, [0, 1, 2, 3, 4]),
        (1.9, [0, 1, 2, 3, 4]),  # 6 + 3 * 1.9 = 11.7 < 10 + 1.9
        (2.0, [0, 0, 0, 0, 0]),  # 6 + 3 * 2 = 12 = 10 + 2: of two as cheap, the smaller one
        (2.5, [0, 0, 0, 0, 0]),  # though the split of 2 alone, which saves 3, would pay
    ]:
        ends = np.empty(5, np.int64)
        prune(left, right, risk, price, ends)
        assert ends.tolist() == wanted


def test_a_weak_branch_is_cut_and_a_strong_one_stays():
    # 1 is split for a gain of 0.5, 2 for one of 3: a price of 1 cuts the first.
    left, right = np.array([1, 3, 5, -1, -1, -1, -1]), np.array([2, 4, 6, -1, -1, -1, -1])
    risk = np.array([20.0, 4, 5, 2, 1.5, 1, 1])
    ends = np.empty(7, np.int64)
    prune(left, right, risk, 1.0, ends)
    assert ends.tolist() == [0, 1, 2, 1, 1, 5, 6]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("cp", [1e-8, 0.002, 0.01, 0.05, 0.3])
def test_pruning_is_scikit_learns(seed, cp):
    rng = np.random.default_rng(seed)
    places = rng.integers(0, 30, (300, 3)).astype(np.int32)
    noise = rng.normal(size=300)
    numbers = np.round(places[:, 0] / 10 + (places[:, 1] > 9) + noise, 6)
    features = [number(30, name) for name in "abc"]
    for by_class in (False, True):
        values, codes = np.unique(numbers > 1.5 if by_class else numbers, return_inverse=True)
        outcome = Outcome(codes.astype(np.uint32), len(values), None if by_class else values[codes])
        mine = grow(places, features, (0, 1, 2), outcome, minbucket=5, cp=cp)
        tree = DecisionTreeClassifier if by_class else DecisionTreeRegressor
        whole = tree(min_samples_leaf=5, min_samples_split=15, max_depth=30, random_state=0)
        target = codes if by_class else values[codes]
        root = whole.fit(places, target).tree_.impurity[0]
        theirs = whole.set_params(ccp_alpha=cp * root).fit(places, target)
        nodes = theirs.apply(places)
        # The same records share a leaf; leaves are numbered from left to right in both.
        _, leaves = np.unique(nodes, return_inverse=True)
        np.testing.assert_array_equal(mine.tree.find(places), leaves)


@given(seeds, st.integers(1, 6))
def test_leaves_are_found_as_by_walking(seed, minbucket):
    rng = np.random.default_rng(seed)
    sizes = [12, 2, 7, 300]
    places = np.stack([rng.integers(0, size, 200) for size in sizes], axis=1).astype(np.int32)
    features = [number(12), category(2), category(7), category(300)]
    outcome = Outcome(rng.integers(0, 4, 200).astype(np.uint8), 4)
    model = grow(places, features, (0, 1, 2, 3), outcome, minbucket=minbucket, cp=0.0)
    tree = model.tree
    others = np.stack([rng.integers(0, size, 100) for size in sizes], axis=1).astype(np.int32)
    number_of = np.cumsum(tree.feature < 0) - 1
    for records in (places, np.asfortranarray(others)):
        wanted = [number_of[walk(tree, record)] for record in records]
        assert tree.find(records).tolist() == wanted
    # Each training record is a donor of its own leaf.
    sizes_found = np.bincount(tree.find(places), minlength=tree.leaves)
    assert model.leaf_sizes.tolist() == sizes_found.tolist()
    assert sizes_found.min() >= minbucket


def test_ranks_beyond_16_bits_are_told_apart():
    # Half of 140,000 different numbers are split from the other half at the exact place.
    count = 140_000
    places = np.arange(1, count + 1, dtype=np.int32)[:, None]
    for cut in (65_536, 70_001, 131_073):
        codes = (np.arange(count) >= cut).astype(np.uint8)
        tree = grow(places, [number(count)], (0,), Outcome(codes, 2), minbucket=5, cp=1e-8).tree
        assert tree.leaves == 2
        assert tree.find(places).tolist() == codes.tolist()


def test_small_differences_of_rank_are_told_apart_by_scikit_learns_own_apply():
    rng = np.random.default_rng(3)
    places = rng.permutation(90_000).astype(np.int32)[:, None] + 1
    codes = rng.integers(0, 2, 90_000).astype(np.uint8)
    model = grow(places, [number(90_001)], (0,), Outcome(codes, 2), minbucket=20, cp=0.0)
    theirs = DecisionTreeClassifier(
        min_samples_leaf=20, min_samples_split=60, max_depth=MOST_DEPTH, random_state=0
    ).fit(places, codes)
    _, leaves = np.unique(theirs.apply(places), return_inverse=True)
    # A split that gains nothing at all is cut even at a price of 0: leaves can only be joined.
    mine = model.tree.find(places)
    assert len(np.unique(np.stack([leaves, mine]), axis=1).T) == leaves.max() + 1
    assert mine.max() > 500


# What is grown


def separated(rows=100, classes=2):
    """Return records whose outcome is their only predictor."""
    codes = (np.arange(rows) % classes).astype(np.uint8)
    return codes.astype(np.int32)[:, None], Outcome(codes, classes)


@pytest.mark.parametrize(("rows", "minbucket", "leaves"), [(15, 5, 2), (14, 5, 1), (30, 11, 1)])
def test_fewer_than_three_times_minbucket_are_not_split(rows, minbucket, leaves):
    places, outcome = separated(rows)
    tree = grow(places, [category(2)], (0,), outcome, minbucket=minbucket, cp=1e-8).tree
    assert tree.leaves == leaves


@pytest.mark.parametrize(("cp", "leaves"), [(0.49, 2), (0.0, 2), (1.0, 1), (1.5, 1)])
def test_cp_is_a_share_of_the_roots_impurity(cp, leaves):
    # The one split explains everything: a share of 1, which must be more than cp.
    places, outcome = separated()
    assert grow(places, [category(2)], (0,), outcome, minbucket=5, cp=cp).tree.leaves == leaves


def test_what_cannot_be_told_is_one_leaf():
    places, outcome = separated()
    constant = Outcome(np.zeros(100, np.uint8), 2)
    for model in (
        grow(places, [category(2)], (), outcome, minbucket=5, cp=0.0),
        grow(places, [category(2)], (0,), constant, minbucket=5, cp=0.0),
        grow(np.zeros_like(places), [category(2)], (0,), outcome, minbucket=5, cp=0.0),
        grow(places[:1], [category(2)], (0,), Outcome(outcome.codes[:1], 2), minbucket=1, cp=0.0),
    ):
        assert (model.tree.leaves, model.tree.depth, model.uses()) == (1, 0, {})


def test_a_few_records_of_many_classes_are_no_reason_to_warn():
    places = np.arange(25, dtype=np.int32)[:, None] + 1
    outcome = Outcome(np.minimum(np.arange(25), 16).astype(np.uint8), 17)
    tree = grow(places, [number(25)], (0,), outcome, minbucket=1, cp=0.0).tree
    assert tree.leaves == 16  # two records are never split


def test_a_tree_is_at_most_thirty_levels_deep():
    # Each number stands for itself: a sawtooth that grows so fast that the last is split off each
    # time.
    count = 60
    places = np.arange(1, count + 1, dtype=np.int32)[:, None]
    codes = np.arange(count).astype(np.uint8)
    outcome = Outcome(codes, count, 3.0 ** np.arange(count))
    tree = grow(places, [number(count)], (0,), outcome, minbucket=1, cp=0.0).tree
    assert tree.depth == MOST_DEPTH


def test_only_the_given_predictors_are_looked_at():
    rng = np.random.default_rng(0)
    places = rng.integers(0, 5, (500, 3)).astype(np.int32)
    outcome = Outcome(places[:, 0].astype(np.uint8), 5)
    features = [category(5), number(6), category(5)]
    assert set(grow(places, features, (1, 2), outcome, minbucket=5, cp=0.0).uses()) == {1, 2}
    assert grow(places, features, (0, 1, 2), outcome, minbucket=5, cp=1e-8).uses() == {0: 4}


def test_the_size_of_a_tree_by_hand():
    #     0          depth 2, three leaves
    #   1   2
    #      3 4
    feature = np.array([0, -1, 1, -1, -1], np.int32)
    children = np.array([[1, 2], [0, 0], [3, 4], [0, 0], [0, 0]], np.int32)
    tree = Tree(feature, np.array([1, 0, 3, 0, 0], np.int32), children, {})
    assert (tree.leaves, tree.depth) == (3, 2)
    places = np.array([[1, 9], [2, 3], [2, 4]], np.int32)
    assert tree.find(places).tolist() == [0, 1, 2]
    assert Tree.stump().find(places).tolist() == [0, 0, 0]


# Draws


def test_draws_have_the_shares_of_the_leaf():
    # Left: codes 0, 0, 0, 1 (five times); right: 2 and 1 in equal shares.
    places = np.repeat([0, 1], [20, 20]).astype(np.int32)[:, None]
    codes = np.array([0, 0, 0, 1] * 5 + [1, 2] * 10, np.uint8)
    model = grow(places, [category(2)], (0,), Outcome(codes, 3), minbucket=5, cp=1e-8)
    assert model.leaf_sizes.tolist() == [20, 20]
    rows = np.zeros((40_000, 1), np.int32)
    rows[20_000:] = 1
    drawn = model.draw(rows, np.random.default_rng(1))
    left, right = (np.bincount(part, minlength=3) for part in (drawn[:20_000], drawn[20_000:]))
    assert left[2] == right[0] == 0
    assert chisquare(left[:2], [15_000, 5_000]).pvalue > 0.001
    assert chisquare(right[1:], [10_000, 10_000]).pvalue > 0.001
    every = np.array([[place] for place in (0, 0, 0, 1, 1, 1)], np.int32)
    found = model.probability(every, np.array([0, 1, 2, 0, 1, 2], np.uint8))
    assert found.tolist() == [0.75, 0.25, 0, 0, 0.5, 0.5]


@given(seeds)
def test_every_number_that_is_drawn_is_one_of_the_leafs_own(seed):
    rng = np.random.default_rng(seed)
    places = rng.integers(0, 9, (120, 2)).astype(np.int32)
    values = np.sort(rng.normal(size=50))
    codes = rng.integers(0, 50, 120).astype(np.uint8)
    outcome = Outcome(codes, 50, values[codes])
    features = [number(9), category(9)]
    model = grow(places, features, (0, 1), outcome, minbucket=4, cp=1e-4)
    leaf = model.tree.find(places)
    donors = [set(codes[leaf == one].tolist()) for one in range(model.tree.leaves)]
    others = rng.integers(0, 9, (300, 2)).astype(np.int32)
    drawn = model.draw(others, rng)
    for place, code in zip(model.tree.find(others), drawn.tolist(), strict=True):
        assert code in donors[place]
    share = model.probability(others, drawn)
    counted = [
        np.mean(codes[leaf == at] == code)
        for at, code in zip(model.tree.find(others), drawn.tolist(), strict=True)
    ]
    np.testing.assert_allclose(share, counted)


# Nodes as rows within rows


def test_nodes_as_rows_by_hand():
    #      0         leaves from left to right: 1, 4, 5 and 6 with 5, 2, 1 and 4 records
    #   1     2      2 has more than half of the 12 records of 0, so it is passed over;
    #       3   6    3 and 6 have not, and of 3 below each leaf stands, whatever its share
    #      4 5
    feature = np.array([0, -1, 0, 0, -1, -1, -1], np.int32)
    children = np.zeros((7, 2), np.int32)
    children[[0, 2, 3]] = [[1, 2], [3, 6], [4, 5]]
    tree = Tree(feature, np.zeros(7, np.int32), children, {})
    rows = tree.nest(np.array([5, 2, 1, 4]))
    assert rows.starts.tolist() == [0, 0, 5, 8, 5, 7]
    assert rows.lengths.tolist() == [12, 5, 3, 4, 2, 1]
    assert rows.above.tolist() == [-1, 0, 0, 0, 2, 2]
    assert rows.bounds.tolist() == [0, 1, 4, 6]
    assert rows.smallest.tolist() == [1, 4, 5, 3]


@pytest.mark.parametrize(
    "children",
    [
        [[2, 1], [0, 0], [3, 4], [0, 0], [0, 0]],  # the left child does not follow
        [[1, 2], [0, 0], [4, 3], [0, 0], [0, 0]],
        [[1, 3], [0, 0], [3, 4], [0, 0], [0, 0]],  # node 2 has no parent
        [[1, 2], [0, 0], [3, 5], [0, 0], [0, 0]],  # beyond the last
        [[1, 1], [0, 0], [3, 4], [0, 0], [0, 0]],
    ],
)
def test_nodes_that_are_no_ranges_are_refused(children):
    feature = np.array([0, -1, 0, -1, -1], np.int32)
    tree = Tree(feature, np.zeros(5, np.int32), np.array(children, np.int32), {})
    with pytest.raises(ValueError, match="not numbered depth first"):
        tree.nest(np.array([5, 2, 4]))


def grown(seed, rows=200, minbucket=3):
    """Return records, a model of an outcome with four codes, and the outcome."""
    rng = np.random.default_rng(seed)
    sizes = [12, 2, 7]
    places = np.stack([rng.integers(0, size, rows) for size in sizes], axis=1).astype(np.int32)
    features = [number(12), category(2), category(7)]
    codes = ((places[:, 0] > 5) + rng.integers(0, 3, rows)).astype(np.uint8)
    model = grow(places, features, (0, 1, 2), Outcome(codes, 4), minbucket=minbucket, cp=0.0)
    return places, model, codes


def rows_to(tree, places, record):
    """Return the rows on a record's way to its leaf, as lists of records, in plain Python."""

    def way(one):
        found, node = [0], 0
        while tree.feature[node] >= 0:
            column = int(tree.feature[node])
            place = int(one[column])
            place = int(tree.orders[column][place]) if column in tree.orders else place
            node = int(tree.children[node, int(place > tree.threshold[node])])
            found.append(node)
        return found

    ways, own = [way(one) for one in places], way(record)
    rows = [list(range(len(places)))]
    for node in own[1:]:
        inside = [row for row, other in enumerate(ways) if node in other]
        if 2 * len(inside) <= len(rows[-1]) or node == own[-1]:
            rows.append(inside)
    return rows


@settings(max_examples=15)
@given(seeds)
def test_rows_are_the_nodes_on_the_way(seed):
    places, model, codes = grown(seed, rows=80)
    rows, leaf_of = model.nested, model.tree.find(places)
    ways = {}
    for place in range(0, 80, 5):
        wanted = rows_to(model.tree, places, places[place])
        row = int(rows.smallest[leaf_of[place]])
        found = []
        while row >= 0:
            found.insert(0, slice(rows.starts[row], rows.starts[row] + rows.lengths[row]))
            row = int(rows.above[row])
        assert [sorted(model.table.donors[own]) for own in found] == [
            sorted(codes[inside]) for inside in wanted
        ]
        turns = model.paths[:, leaf_of[place]].tolist()
        assert turns[len(wanted) - 1 :] == [ENDED] * (len(turns) - len(wanted) + 1)
        for level in range(1, len(wanted) + 1):
            # The same turns lead to the same records, and other turns to others.
            same = ways.setdefault(tuple(turns[: level - 1]), wanted[level - 1])
            assert same == wanted[level - 1]
    assert len({tuple(way) for way in model.paths.T.tolist()}) == model.tree.leaves
    assert sorted(model.paths.T.tolist()) == model.paths.T.tolist()


@settings(max_examples=15)
@given(seeds, st.sampled_from([0.25, 2.0, 30.0, "auto"]))
def test_smoothed_leaves_have_the_probabilities_of_the_formula(seed, smoothing):
    places, plain, codes = grown(seed, rows=80)
    base = np.array([0.5, 0.25, 0.25, 0.0])
    model = plain.smoothed(smoothing, base, numbers=False)
    strengths = model.shrinkage.strengths
    for place in range(0, 80, 9):
        wanted = base
        for level, inside in enumerate(rows_to(model.tree, places, places[place])):
            strength = strengths[level]
            counts = np.bincount(codes[inside], minlength=4)
            wanted = (counts + strength * wanted) / (counts.sum() + strength)
        found = model.probability(places[[place] * 4], np.arange(4, dtype=np.uint8))
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        assert found.sum() == pytest.approx(1)


def test_smoothed_leaves_draw_with_their_probabilities():
    places, plain, _ = grown(5)
    model = plain.smoothed(4.0, np.full(4, 0.25), numbers=False)
    for record in (places[:1], places[7:8]):
        drawn = model.draw(np.repeat(record, 40_000, axis=0), np.random.default_rng(1))
        shares = model.probability(np.repeat(record, 4, axis=0), np.arange(4, dtype=np.uint8))
        assert chisquare(np.bincount(drawn, minlength=4), 40_000 * shares).pvalue > 0.001


def test_how_much_comes_from_the_leaf_itself():
    places, outcome = separated(40)
    plain = grow(places, [category(2)], (0,), outcome, minbucket=5, cp=1e-8)
    assert plain.own_share == 1
    # Two leaves of 20 records each; the node above is worth 5.
    model = plain.smoothed(5.0, np.full(2, 0.5), numbers=False)
    assert model.own_share == pytest.approx(20 / 25)
