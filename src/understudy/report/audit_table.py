"""The verdict of an audit and its figures, in the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from understudy.audit.findings import Findings, ReleaseFindings
from understudy.audit.result import Audit, Commands
from understudy.audit.verdict import ReleaseVerdict, Verdict
from understudy.report.attack_table import difference, percentage
from understudy.report.side_by_side import side_by_side

_COLOURS = {"low": "green", "raised": "yellow", "high": "red", "unknown": "yellow"}


def audit_table(found: Audit) -> Group:
    """Return the verdict and a table of the figures.

    One release has a row for each measure; several have a row each.
    """
    findings, verdict = found.findings, found.verdict
    shown: list[RenderableType] = [
        Text(verdict.headline, style=f"bold {_COLOURS[verdict.level]}"),
        Text(verdict.sentences[0]),
    ]
    if len(findings.releases) == 1:
        shown += _one(findings.releases[0], verdict.releases[0])
    else:
        shown += _several(findings, verdict)
    return Group(*shown)


def _one(release: ReleaseFindings, judged: ReleaseVerdict) -> Iterator[RenderableType]:
    controlled = any(not math.isnan(one.control) for one in release.figures)
    table = Table(title="Share of people", title_justify="left", header_style="bold")
    table.add_column("measure", overflow="fold")
    for heading in ("baseline", "synthetic", "original", *(["control"] * controlled), "gain"):
        table.add_column(heading, justify="right")
    for one in release.figures:
        shares = [one.baseline, one.synthetic, one.original, *([one.control] * controlled)]
        table.add_row(Text(one.title), *map(percentage, shares), difference(one.gain))
    yield table
    for sentence in (*judged.sentences, *judged.disagreements):
        yield Text(f"- {sentence}")


def _several(findings: Findings, verdict: Verdict) -> Iterator[RenderableType]:
    """Yield a row for each release, between the guess without one and the original itself."""
    compared = side_by_side(findings, in_terminal=True)
    table = Table(header_style="bold", box=box.SIMPLE_HEAD)
    table.add_column("release", overflow="fold")
    table.add_column("risk")
    for column in compared.columns:
        table.add_column(column.title, justify="right")
    table.add_row(*(Text(cell, style="dim") for cell in ("no release", "", *compared.without)))
    for release, judged, cells in zip(
        findings.releases, verdict.releases, compared.rows, strict=True
    ):
        level = Text(judged.level, style=_COLOURS[judged.level])
        table.add_row(Text(release.name), level, *cells)
    table.add_row(*(Text(cell, style="dim") for cell in ("the original", "", *compared.original)))
    yield table
    words = "; ".join(f"{column.title}: {column.about}" for column in compared.columns)
    yield Text(f"Shares are in percent. {words}.\n", style="dim")
    for sentence in verdict.sentences[2:-1]:
        yield Text(f"- {sentence}")


def next_steps(found: Audit, commands: Commands | None = None) -> Iterator[str]:
    """Yield what to try next with a single release, in lines that can be copied."""
    if len(found.findings.releases) != 1 or not found.verdict.releases[0].advice:
        return
    yield "\nWhat to try next:"
    for advice in found.verdict.releases[0].advice:
        yield f"- {advice.sentences}"
        command = advice.code if commands is None else commands(advice)
        if command:
            yield f"    {command}"
