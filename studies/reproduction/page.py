"""The page of the documentation that holds every table and figure, made from the runs."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from studies.reproduction.found import load_found
from studies.reproduction.pictures import PICTURES, draw_all
from studies.reproduction.printed import PAPERS, PrintedTable
from studies.reproduction.verdicts import CONFIDENCE, Cell, Status, counts, summary
from studies.reproduction.work import WORK, contents_of, judged
from understudy.data.files import write_bytes
from understudy.wording import markdown_table, seconds

MARKS = {"chance": "✓", "explained": "○", "unexplained": "✗", "not run": "–"}  # noqa: RUF001
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
of their rows is weaker evidence: the noise of DS 0.1 (two were tried), the coding of DV (five), and
the groups of ages in Table X of 2022. Cells of run times count as explained by another machine, and
those of the credit card by the stand-in for its file.
"""
_HOW = """Each cell has our figure, the standard deviation of our runs behind ±, **the printed
figure and the difference in brackets**, and a mark:

- ✓ chance explains the difference: the printed figure could be one more draw of ours, at a level of
  {confidence}%, or the two are the same when rounded;
- ○ something else explains it, which the list below the table names;
- ✗ nothing that we know explains it; what was tried is in the list.

About one in a hundred cells that chance alone moves gets a ✗. The papers mostly print one
synthesis, and a figure of one synthesis varies as ours do.

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
    contents = {one.name: load_found(folder / f"{one.name}.json") for one in WORK}
    made = [content for content in contents.values() if content is not None]
    syntheses = max((int(content["syntheses"]) for content in made), default=0)
    parts = [
        _HEAD.format(syntheses=syntheses, summary=summary(cells)),
        _overview(tables),
        _HOW.format(confidence=round(100 * CONFIDENCE)),
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
    parts.append(_costs(contents))
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
                *(str(found[kind]) for kind in ("chance", "explained", "unexplained", "not run")),
            ]
        )
    heads = ["table", "what", "✓ chance", "○ explained", "✗ unexplained", "not run"]
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


def _extra(
    table: PrintedTable, runs: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]
) -> str:
    """Return what stands below some tables: other rules of the vote, other versions of a tool."""
    found, name = "", table.name
    paper, _, number = name.partition("-")
    votes = runs.get(f"votes-{number}") if paper == "2020" else None
    if votes:
        rules = list(next(iter(votes.values())))
        lines = [
            [row, *(f"{sum(own[rule]) / len(own[rule]):.1f}" for rule in rules)]
            for row, own in votes.items()
        ]
        found += "\nThe vote by other rules:\n\n" + markdown_table(["", *rules], lines) + "\n"
    further = {row: own for row, own in runs.get(name, {}).items() if row not in table.rows}
    if further:
        columns = list(next(iter(further.values())))
        lines = [
            [row, *(f"{sum(own[one]) / len(own[one]):.1f}" for one in columns)]
            for row, own in further.items()
        ]
        found += "\nNot in the paper:\n\n" + markdown_table(["", *columns], lines) + "\n"
    return found


def _unexplained(tables: Mapping[str, tuple[PrintedTable, list[Cell]]]) -> str:
    lines = []
    for table, cells in tables.values():
        own = [cell for cell in cells if cell.status == "unexplained"]
        if own:
            lines.append(f"- {table.paper}, {table.number}: {_by_row(own)}")
    listed = "\n".join(lines) or "None."
    return f"## What we cannot explain\n\n{listed}\n"


def _costs(contents: Mapping[str, Mapping[str, Any] | None]) -> str:
    lines = [
        [one.name, ", ".join(one.tables), seconds(float(content["seconds"])), content["machine"]]
        for one in WORK
        if (content := contents[one.name]) is not None
    ]
    table = markdown_table(["run", "tables", "time", "machine"], lines) if lines else ""
    return f"## How long it took\n\n{table}\n"


def write_page(folder: Path, path: Path) -> None:
    """Write the page, and its pictures to the folder ``images/reproduction`` beside it."""
    pictures = path.parent / "images" / "reproduction"
    for name, said in draw_all(folder, pictures):
        logging.getLogger("understudy").info("%s: %s", name, said)
    write_bytes(page(folder, pictures).encode(), path, overwrite=True)
