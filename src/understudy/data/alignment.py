"""One column of several tables as one: values are compared, whatever types store them.

A category equals its text, 1 equals 1.0, a date its midnight, and NaN is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.values import form_of
from understudy.errors import DataError

_MOST_DIGITS = 38
_NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6}


def stack_series(name: str, columns: Mapping[str, pl.Series]) -> list[pl.Series]:
    """Return a column of several tables, one below the other, in a type in which equals are equal.

    The columns are such as `plain_series` returns, by the names of their tables. If whole numbers
    and floats meet, there are two series: the whole numbers, which floats would round, and the
    others. Each has a gap where the value is the other's, or missing.
    """
    known = [table for table, held in columns.items() if held.null_count() < len(held)]
    families = {table: _family(columns[table].dtype) for table in known}
    for table, family in families.items():
        first = known[0]
        if family != families[first]:
            raise DataError(
                f"Column {name!r} holds {families[first]} in the {first} table and {family} in the "
                f"{table} table, which cannot be compared. Convert one of them."
            )
    # Where nothing is known, the type says nothing either.
    typed = columns[known[0]] if known else pl.Series(dtype=pl.String)
    series = [
        held if table in families else typed.clear(len(held)) for table, held in columns.items()
    ]
    return [pl.concat(parts) for parts in _aligned(series, name)]


def plain_series(array: pa.Array, name: str) -> pl.Series:
    """Return the values themselves, in a type that polars has too, with gaps for NaN."""
    form_of(array.type, name)  # raises for what a table cannot hold
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_floating(array.type):
        missing = pc.is_null(array, nan_is_null=True)
        array = pc.if_else(missing, pa.scalar(None, array.type), array)
    if pa.types.is_decimal256(array.type):
        try:
            array = array.cast(pa.decimal128(_MOST_DIGITS, array.type.scale))
        except pa.ArrowInvalid as error:
            raise _too_many_digits(name) from error
    return pl.Series(pl.from_arrow(array))


def _too_many_digits(name: str) -> DataError:
    return DataError(
        f"The numbers of column {name!r} have more than {_MOST_DIGITS} digits when all tables "
        "are written with the same decimals. Convert the column to text in each."
    )


def _family(kind: pl.DataType) -> str:
    """Say what kind of values a type holds; values of one kind can be compared."""
    if isinstance(kind, pl.Datetime) and kind.time_zone is not None:
        return "times with a zone"
    if kind in (pl.Date, pl.Datetime):
        return "dates or times without a zone"
    if kind.is_numeric():
        return "numbers"
    return {pl.Duration: "durations", pl.Time: "times of day", pl.Boolean: "booleans"}.get(
        kind.base_type(), "text"
    )


def _aligned(series: Sequence[pl.Series], name: str) -> list[list[pl.Series]]:
    """Return the parts in a type that all can be stacked in; equal values are equal in it."""
    kinds = [part.dtype for part in series]
    if all(kind == kinds[0] for kind in kinds):
        return [list(series)]
    if kinds[0].is_temporal():
        return [[_nanoseconds(part) for part in series]]
    if all(kind.is_integer() for kind in kinds):
        return [_cast(series, pl.Int128)]  # the type that holds int64 and uint64
    if not any(kind.is_float() for kind in kinds):
        scale = max(kind.scale for kind in kinds if isinstance(kind, pl.Decimal))
        try:
            return [_cast(series, pl.Decimal(_MOST_DIGITS, scale))]
        except pl.exceptions.InvalidOperationError as error:
            raise _too_many_digits(name) from error
    if any(kind.is_integer() for kind in kinds):
        # Whole numbers beyond 2**53 would be rounded as floats: they are compared as whole ones.
        halves = [_whole_and_rest(part) for part in series]
        return [[half[place] for half in halves] for place in (0, 1)]
    if any(kind.is_decimal() for kind in kinds):
        return [_cast(series, pl.Float64)]
    # A number has more digits in double precision than in single, though both were typed alike.
    return [_cast(series, min(kinds, key=str))]


def _cast(series: Sequence[pl.Series], kind: pl.DataType | type[pl.DataType]) -> list[pl.Series]:
    return [part.cast(kind) for part in series]


def _nanoseconds(series: pl.Series) -> pl.Series:
    """Return dates, times or durations as whole nanoseconds, in a type that none overflows."""
    unit = getattr(series.dtype, "time_unit", None)  # a date has none
    tick = _NANOSECONDS[unit] if unit else 86_400 * 10**9
    return series.to_physical().cast(pl.Int128) * pl.Series([tick], dtype=pl.Int128)


def _whole_and_rest(series: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Split numbers into whole ones and others; each has a gap where it is the other's."""
    if series.dtype.is_integer():
        return series.cast(pl.Int128), pl.repeat(None, len(series), dtype=pl.Float64, eager=True)
    numbers = series.cast(pl.Float64)
    # Beyond this no whole number of the other table is met; infinity must not be cast.
    whole = (numbers.floor() == numbers) & (numbers.abs() < 2.0**100)
    gaps = pl.Series([None], dtype=pl.Float64)
    return (
        numbers.zip_with(whole, gaps).cast(pl.Int128),
        numbers.zip_with(~whole, gaps),
    )
