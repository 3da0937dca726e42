"""The papers' classifiers, trained as scikit-learn does, with less work for the same guesses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.data.joint_coding import Levels
from understudy.learning.classifiers import Model

Floats = NDArray[np.float64]
_MANY_FEATURES = 9
"""With so many features or more, nearest neighbours are found sooner without a tree."""
_BLOCK = 64
"""Records to guess at once: their kernel with all support vectors fits into a cache."""


def guessed(  # a model, what it learns from, and what it is asked
    model: Model,
    shown: NDArray[Any],
    labels: NDArray[Any],
    asked: NDArray[Any],
    seed: int,
    levels: Sequence[Levels] = (),
) -> NDArray[Any]:
    """Return what a model guesses, after it was trained; see `plainly`.

    Two models have short cuts to the same guesses. A support vector machine takes equal records
    with the same label as one with their number as its weight, which is the same optimum; nearest
    neighbours of many features are looked for without a tree.
    """
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC

    estimator = model.new(seed, len(labels), levels)
    if isinstance(estimator, SVC):
        return _by_support_vectors(estimator, shown, labels, asked)
    if isinstance(estimator, KNeighborsClassifier) and shown.shape[1] >= _MANY_FEATURES:
        estimator.set_params(algorithm="brute")
    return np.asarray(estimator.fit(shown, labels).predict(asked))


@contextmanager
def plainly() -> Iterator[None]:
    """Train on one thread, as each core has a process of its own, and check no value twice.

    Around many small trainings, whose checks take as long as the training itself.
    """
    from sklearn import config_context
    from threadpoolctl import threadpool_limits

    settings = {"assume_finite": True, "skip_parameter_validation": True}
    with threadpool_limits(1), config_context(**settings):
        yield


def _by_support_vectors(
    machine: Any,  # noqa: ANN401  # has no types
    shown: Floats,
    labels: NDArray[Any],
    asked: Floats,
) -> NDArray[Any]:
    classes, which = np.unique(labels, return_inverse=True)
    records, weights = np.unique(np.column_stack([shown, which]), axis=0, return_counts=True)
    # Of all records: the weights do not enter the variance.
    variance = (float(shown.var()) or 1.0) if machine.gamma == "scale" else 1.0
    gamma = 1 / (shown.shape[1] * variance)
    machine.set_params(gamma=gamma, shrinking=False)
    machine.fit(records[:, :-1], classes[records[:, -1].astype(np.intp)], sample_weight=weights)
    if len(classes) > 2:
        return np.asarray(machine.predict(asked))
    return classes[(decisions(machine, asked, gamma) > 0).astype(np.intp)]


def decisions(machine: Any, asked: Floats, gamma: float) -> Floats:  # noqa: ANN401  # has no types
    """Return the decision function of a machine for two classes, block by block.

    It is ``decision_function`` with the kernel's exponents from one product of matrices.
    """
    vectors = np.asarray(machine.support_vectors_)
    vector_part = -gamma * np.sum(vectors * vectors, axis=1)
    own_part = -gamma * np.sum(asked * asked, axis=1)
    doubled = np.ascontiguousarray(2 * gamma * vectors.T)
    found = np.empty(len(asked))
    for start in range(0, len(asked), _BLOCK):
        part = slice(start, start + _BLOCK)
        kernel = asked[part] @ doubled
        kernel += vector_part
        kernel += own_part[part, None]
        np.exp(kernel, out=kernel)
        found[part] = kernel @ machine.dual_coef_[0]
    return found + float(machine.intercept_[0])
