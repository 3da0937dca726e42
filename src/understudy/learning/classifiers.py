"""The models that an attacker trains, and how each of them is shown the keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from understudy.data.joint_coding import Levels

if TYPE_CHECKING:
    from understudy.learning.packed import Records

Codes = NDArray[np.int64]
"""Records as rows of codes, a column for each key."""
Encoding = Literal["places", "standardised", "codes", "grouped", "native", "indicators"]

FEW_LEVELS = 100
"""Numbers with more levels than this are put in groups where a model needs categories."""
GROUPS = 20
"""How many groups these are."""
MANY_LEVELS = 100
"""What is guessed has too many levels if it has more: models are slow, and hardly ever right."""
NATIVE_LEVELS = 255
"""Categories that scikit-learn's gradient boosting can take of one column."""


@dataclass(frozen=True, eq=False)
class Model:
    """One kind of attacker.

    Parameters
    ----------
    encoding : str
        How the model is shown the keys; see `encode`.
    estimator : str or object
        Module and class of an estimator, such as "sklearn.svm.SVC", or an estimator to be copied.
    settings : dict
        Parameters other than the standard ones.
    """

    encoding: Encoding
    estimator: Any
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def is_ours(self) -> bool:
        """Whether the model is that of a preset, and not a user's own."""
        return isinstance(self.estimator, str)

    def new(self, seed: int, records: int, levels: Sequence[Levels]) -> Any:  # noqa: ANN401  # no types
        """Return an untrained estimator for so many training records with these keys.

        Whatever it leaves to chance follows the seed, in the steps of a pipeline too.
        """
        if self.is_ours:
            module, name = self.estimator.rsplit(".", 1)
            model = getattr(import_module(module), name)(**self.settings)
        else:
            from sklearn.base import clone

            model = clone(self.estimator)
        known = model.get_params()
        settings: dict[str, Any] = {
            name: seed
            for name, value in known.items()
            if value is None and name.split("__")[-1] == "random_state"
        }
        if self.is_ours:
            if "n_neighbors" in known:
                settings["n_neighbors"] = min(known["n_neighbors"], records)
            if "categorical_features" in known:
                settings["categorical_features"] = [
                    level.numbers is None and len(level) <= NATIVE_LEVELS for level in levels
                ]
            if "min_categories" in known:
                settings["min_categories"] = [_groups_at_most(level) for level in levels]
        return model.set_params(**settings)


def encode(
    encoding: Encoding, train: Codes, asked: Codes, levels: Sequence[Levels]
) -> tuple[Any, Any]:
    """Return the keys of the training records and of those asked for, as a model wants them.

    Parameters
    ----------
    encoding : str
        ``"places"``: numbers by their value, other labels by their place in the order of levels; a
        column with missing values by places throughout, missing last. ``"standardised"``: these
        with mean 0 and variance 1 in the training data. ``"codes"``: the place of every level.
        ``"grouped"``: the same, with numbers of many levels in groups of about as many training
        records each. ``"native"``: numbers by value with NaN for missing, other labels by place.
        ``"indicators"``: a 0/1 column for each level of ``"grouped"``, and numbers standardised.
        An infinite number is shown as one that is beyond all others.
    train, asked : ndarray
        Records as rows of codes.
    levels : sequence of Levels
        What the codes of each column stand for.
    """
    if encoding == "codes":
        return train, asked
    levels = [_finite(level) for level in levels]
    tables: list[NDArray[Any]]
    if encoding == "grouped":
        tables = _grouping(train, levels)
    elif encoding == "native":
        tables = [_numbers(level, train[:, place]) for place, level in enumerate(levels)]
    elif encoding == "indicators":
        return _indicators(train, asked, levels)
    else:
        tables = [_places(level) for level in levels]
    shown = tuple(_looked_up(tables, codes) for codes in (train, asked))
    if encoding == "standardised":
        return _standardised(*shown)
    return shown[0], shown[1]


def _finite(level: Levels) -> Levels:
    if level.numbers is None or not np.isinf(level.numbers).any():
        return level
    # As far beyond the others as these are apart, so that the scale is still theirs.
    finite = level.numbers[np.isfinite(level.numbers)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    step = (high - low) or 1.0
    return replace(level, numbers=np.clip(level.numbers, low - step, high + step))


def _looked_up(tables: Sequence[NDArray[Any]], codes: Codes) -> NDArray[Any]:
    return np.column_stack([table[codes[:, place]] for place, table in enumerate(tables)])


def _places(level: Levels) -> NDArray[np.float64]:
    if level.numbers is None or level.missing is not None:
        return np.arange(len(level), dtype=np.float64)
    return level.numbers


def _numbers(level: Levels, train: NDArray[np.int64]) -> NDArray[np.float64]:
    if level.numbers is None:
        return np.arange(len(level), dtype=np.float64)
    # Nothing can be learnt from a column of gaps, but some models fail on it.
    return level.numbers if (train != level.missing).any() else np.zeros(len(level))


def _standardised(
    train: NDArray[np.float64], asked: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(train)
    return scaler.transform(train), scaler.transform(asked)


def _groups_at_most(level: Levels) -> int:
    many = level.numbers is not None and len(level) > FEW_LEVELS
    return GROUPS + 1 if many else len(level)


def _grouping(train: Codes, levels: Sequence[Levels]) -> list[NDArray[Any]]:
    """Return the group of each level, for each column; few levels are groups of their own."""
    tables = []
    for place, level in enumerate(levels):
        table = np.arange(len(level))
        if level.numbers is not None and len(level) > FEW_LEVELS:
            known = level.numbers[train[:, place]]
            known = known[~np.isnan(known)]
            shares = np.linspace(0, 1, GROUPS + 1)[1:-1]
            edges = np.unique(np.quantile(known, shares)) if len(known) else known
            table = np.searchsorted(edges, level.numbers, side="right")
            table[np.isnan(level.numbers)] = len(edges) + 1
        tables.append(table)
    return tables


def _indicators(train: Codes, asked: Codes, levels: Sequence[Levels]) -> tuple[Any, Any]:
    from scipy.sparse import csr_array, hstack

    tables = _grouping(train, levels)
    sizes = np.array([table.max() + 1 for table in tables])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    shown = []
    for codes in (train, asked):
        places = (_looked_up(tables, codes) + starts).reshape(-1)
        ends = np.arange(0, len(places) + 1, len(levels))
        ones = np.ones(len(places))
        shown.append(csr_array((ones, places, ends), shape=(len(codes), int(sizes.sum()))))
    numeric = [place for place, level in enumerate(levels) if level.numbers is not None]
    if numeric:
        tables = [_numbers(levels[place], train[:, place]) for place in numeric]
        numbers = _standardised(
            *(_looked_up(tables, codes[:, numeric]) for codes in (train, asked))
        )
        # A missing number has its own indicator; here it is as good as the mean.
        both = zip(shown, numbers, strict=True)
        shown = [
            hstack([ones, csr_array(np.nan_to_num(part))], format="csr") for ones, part in both
        ]
    return shown[0], shown[1]


class NearestMedian:
    """The fixed-radius attacker for numbers: the median at the smallest Hamming distance.

    Of two numbers in the middle it is the lower, so that the guess is one of the numbers there.
    """

    def fit(self, codes: Codes, numbers: NDArray[np.float64]) -> NearestMedian:
        """Take in the training records and their numbers."""
        self._numbers, which = np.unique(numbers, return_inverse=True)
        # One code more than there are: what the training records lack agrees with none of them.
        self._sizes = codes.max(axis=0) + 2
        self._reference = self._records(codes, which)
        return self

    def predict(self, codes: Codes) -> NDArray[np.float64]:
        """Return the median of the numbers of the nearest training records."""
        from understudy.learning.nearest import Search

        known = np.minimum(codes, self._sizes - 1)
        queries = self._records(known, np.zeros(len(codes), np.int64))
        medians = np.empty(len(queries.weights))
        search = Search(self._reference, queries)
        for rows, near in search.nearest_counts(range(len(self._sizes))):
            near.sum_duplicates()
            running = np.concatenate([[0], np.cumsum(near.data)])
            before, after = running[near.indptr[:-1]], running[near.indptr[1:]]
            middle = np.searchsorted(running[1:], before + (after - before + 1) // 2)
            medians[rows] = self._numbers[near.indices[middle]]
        return medians[queries.ids]

    def _records(self, codes: Codes, numbers: NDArray[np.int64]) -> Records:
        from understudy.learning.packed import coded_records

        return coded_records(list(codes.T), self._sizes.tolist(), numbers, len(self._numbers))

    def get_params(self) -> dict[str, Any]:
        """Return nothing: there is nothing to set."""
        return {}

    def set_params(self) -> NearestMedian:
        """Return itself: there is nothing to set."""
        return self


_FIXED_RADIUS = Model("codes", "understudy.learning.fixed_radius.FixedRadiusClassifier")
_NEAREST_MEDIAN = Model("codes", "understudy.learning.classifiers.NearestMedian")

# Names of models are those that users see. Where an estimator of scikit-learn stops early by
# default (gradient boosting beyond 10,000 records), it holds out records of each class, and fails
# for a class with a single record.
CLASSIFIERS: Mapping[str, Mapping[str, Model]] = {
    "papers": {
        "naive_bayes": Model("standardised", "sklearn.naive_bayes.GaussianNB"),
        "svm": Model("standardised", "sklearn.svm.SVC", {"cache_size": 1000}),
        "k_nearest": Model("standardised", "sklearn.neighbors.KNeighborsClassifier"),
        "random_forest": Model(
            "standardised", "sklearn.ensemble.RandomForestClassifier", {"n_estimators": 10}
        ),
        "logistic_regression": Model("standardised", "sklearn.linear_model.LogisticRegression"),
        "fixed_radius": _FIXED_RADIUS,
    },
    "strong": {
        "gradient_boosting": Model(
            "native", "sklearn.ensemble.HistGradientBoostingClassifier", {"early_stopping": False}
        ),
        "random_forest": Model(
            "places", "sklearn.ensemble.RandomForestClassifier", {"n_estimators": 200}
        ),
        "logistic_regression": Model(
            "indicators", "sklearn.linear_model.LogisticRegression", {"max_iter": 1000}
        ),
        "naive_bayes": Model("grouped", "sklearn.naive_bayes.CategoricalNB"),
        "fixed_radius": _FIXED_RADIUS,
    },
}
"""The attackers of each preset, for a sensitive attribute with levels."""

REGRESSORS: Mapping[str, Mapping[str, Model]] = {
    "papers": {
        "k_nearest": Model("standardised", "sklearn.neighbors.KNeighborsRegressor"),
        "random_forest": Model(
            "standardised", "sklearn.ensemble.RandomForestRegressor", {"n_estimators": 10}
        ),
        "linear_regression": Model("standardised", "sklearn.linear_model.LinearRegression"),
        "fixed_radius": _NEAREST_MEDIAN,
    },
    "strong": {
        # The median is within a tolerance more often than the mean.
        "gradient_boosting": Model(
            "native",
            "sklearn.ensemble.HistGradientBoostingRegressor",
            {"loss": "absolute_error", "early_stopping": False},
        ),
        "random_forest": Model(
            "places", "sklearn.ensemble.RandomForestRegressor", {"n_estimators": 200}
        ),
        "ridge": Model("indicators", "sklearn.linear_model.Ridge"),
        "k_nearest": Model("standardised", "sklearn.neighbors.KNeighborsRegressor"),
        "fixed_radius": _NEAREST_MEDIAN,
    },
}
"""The attackers of each preset, for a number that is guessed within a tolerance."""
