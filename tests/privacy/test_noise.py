"""Noise against its exact distribution, its cost against closed forms, and rounding that is safe.

Noise has no seed, so these tests draw something else each time. A test of a distribution fails if
its p-value is below one in a thousand million: so often it fails by chance. It is enough: a scale
that is 30% off fails it each time, as is tested, too.
"""

from __future__ import annotations

import itertools
import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import chisquare

from understudy.privacy import MissingPrivacyError, noise

RARELY = 1e-9
DRAWS = 6_000
CHOICES = 3_000
SCORES = np.array([0.0, 1.0, 2.5])

costs = st.fractions(Fraction(1, 1000), Fraction(20), max_denominator=1000)


def laplace_weight(value, scale):
    return math.exp(-abs(value) / scale)


def gaussian_weight(value, scale):
    return math.exp(-(value**2) / (2 * scale**2))


def shares_of(weight, scale):
    """Return the probabilities of whole numbers, far beyond what is ever drawn."""
    far = math.ceil(80 * scale)
    weights = np.array([weight(value, scale) for value in range(-far, far + 1)])
    return np.arange(-far, far + 1), weights / weights.sum()


def p_value(observed, expected):
    """Compare counts with a distribution, with cells of fewer than five expected joined."""
    few = expected < 5
    joined = np.append(expected[~few], expected[few].sum())
    seen = np.append(observed[~few], observed[few].sum())
    kept = joined > 0
    return chisquare(seen[kept], joined[kept] * seen.sum() / joined[kept].sum()).pvalue


@pytest.mark.parametrize("scale", [0.7, 3.0])
@pytest.mark.parametrize(
    ("draw", "weight"),
    [(noise.with_laplace, laplace_weight), (noise.with_gaussian, gaussian_weight)],
)
def test_noise_has_its_exact_distribution(draw, weight, scale):
    values, shares = shares_of(weight, scale)
    drawn = draw(np.zeros(DRAWS, np.int64), scale)
    observed = np.bincount(drawn - values[0], minlength=len(values))
    assert p_value(observed, shares * DRAWS) > RARELY
    # So a scale that is 30% off is found.
    _, other = shares_of(weight, 1.3 * scale)
    wrong = other[(len(other) - len(values)) // 2 :][: len(values)]
    assert p_value(observed, wrong * DRAWS) < RARELY


def permute_and_flip(scores, scale):
    """Return the probability of each candidate, over all orders in which coins are thrown."""
    chances = np.exp((scores - scores.max()) / scale)
    found = np.zeros(len(scores))
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        reached = 1 / len(orders)
        for place in order:
            found[place] += reached * chances[place]
            reached *= 1 - chances[place]
    return found


def exponential(scores, scale):
    weights = np.exp(scores / scale)
    return weights / weights.sum()


@pytest.mark.parametrize(("pure", "shares"), [(True, permute_and_flip), (False, exponential)])
def test_choices_have_their_exact_probabilities(pure, shares):
    measurement = noise._noisy_max(1.5, pure=pure)  # which `choose` would make each time
    drawn = [measurement(SCORES.tolist()) for _ in range(CHOICES)]
    observed = np.bincount(drawn, minlength=len(SCORES))
    assert p_value(observed, CHOICES * shares(SCORES, 1.5)) > RARELY
    # The two mechanisms are told apart.
    other = exponential if pure else permute_and_flip
    assert p_value(observed, CHOICES * other(SCORES, 1.5)) < 1e-3


@given(costs)
def test_scales_cost_no_more_than_is_paid(cost):
    for l1 in (1, 2):
        assert Fraction(l1) / Fraction(noise.laplace_scale(l1, cost)) <= cost
    for square in (1, 2, 6):
        l2 = math.nextafter(math.sqrt(square), math.inf)
        assert Fraction(square) / Fraction(noise.gaussian_scale(l2, cost)) ** 2 / 2 <= cost
    pure, concentrated = (noise.choice_scale(3.0, cost, pure=one) for one in (True, False))
    assert 2 * Fraction(3) / Fraction(pure) <= cost
    assert (2 * Fraction(3) / Fraction(concentrated)) ** 2 / 8 <= cost


@given(costs)
def test_scales_waste_nothing(cost):
    assert noise.laplace_scale(2, cost) == pytest.approx(2 / float(cost), rel=1e-9)
    assert noise.gaussian_scale(1.0, cost) == pytest.approx((2 * float(cost)) ** -0.5, rel=1e-9)


def closed_form(rho, delta):
    """Return epsilon by Canonne, Kamath and Steinke (2020), proposition 12."""

    def epsilon(log_order):
        order = 1 + math.exp(log_order)
        return rho * order + math.log(1 / (order * delta)) / (order - 1) + math.log1p(-1 / order)

    return minimize_scalar(epsilon, bounds=(-5, 15), method="bounded").fun


@pytest.mark.parametrize("rho", [0.0001, 0.01, 0.5, 10.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
def test_conversion_is_the_closed_form(rho, delta):
    found = noise.epsilon_of(rho, delta)
    assert found == pytest.approx(closed_form(rho, delta), rel=1e-4)
    # Bun and Steinke's is simpler and looser.
    assert found <= rho + 2 * math.sqrt(rho * math.log(1 / delta))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(10)])
def test_budget_is_rounded_down(epsilon):
    delta = Fraction(1, 10**6)
    rho = noise.rho_of(epsilon, delta)
    assert noise.epsilon_of(float(rho), 1e-6) <= epsilon
    assert noise.epsilon_of(float(rho) * (1 + 1e-6), 1e-6) > epsilon


@pytest.mark.parametrize("delta", [0.2, 1e-3, 1e-7])
@pytest.mark.parametrize("scale", [0.3, 1.0, 7.5])
def test_reach_is_far_enough(scale, delta):
    for weight, gaussian in ((laplace_weight, False), (gaussian_weight, True)):
        far = noise.reach(scale, delta, gaussian=gaussian)
        values, shares = shares_of(weight, scale)
        assert shares[values >= far].sum() <= delta
    # That of Laplace noise is exact: one less would be too near.
    near = noise.reach(scale, delta, gaussian=False) - 1
    values, shares = shares_of(laplace_weight, scale)
    assert near == 0 or shares[values >= near].sum() > delta


def test_counts_of_any_size_keep_their_shape():
    counts = np.array([[0, 2**40], [1, 2]])
    for draw in (noise.with_laplace, noise.with_gaussian):
        found = draw(counts, 2.0)
        assert found.shape == (2, 2)
        assert abs(found[0, 1] - 2**40) < 1000
        assert draw(np.zeros((0, 3), np.int64), 2.0).shape == (0, 3)


def test_noise_is_unbiased():
    # The mean of 5,000 draws of scale 3 has a standard error of at most .06: six are .36.
    for draw in (noise.with_laplace, noise.with_gaussian):
        assert abs(draw(np.full(5_000, 50), 3.0).mean() - 50) < 0.4


def test_scores_must_be_finite():
    with pytest.raises(ValueError, match="finite"):
        noise.choose(np.array([0.0, np.nan]), 1.0, pure=True)


def test_without_opendp_a_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    noise._opendp.cache_clear()
    try:
        with pytest.raises(MissingPrivacyError, match=r"pip install 'understudy\[dp\]'"):
            noise.require_opendp()
    finally:
        noise._opendp.cache_clear()
