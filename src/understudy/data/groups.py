"""Numbers in groups, three ways: keys for an attack, shares to be compared, bars of a chart.

An attacker's groups have about the same number of original records each (`put_in_groups`). So do
those for comparing shares, but a frequent number is a group of its own, and dates are grouped too
(`code_in_groups`). A chart has round limits that the release alone decides (`round_groups`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import is_whole
from understudy.data.coded import Coded, Codes
from understudy.data.levels import Levels, in_words
from understudy.errors import DataError, ParameterError, unknown_columns

if TYPE_CHECKING:
    from understudy.data.joint_coding import CodedTables

GROUPS = 10
"""Into how many groups numbers are put to compare shares, if nothing else is asked for."""
ROUND_GROUPS = 12
"""Into how many pieces round limits cut a column, about."""
FREQUENT = 0.1
"""A number that so large a share of a release has is a bar of its own."""

Groups = int | Mapping[str, int] | None
Floats = NDArray[np.float64]


def check_groups(
    groups: object, special: object, columns: Sequence[str], *, by_default: bool = False
) -> None:
    """Refuse what does not say how the numbers of some of the columns are put into groups.

    `groups` maps columns to the number of their groups, `special` to numbers that are not grouped.
    With `by_default` all columns of numbers are put into groups; `groups` may then be one number.
    """
    one_for_all = by_default and groups is not None and _is_count(groups)
    for name, argument in (("groups", None if one_for_all else groups), ("special", special)):
        if argument is not None and not isinstance(argument, Mapping):
            form = "a whole number from 2 or " if by_default and name == "groups" else ""
            example = {"groups": "groups={'age': 5}", "special": "special={'age': [-8]}"}[name]
            raise ParameterError(
                f"{name} must be {form}a mapping, such as {example}; got {argument!r}."
            )
        other = unknown_columns(argument or (), columns)
        if other and by_default:
            raise ParameterError(f"{name}: {' '.join(other)}")
        if other:
            first = next(column for column in argument or () if column not in columns)
            raise ParameterError(
                f"groups and special are for keys and the sensitive attribute; got {first!r}."
            )
    counts = groups if isinstance(groups, Mapping) else {}
    for column, count in counts.items():
        if not _is_count(count):
            raise ParameterError(
                f"groups of {column!r} must be a whole number from 2; got {count!r}."
            )
    for column, numbers in special.items() if isinstance(special, Mapping) else ():
        _check_numbers(column, numbers)
        if column not in counts and not by_default:
            raise ParameterError(
                f"special: {column!r} is not among groups, and without groups each of its numbers "
                "is a level of its own anyway. Name it in groups too, or leave it out."
            )


def _check_numbers(column: str, numbers: object) -> None:
    if isinstance(numbers, str) or not isinstance(numbers, Collection):
        raise ParameterError(f"special of {column!r} must be a list of numbers; got {numbers!r}.")
    wrong = [number for number in numbers if not _is_number(number)]
    if wrong:
        raise ParameterError(f"special of {column!r} must be numbers; got {wrong[0]!r}.")


def _is_count(value: object) -> bool:
    return is_whole(value) and int(value) >= 2  # type: ignore[call-overload]


def _is_number(value: object) -> bool:
    return (
        not isinstance(value, bool) and isinstance(value, Real | Decimal) and not math.isnan(value)
    )


def numbers_of(levels: Levels) -> Floats | None:
    """Return a number for each level, NaN for missing; None where levels have no order.

    Dates and times stand by their places among all of the column.

    Examples
    --------
    >>> numbers_of(Levels(("a", "b"), None, None)) is None
    True
    """
    if levels.numbers is not None or not levels.are_times:
        return levels.numbers
    places = np.arange(len(levels), dtype=np.float64)
    if levels.missing is not None:
        places[levels.missing] = np.nan
    return places


def quantile_limits(
    known: Floats, groups: int, rule: Literal["apart", "joined", "inside"] = "apart"
) -> Floats:
    """Return the lower limits of all groups of numbers but the first.

    Groups are of about the same size; up to as many different numbers are all kept apart. With the
    rule "apart", a number with more than a group's share is a group of its own. Otherwise it is
    together with those between it and the next limit: where nine of ten people have no gains, that
    is everybody. With "inside", the smallest number is no limit.

    Examples
    --------
    >>> quantile_limits(np.array([1.0, 2, 3, 4, 5, 6]), 2)
    array([3.5])
    """
    distinct, times = np.unique(known, return_counts=True)
    few = len(distinct) <= groups
    if rule == "apart":
        limits = distinct[:0] if few else np.quantile(known, np.arange(1, groups) / groups)
        own = distinct if few else distinct[times > len(known) / groups]
        return np.unique(np.concatenate([limits, own, np.nextafter(own, np.inf)]))
    if few:
        return distinct[1:]
    if rule == "joined":
        return np.unique(np.quantile(known, np.arange(1, groups) / groups))
    limits = np.unique(np.quantile(known, np.linspace(0, 1, groups + 1)))
    return limits[1:-1]


def group_names(
    limits: Sequence[float],
    words: Callable[[float], str],
    *,
    whole: bool = False,
    between: str = "to",
) -> list[str]:
    """Return groups in words by their limits; none tells the smallest or the largest number.

    The limits are the lower ones of all groups but the first, and `words` returns one as text. A
    group of `whole` numbers can be named by its last one.

    Examples
    --------
    >>> group_names([10.0, 20.0], in_words, whole=True)
    ['below 10', '10 to 19', '20 and more']
    """
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
            names.append(f"{start} {between} {words(high - 1 if whole else high)}")
    last = limits[-1]
    if last == math.nextafter(single, math.inf):
        return [*names, f"over {words(single)}"]
    return [*names, f"{words(last)} and more"]


def _in_short(number: float) -> str:
    return in_words(float(f"{number:.12g}"))  # which hides what interpolation leaves


@dataclass(frozen=True, eq=False)
class Grouping:
    """What becomes of the levels of a column.

    Parameters
    ----------
    place : ndarray of int64
        The group of each level; -1 where it has none.
    names : list of str
        The groups in words; missing is not among them, though it has the place after the last.
    """

    place: NDArray[np.int64]
    names: list[str]


def _grouping(
    levels: Levels, numbers: Floats, limits: Floats, names: Sequence[str], own: NDArray[np.bool_]
) -> Grouping:
    """Put numbers into groups, then those that are levels of their `own`, and missing last."""
    place = np.searchsorted(limits, numbers, side="right")
    kept = np.flatnonzero(own)
    place[kept] = len(names) + np.arange(len(kept))
    if levels.missing is not None:
        place[levels.missing] = len(names) + len(kept)
    return Grouping(place, [*names, *levels.labels_of(kept)])


def put_in_groups(
    name: str,
    original: Codes,
    levels: Levels,
    groups: int,
    special: Sequence[float],
    times: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.int64], Levels]:
    """Return the group of each level of a numeric column, and the groups as levels.

    The records with the codes `original` decide the limits, so many `times` each. There are so
    many groups, unless equal limits make some of them one; `special` numbers are levels of their
    own.
    """
    numbers = levels.numbers
    if numbers is None:
        raise ParameterError(f"groups: {name!r} holds no numbers.")
    own = np.isin(numbers, np.array(special, np.float64))
    known = _known(numbers, own, original, times)
    if not len(known):
        raise DataError(f"groups: {name!r} has no ordinary number in the original to group by.")
    limits = quantile_limits(known, int(groups), "inside")
    distinct = np.unique(known)
    if len(distinct) <= groups:
        # Each number is its own group; those that the original lacks join the next one below.
        names, centres = [in_words(value) for value in distinct.tolist()], distinct
    else:
        edges = np.concatenate([distinct[:1], limits, distinct[-1:]])
        short = [_in_short(edge) for edge in edges.tolist()]
        clear = len(set(short)) == len(edges)
        texts = short if clear else [in_words(edge) for edge in edges.tolist()]
        names = [f"{low} to {high}" for low, high in pairwise(texts)]
        centres = (edges[:-1] + edges[1:]) / 2
    found = _grouping(levels, numbers, limits, names, own)
    centres = np.concatenate([centres, numbers[own]])
    if levels.missing is None:
        return found.place, Levels(tuple(found.names), centres, None)
    count = len(found.names)
    return found.place, Levels((*found.names, None), np.append(centres, np.nan), count)


def _known(
    numbers: Floats,
    own: NDArray[np.bool_],
    codes: Codes,
    times: NDArray[np.int64] | None,
) -> Floats:
    """Return the numbers of records that can decide limits, sorted."""
    counts = np.bincount(codes, times, minlength=len(numbers)).astype(np.int64)
    counts[own | ~np.isfinite(numbers)] = 0  # quantiles next to infinity are undefined
    return np.repeat(numbers, counts)


@dataclass(frozen=True, eq=False)
class Labels:
    """What the codes of columns stand for, some of them in groups.

    Parameters
    ----------
    groups : dict
        For each column that was put into groups, how many there are.
    """

    groups: dict[str, int]
    _names: dict[str, list[str]]
    _levels: dict[str, Levels]

    def labels(self, column: str) -> list[str | None]:
        """Return what the codes of a column stand for, in words; None for missing."""
        levels = self._levels[column]
        names: list[str | None] = [*self._names.get(column, levels.labels[: levels.missing])]
        return names if levels.missing is None else [*names, None]


@dataclass(frozen=True, eq=False)
class Grouped(Labels):
    """An original and its synthesis, coded alike to compare shares.

    Parameters
    ----------
    original, synthetic : Coded
        The tables; missing values are a level of their own.
    """

    original: Coded
    synthetic: Coded


def code_in_groups(
    tables: CodedTables,
    *,
    groups: Groups = None,
    special: Mapping[str, Sequence[float]] | None = None,
    apart: bool = True,
) -> Grouped:
    """Put the numbers of two tables in groups that the original decides, as `marginals` says.

    A group goes from its first limit to below its second. With `apart`, a number that makes up more
    than a group's share is a group of its own.

    Examples
    --------
    >>> import polars as pl
    >>> from understudy.data.joint_coding import CodedTables
    >>> frames = {"original": pl.DataFrame({"x": range(8)}), "synthetic": pl.DataFrame({"x": [9]})}
    >>> both = code_in_groups(CodedTables.of(frames), groups=2)
    >>> both.labels("x"), both.synthetic["x"].tolist()
    (['below 4', '4 and more'], [1])
    """
    check_groups(groups, special, tables.columns, by_default=True)
    tables.check_rows()
    coded: dict[str, dict[str, NDArray[np.integer]]] = {"original": {}, "synthetic": {}}
    sizes: dict[str, int] = {}
    found = {
        column: group_column(tables, column, groups, special, apart=apart)
        for column in tables.columns
    }
    for column, own in found.items():
        sizes[column] = own.size
        codes, _ = tables.column(column)
        for table, columns in coded.items():
            held = codes[table]
            columns[column] = held if own.grouping is None else own.grouping.place[held]
    original, synthetic = (Coded.from_arrays(held, sizes) for held in coded.values())
    return Grouped(*labels_of(found), original, synthetic)


class GroupedColumn(NamedTuple):
    """What becomes of a column: its groups, if it has any, how many of them are of numbers."""

    levels: Levels
    grouping: Grouping | None
    numbers: int
    size: int


def group_column(
    tables: CodedTables,
    column: str,
    groups: Groups,
    special: Mapping[str, Sequence[float]] | None,
    *,
    apart: bool = True,
) -> GroupedColumn:
    """Put the numbers of one column of two tables in groups, as `code_in_groups` does."""
    codes, levels = tables.column(column)
    own = tuple((special or {}).get(column, ()))
    named = isinstance(groups, Mapping) and column in groups
    numbers = numbers_of(levels)
    if (own and levels.numbers is None) or (named and numbers is None):
        raise ParameterError(f"{'special' if own else 'groups'}: {column!r} holds no numbers.")
    if numbers is None:
        return GroupedColumn(levels, None, 0, len(levels))
    wanted = groups.get(column, GROUPS) if isinstance(groups, Mapping) else groups or GROUPS
    times = tables.encoded["original"].weights
    found = _share_groups(levels, numbers, codes["original"], wanted, own, times, apart=apart)
    size = len(found.names) + (levels.missing is not None)
    count = len(found.names) - int(np.isin(numbers, np.array(own)).sum())
    return GroupedColumn(levels, found, count, size)


def labels_of(
    columns: Mapping[str, GroupedColumn],
) -> tuple[dict[str, int], dict[str, list[str]], dict[str, Levels]]:
    """Return the fields of `Labels` for columns that were put into groups."""
    grouped = {name: own for name, own in columns.items() if own.grouping is not None}
    return (
        {name: own.numbers for name, own in grouped.items()},
        {name: own.grouping.names for name, own in grouped.items() if own.grouping},
        {name: own.levels for name, own in columns.items()},
    )


def _share_groups(
    levels: Levels,
    numbers: Floats,
    original: Codes,
    groups: int,
    special: Sequence[float],
    times: NDArray[np.int64] | None,
    *,
    apart: bool,
) -> Grouping:
    """Put numbers or times in groups to compare shares; groups that no table has are left out."""
    own = np.isin(numbers, np.array(special, np.float64))
    known = _known(numbers, own, original, times)
    limits = quantile_limits(known, groups, "apart" if apart else "joined")
    whole = bool(np.all(np.floor(numbers) == numbers, where=np.isfinite(numbers)))
    if whole:
        limits = np.unique(np.ceil(limits))
    if levels.numbers is None:
        limits = limits[limits < len(levels)]
        names = group_names(limits.tolist(), lambda place: levels.label(int(place)), whole=whole)
    else:
        names = group_names(limits.tolist(), _in_short, whole=whole)
    found = _grouping(levels, numbers, limits, names, own)
    used, place = np.unique(found.place, return_inverse=True)
    kept = [found.names[group] for group in used.tolist() if group < len(found.names)]
    return Grouping(place.astype(np.int64), kept)


def round_groups(levels: Levels, counts: NDArray[np.int64]) -> Grouping:
    """Put numbers between round limits that a release decides, as bars of a chart.

    `counts` are the records of the release with each level. Frequent and infinite numbers come
    first, each by itself. What lies outside of the release's numbers has no group; nor has missing,
    unless the release has it.
    """
    numbers = levels.numbers
    assert numbers is not None  # noqa: S101  # the caller looked
    finite = np.isfinite(numbers)
    held = finite & (counts > 0)
    own = (counts > 0) & (~finite | (counts > FREQUENT * counts.sum()))
    if levels.missing is not None:
        own[levels.missing] = False
    limits = _round_limits(np.repeat(numbers[held & ~own], counts[held & ~own]))
    kept = np.flatnonzero(own)
    labels = levels.labels_of(kept)
    groups = group_names(limits.tolist(), in_words, between="to below")
    bars = np.searchsorted(limits, numbers, side="right")
    for code, label in zip(kept.tolist(), labels, strict=True):
        if finite[code]:
            groups[bars[code]] += f", not {label}"
    low, high = numbers[held].min(), numbers[held].max()
    inside = finite & (numbers >= low) & (numbers <= high)
    place = np.where(inside, len(labels) + bars, -1)
    place[kept] = np.arange(len(kept))
    return Grouping(place, [*labels, *groups])


def _round_limits(values: Floats) -> Floats:
    """Return round numbers that cut the middle 98% of the values into about 12 pieces."""
    low, high = np.quantile(values, [0.01, 0.99])
    least = (high - low) / ROUND_GROUPS
    if not least > 0 or not math.isfinite(least):
        return np.array([low])
    power = 10.0 ** math.floor(math.log10(least))
    step = next(power * unit for unit in (1, 2, 5, 10) if power * unit >= least * (1 - 1e-9))
    if bool(np.all(np.floor(values) == values)):
        step = max(step, 1.0)
    limits: Floats = np.arange(math.floor(low / step) + 1, high / step) * step
    digits = max(0, -math.floor(math.log10(step)))
    return np.unique(limits.round(digits)) if len(limits) else np.array([round(low, digits)])
