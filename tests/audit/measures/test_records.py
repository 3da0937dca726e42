"""Single records: histograms and the worst of them."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from understudy.audit.measures.records import RecordScores, worst_records
from understudy.risk import Scenario, StrongAttack, attribution
from understudy.risk.prepare import prepare


def attack(prior, posterior, rows=None):
    count = len(prior)
    right = np.ones(count, bool)
    rows = np.arange(count) if rows is None else np.array(rows)
    return StrongAttack(
        ("s",), "fixed", "marginal", rows, np.array(prior), np.array(posterior), ("x",) * count,
        right, right, np.full(count, 2),
    )  # fmt: skip


def test_scores_are_those_of_the_measure(people, unrelated):
    keys = ["age", "sex", "region"]
    prepared = prepare(people, [unrelated], Scenario(keys, "ill", 2))
    scores = RecordScores.of(prepared)
    found = attribution(people, unrelated, keys=keys, sensitive="ill", known=2)
    own = attribution(people, people, keys=keys, sensitive="ill", known=2)
    assert scores.synthetic == pytest.approx(found.per_record()["cap"].to_numpy())
    assert scores.original == pytest.approx(own.per_record()["cap"].to_numpy())
    share = (people["ill"] == "yes").mean()
    assert scores.expected[people["ill"].index_of("yes")] == pytest.approx(share)
    assert sum(scores.histogram().synthetic) == sum(scores.histogram().original) == 200


def test_the_histogram_by_hand():
    scores = RecordScores(np.array([0.0, 0.04, 0.5, 1.0]), np.ones(4), np.zeros(4))
    found = scores.histogram()
    assert (found.edges[0], found.edges[-1]) == (0, 1)
    assert len(found.edges) == 21
    assert found.synthetic[0] == 2  # below 0.05
    assert found.synthetic[10] == 1  # from 0.5
    assert found.synthetic[-1] == 1
    assert found.original[-1] == 4


def test_the_worst_are_those_with_a_gain_in_order():
    strong = attack(
        [0.5, 0.5, 0.5, 0.25, math.nan], [0.75, 0.5, 1.0, 1.0, math.nan], [9, 7, 5, 3, 1]
    )
    found = worst_records(None, strong, lambda row: {"k": str(row)})
    assert [one.record for one in found] == [3, 5, 9]
    assert found[0].gain_bits == 2
    assert found[0].values == {"k": "3"}
    assert math.isnan(found[0].attribution)
    assert worst_records(None, None) == ()


def test_at_most_twenty_are_listed():
    table = pl.DataFrame({"k": range(60), "s": ["a", "b", "c"] * 20})
    scores = RecordScores.of(prepare(table, [table], Scenario("k", "s")))
    found = worst_records(scores, None)
    assert [one.record for one in found] == list(range(20))
    assert {one.attribution for one in found} == {1.0}
