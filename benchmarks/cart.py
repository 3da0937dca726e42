"""CART: seconds beside R's synthpop and beside the bare tree fits, and growth as a picture.

Run with ``python benchmarks/cart.py``; ``--growth`` also measures more rows and columns (about ten
minutes) and draws ``docs/images/growth-cart.svg``. Tables that the user has to fetch are
left out where ``UNDERSTUDY_DATA`` does not name their folder. Times are CPU seconds, user and
system, on one thread with compiled kernels: the run with the median total of several. The tree fits
are timed inside the same runs. Every limit that is missed is printed. Exits with 1 if one is missed
that `KNOWN` does not name; those that it does are printed as known, and do not change the exit
code.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from threadpoolctl import threadpool_limits

from rows import note
from understudy import Cart
from understudy.data import fetch, load, simulate
from understudy.errors import DataError
from understudy.synthesis.cart import trees

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "growth-cart.svg"
REPEATS = 7
# Runs beyond this many seconds are not repeated.
LONG = 5.0
ROWS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
ROWS_COLUMNS = 10
COLUMNS = (10, 20, 30, 50, 100, 200, 300)
COLUMNS_ROWS = 5_000
MAX_PREDICTORS = 20
WIDE_MINUTES = 10
# Total over the tree fits alone.
RATIO = 1.5
# Total with smoothed leaves over the total without.
SMOOTHED_RATIO = 2
# Limits that are missed, and why; docs/benchmarks.md says so too.
KNOWN = {
    "cmc, both / tree fits": "the trees of so small a table take 14 ms, and describing and coding "
    "its columns half as long again",
}
# Trees as synthpop has them, grown by scikit-learn.
SYNTHPOP: dict[str, Any] = {"smoothing_leaves": 0, "splits": "exact"}
Point = tuple[int, str, float]


@dataclass(frozen=True)
class Peer:
    """A table, what synthpop 1.9-3 was seen to take for it, and the limit for ours."""

    name: str
    frame: Callable[[], pl.DataFrame]
    synthpop: str
    limit: float


# Constants, not measured here: user CPU seconds that were noted when this project was planned, on a
# machine like this one, with about a fifth to and fro. R is not needed to run this script.
PEERS = (
    Peer("cmc", lambda: load("cmc"), "0.45", 0.4),
    Peer("Adult", lambda: fetch("adult_train").drop("fnlwgt", "education"), "25.9", 4),
    Peer("SD2011", lambda: fetch("sd2011"), "not finished after 18 minutes", 10),
)
SYNTHPOP_SECONDS = {f"{peer.name}, CPU seconds": f"{peer.synthpop} s" for peer in PEERS[:2]}


@dataclass(frozen=True)
class Timing:
    """CPU seconds of one run.

    `fit` and `sample` go from frame to frame. `codes` is the part of `fit` after the columns were
    described and coded, and `trees` what scikit-learn took of it.
    """

    fit: float
    codes: float
    trees: float
    sample: float

    @property
    def total(self) -> float:
        """From one frame to the other."""
        return self.fit + self.sample


@contextmanager
def watched(owner: Any, name: str) -> Iterator[list[float]]:
    """Note the CPU seconds of every call of a function while the block runs."""
    original = getattr(owner, name)
    seconds: list[float] = []

    def timed(*args: Any, **kwargs: Any) -> Any:
        started = time.process_time()
        try:
            return original(*args, **kwargs)
        finally:
            seconds.append(time.process_time() - started)

    setattr(owner, name, timed)
    try:
        yield seconds
    finally:
        setattr(owner, name, original)


def run(frame: pl.DataFrame, **settings: Any) -> Timing:
    """Fit and sample once; splits and leaves are those of synthpop if nothing else is said."""
    with watched(trees, "_fit") as grown, watched(Cart, "_fit") as from_codes:
        started = time.process_time()
        model = Cart(random_state=1, **(SYNTHPOP | settings)).fit(frame)
        fitted = time.process_time()
        model.sample()
        ended = time.process_time()
    return Timing(fitted - started, sum(from_codes), sum(grown), ended - fitted)


def measure(frame: pl.DataFrame, **settings: Any) -> Timing:
    """Return the run whose total is the median of several, or of one if it is long."""
    runs = [run(frame, **settings)]
    while len(runs) < REPEATS and runs[0].total < LONG:
        runs.append(run(frame, **settings))
    return sorted(runs, key=lambda timing: timing.total)[len(runs) // 2]


def items(columns: int) -> pl.DataFrame:
    """Return whole numbers from about 0 to 100 that all depend on one hidden number."""
    rng = np.random.default_rng(1)
    hidden = rng.standard_normal(COLUMNS_ROWS)
    made = {}
    for column in range(columns):
        score = 0.6 * hidden + 0.8 * rng.standard_normal(COLUMNS_ROWS)
        made[f"q{column + 1}"] = np.rint(50 + 15 * score).astype(np.int64)
    return pl.DataFrame(made)


def show(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table."""
    print(f"\n{title}\n")
    print("|", " | ".join(headings), "|")
    print("|---|" + "---:|" * (len(headings) - 1))
    for cells in rows:
        print("|", " | ".join(cells), "|")


class Limits:
    """Compares figures with their limits, and remembers those that miss them."""

    def __init__(self) -> None:
        self.held = 0
        self.missed: dict[str, str] = {}

    def __call__(self, what: str, value: float, most: float, unit: str = "times") -> str:
        """Return a figure beside its limit, and whether it misses it; and note it."""
        note(f"trees, {what}", unit, value, most, SYNTHPOP_SECONDS.get(what, ""))
        if value <= most:
            self.held += 1
            return f"{value:.2f} / {most:g}"
        self.missed[what] = f"{value:.2f}, at most {most:g}"
        return f"{value:.2f} / {most:g} (missed)"

    def conclude(self) -> int:
        """Print which limits are missed, and return the exit code."""
        print()
        for what, figures in self.missed.items():
            print(f"Missed: {what}: {figures}.")
            if what in KNOWN:
                print(f"  Known: {KNOWN[what]}. It does not change the exit code.")
        print(f"Limits that hold: {self.held} of {self.held + len(self.missed)} that were checked.")
        return int(bool(self.missed.keys() - KNOWN.keys()))


def peers(limits: Limits) -> None:
    """Set whole runs beside synthpop's, and beside the tree fits alone."""
    rows = []
    for peer in PEERS:
        try:
            frame = peer.frame()
        except DataError:
            print(f"{peer.name}: skipped, the table is not here (set UNDERSTUDY_DATA).")
            continue
        timing = measure(frame)
        ratio, from_codes = timing.total / timing.trees, timing.codes / timing.trees
        rows.append(
            (
                f"{peer.name}, {frame.height:,} x {frame.width}",
                peer.synthpop,
                f"{timing.fit:.3f}",
                f"{timing.sample:.3f}",
                limits(f"{peer.name}, CPU seconds", timing.total, peer.limit, "CPU s"),
                f"{timing.trees:.3f}",
                limits(f"{peer.name}, both / tree fits", ratio, RATIO),
                limits(f"{peer.name}, fit from codes on / tree fits", from_codes, RATIO),
            )
        )
    show(
        "Frame in, synthetic frame out: CPU s / at most",
        (
            "table",
            "synthpop 1.9-3",
            "fit",
            "sample",
            "both",
            "tree fits alone",
            "both / tree fits",
            "fit from codes on / tree fits",
        ),
        rows,
    )


def smoothing(limits: Limits) -> None:
    """Set whole runs with smoothed leaves beside those without."""
    rows = []
    for peer in PEERS:
        try:
            frame = peer.frame()
        except DataError:
            continue
        plain, smoothed = measure(frame), measure(frame, smoothing_leaves="auto")
        ratio = smoothed.total / plain.total
        rows.append(
            (
                f"{peer.name}, {frame.height:,} x {frame.width}",
                f"{plain.fit:.3f}",
                f"{smoothed.fit:.3f}",
                f"{plain.sample:.3f}",
                f"{smoothed.sample:.3f}",
                limits(f"{peer.name}, smoothed leaves / as they are", ratio, SMOOTHED_RATIO),
            )
        )
    show(
        "Smoothed leaves: CPU s, and their ratio / at most",
        ("table", "fit", "fit, smoothed", "sample", "sample, smoothed", "both, smoothed / not"),
        rows,
    )


def growth(limits: Limits) -> None:
    """Measure more rows and more columns, and draw both."""
    by_rows = [
        (rows, measure(simulate("credit_card", rows)[:, 1 : ROWS_COLUMNS + 1])) for rows in ROWS
    ]
    headings = ("fit", "tree fits alone", "sample")
    rows = [(f"{n:,}", *_seconds(timing)) for n, timing in by_rows]
    show(f"{ROWS_COLUMNS} real columns: CPU s", ("rows", *headings), rows)

    all_columns, few = [], []
    for columns in COLUMNS:
        frame = items(columns)
        all_columns.append((columns, measure(frame, max_predictors=columns)))
        few.append((columns, measure(frame, max_predictors=MAX_PREDICTORS)))
    show(
        f"{COLUMNS_ROWS:,} rows of integers: CPU s",
        ("columns", *headings, f"fit, max_predictors={MAX_PREDICTORS}"),
        [
            (f"{n:,}", *_seconds(timing), f"{limited.fit:.2f}")
            for (n, timing), (_, limited) in zip(all_columns, few, strict=True)
        ],
    )
    for what, timing in (("all predictors", all_columns[-1][1]), ("the most telling", few[-1][1])):
        job = f"{COLUMNS[-1]} columns, minutes, {what}"
        minutes = limits(job, timing.total / 60, WIDE_MINUTES, "CPU min")
        print(f"\n{COLUMNS[-1]} integer columns, {what}: {minutes} minutes")
    draw(
        _points(by_rows),
        [*_points(all_columns), *((n, "fit, 20 predictors", found.fit) for n, found in few)],
    )


def _seconds(timing: Timing) -> tuple[str, str, str]:
    return f"{timing.fit:.2f}", f"{timing.trees:.2f}", f"{timing.sample:.3f}"


def _points(measured: Sequence[tuple[int, Timing]]) -> list[Point]:
    return [
        point
        for x, found in measured
        for point in ((x, "fit", found.fit), (x, "tree fits alone", found.trees))
    ] + [(x, "sample", found.sample) for x, found in measured]


# Colours that people with any kind of colour vision tell apart (Okabe and Ito 2008).
COLOURS = {
    "fit": "#D55E00",
    "tree fits alone": "#0072B2",
    "sample": "#CC79A7",
    "fit, 20 predictors": "#009E73",
}


def draw(by_rows: Sequence[Point], by_columns: Sequence[Point]) -> None:
    """Draw seconds against rows and against columns, side by side."""
    import altair as alt
    import vl_convert as vlc

    legend = alt.Legend(title=None, orient="bottom", columns=4, symbolSize=80, labelLimit=300)
    shapes = ["square", "circle", "triangle", "diamond"]

    def panel(title: str, what: str, points: Sequence[Point]) -> alt.Chart:
        values = [{"x": x, "step": step, "seconds": seconds} for x, step, seconds in points]
        ticks = sorted({x for x, _, _ in points})
        return (
            alt.Chart(alt.Data(values=values))
            .mark_line(point=alt.OverlayMarkDef(size=60, filled=True), strokeWidth=2)
            .encode(
                x=alt.X(
                    "x:Q",
                    title=what,
                    scale=alt.Scale(type="log", nice=False, padding=12),
                    axis=alt.Axis(format="~s", grid=False, values=ticks),
                ),
                y=alt.Y(
                    "seconds:Q",
                    title="CPU seconds",
                    scale=alt.Scale(type="log"),
                    axis=alt.Axis(format="~g", values=[10.0**power for power in range(-3, 4)]),
                ),
                color=alt.Color(
                    "step:N",
                    scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
                    legend=legend,
                ),
                shape=alt.Shape(
                    "step:N", scale=alt.Scale(domain=list(COLOURS), range=shapes), legend=legend
                ),
            )
            .properties(width=330, height=300, title=title)
        )

    chart = (
        panel(f"{ROWS_COLUMNS} real columns", "rows", by_rows)
        | panel(f"{COLUMNS_ROWS:,} rows of integers", "columns", by_columns)
    ).properties(background="white")
    PICTURE.write_text(vlc.vegalite_to_svg(chart.to_dict()), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--growth", action="store_true", help="also more rows and columns")
    wanted = parser.parse_args()
    limits = Limits()
    with threadpool_limits(1):
        # Kernels are compiled, or loaded, before anything is timed.
        for leaves in (0, "auto"):
            run(load("cmc"), max_predictors=2, smoothing_leaves=leaves)
        peers(limits)
        smoothing(limits)
        if wanted.growth:
            growth(limits)
    return limits.conclude()


if __name__ == "__main__":
    sys.exit(main())
