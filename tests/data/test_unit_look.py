"""Columns that name people, households or firms with several records."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from understudy import Schema
from understudy.data.decisions import decisions
from understudy.data.unit_look import Repeats, named_like_unit, why_unit

RNG = np.random.default_rng(17)
HOMES = np.repeat(RNG.choice(np.arange(1000, 9999), 200, replace=False), RNG.integers(1, 6, 200))
SHUFFLED = RNG.permutation(HOMES)


def test_names_that_name_units():
    names = "id pid hhid household household_nr persnum patient Individual-ID provnum customer-name"
    for name in (*names.split(), "firm", "tailnum", "nr", "countyid", "EMAIL", "customerID"):
        assert named_like_unit(name), name


def test_names_that_name_no_units():
    names = "age income household-income household_size number_of_persons paid valid person-weight"
    others = "city state n_persons patient-age order-date customer-years NumberofLocations x covid"
    for name in (*names.split(), *others.split(), "minimum", "thyroid", "fluid"):
        assert not named_like_unit(name), name


@pytest.mark.parametrize("name", ["household", "hh_id", "pid", "nr"])
def test_a_named_column_is_recognised_in_any_order(name):
    assert why_unit(name, pa.array(SHUFFLED)) == "the name says so"
    assert why_unit(name, pa.array([f"H{one}" for one in SHUFFLED])) == "the name says so"


def test_numbers_with_gaps_and_floats_are_recognised():
    with_gaps = [None if n % 7 == 0 else float(home) for n, home in enumerate(SHUFFLED)]
    assert why_unit("household", pa.array(with_gaps))
    not_a_number = np.array([np.nan if one is None else one for one in with_gaps])
    assert why_unit("household", pa.array(not_a_number))
    assert not why_unit("household", pa.array(SHUFFLED + 0.5))


def test_values_tell_without_a_name():
    assert why_unit("x", pa.array(HOMES)) == "records with the same value stand together"
    balanced = np.tile(RNG.choice(10**6, 100, replace=False), 5)
    assert why_unit("x", pa.array(balanced)) == "all have the same number of records"
    codes = [f"N{one:05d}" for one in RNG.permutation(np.repeat(np.arange(300), 3))]
    assert why_unit("x", pa.array(codes)) == "they look like codes that were given out"
    mails = [f"p{one}@firm.com" for one in SHUFFLED]
    assert why_unit("x", pa.array(mails)) == "they are e-mail addresses"
    assert why_unit("x", pa.array(mails).dictionary_encode())


def zipf(levels, records):
    shares = 1 / np.arange(1, levels + 1)
    return RNG.choice(levels, records, p=shares / shares.sum())


MEASURES = {
    "income": np.round(RNG.lognormal(8, 1, 1000)).astype(int),
    "amounts": 10 * np.round(RNG.lognormal(4, 1, 1000)).astype(int),
    "sorted amounts": np.sort(np.round(RNG.lognormal(8, 1, 1000)).astype(int)),
    "year": np.repeat(np.arange(1900, 2000), 5),
    "ages": RNG.integers(16, 95, 1000),
    "few": np.repeat(np.arange(12), 50),
    "epoch": np.repeat(1_500_000_000 + RNG.integers(0, 10**8, 200), 4),
    "counts": RNG.poisson(40, 1000),
}


@pytest.mark.parametrize("name", MEASURES)
def test_measures_are_not_recognised(name):
    assert not why_unit(name if name in ("income", "year") else "x", pa.array(MEASURES[name]))


def test_places_and_codes_with_a_law_are_not_recognised():
    cities = [f"City of {chr(65 + one % 26)}{one}" for one in zipf(150, 3000)]
    assert not why_unit("city", pa.array(cities))
    jobs = [f"{one:04d}" for one in zipf(400, 5000)]
    assert not why_unit("x", pa.array(jobs))  # few of them hold most of the records
    assert not why_unit("zip code", pa.array([f"{one:05d}" for one in SHUFFLED]))
    assert not why_unit("price", pa.array([f"${one}.50" for one in SHUFFLED]))
    assert not why_unit("flag", pa.array([True, False] * 500))


def test_an_identifier_of_records_is_no_unit():
    assert not why_unit("id", pa.array(np.arange(100)))
    assert not why_unit("id", pa.array([*range(99), 0]))


def test_a_schema_makes_it_an_identifier_and_asks():
    table = pl.DataFrame({"household": SHUFFLED, "age": RNG.integers(16, 95, len(SHUFFLED))})
    schema = Schema.infer(table)
    assert (schema["household"].kind, schema["household"].role) == ("identifier", "identifier")
    assert schema.units == ()  # until it is named
    (first, remark), *_ = decisions(table, schema).warnings
    assert (first.column, remark.topic) == ("household", "unit")
    assert f"200 values in {len(SHUFFLED):,} records" in remark.why
    assert Schema.infer(table, kinds={"household": "integer"})["household"].kind == "integer"


def test_a_named_unit_is_told_and_not_asked_about():
    table = pl.DataFrame({"household": SHUFFLED})
    schema = Schema.infer(table).with_roles(unit="household")
    assert schema.units == ("household",)
    (_, remark), *_ = decisions(table, schema).warnings
    assert remark.topic == "made up"
    assert remark.why == f"names the units: 200 in {len(SHUFFLED):,} records"


@pytest.mark.parametrize("order", [["intnum", "persnum"], ["persnum", "intnum"]])
def test_a_pair_of_household_and_person_is_a_pair_of_names(order):
    person = np.concatenate([np.arange(times) for times in np.unique(HOMES, return_counts=True)[1]])
    homes = np.sort(HOMES)
    table = pl.DataFrame({"intnum": homes, "persnum": person + 1, "kids": person}).select(
        [*order, "kids"]
    )
    schema = Schema.infer(table)
    assert schema.identifiers == tuple(order)
    assert schema["kids"].kind == "integer"
    assert decisions(table, schema)["persnum"].remarks[0].why == (
        "values replaced: it seems to number a unit's members"
    )


def test_a_column_that_names_others_of_the_table_is_one_of_names():
    people = RNG.choice(10**9, 300, replace=False)
    by = [None if n % 3 else int(one) for n, one in enumerate(RNG.choice(people[:150], 300))]
    table = pl.DataFrame(
        {"patient_id": people, "infected_by": by, "pay": RNG.integers(0, 10**9, 300)}
    )
    schema = Schema.infer(table)
    assert schema.identifiers == ("patient_id", "infected_by")
    # Among small numbers, any count would be one of them.
    table = pl.DataFrame({"id": range(300), "children": RNG.integers(0, 40, 300)})
    assert Schema.infer(table).identifiers == ("id",)


def test_random_columns_are_hardly_ever_taken_for_names():
    found = []
    for _ in range(60):
        rows = int(RNG.integers(50, 1000))
        levels = int(RNG.integers(2, rows))
        letters = np.array(list("abcdefgh"))
        columns = (
            RNG.integers(0, levels, rows),
            RNG.poisson(levels / 3, rows),
            np.round(RNG.lognormal(5, 1, rows)).astype(int),
            letters[RNG.integers(0, 8, (rows, 2))].view("<U2").ravel(),
        )
        found += [bool(why_unit("x", pa.array(values))) for values in columns]
    assert sum(found) <= 0.01 * len(found)


def test_a_scale_is_no_name():
    table = pl.DataFrame({"person": [str(one) for one in SHUFFLED]})
    levels = sorted(set(table["person"]))
    scale = table.cast(pl.Enum(levels)).to_pandas()
    scale["person"] = scale["person"].cat.as_ordered()
    assert Schema.infer(scale)["person"].kind == "categorical"
    scale["person"] = scale["person"].cat.as_unordered()
    assert Schema.infer(scale)["person"].kind == "identifier"


def test_a_year_is_no_member_of_a_unit():
    table = pl.DataFrame({"nr": np.repeat(np.arange(100), 8), "year": [*range(1980, 1988)] * 100})
    assert Schema.infer(table).identifiers == ("nr",)


def test_no_made_up_name_is_one_of_the_original():
    from understudy import Independent

    table = pl.DataFrame({"household": SHUFFLED, "age": RNG.integers(16, 95, len(SHUFFLED))})
    made = Independent(random_state=1).fit(table).sample()
    assert set(made["household"]).isdisjoint(SHUFFLED.tolist())
    assert made["household"].n_unique() == len(made)  # a unit for each row


def test_repeats_by_hand():
    found = Repeats.of(pa.array(["a", "a", "b", None, "b", "a"]))
    assert found.counts.tolist() == [3, 2]
    assert (found.values, found.records) == (2, 5)
    assert not found.together
    assert Repeats.of(pa.array(["a", "a", "b", "b"])).alike
