"""Differential privacy: how accurate private releases are, what they cost, and how that grows.

Run with ``python benchmarks/private.py``; ``--quick`` measures cmc at epsilon 1 alone.
``--tables``, ``--epsilons``, ``--methods`` and ``--seeds`` choose; ``--growth`` measures growth
instead, and draws it into ``docs/images/growth-private-*.svg``. ``--peers`` adds AIM of OpenDP and
of dpmm, each in an environment of its own, which is made if it is not there; a run that takes more
than ``--peer-cpu`` seconds is stopped. Their neighbours are add-remove, as those of "AIM
add-remove". With ``--keep FILE``, runs that are in the file are not made again, and others are
added to it: an interrupted command goes on where it stopped.

All methods get the same codes (public bins), the same delta, and change-one neighbours.
Accuracy is that of one release: the total variation distance of all tables of one, two and three
columns from the original's, and the share of records whose target a logistic regression and a
random forest guess that learnt from the release. Adult has records for that which nobody learnt
from; of the others it is the original itself. Times are user CPU seconds of one fit and one sample,
with compiled kernels (peers compile what they compile in each run), memory is the peak of the
process. Exits with 1 if a goal is missed.
"""

from __future__ import annotations

import os

# Libraries read these once, when they are imported.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"
os.environ["POLARS_MAX_THREADS"] = "1"

import argparse
import json
import logging
import resource
import signal
import subprocess
import sys
import tempfile
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

sys.path.append(str(Path(__file__).parents[1]))  # for the studies

from growth import IMAGES, plot
from peers import environment
from public_bins import Coded, coded, growth_table, scores
from rows import note
from studies.keeping import kept_or_made
from understudy import BayesNet, DPMarginals, Independent
from understudy.errors import DataError
from understudy.privacy.noise import rho_of
from understudy.synthesis.marginals.workload import Candidates, read_workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from understudy.synthesis import Synthesizer

ENVIRONMENTS = Path(__file__).parents[1] / ".venv-peers"
DELTA = 1e-9
METHODS: dict[str, Callable[[float], Synthesizer]] = {
    "AIM": lambda epsilon: DPMarginals(epsilon, DELTA),
    "AIM add-remove": lambda epsilon: DPMarginals(epsilon, DELTA, neighbours="add-remove"),
    "MST": lambda epsilon: DPMarginals(epsilon, DELTA, method="mst"),
    "PrivBayes": lambda epsilon: BayesNet(epsilon=epsilon),
    "independent": lambda epsilon: Independent(epsilon=epsilon),
}
PEERS = {
    "OpenDP's AIM": ("opendp", ["opendp[mbi]==0.16.0", "pandas"]),
    "dpmm's AIM": ("dpmm", ["dpmm==0.1.9"]),
}
GOALS = {
    ("adult", "AIM", 1.0): {"tvd3": 0.065, "regression": 0.85, "cpu": 15, "mb": 500},
    ("adult", "AIM", 10.0): {"tvd3": 0.035, "regression": 0.858, "cpu": 15, "mb": 500},
}
"""At most; for classifiers at least."""

LESS_CPU = 20
"""How many times less CPU than OpenDP's AIM ours may take; it may be no less accurate than any."""

Figures = dict[str, float]
Question = tuple[str, str, float, int]
"""The table, the method, epsilon (0 without privacy), and the seed."""


def bootstrap(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    return frame[np.random.default_rng(seed).integers(len(frame), size=len(frame))]


def shuffled(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return frame.select(
        pl.Series(name, rng.permutation(frame[name].to_numpy())) for name in frame.columns
    )


REFERENCES = {"bootstrap, not private": bootstrap, "shuffled columns, not private": shuffled}


def user_seconds() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def peak() -> float:
    """Return the largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name: str, method: str, epsilon: float, seeds: Sequence[int]) -> Iterator[Figures]:
    """Yield the figures of each seed."""
    table = coded(name)
    if method in REFERENCES:
        for seed in seeds:
            yield scores(table, REFERENCES[method](table.frame, seed), seed)
        return
    # Kernels are compiled, or loaded, before anything is timed.
    METHODS[method](epsilon).fit(table.frame.head(200), table.schema).sample(10)
    highest = None
    for seed in seeds:
        started = user_seconds()
        model = METHODS[method](epsilon).fit(table.frame, table.schema)
        release = model.sample(random_state=seed)
        taken = user_seconds() - started
        # Classifiers take memory of their own later.
        highest = highest or peak()
        yield {"cpu": taken, "mb": highest, **scores(table, release, seed)}


def in_process(*arguments: object) -> Iterator[Figures]:
    """Yield figures that a process of its own measures, so that its memory is its own."""
    words = [sys.executable, __file__, "--one", *map(str, arguments)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        yield from map(json.loads, process.stdout)
    if process.returncode:
        sys.exit(process.returncode)


def of_peer(name: str, method: str, epsilon: float, seed: int, seconds: int) -> Figures:
    """Return the figures of a peer's AIM on the same codes, with the same delta."""
    table = coded(name)
    peer, requirements = PEERS[method]
    try:
        python = environment(ENVIRONMENTS / peer, requirements)
    except subprocess.CalledProcessError:
        sys.exit(f"{requirements[0]} could not be installed.")
    # OpenDP takes no delta where all levels are public, but the budget that it comes to.
    rho = str(float(rho_of(Fraction(str(epsilon)), Fraction(str(DELTA)))))
    budget = [rho] if peer == "opendp" else [str(epsilon), str(DELTA)]
    script = Path(__file__).with_name(f"{peer}_run.py")
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "codes.csv", Path(folder) / "release.csv"
        table.frame.write_csv(path)
        done = subprocess.run(  # noqa: S603
            [python, script, path, out, json.dumps(list(table.sizes)), *budget],
            check=False,
            capture_output=True,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1)),
        )
        if done.returncode in {-signal.SIGXCPU, -signal.SIGKILL}:
            return {"stopped": seconds}
        if done.returncode:
            sys.exit(f"{peer}: {done.stderr.strip().splitlines()[-1:]}")
        return json.loads(done.stdout.splitlines()[-1]) | scores(table, pl.read_csv(out), seed)


def runs(given: argparse.Namespace, asked: Sequence[Question]) -> list[Figures]:
    """Return the figures of all runs, as they were kept or measured now."""

    def make(missing: Sequence[int]) -> Iterator[Figures]:
        for key, group in groupby((asked[place] for place in missing), itemgetter(0, 1, 2)):
            seeds = [question[3] for question in group]
            if key[1] in PEERS:
                yield from (of_peer(*key, seed, given.peer_cpu) for seed in seeds)
            else:
                yield from in_process(*key, *seeds)

    return kept_or_made(given.keep, asked, make)


class Report:
    """The table of figures, and the goals that were missed."""

    def __init__(self, title: str) -> None:
        heading = "method,epsilon,1-way,2-way,3-way,regression,forest,CPU s,MB,runs"
        self.table = Table(*heading.split(","), title=title)
        self.means: dict[tuple[str, str, float], Figures] = {}
        self.missed: list[str] = []

    def add(self, key: tuple[str, str, float], figures: Sequence[Figures]) -> None:
        """Add the means of some figures."""
        name, method, epsilon = key
        done = [one for one in figures if "stopped" not in one]
        self.means[key] = means = {
            what: float(np.mean([one.get(what, np.nan) for one in done])) if done else np.nan
            for what in ("tvd1", "tvd2", "tvd3", "regression", "forest", "cpu", "mb")
        }
        goals = GOALS.get(key, {})
        if not np.isnan(means["cpu"]):
            job = f"{method} of {name}, epsilon {epsilon:g}, fit and sample"
            note(job, "CPU s", means["cpu"], goals.get("cpu"))
        for what, goal in goals.items():
            least = what in {"regression", "forest"}
            self.check(key, what, goal, met=means[what] >= goal if least else means[what] <= goal)
        digits = {"cpu": 2, "mb": 0}
        said = [
            "" if np.isnan(mean) else f"{mean:.{digits.get(what, 3)}f}"
            for what, mean in means.items()
        ]
        if len(done) < len(figures):
            said[-2] += f" > {max(one.get('stopped', 0) for one in figures):g}"
        count = f"{len(done)} of {len(figures)}" if len(done) < len(figures) else f"{len(done)}"
        self.table.add_row(method, f"{epsilon:g}" if epsilon else "", *said, count)

    def check(self, key: tuple[str, str, float], what: str, goal: float, *, met: bool) -> None:
        """Note a goal that was missed."""
        if not met:
            name, method, epsilon = key
            self.missed.append(
                f"{name}, {method}, epsilon {epsilon:g}: "
                f"{what} {self.means[key][what]:.4g}, goal {goal:.4g}"
            )

    def check_peers(self, name: str, epsilon: float) -> None:
        """Check that ours is as accurate as any peer that has finished, and much quicker."""
        own = name, "AIM add-remove", epsilon
        if own not in self.means:
            return
        means = self.means[own]
        for peer in PEERS:
            theirs = self.means[name, peer, epsilon]
            if not np.isnan(theirs["tvd3"]):
                self.check(own, "tvd3", theirs["tvd3"], met=means["tvd3"] <= theirs["tvd3"])
                if peer == "OpenDP's AIM":
                    most = theirs["cpu"] / LESS_CPU
                    self.check(own, "cpu", most, met=means["cpu"] <= most)


def compare(given: argparse.Namespace, name: str) -> list[str]:
    """Print the figures of one table, and return the goals that were missed."""
    console = Console(width=115)
    try:
        table = coded(name)
    except DataError as error:
        console.print(f"{name} is skipped: {error}")
        return []
    report = Report(f"{name}, {len(table.frame):,} x {len(table.sizes)}")
    epsilons = [float(epsilon) for epsilon in given.epsilons.split(",")]
    methods = [(method, given.seeds) for method in given.methods.split(",")]
    methods += [(peer, given.peer_seeds) for peer in PEERS if given.peers]
    keys = [(name, *method, epsilon) for epsilon in epsilons for method in methods]
    keys += [(name, reference, 3, 0.0) for reference in REFERENCES]
    asked = [
        (name, method, epsilon, seed)
        for name, method, seeds, epsilon in keys
        for seed in range(seeds)
    ]
    found = iter(runs(given, asked))
    for _, method, seeds, epsilon in keys:
        report.add((name, method, epsilon), [next(found) for _ in range(seeds)])
    if given.peers:
        for epsilon in epsilons:
            report.check_peers(name, epsilon)
    console.print(report.table)
    return report.missed


GROWTH = {
    "rows": [(rows, 10, 5) for rows in (1_000, 10_000, 100_000, 1_000_000)],
    "columns": [(20_000, columns, 5) for columns in (10, 20, 30, 50)],
    "levels": [(1_000_000, 10, levels) for levels in (2, 5, 10, 20, 50)],
}
"""With so many rows that links are measured: with few, columns are drawn independently."""

STEPS = {"AIM": "#D55E00", "MST": "#0072B2", "counting for AIM": "#009E73"}


def measure_growth(method: str, rows: int, columns: int, levels: int) -> Figures:
    """Return CPU and memory for one size."""
    table = growth_table(rows, columns, levels)
    METHODS[method](1.0).fit(table.frame.head(200), table.schema)
    started = user_seconds()
    METHODS[method](1.0).fit(table.frame, table.schema)
    return {"cpu": user_seconds() - started, "mb": peak(), "counting": counting(table)}


def counting(table: Coded) -> float:
    """Return the CPU seconds for counting all that AIM may ask for."""
    codes = np.array([own.to_numpy() for own in table.frame.iter_columns()], np.uint8)
    workload = read_workload(DPMarginals().workload, table.frame.columns)
    candidates = Candidates.of(workload, table.sizes, np.inf)
    started = user_seconds()
    candidates.counts(codes)
    return user_seconds() - started


def growth(given: argparse.Namespace) -> None:
    """Print CPU and memory as columns, levels and rows grow, and draw them."""
    console = Console()
    shown = Table("rows", "columns", "levels", *STEPS, "MB", title="Epsilon 1: CPU s")
    for place, (what, shapes) in enumerate(GROWTH.items()):
        asked = [("growth", method, shape) for shape in shapes for method in ("AIM", "MST")]
        found = kept_or_made(
            given.keep,
            asked,
            lambda missing, asked=asked: (
                next(in_process("growth", asked[one][1], *asked[one][2])) for one in missing
            ),
        )
        points = []
        for shape, aim, mst in zip(shapes, found[::2], found[1::2], strict=True):
            seconds = aim["cpu"], mst["cpu"], aim["counting"]
            points += [(shape[place], *own) for own in zip(STEPS, seconds, strict=True)]
            note(f"AIM, {shape[0]:,} x {shape[1]}, {shape[2]} levels", "CPU s", aim["cpu"])
            cells = *(f"{one:,}" for one in shape), *(f"{one:.2f}" for one in seconds)
            shown.add_row(*cells, f"{aim['mb']:.0f}")
        title = ", ".join(
            f"{shapes[0][other]:,} {one}" for other, one in enumerate(GROWTH) if other != place
        )
        import vl_convert as vlc

        picture = vlc.vegalite_to_svg(plot(title, what, points, scale="log", colours=STEPS))
        (IMAGES / f"growth-private-{what}.svg").write_text(picture, encoding="utf-8")
    console.print(shown)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", default="cmc,adult,sd2011")
    parser.add_argument("--epsilons", default="0.1,1,10")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--peer-seeds", type=int, default=1)
    parser.add_argument("--peer-cpu", type=int, default=900, help="seconds for one run")
    parser.add_argument("--keep", type=Path, help="a file of runs, to go on where it stopped")
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    given = arguments()
    if given.one:
        logging.getLogger("understudy").setLevel(logging.ERROR)
        first, method, *rest = given.one
        if first == "growth":
            print(json.dumps(measure_growth(method, *map(int, rest))))
        else:
            for figures in measure(first, method, float(rest[0]), [int(one) for one in rest[1:]]):
                print(json.dumps(figures), flush=True)
        return 0
    if given.growth:
        growth(given)
        return 0
    if given.quick:
        given.tables, given.epsilons, given.seeds = "cmc", "1", 3
    missed = [line for name in given.tables.split(",") for line in compare(given, name)]
    for line in missed:
        print(f"Missed: {line}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
