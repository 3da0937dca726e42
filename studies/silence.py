"""How long commands are silent: the longest time in which no progress bar moves.

Each command runs inside this process over simulated card payments. A reporter takes the place of
the bars in the terminal, and notes when each of them begins, counts and ends.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

from understudy.cli import session
from understudy.data import simulate
from understudy.data.files import write
from understudy.progress import Description, reporting
from understudy.wording import markdown_table

Item = TypeVar("Item")

LONGEST = 2.0
"""Seconds without a sign after which a person wonders whether anything happens."""

_ASKED = ("--keys", "V1,V2,Amount", "--sensitive", "Class")


@dataclass
class Noted:
    """Notes when progress was reported, and of what."""

    moments: list[tuple[float, str]] = field(default_factory=list)

    def note(self, what: str) -> None:
        """Note a sign of life."""
        self.moments.append((time.monotonic(), what))

    def track(
        self, items: Iterable[Item], description: Description, total: float | None
    ) -> Iterator[Item]:
        """Yield items, each noted as it is taken and when it is done."""
        del total

        def told() -> str:
            return description if isinstance(description, str) else description()

        self.note(told())
        for item in items:
            self.note(told())
            yield item
            self.note(told())

    def longest(self) -> tuple[float, str, str]:
        """Return the longest silence, and what was said before and after it."""
        pairs = zip(self.moments, self.moments[1:], strict=False)
        gap, before, after = max(
            ((later - sooner, first, second) for (sooner, first), (later, second) in pairs),
            default=(0.0, "", ""),
        )
        return gap, before, after


@dataclass(frozen=True)
class Silence:
    """How long one command took, and how long it was silent at the longest."""

    command: str
    seconds: float
    gap: float
    before: str
    after: str


def commands() -> dict[str, tuple[str, ...]]:
    """Return the commands, by name."""
    synth = ("synth", "data.csv", "-o", "out.csv", "--force", "--seed", "1", "--method")
    return {
        "synth cart": (*synth, "cart"),
        "synth bayes": (*synth, "bayes", "--structure", "greedy", "--save-model", "model.us"),
        "synth genetic": (*synth, "bayes", "--structure", "genetic"),
        "synth copula": (*synth, "copula"),
        "audit quick": (
            *("audit", "data.csv", "out.csv", *_ASKED, "--measures", "quick"),
            *("-o", "report.html", "--force"),
        ),
        "audit standard": (
            *("audit", "data.csv", "out.csv", *_ASKED, "--target", "Class"),
            *("-o", "report.html", "--force"),
        ),
        "run cart": (
            *("run", "data.csv", "-o", "release", *_ASKED, "--method", "cart"),
            *("--measures", "quick", "--seed", "1", "--force"),
        ),
    }


def run(rows: int, folder: Path, only: Iterable[str] = ()) -> list[Silence]:
    """Run the commands over a table of so many rows, in an empty folder."""
    write(simulate("credit_card", rows, random_state=1), folder / "data.csv")
    wanted = set(only)
    found = []
    with contextlib.chdir(folder):
        for name, command in commands().items():
            if not wanted or name in wanted:
                found.append(_silence(name, command))
    return found


def _silence(name: str, command: tuple[str, ...]) -> Silence:
    from understudy.cli.commands import app

    noted = Noted()

    @contextlib.contextmanager
    def shown(_ctx: object) -> Iterator[None]:
        with reporting(noted):
            yield

    start = time.monotonic()
    noted.note("start")
    with patch.object(session, "progress", shown), patch.object(sys, "argv", ["understudy"]):
        app(["-q", *command], standalone_mode=False)
    noted.note("end")
    return Silence(name, time.monotonic() - start, *noted.longest())


def to_markdown(found: list[Silence]) -> str:
    """Return a line for each command."""
    return markdown_table(
        ["command", "seconds", "longest silence, s", "after", "before"],
        [
            (one.command, f"{one.seconds:.1f}", f"{one.gap:.1f}", one.before, one.after)
            for one in found
        ],
    )
