"""The Gaussian copula: seconds from frame to frame, and how they grow with rows and columns.

Run with ``python benchmarks/copula.py``; it sets all libraries to one thread. The unit is one pass
over the table: a ``numpy.bincount`` of every column of its codes, timed in the same run; times are
CPU seconds, user and system, the best of several repeats. Adult is read from the folder that
``UNDERSTUDY_DATA`` names, and left out, with a line that says so, if it is not there. Exits with 1
if a limit is missed, or if batches change a row.
"""

from __future__ import annotations

import os

# Libraries read these once, when they are imported.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"
os.environ["POLARS_MAX_THREADS"] = "1"

import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from rows import note
from understudy.data import Codec, fetch, scan, simulate
from understudy.errors import DataError
from understudy.synthesis.copula import GaussianCopula

if TYPE_CHECKING:
    from collections.abc import Callable

# CPU seconds for fit and sample together, from frame to frame.
LIMITS = {"adult": 1.0, "credit card": 4.0, "1,000 columns": 60.0}
PEERS = {"adult": "9 s (SDV, when this was planned)"}
MEMORY_GB = 2
REPEATS = 3


def best(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the CPU seconds of the quickest of several runs."""
    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        work()
        seconds.append(time.process_time() - started)
    return min(seconds)


def one_pass(frame: pl.DataFrame) -> float:
    """Return the CPU seconds of a `numpy.bincount` of every column of exact codes."""
    coded = Codec.fit(frame, exact=True).encode(frame)
    return best(lambda: [np.bincount(column) for column in coded.columns], repeats=9)


def one_factor(rows: int, columns: int) -> pl.DataFrame:
    """Return columns that share one factor; every second one has some twenty levels."""
    rng = np.random.default_rng(1)
    values = rng.standard_normal((rows, 1)) + rng.standard_normal((rows, columns))
    values[:, ::2] = np.round(values[:, ::2] * 2)
    return pl.DataFrame(values, schema=[f"c{place}" for place in range(columns)])


class Run:
    """The tables of one run, and the limits that it missed."""

    def __init__(self) -> None:
        self.console = Console(width=100)
        self.failures: list[str] = []
        self.skipped: list[str] = []

    def tables(self) -> dict[str, Callable[[], pl.DataFrame]]:
        """Return how the two tables are made, or one of them where Adult's file is missing."""
        made = {"credit card": lambda: simulate("credit_card")}
        try:
            adult = fetch("adult_train").drop("fnlwgt", "education")
        except DataError as error:
            self.skipped.append("adult")
            self.console.print(f"adult: skipped, and its limit was not checked. {error}\n")
            return made
        return {"adult": lambda: adult, **made}

    def measure(self, title: str, frames: dict[str, Callable[[], pl.DataFrame]]) -> None:
        """Print the seconds of fit and sample for each table, beside one pass over its codes."""
        shown = Table(title=title)
        shown.add_column("table")
        for heading in ("rows", "columns", "fit s", "sample s", "both s / at most", "passes"):
            shown.add_column(heading, justify="right")
        for name, make in frames.items():
            frame = make()
            model = GaussianCopula(random_state=1)
            fit = best(lambda model=model, frame=frame: model.fit(frame))
            sample = best(model.sample)
            both, limit = fit + sample, LIMITS.get(name)
            job = f"copula, fit and sample: {name}"
            note(job, "CPU s", both, limit, PEERS.get(name, ""))
            if limit is not None and both > limit:
                self.failures.append(f"{name}: {both:.2f} s, more than {limit:g}")
            shown.add_row(
                name,
                f"{frame.height:,}",
                f"{frame.width:,}",
                f"{fit:.3f}",
                f"{sample:.3f}",
                f"{both:.3f}" + (f" / {limit:g}" if limit else ""),
                f"{both / one_pass(frame):,.0f}",
            )
        self.console.print(shown)

    def sameness(self, frame: pl.DataFrame) -> None:
        """Check that batches change no row."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.parquet"
            frame.write_parquet(path)
            model = GaussianCopula(random_state=1)
            expected = model.fit(frame).sample()
            if not model.fit(scan(path, batch_rows=10_007)).sample().equals(expected):
                self.failures.append("batches change the synthetic table")

    def memory(self) -> None:
        """Print the largest memory so far."""
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        self.console.print(f"Largest memory of the whole run: {used:.2f} GB.")
        if used > MEMORY_GB:
            self.failures.append(f"memory: {used:.2f} GB, more than {MEMORY_GB}")


def main() -> int:
    run = Run()
    run.measure("Frame to frame, schema and coding included: CPU s", run.tables())
    run.measure(
        "Growth with columns, 5,000 rows",
        {f"{width:,} columns": lambda w=width: one_factor(5000, w) for width in (10, 100, 1000)},
    )
    run.measure(
        "Growth with rows, 20 columns",
        {
            f"{rows:,} rows": lambda r=rows: one_factor(r, 20)
            for rows in (10_000, 30_000, 100_000, 300_000)
        },
    )
    run.sameness(one_factor(50_000, 20))
    run.memory()
    for failure in run.failures:
        run.console.print(f"[red]Missed: {failure}[/red]")
    if not run.failures:
        but = f", but for {', '.join(run.skipped)}, which was skipped" * bool(run.skipped)
        run.console.print(f"Within the limits{but}; batches change nothing.")
    return int(bool(run.failures))


if __name__ == "__main__":
    sys.exit(main())
