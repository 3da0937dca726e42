"""Panels from the command line: the time, the switch, and what is said."""

from __future__ import annotations

import polars as pl
import pytest

from tests.synthesis.panel.test_model import in_units, people
from understudy import read


@pytest.fixture
def panel(folder):
    """Write a panel whose schema names the unit."""
    table = people(30)
    table.write_csv(folder / "panel.csv")
    in_units(table).save(folder / "panel.toml")
    return table


def synth(call, *options):
    return call("synth", "panel.csv", "--schema", "panel.toml", "-o", "out.csv", *options)


@pytest.mark.usefixtures("panel")
class TestPanels:
    def test_units_are_drawn_as_a_whole_and_counted(self, call, folder):
        code, _, err = synth(call, "--time", "year", "--rows", "100", "--seed", "1")
        assert code == 0
        assert "102 rows" in err
        drawn = read(folder / "out.csv")
        assert drawn.group_by("id").agg(pl.col("sex").n_unique())["sex"].max() == 1
        assert len(drawn) == 102
        # The time was given, so nothing is said of it.
        assert "in the order of" not in err

    def test_a_time_that_is_no_column_is_refused(self, call):
        code, _, err = synth(call, "--time", "yaer")
        assert code == 2
        assert "--time: " in err
        assert "Did you mean 'year'?" in err

    def test_records_can_be_drawn_by_themselves(self, call, folder):
        code, _, _ = synth(call, "--no-panel", "--method", "cart", "--seed", "1")
        assert code == 0
        assert read(folder / "out.csv")["id"].n_unique() == 180
        code, _, err = synth(call, "--no-panel", "--method", "copula", "--force")
        assert code == 2
        assert "--no-panel cannot be used with --method copula" in err

    def test_what_other_methods_lose_is_said_once(self, call):
        _, _, err = synth(call, "--method", "independent", "--seed", "1")
        said = " ".join(err.split())
        assert said.count("Each record is drawn by itself") == 1
        assert "--method bayes or --method cart draws units as a whole" in said

    def test_show_explains_the_parts(self, call):
        synth(call, "--seed", "1", "--save-model", "model.us")
        code, out, _ = call("show", "model.us", "--draw", "net.svg")
        assert code == 0
        text = " ".join(out.split())
        assert "A panel: 30 units, named by 'id'." in text
        assert "The same in all records of a unit: 'sex' and 'born'." in text
        assert "A record given the one before, learnt from 150 rows" in text
        assert "x (change)" in text
