"""How a table is drawn with given trees: strata first, then column after column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.data import Coded
from understudy.data.coded import Codes, code_dtype
from understudy.progress import track
from understudy.synthesis.cart.applying import RuleBook
from understudy.synthesis.cart.features import Feature, matrix_of
from understudy.synthesis.cart.plan import Plan
from understudy.synthesis.cart.sequence import TreeSequence, fit_columns
from understudy.synthesis.cart.strata import Strata

Trees = tuple[TreeSequence, ...]
"""The trees of each stratum."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """All that is known of the columns before a tree is grown.

    Parameters
    ----------
    features : tuple of Feature
        The columns.
    plan : Plan
        Their order, predictors and settings.
    strata : Strata
        The parts of the records that have trees of their own.
    book : RuleBook
        The rules.
    """

    features: tuple[Feature, ...]
    plan: Plan
    strata: Strata
    book: RuleBook

    @property
    def draws_strata(self) -> bool:
        """Whether the stratum of a record is drawn; it is known if its columns are kept."""
        return not set(self.strata.columns) <= set(self.plan.kept)

    def grow(self, coded: Coded, bootstrap: Sequence[int] | None = None) -> Trees:
        """Return the trees of all strata; with the seed `bootstrap`, on samples of the records."""
        places = matrix_of(self.features, coded)
        stratum = self._strata_of(dict(enumerate(coded.columns)), len(coded))
        steps = self.plan.steps
        grown = []
        for number, rows in enumerate(self.strata.split(stratum)):
            own, codes = places, coded.columns
            if len(self.strata) > 1:
                own, codes = places[rows], coded.take(rows).columns
            rng = None if bootstrap is None else np.random.default_rng([*bootstrap, number])
            fitted = fit_columns(self.features, steps, own, codes, self.book.covered, rng)
            columns = list(track(fitted, "Growing trees", len(steps)))
            grown.append(TreeSequence(self.features, steps, columns))
        return tuple(grown)

    def draw(
        self, trees: Trees, kept: Mapping[int, Codes], rows: int, rng: np.random.Generator
    ) -> tuple[Codes, ...]:
        """Return the codes of `rows` synthetic records; `kept` gives those that are not drawn."""
        given = dict(kept)
        if self.draws_strata:
            stratum = self.strata.draw(rows, rng)
            given |= self.strata.codes_of(stratum)
        else:
            stratum = self._strata_of(given, rows)
        columns = [np.empty(rows, code_dtype(feature.cardinality)) for feature in self.features]
        for sequence, own in zip(trees, self.strata.split(stratum), strict=True):
            drawn = {place: codes[own] for place, codes in given.items()}
            sequence.draw(drawn, len(own), self.book.covered, rng)
            for place, codes in drawn.items():
                columns[place][own] = codes
        return tuple(columns)

    def log_probability(self, trees: Trees, coded: Coded) -> NDArray[np.float64]:
        """Return the log probability with which `draw` gives each record, given what is kept."""
        places = matrix_of(self.features, coded)
        stratum = self._strata_of(dict(enumerate(coded.columns)), len(coded))
        shares = self.strata.counts / self.strata.counts.sum()
        total = np.full(len(coded), -np.inf)
        for number, own in enumerate(self.strata.split(stratum)):
            found = trees[number].log_probability(
                places[own], coded.take(own).columns, self.book.covered
            )
            total[own] = found + np.log(shares[number]) if self.draws_strata else found
        return total

    def _strata_of(self, known: Mapping[int, Codes], rows: int) -> NDArray[np.int64]:
        if not self.strata.columns:
            return np.zeros(rows, np.int64)
        return self.strata.find([known[place] for place in self.strata.columns])
