"""Own values: names that are kept, records that stand where their people stand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from understudy.errors import ParameterError
from understudy.risk import own_values

PEOPLE = 200


def letters(rng, count=PEOPLE):
    drawn = rng.choice(list("abcdefghijklmnop"), (count, 8))
    return ["".join(row) for row in drawn]


def table(seed, names):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": names,
            "age": rng.integers(20, 80, PEOPLE),
            "ill": rng.choice(["no", "yes"], PEOPLE),
        }
    )


NAMES = letters(np.random.default_rng(0))
ORIGINAL, FRESH = table(1, NAMES), table(2, letters(np.random.default_rng(3)))
NUMBERED = ORIGINAL.with_columns(name=pl.Series(range(PEOPLE)))


def found(original, release, columns="name", **more):
    return {
        mark.column: mark for mark in own_values(original, release, columns=columns, **more).marks
    }


def test_names_that_are_kept():
    mark = found(ORIGINAL, table(2, NAMES))["name"]
    assert (mark.people, mark.kept, mark.expected) == (PEOPLE, PEOPLE, 0)
    assert mark.kept_p_value < 1e-9
    assert mark.aligned_p_value > 0.01


def test_fresh_names():
    mark = found(ORIGINAL, FRESH)["name"]
    assert (mark.kept, mark.kept_p_value) == (0, 1.0)
    assert np.isnan(mark.aligned_p_value)


def test_names_that_people_share_are_found_by_chance():
    # Of 200 people, 100 share a name with one other: fresh people would find as many.
    shared = [*NAMES[:100], *NAMES[100:150], *NAMES[100:150]]
    mark = found(table(1, shared), table(2, [*NAMES[:50], *letters(np.random.default_rng(4), 150)]))
    assert mark["name"].people == 100
    assert mark["name"].kept == 50
    assert mark["name"].expected == 100
    assert mark["name"].kept_p_value > 0.05


@pytest.mark.parametrize("form", ["{}", "P{:05}", "no. {}"])
def test_running_numbers_may_be_made_up(form):
    names = [form.format(number) for number in range(PEOPLE)]
    mark = found(table(1, names), table(2, names))["name"]
    assert mark.kept == PEOPLE
    assert np.isnan(mark.kept_p_value)


def test_long_numbers_are_nobody_elses():
    names = np.random.default_rng(5).integers(10**9, 10**10, PEOPLE)
    assert found(table(1, names), table(2, names))["name"].kept_p_value < 1e-9


@pytest.mark.parametrize("column", ["age", "ill"])
def test_records_that_hold_what_is_true_of_their_owners(column):
    told = table(2, range(PEOPLE)).with_columns(ORIGINAL[column])
    mark = found(NUMBERED, told.sample(fraction=1, shuffle=True, seed=1))["name"]
    assert mark.aligned_p_value < 1e-4
    assert np.isnan(mark.kept_p_value)


def test_rows_in_the_original_order():
    told = FRESH.with_columns(ORIGINAL["ill"])
    marks = found(ORIGINAL, told)
    assert marks["row number"].aligned_p_value < 1e-4
    assert "row number" not in found(ORIGINAL, told[:-1])
    shuffled = told.sample(fraction=1, shuffle=True, seed=1)
    assert found(ORIGINAL, shuffled)["row number"].aligned_p_value > 0.001


def test_sorted_tables_agree_by_themselves():
    assert found(ORIGINAL.sort("age"), FRESH.sort("age"))["row number"].aligned_p_value > 0.01
    aged = ORIGINAL.select("age").sort("age"), FRESH.select("age").sort("age")
    assert np.isnan(found(*aged, columns=())["row number"].aligned_p_value)


def test_what_the_value_itself_tells_is_no_sign():
    def flights(seed):
        rng = np.random.default_rng(seed)
        airline = rng.choice(["LH", "BA", "AF", "KL"], 600)
        number = [
            f"{code}{one}" for code, one in zip(airline, rng.integers(1, 900, 600), strict=True)
        ]
        return pl.DataFrame({"number": number, "airline": airline, "delay": rng.normal(size=600)})

    original, fresh = flights(1), flights(2)
    mark = found(original, fresh, columns="number")["number"]
    assert mark.kept >= 20
    assert mark.aligned_p_value > 0.01
    # The delays go with the numbers only where people of the original are in the release.
    told = pl.concat([original[:300], fresh[300:]])
    assert found(original, told, columns="number")["number"].aligned_p_value < 1e-6


def test_control_records():
    other = letters(np.random.default_rng(6))
    release = table(2, [*NAMES[:80], *other[:20], *letters(np.random.default_rng(7), 100)])
    mark = found(ORIGINAL, release, control=table(3, other))["name"]
    assert (mark.kept, mark.control_people, mark.control_kept) == (80, PEOPLE, 20)


def test_the_result():
    result = own_values(ORIGINAL, table(2, NAMES), columns="name")
    assert result.worst.column == "name"
    assert result.p_value == pytest.approx(2 * result.worst.p_value)
    assert "the release holds those of 200; by chance it would hold those of 0." in str(result)
    (line,) = result.lines()
    assert (line.synthetic, line.baseline) == (1.0, 0.0)
    assert result.to_frame().height == 2
    nothing = own_values(ORIGINAL[:5], FRESH[:6], columns=[])
    assert (nothing.marks, nothing.lines()) == ((), [])
    assert np.isnan(nothing.p_value)
    assert nothing.to_frame().height == 0


def test_columns_are_those_of_the_schema():
    assert {mark.column for mark in own_values(ORIGINAL, FRESH).marks} == {"name", "row number"}
    with pytest.raises(ParameterError, match="'nam' is not a column"):
        own_values(ORIGINAL, FRESH, columns="nam")


@pytest.mark.long
def test_alarms_are_as_rare_as_they_are_said_to_be():
    values = [
        own_values(table(seed, letters(np.random.default_rng(seed))),
                   table(seed + 1, letters(np.random.default_rng(seed + 1))),
                   columns="name", random_state=seed).p_value
        for seed in range(0, 400, 2)
    ]  # fmt: skip
    # 200 tests at 5%: ten on average, and no more than 18 in 99 of 100 cases.
    assert sum(value < 0.05 for value in values) <= 18


def test_names_in_capitals_and_addresses_elsewhere():
    capitals = table(2, [name.upper() for name in NAMES])
    assert found(ORIGINAL, capitals)["name"].kept == PEOPLE
    here, there = (
        frame.with_columns(name=pl.Series([f"{name}@{host}" for name in NAMES]))
        for frame, host in ((ORIGINAL, "here.example"), (FRESH, "there.example"))
    )
    assert found(here, there)["name"].kept_p_value < 1e-9
