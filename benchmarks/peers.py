"""Greedy Bayesian networks side by side with DataSynthesizer 0.1.13, on the same codes.

Run with ``python benchmarks/peers.py``; ``--data cmc --k 3`` chooses, ``--again`` measures the peer
anew instead of taking what an earlier run noted. The peer lives in an environment of its own, in
``.venv-peers``. Times are user CPU seconds, worker processes included; ours on one thread with
compiled kernels, the best of several repeats. Exits with 1 if a limit is missed or if the peer's
network tells more than ours, with 2 if the peer cannot be installed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from rich.console import Console
from rich.table import Table

from understudy import BayesNet, __version__
from understudy.counting import joint_counts
from understudy.data import Codec, Coded, Column, Schema, fetch, load, read
from understudy.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".venv-peers"
# The peer also runs on pandas 3 and numpy 2, and found the same networks on cmc (k = 1 and 3), but
# its description at k = 3 then took 1.7 times as long. It is compared at its best.
REQUIREMENTS = ("DataSynthesizer==0.1.13", "pandas<2.3", "numpy<2")
ROOT_SEED = 1
# Least ratio of the peer's CPU to ours, by table and number of parents.
LIMITS = {
    "description": {("cmc", 3): 500, ("adult", 3): 1000},
    "tables and rows": {("adult", 3): 1000},
}
PARENTS = {"cmc": (1, 2, 3, 4), "adult": (1, 2, 3)}
# A survey weight, and education once more: the peer's time is spent on the 13 others.
LEFT_OUT = ("fnlwgt", "education_num")


def table_of_codes(name: str) -> pl.DataFrame:
    """Return a table in the peer's form: numbers in 20 bins of the same width, all as codes."""
    frame = load("cmc") if name == "cmc" else fetch("adult_train").drop(LEFT_OUT)
    schema = Schema.infer(frame, bins=20, binning="width", special_share=1)
    coded = Codec.fit(frame, schema).encode(frame)
    return pl.DataFrame({column: coded[column] for column in coded.names})


def environment(folder: Path = FOLDER, requirements: Sequence[str] = REQUIREMENTS) -> Path:
    """Return the Python of a peer's environment, which is made if it is not there."""
    python = folder / "bin" / "python"
    marker = folder / "installed.txt"
    wanted = "\n".join(requirements)
    if not (marker.exists() and marker.read_text(encoding="utf-8") == wanted):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)  # noqa: S603
        install = [python, "-m", "pip", "install", "--quiet", *requirements]
        subprocess.run(install, check=True, stderr=subprocess.DEVNULL)  # noqa: S603
        marker.write_text(wanted, encoding="utf-8")
    return python


def peer_report(name: str, k: int, path: Path, *, again: bool) -> dict:
    """Return what DataSynthesizer took and found, from an earlier run if there was one."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    noted = FOLDER / f"{name}-{k}-{digest}.json"
    python = environment()
    if again or not noted.exists():
        script = Path(__file__).with_name("datasynthesizer_run.py")
        # Beside its place first: an interrupted run must leave nothing that looks finished.
        fresh = noted.with_suffix(".part")
        subprocess.run(  # noqa: S603
            [python, script, path, str(k), fresh], check=True, stdout=subprocess.DEVNULL
        )
        fresh.replace(noted)
    return json.loads(noted.read_text(encoding="utf-8"))


def user_cpu() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def best(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the user CPU seconds of the quickest of several runs, after a first one."""
    work()
    seconds = []
    for _ in range(repeats):
        started = user_cpu()
        # One run can be shorter than the clock's tick: as many as fill a good while are averaged.
        runs = 0
        while runs == 0 or user_cpu() - started < 0.2:
            work()
            runs += 1
        seconds.append((user_cpu() - started) / runs)
    return min(seconds)


@dataclass(frozen=True)
class Ours:
    """What our model took, in user CPU seconds, and the information of its network in nats."""

    read: float
    describe: float
    tables: float
    generate: float
    information: float


def ours(path: Path, k: int, root: str) -> Ours:
    frame = pl.read_csv(path)
    schema = Schema(
        Column(column.name, "categorical", levels=tuple(range(column.max() + 1)))
        for column in frame
    )
    model = BayesNet(k, "greedy", smoothing=0, root=root, random_state=ROOT_SEED)
    model.fit(read(path), schema)
    coded = model.codec_.encode(frame)
    return Ours(
        read=best(lambda: read(path)),
        describe=best(lambda: model.fit(frame, schema)),
        tables=best(lambda: model._count_tables(coded)),  # noqa: SLF001
        generate=best(model.sample),
        information=total_information(coded, list(model.network_.parents.items())),
    )


def total_information(coded: Coded, network: Sequence[tuple[str, Sequence[str]]]) -> float:
    """Return what the parents tell of their children in all, in nats."""

    def entropy(columns: Sequence[str]) -> float:
        counts = joint_counts(coded, columns).to_sparse().counts
        return math.fsum(-(c / len(coded)) * math.log(c / len(coded)) for c in counts.tolist())

    return math.fsum(
        entropy([child]) + entropy(list(parents)) - entropy([*parents, child])
        for child, parents in network
        if parents
    )


def compare(name: str, ks: Sequence[int], console: Console, *, again: bool) -> list[str]:
    """Print the comparison on one table, and return what is not as it should be."""
    frame = table_of_codes(name)
    table = Table(title=f"{name}, {frame.height:,} x {frame.width}: user CPU")
    for heading in (
        "k",
        "describe: peer s",
        "fit ms",
        "ratio",
        "with reading",
        "tables, rows: peer s",
        "ours ms",
        "ratio",
        "peer nats",
        "our nats",
    ):
        table.add_column(heading, justify="right")
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.csv")
        frame.write_csv(path)
        for k in ks:
            theirs = peer_report(name, k, path, again=again)
            network = theirs["network"]
            own = ours(path, k, root=network[0][1][0])
            coded = Coded.from_arrays(
                {column: frame[column].to_numpy() for column in frame.columns}
            )
            told = total_information(coded, network)
            seconds = theirs["seconds"]
            rows = seconds["tables"] + seconds["generate"]
            ratios = {
                "description": seconds["describe"] / own.describe,
                "tables and rows": rows / (own.tables + own.generate),
            }
            table.add_row(
                str(k),
                f"{seconds['describe']:,.2f}",
                f"{own.describe * 1e3:,.1f}",
                f"{ratios['description']:,.0f}",
                # The peer's description reads the file; ours is given a frame.
                f"{seconds['describe'] / (own.read + own.describe):,.0f}",
                f"{rows:,.2f}",
                f"{(own.tables + own.generate) * 1e3:,.1f}",
                f"{ratios['tables and rows']:,.0f}",
                f"{told:.4f}",
                f"{own.information:.4f}",
            )
            for what, ratio in ratios.items():
                limit = LIMITS[what].get((name, k), 0)
                if ratio < limit:
                    failures.append(
                        f"{name}, k={k}: {what} {ratio:,.0f} times, less than {limit:,}"
                    )
            if told > own.information + 1e-9:
                failures.append(f"{name}, k={k}: the peer's network tells more than ours")
            if theirs["distance"] > 0.1:
                failures.append(f"{name}, k={k}: the peer's rows are not those of the table")
    console.print(table)
    versions = ", ".join(f"{package} {number}" for package, number in theirs["versions"].items())
    console.print(f"Peer: {versions}.\nOurs: {__version__}, polars {pl.__version__}, one thread.\n")
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", choices=PARENTS, nargs="*", default=list(PARENTS))
    parser.add_argument("--k", type=int, nargs="*", help="parents; by default 1 to 4 or 1 to 3")
    parser.add_argument("--again", action="store_true", help="run the peer again")
    chosen = parser.parse_args()
    console = Console(width=100)
    try:
        environment()
    except (subprocess.CalledProcessError, OSError) as error:
        console.print(f"[red]DataSynthesizer could not be installed: {error}[/red]")
        return 2
    failures = []
    for name in chosen.data:
        try:
            failures += compare(name, chosen.k or PARENTS[name], console, again=chosen.again)
        except DataError as error:
            console.print(f"{name} is left out: {error}\n")
    for failure in failures:
        console.print(f"[red]{failure}[/red]")
    if not failures:
        console.print(
            "What was measured is within the limits; no network of the peer tells more than ours."
        )
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
