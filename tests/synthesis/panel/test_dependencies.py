"""Dependencies between columns in a panel: both are kept."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from understudy import BayesNet, Cart, Schema


def panel(units=120, years=6, seed=5):
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units) * 7 + 1000, years)
    school = np.repeat(rng.integers(8, 17, units), years)
    exper = np.repeat(rng.integers(0, 12, units), years) + np.tile(np.arange(years), units)
    hours = rng.integers(800, 3000, units * years)
    return pl.DataFrame(
        {
            "person": unit,
            "year": np.tile(np.arange(1980, 1980 + years), units),
            "school": school,
            "grade": [f"g{one}" for one in school],
            "exper": exper,
            "expersq": exper**2,
            "hours": hours,
            "total": hours + exper,
        }
    )


@pytest.fixture(scope="module")
def table():
    return panel()


@pytest.mark.parametrize("method", [BayesNet, Cart])
def test_a_panel_keeps_what_follows_from_other_columns(method, table, tmp_path):
    schema = Schema.infer(table).edit("person", role="unit")
    model = method(random_state=1).fit(table, schema)
    made = model.sample()
    assert (made["expersq"] == made["exper"] ** 2).all()
    assert (made["total"] == made["hours"] + made["exper"]).all()
    assert (made["grade"] == "g" + made["school"].cast(pl.String)).all()
    assert made.group_by("person").agg(pl.col("grade").n_unique())["grade"].max() == 1
    steps = made.select(pl.col("year").diff().over("person")).drop_nulls()
    assert (steps["year"] == 1).all()
    if method is BayesNet:
        assert np.isfinite(model.log_likelihood(table)).all()
    model.save(tmp_path / "panel.us")
    again = method.load(tmp_path / "panel.us")
    assert again.sample(random_state=2).equals(model.sample(random_state=2))
