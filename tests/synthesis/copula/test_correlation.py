"""Score correlations as exact sums, and the nearest correlation matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy import Coded
from understudy.errors import ParameterError
from understudy.synthesis.copula import nearest_correlation
from understudy.synthesis.copula.correlation import Margin, score_bits
from understudy.synthesis.copula.latents import Latent, pair_correlations


class Batches:
    """A table that comes in pieces."""

    def __init__(self, coded, rows):
        self.coded, self.rows = coded, rows

    def coded_batches(self):
        return self.coded.batches(self.rows)


def latents_of(coded):
    columns = zip(coded.columns, coded.cardinalities, strict=True)
    return [
        Latent(place, Margin.of(np.bincount(c, minlength=size), np.arange(size)), np.arange(size))
        for place, (c, size) in enumerate(columns)
    ]


def test_scores_are_means_of_intervals():
    # Two halves of a normal variable: their means are -sqrt(2 / pi) and sqrt(2 / pi).
    half = Margin.of(np.array([3, 0, 3]), np.arange(3))
    assert half.codes.tolist() == [0, 2]
    np.testing.assert_allclose(half.edges, [-np.inf, 0, np.inf])
    mean = np.sqrt(2 / np.pi)
    np.testing.assert_allclose(half.scores / 2 ** score_bits(6), [-mean, mean], atol=2.0**-18)
    assert half.score_table(3)[1] == 0


def test_scores_follow_the_order_and_have_mean_zero():
    counts = np.array([5, 1, 70, 24])
    found = Margin.of(counts, np.array([2, 0, 3, 1]))
    assert found.codes.tolist() == [2, 0, 3, 1]
    assert np.all(np.diff(found.scores) > 0)
    assert found.scores @ found.counts / 100 / 2**17 == pytest.approx(0, abs=2.0**-18)


@pytest.mark.parametrize("rows", [1, 2**28 - 1, 2**28, 2**33, 2**40])
def test_sums_of_all_products_fit_64_bits(rows):
    # The squares of the scores sum to the rows at most.
    assert rows * 4 ** score_bits(rows) < 2**63


def test_correlations_are_those_of_numpy():
    rng = np.random.default_rng(1)
    latent = rng.standard_normal((9000, 4)) @ rng.standard_normal((4, 4))
    codes = np.clip(np.round(latent * 2) + 9, 0, 18).astype(int)
    coded = Coded.from_arrays({str(j): codes[:, j] for j in range(4)})
    latents = latents_of(coded)
    tables = zip(latents, coded.columns, strict=True)
    scores = np.array([latent.scores()[codes] for latent, codes in tables])
    found = pair_correlations(coded, latents)
    np.testing.assert_allclose(found, np.corrcoef(scores), atol=1e-12)


@given(st.integers(1, 10_000), st.integers(0, 2**32))
def test_batches_and_order_do_not_change_a_bit(rows, seed):
    rng = np.random.default_rng(seed)
    coded = Coded.from_arrays({"a": rng.integers(0, 900, 5000), "b": rng.integers(0, 3, 5000)})
    latents = latents_of(coded)
    expected = pair_correlations(coded, latents)
    shuffled = Batches(coded.take(rng.permutation(5000)), rows)
    found = pair_correlations(shuffled, latents)
    np.testing.assert_array_equal(found, expected)


def test_a_constant_column_has_no_correlation():
    coded = Coded.from_arrays({"a": [0, 0, 0, 0], "b": [0, 1, 0, 1]})
    found = pair_correlations(coded, latents_of(coded))
    assert found.tolist() == [[1, 0], [0, 1]]


def test_small_weights_give_way():
    # No such three variables: the third cannot go with the first and against the second.
    matrix = np.array([[1, 0.9, 0.9], [0.9, 1, -0.9], [0.9, -0.9, 1]])
    alike = nearest_correlation(matrix)
    found = nearest_correlation(matrix, np.array([1, 1, 1e-3]))
    assert found[0, 1] == pytest.approx(0.9, abs=0.01)
    assert alike[0, 1] < 0.7
    np.linalg.cholesky(found)
    np.testing.assert_allclose(nearest_correlation(matrix, np.full(3, 7.0)), alike, atol=1e-12)


def test_a_definite_matrix_stays_as_it_is():
    matrix = np.array([[1, 0.5], [0.5, 1]])
    assert nearest_correlation(matrix) is matrix


def test_the_nearest_to_highams_example():
    # Higham (2002), section 1, to the four decimals that are printed there.
    found = nearest_correlation(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1.0]]))
    expected = [[1, 0.7607, 0.1573], [0.7607, 1, 0.7607], [0.1573, 0.7607, 1]]
    np.testing.assert_allclose(found, expected, atol=5e-5)


def test_two_copies_stay_copies():
    found = nearest_correlation(np.ones((2, 2)))
    assert 1 - 1e-11 < found[0, 1] < 1
    np.linalg.cholesky(found)


@given(st.integers(2, 12), st.integers(0, 2**32))
def test_the_nearest_is_a_correlation_matrix_and_no_other_is_nearer(size, seed):
    rng = np.random.default_rng(seed)
    matrix = np.triu(rng.uniform(-1, 1, (size, size)), 1)
    matrix += matrix.T + np.eye(size)
    found = nearest_correlation(matrix)
    np.testing.assert_array_equal(found, found.T)
    assert np.all(np.diag(found) == 1)
    np.linalg.cholesky(found)
    distance = np.linalg.norm(found - matrix)
    # Convex: a nearer matrix would show on the way to some other correlation matrix.
    factors = rng.standard_normal((20, size, size))
    factors /= np.linalg.norm(factors, axis=2, keepdims=True)
    for other in factors @ factors.transpose(0, 2, 1):
        moved = found + 0.01 * (other - found)
        assert np.linalg.norm(moved - matrix) >= distance * (1 - 1e-4)


@pytest.mark.parametrize(
    "matrix", [np.array([[1, 0.5], [0.4, 1]]), np.array([[2.0]]), np.ones(3), np.full((2, 2), 0.5)]
)
def test_what_is_no_correlation_matrix_at_all_is_refused(matrix):
    with pytest.raises(ParameterError, match="symmetric and has ones"):
        nearest_correlation(matrix)
