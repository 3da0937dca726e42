"""The fixed-radius classifier: ask the training records that differ in the fewest features."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, vstack
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from understudy.errors import DataError

Rows = NDArray[np.int64]
"""Records as rows of codes; equal codes in a column are equal values."""

_BLOCK = 2**22
"""Pairs of records, or records times classes, that are looked at together."""
_GROUPING = 60
"""What grouping a record costs, in comparisons of one value with another; measured."""


class FixedRadiusClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # has no types
    """Predict the most frequent class among the records that agree on the most features.

    For each record these are the training records at the smallest Hamming distance, however many
    they are: those that are equal to it, or else those that differ in one feature, and so on.
    Of classes that are equally frequent among them, the one that is most frequent in all training
    data is predicted, and of those the first in `classes_`.

    Features are categories of any kind: numbers, strings or other values, compared for equality
    alone. Missing values (NaN, None) are equal to each other and to nothing else. A value that the
    training data lack agrees with none of them.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if `fit` was given a frame whose columns all have names.

    Notes
    -----
    The result is exact, and independent of the order of the records and of the features. Records
    that are alike are looked at once. Memory is in proportion to the records.

    References
    ----------
    .. [1] Hittmeir, Mayer, Ekelhart (2020). A baseline for attribute disclosure risk in synthetic
       data. CODASPY, Algorithm 3.1, doi:10.1145/3374664.3375722

    Examples
    --------
    >>> people = [["f", 30], ["f", 30], ["m", 30], ["m", 55]]
    >>> classifier = FixedRadiusClassifier().fit(people, ["no", "no", "yes", "yes"])
    >>> classifier.predict([["f", 30], ["f", 99], ["m", 55]]).tolist()
    ['no', 'no', 'yes']
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> FixedRadiusClassifier:  # noqa: N803  # sklearn's
        """Take in the training records and their classes.

        Parameters
        ----------
        X : array or frame of shape (records, features)
            The features; see the class for what they may hold.
        y : array of shape (records,)
            The class of each record.

        Returns
        -------
        FixedRadiusClassifier
            Itself.
        """
        features, classes = validate_data(
            self, X, y, dtype=None, ensure_all_finite=False, y_numeric=False
        )
        check_classification_targets(classes)
        self.classes_, numbers = np.unique(classes, return_inverse=True)
        self._coders = [_Categories(column) for column in features.T]
        coded = self._codes(features)
        self._records, self._counts = distinct_counts(coded, numbers, len(self.classes_))
        self._overall = np.bincount(numbers, minlength=len(self.classes_))
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803  # scikit-learn's name
        """Return the predicted class of each record."""
        # The first of several greatest counts wins: classes stand in the order of preference.
        preference = np.argsort(-self._fitted()._overall, kind="stable")  # noqa: SLF001  # its own
        return self._by_record(
            X, lambda counts: self.classes_[preference[counts[:, preference].argmax(axis=1)]]
        )

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803  # sklearn's name
        """Return the share of each class among the records that agree on the most features."""
        self._fitted()
        shares: NDArray[np.float64] = self._by_record(
            X, lambda counts: counts / counts.sum(axis=1, keepdims=True)
        )
        return shares

    def _fitted(self) -> FixedRadiusClassifier:
        check_is_fitted(self)
        return self

    def _by_record(
        self,
        X: ArrayLike,  # noqa: N803  # scikit-learn's name
        summarise: Callable[[NDArray[np.int64]], NDArray[Any]],
    ) -> NDArray[Any]:
        """Return what `summarise` makes of the counts of classes, for each record."""
        features = validate_data(self, X, reset=False, dtype=None, ensure_all_finite=False)
        asked, which = _distinct(self._codes(features))
        blocks = nearest_counts(self._records, self._counts, asked)
        found = [summarise(counts.toarray()) for counts in blocks]
        return np.concatenate(found)[which]

    def _codes(self, features: NDArray[Any]) -> Rows:
        coders = zip(self._coders, features.T, strict=True)
        return np.column_stack([coder.codes(column) for coder, column in coders])

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401  # scikit-learn has no types
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


class _Categories:
    """The values that a feature has in the training data, numbered."""

    def __init__(self, column: NDArray[Any]) -> None:
        self._kind = column.dtype.kind
        if self._kind == "O":
            try:
                known = {value for value in set(column.tolist()) if not _is_missing(value)}
            except TypeError as error:  # a list, say
                raise DataError(
                    f"A feature holds values that are no categories: {error}."
                ) from error
            self._table: dict[Any, int] = {value: code for code, value in enumerate(known)}
        else:
            levels = np.unique(column)
            self._levels = levels[levels == levels]  # noqa: PLR0124  # missing differs from itself
            self._table = {value: code for code, value in enumerate(self._levels.tolist())}

    def codes(self, column: NDArray[Any]) -> NDArray[np.int64]:
        """Return the code of each value; one more for missing, and two more for unknown ones."""
        size = len(self._table)
        if column.dtype.kind == self._kind != "O":
            places = np.searchsorted(self._levels, column).clip(max=max(size - 1, 0))
            same = self._levels[places] == column if size else np.zeros(len(column), bool)
            missing = column != column  # noqa: PLR0124  # missing differs from itself
            return np.where(same, places, np.where(missing, size, size + 1)).astype(np.int64)
        values = column.tolist()
        table = {value: size for value in set(values) if _is_missing(value)} | self._table
        return np.fromiter((table.get(value, size + 1) for value in values), np.int64, len(values))


def _is_missing(value: Any) -> bool:  # noqa: ANN401  # any value
    """Tell whether a value is missing: None, or one that is not equal to itself."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124  # that is the question
    except TypeError:  # pandas.NA cannot say whether it is equal to itself
        return True


def distinct_counts(records: Rows, classes: NDArray[np.integer], size: int) -> tuple[Rows, Any]:
    """Return the different records, and how often each of the `size` classes occurs with them.

    Examples
    --------
    >>> records, counts = distinct_counts(np.array([[3], [1], [3]]), np.array([0, 0, 1]), 2)
    >>> records.tolist(), counts.toarray().tolist()
    ([[1], [3]], [[1, 0], [1, 1]])
    """
    distinct, which = _distinct(records)
    ones = np.ones(len(records), np.int64)
    return distinct, csr_array((ones, (which, classes)), shape=(len(distinct), size))


def _distinct(records: Rows) -> tuple[Rows, NDArray[np.int64]]:
    """Return the different records in order, and which of them each record is."""
    which, _, number = _groups(records, records[:0], tuple(range(records.shape[1])))
    distinct = np.empty((number, records.shape[1]), np.int64)
    distinct[which] = records
    return distinct, which


def nearest_counts(records: Rows, counts: Any, asked: Rows) -> Iterator[Any]:  # noqa: ANN401  # sparse
    """Yield, for each record asked for, the counts of all records at its smallest distance.

    Parameters
    ----------
    records : ndarray
        Different records, as rows of codes.
    counts : sparse array
        Counts of classes, a row for each of `records`.
    asked : ndarray
        The records to find neighbours of.

    Yields
    ------
    sparse array
        Counts for the next block of `asked`, in order; few records at once if there are many
        classes.

    Notes
    -----
    Records at distance r of one that has no nearer neighbour agree with it on exactly one set of
    features that lacks r of them. So the counts at distance r are sums over these sets of the
    counts of groups, and only what has no neighbour goes on to the next r. Where there are more
    sets than that is worth, records are compared one by one.

    Examples
    --------
    >>> records, counts = distinct_counts(np.array([[0, 0], [1, 1]]), np.array([0, 1]), 2)
    >>> (block,) = nearest_counts(records, counts, np.array([[0, 0], [1, 5], [0, 1]]))
    >>> block.toarray().tolist()
    [[1, 0], [0, 1], [1, 1]]
    """
    rows = max(1, _BLOCK // counts.shape[1])
    for start in range(0, len(asked), rows):
        yield _nearest(records, counts, asked[start : start + rows])


def _nearest(records: Rows, counts: Any, asked: Rows) -> Any:  # noqa: ANN401  # sparse arrays
    features = records.shape[1]
    waiting = np.arange(len(asked))
    found: list[tuple[NDArray[np.int64], Any]] = []
    spent = 0
    for distance in range(features + 1):
        if not len(waiting):
            break
        passes = comb(features, distance) * (features - distance + 1)
        spent += _GROUPING * passes * (len(records) + len(waiting))
        if spent > len(records) * len(waiting) * features:
            found += _compared(records, counts, asked, waiting)
            break
        total, nearest = _agreeing(records, counts, asked[waiting], features - distance)
        found.append((waiting[nearest], total[nearest]))
        waiting = waiting[~nearest]
    places = np.concatenate([rows for rows, _ in found])
    return vstack([total for _, total in found], format="csr")[np.argsort(places)]


def _agreeing(records: Rows, counts: Any, asked: Rows, size: int) -> tuple[Any, NDArray[np.bool_]]:  # noqa: ANN401  # sparse arrays
    """Return the counts of the records that agree on `size` features, and whether there are any."""
    total = csr_array((len(asked), counts.shape[1]), dtype=np.int64)
    nearest = np.zeros(len(asked), bool)
    for features in combinations(range(records.shape[1]), size):
        group, wanted, number = _groups(records, asked, features)
        # Each a table of ones that adds up rows: of records by group, of groups by who asks.
        here = np.bincount(group, minlength=number)[wanted] > 0
        nearest |= here
        who = np.flatnonzero(here)
        ones = np.ones(max(len(group), len(who)), np.int64)
        members = csr_array(
            (ones[: len(group)], (group, np.arange(len(group)))), shape=(number, len(group))
        )
        chosen = csr_array((ones[: len(who)], (who, wanted[who])), shape=(len(asked), number))
        total = total + chosen @ (members @ counts)
    return total, nearest


def _groups(
    records: Rows, asked: Rows, features: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return numbers for the combinations of some features, alike for both sets of records."""
    both = np.concatenate([records, asked])
    ids = np.zeros(len(both), np.int64)
    number = 1
    for feature in features:
        column = both[:, feature]
        size = int(column.max()) + 1
        found, ids = np.unique(ids * size + column, return_inverse=True)
        number = len(found)
    return ids[: len(records)], ids[len(records) :], number


def _compared(
    records: Rows,
    counts: Any,  # noqa: ANN401  # a sparse array
    asked: Rows,
    waiting: NDArray[np.int64],
) -> Iterator[tuple[NDArray[np.int64], Any]]:
    """Yield the counts at the smallest distance, by comparing every pair of records."""
    kind = np.min_scalar_type(int(max(records.max(), asked.max())))
    mine, theirs = np.ascontiguousarray(records.T, kind), np.ascontiguousarray(asked.T, kind)
    rows = max(1, _BLOCK // len(records))
    for start in range(0, len(waiting), rows):
        block = waiting[start : start + rows]
        distance = np.zeros((len(block), len(records)), np.uint16)
        for feature in range(records.shape[1]):
            distance += theirs[feature, block, None] != mine[feature]
        nearest = distance == distance.min(axis=1, keepdims=True)
        yield block, csr_array(nearest, dtype=np.int64) @ counts
