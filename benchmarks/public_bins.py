"""Public tables in public bins, and how near a release of one comes: for `private.py`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from understudy import Column, Schema, fetch, load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

EDGES: dict[str, dict[str, tuple[float, ...]]] = {
    "adult": {
        "age": (17, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 91),
        "capital_gain": (0, 1, 2000, 4000, 7000, 10_000, 20_000, 100_000),
        "capital_loss": (0, 1, 1500, 1800, 2000, 2500, 5000),
        "hours_per_week": (1, 10, 20, 30, 35, 40, 41, 50, 60, 70, 100),
    },
    "cmc": {
        "age": (15, 20, 25, 30, 35, 40, 45, 50),
        "children": (0, 1, 2, 3, 4, 5, 6, 8, 10, 17),
    },
    "sd2011": {
        "age": (16, 25, 35, 45, 55, 65, 75, 100),
        "unempdur": (-8, 0, 1, 7, 13, 25, 49),
        "income": (-8, 0, 500, 1000, 1500, 2000, 3000, 5000, 20_000),
        "mmarr": (1, 4, 7, 10, 13),
        "ymarr": (1930, 1960, 1970, 1980, 1990, 2000, 2012),
        "msepdiv": (1, 4, 7, 10, 13),
        "ysepdiv": (1940, 1980, 1990, 2000, 2012),
        "depress": (0, 3, 6, 9, 12, 22),
        "nofriend": (-8, 0, 1, 3, 6, 11, 100),
        "nociga": (-8, 1, 10, 20, 30, 61),
        "wkabintdur": (-8, 0, 1, 7, 13, 61),
        "height": (50, 155, 160, 165, 170, 175, 180, 220),
        "weight": (30, 55, 65, 75, 85, 95, 160),
        "bmi": (10, 18.5, 22, 25, 28, 31, 50),
    },
}
"""Cut points that one may choose without a look at the records."""

TARGETS = {"adult": "income", "cmc": "method", "sd2011": "smoke"}


@dataclass(frozen=True)
class Coded:
    """A table as codes: a column of whole numbers each, with how many there may be."""

    name: str
    frame: pl.DataFrame
    sizes: tuple[int, ...]
    test: pl.DataFrame

    @property
    def schema(self) -> Schema:
        """What each column can hold, all of it public."""
        target = TARGETS.get(self.name)
        return Schema(
            Column(
                name,
                "integer",
                role="target" if name == target else "ordinary",
                levels=tuple(range(size)),
                public=True,
            )
            for name, size in zip(self.frame.columns, self.sizes, strict=True)
        )


def coded(name: str) -> Coded:
    """Return a table in its public bins; a missing value is a code of its own."""
    if name == "adult":
        train, test = fetch("adult_train"), fetch("adult_test")
        frame = pl.concat([train, test]).drop("fnlwgt")
        rows = len(train)
    else:
        frame = load("cmc") if name == "cmc" else fetch("sd2011")
        rows = len(frame)
    columns, sizes = {}, []
    for column in frame.columns:
        values = frame[column]
        if column in EDGES[name]:
            edges = np.array(EDGES[name][column], float)
            # A text among numbers, such as "IT DEPENDS", counts as missing.
            numbers = values.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
            codes = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, len(edges) - 2)
            size = len(edges) - 1 + int(np.isnan(numbers).any())
            codes[np.isnan(numbers)] = size - 1
        else:
            levels = values.cast(pl.String).fill_null("missing")
            known = levels.unique().sort()
            size = len(known)
            codes = np.searchsorted(known.to_numpy().astype(str), levels.to_numpy().astype(str))
        columns[column] = codes.astype(np.int64)
        sizes.append(size)
    table = pl.DataFrame(columns)
    test = table[rows:] if name == "adult" else table
    return Coded(name, table[:rows], tuple(sizes), test)


def distances(original: pl.DataFrame, release: pl.DataFrame, sizes: Sequence[int]) -> list[float]:
    """Return the mean total variation distance of all tables of one, two and three columns."""
    real, drawn = (
        np.array([frame[name].to_numpy() for name in frame.columns])
        for frame in (original, release)
    )

    def shares(codes: NDArray[np.int64], columns: tuple[int, ...]) -> NDArray[np.float64]:
        cells = np.zeros(codes.shape[1], np.int64)
        for column in columns:
            cells = cells * sizes[column] + codes[column]
        most = int(np.prod([sizes[column] for column in columns]))
        found: NDArray[np.float64] = np.bincount(cells, minlength=most) / codes.shape[1]
        return found

    return [
        float(
            np.mean(
                [
                    np.abs(shares(real, columns) - shares(drawn, columns)).sum() / 2
                    for columns in combinations(range(len(sizes)), way)
                ]
            )
        )
        for way in (1, 2, 3)
    ]


def guessed(table: Coded, release: pl.DataFrame, seed: int) -> list[float]:
    """Return the accuracy of a logistic regression and a random forest that learnt from it."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    target = TARGETS[table.name]
    others = [name for name in table.frame.columns if name != target]
    levels = [
        np.arange(size)
        for name, size in zip(table.frame.columns, table.sizes, strict=True)
        if name != target
    ]
    learn, try_on = release.select(others).to_numpy(), table.test.select(others).to_numpy()
    truth = table.test[target].to_numpy()
    if release[target].n_unique() < 2:
        return [float((truth == release[target][0]).mean())] * 2
    models = (
        make_pipeline(OneHotEncoder(categories=levels), LogisticRegression(max_iter=300)),
        RandomForestClassifier(n_estimators=100, min_samples_leaf=2, random_state=seed),
    )
    return [
        float((one.fit(learn, release[target].to_numpy()).predict(try_on) == truth).mean())
        for one in models
    ]


def scores(table: Coded, release: pl.DataFrame, seed: int) -> dict[str, float]:
    """Return how accurate a release is."""
    one, two, three = distances(table.frame, release, table.sizes)
    regression, forest = guessed(table, release, seed)
    return {"tvd1": one, "tvd2": two, "tvd3": three, "regression": regression, "forest": forest}


def growth_table(rows: int, columns: int, levels: int, seed: int = 0) -> Coded:
    """Return a chain of columns, each like the one before in two of three records."""
    rng = np.random.default_rng(seed)
    made = [rng.integers(levels, size=rows)]
    for _ in range(columns - 1):
        keep = rng.random(rows) < 2 / 3
        made.append(np.where(keep, made[-1], rng.integers(levels, size=rows)))
    frame = pl.DataFrame({f"c{place}": own for place, own in enumerate(made)})
    return Coded("made up", frame, (levels,) * columns, frame)
