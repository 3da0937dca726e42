"""Exact trees and trees on bins: CPU seconds, and how well each describes new records.

Run with ``python benchmarks/tree_splits.py``. A table is parted in two at random. Trees are grown
on the one half, and the other half says how good they are: by the bits that they take to describe
its records, by the mean distance of all tables of two columns between it and a synthetic half, and
by how many of its records boosted trees that learn from the synthetic half predict. Adult is left
out where ``UNDERSTUDY_DATA`` does not name its folder. Times are CPU seconds of one fit from codes,
on one thread with compiled kernels. In the end, the whole table of payments goes from frame to
frame, with trees on bins as is the default for so many records.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from rows import note
from understudy import Cart
from understudy.data import Schema, fetch, load, simulate
from understudy.errors import DataError
from understudy.utility import marginals, prediction
from understudy.wording import markdown_table

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = 40_000
LARGE = 284_807
KINDS = ("exact", "histogram")


def payments() -> pl.DataFrame:
    """Return simulated payments, rounded with numbers that repeat; few columns tell of another."""
    columns = ("V1", "V2", "V3", "V4", "V5", "V7", "V10", "Amount")
    frame = simulate("credit_card", ROWS).select(columns)
    return frame.with_columns(pl.exclude("Amount").round(2), pl.col("Amount").round(0))


def measurements() -> pl.DataFrame:
    """Return numbers with two decimals that depend on two hidden ones, and a label that does."""
    rng = np.random.default_rng(1)
    hidden = rng.standard_normal((2, ROWS))
    made = {}
    for number in range(8):
        bent = np.abs(hidden[1]) if number % 2 else hidden[1]
        made[f"m{number + 1}"] = np.round(hidden[0] + bent + rng.normal(size=ROWS) / 2, 2)
    label = np.where(hidden[0] * hidden[1] + rng.normal(size=ROWS) / 2 > 0, "yes", "no")
    return pl.DataFrame(made | {"label": label})


# Each table, and the column that boosted trees predict, if any can be predicted.
TABLES: dict[str, tuple[Callable[[], pl.DataFrame], str]] = {
    "payments": (payments, ""),
    "measurements": (measurements, "label"),
    "Adult": (lambda: fetch("adult_train"), "income"),
}


def measure(frame: pl.DataFrame, target: str, kind: str) -> tuple[float, float, float, float]:
    """Return seconds, bits for each record, distance of pairs, and share predicted."""
    schema = Schema.infer(frame, dependencies=False)
    order = np.random.default_rng(1).permutation(frame.height)
    own, other = frame[order[::2]], frame[order[1::2]]
    # The codes are those of all values; what is learnt is learnt from the one half.
    coding = Cart(minbucket=frame.height, splits=kind, random_state=1).fit(frame, schema)
    coded = coding.codec_.encode(own)
    coding.set_params(minbucket=5)
    started = time.process_time()
    model = coding.refit(coded)
    seconds = time.process_time() - started
    bits = -model.log_likelihood(other).mean() / np.log(2)
    synthetic = model.sample(own.height)
    (pairs,) = marginals(other, synthetic, ways=2).ways
    share = float("nan")
    if target:
        learner = {"boosting": HistGradientBoostingClassifier(random_state=1)}
        learnt = prediction(own, synthetic, target=target, test=other, classifiers=learner)
        share = learnt.mean.synthetic
    return seconds, float(bits), pairs.mean, share


def large() -> None:
    """Print what the whole table of payments takes, all columns as they are, and note it."""
    frame = simulate("credit_card", LARGE)
    started = time.process_time()
    model = Cart(random_state=1).fit(frame)
    fitted = time.process_time()
    model.sample()
    seconds = fitted - started, time.process_time() - fitted
    table = f"{LARGE:,} x {frame.width}"
    print(f"\nPayments, {table}, trees on bins: fit {seconds[0]:.1f} s, sample {seconds[1]:.1f} s.")
    note(f"trees on bins, payments, {table}, frame to frame", "CPU s", sum(seconds))


def main() -> int:
    """Print a table, and note the times."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.parse_args()
    lines = []
    with threadpool_limits(1):
        for kind in KINDS:  # kernels are compiled, or loaded
            Cart(splits=kind).fit(load("cmc")).log_likelihood(load("cmc"))
        for name, (make, target) in TABLES.items():
            try:
                frame = make()
            except DataError:
                print(f"{name}: skipped, the table is not here (set UNDERSTUDY_DATA).")
                continue
            table = f"{name}, {frame.height // 2:,} x {frame.width}"
            for kind in KINDS:
                seconds, bits, pairs, share = measure(frame, target, kind)
                note(f"trees of {table}, splits {kind}", "CPU s", seconds)
                said = f"{share:.1%}" if target else ""
                figures = [f"{seconds:.2f}", f"{bits:.2f}", f"{pairs:.4f}", said]
                lines.append([table, kind, *figures])
    heading = ["table", "splits", "fit s", "bits a record", "distance of pairs", "predicted"]
    print(markdown_table(heading, lines))
    with threadpool_limits(1):
        large()
    return 0


if __name__ == "__main__":
    sys.exit(main())
