"""Tables larger than memory: a folder of Parquet files in, a synthetic Parquet file out.

Run with ``python benchmarks/stream.py``, or with ``--rows 50_000_000`` for other sizes, and
``--networks plain`` for one of the two networks. Parts of the simulated credit card table (31
columns, nearly all values different) are written one by one into a temporary folder: 12 GB for 50
million rows, and as much again for what is made of them. One process decodes and encodes the parts
with polars; others fit a genetic network with two parents by stream, and draw as many rows by
stream: as it is by default, and plain, without smoothing. Times are CPU seconds, memory is the peak
of the process. Exits with 1 if a limit is missed: 2 GB at any size, and for the plain network six
times decoding and encoding.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rows import note
from understudy.wording import markdown_table

ROWS = (1_000_000, 5_000_000)
PART = 500_000
GIGABYTES, TIMES = 2.0, {"default": None, "plain": 6.0}
SETTINGS: dict[str, Mapping[str, Any]] = {"default": {}, "plain": {"smoothing": 0}}


def usage() -> dict[str, float]:
    """Return the CPU seconds of this process, and the peak of its memory in gigabytes."""
    held = resource.getrusage(resource.RUSAGE_SELF)
    unit = 1e9 if sys.platform == "darwin" else 1e6
    return {"seconds": held.ru_utime + held.ru_stime, "gigabytes": held.ru_maxrss / unit}


def make(folder: Path, rows: int) -> None:
    """Write the table in parts."""
    from understudy.data import simulate

    (folder / "parts").mkdir()
    for number, start in enumerate(range(0, rows, PART)):
        part = simulate("credit_card", min(PART, rows - start), random_state=number)
        part.write_parquet(folder / "parts" / f"{number:05}.parquet")


def recode(folder: Path) -> None:
    """Decode all parts and encode them again."""
    import polars as pl

    for path in sorted((folder / "parts").iterdir()):
        pl.read_parquet(path).write_parquet(folder / "again.parquet")


def synthesize(folder: Path, settings: Mapping[str, Any]) -> None:
    """Learn from all parts, and draw as many rows."""
    from understudy import BayesNet
    from understudy.data import scan

    model = BayesNet(2, "genetic", random_state=1, **settings).fit(scan(folder / "parts"))
    model.sample_to(folder / "synthetic.parquet", overwrite=True)


def measured(what: str, folder: Path, rows: int) -> dict[str, float]:
    """Do the work in a process of its own."""
    command = [sys.executable, __file__, "--work", what, "--folder", str(folder)]
    command += ["--rows", str(rows)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return json.loads(found.stdout.splitlines()[-1])


def report(sizes: list[int], networks: Iterable[str] = SETTINGS) -> int:
    """Print what each size took, and say which limits are missed."""
    lines, missed = [], []
    for rows in (PART // 100, *sizes):  # the first compiles the kernels
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            measured("make", folder, rows)
            again = measured("recode", folder, rows)["seconds"]
            found = {kind: measured(kind, folder, rows) for kind in networks}
        for kind, ours in found.items() if rows in sizes else ():
            times = ours["seconds"] / again
            job = f"stream, Parquet to Parquet, {rows:,} x 31, {kind} network"
            figures = {
                "CPU s": (ours["seconds"], None),
                "times polars": (times, TIMES[kind]),
                "GB": (ours["gigabytes"], GIGABYTES),
            }
            for unit, (value, limit) in figures.items():
                note(job, unit, value, limit)
                if limit is not None and value > limit:
                    missed.append(f"{kind}, {rows:,}: {value:.2f} {unit}, more than {limit:g}")
            shown = [f"{one:.1f}" for one in (again, ours["seconds"], times)]
            lines.append([f"{rows:,}", kind, *shown, f"{ours['gigabytes']:.2f}"])
    heading = ["rows", "network", "decoding and encoding s", "fit and sample s", "times", "peak GB"]
    print(markdown_table(heading, lines))
    for miss in missed:
        print(f"Missed: {miss}.")
    return int(bool(missed))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--networks", nargs="+", choices=SETTINGS, default=SETTINGS)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work is None:
        return report(list(given.rows), given.networks)
    if given.work == "make":
        make(given.folder, given.rows[0])
    elif given.work == "recode":
        recode(given.folder)
    else:
        synthesize(given.folder, SETTINGS[given.work])
    print(json.dumps(usage()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
