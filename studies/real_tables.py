"""Real tables through the command line: what crashes, what is said, whether formats come back.

``python -m studies real-tables`` describes and synthesizes each table of `packaged_tables` with
every method, as a new user would, and prints what happened, with time and memory.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

from studies.packaged_tables import cached_file, chosen_tables
from studies.table_runs import METHODS, TableReport, TableRun, try_table
from understudy.errors import ParameterError
from understudy.learning.jobs import mapped
from understudy.progress import track
from understudy.wording import counted, markdown_table, quoted, shortened


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
            [
                *("command", "runs", "crashed", "refused", "decisions", "formats"),
                *("CPU s, median", "most", "MB, most"),
            ],
            _by_command(reports),
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
    refused = sum(run.refused for run in runs)
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


def _by_command(reports: Iterable[TableReport]) -> list[list[str]]:
    """Return how each command did over all tables."""
    by: dict[str, list[TableRun]] = {}
    for one in reports:
        for run in one.runs:
            by.setdefault(run.command, []).append(run)
    lines = []
    for command, runs in by.items():
        formats = [run.formats for run in runs if run.formats]
        good = sum(form.good for form in formats)
        cpu = [run.finished.cpu for run in runs]
        lines.append(
            [
                command,
                f"{len(runs)}",
                f"{sum(run.finished.crashed for run in runs)}",
                f"{sum(run.refused for run in runs)}",
                f"{sum(run.decided for run in runs)}",
                f"{good}/{sum(len(form.columns) for form in formats)}" if formats else "",
                f"{median(cpu):.1f}",
                f"{max(cpu):.1f}",
                f"{max(run.finished.megabytes for run in runs):.0f}",
            ]
        )
    return lines


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
