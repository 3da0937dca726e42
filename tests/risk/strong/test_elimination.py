"""Sums, maxima and ranks by elimination: by hand, in trivial worlds, and by plain enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.risk.strong.elimination import (
    Factor,
    log_total,
    log_weight,
    marginals,
    most_probable,
)
from understudy.risk.strong.elimination_order import plan_elimination

IMPOSSIBLE = -math.inf


def plan_for(sizes, factors):
    return plan_elimination(sizes, [factor.scope for factor in factors])


def from_weights(scope, weights):
    with np.errstate(divide="ignore"):
        return Factor(scope, np.log(np.asarray(weights, dtype=float)))


def all_weights(sizes, factors):
    """The slow obvious way: an array with the log weight of every assignment."""
    grid = itertools.product(*map(range, sizes))
    return np.array([log_weight(factors, a) for a in grid]).reshape(sizes)


def enumerated(sizes, factors):
    """Log total and marginals from all assignments; they must not all be impossible."""
    weights = all_weights(sizes, factors)
    shares = np.exp(weights - weights.max())
    others = [tuple(np.delete(np.arange(len(sizes)), v)) for v in range(len(sizes))]
    total = weights.max() + math.log(shares.sum())
    return total, [shares.sum(axis=axes) / shares.sum() for axes in others]


@st.composite
def worlds(draw, scale=3.0):
    """Sizes, and factors over random scopes with some entries of minus infinity."""
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=6)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    impossible = draw(st.sampled_from([0.0, 0.1, 0.5]))
    factors = []
    for _ in range(draw(st.integers(0, 7))):
        count = draw(st.integers(0, min(4, len(sizes))))
        scope = tuple(int(v) for v in rng.permutation(len(sizes))[:count])
        log = scale * rng.normal(size=[sizes[v] for v in scope])
        factors.append(Factor(scope, np.where(rng.random(log.shape) < impossible, -np.inf, log)))
    return sizes, factors


def assert_as_enumerated(sizes, factors, tolerance=1e-9):
    plan = plan_for(sizes, factors)
    found = marginals(plan, factors)
    assert log_total(plan, factors) == found.log_total
    assert [p.shape for p in found.probabilities] == [(size,) for size in sizes]
    if all_weights(sizes, factors).max() == IMPOSSIBLE:
        assert found.log_total == IMPOSSIBLE
        assert all(np.isnan(p).all() for p in found.probabilities)
        return
    total, expected = enumerated(sizes, factors)
    assert found.log_total == pytest.approx(total, abs=tolerance)
    for one, other in zip(found.probabilities, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=0)
        assert one.sum() == pytest.approx(1, abs=1e-12)


def test_a_chain_by_hand():
    # weights: 0 -> (1, 3); 0 to 1 -> ((1, 2), (4, 1)); 1 to 2 -> ((1, 1), (5, 1))
    factors = [
        from_weights((0,), [1, 3]),
        from_weights((0, 1), [[1, 2], [4, 1]]),
        from_weights((1, 2), [[1, 1], [5, 1]]),
    ]
    found = marginals(plan_for((2, 2, 2), factors), factors)
    # Sums over 2 are 2 and 6; over 1: 1*2 + 2*6 = 14 and 4*2 + 1*6 = 14; over 0: 14 + 3*14 = 56.
    assert found.log_total == pytest.approx(math.log(56), abs=1e-14)
    np.testing.assert_allclose(found.probabilities[0], [14 / 56, 42 / 56], rtol=1e-14)
    # 1 = 0: (1*1 + 3*4) * 2 = 26; 1 = 1: (1*2 + 3*1) * 6 = 30
    np.testing.assert_allclose(found.probabilities[1], [26 / 56, 30 / 56], rtol=1e-14)
    # 2 = 0: 13*1 + 5*5 = 38; 2 = 1: 13*1 + 5*1 = 18
    np.testing.assert_allclose(found.probabilities[2], [38 / 56, 18 / 56], rtol=1e-14)


def test_a_collider_explains_away():
    # Two fair causes, and an effect that was seen: it needs at least one of them.
    factors = [
        from_weights((0,), [0.5, 0.5]),
        from_weights((1,), [0.5, 0.5]),
        from_weights((1, 0), [[0, 1], [1, 1]]),
    ]
    found = marginals(plan_for((2, 2), factors), factors)
    assert found.log_total == pytest.approx(math.log(3 / 4), abs=1e-14)
    for probabilities in found.probabilities:
        np.testing.assert_allclose(probabilities, [1 / 3, 2 / 3], rtol=1e-14)


def test_one_variable_alone():
    factors = [from_weights((0,), [1, 0, 3])]
    found = marginals(plan_for((3,), factors), factors)
    assert found.log_total == pytest.approx(math.log(4), abs=1e-14)
    assert found.probabilities[0].tolist() == [0.25, 0.0, 0.75]


def test_a_variable_without_a_factor_is_uniform():
    factors = [from_weights((1,), [1, 3])]
    found = marginals(plan_for((5, 2, 1), factors), factors)
    assert found.log_total == pytest.approx(math.log(5 * 4), abs=1e-14)
    np.testing.assert_allclose(found.probabilities[0], [0.2] * 5, rtol=1e-15)
    assert found.probabilities[1].tolist() == [0.25, 0.75]
    assert found.probabilities[2].tolist() == [1.0]


def test_a_factor_without_variables_multiplies_everything():
    number = Factor((), np.array(-7.0))
    factors = [from_weights((0,), [1, 1]), number]
    found = marginals(plan_for((2,), factors), factors)
    assert found.log_total == pytest.approx(math.log(2) - 7, abs=1e-14)
    assert found.probabilities[0].tolist() == [0.5, 0.5]
    assert log_total(plan_for((), [number]), [number]) == -7.0
    assert marginals(plan_for((), []), []) == (0.0, ())


def test_axes_may_come_in_any_order():
    table = np.random.default_rng(4).normal(size=(2, 3, 4))
    one, other = [Factor((0, 1, 2), table)], [Factor((2, 0, 1), table.transpose(2, 0, 1))]
    for first, second in zip(
        marginals(plan_for((2, 3, 4), one), one).probabilities,
        marginals(plan_for((2, 3, 4), other), other).probabilities,
        strict=True,
    ):
        np.testing.assert_allclose(first, second, rtol=1e-14)


@pytest.mark.parametrize("scope", [(), (0,), (2, 0)])
def test_a_factor_of_zeros_makes_everything_impossible(scope):
    sizes = (2, 3, 2)
    zeros = Factor(scope, np.full([sizes[v] for v in scope], IMPOSSIBLE))
    factors = [from_weights((0, 1), np.ones((2, 3))), zeros]
    found = marginals(plan_for(sizes, factors), factors)
    assert log_total(plan_for(sizes, factors), factors) == IMPOSSIBLE
    assert found.log_total == IMPOSSIBLE
    assert all(np.isnan(probabilities).all() for probabilities in found.probabilities)


def test_zeros_in_different_factors_can_rule_everything_out():
    factors = [from_weights((0, 1), np.eye(2)), from_weights((1, 0), 1 - np.eye(2))]
    assert log_total(plan_for((2, 2), factors), factors) == IMPOSSIBLE


def test_a_loop_of_equalities_leaves_the_diagonal():
    factors = [from_weights(pair, np.eye(3)) for pair in [(0, 1), (1, 2), (2, 3), (3, 0)]]
    factors.append(from_weights((2,), [1, 2, 5]))
    found = marginals(plan_for((3,) * 4, factors), factors)
    assert found.log_total == pytest.approx(math.log(8), abs=1e-14)
    for probabilities in found.probabilities:
        np.testing.assert_allclose(probabilities, [1 / 8, 2 / 8, 5 / 8], rtol=1e-14)


def test_weights_that_no_float_can_hold():
    # e^-5000 and e^-5001 are the only ones possible: together e^-5000 (1 + 1/e).
    factors = [
        Factor((0, 1), np.array([[-2000.0, IMPOSSIBLE], [IMPOSSIBLE, -5001.0]])),
        Factor((1,), np.array([-3000.0, 0.0])),
    ]
    found = marginals(plan_for((2, 2), factors), factors)
    assert found.log_total == pytest.approx(-5000 + math.log1p(math.exp(-1)), abs=1e-11)
    expected = [1 / (1 + math.exp(-1)), 1 / (1 + math.e)]
    for probabilities in found.probabilities:
        np.testing.assert_allclose(probabilities, expected, rtol=1e-11)


def test_a_branch_that_is_hopeless_is_not_lost_when_all_others_are_ruled_out():
    # Variable 2 decides: with 0 the pair weighs e^-5000, with 1 it weighs 1 but is impossible.
    factors = [
        Factor((0, 2), np.array([[-5000.0, 0.0], [-6000.0, 0.0]])),
        Factor((2, 1), np.array([[0.0, 0.0], [IMPOSSIBLE, IMPOSSIBLE]])),
    ]
    found = marginals(plan_for((2, 2, 2), factors), factors)
    assert found.log_total == pytest.approx(-5000 + math.log(2), abs=1e-11)
    assert [p.tolist() for p in found.probabilities] == [[1, 0], [0.5, 0.5], [1, 0]]


@given(worlds())
def test_as_enumerated(world):
    assert_as_enumerated(*world)


@given(worlds(scale=2000.0))
def test_as_enumerated_with_huge_numbers(world):
    sizes, factors = world
    # The slow way loses what is below 1e-308, and its rounding grows with the numbers.
    plan = plan_for(sizes, factors)
    found = marginals(plan, factors)
    if found.log_total == IMPOSSIBLE:
        assert all_weights(sizes, factors).max() == IMPOSSIBLE
        return
    total, expected = enumerated(sizes, factors)
    assert found.log_total == pytest.approx(total, abs=1e-9)
    for one, other in zip(found.probabilities, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-300)


@given(worlds(), st.randoms(use_true_random=False))
def test_numbering_the_variables_anew_changes_nothing(world, random):
    sizes, factors = world
    new = random.sample(range(len(sizes)), len(sizes))
    moved = [Factor(tuple(new[v] for v in factor.scope), factor.log) for factor in factors]
    new_sizes = [sizes[new.index(v)] for v in range(len(sizes))]
    one, other = (
        marginals(plan_for(*pair), pair[1]) for pair in [(sizes, factors), (new_sizes, moved)]
    )
    assert one.log_total == pytest.approx(other.log_total, abs=1e-10)
    for variable, probabilities in enumerate(one.probabilities):
        moved_to = other.probabilities[new[variable]]
        np.testing.assert_allclose(probabilities, moved_to, rtol=1e-10)


@given(worlds())
def test_one_plan_serves_many_tables(world):
    sizes, factors = world
    plan = plan_for(sizes, factors)
    before = [factor.log.copy() for factor in factors]
    first = marginals(plan, factors)
    doubled = [Factor(factor.scope, 2 * factor.log) for factor in factors]
    second = marginals(plan, doubled)
    assert second.log_total == marginals(plan_for(sizes, doubled), doubled).log_total
    # Neither the factors nor an earlier result have changed.
    for factor, log in zip(factors, before, strict=True):
        np.testing.assert_array_equal(factor.log, log)
    again = marginals(plan, factors)
    assert first.log_total == again.log_total
    for one, other in zip(first.probabilities, again.probabilities, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_network_too_large_to_enumerate():
    # Thirty variables, each the same as the one before with odds of 9 to 1: (10)^29 from each end.
    step = np.array([[9.0, 1.0], [1.0, 9.0]])
    factors = [from_weights((v, v + 1), step) for v in range(29)] + [from_weights((0,), [1, 0])]
    found = marginals(plan_for((2,) * 30, factors), factors)
    assert found.log_total == pytest.approx(29 * math.log(10), abs=1e-11)
    for place, probabilities in enumerate(found.probabilities):
        # The second eigenvalue of the step is 8 of 10.
        expected = (1 + 0.8**place) / 2
        np.testing.assert_allclose(probabilities, [expected, 1 - expected], atol=1e-13)


@pytest.mark.parametrize(
    ("scope", "log", "message"),
    [
        ((0, 1), [0.0, 1.0], "1 axes for 2 variables"),
        ((0,), [0.0, math.nan], "nan or infinite"),
        ((0,), [0.0, math.inf], "nan or infinite"),
    ],
)
def test_a_factor_that_makes_no_sense_is_refused(scope, log, message):
    with pytest.raises(ValueError, match=message):
        Factor(scope, np.array(log))


def test_factors_that_do_not_fit_the_plan_are_refused():
    plan = plan_elimination((2, 3), [(0, 1)])
    with pytest.raises(ValueError, match="made for the scopes"):
        log_total(plan, [Factor((1, 0), np.zeros((3, 2)))])
    with pytest.raises(ValueError, match="made for the scopes"):
        marginals(plan, [])
    with pytest.raises(ValueError, match=r"shape \(2, 2\); the plan expects \(2, 3\)"):
        log_total(plan, [Factor((0, 1), np.zeros((2, 2)))])


def best_of(sizes, factors):
    return most_probable(plan_elimination(sizes, [factor.scope for factor in factors]), factors)


@st.composite
def tied_worlds(draw):
    """Sizes and factors; entries are quarters, so that sums are exact and ties are frequent."""
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=6)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    impossible = draw(st.sampled_from([0.0, 0.1, 0.5]))
    spread = draw(st.sampled_from([2, 40, 40_000]))
    factors = []
    for _ in range(draw(st.integers(0, 7))):
        count = draw(st.integers(0, min(4, len(sizes))))
        scope = tuple(int(v) for v in rng.permutation(len(sizes))[:count])
        log = rng.integers(-spread, spread + 1, size=[sizes[v] for v in scope]) / 4
        factors.append(Factor(scope, np.where(rng.random(log.shape) < impossible, -np.inf, log)))
    return sizes, factors


def weight_of_each(sizes, factors):
    """The slow obvious way: every assignment with its log weight."""
    return {a: log_weight(factors, a) for a in itertools.product(*map(range, sizes))}


def test_a_chain_by_hand_at_best():
    # The best start (3) does not lead to the best whole: 1 x 9 x 5 beats 3 x 4 x 3.
    factors = [
        Factor((0,), np.log([3.0, 1.0])),
        Factor((0, 1), np.log([[1.0, 4.0], [9.0, 1.0]])),
        Factor((1, 2), np.log([[1.0, 5.0], [3.0, 2.0]])),
    ]
    best = best_of((2, 2, 2), factors)
    assert best.assignment == (1, 0, 1)
    assert best.log_weight == pytest.approx(math.log(45), abs=1e-14)
    # In order: 101 (45), 010 (36), 011 (24), 001 (15), 100 (9), then three of 3, 3 and 2.
    order = [(1, 0, 1), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0, 0)]
    assert [best.rank_of(a) for a in order] == [1, 2, 3, 4, 5]
    assert best.rank_of((0, 0, 0)) == best.rank_of((1, 1, 0)) == 6
    assert best.rank_of((1, 1, 1)) == 8


def test_ties_go_to_the_lower_codes():
    best = best_of((2, 3, 2), [Factor((1,), np.array([-2.0, -1.0, -1.0 - 5e-10]))])
    assert best.assignment == (0, 1, 0)
    best = best_of((2, 3, 2), [Factor((1,), np.array([-2.0, -1.0 - 5e-10, -1.0]))])
    assert best.assignment == (0, 1, 0)
    # Nine tenths of the tolerance twice would be more than a tie: only one of them is given away.
    almost = Factor((0,), np.array([-9e-10, 0.0])), Factor((1,), np.array([-9e-10, 0.0]))
    assert best_of((2, 2), almost).assignment == (0, 1)


def test_differences_within_the_tolerance_do_not_count_for_the_rank():
    best = best_of((4,), [Factor((0,), np.array([0.0, -5e-10, -2e-9, -1.0]))])
    # Code 2 is beaten by both before it: by 2e-9 and by 1.5e-9.
    assert [best.rank_of([code]) for code in range(4)] == [1, 1, 3, 4]


def test_variables_without_a_factor_multiply_the_rank():
    best = best_of((3, 2, 4), [Factor((1,), np.array([-1.0, 0.0]))])
    assert best.assignment == (0, 1, 0)
    assert best.rank_of((2, 1, 3)) == 1
    assert best.rank_of((0, 0, 0)) == 1 + 3 * 4


def test_impossible_assignments_come_last():
    log = np.array([[-1.0, IMPOSSIBLE], [IMPOSSIBLE, -9000.0]])
    best = best_of((2, 2), [Factor((0, 1), log)])
    assert best.assignment == (0, 0)
    assert best.rank_of((1, 1)) == 2
    assert best.rank_of((0, 1)) == best.rank_of((1, 0)) == 3


@pytest.mark.parametrize("scope", [(), (1,), (1, 0)])
def test_when_all_is_impossible_every_rank_is_one(scope):
    sizes = (2, 3)
    zeros = Factor(scope, np.full([sizes[v] for v in scope], IMPOSSIBLE))
    best = best_of(sizes, [Factor((0,), np.array([-1.0, 0.0])), zeros])
    assert best.assignment == (0, 0)
    assert best.log_weight == IMPOSSIBLE
    assert best.rank_of((1, 2)) == 1


def test_no_variable_at_all():
    best = best_of((), [Factor((), np.array(-3.0))])
    assert best.assignment == ()
    assert best.log_weight == -3.0
    assert best.rank_of(()) == 1


def test_more_than_the_limit_gives_none():
    best = best_of((10, 10), [Factor((v,), -np.arange(10.0)) for v in range(2)])
    # The sum of the codes decides: 1 + 2 + ... + 5 = 15 pairs have a sum below 5.
    assert best.rank_of((2, 3), limit=15) == 16
    assert best.rank_of((2, 3), limit=14) is None
    assert best.rank_of((0, 0), limit=0) == 1
    assert best.rank_of((0, 1), limit=0) is None


def test_a_rank_among_more_than_anyone_could_enumerate():
    # 60 binary variables; each code 1 costs 1, so a record with two ones comes after 1 + 60 others.
    best = best_of((2,) * 60, [Factor((v,), np.array([0.0, -1.0])) for v in range(60)])
    ones = [0] * 60
    ones[7] = ones[50] = 1
    assert best.rank_of(ones) == 62
    assert best.rank_of([1] * 60) is None


def test_assignments_that_make_no_sense_are_refused():
    best = best_of((2, 2), [])
    with pytest.raises(ValueError, match="1 codes for 2 variables"):
        best.rank_of((0,))
    with pytest.raises(ValueError, match="not below its size"):
        best.rank_of((0, 2))
    with pytest.raises(ValueError, match="not below its size"):
        best.rank_of((-1, 0))


@given(tied_worlds(), st.integers(0, 2**32))
def test_as_enumerated_at_best(world, seed):
    sizes, factors = world
    weights = weight_of_each(sizes, factors)
    best = best_of(sizes, factors)
    assert best.log_weight == max(weights.values()) == weights[best.assignment]
    values = np.array(list(weights.values()))
    rng = np.random.default_rng(seed)
    for place in rng.choice(len(values), size=min(10, len(values)), replace=False):
        assignment = list(weights)[place]
        above = int(np.count_nonzero(values > weights[assignment] + 1e-9))
        assert best.rank_of(assignment) == 1 + above
        assert best.rank_of(assignment, limit=above) == 1 + above
        if above:
            assert best.rank_of(assignment, limit=above - 1) is None


@given(tied_worlds())
def test_of_equals_the_first_against_the_order_of_elimination_is_taken(world):
    sizes, factors = world
    plan = plan_elimination(sizes, [factor.scope for factor in factors])
    weights = weight_of_each(sizes, factors)
    largest = max(weights.values())
    equals = [a for a, weight in weights.items() if weight == largest]
    first = min(equals, key=lambda a: [a[v] for v in reversed(plan.order)])
    assert most_probable(plan, factors).assignment == first


@given(tied_worlds(), st.randoms(use_true_random=False))
def test_numbering_the_variables_anew_does_not_change_ranks(world, random):
    sizes, factors = world
    new = random.sample(range(len(sizes)), len(sizes))
    moved = [Factor(tuple(new[v] for v in factor.scope), factor.log) for factor in factors]
    new_sizes = [sizes[new.index(v)] for v in range(len(sizes))]
    one, other = best_of(sizes, factors), best_of(new_sizes, moved)
    assert one.log_weight == other.log_weight
    assignment = [random.randrange(size) for size in sizes]
    as_moved = [assignment[new.index(v)] for v in range(len(sizes))]
    assert one.rank_of(assignment) == other.rank_of(as_moved)
