"""The releases of the paper of 2020: DataSynthesizer with and without noise, the copula, CART."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.data import Coded, Schema
from understudy.progress import quietly
from understudy.synthesis import BayesNet, Cart, GaussianCopula

TOOLS = ("DS 0", "DS 0.1", "DV", "SP")
EPSILON = 0.1
DEGREE = 2
"""Parents of a column in DataSynthesizer's networks: not printed, and 2 in its own examples."""


LATER_NOISE = "DS 0.1, version 0.1.13"


@dataclass(frozen=True)
class Coding:
    """How categories become numbers for a copula that knows nothing but numbers.

    Parameters
    ----------
    place : {"normal", "even", "middle"}
        Where in the interval of its value a record is: about the middle, anywhere, or there.
    order : {"frequent", "label"}
        Which values come first: the most frequent, or the lowest.
    numbers : tuple of str
        Columns that are taken as the numbers they are, and rounded when they are drawn.
    outside : {"nearest", "again"}
        What becomes of a number beyond all intervals: the nearest value, or its record is drawn
        again.
    """

    place: Literal["normal", "even", "middle"] = "normal"
    order: Literal["frequent", "label"] = "frequent"
    numbers: tuple[str, ...] = ()
    outside: Literal["nearest", "again"] = "nearest"


ALL_COLUMNS = "*"
CODINGS = {
    "DV, middle of each interval": Coding(place="middle"),
    "DV, even in each interval": Coding(place="even"),
    "DV, values by label": Coding(order="label"),
    "DV, drawn again if outside": Coding(outside="again"),
    "DV, age as a number": Coding(numbers=("age",)),
    "DV, age and children as numbers": Coding(numbers=("age", "children")),
    "DV, all columns as numbers": Coding(numbers=(ALL_COLUMNS,)),
}
"""Other codings that were tried for DV."""
OWN_COPULA = "DV, our GaussianCopula"
DEGREES = {"DS 0, one parent": 1, "DS 0, three parents": 3, "DS 0, four parents": 4}
"""Other degrees that were tried for DS 0."""
TRIED = (*DEGREES, LATER_NOISE, OWN_COPULA, *CODINGS)
"""Releases that are in no paper: what was tried where a setting is not printed."""


def paper_schema(table: pl.DataFrame) -> Schema:
    """Return how DataSynthesizer sees a table: 20 bins of equal width, and no dependencies."""
    return Schema.infer(table, dependencies=False, binning="width", special_share=1)


def release(tool: str, table: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return a synthetic table as one of the papers' tools makes it, as far as it is described.

    `tool` is one of `TOOLS` or of `TRIED`.
    """
    if tool == "DV" or tool in CODINGS:
        return by_numbers(table, seed, CODINGS.get(tool, Coding()))
    with quietly(), _no_warnings():
        model: Any
        if tool == "SP":
            model = Cart(smoothing_leaves=0, random_state=seed)
            made: pl.DataFrame = model.fit(table, Schema.infer(table, dependencies=False)).sample()
            return made
        if tool == OWN_COPULA:
            model = GaussianCopula(random_state=seed)
            own: pl.DataFrame = model.fit(table, Schema.infer(table, dependencies=False)).sample()
            return own
        if tool == "DS 0" or tool in DEGREES:
            degree = DEGREES.get(tool, DEGREE)
            model = BayesNet(degree, "greedy", smoothing=0, decode="uniform", random_state=seed)
            drawn: pl.DataFrame = model.fit(table, paper_schema(table)).sample()
            return drawn
        model = BayesNet(DEGREE, epsilon=EPSILON, preset="datasynthesizer", random_state=seed)
        model.fit(table, paper_schema(table))
        if tool == "DS 0.1":
            return with_early_noise(model, table, seed)
        as_now: pl.DataFrame = model.sample()
        return as_now


def with_early_noise(model: BayesNet, table: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return a release of DataSynthesizer as it was in 2019, with the network of `model`.

    In the versions of that time the noise had the scale 2 (columns - parents) / (records epsilon),
    which is meant for shares (PrivBayes, algorithm 1), and was added to counts: so many times too
    little as there are records. Later versions add (columns - parents) / epsilon.
    """
    rng = np.random.default_rng(seed)
    coded = model.codec_.encode(table)
    size = dict(zip(coded.names, coded.cardinalities, strict=True))
    drawn: dict[str, NDArray[np.int64]] = {}
    for child, parents in model.network_.parents.items():
        sizes = [size[name] for name in (*parents, child)]
        own = [coded[name].astype(np.int64) for name in (*parents, child)]
        cells = np.ravel_multi_index(own, sizes)
        counts = np.bincount(cells, minlength=int(np.prod(sizes))).reshape(-1, size[child])
        # Half of epsilon is for the network.
        scale = 2 * (len(size) - len(parents)) / (len(table) * EPSILON / 2)
        noisy = np.maximum(counts + rng.laplace(0, scale, counts.shape), 0)
        noisy[noisy.sum(axis=1) == 0] = 1
        ends = np.cumsum(noisy, axis=1)
        row = np.zeros(len(table), np.int64)
        if parents:
            row = np.ravel_multi_index([drawn[name] for name in parents], sizes[:-1])
        chosen = rng.random(len(table)) * ends[row, -1]
        drawn[child] = np.minimum((ends[row] <= chosen[:, None]).sum(axis=1), size[child] - 1)
    columns = tuple(drawn[name].astype(coded[name].dtype) for name in coded.names)
    made: pl.DataFrame = model.codec_.decode(
        Coded(coded.names, columns, coded.cardinalities), "uniform", seed
    )
    return made


def by_numbers(table: pl.DataFrame, seed: int, coding: Coding | None = None) -> pl.DataFrame:
    """Return a release of a Gaussian copula to which categories are numbers.

    Written from what Patki, Wedge and Veeramachaneni (2016, section on categories) say of the
    Synthetic Data Vault: the values of a column, the most frequent first, are intervals of [0, 1]
    as long as their shares. A record's number is normal about the middle of its interval, with a
    sixth of its length as standard deviation. The numbers of all columns have one mean and one
    covariance, as if they were normal, and a number that is drawn gives the value of its interval.
    """
    coding = coding or Coding()
    rng = np.random.default_rng(seed)
    scales = {name: _Scale.of(table[name], coding) for name in table.columns}
    together = np.array([own.placed(rng) for own in scales.values()])
    mean, covariance = together.mean(axis=1), np.cov(together)
    drawn = rng.multivariate_normal(mean, covariance, len(table))
    while coding.outside == "again":
        inside = np.all([own.covers(drawn[:, i]) for i, own in enumerate(scales.values())], axis=0)
        if inside.all():
            break
        drawn[~inside] = rng.multivariate_normal(mean, covariance, int(np.sum(~inside)))
    columns = {
        name: pl.Series(name, own.values_at(drawn[:, i]), dtype=table.schema[name])
        for i, (name, own) in enumerate(scales.items())
    }
    return pl.DataFrame(columns)


@dataclass(frozen=True, eq=False)
class _Scale:
    """A column as numbers: the intervals of its values, or none if it is a number itself."""

    place: str
    values: NDArray[Any]
    edges: NDArray[np.float64] | None
    codes: NDArray[np.int64]

    @classmethod
    def of(cls, column: pl.Series, coding: Coding) -> _Scale:
        values, codes, counts = np.unique(
            column.to_numpy(), return_inverse=True, return_counts=True
        )
        is_number = column.name in coding.numbers or ALL_COLUMNS in coding.numbers
        if is_number and column.dtype.is_numeric():
            return cls(coding.place, values, None, codes)
        by_share = coding.order == "frequent"
        order = np.argsort(-counts, kind="stable") if by_share else np.arange(len(values))
        edges = np.concatenate([[0.0], np.cumsum(counts[order]) / len(column)])
        return cls(coding.place, values[order], edges, np.argsort(order)[codes])

    def placed(self, rng: np.random.Generator) -> NDArray[np.float64]:
        if self.edges is None:
            return self.values[self.codes].astype(np.float64)
        low, high = self.edges[self.codes], self.edges[self.codes + 1]
        if self.place == "even":
            return np.asarray(rng.uniform(low, high))
        middle = (low + high) / 2
        drawn = rng.normal(middle, (high - low) / 6) if self.place == "normal" else middle
        return np.asarray(np.clip(drawn, low, high))

    def covers(self, drawn: NDArray[np.float64]) -> NDArray[np.bool_]:
        if self.edges is None:
            return np.ones(len(drawn), bool)
        return np.asarray((drawn >= 0) & (drawn < 1))

    def values_at(self, drawn: NDArray[np.float64]) -> NDArray[Any]:
        if self.edges is None:
            return np.rint(np.clip(drawn, self.values[0], self.values[-1]))
        place = np.searchsorted(self.edges, drawn, side="right") - 1
        return np.asarray(self.values[np.clip(place, 0, len(self.values) - 1)])


@contextmanager
def _no_warnings() -> Iterator[None]:
    """Say nothing of releases that are only compared."""
    log = logging.getLogger("understudy")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)
