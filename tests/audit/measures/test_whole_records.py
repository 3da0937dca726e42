"""Singling out and linkability in audits: the figures of the functions."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from understudy import risk
from understudy.audit import audit

KEYS = ["age", "sex", "region"]
OPTIONS = {"keys": KEYS, "sensitive": "ill", "measures": "quick", "random_state": 1}


@pytest.fixture(scope="module")
def found(people, unrelated):
    rng = np.random.default_rng(7)
    control = people.select(
        pl.Series(name, rng.choice(people[name], 100)) for name in people.columns
    )
    return control, audit(people, unrelated, control=control, **OPTIONS)


def test_singling_out_is_that_of_the_function(people, unrelated, found):
    control, whole = found
    alone = risk.singling_out(people, unrelated, control=control, random_state=1)
    combined = max(alone.attacks[1:], key=lambda told: told.gain)
    for measure, told in {
        "singling_out": combined,
        "singling_out_rare": alone["1 column"],
    }.items():
        figure = whole.findings.releases[0].figure(measure)
        if not told.attack.attacks:
            assert figure is None
            continue
        assert figure.synthetic == told.attack.value
        assert figure.baseline == told.without
        assert figure.control == told.control.value
        assert whole.metrics()[f"{measure}.risk"] == told.risk
        assert whole.metrics()[f"{measure}.p_value"] == told.p_value


def test_linkability_is_that_of_the_keys_and_all_other_columns(people, unrelated, found):
    control, whole = found
    alone = risk.linkability(people, unrelated, KEYS, control=control, random_state=1)
    figure = whole.findings.releases[0].figure("linkability")
    assert figure.synthetic == alone.attack.value
    assert figure.control == alone.control.value
    assert figure.baseline == pytest.approx(1 / 200)
    assert whole.metrics()["linkability.risk"] == alone.risk


def test_a_copy_is_seen_without_control_records(people):
    release = audit(people, people, **OPTIONS).findings.releases[0]
    assert release.figure("singling_out").gain > 0.5
    assert release.figure("linkability").gain > 0.3
    assert math.isnan(release.figure("linkability").control)


def test_without_other_columns_there_is_nothing_to_link(people):
    table = people.select(*KEYS, "ill")
    release = audit(table, table, **OPTIONS | {"keys": [*KEYS]}).findings.releases[0]
    assert release.figure("linkability") is not None  # the sensitive column is another one
    assert not release.errors


def test_a_control_table_may_lack_columns(people, unrelated):
    control = people.drop("income")
    release = audit(people, unrelated, control=control, **OPTIONS).findings.releases[0]
    assert not {"singling_out", "linkability"} & set(release.errors)


def test_a_table_in_which_nothing_is_rare(people):
    twice = people.select(*KEYS, "ill").with_columns(age=np.arange(200) % 2)
    release = audit(twice, twice, **OPTIONS).findings.releases[0]
    assert release.figure("singling_out_rare") is None
    assert not release.errors
