"""Tables with dependencies of every kind, for the tests."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl

STATES = {"Ulm": "BW", "Rom": "IT", "Ems": "RP", "Bonn": "NW", "Köln": "NW", "Linz": "AT"}


def planted(rows: int = 1200, seed: int = 0) -> pl.DataFrame:
    """Return a table in which something holds between most columns."""
    rng = np.random.default_rng(seed)
    city = rng.choice(list(STATES), rows)
    minutes = rng.integers(0, 1440, rows)
    start = [dt.date(2020, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 900, rows)]
    table = pl.DataFrame(
        {
            "city": city,
            "rent": rng.integers(200, 900, rows),
            "heating": rng.integers(0, 90, rows),
            "age": rng.integers(18, 80, rows),
            "start": start,
            "clock": minutes // 60 * 100 + minutes % 60,
            "smokes": rng.choice(["yes", "no"], rows, p=[0.4, 0.6]),
            "low": rng.normal(5, 6, rows).round(1),
            "height": rng.integers(150, 200, rows),
            "weight": rng.integers(45, 120, rows),
            "wage": rng.gamma(3, 5, rows).round(2) + 1,
            "_days": rng.integers(0, 60, rows),
            "_up": rng.gamma(2, 4, rows).round(1),
            "_packs": rng.integers(1, 40, rows),
            "_brand": rng.choice(["x", "y", "z"], rows),
        }
    )
    smokes = pl.col("smokes") == "yes"
    table = table.with_columns(
        state=pl.col("city").replace_strict(STATES),
        total=pl.col("rent") + pl.col("heating"),
        age2=pl.col("age") ** 2,
        end=pl.col("start") + pl.duration(days=pl.col("_days")),
        year=pl.col("start").dt.year(),
        hour=pl.col("clock") // 100,
        high=(pl.col("low") + pl.col("_up")).round(1),
        bmi=(10000 * pl.col("weight") / pl.col("height") ** 2).round(3),
        lwage=pl.col("wage").log().round(5),
        decade=pl.col("age") // 10 * 10,
        packs=pl.when(smokes).then("_packs"),
        brand=pl.when(smokes).then("_brand"),
    )
    return table.with_columns(gap=(pl.col("end") - pl.col("start")).dt.total_days()).drop(
        "_days", "_up", "_packs", "_brand"
    )


SENTENCES = {
    "'state' follows from 'city'",
    "'total' = 'rent' + 'heating'",
    "'age2' = 'age' squared",
    "'year' = the year of 'start'",
    "'hour' = the hour of 'clock'",
    "'clock' holds clock times as hhmm",
    "'start' <= 'end'",
    "'low' <= 'high'",
    "'bmi' = 10000 * 'weight' / 'height' squared",
    "'lwage' = log('wage')",
    "'decade' = 'age' rounded down to multiples of 10",
    "'gap' = 'end' - 'start' in days",
    "'packs' and 'brand' are missing together",
    "'packs' is missing exactly when 'smokes' is 'no'",
}
