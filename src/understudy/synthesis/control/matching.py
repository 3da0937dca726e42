"""How often the values of each synthetic record occur in the original and in the synthetic table.

Both tables are stacked and grouped at once, so that values are compared exactly. Before that, each
column is brought to one type in which equal values are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.frames import Frame, to_arrow, to_narwhals
from understudy.data.values import form_of
from understudy.errors import DataError, ParameterError, unknown_columns

if TYPE_CHECKING:
    import polars as pl
    from polars._typing import PolarsDataType

    Pair = tuple[pl.Series, pl.Series]
    """A column of the original, and the same of the synthetic table."""

_MOST_DIGITS = 38
_NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6}


@dataclass(frozen=True, eq=False)
class Matches:
    """For each synthetic record, how many records of each table have its values.

    Parameters
    ----------
    original : ndarray
        Records of the original.
    synthetic : ndarray
        Records of the synthetic table, itself among them.
    """

    original: NDArray[np.integer]
    synthetic: NDArray[np.integer]


def common_columns(
    original: Frame, synthetic: Frame, keys: str | Sequence[str] | None
) -> tuple[str, ...]:
    """Return the columns to compare: the keys, or all that both tables have."""
    tables = {
        "original": to_narwhals(original).columns,
        "synthetic": to_narwhals(synthetic).columns,
    }
    if keys is None:
        shared = tuple(name for name in tables["original"] if name in tables["synthetic"])
        if not shared:
            raise DataError("The original and the synthetic table have no column in common.")
        return shared
    names = (keys,) if isinstance(keys, str) else tuple(dict.fromkeys(keys))
    problems = [
        f"In the {table} table, {problem}"
        for table, columns in tables.items()
        for problem in unknown_columns(names, columns)
    ]
    if problems:
        raise ParameterError(f"keys must name columns of both tables. {' '.join(problems)}")
    if not names:
        raise ParameterError("keys names no column; leave it out to compare all columns.")
    return names


def count_matches(original: Frame, synthetic: Frame, names: Sequence[str]) -> Matches:
    """Count, for each synthetic record, the records of both tables with the same values.

    Examples
    --------
    >>> import polars as pl
    >>> matches = count_matches(pl.DataFrame({"a": [1, 2, 2]}), pl.DataFrame({"a": [2, 3]}), ["a"])
    >>> matches.original.tolist(), matches.synthetic.tolist()
    ([2, 0], [1, 1])
    """
    import polars as pl

    tables = [
        to_arrow(to_narwhals(table).select(*names).to_native()) for table in (original, synthetic)
    ]
    columns: list[pl.Series] = []
    for name in names:
        columns += _stacked(name, *(table[name].chunk(0) for table in tables))
    rows = [len(table) for table in tables]
    stacked = pl.DataFrame([column.alias(str(place)) for place, column in enumerate(columns)])
    side = pl.Series("side", np.repeat(np.array([0, 1], np.uint32), rows))
    keys = stacked.columns
    counts = stacked.with_columns(side).select(
        all=pl.len().over(keys), synthetic=pl.col("side").sum().over(keys)
    )[rows[0] :]
    ours = counts["synthetic"].to_numpy().astype(np.int64)
    return Matches(counts["all"].to_numpy() - ours, ours)


def _stacked(name: str, original: pa.Array, synthetic: pa.Array) -> list[pl.Series]:
    """Return a column of both tables, one below the other, as one or two columns to group by."""
    import polars as pl

    pair = [_plain(original, name), _plain(synthetic, name)]
    families = [_family(array.type, name) for array in pair]
    known = [array.type for array in pair if array.null_count < len(array)]
    if len(known) == 2 and families[0] != families[1]:
        raise DataError(
            f"Column {name!r} holds {families[0]} in the original and {families[1]} in the "
            "synthetic table, which cannot be compared. Convert one of them."
        )
    if len(known) < 2:  # where nothing is known, the type says nothing either
        kind = known[0] if known else pa.string()
        pair = [array if array.type == kind else pa.nulls(len(array), kind) for array in pair]
    first, second = (pl.Series(pl.from_arrow(array)) for array in pair)
    return [pl.concat(both) for both in _aligned((first, second), name)]


def _plain(array: pa.Array, name: str) -> pa.Array:
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
    return array


def _too_many_digits(name: str) -> DataError:
    return DataError(
        f"The numbers of column {name!r} have more than {_MOST_DIGITS} digits when both tables "
        "are written with the same decimals. Convert the column to text in both."
    )


def _family(kind: pa.DataType, name: str) -> str:
    """Say what kind of values a type holds; values of one kind can be compared."""
    if pa.types.is_duration(kind):
        return "durations"
    if pa.types.is_time(kind):
        return "times of day"
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return "times with a zone"
    form = form_of(kind, name)
    plural = {"category": "text", "boolean": "booleans", "time": "dates or times without a zone"}
    return plural.get(form, "numbers")


def _aligned(pair: Pair, name: str) -> list[Pair]:
    """Return the pair in a type that both sides can be stacked in; equal values are equal in it."""
    import polars as pl

    kinds = [series.dtype for series in pair]
    if kinds[0] == kinds[1]:
        return [pair]
    if kinds[0].is_temporal():
        return [(_nanoseconds(pair[0]), _nanoseconds(pair[1]))]
    if all(kind.is_integer() for kind in kinds):
        return [_cast(pair, pl.Int128)]  # the type that holds int64 and uint64
    if not any(kind.is_float() for kind in kinds):
        scale = max(kind.scale for kind in kinds if isinstance(kind, pl.Decimal))
        try:
            return [_cast(pair, pl.Decimal(_MOST_DIGITS, scale))]
        except pl.exceptions.InvalidOperationError as error:
            raise _too_many_digits(name) from error
    if any(kind.is_integer() for kind in kinds):
        # Whole numbers beyond 2**53 would be rounded as floats: they are compared as whole ones.
        halves = [_whole_and_rest(series) for series in pair]
        return [(halves[0][place], halves[1][place]) for place in (0, 1)]
    if any(kind.is_decimal() for kind in kinds):
        return [_cast(pair, pl.Float64)]
    # A number has more digits in double precision than in single, though both were typed alike.
    return [_cast(pair, min(kinds, key=str))]


def _cast(pair: Pair, kind: PolarsDataType) -> Pair:
    return pair[0].cast(kind), pair[1].cast(kind)


def _nanoseconds(series: pl.Series) -> pl.Series:
    """Return dates, times or durations as whole nanoseconds, in a type that none overflows."""
    import polars as pl

    unit = getattr(series.dtype, "time_unit", None)  # a date has none
    tick = _NANOSECONDS[unit] if unit else 86_400 * 10**9
    return series.to_physical().cast(pl.Int128) * pl.Series([tick], dtype=pl.Int128)


def _whole_and_rest(series: pl.Series) -> Pair:
    """Split numbers into whole ones and others; each has a gap where it is the other's."""
    import polars as pl

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
