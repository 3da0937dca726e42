"""What audits keep for the charts of attacks: few points, no records."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from understudy.audit import Audit, audit
from understudy.audit.measures import lookalikes as measure
from understudy.audit.measures.telling_keys import MOST_SETS
from understudy.risk.lookalikes import lookalikes
from understudy.risk.membership.roc import roc_curve

ROWS, KEPT = 300, 150


def people(seed, rows=ROWS):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 90, rows),
            "pay": rng.normal(50, 10, rows).round(1),
            "town": rng.choice(["a", "b", "c"], rows),
            "ill": np.where(np.arange(rows) < 9, "unspeakable", rng.choice(["x", "y"], rows)),
        }
    )


def audited(original, release, **more):
    return audit(
        original, release, keys=["age", "pay", "town"], sensitive="ill", measures="quick",
        random_state=1, **more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def copied():
    """Return the audit of a copy, with people who were kept back."""
    original = people(1)
    return audited(original, original, control=people(2, KEPT))


def test_every_person_has_a_point(copied):
    found = copied.findings.releases[0].lookalikes
    assert found.ratio == 0.25
    assert sum(count for _, _, count in found.points) == found.people == ROWS
    assert {nearest for _, nearest, _ in found.points} == {0.0}  # of a copy
    assert sum(count for _, _, count in found.control) == found.control_people == KEPT
    assert {nearest for _, nearest, _ in found.control} != {0.0}


def test_points_below_the_line_are_the_lookalikes():
    original = people(1)
    result = lookalikes(original, original[:100], random_state=0)
    next_person, nearest = result.distances()["original"]
    assert np.count_nonzero(nearest < 0.25 * next_person) == result.found
    assert set(result.distances()) == {"original"}


def test_of_many_people_some_are_drawn(monkeypatch):
    monkeypatch.setattr(measure, "MOST_POINTS", 50)
    found = measure._findings(lookalikes(people(1), people(3), random_state=0))
    assert (found.people, sum(count for _, _, count in found.points)) == (ROWS, 50)
    assert found == measure._findings(lookalikes(people(1), people(3), random_state=0))


def test_the_curve_of_membership_is_that_of_the_scores(copied):
    curve = copied.findings.releases[0].membership_curve
    assert (curve.people, curve.control_people) == (ROWS, KEPT)
    assert curve.auc == pytest.approx(1.0, abs=0.01)
    assert curve.points[-1] == (1.0, 1.0)
    assert len(curve.points) <= 100
    others, members = zip(*curve.points, strict=True)
    assert list(others) == sorted(others)
    assert list(members) == sorted(members)


def test_a_curve_by_hand():
    # Of 4 others none, 1, 2, ... exceed the limits 4, 3, 2, 1 and minus infinity.
    inside, outside = np.array([5.0, 3.5, 0.5]), np.array([4.0, 3.0, 2.0, 1.0])
    assert roc_curve(inside, outside) == [
        (0.0, pytest.approx(1 / 3)),
        (0.25, pytest.approx(2 / 3)),
        (0.5, pytest.approx(2 / 3)),
        (0.75, pytest.approx(2 / 3)),
        (1.0, 1.0),
    ]


def test_rare_values_are_counted_and_not_named(copied):
    rare, *common = copied.findings.releases[0].rare_values
    assert (rare.people, rare.told, rare.control_people) == (9, 9, 9)
    assert rare.value == ""
    assert {one.value.strip("'") for one in common} == {"x", "y"}
    assert "unspeakable" not in copied.findings.releases[0].figure("rare_values").note


def test_rare_values_are_named_if_records_are_shown():
    original = people(1)
    (found,) = audited(original, original, show_records=True).findings.releases
    assert "unspeakable" in found.rare_values[0].value


def test_the_most_telling_keys_come_first(copied):
    sets = copied.findings.releases[0].telling_keys
    assert 0 < len(sets) <= MOST_SETS
    gains = [one.gain for one in sets]
    assert gains == sorted(gains, reverse=True)
    assert sets[0].gain == pytest.approx(
        copied.findings.releases[0].figure("telling_keys").gain, abs=1e-5
    )
    assert sets[0].control_gain < sets[0].gain
    assert not math.isnan(sets[0].limit)


def test_all_of_it_is_written_and_read(copied):
    again = Audit.from_json(copied.to_json())
    for name in ("lookalikes", "membership_curve", "rare_values"):
        before, after = (getattr(one.findings.releases[0], name) for one in (copied, again))
        assert before == after
