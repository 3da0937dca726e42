"""The best order: compared with all orders, with the spanning tree, with the genetic search."""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations

import networkx as nx
import numpy as np
import pytest

from understudy.errors import ParameterError
from understudy.progress import reporting
from understudy.synthesis.bayes import optimal
from understudy.synthesis.bayes.constraints import build_constraints
from understudy.synthesis.bayes.genetic import fixed_point, genetic_search
from understudy.synthesis.bayes.optimal import (
    annealed_order,
    best_structure,
    build_problem,
    build_tour,
    exact_order,
    optimal_search,
    total_weight,
    upper_bound,
)
from understudy.synthesis.bayes.optimal_kernels import (
    append_greedily,
    climb,
    heaviest_sparse_graph,
    lowest_bit,
    move,
    move_gain,
    order_gain,
)


def names(d):
    return [f"a{place}" for place in range(d)]


def with_ties(d, rng):
    half = np.triu(rng.integers(0, 6, (d, d)) / 4, 1)
    return half + half.T


def without_ties(d, rng):
    half = np.triu(rng.integers(0, 2**30, (d, d)) / 2**30, 1) ** 2
    return half + half.T


def required(d, rng):
    order = rng.permutation(names(d))
    pairs = list(combinations(map(str, order), 2))
    return {"required": [pairs[i] for i in rng.permutation(len(pairs))[: rng.integers(4)]]}


def forbidden(d, rng):
    pairs = list(permutations(names(d), 2))
    return {"forbidden": [pairs[i] for i in rng.permutation(len(pairs))[: rng.integers(20)]]}


def root(d, rng):
    return {"root": f"a{rng.integers(d)}"}


def whole_order(d, rng):
    return {"order": [str(name) for name in rng.permutation(names(d))]}


def protect(d, rng):
    shuffled = [str(name) for name in rng.permutation(names(d))]
    targets = [*shuffled[3:], None]
    number = rng.integers(1, 4) if d > 3 else 0
    return {"protect": {s: targets[rng.integers(len(targets))] for s in shuffled[:number]}}


def everything(d, rng):
    return required(d, rng) | forbidden(d, rng) | protect(d, rng)


KINDS = [required, forbidden, root, whole_order, protect, everything]


def random_rules(kind, d, k, rng):
    while True:
        try:
            return build_constraints(names(d), parents=k, **kind(d, rng))
        except ParameterError:  # required and forbidden at once, too many required, and so on
            k = max(k, 1)


def brute_force(weights, constraints):
    """Return the largest total over all orders, with the best of all sets of parents in each."""

    @cache
    def gain(child, before):
        may = [p for p in before if constraints.allowed[child, p]]
        sets = (
            parents
            for size in range(min(len(may), constraints.most[child]) + 1)
            for parents in combinations(may, size)
            if set(constraints.required[child]) <= set(parents)
        )
        return max((sum(int(weights[child, p]) for p in parents) for parents in sets), default=None)

    totals = []
    for order in permutations(range(len(weights))):
        if order[: len(constraints.first)] == constraints.first:
            gains = [gain(c, frozenset(order[:place])) for place, c in enumerate(order)]
            if None not in gains:
                totals.append((-sum(gains), order))
    best, order = min(totals)
    return -best, order


def assert_best(information, constraints):
    weights = fixed_point(information)
    problem = build_problem(weights, constraints)
    found = optimal_search(information, constraints)
    best, order = brute_force(weights, constraints)
    assert found.score == found.bound == np.ldexp(best, -40)
    assert found.proven
    assert found.structure.order == order  # of all best orders, the first
    assert total_weight(weights, found.structure) == best
    assert upper_bound(weights, problem) >= best
    constraints.check(found.structure.to_network(constraints.names))


@pytest.mark.parametrize("make", [with_ties, without_ties])
@pytest.mark.parametrize("k", range(7))
@pytest.mark.parametrize("d", range(1, 7))
def test_it_is_the_best_of_all_orders(d, k, make):
    assert_best(make(d, np.random.default_rng(10 * d + k)), build_constraints(names(d), parents=k))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", range(5))
def test_it_is_the_best_of_all_orders_that_the_rules_allow(kind, k):
    rng = np.random.default_rng(k)
    for d in (2, 4, 5, 6):
        for make in (with_ties, without_ties):
            assert_best(make(d, rng), random_rules(kind, d, k, rng))


@pytest.mark.parametrize("kind", [lambda *_: {}, everything])
def test_it_is_the_best_of_all_orders_of_seven(kind):
    rng = np.random.default_rng(7)
    for k in (1, 3):
        assert_best(with_ties(7, rng), random_rules(kind, 7, k, rng))


def test_no_attributes():
    found = optimal_search(np.zeros((0, 0)), build_constraints([], parents=2))
    assert (found.structure.order, found.score, found.bound, found.proven) == ((), 0, 0, True)


@pytest.mark.parametrize("d", [3, 12, 20, 40])
@pytest.mark.parametrize("make", [with_ties, without_ties])
@pytest.mark.slow
def test_one_parent_each_is_the_maximum_spanning_tree(d, make):
    information = make(d, np.random.default_rng(d))
    weights = fixed_point(information)
    tree = nx.maximum_spanning_tree(nx.from_numpy_array(weights))
    found = optimal_search(information, build_constraints(names(d), parents=1))
    assert found.proven
    assert found.score == np.ldexp(sum(int(weights[edge]) for edge in tree.edges), -40)
    if make is without_ties:
        edges = {frozenset(edge) for edge in found.structure.to_network(range(d)).edges}
        assert edges == {frozenset(edge) for edge in tree.edges}


def test_one_parent_each_is_proven_beside_protected_attributes_too():
    information = without_ties(30, np.random.default_rng(1))
    constraints = build_constraints(names(30), parents=1, protect={"a3": "a5", "a9": None})
    found = optimal_search(information, constraints)
    assert found.proven
    constraints.check(found.structure.to_network(names(30)))


def test_as_many_parents_as_attributes_is_every_pair():
    information = without_ties(24, np.random.default_rng(1))
    found = optimal_search(information, build_constraints(names(24), parents=23))
    assert found.proven
    assert found.score == pytest.approx(np.triu(information, 1).sum(), abs=1e-9)


@pytest.mark.parametrize(("d", "k"), [(10, 2), (16, 3), (24, 2), (31, 3)])
@pytest.mark.parametrize("seed", [1, 2])
def test_it_is_never_below_the_genetic_search(d, k, seed):
    information = without_ties(d, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    constraints = build_constraints(
        names(d), parents=k, protect={"a1": "a2"} if seed == 2 else None
    )
    found = optimal_search(information, constraints)
    assert found.score >= genetic_search(information, constraints, rng, generations=300).best[-1]
    assert found.bound >= found.score
    assert found.proven == (found.bound == found.score)
    constraints.check(found.structure.to_network(names(d)))


@pytest.mark.parametrize("make", [with_ties, without_ties])
@pytest.mark.parametrize("d", [12, *(pytest.param(d, marks=pytest.mark.slow) for d in (14, 16))])
@pytest.mark.parametrize("kind", [lambda *_: {}, everything])
def test_annealing_finds_what_the_exact_search_proves(d, kind, make):
    rng = np.random.default_rng(d)
    weights, constraints = fixed_point(make(d, rng)), random_rules(kind, d, 3, rng)
    problem = build_problem(weights, constraints)
    best = total_weight(weights, best_structure(problem, exact_order(problem, constraints.first)))
    bound = upper_bound(weights, problem)
    order = annealed_order(problem, constraints.first, rng, bound - weights[problem.waits].sum())
    structure = best_structure(problem, order)
    assert total_weight(weights, structure) == best <= bound
    constraints.check(structure.to_network(constraints.names))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_many_attributes_with_rules(kind, monkeypatch):
    monkeypatch.setattr(optimal, "EXACT", 3)
    rng = np.random.default_rng(3)
    for d in (4, 7, 25):
        constraints = random_rules(kind, d, 2, rng)
        found = optimal_search(without_ties(d, rng), constraints)
        assert found.bound >= found.score
        constraints.check(found.structure.to_network(constraints.names))


def test_annealing_starts_from_a_greedy_order_that_adds_nothing(monkeypatch):
    # Nothing tells a0 and a1 apart from the root, so a0 comes first; but only a1 can tell of a0.
    monkeypatch.setattr(optimal, "EXACT", 0)
    information = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0.0]])
    constraints = build_constraints(
        names(3), parents=1, root="a2", forbidden=[("a0", "a1"), ("a2", "a0")]
    )
    assert optimal_search(information, constraints).score == 1


@pytest.mark.parametrize("kind", [lambda *_: {}, *KINDS])
def test_what_a_move_adds_is_the_difference_of_the_totals(kind):
    rng = np.random.default_rng(5)
    for k in (0, 1, 3, 8):
        constraints = random_rules(kind, 8, k, rng)
        problem = build_problem(fixed_point(with_ties(8, rng)), constraints)
        order = np.zeros(8, np.int64)
        order[: problem.start] = constraints.first
        append_greedily(problem, order, problem.start)
        tour = build_tour(problem, order)
        free = np.arange(problem.start, 8)
        for _ in range(100 * (len(free) > 1)):
            source, target = rng.choice(free, 2, replace=False)
            before = order_gain(problem, tour.order)
            expected = np.insert(np.delete(tour.order, source), target, tour.order[source])
            places = np.argsort(expected)
            fits, gain = move_gain(problem, tour, source, target)
            assert fits == all(places[p] < places[c] for c, p in np.argwhere(problem.waits))
            if fits:
                move(problem, tour, source, target)
                assert tour.order.tolist() == expected.tolist()
                assert order_gain(problem, tour.order) - before == gain
                for kept, anew in zip(tour, build_tour(problem, tour.order), strict=True):
                    np.testing.assert_array_equal(kept, anew)


def test_the_total_of_an_order_is_that_of_its_best_network():
    rng = np.random.default_rng(0)
    weights = fixed_point(with_ties(9, rng))
    problem = build_problem(weights, build_constraints(names(9), parents=3))
    for _ in range(20):
        order = rng.permutation(9)
        structure = best_structure(problem, order.tolist())
        assert order_gain(problem, order) == total_weight(weights, structure)


def test_of_equal_parents_the_first_columns_are_taken():
    problem = build_problem(fixed_point(np.ones((4, 4))), build_constraints(names(4), parents=2))
    assert best_structure(problem, [3, 2, 1, 0]).parents == ((1, 2), (2, 3), (3,), ())


def test_climbing_stops_where_no_insertion_adds_anything():
    rng = np.random.default_rng(2)
    problem = build_problem(
        fixed_point(without_ties(10, rng)), build_constraints(names(10), parents=2, root="a4")
    )
    tour = build_tour(problem, np.array([4, *(place for place in range(10) if place != 4)]))
    climb(problem, tour)
    gains = [move_gain(problem, tour, a, b)[1] for a, b in permutations(range(1, 10), 2)]
    assert max(gains) <= 0
    assert tour.order[0] == 4


def independent(edges, k):
    """Return whether every set of s vertices has at most ks - (2k - 1) of the edges."""
    vertices = {v for edge in edges for v in edge}
    return all(
        sum(set(edge) <= set(chosen) for edge in edges) <= k * size - 2 * k + 1
        for size in range(2, len(vertices) + 1)
        for chosen in combinations(vertices, size)
    )


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_pebble_game_is_the_greedy_choice_of_sparse_edges(k):
    rng = np.random.default_rng(k)
    for d in (3, 6, 7):
        pairs = np.array(list(combinations(range(d), 2)))
        values = rng.permutation(len(pairs)) + 1
        pairs, values = pairs[np.argsort(-values)], np.sort(values)[::-1].copy()
        taken, total = [], 0
        for pair, value in zip(pairs.tolist(), values.tolist(), strict=True):
            if independent([*taken, pair], k):
                taken.append(pair)
                total += value
        assert heaviest_sparse_graph(pairs, values, d, k) == total


def test_the_lowest_bit():
    assert [lowest_bit(np.uint64(1 << place)) for place in range(64)] == list(range(64))
    assert lowest_bit(np.uint64(0b101000)) == 3


def test_the_seed_decides_only_the_annealing():
    information = without_ties(26, np.random.default_rng(0))
    constraints = build_constraints(names(26), parents=3)
    default = optimal_search(information, constraints)
    assert default == optimal_search(information, constraints)
    runs = [optimal_search(information, constraints, np.random.default_rng(7)) for _ in range(2)]
    assert runs[0] == runs[1]
    assert runs[0].bound == default.bound


def test_progress_tells_the_distance_to_the_bound():
    told = []

    class Reporter:
        def track(self, items, description, total):
            assert total > 0
            for item in items:
                yield item
                told.append(description())

    information = without_ties(24, np.random.default_rng(0))
    with reporting(Reporter()):
        found = optimal_search(information, build_constraints(names(24), parents=3))
    assert told
    assert told[-1] == f"Ordering, {1 - found.score / found.bound:.2%} below the bound"
