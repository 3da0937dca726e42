from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from understudy import Schema
from understudy.data.panel_records import Records, Values, find_time
from understudy.data.units import unit_codes


def arrays(table):
    return {name: table[name].to_arrow() for name in table.columns}


def test_units_are_numbered_in_the_order_of_the_file_and_gaps_stand_alone():
    first = pa.array(["b", "a", "b", None, None])
    second = pa.array([1, 1, 2, None, 3])
    assert unit_codes([first]).tolist() == [0, 1, 0, 2, 3]
    assert unit_codes([first, second]).tolist() == [0, 1, 2, 3, 4]
    assert unit_codes([pa.array(["x", "x"]).dictionary_encode()]).tolist() == [0, 0]


def test_records_are_sorted_by_time_and_ties_stay_in_order():
    found = Records.of(np.array([1, 0, 1, 1]), np.array([5, 9, 3, 5]))
    assert found.order.tolist() == [1, 2, 0, 3]
    assert found.counts.tolist() == [1, 3]
    assert found.unit.tolist() == [0, 1, 1, 1]
    assert found.number.tolist() == [0, 0, 1, 2]
    assert found.later.tolist() == [2, 3]


def test_missing_values_are_the_same_as_each_other_and_as_nothing_else():
    values = Values.of(pa.array([None, None, 0.0, 0.0]), "x", numeric=True)
    rows = np.array([1, 2, 3])
    assert values.same(rows, rows - 1).tolist() == [True, False, True]


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_column_that_differs_within_units_tells_the_time_if_it_is_named_so(shuffled):
    table = pl.DataFrame(
        {
            "id": np.repeat(np.arange(40), 3),
            "score": np.random.default_rng(1).normal(size=120).round(3),
            "wave": np.tile([1, 2, 3], 40),
        }
    )
    if shuffled:
        table = table.sample(fraction=1, shuffle=True, seed=1)
    schema = Schema.infer(table, kinds={"id": "identifier"})
    units = unit_codes([table["id"].to_arrow()])
    assert find_time(schema, arrays(table), units) == "wave"
    # A score differs within units, too, but neither rises nor is it named like a time.
    rest = table.drop("wave")
    assert find_time(schema.drop("wave"), arrays(rest), units) is None


def test_a_date_counts_more_than_a_name_and_a_name_more_than_rising():
    table = pl.DataFrame(
        {
            "age": np.tile([30, 31], 30),
            "year": np.tile([1990, 1991], 30),
            "seen": [date(2020, 1, 1), date(2020, 5, 1)] * 30,
        }
    )
    units = np.repeat(np.arange(30), 2)
    schema = Schema.infer(table)
    assert find_time(schema, arrays(table), units) == "seen"
    assert find_time(schema.drop("seen"), arrays(table), units) == "year"
    assert find_time(schema.drop("seen", "year"), arrays(table), units) == "age"
    assert find_time(schema, arrays(table), np.arange(60)) is None
