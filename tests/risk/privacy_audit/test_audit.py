"""The audit of privacy: correct mechanisms pass, planted mistakes are found."""

from __future__ import annotations

import math
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

from studies.planted_bugs import BUGS
from understudy import BayesNet, Cart, Independent
from understudy.data import Schema
from understudy.errors import ParameterError
from understudy.privacy import noise
from understudy.risk.privacy_audit import Effort, audit_privacy
from understudy.risk.privacy_audit.bounds import epsilon_of_event, epsilon_of_losses
from understudy.risk.privacy_audit.domain import Domain
from understudy.risk.privacy_audit.fitted import Fitted
from understudy.risk.privacy_audit.simulated import lower_bound
from understudy.risk.privacy_audit.worlds import make_pairs

QUICK = Effort(worlds=6, releases=3)


@pytest.mark.parametrize(
    ("synthesizer", "least"),
    [
        (Independent(epsilon=1.0), 0.95),
        (BayesNet(epsilon=1.0, structure={"a": (), "b": ("a",), "c": ("b",)}), 0.95),
        (Independent(epsilon=0.5, neighbours="add-remove"), 0.2),
    ],
    ids=["columns", "chain", "add-remove"],
)
def test_a_correct_mechanism_stays_below_its_epsilon_and_nearly_reaches_it(synthesizer, least):
    found = audit_privacy(synthesizer, effort=QUICK)
    assert found.verdict == "consistent"
    assert found.problems == ()
    assert least * synthesizer.epsilon <= found.found <= synthesizer.epsilon
    assert found.proving == 0
    assert "consistent, largest found " in found.in_words()


@pytest.mark.parametrize("name", BUGS)
def test_every_planted_mistake_is_found(name):
    """Noise has no seed: a free structure is missed with a chance of about 0.9^96, and halved noise
    is five standard deviations beyond the limit of its test."""
    bug = BUGS[name]
    # Whatever the noise, these two are found at once: by an infinite ratio, and by equal noise.
    sure = name in ("domain from data", "fixed seed")
    effort = QUICK if sure else Effort(worlds=12, releases=8)
    with bug.planted():
        found = audit_privacy(bug.synthesizer(), rows=bug.rows, effort=effort)
    assert found.verdict == "disproved", found.summary()
    assert found.problems or found.found > 1


def test_a_domain_read_from_the_records_has_an_infinite_ratio():
    bug = BUGS["domain from data"]
    with bug.planted():
        found = audit_privacy(bug.synthesizer(), effort=QUICK)
    assert math.isinf(found.found)
    assert found.to_dict()["found"] == "infinite"
    assert 0 < found.proving < 1


def test_the_noise_of_datasynthesizer_is_disproved():
    preset = BayesNet(epsilon=1.0, parents=2, preset="datasynthesizer")
    effort = Effort(worlds=24, releases=5)
    found = audit_privacy(preset, rows=6, released=200, effort=effort)
    assert found.verdict == "disproved"
    assert 1 < found.found < 2.5


def test_a_fitted_model_is_audited_on_its_own_domain_by_its_ledger():
    frame = pl.DataFrame({"sex": ["f", "m"] * 20, "age": list(range(20, 60))})
    model = Independent(epsilon=2.0).fit(frame, Schema.infer(frame).as_public())
    found = audit_privacy(model, effort=QUICK)
    assert (found.epsilon, found.delta, found.verdict) == (2.0, 0.0, "consistent")
    assert found.tried[0].world.startswith("40 records")
    assert audit_privacy(model, epsilon=0.5, effort=QUICK).verdict == "disproved"


def test_the_loss_of_published_counts_by_hand():
    """Two worlds whose counts differ by one in two cells of each of two tables, noise of scale s:
    each cell tells 1/s or -1/s if its noise is not between, so at most 4/s in all."""
    domain = Domain.small(2, 2)
    (pair,) = make_pairs(domain.names, domain.sizes, 9, "change-one", np.random.default_rng(1), 1)
    loss = Fitted(Independent(epsilon=1.0), domain).loss(pair, 0)
    _outside, *tables = loss.questions
    scale = tables[0].scale
    assert scale == pytest.approx(2 / (0.99 / 2))
    assert loss.crafted == pytest.approx(4 / scale, abs=1e-6)
    assert (loss.model * scale) == pytest.approx(round(loss.model * scale), abs=1e-9)


class GaussianColumns(Independent):
    """Columns with discrete Gaussian noise, which needs a delta."""

    adds_laplace = False


@pytest.mark.slow
def test_with_a_delta_many_releases_are_weighed_together():
    effort = Effort(worlds=12, releases=30)
    found = audit_privacy(GaussianColumns(epsilon=1.0), delta=1 / 400, effort=effort)
    assert found.verdict == "consistent"
    assert 0 < found.found < 1
    assert len(found.tried) == 3
    right = noise.gaussian_scale
    with patch.object(noise, "gaussian_scale", lambda l2, rho: right(l2, rho) / 4):
        found = audit_privacy(GaussianColumns(epsilon=1.0), delta=1 / 400, effort=effort)
    assert found.verdict == "disproved"
    assert "at delta 0.0025" in found.worst.evidence
    assert math.isnan(found.proving)


def test_mistakes_get_one_plain_message():
    with pytest.raises(ParameterError, match="Cart has no epsilon"):
        audit_privacy(Cart())
    with pytest.raises(ParameterError, match="epsilon must be given"):
        audit_privacy(lambda frame, _seed: frame)
    with pytest.raises(ParameterError, match="releases"):
        Effort(releases=1)
    with pytest.raises(ParameterError, match="confidence"):
        Effort(confidence=2)


def test_a_tool_that_copies_is_disproved_by_runs():
    found = audit_privacy(lambda frame, _seed: frame, epsilon=1, effort=Effort(runs=60))
    assert found.verdict == "disproved"
    assert found.tried[0].how == "simulated"


def test_simulated_bounds_are_wrong_no_more_often_than_they_say():
    """Randomised response of epsilon log 3 on one bit: of 400 bounds at 5%, more than 34 above the
    truth have a probability below 0.001."""
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(400):
        one, other = (rng.random((200, 1)) < share for share in (0.75, 0.25))
        found = lower_bound(
            one.astype(float), other.astype(float), lambda _: "x", delta=0, error=0.05
        )
        wrong += found.epsilon > math.log(3)
    assert wrong <= 34


def test_bounds_from_losses_keep_to_a_gaussian_and_find_half_the_noise():
    """A loss of N(rho, 2 rho) is that of a Gaussian mechanism: at delta 0.01 and rho 0.05 epsilon
    is 0.65 (Balle and Wang, 2018); with half the noise rho is 0.2, and epsilon is 1.4."""
    rng = np.random.default_rng(5)
    found = [
        epsilon_of_losses(rng.normal(rho, math.sqrt(2 * rho), 4000), delta=0.01, error=0.05)
        for rho in (0.05, 0.2)
    ]
    assert 0.3 < found[0] < 0.66
    assert 0.9 < found[1] < 1.41
    assert epsilon_of_event(10, 10, 100, delta=0.5, error=0.05) == 0
