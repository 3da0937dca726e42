"""How the time of Bayesian networks grows with rows, columns, parents and levels, as pictures.

Run with ``python benchmarks/growth.py``, or ``python benchmarks/growth.py levels`` for one of them;
``--quick`` stops at a tenth of the rows and half of the columns, and draws nothing. Tables are
codes, of 20 levels unless these grow; a column repeats an earlier one in about half of its rows.
Times are CPU seconds on one thread with compiled kernels, the best of three runs,
or one run where it takes more than two seconds. It prints what it measured and draws it into
``docs/images/growth-*.svg``.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from understudy.counting import pairwise_information
from understudy.data import Coded
from understudy.synthesis.bayes.constraints import build_constraints
from understudy.synthesis.bayes.genetic import genetic_search
from understudy.synthesis.bayes.greedy import greedy_search
from understudy.synthesis.blocks import plan_blocks
from understudy.synthesis.tables import ConditionalTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from understudy.synthesis.bayes.network import Network

IMAGES = Path(__file__).parent.parent / "docs" / "images"
ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
COLUMNS = (10, 20, 30, 50, 100, 200)
LEVELS = (2, 5, 10, 20, 50, 100, 200)
REPEATS = 3
LONG = 2.0
# Colours that people with any kind of colour vision tell apart (Okabe and Ito 2008).
COLOURS = {
    "greedy search": "#D55E00",
    "pairs and genetic search": "#0072B2",
    "counting tables": "#009E73",
    "drawing rows": "#CC79A7",
}
SHAPES = ["square", "circle", "diamond", "triangle"]
Point = tuple[int, str, float]


def codes(rows: int, columns: int, levels: int = 20) -> Coded:
    """Return a table in which each column repeats an earlier one in about half of its rows."""
    rng = np.random.default_rng(1)
    made = [rng.integers(levels, size=rows, dtype=np.uint8)]
    for column in range(1, columns):
        fresh = rng.integers(levels, size=rows, dtype=np.uint8)
        repeated = rng.integers(2, size=rows, dtype=np.uint8).view(bool)
        made.append(np.where(repeated, made[rng.integers(column)], fresh))
    names = tuple(f"c{column}" for column in range(columns))
    return Coded(names, tuple(made), (levels,) * columns)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of the quickest run, and what it gave."""
    seconds = []
    for _ in range(REPEATS):
        started = time.process_time()
        result = work()
        seconds.append(time.process_time() - started)
        if seconds[-1] > LONG:
            break
    return min(seconds), result


def genetic(coded: Coded, k: int) -> Network:
    rules = build_constraints(coded.names, parents=k)
    found = genetic_search(pairwise_information(coded), rules, np.random.default_rng(1))
    return found.structure.to_network(coded.names)


def greedy(coded: Coded, k: int) -> Network:
    rules = build_constraints(coded.names, parents=k)
    found = greedy_search(coded, rules, np.random.default_rng(1))
    return found.structure.to_network(coded.names)


def count(coded: Coded, network: Network) -> dict[str, ConditionalTable]:
    return {
        child: ConditionalTable.of(coded, child, parents)
        for child, parents in network.parents.items()
    }


def draw(tables: dict[str, ConditionalTable], network: Network, rows: int) -> None:
    """Draw block after block, as `BayesNet.sample` does."""
    for block in plan_blocks(rows, np.random.SeedSequence(1)):
        rng = block.generator()
        drawn: dict[str, Any] = {}
        for child, parents in network.parents.items():
            drawn[child] = tables[child].draw([drawn[p] for p in parents], block.rows, rng)


def measure(x: int, coded: Coded, k: int, *, with_greedy: bool) -> Iterator[Point]:
    """Yield the time of every step at one point of a plot."""
    if with_greedy:
        yield x, "greedy search", timed(lambda: greedy(coded, k))[0]
    seconds, network = timed(lambda: genetic(coded, k))
    yield x, "pairs and genetic search", seconds
    seconds, tables = timed(lambda: count(coded, network))
    yield x, "counting tables", seconds
    yield x, "drawing rows", timed(lambda: draw(tables, network, len(coded)))[0]


def show(console: Console, title: str, what: str, points: list[Point]) -> None:
    table = Table(title=f"{title}: CPU s")
    table.add_column(what, justify="right")
    for step in COLOURS:
        table.add_column(step, justify="right")
    for x in dict.fromkeys(x for x, _, _ in points):
        found = {step: seconds for place, step, seconds in points if place == x}
        cells = [f"{found[step]:.3f}" if step in found else "" for step in COLOURS]
        table.add_row(f"{x:,}", *cells)
    console.print(table)


def plot(
    title: str,
    what: str,
    points: list[Point],
    *,
    scale: str,
    colours: Mapping[str, str] = COLOURS,
) -> dict[str, Any]:
    """Return the Vega-Lite specification of a plot of seconds."""
    import altair as alt

    values = [{"x": x, "step": step, "seconds": seconds} for x, step, seconds in points]
    xs = sorted({x for x, _, _ in points})
    ticks = {"format": "~s" if scale == "log" else "d", "grid": False}
    if scale == "linear" or len(xs) < 8:
        ticks["values"] = xs
    steps = list(colours)
    legend = alt.Legend(title=None, orient="bottom", columns=2, symbolSize=80, labelLimit=300)
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_line(point=alt.OverlayMarkDef(size=60, filled=True), strokeWidth=2)
        .encode(
            x=alt.X(
                "x:Q",
                title=what,
                scale=alt.Scale(type=scale, nice=False, padding=12),
                axis=alt.Axis(**ticks),
            ),
            y=alt.Y(
                "seconds:Q",
                title="CPU seconds",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(format="~g", values=[10.0**power for power in range(-3, 3)]),
            ),
            color=alt.Color(
                "step:N", scale=alt.Scale(domain=steps, range=list(colours.values())), legend=legend
            ),
            shape=alt.Shape(
                "step:N",
                scale=alt.Scale(domain=steps, range=SHAPES[: len(steps)]),
                legend=legend,
            ),
        )
        .properties(width=520, height=300, title=title, background="white")
    )
    return chart.to_dict()


def by_rows(*, quick: bool) -> Iterator[Point]:
    for n in ROWS[:5] if quick else ROWS:
        yield from measure(n, codes(n, 20), 3, with_greedy=n <= (100_000 if quick else 1_000_000))


def by_columns(*, quick: bool) -> Iterator[Point]:
    for d in COLUMNS[:5] if quick else COLUMNS:
        yield from measure(d, codes(20_000, d), 3, with_greedy=d <= (30 if quick else 50))


def by_parents(*, quick: bool) -> Iterator[Point]:  # noqa: ARG001  # it is quick
    for k in range(5):
        yield from measure(k, codes(20_000, 20), k, with_greedy=k > 0)


def by_levels(*, quick: bool) -> Iterator[Point]:  # noqa: ARG001  # it is quick
    for levels in LEVELS:
        yield from measure(levels, codes(20_000, 20, levels), 3, with_greedy=True)


# How each is measured, its title, what its axis says, and the axis.
PLOTS: dict[str, tuple[Callable[..., Iterator[Point]], str, str, str]] = {
    "rows": (by_rows, "20 columns, 3 parents", "rows", "log"),
    "columns": (by_columns, "20,000 rows, 3 parents", "columns", "log"),
    "parents": (by_parents, "20,000 rows, 20 columns", "parents (k)", "linear"),
    "levels": (by_levels, "20,000 rows, 20 columns, 3 parents", "levels", "log"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("plots", nargs="*", metavar="plot", help=", ".join(PLOTS))
    parser.add_argument("--quick", action="store_true", help="small tables, and no pictures")
    given = parser.parse_args()
    if unknown := set(given.plots) - PLOTS.keys():
        parser.error(f"no such plot: {', '.join(sorted(unknown))}; choose from {', '.join(PLOTS)}")
    console = Console(width=100)
    # Kernels are compiled, or loaded, before anything is timed.
    list(measure(0, codes(1_000, 6), 3, with_greedy=True))
    for name in given.plots or PLOTS:
        points_of, title, what, scale = PLOTS[name]
        found = list(points_of(quick=given.quick))
        show(console, title, what, found)
        if not given.quick:
            import vl_convert as vlc

            picture = vlc.vegalite_to_svg(plot(title, what, found, scale=scale))
            (IMAGES / f"growth-{name}.svg").write_text(picture, encoding="utf-8")
    usage = resource.getrusage(resource.RUSAGE_SELF)
    console.print(
        f"In all {usage.ru_utime + usage.ru_stime:.0f} CPU s, "
        f"at most {usage.ru_maxrss / 2**20:.1f} GiB of memory."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
