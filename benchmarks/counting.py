"""Pairwise mutual information of the simulated credit card table, in 20 bins.

Run with ``python benchmarks/counting.py``. The unit is one ``numpy.bincount`` of one coded column
of the same table, timed in the same run; times are CPU seconds, the best of several repeats. Exits
with 1 if a pair costs more than 0.6 of that on one thread, or if threads change a bit.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table

from rows import note
from understudy.counting import LocalEngine, pairwise_information
from understudy.data import Codec, Coded, Schema, simulate

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = 284_807
BINS = 20
LIMIT = 0.6
REPEATS = 9


def credit_card(rows: int, binning: str) -> Coded:
    frame = simulate("credit_card", rows)
    schema = Schema.infer(frame, bins=BINS, binning=binning, special_share=1)
    return Codec.fit(frame, schema).encode(frame)


# Equal-frequency bins fill all cells evenly; equal-width ones put most rows into few cells.
DATA = {
    "flat": lambda rows: credit_card(rows, "quantile"),
    "skewed": lambda rows: credit_card(rows, "width"),
}


@dataclass(frozen=True)
class Timing:
    """CPU and wall-clock seconds, each the best of the repeats."""

    cpu: float
    wall: float


def timed(work: Callable[[], object], repeats: int = REPEATS) -> Timing:
    work()
    cpu, wall = [], []
    for _ in range(repeats):
        started = time.process_time(), time.perf_counter()
        work()
        cpu.append(time.process_time() - started[0])
        wall.append(time.perf_counter() - started[1])
    return Timing(min(cpu), min(wall))


def one_bincount(coded: Coded) -> float:
    """Return the CPU seconds of one `numpy.bincount`, on average over the columns."""
    return timed(lambda: [np.bincount(column) for column in coded.columns]).cpu / len(coded.names)


def measured(coded: Coded, threads: int, unit: float) -> tuple[list[str], float]:
    """Return the cells of a row of the report, and the multiple of one bincount per pair."""
    pairs = len(coded.names) * (len(coded.names) - 1) // 2
    engine = LocalEngine(threads)
    timing = timed(lambda: pairwise_information(coded, engine=engine))
    multiple = timing.cpu / pairs / unit
    cells = [
        f"{len(coded):,}",
        str(threads),
        f"{timing.cpu * 1e3:.1f}",
        f"{timing.wall * 1e3:.1f}",
        f"{timing.cpu / pairs / len(coded) * 1e9:.3f}",
        f"{unit * 1e3:.3f}",
        f"{multiple:.3f}",
    ]
    return cells, multiple


def report(title: str) -> Table:
    table = Table(title=title)
    table.add_column("data")
    for heading in (
        "rows",
        "threads",
        "CPU ms",
        "wall ms",
        "ns/row/pair",
        "unit ms",
        "units/pair",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def main() -> int:
    console = Console(width=100)
    failures = []
    table = report(
        f"All pairs of 31 columns: at most {LIMIT} bincounts (units) per pair on one thread"
    )
    for name, make in DATA.items():
        coded = make(ROWS)
        unit = one_bincount(coded)
        for threads in (1, 2):
            cells, multiple = measured(coded, threads, unit)
            table.add_row(name, *cells)
            if threads == 1:
                job = f"information of all pairs of 31 columns, {ROWS:,} rows, {name}"
                note(job, "bincounts a pair", multiple, LIMIT)
            if threads == 1 and multiple > LIMIT:
                failures.append(f"{name}: {multiple:.2f} bincounts per pair, more than {LIMIT}")
        results = [pairwise_information(coded, engine=LocalEngine(n)) for n in (1, 2)]
        if results[0].tobytes() != results[1].tobytes():
            failures.append(f"{name}: one and two threads differ")
    console.print(table)

    growth = report("Growth in rows")
    for name, make in DATA.items():
        for rows in (10_000, 100_000, 1_000_000):
            coded = make(rows)
            growth.add_row(name, *measured(coded, 1, one_bincount(coded))[0])
    console.print(growth)
    for failure in failures:
        console.print(f"[red]{failure}[/red]")
    if not failures:
        console.print("Within the limit; one and two threads agree to the bit.")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
