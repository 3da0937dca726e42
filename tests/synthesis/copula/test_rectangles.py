"""Rectangles of the bivariate normal: known values, scipy, sums, and the far tails."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr
from scipy.stats import multivariate_normal

from understudy.synthesis.copula.rectangles import log_interval, log_rectangle

INF = np.inf


def probability(x, y, rho):
    ends = [np.array([end], float) for end in (*x, *y)]
    return float(np.exp(log_rectangle((ends[0], ends[1]), (ends[2], ends[3]), rho))[0])


@pytest.mark.parametrize("rho", [-0.99999, -0.6, 0.0, 0.3, 0.95, 0.9999999])
def test_a_quadrant_is_an_angle(rho):
    # Sheppard (1899): P(X > 0, Y > 0) = 1/4 + arcsin(rho) / (2 pi)
    expected = 0.25 + np.arcsin(rho) / (2 * np.pi)
    assert probability((0, INF), (0, INF), rho) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("rho", [-0.97, -0.3, 0.2, 0.8, 0.999])
def test_rectangles_are_those_of_scipy(rho):
    rng = np.random.default_rng(4)
    normal = multivariate_normal([0, 0], [[1, rho], [rho, 1]])
    for _ in range(10):
        x, y = np.sort(rng.normal(size=(2, 2)), axis=1)
        expected = normal.cdf([x[1], y[1]], lower_limit=[x[0], y[0]])
        assert probability(x, y, rho) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize(
    ("x", "y", "rho"),
    [
        ((0, 1), (3, 4), 0.9),
        ((2, INF), (-INF, -2), 0.7),
        ((4.4, INF), (-1, 1), 0.6),
        ((-0.1, -0.0999), (0.3, 0.30001), -0.5),
        ((4, INF), (4, INF), -0.8),
    ],
)
def test_unlikely_rectangles_are_precise_in_proportion(x, y, rho):
    width = np.sqrt(1 - rho**2)

    def density(at, scale):
        ends = np.sort((np.array(y) - rho * at) / width * np.where(y[0] > rho * at, -1, 1))
        return np.exp(log_ndtr(ends[1]) - at**2 / 2 + scale) * -np.expm1(
            log_ndtr(ends[0]) - log_ndtr(ends[1])
        )

    far = 12
    low, high = max(x[0], -far), min(x[1], far)
    ends = np.array([low]), np.array([high]), np.array([y[0]]), np.array([y[1]], float)
    found = log_rectangle(ends[:2], ends[2:], rho)[0]
    # Scaled by the result, so that the adaptive twin's tolerance is one in proportion to it.
    twin = quad(density, low, high, (-found,), epsabs=0, epsrel=1e-10, limit=500)[0]
    assert twin / np.sqrt(2 * np.pi) == pytest.approx(1, rel=1e-9)


def test_independent_rectangles_are_products():
    expected = (ndtr(0.5) - ndtr(-1)) * (1 - ndtr(1))
    assert probability((-1, 0.5), (1, INF), 0.0) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("rho", [-0.9999, 0.1, 0.7])
def test_a_grid_sums_to_one_and_to_the_margins(rho):
    cuts = np.array([-INF, -3.5, -1, -0.99, 0, 2, 4.2, INF])
    i, j = np.divmod(np.arange(49), 7)
    grid = np.exp(log_rectangle((cuts[i], cuts[i + 1]), (cuts[j], cuts[j + 1]), rho)).reshape(7, 7)
    np.testing.assert_allclose(grid.sum(axis=0), np.diff(ndtr(cuts)), rtol=1e-9)
    assert grid.sum() == pytest.approx(1, abs=1e-13)


def test_empty_rectangles_have_no_probability():
    assert probability((0.5, 0.5), (-1, 1), 0.5) == 0
    assert probability((-1, 1), (0.5, 0.5), 0.5) == 0


def test_intervals_in_the_upper_tail():
    found = log_interval(np.array([8.0, 1.0, 1.0]), np.array([INF, 2.0, 1.0]))
    expected = [log_ndtr(-8), np.log(ndtr(2) - ndtr(1)), -INF]
    np.testing.assert_allclose(found, expected, rtol=1e-13)
