"""The page of the documentation that holds every table and figure, made from the runs."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from studies.reproduction.classifiers import RULES
from studies.reproduction.found import load_found
from studies.reproduction.network_tables import AGES
from studies.reproduction.pictures import PICTURES, draw_all
from studies.reproduction.printed import PAPERS, PrintedTable
from studies.reproduction.releases import CODINGS, DEGREES
from studies.reproduction.verdicts import (
    CONFIDENCE,
    FEW_RUNS,
    KINDS,
    Cell,
    Status,
    counts,
    summary,
)
from studies.reproduction.work import WORK, contents_of, judged
from understudy.data.files import write_bytes
from understudy.wording import markdown_table, seconds

MARKS = {"chance": "✓", "explained": "○", "unexplained": "✗", "one run": "?", "not run": "–"}  # noqa: RUF001
_HEAD = """# The papers, made again

understudy builds on three papers. This page sets all of their tables and figures beside what
understudy gives. One command makes it, and no cell of it is typed in by hand:

```console
$ make reproduce
```

The printed figures are in `studies/reproduction/printed.toml`, by the papers' own numbers. Ours are
means over {syntheses} syntheses with seeds, unless a table says otherwise. To make one table alone,
run `python -m studies 2020-1`.

{summary}

Some settings are not printed. We chose these after seeing the printed figures, so that agreement
of their rows is weaker evidence: the noise of DS 0.1 (2 were tried), the parents of DS 0
({degrees} were tried), the coding of DV ({codings}, and our own copula), the rule of the vote
({votes}), and the groups of ages in Table X of 2022 ({ages}). What the others give is below the
tables. Cells of run times count as explained by another machine. Those of the credit card count as
explained if a stand-in is used for its file, whatever their figures.
"""
_HOW = """Each cell has our figure, the standard deviation of our runs behind ±, **the printed
figure and the difference in brackets**, and a mark:

- ✓ chance explains the difference: the printed figure could be one more draw of ours, at a level of
  {confidence}%, or the two are the same when rounded;
- ○ something else explains it, which the list below the table names;
- ✗ nothing that we know explains it; what was tried is in the list;
- ? we have one run, which is not the printed figure, and so no spread to judge it by.

With fewer than {few} syntheses, the spread of a cell is that of all synthetic rows of its column,
each about its own mean. About one in a hundred cells that chance alone moves gets a ✗. The papers
mostly print one synthesis, and a figure of one synthesis varies as ours do.

The tools of the paper of 2020 are DataSynthesizer without noise (DS 0) and with epsilon 0.1
(DS 0.1), the Synthetic Data Vault (DV) and synthpop (SP). Ours for them are `BayesNet` with two
parents and the greedy search; the same with the noise of DataSynthesizer at the time, which was too
little by a factor of about the number of records; a Gaussian copula to which categories are
numbers; and `Cart`.
"""


def table_markdown(table: PrintedTable, cells: Sequence[Cell]) -> str:
    """Return a table as printed, with ours in each cell, and what explains the differences."""
    found = {(cell.row, cell.column): cell for cell in cells}
    lines = [
        [
            row.replace("|", "\\\\|"),
            *(_cell_text(found.get((row, column)), table) for column in table.columns),
        ]
        for row in table.rows
    ]
    text = markdown_table(["", *table.columns], lines)
    remarks = _remarks(cells)
    return f"{text}\n\n{remarks}" if remarks else text


def _cell_text(cell: Cell | None, table: PrintedTable) -> str:
    if cell is None:
        return ""
    digits = table.digits
    if not cell.runs:
        return f"({cell.printed:,.{digits}f}) {MARKS[cell.status]}"
    varies = not math.isnan(cell.spread) and cell.spread > 0
    spread = f" ± {cell.spread:,.{digits}f}" if varies else ""
    difference = f"{cell.mean - cell.printed:+,.{digits}f}"
    difference = difference if float(difference.replace(",", "")) else "0"
    return (
        f"{cell.mean:,.{digits}f}{spread} ({cell.printed:,.{digits}f}, {difference}) "
        f"{MARKS[cell.status]}"
    )


def _remarks(cells: Sequence[Cell]) -> str:
    """Return a line for each reason, with the cells that it is about."""
    groups: dict[tuple[Status, str], list[Cell]] = {}
    for cell in cells:
        if cell.status in {"explained", "unexplained"}:
            groups.setdefault((cell.status, cell.reason), []).append(cell)
    lines = []
    for (status, reason), own in groups.items():
        said = reason or "We do not know why."
        which = "All cells" if len(own) == len(cells) else _by_row(own)
        lines.append(f"- {MARKS[status]} {which}. {said}")
    return "\n".join(lines)


def _by_row(cells: Sequence[Cell]) -> str:
    rows: dict[str, list[str]] = {}
    for cell in cells:
        rows.setdefault(cell.row, []).append(cell.column)
    return "; ".join(f"{row} ({', '.join(columns)})" for row, columns in rows.items())


def page(folder: Path, pictures: Path) -> str:
    """Return the page, from the runs in a folder, with those pictures that are drawn."""
    tables = judged(folder)
    cells = [cell for _, own in tables.values() for cell in own]
    contents = [load_found(folder / f"{one.name}.json") for one in WORK]
    made = [content for content in contents if content is not None]
    syntheses = max((int(content["syntheses"]) for content in made), default=0)
    parts = [
        _HEAD.format(
            syntheses=syntheses,
            summary=summary(cells),
            degrees=len(DEGREES) + 1,
            codings=len(CODINGS) + 1,
            votes=len(RULES),
            ages=len(AGES),
        ),
        _overview(tables),
        _HOW.format(confidence=round(100 * CONFIDENCE), few=FEW_RUNS),
    ]
    for paper, source in PAPERS.items():
        parts.append(
            f"## The paper {'on CART' if paper == 'CART' else f'of {paper}'}\n\n{source}\n"
        )
        parts += [
            _section(table, own, folder) for table, own in tables.values() if table.paper == paper
        ]
        parts += [
            f"### {one.title}\n\n{one.sentence}\n\n"
            f"![{one.title}](images/reproduction/{one.name}.svg)\n"
            for one in PICTURES
            if one.paper == paper and (pictures / f"{one.name}.svg").is_file()
        ]
    parts.append(_unexplained(tables))
    parts.append(f"## How long it took\n\n{costs_markdown(folder)}\n")
    return "\n".join(parts)


def _overview(tables: Mapping[str, tuple[PrintedTable, list[Cell]]]) -> str:
    lines = []
    for table, cells in tables.values():
        found = counts(cells)
        papers = {"CART": "CART"}.get(table.paper, table.paper)
        lines.append(
            [
                f"[{papers}, {table.number}](#{table.name})",
                table.title,
                *(str(found[kind]) for kind in KINDS),
            ]
        )
    heads = ["table", "what", *(f"{MARKS[kind]} {kind}" for kind in KINDS)]
    return markdown_table(heads, lines) + "\n"


def _section(table: PrintedTable, cells: Sequence[Cell], folder: Path) -> str:
    heading = f"### {table.number}: {table.title} {{ #{table.name} }}\n"
    contents = list(contents_of(table.name, folder).values())
    if not contents:
        return f"{heading}\nNot run yet: its data are not there, or the run is not finished.\n"
    notes = dict.fromkeys(note for content in contents for note in content.get("notes", ()))
    said = "".join(f"{note}\n\n" for note in notes)
    extra = "".join(_extra(table, content["runs"]) for content in contents)
    return f"{heading}\n{said}{table_markdown(table, cells)}\n{extra}"


_TRIED = {
    "votes": "The vote by other rules:",
    "svm": "SVM on the original by other preparations:",
}
"""What was tried where a setting is not printed, by how the runs name it."""


def _extra(
    table: PrintedTable, runs: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]
) -> str:
    """Return what stands below some tables: other rules of the vote, other versions of a tool."""
    found = ""
    paper, _, number = table.name.partition("-")
    for name, said in _TRIED.items():
        own = runs.get(f"{name}-{number}") if paper == "2020" else None
        if own:
            found += f"\n{said}\n\n{_means(own, table.digits)}\n"
    further = {row: own for row, own in runs.get(table.name, {}).items() if row not in table.rows}
    if further:
        found += f"\nNot in the paper:\n\n{_means(further, table.digits)}\n"
    return found


def _means(runs: Mapping[str, Mapping[str, Sequence[float]]], digits: int) -> str:
    columns = list(dict.fromkeys(column for own in runs.values() for column in own))
    lines = [
        [row, *(_mean_text(own.get(column, ()), digits) for column in columns)]
        for row, own in runs.items()
    ]
    return markdown_table(["", *columns], lines)


def _mean_text(figures: Sequence[float], digits: int) -> str:
    return f"{sum(figures) / len(figures):,.{digits}f}" if figures else ""


def _unexplained(tables: Mapping[str, tuple[PrintedTable, list[Cell]]]) -> str:
    lines = []
    for table, cells in tables.values():
        own = [cell for cell in cells if cell.status == "unexplained"]
        if own:
            lines.append(f"- {table.paper}, {table.number}: {_by_row(own)}")
    listed = "\n".join(lines) or "None."
    return f"## What we cannot explain\n\n{listed}\n"


def costs_markdown(folder: Path) -> str:
    """Return how long each run took, in CPU seconds and by the clock, and all of them together."""
    contents = {one: load_found(folder / f"{one.name}.json") for one in WORK}
    made = {one: content for one, content in contents.items() if content is not None}
    lines = [
        [
            one.name,
            ", ".join(one.tables),
            _seconds_text(content.get("cpu")),
            _seconds_text(content["seconds"]),
        ]
        for one, content in made.items()
    ]
    if not lines:
        return "Nothing has run yet."
    totals = [
        sum(float(content.get(name) or 0) for content in made.values())
        for name in ("cpu", "seconds")
    ]
    lines.append(["**all**", "", *map(_seconds_text, totals)])
    table = markdown_table(["run", "tables", "CPU", "clock"], lines)
    machines = ", and ".join(dict.fromkeys(str(content["machine"]) for content in made.values()))
    return (
        f"{table}\n\nMachine: {machines}. CPU counts all processes. The clock also counts what the "
        "machine did beside. The pictures and this page come on top."
    )


def _seconds_text(value: float | None) -> str:
    return "not measured" if value is None else seconds(float(value))


def write_page(folder: Path, path: Path) -> None:
    """Write the page, and its pictures to the folder ``images/reproduction`` beside it."""
    pictures = path.parent / "images" / "reproduction"
    for name, said in draw_all(folder, pictures):
        logging.getLogger("understudy").info("%s: %s", name, said)
    write_bytes(page(folder, pictures).encode(), path, overwrite=True)
