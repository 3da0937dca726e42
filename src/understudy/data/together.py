"""Several tables coded alike: equal values have equal codes in all of them.

This is the coding for comparing tables. A synthesizer's own coding is another matter: here every
value that occurs in any of the tables is a level, and numbers count by their exact value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.alignment import stack_column
from understudy.data.coded import Coded, Codes, code_dtype
from understudy.data.frames import Frame, Layout, to_arrow, to_narwhals
from understudy.data.groups import check_columns_of, put_in_groups
from understudy.data.levels import LARGEST_WHOLE, Levels, Value, decode, decode_first, in_words
from understudy.data.values import form_of, to_numpy
from understudy.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    import polars as pl


__all__ = ["Levels", "Together", "code_together"]


@dataclass(frozen=True, eq=False)
class Together:
    """Tables that were coded alike, and what the codes of each column stand for."""

    tables: dict[str, Coded]
    levels: dict[str, Levels]

    def __getitem__(self, table: str) -> Coded:
        return self.tables[table]


def code_together(
    frames: Mapping[str, Frame],
    columns: Sequence[str],
    *,
    groups: Mapping[str, int] | None = None,
    special: Mapping[str, Sequence[float]] | None = None,
) -> Together:
    """Code the same columns of several tables, so that equal values have equal codes.

    Parameters
    ----------
    frames : mapping
        The tables by name; names are for messages, and the first is the original.
    columns : sequence of str
        The columns to code, in the order of the result.
    groups : mapping, optional
        Numeric columns to put into so many groups of about the same number of records of the
        first table. Missing values and `special` ones are levels of their own.
    special : mapping, optional
        Numbers of a grouped column that are not grouped, such as -8.

    Raises
    ------
    ParameterError
        If a table lacks a column, or a column cannot be grouped.
    DataError
        If tables hold values that cannot be compared.

    Examples
    --------
    >>> import polars as pl
    >>> both = {"original": pl.DataFrame({"x": [5, 1]}), "synthetic": pl.DataFrame({"x": [3.0]})}
    >>> together = code_together(both, ["x"])
    >>> together["original"]["x"].tolist(), together["synthetic"]["x"].tolist()
    ([2, 0], [1])
    """
    _check_columns(frames, columns)
    check_columns_of(groups, special, columns)
    # By subscript, for `select` would be a query.
    used = {name: to_narwhals(frame)[list(columns)].to_native() for name, frame in frames.items()}
    tables = {name: to_arrow(frame) for name, frame in used.items()}
    layout = Layout.of(next(iter(used.values())))
    ends = np.cumsum([len(table) for table in tables.values()])
    coded: dict[str, Codes] = {}
    levels: dict[str, Levels] = {}
    for name in columns:
        arrays = {
            table: _one_piece(values[name].combine_chunks()) for table, values in tables.items()
        }
        stored = layout.types[name]
        order = stored.get("categories") if stored.get("ordered", True) else None
        codes, found = _code(name, arrays, order)
        if groups and name in groups:
            own = (special or {}).get(name, ())
            codes, found = put_in_groups(name, codes, found, groups[name], own, int(ends[0]))
        coded[name] = codes.astype(code_dtype(max(len(found), 1)))
        levels[name] = found
    sizes = tuple(len(levels[name]) for name in columns)
    starts = np.concatenate([[0], ends[:-1]])
    return Together(
        {
            table: Coded(
                tuple(columns),
                tuple(np.ascontiguousarray(coded[name][start:end]) for name in columns),
                sizes,
            )
            for table, start, end in zip(tables, starts.tolist(), ends.tolist(), strict=True)
        },
        levels,
    )


def _one_piece(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _check_columns(frames: Mapping[str, Frame], columns: Sequence[str]) -> None:
    problems = []
    for table, frame in frames.items():
        known = to_narwhals(frame).columns
        problems += [
            f"The {table} table has no column {name!r}.{did_you_mean(name, known)}"
            for name in columns
            if name not in known
        ]
    if problems:
        raise ParameterError(" ".join(problems))
    if len(set(columns)) < len(columns):
        repeated = next(name for name in columns if list(columns).count(name) > 1)
        raise ParameterError(f"{repeated!r} is named twice.")


def _code(
    name: str, arrays: Mapping[str, pa.Array], order: Sequence[Any] | None
) -> tuple[NDArray[np.int64], Levels]:
    """Return the codes of a stacked column, and its levels in their order."""
    import polars as pl

    stacked = stack_column(name, arrays)
    mixed = len(stacked) == 2
    series = _as_floats(*stacked) if mixed else stacked[0]
    numbers: NDArray[np.float64] | None = None
    if series is None:
        codes, numbers, values = _code_mixed(*stacked)
        labels = [in_words(value) for value in values]
    else:
        codes, distinct = _encoded(series, order)
        if series.dtype.is_integer() and any(map(_has_times, arrays.values())):
            # Dates beside times were compared as whole numbers.
            values, labels = decode_first(arrays.values(), codes, len(distinct))
        else:
            values, labels = decode(distinct)
            kind = form_of(next(iter(arrays.values())).type, name)
            if mixed or (distinct.dtype.is_numeric() and kind in ("whole", "number")):
                numbers = distinct.cast(pl.Float64).to_numpy()
    known = len(labels)
    if not len(codes) or int(codes.max()) < known:
        return codes, Levels(tuple(labels), numbers, None, tuple(values))
    numbers = None if numbers is None else np.append(numbers, np.nan)
    return codes, Levels((*labels, "missing"), numbers, known, (*values, None))


def _has_times(array: pa.Array) -> bool:
    return bool(pa.types.is_temporal(array.type)) and array.null_count < len(array)


def _as_floats(whole: pl.Series, rest: pl.Series) -> pl.Series | None:
    """Return whole numbers and others as one series of floats, unless these would round them."""
    import polars as pl

    low, high = whole.min(), whole.max()
    if low is not None and not (low >= -LARGEST_WHOLE and high <= LARGEST_WHOLE):  # type: ignore[operator]
        return None
    return whole.cast(pl.Float64).fill_null(rest)


def _code_mixed(
    whole: pl.Series, rest: pl.Series
) -> tuple[NDArray[np.int64], NDArray[np.float64], list[Value]]:
    """Return codes, numbers and values of whole numbers beside others, in order of their size."""
    import polars as pl

    frame = pl.DataFrame([whole.alias("whole"), rest.alias("rest")])
    size = pl.coalesce(pl.col("whole").cast(pl.Float64), pl.col("rest"))
    distinct = frame.unique().with_columns(size=size)
    distinct = distinct.filter(pl.col("size").is_not_null()).sort("size", "whole", "rest")
    joined = frame.join(
        distinct.with_row_index("code").drop("size"),
        on=["whole", "rest"],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    numbers = distinct["size"].to_numpy()
    codes = joined["code"].fill_null(len(numbers)).to_numpy().astype(np.int64)
    held = zip(distinct["whole"].to_list(), distinct["rest"].to_list(), strict=True)
    return codes, numbers, [rest if whole is None else whole for whole, rest in held]


def _encoded(series: pl.Series, order: Sequence[Any] | None) -> tuple[NDArray[np.int64], pl.Series]:
    """Return the place of each value among the ordered levels (their number if it is missing)."""
    import polars as pl

    if series.dtype == pl.Int128:
        series = series.cast(pl.Decimal(38, 0))  # Arrow has no such whole numbers
    values = series.to_arrow()
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0, values.type))  # -0.0 would be another value than 0.0
    # A hash table of Arrow's: several times quicker than a join with the distinct values, and
    # without a query of polars, each of which wakes its threads.
    encoded = values.dictionary_encode()
    ranked = _ranked(encoded.dictionary, order)
    place = np.empty(len(ranked) + 1, np.int64)
    place[ranked] = np.arange(len(ranked))
    place[-1] = len(ranked)
    indices = to_numpy(pc.fill_null(encoded.indices, len(ranked)))
    return place[indices], pl.Series(pl.from_arrow(encoded.dictionary.take(pa.array(ranked))))


def _ranked(distinct: pa.Array, order: Sequence[Any] | None) -> NDArray[np.int64]:
    """Return the levels' places in the order that their own type gives, or sorted."""
    if not order or not pa.types.is_large_string(distinct.type):
        return to_numpy(pc.array_sort_indices(distinct)).astype(np.int64)
    place = {str(level): number for number, level in enumerate(order)}
    levels = distinct.to_pylist()
    ranked = sorted(
        range(len(levels)), key=lambda at: (place.get(levels[at], len(place)), levels[at])
    )
    return np.array(ranked, np.int64)
