"""The models that tell synthetic records from original ones, and what they are shown."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.data.joint_coding import Levels
from understudy.errors import ParameterError
from understudy.learning.classifiers import Codes, encode
from understudy.threads import one_thread

MOST_LEVELS = 50
"""Levels of a column that have an indicator in the logistic regression; the rest share one."""
MOST_INDICATORS = 300
"""Indicators of all columns together, as long as each column has two."""
MOST_PARAMETERS = 1000
"""Columns of the logistic regression with interactions: its time grows with their square."""
LEAVES = 100
"""Leaves of the tree at most."""
LEAF_RECORDS = 20
"""Records in a leaf at least, or a twentieth of all if that is less."""
# So weak a penalty does not change what can be estimated, but levels that only one table has, and
# columns that follow from others, get a finite coefficient.
WEAK_PENALTY = 1e6


class Model(Protocol):
    """Tells labelled records from others."""

    def fit(self, labels: NDArray[np.bool_]) -> tuple[NDArray[np.float64], int]:
        """Return each record's probability of being labelled, and the number of parameters."""
        ...


@dataclass(frozen=True, eq=False)
class Tree:
    """A decision tree that is shown each level by its place in order; missing numbers are NaN.

    For a tree this is as good as the number itself, which scikit-learn would round. The seed
    decides between splits that are equally good.
    """

    features: NDArray[np.float64]
    seed: int

    @classmethod
    def of(cls, codes: Codes, levels: Sequence[Levels], seed: int) -> Tree:
        """Show coded records to a tree."""
        features = codes.astype(np.float64)
        for place, level in enumerate(levels):
            if level.numbers is not None and level.missing is not None:
                features[codes[:, place] == level.missing, place] = np.nan
        return cls(features, seed)

    def fit(self, labels: NDArray[np.bool_]) -> tuple[NDArray[np.float64], int]:
        """Return each record's probability of being labelled, and the number of leaves."""
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(
            max_leaf_nodes=LEAVES,
            min_samples_leaf=max(1, min(LEAF_RECORDS, len(labels) // 20)),
            random_state=self.seed,
        ).fit(self.features, labels)
        return tree.predict_proba(self.features)[:, 1], int(tree.get_n_leaves())


@dataclass(frozen=True, eq=False)
class Logistic:
    """A logistic regression on numbers and on an indicator for each other level.

    `parameters` are the coefficients that can be told apart, the intercept among them.
    """

    features: NDArray[np.float64]
    parameters: int

    @classmethod
    def of(cls, codes: Codes, levels: Sequence[Levels], *, interactions: bool = False) -> Logistic:
        """Show coded records to a logistic regression; raise if interactions are too many."""
        blocks = _main_effects(codes, levels)
        if interactions:
            blocks += _products(blocks)
        features = np.column_stack([np.empty((len(codes), 0)), *blocks])
        return cls(features, _rank(features))

    def fit(self, labels: NDArray[np.bool_]) -> tuple[NDArray[np.float64], int]:
        """Return each record's probability of being labelled, and the number of parameters."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        if self.parameters == 1:
            return np.full(len(labels), labels.mean()), 1
        model = LogisticRegression(C=WEAK_PENALTY, solver="newton-cholesky", tol=1e-8)
        with one_thread(), warnings.catch_warnings():
            # Where tables can be told apart for certain, ever larger coefficients are better.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(self.features, labels)
        return model.predict_proba(self.features)[:, 1], self.parameters


def shared_indicators(levels: Sequence[Levels]) -> list[int]:
    """Return for each column how many of its levels can have an indicator in a regression.

    Examples
    --------
    >>> few, many = (Levels(tuple(map(str, range(size))), None, None) for size in (3, 80))
    >>> shared_indicators([few, many]), shared_indicators([few] + [many] * 10)
    ([3, 50], [3, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29])
    """
    sizes = [len(level) if level.numbers is None else 0 for level in levels]
    most = MOST_LEVELS
    while most > 2 and sum(min(size, most) for size in sizes) > MOST_INDICATORS:
        most -= 1
    return [min(size, most) for size in sizes]


def _main_effects(codes: Codes, levels: Sequence[Levels]) -> list[NDArray[np.float64]]:
    """Return the columns of the regression for each column of the table that varies."""
    values = encode("native", codes, codes, levels)[0]
    blocks = []
    for place, (level, most) in enumerate(zip(levels, shared_indicators(levels), strict=True)):
        if level.numbers is None:
            block = _indicators(codes[:, place], len(level), most)
        else:
            missing = codes[:, place] == (-1 if level.missing is None else level.missing)
            # A missing number has its own indicator; here it is as good as the mean.
            block = np.column_stack([_standardised(values[:, place], missing), missing])
        block = block[:, np.ptp(block, axis=0) > 0]
        if block.shape[1]:
            blocks.append(block)
    return blocks


def _indicators(codes: NDArray[np.int64], size: int, most: int) -> NDArray[np.float64]:
    """Return a column for each level but the most frequent; rare levels may share one."""
    counts = np.bincount(codes, minlength=size)
    rank = np.empty(size, np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(size)
    place = np.minimum(rank, most - 1)[codes]
    shown: NDArray[np.float64] = (place[:, None] == np.arange(1, most)).astype(np.float64)
    return shown


def _standardised(numbers: NDArray[np.float64], missing: NDArray[np.bool_]) -> NDArray[np.float64]:
    known = numbers[~missing]
    if not len(known) or np.ptp(known) == 0:
        return np.zeros(len(numbers))
    # Divided first, for the squares of large numbers could overflow.
    scale = np.abs(known).max()
    known = known / scale
    shown: NDArray[np.float64] = (numbers / scale - known.mean()) / known.std()
    return np.where(missing, 0.0, shown)


def _products(blocks: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    widths = np.array([block.shape[1] for block in blocks], np.int64)
    total = int(widths.sum() + (widths.sum() ** 2 - (widths**2).sum()) // 2)
    if total > MOST_PARAMETERS:
        raise ParameterError(
            f"With interactions the logistic regression has {total:,} parameters, more than "
            f"{MOST_PARAMETERS:,}. Choose fewer columns, or those with few levels, or leave "
            "interactions out."
        )
    return [
        (one[:, :, None] * other[:, None, :]).reshape(len(one), -1)
        for one, other in combinations(blocks, 2)
    ]


def _rank(features: NDArray[np.float64]) -> int:
    """Return how many columns, with a constant one, do not follow from the others."""
    centred = features - features.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=0)
    centred = centred[:, lengths > 0] / lengths[lengths > 0]
    if not centred.shape[1]:
        return 1
    return 1 + int(np.linalg.matrix_rank(centred.T @ centred, hermitian=True))
