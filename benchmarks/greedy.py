"""The exact greedy search on cmc, Adult and the simulated credit card table.

Run with ``python benchmarks/greedy.py``; ``--four`` adds k = 4 on the credit card table, which
takes minutes, and ``--quick`` leaves out two threads and fewer parents than three. Adult is read
from the folder that ``UNDERSTUDY_DATA`` names, and left out if it is not there. The unit is one
``numpy.bincount`` of one coded column of the same table, timed in the same run; times are user CPU
seconds, with the kernels already compiled. Exits with 1 if a limit is missed, or if one and two
threads find different networks.
"""

from __future__ import annotations

import resource
import sys
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table

from counting import ROWS, credit_card, one_bincount
from rows import note
from understudy.counting import LocalEngine
from understudy.data import Codec, Coded, Schema, fetch, load, simulate
from understudy.errors import DataError
from understudy.synthesis.bayes.constraints import build_constraints
from understudy.synthesis.bayes.greedy import GreedyResult, greedy_search

if TYPE_CHECKING:
    from collections.abc import Callable

# Units a scoring at k = 3 on one thread, and seconds for the table as a user reads it.
LIMITS = {"credit card, flat": 1.2, "credit card, skewed": 0.5}
SECONDS = 15.0
# For k = 3 and the real credit card table.
PEERS = {"credit card, as read": "42,977 s on 8 cores (paper of 2022)"}


def as_read(frame) -> Coded:
    return Codec.fit(frame, Schema.infer(frame)).encode(frame)


def tables(*, four: bool, quick: bool) -> dict[str, tuple[Callable[[], Coded], range]]:
    """Return how each table is made, and the numbers of parents to try."""
    least, most = 3 if quick else 1, 5 if four else 4
    return {
        "cmc": (lambda: as_read(load("cmc")), range(least, 5)),
        "adult": (lambda: as_read(fetch("adult")), range(least, 4)),
        "credit card, flat": (lambda: credit_card(ROWS, "quantile"), range(least, most)),
        "credit card, skewed": (lambda: credit_card(ROWS, "width"), range(least, most)),
        "credit card, as read": (lambda: as_read(simulate("credit_card", ROWS)), range(3, 4)),
    }


def user_seconds() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def timed(coded: Coded, parents: int, threads: int) -> tuple[GreedyResult, float]:
    """Return the network from the first column, and the user CPU seconds that it took.

    Repeated until a second has passed, for a single run of a small table is too short to time.
    """
    rules = build_constraints(coded.names, parents=parents, root=coded.names[0])
    started, runs = user_seconds(), 0
    while runs == 0 or user_seconds() - started < 1:
        found = greedy_search(coded, rules, np.random.default_rng(0), engine=LocalEngine(threads))
        runs += 1
    return found, (user_seconds() - started) / runs


def compile_kernels() -> None:
    """Load or compile everything first: columns of few and of many levels."""
    coded = Coded.from_arrays({"a": [0, 1], "b": np.arange(2)}, {"a": 2, "b": 2})
    many = np.arange(600)
    wide = Coded.from_arrays({"a": many, "b": many, "c": many % 2})
    for table in (coded, wide):
        greedy_search(table, build_constraints(table.names, parents=2), np.random.default_rng(0))


def missed(name: str, parents: int, units: float, seconds: float) -> list[str]:
    """Note what a search took, if limits are for it, and return those that it missed."""
    if parents != 3:
        return []
    problems = []
    large = name.startswith("credit card")
    job = f"greedy network, k = 3, {name}"
    note(job, "CPU s", seconds, SECONDS if large else None, PEERS.get(name, ""))
    if large and seconds > SECONDS:
        problems.append(f"{name}: {seconds:.1f} s, more than {SECONDS:.0f} s")
    if name in LIMITS:
        note(job, "bincounts a scoring", units, LIMITS[name])
        if units > LIMITS[name]:
            problems.append(f"{name}: {units:.2f} units a scoring, more than {LIMITS[name]}")
    return problems


def main() -> int:
    console = Console(width=110)
    report = Table(title="Exact greedy search: user CPU")
    report.add_column("table")
    for heading in (
        "rows",
        "columns",
        "k",
        "scorings",
        "threads",
        "CPU s",
        "ms each",
        "units each",
    ):
        report.add_column(heading, justify="right", no_wrap=True)
    failures = []
    quick = "--quick" in sys.argv[1:]
    compile_kernels()
    for name, (make, degrees) in tables(four="--four" in sys.argv[1:], quick=quick).items():
        try:
            coded = make()
        except DataError:
            console.print(f"{name}: skipped, the table is not here (set UNDERSTUDY_DATA).")
            continue
        unit = one_bincount(coded)
        for parents in degrees:
            found = {}
            for threads in (1,) if quick else (1, 2):
                found[threads], seconds = timed(coded, parents, threads)
                each = seconds / max(found[threads].scorings, 1)
                if threads == 1:
                    failures += missed(name, parents, each / unit, seconds)
                report.add_row(
                    name,
                    f"{len(coded):,}",
                    str(len(coded.names)),
                    str(parents),
                    f"{found[threads].scorings:,}",
                    str(threads),
                    f"{seconds:.4f}" if seconds < 1 else f"{seconds:.2f}",
                    f"{each * 1e3:.3f}",
                    f"{each / unit:.2f}",
                )
            if not quick and found[1] != found[2]:
                failures.append(f"{name}, k = {parents}: one and two threads differ")
    console.print(report)
    console.print(
        "\n".join(f"{name}, k = 3: {took} for the real one" for name, took in PEERS.items())
    )
    for failure in failures:
        console.print(f"[red]{failure}[/red]")
    if not failures:
        same = "" if quick else "; one and two threads find the same networks"
        console.print(f"Within all limits{same}.")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
