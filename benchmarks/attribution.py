"""CAP by looking keys up: sets of keys, large tables, growth, and SDMetrics beside it. User CPU.

Run with ``python benchmarks/attribution.py``; ``--large`` adds a million records, ``--again``
measures SDMetrics anew instead of taking what an earlier run noted, ``--no-peer`` leaves it out.
SDMetrics 0.32 lives in an environment of its own, in ``.venv-peers/sdmetrics``. Adult is read from
the folder that ``UNDERSTUDY_DATA`` names, and left out if it is not there. Times are user CPU
seconds with compiled kernels, the best of several repeats: of the attack on tables that are coded,
and with the coding of the frames. Exits with 1 if a limit is missed, with 2 if the peer cannot be
installed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from peers import best, environment
from rows import note
from understudy import BayesNet, Independent, fetch, load, simulate
from understudy.data import Coded
from understudy.data.joint_coding import Levels
from understudy.errors import DataError
from understudy.risk.attribution import attribution, attributions
from understudy.risk.prepare import Prepared, prepare
from understudy.risk.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(__file__).parent.parent / ".venv-peers" / "sdmetrics"
REQUIREMENTS = ("sdmetrics==0.32.0", "pandas<3")
CMC = ["age", "education", "husband_education", "children", "religion", "working"]
CMC += ["husband_occupation"]
ADULT = ["age", "workclass", "education", "marital_status", "occupation"]
ROWS = 284_807
GROWTH = 2.2  # of the time, for twice the records
SIZES = (1_000, 2_000, 5_000)
LEAST_RATIO = 1_000  # of the peer's CPU to ours, at the last of these sizes


class Report:
    """The table that is printed, and the limits that were missed."""

    def __init__(self) -> None:
        self.table = Table(title="attribution: user CPU, ms")
        self.failures: list[str] = []
        for heading in ("what", "records", "attack", "limit", "with coding"):
            self.table.add_column(heading, justify="left" if heading == "what" else "right")

    def add(
        self, what: str, rows: int, seconds: float, limit: float | None, whole: float | None = None
    ) -> None:
        """Add a line, and note what was measured, and whether a limit is missed."""
        note(f"looking keys up, {what}, {rows:,} records", "CPU s", seconds, limit)
        self.table.add_row(
            what,
            f"{rows:,}",
            f"{1e3 * seconds:,.1f}",
            "" if limit is None else f"{1e3 * limit:,.0f}",
            "" if whole is None else f"{1e3 * whole:,.1f}",
        )
        if limit is not None and seconds > limit:
            self.failures.append(f"{what}: {seconds:.4f} s, more than {limit} s")


def sets_of_keys(report: Report) -> None:
    """Attack cmc by all three rules, with all sets of three and of six keys."""
    original = load("cmc")
    synthetic = Independent(random_state=1).fit(original).sample()

    def coded() -> list[Prepared]:
        return [prepare(original, [synthetic], Scenario(CMC, "method", known)) for known in (3, 6)]

    def attack(tables: Sequence[Prepared]) -> None:
        for table in tables:
            attributions(table)

    tables = coded()
    seconds, whole = best(lambda: attack(tables)), best(lambda: attack(coded()))
    report.add("cmc, 42 sets of keys, three rules", len(original), seconds, 0.05, whole)
    if whole > 0.05:
        report.failures.append(f"cmc: {whole:.4f} s with coding, more than 0.05 s")


def adult(report: Report) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Attack Adult with five keys; return the two tables."""
    original = fetch("adult_train").select([*ADULT, "income"])
    synthetic = BayesNet(2, "greedy", smoothing=0, random_state=1).fit(original).sample()
    scenario = Scenario(ADULT, "income")
    tables = prepare(original, [synthetic], scenario)
    seconds = best(lambda: attributions(tables, ["nearest"]))
    whole = best(lambda: attribution(original, synthetic, keys=ADULT, sensitive="income"))
    report.add("Adult, five keys, nearest", len(original), seconds, 0.02, whole)
    return original, synthetic


def payments(rows: int, seed: int, groups: int) -> Coded:
    """Return ten components of simulated payments in groups of equal size, and the class."""
    frame = simulate("credit_card", rows, random_state=seed)
    columns = {}
    for place in range(1, 11):
        values = frame[f"V{place}"].to_numpy()
        limits = np.quantile(values, np.linspace(0, 1, groups + 1)[1:-1])
        columns[f"V{place}"] = np.searchsorted(limits, values)
    columns["Class"] = frame["Class"].to_numpy()
    return Coded.from_arrays(columns, dict.fromkeys(columns, groups) | {"Class": 2})


def large(report: Report, sizes: Sequence[int], groups: int, what: str) -> None:
    """Attack ever more payments with ten keys; the second size has a limit, and growth has one."""
    scenario = Scenario([f"V{place}" for place in range(1, 11)], "Class")
    before = None
    for rows in sizes:
        original, synthetic = payments(rows, 1, groups), payments(rows, 2, groups)
        levels = {"Class": Levels(("0", "1"), None, None)}
        tables = Prepared(scenario, original, (synthetic,), None, levels)
        seconds = best(lambda tables=tables: attributions(tables, ["nearest"]), repeats=2)
        report.add(f"payments, ten keys, {what}", rows, seconds, 4.0 if rows == ROWS else None)
        if before is not None and rows // 2 == before[0]:
            growth = seconds / before[1]
            report.table.add_row("  growth for twice the records", "", f"{growth:.2f} x", "2.2 x")
            if growth > GROWTH:
                report.failures.append(
                    f"{what}, {rows:,}: {growth:.2f} times for twice the records"
                )
        before = rows, seconds


def peer_report(tables: Sequence[pl.DataFrame], *, again: bool) -> dict:
    """Return what SDMetrics took and found, from an earlier run if there was one."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("original.csv", "synthetic.csv")]
        for table, path in zip(tables, paths, strict=True):
            table.write_csv(path)
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:12]
        noted = FOLDER / f"gcap-{len(tables[0])}-{digest}.json"
        if again or not noted.exists():
            script = Path(__file__).with_name("sdmetrics_run.py")
            # Beside its place first: an interrupted run must leave nothing that looks finished.
            fresh = noted.with_suffix(".part")
            command = [environment(FOLDER, REQUIREMENTS), script, *paths, fresh]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
            fresh.replace(noted)
    return json.loads(noted.read_text(encoding="utf-8"))


def beside_the_peer(
    original: pl.DataFrame, synthetic: pl.DataFrame, console: Console, *, again: bool
) -> list[str]:
    """Print the comparison on the first rows of Adult, and return what is not as it should be."""
    table = Table(title="Adult, five keys: SDMetrics' CategoricalGeneralizedCAP beside ours")
    for heading in ("records", "peer s", "ours ms, with coding", "ratio", "1 - score", "our mean"):
        table.add_column(heading, justify="right")
    failures = []
    for rows in SIZES:
        # Text without gaps on both sides: the peer compares nothing else.
        tables = [t.head(rows).cast(pl.String).fill_null("?") for t in (original, synthetic)]
        theirs = peer_report(tables, again=again)
        found = attribution(*tables, keys=ADULT, sensitive="income")
        seconds = best(lambda tables=tables: attribution(*tables, keys=ADULT, sensitive="income"))
        ratio = theirs["seconds"] / seconds
        table.add_row(
            f"{rows:,}",
            f"{theirs['seconds']:.2f}",
            f"{1e3 * seconds:.1f}",
            f"{ratio:,.0f}",
            f"{1 - theirs['score']:.10f}",
            f"{found.mean:.10f}",
        )
        if abs(1 - theirs["score"] - found.mean) > 1e-9:
            failures.append(f"{rows:,} records: the peer's score is another one")
        if rows == SIZES[-1] and ratio < LEAST_RATIO:
            failures.append(f"{rows:,} records: {ratio:,.0f} times, less than {LEAST_RATIO:,}")
    console.print(table)
    console.print("Peer: " + ", ".join(f"{n} {v}" for n, v in theirs["versions"].items()) + ".\n")
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--large", action="store_true", help="a million records as well")
    parser.add_argument("--again", action="store_true", help="run the peer again")
    parser.add_argument("--no-peer", action="store_true", help="leave the peer out")
    chosen = parser.parse_args()
    console = Console(width=100)
    report = Report()
    sets_of_keys(report)
    tables = None
    try:
        tables = adult(report)
    except DataError as error:
        console.print(f"Adult is left out: {error}\n")
    sizes = [ROWS // 2, ROWS, 2 * ROWS, *([1_000_000] if chosen.large else [])]
    large(report, sizes, 20, "flat: 20 groups each")
    large(report, sizes, 3, "easy: 3 groups each")
    console.print(report.table)
    failures = report.failures
    if tables is not None and not chosen.no_peer:
        try:
            environment(FOLDER, REQUIREMENTS)
        except (subprocess.CalledProcessError, OSError) as error:
            console.print(f"[red]SDMetrics could not be installed: {error}[/red]")
            return 2
        failures += beside_the_peer(*tables, console, again=chosen.again)
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    console.print(f"Largest memory: {largest:.1f} GB.")
    for failure in failures:
        console.print(f"[red]{failure}[/red]")
    if not failures:
        console.print("What was measured is within the limits.")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
