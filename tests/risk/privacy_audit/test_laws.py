"""The laws of noise: masses, what is at most zero, and choices."""

from __future__ import annotations

import math

import numpy as np
import pytest

from understudy.privacy import noise
from understudy.risk.privacy_audit.choices import log_chance
from understudy.risk.privacy_audit.laws import DiscreteGaussian, DiscreteLaplace, Laplace


@pytest.mark.parametrize("law", [DiscreteLaplace(3.0), DiscreteGaussian(3.0)], ids=str)
def test_masses_sum_to_one_and_zero_is_what_lies_below(law):
    values = np.arange(-400.0, 401)
    masses = np.exp(law.log_mass(values))
    assert masses.sum() == pytest.approx(1, abs=1e-13)
    for count in (0, 1, 7):
        assert math.exp(law.log_zero(count)) == pytest.approx(
            masses[values <= -count].sum(), rel=1e-10
        )


def test_real_laplace_noise_is_at_most_minus_a_count_with_half_an_exponential():
    assert math.exp(Laplace(2.0).log_zero(4)) == pytest.approx(math.exp(-2) / 2)


def test_the_laws_are_those_of_opendp():
    """20,000 draws: shares of the middle values within 5 standard errors."""
    zeros = np.zeros(20_000, np.int64)
    for law, drawn in (
        (DiscreteLaplace(2.0), noise.with_laplace(zeros, 2.0)),
        (DiscreteGaussian(2.0), noise.with_gaussian(zeros, 2.0)),
    ):
        for value in range(-4, 5):
            share = math.exp(law.log_mass(np.array([float(value)]))[0])
            spread = math.sqrt(share * (1 - share) / len(zeros))
            assert abs(np.mean(drawn == value) - share) < 5 * spread


@pytest.mark.parametrize("pure", [True, False])
def test_choices_have_the_probabilities_of_opendp(pure):
    """4,000 draws, within 5 standard errors; and they sum to one."""
    scores, scale = np.array([0.0, 1.0, 3.0, 2.5]), 1.5
    name = "permute and flip" if pure else "exponential"
    chances = [math.exp(log_chance(name, scores, scale, place)) for place in range(4)]
    assert math.fsum(chances) == pytest.approx(1, abs=1e-12)
    drawn = np.array([noise.choose(scores, scale, pure=pure) for _ in range(4000)])
    for place, chance in enumerate(chances):
        assert abs(np.mean(drawn == place) - chance) < 5 * math.sqrt(chance * (1 - chance) / 4000)


def test_permute_and_flip_of_two_by_hand():
    """The better of two, q ahead by 1 at scale 1, loses with w (1 - 1/2) for w = exp(-1)."""
    lost = math.exp(log_chance("permute and flip", np.array([1.0, 0.0]), 1.0, 1))
    assert lost == pytest.approx(math.exp(-1) / 2)
