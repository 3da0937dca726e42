"""The utility tables of the paper on networks: its figures, and ours beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

Row = tuple[str, int]
"""A row of a table: where the training data comes from, and k (0 for the original)."""

CLASSIFIERS = ("NB", "SV", "KN", "RF", "LR")
ORIGINAL: Row = ("original", 0)
# Mean and standard deviation for each classifier over ten random splits.
TABLE_V = """
    original 0  44.9 2.7  54.6 2.4  48.2 2.8  50.6 2.6  50.7 1.7
    greedy   1  45.9 3.2  46.3 4.5  39.8 2.8  40.8 2.8  42.2 1.4
    genetic  1  42.7 3.4  46.5 2.8  41.8 3.0  43.3 2.7  41.8 4.9
    greedy   2  48.5 2.7  51.7 3.6  42.7 1.7  47.5 2.4  49.6 3.4
    genetic  2  47.5 2.6  53.9 2.7  45.6 2.4  49.0 2.9  50.3 2.5
    greedy   3  47.2 2.0  54.2 2.3  47.7 2.5  51.8 3.5  52.5 2.7
    genetic  3  47.1 2.5  54.0 3.3  46.3 3.2  49.3 1.3  51.8 1.6
    greedy   4  45.5 1.9  53.8 2.2  45.6 2.8  50.4 2.5  51.4 1.8
    genetic  4  45.6 3.0  55.1 2.6  46.6 1.7  51.0 1.5  51.2 2.2
"""
# One run each, so there is no standard deviation.
TABLE_VI = """
    original 0  79.7 nan  83.2 nan  81.5 nan  82.2 nan  82.3 nan
    greedy   1  80.2 nan  80.8 nan  77.9 nan  79.0 nan  80.5 nan
    genetic  1  80.2 nan  80.8 nan  78.6 nan  79.3 nan  80.7 nan
    greedy   2  80.8 nan  82.4 nan  80.3 nan  80.2 nan  81.8 nan
    genetic  2  80.1 nan  80.9 nan  77.4 nan  79.5 nan  80.6 nan
    greedy   3  80.4 nan  81.0 nan  77.9 nan  78.0 nan  80.1 nan
    genetic  3  80.2 nan  83.1 nan  80.5 nan  81.0 nan  82.0 nan
    greedy   4  80.0 nan  81.3 nan  78.1 nan  79.8 nan  80.4 nan
    genetic  4  79.8 nan  83.2 nan  81.3 nan  81.1 nan  81.8 nan
"""


@dataclass(frozen=True)
class Published:
    """A cell of the paper: a mean in percent, and its standard deviation if there is one."""

    mean: float
    std: float


def published(text: str) -> dict[tuple[Row, str], Published]:
    """Return the cells of a table of the paper by row and classifier."""
    cells = {}
    for line in filter(None, map(str.strip, text.split("\n"))):
        source, parents, *figures = line.split()
        pairs = np.array(figures, float).reshape(-1, 2).tolist()
        for classifier, (mean, std) in zip(CLASSIFIERS, pairs, strict=True):
            cells[(source, int(parents)), classifier] = Published(mean, std)
    return cells


@dataclass(frozen=True)
class UtilityTable:
    """Accuracies of classifiers on real test data, by what they were trained on.

    Attributes
    ----------
    scores : mapping from (row, classifier) to tuple of float
        Accuracies in percent, one for each run.
    paper : mapping from (row, classifier) to Published
        The paper's figures.
    paper_runs : int
        Over how many runs the paper's figures are means.
    """

    scores: Mapping[tuple[Row, str], tuple[float, ...]]
    paper: Mapping[tuple[Row, str], Published]
    paper_runs: int

    def to_frame(self) -> pl.DataFrame:
        """Return one line for each row of the table and classifier, beside the paper's figure.

        Standard deviations are those of the population (ddof 0). `z` is the difference of the two
        means divided by its standard error; a single run of the paper is taken to vary as ours do.
        It is null where nothing varies, or was run once.
        """
        lines = [self._line(row, classifier) for row, classifier in self.scores]
        return pl.DataFrame(lines, infer_schema_length=None)

    def _line(self, row: Row, classifier: str) -> dict[str, Any]:
        runs = self.scores[row, classifier]
        mean, std = float(np.mean(runs)), float(np.std(runs))
        paper = self.paper[row, classifier]
        paper_std = std if np.isnan(paper.std) else paper.std
        error = float(np.sqrt(std**2 / len(runs) + paper_std**2 / self.paper_runs))
        return {
            "training": row[0],
            "parents": row[1],
            "classifier": classifier,
            "runs": len(runs),
            "mean": mean,
            "std": std,
            "paper": paper.mean,
            "difference": mean - paper.mean,
            "z": (mean - paper.mean) / error if len(runs) > 1 and std > 0 else None,
        }

    def averages(self) -> pl.DataFrame:
        """Return the mean over the classifiers for each row, the last column of the paper."""
        return (
            self.to_frame()
            .group_by("training", "parents", maintain_order=True)
            .agg(pl.col("mean", "paper", "difference").mean())
        )

    def to_markdown(self) -> str:
        """Return the table as in the paper, with the paper's figure behind each of ours."""
        lines = [["", *CLASSIFIERS, "Avg"], ["---"] * (len(CLASSIFIERS) + 2)]
        frame = self.to_frame()
        for source, parents, mean, paper, _ in self.averages().iter_rows():
            cells = frame.filter(training=source, parents=parents).iter_rows(named=True)
            name = f"{source}, k = {parents}" if parents else source
            lines.append([name, *map(_cell, cells), f"{mean:.1f} ({paper:.1f})"])
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(line: Mapping[str, Any]) -> str:
    spread = f" ± {line['std']:.1f}" if line["runs"] > 1 else ""
    return f"{line['mean']:.1f}{spread} ({line['paper']:.1f})"
