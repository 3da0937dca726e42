"""Checks of arguments that many functions take, each with one message."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from understudy.errors import ParameterError, did_you_mean


def is_whole(value: object) -> bool:
    """Tell whether a value is a whole number; True and False are none.

    Examples
    --------
    >>> is_whole(3), is_whole(np.int8(3)), is_whole(True), is_whole(3.0)
    (True, True, False, False)
    """
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)


def is_number(value: object) -> bool:
    """Tell whether a value is a number, infinite ones among them; True and False are none.

    Examples
    --------
    >>> is_number(3), is_number(np.float32(0.5)), is_number(True), is_number("3")
    (True, True, False, False)
    """
    number = isinstance(value, int | float | np.integer | np.floating)
    return number and not isinstance(value, bool)


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> int:  # noqa: ANN401
    """Return a whole number within its limits, or raise.

    Raises
    ------
    ParameterError
        If it is something else.

    Examples
    --------
    >>> check_whole("bootstraps", 20, 0)
    20
    """
    if not is_whole(value) or value < least or (most is not None and value > most):
        upto = "" if most is None else f" to {most:,}"
        raise ParameterError(f"{name} must be a whole number from {least}{upto}; got {value!r}.")
    return int(value)


def check_flag(name: str, value: object) -> bool:
    """Return a truth value, or raise.

    Examples
    --------
    >>> check_flag("proper", True)
    True
    """
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be true or false; got {value!r}.")
    return bool(value)


def check_seed(value: object, name: str = "random_state") -> int:
    """Return a seed that scikit-learn takes too, or raise."""
    if not is_whole(value) or not 0 <= int(value) < 2**32:  # type: ignore[call-overload]
        raise ParameterError(f"{name} must be a whole number from 0 to {2**32 - 1}; got {value!r}.")
    return int(value)  # type: ignore[call-overload, no-any-return]


def read_seed(random_state: object) -> int:
    """Return the seed; a fresh one if none is given, so that it can be told."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    return check_seed(random_state)


def check_choice(name: str, value: object, choices: Collection[str], also: str = "") -> str:
    """Return one of several words, or raise with the one that may have been meant.

    Parameters
    ----------
    name : str
        The argument.
    value : object
        What was given.
    choices : collection of str
        What can be given.
    also : str
        What else can be given, for the message, such as ", or None for none".

    Examples
    --------
    >>> check_choice("measures", "quick", ["quick", "full"])
    'quick'
    """
    if isinstance(value, str) and value in choices:
        return value
    raise ParameterError(
        f"{name} must be one of {', '.join(choices)}{also}; got {value!r}."
        f"{did_you_mean(str(value), choices)}"
    )


def as_names(columns: str | Sequence[str]) -> tuple[str, ...]:
    """Return columns as a tuple of names; a single name is a set of one.

    Examples
    --------
    >>> as_names("age"), as_names(["age", "sex"])
    (('age',), ('age', 'sex'))
    """
    return (columns,) if isinstance(columns, str) else tuple(columns)
