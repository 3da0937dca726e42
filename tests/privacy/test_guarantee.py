"""What is promised: exact decimals, a delta that is small enough, and values that cannot be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from understudy.errors import ParameterError
from understudy.privacy import Guarantee, read_guarantee
from understudy.privacy.guarantee import (
    SMALLEST_DELTA,
    check_delta,
    check_epsilon,
    tell_of_weakness,
)


@pytest.mark.parametrize("value", [0.1, np.float32(0.1), np.float64(0.1), Fraction(1, 10)])
def test_epsilon_is_the_decimal_that_was_written(value):
    assert check_epsilon(value) == Fraction(1, 10)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "1", None])
def test_epsilon_must_be_positive(value):
    with pytest.raises(ParameterError, match="epsilon must be a positive number"):
        check_epsilon(value)


@pytest.mark.parametrize(("value", "limit"), [(1e-7, "least 0.000001"), (1001, "most 1,000")])
def test_epsilon_has_limits(value, limit):
    with pytest.raises(ParameterError, match=f"epsilon must be at {limit}; got {value!r}"):
        check_epsilon(value)
    assert check_epsilon(1e-6) < check_epsilon(1000)


@pytest.mark.parametrize(
    ("epsilon", "delta", "neighbours", "said"),
    [
        (20, 1e-4, "change-one", None),
        (20.5, 0, "change-one", "An epsilon of 20.5 protects nobody"),
        (1, 1e-5, "add-remove", None),
        (1, 1e-4, "add-remove", "A delta of 0.0001 is large"),
    ],
)
def test_a_promise_that_protects_nobody_is_called_so(caplog, epsilon, delta, neighbours, said):
    tell_of_weakness(read_guarantee(epsilon, delta, neighbours, 1000, pure=not delta))
    assert said in caplog.text if said else not caplog.text


@pytest.mark.parametrize("value", [-0.1, 1, float("nan"), "0"])
def test_delta_must_be_a_probability(value):
    with pytest.raises(ParameterError, match="delta must be a probability"):
        check_delta(value)


def test_delta_by_default():
    assert read_guarantee(1, None, "change-one", 1000, pure=True).delta == 0
    assert read_guarantee(1, None, "change-one", 1000, pure=False).delta == Fraction(1, 10**6)
    # The number of records is not public here.
    for rows in (10, 10**6):
        assert read_guarantee(1, None, "add-remove", rows, pure=False).delta == SMALLEST_DELTA


def test_a_delta_that_would_allow_a_whole_record_is_refused():
    with pytest.raises(ParameterError, match=r"below 1 in the number of records, 0\.01"):
        read_guarantee(1, 0.01, "change-one", 100, pure=False)
    assert read_guarantee(1, 0.009, "change-one", 100, pure=False).delta == Fraction(9, 1000)


def test_gaussian_noise_needs_a_delta():
    with pytest.raises(ParameterError, match="delta must be above 0"):
        read_guarantee(1, 0, "change-one", 100, pure=False)


def test_unknown_neighbours_are_refused():
    with pytest.raises(ParameterError, match="neighbours"):
        read_guarantee(1, None, "remove", 100, pure=True)


def test_to_plain_and_back():
    promise = Guarantee(Fraction(1, 3), Fraction(1, 10**9), "add-remove")
    assert Guarantee.from_plain(promise.to_plain()) == promise
    for wrong in ({"epsilon": "0"}, {"delta": "1"}, {"neighbours": "remove"}, {"epsilon": "x"}):
        with pytest.raises(ValueError, match=r"."):
            Guarantee.from_plain(promise.to_plain() | wrong)
