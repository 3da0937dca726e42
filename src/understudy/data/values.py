"""The values of one Arrow column as NumPy numbers, dates as text, and made-up identifiers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.errors import DataError

MOST_DECIMALS = 15
"""Decimals that a float can hold."""

_FIRST = 1000

Form = Literal["boolean", "category", "whole", "number", "time"]
"""What the stored type alone says of a column's values."""

LARGEST_WHOLE = {pa.float16(): 2.0**11, pa.float32(): 2.0**24}
"""Beyond this, floats skip whole numbers, so they cannot be told to be whole; else 2**53."""


TICKS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)$")


def holds_text(kind: pa.DataType) -> bool:
    """Return whether the values of a type are texts, or categories of them, or none at all."""
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return _is_text(inner) or pa.types.is_null(inner)


def held_in_words(kind: pa.DataType) -> str:
    """Return what a column of a stored type holds, for a sentence.

    Examples
    --------
    >>> [held_in_words(kind) for kind in (pa.large_string(), pa.int8(), pa.date32(), pa.binary())]
    ['text', 'whole numbers', 'dates', 'bytes']
    """
    if pa.types.is_duration(kind):
        return "durations"
    if pa.types.is_temporal(kind):
        return "dates" if pa.types.is_date(kind) else "times"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "numbers"
    if pa.types.is_integer(kind):
        return "whole numbers"
    if pa.types.is_boolean(kind):
        return "booleans"
    if pa.types.is_nested(kind):
        return "records of several values" if pa.types.is_struct(kind) else "lists"
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return "bytes"
    return "text" if holds_text(kind) else str(kind)


def form_of(kind: pa.DataType, name: str) -> Form:
    """Return what the stored type says of the values, or raise if no table of ours can hold it."""
    if pa.types.is_dictionary(kind):
        inner = kind.value_type
        if _is_text(inner) or pa.types.is_integer(inner) or pa.types.is_boolean(inner):
            return "category"
        raise DataError(
            f"Column {name!r} has categories of type {inner}; categories are text, whole numbers "
            "or booleans. Convert them to text."
        )
    if _is_text(kind) or pa.types.is_null(kind):
        return "category"
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind) or pa.types.is_duration(kind):
        return "whole"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return "time"
    raise DataError(
        f"Column {name!r} holds {held_in_words(kind)}, which a table of records cannot use. "
        "Drop it, or convert it to text, numbers or dates."
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


@dataclass(frozen=True)
class Numbers:
    """The numbers of a column, whole ones as int64 and others as float64, and where they miss."""

    values: NDArray[Any]
    missing: NDArray[np.bool_]
    largest_whole: float = 2.0**53

    @property
    def present(self) -> NDArray[Any]:
        """The values that are not missing, in row order."""
        return self.values[~self.missing] if self.missing.any() else self.values

    @property
    def whole(self) -> bool:
        """Whether every value is a whole number."""
        if self.values.dtype.kind == "i":
            return True
        # Most often the first values tell.
        return self._are_whole(slice(1000)) and self._are_whole(slice(None))

    def _are_whole(self, rows: slice) -> bool:
        return bool(np.all(self._whole_places(rows) | self.missing[rows]))

    def as_whole(self) -> Numbers:
        """Return the same numbers as int64; those that are not whole become missing."""
        if self.values.dtype.kind == "i":
            return self
        whole = self._whole_places(slice(None))
        return Numbers(np.where(whole, self.values, 0.0).astype(np.int64), self.missing | ~whole)

    def _whole_places(self, rows: slice) -> NDArray[np.bool_]:
        values = self.values[rows]
        return np.asarray((np.abs(values) < self.largest_whole) & (values == np.trunc(values)))


def to_numpy(array: pa.Array, missing: int | None = None) -> NDArray[Any]:
    """Return an Arrow column of numbers or booleans as a NumPy array.

    Missing values become the number `missing`, or NaN. Numbers without gaps are not copied, others
    go by way of polars: pyarrow's own way imports pandas, which takes a good part of a second.
    """
    plain = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
    if plain and array.null_count == 0:
        first = array.offset
        held = np.frombuffer(array.buffers()[1], array.type.to_pandas_dtype())
        return held[first : first + len(array)]
    series = pl.Series(pl.from_arrow(array))
    return (series if missing is None else series.fill_null(missing)).to_numpy()


def all_differ(array: pa.Array) -> bool:
    """Tell whether a column holds numbers of which no two are equal, and no gaps.

    Examples
    --------
    >>> all_differ(pa.array([3.5, 0.0, -1.0])), all_differ(pa.array([0.0, 1.0, -0.0]))
    (True, False)
    """
    return sorted_if_different(array) is not None


def sorted_if_different(array: pa.Array) -> NDArray[Any] | None:
    """Return the numbers of a column in order if no two are equal, and there are no gaps.

    Sorting them is quicker than counting them by a hash.
    """
    plain = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
    if not plain or array.null_count or not len(array):
        return None
    values = to_numpy(array)
    for some in (values[:_FIRST], values):  # most often the first values tell
        ordered: NDArray[Any] = np.sort(some)
        # A number that is none, which is sorted to the end, does not equal itself.
        if (ordered[1:] == ordered[:-1]).any() or ordered[-1] != ordered[-1]:
            return None
    return ordered


def mostly_differ(array: pa.Array) -> bool:
    """Tell whether a column holds numbers of which nearly all of the first ones differ."""
    plain = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
    some = array[:_FIRST].drop_null()
    return plain and len(some.unique()) > _FIRST // 2


def from_numpy(values: NDArray[Any], missing: NDArray[np.bool_]) -> pa.Array:
    """Return a NumPy array of numbers as an Arrow column, with gaps; pandas is not imported."""
    valid = pa.py_buffer(np.packbits(~missing, bitorder="little")) if missing.any() else None
    data = pa.py_buffer(np.ascontiguousarray(values))
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [valid, data])


def numbers(array: pa.Array, name: str) -> Numbers:
    """Return the numbers of an Arrow column of numbers or times; NaN counts as missing."""
    kind = array.type
    if array.null_count == 0 and not pa.types.is_floating(kind):
        missing = np.zeros(len(array), bool)
    else:
        missing = to_numpy(pc.is_null(array, nan_is_null=True))
    try:
        if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            array = array.cast(pa.float64())
            largest = LARGEST_WHOLE.get(kind, 2.0**53)
            values = to_numpy(array)  # with NaN for null
            if pa.types.is_decimal(kind) and 0 <= kind.scale <= MOST_DECIMALS:
                values = np.round(values, kind.scale)  # the cast may miss by the last bit
            return Numbers(
                np.where(missing, 0.0, values) if missing.any() else values, missing, largest
            )
        if pa.types.is_date32(kind) or pa.types.is_time32(kind):
            array = array.cast(pa.int32())
        array = array.cast(pa.int64())
    except pa.ArrowInvalid as error:
        raise DataError(
            f"Column {name!r} holds whole numbers beyond 64 bits with a sign. If they are labels, "
            "convert the column to text."
        ) from error
    return Numbers(to_numpy(array, missing=0), missing)


def numbers_to_arrow(numbers: Numbers, kind: pa.DataType) -> pa.Array:
    """Return numbers as an Arrow column of type `kind`."""
    values = numbers.values
    if pa.types.is_integer(kind) and values.dtype.kind == "f":
        values = np.rint(values)  # a level of the schema that this table's type cannot hold
    array = from_numpy(values, numbers.missing)
    if pa.types.is_decimal(kind) and values.dtype.kind == "i":
        # A decimal must have room for every int64 before it is narrowed to its own precision.
        array = array.cast(pa.decimal256(19 + kind.scale, kind.scale))
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        array = array.cast(pa.int32())
    return array.cast(kind)


def time_to_text(ticks: int, kind: pa.DataType) -> str:
    """Return a date, time or timestamp as ISO text; timestamps with a zone are given in UTC.

    Examples
    --------
    >>> time_to_text(18262, pa.date32())
    '2020-01-01'
    """
    text = str(np.datetime64(ticks, unit_of(kind)))
    return text.split("T")[1] if pa.types.is_time(kind) else text


def text_to_time(text: str, kind: pa.DataType) -> int:
    """Return the ticks of a date, time or timestamp given as ISO text, with or without an offset.

    Raises
    ------
    ValueError
        If the text is no time, or is further away than `kind` can hold.
    """
    full = f"1970-01-01T{text}" if pa.types.is_time(kind) else text.removesuffix("Z")
    offset = _OFFSET.search(full)
    seconds_ahead = 0
    if offset:  # NumPy knows no offsets
        full = full[: offset.start()]
        seconds_ahead = int(f"{offset[1]}60") * (60 * int(offset[2]) + int(offset[3]))
    day = np.datetime64(full, "D")
    if np.isnat(day):
        raise ValueError(f"{text!r} is not a date")
    unit = unit_of(kind)
    ticks = int(np.datetime64(full, unit).astype(np.int64))
    if unit == "D":
        return ticks
    second = TICKS_PER_SECOND[unit]
    # NumPy would wrap around without a word.
    if (abs(int(day.astype(np.int64))) + 2) * 86400 * second >= 2**63:
        raise ValueError(f"{text} is further away than {kind} can hold")
    return ticks - seconds_ahead * second


def unit_of(kind: pa.DataType) -> Literal["D", "s", "ms", "us", "ns"]:
    """Return the unit of a temporal type, by its NumPy name."""
    if pa.types.is_date32(kind):
        return "D"
    if pa.types.is_date64(kind):
        return "ms"
    unit: Literal["s", "ms", "us", "ns"] = kind.unit
    return unit


def decimals_of(values: NDArray[np.float64], single: bool = False) -> int | None:
    """Return how many decimals hold all `values` exactly, or None when more than nine are needed.

    Values stored in `single` precision are compared as such: there 0.1 has one decimal.

    Examples
    --------
    >>> decimals_of(np.array([1.5, 2.25, 3.0]))
    2
    """
    which = np.isfinite(values)
    finite = values if which.all() else values[which]
    largest = LARGEST_WHOLE[pa.float32()] if single else 2.0**53
    scale = float(max(-np.min(finite, initial=0.0), np.max(finite, initial=0.0)))
    for decimals in range(10):
        if scale * 10.0**decimals >= largest:
            return None  # floats of this size hold no more decimals: all would seem to fit
        # Most often the first few values tell that more decimals are needed.
        if _has_decimals(finite[:100], decimals, single) and _has_decimals(
            finite, decimals, single
        ):
            return decimals
    return None


def _has_decimals(values: NDArray[np.float64], decimals: int, single: bool) -> bool:
    rounded = np.round(values, decimals)
    if single:
        rounded = rounded.astype(np.float32).astype(np.float64)
    return np.array_equal(rounded, values)


def make_identifiers(name: str, kind: pa.DataType, count: int, first: int = 0) -> pa.Array:
    """Return `count` new identifiers: ``synthetic-1``, ... for text; -1, -2, ... for numbers.

    Numbers without a sign count down from the largest that their type holds.

    Examples
    --------
    >>> make_identifiers("id", pa.string(), 2).to_pylist()
    ['synthetic-1', 'synthetic-2']
    """
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    numbers = np.arange(first + 1, first + 1 + count)
    if pa.types.is_integer(kind):
        largest = 2 ** (kind.bit_width - (not pa.types.is_unsigned_integer(kind))) - 1
        if first + count > largest:
            raise DataError(
                f"Column {name!r} is stored as {kind}, which cannot hold {first + count:,} "
                "different identifiers. Store it in a wider type, or drop it."
            )
    if form_of(kind, name) == "category":
        return pa.array([f"synthetic-{number}" for number in numbers])
    if pa.types.is_unsigned_integer(kind):
        top = np.iinfo(kind.to_pandas_dtype()).max
        return from_numpy(top - (numbers - 1).astype(kind.to_pandas_dtype()), numbers < 0)
    return numbers_to_arrow(Numbers(-numbers, np.zeros(count, dtype=bool)), kind)
