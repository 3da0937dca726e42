"""Membership in an audit: what is given decides what is measured."""

from __future__ import annotations

import math

import polars as pl
import pytest

from understudy import BayesNet, Cart, GaussianCopula, audit, load
from understudy.audit.gate import check
from understudy.risk import membership_by_control, membership_exact

ASKED = {"keys": ["age"], "sensitive": "method", "measures": "quick", "random_state": 1}


@pytest.fixture(scope="module")
def people():
    return load("cmc").sample(fraction=1, shuffle=True, seed=2)


@pytest.fixture(scope="module")
def original(people):
    return people[:700]


@pytest.fixture(scope="module")
def model(original):
    return BayesNet(2, "greedy", smoothing=0, random_state=1).fit(original)


def figures(found):
    return {one.measure: one for one in found.findings.releases[0].figures}


def test_both_attacks_are_those_of_their_functions(people, original, model):
    release, control = model.sample(random_state=3), people[700:]
    found = audit(original, release, model=model, control=control, **ASKED)
    exact = membership_exact(model, original, release, random_state=1)
    own = figures(found)["membership"]
    assert own.synthetic == own.gain == exact.without.share_above(0.9)
    assert own.note == f"{exact.without.certain} people were in the data for certain."
    metrics = found.metrics()
    assert metrics["membership.maximum"] == exact.without.maximum
    assert metrics["membership.replaced_mean"] == pytest.approx(exact.replaced.mean)
    by_control = membership_by_control(original, release, control, most=1_000, random_state=1)
    assert figures(found)["membership_control"].synthetic == by_control.auc
    assert metrics["membership_control.tpr_at_1_percent"] == by_control.true_positive_rate(0.01)
    assert "needs at least 1,000" in figures(found)["membership_control"].note
    assert not found.findings.releases[0].errors


def test_nothing_is_measured_of_what_is_not_given(original, model):
    found = audit(original, model.sample(random_state=3), **ASKED)
    assert not {"membership", "membership_control"} & set(figures(found))


@pytest.mark.parametrize(
    ("made_by", "reason"),
    [
        (GaussianCopula(random_state=1), "does not draw from tables of counts"),
        (Cart(keep=["age"], random_state=1), "shows itself who was in the data"),
    ],
    ids=["copula", "kept"],
)
def test_a_model_that_cannot_tell_says_why(original, made_by, reason):
    fitted = made_by.clone().fit(original)
    found = audit(original, fitted.sample(random_state=3), model=fitted, **ASKED)
    own = figures(found)["membership"]
    assert math.isnan(own.synthetic)
    assert own.note.startswith("Not measured: ")
    assert reason in own.note


def test_few_control_records_say_why(people, original, model):
    found = audit(original, model.sample(random_state=3), control=people[700:709], **ASKED)
    assert "fewer than 10 control records" in figures(found)["membership_control"].note


def test_large_tables_are_not_replaced(original, model, monkeypatch):
    monkeypatch.setattr("understudy.audit.measures.membership.MOST_REPLACED", 100)
    found = audit(original, model.sample(random_state=3), model=model, **ASKED)
    assert math.isnan(found.metrics()["membership.replaced_maximum"])
    assert found.metrics()["membership.maximum"] == 1


def test_a_copy_is_seen_at_the_gate(people, original):
    found = audit(original, original, control=people[700:], **ASKED)
    assert check(found.findings, ["membership_control.auc > 0.9"]).failed
    assert isinstance(found.to_frame(), pl.DataFrame)
