"""What is synthesized in which order, from which columns, with which settings."""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.arguments import check_choice, check_whole
from understudy.counting import pairwise_information
from understudy.data import Coded
from understudy.data.frames import to_narwhals
from understudy.data.value_coder import Smoothing
from understudy.errors import ParameterError, unknown_columns
from understudy.synthesis.bayes.constraints import read_protect
from understudy.synthesis.bayes.smoothing import AUTO
from understudy.synthesis.cart.features import Feature
from understudy.synthesis.cart.rules import Rule
from understudy.synthesis.cart.smoothing import LeafSmoothing, check_leaf_smoothing
from understudy.synthesis.settings import PerColumn, settings_of

Predictors: TypeAlias = Mapping[str, Sequence[str]] | ArrayLike

UsedSplits: TypeAlias = Literal["exact", "histogram"]
"""Which places a tree may be split at: all, or those between bins of neighbouring places."""

Splits: TypeAlias = Literal["auto", UsedSplits]
"""The same, or which of the two goes with the number of records."""

MANY_ROWS = 50_000
"""A table of more records than this has trees on bins, unless it is said otherwise."""

LARGEST_CP = 1e6
"""Any cp from 1 on leaves a tree without splits."""

RECORDS_PER_SPLIT = 3
"""A node with fewer than this many times minbucket records is not split, as in R's rpart."""

WIDE, FEW_PREDICTORS = 100, 20
"""In a table of more columns than the first number, each tree looks at so many as the second,
unless it is said otherwise: the time for all of them would grow with the square."""

MOST_GROUPS = 20
"""Groups that numbers are put in to see which columns tell most of another."""


def splits_for(splits: Splits, rows: int) -> UsedSplits:
    """Return how the trees of so many records are split.

    Examples
    --------
    >>> splits_for("auto", MANY_ROWS), splits_for("auto", MANY_ROWS + 1)
    ('exact', 'histogram')
    """
    if splits != "auto":
        return splits
    return "histogram" if rows > MANY_ROWS else "exact"


def fewest_to_split(minbucket: int) -> int:
    """Return how many records a node must have to be split."""
    return max(2, RECORDS_PER_SPLIT * minbucket)


@dataclass(frozen=True)
class Step:
    """One column to synthesize: its place, what it may be predicted from, and its settings."""

    column: int
    predictors: tuple[int, ...]
    minbucket: int
    cp: float
    rules: tuple[Rule, ...] = ()
    smoothing_leaves: LeafSmoothing = 0
    splits: UsedSplits = "exact"

    def sees(self, columns: Collection[str], names: Sequence[str]) -> bool:
        """Return whether the trees of this step may depend on any of the given columns."""
        own = {names[self.column], *(names[place] for place in self.predictors)}
        looked_at = [rule.columns for rule in self.rules]
        if None in looked_at:
            return True
        return not own.union(*(found or () for found in looked_at)).isdisjoint(columns)

    def may_split(self, rows: int) -> bool:
        """Return whether a tree of this step may have a split, with so many records."""
        return bool(self.predictors) and rows >= fewest_to_split(self.minbucket)


@dataclass(frozen=True)
class Plan:
    """The columns that are kept or decide the stratum, and the steps for all others, in order."""

    kept: tuple[int, ...]
    strata: tuple[int, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Wishes:
    """The arguments of `Cart` that make the plan, as they were given."""

    minbucket: PerColumn[int]
    cp: PerColumn[float]
    visit_sequence: Sequence[str] | None
    predictors: Predictors | None
    keep: Sequence[str] | str
    strata: Sequence[str] | str | None
    rules: tuple[Rule, ...]
    protect: Mapping[str, str | None] | None
    smoothing_leaves: PerColumn[LeafSmoothing] = 0
    splits: UsedSplits = "exact"
    following: Mapping[str, str] = field(default_factory=dict)
    """Columns that are not drawn, but follow from others once these are."""

    def plan(self, names: Sequence[str]) -> Plan:
        """Return the plan for a table's columns, or say which wishes cannot be met."""
        kept = read_names(self.keep, names, "keep")
        strata = read_names(self.strata, names, "strata")
        protected = read_protect(self.protect or {}, tuple(names))
        given = [*kept, *(name for name in strata if name not in kept)]
        if len(given) == len(names):
            raise ParameterError(
                "keep and strata leave no column to synthesize: the result would be the original."
            )
        _check_given(kept, strata, protected, self.rules)
        order = self._order(names, given, protected)
        allowed = _read_predictors(self.predictors, names, order)
        if isinstance(self.predictors, Mapping):
            _check_predictors(self.predictors, protected)
        minbucket = settings_of(self.minbucket, names, 5, "minbucket")
        cp = settings_of(self.cp, names, 1e-8, "cp")
        smoothing: dict[str, LeafSmoothing] = settings_of(
            self.smoothing_leaves, names, AUTO, "smoothing_leaves"
        )
        places = {name: place for place, name in enumerate(names)}

        def at(listed: Sequence[str]) -> tuple[int, ...]:
            return tuple(places[name] for name in listed)

        steps = []
        # Within a stratum its own columns are constant, and so predict nothing.
        earlier = [name for name in given if name not in strata]
        followers = {leader: name for name, leader in self.following.items()}
        for name in order:
            if name in given or name in self.following:
                continue
            if name in protected:
                found = [target] if (target := protected[name]) in earlier else []
            else:
                open_to = [other for other in earlier if other not in protected]
                found = [other for other in open_to if allowed[places[name], places[other]]]
            rules = tuple(rule for rule in self.rules if rule.column == name)
            _check_rules(rules, [*strata, *earlier], protected)
            settings = minbucket[name], cp[name], rules, smoothing[name], self.splits
            steps.append(Step(places[name], at(found), *settings))
            earlier += [one for one in (name, followers.get(name)) if one is not None]
        return Plan(at(kept), at(strata), tuple(steps))

    def _order(
        self, names: Sequence[str], given: Sequence[str], protected: Mapping[str, str | None]
    ) -> list[str]:
        """Return all columns in the order in which they are visited; those given come first."""
        wanted = read_names(self.visit_sequence, names, "visit_sequence")
        rest = [name for name in names if name not in wanted]
        if protected:
            # As in a protected network: targets first, then what is protected, then the others.
            first = [target for target in protected.values() if target is not None]
            first = [*dict.fromkeys(first), *protected]
            rest = [*(name for name in first if name in rest), *(n for n in rest if n not in first)]
        order = [*given, *(name for name in [*wanted, *rest] if name not in given)]
        for sensitive, target in protected.items():
            if target is not None and order.index(target) > order.index(sensitive):
                raise ParameterError(
                    f"protect: {sensitive!r} is drawn from its target {target!r}, so the target "
                    "must come before it in visit_sequence."
                )
        return order


def _check_given(
    kept: Sequence[str],
    strata: Sequence[str],
    protected: Mapping[str, str | None],
    rules: Sequence[Rule],
) -> None:
    if strata and 0 < len(set(strata) & set(kept)) < len(strata):
        raise ParameterError("strata: either all columns of the strata are kept, or none is.")
    for sensitive, target in protected.items():
        if sensitive in kept or sensitive in strata:
            raise ParameterError(
                f"protect: {sensitive!r} cannot be protected and kept as it is, or split by."
            )
        if strata and any(name != target for name in strata):
            raise ParameterError(
                f"protect: in strata of {', '.join(map(repr, strata))}, {sensitive!r} would "
                "depend on these columns; with strata it can only be protected if its target "
                "alone makes the strata."
            )
    for rule in rules:
        if rule.column in kept or rule.column in strata:
            raise ParameterError(
                f"rules: {rule.column!r} is not synthesized, so no rule can set it: {rule.text}"
            )


def _check_predictors(
    predictors: Mapping[str, Sequence[str]], protected: Mapping[str, str | None]
) -> None:
    for name, listed in predictors.items():
        if name in protected and any(other != protected[name] for other in listed):
            raise ParameterError(
                f"predictors: {name!r} is protected, so its only predictor is its target."
            )
        leaks = [other for other in listed if other in protected]
        if leaks:
            raise ParameterError(
                f"predictors: {leaks[0]!r} is protected, so it cannot predict {name!r}."
            )


def _check_rules(
    rules: Sequence[Rule], earlier: Sequence[str], protected: Mapping[str, str | None]
) -> None:
    for rule in rules:
        if rule.columns is None:
            if protected:
                raise ParameterError(
                    "rules: with protect, write conditions as text, so that it can be seen which "
                    f"columns they use: {rule.text}"
                )
            continue
        leaks = [name for name in sorted(rule.columns) if name in protected]
        if rule.column in protected:
            leaks += [name for name in sorted(rule.columns) if name != protected[rule.column]]
        if leaks:
            raise ParameterError(
                f"rules: this one would tie a protected column to {leaks[0]!r}: {rule.text}"
            )
        late = [name for name in sorted(rule.columns) if name not in earlier]
        if late:
            raise ParameterError(
                f"rules: {late[0]!r} must come before {rule.column!r} in visit_sequence: "
                f"{rule.text}"
            )


def read_names(
    wanted: Sequence[str] | str | None, names: Sequence[str], argument: str
) -> list[str]:
    """Return a list of columns that a user gave, one name, several or none, after checking them."""
    if wanted is None:
        return []
    if not isinstance(wanted, str) and not isinstance(wanted, Iterable):
        raise ParameterError(f"{argument} must be a column or a list of columns; got {wanted!r}.")
    found = [wanted] if isinstance(wanted, str) else list(wanted)
    problems = unknown_columns(found, names)
    if problems:
        raise ParameterError(f"{argument}: {' '.join(problems)}")
    if len(set(found)) < len(found):
        repeated = next(name for name in found if found.count(name) > 1)
        raise ParameterError(f"{argument}: {repeated!r} is named twice.")
    return found


def check_settings(
    minbucket: Any,  # noqa: ANN401  # a user's
    cp: Any,  # noqa: ANN401
    smoothing: Any,  # noqa: ANN401
    smoothing_leaves: Any = AUTO,  # noqa: ANN401
) -> None:
    """Raise if a setting has a value that cannot be used."""
    for value in _values(minbucket):
        check_whole("minbucket", value, 1)
    for value in _values(cp):
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not number or not 0 <= value < LARGEST_CP:
            raise ParameterError(f"cp must be a share of at least 0; got {value!r}.")
    for value in _values(smoothing):
        if value is not None:
            check_choice("smoothing", value, get_args(Smoothing), ", or None")
    for value in _values(smoothing_leaves):
        check_leaf_smoothing(value)


def _values(setting: Any) -> list[Any]:  # noqa: ANN401  # a user's
    return list(setting.values()) if isinstance(setting, Mapping) else [setting]


def _read_predictors(
    predictors: Predictors | None, names: Sequence[str], order: Sequence[str]
) -> NDArray[np.bool_]:
    """Return which column (row) may be predicted from which (column), in the table's order."""
    count = len(names)
    allowed = np.ones((count, count), bool)
    if predictors is None:
        return allowed
    if not isinstance(predictors, Mapping):
        return _read_matrix(predictors, names)
    places = {name: place for place, name in enumerate(names)}
    visited = {name: place for place, name in enumerate(order)}
    for name in read_names(list(predictors), names, "predictors"):
        if predictors[name] is None:
            raise ParameterError(f"predictors of {name!r} must be a list of columns; got None.")
        listed = read_names(predictors[name], names, f"predictors of {name!r}")
        late = [other for other in listed if visited[other] >= visited[name]]
        if late:
            raise ParameterError(
                f"predictors: {late[0]!r} cannot predict {name!r}, since it is not visited before "
                "it. Put it earlier in visit_sequence, or leave it out."
            )
        allowed[places[name]] = False
        allowed[places[name], [places[other] for other in listed]] = True
    return allowed


def _read_matrix(predictors: Any, names: Sequence[str]) -> NDArray[np.bool_]:  # noqa: ANN401
    count = len(names)
    if hasattr(predictors, "columns"):
        predictors = _read_labelled(predictors, names)
    try:
        matrix = np.asarray(predictors)
    except ValueError as error:  # rows of different lengths
        raise ParameterError(
            f"predictors must be a mapping or a matrix of 0 and 1; got {predictors!r}."
        ) from error
    if matrix.shape != (count, count):
        raise ParameterError(
            f"predictors: a matrix must have one row and one column for each of the {count} "
            f"columns that are synthesized or kept; got the shape {matrix.shape}."
        )
    if matrix.dtype.kind not in "biuf" or not np.isin(matrix, (0, 1)).all():
        raise ParameterError("predictors: a matrix must hold 0 and 1, or true and false.")
    return matrix.astype(bool)


def _read_labelled(matrix: Any, names: Sequence[str]) -> NDArray[Any]:  # noqa: ANN401  # a frame
    """Return a frame of 0 and 1 in the order of the table, by its labels."""
    frame = to_narwhals(matrix)
    rows = list(getattr(matrix, "index", range(len(frame))))
    labelled = rows != list(range(len(frame)))
    if sorted(frame.columns) != sorted(names) or (
        labelled and sorted(map(str, rows)) != sorted(names)
    ):
        raise ParameterError(
            "predictors: the rows and columns of a labelled matrix have the names of the table's "
            f"columns; got the columns {frame.columns}."
        )
    values = frame.select(*names).to_numpy()
    return values[[rows.index(name) for name in names]] if labelled else values


def keep_most_telling(plan: Plan, most: int, features: Sequence[Feature], coded: Coded) -> Plan:
    """Return the plan with at most `most` predictors for each column: those that tell most of it.

    What one column tells of another is their mutual information, numbers in groups, less what
    chance alone would give.
    """
    if all(len(step.predictors) <= most for step in plan.steps):
        return plan
    grouped = _grouped(features, coded)
    # Columns with many levels seem to tell something by chance alone: as much as this, in bits.
    spare = np.array([np.count_nonzero(np.bincount(codes)) - 1 for codes in grouped.columns])
    chance = np.outer(spare, spare) / (2 * len(coded) * math.log(2))
    told = pairwise_information(grouped) - chance

    def chosen(step: Step) -> tuple[int, ...]:
        ranked = sorted(step.predictors, key=lambda other: (-told[step.column, other], other))
        kept = set(ranked[:most])
        return tuple(other for other in step.predictors if other in kept)

    logging.getLogger("understudy").info("Each tree looks at %d columns at most.", most)
    return replace(plan, steps=tuple(replace(step, predictors=chosen(step)) for step in plan.steps))


def _grouped(features: Sequence[Feature], coded: Coded) -> Coded:
    """Return the table with numbers in groups of about the same size, missing apart."""
    columns: dict[str, NDArray[np.int64]] = {}
    for feature, codes in zip(features, coded.columns, strict=True):
        groups: NDArray[np.int64] = codes.astype(np.int64)
        if feature.ranks is not None and feature.cardinality > MOST_GROUPS:
            counts = np.bincount(feature.ranks[codes], minlength=feature.cardinality + 1)
            middle = np.cumsum(counts) - counts / 2
            group = 1 + np.floor(MOST_GROUPS * middle / max(len(codes), 1)).astype(np.int64)
            group[0] = 0
            groups = group[feature.ranks[codes]]
        columns[feature.name] = groups
    return Coded.from_arrays(columns)
