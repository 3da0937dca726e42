"""The exact probability of rows, against enumeration of all noise."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import gammaln

from understudy.risk.privacy_audit.laws import DiscreteGaussian, DiscreteLaplace, Laplace
from understudy.risk.privacy_audit.rows import log_probability, nodes


def enumerated(released, counts, law, top):
    """Return the log probability by a sum over all noisy counts up to `top`."""
    total, values = sum(released), len(released)
    masses = [
        [math.exp(law.log_zero(count)), *np.exp(law.log_mass(np.arange(1.0, top + 1) - count))]
        for count in counts
    ]
    found = []
    for noisy in itertools.product(range(top + 1), repeat=values):
        chance = math.prod(own[t] for own, t in zip(masses, noisy, strict=True))
        if sum(noisy):
            drawn = math.prod((t / sum(noisy)) ** c for t, c in zip(noisy, released, strict=True))
        else:
            drawn = values ** -float(total)
        found.append(chance * drawn)
    return math.log(math.fsum(found))


@pytest.mark.parametrize(
    ("law", "top"), [(DiscreteLaplace(0.9), 60), (DiscreteGaussian(1.6), 30)], ids=str
)
@pytest.mark.parametrize(
    ("released", "counts"),
    [((3, 1), (2, 0)), ((5, 0), (0, 4)), ((1, 0), (1, 1)), ((0, 1), (7, 0)), ((20, 2), (0, 5))],
)
def test_it_is_the_sum_over_all_noise(law, top, released, counts):
    found = log_probability(released, [counts], law)[0]
    assert found == pytest.approx(enumerated(released, counts, law, top), abs=1e-12)


def test_three_values_are_the_sum_over_all_noise():
    law = DiscreteGaussian(1.1)
    found = log_probability((2, 1, 1), [(1, 0, 2)], law)[0]
    assert found == pytest.approx(enumerated((2, 1, 1), (1, 0, 2), law, 14), abs=1e-12)


def test_all_releases_together_have_probability_one():
    """A hand-worked table of two values: the 4 releases of 3 rows, each in all its orders."""
    law = DiscreteLaplace(2.0)
    logs = [
        log_probability((c, 3 - c), [(1, 2)], law)[0] + math.log(math.comb(3, c)) for c in range(4)
    ]
    assert math.fsum(map(math.exp, logs)) == pytest.approx(1, abs=1e-13)


def test_one_row_of_equal_counts_is_even_and_many_rows_tell_all_that_noise_allows():
    """With one row and counts (1, 1), both values are as likely; with many rows of one value, the
    other's noisy count must be 0, and the ratio is exp(1/s) for each of the two counts."""
    law = DiscreteLaplace(2.0)
    assert log_probability((1, 0), [(1, 1)], law)[0] == pytest.approx(math.log(0.5), abs=1e-14)
    one, other = log_probability((2000, 0), [(1, 0), (0, 1)], law)
    assert one - other == pytest.approx(2 / 2.0, abs=1e-9)


def test_no_rows_tell_nothing():
    assert log_probability((0, 0), [(1, 0), (0, 1)], DiscreteLaplace(1.0)).tolist() == [0, 0]


@pytest.mark.parametrize("law", [DiscreteLaplace(0.5), DiscreteLaplace(5.0)], ids=str)
def test_no_ratio_exceeds_what_the_noise_allows(law):
    rng = np.random.default_rng(1)
    for _ in range(40):
        counts = rng.integers(0, 8, 3)
        counts[0] += 1
        other = counts + np.array([-1, 1, 0])
        released = rng.multinomial(int(rng.integers(1, 60)), rng.dirichlet([0.3] * 3))
        one, two = log_probability(released, [counts, other], law)
        assert abs(one - two) <= 2 / law.scale * (1 + 1e-12)


def test_a_wider_sum_and_more_nodes_change_nothing(monkeypatch):
    """Convergence: an error of 1e-15 and one of 1e-25 for each step give the same."""
    given = ((30, 1), [(0, 6), (1, 5)], DiscreteLaplace(1.5))
    before = log_probability(*given)
    monkeypatch.setattr("understudy.risk.privacy_audit.rows._ERROR", math.log(1e-25))
    np.testing.assert_allclose(log_probability(*given), before, rtol=0, atol=1e-12)


def test_the_nodes_integrate_a_gamma_density():
    for total in (1, 3, 50):
        step, places = nodes(total, 1.0, 1.0)
        logs = total * places - np.exp(places) - gammaln(total)
        assert step * np.exp(logs).sum() == pytest.approx(1, abs=1e-12)


def test_laplace_noise_of_real_numbers_is_its_integral():
    """A sum over a fine grid is exact to about the square of its step."""
    law, (c, d), (n, m), step = Laplace(1.5), (3, 1), (2, 1), 0.02
    x = (np.arange(int(40 / step)) + 0.5) * step
    p, q = (np.exp(law.log_mass(x - count)) * step for count in (n, m))
    sums = x[:, None] + x
    found = (p[:, None] * q * (x[:, None] / sums) ** c * (x / sums) ** d).sum()
    found += math.exp(law.log_zero(n) + law.log_zero(m)) / 2**4
    exact = log_probability((c, d), [(n, m)], law)[0]
    assert exact == pytest.approx(math.log(found), abs=2e-4)
    assert sum(
        math.comb(5, k) * math.exp(log_probability((k, 5 - k), [(n, m)], law)[0]) for k in range(6)
    ) == pytest.approx(1, abs=1e-10)
