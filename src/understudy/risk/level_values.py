"""From a value that a user names to the code of a level, and back."""

from __future__ import annotations

import datetime as dt
import math
from numbers import Real

import numpy as np

from understudy.data.levels import Levels, Value, in_words
from understudy.errors import ParameterError, did_you_mean


def find_level(name: str, levels: Levels, value: object) -> int:
    """Return the code of the level of column `name` that a user means.

    Parameters
    ----------
    name : str
        The column, for messages.
    levels : Levels
        Its levels.
    value : object
        The value itself, its text (also that of a group), or None for missing.

    Raises
    ------
    ParameterError
        If there is no such level.

    Examples
    --------
    >>> levels = Levels((0, 1.5, None), np.array([0, 1.5, np.nan]), 2)
    >>> find_level("x", levels, 1.5), find_level("x", levels, "0"), find_level("x", levels, None)
    (1, 0, 2)
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        if levels.missing is None:
            raise ParameterError(f"{name!r} has no missing values to leave out.")
        return levels.missing
    for code, held in enumerate(levels.values):
        if held is not None and _same(held, value):
            return code
    text = in_words(value) if isinstance(value, float) else str(value)
    # A number of single precision has other digits in double precision, which `numbers` hold.
    doubles = levels.numbers if _is_number(value) else None
    for code, held in enumerate(levels.values):
        double = doubles is not None and isinstance(held, float) and doubles[code] == value
        if held is not None and (double or levels.labels[code] == text):
            return code
    hint = did_you_mean(text, levels.labels[: levels.missing])
    raise ParameterError(
        f"{name!r} does not have the value {value!r} in these tables.{hint} Give the value "
        "itself, or None for missing."
    )


def _same(held: object, value: object) -> bool:
    if isinstance(held, bool) or isinstance(value, bool | np.bool_):
        return isinstance(held, bool) and isinstance(value, bool | np.bool_) and held == value
    if isinstance(held, dt.date) and isinstance(value, dt.date):
        return _moment(held) == _moment(value)
    comparable = type(held) is type(value) or (_is_number(held) and _is_number(value))
    return comparable and held == value


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _moment(day: dt.date) -> dt.datetime:
    """Return a date as its midnight, as which it is compared with times."""
    if isinstance(day, dt.datetime):
        return day
    return dt.datetime.combine(day, dt.time())


def level_label(levels: Levels, code: int) -> str | None:
    """Return the text of what a code stands for; None for missing."""
    return None if code == levels.missing else levels.label(code)


def shown_level(value: Value) -> str:
    """Return a level for a sentence: text in quotes, and other values in words.

    Examples
    --------
    >>> shown_level("no"), shown_level(2.0), shown_level(None)
    ("'no'", '2', 'missing')
    """
    return repr(value) if isinstance(value, str) else in_words(value)


def plain_level(value: Value) -> str | float | None:
    """Return a level as JSON knows it: what is no text, number or boolean as text.

    Examples
    --------
    >>> plain_level(dt.date(2020, 1, 31)), plain_level(2.5), plain_level(None)
    ('2020-01-31', 2.5, None)
    """
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | int | float):
        return value
    return in_words(value)
