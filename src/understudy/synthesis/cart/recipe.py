"""How trees are grown and a table is drawn with them: strata first, then column after column."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.counting import group_ids
from understudy.data import Coded
from understudy.data.coded import Codes, code_dtype
from understudy.progress import track
from understudy.synthesis.cart.binned import BinnedColumns
from understudy.synthesis.cart.features import Feature, Places, matrix_of
from understudy.synthesis.cart.plan import Plan, Step
from understudy.synthesis.cart.rules import RuleBook
from understudy.synthesis.cart.trees import ColumnModel, fit_column


@dataclass(frozen=True, eq=False)
class Strata:
    """The combinations of some columns that occur, and how many records have each.

    Parameters
    ----------
    columns : tuple of int
        The places of the columns; none for one stratum with all records.
    codes : ndarray, shape (strata, columns)
        The codes of each stratum.
    counts : ndarray of int64
        Records in each stratum.

    Examples
    --------
    >>> coded = Coded.from_arrays({"sex": [0, 1, 1], "age": [2, 0, 2]})
    >>> strata = Strata.of(coded, ["sex"])
    >>> strata.counts, strata.find([coded["sex"]])
    (array([1, 2]), array([0, 1, 1]))
    """

    columns: tuple[int, ...]
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, coded: Coded, names: Sequence[str]) -> Strata:
        """Return the strata of a table by the named columns."""
        if not names:
            return cls((), np.zeros((1, 0), np.int64), np.array([len(coded)]))
        groups = group_ids(coded, names)
        places = tuple(coded.position(name) for name in names)
        columns = [coded.columns[place][groups.representatives] for place in places]
        codes = np.stack(columns, axis=1).astype(np.int64)
        return cls(places, codes, np.bincount(groups.ids, minlength=groups.count))

    def __len__(self) -> int:
        return len(self.counts)

    def find(self, columns: Sequence[Codes]) -> NDArray[np.int64]:
        """Return the stratum of each record, -1 for a combination of codes that did not occur."""
        own = np.stack(columns, axis=1).astype(np.int64)
        both, number = np.unique(np.concatenate([self.codes, own]), axis=0, return_inverse=True)
        stratum_of = np.full(len(both), -1, np.int64)
        stratum_of[number[: len(self)]] = np.arange(len(self))
        return stratum_of[number[len(self) :]]

    def split(self, strata: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return the rows of each stratum, given the stratum of each row; -1 belongs to none."""
        if len(self) == 1:
            return [np.flatnonzero(strata == 0)]
        order = np.argsort(strata, kind="stable")
        edges = np.searchsorted(strata[order], np.arange(len(self) + 1))
        return np.split(order, edges)[1:-1]

    def draw(self, rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw the stratum of each record, as often as it occurs."""
        if len(self) == 1:
            return np.zeros(rows, np.int64)
        positions = rng.integers(0, int(self.counts.sum()), size=rows)
        return np.searchsorted(np.cumsum(self.counts), positions, side="right")

    def codes_of(self, strata: NDArray[np.int64]) -> dict[int, Codes]:
        """Return the codes of the strata's columns for each record, by the columns' places."""
        return {
            place: self.codes[strata, column].astype(np.uint32)
            for column, place in enumerate(self.columns)
        }


Follow: TypeAlias = Callable[[int, Codes], Mapping[int, Codes]]
"""Returns the codes of columns that follow from those of one that was drawn, by their places."""

FollowRows: TypeAlias = Callable[[NDArray[np.int64], int, Codes], Mapping[int, Codes]]
"""The same, of some rows."""


@dataclass(frozen=True, eq=False)
class TreeSequence:
    """The models of the columns, one for each step, in the order in which they are drawn."""

    features: Sequence[Feature]
    steps: Sequence[Step]
    columns: Sequence[ColumnModel]

    def draw(
        self,
        drawn: dict[int, Codes],
        rows: int,
        book: RuleBook,
        rng: np.random.Generator,
        follow: Follow | None = None,
    ) -> None:
        """Draw all columns; `drawn` holds the codes of those that are given, and then of all."""
        places = np.zeros((rows, len(self.features)), np.int32, order="F")
        for column, codes in drawn.items():
            places[:, column] = self.features[column].places(codes)
        for step, model in zip(self.steps, self.columns, strict=True):
            codes = model.draw(places, rng)
            given = book.covered(step.rules, drawn)
            if given is not None:
                codes = np.where(given >= 0, given, codes).astype(codes.dtype)
            drawn[step.column] = codes
            further = {} if follow is None else follow(step.column, codes)
            drawn.update(further)
            for column, own in ((step.column, codes), *further.items()):
                places[:, column] = self.features[column].places(own)

    def log_probability(
        self, places: Places, codes: Sequence[Codes], book: RuleBook
    ) -> NDArray[np.float64]:
        """Return the log probability of each record's drawn columns, given the others."""
        total = np.zeros(len(places))
        known = dict(enumerate(codes))
        for step, model in zip(self.steps, self.columns, strict=True):
            own = codes[step.column]
            found = model.probability(places, own)
            given = book.covered(step.rules, known)
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
    book: RuleBook,
    bootstrap: np.random.Generator | None = None,
    grown: Sequence[ColumnModel | None] | None = None,
) -> Iterator[ColumnModel]:
    """Grow the trees of each step on the given records, but for those that are `grown` already.

    With `bootstrap`, each column's trees are grown on a sample of the records, drawn with
    replacement.
    """
    drawn = {step.column for step in steps}
    known = {place: own for place, own in enumerate(codes) if place not in drawn}
    columns = BinnedColumns(features, places)
    for step, ready in zip(steps, grown or [None] * len(steps), strict=True):
        if ready is not None:
            known[step.column] = codes[step.column]
            yield ready
            continue
        rows: NDArray[np.int64] | None = None
        given = book.covered(step.rules, known)
        if given is not None and (given < 0).any():
            # Of records that a rule decides, a tree would learn nothing but the rule.
            rows = np.flatnonzero(given < 0)
        if bootstrap is not None:
            pool = np.arange(len(places)) if rows is None else rows
            rows = np.sort(pool[bootstrap.integers(0, len(pool), len(pool))])
        own = codes[step.column]
        known[step.column] = own
        binned = columns if step.splits == "histogram" else None
        if rows is None:
            yield fit_column(step, features, places, own, binned)
        else:
            binned = None if binned is None else binned.take(rows)
            yield fit_column(step, features, places[rows], own[rows], binned)


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
    strengths : tuple of float
        If leaves are smoothed: how many records the node above is worth, by depth from the root.
    own_share : float
        The share of values that come from the leaf itself, and not from a node above; the mean
        over the original's records.
    """

    column: str
    part: str
    stratum: str
    leaves: int
    depth: int
    smallest_leaf: int
    uses: dict[str, int]
    strengths: tuple[float, ...] = ()
    own_share: float = 1.0


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
                () if model.shrinkage is None else tuple(model.shrinkage.strengths.tolist()),
                model.own_share,
            )


Trees = tuple[TreeSequence, ...]
"""The trees of each stratum."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """All that is known of the columns before a tree is grown: order, strata and rules."""

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
        stratum = self.strata_of(dict(enumerate(coded.columns)), len(coded))
        steps = self.plan.steps
        grown = []
        for number, rows in enumerate(self.strata.split(stratum)):
            own, codes = places, coded.columns
            if len(self.strata) > 1:
                own, codes = places[rows], coded.take(rows).columns
            rng = None if bootstrap is None else np.random.default_rng([*bootstrap, number])
            fitted = fit_columns(self.features, steps, own, codes, self.book, rng)
            columns = list(track(fitted, "Growing trees", len(steps)))
            grown.append(TreeSequence(self.features, steps, columns))
        return tuple(grown)

    def regrow(self, trees: Trees, coded: Coded, changed: Collection[str]) -> Trees:
        """Return the trees of records that differ in these columns alone from those of `trees`.

        The columns of the strata are none of them. Trees that never saw a changed column stay.
        """
        names = coded.names
        places = matrix_of(self.features, coded)
        stratum = self.strata_of(dict(enumerate(coded.columns)), len(coded))
        regrown = []
        for sequence, rows in zip(trees, self.strata.split(stratum), strict=True):
            kept = [
                None if step.sees(changed, names) else model
                for step, model in zip(sequence.steps, sequence.columns, strict=True)
            ]
            own, codes = places, coded.columns
            if len(self.strata) > 1:
                own, codes = places[rows], coded.take(rows).columns
            fitted = fit_columns(self.features, sequence.steps, own, codes, self.book, grown=kept)
            regrown.append(TreeSequence(self.features, sequence.steps, list(fitted)))
        return tuple(regrown)

    def draw(
        self,
        trees: Trees,
        kept: Mapping[int, Codes],
        rows: int,
        rng: np.random.Generator,
        follow: FollowRows | None = None,
    ) -> tuple[Codes, ...]:
        """Return the codes of `rows` synthetic records; `kept` gives those that are not drawn.

        `follow` returns the columns that follow from one that was drawn, in some of the rows.
        """
        given = dict(kept)
        if self.draws_strata:
            stratum = self.strata.draw(rows, rng)
            given |= self.strata.codes_of(stratum)
        else:
            stratum = self.strata_of(given, rows)
        columns = [np.empty(rows, code_dtype(feature.cardinality)) for feature in self.features]
        for sequence, own in zip(trees, self.strata.split(stratum), strict=True):
            drawn = {place: codes[own] for place, codes in given.items()}
            following = None if follow is None else partial(follow, own)
            sequence.draw(drawn, len(own), self.book, rng, following)
            for place, codes in drawn.items():
                columns[place][own] = codes
        return tuple(columns)

    def log_probability(self, trees: Trees, coded: Coded) -> NDArray[np.float64]:
        """Return the log probability with which `draw` gives each record, given what is kept."""
        places = matrix_of(self.features, coded)
        stratum = self.strata_of(dict(enumerate(coded.columns)), len(coded))
        shares = self.strata.counts / self.strata.counts.sum()
        total = np.full(len(coded), -np.inf)
        for number, own in enumerate(self.strata.split(stratum)):
            found = trees[number].log_probability(places[own], coded.take(own).columns, self.book)
            total[own] = found + np.log(shares[number]) if self.draws_strata else found
        return total

    def strata_of(self, known: Mapping[int, Codes], rows: int) -> NDArray[np.int64]:
        """Return the stratum of each record, given the codes of columns by their places."""
        if not self.strata.columns:
            return np.zeros(rows, np.int64)
        return self.strata.find([known[place] for place in self.strata.columns])
