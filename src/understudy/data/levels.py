"""What the codes of a column stand for: the values themselves, and each in words."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

Value: TypeAlias = str | float | Decimal | dt.date | dt.time | dt.timedelta | None
"""A level as Python has it (whole numbers and booleans too); None for missing."""

LARGEST_WHOLE = 2**53
"""Up to here floats count every whole number."""


@dataclass(frozen=True, eq=False)
class Levels:
    """What the codes of one column stand for.

    Parameters
    ----------
    labels : tuple of str
        Each level in words, in order; missing, where it occurs, is the last.
    numbers : ndarray of float64 or None
        The number of each level of a numeric column, NaN for missing; None for other columns.
    missing : int or None
        The code of missing values; None if there are none.
    values : tuple
        Each level as a value, as in the first table that has it; None for missing. Whole numbers
        are of type int, however they are stored, and groups of numbers are their labels.
    """

    labels: tuple[str, ...]
    numbers: NDArray[np.float64] | None
    missing: int | None
    values: tuple[Value, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)


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
    import polars as pl

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


def decode_first(
    arrays: Iterable[pa.Array], codes: NDArray[np.int64], count: int
) -> tuple[list[Value], list[str]]:
    """Return the values and labels of `count` codes, as the first table that has them holds them.

    Parameters
    ----------
    arrays : iterable of pyarrow.Array
        The column in each table.
    codes : ndarray of int64
        The codes of all tables, one below the other; `count` stands for missing.
    count : int
        How many codes there are, missing apart.
    """
    import polars as pl

    first = np.empty(count + 1, np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    first = first[:count]
    values: list[Value] = [None] * count
    labels = [""] * count
    start = 0
    for array in arrays:
        places = np.flatnonzero((first >= start) & (first < start + len(array)))
        taken = array.take(pa.array(first[places] - start))
        if len(places):
            found = decode(pl.Series(pl.from_arrow(taken)))
            for place, value, label in zip(places.tolist(), *found, strict=True):
                values[place], labels[place] = value, label
        start += len(array)
    return values, labels


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
    import polars as pl

    if getattr(distinct.dtype, "time_unit", None) != "ns" and distinct.dtype != pl.Time:
        return held
    finer = (distinct.to_physical().to_numpy() % 1000) != 0
    if not finer.any():
        return held
    texts = distinct.dt.to_string("iso").to_list()
    return [
        text if fine else value
        for value, text, fine in zip(held, texts, finer.tolist(), strict=True)
    ]
