"""Strata: combinations that occur, found and drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from understudy.data.coded import Coded
from understudy.synthesis.cart.recipe import Strata

CODED = Coded.from_arrays(
    {"sex": [0, 1, 1, 0, 1], "age": [2, 0, 2, 2, 2], "job": [0, 1, 2, 3, 4]},
    {"sex": 3, "age": 3, "job": 5},
)


def test_no_columns_are_one_stratum():
    strata = Strata.of(CODED, [])
    assert len(strata) == 1
    assert strata.columns == ()
    assert strata.counts.tolist() == [5]
    assert strata.draw(3, np.random.default_rng(0)).tolist() == [0, 0, 0]
    assert strata.codes_of(np.zeros(3, np.int64)) == {}


def test_combinations_that_occur_are_counted():
    strata = Strata.of(CODED, ["age", "sex"])
    assert strata.columns == (1, 0)
    found = dict(zip(map(tuple, strata.codes.tolist()), strata.counts.tolist(), strict=True))
    assert found == {(2, 0): 2, (0, 1): 1, (2, 1): 2}


def test_records_find_their_stratum_and_unknown_combinations_none():
    strata = Strata.of(CODED, ["sex", "age"])
    number = strata.find([np.array([0, 1, 0, 2, 1]), np.array([2, 0, 0, 2, 2])])
    assert (number < 0).tolist() == [False, False, True, True, False]
    codes = strata.codes[number[[0, 1, 4]]].tolist()
    assert codes == [[0, 2], [1, 0], [1, 2]]
    assert strata.find([np.empty(0, np.int64)] * 2).tolist() == []


def test_strata_are_drawn_as_often_as_they_occur():
    strata = Strata((0,), np.array([[0], [1], [2]]), np.array([70, 25, 5]))
    drawn = strata.draw(50_000, np.random.default_rng(2))
    counts = np.bincount(drawn, minlength=3)
    assert chisquare(counts, 500 * strata.counts).pvalue > 0.001
    codes = strata.codes_of(drawn)
    assert list(codes) == [0]
    assert codes[0].dtype == np.uint32
    np.testing.assert_array_equal(codes[0], drawn)


@pytest.mark.parametrize("names", [["a"], ["a", "b"], ["b", "c", "a"]])
@given(seed=st.integers(0, 2**32 - 1))
def test_each_record_finds_the_stratum_with_its_own_codes(names, seed):
    rng = np.random.default_rng(seed)
    coded = Coded.from_arrays(dict(zip("abc", rng.integers(0, 4, (3, 30)), strict=True)))
    strata = Strata.of(coded, names)
    number = strata.find([coded[name] for name in names])
    own = np.stack([coded[name] for name in names], axis=1)
    np.testing.assert_array_equal(strata.codes[number], own)
    np.testing.assert_array_equal(np.bincount(number), strata.counts)
