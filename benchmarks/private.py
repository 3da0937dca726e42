"""Differential privacy: how accurate private releases are, what they cost, and how that grows.

Run with ``python benchmarks/private.py``; ``--quick`` measures cmc at epsilon 1 alone.
``--tables``, ``--epsilons``, ``--methods`` and ``--seeds`` choose; ``--growth`` measures growth
instead. ``--peers`` adds AIM of OpenDP and of dpmm, each in an environment of its own:
``--opendp-python`` and ``--dpmm-python`` name the Python of one in which ``opendp[mbi]`` or
``dpmm`` is installed. Their neighbours are add-remove, as those of "AIM add-remove".

All methods get the same codes (public bins), the same delta, and change one neighbours.
Accuracy is that of one release: the total variation distance of all tables of one, two and three
columns from the original's, and the share of records whose target a logistic regression and a
random forest guess that learnt from the release. Adult has records for that which nobody learnt
from; of the others it is the original itself. Times are user CPU seconds of one fit and one sample,
with compiled kernels, memory is the peak of the process. Exits with 1 if a goal is missed.
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
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from rows import note
from understudy import BayesNet, Column, DPMarginals, Independent, Schema, fetch, load
from understudy.errors import DataError
from understudy.privacy.noise import rho_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from understudy.synthesis import Synthesizer

DELTA = 1e-9
EDGES: dict[str, dict[str, tuple[float, ...]]] = {
    "adult": {
        "age": (17, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 91),
        "capital_gain": (0, 1, 2000, 4000, 7000, 10_000, 20_000, 100_000),
        "capital_loss": (0, 1, 1500, 1800, 2000, 2500, 5000),
        "hours_per_week": (1, 10, 20, 30, 35, 40, 41, 50, 60, 70, 100),
    },
    "cmc": {
        "age": (15, 20, 25, 30, 35, 40, 45, 50),
        "children": (0, 1, 2, 3, 4, 5, 6, 8, 10, 17),
    },
    "sd2011": {
        "age": (16, 25, 35, 45, 55, 65, 75, 100),
        "unempdur": (-8, 0, 1, 7, 13, 25, 49),
        "income": (-8, 0, 500, 1000, 1500, 2000, 3000, 5000, 20_000),
        "mmarr": (1, 4, 7, 10, 13),
        "ymarr": (1930, 1960, 1970, 1980, 1990, 2000, 2012),
        "msepdiv": (1, 4, 7, 10, 13),
        "ysepdiv": (1940, 1980, 1990, 2000, 2012),
        "depress": (0, 3, 6, 9, 12, 22),
        "nofriend": (-8, 0, 1, 3, 6, 11, 100),
        "nociga": (-8, 1, 10, 20, 30, 61),
        "wkabintdur": (-8, 0, 1, 7, 13, 61),
        "height": (50, 155, 160, 165, 170, 175, 180, 220),
        "weight": (30, 55, 65, 75, 85, 95, 160),
        "bmi": (10, 18.5, 22, 25, 28, 31, 50),
    },
}
"""Cut points that one may choose without a look at the records."""

TARGETS = {"adult": "income", "cmc": "method", "sd2011": "smoke"}
METHODS: dict[str, Callable[[float], Synthesizer]] = {
    "AIM": lambda epsilon: DPMarginals(epsilon, DELTA),
    "AIM add-remove": lambda epsilon: DPMarginals(epsilon, DELTA, neighbours="add-remove"),
    "MST": lambda epsilon: DPMarginals(epsilon, DELTA, method="mst"),
    "PrivBayes": lambda epsilon: BayesNet(epsilon=epsilon),
    "independent": lambda epsilon: Independent(epsilon=epsilon),
}
PEERS = {"OpenDP's AIM": "opendp", "dpmm's AIM": "dpmm"}
GOALS = {
    ("adult", "AIM", 1.0): {"tvd3": 0.065, "regression": 0.85, "cpu": 15, "mb": 500},
    ("adult", "AIM", 10.0): {"tvd3": 0.035, "regression": 0.858, "cpu": 15, "mb": 500},
}
"""At most; for classifiers at least."""


@dataclass(frozen=True)
class Coded:
    """A table as codes: a column of whole numbers each, with how many there may be."""

    name: str
    frame: pl.DataFrame
    sizes: tuple[int, ...]
    test: pl.DataFrame

    @property
    def schema(self) -> Schema:
        """What each column can hold, all of it public."""
        target = TARGETS.get(self.name)
        return Schema(
            Column(
                name,
                "integer",
                role="target" if name == target else "ordinary",
                levels=tuple(range(size)),
                public=True,
            )
            for name, size in zip(self.frame.columns, self.sizes, strict=True)
        )


def coded(name: str) -> Coded:
    """Return a table in its public bins; a missing value is a code of its own."""
    if name == "adult":
        train, test = fetch("adult_train"), fetch("adult_test")
        frame = pl.concat([train, test]).drop("fnlwgt")
        rows = len(train)
    else:
        frame = load("cmc") if name == "cmc" else fetch("sd2011")
        rows = len(frame)
    columns, sizes = {}, []
    for column in frame.columns:
        values = frame[column]
        if column in EDGES[name]:
            edges = np.array(EDGES[name][column], float)
            numbers = values.cast(pl.Float64).to_numpy()
            codes = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, len(edges) - 2)
            size = len(edges) - 1 + int(values.null_count() > 0)
            codes[np.isnan(numbers)] = size - 1
        else:
            levels = values.cast(pl.String).fill_null("missing")
            known = levels.unique().sort()
            size = len(known)
            codes = np.searchsorted(known.to_numpy().astype(str), levels.to_numpy().astype(str))
        columns[column] = codes.astype(np.int64)
        sizes.append(size)
    table = pl.DataFrame(columns)
    test = table[rows:] if name == "adult" else table
    return Coded(name, table[:rows], tuple(sizes), test)


def distances(original: pl.DataFrame, release: pl.DataFrame, sizes: Sequence[int]) -> list[float]:
    """Return the mean total variation distance of all tables of one, two and three columns."""
    real, drawn = (
        np.array([frame[name].to_numpy() for name in frame.columns])
        for frame in (original, release)
    )

    def shares(codes: NDArray[np.int64], columns: tuple[int, ...]) -> NDArray[np.float64]:
        cells = np.zeros(codes.shape[1], np.int64)
        for column in columns:
            cells = cells * sizes[column] + codes[column]
        most = int(np.prod([sizes[column] for column in columns]))
        found: NDArray[np.float64] = np.bincount(cells, minlength=most) / codes.shape[1]
        return found

    return [
        float(
            np.mean(
                [
                    np.abs(shares(real, columns) - shares(drawn, columns)).sum() / 2
                    for columns in combinations(range(len(sizes)), way)
                ]
            )
        )
        for way in (1, 2, 3)
    ]


def guessed(table: Coded, release: pl.DataFrame, seed: int) -> list[float]:
    """Return the accuracy of a logistic regression and a random forest that learnt from it."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    target = TARGETS[table.name]
    others = [name for name in table.frame.columns if name != target]
    levels = [
        np.arange(size)
        for name, size in zip(table.frame.columns, table.sizes, strict=True)
        if name != target
    ]
    learn, try_on = release.select(others).to_numpy(), table.test.select(others).to_numpy()
    truth = table.test[target].to_numpy()
    if release[target].n_unique() < 2:
        return [float((truth == release[target][0]).mean())] * 2
    models = (
        make_pipeline(OneHotEncoder(categories=levels), LogisticRegression(max_iter=300)),
        RandomForestClassifier(n_estimators=100, min_samples_leaf=2, random_state=seed),
    )
    return [
        float((one.fit(learn, release[target].to_numpy()).predict(try_on) == truth).mean())
        for one in models
    ]


def user_seconds() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def peak() -> float:
    """Return the largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name: str, method: str, epsilon: float, seeds: int) -> list[dict[str, float]]:
    """Return the figures of each seed."""
    logging.getLogger("understudy").setLevel(logging.ERROR)
    table = coded(name)
    # Kernels are compiled, or loaded, before anything is timed.
    METHODS[method](epsilon).fit(table.frame.head(200), table.schema).sample(10)
    found, releases = [], []
    for seed in range(seeds):
        started = user_seconds()
        model = METHODS[method](epsilon).fit(table.frame, table.schema)
        release = model.sample(random_state=seed)
        found.append({"cpu": user_seconds() - started, "mb": peak()})
        releases.append(release)
    for seed, (figures, release) in enumerate(zip(found, releases, strict=True)):
        figures.update(scores(table, release, seed))
    return found


def scores(table: Coded, release: pl.DataFrame, seed: int) -> dict[str, float]:
    """Return how accurate a release is."""
    one, two, three = distances(table.frame, release, table.sizes)
    regression, forest = guessed(table, release, seed)
    return {"tvd1": one, "tvd2": two, "tvd3": three, "regression": regression, "forest": forest}


def in_process(*arguments: str) -> list[dict[str, float]]:
    """Return figures that a process of its own measured, so that its memory is its own."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, __file__, "--one", *arguments], check=True, capture_output=True, text=True
    )
    found: list[dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def of_peer(
    python: str, peer: str, name: str, epsilon: float, seeds: int
) -> list[dict[str, float]]:
    """Return the figures of a peer's AIM on the same codes, with the same delta."""
    table = coded(name)
    found: list[dict[str, float]] = []
    # OpenDP takes no delta where all levels are public, but the budget that it comes to.
    rho = str(float(rho_of(Fraction(str(epsilon)), Fraction(str(DELTA)))))
    budget = [rho] if peer == "opendp" else [str(epsilon), str(DELTA)]
    script = Path(__file__).with_name(f"{peer}_run.py")
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "codes.csv", Path(folder) / "release.csv"
        table.frame.write_csv(path)
        sizes = json.dumps(list(table.sizes))
        for seed in range(seeds):
            words = [python, str(script), str(path), str(out), sizes, *budget]
            done = subprocess.run(words, check=False, capture_output=True, text=True)  # noqa: S603
            if done.returncode:
                print(f"{peer}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
                return found
            report = json.loads(done.stdout.splitlines()[-1])
            found.append(report | scores(table, pl.read_csv(out), seed))
    return found


def references(table: Coded, seeds: int) -> dict[str, list[dict[str, float]]]:
    """Return the figures of releases without privacy: other samples, and independent columns."""
    found: dict[str, list[dict[str, float]]] = {
        "bootstrap, not private": [],
        "shuffled columns, not private": [],
    }
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        frame = table.frame
        again = frame[rng.integers(len(frame), size=len(frame))]
        shuffled = frame.select(
            pl.Series(name, rng.permutation(frame[name].to_numpy())) for name in frame.columns
        )
        for own, release in zip(found.values(), (again, shuffled), strict=True):
            own.append(scores(table, release, seed))
    return found


class Report:
    """The table of figures, and the goals that were missed."""

    def __init__(self, title: str) -> None:
        self.table = Table(
            *(
                "method",
                "epsilon",
                "1-way",
                "2-way",
                "3-way",
                "regression",
                "forest",
                "CPU s",
                "MB",
            ),
            title=title,
        )
        self.missed: list[str] = []

    def add(self, key: tuple[str, str, float], figures: Sequence[dict[str, float]]) -> None:
        """Add the means of some figures."""
        name, method, epsilon = key
        if not figures:
            self.table.add_row(method, f"{epsilon:g}", *["–"] * 7)  # noqa: RUF001
            return
        means = {
            what: float(np.mean([one.get(what, np.nan) for one in figures]))
            for what in ("tvd1", "tvd2", "tvd3", "regression", "forest", "cpu", "mb")
        }
        goals = GOALS.get(key, {})
        if not np.isnan(means["cpu"]):
            job = f"{method} of {name}, epsilon {epsilon:g}, fit and sample"
            note(job, "CPU s", means["cpu"], goals.get("cpu"))
        for what, goal in goals.items():
            least = what in {"regression", "forest"}
            if means[what] < goal if least else means[what] > goal:
                self.missed.append(
                    f"{name}, {method}, epsilon {epsilon:g}: {what} {means[what]:.4g}, goal {goal}"
                )
        said = [f"{means[what]:.3f}" for what in ("tvd1", "tvd2", "tvd3", "regression", "forest")]
        said += [
            "" if np.isnan(means[what]) else f"{means[what]:.{digits}f}"
            for what, digits in (("cpu", 1), ("mb", 0))
        ]
        self.table.add_row(method, f"{epsilon:g}" if epsilon else "", *said)


def growth_table(rows: int, columns: int, levels: int, seed: int = 0) -> Coded:
    """Return a chain of columns, each like the one before in two of three records."""
    rng = np.random.default_rng(seed)
    made = [rng.integers(levels, size=rows)]
    for _ in range(columns - 1):
        keep = rng.random(rows) < 2 / 3
        made.append(np.where(keep, made[-1], rng.integers(levels, size=rows)))
    frame = pl.DataFrame({f"c{place}": own for place, own in enumerate(made)})
    return Coded("made up", frame, (levels,) * columns, frame)


def growth() -> None:
    """Print CPU and memory as columns, levels and rows grow."""
    console = Console()
    shapes = [
        *((20_000, columns, 5) for columns in (10, 20, 30, 50)),
        *((20_000, 10, levels) for levels in (2, 10, 20, 50)),
        *((rows, 10, 5) for rows in (1_000, 10_000, 100_000, 1_000_000)),
    ]
    table = Table("rows", "columns", "levels", "AIM, CPU s", "MB", "MST, CPU s")
    for shape in shapes:
        words = [str(one) for one in shape]
        own = [in_process("growth", method, *words)[0] for method in ("AIM", "MST")]
        table.add_row(
            *(f"{one:,}" for one in shape),
            f"{own[0]['cpu']:.1f}",
            f"{own[0]['mb']:.0f}",
            f"{own[1]['cpu']:.1f}",
        )
    console.print(table)


def measure_growth(method: str, rows: int, columns: int, levels: int) -> list[dict[str, float]]:
    """Return CPU and memory for one size."""
    logging.getLogger("understudy").setLevel(logging.ERROR)
    table = growth_table(rows, columns, levels)
    METHODS[method](1.0).fit(table.frame.head(200), table.schema)
    started = user_seconds()
    METHODS[method](1.0).fit(table.frame, table.schema)
    return [{"cpu": user_seconds() - started, "mb": peak()}]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", default="cmc,adult,sd2011")
    parser.add_argument("--epsilons", default="0.1,1,10")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--peer-seeds", type=int, default=3)
    parser.add_argument("--opendp-python", default=".venv-opendp/bin/python")
    parser.add_argument("--dpmm-python", default=".venv-dpmm/bin/python")
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    return parser.parse_args()


def compare(given: argparse.Namespace, name: str) -> list[str]:
    """Print the figures of one table, and return the goals that were missed."""
    console = Console(width=110)
    try:
        table = coded(name)
    except DataError as error:
        console.print(f"{name} is skipped: {error}")
        return []
    report = Report(f"{name}, {len(table.frame):,} x {len(table.sizes)}, {given.seeds} seeds")
    for epsilon in map(float, given.epsilons.split(",")):
        for method in given.methods.split(","):
            report.add(
                (name, method, epsilon), in_process(name, method, str(epsilon), str(given.seeds))
            )
        for title, peer in PEERS.items() if given.peers else ():
            python = getattr(given, f"{peer}_python")
            report.add(
                (name, title, epsilon), of_peer(python, peer, name, epsilon, given.peer_seeds)
            )
    for title, figures in references(table, 3).items():
        report.add((name, title, 0.0), figures)
    console.print(report.table)
    return report.missed


def main() -> int:
    given = arguments()
    if given.one:
        first, method, *rest = given.one
        if first == "growth":
            print(json.dumps(measure_growth(method, *map(int, rest))))
        else:
            print(json.dumps(measure(first, method, float(rest[0]), int(rest[1]))))
        return 0
    if given.growth:
        growth()
        return 0
    if given.quick:
        given.tables, given.epsilons, given.seeds = "cmc", "1", 3
    missed = [line for name in given.tables.split(",") for line in compare(given, name)]
    for line in missed:
        print(f"Missed: {line}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
