"""An audit by unit: what is counted, who is control, and what false alarms it avoids."""

import math

import numpy as np
import polars as pl
import pytest

import understudy
from understudy import Independent, Schema
from understudy.audit.measures import MEASURES
from understudy.audit.measures.prediction import split_by_unit
from understudy.audit.task import Given, Task
from understudy.audit.units import name_of_units, one_record_each, with_units
from understudy.errors import ParameterError
from understudy.risk.scenario import Scenario

HOW = {"keys": ["sex", "job"], "sensitive": "ill", "measures": "quick", "random_state": 1}


def panel(units, seed, first=0):
    """People with one to five equal records."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), rng.integers(1, 6, units))
    return pl.DataFrame(
        {
            "person": first + unit,
            "sex": rng.choice(["f", "m"], units)[unit],
            "job": rng.choice(list("abcdef"), units)[unit],
            "pay": rng.normal(0, 10, units).round(1)[unit],
            "age": rng.integers(16, 90, units)[unit],
            "ill": rng.choice(["no", "yes"], units)[unit],
        }
    )


@pytest.fixture(scope="module")
def tables():
    return panel(120, 1), panel(120, 2, 1000), panel(40, 3, 2000)


@pytest.fixture(scope="module")
def found(tables):
    original, release, control = tables
    return understudy.audit(original, release, control=control, unit_id="person", **HOW)


def p_values(audit):
    numbers = audit.findings.releases[0].numbers
    return {
        name: one
        for name, one in numbers.items()
        if name.endswith("p_value") and not math.isnan(one)
    }


def test_units_are_counted_and_named(tables, found):
    findings = found.findings
    assert (findings.rows, findings.unit_count, findings.unit_id) == (
        len(tables[0]),
        120,
        ("person",),
    )
    assert findings.everybody == f"120 people ({len(tables[0])} records)"
    assert any("120 people with" in note for note in findings.notes)
    assert f"of 120 people ({len(tables[0])} records)" in found.verdict.releases[0].sentences[0]
    again = understudy.Audit.from_json(found.to_json())
    assert (again.findings.unit_count, again.findings.unit_id) == (120, ("person",))
    assert "120 people" in found.to_html()


def test_fresh_units_are_no_risk_although_records_would_say_so(tables, found):
    assert found.findings.releases[0].errors == {}
    assert min(p_values(found).values()) > 0.01
    assert found.verdict.releases[0].answers["ordinary"].level != "high"
    by_record = understudy.audit(*tables[:2], control=tables[2], unit_id=[], **HOW)
    assert by_record.findings.unit_count is None
    assert min(p_values(by_record).values()) < min(p_values(found).values())
    assert any("looks like the name of a unit" in note for note in by_record.findings.notes)


def test_copies_of_single_records_are_seen(tables):
    original, release, _ = tables
    copied = original.group_by("person", maintain_order=True).first()[:60]
    held = pl.concat([release, copied.with_columns(pl.col("person") + 5000)])
    found = understudy.audit(original, held, unit_id="person", **HOW)
    assert found.verdict.releases[0].answers["records"].level == "high"
    assert found.findings.releases[0].figure("lookalikes").synthetic >= 0.45


def test_control_units_that_are_in_the_original_are_not_used(tables, found):
    expected = found
    original, release, control = tables
    ids = original["person"].unique()[:10]
    mixed = pl.concat([control, original.filter(pl.col("person").is_in(ids.implode()))])
    found = understudy.audit(original, release, control=mixed, unit_id="person", **HOW)
    told = [note for note in found.findings.notes if "are in the original too" in note]
    assert told[0].startswith("10 of the 50 units of the control records")
    # It is as if they had not been given.
    assert p_values(found) == p_values(expected)


@pytest.mark.slow
def test_no_control_records_are_left_if_all_are_of_the_original(tables):
    original, release, _ = tables
    none = understudy.audit(original, release, control=original, unit_id="person", **HOW)
    assert "membership_control" not in {one.measure for one in none.findings.releases[0].figures}


def test_test_units_that_are_in_the_original_are_not_used(tables):
    original, release, control = tables
    task, _, notes = with_units(
        task_of(original, release, control, test=pl.concat([control, original[:3]])), ("person",)
    )
    assert task.test.equals(control)
    assert notes[0].startswith("1 of the 41 units of the test records")
    bare = control.drop("person")
    assert with_units(task_of(original, release, None, test=bare), ("person",))[0].test is bare


def test_control_records_without_the_name_are_not_used(tables):
    original, release, control = tables
    found = understudy.audit(
        original, release, control=control.drop("person"), unit_id="person", **HOW
    )
    assert any("The control records lack 'person'" in note for note in found.findings.notes)
    assert np.isnan(found.findings.releases[0].figure("gcap").control)


def test_the_schema_of_a_model_names_the_unit(tables):
    original = tables[0]
    model = Independent(random_state=1).fit(
        original, Schema.infer(original).with_roles(unit="person")
    )
    found = understudy.audit(original, model.sample(), model=model, unit="patient", **HOW)
    assert found.findings.everybody == f"120 patients ({len(original)} records)"
    strong = found.findings.releases[0].strong
    assert strong.records == 120
    assert "all of its records" in strong.notes[0] or "any of its records" in strong.notes[0]
    numbers = found.findings.releases[0].numbers
    assert numbers["strong_unit.certain"] == 0
    assert numbers["membership.certain"] >= 0
    assert all(one.record < len(original) for one in found.findings.releases[0].worst)


def test_mistakes_are_told_before_any_work(tables):
    original, release, _ = tables
    with pytest.raises(ParameterError, match=r"unit_id: .*'persn'.*Did you mean 'person'"):
        understudy.audit(original, release, unit_id="persn", **HOW)
    with pytest.raises(ParameterError, match="cannot be a key, the sensitive column or the target"):
        understudy.audit(original, release, unit_id="sex", **HOW)
    with pytest.raises(ParameterError, match="unit_id must name columns; got 3"):
        understudy.audit(original, release, unit_id=3, **HOW)


def task_of(original, release, control, test=None):
    return Task(
        original,
        (Given("synthetic", (release,)),),
        Scenario(["sex"], "ill"),
        None,
        control,
        test,
        {},
        "quick",
        None,
        1,
        show_records=False,
    )


def test_one_record_of_each_unit_is_attacked(tables):
    task = task_of(*tables)
    task, units, _ = with_units(task, ("person",))
    attacked = one_record_each(task)
    assert attacked.original["person"].to_list() == list(range(120))
    assert attacked.control["person"].n_unique() == len(attacked.control) == 40
    assert units.count == 120
    assert attacked.releases is task.releases


def test_every_test_sees_one_record_of_each_unit_or_says_otherwise():
    whole = {one.name for one in MEASURES if one.of_units == "all records"}
    tested = {one.name for one in MEASURES if any(kind.tested for kind in one.figures)}
    assert tested & whole == {"lookalikes"}  # which compares whole units


def test_names_of_units():
    assert name_of_units(["hh_id"]) == "households"
    assert name_of_units(["x"]) == "units"


@pytest.mark.slow
def test_the_prediction_is_tested_on_other_units():
    rng = np.random.default_rng(1)
    unit = np.repeat(np.arange(60), 5)
    # What is to be predicted is a matter of chance, the same in all records of a person.
    table = pl.DataFrame(
        {
            "person": unit,
            "mark": rng.random(60).round(4)[unit],
            "label": rng.choice(["x", "y"], 60)[unit],
            "ill": rng.choice(["no", "yes"], 300),
        }
    )
    how = {"keys": ["mark"], "sensitive": "ill", "target": "label", "random_state": 1}
    by_unit, by_record = (
        understudy.audit(table, table, classifiers=None, unit_id=unit_id, **how)
        .findings.releases[0]
        .utility.prediction
        for unit_id in ("person", [])
    )
    forests = [
        one.real_accuracy
        for found in (by_unit, by_record)
        for one in found.classifiers
        if "forest" in one.classifier
    ]
    assert forests[1] > 0.9  # it has learnt the people by heart
    assert forests[0] < 0.75
    assert "held out from the real training but not from the synthesis" in by_unit.held_out


def test_units_are_split_whole():
    units = np.repeat(np.arange(20), 3)
    inside, outside = split_by_unit(units, 0.3, seed=1)
    assert len(np.unique(units[outside])) == 6
    assert set(units[inside]).isdisjoint(units[outside])
    assert len(inside) + len(outside) == 60


@pytest.mark.slow
def test_audits_of_fresh_units_hardly_ever_alarm():
    # 25 audits, of which one in 20 may alarm: more than 4 have a probability below 1%.
    alarms = 0
    for seed in range(25):
        original, release, control = (
            panel(units, 3 * seed + n, 1000 * n) for n, units in enumerate((80, 80, 30))
        )
        found = understudy.audit(original, release, control=control, unit_id="person", **HOW)
        answers = found.verdict.releases[0].answers
        alarms += any(answers[one].level in {"raised", "high"} for one in ("records", "ordinary"))
    assert alarms <= 4, alarms
