"""What the cuts for wide tables cost in accuracy, and what they save in time.

Run with ``python benchmarks/wide.py``. In a table of more than 100 columns, the predictive search
tries 30 parents for each column, and a tree looks at 20 columns. At 120 columns and 2,000 records,
both can also be done without cuts. Four tables are made up: items that depend on one hidden
number, answers in six blocks that depend on twelve, a chain of columns, and columns of which every
third follows from the two before it together, though neither tells of it alone. Models learn from
2,000 records. Others, 2,000 as well, tell how probable the model finds them (nats a record), and
how far the synthetic tables of two columns are from theirs. Times are CPU seconds with compiled
kernels.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from threadpoolctl import threadpool_limits

from rows import note
from understudy import BayesNet, Cart, Schema
from understudy.synthesis.bayes import predictive
from understudy.utility import marginals
from understudy.wording import markdown_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from understudy.synthesis import Synthesizer

COLUMNS, RECORDS, LEVELS = 120, 2_000, 5
EVERYTHING = 10**9


def in_levels(scores: NDArray[np.float64]) -> pl.DataFrame:
    """Return each column of scores in levels of about the same number of records, as texts."""
    places = np.argsort(np.argsort(scores, axis=0), axis=0) * LEVELS // len(scores)
    names = [f"q{column + 1}" for column in range(COLUMNS)]
    return pl.DataFrame(np.array([*"abcde"])[places], schema=names, orient="row")


def items(rng: np.random.Generator) -> pl.DataFrame:
    """Return columns that all depend on one hidden number: each tells of each."""
    hidden = rng.normal(size=(2 * RECORDS, 1))
    return in_levels(0.6 * hidden + 0.8 * rng.normal(size=(2 * RECORDS, COLUMNS)))


def blocks(rng: np.random.Generator) -> pl.DataFrame:
    """Return six blocks of columns, of which each depends on two hidden numbers of its block."""
    hidden = rng.normal(size=(2 * RECORDS, 12))
    weights = np.zeros((12, COLUMNS))
    for column in range(COLUMNS):
        first = 2 * (column * 6 // COLUMNS)
        weights[first : first + 2, column] = rng.normal(size=2)
    return in_levels(hidden @ weights + 0.7 * rng.normal(size=(2 * RECORDS, COLUMNS)))


def chain(rng: np.random.Generator) -> pl.DataFrame:
    """Return columns of which each depends on the one before."""
    steps = rng.normal(size=(2 * RECORDS, COLUMNS))
    for column in range(1, COLUMNS):
        steps[:, column] = 0.7 * steps[:, column - 1] + 0.7 * steps[:, column]
    return in_levels(steps)


def sums(rng: np.random.Generator) -> pl.DataFrame:
    """Return columns of which every third is the sum of the two before, modulo the levels."""
    places = rng.integers(LEVELS, size=(2 * RECORDS, COLUMNS))
    kept = rng.random((2 * RECORDS, COLUMNS // 3)) < 0.8
    told = (places[:, ::3] + places[:, 1::3]) % LEVELS
    places[:, 2::3] = np.where(kept, told, places[:, 2::3])
    return pl.DataFrame({f"q{n + 1}": np.array([*"abcde"])[own] for n, own in enumerate(places.T)})


@contextmanager
def widest(columns: int) -> Iterator[None]:
    """Cut the predictive search from another number of columns on."""
    before, predictive.WIDE = predictive.WIDE, columns
    try:
        yield
    finally:
        predictive.WIDE = before


def measured(model: Synthesizer, frame: pl.DataFrame) -> tuple[float, float, float]:
    """Return the seconds of a fit, nats of a new record, and how far pairs are from new ones."""
    schema = Schema.infer(frame, dependencies=False)
    own, other = frame[:RECORDS], frame[RECORDS:]
    started = time.process_time()
    model.fit(own, schema)
    seconds = time.process_time() - started
    nats = float(model.log_likelihood(other).mean())
    (pairs,) = marginals(other, model.sample(), ways=2).ways
    return seconds, nats, pairs.mean


def main() -> int:
    argparse.ArgumentParser(description=__doc__.split("\n", 1)[0]).parse_args()
    tables: dict[str, Callable[[np.random.Generator], pl.DataFrame]] = {
        "one hidden number": items,
        "six blocks": blocks,
        "chain": chain,
        "sums of two": sums,
    }
    models: dict[str, tuple[Synthesizer, Synthesizer]] = {
        "predictive network, k = 3": (
            BayesNet(3, "predictive", random_state=1),
            BayesNet(3, "predictive", random_state=1),
        ),
        "trees": (Cart(random_state=1), Cart(max_predictors=COLUMNS, random_state=1)),
    }
    lines = []
    with threadpool_limits(1):
        for title, make in tables.items():
            frame = make(np.random.default_rng(1))
            for name, both in models.items():
                for model, cut in zip(both, ("cut", "uncut"), strict=True):
                    with widest(predictive.WIDE if cut == "cut" else EVERYTHING):
                        seconds, nats, pairs = measured(model, frame)
                    job = f"{name}, {title}, {RECORDS:,} x {COLUMNS}, {cut}"
                    note(job, "CPU s", seconds)
                    lines.append(
                        [title, name, cut, f"{seconds:.2f}", f"{nats:.2f}", f"{pairs:.4f}"]
                    )
    heading = ["table", "model", "", "fit s", "nats a new record", "distance of pairs"]
    print(markdown_table(heading, lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
