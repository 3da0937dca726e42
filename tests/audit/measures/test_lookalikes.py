"""Lookalikes in audits: releases that hold columns of the original more than once."""

from __future__ import annotations

import polars as pl
import pytest

from understudy import risk
from understudy.audit import audit

OPTIONS = {
    "keys": ["age", "sex", "region"],
    "sensitive": "ill",
    "measures": "quick",
    "random_state": 1,
}


def records(original, release):
    found = audit(original, release, **OPTIONS)
    return found.verdict.releases[0].answers["records"].level, found.metrics()


@pytest.mark.parametrize("without", [[], ["sex"]])
def test_true_columns_beside_made_up_ones_are_seen(people, unrelated, without):
    true = people.drop(without).rename("{}_true".format)
    level, numbers = records(people, unrelated.hstack(true))
    plain = risk.lookalikes(people, unrelated, random_state=1)
    assert level in {"raised", "high"}
    assert numbers["lookalikes.p_value"] < 0.01
    # What would have been seen is said of the columns that are called as in the original.
    assert numbers["lookalikes.power"] == pytest.approx(plain.power, nan_ok=True)


def test_the_chance_is_shared_by_both_ways_to_read(people):
    # Everybody is in it under the right names; others' values stand beside them.
    beside = people.select(pl.all().shuffle(3)).rename("{}_2".format)
    _, numbers = records(people, people.hstack(beside))
    plain = risk.lookalikes(people, people, random_state=1)
    assert numbers["lookalikes.p_value"] == pytest.approx(plain.p_value / 0.8)
