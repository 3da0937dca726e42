"""The fixed-radius classifier: ask the training records that differ in the fewest features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from understudy.errors import DataError
from understudy.learning.nearest import Search
from understudy.learning.packed import Records, coded_records


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
    that are alike are looked at once. Memory is in proportion to the records. The search
    is that of `attribution`, whose guesses are the same.

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
        self._reference = self._coded(features, numbers)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803  # scikit-learn's name
        """Return the predicted class of each record."""
        search = self._search(X)
        found = search.matches(range(self.n_features_in_), nearest=True)
        return self.classes_[found.guess[search.queries.ids]]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803  # sklearn's name
        """Return the share of each class among the records that agree on the most features."""
        search = self._search(X)
        shares = np.empty((len(search.queries.weights), len(self.classes_)))
        for rows, counts in search.nearest_counts(range(self.n_features_in_)):
            shares[rows] = counts.toarray()
        shares /= shares.sum(axis=1, keepdims=True)
        return shares[search.queries.ids]

    def _search(self, X: ArrayLike) -> Search:  # noqa: N803  # scikit-learn's name
        check_is_fitted(self)
        features = validate_data(self, X, reset=False, dtype=None, ensure_all_finite=False)
        return Search(self._reference, self._coded(features, np.zeros(len(features), np.int64)))

    def _coded(self, features: NDArray[Any], classes: NDArray[np.integer]) -> Records:
        coders = zip(self._coders, features.T, strict=True)
        columns = [coder.codes(column) for coder, column in coders]
        return coded_records(
            columns, [coder.size for coder in self._coders], classes, len(self.classes_)
        )

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
                    f"A feature holds values that cannot be categories: {error}."
                ) from error
            self._table: dict[Any, int] = {value: code for code, value in enumerate(known)}
        else:
            levels = np.unique(column)
            self._levels = levels[levels == levels]  # noqa: PLR0124  # missing differs from itself
            self._table = {value: code for code, value in enumerate(self._levels.tolist())}

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self._table) + 2

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
