"""What a run found: for each table, row and column, a figure of every synthesis."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from understudy._version import __version__
from understudy.data.files import write_bytes

STAND_IN = "**Stand-in.**"
"""How the note begins that a table was made from other data than the paper's."""
Runs = dict[str, dict[str, dict[str, list[float]]]]


@dataclass
class Found:
    """Figures by table, row and column, one for each synthesis, and remarks on how they came."""

    runs: Runs = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, table: str, row: str, column: str, *figures: float) -> None:
        """Add the figure of a synthesis."""
        cells = self.runs.setdefault(table, {}).setdefault(row, {}).setdefault(column, [])
        cells += [round(float(one), 6) for one in figures]

    def take(self, other: Found) -> None:
        """Add all that another run found."""
        for table, rows in other.runs.items():
            for row, columns in rows.items():
                for column, figures in columns.items():
                    self.add(table, row, column, *figures)
        self.notes += [note for note in other.notes if note not in self.notes]

    def add_mean(self, table: str, name: str, columns: Sequence[str]) -> None:
        """Add the mean over columns to each row of a table, synthesis by synthesis."""
        for row, cells in self.runs.get(table, {}).items():
            if all(column in cells for column in columns):
                fewest = min(len(cells[column]) for column in columns)
                for run in range(fewest):
                    self.add(
                        table, row, name, math.fsum(cells[c][run] for c in columns) / len(columns)
                    )


def machine() -> str:
    """Return the machine that the figures were made on, in a few words."""
    import os

    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        models = [
            line.split(":", 1)[1].strip()
            for line in info.read_text("utf-8").splitlines()
            if line.startswith("model name")
        ]
        name = models[0] if models else name
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}"


def save(found: Found, path: Path, *, syntheses: int, seconds: float, cpu: float) -> None:
    """Write what a run found, and how long it took by the clock and in CPU seconds."""
    content = {
        "understudy": __version__,
        "machine": machine(),
        "syntheses": syntheses,
        "seconds": round(seconds, 1),
        "cpu": round(cpu, 1),
        "notes": found.notes,
        "runs": found.runs,
    }
    write_bytes(json.dumps(content, indent=1).encode(), path, overwrite=True)


def load_found(path: Path) -> Mapping[str, Any] | None:
    """Return what an earlier run wrote; None if there is nothing, or nothing that can be read."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and "runs" in content else None
