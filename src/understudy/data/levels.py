"""What the codes of a column stand for: the values themselves, and each in words.

Both are made when they are asked for: a column of measurements has hundreds of thousands of
levels, and a report shows a dozen of them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

Value: TypeAlias = str | float | Decimal | dt.date | dt.time | dt.timedelta | None
"""A level as Python has it (whole numbers and booleans too); None for missing."""

LARGEST_WHOLE = 2**53
"""Up to here floats count every whole number."""


@dataclass(frozen=True, eq=False)
class Levels:
    """What the codes of one column stand for.

    Parameters
    ----------
    held : tuple or polars.Series
        Each level, in order; missing, where it occurs, is the last. Groups of numbers are held as
        their names.
    numbers : ndarray of float64 or None
        The number of each level of a numeric column, NaN for missing; None for other columns.
    missing : int or None
        The code of missing values; None if there are none.

    Examples
    --------
    >>> levels = Levels((0, 1.5, None), np.array([0, 1.5, np.nan]), 2)
    >>> levels.label(1), levels.labels_of([2, 0]), levels.values
    ('1.5', ['missing', '0'], (0, 1.5, None))
    """

    held: tuple[Value, ...] | pl.Series
    numbers: NDArray[np.float64] | None
    missing: int | None

    def __len__(self) -> int:
        return len(self.held)

    @property
    def have_sizes(self) -> bool:
        """Whether they are numbers, dates or times."""
        if self.numbers is not None:
            return True
        if isinstance(self.held, pl.Series):
            return self.held.dtype.is_temporal()
        return any(isinstance(value, dt.date | dt.time | dt.timedelta) for value in self.held)

    def label(self, code: int) -> str:
        """Return a level in words."""
        return self.labels_of([code])[0]

    def labels_of(self, codes: Sequence[int] | NDArray[np.integer]) -> list[str]:
        """Return some levels in words, in which different levels are different."""
        return self._decoded(codes)[1]

    def value(self, code: int) -> Value:
        """Return a level as a value; None for missing."""
        return self.values_of([code])[0]

    def values_of(self, codes: Sequence[int] | NDArray[np.integer]) -> list[Value]:
        """Return some levels as values, as in the first table that has them; None for missing.

        Whole numbers are of type int, however they are stored.
        """
        return self._decoded(codes)[0]

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """All levels in words: for columns of few levels."""
        return tuple(self.labels_of(np.arange(len(self))))

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """All levels as values: for columns of few levels."""
        return tuple(self.values_of(np.arange(len(self))))

    @property
    def are_times(self) -> bool:
        """Whether there are dates, times or durations among the levels."""
        if isinstance(self.held, tuple):
            return any(isinstance(value, dt.date | dt.time | dt.timedelta) for value in self.held)
        return self.held.dtype.is_temporal() and not bool(_finer(self.held.drop_nulls()).all())

    def _decoded(self, codes: Sequence[int] | NDArray[np.integer]) -> tuple[list[Value], list[str]]:
        """Return some levels as values and in words."""
        places = np.asarray(codes, np.int64)
        if isinstance(self.held, tuple):
            held = [
                None if place == self.missing else self.held[place] for place in places.tolist()
            ]
            return held, [in_words(value) for value in held]
        known = places != (-1 if self.missing is None else self.missing)
        if known.all():
            return decode(self.held.gather(places))
        values: list[Value] = [None] * len(places)
        labels = [in_words(None)] * len(places)
        found = decode(self.held.gather(places[known]))
        for place, value, label in zip(np.flatnonzero(known).tolist(), *found, strict=True):
            values[place], labels[place] = value, label
        return values, labels


def in_words(value: Value) -> str:
    """Return a level as text, in which different numbers are different.

    Examples
    --------
    >>> [in_words(value) for value in (3.0, 1234567.25, dt.date(2020, 1, 31), None)]
    ['3', '1234567.25', '2020-01-31', 'missing']
    """
    return "missing" if value is None else str(_shortened(value))


def decode(distinct: pl.Series) -> tuple[list[Value], list[str]]:
    """Return values of a series without gaps as Python has them, and their labels."""
    held = distinct.to_list()
    if isinstance(distinct.dtype, pl.Decimal):
        return [_from_decimal(value) for value in held], [str(value) for value in held]
    if distinct.dtype == pl.Float32:
        # What was typed: 0.1, which is 0.10000000149 in double precision.
        held = distinct.to_numpy().astype(str).astype(np.float64).tolist()
    if distinct.dtype.is_float():
        held = [_shortened(value) for value in held]
    if distinct.dtype.is_temporal():
        held = _exact_times(distinct, held)
    return held, [in_words(value) for value in held]


def decode_first(columns: Iterable[pl.Series], codes: NDArray[np.int64], count: int) -> list[Value]:
    """Return the values of `count` codes, as the first table that has them holds them.

    The columns hold the different values in each table; `codes` are theirs, one table below the
    other.
    """
    first = np.empty(count, np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    values: list[Value] = [None] * count
    start = 0
    for column in columns:
        places = np.flatnonzero((first >= start) & (first < start + len(column)))
        found, _ = decode(column.gather(first[places] - start))
        for place, value in zip(places.tolist(), found, strict=True):
            values[place] = value
        start += len(column)
    return values


def _shortened(value: Any) -> Any:  # noqa: ANN401  # any level
    """Return a float that is a whole number as one."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST_WHOLE
    return int(value) if whole else value


def _from_decimal(value: Decimal) -> Value:
    """Return a decimal number as a whole one or a float, unless this would round it."""
    if value == value.to_integral_value():
        return int(value)
    number = float(value)
    return number if Decimal(repr(number)) == value else value


def _exact_times(distinct: pl.Series, held: list[Any]) -> list[Any]:
    """Return times, those that Python would round to microseconds as text."""
    finer = _finer(distinct)
    if not finer.any():
        return held
    texts = distinct.dt.to_string("iso").to_list()
    return [
        text if fine else value
        for value, text, fine in zip(held, texts, finer.tolist(), strict=True)
    ]


def _finer(times: pl.Series) -> NDArray[np.bool_]:
    """Return which times Python would round to microseconds."""
    if getattr(times.dtype, "time_unit", None) != "ns" and times.dtype != pl.Time:
        return np.zeros(len(times), bool)
    finer: NDArray[np.bool_] = (times.to_physical().to_numpy() % 1000) != 0
    return finer
