"""Samplers for the worlds: their densities are those of what they draw."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy import load
from understudy.data import Coded, scan
from understudy.errors import DataError, ParameterError
from understudy.synthesis import Cart
from understudy.synthesis.base import METHODS
from understudy.worlds.releases import VARIABLES, Copy, Noisy, cell_counts

ORIGINAL = load("buyer_beware")
CELLS = pl.DataFrame(list(product([0, 1], repeat=4)), schema=list(VARIABLES), orient="row")


def replaced_one_by_one(shares, noise):
    """Return the shares after noise, from the probability of each cell to become each other."""
    found = np.zeros_like(shares)
    for before in np.ndindex(shares.shape):
        for after in np.ndindex(shares.shape):
            moves = [
                (1 - noise) * (old == new) + noise / size
                for old, new, size in zip(before, after, shares.shape, strict=True)
            ]
            found[after] += shares[before] * np.prod(moves)
    return found


@pytest.mark.parametrize("noise", [0, 0.05, 0.5, 1])
def test_the_density_of_noise_sums_to_one(noise):
    model = Noisy(noise).fit(ORIGINAL)
    assert np.exp(model.log_likelihood(CELLS)).sum() == pytest.approx(1, abs=1e-12)


def test_noise_is_a_channel_from_each_cell_to_each_other():
    cart = np.exp(Cart(smoothing_leaves=0).fit(ORIGINAL).log_likelihood(CELLS))
    for noise in (0.05, 0.3):
        found = np.exp(Noisy(noise).fit(ORIGINAL).log_likelihood(CELLS))
        expected = replaced_one_by_one(cart.reshape(2, 2, 2, 2), noise).ravel()
        np.testing.assert_allclose(found, expected, atol=1e-15)


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=4, max_size=40),
    st.floats(0, 1),
)
def test_the_channel_holds_for_columns_of_any_size(records, noise):
    table = pl.DataFrame(records, schema=["a", "b"], orient="row")
    model = Noisy(noise).fit(table)
    cart = Noisy(0).fit(table).shares_
    np.testing.assert_allclose(model.shares_, replaced_one_by_one(cart, noise), atol=1e-12)


def test_without_noise_it_is_cart():
    cart, model = Cart(smoothing_leaves=0).fit(ORIGINAL), Noisy(0.0).fit(ORIGINAL)
    np.testing.assert_allclose(model.log_likelihood(CELLS), cart.log_likelihood(CELLS))
    other = model.codec_.encode(load("buyer_beware", synthesis=3))
    np.testing.assert_allclose(
        model.refit(other).log_likelihood(CELLS), cart.refit(other).log_likelihood(CELLS)
    )


def test_with_all_noise_nothing_is_left():
    found = np.exp(Noisy(1).fit(ORIGINAL).log_likelihood(CELLS))
    np.testing.assert_allclose(found, 1 / 16, rtol=1e-12)


def test_draws_follow_the_density():
    model = Noisy(0.3, random_state=4).fit(ORIGINAL)
    rows = 40_000
    shares = cell_counts(model.sample(rows)) / rows
    expected = np.exp(model.log_likelihood(CELLS))
    # Four standard errors for each of 16 cells: a right sampler fails one seed in a thousand.
    assert np.all(np.abs(shares - expected) < 4 * np.sqrt(expected * (1 - expected) / rows))


def test_more_noise_replaces_more_of_the_same_draw():
    seed = 7
    less, more, most = (
        Noisy(noise).fit(ORIGINAL).sample(random_state=seed).to_numpy() for noise in (0, 0.2, 0.5)
    )
    changed, also = less != more, less != most
    # Half of the replaced values are the same as before: 0.1 and 0.25 of 4,000 differ.
    assert changed.mean() == pytest.approx(0.1, abs=0.02)
    assert also.mean() == pytest.approx(0.25, abs=0.03)
    assert also[changed].all()


@pytest.mark.parametrize("noise", [-0.1, 1.5, "much"])
def test_noise_is_a_probability(noise):
    with pytest.raises(ParameterError, match="noise must be a probability from 0 to 1"):
        Noisy(noise).fit(ORIGINAL)


def test_a_copy_is_the_original_in_another_order():
    model = Copy(random_state=1).fit(ORIGINAL)
    table = model.sample()
    assert not table.equals(ORIGINAL)
    assert table.sort(VARIABLES).equals(ORIGINAL.sort(VARIABLES))
    assert model.release_log_likelihood(model.codec_.encode(table)) == 0


def test_a_copy_can_be_no_other_table():
    model = Copy().fit(ORIGINAL)
    coded = model.codec_.encode(ORIGINAL)
    assert model.release_log_likelihood(coded.take(slice(999))) == -np.inf
    first_for_last = np.r_[0:999, 0]
    assert model.release_log_likelihood(coded.take(first_for_last)) == -np.inf


def test_a_copy_takes_counts_of_distinct_records():
    model = Copy().fit(ORIGINAL)
    cells = model.codec_.encode(CELLS)
    counts = cell_counts(ORIGINAL)
    assert model.release_log_likelihood(cells, counts) == 0
    assert model.release_log_likelihood(cells, counts[::-1]) == -np.inf
    np.testing.assert_allclose(np.exp(model.log_likelihood(CELLS)), counts / 1000)


def test_a_copy_has_all_records():
    with pytest.raises(ParameterError, match="a copy has all 1,000 records; got 10"):
        Copy().fit(ORIGINAL).sample(10)


@pytest.mark.parametrize("sampler", [Copy, Noisy])
def test_samplers_of_studies_are_no_methods(sampler, tmp_path):
    assert sampler not in METHODS.values()
    model = sampler().fit(ORIGINAL)
    with pytest.raises(ParameterError, match=r"m\.us is not written: .* is for studies"):
        model.save(tmp_path / "m.us")
    assert model.cells()[0] > 0


@pytest.mark.parametrize("sampler", [Copy, Noisy])
def test_samplers_of_studies_take_no_stream(sampler, tmp_path):
    ORIGINAL.write_csv(tmp_path / "original.csv")
    with pytest.raises(DataError, match="give a frame, not a stream"):
        sampler().fit(scan(tmp_path / "original.csv"))


def test_a_world_is_fitted_in_the_same_codes():
    table = pl.DataFrame({"a": [0, 0, 1], "b": [0, 1, 1]})
    model = Noisy(0.0).fit(table)
    # Without the 1 of a, its code stays, with no probability.
    other = Coded.from_arrays({"a": [0, 0, 0], "b": [0, 1, 1]}, {"a": 2, "b": 2})
    np.testing.assert_allclose(model.refit(other).shares_, [[1 / 3, 2 / 3], [0, 0]])
