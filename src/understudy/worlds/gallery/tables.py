"""The tables that releases of the gallery are made from: simulated ones, and real ones."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
import polars as pl

from understudy.data import fetch, load
from understudy.worlds.gallery.setting import Setting

SIMULATED = 1500
CONTROL = 0.2
"""The share of a table that is kept back as control."""
MOST = 600
"""At most so many people are in the data, so that an audit takes a second or two."""


@dataclass(frozen=True)
class GalleryTable:
    """A table, and what an attacker knows and wants.

    Parameters
    ----------
    name : str
        What it is called.
    read : callable
        Returns the table, given a source of random numbers; raises DataError if its file is not
        there.
    keys : tuple of str
        What an attacker knows.
    sensitive : str
        What an attacker wants to know.
    """

    name: str
    read: Callable[[np.random.Generator], pl.DataFrame]
    keys: tuple[str, ...]
    sensitive: str

    def setting(self, seed: int, rows: int = MOST) -> Setting:
        """Split the table at random; `rows` is how many people are in the data at most."""
        rng = np.random.default_rng([seed, *self.name.encode()])
        table = self.read(rng)
        table = table[rng.permutation(table.height)]
        size = min(rows, int((1 - CONTROL) * table.height / 2))
        control = min(size, table.height - 2 * size)
        return Setting(
            table[:size],
            table[size : 2 * size],
            table[2 * size : 2 * size + control],
            self.keys,
            self.sensitive,
            seed,
        )


def clinic(rng: np.random.Generator, rows: int = SIMULATED) -> pl.DataFrame:
    """Simulate patients: dates, numbers and categories that hang together, as in a register."""
    age = np.clip(rng.gamma(8, 6, rows), 18, 95).astype(int)
    sex = rng.choice(["female", "male"], rows)
    education = rng.choice(["primary", "secondary", "college", "doctorate"], rows, p=_EDUCATION)
    smoker = rng.random(rows) < np.where(sex == "male", 0.35, 0.2)
    height = np.round(rng.normal(np.where(sex == "male", 178, 166), 7), 1)
    weight = np.round(rng.normal(height - 100 + age / 10, 11), 1)
    illness = _drawn(rng, _illness(age, smoker))
    start = np.datetime64(dt.date(2019, 1, 1))
    return pl.DataFrame(
        {
            "sex": sex,
            "age": age,
            "region": rng.choice([f"Region {letter}" for letter in "ABCDEFGH"], rows),
            "education": education,
            "occupation": rng.choice(_OCCUPATIONS, rows),
            "married": rng.random(rows) < age / 100,
            "children": rng.poisson(np.minimum(age, 50) / 30),
            "smoker": smoker,
            "insurance": rng.choice(["public", "private", "none"], rows, p=[0.7, 0.25, 0.05]),
            "height": height,
            "weight": weight,
            "admitted": start + rng.integers(0, 2000, rows).astype("timedelta64[D]"),
            "pressure": np.round(rng.normal(100 + age / 2 + 5 * smoker, 12)).astype(int),
            "cost": np.round(rng.lognormal(7 + age / 100, 0.8), 2),
            "satisfied": rng.choice(["yes", "rather", "no"], rows, p=[0.5, 0.35, 0.15]),
            "ward": rng.choice([f"Ward {number}" for number in range(1, 13)], rows),
            "illness": np.array(_ILLNESSES)[illness],
        }
    )


def wages(rng: np.random.Generator, rows: int = SIMULATED) -> pl.DataFrame:
    """Simulate employees, of whom an attacker wants to know the wage: a number."""
    age = rng.integers(18, 66, rows)
    grade = rng.integers(1, 9, rows)
    hours = rng.choice([20, 30, 38, 40], rows, p=[0.15, 0.15, 0.3, 0.4])
    wage = np.exp(6.6 + 0.12 * grade + 0.006 * age + rng.normal(0, 0.25, rows)) * hours / 40
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], rows),
            "age": age,
            "postcode": rng.integers(1000, 1080, rows),
            "grade": grade,
            "hours": hours,
            "hired": np.datetime64(dt.date(2000, 1, 1))
            + rng.integers(0, 8000, rows).astype("timedelta64[D]"),
            "bonus": np.round(rng.gamma(2, 300, rows), 2),
            "sick_days": rng.poisson(6, rows),
            "wage": np.round(wage, 2),
        }
    )


def ballot(rng: np.random.Generator, rows: int = SIMULATED) -> pl.DataFrame:
    """Simulate voters with few coarse columns, among whom few copies hide."""
    old, urban = rng.integers(0, 6, rows), rng.random(rows) < 0.6
    vote = _drawn(rng, np.stack([4 + old, 6 - old + 2 * urban, 2 + urban, 0 * old + 0.3], axis=1))
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], rows),
            "age": np.array(["18-24", "25-34", "35-44", "45-54", "55-64", "65+"])[old],
            "urban": urban,
            "schooling": rng.choice(["low", "middle", "high"], rows),
            "district": rng.choice(list("ABCDEFGHIJ"), rows),
            "household": 1 + rng.poisson(1.3, rows),
            "vote": np.array(["red", "green", "blue", "other"])[vote],
        }
    )


def skills(rng: np.random.Generator, rows: int = SIMULATED) -> pl.DataFrame:
    """Simulate the results of twelve tests of skill, all numbers that hang together."""
    held = rng.normal(size=(rows, 3))
    results = held @ rng.normal(size=(3, 12)) + rng.normal(size=(rows, 12))
    return pl.DataFrame(
        {f"test {number + 1}": np.round(50 + 10 * results[:, number], 1) for number in range(12)}
    )


_EDUCATION = [0.2, 0.5, 0.25, 0.05]
_OCCUPATIONS = ["office", "craft", "sales", "farming", "teaching", "care", "retired", "none"]
_ILLNESSES = ["none", "back", "heart", "lung", "diabetes", "skin", "HIV", "lupus"]


def _illness(age: np.ndarray, smoker: np.ndarray) -> np.ndarray:
    """Return how likely each illness is for each person, up to a factor."""
    old = age / 100
    even = np.ones_like(old)
    return np.stack(
        [3 * even, 2 * even, 3 * old, 0.3 + 1.5 * smoker, 2 * old, even, 0.2 * even, 0.1 * even],
        axis=1,
    )


def _drawn(rng: np.random.Generator, weights: np.ndarray) -> np.ndarray:
    """Draw a place for each row of weights."""
    limits = np.cumsum(weights, axis=1)
    above = rng.random((len(weights), 1)) * limits[:, -1:] > limits
    return np.asarray(above.sum(axis=1))


CLINIC_KEYS = (
    "sex",
    "age",
    "region",
    "education",
    "occupation",
    "married",
    "children",
    "smoker",
    "insurance",
    "height",
    "weight",
    "admitted",
)
TABLES = (
    GalleryTable("clinic", clinic, CLINIC_KEYS, "illness"),
    GalleryTable("wages", wages, ("sex", "age", "postcode", "grade", "hired"), "wage"),
    GalleryTable("ballot", ballot, ("sex", "age", "urban", "schooling", "district"), "vote"),
    GalleryTable("tests", skills, ("test 1", "test 2", "test 3", "test 4"), "test 12"),
    GalleryTable(
        "cmc",
        lambda _: cast("pl.DataFrame", load("cmc")),
        ("age", "education", "children", "husband_education"),
        "method",
    ),
    GalleryTable(
        "Adult",
        lambda _: fetch("adult_train"),
        ("age", "workclass", "education", "marital_status", "race", "sex", "hours_per_week"),
        "income",
    ),
    GalleryTable(
        "SD2011",
        lambda _: fetch("sd2011"),
        ("sex", "age", "region", "placesize", "edu", "marital"),
        "depress",
    ),
)
"""All tables; those of files that are not there cannot be read."""
