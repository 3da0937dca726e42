"""Two tables coded alike to compare shares: numbers in groups, everything else level by level."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Coded, Codes
from understudy.data.frames import Frame
from understudy.data.joint_coding import code_together
from understudy.data.levels import Levels, in_words
from understudy.errors import DataError, ParameterError, unknown_columns
from understudy.utility.arguments import chosen_columns

GROUPS = 10
"""Into how many groups numbers are put, if nothing else is asked for."""
Groups = int | Mapping[str, int] | None


@dataclass(frozen=True, eq=False)
class Grouped:
    """An original and its synthesis, coded alike.

    Parameters
    ----------
    original, synthetic : Coded
        The tables; missing values are a level of their own.
    labels : dict
        What the codes of each column stand for, in words; None for missing.
    groups : dict
        For each column that was put into groups, how many there are.
    """

    original: Coded
    synthetic: Coded
    labels: dict[str, tuple[str | None, ...]]
    groups: dict[str, int]


def code_in_groups(
    original: Frame,
    synthetic: Frame,
    columns: str | Sequence[str] | None = None,
    *,
    groups: Groups = None,
    special: Mapping[str, Sequence[float]] | None = None,
    apart: bool = True,
) -> Grouped:
    """Code two tables alike, with their numbers in groups that the original decides.

    Parameters
    ----------
    original, synthetic : frame
        The tables.
    columns : str or sequence of str, optional
        The columns; all those of the original by default.
    groups : int or mapping, optional
        Into how many groups of about the same number of original records the numbers of a column
        are put: one figure for all, or figures by column. 10 where nothing is said. Up to as many
        different numbers are all kept apart. Dates and times are put into groups as well. A group
        goes from its first limit to below its second.
    special : mapping, optional
        Numbers of a column that are levels of their own, such as -8.
    apart : bool
        Whether a number that makes up more than a group's share is a group of its own. Otherwise
        it is together with those between it and the next limit: where nine of ten people have no
        gains, that is everybody.

    Raises
    ------
    ParameterError
        If a table lacks a column, or `groups` or `special` do not fit the columns.
    DataError
        If a table has no rows, or tables hold values that cannot be compared.

    Examples
    --------
    >>> import polars as pl
    >>> both = code_in_groups(pl.DataFrame({"x": range(8)}), pl.DataFrame({"x": [-1, 9]}), groups=2)
    >>> both.labels["x"], both.synthetic["x"].tolist()
    (('below 4', '4 and more'), [0, 1])
    """
    names = chosen_columns(original, columns)
    _check_groups(groups, special, names)
    together = code_together({"original": original, "synthetic": synthetic}, names)
    for table, coded in together.tables.items():
        if not len(coded):
            raise DataError(f"The {table} table has no rows.")
    columns_of: dict[str, dict[str, NDArray[np.integer]]] = {"original": {}, "synthetic": {}}
    labels: dict[str, tuple[str | None, ...]] = {}
    counts: dict[str, int] = {}
    for name in names:
        levels, codes = together.levels[name], together["original"][name]
        own = tuple((special or {}).get(name, ()))
        named = isinstance(groups, Mapping) and name in groups
        if (own and levels.numbers is None) or (named and numbers_of(levels) is None):
            raise ParameterError(f"{'special' if own else 'groups'}: {name!r} holds no numbers.")
        if numbers_of(levels) is None:
            place, words = np.arange(len(levels)), list(levels.labels[: levels.missing])
        else:
            wanted = groups.get(name, GROUPS) if isinstance(groups, Mapping) else groups or GROUPS
            place, words, counts[name] = _in_groups(levels, codes, wanted, own, apart=apart)
        labels[name] = tuple(words) if levels.missing is None else (*words, None)
        for table, found in columns_of.items():
            found[name] = place[together[table][name]]
    sizes = {name: len(found) for name, found in labels.items()}
    return Grouped(
        Coded.from_arrays(columns_of["original"], sizes),
        Coded.from_arrays(columns_of["synthetic"], sizes),
        labels,
        counts,
    )


def numbers_of(levels: Levels) -> NDArray[np.float64] | None:
    """Return a number for each level, NaN for missing; None where levels have no order.

    Dates and times stand by their places among all of the column.

    Examples
    --------
    >>> numbers_of(Levels(("a", "b"), None, None)) is None
    True
    """
    times = (dt.date, dt.time, dt.timedelta)
    if levels.numbers is not None or not any(isinstance(value, times) for value in levels.values):
        return levels.numbers
    places = np.arange(len(levels), dtype=np.float64)
    if levels.missing is not None:
        places[levels.missing] = np.nan
    return places


def quantile_limits(
    known: NDArray[np.float64], groups: int, *, apart: bool = True
) -> NDArray[np.float64]:
    """Return the lower limits of all groups of numbers but the first.

    Parameters
    ----------
    known : ndarray of float64
        The numbers that decide.
    groups : int
        How many groups of about the same size are wanted. Up to as many different numbers are all
        kept apart.
    apart : bool
        Whether a number with more than a group's share is a group of its own.

    Examples
    --------
    >>> quantile_limits(np.array([1.0, 2, 3, 4, 5, 6]), 2)
    array([3.5])
    """
    distinct, times = np.unique(known, return_counts=True)
    few = len(distinct) <= groups
    if few and not apart:
        return distinct[1:]
    limits = distinct[:0] if few else np.quantile(known, np.arange(1, groups) / groups)
    own = distinct if few else distinct[apart & (times > len(known) / groups)]
    return np.unique(np.concatenate([limits, own, np.nextafter(own, np.inf)]))


def _in_groups(
    levels: Levels, codes: Codes, groups: int, special: Sequence[float], *, apart: bool
) -> tuple[NDArray[np.int64], list[str], int]:
    """Return the new code of each level, the codes in words, and how many of them are groups.

    The groups come first, without those that are empty in all tables, then special numbers and
    missing.
    """
    numbers = numbers_of(levels)
    assert numbers is not None  # noqa: S101  # the caller looked
    own = np.isin(numbers, np.array(special, np.float64))
    known = np.where(own | ~np.isfinite(numbers), np.nan, numbers)[codes]
    limits = quantile_limits(known[~np.isnan(known)], groups, apart=apart)
    whole = bool(np.all(np.floor(numbers) == numbers, where=np.isfinite(numbers)))
    if whole:
        limits = np.unique(np.ceil(limits))
    if levels.numbers is None:
        limits = limits[limits < len(levels)]
    words = _in_short if levels.numbers is not None else partial(_label, levels)
    names = _in_words(limits.tolist(), words, whole=whole)
    place = np.searchsorted(limits, numbers, side="right")
    place[own] = len(names) + np.arange(np.count_nonzero(own))
    names += [levels.labels[code] for code in np.flatnonzero(own).tolist()]
    if levels.missing is not None:
        place[levels.missing] = len(names)
    used, place = np.unique(place, return_inverse=True)
    kept = [names[number] for number in used.tolist() if number < len(names)]
    return place.astype(np.int64), kept, len(kept) - int(np.count_nonzero(own))


def _label(levels: Levels, place: float) -> str:
    return levels.labels[int(place)]


def _in_short(number: float) -> str:
    return in_words(float(f"{number:.12g}"))  # which hides what interpolation leaves


def _in_words(limits: list[float], words: Callable[[float], str], *, whole: bool) -> list[str]:
    """Return the groups in words; none tells the smallest or the largest number."""
    if not limits:
        return ["all numbers"]
    names = [f"below {words(limits[0])}"]
    single = -math.inf  # what the group before consists of
    for low, high in pairwise(limits):
        start = f"over {words(single)}" if low == math.nextafter(single, math.inf) else words(low)
        if high == (low + 1 if whole else math.nextafter(low, math.inf)):
            names.append(words(low))
            single = single if whole else low
        else:
            names.append(f"{start} to {words(high - 1 if whole else high)}")
    last = limits[-1]
    if last == math.nextafter(single, math.inf):
        return [*names, f"over {words(single)}"]
    return [*names, f"{words(last)} and more"]


def _check_groups(groups: object, special: object, columns: Sequence[str]) -> None:
    for name, argument in (("groups", groups), ("special", special)):
        if isinstance(argument, Mapping):
            if problems := unknown_columns(argument, columns):
                raise ParameterError(f"{name}: {' '.join(problems)}")
        elif argument is not None and (name == "special" or not _is_count(argument)):
            form = "a whole number from 2, or" if name == "groups" else "a mapping"
            example = {"groups": "{'age': 5}", "special": "{'age': [-8]}"}[name]
            raise ParameterError(f"{name} is {form} such as {example}; got {argument!r}.")
    for column, count in groups.items() if isinstance(groups, Mapping) else ():
        if not _is_count(count):
            raise ParameterError(f"groups of {column!r} are a whole number from 2; got {count!r}.")
    for column, numbers in special.items() if isinstance(special, Mapping) else ():
        if not _are_numbers(numbers):
            raise ParameterError(f"special of {column!r} is a list of numbers; got {numbers!r}.")


def _is_count(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 2


def _are_numbers(values: object) -> bool:
    return (
        isinstance(values, Collection)
        and not isinstance(values, str)
        and all(isinstance(value, Real) and not isinstance(value, bool) for value in values)
    )
