"""Real tables through the command line: what crashes, what is said, whether formats come back.

``python -m studies real-tables`` describes and synthesizes each table of `packaged_tables` with
every method, as a new user would, and prints what happened, with time and memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from studies import measured_process
from studies.packaged_tables import PackagedTable, cached_file, chosen_tables
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
from understudy.errors import ParameterError
from understudy.learning.jobs import mapped
from understudy.progress import track
from understudy.wording import counted, markdown_table, quoted, shortened

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


def _tried(job: tuple[str, tuple[str, ...], int]) -> TableReport:
    """Try one table in whichever process; it is known there by its name."""
    name, methods, rows = job
    (table,) = chosen_tables([name])
    with tempfile.TemporaryDirectory() as folder:
        return try_table(table, cached_file(table), methods=methods, rows=rows, folder=Path(folder))


def real_tables_markdown(
    tables: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    *,
    rows: int = 5000,
    processes: int = 1,
) -> str:
    """Return what became of every table with every method, as Markdown."""
    if unknown := [name for name in methods or () if name not in METHODS]:
        raise ParameterError(f"There is no method {quoted(unknown)}. There are: {quoted(METHODS)}.")
    wanted = [name for name in METHODS if not methods or name in methods]
    found = chosen_tables(tables)
    for table in track(found, "Fetching tables"):
        cached_file(table)
    jobs = [(table.name, tuple(wanted), rows) for table in found]
    with mapped(_tried, jobs, processes, must_travel=None) as reports:
        return report_markdown(list(track(reports, "Trying tables", total=len(jobs))))


def report_markdown(reports: Sequence[TableReport]) -> str:
    """Return the summary, the tables, every run, and what did not come back as it was."""
    parts = [
        summary(reports),
        markdown_table(
            ["table", "package", "rows", "columns", "what it tries"],
            (
                [one.table.name, one.table.package, _count(one), str(one.columns), one.table.shows]
                for one in reports
            ),
        ),
        markdown_table(
            ["table", "command", "rows", "ended", "decisions", "formats", "s", "CPU s", "MB"],
            (_line(one, run) for one in reports for run in one.runs),
        ),
        _section("Decided", ["table", "taken for", "dropped as free text"], _decided(reports)),
        _section("Failed", ["table", "command", "what it said"], _failures(reports)),
        _section("Written otherwise", ["table", "column", "by", "how"], _changes(reports)),
    ]
    return "\n\n".join(part for part in parts if part)


def summary(reports: Sequence[TableReport]) -> str:
    """Say in a sentence how many runs there were and how they ended."""
    runs = [run for one in reports for run in one.runs]
    crashed = sum(run.finished.crashed for run in runs)
    refused = sum(run.finished.exit_code != 0 and not run.finished.crashed for run in runs)
    formats = [run.formats for run in runs if run.formats]
    columns = sum(len(form.columns) for form in formats)
    good = sum(form.good for form in formats)
    files = sum(not form.problems for form in formats)
    repeated = sum(bool(run.repeated) for run in runs)
    return (
        f"{counted(len(runs), 'run')} on {counted(len(reports), 'table')}: "
        f"crashes {crashed}, refused {refused}; "
        f"decisions printed in {sum(run.decided for run in runs)}; formats returned in {good:,} of "
        f"{columns:,} columns, heading and lines in {files} of {len(formats)} files; identifiers "
        f"of the original in {counted(repeated, 'release')}."
    )


def _count(report: TableReport) -> str:
    return f"{max((run.rows for run in report.runs), default=report.rows):,}"


def _line(report: TableReport, run: TableRun) -> list[str]:
    formats = f"{run.formats.good}/{len(run.formats.columns)}" if run.formats else ""
    if run.formats and run.formats.problems:
        formats += ", not the file"
    return [
        report.table.name,
        run.command,
        f"{run.rows:,}",
        "crashed" if run.finished.crashed else str(run.finished.exit_code),
        "printed" if run.decided else "no",
        formats,
        f"{run.finished.seconds:.1f}",
        f"{run.finished.cpu:.1f}",
        f"{run.finished.megabytes:.0f}",
    ]


def _decided(reports: Iterable[TableReport]) -> list[list[str]]:
    """Return what the columns of each table were taken for, and which were dropped."""
    lines = []
    for one in reports:
        kinds = Counter(one.kinds.values())
        named = {"identifier", "text"}
        told = [
            f"{kind}: {', '.join(name for name, own in one.kinds.items() if own == kind)}"
            if kind in named
            else f"{count} {kind}"
            for kind, count in kinds.most_common()
            if kind != "text"
        ]
        told += ["a column without a name was named"] if one.named else []
        lines.append([one.table.name, _cell("; ".join(told)), _cell(", ".join(one.dropped))])
    return lines


def _failures(reports: Iterable[TableReport]) -> list[list[str]]:
    return [
        [one.table.name, run.command, _cell(shortened(" ".join(run.finished.output.split()), 300))]
        for one in reports
        for run in one.runs
        if run.finished.exit_code or run.finished.crashed
    ]


def _changes(reports: Iterable[TableReport]) -> list[list[str]]:
    """Return each column that is written otherwise than it was, once for all that do the same."""
    lines = []
    for one in reports:
        # The same change by several commands is told once, with the first of its examples.
        by: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for run in one.runs:
            for name, problem, told in _problems(run):
                by.setdefault((name, problem), []).append((run.command, told))
        made = sum(run.formats is not None for run in one.runs)
        for (name, _), found in by.items():
            commands = [command for command, _ in found]
            who = "all" if len(commands) == made else ", ".join(commands)
            lines.append([one.table.name, _cell(name), who, _cell(found[0][1])])
    return lines


def _problems(run: TableRun) -> Iterator[tuple[str, str, str]]:
    """Give each thing that is written otherwise: the column, what it is in short, and in words."""
    if run.formats:
        for problem in run.formats.problems:
            yield "(the file)", problem, problem
        for column in run.formats.columns:
            for problem, told in column.problems.items():
                yield column.column, problem, told
    for name in run.repeated:
        yield name, "repeated", "has identifiers of the original"


def _section(title: str, heading: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return f"{title}:\n\n{markdown_table(heading, lines)}" if lines else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
