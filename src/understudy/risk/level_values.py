"""From a value that a user names to the code of a level, and back."""

from __future__ import annotations

import math
from numbers import Real
from typing import TypeAlias

import numpy as np

from understudy.data.together import Levels
from understudy.errors import ParameterError, did_you_mean

Value: TypeAlias = str | int | float | None
"""A level as a user writes it: a number, a text, or None for missing."""


def find_level(name: str, levels: Levels, value: object, *, grouped: bool = False) -> int:
    """Return the code of the level of column `name` that a user means.

    Parameters
    ----------
    name : str
        The column, for messages.
    levels : Levels
        Its levels.
    value : object
        A number, a text (also that of a number, or of a group), or None for missing.
    grouped : bool
        Whether the column's numbers were put into groups.

    Raises
    ------
    ParameterError
        If there is no such level.

    Examples
    --------
    >>> levels = Levels(("0", "1.5", "missing"), np.array([0, 1.5, np.nan]), 2)
    >>> find_level("x", levels, 1.5), find_level("x", levels, "0"), find_level("x", levels, None)
    (1, 0, 2)
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        if levels.missing is None:
            raise ParameterError(f"{name!r} has no missing values to exclude.")
        return levels.missing
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if is_number and levels.numbers is not None and not grouped:
        found = np.flatnonzero(levels.numbers == value).tolist()
    else:
        text = f"{value:g}" if isinstance(value, float) else str(value)
        known = (code for code in range(len(levels)) if code != levels.missing)
        found = [code for code in known if levels.labels[code] == text]
    if len(found) != 1:
        hint = did_you_mean(str(value), levels.labels)
        trouble = "several levels that read" if found else "no level"
        raise ParameterError(
            f"{name!r} has {trouble} {value!r} in these tables.{hint} Give the value itself, or "
            "None for missing."
        )
    return int(found[0])


def level_value(levels: Levels, code: int, *, grouped: bool = False) -> Value:
    """Return the value that a code stands for: a number, a text, or None for missing.

    Examples
    --------
    >>> levels = Levels(("0", "1.5", "missing"), np.array([0, 1.5, np.nan]), 2)
    >>> [level_value(levels, code) for code in range(3)]
    [0, 1.5, None]
    """
    if code == levels.missing:
        return None
    if levels.numbers is None or grouped:
        return levels.labels[code]
    number = float(levels.numbers[code])
    return int(number) if number.is_integer() and abs(number) < 2**53 else number
