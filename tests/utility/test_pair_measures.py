"""Cramér's V, the correlation ratio and Pearson's coefficient: by hand, and as others have them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from understudy.counting import ContingencyTable
from understudy.data import Coded
from understudy.utility.pair_measures import correlation_ratio, cramers_v, pearson


def table(counts):
    counts = np.array(counts)
    return ContingencyTable(("a", "b"), counts.shape, counts)


def test_cramers_v_by_hand():
    # Expected counts are 5 each: chi2 = 4 * 3^2 / 5 = 7.2 of n = 20, so V^2 = 0.36.
    assert cramers_v(table([[8, 2], [2, 8]])) == pytest.approx(0.6)
    assert cramers_v(table([[4, 2], [6, 3]])) == 0
    assert cramers_v(table([[2, 0, 0], [0, 3, 1]])) == pytest.approx(1)


def test_the_corrected_v_by_hand():
    # phi2 = 0.36 less 1/19; r = c = 2 less 1/19: sqrt((0.36 - 1/19) / (18/19)).
    found = cramers_v(table([[8, 2], [2, 8]]), corrected=True)
    assert found == pytest.approx(math.sqrt((0.36 - 1 / 19) * 19 / 18))
    assert cramers_v(table([[5, 5], [5, 6]]), corrected=True) == 0


def test_the_example_of_another_tool():
    # ClickHouse's documentation of cramersV and cramersVBiasCorrected: 150 numbers modulo 10 and 4.
    numbers = np.arange(150)
    coded = Coded.from_arrays({"a": numbers % 10, "b": numbers % 4})
    found = ContingencyTable.of(coded, ["a", "b"])
    assert cramers_v(found) == pytest.approx(0.5798088336225178)
    assert cramers_v(found, corrected=True) == pytest.approx(0.5305112825189074)


@given(
    arrays(np.int64, st.tuples(st.integers(2, 5), st.integers(2, 5)), elements=st.integers(0, 9))
)
def test_cramers_v_is_scipys(counts):
    kept = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    if min(kept.shape) < 2:
        assert math.isnan(cramers_v(table(counts)))
        return
    expected = scipy.stats.contingency.association(kept, method="cramer", correction=False)
    # Where it is 0, chi-squared may be 1e-16 of the records.
    assert cramers_v(table(counts)) == pytest.approx(expected, abs=1e-7)
    assert cramers_v(table(counts.T)) == pytest.approx(expected, abs=1e-7)
    assert cramers_v(table(counts).to_sparse()) == cramers_v(table(counts))


def test_v_of_one_level_or_no_record_is_undefined():
    assert math.isnan(cramers_v(table([[3, 4]])))
    assert math.isnan(cramers_v(table([[3, 4], [0, 0]])))
    assert math.isnan(cramers_v(table([[0, 0], [0, 0]])))
    assert math.isnan(cramers_v(table([[1]]), corrected=True))
    # All values differ: the corrected number of levels is 1.
    assert cramers_v(table(np.eye(3, dtype=int))) == pytest.approx(1)
    assert math.isnan(cramers_v(table(np.eye(3, dtype=int)), corrected=True))


def test_the_corrected_v_of_unrelated_columns_is_near_0():
    # 20 levels by 20 in 2,000 records: plain, chance alone gives sqrt(361 / 2000 / 19) = 0.097;
    # corrected, it is 0 as often as not, and phi2 varies by sqrt(2 * 361) / 2000 = 0.013.
    rng = np.random.default_rng(0)
    coded = Coded.from_arrays({name: rng.integers(20, size=2000) for name in "ab"})
    found = ContingencyTable.of(coded, ["a", "b"])
    assert cramers_v(found) == pytest.approx(0.097, abs=0.015)
    assert cramers_v(found, corrected=True) < 0.045


def test_a_correlation_ratio_by_hand():
    codes = np.array([0, 0, 1, 1], np.uint8)
    # Mean 3; between: 2 * (2 - 3)^2 + 2 * (4 - 3)^2 = 4; in all: 4 + 0 + 0 + 4 = 8.
    numbers = np.array([1.0, 3, 3, 5])
    assert correlation_ratio(codes, numbers) == pytest.approx(math.sqrt(1 / 2))
    with_gap = np.append(numbers, np.nan)
    assert correlation_ratio(np.append(codes, np.uint8(2)), with_gap) == pytest.approx(
        math.sqrt(1 / 2)
    )
    assert correlation_ratio(codes, np.array([1.0, 2, 2, 1])) == 0


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-50, 50)), min_size=4, max_size=30),
    st.sampled_from([1.0, 1e-200, 1e200]),
)
def test_the_correlation_ratio_is_the_root_of_explained_variance(records, unit):
    codes = np.array([code for code, _ in records], np.uint8)
    numbers = np.array([number for _, number in records], float)
    means = {code: np.mean(numbers[codes == code]) for code in codes.tolist()}
    fitted = np.array([means[code] for code in codes.tolist()])
    found = correlation_ratio(codes, numbers * unit)
    if len(means) < 2 or numbers.var() == 0:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(math.sqrt(fitted.var() / numbers.var()), abs=1e-7)


def test_pearson_by_hand():
    # Deviations -1, 0, 1 and -1, 1, 0: 1 over sqrt(2 * 2).
    assert pearson(np.array([[1.0, 2, 3], [4, 6, 5]]))[0, 1] == pytest.approx(0.5)


@given(arrays(np.float64, st.tuples(st.just(3), st.integers(2, 12)), elements=st.integers(-9, 9)))
def test_pearson_is_scipys(values):
    found = pearson(values)
    for first in range(3):
        for second in range(3):
            if values[first].std() == 0 or values[second].std() == 0:
                assert math.isnan(found[first, second])
            else:
                expected = scipy.stats.pearsonr(values[first], values[second]).statistic
                assert found[first, second] == pytest.approx(expected, abs=1e-12)


@given(
    arrays(
        np.float64,
        st.tuples(st.just(3), st.integers(1, 12)),
        elements=st.sampled_from([np.nan, 0.0, 1.0, 2.5, -4.0]),
    )
)
def test_missing_numbers_are_left_out_pair_by_pair(values):
    found = pearson(values)
    assert np.array_equal(found, found.T, equal_nan=True)
    for first in range(3):
        for second in range(3):
            both = ~np.isnan(values[first]) & ~np.isnan(values[second])
            pair = values[[first, second]][:, both]
            if not both.any() or pair[0].std() == 0 or pair[1].std() == 0:
                assert math.isnan(found[first, second])
            else:
                expected = np.corrcoef(pair)[0, 1]
                assert found[first, second] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("offset", "unit"), [(0, 1e300), (0, 1e-300), (2**50, 1.0), (-(2**50), 1)])
def test_large_and_small_numbers(offset, unit):
    values = np.array([[1.0, 2, 3], [4, 6, 5]]) * unit + offset
    assert pearson(values)[0, 1] == pytest.approx(0.5)


def test_a_constant_that_floats_cannot_hold_has_no_correlation():
    # The mean of ten times 0.1 is not 0.1.
    assert math.isnan(pearson(np.array([[0.1] * 10, list(range(10))]))[0, 1])
    assert math.isnan(pearson(np.empty((2, 0)))[0, 1])
