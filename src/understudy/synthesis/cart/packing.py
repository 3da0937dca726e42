"""Trees as a few long arrays, for model files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import code_dtype
from understudy.synthesis.cart.features import Feature, Part
from understudy.synthesis.cart.plan import Plan, Step
from understudy.synthesis.cart.recipe import Strata, TreeSequence
from understudy.synthesis.cart.trees import ColumnModel, LeafModel, Tree
from understudy.synthesis.sampler import Shrinkage
from understudy.synthesis.tables import ConditionalTable, DenseRanges

_PARTS: tuple[Part, ...] = ("kind", "value")


def pack(sequences: Sequence[TreeSequence]) -> dict[str, NDArray[Any]]:
    """Return all trees as arrays, one tree after the other.

    ``trees`` has a row for each: its sequence, its step, its part (kind or value), and how many
    nodes, ordered columns and leaves it has. ``strengths`` are those of smoothed leaves, if any.
    """
    rows, models = [], []
    for number, sequence in enumerate(sequences):
        for step, column in enumerate(sequence.columns):
            for part, model in column.parts.items():
                tree = model.tree
                sizes = (len(tree.feature), len(tree.orders), tree.leaves)
                rows.append((number, step, _PARTS.index(part), *sizes))
                models.append(model)
    trees = [model.tree for model in models]
    orders = [item for tree in trees for item in tree.orders.items()]
    packed = {
        "trees": np.array(rows, np.int64).reshape(len(rows), 6),
        "feature": _joined([tree.feature for tree in trees], np.int32),
        "threshold": _joined([tree.threshold for tree in trees], np.int32),
        "children": _joined([tree.children.ravel() for tree in trees], np.int32),
        "ordered": np.array([column for column, _ in orders], np.int32),
        "orders": _joined([order for _, order in orders], np.int32),
        "leaf_sizes": _joined([model.leaf_sizes for model in models], np.int64),
        "donors": _joined([model.table.donors for model in models], np.uint32),
    }
    smoothed = [model.shrinkage.strengths for model in models if model.shrinkage is not None]
    return packed | ({"strengths": np.concatenate(smoothed)} if smoothed else {})


def _joined(arrays: Sequence[NDArray[Any]], dtype: type[np.integer[Any]]) -> NDArray[Any]:
    joined = np.concatenate([*arrays, np.empty(0, dtype)]).astype(dtype)
    if dtype is not np.uint32:
        return joined
    return joined.astype(np.min_scalar_type(int(joined.max(initial=0))))


class _Reader:
    """Hands out an array piece by piece."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self._at = 0

    def __len__(self) -> int:
        return len(self._array)

    def take(self, count: int) -> NDArray[Any]:
        piece = self._array[self._at : self._at + count]
        if count < 0 or len(piece) != count:
            raise ValueError("an array of trees that is too short")
        self._at += count
        return piece

    def end(self) -> None:
        if self._at != len(self._array):
            raise ValueError("an array of trees that is too long")


def unpack(
    arrays: Mapping[str, NDArray[Any]],
    features: Sequence[Feature],
    steps: Sequence[Step],
    count: int,
) -> tuple[TreeSequence, ...]:
    """Return the sequences that `pack` took apart; raise ValueError if they do not fit."""
    wanted = {"feature": "i", "threshold": "i", "children": "i", "ordered": "i", "orders": "i"}
    wanted |= {"leaf_sizes": "i", "donors": "u", "trees": "i"}
    strengths = arrays.get("strengths", np.empty(0))
    if strengths.dtype != np.float64 or any(
        arrays[name].dtype.kind != kind for name, kind in wanted.items()
    ):
        raise ValueError("arrays of trees of another type")
    readers = {name: _Reader(arrays[name]) for name in wanted if name != "trees"}
    readers["strengths"] = _Reader(strengths)
    parts: dict[tuple[int, int], dict[str, LeafModel]] = {}
    for number, step, part, *sizes in arrays["trees"].tolist():
        if not (0 <= number < count and 0 <= step < len(steps) and part in (0, 1)):
            raise ValueError("a tree of a column that is not there")
        found = parts.setdefault((number, step), {})
        found[_PARTS[part]] = _read_model(readers, features, steps[step], _PARTS[part], *sizes)
    for reader in readers.values():
        reader.end()
    return tuple(
        TreeSequence(features, steps, list(_columns(parts, features, steps, number)))
        for number in range(count)
    )


def _columns(
    parts: Mapping[tuple[int, int], Mapping[str, LeafModel]],
    features: Sequence[Feature],
    steps: Sequence[Step],
    number: int,
) -> Iterator[ColumnModel]:
    for place, step in enumerate(steps):
        found = parts.get((number, place), {})
        feature = features[step.column]
        kind = found.get("kind")
        draws_values = kind is None or bool((kind.table.donors == feature.special).any())
        if step.smoothing_leaves != 0:
            draws_values = len(feature.codes_of("value")) > 0
        if (kind is None) != (feature.kinds == 1) or draws_values != ("value" in found):
            raise ValueError(f"no tree for {feature.name!r}")
        yield ColumnModel(feature, found.get("kind"), found.get("value"))


def _read_model(
    readers: Mapping[str, _Reader],
    features: Sequence[Feature],
    step: Step,
    part: Part,
    nodes: int,
    ordered: int,
    leaves: int,
) -> LeafModel:
    feature = readers["feature"].take(nodes).astype(np.int32)
    threshold = readers["threshold"].take(nodes).astype(np.int32)
    children = readers["children"].take(2 * nodes).astype(np.int32).reshape(nodes, 2)
    orders = {}
    for column in readers["ordered"].take(ordered).tolist():
        if column not in step.predictors:
            raise ValueError("a tree that looks at a column it may not")
        orders[column] = readers["orders"].take(features[column].cardinality).astype(np.int32)
    splits = np.flatnonzero(feature >= 0)
    below = children[splits]
    # Children come after their parents, so that every way down ends.
    fits = (
        nodes > 0
        and np.count_nonzero(feature < 0) == leaves
        and set(feature[splits].tolist()) <= set(step.predictors)
        and bool((below > splits[:, None]).all())
        and bool((below < nodes).all())
    )
    if not fits:
        raise ValueError("a tree whose nodes do not fit together")
    sizes = readers["leaf_sizes"].take(leaves)
    own, smooths = features[step.column], step.smoothing_leaves != 0
    codes, cardinality = own.codes_of(part), own.kinds if part == "kind" else own.cardinality
    # Where no record has an ordinary number, one may be drawn nevertheless.
    fewest = 0 if smooths and part == "value" and own.kinds > 1 and leaves == 1 else 1
    # Larger ones could be summed beyond 64 bits.
    if sizes.min() < fewest or int(sizes.max()) > len(readers["donors"]):
        raise ValueError("a leaf without records, or with more than there are")
    donors = readers["donors"].take(int(sizes.sum()))
    if len(donors) and not codes.start <= int(donors.min()) <= int(donors.max()) < codes.stop:
        raise ValueError("records with a code that is not there")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    table = ConditionalTable(
        cardinality, DenseRanges((leaves,), starts), donors.astype(code_dtype(cardinality))
    )
    model = LeafModel(Tree(feature, threshold, children, orders), table)
    if not smooths:
        return model
    strengths = readers["strengths"].take(model.nested.levels)
    if not (np.isfinite(strengths) & (strengths > 0)).all():
        raise ValueError("a strength of smoothing that cannot be")
    return replace(model, shrinkage=Shrinkage(strengths, own.base(part)))


def pack_predictors(plan: Plan) -> NDArray[np.int32]:
    """Return which predictors each step has, as pairs of places."""
    pairs = [(number, other) for number, step in enumerate(plan.steps) for other in step.predictors]
    return np.array(pairs, np.int32).reshape(-1, 2)


def unpack_predictors(pairs: NDArray[Any], plan: Plan) -> Plan:
    """Return the plan with the predictors that `pack_predictors` noted, fewer than all at most."""
    chosen: list[list[int]] = [[] for _ in plan.steps]
    for number, other in pairs.tolist():
        chosen[number].append(other)
    steps = []
    for step, found in zip(plan.steps, chosen, strict=True):
        if not set(found) <= set(step.predictors):
            raise ValueError("predictors that are not allowed")
        steps.append(replace(step, predictors=tuple(found)))
    return replace(plan, steps=tuple(steps))


def unpack_strata(
    arrays: Mapping[str, NDArray[Any]], plan: Plan, cardinalities: Sequence[int], records: int
) -> Strata:
    """Return the strata of a model file; raise ValueError if they do not fit the columns."""
    codes, counts = arrays["strata"], arrays["strata_counts"]
    limits = np.array([cardinalities[place] for place in plan.strata], np.int64)
    fits = (
        codes.shape == (len(counts), len(plan.strata))
        and bool(((codes >= 0) & (codes < limits)).all())
        and counts.min(initial=1) > 0
        and int(counts.sum()) == records
    )
    if not fits:
        raise ValueError("strata that do not fit the columns")
    return Strata(plan.strata, codes.astype(np.int64), counts.astype(np.int64))
