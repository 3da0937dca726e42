"""Whether chance explains that a figure of ours is not the printed one, or what else does."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from studies.reproduction.printed import Printed, PrintedTable

Status = Literal["chance", "explained", "unexplained", "one run", "not run"]
KINDS: tuple[Status, ...] = get_args(Status)
REASONS = Path(__file__).with_name("reasons.toml")
CONFIDENCE = 0.99
"""Of the cells that chance alone moves, one in a hundred is called unexplained."""
FEW_RUNS = 3
"""With fewer runs, the spread of a cell is that of all syntheses in its column."""
Runs = Mapping[str, Mapping[str, Sequence[float]]]


@dataclass(frozen=True)
class Cell:
    """A figure of a paper, ours beside it, and what explains the difference."""

    table: str
    row: str
    column: str
    printed: float
    runs: tuple[float, ...]
    status: Status
    reason: str = ""

    @property
    def mean(self) -> float:
        """Our figure: the mean over the runs."""
        return float(np.mean(self.runs)) if self.runs else math.nan

    @property
    def spread(self) -> float:
        """The standard deviation of our runs; nan for a single one."""
        return float(np.std(self.runs, ddof=1)) if len(self.runs) > 1 else math.nan


def explained_by_chance(
    runs: Sequence[float],
    printed: Printed,
    *,
    digits: int,
    printed_runs: int | None = None,
    spread: tuple[float, int] | None = None,
) -> bool:
    """Tell whether the printed figure could be another draw of what ours are draws of.

    The printed figure is one run, or the mean of `printed_runs`. Its own spread is known if it is
    printed as that of runs; otherwise it is taken to be ours. Rounding counts for half a digit.
    `spread` has a standard deviation and its degrees of freedom, if it is not that of `runs`.

    Examples
    --------
    >>> explained_by_chance([50.0, 51.0, 52.0], Printed(53.0), digits=1)
    True
    >>> explained_by_chance([50.0, 50.0], Printed(50.1), digits=1)
    False
    """
    from scipy.stats import t

    values = np.asarray(runs, float)
    ours, freedom = spread or (_deviation(values), len(values) - 1)
    own = printed.std if printed_runs and not math.isnan(printed.std) else ours
    error = math.sqrt(ours**2 / len(values) + own**2 / (printed_runs or 1))
    quantile = float(t.ppf((1 + CONFIDENCE) / 2, max(freedom, 1)))
    allowed = 0.5 * 10**-digits + 1e-9 + (quantile * error if error else 0.0)
    return bool(abs(float(values.mean()) - printed.mean) <= allowed)


def _deviation(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def pooled_spread(found: Runs, column: str) -> tuple[float, int] | None:
    """Return the standard deviation of all syntheses in a column, and its degrees of freedom.

    Each row varies about its own mean; the original is no synthesis. None if no row has two runs.

    Examples
    --------
    >>> found = {"DS": {"NB": [1, 3]}, "DS GA": {"NB": [7, 9]}, "Original": {"NB": [0, 9]}}
    >>> pooled_spread(found, "NB")
    (1.4142135623730951, 2)
    """
    rows = [
        np.asarray(cells[column], float)
        for row, cells in found.items()
        if row != "Original" and len(cells.get(column, ())) > 1
    ]
    freedom = sum(len(own) - 1 for own in rows)
    if not freedom:
        return None
    squares = math.fsum(float(np.sum((own - own.mean()) ** 2)) for own in rows)
    return math.sqrt(squares / freedom), freedom


OTHER_DATA = (
    "A simulated stand-in has other frauds than the real file: only the order of the rows can be "
    "compared."
)


def judge(table: PrintedTable, found: Runs, *, stand_in: bool = False) -> list[Cell]:
    """Return all cells of a table with what became of them; `found` has our runs of each.

    What a `stand_in` gives is never a hit, even if it happens to be near the printed figure.
    A single run has no spread. It is the printed figure when rounded, or something explains why it
    is not; otherwise it is neither a hit nor a miss, and is counted on its own.
    """
    cells = []
    for (row, column), printed in table.cells().items():
        runs = tuple(float(one) for one in found.get(row, {}).get(column, ()))
        status: Status = "not run"
        why = ""
        if runs:
            few = 1 < len(runs) < FEW_RUNS and row != "Original"
            within = table.kind != "times" and explained_by_chance(
                runs,
                printed,
                digits=table.digits,
                printed_runs=table.runs or (table.mean_rows or {}).get(row),
                spread=pooled_spread(found, column) if few else None,
            )
            status, why = ("chance", "") if within else reason_for(table.name, row, column)
            if stand_in and table.kind != "times":
                status, why = "explained", OTHER_DATA
            if status == "unexplained" and len(runs) == 1:
                status, why = "one run", ""
        cells.append(Cell(table.name, row, column, printed.mean, runs, status, why))
    return cells


@cache
def _reasons() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(REASONS.read_text("utf-8"))["reason"]
    return found


def reason_for(table: str, row: str, column: str) -> tuple[Status, str]:
    """Return whether something explains a difference that is no chance, and what is known of it."""
    for own in _reasons():
        places = (("tables", table), ("rows", row), ("columns", column))
        if all(value in own.get(name, (value,)) for name, value in places):
            return "explained" if own["explains"] else "unexplained", str(own["text"])
    return "unexplained", ""


def counts(cells: Iterable[Cell]) -> dict[Status, int]:
    """Return how many cells there are of each kind."""
    listed = [cell.status for cell in cells]
    return {kind: listed.count(kind) for kind in KINDS}


def summary(cells: Sequence[Cell]) -> str:
    """Return the summary: so many of so many cells within chance, explained, and unexplained."""
    found = counts(cells)
    run = len(cells) - found["not run"]
    single = (
        f"; {found['one run']:,} rest on one run and cannot be judged" if found["one run"] else ""
    )
    left = f"; {found['not run']:,} are not run yet" if found["not run"] else ""
    return (
        f"**{found['chance']:,} of {run:,} cells are within chance, {found['explained']:,} are "
        f"explained, and {found['unexplained']:,} are unexplained{single}{left}.**"
    )
