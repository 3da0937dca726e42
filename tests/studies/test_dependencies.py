"""The study of dependencies: what is planted is kept, and chance is not taken for more."""

from __future__ import annotations

import numpy as np
import polars as pl

from studies import dependencies as study
from tests.data.dependencies.planted import planted
from understudy.data import Schema


def test_methods_keep_more_with_it_than_without(monkeypatch):
    monkeypatch.setattr(study, "MODELS", {"independent": study.Independent})
    runs = study._synthesized("planted", planted(400), 300, 1)
    ((name, method, found, before, _, after, broken),) = study._beside(runs)
    assert (name, method) == ("planted", "independent")
    assert int(before) == 0
    assert found == after
    assert broken == "0.00%"


def test_what_stays_within_units_is_counted_if_the_unit_is_found(monkeypatch):
    years, people = np.arange(6), 40
    table = pl.DataFrame(
        {
            "nr": np.repeat(np.random.default_rng(0).permutation(9000)[:people] + 1000, 6),
            "year": np.tile(2015 + years, people),
            "educ": np.repeat(np.arange(people) % 7, 6),
            "union": np.arange(people * 6) % 3,
        }
    )
    monkeypatch.setattr(study, "WITHIN", {"wages": ("nr", ("educ", "union"))})
    schema = Schema.infer(table, kinds={"nr": "identifier"})
    assert study._within("wages", table, schema) == "1 of 2"
    other = table.rename({"nr": "wage"})
    monkeypatch.setattr(study, "WITHIN", {"wages": ("wage", ("educ",))})
    assert study._within("wages", other, Schema.infer(other)) == "0 of 1"


def test_random_tables_are_of_many_shapes_and_depend_on_nothing(monkeypatch):
    monkeypatch.setattr(study, "RANDOM_TABLES", 4)
    assert "0 of" in study._false_findings()
    made = study.random_table(50, np.random.default_rng(0))
    assert made.height == 50
    assert 4 <= made.width < 20
