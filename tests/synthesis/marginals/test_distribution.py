"""Distributions over trees of cliques, against the sum over all records that there can be."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.synthesis.marginals.distribution import Distribution
from understudy.synthesis.marginals.layout import layout_arrays
from understudy.synthesis.marginals.measurement import Measurement, Wanted, estimated_total
from understudy.synthesis.marginals.tree import Sets, Tree, cell_map, cells_of

STRUCTURES = {
    "empty": ((2, 3), []),
    "singleton": ((3,), [(0,)]),
    "chain": ((2, 3, 2, 2), [(0, 1), (1, 2), (2, 3)]),
    "tree": ((2, 3, 2, 2), [(0, 1), (0, 2), (0, 3)]),
    "collider": ((2, 2, 3), [(0, 1, 2)]),
    "cycle": ((2, 3, 2, 2), [(0, 1), (1, 2), (2, 3), (0, 3)]),
    "two parts": ((2, 2, 3, 2), [(0, 1), (2, 3)]),
    "sums between": ((2,) * 5, [(0,), *itertools.combinations(range(5), 2)]),
    "one level": ((1, 2, 1), [(0, 1), (1, 2)]),
}


def made(sizes, sets, seed=0):
    rng = np.random.default_rng(seed)
    return Distribution(sizes, {own: rng.normal(0, 2, cells_of(own, sizes)) for own in sets})


def all_codes(sizes):
    return np.array(list(itertools.product(*map(range, sizes)))).T


def joint(distribution):
    """The probability of every record that there can be, by the product itself."""
    codes = all_codes(distribution.sizes)
    logs = np.zeros(codes.shape[1])
    for columns, own in distribution.factors.items():
        shape = [distribution.sizes[column] for column in columns]
        logs += own.reshape(shape)[tuple(codes[column] for column in columns)]
    shares = np.exp(logs - logs.max())
    return (shares / shares.sum()).reshape(distribution.sizes)


def by_sum(table, columns):
    others = tuple(axis for axis in range(table.ndim) if axis not in columns)
    return table.sum(axis=others)


@st.composite
def structures(draw):
    count = draw(st.integers(1, 5))
    sizes = tuple(draw(st.lists(st.integers(1, 3), min_size=count, max_size=count)))
    own = st.sets(st.integers(0, count - 1), min_size=1, max_size=3)
    return sizes, [tuple(sorted(one)) for one in draw(st.lists(own, max_size=6))]


def test_factors_of_one_clique_are_summed_through_smaller_tables():
    sizes, sets = STRUCTURES["sums between"]
    starts, homes, order, _ = layout_arrays(Tree.of(sets, sizes), sets)
    # (0,) lies in (0, 1), and most pairs in tables of three columns, which are no factors.
    assert homes[1] == 2
    assert len(homes) > 1 + len(sets)
    # By hand: (0,) from 4 cells, ten pairs from four tables of 8, and these from all 32.
    assert sum(starts[homes[part] + 1] - starts[homes[part]] for part in order) == 4 + 80 + 128


def test_cells_of_a_part_by_hand():
    # Columns of 2, 3 and 2 codes: cells 0 to 11 in the order of codes, the last fastest.
    assert cell_map((0, 1, 2), (0, 2), [2, 3, 2]).tolist() == [0, 1] * 3 + [2, 3] * 3
    assert cell_map((1, 0), (0, 1), [2, 3]).tolist() == [0, 3, 1, 4, 2, 5]


@pytest.mark.parametrize("name", STRUCTURES)
def test_marginals_and_density_are_those_of_the_product(name):
    found = made(*STRUCTURES[name])
    table = joint(found)
    for own in map(tuple, map(sorted, found.tree.cliques)):
        np.testing.assert_allclose(found.marginal(own), by_sum(table, own), atol=1e-12)
    density = np.exp(found.log_density(list(all_codes(found.sizes))))
    np.testing.assert_allclose(density, table.ravel(), atol=1e-12)


@given(structures(), st.integers(0, 1000))
def test_inference_is_exact_for_any_structure(structure, seed):
    found = made(*structure, seed)
    table = joint(found)
    for own in found.factors:
        np.testing.assert_allclose(found.marginal(own), by_sum(table, own), atol=1e-12)
    density = np.exp(found.log_density(list(all_codes(found.sizes))))
    np.testing.assert_allclose(density, table.ravel(), atol=1e-12)


@given(structures())
def test_a_tree_holds_every_set_and_shares_along_its_branches(structure):
    sizes, sets = structure
    tree = Tree.of(sets, sizes)
    assert {column for own in tree.cliques for column in own} == set(range(len(sizes)))
    for own in sets:
        assert set(own) <= set(tree.cliques[tree.clique_with(own)])
    for column in range(len(sizes)):
        holding = [place for place, own in enumerate(tree.cliques) if column in own]
        # All but one of the cliques with a column have it in common with their parent.
        apart = [place for place in holding if column not in tree.separators[place]]
        assert len(apart) == 1
    assert all(above < place for place, above in enumerate(tree.parents))


@given(structures(), st.sets(st.integers(0, 4), min_size=1, max_size=3))
def test_cells_of_a_tree_are_foreseen(structure, further):
    sizes, sets = structure
    new = tuple(sorted(column for column in further if column < len(sizes)))
    if not new:
        return
    found = Sets((new,)).cells_in_tree(sets, sizes, np.inf)
    assert found[0] == Tree.of([*sets, new], sizes).cells


@pytest.mark.parametrize("name", STRUCTURES)
def test_draws_have_the_density(name):
    found = made(*STRUCTURES[name], seed=3)
    rows = 20_000
    codes = found.draw(rows, np.random.default_rng(1))
    shares = np.bincount(
        np.ravel_multi_index(list(codes), found.sizes), minlength=joint(found).size
    )
    expected = joint(found).ravel()
    # Five standard errors of independent draws, which vary more than these.
    error = 5 * np.sqrt(expected * (1 - expected) / rows) + 1e-9
    assert (np.abs(shares / rows - expected) <= error).all()


@pytest.mark.parametrize("rows", [2, 7])
def test_each_row_by_itself_has_the_density(rows):
    # Some rows are drawn together; over many draws, the first alone must have the shares.
    found = made(*STRUCTURES["chain"], seed=4)
    rng, draws = np.random.default_rng(2), 6000
    first = np.array([found.draw(rows, rng)[:, 0] for _ in range(draws)]).T
    shares = np.bincount(np.ravel_multi_index(list(first), found.sizes), minlength=24) / draws
    expected = joint(found).ravel()
    assert (np.abs(shares - expected) <= 5 * np.sqrt(expected / draws) + 1e-9).all()


def test_rows_are_nearer_to_the_model_than_independent_ones():
    found = made((3, 4), [(0, 1)], seed=5)
    codes = found.draw(1000, np.random.default_rng(0))
    counts = np.bincount(np.ravel_multi_index(list(codes), (3, 4)), minlength=12)
    assert (np.abs(counts - 1000 * joint(found).ravel()) < 1).all()


def test_rows_that_are_alike_get_different_cells():
    # A third column that depends on the first alone: it is drawn given that, whatever the second.
    sizes, sets = (2, 8, 5), [(0, 1), (0, 2)]
    found = made(sizes, sets, seed=7)
    rows = 4000
    distances = []
    for seed in range(5):
        codes = found.draw(rows, np.random.default_rng(seed))
        counts = np.bincount(np.ravel_multi_index(list(codes), sizes), minlength=80)
        distances.append(np.abs(counts - rows * joint(found).ravel()).sum())
    # Independent draws would be off by 0.8 standard deviations of each count, on average.
    expected = rows * joint(found).ravel()
    assert np.mean(distances) < 0.8 * np.sqrt(expected).sum() / 3


@pytest.mark.parametrize("name", ["chain", "cycle", "collider", "two parts", "singleton"])
def test_a_fit_finds_marginals_that_can_be(name):
    sizes, sets = STRUCTURES[name]
    truth = joint(made(sizes, sets, seed=6)) * 1000
    measured = [Measurement(own, by_sum(truth, own), 1.0) for own in sets]
    found = Distribution(sizes, {}).fitted(Wanted.of(measured), 1000, 3000)
    for one in measured:
        np.testing.assert_allclose(found.marginal(one.columns) * 1000, one.counts, atol=0.5)


def test_a_fit_weighs_measurements_by_their_noise():
    # 60 of 100 with a variance of 1, and 40 with one of 4: (60 + 40 / 4) / (1 + 1 / 4) = 56.
    measured = [
        Measurement((0,), np.array([60, 40]), 1.0),
        Measurement((0,), np.array([40, 60]), 2.0),
    ]
    found = Distribution((2,), {}).fitted(Wanted.of(measured), 100, 1000)
    np.testing.assert_allclose(found.marginal((0,)), [0.56, 0.44], atol=1e-4)


def test_a_fit_to_negative_counts_is_a_distribution():
    measured = [Measurement((0,), np.array([-50, 90, 20]), 5.0)]
    shares = Distribution((3,), {}).fitted(Wanted.of(measured), 60, 1000).marginal((0,))
    # The nearest point with a sum of 60 and no negative count: 65 and -5, so 60 and 0.
    np.testing.assert_allclose(shares * 60, [0, 60, 0], atol=5.5)
    assert shares.sum() == pytest.approx(1)


def test_the_total_weighs_tables_by_what_they_are_worth():
    # Variances of the sums: 2 cells of variance 1, and 8 cells of variance 1.
    measured = [
        Measurement((0,), np.array([50, 50]), 1.0),
        Measurement((1,), np.full(8, 15), 1.0),
    ]
    total, error = estimated_total(measured)
    assert total == pytest.approx((100 / 2 + 120 / 8) / (1 / 2 + 1 / 8))
    assert error == pytest.approx(math.sqrt(1 / (1 / 2 + 1 / 8)))
