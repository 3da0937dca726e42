"""How far records are apart over columns of all kinds, and which are nearest.

The distance of two records is the sum over columns of a difference from 0 to 1: for numbers and
dates, that of their places among the original's records; for all else, 1 unless they are equal.
The trimmed distance leaves out the largest of these differences, and that of the better half all
but the smaller half of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from understudy.data.frames import Frame
from understudy.data.joint_coding import EncodedColumn, EncodedTable, encode
from understudy.data.loose_values import LooseColumn, compare_loosely
from understudy.progress import track

UNIT = 2**20
"""A difference of 1 as a whole number: places are told apart to a millionth."""
_LARGEST = 2**15 - 1
_MOST_MARKS = 1000
_QUERIES_AT_ONCE = 1024

_FEWEST_FINE, _BETWEEN_KNOTS, _MOST_KNOTS = 40, 8, 50
"""Where most people have a number of their own, and there are at least so many, ranks are those of
every eighth number, or of up to 50, and interpolated between them."""
_ENOUGH_TO_RANK = 10
"""So many different numbers beyond the original's can be placed by their ranks."""
Kind = Literal["whole", "trimmed", "half"]
KINDS: tuple[Kind, ...] = ("whole", "trimmed")
"""The distances that are found at once; that of the better half takes a search of its own."""


@dataclass(frozen=True, eq=False)
class PlacedTable:
    """A table whose records can be compared by distance; `place_together` makes it.

    Parameters
    ----------
    columns : tuple of str
        The columns: first those that count by size, then the others.
    values : ndarray of int32
        A row for each column and a column for each record: places in units of `UNIT`, and numbers
        of labels.
    numeric : int
        How many columns count by size.
    caps : ndarray of int32
        The largest difference of each column, in the same units.
    rescaled : frozenset of str
        Columns whose numbers were placed by their own ranks, since their scale is another.
    """

    columns: tuple[str, ...]
    values: NDArray[np.int32]
    numeric: int
    caps: NDArray[np.int32]
    rescaled: frozenset[str] = frozenset()

    @property
    def rows(self) -> int:
        """How many records there are."""
        return int(self.values.shape[1])

    @classmethod
    def stack(cls, tables: Sequence[PlacedTable]) -> PlacedTable:
        """Return tables that were placed together, one below the other."""
        if len(tables) == 1:
            return tables[0]
        return replace(
            tables[0],
            values=np.concatenate([one.values for one in tables], axis=1),
            rescaled=frozenset().union(*(one.rescaled for one in tables)),
        )

    def take(self, rows: NDArray[np.integer]) -> PlacedTable:
        """Return some of the records; all of them are not copied."""
        if len(rows) == self.rows and np.array_equal(rows, np.arange(self.rows)):
            return self
        return replace(self, values=np.ascontiguousarray(self.values[:, rows]))

    def select(self, columns: Sequence[str]) -> PlacedTable:
        """Return some of the columns, in the order of this table; all of them are not copied."""
        places = [place for place, name in enumerate(self.columns) if name in columns]
        if len(places) == len(self.columns):
            return self
        return PlacedTable(
            tuple(self.columns[place] for place in places),
            np.ascontiguousarray(self.values[places]),
            sum(place < self.numeric for place in places),
            self.caps[places],
            self.rescaled & set(columns),
        )

    def weighted(self, weights: Mapping[str, float]) -> PlacedTable:
        """Return the table with columns that count for more or less; each weight is at most 1."""
        held = np.array([weights.get(name, 1.0) for name in self.columns])
        values = self.values.copy()
        scaled = self.values[: self.numeric] * held[: self.numeric, None]
        values[: self.numeric] = np.rint(scaled)
        return replace(self, values=values, caps=np.rint(self.caps * held).astype(np.int32))

    @property
    def without_size(self) -> NDArray[np.float64]:
        """The share of records without a size, in each of the columns that count by size."""
        share: NDArray[np.float64] = (self.values[: self.numeric] < -2 * UNIT).mean(axis=1)
        return share

    @cached_property
    def shift(self) -> int:
        """How many of the last bits the coarse values drop, so that their sum fits in 16."""
        most = max(len(self.columns), 8) * UNIT
        return max(0, math.ceil(math.log2(most / _LARGEST)))

    @cached_property
    def coarse(self) -> NDArray[np.int16]:
        """The values with 16 bits: a lower bound of a difference can be had from them."""
        low = -4 * (UNIT >> self.shift)
        found = np.empty(self.values.shape, np.int16)
        found[: self.numeric] = np.maximum(self.values[: self.numeric] >> self.shift, low)
        found[self.numeric :] = self.values[self.numeric :] & _LARGEST
        return found


def place_together(
    tables: Mapping[str, Frame | EncodedTable], columns: Sequence[str]
) -> dict[str, PlacedTable]:
    """Make the records of several tables comparable; the first is the original.

    Parameters
    ----------
    tables : mapping
        The tables by name.
    columns : sequence of str
        What is compared; each table must have them.

    Notes
    -----
    The place of a number or date is the share of the original's records below it, and half of
    those at it; between two of the original's values it is interpolated (where nearly everybody has
    a number of their own, between up to 50 of them), and beyond them it goes
    on with the distance relative to their range, ever more slowly, up to 1. So a tiny change stays
    tiny. What has no size, such as a missing value, differs by 1 from everything but its like. If
    most numbers of a table lie beyond the original's, as when grams stand for kilograms, its
    numbers are placed by their rank among themselves.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [20, 30, 40, 50], "sex": ["f", "m", "f", "m"]})
    >>> release = pl.DataFrame({"age": [31.0], "sex": [" M"]})
    >>> placed = place_together({"original": original, "release": release}, ["age", "sex"])
    >>> distances, rows = nearest_records(placed["release"], placed["original"])
    >>> rows.tolist(), distances.round(3).tolist()
    ([[1]], [[0.025]])
    """
    held = {name: encode(table) for name, table in tables.items()}
    placed: dict[str, tuple[bool, dict[str, tuple[bool, NDArray[np.int32]]]]] = {}
    for column in columns:
        # One column after the other: all of their values at once may be more than memory holds.
        encoded = {name: table.column(column) for name, table in held.items()}
        placed[column] = _placed(encoded)
    order = sorted(columns, key=lambda name: not placed[name][0])
    numeric = sum(ordered for ordered, _ in placed.values())
    caps = np.full(len(order), UNIT, np.int32)
    found = {}
    for name, table in held.items():
        values = np.empty((len(order), len(table)), np.int32)
        rescaled = []
        for place, column in enumerate(order):
            own_scale, values[place] = placed[column][1].pop(name)
            rescaled += [column] if own_scale else []
        found[name] = PlacedTable(tuple(order), values, numeric, caps, frozenset(rescaled))
    return found


def _placed(
    columns: Mapping[str, EncodedColumn],
) -> tuple[bool, dict[str, tuple[bool, NDArray[np.int32]]]]:
    """Return whether a column counts by size, and the place or label of each record, by table.

    With these goes whether the scale of the table is another.
    """
    loose, original = compare_loosely(columns), next(iter(columns))
    places = _Places.of(loose, original, columns[original]) if loose.ordered else None
    found = {}
    for name, column in columns.items():
        if places is None:
            found[name] = False, loose.labels[name].astype(np.int32)[column.codes]
        else:
            rescaled, own = places.of_table(loose, name, column)
            found[name] = rescaled, own[column.codes]
    return loose.ordered, found


@dataclass(frozen=True, eq=False)
class _Places:
    """Where the original's numbers stand among its records."""

    sizes: NDArray[np.float64]
    ranks: NDArray[np.float64]

    @classmethod
    def of(cls, loose: LooseColumn, table: str, column: EncodedColumn) -> _Places:
        numbers = loose.numbers[table]
        times = np.bincount(column.codes, minlength=len(numbers))
        known = np.isfinite(numbers) & (times > 0)
        sizes, counts = numbers[known], times[known]
        if (np.diff(sizes) <= 0).any():  # values of text are sorted as texts
            sizes, where = np.unique(sizes, return_inverse=True)
            counts = np.bincount(where, counts).astype(np.int64)
        ranks = (np.cumsum(counts) - counts / 2) / max(counts.sum(), 1)
        if 2 * len(sizes) > max(counts.sum(), 2 * _FEWEST_FINE):
            # By all ranks, the original would stand on a grid, and people in it would keep a
            # distance from each other that fresh people do not.
            marks = np.linspace(0, 1, min(_MOST_KNOTS, len(sizes) // _BETWEEN_KNOTS))
            knots = np.unique(np.clip(np.searchsorted(ranks, marks), 0, len(sizes) - 1))
            sizes, ranks = sizes[knots], ranks[knots]
        return cls(sizes, ranks)

    def of_table(
        self, loose: LooseColumn, table: str, column: EncodedColumn
    ) -> tuple[bool, NDArray[np.int32]]:
        """Return the place of each of a table's values, and whether that is by their own ranks.

        Examples
        --------
        >>> import polars as pl
        >>> kilograms = pl.DataFrame({"weight": np.arange(40, 52)})
        >>> grams = kilograms.reverse() * 1000
        >>> placed = place_together({"original": kilograms, "release": grams}, ["weight"])
        >>> nearest_records(placed["release"], placed["original"])[1].ravel().tolist()
        [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
        >>> placed["release"].rescaled
        frozenset({'weight'})
        """
        numbers = loose.numbers[table]
        times = np.bincount(column.codes, minlength=len(numbers))
        beyond = (numbers < self.sizes[0]) | (numbers > self.sizes[-1])
        few = np.count_nonzero(beyond & (times > 0)) < _ENOUGH_TO_RANK
        if few or 2 * times[beyond].sum() <= times[np.isfinite(numbers)].sum():
            return False, self.of_values(loose, table)
        return True, _Places.of(loose, table, column).of_values(loose, table)

    def of_values(self, loose: LooseColumn, table: str) -> NDArray[np.int32]:
        """Return the place of each of a table's values, in units."""
        numbers = loose.numbers[table]
        places = np.interp(numbers, self.sizes, self.ranks)
        low, high = self.sizes[0], self.sizes[-1]
        # Halves, for the difference of two large numbers may be more than a float holds.
        scale = (high / 2 - low / 2) or max(abs(high) / 2, 0.5)
        beyond = np.maximum(numbers / 2 - high / 2, 0) - np.maximum(low / 2 - numbers / 2, 0)
        relative = np.clip(beyond / scale, -1e9, 1e9)
        places = places + relative / (1 + np.abs(relative))
        # Values without a size lie so far off that they differ by 1 from all others.
        marks = -(loose.labels[table] % _MOST_MARKS + 3.0)
        placed = np.where(np.isfinite(numbers), places, marks)
        units: NDArray[np.int32] = np.rint(placed * UNIT).astype(np.int32)
        return units


def nearest_records(
    queries: PlacedTable,
    reference: PlacedTable,
    *,
    count: int = 1,
    own: NDArray[np.integer] | None = None,
    groups: NDArray[np.integer] | None = None,
    trimmed: bool = False,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return distances and row numbers of the nearest records, the nearest first.

    Parameters
    ----------
    queries, reference : PlacedTable
        Tables that were placed together.
    count : int
        How many are found for each query. Of equally near ones the first in the reference; where
        there are too few, the distance is infinite and the row -1.
    own : ndarray of int, optional
        For each query its own row in the reference, which is left out; with `groups`, its group.
    groups : ndarray of int, optional
        For each record of the reference the group it belongs to. Of each group the nearest record
        is found, and none of the query's own group. By default each record is a group.
    trimmed : bool
        Whether the largest of the differences of two records is left out.
    """
    kind: Kind = "trimmed" if trimmed else "whole"
    return nearest_by_both(queries, reference, counts={kind: count}, own=own, groups=groups)[kind]


def nearest_by_both(
    queries: PlacedTable,
    reference: PlacedTable,
    *,
    counts: Mapping[Kind, int],
    own: NDArray[np.integer] | None = None,
    groups: NDArray[np.integer] | None = None,
) -> dict[Kind, tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """Return the same by the whole and the trimmed distance at once; see `nearest_records`."""
    from understudy.learning.mixed_kernels import find_nearest

    left_out = np.full(queries.rows, -1) if own is None else np.asarray(own, np.int64)
    together = _groups(reference, groups)
    found = {kind: _unfound(queries.rows, counts.get(kind, 0)) for kind in KINDS}
    for piece, coded in _pieces(queries):
        best = [(distances[piece], rows[piece]) for distances, rows in found.values()]
        find_nearest(coded, left_out[piece], together, *_compared(reference), *best)
    return {
        kind: (np.where(rows < 0, np.inf, distances / UNIT), rows)
        for kind, (distances, rows) in found.items()
        if kind in counts
    }


def nearest_by_half(
    queries: PlacedTable,
    reference: PlacedTable,
    *,
    count: int = 1,
    own: NDArray[np.integer] | None = None,
    groups: NDArray[np.integer] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the same by the smaller half of the differences of two records; see `nearest_records`.

    Where there is an odd number of columns, the larger half of them counts.
    """
    from understudy.learning.mixed_kernels import find_nearest_by_best

    left_out = np.full(queries.rows, -1) if own is None else np.asarray(own, np.int64)
    together = _groups(reference, groups)
    distances, rows = _unfound(queries.rows, count)
    kept = (len(reference.columns) + 1) // 2
    for piece, coded in _pieces(queries):
        best = distances[piece], rows[piece]
        find_nearest_by_best(coded, left_out[piece], together, *_compared(reference), kept, best)
    return np.where(rows < 0, np.inf, distances / UNIT), rows


def _groups(reference: PlacedTable, groups: NDArray[np.integer] | None) -> NDArray[np.int64]:
    return np.arange(reference.rows) if groups is None else np.asarray(groups, np.int64)


def _unfound(queries: int, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    far = np.iinfo(np.int64).max // 2
    return np.full((queries, count), far), np.full((queries, count), -1)


def count_nearer(
    queries: PlacedTable, reference: PlacedTable, *, limits: Mapping[Kind, NDArray[np.float64]]
) -> dict[Kind, NDArray[np.int64]]:
    """Return how many records of a reference are nearer to each query than its limit.

    Parameters
    ----------
    queries, reference : PlacedTable
        Tables that were placed together.
    limits : mapping
        By "whole" and "trimmed" distance, or one of them: a limit for each query.
    """
    from understudy.learning.mixed_kernels import count_within

    none = np.zeros(queries.rows)
    # The first whole number that is no longer below the limit.
    units = [np.ceil(limits.get(kind, none) * UNIT).astype(np.int64) for kind in KINDS]
    counts = [np.zeros(queries.rows, np.int64) for _ in KINDS]
    for piece, coded in _pieces(queries):
        count_within(
            coded,
            *_compared(reference),
            (units[0][piece], units[1][piece]),
            (counts[0][piece], counts[1][piece]),
        )
    return {kind: held for kind, held in zip(KINDS, counts, strict=True) if kind in limits}


def _pieces(queries: PlacedTable) -> Iterator[tuple[slice, tuple[Any, Any]]]:
    """Yield some of the queries at a time, with a row for each, exact and coarse."""
    for start in track(range(0, queries.rows, _QUERIES_AT_ONCE), "Comparing records"):
        piece = slice(start, start + _QUERIES_AT_ONCE)
        yield (
            piece,
            (
                np.ascontiguousarray(queries.values[:, piece].T),
                np.ascontiguousarray(queries.coarse[:, piece].T),
            ),
        )


def _compared(reference: PlacedTable) -> tuple[Any, Any]:
    """Return what the kernels want of a reference: its values, and how they are compared."""
    coarse_caps = (reference.caps >> reference.shift).astype(np.int16)
    measure = reference.numeric, reference.caps, coarse_caps, reference.shift
    return (reference.values, reference.coarse), measure
