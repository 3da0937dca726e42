"""The most probable assignment and ranks: by hand, in trivial worlds, and by plain enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.risk.posterior.elimination import Factor, log_weight
from understudy.risk.posterior.elimination_order import plan_elimination
from understudy.risk.posterior.ranking import most_probable

IMPOSSIBLE = -math.inf


def best_of(sizes, factors):
    return most_probable(plan_elimination(sizes, [factor.scope for factor in factors]), factors)


@st.composite
def worlds(draw):
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


def all_weights(sizes, factors):
    """The slow obvious way: every assignment with its log weight."""
    return {a: log_weight(factors, a) for a in itertools.product(*map(range, sizes))}


def test_a_chain_by_hand():
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


@given(worlds(), st.integers(0, 2**32))
def test_as_enumerated(world, seed):
    sizes, factors = world
    weights = all_weights(sizes, factors)
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


@given(worlds())
def test_of_equals_the_first_against_the_order_of_elimination_is_taken(world):
    sizes, factors = world
    plan = plan_elimination(sizes, [factor.scope for factor in factors])
    weights = all_weights(sizes, factors)
    largest = max(weights.values())
    equals = [a for a, weight in weights.items() if weight == largest]
    first = min(equals, key=lambda a: [a[v] for v in reversed(plan.order)])
    assert most_probable(plan, factors).assignment == first


@given(worlds(), st.randoms(use_true_random=False))
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
