"""The releases of the paper of 2020: DataSynthesizer with and without noise, the copula, CART."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.data import Coded, Schema
from understudy.progress import quietly
from understudy.synthesis import BayesNet, Cart

Tool = Literal["DS 0", "DS 0.1", "DV", "SP", "DS 0.1, version 0.1.13"]
TOOLS: tuple[Tool, ...] = ("DS 0", "DS 0.1", "DV", "SP")
EPSILON = 0.1
DEGREE = 2
"""Parents of a column in DataSynthesizer's networks: not printed, and 2 in its own examples."""


def paper_schema(table: pl.DataFrame) -> Schema:
    """Return how DataSynthesizer sees a table: 20 bins of equal width, and no dependencies."""
    return Schema.infer(table, dependencies=False, binning="width", special_share=1)


def release(tool: Tool, table: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return a synthetic table as one of the papers' tools makes it, as far as it is described."""
    with quietly(), _no_warnings():
        if tool == "DV":
            return by_numbers(table, seed)
        if tool == "SP":
            trees = Cart(smoothing_leaves=0, random_state=seed)
            made: pl.DataFrame = trees.fit(table, Schema.infer(table, dependencies=False)).sample()
            return made
        if tool == "DS 0":
            plain = BayesNet(DEGREE, "greedy", smoothing=0, decode="uniform", random_state=seed)
            drawn: pl.DataFrame = plain.fit(table, paper_schema(table)).sample()
            return drawn
        noisy = BayesNet(DEGREE, epsilon=EPSILON, preset="datasynthesizer", random_state=seed)
        noisy.fit(table, paper_schema(table))
        if tool == "DS 0.1":
            return with_early_noise(noisy, table, seed)
        as_now: pl.DataFrame = noisy.sample()
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


def by_numbers(table: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return a release of a Gaussian copula to which categories are numbers.

    Written from what Patki, Wedge and Veeramachaneni (2016, section on categories) say of the
    Synthetic Data Vault: the values of a column, the most frequent first, are intervals of [0, 1]
    as long as their shares. A record's number is normal about the middle of its interval, with a
    sixth of its length as standard deviation. The numbers of all columns have one mean and one
    covariance, as if they were normal, and a number that is drawn gives the value of its interval.
    """
    rng = np.random.default_rng(seed)
    numbers, codings = [], []
    for name in table.columns:
        values, codes, counts = np.unique(
            table[name].to_numpy(), return_inverse=True, return_counts=True
        )
        order = np.argsort(-counts, kind="stable")
        place = np.argsort(order)[codes]
        edges = np.concatenate([[0.0], np.cumsum(counts[order]) / len(table)])
        low, high = edges[place], edges[place + 1]
        drawn = rng.normal((low + high) / 2, (high - low) / 6)
        numbers.append(np.clip(drawn, low, high))
        codings.append((values[order], edges))
    together = np.array(numbers)
    drawn = rng.multivariate_normal(together.mean(axis=1), np.cov(together), len(table))
    columns = {}
    for name, (values, edges), own in zip(table.columns, codings, drawn.T, strict=True):
        place = np.clip(np.searchsorted(edges, own, side="right") - 1, 0, len(values) - 1)
        columns[name] = pl.Series(name, values[place], dtype=table.schema[name])
    return pl.DataFrame(columns)


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
