"""Tails of distributions: by hand, and against scipy.stats over grids."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from understudy.risk.tails import (
    even_tail,
    hypergeometric_tail,
    normal_tail,
    poisson_limit,
    poisson_tail,
)

CLOSE = 1e-12


@pytest.mark.parametrize("score", [-40.0, -3.0, 0.0, 0.7, 5.0, 37.0])
def test_normal(score):
    assert normal_tail(score) == stats.norm.sf(score)


@pytest.mark.parametrize("mean", [1e-9, 0.3, 1.0, 7.5, 400.0, 1e6])
def test_poisson(mean):
    for least in (-2, 0, 1, 2, int(mean), int(mean + 5 * np.sqrt(mean)) + 3):
        assert poisson_tail(least, mean) == stats.poisson.sf(least - 1, mean)
    for level in (0.5, 0.05, 0.01, 1e-6, 1e-12):
        limit = poisson_limit(level, mean)
        assert limit == stats.poisson.isf(level, mean)
        assert limit >= 0


@pytest.mark.parametrize("trials", [0, 1, 2, 9, 100, 5_001])
def test_fair_coin(trials):
    for least in {0, 1, trials // 2, trials // 2 + 1, trials - 1, trials} - {-1}:
        if least <= trials:
            expected = stats.binom.sf(least - 1, trials, 0.5)
            assert even_tail(least, trials) == pytest.approx(expected, rel=CLOSE)


def test_draws_by_hand():
    # Two of five are marked, and three are drawn: 10 hands, 1 without, 6 with one, 3 with both.
    assert hypergeometric_tail([0, 1, 2, 3], 5, 2, 3) == pytest.approx([1.0, 0.9, 0.3, 0.0])
    assert hypergeometric_tail(2, 4, 3, 3).shape == ()  # four of which three: at least two, always
    assert float(hypergeometric_tail(2, 4, 3, 3)) == 1.0
    assert hypergeometric_tail([], 4, 3, 3).tolist() == []


@pytest.mark.parametrize("total", [1, 2, 7, 60, 1_473, 32_561, 300_000])
def test_draws_as_in_scipy(total):
    parts = sorted({0, 1, total // 7, total // 2, total - 1, total})
    for marked in parts:
        for drawn in parts:
            mean = marked * drawn / total
            spread = np.sqrt(mean * (1 - marked / total)) + 1
            least = np.unique(np.round(mean + spread * np.arange(-8, 9)).astype(int))
            expected = stats.hypergeom.sf(least - 1, total, marked, drawn)
            found = hypergeometric_tail(least, total, marked, drawn)
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-290)


@given(st.lists(st.tuples(*[st.integers(0, 12)] * 4), min_size=1, max_size=6))
def test_draws_of_several_sizes_at_once(rows):
    least, marked, drawn, others = np.array(rows).T
    total = np.maximum(marked, drawn) + others + 1
    expected = stats.hypergeom.sf(least - 1, total, marked, drawn)
    found = hypergeometric_tail(least, total, marked, drawn)
    np.testing.assert_allclose(found, expected, rtol=CLOSE, atol=1e-15)
