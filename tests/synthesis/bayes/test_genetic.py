"""Each operator keeps what it must keep, and the search as a whole climbs to good networks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import ParameterError
from understudy.progress import reporting
from understudy.synthesis.bayes.constraints import build_constraints
from understudy.synthesis.bayes.genetic import (
    blank_population,
    build_rules,
    fittest_of,
    fixed_point,
    genetic_search,
    read_off,
)
from understudy.synthesis.bayes.genetic_kernels import (
    Individual,
    crossover,
    fitness,
    initialize,
    measure,
    member,
    next_generation,
    order_flip,
    random_below,
    random_unit,
    random_word,
    shuffle,
    swap,
)
from understudy.synthesis.bayes.optimal import optimal_search


def names(d):
    return [f"a{place}" for place in range(d)]


def random_information(d, rng):
    half = np.triu(rng.integers(0, 6, (d, d)) / 4, 1)  # quarters: sums are exact, and ties common
    return half + half.T


def random_rules(d, k, rng):
    """Return constraints of every kind at once: required, forbidden, protected, root."""
    for _ in range(100):
        pairs = [
            tuple(map(str, rng.choice(names(d), 2, replace=False))) for _ in range(4 * (d > 1))
        ]
        shuffled = [str(name) for name in rng.permutation(names(d))]
        sensitive, target = shuffled[: min(d // 3, 3)], shuffled[-1]
        try:
            return build_constraints(
                names(d),
                parents=k,
                required=pairs[: rng.integers(3)],
                forbidden=pairs[2 : 2 + rng.integers(3)],
                protect={s: target if rng.random() < 0.7 else None for s in sensitive}
                if rng.random() < 0.5
                else None,
                root=target if rng.random() < 0.3 else None,
            )
        except ParameterError:
            continue
    return build_constraints(names(d), parents=k)


@st.composite
def worlds(draw):
    """Return constraints, a first generation, and the state of a generator."""
    d, k = draw(st.integers(1, 12)), draw(st.integers(0, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    free = draw(st.booleans())
    constraints = build_constraints(names(d), parents=k) if free else random_rules(d, k, rng)
    rules = build_rules(constraints)
    population = blank_population(constraints, rules, 12)
    state = rng.integers(2**64, size=1, dtype=np.uint64)
    initialize(population, rules, state)
    return constraints, rules, population, state


def assert_sound(individual, constraints):
    """A permutation, behind what comes first; exactly k candidates; required parents in place."""
    order, d = individual.order.tolist(), len(constraints)
    assert sorted(order) == list(range(d))
    assert tuple(order[: len(constraints.first)]) == constraints.first
    for child, members in enumerate(individual.candidates.tolist()):
        size = min(constraints.most[child], constraints.allowed[child].sum())
        assert members[size:] == [-1] * (len(members) - size)
        assert len(set(members[:size])) == size
        assert all(constraints.allowed[child, candidate] for candidate in members[:size])
        for parent in constraints.required[child]:
            assert parent in members[:size]
            assert order.index(parent) < order.index(child)


def assert_repaired(individual, constraints):
    """No candidate stands behind its attribute while an allowed one before it is unused."""
    order = individual.order.tolist()
    for child, members in enumerate(individual.candidates.tolist()):
        place = order.index(child)
        unused = [a for a in order[:place] if constraints.allowed[child, a] and a not in members]
        late = [c for c in members if c >= 0 and order.index(c) > place]
        assert not (unused and late)


def copy_of(individual):
    return Individual(individual.order.copy(), individual.candidates.copy())


@given(worlds())
def test_initialize(world):
    constraints, _, population, _ = world
    for number in range(len(population.order)):
        assert_sound(member(population, number), constraints)
        assert_repaired(member(population, number), constraints)


@given(worlds(), st.sampled_from([0.0, 0.2, 1.0]))
def test_order_flip(world, rate):
    constraints, rules, population, state = world
    individual = member(population, 0)
    before = copy_of(individual)
    order_flip(individual, rules, rate, state)
    assert_sound(individual, constraints)
    np.testing.assert_array_equal(individual.candidates, before.candidates)
    if rate == 0:
        np.testing.assert_array_equal(individual.order, before.order)


@given(worlds(), st.sampled_from([0.0, 0.2, 1.0]))
def test_swap(world, rate):
    constraints, rules, population, state = world
    individual = member(population, 0)
    shuffle(individual.order, rules, state)  # so that there is something to repair
    before = copy_of(individual)
    swap(individual, rules, rate, state)
    assert_sound(individual, constraints)
    assert_repaired(individual, constraints)
    np.testing.assert_array_equal(individual.order, before.order)
    if rate == 0:  # only candidates from behind were exchanged
        places = np.argsort(individual.order)
        for child, slot in np.argwhere(individual.candidates != before.candidates):
            assert places[before.candidates[child, slot]] > places[child]
            assert places[individual.candidates[child, slot]] < places[child]


def test_the_operators_act():
    """With a rate of one, orders and candidates change, and crossover mixes two parents."""
    constraints = build_constraints(names(8), parents=2)
    rules = build_rules(constraints)
    population = blank_population(constraints, rules, 12)
    state = np.array([7], np.uint64)
    initialize(population, rules, state)
    flipped = swapped = mixed = 0
    for number in range(11):
        individual, before = member(population, number), copy_of(member(population, number))
        child = copy_of(individual)
        for _ in range(20):
            crossover(before, member(population, 11), child, state)
            same = (child.candidates == before.candidates).all(axis=1)
            mixed += bool(same.any() and not same.all())
        order_flip(individual, rules, 1.0, state)
        flipped += bool((individual.order != before.order).any())
        after_flip = copy_of(individual)
        swap(individual, rules, 0.0, state)
        repaired = copy_of(individual)
        swap(individual, rules, 1.0, state)
        swapped += bool((individual.candidates != repaired.candidates).any())
        np.testing.assert_array_equal(individual.order, after_flip.order)
    # Each fails to act by chance now and then, but not in most of the cases.
    assert flipped >= 8
    assert swapped >= 8
    assert mixed >= 50


@given(worlds())
def test_crossover_takes_the_order_of_the_first_and_candidates_of_both(world):
    constraints, _, population, state = world
    first, second = member(population, 0), member(population, 1)
    child = copy_of(member(population, 2))
    points = set()
    for _ in range(60):
        crossover(first, second, child, state)
        assert_sound(child, constraints)
        np.testing.assert_array_equal(child.order, first.order)
        fits = [
            point
            for point in range(len(constraints) + 1)
            if (child.candidates[:point] == first.candidates[:point]).all()
            and (child.candidates[point:] == second.candidates[point:]).all()
        ]
        assert fits
        points.update(fits)
    if len(constraints) <= 3:  # each of 4 points is missed with a chance of 0.75 ** 60 = 3e-8
        assert points == set(range(len(constraints) + 1))


@given(worlds(), st.integers(1, 12), st.sampled_from([0.0, 0.2, 1.0]))
def test_next_generation_keeps_the_elite(world, elite, rate):
    constraints, rules, population, state = world
    d = len(constraints)
    weights = fixed_point(random_information(d, np.random.default_rng(d)))
    scores = np.empty(len(population.order), np.int64)
    measure(population, weights, scores)
    fittest, new = fittest_of(scores, elite), copy_of(population)
    next_generation(population, new, fittest, rules, rate, state)
    np.testing.assert_array_equal(new.order[:elite], population.order[fittest])
    np.testing.assert_array_equal(new.candidates[:elite], population.candidates[fittest])
    for number in range(len(new.order)):
        assert_sound(member(new, number), constraints)
        assert_repaired(member(new, number), constraints)
        if rate == 0:  # copies of the elite, and nothing else
            assert any(
                (new.order[number] == new.order[one]).all()
                and (new.candidates[number] == new.candidates[one]).all()
                for one in range(elite)
            )


@given(worlds(), st.integers(0, 99))
def test_fitness_is_its_plain_twin(world, seed):
    constraints, rules, population, state = world
    weights = fixed_point(random_information(len(constraints), np.random.default_rng(seed)))
    individual = member(population, 0)
    shuffle(individual.order, rules, state)
    structure = read_off(individual.order, individual.candidates)
    total = 0
    for child, members in enumerate(individual.candidates.tolist()):
        before = structure.order[: structure.order.index(child)]
        parents = tuple(sorted(c for c in members if c in before))
        assert structure.parents[child] == parents
        total += sum(int(weights[child, parent]) for parent in parents)
    assert fitness(individual, weights) == total


def test_fitness_by_hand():
    # Order c, a, b. a takes c (3), not b, which comes later; b takes c (5); c takes nothing.
    weights = np.array([[0, 1, 3], [1, 0, 5], [3, 5, 0]])
    individual = Individual(np.array([2, 0, 1]), np.array([[1, 2], [2, -1], [0, 1]]))
    assert fitness(individual, weights) == 3 + 5


def test_the_fittest_come_first_and_of_equal_ones_the_last():
    assert fittest_of(np.array([3, 7, 3, 7, 9]), 4).tolist() == [4, 3, 1, 2]


def test_shuffle_makes_all_orders_equally_likely():
    constraints = build_constraints(names(4), parents=1, root="a3")
    rules, state = build_rules(constraints), np.array([5], np.uint64)
    order = np.array([3, 0, 1, 2])
    counts = {}
    for _ in range(6000):
        shuffle(order, rules, state)
        counts[tuple(order.tolist())] = counts.get(tuple(order.tolist()), 0) + 1
    # Six orders of the three that may move; 1000 each, with a standard deviation of 29.
    assert len(counts) == 6
    assert all(abs(count - 1000) < 5 * 29 for count in counts.values())


def test_the_generator_is_splitmix64():
    state = np.array([1234567], np.uint64)
    # The first outputs that its authors' C code gives for the seed 1234567.
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [int(random_word(state)) for _ in expected] == expected


def test_random_numbers_stay_in_their_range():
    state = np.array([1], np.uint64)
    drawn = [random_below(state, 3) for _ in range(300)]
    assert set(drawn) == {0, 1, 2}
    units = np.array([random_unit(state) for _ in range(1000)])
    assert 0 <= units.min() < units.max() < 1
    assert abs(units.mean() - 0.5) < 5 * np.sqrt(1 / 12 / 1000)


@pytest.mark.parametrize(("d", "k"), [(1, 0), (1, 3), (2, 3), (4, 6), (9, 0), (25, 3)])
def test_the_best_is_never_lost(d, k):
    information = random_information(d, np.random.default_rng(d))
    constraints = build_constraints(names(d), parents=k)
    found = genetic_search(information, constraints, np.random.default_rng(1), generations=60)
    assert found.best.shape == found.mean.shape == (61,)
    assert (np.diff(found.best) >= 0).all()
    assert (found.mean <= found.best).all()
    edges = [(c, p) for c, parents in enumerate(found.structure.parents) for p in parents]
    assert found.best[-1] == sum(information[edge] for edge in edges)


def test_no_attributes():
    found = genetic_search(
        np.zeros((0, 0)), build_constraints([], parents=2), np.random.default_rng(0), generations=2
    )
    assert found.structure.order == found.structure.parents == ()


@pytest.mark.parametrize("seed", range(8))
def test_the_network_keeps_to_the_rules(seed):
    rng = np.random.default_rng(seed)
    constraints = random_rules(11, 3, rng)
    found = genetic_search(random_information(11, rng), constraints, rng, generations=20)
    constraints.check(found.structure.to_network(constraints.names))


@pytest.mark.parametrize(
    "protect", [{"a4": "a1"}, {"a4": "a1", "a0": None}, {"a2": "a1", "a3": "a5", "a0": "a1"}]
)
def test_protected_attributes_have_their_target_and_no_children(protect):
    constraints = build_constraints(names(8), parents=3, protect=protect)
    information = random_information(8, np.random.default_rng(3))
    found = genetic_search(information, constraints, np.random.default_rng(4), generations=50)
    network = found.structure.to_network(names(8))
    for sensitive, target in protect.items():
        assert network.parents[sensitive] == ((target,) if target else ())
        assert all(parent != sensitive for parent, _ in network.edges)


def test_with_at_most_k_others_all_are_candidates():
    constraints = build_constraints(names(4), parents=5)
    rules = build_rules(constraints)
    population = blank_population(constraints, rules, 3)
    initialize(population, rules, np.array([1], np.uint64))
    for candidates in population.candidates:
        assert [sorted(members) for members in candidates.tolist()] == [
            [1, 2, 3],
            [0, 2, 3],
            [0, 1, 3],
            [0, 1, 2],
        ]


def test_the_optimum_is_found_for_most_seeds_when_there_are_few_attributes():
    # 200 individuals for 100 generations see up to 20,000 networks, four for each of the 5,040
    # orders of 7 attributes; nine of ten seeds leave room for one that ends in a local optimum.
    hits = 0
    for seed in range(20):
        d, k = 5 + seed % 3, 1 + seed % 3
        information = random_information(d, np.random.default_rng(seed))
        constraints = build_constraints(names(d), parents=k)
        found = genetic_search(
            information, constraints, np.random.default_rng(seed), generations=100
        )
        best = optimal_search(information, constraints).score
        assert found.best[-1] <= best
        hits += found.best[-1] == best
    assert hits >= 18


def test_the_seed_decides():
    information = random_information(15, np.random.default_rng(0))
    constraints = build_constraints(names(15), parents=2)
    runs = [
        genetic_search(information, constraints, np.random.default_rng(seed), generations=30)
        for seed in (1, 1, 2)
    ]
    assert runs[0].structure == runs[1].structure
    np.testing.assert_array_equal(runs[0].mean, runs[1].mean)
    assert runs[0].mean.tolist() != runs[2].mean.tolist()


def test_information_as_whole_numbers():
    information = np.array([[1.0, 0.3, -0.1], [0.3, 2.0, 0.1 + 0.2], [-0.1, 0.1 + 0.2, 1.0]])
    weights = fixed_point(information)
    assert weights[0, 1] == weights[1, 2]  # 0.3 and 0.1 + 0.2 differ in the last bit
    assert weights.diagonal().tolist() == [0, 0, 0]
    assert weights[0, 2] == 0


def test_progress_tells_the_best_so_far():
    told = []

    class Reporter:
        def track(self, items, description, total):
            assert total == 30
            for item in items:
                yield item
                told.append(description())

    information = random_information(9, np.random.default_rng(0))
    with reporting(Reporter()):
        found = genetic_search(
            information,
            build_constraints(names(9), parents=2),
            np.random.default_rng(0),
            generations=30,
        )
    assert told == [f"Evolving, best {best:.4f} bits" for best in found.best[1:]]
