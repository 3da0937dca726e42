"""Tables of 300 and of 1,000 columns in each method: CPU seconds of a fit and as many rows.

Run with ``python benchmarks/widths.py``. All columns have five levels and depend on one hidden
number. The greedy search is left out: for so many columns it says how many hours it would take,
and asks. Exits with 1 if a limit is missed.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from threadpoolctl import threadpool_limits

from rows import note
from understudy import BayesNet, Cart, DPMarginals, GaussianCopula, Independent, Schema
from understudy.wording import markdown_table

if TYPE_CHECKING:
    from understudy.synthesis import Synthesizer

ROWS, LEVELS, LIMIT = 5_000, 5, 60.0


def table(columns: int, rows: int = ROWS) -> pl.DataFrame:
    """Return columns of texts that all depend on one hidden number."""
    rng = np.random.default_rng(1)
    scores = 0.6 * rng.normal(size=(rows, 1)) + 0.8 * rng.normal(size=(rows, columns))
    places = np.argsort(np.argsort(scores, axis=0), axis=0) * LEVELS // rows
    names = [f"q{column + 1}" for column in range(columns)]
    return pl.DataFrame(np.array([*"abcde"])[places], schema=names, orient="row")


def methods(columns: int) -> dict[str, Synthesizer]:
    """Return the methods that take so many columns."""
    wide: dict[str, Synthesizer] = {
        "network, genetic, k = 2": BayesNet(2, "genetic", random_state=1),
        "copula": GaussianCopula(random_state=1),
        "independent columns": Independent(random_state=1),
    }
    if columns > 300:
        return wide
    return wide | {
        "network, predictive, k = 3": BayesNet(3, "predictive", random_state=1),
        "network, optimal, k = 2": BayesNet(2, "optimal", random_state=1),
        "trees": Cart(random_state=1),
        "trees on bins": Cart(splits="histogram", random_state=1),
        "MST, epsilon 1": DPMarginals(1, 1e-9, method="mst"),
        "AIM, epsilon 1": DPMarginals(1, 1e-9, method="aim"),
    }


def seconds(model: Synthesizer, frame: pl.DataFrame, schema: Schema) -> float:
    """Return what fitting a model and drawing as many rows takes."""
    started = time.process_time()
    model.fit(frame, schema).sample()
    return time.process_time() - started


def report(sizes: list[int], rows: int = ROWS) -> int:
    """Print what each method takes, and say which took too long."""
    lines, missed = [], []
    for columns in sizes:
        frame = table(columns, rows)
        schema = Schema.infer(frame, dependencies=False).as_public()
        small = table(3, 50)
        for name, model in methods(columns).items():
            # A small table first, so that kernels are there.
            methods(columns)[name].fit(
                small, Schema.infer(small, dependencies=False).as_public()
            ).sample()
            took = seconds(model, frame, schema)
            note(f"{name}, {rows:,} x {columns:,}", "CPU s", took, LIMIT)
            lines.append([f"{columns:,}", name, f"{took:.1f}"])
            print(*lines[-1], flush=True)
            missed += [f"{name}, {columns:,} columns: {took:.1f} s"] * (took > LIMIT)
    print(markdown_table(["columns", "method", "CPU s"], lines))
    for miss in missed:
        print(f"Missed: {miss}, more than {LIMIT:.0f}.")
    return int(bool(missed))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--columns", type=int, nargs="+", default=[300, 1000])
    with threadpool_limits(1):
        return report(parser.parse_args().columns)


if __name__ == "__main__":
    sys.exit(main())
