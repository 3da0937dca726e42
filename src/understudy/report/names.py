"""Names of models, priors and modes as people write them."""

from __future__ import annotations

import re

_MODELS = {
    "cart": "decision tree",
    "fixed_radius": "fixed radius",
    "gradient_boosting": "gradient boosting",
    "k_nearest": "nearest neighbours",
    "linear_regression": "linear regression",
    "logistic": "logistic regression",
    "logistic_regression": "logistic regression",
    "naive_bayes": "naive Bayes",
    "random_forest": "random forest",
    "ridge": "ridge regression",
    "svm": "support vector machine",
}

_PRIORS = {
    "uniform": "every value is as likely as any other",
    "marginal": "values are as frequent as among all others",
    "informed": "the value is what the other values of the record suggest",
}

_MODES = {
    "auto": "computed exactly: by fitting the model anew for the most exposed records, and with "
    "its structure as it is for all others",
    "fixed": "computed exactly, with the structure of the model as it is",
    "refit": "computed by fitting the model anew for every candidate",
    "black box": "estimated by running the synthesizer for every candidate",
}


def model_name(name: str) -> str:
    """Return the name of a classifier as people write it.

    Examples
    --------
    >>> model_name("cart"), model_name("naive_bayes"), model_name("my_own")
    ('Decision tree', 'Naive Bayes', 'My own')
    """
    words = _MODELS.get(name, name.replace("_", " "))
    return words[:1].upper() + words[1:]


def models_in_words(text: str) -> str:
    """Return one of our own texts with the names of classifiers as people write them.

    Examples
    --------
    >>> models_in_words("Best: naive_bayes, svm.")
    'Best: naive Bayes, support vector machine.'
    """
    names = "|".join(_MODELS)
    return re.sub(rf"\b({names})\b", lambda found: _MODELS[found[0]], text)


def prior_in_words(prior: str) -> str:
    """Return what the strong attacker takes for likely beforehand.

    Examples
    --------
    >>> prior_in_words("uniform"), prior_in_words("my own")
    ('every value is as likely as any other', 'my own')
    """
    return _PRIORS.get(prior, prior)


def mode_in_words(mode: str) -> str:
    """Return how the strong attacker was computed.

    Examples
    --------
    >>> mode_in_words("refit")
    'computed by fitting the model anew for every candidate'
    """
    return _MODES.get(mode, f"computed by: {mode}")
