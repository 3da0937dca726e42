"""The classifiers that learn from a release, and what they predict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from understudy.errors import ParameterError, did_you_mean
from understudy.learning.classifiers import CLASSIFIERS, Model

TREES = 100
"""Trees of the papers' random forest: scikit-learn's standard, which was 10 until version 0.22."""


def papers_models(trees: int = TREES) -> dict[str, Model]:
    """Return the five classifiers of the paper on networks, with standard settings.

    Parameters
    ----------
    trees : int
        How many trees the random forest has.

    Examples
    --------
    >>> list(papers_models())
    ['naive_bayes', 'svm', 'k_nearest', 'random_forest', 'logistic_regression']
    """
    models = _without_lookup("papers")
    forest = models["random_forest"]
    models["random_forest"] = replace(forest, settings={"n_estimators": trees})
    return models


def _without_lookup(preset: str) -> dict[str, Model]:
    """Return the attackers of a preset but the one who looks records up, which is no model."""
    return {name: model for name, model in CLASSIFIERS[preset].items() if name != "fixed_radius"}


def chosen_models(classifiers: str | Mapping[str, Any]) -> dict[str, Model]:
    """Return the classifiers of a preset, or a user's own after a check.

    Raises
    ------
    ParameterError
        If there is no such preset, or an estimator is no classifier.
    """
    if isinstance(classifiers, Mapping) and classifiers:
        return {name: _own(name, estimator) for name, estimator in classifiers.items()}
    presets = {"papers": papers_models, "modern": lambda: _without_lookup("strong")}
    if not isinstance(classifiers, str) or classifiers not in presets:
        raise ParameterError(
            f"classifiers are {' or '.join(map(repr, presets))}, or estimators by name; got "
            f"{classifiers!r}.{did_you_mean(str(classifiers), presets)}"
        )
    return presets[classifiers]()


def _own(name: str, estimator: Any) -> Model:  # noqa: ANN401  # scikit-learn has no types
    from sklearn.base import clone, is_classifier

    try:
        copied = clone(estimator)
        usable = is_classifier(copied)
    except (TypeError, RuntimeError, AttributeError) as error:
        raise ParameterError(f"classifiers: {name!r} cannot be copied: {error}") from error
    if not usable or not isinstance(name, str) or name == "mean":
        raise ParameterError(
            f"classifiers are scikit-learn's classifiers by name, none of them called 'mean'; got "
            f"{estimator!r} for {name!r}."
        )
    return Model("places", copied)
