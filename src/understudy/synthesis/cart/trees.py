"""The trees of a column, and the records of their leaves that a synthetic value is drawn from.

A column of numbers has two: first which kind of value, and then the number itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Coded, Codes, code_dtype
from understudy.synthesis.cart.binned import BinnedColumns, BinnedNodes, bin_ordered, grow_binned
from understudy.synthesis.cart.features import (
    Feature,
    Part,
    Places,
    frequent_classes,
    order_by_mean,
    order_by_shares,
)
from understudy.synthesis.cart.plan import Step, fewest_to_split
from understudy.synthesis.cart.smoothing import LeafSmoothing, leaf_strengths
from understudy.synthesis.sampler import ENDED, Shrinkage
from understudy.synthesis.shrinkage import NestedRows, ShrunkRows
from understudy.synthesis.tables import ConditionalTable

MOST_DEPTH = 30
"""Levels of a tree at most, as in R's rpart."""

SMALLER = 0.5
"""A node is drawn towards the next one above that it has at most this share of the records of.

Nodes of nearly the same records would count these twice, and thrice: a value that they do not have
would become next to impossible, as if many more records spoke against it.
"""


@dataclass(frozen=True, eq=False)
class Tree:
    """Binary splits, each of one column by a threshold.

    Parameters
    ----------
    feature : ndarray of int32
        The place of the column that a node looks at; -1 for a leaf.
    threshold : ndarray of int32
        A record goes left if its place is not above.
    children : ndarray of int32, shape (nodes, 2)
        Left and right child; both come after the node.
    orders : dict
        The place of each category in this tree's order, by place of the column.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.int32]
    children: NDArray[np.int32]
    orders: dict[int, NDArray[np.int32]]

    @classmethod
    def stump(cls) -> Tree:
        """Return the tree with one leaf and no split."""
        return cls(np.full(1, -1, np.int32), np.zeros(1, np.int32), np.zeros((1, 2), np.int32), {})

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return int(np.count_nonzero(self.feature < 0))

    @property
    def depth(self) -> int:
        """The number of splits on the longest way to a leaf."""
        depth = np.zeros(len(self.feature), np.int64)
        for node in np.flatnonzero(self.feature >= 0).tolist():
            depth[self.children[node]] = depth[node] + 1
        return int(depth.max())

    @cached_property
    def _numbered(self) -> NDArray[np.int32]:
        """Thresholds, with the leaf's number in the place of a leaf's."""
        is_leaf = self.feature < 0
        return np.where(is_leaf, np.cumsum(is_leaf) - 1, self.threshold).astype(np.int32)

    def find(self, places: Places) -> NDArray[np.uint32]:
        """Return the number of the leaf of each record."""
        if len(self.feature) == 1:
            return np.zeros(len(places), np.uint32)
        from understudy.synthesis.kernels import find_leaves

        order_of = np.full(places.shape[1], -1, np.int32)
        start = 0
        for column, order in self.orders.items():
            order_of[column] = start
            start += len(order)
        orders = np.concatenate([*self.orders.values(), np.zeros(1, np.int32)])
        leaves = np.empty(len(places), np.uint32)
        find_leaves(places, self.feature, self._numbered, self.children, order_of, orders, leaves)
        return leaves

    def nest(self, leaf_sizes: NDArray[np.int64]) -> NestedRows:
        """Return nodes as rows of records within rows; records are in the order of their leaves.

        Below a row stand the first nodes on the ways down that have at most a share `SMALLER` of
        its records, and the leaves before which there is none.

        Raises
        ------
        ValueError
            If the nodes are not numbered depth first: the records of a branch would not be a range.

        Examples
        --------
        >>> feature, below = np.array([0, -1, -1], np.int32), np.array([[1, 2], [0, 0], [0, 0]])
        >>> rows = Tree(feature, np.zeros(3, np.int32), below, {}).nest(np.array([4, 6]))
        >>> rows.starts.tolist(), rows.lengths.tolist(), rows.above.tolist()
        ([0, 0, 4], [10, 4, 6], [-1, 0, 0])
        """
        ends = self._ends()
        before = np.concatenate([[0], np.cumsum(self.feature < 0)])
        edges = np.concatenate([[0], np.cumsum(leaf_sizes)])
        starts = edges[before[:-1]]
        sizes = edges[before[ends]] - starts
        nodes, above, bounds = [np.zeros(1, np.int64)], [np.full(1, -1)], [0, 1]
        while True:
            rows = np.flatnonzero(self.feature[nodes[-1]] >= 0)
            on_the_way, owners = nodes[-1][rows], rows
            most = sizes[on_the_way] * SMALLER
            found, of_row = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
            while len(on_the_way):
                on_the_way = self.children[on_the_way].ravel().astype(np.int64)
                owners, most = np.repeat(owners, 2), np.repeat(most, 2)
                ready = (self.feature[on_the_way] < 0) | (sizes[on_the_way] <= most)
                found.append(on_the_way[ready])
                of_row.append(owners[ready])
                on_the_way, owners, most = (own[~ready] for own in (on_the_way, owners, most))
            level = np.concatenate(found)
            if not len(level):
                break
            in_order = np.argsort(level)
            nodes.append(level[in_order])
            above.append(np.concatenate(of_row)[in_order] + bounds[-2])
            bounds.append(bounds[-1] + len(level))
        every = np.concatenate(nodes)
        return NestedRows(starts[every], sizes[every], np.concatenate(above), np.array(bounds))

    def _ends(self) -> NDArray[np.int64]:
        """Return the number after the last node of each branch."""
        count = len(self.feature)
        ends = np.full(count, -1, np.int64)
        ends[0] = count
        level = np.zeros(1, np.int64)
        while len(level):
            is_leaf = self.feature[level] < 0
            splits = level[~is_leaf]
            left, right = self.children[splits].T.astype(np.int64)
            if (ends[level[is_leaf]] != level[is_leaf] + 1).any() or (
                (left != splits + 1) | (right <= left) | (right >= ends[splits])
            ).any():
                raise ValueError("a tree whose nodes are not numbered depth first")
            ends[left], ends[right] = right, ends[splits]
            level = np.concatenate([left, right])
        return ends


@dataclass(frozen=True, eq=False)
class LeafModel:
    """A tree that leads a record to its leaf, and the outcome given the number of the leaf.

    With `shrinkage`, each node's distribution is drawn towards that of the node above.
    """

    tree: Tree
    table: ConditionalTable
    shrinkage: Shrinkage | None = None

    def smoothed(
        self, smoothing: LeafSmoothing, base: NDArray[np.float64], *, numbers: bool
    ) -> LeafModel:
        """Return the model with nodes drawn towards those above, and all records towards `base`.

        The strengths may be given; `numbers` says how left-out records are to decide them if not.
        """
        strengths = leaf_strengths(smoothing, self.nested, self.table.donors, base, numbers=numbers)
        return replace(self, shrinkage=Shrinkage(strengths, base))

    @cached_property
    def nested(self) -> NestedRows:
        """The nodes as rows of records."""
        return self.tree.nest(self.leaf_sizes)

    @cached_property
    def _shrunk(self) -> ShrunkRows | None:
        if self.shrinkage is None:
            return None
        return ShrunkRows(self.nested, self.table.donors, self.shrinkage)

    @cached_property
    def paths(self) -> NDArray[np.int32]:
        """The ways to the leaves, levels by leaves: which row of those below the last one.

        `ENDED` where there is none.
        """
        rows = self.nested
        places = rows.starts[rows.smallest]
        paths = np.empty((rows.levels - 1, len(places)), np.int32)
        for level in range(len(paths)):
            above = rows.above[rows.bounds[level + 1] : rows.bounds[level + 2]]
            number = np.arange(len(above)) - np.searchsorted(above, above)
            found = rows.at_level(level + 1, places)
            paths[level] = np.where(found < 0, ENDED, number[found])
        return paths

    def draw(self, places: Places, rng: np.random.Generator) -> Codes:
        """Draw the outcome of each record from the records of its leaf, or of nodes above."""
        leaves = self.tree.find(places)
        if self._shrunk is None:
            return self.table.draw([leaves], len(places), rng)
        return self._shrunk.draw(self.nested.smallest[leaves], rng.random(len(places)))

    def probability(self, places: Places, outcome: Codes) -> NDArray[np.float64]:
        """Return the probability with which `draw` gives each record's outcome."""
        leaves = self.tree.find(places)
        if self._shrunk is None:
            return self.table.probability(outcome, [leaves])
        return self._shrunk.probability(self.nested.smallest[leaves], outcome)

    @property
    def leaf_sizes(self) -> NDArray[np.int64]:
        """The number of records in each leaf: none only if the tree was grown on none."""
        configurations, begins = self.table.ranges.seen
        sizes = np.zeros(self.tree.leaves, np.int64)
        sizes[configurations[:, 0]] = np.diff(np.append(begins, len(self.table.donors)))
        return sizes

    @property
    def own_share(self) -> float:
        """The share of draws that the leaf itself decides, the mean over all records."""
        records = len(self.table.donors)
        if self.shrinkage is None or not records:
            return float(self.shrinkage is None)
        levels = np.repeat(np.arange(self.nested.levels), np.diff(self.nested.bounds))
        strengths = self.shrinkage.strengths[levels[self.nested.smallest]]
        sizes = self.leaf_sizes
        return float((sizes / (sizes + strengths)) @ sizes / records)

    def uses(self) -> dict[int, int]:
        """Return how many splits look at each column, by its place; the most used first."""
        columns, times = np.unique(self.tree.feature[self.tree.feature >= 0], return_counts=True)
        by_use = np.argsort(-times, kind="stable")
        return dict(zip(columns[by_use].tolist(), times[by_use].tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a tree explains: the codes to draw, and the numbers if they are numbers."""

    codes: Codes
    cardinality: int
    numbers: NDArray[np.float64] | None = None

    @cached_property
    def classes(self) -> tuple[Codes, int]:
        """The classes that splits are chosen by, and their number."""
        return frequent_classes(self.codes, self.cardinality)


def grow(
    places: Places,
    features: Sequence[Feature],
    predictors: Sequence[int],
    outcome: Outcome,
    *,
    minbucket: int,
    cp: float,
    binned: BinnedColumns | None = None,
) -> LeafModel:
    """Grow a tree on records as `matrix_of` gives them, and keep the records of its leaves.

    The tree looks at the columns whose places are `predictors`. A leaf has at least `minbucket`
    records, and a split explains at least the share `cp` of the impurity of all records. With
    `binned`, which has the same records, splits stand between bins.
    """
    tree, leaves = Tree.stump(), np.zeros(len(places), np.uint32)
    enough = len(places) >= fewest_to_split(minbucket)
    if enough and predictors and (outcome.codes != outcome.codes[0]).any():
        orders = _orders(places, features, predictors, outcome)
        if binned is None:
            matrix = _predictors(places, predictors, orders)
            nodes = _fit(matrix, outcome, minbucket).tree_
            found = nodes.apply(matrix)
        else:
            nodes = _fit_binned(places, predictors, orders, binned, outcome, minbucket)
            found = nodes.at
        if nodes.node_count > 1:
            ends = node_ends(nodes, cp)
            tree = _shrunk(nodes, ends, predictors, orders)
            at = ends[found]
            number = np.cumsum(np.bincount(at, minlength=nodes.node_count) > 0) - 1
            leaves = number[at].astype(np.uint32)
    coded = Coded(("leaf", "outcome"), (leaves, outcome.codes), (tree.leaves, outcome.cardinality))
    return LeafModel(tree, ConditionalTable.of(coded, "outcome", ["leaf"]))


def _orders(
    places: Places, features: Sequence[Feature], predictors: Sequence[int], outcome: Outcome
) -> dict[int, NDArray[np.int32]]:
    """Return the order that the outcome gives to the codes of each predictor that needs one."""
    orders = {}
    for column in predictors:
        if features[column].needs_order:
            own, size = places[:, column], features[column].cardinality
            orders[column] = (
                order_by_shares(own, size, *outcome.classes)
                if outcome.numbers is None
                else order_by_mean(own, size, outcome.numbers)
            )
    return orders


def _predictors(
    places: Places, predictors: Sequence[int], orders: dict[int, NDArray[np.int32]]
) -> NDArray[np.float32]:
    """Return the predictors' places as scikit-learn takes them."""
    matrix = np.empty((len(places), len(predictors)), np.float32, order="F")
    for position, column in enumerate(predictors):
        own = places[:, column]
        matrix[:, position] = orders[column][own] if column in orders else own
    return matrix


def _fit_binned(
    places: Places,
    predictors: Sequence[int],
    orders: dict[int, NDArray[np.int32]],
    binned: BinnedColumns,
    outcome: Outcome,
    minbucket: int,
) -> BinnedNodes:
    codes = np.empty((len(predictors), len(places)), np.uint8)
    bins = []
    for position, column in enumerate(predictors):
        codes[position], own = (
            bin_ordered(places[:, column], orders[column])
            if column in orders
            else binned.column(column)
        )
        bins.append(own)
    explained = outcome.classes if outcome.numbers is None else outcome.numbers
    limits = minbucket, fewest_to_split(minbucket), MOST_DEPTH
    return grow_binned(codes, bins, explained, limits)


def node_ends(nodes: Any, cp: float) -> NDArray[np.int64]:  # noqa: ANN401  # scikit-learn has no types
    """Return the node at which records of each node end after the weak branches are cut off."""
    from understudy.synthesis.kernels import prune

    ends = np.arange(nodes.node_count)
    if cp > 0:
        risk = nodes.impurity * nodes.weighted_n_node_samples / nodes.n_node_samples[0]
        left, right = map(np.ascontiguousarray, (nodes.children_left, nodes.children_right))
        prune(left, right, risk, cp * risk[0], ends)
    return ends


def _fit(matrix: NDArray[np.float32], outcome: Outcome, minbucket: int) -> Any:  # noqa: ANN401  # scikit-learn has no types
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    # A constant seed: it decides only which of two equally good splits is taken.
    limits = {
        "min_samples_leaf": minbucket,
        "min_samples_split": fewest_to_split(minbucket),
        "max_depth": MOST_DEPTH,
        "random_state": 0,
    }
    if outcome.numbers is not None:
        return DecisionTreeRegressor(**limits).fit(matrix, outcome.numbers)
    with warnings.catch_warnings():
        # A few records may well be of many classes.
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        return DecisionTreeClassifier(**limits).fit(matrix, outcome.classes[0])


def _shrunk(
    nodes: Any,  # noqa: ANN401  # scikit-learn has no types
    ends: NDArray[np.int64],
    predictors: Sequence[int],
    orders: dict[int, NDArray[np.int32]],
) -> Tree:
    """Return scikit-learn's tree without the branches that were cut off."""
    count = nodes.node_count
    kept = np.flatnonzero(ends == np.arange(count))
    number = np.full(count, -1, np.int32)
    number[kept] = np.arange(len(kept))
    left, right = nodes.children_left[kept], nodes.children_right[kept]
    splits = (left >= 0) & (number[left] >= 0)
    columns = np.array(predictors, np.int32)
    feature = np.where(splits, columns[np.maximum(nodes.feature[kept], 0)], -1).astype(np.int32)
    children = np.where(splits[:, None], number[np.stack([left, right], axis=1)], 0)
    used = set(feature.tolist())
    return Tree(
        feature,
        np.where(splits, np.floor(nodes.threshold[kept]), 0).astype(np.int32),
        children.astype(np.int32),
        {column: order for column, order in orders.items() if column in used},
    )


@dataclass(frozen=True, eq=False)
class ColumnModel:
    """How the codes of one column are drawn, given the columns before it.

    Parameters
    ----------
    feature : Feature
        The column.
    kind : LeafModel or None
        Draws whether a number is missing, a special value or an ordinary one; None for categories
        and for columns that hold ordinary numbers alone.
    value : LeafModel or None
        Draws the code, of an ordinary number if there are other kinds; None if none is drawn.
    """

    feature: Feature
    kind: LeafModel | None
    value: LeafModel | None

    @property
    def parts(self) -> dict[Part, LeafModel]:
        """The models of this column by name: kind, value, or both."""
        both: dict[Part, LeafModel | None] = {"kind": self.kind, "value": self.value}
        return {name: model for name, model in both.items() if model is not None}

    def draw(self, places: Places, rng: np.random.Generator) -> Codes:
        """Draw a code for each record."""
        if self.kind is None:
            return self._values.draw(places, rng)
        kinds = self.kind.draw(places, rng)
        codes = self.feature.code_of_kind()[kinds]
        ordinary = np.flatnonzero(codes < 0)
        if len(ordinary):
            codes[ordinary] = self._values.draw(places[ordinary], rng)
        return codes.astype(code_dtype(self.feature.cardinality))

    def probability(self, places: Places, codes: Codes) -> NDArray[np.float64]:
        """Return the probability with which `draw` gives each record's code."""
        if self.kind is None:
            return self._values.probability(places, codes)
        kinds = self.feature.kind_of(codes)
        found = self.kind.probability(places, kinds)
        ordinary = np.flatnonzero((kinds == self.feature.special) & (found > 0))
        if len(ordinary):
            found[ordinary] *= self._values.probability(places[ordinary], codes[ordinary])
        return found

    @property
    def _values(self) -> LeafModel:
        if self.value is None:
            raise ValueError(f"a model of {self.feature.name!r} without a tree for its values")
        return self.value


def fit_column(
    step: Step,
    features: Sequence[Feature],
    places: Places,
    codes: Codes,
    binned: BinnedColumns | None = None,
) -> ColumnModel:
    """Grow the trees of one column, whose codes are given, on records as `matrix_of` gives them.

    With `binned`, which has the same records, the splits of trees stand between bins.
    """
    feature = features[step.column]
    smooths = step.smoothing_leaves != 0

    def tree(part: Part, rows: NDArray[np.int64] | None, outcome: Outcome) -> LeafModel:
        own, bins = places, binned
        if rows is not None:
            own, bins = places[rows], None if binned is None else binned.take(rows)
        looked_at, minbucket, cp = step.predictors, step.minbucket, step.cp
        grown = grow(own, features, looked_at, outcome, minbucket=minbucket, cp=cp, binned=bins)
        if not smooths:
            return grown
        numbers = outcome.numbers is not None
        return grown.smoothed(step.smoothing_leaves, feature.base(part), numbers=numbers)

    whole = Outcome(codes, feature.cardinality)
    if feature.numbers is None:
        return ColumnModel(feature, None, tree("value", None, whole))
    if feature.kinds == 1:
        numbers = feature.numbers[codes]
        return ColumnModel(feature, None, tree("value", None, replace(whole, numbers=numbers)))
    kinds = feature.kind_of(codes)
    kind = tree("kind", None, Outcome(kinds, feature.kinds))
    ordinary = np.flatnonzero(kinds == feature.special)
    # Smoothed kinds may be ordinary where no record's is.
    if not len(ordinary) and not (smooths and feature.codes_of("value")):
        return ColumnModel(feature, kind, None)
    own = codes[ordinary]
    value = tree("value", ordinary, Outcome(own, feature.cardinality, feature.numbers[own]))
    return ColumnModel(feature, kind, value)
