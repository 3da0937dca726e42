"""Lookalikes of whole units: any record counts, and other units are the next people."""

import numpy as np
import polars as pl
import pytest

from understudy.errors import DataError, ParameterError
from understudy.risk.lookalikes import lookalikes
from understudy.risk.lookalikes.near import Near
from understudy.risk.lookalikes.whole_units import (
    NearUnits,
    alone_and_equalled,
    drawn_units,
    family_of_units,
)

COLUMNS = 4


def fresh(units, seed, first=0, noise=0.0, most=5):
    """Units of one to `most` records: a person's constants, and perhaps what varies."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), rng.integers(1, most + 1, units))
    found = {"person": first + unit}
    for column in range(COLUMNS):
        values = rng.normal(0, 10, units)[unit]
        found[f"x{column}"] = (values + rng.normal(0, noise, len(unit)) * (column % 2)).round(1)
    return pl.DataFrame(found).with_columns(sex=pl.Series(rng.choice(["f", "m"], units)[unit]))


def test_units_of_one_record_give_what_records_give():
    tables = [fresh(60, seed, 1000 * seed, most=1) for seed in range(3)]
    tables[1] = pl.concat([tables[1], tables[0][:20].with_columns(pl.col("person") + 5000)])
    by_unit, by_record = (
        lookalikes(*held[:2], control=held[2], random_state=1, **more)
        for held, more in (
            (tables, {"unit_id": "person"}),
            ([table.drop("person") for table in tables], {}),
        )
    )
    for name in ("found", "expected", "p_value", "power", "people", "equal", "equal_but_one"):
        assert getattr(by_unit, name) == getattr(by_record, name), name
    assert by_unit.control == by_record.control
    assert (by_unit.unit_records, by_record.unit_records) == (60, None)
    assert by_unit.columns == by_record.columns  # the name itself is not compared


def test_one_copied_record_of_each_unit_is_found_however_many_others_there_are():
    original, release = fresh(40, 1, noise=9.0), fresh(40, 2, 1000, noise=9.0)
    copied = original.group_by("person", maintain_order=True).last()
    found = lookalikes(
        original,
        pl.concat([release, copied.with_columns(pl.col("person") + 5000)]),
        unit_id="person",
        random_state=1,
    )
    assert (found.people, found.found, found.equal) == (40, 40, 40)
    assert found.p_value < 0.005
    assert found.per_record()["unit"].n_unique() == 40


def test_records_of_the_same_unit_are_not_the_next_person():
    # Everybody has the same record three times: beside themselves, a copy is no lookalike.
    original = pl.concat([fresh(30, 1, most=1)] * 3)
    copy = original[:30].with_columns(pl.col("person") + 5000)
    assert lookalikes(original, copy, unit_id="person", random_state=1).found == 30
    assert lookalikes(original.drop("person"), copy.drop("person"), random_state=1).found == 0


def test_a_unit_counts_once_in_the_release_too():
    original = fresh(50, 1)
    found = lookalikes(original, fresh(50, 2, 1000), unit_id="person", random_state=1)
    assert {look.synthetic_records for look in found.looks} == {50}
    alone = fresh(50, 2, 1000).drop("person")  # nothing says what belongs together
    found = lookalikes(original, alone, unit_id="person", random_state=1)
    assert {look.synthetic_records for look in found.looks} >= {len(alone), 50}


def test_two_columns_name_a_unit_together():
    original = fresh(40, 1, most=4)
    paired = original.with_columns(home=pl.col("person") // 2, member=pl.col("person") % 2)
    one, two = (
        lookalikes(table.drop(*gone), fresh(40, 2, 1000).drop("person"), unit_id=by, random_state=1)
        for table, gone, by in (
            (paired, ["home", "member"], "person"),
            (paired, ["person"], ["home", "member"]),
        )
    )
    assert (one.people, one.found, one.p_value) == (two.people, two.found, two.p_value)


def test_mistakes_are_told():
    table = fresh(5, 1)
    with pytest.raises(ParameterError, match=r"unit_id: .*'persn'.*Did you mean 'person'"):
        lookalikes(table, table, unit_id="persn")
    with pytest.raises(DataError, match=r"need three units: .* has 2\."):
        lookalikes(table.with_columns(person=pl.int_range(pl.len()) % 2), table, unit_id="person")


def test_a_family_by_hand():
    # Unit 0 has records 0 and 1, units 1 and 2 one each.
    units = np.array([0, 0, 1, 2])
    near = Near(
        record=np.array([0.1, 9.0, 9.0, 9.0]),
        row=np.zeros(4, int),
        person=np.array([1.0, 2.0, 1.0, 2.0]),
        second=np.array([8.0, 3.0, 1.5, 2.5]),
        rounding=0.0,
        person_row=np.array([2, 3, 0, 1]),
    )
    found = family_of_units("whole", near, (units, units), 0.25, (1.0, 1.0), near.found(0.25) * 1.0)
    assert found.found.tolist() == [1, 0, 0]  # any of its records
    assert found.isolation.tolist() == [2, 1, 2]  # that of its most isolated record
    # Record 0 alone would have its nearest, of unit 1, as a lookalike; it would then be 8 away.
    assert found.paired.tolist() == [True]
    assert found.next_isolation.tolist() == [8]
    gathered = NearUnits.gathered(near, units, 0.25)
    assert gathered.found(0.25).tolist() == [True, False, False]
    assert gathered.person.tolist() == [2, 1, 2]


def test_equal_records_by_hand():
    from understudy.learning.mixed_distance import place_together

    original = pl.DataFrame({"a": list("xxyz"), "b": list("ppqr"), "c": list("mmnn")})
    release = pl.DataFrame({"a": list("xz"), "b": list("pr"), "c": list("mo")})
    placed = place_together({"original": original, "synthetic": release}, ["a", "b", "c"])
    tables = placed["original"], placed["synthetic"]
    # The first two records are one unit's: no other unit has them. The last differs in c.
    assert alone_and_equalled(*tables, np.array([0, 0, 1, 2])) == (1, 2)
    assert alone_and_equalled(*tables, np.array([0, 1, 2, 3])) == (0, 1)


def test_as_many_records_of_each_unit_are_drawn():
    units = np.repeat(np.arange(30), 4)
    rng = np.random.default_rng(1)
    assert np.bincount(units[drawn_units(units, 70, rng)]).tolist() == [2] * 30
    few = drawn_units(units, 20, rng)
    assert len(few) == len(np.unique(units[few])) == 20
    assert drawn_units(units, 120, rng).tolist() == list(range(120))


def test_some_records_of_each_unit_stand_for_all():
    original = fresh(40, 1, noise=9.0, most=6)
    copied = original.with_columns(pl.col("person") + 5000)
    found = lookalikes(original, copied, unit_id="person", people=60, random_state=1)
    assert (found.people, found.found) == (40, 40)
    assert len(found.per_record()) == 40
    assert "40 of the" in found.notes[-1]


@pytest.mark.slow
def test_fresh_units_alarm_no_more_often_than_they_may():
    # 60 tables: more than 8 alarms at 5% each have a probability below 1%.
    alarms, by_record = np.zeros(2, int), 0
    for seed in range(60):
        tables = [fresh(50, 3 * seed + n, 1000 * n) for n in range(3)]
        found = lookalikes(*tables[:2], control=tables[2], unit_id="person", random_state=1)
        alarms += found.p_value < 0.05, found.control.p_value < 0.05
        alone = [table.drop("person") for table in tables]
        found = lookalikes(*alone[:2], control=alone[2], random_state=1)
        by_record += found.control.p_value < 0.05
    assert alarms.max() <= 8, alarms
    assert by_record > 8, by_record  # records of one unit are no independent evidence
