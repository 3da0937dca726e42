"""Singling out and linkability side by side with anonymeter 1.1.0, on the same releases.

Run with ``python benchmarks/singling_out.py``; ``--again`` measures the peer anew instead of taking
what an earlier run noted, ``--rows 2000`` takes fewer of the people. anonymeter lives in an
environment of its own, in ``.venv-peers/anonymeter``. Adult is read from the folder that
``UNDERSTUDY_DATA`` names, and left out if it is not there. Both tools are given the same tables
without repeated records, for anonymeter drops them.

Rates agree if they differ by less than three joint standard errors. Times are user CPU seconds for
the same number of attacks, control records included: of the peer from frames to results, with one
thread; ours on tables that are encoded, as in an audit, with the test that the peer lacks, and from
frames. Kernels of both are compiled before. Exits with 1 if a rate or a limit is missed, with 2 if
the peer cannot be installed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from rich.console import Console
from rich.table import Table

from peers import best, environment
from understudy import BayesNet, Independent, fetch, load, simulate
from understudy.data.joint_coding import encode
from understudy.errors import DataError
from understudy.risk.attribution import gcap
from understudy.risk.linkability import linkability_of
from understudy.risk.singling_out import singling_out_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER = Path(__file__).parent.parent / ".venv-peers" / "anonymeter"
REQUIREMENTS = ("anonymeter==1.1.0",)
LEAST_RATIO = 20  # of the peer's CPU to ours
ROWS = 10_000
ERRORS = 3
Z = 1.96  # the peer's and our intervals are of 95%


@dataclass(frozen=True)
class Case:
    """A release with all that is needed to attack it.

    `checked` tells whether the rates of linkability must agree: they need not where many records
    are equally near, for the peer takes the first of them.
    """

    name: str
    original: pl.DataFrame
    synthetic: pl.DataFrame
    control: pl.DataFrame
    attacks: list[dict]
    checked: bool

    def write(self, folder: Path) -> None:
        """Write what the peer reads."""
        for name in ("original", "synthetic", "control"):
            getattr(self, name).write_csv(folder / f"{name}.csv")
        kinds = {
            name: "str" if kind == pl.String else "float64" if kind.is_float() else "int64"
            for name, kind in self.original.schema.items()
        }
        (folder / "types.json").write_text(json.dumps(kinds), encoding="utf-8")
        (folder / "attacks.json").write_text(json.dumps(self.attacks), encoding="utf-8")


def halves(table: pl.DataFrame, rows: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return people and control records, none of them twice, with a text for what is missing."""
    filled = table.with_columns(pl.col(pl.String).fill_null("?"))
    drawn = filled.unique(maintain_order=True).sample(fraction=1, shuffle=True, seed=1)
    size = min(rows, len(drawn) // 2)
    return drawn[:size], drawn[size : 2 * size]


def attacks_on(table: pl.DataFrame, count: int, kinds: tuple[int, ...]) -> list[dict]:
    found = [{"kind": "singling out", "columns": kind, "attacks": count} for kind in kinds]
    sides = {"columns_a": table.columns[::2], "columns_b": table.columns[1::2]}
    return found + [
        {"kind": "linkability", "attacks": count, "neighbours": near, **sides} for near in (1, 5)
    ]


def cases(rows: int, console: Console) -> Iterator[Case]:
    original, control = halves(load("cmc"), rows)
    attacks = attacks_on(original, 500, (3, 5))
    release = (
        BayesNet(3, "greedy", smoothing=0, random_state=1).fit(original).sample(random_state=1)
    )
    yield Case("cmc, network, k = 3", original, release, control, attacks, checked=False)
    payments = simulate("credit_card", 3 * rows, random_state=1).drop("Time", "Class")
    payments = payments.select(payments.columns[:12]).unique(maintain_order=True)
    original, control = payments[:rows], payments[rows : 2 * rows]
    copies = pl.concat([original[: rows // 5], payments[2 * rows : -rows // 5]])
    attacks = attacks_on(original, 1_000, (1, 3, 5))
    yield Case("payments, 20% copies", original, copies, control, attacks, checked=True)
    try:
        adult = fetch("adult_train")
    except DataError:
        console.print("Adult: skipped, it is not here (set UNDERSTUDY_DATA).")
        return
    original, control = halves(adult, rows)
    made = Independent(random_state=1).fit(original).sample(random_state=1)
    release = pl.concat([original[: rows // 5], made[rows // 5 :].select(original.columns)])
    attacks = attacks_on(original, 2_000, (1, 3, 5))
    inference = {"keys": ["age", "education", "marital_status", "occupation"]}
    attacks.append({"kind": "inference", "attacks": 2_000, "sensitive": "income", **inference})
    yield Case("Adult, 20% copies", original, release, control, attacks, checked=False)


def peer_report(case: Case, *, again: bool) -> dict:
    """Return what anonymeter took and found, from an earlier run if there was one."""
    python = environment(FOLDER, REQUIREMENTS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case.write(folder)
        contents = b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
        noted = FOLDER / f"{hashlib.sha256(contents).hexdigest()[:12]}.json"
        if again or not noted.exists():
            script = Path(__file__).with_name("anonymeter_run.py")
            # Beside its place first: an interrupted run must leave nothing that looks finished.
            fresh = noted.with_suffix(".part")
            threads = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS"), "1")
            subprocess.run(  # noqa: S603
                [python, script, folder, fresh], check=True, env=os.environ | threads
            )
            fresh.replace(noted)
    return json.loads(noted.read_text(encoding="utf-8"))


def our_attack(case: Case, attack: dict) -> Callable[[dict], object] | None:
    """Return our attack on encoded tables; nothing for inference, which needs no such tables."""
    if attack["kind"] == "singling out":
        options = {"columns_per_predicate": attack["columns"], "attacks": attack["attacks"]}
        return lambda tables: singling_out_of(tables, **options, random_state=1).attacks[0]
    if attack["kind"] == "linkability":
        names = ("columns_a", "columns_b", "neighbours", "attacks")
        options = {name: attack[name] for name in names}
        return lambda tables: linkability_of(tables, **options, random_state=1)
    del case
    return None


def encoded(case: Case) -> dict:
    names = ("original", "synthetic", "control")
    tables = {name: encode(getattr(case, name)) for name in names}
    for table in tables.values():
        for name in table.names:
            table.column(name)
    return tables


def apart(ours: float, theirs: float, error: float, count: int) -> float:
    """Return how many joint standard errors two rates differ by."""
    own = math.sqrt(max(ours * (1 - ours), 1 / count) / count)
    return abs(ours - theirs) / math.hypot(own, error / Z)


def compare(case: Case, report: Table, *, again: bool) -> list[str]:
    """Add a line for each attack, and return what is not as it should be."""
    theirs = peer_report(case, again=again)
    tables = encoded(case)
    failures = []
    for attack, peer in zip(case.attacks, theirs["attacks"], strict=True):
        what = {
            "singling out": f"singling out, {attack.get('columns')}",
            "linkability": f"linkability, {attack.get('neighbours')} near",
        }.get(attack["kind"], attack["kind"])
        run = our_attack(case, attack)
        if run is None:
            keys = {"keys": attack["keys"], "sensitive": attack["sensitive"]}
            found = gcap(case.original, case.synthetic, **keys)
            seconds = best(lambda keys=keys: gcap(case.original, case.synthetic, **keys), repeats=1)
            cells = [f"{found.accuracy:.3f} / {peer['attack'][0]:.3f}", "", "", ""]
            timing = ["", f"{1e3 * seconds:.0f}", f"{peer['seconds'] / seconds:.0f}"]
            report.add_row(case.name, f"{what} (GCAP)", *cells, f"{peer['seconds']:.2f}", *timing)
            continue
        ours = run(tables)
        rates = {name: getattr(ours, name) for name in ("attack", "baseline", "control")}
        cells = []
        for name, rate in rates.items():
            value, error = peer[name]
            cells.append(f"{rate.value:.3f} / {value:.3f}")
            far = apart(rate.value, value, error, rate.attacks)
            if far > ERRORS and (case.checked or attack["kind"] != "linkability"):
                failures.append(f"{case.name}, {what}, {name}: {far:.1f} standard errors apart")
        seconds = best(lambda run=run: run(tables), repeats=2)
        whole = best(lambda run=run: run(encoded(case)), repeats=1)
        ratio = peer["seconds"] / seconds
        low, high = ours.risk_interval
        cells.append(f"{low:.2f}-{high:.2f} / {peer['risk'][1]:.2f}-{peer['risk'][2]:.2f}")
        timing = [f"{1e3 * seconds:.0f}", f"{1e3 * whole:.0f}", f"{ratio:.0f}"]
        report.add_row(case.name, what, *cells, f"{peer['seconds']:.2f}", *timing)
        if ratio < LEAST_RATIO and len(case.original) == ROWS:
            failures.append(f"{case.name}, {what}: {ratio:.1f} times less CPU, not {LEAST_RATIO}")
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--again", action="store_true", help="run the peer again")
    parser.add_argument("--rows", type=int, default=ROWS, help="people of the larger tables")
    chosen = parser.parse_args()
    console = Console(width=160)
    try:
        environment(FOLDER, REQUIREMENTS)
    except (subprocess.CalledProcessError, OSError) as error:
        console.print(f"[red]anonymeter could not be installed: {error}[/red]")
        return 2
    report = Table(title="Ours / anonymeter 1.1.0: rates, residual risk, user CPU")
    for heading in ("release", "attack", "attack rate", "baseline", "control", "risk"):
        report.add_column(heading, no_wrap=True)
    for heading in ("peer s", "ours ms", "with coding", "ratio"):
        report.add_column(heading, justify="right", no_wrap=True)
    failures = []
    for case in cases(chosen.rows, console):
        failures += compare(case, report, again=chosen.again)
    console.print(report)
    for failure in failures:
        console.print(f"[red]{failure}[/red]")
    if not failures:
        console.print("Rates agree, and what was measured is within the limits.")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
