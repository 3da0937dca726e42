"""Numbers under each other's names: what their relations tell, and what they do not."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from understudy.learning.mixed_distance import place_together
from understudy.risk.lookalikes import lookalikes
from understudy.risk.lookalikes.exchanged_names import exchanged_names

NAMES = [f"x{place}" for place in range(8)]


def people(rng, rows=300):
    causes = rng.normal(size=(rows, 2)) @ np.random.default_rng(0).normal(size=(2, len(NAMES)))
    return pl.DataFrame(causes + rng.normal(size=causes.shape), schema=NAMES)


def renamed(frame, shift=3):
    return frame.rename(dict(zip(NAMES, NAMES[shift:] + NAMES[:shift], strict=True)))


def found(original, release):
    return exchanged_names(*place_together({"own": original, "release": release}, NAMES).values())


@pytest.fixture
def original():
    return people(np.random.default_rng(1))


def test_each_number_is_found_by_its_relations(original):
    # What was x0 is called x3, and what was x5 is called x0.
    assert found(original, renamed(original)) == (3, 4, 5, 6, 7, 0, 1, 2)
    result = lookalikes(original, renamed(original), random_state=0)
    assert result.p_value < 1e-6
    assert any("under each other's names" in note for note in result.notes)


def test_names_that_are_right_stay(original):
    rng = np.random.default_rng(2)
    assert found(original, original) is None
    assert found(original, people(rng)) is None
    assert found(original, original.with_columns(2 * pl.col("x1") + 5)) is None


def test_without_relations_nothing_is_found(original):
    loose = original.with_columns(
        pl.col(name).shuffle(seed=seed) for seed, name in enumerate(NAMES)
    )
    assert found(original, renamed(loose)) is None
    three = {name: table.select(NAMES[:3]) for name, table in (("own", original), ("made", loose))}
    assert exchanged_names(*place_together(three, NAMES[:3]).values()) is None


def test_fresh_people_under_other_names(original):
    rng = np.random.default_rng(4)
    values = [lookalikes(original, renamed(people(rng)), random_state=0).p_value for _ in range(15)]
    # At 5%, four or more of 15 in one case of 180.
    assert sum(value < 0.05 for value in values) <= 3
