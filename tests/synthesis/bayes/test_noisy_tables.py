"""Noisy tables: probabilities by hand, draws that have them, and their way through a file."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.synthesis.bayes.network import Network
from understudy.synthesis.bayes.noisy_tables import NoisyTable, noisy_information

TABLE = NoisyTable.of(np.array([[[3, 1], [-2, 0]], [[0, 5], [2, -1]]]))


def test_negative_counts_are_none_and_empty_rows_are_even():
    assert TABLE.sizes == (2, 2)
    assert TABLE.weights.tolist() == [[3, 1], [1, 1], [0, 5], [2, 0]]


def test_draws_have_their_probabilities():
    rng = np.random.default_rng(1)
    parents = [rng.integers(0, 2, 20_000).astype(np.uint8) for _ in range(2)]
    drawn = TABLE.draw(parents, 20_000, rng)
    probability = TABLE.probability(np.ones(20_000, np.uint8), parents)
    for one in np.unique(probability):
        share = drawn[probability == one].mean()
        # Five standard errors of 5,000 draws.
        assert share == pytest.approx(one, abs=5 * np.sqrt(one * (1 - one) / 4500) + 1e-12)
    assert set(np.unique(probability)) == {0.0, 0.25, 0.5, 1.0}


def test_a_value_without_weight_is_never_drawn():
    table = NoisyTable.of(np.array([1, 0, 2, 0]))
    drawn = table.draw([], 5000, np.random.default_rng(1))
    assert set(drawn.tolist()) == {0, 2}


def test_to_arrays_and_back():
    again = NoisyTable.from_arrays(TABLE.to_arrays(), 2, (2, 2))
    assert again.weights.tolist() == TABLE.weights.tolist()
    wrong = [
        TABLE.weights[:3],
        -TABLE.weights,
        TABLE.weights * np.nan,
        np.zeros_like(TABLE.weights),
    ]
    for weights in wrong:
        with pytest.raises(ValueError, match="noisy table"):
            NoisyTable.from_arrays({"weights": weights}, 2, (2, 2))


def test_information_by_hand():
    network = Network({"a": (), "b": ("a",)})
    tables = {"a": NoisyTable.of(np.array([2, 2])), "b": NoisyTable.of(np.array([[2, 0], [0, 2]]))}
    # b is a copy of a coin: one bit each, and one bit in common.
    assert noisy_information(network, tables, ("a", "b")).tolist() == [[1, 1], [1, 1]]
