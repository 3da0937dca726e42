"""Results of attacks as plain values."""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl
import pytest

from understudy.audit.measures import anonymity as anonymity_measure
from understudy.audit.measures import classifiers
from understudy.audit.measures import disclosure as disclosure_measure
from understudy.risk import Scenario, anonymity, attackers, disclosure
from understudy.risk.anonymity import anonymity_of
from understudy.risk.attackers import attackers_on
from understudy.risk.prepare import prepare

KEYS = ["age", "sex"]


@pytest.mark.parametrize("sensitive", ["ill", "income"])
def test_anonymity_of_codes_is_that_of_the_tables(people, unrelated, sensitive):
    gaps = people.with_columns(
        income=pl.when(pl.col("age") > 30).then("income"),
        ill=pl.when(pl.col("age") > 25).then("ill"),
    )
    for original in (people, gaps):
        prepared = prepare(original, [unrelated], Scenario(KEYS, sensitive))
        found = anonymity_measure.findings_of([anonymity_of(prepared)])
        before = anonymity(original, keys=KEYS, sensitive=sensitive)
        after = anonymity(unrelated, keys=KEYS, sensitive=sensitive)
        assert (found.k_original, found.k_synthetic) == (before.k, after.k)
        assert (found.l_original, found.l_synthetic) == (before.l, after.l)
        assert found.t_original == pytest.approx(before.t)
        if original is people:  # gaps in either table make both tables' numbers categories
            assert found.t_synthetic == pytest.approx(after.t)


def test_groups_of_the_release_are_those_of_the_original(people):
    prepared = prepare(people, [people[:50]], Scenario(KEYS, "ill"), groups={"age": 2})
    found = anonymity_measure.findings_of([anonymity_of(prepared)])
    middle = people["age"].median()
    halves = people.with_columns(age=pl.col("age") >= math.ceil(middle))
    assert found.k_original == anonymity(halves, keys=KEYS).k
    assert found.k_synthetic == anonymity(halves[:50], keys=KEYS).k


def test_classifiers_that_failed_are_named_without_their_words(people):
    prepared = prepare(people, [people], Scenario("sex", "ill"))
    found = attackers_on(prepared, "papers")
    broken = replace(found.mean, accuracy=math.nan)
    one = replace(found, models=found.models | {"svm": broken}, reasons={"svm": "Smith"})
    for figure in classifiers.figures_of(classifiers.PAPERS, [one]):
        assert "Left out because it failed: svm." in figure.note
        assert "Smith" not in figure.note
    names = [figure.measure for figure in classifiers.figures_of(classifiers.PAPERS, [found])]
    assert names == ["papers_vote", "papers_mean_attacker", "papers_best_attacker"]


def test_vote_mean_and_best_are_those_of_the_attackers(people, unrelated):
    found = attackers(people, unrelated, keys="sex", sensitive="ill", preset="papers")
    vote, middle, best = classifiers.figures_of(classifiers.OURS, [found])
    assert (vote.synthetic, vote.original) == (found.ensemble.accuracy, found.ensemble.original)
    assert (middle.synthetic, middle.gain) == (found.mean.accuracy, found.mean.gain)
    assert best.synthetic == found.maximum.accuracy
    assert best.note == f"Best: {found.best}."
    assert math.isnan(vote.control)
    assert math.isnan(vote.spread)


@pytest.fixture(scope="module")
def told():
    """Return a table where nearly all old people are ill, and the release says so."""
    table = pl.DataFrame({"age": [30.5] * 40 + [70.25] * 100, "ill": ["no"] * 40 + ["yes"] * 100})
    return table, disclosure(table, table, keys="age", sensitive="ill")


def test_checks_name_values_that_the_release_shows(told):
    _, found = told
    checks = disclosure_measure.findings_of([found]).checks
    assert checks[0].startswith("'yes' makes up 100 of 140 disclosed values")
    assert any(
        "'yes' is disclosed for 100 records in which 'age' is 70.25" in check for check in checks
    )


def test_checks_do_not_tell_the_limits_of_groups(told):
    table, _ = told
    found = disclosure(table, table, keys="age", sensitive="ill", groups={"age": 2})
    plain = disclosure_measure.findings_of([found]).checks
    assert any("30.5" in check or "70.25" in check for check in plain)
    hidden = disclosure_measure.findings_of([found], ["age"]).checks
    assert not any("30.5" in check or "70.25" in check for check in hidden)
    assert any("in which 'age' is 'a group of numbers'" in check for check in hidden)
    sensitive = disclosure(table, table, keys="ill", sensitive="age", groups={"age": 2})
    assert not any(
        "70.25" in one for one in disclosure_measure.findings_of([sensitive], ["age"]).checks
    )


def test_a_flagged_check_is_noted(told):
    table, found = told
    most = pl.concat([table[40:], table[:5]])
    flagged = disclosure(most, most, keys="age", sensitive="ill")
    assert (
        "One value is most of what is disclosed" in disclosure_measure.figures_of([flagged])[1].note
    )
    assert disclosure_measure.figures_of([found])[1].note == ""
