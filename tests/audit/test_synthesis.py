"""Some of many sets of keys."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace

import polars as pl
import pytest

from understudy.audit.synthesis import DrawnSets, Synthesis
from understudy.risk.attribution import attributions
from understudy.risk.prepare import prepare
from understudy.risk.scenario import Scenario


@pytest.mark.parametrize("count", [1, 5, 9])
def test_drawn_sets_are_different_ones_in_order(count):
    scenario = Scenario(list("abcde"), "s", known=2)
    drawn = DrawnSets(scenario, count, seed=3)
    sets = list(drawn.subsets())
    every = list(combinations("abcde", 2))
    assert len(drawn) == len(sets) == len(set(sets)) == count
    assert sets == sorted(sets, key=every.index)
    assert sets == list(DrawnSets(scenario, count, seed=3).subsets())
    assert (drawn.keys, drawn.sensitive, drawn.known) == (scenario.keys, "s", 2)


def test_attacks_are_on_the_drawn_sets_alone():
    table = pl.DataFrame(
        {"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "c": [1, 1, 1, 2], "s": list("xyxy")}
    )
    prepared = prepare(table, [table], Scenario(["a", "b", "c"], "s", known=1))
    synthesis = Synthesis(SimpleNamespace(seed=1), None, 1, table, None, (), None)
    vars(synthesis)["prepared"] = prepared
    fewer, note = synthesis.with_fewer_sets(2)
    assert note == "2 of the 3 sets of keys, drawn at random: all of them would take too long."
    every = {one.keys: one for one in attributions(prepared)["nearest"].subsets}
    found = attributions(fewer)["nearest"].subsets
    assert [one.accuracy for one in found] == [every[one.keys].accuracy for one in found]
    assert len(found) == 2
    assert synthesis.with_fewer_sets(3) == (prepared, "")
