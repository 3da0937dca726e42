"""Checks of arguments that several measures take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.counting.groups import as_names
from understudy.data.frames import Frame, to_narwhals
from understudy.errors import ParameterError


def check_whole(name: str, value: object, least: int) -> None:
    """Refuse what is no whole number, or one below `least`.

    Examples
    --------
    >>> check_whole("bootstraps", 20, 0)
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or int(value) < least:  # type: ignore[call-overload]
        raise ParameterError(f"{name} is a whole number from {least}; got {value!r}.")


def chosen_columns(original: Frame, columns: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns to compare: all those of the original, unless some are named.

    Raises
    ------
    ParameterError
        If there is none.

    Examples
    --------
    >>> import polars as pl
    >>> chosen_columns(pl.DataFrame({"age": [31], "sex": ["f"]}), None)
    ('age', 'sex')
    """
    names = tuple(to_narwhals(original).columns) if columns is None else as_names(columns)
    if not names:
        raise ParameterError("There is no column to compare. Name one in columns, or leave it out.")
    return names
