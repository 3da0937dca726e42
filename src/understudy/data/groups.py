"""The numbers of a coded column in groups, of about the same number of records each."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Codes
from understudy.data.levels import Levels, in_words
from understudy.errors import DataError, ParameterError


def check_columns_of(groups: object, special: object, columns: Sequence[str]) -> None:
    """Refuse what does not say how the numbers of some of the columns are put into groups.

    Parameters
    ----------
    groups : object
        A mapping from column to the number of its groups, or None.
    special : object
        A mapping from a column of `groups` to numbers that are not grouped, or None.
    columns : sequence of str
        The columns that may be named.

    Raises
    ------
    ParameterError
        If an argument is no such mapping.
    """
    for argument, example in ((groups, "groups={'age': 5}"), (special, "special={'age': [-8]}")):
        name = example.partition("=")[0]
        if argument is not None and not isinstance(argument, Mapping):
            raise ParameterError(f"{name} is a mapping, such as {example}; got {argument!r}.")
        other = [column for column in argument or () if column not in columns]
        if other:
            raise ParameterError(
                f"groups and special are for keys and the sensitive attribute; got {other[0]!r}."
            )
    counts = groups if isinstance(groups, Mapping) else {}
    for column, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 2:
            raise ParameterError(f"groups of {column!r} are a whole number from 2; got {count!r}.")
    for column, numbers in special.items() if isinstance(special, Mapping) else ():
        if isinstance(numbers, str) or not isinstance(numbers, Collection):
            raise ParameterError(f"special of {column!r} is a list of numbers; got {numbers!r}.")
        wrong = [number for number in numbers if not _is_number(number)]
        if wrong:
            raise ParameterError(f"special of {column!r} are numbers; got {wrong[0]!r}.")
        if column not in counts:
            raise ParameterError(
                f"special: {column!r} is not among groups, and without groups each of its numbers "
                "is a level of its own anyway. Name it in groups too, or leave it out."
            )


def _is_number(value: object) -> bool:
    return (
        not isinstance(value, bool) and isinstance(value, Real | Decimal) and not math.isnan(value)
    )


def put_in_groups(
    name: str,
    original: Codes,
    levels: Levels,
    groups: int,
    special: Sequence[float],
) -> tuple[NDArray[np.int64], Levels]:
    """Return the group of each level of a numeric column, and what the groups are called.

    Parameters
    ----------
    name : str
        The column, for messages.
    original : ndarray of unsigned int
        The codes of the records that decide the limits.
    levels : Levels
        What they stand for.
    groups : int
        How many groups there are, unless equal limits make some of them one.
    special : sequence of float
        Numbers that are levels of their own.
    """
    if levels.numbers is None:
        raise ParameterError(f"groups: {name!r} holds no numbers.")
    numbers = levels.numbers
    own = np.isin(numbers, np.array(special, np.float64)) | np.isnan(numbers)
    counts = np.bincount(original, minlength=len(levels))
    counts[own | ~np.isfinite(numbers)] = 0  # quantiles next to infinity are undefined
    inside = np.repeat(numbers, counts)
    if not len(inside):
        raise DataError(f"groups: {name!r} has no ordinary number in the original to group by.")
    edges = np.unique(np.quantile(inside, np.linspace(0, 1, int(groups) + 1)))
    distinct = np.unique(numbers[counts > 0])
    if len(distinct) <= groups:
        # Each number is its own group; those that the original lacks join the next one below.
        group = np.maximum(np.searchsorted(distinct, numbers, side="right") - 1, 0)
        names = [in_words(value) for value in distinct.tolist()]
        centres = distinct
    else:
        inner = edges[1:-1]
        group = np.searchsorted(inner, numbers, side="right")
        names = [f"{low} to {high}" for low, high in pairwise(_limits(edges.tolist()))]
        centres = (edges[:-1] + edges[1:]) / 2
    kept = np.flatnonzero(own & ~np.isnan(numbers))
    group[kept] = len(names) + np.arange(len(kept))
    names += levels.labels_of(kept)
    centres = np.concatenate([centres, numbers[kept]])
    if levels.missing is None:
        return group, Levels(tuple(names), centres, None)
    group[levels.missing] = len(names)
    return group, Levels((*names, None), np.append(centres, np.nan), len(names))


def _limits(edges: Sequence[float]) -> list[str]:
    """Return limits in words: twelve digits, which hide what interpolation leaves, or all."""
    short = [in_words(float(f"{edge:.12g}")) for edge in edges]
    return short if len(set(short)) == len(edges) else [in_words(edge) for edge in edges]
