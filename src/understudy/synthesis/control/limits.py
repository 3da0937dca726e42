"""Limits and codes that a user writes down, as values of a column's own type."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from understudy.data.values import (
    TICKS_PER_SECOND,
    Numbers,
    form_of,
    numbers_to_arrow,
    text_to_time,
    unit_of,
)
from understudy.errors import ParameterError

Limit: TypeAlias = int | float | Decimal | date | time | np.generic | str
"""A number for numbers; a date, a time or ISO text for dates and times."""


def check_kinds(limits: Sequence[Limit | None], kind: pa.DataType, name: str) -> None:
    """Refuse a column that has no extremes, and limits that are no values of its kind."""
    form = form_of(kind, name)
    if form not in ("whole", "number", "time") or pa.types.is_duration(kind):
        raise ParameterError(
            f"Column {name!r} holds {kind}; top and bottom coding is for numbers, dates and times."
        )
    allowed, wanted = (
        ((str, date, time, np.datetime64), "dates, times or ISO text such as '2024-12-31'")
        if form == "time"
        else ((int, float, Decimal, np.integer, np.floating), "numbers")
    )
    for limit in limits:
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, allowed)):
            raise ParameterError(
                f"Limits and special codes of {name!r}, which holds {kind}, are {wanted}; "
                f"got {limit!r}."
            )


def as_scalar(limit: Limit, kind: pa.DataType) -> pa.Scalar:
    """Return a limit as a value of type `kind`.

    Raises
    ------
    ValueError
        If the type cannot hold the limit.

    Examples
    --------
    >>> as_scalar("2024-12-31", pa.date32()), as_scalar(18.0, pa.int8())
    (<pyarrow.Date32Scalar: datetime.date(2024, 12, 31)>, <pyarrow.Int8Scalar: 18>)
    """
    if pa.types.is_temporal(kind):
        ticks = Numbers(np.array([_ticks(limit, kind)]), np.array([False]))
        return numbers_to_arrow(ticks, kind)[0]
    return _number(limit.item() if isinstance(limit, np.generic) else limit, kind)


def _number(limit: Limit, kind: pa.DataType) -> pa.Scalar:
    if not isinstance(limit, int | float | Decimal) or not _is_finite(limit):
        raise ValueError(f"{limit} is no finite number")
    value: int | float | Decimal = limit
    if pa.types.is_integer(kind):
        value = int(limit)
    elif pa.types.is_decimal(kind):
        value = Decimal(str(limit))
    elif not isinstance(limit, int):
        value = float(limit)
    try:
        scalar = pa.scalar(value, kind)
    except (pa.ArrowInvalid, OverflowError) as error:
        raise ValueError(f"it cannot hold {limit}") from error
    # Arrow lets a float that is too large become infinite.
    if (pa.types.is_integer(kind) and value != limit) or not _is_finite(scalar.as_py()):
        raise ValueError(f"it cannot hold {limit}")
    return scalar


def _is_finite(number: float | Decimal) -> bool:
    # Whole numbers may be too large to be asked as floats.
    return isinstance(number, int) or math.isfinite(number)


def _ticks(limit: Limit, kind: pa.DataType) -> int:
    """Return a date or time as ticks of `kind`, if it is a whole number of them."""
    text = limit.isoformat() if isinstance(limit, date | time) else str(limit)
    if not pa.types.is_time(kind):
        zoned = datetime.fromisoformat(text).tzinfo is not None
        if zoned != (pa.types.is_timestamp(kind) and kind.tz is not None):
            raise ValueError(
                f"{text} has a time zone, and the column has none"
                if zoned
                else f"{text} has no time zone, and the column has one; add it, such as +00:00"
            )
    ticks = text_to_time(text, kind)
    unit = unit_of(kind)
    if unit != "ns":
        # NumPy would cut off what the unit cannot tell.
        fine = text_to_time(text, pa.time64("us") if pa.types.is_time(kind) else pa.timestamp("us"))
        day = pa.types.is_date(kind)
        tick = 86_400 * 10**6 if day else 10**6 // TICKS_PER_SECOND[unit]
        if fine % tick:
            raise ValueError(f"{text} falls between two {'days' if day else f'ticks of {unit}'}")
    return ticks
