"""Baselines by hand, of the paper, and of counts that are too large for 64 bits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import load
from understudy.risk.baseline import Baseline


def test_baselines_by_hand():
    found = Baseline.of(np.array([5, 0, 3, 2]))
    assert found.zero_rule == 0.5
    assert found.proportional == pytest.approx(0.25 + 0.09 + 0.04)
    assert Baseline.of(np.array([7])) == Baseline(1.0, 1.0)


def test_the_zero_rule_of_the_paper():
    counts = load("cmc")["method"].value_counts()["count"].to_numpy()
    assert Baseline.of(counts).zero_rule == pytest.approx(0.427, abs=5e-4)


def test_no_values_have_no_baseline():
    for counts in ([], [0, 0]):
        found = Baseline.of(np.array(counts, np.int64))
        assert math.isnan(found.zero_rule)
        assert math.isnan(found.proportional)


def test_counts_beyond_small_integers():
    # Squares of these do not fit 64 bits.
    assert Baseline.of(np.array([2**40, 2**40])) == Baseline(0.5, 0.5)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6).filter(any))
def test_a_guess_in_proportion_is_between_one_level_and_the_zero_rule(counts):
    found = Baseline.of(np.array(counts))
    levels = sum(count > 0 for count in counts)
    assert 1 / levels - 1e-12 <= found.proportional <= found.zero_rule + 1e-12
