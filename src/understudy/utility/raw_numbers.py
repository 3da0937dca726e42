"""The numbers that the levels of a column stand for: as they are, without bins.

Correlations and means are about numbers. Codes such as -8 for no answer are none, though they are
stored as such; they are left out like missing values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.data.coded import Codes
from understudy.data.groups import check_groups, numbers_of
from understudy.data.joint_coding import CodedTables
from understudy.data.levels import Levels
from understudy.data.special_values import special_values

Floats = NDArray[np.float64]
Special = Mapping[str, Sequence[float]] | None

CODED_SHARE = 0.05
"""A number that more records have may be a code, if it stands apart from all others."""


def raw_numbers(tables: CodedTables, special: Special = None) -> dict[str, Floats]:
    """Return the number of each level, by column; columns without numbers are left out.

    Parameters
    ----------
    tables : CodedTables
        "original" among them.
    special : mapping, optional
        The numbers of a column that are codes, such as -8. Where nothing is said of a column, those
        that stand apart from all others are taken for codes; 0 never is.

    Returns
    -------
    dict
        NaN for missing values, codes and what is infinite. Dates and times count from a common
        beginning.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [*range(20, 60), *[-9] * 6], "sex": ["f", "m"] * 23})
    >>> found = raw_numbers(CodedTables.of({"original": frame}))
    >>> list(found), found["age"][:2].tolist()
    (['age'], [nan, 20.0])
    """
    check_groups(None, special, tables.columns, by_default=True)
    found = {}
    for name in tables.columns:
        codes, levels = tables.column(name)
        numbers = _numbers(levels)
        if numbers is None:
            continue
        own = (special or {}).get(name)
        coded = (
            _codes_apart(levels, codes["original"])
            if own is None
            else np.isin(numbers, np.asarray(own, np.float64))
        )
        known = np.isfinite(numbers) & ~coded
        found[name] = numbers if known.all() else np.where(known, numbers, np.nan)
    return found


def _numbers(levels: Levels) -> Floats | None:
    """Return each level as a number, dates and times by their distance in time."""
    if levels.numbers is None and levels.are_times and isinstance(levels.held, pl.Series):
        return levels.held.to_physical().cast(pl.Float64).fill_null(np.nan).to_numpy()
    return numbers_of(levels)


def _codes_apart(levels: Levels, original: Codes) -> NDArray[np.bool_]:
    """Return which levels are codes: numbers that stand apart from all others of the original.

    A number that merely occurs often, such as 40 hours a week, is a number like others.
    """
    found = np.zeros(len(levels), bool)
    if levels.numbers is None:
        return found
    counts = np.bincount(original, minlength=len(levels))
    held = np.flatnonzero((counts > 0) & np.isfinite(levels.numbers) & (levels.numbers != 0))
    found[held] = special_values(
        levels.numbers[held], counts[held], len(original), CODED_SHARE, spikes=False
    )
    return found
