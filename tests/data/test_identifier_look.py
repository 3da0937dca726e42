"""Which columns have the look of an identifier: typical ones by hand, and what never does."""

from __future__ import annotations

import hashlib
import uuid

import numpy as np
import polars as pl
import pytest

from understudy import Schema
from understudy.data.identifier_look import (
    block_of,
    looks_like_epoch,
    named_like_codes,
    named_like_measure,
    named_like_one,
    text_in_disguise,
    why_number_is_one,
    words_of,
)

RNG = np.random.default_rng(1)
ROWS = 300


def kind_of(values, name="x"):
    return Schema.infer(pl.DataFrame({name: values}))[name].kind


NUMBERS = {
    "row numbers": np.arange(ROWS),
    "row numbers in any order": RNG.permutation(ROWS) + 1,
    "nine digits": RNG.choice(9 * 10**8, ROWS, replace=False) + 10**8,
    "a block of a register": RNG.choice(10**6, ROWS, replace=False) + 483_000_000,
    "in order, with gaps": np.cumsum(RNG.integers(1, 8, ROWS)) + 1000,
    "the year first": np.concatenate([20190001 + np.arange(180), 20200001 + np.arange(120)]),
    "every tenth number": 10 * RNG.permutation(ROWS),
    "floats that are whole": (RNG.permutation(ROWS) + 1).astype(float),
    "with a gap": [None, *map(float, RNG.permutation(ROWS))],
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_were_given_out_are_identifiers(name):
    assert kind_of(NUMBERS[name]) == "identifier"


MEASURES = {
    "survival times": np.unique(RNG.exponential(1500, ROWS).astype(int)),
    "a small trial": np.unique(RNG.exponential(600, 26).astype(int)),
    "incomes": np.unique(RNG.lognormal(10.5, 0.5, ROWS).astype(int)),
    "populations": np.unique(RNG.pareto(1, ROWS) * 5000 + 100).astype(int),
    "five-digit incomes": np.unique(
        np.clip(RNG.normal(38_000, 9_000, ROWS), 10_000, 99_000)
    ).astype(int),
    "seconds since 1970": 1_600_000_000 + RNG.choice(10**8, ROWS, replace=False),
    "milliseconds since 1970": (1_600_000_000 + RNG.choice(10**8, ROWS, replace=False)) * 1000,
}


@pytest.mark.parametrize("name", MEASURES)
def test_measures_that_all_differ_stay_numbers(name):
    values = np.unique(MEASURES[name])
    assert len(values) >= 20
    assert kind_of(RNG.permutation(values)) == "integer"


@pytest.mark.parametrize("name", ["age", "year", "survival_days", "income", "population", "futime"])
def test_a_name_that_says_what_is_measured_overrules_the_values(name):
    assert kind_of(np.arange(1980, 2010), name) == "integer"


@pytest.mark.parametrize(
    "name",
    ["id", "ID", "person_id", "patientId", "PATIENT ID", "ssn", "phone", "uuid", "key", "code",
     "case_no", "Kundennummer nr", "policy_number", "passport", "iban", "e_mail", "row"],
)  # fmt: skip
def test_a_name_that_says_so_is_enough_for_numbers_that_differ(name):
    assert kind_of(MEASURES["incomes"], name) == "identifier"


@pytest.mark.parametrize("name", ["number_of_visits", "no_of_children", "n_items", "visit count"])
def test_counts_are_no_numbering(name):
    assert kind_of(MEASURES["incomes"], name) == "integer"


def test_short_columns_need_a_name():
    assert kind_of(range(10)) == "integer"
    assert kind_of(range(10), "id") == "identifier"
    assert kind_of([f"k{n}" for n in range(10)], "id") == "identifier"
    assert kind_of([f"k{n}" for n in range(10)]) == "categorical"
    assert kind_of(range(4), "id") == "integer"  # too few to say anything
    assert kind_of(range(10), "number") == "integer"  # a weaker word


def test_values_that_repeat_are_no_identifiers():
    assert kind_of([*range(100), 0]) == "integer"
    assert kind_of([*range(100), 0], "number") == "integer"
    assert kind_of([*range(100), *range(50)], "hp") == "integer"
    assert kind_of([*range(15)] * 30, "id") == "integer"


def test_a_record_may_be_there_twice_if_the_name_says_so():
    assert kind_of([*range(100), 0], "id") == "identifier"


@pytest.mark.parametrize("name", ["phone_minutes", "email count", "mobile_cost"])
def test_what_is_measured_about_a_phone_is_no_number_of_it(name):
    assert kind_of(MEASURES["incomes"], name) == "integer"
    assert kind_of(MEASURES["incomes"], f"{name}_id") == "identifier"


TEXTS = {
    "uuids": [str(uuid.UUID(int=int.from_bytes(RNG.bytes(16)), version=4)) for _ in range(40)],
    "hashes": [hashlib.sha256(bytes([n])).hexdigest() for n in range(40)],
    "addresses": [f"{n}.x@firm.com" for n in range(40)],
    "names": [f"Anna {chr(65 + n)}. Meyer" for n in range(26)],
    "plates": [f"B-XY {n}" for n in range(1000, 1040)],
    "phone numbers": [f"+49 30 {n}" for n in range(5551000, 5551040)],
    "leading zeros": [f"{n:08}" for n in range(40)],
    "social security": [f"{100 + n}-12-{1000 + n}" for n in range(40)],
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_that_all_differ_are_identifiers(name):
    assert kind_of(TEXTS[name]) == "identifier"


DISGUISED = {
    "money": [f"${7061.73 + n:,.2f}" for n in range(40)],
    "euros": [f"{n},50 €" for n in range(1000, 1040)],
    "decimals": [f"{n}.25" for n in range(40)],
    "percent": [f"{n}.5%" for n in range(40)],
    "dates": [f"{1 + n % 12:02}/{1 + n % 28:02}/{1990 + n}" for n in range(40)],
    "dates with a dot": [f"{1 + n % 28}.{1 + n % 12}.{1990 + n}" for n in range(40)],
    "dates with a month": [f"{1 + n % 28}-Mar-{1990 + n}" for n in range(40)],
    "times": [f"{n % 24:02}:{n:02}" for n in range(40)],
}


@pytest.mark.parametrize("name", DISGUISED)
def test_numbers_and_dates_in_disguise_are_refused_rather_than_replaced(name):
    assert kind_of(DISGUISED[name]) == "text"


@pytest.mark.parametrize("name", TEXTS)
def test_identifiers_are_no_disguised_numbers(name):
    assert text_in_disguise(pl.Series(TEXTS[name]).to_arrow()) == ""


@pytest.mark.parametrize("text", ["({0}.25, -{0}.5)", "{0}.25 {0}.75", "{0},91,537"])
def test_pairs_of_numbers_and_other_groups_of_digits_are_numbers(text):
    texts = [text.format(n) for n in range(10, 60)]
    assert kind_of(texts) == "text"
    assert text_in_disguise(pl.Series(texts).to_arrow()) == "numbers"


def test_measured_types_are_never_identifiers():
    for kind in (pl.Date, pl.Datetime("ms"), pl.Duration("ms")):
        frame = pl.DataFrame(
            {"id": pl.Series(range(1, 60), dtype=pl.Int64).cast(pl.Int32).cast(kind)}
        )
        assert Schema.infer(frame)["id"].kind in ("datetime", "integer")
    assert kind_of([n + 0.5 for n in range(60)], "id") == "real"


def test_the_reason_is_told():
    assert why_number_is_one("x", np.arange(30), 30) == "they count up"
    assert why_number_is_one("x", 5 * np.arange(30), 30) == "they count up in equal steps"
    assert why_number_is_one("id", np.arange(30) ** 2, 30) == "the name says so"
    assert why_number_is_one("x", np.arange(30) ** 2, 30) == ""
    assert why_number_is_one("x", np.arange(30), 31) == ""  # one occurs twice
    sparse = np.sort(NUMBERS["in order, with gaps"])
    assert why_number_is_one("x", sparse, ROWS) == "they are spread evenly and none occurs twice"
    assert "9 digits" in why_number_is_one("x", np.sort(NUMBERS["nine digits"]), ROWS)


def test_words_of_a_name():
    assert words_of("HTTPServer_id2") == ["http", "server", "id", "2"]
    assert named_like_one("userID")
    assert not named_like_one("idea")
    assert named_like_measure("Survival time")
    assert named_like_codes("zip")
    assert not named_like_codes("zipper")


def test_the_block_of_numbers_that_begin_alike():
    assert block_of(np.array([10_000, 98_000])) == (10_000, 99_999)
    assert block_of(np.array([99, 100])) == (0, 0)  # not as many digits
    assert block_of(np.array([-5, -3])) == (0, 0)


def test_times_since_1970():
    assert looks_like_epoch(np.array([1_500_000_000, 1_700_000_000]))
    assert not looks_like_epoch(np.array([1_500_000_000, 9_700_000_000]))
    assert not looks_like_epoch(np.array([], int))
