"""Searches for a network on the pairwise mutual information: genetic, exact and annealed.

Run with ``python benchmarks/ordering.py``. Times are CPU seconds with compiled kernels, the best
of three; three parents each. The matrix of 31 columns is that of the simulated credit card table
in 20 bins, the others are random. Exits with 1 if a limit is missed: 0.5 s for 400 generations
on 31 columns, 0.5 s for the proven optimum of 20 columns, 1 s for the annealing of 31, which must
also be at least as good as the best of five genetic runs of 2,000 generations.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from rich.console import Console
from rich.table import Table

from rows import note
from understudy.counting import pairwise_information
from understudy.data import Codec, Schema, simulate
from understudy.synthesis.bayes.constraints import Constraints, build_constraints
from understudy.synthesis.bayes.genetic import GeneticResult, genetic_search
from understudy.synthesis.bayes.optimal import OptimalResult, optimal_search

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

Found = TypeVar("Found")

PARENTS = 3
REPEATS = 3
RUNS = 5
GENETIC_LIMITS = {31: 0.5}
OPTIMAL_LIMITS = {20: 0.5, 31: 1.0}


def information_of(d: int) -> NDArray[np.float64]:
    if d == 31:
        frame = simulate("credit_card")
        schema = Schema.infer(frame, bins=20, special_share=1)
        return pairwise_information(Codec.fit(frame, schema).encode(frame))
    half = np.triu(np.random.default_rng(d).random((d, d)) ** 3, 1)
    return half + half.T


def timed(work: Callable[[], Found]) -> tuple[Found, float]:
    """Return what the work gives, and its CPU seconds."""
    found = work()
    seconds = []
    for _ in range(REPEATS):
        started = time.process_time()
        work()
        seconds.append(time.process_time() - started)
    return found, min(seconds)


class Report:
    """The table, and what missed a limit."""

    def __init__(self) -> None:
        self.failures: list[str] = []
        self.table = Table(title=f"Search for a network with {PARENTS} parents each")
        for heading in ("search", "columns", "CPU s", "limit", "fitness", "bound", "gap", "proven"):
            self.table.add_column(heading, justify="left" if heading == "search" else "right")

    def add(
        self,
        search: str,
        d: int,
        seconds: float,
        fitness: float,
        best: OptimalResult,
        limit: float | None = None,
    ) -> None:
        """Add a row, and a failure if it took longer than the limit."""
        note(f"network: {search}, {d} columns", "CPU s", seconds, limit)
        if limit is not None and seconds > limit:
            self.failures.append(f"{search}, {d} columns: {seconds:.2f} s, more than {limit} s")
        self.table.add_row(
            search,
            str(d),
            f"{seconds:.3f}",
            "" if limit is None else f"{limit:.1f}",
            f"{fitness:.4f}",
            f"{best.bound:.4f}",
            f"{1 - fitness / best.bound:.2%}",
            "yes" if fitness == best.bound else "no",
        )


def evolve(
    information: NDArray[np.float64], rules: Constraints, seed: int, generations: int
) -> GeneticResult:
    rng = np.random.default_rng(seed)
    return genetic_search(information, rules, rng, generations=generations)


def main() -> int:
    report = Report()
    for d in (15, 20, 31, 100):
        information = information_of(d)
        rules = build_constraints([f"a{place}" for place in range(d)], parents=PARENTS)
        best, seconds = timed(lambda: optimal_search(information, rules))  # noqa: B023
        kind = "exact" if d <= 20 else "annealed"
        limit = OPTIMAL_LIMITS.get(d)
        report.add(f"optimal, {kind}", d, seconds, best.score, best, limit)
        if d != 20:
            evolved, seconds = timed(lambda: evolve(information, rules, 0, 400))  # noqa: B023
            fitness, limit = evolved.best[-1], GENETIC_LIMITS.get(d)
            report.add("genetic, 400 generations", d, seconds, fitness, best, limit)
        if d == 31:
            started = time.process_time()
            longest = max(evolve(information, rules, run, 2000).best[-1] for run in range(RUNS))
            seconds = time.process_time() - started
            report.add(f"genetic, best of {RUNS} x 2,000", d, seconds, longest, best)
            if best.score < longest:
                report.failures.append(
                    f"annealing found {best.score:.6f} bits, the genetic search {longest:.6f}"
                )
    console = Console(width=100)
    console.print(report.table)
    for failure in report.failures:
        console.print(f"[red]{failure}[/red]")
    if not report.failures:
        console.print("Within the limits; annealing is at least as good as the genetic search.")
    return int(bool(report.failures))


if __name__ == "__main__":
    sys.exit(main())
