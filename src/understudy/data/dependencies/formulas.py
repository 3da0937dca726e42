"""What a formula gives for each record, and whether a column agrees with it.

A column that is computed was rounded when it was written. So it agrees if it lies within half a
unit of its own last decimal; numbers with all their decimals, within the precision of their type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.dependencies.composites import LEAST_DATE, clock_code, minutes_of
from understudy.data.dependencies.families import PARTS, Form, Formula
from understudy.data.values import (
    LARGEST_WHOLE,
    TICKS_PER_SECOND,
    Numbers,
    numbers,
    numbers_to_arrow,
    unit_of,
)

Floats = NDArray[np.float64]

_PARTS_OF_TIME: dict[str, Callable[[pa.Array], pa.Array]] = {
    "year": pc.year,
    "quarter": pc.quarter,
    "month": pc.month,
    "day": pc.day,
    "weekday": lambda array: pc.day_of_week(array, count_from_zero=False),
    "hour": pc.hour,
    "minute": pc.minute,
    "second": pc.second,
    "yyyymmdd": lambda array: _in_one(pc.year(array), pc.month(array), pc.day(array)),
    "yyyymm": lambda array: _in_one(pc.year(array), pc.month(array)),
    "hhmm": lambda array: _in_one(pc.hour(array), pc.minute(array)),
}
_PARTS_OF_CODES: dict[str, Callable[[Floats], Floats]] = {
    "hour": lambda a: np.floor(a / 100) % 24,
    "minute": lambda a: a % 100,
    "year": lambda a: np.floor(a / np.where(a < LEAST_DATE, 100, 10000)),
    "month": lambda a: np.where(a < LEAST_DATE, a, np.floor(a / 100)) % 100,
    "day": lambda a: a % 100,
    "yyyymm": lambda a: np.floor(a / 100),
}
_OF_ONE: dict[str, Callable[[Floats, float, float], Floats]] = {
    "multiple": lambda a, factor, constant: factor * a + constant,
    "square": lambda a, factor, _: factor * a * a,
    "log": lambda a, *_: np.log(a),
    "log10": lambda a, *_: np.log10(a),
    "log2": lambda a, *_: np.log2(a),
    "log1p": lambda a, *_: np.log1p(a),
    "rounded": lambda a, factor, _: factor * np.rint(a / factor),
    "rounded down": lambda a, factor, _: factor * np.floor(a / factor),
    "rounded up": lambda a, factor, _: factor * np.ceil(a / factor),
    "quotient": lambda a, factor, _: np.floor(a / factor),
    "remainder": lambda a, factor, _: np.mod(a, factor),
}
_OF_TWO: dict[str, Callable[[Floats, Floats, float, float], Floats]] = {
    "sum": lambda a, b, factor, constant: factor * (a + b) + constant,
    "difference": lambda a, b, _, constant: a - b + constant,
    "product": lambda a, b, factor, _: factor * a * b,
    "ratio": lambda a, b, factor, _: factor * a / b,
    "ratio to square": lambda a, b, factor, _: factor * a / (b * b),
    "clock": lambda a, b, _, constant: clock_code(minutes_of(a) + b, midnight=constant > 0),
}


def _in_one(*parts: pa.Array) -> pa.Array:
    """Return parts of dates as one number, with two digits for each after the first."""
    whole = parts[0]
    for part in parts[1:]:
        whole = pc.add(pc.multiply(whole, 100), part)
    return whole


def as_floats(array: pa.Array, name: str) -> Floats:
    """Return a column of numbers as floats, NaN where one is missing."""
    found = numbers(array, name)
    values = found.values.astype(np.float64)
    return np.where(found.missing, np.nan, values) if found.missing.any() else values


def plain_formula(form: Form, of: Sequence[Floats], factor: float, constant: float) -> Floats:
    """Return what a formula of numbers gives; NaN where it has no answer.

    Examples
    --------
    >>> plain_formula("sum", [np.array([1.0, 2.0]), np.array([5.0, np.nan])], 1, 0)
    array([ 6., nan])
    """
    with np.errstate(all="ignore"):
        if len(of) == 2:
            found = _OF_TWO[form](of[0], of[1], factor, constant)
        elif form in _PARTS_OF_CODES:
            found = _PARTS_OF_CODES[form](of[0])
        else:
            found = _OF_ONE[form](of[0], factor, constant)
    return np.where(np.isfinite(found), found, np.nan)


def computed(
    formula: Formula, of: Sequence[pa.Array], plain: Sequence[Floats] | None = None
) -> Floats:
    """Return what a formula gives for each record; NaN where a part is missing.

    Dates are days, and other times the ticks of the column that they come from. `plain` are the
    columns as numbers, if that is known.
    """
    a = of[0]
    timed = pa.types.is_temporal(a.type) and not pa.types.is_duration(a.type)
    if formula.form in PARTS and timed:
        return as_floats(_PARTS_OF_TIME[formula.form](a).cast(pa.int64()), formula.of[0])
    if formula.form == "date" and timed:
        return as_floats(a.cast(pa.date32(), safe=False), formula.of[0])
    if formula.form == "years":
        return _whole_years(of[1], of[0])
    if formula.form == "gap":
        ticks = [numbers(one, name) for one, name in zip(of, formula.of, strict=True)]
        seconds = seconds_between(ticks[0], ticks[1], a.type, of[1].type)
        return seconds / formula.factor + formula.constant
    if plain is None:
        plain = [as_floats(one, name) for one, name in zip(of, formula.of, strict=True)]
    return plain_formula(formula.form, plain, formula.factor, formula.constant)


def _whole_years(born: pa.Array, seen: pa.Array) -> Floats:
    """Return the age that somebody has on a day; NaN where one is missing.

    Examples
    --------
    >>> import datetime as dt
    >>> born, seen = pa.array([dt.date(1960, 5, 2)] * 2), [dt.date(2020, 5, day) for day in (1, 2)]
    >>> _whole_years(born, pa.array(seen))
    array([59., 60.])
    """
    days = [
        as_floats(_in_one(pc.year(one), pc.month(one), pc.day(one)), "") for one in (born, seen)
    ]
    return np.asarray(np.floor((days[1] - days[0]) / 10_000))


def seconds_between(a: Numbers, b: Numbers, kind: pa.DataType, other: pa.DataType) -> Floats:
    """Return the seconds from times b to times a, NaN where one is missing."""
    if kind == other:
        # Ticks are whole: their difference is exact, however long ago they began to count.
        seconds = (a.values - b.values) / _per_second(kind)
    else:
        seconds = a.values / _per_second(kind) - b.values / _per_second(other)
    return np.where(a.missing | b.missing, np.nan, seconds)


def _per_second(kind: pa.DataType) -> float:
    unit = unit_of(kind)
    return 1 / 86400 if unit == "D" else float(TICKS_PER_SECOND[unit])


def half_a_unit(kind: pa.DataType, decimals: int | None, values: Floats) -> Floats:
    """Return how far each value may lie from what it was computed as."""
    precision = 1e-9 if kind not in LARGEST_WHOLE else 4 / LARGEST_WHOLE[kind]
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        # A column without decimals that are known shows all of them.
        unit = 0.0 if decimals is None else 10.0**-decimals
    else:
        unit = 1.0
    return 0.5 * unit * (1 + 1e-9) + precision * np.abs(values)


def agreeing(told: Floats, column: Floats, tolerance: Floats) -> NDArray[np.bool_]:
    """Return where a column holds what a formula gives; both missing agree."""
    with np.errstate(invalid="ignore"):
        return (np.abs(told - column) <= tolerance) | (np.isnan(told) & np.isnan(column))


def written(told: Floats, kind: pa.DataType, decimals: int | None) -> pa.Array:
    """Return what a formula gives as a column stores it: rounded, in its type."""
    missing = np.isnan(told)
    values: NDArray[Any] = np.where(missing, 0.0, told)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        if decimals is not None:
            values = np.round(values, decimals)
        return numbers_to_arrow(Numbers(values, missing), kind)
    whole = np.rint(values)
    if pa.types.is_integer(kind):
        limits = np.iinfo(kind.to_pandas_dtype())
        # A type that the original fits in may be too narrow for what is computed from new values.
        whole = np.clip(whole, float(limits.min), float(min(limits.max, 2**63 - 1025)))
    return numbers_to_arrow(Numbers(whole.astype(np.int64), missing), kind)
