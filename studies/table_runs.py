"""One table through the command line with every method, and what became of each command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from studies import measured_process
from studies.packaged_tables import PackagedTable
from studies.text_shapes import (
    FileFormat,
    TextTable,
    compare_files,
    read_text,
    repeated_identifiers,
    sampled,
    with_named_columns,
)
from understudy.cli.options import joined_names

METHODS = {
    "bayes": ("--method", "bayes"),
    "bayes greedy": ("--method", "bayes", "--structure", "greedy"),
    "cart": ("--method", "cart"),
    "copula": ("--method", "copula"),
    "independent": ("--method", "independent"),
    "run": ("--method", "independent", "--measures", "quick"),
}
"""What `synth` is given for each method, and `run` for a release with its audit."""
WHOLE_METHOD = "independent"
"""The quick method that synthesizes all rows of a table that is otherwise sampled."""
DECISIONS = "How the columns were read"
"""What stands above the decisions in the terminal."""
NO_NAME = "has no name"
"""How the message begins that advises to name a column."""
TIME_LIMIT = 900
"""Seconds after which a command is ended and counted as crashed."""
_WIDTH = "200"


@dataclass(frozen=True)
class Finished:
    """What became of a command."""

    exit_code: int
    output: str
    seconds: float
    cpu: float
    megabytes: float

    @property
    def crashed(self) -> bool:
        """Whether it ended otherwise than it should: by a signal, or with a traceback."""
        return self.exit_code not in {0, 1, 2} or "Traceback (most recent" in self.output


@dataclass(frozen=True)
class TableRun:
    """One command on one table: what became of it, and how its output is written."""

    command: str
    rows: int
    finished: Finished
    formats: FileFormat | None = None
    repeated: tuple[str, ...] = ()
    """Identifiers of the original that are in the release: the columns."""

    @property
    def refused(self) -> bool:
        """Whether it ended with a message instead of a result."""
        return self.finished.exit_code != 0 and not self.finished.crashed

    @property
    def decided(self) -> bool:
        """Whether it said what each column was taken for."""
        return DECISIONS in self.finished.output


@dataclass
class TableReport:
    """All commands on one table, and what was decided about its columns."""

    table: PackagedTable
    rows: int
    columns: int
    runs: list[TableRun] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    named: bool = False
    """Whether a column had no name and was given one, as the command advises."""


def command_line(arguments: Sequence[str], limit: float = TIME_LIMIT) -> Finished:
    """Run understudy in a process of its own, and measure its time and its largest memory."""
    environment = os.environ | {"COLUMNS": _WIDTH, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    with tempfile.TemporaryDirectory() as folder:
        measured = Path(folder, "measured.json")
        launcher = [sys.executable, "-I", "-S", measured_process.__file__, str(measured)]
        done = subprocess.run(  # noqa: S603  # our own command
            [*launcher, str(limit), sys.executable, "-m", "understudy", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            check=True,
        )
        took = json.loads(measured.read_text("utf-8"))
    return Finished(output=done.stdout.decode("utf-8", errors="replace"), **took)


def try_table(
    table: PackagedTable, source: Path, *, methods: Sequence[str], rows: int, folder: Path
) -> TableReport:
    """Describe and synthesize one table with each method, and look at what comes out.

    What the messages advise is done: columns that the schema calls free text are dropped, and a
    column without a name is given one.
    """
    content = source.read_bytes()
    data = folder / "table.csv"
    data.write_bytes(sampled(content, rows))
    original = read_text(data.read_bytes())
    report = TableReport(table, original.fields.height, original.fields.width)
    described = _described(data, folder / "schema.toml", report)
    if described.exit_code == 2 and NO_NAME in described.output:
        report.named = True
        content = with_named_columns(content)
        data.write_bytes(with_named_columns(data.read_bytes()))
        original = read_text(data.read_bytes())
        described = _described(data, folder / "schema.toml", report)
    report.runs.append(TableRun("schema", report.rows, described))
    if described.exit_code:
        return report
    drop = ["--drop", joined_names(report.dropped)] if report.dropped else []
    for method in methods:
        made = _released if method == "run" else _synthesized
        report.runs.append(made(data, original, method, drop, report))
    if WHOLE_METHOD in methods and len(content) > data.stat().st_size:
        whole = read_text(content)
        # What all rows hold can differ from what the sample holds: they are described anew.
        data = folder / "whole.csv"
        data.write_bytes(content)
        again = TableReport(table, whole.fields.height, whole.fields.width)
        _described(data, folder / "whole.toml", again)
        drop = ["--drop", joined_names(again.dropped)] if again.dropped else []
        report.runs.append(_synthesized(data, whole, WHOLE_METHOD, drop, again))
    return report


def _described(data: Path, schema: Path, report: TableReport) -> Finished:
    """Describe the table, and note what its columns are taken for."""
    finished = command_line(["schema", str(data), "-o", str(schema), "--force"])
    if finished.exit_code == 0:
        described = tomllib.loads(schema.read_text("utf-8"))["column"]
        report.kinds = {column["name"]: column["kind"] for column in described}
        report.dropped = tuple(name for name, kind in report.kinds.items() if kind == "text")
    return finished


def _synthesized(
    data: Path, original: TextTable, method: str, drop: Sequence[str], report: TableReport
) -> TableRun:
    made = data.with_name("synthetic.csv")
    made.unlink(missing_ok=True)
    options = [*METHODS[method], *drop, "--seed", "1"]
    finished = command_line(["synth", str(data), "-o", str(made), *options])
    return _checked(f"synth {method}", original, made, finished, report)


def _released(
    data: Path, original: TextTable, method: str, drop: Sequence[str], report: TableReport
) -> TableRun:
    folder = data.with_name("release")
    options = [*METHODS[method], *drop, "--seed", "1", "--force"]
    finished = command_line(["run", str(data), "-o", str(folder), *options])
    return _checked("run", original, folder / "synthetic.csv", finished, report)


def _checked(
    command: str, original: TextTable, made: Path, finished: Finished, report: TableReport
) -> TableRun:
    """Compare what a command wrote with the original, if it wrote anything."""
    rows = original.fields.height
    if finished.exit_code or not made.exists():
        return TableRun(command, rows, finished)
    synthetic = read_text(made.read_bytes())
    identifiers = [name for name, kind in report.kinds.items() if kind == "identifier"]
    return TableRun(
        command,
        rows,
        finished,
        compare_files(original, synthetic, report.dropped),
        tuple(repeated_identifiers(original, synthetic, identifiers)),
    )
