"""Rates of attacks and the residual risk, beside figures of anonymeter 1.1.0."""

from __future__ import annotations

import math

import pytest

from understudy.risk.rates import Rate, residual_risk


def test_a_rate_has_the_wilson_interval():
    rate = Rate.of(8, 10)
    assert rate.value == 0.8
    assert rate.interval == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert math.isnan(Rate.of(0, 0).value)


@pytest.mark.parametrize(
    ("hits", "control", "expected"),
    [
        # Its results for 500 attacks of each kind.
        (183, None, (0.367022, 0.324948, 0.409096)),
        (183, 55, (0.286404, 0.234072, 0.338736)),
        (40, 60, (0.0, 0.0, 0.0)),
        (500, 100, (0.995221, 0.990438, 1.0)),
    ],
)
def test_the_risk_is_anonymeter_s(hits, control, expected):
    other = None if control is None else Rate.of(control, 500)
    risk, (low, high) = residual_risk(Rate.of(hits, 500), other)
    assert (risk, low, high) == pytest.approx(expected, abs=2e-6)


def test_without_attacks_there_is_no_risk_to_tell():
    risk, interval = residual_risk(Rate.of(0, 0), None)
    assert math.isnan(risk)
    assert all(map(math.isnan, interval))
