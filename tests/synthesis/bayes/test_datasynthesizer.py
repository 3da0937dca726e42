"""The noise of DataSynthesizer: its formulas by hand, and that nobody takes it for a promise."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from understudy import BayesNet, Synthesizer
from understudy.data import Coded
from understudy.errors import ParameterError
from understudy.synthesis.bayes import datasynthesizer
from understudy.synthesis.bayes.datasynthesizer import _information, _noisy, _sensitivity

RNG = np.random.default_rng(1)
TABLE = pl.DataFrame(
    {
        "a": RNG.choice(["x", "y"], 500),
        "b": RNG.choice(["u", "v", "w"], 500),
        "c": RNG.choice(["p", "q", "r"], 500),
    }
).with_columns(d=pl.col("b"))
CODED = Coded.from_arrays(
    {name: np.unique(TABLE[name], return_inverse=True)[1] for name in TABLE.columns},
    {"a": 2, "b": 3, "c": 3, "d": 3},
)


def test_sensitivity_by_hand():
    n = 500
    binary = math.log(n) / n + (n - 1) / n * math.log(n / (n - 1))
    other = 2 / n * math.log((n + 1) / 2) + (n - 1) / n * math.log(1 + 2 / (n - 1))
    # A column of two values, or a single parent of two.
    assert _sensitivity(CODED, 0, (1, 2)) == pytest.approx(binary, rel=1e-12)
    assert _sensitivity(CODED, 1, (0,)) == pytest.approx(binary, rel=1e-12)
    assert _sensitivity(CODED, 1, (0, 2)) == pytest.approx(other, rel=1e-12)


def test_information_of_a_copy_is_its_entropy():
    shares = TABLE["b"].value_counts()["count"].to_numpy() / 500
    assert _information(CODED, 3, (1,)) == pytest.approx(-(shares * np.log(shares)).sum())


def test_scale_of_the_noise_by_hand():
    # Four columns, tables of two, half of epsilon: (4 - 1) / (0.1 / 2), where one changed record
    # moves two counts.
    drawn = [_noisy(CODED, ("b", "c"), 0.1, np.random.default_rng(seed)) for seed in range(400)]
    counts = TABLE.group_by("b", "c").len().sort("b", "c")["len"].to_numpy().reshape(3, 3)
    # Half of Laplace noise lies within its scale times log 2, if nothing is cut off at 0.
    near = np.abs(np.array(drawn) - counts) < 60 * math.log(2)
    assert near.mean() == pytest.approx(0.5, abs=0.04)


def test_it_warns_and_has_no_ledger(caplog, tmp_path):
    model = BayesNet(2, epsilon=0.1, preset="datasynthesizer", random_state=1).fit(TABLE)
    assert "does not keep the epsilon" in caplog.text
    assert model.ledger_ is None
    assert not model.is_private
    again = BayesNet(2, epsilon=0.1, preset="datasynthesizer", random_state=1).fit(TABLE)
    assert model.sample().equals(again.sample())  # its noise has a seed
    model.save(tmp_path / "m.us")
    assert (
        Synthesizer.load(tmp_path / "m.us")
        .sample(random_state=3)
        .equals(model.sample(random_state=3))
    )


def test_much_epsilon_keeps_a_copy():
    model = BayesNet(1, epsilon=1000, preset="datasynthesizer", random_state=1).fit(TABLE)
    drawn = model.sample()
    assert (drawn["b"] == drawn["d"]).mean() > 0.99


def test_it_needs_epsilon_and_its_name():
    with pytest.raises(ParameterError, match="preset has no effect without epsilon"):
        BayesNet(preset="datasynthesizer").fit(TABLE)
    with pytest.raises(ParameterError, match="preset"):
        BayesNet(epsilon=1, preset="other").fit(TABLE)


def test_tables_that_are_too_large_are_refused(monkeypatch):
    monkeypatch.setattr(datasynthesizer, "MOST_CELLS", 8)
    with pytest.raises(ParameterError, match="At most 8 can be used; allow fewer parents"):
        BayesNet(2, epsilon=1, preset="datasynthesizer").fit(TABLE)
