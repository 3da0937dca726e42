"""The quick audit of tables with real-valued columns, beside reading their files; and memory.

Run with ``python benchmarks/audit.py``. Two simulated tables in the shape of the credit card data
(284,807 records, 31 columns, nearly all values different) are written as CSV files. One process
reads both; another reads and audits them, so that the peak of its memory is the audit's. Kernels
are compiled before. Exits with 1 if a limit is missed.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from rows import note

ROWS = 284_807
KEYS = ["V1", "V2", "Amount"]
GROUPS = {"V1": 20, "V2": 20, "Amount": 20}
SECONDS = 25.0
GIGABYTES = 1.5
TIMES_READING = 10.0


def usage() -> dict[str, float]:
    """Return the CPU seconds of this process, and the peak of its memory in gigabytes."""
    held = resource.getrusage(resource.RUSAGE_SELF)
    unit = 1e9 if sys.platform == "darwin" else 1e6
    return {"seconds": held.ru_utime + held.ru_stime, "gigabytes": held.ru_maxrss / unit}


def work(what: str, folder: Path) -> dict[str, float]:
    """Do one piece of work, and return what it took beside importing the package."""
    from understudy.audit import audit
    from understudy.data import read

    before = usage()["seconds"]
    original, synthetic = (read(folder / f"{name}.csv") for name in ("original", "synthetic"))
    if what != "read":
        audit(
            original,
            synthetic,
            keys=KEYS,
            sensitive="Class",
            groups=GROUPS if what == "keys in groups" else None,
            measures="quick",
            random_state=1,
        )
    found = usage()
    return found | {"seconds": found["seconds"] - before}


def measured(what: str, folder: Path) -> dict[str, float]:
    """Do the work in a process of its own."""
    command = [sys.executable, __file__, "--work", what, "--folder", str(folder)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return json.loads(found.stdout.splitlines()[-1])


def write_tables(folder: Path, rows: int) -> None:
    from understudy.data import simulate, write

    for seed, name in enumerate(("original", "synthetic"), 1):
        write(simulate("credit_card", rows, random_state=seed), folder / f"{name}.csv")


def report(rows: int) -> int:
    console = Console(width=100)
    table = Table(title=f"Quick audit of {rows:,} records x 31 columns")
    table.add_column("work")
    for heading in ("CPU s", "limit", "times reading", "limit", "peak GB", "limit"):
        table.add_column(heading, justify="right", no_wrap=True)
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder, min(rows, 1_000))
        for what in ("keys as they are", "keys in groups"):  # compiles the kernels
            measured(what, folder)
        for held in folder.iterdir():
            held.unlink()
        write_tables(folder, rows)
        reading = measured("read", folder)
        table.add_row("reading both files", f"{reading['seconds']:.1f}", "", "1.0", "", "", "")
        for what in ("keys as they are", "keys in groups"):
            found = measured(what, folder)
            figures = {
                "CPU s": (found["seconds"], SECONDS),
                "times reading": (found["seconds"] / reading["seconds"], TIMES_READING),
                "GB": (found["gigabytes"], GIGABYTES),
            }
            job = f"reading and quick audit, {rows:,} x 31, {what}"
            for unit, (value, limit) in figures.items():
                note(job, unit, value, limit if rows == ROWS else None)
            cells = [f"{number:.1f}" for pair in figures.values() for number in pair]
            table.add_row(f"reading and audit, {what}", *cells)
            problems += [
                f"{what}: {value:.2f} {unit}, more than {limit}"
                for unit, (value, limit) in figures.items()
                if value > limit and rows == ROWS
            ]
    console.print(table)
    for problem in problems:
        console.print(f"Missed: {problem}.")
    if not problems:
        console.print("Within the limits." if rows == ROWS else "Limits are for the full table.")
    return int(bool(problems))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work is None:
        return report(arguments.rows)
    print(json.dumps(work(arguments.work, arguments.folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
