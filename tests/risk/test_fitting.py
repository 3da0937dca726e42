"""Members against control records: sizes, exchanges and extrapolation, by brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from understudy.risk.fitting import Fitting, chances_of_one, compare, noted, one_of_more
from understudy.risk.predicate_kernels import exchange_labels
from understudy.risk.rates import Rate


@pytest.mark.parametrize(("rows", "size"), [(6, 1), (6, 3), (6, 6), (5, 2)])
def test_the_chance_of_one_by_all_parts(rows, size):
    parts = list(combinations(range(rows), size))
    plain = [
        np.mean([sum(who < people for who in part) == 1 for part in parts])
        for people in range(rows + 1)
    ]
    assert chances_of_one(rows, size, rows + 2)[: rows + 1] == pytest.approx(plain)
    assert not chances_of_one(rows, size, rows + 2)[rows + 1 :].any()


@pytest.mark.parametrize(
    ("shape", "scale", "times"), [(2.0, 0.5, 4), (0.3, 3.0, 2), (50.0, 0.01, 10)]
)
def test_more_people_by_the_negative_binomial(shape, scale, times):
    none, one = (1 + scale) ** -shape, shape * scale * (1 + scale) ** -(shape + 1)
    more = scale * times
    expected = shape * more * (1 + more) ** -(shape + 1)
    assert one_of_more(none, one, times) == pytest.approx(expected, rel=1e-6)


def test_more_people_where_all_weights_are_the_same():
    none, one = np.exp(-0.2), 0.2 * np.exp(-0.2)
    assert one_of_more(none, one, 3) == pytest.approx(0.6 * np.exp(-0.6), rel=1e-6)
    # Fewer are empty than any such distribution allows: the weight that their ratio gives.
    assert one_of_more(0.5, 0.5, 2) == pytest.approx(2 * np.exp(-2))


def test_how_many_are_noted():
    assert noted(100, 0) == 1
    few = noted(900, 100)
    assert few * 0.1 * 0.9 ** (few - 1) <= 1e-4 < (few - 1) * 0.1 * 0.9 ** (few - 2)
    assert noted(10**6, 10) == 4_096


def test_exchanged_labels_against_a_plain_twin():
    rng = np.random.default_rng(0)
    lists = [rng.choice(7, rng.integers(0, 4), replace=False) for _ in range(12)]
    starts = np.concatenate([[0], np.cumsum([len(held) for held in lists])])
    weights = rng.random(5), rng.random(5)
    draws = rng.random((20, 7), np.float32)
    found = exchange_labels(np.concatenate(lists).astype(np.int64), starts, (4, 9), weights, draws)
    for turn in range(20):
        left, rest, member = 4, 9, []
        for draw in draws[turn]:
            member.append(bool(draw * rest < left))
            left, rest = left - member[-1], rest - 1
        own = [sum(member[who] for who in held) for held in lists]
        plain = sum(
            weights[0][o] - weights[1][len(held) - o] for o, held in zip(own, lists, strict=True)
        )
        assert found[turn] == pytest.approx(plain)


def test_so_many_are_members_whoever_is_drawn():
    # One predicate fits all of 9 people; 4 are members in every exchange.
    weights = np.arange(10.0), np.zeros(10)
    draws = np.random.default_rng(0).random((50, 9), np.float32)
    found = exchange_labels(np.arange(9), np.array([0, 9]), (4, 9), weights, draws)
    assert (found == 4).all()


def fitting(members, controls, counts):
    """Return predicates that fit these numbers of members and of control records, all different."""
    counts = np.array(counts)
    limit = noted(members, controls)
    people = np.full((len(counts), limit), -1, np.int32)
    own, other = 0, members
    for at, (here, there) in enumerate(counts):
        people[at, :here] = np.arange(own, own + here)
        people[at, here : here + there] = np.arange(other, other + there)
        own, other = own + here, other + there
    return Fitting(counts, people, members, controls)


def test_equal_sizes_are_compared_as_they_are():
    found = fitting(50, 50, [(1, 0)] * 6 + [(0, 1)] * 2 + [(1, 1), (2, 1)])
    told = compare(found, Rate.of(7, 10), 0.95, np.random.default_rng(0))
    assert told.control.value == pytest.approx(0.4)
    assert told.difference == pytest.approx(0.3)
    # Of 9 people who are alone, 6 against 3 (one shares with two others): a sign test gives 0.145
    # for 6 of 8.
    assert 0.05 < told.p_value < 0.3
    assert told.interval[0] < 0 < told.difference < told.interval[1]


def test_more_control_records_count_as_a_random_part_of_them():
    found = fitting(50, 100, [(0, 1), (0, 2)] * 2)
    told = compare(found, Rate.of(0, 4), 0.95, np.random.default_rng(0))
    one, two = 0.5, 2 * 50 / 100 * 50 / 99
    assert told.control.value == pytest.approx((one + two) / 2)


def test_a_copy_is_significant():
    found = fitting(50, 50, [(1, 0)] * 20)
    told = compare(found, Rate.of(20, 20), 0.95, np.random.default_rng(0))
    assert told.p_value == pytest.approx(1 / 500)
    assert told.interval[0] > 0.5


def test_without_control_records_there_is_nothing_to_compare():
    told = compare(fitting(5, 0, [(1, 0)]), Rate.of(1, 1), 0.95, np.random.default_rng(0))
    assert told.control is None
    assert np.isnan([told.difference, told.p_value, *told.interval]).all()
