"""Numbers and names in the words of the report."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

UNDEFINED = "–"  # noqa: RUF001  # a dash as in printed tables


def share(value: float, digits: int = 1) -> str:
    """Return a share as a percentage.

    Examples
    --------
    >>> share(0.6419), share(float("nan"))
    ('64.2 %', '–')
    """  # noqa: RUF002
    return f"{100 * value:.{digits}f} %" if math.isfinite(value) else UNDEFINED


def percent(value: float) -> str:
    """Return a share in percent without its sign, for tables that say so above.

    Examples
    --------
    >>> percent(0.6419), percent(float("nan"))
    ('64.2', '–')
    """  # noqa: RUF002
    return share(value).removesuffix(" %")


def unbroken(text: str) -> str:
    r"""Return a text in which no number stands at the end of a line without its percent sign.

    Examples
    --------
    >>> unbroken("right for 64.2 % of them").split(" ")
    ['right', 'for', '64.2\xa0%', 'of', 'them']
    """
    return re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text)


def points(value: float) -> str:
    """Return a difference of shares in percentage points, with its sign.

    Examples
    --------
    >>> points(0.0321), points(-0.0004)
    ('+3.2', '0.0')
    """
    if not math.isfinite(value):
        return UNDEFINED
    text = f"{100 * value:+.1f}"
    return "0.0" if float(text) == 0 else text


def number(value: float, digits: int = 2) -> str:
    """Return a number with a few digits; whole numbers have none after the point.

    Examples
    --------
    >>> number(3.0), number(1473), number(0.125), number(float("nan"))
    ('3', '1,473', '0.12', '–')
    """  # noqa: RUF002
    if not math.isfinite(value):
        return UNDEFINED
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.{digits}f}"


def times(ratio: float) -> str:
    """Return how many times as much, in words.

    Examples
    --------
    >>> times(1.25), times(float("nan"))
    ('1.2 times', 'an unknown multiple of')
    """
    return f"{ratio:.1f} times" if math.isfinite(ratio) else "an unknown multiple of"


def listing(names: Sequence[str]) -> str:
    """Return names as a person lists them.

    Examples
    --------
    >>> listing(["age", "sex", "region"])
    'age, sex and region'
    """
    return " and ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])


def short(name: str, limit: int = 48) -> str:
    """Return a name, cut if it is too long for its place.

    Examples
    --------
    >>> short("husband_education", 10)
    'husband_e…'
    """
    return name if len(name) <= limit else f"{name[: limit - 1]}…"


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
    "marginal": "values are as frequent as among the other people",
    "informed": "the value is as the person's other values suggest",
}

_MODES = {
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
