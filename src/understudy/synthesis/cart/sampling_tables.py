"""The trees of a fitted model as tables of counts: a record's row is the leaf it is led to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Codes
from understudy.synthesis.cart.features import Part
from understudy.synthesis.cart.plan import Step
from understudy.synthesis.cart.recipe import Recipe, Trees
from understudy.synthesis.cart.trees import LeafModel
from understudy.synthesis.sampler import ABSENT, IMPOSSIBLE, Entries, Shrinkage


@dataclass(frozen=True, eq=False)
class StratumTable:
    """The draw of a record's stratum, of which the columns of the strata follow."""

    recipe: Recipe

    @property
    def name(self) -> str:
        """The columns that are drawn together."""
        return ", ".join(self.recipe.features[place].name for place in self.recipe.strata.columns)

    @property
    def columns(self) -> frozenset[str]:
        """The columns of the strata."""
        return frozenset(self.recipe.features[place].name for place in self.recipe.strata.columns)

    @property
    def cardinality(self) -> int:
        """Number of strata."""
        return len(self.recipe.strata)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Strata depend on nothing."""
        return ()

    @property
    def donors(self) -> NDArray[np.integer]:
        """The stratum of each original record, sorted."""
        return np.repeat(np.arange(self.cardinality), self.recipe.strata.counts)

    @property
    def shrinkage(self) -> None:
        """Strata are drawn from as they are."""
        return None

    def entries(self, known: Mapping[str, Codes], rows: int) -> Entries:
        """Return the stratum of each record; a combination that no record has is impossible."""
        found = self.recipe.strata_of(_by_place(self.recipe, known), rows)
        return Entries(np.where(found < 0, IMPOSSIBLE, found), ())


@dataclass(frozen=True, eq=False)
class TreeTable:
    """The draw of one column, or of the kind of its values, from the leaves of a tree.

    The tree is for one stratum of the records. A record's row is its leaf; if leaves are smoothed,
    it is the way there, a turn to the left or to the right at each depth.
    """

    recipe: Recipe
    step: Step
    stratum: int
    part: Part
    leaves: LeafModel

    @property
    def name(self) -> str:
        """The column that is drawn."""
        return self.recipe.features[self.step.column].name

    @property
    def columns(self) -> frozenset[str]:
        """The column, those that its tree looks at, and those of its rules and strata."""
        features = self.recipe.features
        places = {self.step.column, *self.leaves.uses(), *self.recipe.strata.columns}
        found = {features[place].name for place in places}
        for rule in self.step.rules:
            found |= (
                {feature.name for feature in features} if rule.columns is None else rule.columns
            )
        return frozenset(found)

    @property
    def cardinality(self) -> int:
        """Number of values, or of kinds of values."""
        return self.leaves.table.cardinality

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of leaves, or of ways to go on at each depth."""
        if self.shrinkage is None:
            return self.leaves.table.ranges.sizes
        return tuple(int(turns.max()) + 1 for turns in self.leaves.paths)

    @property
    def donors(self) -> NDArray[np.integer]:
        """The values of the original records, by leaf from left to right."""
        return self.leaves.table.donors

    @property
    def shrinkage(self) -> Shrinkage | None:
        """How nodes are drawn towards those above; None if leaves are drawn from as they are."""
        return self.leaves.shrinkage

    def entries(self, known: Mapping[str, Codes], rows: int) -> Entries:
        """Return the leaf, or the way there, and the value of each record."""
        features = self.recipe.features
        own = features[self.step.column]
        values = known[own.name].astype(np.int64)
        if self.part == "kind":
            values = own.kind_of(known[own.name]).astype(np.int64)
        elif own.kinds > 1:
            ordinary = own.kind_of(known[own.name]) == own.special
            values = np.where(ordinary, values, ABSENT)
        by_place = _by_place(self.recipe, known)
        if len(self.recipe.strata) > 1:
            values[self.recipe.strata_of(by_place, rows) != self.stratum] = ABSENT
        ruled = self.recipe.book.covered(self.step.rules, by_place)
        if ruled is not None:
            values[ruled >= 0] = ABSENT
        places = np.zeros((rows, len(features)), np.int32, order="F")
        for place in self.leaves.uses():
            places[:, place] = features[place].places(by_place[place])
        leaves = self.leaves.tree.find(places)
        if self.shrinkage is None:
            return Entries(values, (leaves,))
        return Entries(values, tuple(turns[leaves] for turns in self.leaves.paths))


def tree_tables(recipe: Recipe, trees: Trees) -> Iterator[StratumTable | TreeTable]:
    """Yield all draws of a record: its stratum if that is drawn, then column after column."""
    if recipe.draws_strata and recipe.strata.columns:
        yield StratumTable(recipe)
    for stratum, sequence in enumerate(trees):
        for step, model in zip(sequence.steps, sequence.columns, strict=True):
            for part, leaves in model.parts.items():
                yield TreeTable(recipe, step, stratum, part, leaves)


def _by_place(recipe: Recipe, known: Mapping[str, Codes]) -> dict[int, Codes]:
    return {n: known[f.name] for n, f in enumerate(recipe.features) if f.name in known}
