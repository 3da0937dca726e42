"""Run the benchmarks, and show what they measured in one table, kept in ``docs/benchmarks.md``.

``make bench`` runs all. ``python benchmarks/bench.py counting greedy`` runs some: the rows of the
others stay as they were measured before, with their dates. They are kept in ``measured.json``, from
which the page is written. Adult and Social Diagnosis 2011 are read from the folder that
``UNDERSTUDY_DATA`` names; without it, scripts leave them out. Exits with 1 if a script does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from rows import VARIABLE, Row, noted
from understudy.wording import markdown_table

FOLDER = Path(__file__).parent
KEPT = FOLDER / "measured.json"
PAGE = FOLDER.parent / "docs" / "benchmarks.md"
MARKS = "<!-- table of make bench -->\n", "<!-- end of the table -->\n"
SCRIPTS: dict[str, tuple[str, ...]] = {
    "counting": (),
    "greedy": ("--quick",),
    "ordering": (),
    "bayes": ("--quick",),
    "cart": (),
    "tree_splits": (),
    "wide": (),
    "widths": (),
    "copula": (),
    "attribution": ("--no-peer",),
    "private": ("--quick",),
    "disclosure": (),
    "audit": (),
    "strong": ("--quick",),
    "membership": (),
    "lookalikes": (),
    "attribute_attacks": (),
    "stream": ("--rows", "1_000_000"),
    "spark": (),
}
"""What is run, in this order, and with which options."""

Measured = dict[str, tuple[str, list[Row]]]


def kept() -> Measured:
    """Return the rows of each script that ran before, with its date."""
    plain = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    return {
        name: (own["date"], [Row(**row) for row in own["rows"]])
        for name, own in plain.items()
        if name in SCRIPTS
    }


def keep(measured: Measured) -> None:
    plain = {
        name: {"date": date, "rows": [asdict(row) for row in rows]}
        for name, (date, rows) in measured.items()
    }
    KEPT.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")


def run(name: str) -> tuple[int, list[Row]]:
    """Run a script, and return its exit code and what it noted."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        done = subprocess.run(  # noqa: S603  # our own scripts
            [sys.executable, FOLDER / f"{name}.py", *SCRIPTS[name]],
            env=os.environ | {VARIABLE: str(path)},
            check=False,
        )
        return done.returncode, noted(path)


def worded(figure: float | None) -> str:
    if figure is None:
        return ""
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"


def table(measured: Measured) -> str:
    """Return the one table, and which scripts have no rows in it."""
    lines = [
        [
            row.job,
            row.unit,
            worded(row.ours) + " (missed)" * row.missed,
            worded(row.limit),
            row.peer,
            date,
        ]
        for name in SCRIPTS
        for date, rows in [measured.get(name, ("", []))]
        for row in rows
    ]
    without = [f"`{name}.py`" for name in SCRIPTS if not measured.get(name, ("", []))[1]]
    said = f"Not in this table: {', '.join(without)}.\n" if without else ""
    heading = ["job", "unit", "ours", "limit", "peer", "measured"]
    return f"{markdown_table(heading, lines)}\n" + f"\n{said}" * bool(said)


def in_page(page: str, shown: str) -> str:
    """Return a page with another table between the marks."""
    before, _, rest = page.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    return f"{before}{MARKS[0]}\n{shown}\n{MARKS[1]}{after}"


def main() -> int:
    """Run the scripts that are named, or all; print the table, and write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("scripts", nargs="*", metavar="script", help=", ".join(SCRIPTS))
    wanted = parser.parse_args().scripts or list(SCRIPTS)
    if unknown := set(wanted) - SCRIPTS.keys():
        parser.error(
            f"no such script: {', '.join(sorted(unknown))}; choose from {', '.join(SCRIPTS)}"
        )
    failed = []
    for name in wanted:
        print(f"{name}.py", flush=True)
        code, rows = run(name)
        failed += [f"{name}.py"] if code else []
        # What measured nothing, such as Spark where there is none, leaves what was measured before.
        if rows:
            keep(kept() | {name: (datetime.now(UTC).date().isoformat(), rows)})
    shown = table(kept())
    print(shown)
    PAGE.write_text(in_page(PAGE.read_text(encoding="utf-8"), shown), encoding="utf-8")
    if failed:
        print(f"Failed, or missed a limit: {', '.join(failed)}.")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
