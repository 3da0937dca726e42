"""When a guess is right, and how models vote, against plain twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.risk.attacker_votes import Tolerance, majority


@given(
    votes=st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=6),
    counts=st.lists(st.integers(0, 3), min_size=5, max_size=5),
)
def test_majority_agrees_with_a_plain_twin(votes, counts):
    expected = [
        min(set(column), key=lambda code: (-column.count(code), -counts[code], code))
        for column in zip(*votes, strict=True)
    ]
    found = majority([np.array(vote) for vote in votes], np.array(counts))
    assert found.tolist() == expected


def test_the_limits_of_a_tolerance_are_right():
    # In floating point, 0.8 - 0.1 is more than 0.7.
    assert Tolerance(0.1).right(np.array([0.7, 0.9, 0.69]), np.full(3, 0.8)).tolist() == [1, 1, 0]
    assert Tolerance(0.0).right(np.array([0.7]), np.array([0.7])).all()
    below = np.nextafter(0.7, 0)
    assert not Tolerance(0.0).right(np.array([below]), np.array([0.7])).any()
    negative = Tolerance(0.5, relative=True).right(np.array([-15.0, -4.0]), np.full(2, -10.0))
    assert negative.tolist() == [True, False]


@given(
    truths=st.lists(st.integers(-20, 20), min_size=1, max_size=12),
    size=st.integers(0, 8),
    relative=st.booleans(),
)
def test_the_best_constant_is_the_best(truths, size, relative):
    # Quarters of whole numbers are exact, so that every place where an interval ends can be tried.
    tolerance = Tolerance(size / 4 if relative else size, relative)
    numbers = np.array(truths, np.float64)
    tried = np.arange(-4 * 60, 4 * 60 + 1) / 4
    best = max(tolerance.right(np.full(len(numbers), guess), numbers).mean() for guess in tried)
    drawn = np.mean([tolerance.right(np.full(len(numbers), one), numbers) for one in numbers])
    baseline = tolerance.baseline(numbers)
    assert baseline.zero_rule == pytest.approx(best)
    assert baseline.proportional == pytest.approx(drawn)
