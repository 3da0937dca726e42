"""What benchmarks measured, as rows of the one table that ``make bench`` prints.

A benchmark notes what it measured wherever it prints it. Nothing is kept when it runs by itself:
``bench.py`` names the file that the rows go to.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

VARIABLE = "UNDERSTUDY_BENCHMARK_ROWS"


@dataclass(frozen=True)
class Row:
    """What one job took, in a unit, at most what it may take, and what a peer took for it."""

    job: str
    unit: str
    ours: float
    limit: float | None = None
    peer: str = ""

    @property
    def missed(self) -> bool:
        """Whether it took more than it may."""
        return self.limit is not None and self.ours > self.limit


def note(job: str, unit: str, ours: float, limit: float | None = None, peer: str = "") -> None:
    """Add a row to the file that the environment names, if it names one."""
    if path := os.environ.get(VARIABLE):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(Row(job, unit, float(ours), limit, peer))) + "\n")


def noted(path: Path) -> list[Row]:
    """Return the rows of a file, which need not be there."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Row(**json.loads(line)) for line in lines]
