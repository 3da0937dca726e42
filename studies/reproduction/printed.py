"""What the papers print: one data file, read by the numbers of their tables."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PRINTED = Path(__file__).with_name("printed.toml")
PAPERS = {
    "2020": "Hittmeir, Mayer, Ekelhart (2020). A baseline for attribute disclosure risk in "
    "synthetic data. doi:10.1145/3374664.3375722",
    "2022": "Hittmeir, Mayer, Ekelhart (2022). Efficient Bayesian network construction for "
    "increased privacy on synthetic data. doi:10.1109/BigData55660.2022.10020936",
    "CART": "Latner, Neunhoeffer, Drechsler. Buyer Beware: understanding the trade-off between "
    "utility and risk in CART based models using simulation data.",
}


@dataclass(frozen=True)
class Printed:
    """A cell of a paper: its figure, nan if it has none, and the standard deviation behind it."""

    mean: float
    std: float = math.nan

    @classmethod
    def of(cls, text: str, kind: str) -> Printed:
        """Read a cell; of a confusion matrix, it is the F2 score in percent.

        Examples
        --------
        >>> Printed.of("54.9±7.8", "percent"), Printed.of("9 1 1 4", "confusion").mean
        (Printed(mean=54.9, std=7.8), 80.0)
        """
        if text == "-":
            return cls(math.nan)
        if kind == "confusion" and " " in text:
            return cls(f2_score(*map(float, text.split())))
        mean, _, std = text.partition("±")
        return cls(float(mean), float(std) if std else math.nan)


def f2_score(_tn: float, fp: float, fn: float, tp: float) -> float:
    """Return the F2 score of a confusion matrix, in percent: recall counts four times."""
    return 100 * 5 * tp / (5 * tp + 4 * fn + fp) if tp else 0.0


@dataclass(frozen=True)
class PrintedTable:
    """A table of a paper.

    `runs` says over how many runs its figures are means, if their standard deviations are those of
    runs; `mean_rows` over how many syntheses some rows are. Otherwise a figure is one synthesis's.
    """

    name: str
    paper: str
    number: str
    title: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[Printed, ...]]
    kind: str = "percent"
    digits: int = 1
    runs: int | None = None
    mean_rows: Mapping[str, int] | None = None

    def cells(self) -> dict[tuple[str, str], Printed]:
        """Return all cells with a figure, by row and column."""
        return {
            (row, column): cell
            for row, cells in self.rows.items()
            for column, cell in zip(self.columns, cells, strict=True)
            if not math.isnan(cell.mean)
        }


@cache
def printed_tables() -> dict[str, PrintedTable]:
    """Return the tables of all papers, in their order."""
    found = {}
    for own in tomllib.loads(PRINTED.read_text("utf-8"))["table"]:
        kind = own.get("kind", "percent")
        rows = {
            name: tuple(Printed.of(text, kind) for text in cells)
            for name, cells in own["rows"].items()
        }
        found[own["id"]] = PrintedTable(
            own["id"],
            own["paper"],
            own["number"],
            own["title"],
            tuple(own["columns"]),
            rows,
            kind,
            own.get("digits", 2 if kind == "times" else 1),
            own.get("runs"),
            own.get("mean_rows"),
        )
    return found
