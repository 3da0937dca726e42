"""Membership: by density, by control records and by shadow releases, of the survey (cmc).

Run with ``python benchmarks/membership.py``. Times are user CPU on one thread with compiled
kernels, of the whole call, from frames to the result, best of several repeats (shadow releases:
one). They stand beside one pass over the table, a ``numpy.bincount`` of every column of its codes,
and beside one fit of the same model with a sample of it, both timed in the same run. Exits with 1
if a limit is missed.
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
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table

from rows import note
from understudy import BayesNet, Cart, Independent, load
from understudy.risk import membership_by_control, membership_by_shadows, membership_exact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from understudy.synthesis import Synthesizer

MODELS: dict[str, Synthesizer] = {
    "Independent": Independent(random_state=1),
    "BayesNet, 2 parents": BayesNet(2, "greedy", smoothing=0, random_state=1),
    "BayesNet, 3 parents": BayesNet(3, "greedy", smoothing=0, random_state=1),
    "BayesNet, 3 parents, smoothed": BayesNet(3, "greedy", smoothing="auto", random_state=1),
    "Cart": Cart(smoothing_leaves=0, random_state=1),
}
EXACT, SHADOWS = 1.0, 30.0
"""Seconds for everybody in the survey, and for 200 shadow releases and the attack."""


def user_seconds() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def timed(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the user CPU seconds of a call, the best of some."""
    best = np.inf
    for _ in range(repeats):
        started = user_seconds()
        work()
        best = min(best, user_seconds() - started)
    return best


def one_pass(model: Synthesizer, people: pl.DataFrame) -> float:
    """Return the seconds of counting every column of the codes once."""
    coded = model.codec_.encode(people)

    def count() -> None:
        for _ in range(100):
            for column, size in zip(coded.columns, coded.cardinalities, strict=True):
                np.bincount(column, minlength=size)

    return timed(count) / 100


class Report:
    """The table of times, and which limits were missed."""

    def __init__(self) -> None:
        self.table = Table("attack", "model", "s", "limit", "/ pass", "/ fit and sample", "found")
        self.missed: list[str] = []

    def add(
        self,
        what: tuple[str, str],
        seconds: float,
        limit: float,
        beside: Sequence[float],
        found: str,
    ) -> None:
        """Add one line; `beside` are the seconds of a pass, and of a fit."""
        shown = f"{limit:g}" if np.isfinite(limit) else ""
        ratios = [f"{seconds / one:,.0f}" for one in beside]
        self.table.add_row(*what, f"{seconds:.3f}", shown, *ratios, found)
        most = limit if np.isfinite(limit) else None
        note(f"membership of cmc, {', '.join(what)}", "CPU s", seconds, most)
        if seconds > limit:
            self.missed.append(f"{', '.join(what)}: {seconds:.2f} s, at most {limit:g}")


def measure(name: str, model: Synthesizer, report: Report) -> None:
    """Attack releases of one model in all three ways."""
    # In a random order: members and others are of one population.
    people = load("cmc").sample(fraction=1, shuffle=True, seed=1)
    inside, outside = people[: len(people) // 2], people[len(people) // 2 :]

    def tool(table: pl.DataFrame, seed: int) -> pl.DataFrame:
        return model.clone().set_params(random_state=seed).fit(table).sample(random_state=seed)

    fitted = model.clone().fit(people)
    release, part = fitted.sample(random_state=2), tool(inside, 1)
    exact = membership_exact(fitted, people, release)
    seen = membership_by_control(inside, part, outside)
    beside = one_pass(fitted, people), timed(lambda: tool(people, 3))
    seconds = timed(lambda: membership_exact(fitted, people, release))
    report.add(("exact", name), seconds, EXACT, beside, f"{exact.without.certain} certain")
    seconds = timed(lambda: membership_by_control(inside, part, outside))
    report.add(("control", name), seconds, np.inf, beside, f"AUC {seen.auc:.2f}")
    started = user_seconds()
    shadow = membership_by_shadows(tool, people)
    seconds = user_seconds() - started
    report.add(("200 shadows", name), seconds, SHADOWS, beside, f"mean AUC {shadow.mean_auc:.2f}")


def main() -> int:
    report = Report()
    for name, model in MODELS.items():
        measure(name, model, report)
    Console(width=120).print(report.table)
    for miss in report.missed:
        print(f"Missed: {miss}.")
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
