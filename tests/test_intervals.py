"""Wilson's interval by its defining equation, and by figures from the literature."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import ParameterError
from understudy.intervals import wilson_interval


@given(st.integers(1, 500), st.data(), st.sampled_from([(0.95, 1.959964), (0.99, 2.575829)]))
def test_wilsons_limits_are_z_standard_errors_from_the_share(total, data, level):
    confidence, z = level
    hits = data.draw(st.integers(0, total))
    low, high = wilson_interval(hits, total, confidence)
    assert 0 <= low <= hits / total <= high <= 1
    for limit in (low, high):
        # The limits solve (share - limit)^2 = z^2 limit (1 - limit) / total.
        error = (hits / total - limit) ** 2 - z**2 * limit * (1 - limit) / total
        assert error == pytest.approx(0, abs=1e-6)


def test_the_interval_of_newcombes_example():
    # Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 3: 81 of 263.
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson_interval(0, 20) == pytest.approx((0, 0.1611), abs=5e-5)


def test_an_interval_of_nothing():
    for hits, total in ((0, 0), (math.nan, 10)):
        assert all(map(math.isnan, wilson_interval(hits, total)))
    for confidence in (0, 1, 95, 1.0, math.nan, True, None, "a"):
        with pytest.raises(ParameterError, match=f"between 0 and 1; got {confidence!r}"):
            wilson_interval(1, 2, confidence)


@pytest.mark.parametrize(("hits", "total"), [(5, 3), (-1, 3), (0, -1), (3.001, 3)])
def test_hits_are_part_of_the_total(hits, total):
    with pytest.raises(ParameterError, match=f"hits must lie between 0 and total; got {hits} of"):
        wilson_interval(hits, total)


def test_a_mean_may_be_beyond_by_rounding():
    assert wilson_interval(3 * (1 + 2**-50), 3) == wilson_interval(3, 3)
