"""Tables made ready for an attack: coded alike, and refused with a reason."""

from __future__ import annotations

import logging

import numpy as np
import polars as pl
import pytest

from understudy.errors import DataError, ParameterError
from understudy.risk.prepare import prepare
from understudy.risk.scenario import Scenario

SCENARIO = Scenario(["age", "sex"], "ill")
ORIGINAL = {"ill": ["y", "n", None], "sex": ["f", "m", "f"], "age": [30, 31, 31]}
SYNTHETIC = {"sex": ["m", "f"], "age": [31, 40], "ill": ["n", "n"], "other": [1, 2]}


def test_tables_are_coded_alike(as_frame):
    ready = prepare(as_frame(ORIGINAL), [as_frame(SYNTHETIC)], SCENARIO)
    (synthetic,) = ready.syntheses
    assert ready.original.names == synthetic.names == ("age", "sex", "ill")
    assert ready.original.cardinalities == synthetic.cardinalities == (3, 2, 3)
    assert [column.tolist() for column in ready.original.columns] == [
        [0, 1, 1],
        [0, 1, 0],
        [1, 0, 2],
    ]
    assert [column.tolist() for column in synthetic.columns] == [[1, 2], [1, 0], [0, 0]]
    assert ready.levels["age"].labels == ("30", "31", "40")
    assert ready.levels["ill"].missing == 2
    assert ready.control is None
    assert ready.scenario is SCENARIO


def test_several_syntheses_and_a_control():
    frames = [pl.DataFrame(SYNTHETIC), pl.DataFrame(ORIGINAL)]
    control = pl.DataFrame({"age": [99], "sex": ["f"], "ill": ["y"]})
    ready = prepare(pl.DataFrame(ORIGINAL), frames, SCENARIO, control=control)
    assert [len(table) for table in ready.syntheses] == [2, 3]
    assert ready.syntheses[1] == ready.original
    assert ready.control["age"].tolist() == [3]  # a level of its own, in all tables
    assert ready.original.cardinality("age") == 4


def test_groups_are_those_of_the_original():
    ready = prepare(pl.DataFrame(ORIGINAL), [pl.DataFrame(SYNTHETIC)], SCENARIO, groups={"age": 2})
    assert ready.levels["age"].labels == ("30", "31")
    assert ready.syntheses[0]["age"].tolist() == [1, 1]


def test_mistakes_say_which_table():
    original, synthetic = pl.DataFrame(ORIGINAL), pl.DataFrame(SYNTHETIC)
    with pytest.raises(ParameterError, match="got an empty list"):
        prepare(original, [], SCENARIO)
    with pytest.raises(ParameterError, match="The control table has no column 'ill'"):
        prepare(original, [synthetic], SCENARIO, control=original.drop("ill"))
    with pytest.raises(
        ParameterError, match=r"synthetic 1 table has no .*'age'.* synthetic 2 table has no .*'sex'"
    ):
        prepare(original, [synthetic.drop("age"), synthetic.drop("sex")], SCENARIO)
    with pytest.raises(DataError, match="The synthetic 2 table has no rows"):
        prepare(original, [synthetic, synthetic.clear()], SCENARIO)
    with pytest.raises(DataError, match="The control table has no rows"):
        prepare(original, [synthetic], SCENARIO, control=original.clear())
    with pytest.raises(DataError, match="'age' holds numbers in the original table and text"):
        prepare(original, [synthetic.with_columns(age=pl.lit("x"))], SCENARIO)
    for option in ("groups", "special"):
        with pytest.raises(ParameterError, match="got 'other'"):
            prepare(original, [synthetic], SCENARIO, **{option: {"other": [3]}})
    with pytest.raises(DataError, match="A table is a pandas or polars DataFrame"):
        prepare(ORIGINAL, [synthetic], SCENARIO)


@pytest.mark.parametrize(("distinct", "warned"), [(90, False), (91, True), (100, True)])
def test_a_key_with_nearly_as_many_values_as_records_is_pointed_out(caplog, distinct, warned):
    table = pl.DataFrame(
        {"age": np.arange(100) % distinct, "sex": ["f"] * 100, "ill": np.arange(100)}
    )
    with caplog.at_level(logging.WARNING, logger="understudy"):
        prepare(table, [table], SCENARIO)
    assert [f"'age' has {distinct} different values in 100 records" in caplog.text] == [warned]
    assert "'ill'" not in caplog.text  # it is no key


def test_one_row_is_no_warning(caplog):
    table = pl.DataFrame({"age": [1], "sex": ["f"], "ill": [0]})
    prepare(table, [table], SCENARIO)
    assert not caplog.text
