"""Latent correlations: by hand, against exact joint probabilities, and out of reach."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.synthesis.copula.attenuation import (
    Staircases,
    _polynomial,
    _solve,
    latent_correlations,
)
from understudy.synthesis.copula.correlation import Margin
from understudy.synthesis.copula.model import log_rectangle

MARGINS = {
    "even": [500, 500],
    "skewed": [900, 100],
    "three": [10, 300, 690],
    "ten": [100] * 10,
    "rare": [999, 1],
    "wedge": list(range(1, 80)),
}


def margin(counts):
    return Margin.of(np.array(counts), np.arange(len(counts)))


def score_correlation(one, other, rho):
    """The slow twin: the scores' correlation from the probability of every pair of codes."""
    i, j = np.divmod(np.arange(len(one.codes) * len(other.codes)), len(other.codes))
    joint = np.exp(
        log_rectangle((one.edges[i], one.edges[i + 1]), (other.edges[j], other.edges[j + 1]), rho)
    ).reshape(len(one.codes), len(other.codes))
    standard = []
    for each in (one, other):
        shares = each.counts / each.counts.sum()
        centred = each.scores - shares @ each.scores
        standard.append(centred / np.sqrt(shares @ centred**2))
    return float(standard[0] @ joint @ standard[1])


def latent(one, other, observed):
    return latent_correlations(np.array([[1, observed], [observed, 1]]), [one, other])[0, 1]


def test_two_halves_by_hand():
    # They agree in 2/3 of the records: scores correlate by 2/3 - 1/3, and Sheppard's formula
    # 1/4 + arcsin(rho) / (2 pi) = 1/3 gives rho = sin(pi / 6) = 1/2.
    half = margin([3, 3])
    assert latent(half, half, 1 / 3) == pytest.approx(0.5, abs=1e-12)
    assert latent(half, half, -1 / 3) == pytest.approx(-0.5, abs=1e-12)


@pytest.mark.parametrize("share", [0.7, 0.9, 0.99, 0.999])
def test_halves_that_nearly_always_agree(share):
    # 1/4 + arcsin(rho) / (2 pi) = share / 2
    half = margin([500, 500])
    expected = np.sin(np.pi * (share - 0.5))
    assert latent(half, half, 2 * share - 1) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("rho", [-0.999, -0.97, -0.76, -0.74, -0.1, 0.0, 0.3, 0.76, 0.95, 0.9999])
def test_scores_of_the_solution_are_the_observed_ones(rho):
    margins = [margin(counts) for counts in MARGINS.values()]
    observed = np.eye(len(margins))
    pairs = list(zip(*np.triu_indices(len(margins), 1), strict=True))
    for i, j in pairs:
        observed[i, j] = observed[j, i] = score_correlation(margins[i], margins[j], rho)
    found = latent_correlations(observed, margins)
    np.testing.assert_array_equal(found, found.T)
    for i, j in pairs:
        # Where the scores have come to their limit, many correlations give the same ones.
        solution = np.clip(found[i, j], -1 + 1e-12, 1 - 1e-12)
        again = score_correlation(margins[i], margins[j], solution)
        assert again == pytest.approx(observed[i, j], abs=1e-7)
    well_conditioned = list(MARGINS).index("ten"), list(MARGINS).index("wedge")
    assert found[well_conditioned] == pytest.approx(rho, abs=1e-6)


@pytest.mark.parametrize("rho", [0.5, 0.95, 0.998])
def test_columns_of_distinct_values_hardly_change(rho):
    fine = margin([1] * 3000)
    found = latent(fine, fine, rho)
    # Their scores are normal variables but for the tails, which hold some 1e-4 of the variance.
    assert found == pytest.approx(rho, abs=1e-4)
    assert abs(found) >= rho


def test_many_cuts_are_thinned_out_without_harm():
    rng = np.random.default_rng(2)
    many, few = margin([*rng.integers(1, 4, 1500), 900, *[1] * 700]), margin([2, 5, 3])
    assert len(Staircases.of([many]).cuts) < 1000 < len(many.codes)
    for rho in (-0.6, 0.4, 0.9):
        assert latent(many, few, score_correlation(many, few, rho)) == pytest.approx(rho, abs=2e-5)


def test_what_is_out_of_reach_is_one():
    # 900 and 100 against 500 and 500: scores correlate by at most 1/3.
    assert latent(margin([900, 100]), margin([500, 500]), 0.9) == 1
    assert latent(margin([900, 100]), margin([500, 500]), -0.9) == -1


def test_copies_are_one():
    assert latent(margin([3, 4, 5]), margin([3, 4, 5]), 1.0) == 1


def test_a_constant_column_is_correlated_with_nothing():
    margins = [margin([4]), margin([2, 2]), margin([1, 3])]
    found = latent_correlations(np.array([[1, 0, 0], [0, 1, 0.2], [0, 0.2, 1]]), margins)
    assert found[0].tolist() == [1, 0, 0]
    assert found[1, 2] > 0.2
    np.testing.assert_array_equal(latent_correlations(np.eye(1), margins[:1]), np.eye(1))


def test_hermite_coefficients_of_two_halves():
    # The steps -1 and 1: c[k] = 2 f(0) h[k-1](0) / sqrt(k), with f(0) = 1 / sqrt(2 pi),
    # h[0] = 1, h[1](0) = 0, h[2](0) = -1 / sqrt(2).
    found = Staircases.of([margin([5, 5])]).hermite(3)[:, 0]
    first = 2 / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(found, [first, 0, -first / np.sqrt(6)], atol=1e-12)


def test_newton_steps_that_lead_astray_are_bisected():
    # x + 50 x**3 from 0: the first step goes far beyond the root.
    series = np.array([[1.0], [0.0], [50.0]])
    found = _solve(series, np.array([30.0]), np.array([-0.9]), np.array([0.9]))
    assert _polynomial(series, found)[0] == pytest.approx(30)
