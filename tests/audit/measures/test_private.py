"""Differential privacy in the audit: three lines that never stand in for one another."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import polars as pl
import pytest

from understudy import BayesNet, Independent, audit
from understudy.audit.json_form import from_text, to_text
from understudy.audit.measures.private import privacy_of
from understudy.data import Schema
from understudy.report.page import render_report


@pytest.fixture(scope="module")
def frame():
    return pl.DataFrame({"sex": ["f", "m"] * 50, "smokes": ["y", "n", "n", "n"] * 25})


def audited(frame, model):
    how = {"keys": ["sex"], "sensitive": "smokes", "measures": "quick"}
    return audit(frame, model.sample(random_state=1), model=model, **how)


@pytest.fixture(scope="module")
def model(frame):
    return Independent(epsilon=1.0, random_state=1).fit(frame, Schema.infer(frame).as_public())


@pytest.fixture(scope="module")
def found(frame, model):
    return audited(frame, model)


def test_claimed_demonstrated_and_measured_are_three_lines(found):
    told = " | ".join(found.verdict.releases[0].sentences)
    assert "Epsilon claimed: 1 (change-one), proved by the ledger, with 3 questions" in told
    assert "Epsilon demonstrated: not measured" in told
    assert "Empirical risk: " in told
    assert "this report stays inside" in told


def test_a_valid_ledger_alone_is_never_low(found):
    answer = found.verdict.releases[0].answers["strongest"]
    assert answer.level == "not measured"
    assert "at most 2.7 times as probable" in answer.sentence
    assert found.verdict.level != "low"


def test_a_record_that_may_be_absent_is_two_steps_from_one_that_is_another(frame):
    schema = Schema.infer(frame).as_public()
    own = Independent(epsilon=1.0, neighbours="add-remove", random_state=1).fit(frame, schema)
    answer = audited(frame, own).verdict.releases[0].answers["strongest"]
    assert "at most 7.4 times as probable" in answer.sentence


def test_a_ledger_that_proves_nothing_is_raised(frame, model):
    broken = Independent(epsilon=1.0, random_state=1).fit(frame, model.schema_.as_public())
    entries = [replace(one, scale=one.scale / 2) for one in broken.ledger_.entries]
    broken.ledger_ = replace(broken.ledger_, entries=tuple(entries))
    answer = audited(frame, broken).verdict.releases[0].answers["strongest"]
    assert answer.level == "raised"
    assert "not proved" in answer.sentence


def test_noise_without_a_ledger_is_raised(frame):
    own = BayesNet(epsilon=1.0, preset="datasynthesizer", random_state=1).fit(frame)
    found = privacy_of(own, quick=True)
    assert found.problems
    assert audited(frame, own).verdict.releases[0].answers["strongest"].level == "raised"


def test_the_exact_audit_demonstrates_a_part_of_epsilon(model):
    found = privacy_of(model, quick=False)
    assert 0.9 < found.demonstrated <= 1
    assert found.not_demonstrated == ""


def test_the_report_has_the_lines_and_the_ledger(found):
    page = render_report(found.findings, verdict=found.verdict)
    assert "Epsilon claimed" in page
    assert "values of &#39;sex&#39;" in page
    assert "stays inside" in page
    assert "Taken for public" in page


def test_findings_are_read_back(found):
    again = from_text(to_text(found.findings))
    privacy = again.releases[0].privacy
    assert privacy.ledger == found.findings.releases[0].privacy.ledger
    assert privacy.epsilon == 1
    assert Fraction(str(round(privacy.budget, 6))) == 1
