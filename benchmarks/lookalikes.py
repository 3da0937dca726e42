"""Lookalikes: CPU seconds, alone and for each pass over the data, and how the exact part grows.

Run with ``python benchmarks/lookalikes.py``; ``--quick`` takes a tenth of the rows. Adult is left
out where ``UNDERSTUDY_DATA`` does not name its folder. Times are CPU seconds on one thread with
compiled kernels. A pass over the data adds up all differences of one person to all records once, by
NumPy and in the same run; so the ratio says what a person costs beside it. Exits with 1 if a limit
is missed.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rows import note
from understudy.data import fetch, load
from understudy.errors import DataError
from understudy.learning.mixed_distance import PlacedTable, place_together
from understudy.risk import lookalikes
from understudy.risk.lookalikes.equality import equal_records
from understudy.wording import markdown_table

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS, COLUMNS, PEOPLE = 284_807, 31, 10_000
ADULT_SECONDS, LARGE_SECONDS, LARGE_GIGABYTES = 20.0, 30.0, 1.0
GROWTH = (1, 2, 4, 8)
PASSES = 20


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return CPU seconds, and what came of it."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def numbers(rows: int, seed: int) -> pl.DataFrame:
    """Return people with numbers that depend on five common causes, as measurements do."""
    rng = np.random.default_rng(seed)
    causes = np.random.default_rng(0).normal(size=(5, COLUMNS))
    values = rng.normal(size=(rows, 5)) @ causes + rng.normal(size=(rows, COLUMNS))
    return pl.DataFrame({f"v{column}": values[:, column] for column in range(COLUMNS)})


def one_pass(placed: PlacedTable) -> float:
    """Return the CPU seconds of adding up the differences of one person to all records."""
    seconds, _ = timed(
        lambda: [
            np.abs(placed.values - placed.values[:, [person]]).sum(axis=0)
            for person in range(PASSES)
        ]
    )
    return seconds / PASSES


def measured(
    title: str, original: pl.DataFrame, release: pl.DataFrame, people: int, limit: float | None
) -> tuple[list[str], float]:
    """Return a row of the table, and the CPU seconds of the attack, which are noted."""
    seconds, found = timed(lambda: lookalikes(original, release, people=people, random_state=0))
    shape = f"{original.height:,} x {original.width}"
    note(f"lookalikes, {title}, {shape}, {found.people:,} people", "CPU s", seconds, limit)
    placed = place_together({"original": original}, original.columns)["original"]
    passed = one_pass(placed)
    row = [
        title,
        shape,
        f"{found.people:,}",
        f"{seconds:.1f}",
        # Two tables and two distances for each person.
        f"{seconds / found.people / passed / 2:.2f}",
    ]
    return row, seconds


def growth(rows: int) -> list[list[str]]:
    """Return how the time of the exact part grows with the rows."""
    found = []
    for times in GROWTH:
        placed = place_together(
            {"original": numbers(times * rows, 1), "release": numbers(times * rows, 2)},
            [f"v{column}" for column in range(COLUMNS)],
        )
        seconds, _ = timed(lambda both=placed: equal_records(both["original"], both["release"]))
        found.append([f"{times * rows:,}", f"{seconds:.2f}", f"{1e6 * seconds / times / rows:.2f}"])
    return found


def main() -> int:
    """Print the tables, and say which limits are missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    share = 10 if parser.parse_args().quick else 1
    limits = (ADULT_SECONDS, LARGE_SECONDS) if share == 1 else (None, None)
    survey = load("cmc")
    lookalikes(survey, survey, random_state=0)  # compiles the kernels
    rows, missed = [], []
    try:
        adult = fetch("adult_train")
        adult = adult.head(adult.height // share)
        row, seconds = measured("Adult against itself", adult, adult, adult.height, limits[0])
        rows.append(row)
        missed += [f"Adult: {seconds:.1f} s"] if seconds > ADULT_SECONDS else []
    except DataError as error:
        sys.stderr.write(f"Adult is left out: {error}\n")
    large = [numbers(ROWS // share, seed) for seed in (1, 2)]
    row, seconds = measured("simulated measurements", *large, PEOPLE // share, limits[1])
    rows.append(row)
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    note("lookalikes, largest memory", "GB", gigabytes, LARGE_GIGABYTES)
    missed += [f"simulated: {seconds:.1f} s"] if seconds > LARGE_SECONDS else []
    missed += [f"simulated: {gigabytes:.2f} GB"] if gigabytes > LARGE_GIGABYTES else []
    heading = ["table", "rows x columns", "people", "CPU s", "of a pass per person and table"]
    sys.stdout.write(f"{markdown_table(heading, rows)}\n\nmemory at most: {gigabytes:.2f} GB\n\n")
    exact = markdown_table(["rows of each", "CPU s", "us per row"], growth(20_000 // share))
    sys.stdout.write(f"{exact}\n")
    for miss in missed:
        sys.stdout.write(f"missed: {miss}\n")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
