"""All columns of one set of records, one after the other: fitting, drawing, and the density."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Codes
from understudy.synthesis.cart.columns import ColumnModel, fit_column
from understudy.synthesis.cart.features import Feature, Places
from understudy.synthesis.cart.plan import Step
from understudy.synthesis.cart.rules import Rule

Covered = Callable[[Sequence[Rule], dict[int, Codes]], NDArray[np.int64] | None]
"""Gives, for the rules of a column and the codes of the columns before it, the code that a rule
sets for each record, or -1; None if there are no rules."""


@dataclass(frozen=True, eq=False)
class TreeSequence:
    """The models of the columns, in the order in which they are drawn.

    Parameters
    ----------
    features : sequence of Feature
        All columns.
    steps : sequence of Step
        The columns that are drawn.
    columns : sequence of ColumnModel
        The model of each step.
    """

    features: Sequence[Feature]
    steps: Sequence[Step]
    columns: Sequence[ColumnModel]

    def draw(
        self, drawn: dict[int, Codes], rows: int, covered: Covered, rng: np.random.Generator
    ) -> None:
        """Draw all columns; `drawn` holds the codes of those that are given, and then of all."""
        places = np.zeros((rows, len(self.features)), np.int32, order="F")
        for column, codes in drawn.items():
            places[:, column] = self.features[column].places(codes)
        for step, model in zip(self.steps, self.columns, strict=True):
            codes = model.draw(places, rng)
            given = covered(step.rules, drawn)
            if given is not None:
                codes = np.where(given >= 0, given, codes).astype(codes.dtype)
            drawn[step.column] = codes
            places[:, step.column] = self.features[step.column].places(codes)

    def log_probability(
        self, places: Places, codes: Sequence[Codes], covered: Covered
    ) -> NDArray[np.float64]:
        """Return the log probability of each record's drawn columns, given the others."""
        total = np.zeros(len(places))
        known = dict(enumerate(codes))
        for step, model in zip(self.steps, self.columns, strict=True):
            own = codes[step.column]
            found = model.probability(places, own)
            given = covered(step.rules, known)
            if given is not None:
                found = np.where(given >= 0, given == own, found)
            with np.errstate(divide="ignore"):
                total += np.log(found)
        return total


def fit_columns(
    features: Sequence[Feature],
    steps: Sequence[Step],
    places: Places,
    codes: Sequence[Codes],
    covered: Covered,
    bootstrap: np.random.Generator | None = None,
) -> Iterator[ColumnModel]:
    """Grow the trees of each step on the given records.

    With `bootstrap`, each column's trees are grown on a sample of the records, drawn with
    replacement.
    """
    drawn = {step.column for step in steps}
    known = {place: own for place, own in enumerate(codes) if place not in drawn}
    for step in steps:
        rows: NDArray[np.int64] | None = None
        given = covered(step.rules, known)
        if given is not None and (given < 0).any():
            # Of records that a rule decides, a tree would learn nothing but the rule.
            rows = np.flatnonzero(given < 0)
        if bootstrap is not None:
            pool = np.arange(len(places)) if rows is None else rows
            rows = np.sort(pool[bootstrap.integers(0, len(pool), len(pool))])
        own = codes[step.column]
        known[step.column] = own
        if rows is None:
            yield fit_column(step, features, places, own)
        else:
            yield fit_column(step, features, places[rows], own[rows])


@dataclass(frozen=True)
class TreeSummary:
    """What one tree is like.

    Parameters
    ----------
    column : str
        The column that it explains.
    part : {"kind", "value"}
        Whether it draws the kind of a number, or the value.
    stratum : str
        The part of the records that it was grown on; empty if all.
    leaves, depth : int
        Its size.
    smallest_leaf : int
        Records in its smallest leaf.
    uses : dict
        How many splits look at each column, the most used first.
    """

    column: str
    part: str
    stratum: str
    leaves: int
    depth: int
    smallest_leaf: int
    uses: dict[str, int]


def summarize(sequence: TreeSequence, stratum: str) -> Iterator[TreeSummary]:
    """Yield a summary of each tree, in the order in which the columns are drawn."""
    names = [feature.name for feature in sequence.features]
    for column in sequence.columns:
        for part, model in column.parts.items():
            yield TreeSummary(
                column.feature.name,
                part,
                stratum,
                model.tree.leaves,
                model.tree.depth,
                int(model.leaf_sizes.min()),
                {names[place]: times for place, times in model.uses().items()},
            )
