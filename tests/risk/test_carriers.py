"""Other columns as carriers: which are found, which are not, and how often chance is called one."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest

from understudy.data.joint_coding import code_together
from understudy.errors import DataError, ParameterError
from understudy.risk import attribution, carriers
from understudy.risk.known_people import Secret, _rarely_right
from understudy.risk.tolerance import Tolerance, number_target

KEYS = ["age", "job", "town"]


def people(seed, rows=600):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.normal(50, 15, rows).round(1),
            "job": rng.choice(list("abcdef"), rows),
            "town": rng.integers(0, 40, rows).astype(str),
            "ill": rng.choice(["no", "flu", "gout"], rows, p=[0.5, 0.3, 0.2]),
            "pay": rng.lognormal(10, 1, rows),
            "shoes": rng.normal(42, 2, rows).round(),
        }
    )


SHUFFLED = pl.col("ill", "pay").shuffle(1)


def renamed(original, seed=3):
    names = {"no": "K7", "flu": "Q1", "gout": "A9"}
    return original.with_columns(SHUFFLED, code=original["ill"].replace_strict(names))


def noisy(original, seed=3):
    noise = np.random.default_rng(seed).normal(0, 0.1, len(original))
    values = original["ill"].replace_strict({"no": 1.0, "flu": 2.0, "gout": 3.0}).to_numpy()
    return original.drop("ill").with_columns(code=pl.Series(-7 * (values + noise)))


@pytest.mark.parametrize("marked", [pl.col("job") + " ", pl.col("job").str.to_uppercase()])
def test_a_key_that_is_spelt_in_several_ways(marked):
    original = people(1)
    job = pl.when(original["ill"] == "no").then(marked).otherwise("job")
    release = original.with_columns(SHUFFLED, job=job)
    found = carriers(original, release, keys=KEYS, sensitive="ill")
    # Half have "no", and of the others three of five the flu.
    assert found.worst.column == "job"
    assert found.worst.accuracy == pytest.approx(0.8, abs=0.08)
    assert found.p_value < 1e-6
    # A spelling that means nothing tells nothing; and spelt as they are, keys are not tried.
    noise = pl.Series(np.random.default_rng(2).random(len(original)) < 0.5)
    chance = original.with_columns(SHUFFLED, job=pl.when(noise).then(marked).otherwise("job"))
    assert carriers(original, chance, keys=KEYS, sensitive="ill").p_value > 0.05
    plain = carriers(original, original.with_columns(SHUFFLED), keys=KEYS, sensitive="ill")
    assert {one.column for one in plain.columns}.isdisjoint(KEYS)


@pytest.mark.parametrize("leak", [renamed, noisy])
def test_the_column_that_holds_it_is_found(leak):
    original = people(1)
    release = leak(original)
    found = carriers(original, release, keys=KEYS, sensitive="ill")
    assert found.worst.column == "code"
    assert found.worst.accuracy > 0.9
    assert found.p_value < 1e-6
    if "ill" in release.columns:
        assert attribution(original, release, keys=KEYS, sensitive="ill").gain < 0.05


def test_keys_that_are_a_little_off():
    original = people(2)
    rng = np.random.default_rng(0)
    release = renamed(original).with_columns(
        age=pl.col("age") + pl.Series(rng.normal(0, 0.05, 600))
    )
    found = carriers(original, release, keys=KEYS, sensitive="ill")
    assert found.worst.column == "code"
    assert found.worst.accuracy > 0.8


def test_numbers_and_dates_in_disguise():
    original = people(3)
    rng = np.random.default_rng(0)
    release = original.drop("pay").with_columns(
        log=pl.Series(np.log(original["pay"].to_numpy()) + rng.normal(0, 0.01, 600))
    )
    found = carriers(original, release, keys=KEYS, sensitive="pay")
    assert (found.tolerance, found.worst.column) == (Tolerance(0.05, "ranks"), "log")
    assert found.worst.accuracy > 0.8
    days = pl.date_range(pl.date(2000, 1, 1), pl.date(2001, 12, 31), eager=True)[:600].shuffle(1)
    dated = original.with_columns(day=days)
    release = dated.drop("day").with_columns(later=dated["day"].dt.offset_by("3y"))
    found = carriers(dated, release, keys=KEYS, sensitive="day")
    assert found.worst.column == "later"
    assert found.p_value < 1e-6


def test_a_tenth_of_the_people_is_found_by_their_keys():
    original, fresh = people(4, 2000), people(5, 2000)
    release = pl.concat([renamed(original)[:300], renamed(fresh)])
    found = carriers(original, release, keys=KEYS, sensitive="ill")
    assert (found.worst.column, found.worst.exact) == ("code", True)
    assert found.p_value < 1e-3


def test_people_kept_back_are_not_told():
    original, control = people(6), people(7, 500)
    found = carriers(original, renamed(original), keys=KEYS, sensitive="ill", control=control)
    assert found.worst.compared.difference > 0.3
    assert found.difference_p_value < 1e-6
    assert found.worst.control < 0.6
    assert "not in the data" in found.summary()


def test_several_releases():
    original = people(8)
    halves = [renamed(original)[:300], renamed(original)[300:].drop("shoes")]
    found = carriers(original, halves, keys=KEYS, sensitive="ill")
    assert {one.column for one in found.columns} == {"code", "pay"}
    assert found.worst.accuracy == 1


def test_patterns_of_the_keys_are_no_carriers():
    # The illness follows from the job, and so does a column of the release: the known people tell
    # as much by the job alone.
    original, fresh = people(9), people(10)
    told = pl.col("job").replace_strict(dict(zip("abcdef", ["no", "flu", "gout"] * 2, strict=True)))
    original, fresh = (table.with_columns(ill=told) for table in (original, fresh))
    found = carriers(original, renamed(fresh), keys=KEYS, sensitive="ill")
    assert found.worst.gain <= 0
    assert found.p_value == 1


def test_the_result_in_all_its_forms(as_frame):
    original = as_frame(people(11, 100).to_dict(as_series=False))
    found = carriers(original, original, keys=KEYS, sensitive="ill", people=90)
    assert type(found.to_frame()) is type(original)
    assert found.people == 90
    assert "90 of 100 people" in found.reasons["people"]
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["worst"]["column"] in ("pay", "shoes")
    (line,) = found.lines()
    assert line.gain == found.worst.gain
    again = carriers(original, original, keys=KEYS, sensitive="ill", people=90)
    assert again.to_dict() == found.to_dict()


def test_nothing_to_try():
    few = people(12, 30)
    found = carriers(few, few, keys=KEYS, sensitive="ill")
    assert found.worst is None
    assert math.isnan(found.p_value)
    assert "No other column" in found.summary()
    assert found.lines() == []
    assert carriers(few, few.select(KEYS), keys=KEYS, sensitive="ill").columns == ()


def test_mistakes():
    table = people(13, 30)
    with pytest.raises(ParameterError, match=r"columns: .*'code'"):
        carriers(table, table, keys=KEYS, sensitive="ill", columns="code")
    with pytest.raises(ParameterError, match="The synthetic table has no column 'town'"):
        carriers(table, table.drop("town"), keys=KEYS, sensitive="ill")
    with pytest.raises(ParameterError, match="people must be a whole number from 1"):
        carriers(table, table, keys=KEYS, sensitive="ill", people=0)
    with pytest.raises(DataError, match="no rows"):
        carriers(table, table.clear(), keys=KEYS, sensitive="ill")
    nothing = table.with_columns(pay=pl.when(pl.int_range(30) == 3).then(pl.col("pay")))
    with pytest.raises(DataError, match="known of fewer than two people"):
        carriers(nothing, table, keys=KEYS, sensitive="pay", tolerance=1)


def test_what_a_value_stands_for():
    labels = Secret({}, 3, None)
    seen, truths = np.array([0, 0, 0, 1, 1, 2]), np.array([2, 2, 1, 0, 1, 0])
    # Of the two of value 1, both codes are as frequent there and in all: the first. 7 is unseen.
    assert labels.learnt(seen, truths, np.array([0, 1, 2, 7])).tolist() == [2, 0, 0, 0]
    coded = code_together({"original": pl.DataFrame({"s": range(5)})}, ["s"])
    number = number_target("s", coded.levels["s"], coded["original"]["s"], 1)
    numbers = Secret({}, 5, number)
    seen, truths = np.array([0, 0, 0, 1, 1]), np.array([4, 0, 3, 1, 2])
    assert numbers.learnt(seen, truths, np.array([0, 1])).tolist() == [3, 1]
    # 1 is near 0, 1 and 2, and so is no other number: 2, 3 and 4 are near 3.
    assert numbers.best_constant(np.array([0, 1, 2])) == 1


@pytest.mark.long
@pytest.mark.parametrize("sensitive", ["ill", "pay"])
def test_chance_is_called_a_carrier_in_one_of_twenty_at_most(sensitive):
    alarms, differences = 0, 0
    for seed in range(200):
        original, release, control = (people(3 * seed + part, 300) for part in range(3))
        found = carriers(original, release, keys=KEYS, sensitive=sensitive, control=control)
        alarms += found.p_value <= 0.05
        differences += found.difference_p_value <= 0.05
    assert max(alarms, differences) <= 14


def test_the_sensitive_column_with_its_values_exchanged():
    original = people(9)
    exchange = {"no": "flu", "flu": "gout", "gout": "no"}
    release = original.with_columns(pl.col("ill").replace_strict(exchange))
    found = carriers(original, release, keys=KEYS, sensitive="ill")
    assert (found.worst.column, found.p_value < 1e-6) == ("ill", True)
    # As it is, it is no carrier: looking it up is what the other attacks do.
    plain = carriers(original, original, keys=KEYS, sensitive="ill")
    assert "ill" not in {one.column for one in plain.columns}


@pytest.mark.parametrize(
    "exchange",
    [
        {"a": "b", "b": "c", "c": "a"},
        # Who looks it up is right for as many as by chance.
        {"a": "a", "b": "c", "c": "b"},
    ],
)
def test_values_that_are_exchanged_for_others_as_frequent(exchange):
    original = people(14).with_columns(ill=pl.Series(list("abc") * 200).shuffle(1))
    release = original.with_columns(pl.col("ill").replace_strict(exchange)).sample(600, seed=1)
    found = carriers(original, release, keys=KEYS, sensitive="ill")
    assert (found.worst.column, found.worst.accuracy) == ("ill", 1)


@pytest.mark.parametrize("moved", [60, 300, None])
def test_numbers_that_are_exchanged_for_others_as_frequent(moved):
    original = people(15)
    values, ranks = original["pay"].sort(), original["pay"].rank("ordinal").to_numpy() - 1
    place = 599 - ranks if moved is None else (ranks + moved) % 600
    release = original.with_columns(values[place].alias("pay"))
    found = carriers(original, release, keys=KEYS, sensitive="pay")
    assert (found.worst.column, found.worst.accuracy > 0.8) == ("pay", True)


@pytest.mark.slow
def test_the_sensitive_column_of_others_is_hardly_ever_tried():
    # With 100 releases and at most 1% by chance, more than 5 have a probability below 1 in 1,000.
    tried = 0
    for seed in range(100):
        original, fresh = people(2 * seed, 200), people(2 * seed + 1, 200)
        found = carriers(original, fresh, keys=KEYS, sensitive="ill")
        tried += any(one.column == "ill" for one in found.columns)
    assert tried <= 5


@pytest.mark.parametrize("size", [2, 5, 40])
def test_guesses_at_random_are_rarely_right_as_often_as_is_said(size):
    # At most 5%, with three standard errors of 500 draws.
    rng = np.random.default_rng(size)
    shares = rng.dirichlet(np.ones(size))
    drawn = [
        _rarely_right(*(rng.choice(size, 100, p=shares) for _ in range(2))) <= 0.05
        for _ in range(500)
    ]
    assert np.mean(drawn) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 500)


def test_a_few_guesses_tell_nothing():
    assert _rarely_right(np.array([0]), np.array([1])) == 1
    assert _rarely_right(np.array([], int), np.array([], int)) == 1


def test_a_column_for_each_value():
    original = people(10)
    ones = original["ill"].to_dummies()
    found = carriers(original, original.drop("ill").hstack(ones), keys=KEYS, sensitive="ill")
    assert found.worst.column == " + ".join(ones.columns)
    assert found.worst.accuracy > 0.95
    # So many combinations that nothing can be learnt from them are left out.
    rng = np.random.default_rng(1)
    many = pl.DataFrame({f"x{place}": rng.integers(0, 9, 600) for place in range(3)})
    tried = carriers(original, original.hstack(many), keys=KEYS, sensitive="ill")
    assert all("+" not in one.column for one in tried.columns)
