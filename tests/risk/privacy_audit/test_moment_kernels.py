"""Sums over noisy counts against all of their terms."""

import numpy as np
import pytest
from scipy.special import logsumexp

from understudy.risk.privacy_audit.laws import DiscreteGaussian, DiscreteLaplace
from understudy.risk.privacy_audit.moment_kernels import log_sums


def test_sums_by_hand():
    # 1 + 2 and, with a rate of log 2: 1 / 2 + 2 / 4.
    found = log_sums(np.log([1.0, 2.0]), 1.0, np.array([0.0, np.log(2)]))
    assert np.exp(found) == pytest.approx([3.0, 1.0], rel=1e-15)


@pytest.mark.parametrize("law", [DiscreteLaplace(7.5), DiscreteGaussian(12.0)])
@pytest.mark.parametrize("power", [0, 1, 60, 1_500])
def test_terms_that_are_left_out_cannot_be_seen(law, power):
    values = np.arange(1.0, 900.0)
    logs = law.log_mass(values - 300) + power * np.log(values)
    rates = np.exp(np.linspace(-12, 6, 40))
    expected = logsumexp(logs - rates[:, None] * values, axis=1)
    assert log_sums(logs, 1.0, rates) == pytest.approx(expected, abs=1e-12, rel=1e-14)


def test_one_value():
    assert log_sums(np.array([-2.0]), 4.0, np.array([0.5])).tolist() == [-4.0]
