"""Spark and one process beside each other: the same model, rows and figures from both.

Run with ``python benchmarks/spark.py``; ``--rows`` sets another number than 2,000,000. It needs
PySpark and Java (``make .venv/.installed-spark``), and says so where they are not there. A table of
20 columns with 20 levels, in eight Parquet files, is described, learnt from and attacked on Spark
(``local[2]``), and as a frame. What differs is counted. Seconds are by the clock, since Spark works
in processes of its own. Exits with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from growth import codes
from rows import note
from understudy import BayesNet, Independent, Schema
from understudy.risk import attribution, disclosure
from understudy.utility import marginals
from understudy.wording import markdown_table

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS, PARTS = 2_000_000, 8
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.memory": "2g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def session() -> Any:
    """Start Spark on this machine."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("ERROR")
    return found


def steps(table: Any, release: Any, drawn: Callable[[BayesNet], Any]) -> dict[str, Callable]:
    """Return what is done with a table, each step with what the one before gave."""
    attacked = {"keys": ["c0", "c1", "c2"], "sensitive": "c3"}
    return {
        "describe": lambda _: Schema.infer(table, dependencies=False),
        "genetic network, k = 2": lambda schema: BayesNet(2, "genetic", random_state=1).fit(
            table, schema
        ),
        "as many rows": drawn,
        "attribution": lambda _: attribution(table, release, **attacked).to_dict(),
        "disclosure": lambda _: disclosure(table, release, **attacked).to_dict(),
        "marginals": lambda _: marginals(table, release, ways=(1, 2)).to_dict(),
    }


def done(table: Any, release: Any, drawn: Callable[[BayesNet], Any]) -> tuple[list, list[float]]:
    """Return what came of each step, and its seconds by the clock."""
    found: list[Any] = [None]
    seconds = []
    for work in steps(table, release, drawn).values():
        started = time.perf_counter()
        found.append(work(found[-1]))
        seconds.append(time.perf_counter() - started)
    return found[1:], seconds


def same(one: Any, other: Any) -> bool:
    """Tell whether two results are the same, models and tables to the bit."""
    if isinstance(one, BayesNet):
        (header, arrays), (own, others) = one.contents(), other.contents()
        bits = [
            {name: array.tobytes() for name, array in held.items()} for held in (arrays, others)
        ]
        return header == own and bits[0] == bits[1]
    return bool(one.equals(other)) if hasattr(one, "equals") else bool(one == other)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    rows = parser.parse_args().rows
    try:
        spark = session()
    except Exception as error:  # noqa: BLE001  # neither PySpark nor Java need be there
        print(f"Spark could not be started: {type(error).__name__}: {str(error)[:200]}")
        return 0
    coded = codes(rows, 20)
    frame = pl.DataFrame(dict(zip(coded.names, coded.columns, strict=True))).cast(pl.Int64)
    made = Independent(random_state=2).fit(frame).sample()
    with tempfile.TemporaryDirectory() as name:
        folders = Path(name, "table"), Path(name, "release")
        for folder, held in zip(folders, (frame, made), strict=True):
            folder.mkdir()
            for part in range(PARTS):
                lines = held[rows * part // PARTS : rows * (part + 1) // PARTS]
                lines.write_parquet(folder / f"{part}.parquet")
        tables = [spark.read.parquet(str(folder)).cache() for folder in folders]
        there, theirs = done(
            *tables, lambda model: model.sample_spark(spark, random_state=3).toArrow()
        )
        spark.stop()
    here, ours = done(frame.to_arrow(), made.to_arrow(), lambda m: m.sample(random_state=3))
    agree = [same(one, other) for one, other in zip(here, there, strict=True)]
    titles = list(steps(None, None, lambda _: None))
    lines = [
        [title, f"{one:.1f}", f"{other:.1f}", "yes" if equal else "no"]
        for title, one, other, equal in zip(titles, ours, theirs, agree, strict=True)
    ]
    print(f"{rows:,} x 20\n")
    print(markdown_table(["step", "one process, s", "Spark, s", "the same"], lines))
    note(f"Spark beside one process, {rows:,} x 20", "steps that differ", agree.count(False), 0)
    return int(not all(agree))


if __name__ == "__main__":
    sys.exit(main())
