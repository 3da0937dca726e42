"""What is believed before a release."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.coded import Coded
from understudy.errors import ParameterError
from understudy.risk.posterior.candidates import Candidates
from understudy.risk.posterior.priors import (
    attribute_logs,
    check_records,
    marginal_logs,
    popularity,
    prior_name,
    read_weights,
)

TABLE = Coded.from_arrays({"a": [0, 0, 0, 1], "b": [2, 0, 2, 1]})


def test_names():
    assert [prior_name(name) for name in ("uniform", "marginal", "informed")] == [
        "uniform",
        "marginal",
        "informed",
    ]
    assert prior_name(np.ones(3)) == "given"
    with pytest.raises(ParameterError, match=r"uniform, marginal, informed.*got 'given'"):
        prior_name("given")
    with pytest.raises(ParameterError, match="holds numbers"):
        prior_name([[1], [1, 2]])


def test_shares_without_the_record():
    # Of 4 records 3, 1, 0 have the values; without one of the first, 2, 1, 0 of 3, and half a
    # record is spread over the three.
    sixth = 0.5 / 3
    found = np.exp(attribute_logs(np.array([3, 1, 0]), np.array([0, 1])))
    assert found[0].tolist() == pytest.approx([(2 + sixth) / 3.5, (1 + sixth) / 3.5, sixth / 3.5])
    assert found[1].tolist() == pytest.approx([(3 + sixth) / 3.5, sixth / 3.5, sixth / 3.5])


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(lambda c: sum(c) > 1))
def test_shares_sum_to_one(counts):
    own = np.flatnonzero(np.array(counts) > 0)
    found = np.exp(attribute_logs(np.array(counts), own))
    assert (found > 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_product_of_shares():
    candidates = Candidates.occurring(("a", "b"), [TABLE])
    counts = {"a": np.array([3, 1]), "b": np.array([1, 1, 2])}
    found = marginal_logs(candidates, counts, TABLE)
    for row in range(4):
        for number in range(len(candidates)):
            expected = sum(
                attribute_logs(counts[name], TABLE[name][[row]])[0, candidates.codes[name][number]]
                for name in ("a", "b")
            )
            assert found[row, number] == pytest.approx(expected)


def test_popularity_leaves_the_record_out():
    found = popularity(np.array([1, 1, 2]), np.array([2, 1]))
    assert found.tolist() == [[1, 1, 1], [1, 0, 2]]


def test_weights():
    assert np.exp(read_weights([1, 3], 2, 5)).tolist() == [[0.25, 0.75]]
    each = np.exp(read_weights([[1, 3], [0, 2]], 2, 2))
    assert each.tolist() == [[0.25, 0.75], [0, 1]]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2, 3], r"2 candidates and 3 records.*\(2,\) or \(3, 2\); got \(3,\)"),
        (1, r"got \(\)"),
        ([[1, 2]], r"got \(1, 2\)"),
        ([1, -2], "not below 0"),
        ([[1, 2], [0, 0], [1, 1]], "not all 0"),
        ([np.nan, 1], "finite"),
        ("ab", "holds numbers"),
    ],
)
def test_wrong_weights(weights, message):
    with pytest.raises(ParameterError, match=message):
        read_weights(weights, 2, 3)


def test_records():
    assert check_records(None, 3).tolist() == [0, 1, 2]
    assert check_records(2, 3).tolist() == [2]
    assert check_records([2, 0, 2], 3).tolist() == [2, 0, 2]
    assert check_records([True, False, True], 3).tolist() == [0, 2]
    assert check_records(np.array([1], np.uint8), 3).dtype == np.int64
    for wrong in ([True], [0.0], "a", [[0]], [[0], [1, 2]], {"a": 1}):
        with pytest.raises(ParameterError, match="records are row numbers from 0"):
            check_records(wrong, 3)
    for outside in ([3], [-1]):
        with pytest.raises(ParameterError, match=rf"no row {outside[0]}; .* rows 0 to 2"):
            check_records(outside, 3)
    for nothing in ([], [False, False, False]):
        with pytest.raises(ParameterError, match="at least one row"):
            check_records(nothing, 3)
