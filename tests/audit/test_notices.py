"""Settings without effect are told, and nothing is told without a reason."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from understudy.audit import audit
from understudy.audit.findings import (
    ClassifierFindings,
    Findings,
    PredictionFindings,
    ReleaseFindings,
    UtilityFindings,
)
from understudy.audit.notices import (
    drawn_in_common,
    in_common,
    late_notices,
    release_of_control,
)
from understudy.audit.task import Given
from understudy.data import hold_out
from understudy.data.joint_coding import encode


def notes(original, release=None, **options):
    values = {"keys": ["age", "sex"], "sensitive": "ill", "measures": "quick"} | options
    return audit(original, original if release is None else release, **values).findings.notes


@pytest.fixture(scope="module")
def fresh():
    """Return other people with a number of their own, so that none is like another."""
    return make(seed=5)


def make(seed, rows=150):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 70, rows),
            "sex": rng.choice(["f", "m"], rows),
            "pay": rng.random(rows),
            "ill": rng.choice(["yes", "no"], rows),
        }
    )


@pytest.fixture(scope="module")
def table():
    return make(seed=4)


def test_nothing_is_said_without_a_reason(table, fresh):
    assert notes(table, known=1) == ()
    assert notes(table, control=fresh) == ()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"target": "ill"}, "The target 'ill' is also the sensitive column"),
        ({"target": "sex"}, "The target 'sex' has no effect: the quick measures"),
        ({"known": 2}, "To say how many keys are known has no effect: 2 is all of them."),
        ({"known": 1, "keys": "age"}, "To say how many keys are known has no effect: 1 is"),
        ({"classifiers": "papers"}, "The choice of classifiers has no effect"),
        ({"groups": {"age": 50}}, "Groups of 'age' have no effect: there are no more different"),
    ],
)
def test_settings_without_effect(table, options, says):
    assert any(note.startswith(says) for note in notes(table, **options))


def test_a_test_table_without_a_target(table, fresh):
    assert notes(table, test=fresh) == (
        "The test records have no effect: there is no target to predict.",
    )


def test_constant_keys_and_a_constant_secret(table):
    same = table.with_columns(land=pl.lit("here"), town=pl.lit("there"))
    (told,) = notes(same, keys=["land", "age", "town"])
    assert told == (
        "The keys 'land' and 'town' have no effect: all original records have the same value, "
        "which tells nobody apart."
    )
    told = notes(same, sensitive="land")
    assert told[0].startswith("All original records have the same value of 'land'.")


def test_control_records_that_are_in_the_original(table, fresh):
    mixed = pl.concat([fresh.head(60), table.head(20)])
    (told,) = notes(table, control=mixed)
    assert told == (
        "20 of the 80 control records (25.0%) are in the original too, more than chance explains: "
        "they would not tell what is true of others, so they were not used. Give records that no "
        "synthesis used."
    )
    assert notes(table, control=pl.concat([fresh, table.head(1)])) == ()  # chance


@pytest.mark.parametrize("seed", range(5))
def test_records_that_are_alike_by_chance_are_not_told(seed):
    rng = np.random.default_rng(seed)
    few = pl.DataFrame({name: rng.integers(0, 3, 400) for name in ("age", "sex", "ill")})
    parts = hold_out(few, 0.25, by="ill", random_state=seed)
    assert notes(parts.kept, control=parts.held_out) == ()


def test_chance_in_common_is_that_of_a_random_split():
    # A twin: the split is drawn 4,000 times. The standard error of the mean is below 0.06, and that
    # of the variance about 2% of it.
    rng = np.random.default_rng(1)
    alike, drawn = np.repeat([1, 2, 3, 9, 12], [50, 20, 5, 1, 1]), 40
    groups = np.repeat(np.arange(len(alike)), alike)
    found = []
    for _ in range(4_000):
        mixed = rng.permutation(groups)
        found.append(np.isin(mixed[:drawn], mixed[drawn:]).sum())
    expected = drawn_in_common(alike, drawn, 0)
    assert expected.expected == pytest.approx(np.mean(found), abs=0.2)
    assert expected.variance == pytest.approx(np.var(found), rel=0.1)


def test_chance_in_common_where_nothing_is_left_to_chance():
    everything = drawn_in_common(np.array([3]), 1, 1)
    assert (everything.expected, everything.variance) == (1, 0)
    nothing = drawn_in_common(np.ones(10), 4, 0)
    assert nothing.expected == pytest.approx(0)
    assert nothing.variance == pytest.approx(0, abs=1e-9)


def test_honest_splits_keep_their_control_records():
    # Each would be thrown away with a probability of at most 1 in 1,000.
    rng = np.random.default_rng(2)
    kept = 0
    for _ in range(60):
        table = encode(pl.DataFrame({name: rng.integers(0, 12, 500) for name in "abc"}))
        other = encode(pl.DataFrame({name: rng.integers(0, 12, 300) for name in "abc"}))
        kept += not in_common("control", table, other)
    assert kept == 60


def test_control_records_that_the_release_holds(table, fresh):
    # Who gives the release as control would be told that all of it is a pattern.
    (told,) = notes(table, fresh, control=fresh)
    assert told == (
        "The release 'synthetic' holds more of the control records than of the original's. They "
        "would not tell what is true of others, so they were not used. Give records like the "
        "original's that no synthesis used."
    )
    asked = {"keys": ["age", "sex"], "sensitive": "ill", "measures": "quick"}
    figures = audit(table, fresh, control=fresh, **asked).findings.releases[0].figures
    assert all(np.isnan(one.control) for one in figures)


@pytest.mark.parametrize("seed", range(20))
def test_control_records_stay_whoever_the_release_is_of(seed):
    # Of 1,000 records that many share; each would be thrown away in one of 1,000 cases at most.
    rng = np.random.default_rng(seed)
    people = pl.DataFrame({name: rng.binomial(9, 0.5, 1000) for name in "abc"})
    original, control, others = people[:500], people[500:700], people[700:]
    releases = others, original, pl.concat([original, control])
    for table in releases:
        task = SimpleNamespace(releases=(Given("r", (table,)),))
        assert release_of_control(task, encode(original), encode(control)) == ""
    task = SimpleNamespace(releases=(Given("r", (others,)), Given("s", (control,))))
    assert release_of_control(task, encode(original), encode(control)) == "s"


def test_tables_of_another_schema(table, fresh):
    control = fresh.drop("pay").with_columns(more=1, most=2)
    assert notes(table, control=control) == (
        "The control records lack 'pay'. Attacks on whole records leave them out.",
        "The control records have 'more' and 'most', which the original lacks. That has no effect.",
    )


def findings(real, baseline=0.5):
    def one(accuracy):
        shares = [0.0] * 9
        return ClassifierFindings("tree", accuracy, 0.5, *shares[:3], (), (), *shares[3:])

    found = PredictionFindings(
        "job", (), "", "", baseline, 0.5, 0.5, 0.0, tuple(one(value) for value in real)
    )
    release = ReleaseFindings("a", "", 1, 9, utility=UtilityFindings(prediction=found))
    releases = (release, replace(release, name="b"))
    return Findings("1", "", 1.0, 0, "", "standard", 9, 3, ("k",), None, "s", "job", releases)


def test_a_target_that_nothing_predicted():
    (told,) = late_notices(findings([0.5, 0.45]))
    assert told.startswith("No classifier predicted the target 'job' better than its most frequent")
    assert "(50.0%), not even one that learnt from real records (50.0% at best)" in told
    assert not list(late_notices(findings([0.45, 0.51])))


def test_a_secret_of_which_everybody_has_a_value_of_their_own(table):
    names = table.with_columns(name=pl.Series([f"person {row}" for row in range(len(table))]))
    found = notes(names, sensitive="name")
    assert any("Nearly every original record has its own value of 'name'" in one for one in found)
