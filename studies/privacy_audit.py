"""The privacy audit, audited: a thousand worlds, planted mistakes, and a tool known to be wrong."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from studies.datasynthesizer_tool import releases_of_the_tool
from studies.planted_bugs import BUGS, ROWS_WITH_LINKS
from understudy import BayesNet, Independent
from understudy.progress import track
from understudy.risk.privacy_audit import Effort, PrivacyAudit, audit_privacy
from understudy.risk.privacy_audit.result import exceeds
from understudy.synthesis.private import PrivateSynthesizer

_CHAIN = {"a": (), "b": ("a",), "c": ("b",)}


@dataclass(frozen=True)
class Line:
    """A line of the table."""

    what: str
    worlds: int
    releases: int
    largest: float
    drawn: float
    proving: float
    verdict: str
    seconds: float

    @classmethod
    def of(cls, what: str, found: PrivacyAudit, seconds: float) -> Line:
        """Return the line of an audit."""
        return cls(
            what,
            len(found.tried),
            found.releases,
            found.found,
            max(one.drawn for one in found.tried),
            found.proving,
            found.verdict,
            seconds,
        )


def _correct(worlds: int) -> Iterator[tuple[str, PrivateSynthesizer, int, int]]:
    third = worlds // 5
    yield "`Independent`", Independent(epsilon=1.0), 2 * third, 20
    yield "`BayesNet`, a chain", BayesNet(epsilon=1.0, structure=_CHAIN), 2 * third, 20
    own = BayesNet(epsilon=1.0, parents=1)
    yield "`BayesNet`, searched", own, worlds - 4 * third, ROWS_WITH_LINKS


def privacy_audit_lines(worlds: int, bug_worlds: int, seed: int = 0) -> list[Line]:
    """Audit correct mechanisms, planted mistakes, and the preset of DataSynthesizer.

    Parameters
    ----------
    worlds : int
        Pairs of neighbouring tables for all correct mechanisms together.
    bug_worlds : int
        Pairs for each planted mistake.
    seed : int
        Decides the tables.
    """
    lines = []
    for what, synthesizer, number, rows in track(list(_correct(worlds)), "Auditing"):
        start = time.process_time()
        effort = Effort(worlds=number, releases=2)
        found = audit_privacy(synthesizer, rows=rows, effort=effort, random_state=seed)
        lines.append(Line.of(what, found, time.process_time() - start))
    for bug in track(list(BUGS.values()), "Planting mistakes"):
        start = time.process_time()
        effort = Effort(worlds=bug_worlds, releases=4)
        with bug.planted():
            found = audit_privacy(
                bug.synthesizer(), rows=bug.rows, effort=effort, random_state=seed
            )
        lines.append(Line.of(f"{bug.name}: {bug.about}", found, time.process_time() - start))
    start = time.process_time()
    preset = BayesNet(epsilon=1.0, parents=2, preset="datasynthesizer")
    effort = Effort(worlds=bug_worlds, releases=10)
    found = audit_privacy(preset, rows=6, released=200, effort=effort, random_state=seed)
    lines.append(Line.of('`preset="datasynthesizer"`', found, time.process_time() - start))
    return lines


def tool_lines(python: str, releases: int) -> list[Line]:
    """Audit releases of DataSynthesizer itself, in an environment of its own."""
    start = time.process_time()
    found = releases_of_the_tool(python, releases)
    seconds = time.process_time() - start
    names = ("rows and structure", "rows and the whole description")
    return [
        Line(
            f"DataSynthesizer 0.1.13, {name}",
            1,
            releases,
            largest := float(np.abs(own).max()),
            largest,
            float(np.mean([exceeds(one, 1.0) for one in np.abs(own)])),
            "disproved" if exceeds(largest, 1.0) else "consistent",
            seconds,
        )
        for name, own in zip(names, found.T, strict=True)
    ]


def to_markdown(lines: Sequence[Line]) -> str:
    """Return the table."""
    names = (
        "what is audited, at epsilon 1",
        "worlds",
        "releases",
        "largest",
        "largest drawn",
        "releases that prove it",
        "verdict",
        "CPU s",
    )
    head = f"| {' | '.join(names)} |"
    rows = [
        f"| {one.what} | {one.worlds:,} | {one.releases:,} | {_said(one.largest)} | "
        f"{_said(one.drawn)} | {one.proving:.1%} | {one.verdict} | {one.seconds:.0f} |"
        for one in lines
    ]
    return "\n".join([head, "|" + " --- |" * 8, *rows])


def _said(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{value:.3f}"
