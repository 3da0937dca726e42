"""Several tables coded alike: equal values have equal codes in all of them.

This is the coding for comparing tables. A synthesizer's own coding is another matter: here every
value that occurs in any of the tables is a level, and numbers count by their exact value.

Each table is encoded once, by its own different values. To code tables alike, only these values
are compared; so coding an original with its second release costs little more than that release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeVar, cast

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.alignment import plain_series, stack_series
from understudy.data.coded import Coded, Codes, code_dtype
from understudy.data.frames import Backend, Frame, column_to_arrow, describe_column, to_narwhals
from understudy.data.groups import check_groups, put_in_groups
from understudy.data.levels import LARGEST_WHOLE, Levels, Value, decode_first
from understudy.data.values import Form, form_of, to_numpy
from understudy.errors import DataError, ParameterError, did_you_mean

__all__ = ["CodedTables", "EncodedColumn", "EncodedTable", "Levels", "code_together", "encode"]

Derived = TypeVar("Derived")


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """One column of one table by its different values.

    Parameters
    ----------
    values : polars.Series
        The values that occur, sorted, without gaps.
    codes : ndarray of unsigned int
        The place of each record's value; their number where it is missing.
    gaps : bool
        Whether a value is missing.
    form : str
        What the stored type says of the values.
    order : sequence or None
        The order of categories that their own type gives.
    """

    values: pl.Series
    codes: Codes
    gaps: bool
    form: Form
    order: Sequence[Any] | None
    _derived: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def once(self, what: str, derive: Callable[[pl.Series], Derived]) -> Derived:
        """Return what follows from the values alone, computed when it is first asked for."""
        if what not in self._derived:
            self._derived[what] = derive(self.values)
        return cast("Derived", self._derived[what])

    @classmethod
    def of(cls, array: pa.Array, name: str, order: Sequence[Any] | None = None) -> EncodedColumn:
        """Encode an Arrow column; `name` is for messages."""
        series = plain_series(array, name)
        gaps = series.null_count() > 0
        if gaps:
            known = pl.Series(pl.from_arrow(pc.is_valid(series.to_arrow())))
            places, distinct = _ranked(series.filter(known))
            codes = np.full(len(series), len(distinct), code_dtype(len(distinct) + 1))
            codes[known.to_numpy()] = places
        else:
            places, distinct = _ranked(series)
            codes = places.astype(code_dtype(len(distinct)))
        return cls(distinct, codes, gaps, form_of(array.type, name), order)

    def take(self, rows: NDArray[np.integer]) -> EncodedColumn:
        """Return the column of some records alone."""
        codes = self.codes[rows]
        seen = np.bincount(codes, minlength=len(self.values) + 1) > 0
        places = np.cumsum(seen) - 1
        kept = np.flatnonzero(seen[: len(self.values)])
        small = places[codes].astype(code_dtype(len(kept) + int(seen[-1])))
        return replace(self, values=self.values.gather(kept), codes=small, gaps=bool(seen[-1]))


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table whose columns are encoded when they are first used, and once; `encode` makes it.

    If rows that are alike were counted, `weights` says how many records each row stands for.
    """

    names: tuple[str, ...]
    rows: int
    backend: Backend
    _encode: Callable[[str], EncodedColumn] = field(repr=False)
    weights: NDArray[np.int64] | None = None
    _found: dict[str, EncodedColumn] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return self.rows

    def column(self, name: str) -> EncodedColumn:
        """Return a column, encoded."""
        if name not in self._found:
            self._found[name] = self._encode(name)
        return self._found[name]

    def take(self, rows: NDArray[np.integer]) -> EncodedTable:
        """Return the table of some records, as if they alone were encoded."""
        weights = None if self.weights is None else self.weights[rows]
        return EncodedTable(
            self.names, len(rows), self.backend, lambda name: self.column(name).take(rows), weights
        )


def encode(frame: Frame | EncodedTable) -> EncodedTable:
    """Return a table that `code_together` takes in place of a frame, to be encoded once.

    Examples
    --------
    >>> import polars as pl
    >>> encode(pl.DataFrame({"x": [5, None, 1]})).column("x").codes
    array([1, 2, 0], dtype=uint8)
    """
    if isinstance(frame, EncodedTable):
        return frame
    wrapped = to_narwhals(frame)
    backend = cast("Backend", wrapped.implementation.name.lower())

    def encoded(name: str) -> EncodedColumn:
        series = wrapped[name]
        stored = describe_column(backend, series.to_native())
        order = stored.get("categories") if stored.get("ordered", True) else None
        return EncodedColumn.of(column_to_arrow(series, name), name, order)

    return EncodedTable(tuple(wrapped.columns), len(wrapped), backend, encoded)


@dataclass(frozen=True, eq=False)
class CodedTables:
    """Tables that are coded alike, and what the codes of each column stand for.

    Columns are coded when they are first used, and once for all selections of columns.

    Parameters
    ----------
    encoded : mapping
        The tables by name; names are for messages, and the first is the original.
    columns : tuple of str
        The columns, in order.
    groups : mapping
        Numeric columns that are put into so many groups.
    special : mapping
        Their numbers that are not grouped.
    """

    encoded: Mapping[str, EncodedTable]
    columns: tuple[str, ...]
    groups: Mapping[str, int] = field(default_factory=dict)
    special: Mapping[str, Sequence[float]] = field(default_factory=dict)
    _found: dict[Any, tuple[dict[str, Codes], Levels]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, frames: Mapping[str, Frame | EncodedTable], columns: Sequence[str] | None = None
    ) -> CodedTables:
        """Check that the tables have the columns (all those of the first by default)."""
        encoded = {name: encode(frame) for name, frame in frames.items()}
        names = next(iter(encoded.values())).names if columns is None else tuple(columns)
        _check_columns(encoded, names)
        return cls(encoded, names)

    def __getitem__(self, table: str) -> Coded:
        return self.tables[table]

    @cached_property
    def tables(self) -> dict[str, Coded]:
        """The coded tables, by name."""
        found = [self.column(name) for name in self.columns]
        sizes = tuple(len(levels) for _, levels in found)
        return {
            table: Coded(
                self.columns, tuple(codes[table] for codes, _ in found), sizes, held.weights
            )
            for table, held in self.encoded.items()
        }

    @cached_property
    def levels(self) -> dict[str, Levels]:
        """What the codes of each column stand for."""
        return {name: self.column(name)[1] for name in self.columns}

    @property
    def backend(self) -> Backend:
        """The kind of frame that the first table is."""
        return next(iter(self.encoded.values())).backend

    def select(
        self, tables: Sequence[str] | None = None, columns: Sequence[str] | None = None
    ) -> CodedTables:
        """Return some of the tables and columns, as if they alone were coded.

        Levels that none of these tables has are left out.

        Examples
        --------
        >>> import polars as pl
        >>> frames = {"one": pl.DataFrame({"x": [5, 1]}), "two": pl.DataFrame({"x": [3]})}
        >>> CodedTables.of(frames).select(["one"])["one"]["x"].tolist()
        [1, 0]
        """
        encoded = self.encoded if tables is None else {name: self.encoded[name] for name in tables}
        names = self.columns if columns is None else tuple(columns)
        _check_columns(encoded, names)
        groups = {name: count for name, count in self.groups.items() if name in names}
        return replace(self, encoded=encoded, columns=names, groups=groups)

    def grouped(
        self,
        groups: Mapping[str, int] | None,
        special: Mapping[str, Sequence[float]] | None = None,
    ) -> CodedTables:
        """Return the tables with numeric columns in groups, as `code_together` does."""
        check_groups(groups, special, self.columns)
        return replace(
            self,
            groups={**self.groups, **(groups or {})},
            special={**self.special, **(special or {})},
        )

    def check_rows(self) -> CodedTables:
        """Return the tables, or raise if one of them has no rows."""
        for name, table in self.encoded.items():
            if not len(table):
                raise DataError(f"The {name} table has no rows.")
        return self

    def column(self, name: str) -> tuple[dict[str, Codes], Levels]:
        """Return the codes of a column in each table, and its levels."""
        groups = self.groups.get(name)
        own = tuple(self.special.get(name, ())) if groups is not None else ()
        which = tuple(self.encoded), name, groups, own
        if which not in self._found:
            self._found[which] = self._coded(name, groups, own)
        return self._found[which]

    def _coded(
        self, name: str, groups: int | None, special: tuple[float, ...]
    ) -> tuple[dict[str, Codes], Levels]:
        if groups is None:
            return _code(name, {table: held.column(name) for table, held in self.encoded.items()})
        codes, levels = replace(self, groups={}).column(name)
        table, first = next(iter(codes.items()))
        times = self.encoded[table].weights
        group, grouped = put_in_groups(name, first, levels, groups, special, times)
        place: Codes = group.astype(code_dtype(max(len(grouped), 1)))
        return {table: place[held] for table, held in codes.items()}, grouped


def code_together(
    frames: Mapping[str, Frame | EncodedTable],
    columns: Sequence[str],
    *,
    groups: Mapping[str, int] | None = None,
    special: Mapping[str, Sequence[float]] | None = None,
) -> CodedTables:
    """Code the same columns of several tables, so that equal values have equal codes.

    Parameters
    ----------
    frames : mapping
        The tables by name; names are for messages, and the first is the original. A table that is
        used more than once can be given as `encode` returns it.
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
    >>> coded = code_together(both, ["x"])
    >>> coded["original"]["x"].tolist(), coded["synthetic"]["x"].tolist()
    ([2, 0], [1])
    """
    found = CodedTables.of(frames, columns).grouped(groups, special)
    _ = found.tables  # what cannot be compared is told here
    return found


def _check_columns(tables: Mapping[str, EncodedTable], columns: Sequence[str]) -> None:
    problems = [
        f"The {table} table has no column {name!r}.{did_you_mean(name, held.names)}"
        for table, held in tables.items()
        for name in columns
        if name not in held.names
    ]
    if problems:
        raise ParameterError(" ".join(problems))
    if len(set(columns)) < len(columns):
        repeated = next(name for name in columns if list(columns).count(name) > 1)
        raise ParameterError(f"{repeated!r} is named twice.")


def _code(name: str, columns: Mapping[str, EncodedColumn]) -> tuple[dict[str, Codes], Levels]:
    """Return the codes of a column in each table, and its levels in their order."""
    first = next(iter(columns.values()))
    if len(columns) == 1 and first.values.dtype == pl.Float64 and not first.gaps:
        # The codes are those of the table alone already.
        numbers = first.values.to_numpy() if first.form in ("whole", "number") else None
        return {next(iter(columns)): first.codes}, Levels(first.values, numbers, None)
    places, levels = _levels(name, columns, first.form, first.order)
    if any(column.gaps for column in columns.values()):
        held = levels.held
        missing = pl.Series([None], dtype=getattr(held, "dtype", None))
        gap = (*held, None) if isinstance(held, tuple) else pl.concat([held, missing])
        numbers = None if levels.numbers is None else np.append(levels.numbers, np.nan)
        levels = Levels(gap, numbers, len(levels))
    kind = code_dtype(max(len(levels), 1))
    ends = np.cumsum([len(column.values) for column in columns.values()])[:-1]
    codes = {}
    for (table, column), own in zip(columns.items(), np.split(places, ends), strict=True):
        # What is missing has the last place of its table, and the last of all.
        lookup = np.full(len(own) + 1, max(len(levels) - 1, 0), kind)
        lookup[:-1] = own
        codes[table] = lookup[column.codes]
    return codes, levels


def _levels(
    name: str, columns: Mapping[str, EncodedColumn], form: Form, order: Sequence[Any] | None
) -> tuple[NDArray[np.int64], Levels]:
    """Return where the tables' values stand among all levels, and these."""
    values = {table: column.values for table, column in columns.items()}
    stacked = stack_series(name, values)
    mixed = len(stacked) == 2
    series = _as_floats(*stacked) if mixed else stacked[0]
    if series is None:
        places, sizes, found = _code_mixed(*stacked)
        return places, Levels(tuple(found), sizes, None)
    places, distinct = _ranked(series, order, kind="stable")
    if series.dtype.is_integer() and any(
        len(held) and held.dtype.is_temporal() for held in values.values()
    ):
        # Dates beside times were compared as whole numbers.
        found = decode_first(values.values(), places, len(distinct))
        return places, Levels(tuple(found), None, None)
    numeric = mixed or (distinct.dtype.is_numeric() and form in ("whole", "number"))
    numbers = distinct.cast(pl.Float64).to_numpy() if numeric else None
    return places, Levels(distinct, numbers, None)


def _as_floats(whole: pl.Series, rest: pl.Series) -> pl.Series | None:
    """Return whole numbers and others as one series of floats, unless these would round them."""
    low, high = whole.min(), whole.max()
    if low is not None and not (low >= -LARGEST_WHOLE and high <= LARGEST_WHOLE):  # type: ignore[operator]
        return None
    return whole.cast(pl.Float64).fill_null(rest)


def _code_mixed(
    whole: pl.Series, rest: pl.Series
) -> tuple[NDArray[np.int64], NDArray[np.float64], list[Value]]:
    """Return places, numbers and values of whole numbers beside others, in order of their size."""
    frame = pl.DataFrame([whole.alias("whole"), rest.alias("rest")])
    size = pl.coalesce(pl.col("whole").cast(pl.Float64), pl.col("rest"))
    distinct = frame.unique().with_columns(size=size).sort("size", "whole", "rest")
    joined = frame.join(
        distinct.with_row_index("code").drop("size"),
        on=["whole", "rest"],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    held = zip(distinct["whole"].to_list(), distinct["rest"].to_list(), strict=True)
    values = [rest if whole is None else whole for whole, rest in held]
    return joined["code"].to_numpy().astype(np.int64), distinct["size"].to_numpy(), values


def _ranked(
    series: pl.Series,
    order: Sequence[Any] | None = None,
    *,
    kind: Literal["quicksort", "stable"] = "quicksort",
) -> tuple[NDArray[np.int64], pl.Series]:
    """Return the place of each value among the different ones, and these in their order.

    There are no gaps. Texts have the order given, other values are sorted: by a stable sort if they
    are those of tables that are sorted already, one below the other.
    """
    if series.dtype == pl.Int128:
        series = series.cast(pl.Decimal(38, 0))  # Arrow has no such whole numbers
    if series.dtype.is_float():
        places, values = _ranked_floats(series.to_numpy(), kind)
        return places, pl.Series(values)
    # A hash table of Arrow's: several times quicker than a join with the distinct values, and
    # without a query of polars, each of which wakes its threads.
    encoded = series.to_arrow().dictionary_encode()
    ranked = _in_order(encoded.dictionary, order)
    place = np.empty(len(ranked), np.int64)
    place[to_numpy(ranked)] = np.arange(len(ranked))
    distinct = pl.Series(pl.from_arrow(encoded.dictionary.take(ranked)))
    return place[to_numpy(encoded.indices)], distinct


def _ranked_floats(
    values: NDArray[np.floating], kind: Literal["quicksort", "stable"]
) -> tuple[NDArray[np.int64], NDArray[np.floating]]:
    order = np.argsort(values, kind=kind)
    ordered = values[order] + values.dtype.type(0)  # -0.0 would be shown as such
    is_new = np.ones(len(values), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    places = np.empty(len(values), np.int64)
    places[order] = np.cumsum(is_new) - 1
    return places, ordered[is_new]


def _in_order(distinct: pa.Array, order: Sequence[Any] | None) -> pa.Array:
    """Return the levels' places in the order that their own type gives, or sorted."""
    if not order or not pa.types.is_large_string(distinct.type):
        return pc.array_sort_indices(distinct)
    place = {str(level): number for number, level in enumerate(order)}
    levels = distinct.to_pylist()
    ranked = sorted(
        range(len(levels)), key=lambda at: (place.get(levels[at], len(place)), levels[at])
    )
    return pl.Series(ranked, dtype=pl.Int64).to_arrow()
