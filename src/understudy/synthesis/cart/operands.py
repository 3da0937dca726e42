"""Comparing a column with a value or with another column, by what the column holds.

A value is compared as the column would write it: text with text, a date with a date in quotes.
What cannot be compared is refused before the frame's own library sees it.
"""

from __future__ import annotations

import math
import operator as operators
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa

from understudy.data.frames import Frame, to_arrow, to_narwhals
from understudy.errors import ParameterError, unknown_columns
from understudy.showing import hint_of

Value: TypeAlias = str | int | float | bool
"""What a rule can compare with or set, apart from missing."""

Operator = Literal["==", "!=", "<", "<=", ">", ">="]

Kind = Literal[
    "text", "levels", "numbers", "booleans", "dates", "dates with times", "times", "durations",
    "nothing but missing values", "values that cannot be compared",
]  # fmt: skip

_COMPARE: dict[Operator, Callable[[Any, Any], Any]] = {
    "==": operators.eq,
    "!=": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
}
_UNORDERED = frozenset({"==", "!="})
_EXPECTED: dict[Kind, str] = {
    "text": "text in quotes",
    "levels": "one of its levels, in quotes",
    "numbers": "a number",
    "booleans": "true or false",
    "dates": "a date in quotes, such as '2020-12-31'",
    "dates with times": "a date and time in quotes, such as '2020-12-31 13:45:00'",
    "times": "a time in quotes, such as '13:45:00'",
}
_KINDS: dict[Any, Kind] = {
    pl.Null: "nothing but missing values",
    pl.String: "text",
    pl.Categorical: "text",
    pl.Enum: "levels",
    pl.Boolean: "booleans",
    pl.Date: "dates",
    pl.Datetime: "dates with times",
    pl.Time: "times",
    pl.Duration: "durations",
}
_NARROW_FLOATS: dict[str, Any] = {"Float32": np.float32, "Float16": np.float16}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICKS_PER_MICROSECOND = {"ns": Fraction(1000), "us": Fraction(1), "ms": Fraction(1, 1000)}
_FURTHEST = 2**100
"""Beyond every whole number that a column holds, and within what polars can compare with."""


@dataclass(frozen=True)
class Stored:
    """A column of a table, as a condition sees it.

    `name` is the one that the user knows, `place` the one in the table that is evaluated.
    """

    name: str
    place: str
    dtype: pl.DataType

    @property
    def kind(self) -> Kind:
        """What the column holds."""
        if self.dtype.is_numeric():
            return "numbers"
        return _KINDS.get(self.dtype.base_type(), "values that cannot be compared")

    @property
    def values(self) -> pl.Expr:
        """The values; categories as text, so that every text compares with every other."""
        column = pl.col(self.place)
        return column.cast(pl.String) if self.dtype in (pl.Categorical, pl.Enum) else column

    @property
    def missing(self) -> pl.Expr:
        """Where the column has no value; NaN is no value."""
        column = pl.col(self.place)
        return column.is_null() | column.is_nan() if self.dtype.is_float() else column.is_null()

    @property
    def levels(self) -> list[str]:
        """The levels of a column that has a list of them, in order."""
        return self.dtype.categories.to_list() if isinstance(self.dtype, pl.Enum) else []


def store(frame: Frame, names: Collection[str]) -> tuple[pl.DataFrame, dict[str, Stored]]:
    """Return the columns `names` as a table that conditions can be evaluated on, and their types.

    The table is polars, whatever the frame: the libraries disagree on gaps, on half of the types,
    and on what 0.1 is in single precision. Its columns have names of their own, since polars reads
    some names as patterns.
    """
    wrapped, ordered = to_narwhals(frame), sorted(names)
    problems = unknown_columns(ordered, wrapped.columns)
    if problems:
        raise ParameterError(" ".join(problems))
    if wrapped.implementation.is_polars():
        columns = [wrapped[name].to_native() for name in ordered]
    else:
        table = to_arrow(wrapped.select(ordered).to_native())
        columns = [_to_polars(table.column(name)) for name in ordered]
    places = [f"c{place}" for place in range(len(ordered))]
    evaluable = pl.DataFrame(dict(zip(places, columns, strict=True)))
    return evaluable, {
        name: Stored(name, place, evaluable[place].dtype)
        for name, place in zip(ordered, places, strict=True)
    }


def _to_polars(column: pa.ChunkedArray) -> pl.Series:
    series = pl.Series(pl.from_arrow(column))
    # Ordered numbers stay numbers, which have an order of their own.
    if series.dtype == pl.Categorical and column.type.ordered and column.num_chunks:
        levels = column.unify_dictionaries().chunk(0).dictionary.to_pylist()
        return series.cast(pl.Enum(levels))
    return series


def compare(left: Stored, operator: Operator, right: Stored | Value) -> pl.Expr:
    """Return where a column compares so with a value or a column; rows with gaps mean nothing.

    Raises
    ------
    ParameterError
        If the two cannot be compared.
    """
    if isinstance(right, Stored):
        return _compare_columns(left, operator, right)
    if left.kind == "nothing but missing values":
        return pl.lit(False)
    if left.kind == "booleans" and isinstance(right, bool) and operator not in _UNORDERED:
        raise ParameterError(
            f"Column {left.name!r} holds booleans, which have no order. Use == or !=."
        )
    if left.kind == "levels":
        return left.values.is_in(_levels_that(left, operator, _level(left, right)))
    if left.kind == "dates with times":
        unit = _unit(left)
        ticks = _microseconds(left, right) * _TICKS_PER_MICROSECOND[unit]
        return _compare_whole(left.values.dt.timestamp(unit), operator, ticks)
    if left.kind == "numbers":
        return _compare_number(left, operator, right)
    return _compared(left.values, operator, _as_held(left, right))


def _compared(left: pl.Expr, operator: Operator, right: object) -> pl.Expr:
    found: pl.Expr = _COMPARE[operator](left, right)
    return found


def among(column: Stored, values: Collection[Value]) -> pl.Expr:
    """Return where a column has one of the values; rows with gaps mean nothing."""
    if column.kind == "text":
        return column.values.is_in([_as_held(column, value) for value in values])
    if column.kind == "levels":
        return column.values.is_in([_level(column, value) for value in values])
    tests = [compare(column, "==", value) for value in values]
    return pl.any_horizontal(tests)


def _refusal(column: Stored, value: Value, reason: str = "") -> ParameterError:
    expected = _EXPECTED.get(column.kind)
    advice = f"Write {expected}" if expected else "Ask only whether it `is missing`"
    return ParameterError(
        f"Column {column.name!r} holds {column.kind} and cannot be compared with "
        f"{describe(value)}{reason}. {advice}."
    )


def describe(value: Value) -> str:
    """Return a value with the word for what it is, for messages."""
    if isinstance(value, bool):
        return f"{value}".lower()
    return f"the text {value!r}" if isinstance(value, str) else f"the number {value!r}"


def _level(column: Stored, value: Value) -> str:
    if not isinstance(value, str):
        raise _refusal(column, value)
    if value not in column.levels:
        raise ParameterError(
            f"Column {column.name!r} has no level {value!r}.{hint_of(value, column.levels)} "
            "Write one of the levels that its type lists."
        )
    return value


def _levels_that(column: Stored, operator: Operator, level: str) -> list[str]:
    """Return the levels that compare so with `level`, by their order in the column's list."""
    levels = column.levels
    place = levels.index(level)
    return [other for at, other in enumerate(levels) if _COMPARE[operator](at, place)]


def _as_held(column: Stored, value: Value) -> object:
    """Return a value of a rule as the column's own type of value."""
    if column.kind == "booleans" and isinstance(value, bool):
        return value
    if not isinstance(value, str):
        raise _refusal(column, value)
    if column.kind == "text":
        return value
    try:
        if column.kind == "dates":
            return date.fromisoformat(value)
        if column.kind == "times" and not _is_too_fine(value):
            moment = time.fromisoformat(value)
            if moment.tzinfo is None:
                return moment
    except ValueError:
        pass
    raise _refusal(column, value)


def _is_too_fine(text: str) -> bool:
    """Return whether a text has more decimals of a second than Python keeps."""
    return re.search(r"[.,][0-9]{6}0*[1-9]", text) is not None


def _unit(column: Stored) -> Literal["ns", "us", "ms"]:
    return column.dtype.time_unit if isinstance(column.dtype, pl.Datetime) else "us"


def _zone(column: Stored) -> str | None:
    return column.dtype.time_zone if isinstance(column.dtype, pl.Datetime) else None


def _microseconds(column: Stored, value: Value) -> Fraction:
    """Return the date and time that a text tells; without an offset it is UTC, if that matters."""
    if not isinstance(value, str) or _is_too_fine(value):
        raise _refusal(column, value)
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise _refusal(column, value) from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    elif _zone(column) is None:
        raise _refusal(column, value, ", since it has no time zone")
    return Fraction((moment - _EPOCH) // timedelta(microseconds=1))


def _compare_number(column: Stored, operator: Operator, value: Value) -> pl.Expr:
    if isinstance(value, bool | str):
        raise _refusal(column, value)
    if column.dtype.is_integer():
        return _compare_whole(column.values, operator, Fraction(value))
    held = float(value)
    narrow = _NARROW_FLOATS.get(str(column.dtype))
    if narrow and abs(held) <= float(np.finfo(narrow).max):
        held = float(narrow(held))  # 0.1 means the number that the column has for 0.1
    return _compared(column.values.cast(pl.Float64), operator, held)


def _compare_whole(values: pl.Expr, operator: Operator, number: Fraction) -> pl.Expr:
    """Return where whole numbers compare so with any number, without a rounding in between."""
    below = max(-_FURTHEST, min(math.floor(number), _FURTHEST))
    if number != math.floor(number):
        if operator in _UNORDERED:
            return pl.lit(operator == "!=")
        operator = "<=" if operator in {"<", "<="} else ">"
    return _compared(values, operator, below)


def _compare_columns(left: Stored, operator: Operator, right: Stored) -> pl.Expr:
    if "nothing but missing values" in {left.kind, right.kind}:
        return pl.lit(False)
    ordered = operator not in _UNORDERED
    pair = _comparable(left, right, ordered)
    if pair is None:
        raise ParameterError(
            f"Column {left.name!r} holds {left.kind} and column {right.name!r} holds {right.kind}: "
            f"they cannot be compared{' by order' if ordered else ''}. Compare columns that hold "
            "the same, with the same list of levels, and both or neither with a time zone."
        )
    return _compared(pair[0], operator, pair[1])


def _comparable(left: Stored, right: Stored, ordered: bool) -> tuple[pl.Expr, pl.Expr] | None:
    """Return two columns in a form in which they compare, or None if there is none."""
    kinds = {left.kind, right.kind}
    plain = left.values, right.values
    if kinds <= {"text", "levels"} and not ordered:
        return plain
    if "dates with times" in kinds and kinds <= {"dates", "dates with times"}:
        both_or_neither = (_zone(left) is None) == (_zone(right) is None)
        return (_ticks(left, right), _ticks(right, left)) if both_or_neither else None
    if len(kinds) == 2 or left.kind == "values that cannot be compared":
        return None
    if left.kind == "booleans" and ordered:
        return None
    if left.kind == "levels":
        places = list(range(len(left.levels)))
        first, second = (
            values.replace_strict(left.levels, places, return_dtype=pl.Int64) for values in plain
        )
        return (first, second) if left.levels == right.levels else None
    return plain


def _ticks(column: Stored, other: Stored) -> pl.Expr:
    """Return times as whole numbers that compare with those of `other`.

    Columns of other units meet at microseconds: years such as 9999 do not fit nanoseconds.
    """
    if column.kind == "dates":
        return column.values.cast(pl.Datetime("us")).dt.timestamp("us")
    unit = _unit(column)
    return column.values.dt.timestamp(unit if _unit(other) == unit else "us")
