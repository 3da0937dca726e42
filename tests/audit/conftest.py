"""A small table, a copy of it and data that have nothing to do with it, for all tests of audits."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

KEYS = ["age", "sex", "region"]


def make_people(rows, seed):
    """Make people whose illness depends on age and sex, with a number and a category to find."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 70, rows)
    sex = rng.choice(["f", "m"], rows)
    ill = np.where(rng.random(rows) < 0.1 + 0.8 * (age > 45), "yes", "no")
    return pl.DataFrame(
        {
            "age": age,
            "sex": sex,
            "region": rng.choice(["east", "north", "south", "west"], rows),
            "income": rng.integers(10, 90, rows) * 100.0,
            "ill": ill,
        }
    )


@pytest.fixture(scope="session")
def people():
    return make_people(200, seed=1)


@pytest.fixture(scope="session")
def fresh():
    """Return others of the same population."""
    return make_people(100, seed=3)


@pytest.fixture(scope="session")
def unrelated(people):
    """Return the same people with every column shuffled by itself."""
    rng = np.random.default_rng(2)
    return pl.DataFrame(
        {name: people[name].gather(rng.permutation(200)) for name in people.columns}
    )
