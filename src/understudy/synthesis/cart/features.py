"""Columns as a tree sees them: numbers by rank, categories in an order that depends on the outcome.

A tree compares places with thresholds. The place of a number is its rank, below which a missing
value stands. The codes of categories have no order of their own, so each tree gives them one: by
the mean of a numeric outcome, or by the first principal component of the classes' shares. A
threshold then splits a set of categories, and no search over all such sets is needed [1]_.

References
----------
.. [1] Coppersmith, Hong, Hosking (1999). Partitioning nominal attributes in decision trees. Data
   Mining and Knowledge Discovery 3, doi:10.1023/A:1009869804967
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from understudy.data import Codec, Coded
from understudy.data.coded import Codes, code_dtype
from understudy.data.value_coder import ValueCoder

Places = NDArray[np.int32]

Part = Literal["kind", "value"]
"""What a tree of a column draws: the kind of a value, or the value."""

MOST_CLASSES = 64
"""Classes that decide splits and orders of categories; the rarer ones count as one together."""

FARTHEST = 1000.0
"""For splits, a number is at most so many quartile distances away from the median.

One far number would otherwise hide all differences between the others: its square is so large that
floats, and the share `cp` of the impurity, lose theirs.
"""


@dataclass(frozen=True, eq=False)
class Feature:
    """One column of an exact codec, as predictor and as outcome.

    Parameters
    ----------
    name : str
        The column.
    cardinality : int
        Number of its codes.
    ranks : ndarray of int32, optional
        The place of each code of a numeric column; None for categories.
    numbers : ndarray of float64, optional
        The number that each code of a numeric column stands for, less the median and in units of
        the distance between the quartiles; NaN for missing.
    special : int
        How many of its first codes are special values.
    """

    name: str
    cardinality: int
    ranks: Places | None = None
    numbers: NDArray[np.float64] | None = None
    special: int = 0

    @property
    def is_category(self) -> bool:
        """Whether the column holds categories."""
        return self.ranks is None

    @property
    def needs_order(self) -> bool:
        """Whether a tree must give its codes an order: two codes have only one."""
        return self.is_category and self.cardinality > 2

    @property
    def kinds(self) -> int:
        """Kinds of values: each special value, ordinary numbers, and missing; 1 for categories."""
        if self.numbers is None:
            return 1
        return self.special + 1 + int(np.isnan(self.numbers[-1]))

    def kind_of(self, codes: Codes) -> Codes:
        """Return the kind of each code: special values in their order, ordinary, missing."""
        ordinary_end = self.cardinality - (self.kinds - self.special - 1)
        lookup = np.minimum(np.arange(self.cardinality), self.special)
        lookup[ordinary_end:] = self.special + 1
        kinds: Codes = lookup.astype(code_dtype(self.kinds))[codes]
        return kinds

    def code_of_kind(self) -> NDArray[np.int64]:
        """Return the code of each kind; -1 for the ordinary numbers, which have many."""
        codes = np.arange(self.kinds)
        codes[self.special] = -1
        codes[self.special + 1 :] = self.cardinality - 1
        return codes

    def codes_of(self, part: Part) -> range:
        """Return the codes that a tree of this part can draw: kinds, or values of one kind.

        The coding decides, not the records.
        """
        if part == "kind":
            return range(self.kinds)
        if self.kinds == 1:
            return range(self.cardinality)
        missing = self.kinds - self.special - 1
        return range(self.special, self.cardinality - missing)

    def base(self, part: Part) -> NDArray[np.float64]:
        """Return the distribution in which all codes that a part can have are equally likely."""
        codes = self.codes_of(part)
        base = np.zeros(self.kinds if part == "kind" else self.cardinality)
        base[codes.start : codes.stop] = 1
        if part == "kind" and not self.codes_of("value"):
            base[self.special] = 0
        return np.asarray(base / base.sum())

    @property
    def apart(self) -> list[int]:
        """The places that mean something else than those next to them: missing, special values."""
        return [] if self.ranks is None else [0, *self.ranks[: self.special].tolist()]

    def places(self, codes: Codes) -> Places:
        """Return where each code stands: by rank, or by code for categories."""
        return codes.astype(np.int32) if self.ranks is None else self.ranks[codes]


def read_features(codec: Codec) -> tuple[Feature, ...]:
    """Return the columns of an exact codec as features."""
    found = []
    for name, cardinality in zip(codec.names, codec.cardinalities, strict=True):
        coder = codec.coders[name]
        if not isinstance(coder, ValueCoder):
            found.append(Feature(name, cardinality))
            continue
        own = coder.numbers
        ranks = np.empty(cardinality, np.int32)
        ranks[np.argsort(own, kind="stable")] = np.arange(1, len(own) + 1)
        ranks[len(own) :] = 0
        numbers = np.full(cardinality, np.nan)
        numbers[: len(own)] = _scaled(own)
        found.append(Feature(name, cardinality, ranks, numbers, len(coder.special)))
    return tuple(found)


def _scaled(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return numbers less their median, in units of the distance between their quartiles.

    They are at most `FARTHEST`.

    Trees do not depend on the scale, but sums of squares do: large numbers that differ little
    would lose their differences, and small ones would seem equal. Infinite ones are at the ends.
    """
    if not len(numbers):
        return np.empty(0)
    if numbers.dtype.kind == "f":
        finite = numbers[np.isfinite(numbers)]
        low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
        # By halves, since the difference of two huge numbers can overflow.
        shifted = np.clip(numbers, low, high) / 2 - low / 2
    else:
        # Times are too large for floats to hold every tick, their differences are not.
        shifted = np.asarray(numbers - numbers.min(), np.float64)
    lower, median, upper = np.quantile(shifted, [0.25, 0.5, 0.75])
    unit = upper - lower if upper > lower else shifted.max()
    if unit == 0:
        return np.zeros(len(numbers))
    with np.errstate(over="ignore"):
        return np.asarray(np.clip((shifted - median) / unit, -FARTHEST, FARTHEST))


def matrix_of(features: Sequence[Feature], coded: Coded) -> Places:
    """Return the places of a coded table, one contiguous column for each feature."""
    matrix = np.empty((len(coded), len(features)), np.int32, order="F")
    for column, feature in enumerate(features):
        matrix[:, column] = feature.places(coded.columns[column])
    return matrix


def frequent_classes(outcome: Codes, classes: int) -> tuple[Codes, int]:
    """Return an outcome with its rarest classes in one, if there are more than `MOST_CLASSES`.

    What a tree looks at grows with the number of classes; what is drawn from its leaves does not.
    """
    if classes <= MOST_CLASSES:
        return outcome, classes
    by_size = np.argsort(-np.bincount(outcome, minlength=classes), kind="stable")
    merged: Codes = np.minimum(np.argsort(by_size), MOST_CLASSES - 1).astype(np.uint8)[outcome]
    return merged, MOST_CLASSES


def order_by_mean(
    codes: Places, cardinality: int, outcome: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Return the place of each category when they are sorted by the mean of a numeric outcome.

    Categories that do not occur come last.

    Examples
    --------
    >>> order_by_mean(np.array([0, 1, 2, 1]), 3, np.array([5.0, 1.0, 2.0, 1.0]))
    array([2, 0, 1], dtype=int32)
    """
    counts = np.bincount(codes, minlength=cardinality)
    sums = np.bincount(codes, outcome, minlength=cardinality)
    with np.errstate(invalid="ignore"):
        return _ranked(sums / counts)


def order_by_shares(
    codes: Places, cardinality: int, outcome: Codes, classes: int
) -> NDArray[np.int32]:
    """Return the place of each category by the first principal component of the classes' shares.

    Categories weigh as many records as they have; those that do not occur come last.

    Examples
    --------
    >>> order_by_shares(np.array([0, 0, 1, 1, 2]), 3, np.array([0, 1, 1, 1, 0]), 2)
    array([1, 0, 2], dtype=int32)
    """
    joint = np.bincount(
        codes * np.int64(classes) + outcome, minlength=cardinality * classes
    ).reshape(cardinality, classes)
    counts = joint.sum(axis=1)
    seen = counts > 0
    shares = joint[seen] / counts[seen, None]
    weights = counts[seen] / counts.sum()
    centred = shares - weights @ shares
    _, directions = np.linalg.eigh((centred * weights[:, None]).T @ centred)
    direction = directions[:, -1]
    # An eigenvector has no sign of its own: the same data must give the same order.
    largest = np.argmax(np.round(np.abs(direction), 9))
    direction = direction * np.sign(direction[largest])
    scores = np.full(cardinality, np.nan)
    scores[seen] = centred @ direction
    return _ranked(scores)


def _ranked(scores: NDArray[np.float64]) -> NDArray[np.int32]:
    low, high = np.nanmin(scores), np.nanmax(scores)
    if high > low:
        # Equal up to rounding is equal: then the codes decide.
        scores = np.round((scores - low) / (high - low), 12)
    places = np.empty(len(scores), np.int32)
    places[np.argsort(scores, kind="stable")] = np.arange(len(scores))
    return places
