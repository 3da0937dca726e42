"""The verdict of an audit and its figures, in the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from understudy.audit.answers import questions_about
from understudy.audit.findings import Findings, ReleaseFindings
from understudy.audit.result import Audit, Commands
from understudy.audit.verdict import ReleaseVerdict, Verdict, other_limits
from understudy.report.attack_table import difference, percentage
from understudy.report.front import chosen_first, first_steps, to_be_followed
from understudy.report.side_by_side import side_by_side
from understudy.wording import Unit, share, signed_points

MOST_COLUMNS = 15
"""Columns that are ranked in the terminal."""
_NAMES = 11
"""So wide are names of releases at least."""
_COLOURS = {"low": "green", "raised": "yellow", "high": "red", "not measured": "blue"}


def audit_table(found: Audit) -> Group:
    """Return the verdict and a table of the figures.

    One release has a row for each measure; several have a row each.
    """
    findings, verdict = chosen_first(found.findings, found.verdict)
    shown: list[RenderableType] = [
        Text(verdict.headline, style=f"bold {_COLOURS[verdict.level]}"),
        *_lost(verdict),
        Text(verdict.sentences[0]),
        *([Text(other)] if (other := other_limits(findings.limits)) else []),
        *map(Text, findings.notes),
    ]
    several = len(findings.releases) > 1
    shown += [
        ranking_table(one, findings.units, named=several)
        for one in findings.releases
        if one.ranking
    ]
    if len(findings.releases) == 1:
        shown += _one(findings.releases[0], verdict.releases[0], findings.units)
    else:
        shown += _several(findings, verdict)
    return Group(*shown)


def _lost(verdict: Verdict) -> Iterator[Text]:
    """Yield the strong correlations that are lost: the first thing to know about the use."""
    several = len(verdict.releases) > 1
    for one in verdict.releases:
        if one.lost:
            name = f"{one.name}: " if several else ""
            yield Text(f"Usefulness: {name}{one.lost}", style="bold yellow")


def ranking_table(release: ReleaseFindings, unit: Unit, *, named: bool = False) -> Table:
    """Return a line for each column that was tried as the secret; of many, the first ones."""
    lines = release.ranking[:MOST_COLUMNS]
    left_out = len(release.ranking) - len(lines)
    controlled = any(not math.isnan(one.control) for one in lines)
    table = Table(
        title=f"Which column gives {unit.many} away?" + (f" {release.name}" if named else ""),
        title_justify="left",
        header_style="bold",
        box=box.SIMPLE_HEAD,
        caption=f"{left_out:,} more are in the findings." if left_out else None,
    )
    table.add_column("column", overflow="fold")
    table.add_column("by", overflow="fold")
    table.add_column("risk")
    for heading in ("without", "with it", "gain", *(["control", "difference"] * controlled)):
        table.add_column(heading, justify="right")
    table.add_column("tells")
    for one in lines:
        cells = [share(one.baseline), share(one.synthetic), signed_points(one.gain)]
        cells += [share(one.control), signed_points(one.difference)] if controlled else []
        level = Text(one.level, style=_COLOURS[one.level])
        by = one.keys[0] if len(one.keys) == 1 else "all keys" if one.keys else ""
        tells = unit.many if one.tells == "people" else one.tells
        table.add_row(Text(one.column), Text(by), level, *cells, tells)
    return table


def _one(release: ReleaseFindings, judged: ReleaseVerdict, unit: Unit) -> Iterator[RenderableType]:
    questions = questions_about(unit)
    for answer in judged.answers.values():
        yield Text.assemble(
            f"- {questions[answer.question]} ",
            (answer.level.capitalize(), f"bold {_COLOURS[answer.level]}"),
            f". {answer.sentence}",
        )
    controlled = any(not math.isnan(one.control) for one in release.figures)
    table = Table(title=f"Share of {unit.many}", title_justify="left", header_style="bold")
    table.add_column("measure", overflow="fold")
    for heading in ("baseline", "synthetic", "original", *(["control"] * controlled), "gain"):
        table.add_column(heading, justify="right")
    for one in release.figures:
        shares = [one.baseline, one.synthetic, one.original, *([one.control] * controlled)]
        table.add_row(Text(one.title), *map(percentage, shares), difference(one.gain))
    yield table
    for sentence in (*judged.sentences, *judged.disagreements):
        if sentence != judged.lost:  # which stands at the top
            yield Text(f"- {sentence}")


def _several(findings: Findings, verdict: Verdict) -> Iterator[RenderableType]:
    """Yield a row for each release, in order, between no release and the original itself."""
    compared = side_by_side(findings, in_terminal=True)
    table = Table(header_style="bold", box=box.SIMPLE_HEAD)
    table.add_column("release", overflow="fold", min_width=_NAMES)
    table.add_column("risk")
    for column in compared.columns:
        table.add_column(column.title, justify="right")
    table.add_row(*(Text(cell, style="dim") for cell in ("no release", "", *compared.without)))
    for one, row in zip(verdict.releases, compared.rows, strict=True):
        table.add_row(Text(one.name), Text(one.level, style=_COLOURS[one.level]), *row)
    table.add_row(*(Text(cell, style="dim") for cell in ("the original", "", *compared.original)))
    yield table
    words = "; ".join(f"{column.title}: {column.about}" for column in compared.columns)
    yield Text(f"Shares are in percent. {words}.\n", style="dim")
    yield Text(f"- {verdict.sentences[-2]}")  # how they compare


def next_steps(found: Audit, commands: Commands | None = None) -> Iterator[str]:
    """Yield what to try next, in lines that can be copied.

    Of several releases, it is the first step for each, and only if there are `commands` for it.
    """
    several = len(found.findings.releases) > 1
    if several and commands is None:
        return
    how: Commands = commands or (lambda advice: advice.code)
    _, verdict = chosen_first(found.findings, to_be_followed(found.verdict, how))
    steps = [
        (f"{release.name}: " if several else "", advice)
        for release in verdict.releases
        for advice in (first_steps(release.advice, 1) if several else release.advice)
    ]
    if steps:
        yield "\nWhat to try next:"
    for about, advice in steps:
        yield f"- {about}{advice.sentences}"
        if command := how(advice):
            yield f"    {command}"
