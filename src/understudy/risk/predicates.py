"""Predicates over the columns of a table: taken from a release, or drawn at random.

A predicate is a condition on each of some columns, such as "age of 80 or more, and widowed". All
tables are coded alike, loosely: by size, or as text without case and outer spaces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from understudy.data.joint_coding import EncodedTable
from understudy.data.loose_values import compare_loosely

Ints = NDArray[np.int32]
_BATCH = 4096
TRIES = 300
"""So many choices of a record and columns are tried at most for each predicate asked for."""


@dataclass(frozen=True, eq=False)
class Predicates:
    """Conditions that must all hold: a row for each predicate, an entry for each condition.

    Parameters
    ----------
    columns : ndarray of int32
        The column's place.
    lows, highs : ndarray of int32
        The range of codes; empty if the first is above the second.
    negated : ndarray of bool
        Whether the condition is to be outside of it.
    """

    columns: Ints
    lows: Ints
    highs: Ints
    negated: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.columns)

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_] | slice) -> Predicates:
        """Return some of them."""
        columns, lows, highs, negated = self.arrays
        return Predicates(columns[rows], lows[rows], highs[rows], negated[rows])

    def joined(self, other: Predicates) -> Predicates:
        """Return these and others, of as many conditions."""
        return Predicates(
            np.concatenate([self.columns, other.columns]),
            np.concatenate([self.lows, other.lows]),
            np.concatenate([self.highs, other.highs]),
            np.concatenate([self.negated, other.negated]),
        )

    @property
    def arrays(self) -> tuple[Ints, Ints, Ints, NDArray[np.bool_]]:
        """All that they are."""
        return self.columns, self.lows, self.highs, self.negated


@dataclass(frozen=True, eq=False)
class Scale:
    """What the codes of each column mean, in all tables.

    Parameters
    ----------
    names : tuple of str
        The columns.
    sized : ndarray of int32
        How many of a column's codes have a size; they come first, in order. 0 for categories.
    codes : ndarray of int32
        How many codes it has.
    """

    names: tuple[str, ...]
    sized: Ints
    codes: Ints

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where a column's codes start, each with one entry more than it has codes."""
        return np.concatenate([[0], np.cumsum(self.codes.astype(np.int64) + 1)])


@dataclass(frozen=True, eq=False)
class CodedRecords:
    """The records of one table as codes: a row for each column, and a column for each record."""

    scale: Scale
    codes: Ints

    @property
    def rows(self) -> int:
        """How many records there are."""
        return int(self.codes.shape[1])

    def distinct(self) -> CodedRecords:
        """Return each different record once, in the order in which they first occur."""
        from understudy.counting import group_ids
        from understudy.data.coded import Coded

        sizes = dict(zip(self.scale.names, self.scale.codes.tolist(), strict=True))
        table = Coded.from_arrays(dict(zip(self.scale.names, self.codes, strict=True)), sizes)
        names = sorted(sizes, key=lambda name: -sizes[name])
        groups = group_ids(table, names)
        if groups.count == self.rows:
            return self
        first = np.zeros(groups.count, np.int64)
        first[groups.ids[::-1]] = np.arange(self.rows)[::-1]
        return CodedRecords(self.scale, np.ascontiguousarray(self.codes[:, np.sort(first)]))

    def joined(self, other: CodedRecords) -> CodedRecords:
        """Return these records and others after them."""
        return CodedRecords(self.scale, np.concatenate([self.codes, other.codes], axis=1))

    @cached_property
    def _index(self) -> tuple[Ints, Ints, NDArray[np.int64], NDArray[np.int64]]:
        from understudy.risk.predicate_kernels import sort_records

        order = np.empty_like(self.codes)
        starts = sort_records(self.codes, self.scale.offsets, order)
        return self.codes, order, starts, self.scale.offsets

    def fitting(
        self,
        predicates: Predicates,
        *,
        limit: int = 1,
        first: int | None = None,
        both: bool = True,
    ) -> tuple[NDArray[np.int64], Ints]:
        """Return how many records each predicate fits, and the rows of up to `limit` of them.

        Parameters
        ----------
        predicates : Predicates
            What is asked.
        limit : int
            Where more fit than this, counts only tell whether none, one or more do.
        first : int, optional
            The first so many records are counted apart from the rest; all of them by default.
        both : bool
            Whether the rest counts at all; if not, its counts may be too low.

        Returns
        -------
        tuple of two ndarrays
            Counts of the first records and of the rest, and rows; -1 where there are fewer.
        """
        from understudy.risk.predicate_kernels import find_people

        counts = np.zeros((len(predicates), 2), np.int64)
        people = np.full((len(predicates), limit), -1, np.int32)
        group = (self.rows, False) if first is None else (first, both and first < self.rows)
        find_people(predicates.arrays, self._index, group, limit, counts, people)
        return counts, people


def code_records(
    tables: Mapping[str, EncodedTable], columns: Sequence[str]
) -> dict[str, CodedRecords]:
    """Return the records of tables as codes that can be compared; the first is the original.

    Examples
    --------
    >>> import polars as pl
    >>> from understudy.data.joint_coding import encode
    >>> one, other = pl.DataFrame({"x": [5, 1]}), pl.DataFrame({"x": [" 3.0", "?"]})
    >>> found = code_records({"one": encode(one), "other": encode(other)}, ["x"])
    >>> found["one"].codes.tolist(), found["other"].codes.tolist()
    ([[2, 0]], [[1, 4]])
    """
    codes = {name: np.empty((len(columns), len(table)), np.int32) for name, table in tables.items()}
    sized, sizes = [], []
    for place, column in enumerate(columns):
        held = {name: table.column(column) for name, table in tables.items()}
        loose = compare_loosely(held)
        numbers = np.concatenate([loose.numbers[name] for name in tables])
        known = np.unique(numbers[np.isfinite(numbers)]) if loose.ordered else np.empty(0)
        labels = max(int(own.max(initial=0)) for own in loose.labels.values()) + 1
        for name, own in held.items():
            size = loose.numbers[name]
            code = np.searchsorted(known, size) if loose.ordered else np.zeros(len(size), np.intp)
            has_size = np.isfinite(size) if loose.ordered else np.zeros(len(size), bool)
            codes[name][place] = np.where(has_size, code, len(known) + loose.labels[name])[
                own.codes
            ]
        sized.append(len(known))
        sizes.append(len(known) + labels)
    scale = Scale(tuple(columns), np.array(sized, np.int32), np.array(sizes, np.int32))
    return {name: CodedRecords(scale, held) for name, held in codes.items()}


def predicates_of_release(
    release: CodedRecords, conditions: int, most: int, rng: np.random.Generator
) -> Predicates:
    """Return predicates that fit exactly one of the release's different records.

    Parameters
    ----------
    release : CodedRecords
        Different records.
    conditions : int
        1 for rare values of one column: those that a single record has, and below or above which
        there is none. More, for that many conditions that one record meets: its values in columns
        drawn at random, or values at least as extreme where they have a size.
    most : int
        How many are returned at most, drawn at random.
    rng : Generator
        Draws them.
    """
    if conditions == 1:
        found = _rare_values(release)
        chosen = rng.permutation(len(found))[:most]
        return found.take(np.sort(chosen))
    return _combinations(release, conditions, most, rng)


def _rare_values(release: CodedRecords) -> Predicates:
    scale = release.scale
    columns, lows, highs = [], [], []
    for place, codes in enumerate(release.codes):
        sized = int(scale.sized[place])
        alone = np.flatnonzero(np.bincount(codes, minlength=scale.codes[place]) == 1)
        low, high = alone.copy(), alone.copy()
        known = codes[codes < sized]
        if len(known):
            # What lies beyond the only record at an end counts as well: at most, at least.
            low[alone == known.min()] = 0
            high[alone == known.max()] = sized - 1
        columns.append(np.full(len(alone), place))
        lows.append(low)
        highs.append(high)
    found: list[Ints] = [
        np.concatenate(held).astype(np.int32)[:, None] for held in (columns, lows, highs)
    ]
    return Predicates(found[0], found[1], found[2], np.zeros_like(found[0], bool))


def _combinations(
    release: CodedRecords, conditions: int, most: int, rng: np.random.Generator
) -> Predicates:
    extremes = Extremes.of(release)
    kept = np.empty((0, conditions + 1), np.int64)
    for sources in _sources(release, conditions, TRIES * most, rng):
        counts, _ = release.fitting(extremes.predicates(sources))
        fresh = np.concatenate([kept, sources[counts[:, 0] == 1]])
        _, first = np.unique(fresh, axis=0, return_index=True)
        kept = fresh[np.sort(first)]
        if len(kept) >= most:
            break
    return extremes.predicates(kept[:most])


def _sources(
    release: CodedRecords, conditions: int, most: int, rng: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """Yield records and columns to try, in batches: all of them if they are few, or at random."""
    width = len(release.scale.names)
    choices = math.comb(width, conditions)
    if release.rows * choices <= most:
        columns = np.array(list(combinations(range(width), conditions)))
        tried = rng.permutation(release.rows * choices)
        for start in range(0, len(tried), _BATCH):
            rows, choice = np.divmod(tried[start : start + _BATCH], choices)
            yield np.column_stack([rows, columns[choice]])
        return
    for _ in range(0, most, _BATCH):
        rows = rng.integers(release.rows, size=_BATCH)
        # The columns of the smallest of some random numbers are a random choice without repeats.
        chosen = np.argsort(rng.random((_BATCH, width)), axis=1)[:, :conditions]
        yield np.column_stack([rows, np.sort(chosen, axis=1)])


@dataclass(frozen=True, eq=False)
class Extremes:
    """The release, and the middle of each of its columns: values with a size are taken outwards."""

    release: CodedRecords
    middles: Ints

    @classmethod
    def of(cls, release: CodedRecords) -> Extremes:
        """Find the lower median of each column's codes."""
        middles = []
        for codes, sized in zip(release.codes, release.scale.sized, strict=True):
            known = codes[codes < sized]
            middle = (len(known) - 1) // 2
            middles.append(np.partition(known, middle)[middle] if len(known) else 0)
        return cls(release, np.array(middles, np.int32))

    def predicates(self, sources: NDArray[np.int64]) -> Predicates:
        """Return the predicates of records (first column) and columns (the others)."""
        columns = sources[:, 1:].astype(np.int32)
        codes = self.release.codes[columns, sources[:, :1]]
        sized = self.release.scale.sized[columns]
        has_size = codes < sized
        above = codes > self.middles[columns]
        lows = np.where(has_size & ~above, 0, codes)
        highs = np.where(has_size & above, sized - 1, codes)
        return Predicates(columns, lows, highs, np.zeros(columns.shape, bool))


def random_predicates(
    release: CodedRecords, conditions: int, count: int, rng: np.random.Generator
) -> Predicates:
    """Return predicates of one who knows no more than which values the release holds.

    Columns, values and comparisons (equal or not; for values with a size also above, below, at
    least, at most) are drawn at random, each with the same probability.
    """
    scale = release.scale
    width = len(scale.names)
    columns = np.argsort(rng.random((count, width)), axis=1)[:, :conditions].astype(np.int32)
    held = [np.flatnonzero(np.bincount(codes)) for codes in release.codes]
    ends = np.cumsum([len(codes) for codes in held])
    lengths = np.diff(ends, prepend=0)
    places = (ends - lengths)[columns] + rng.integers(lengths[columns])
    codes = np.concatenate(held)[places].astype(np.int32)
    sized = scale.sized[columns]
    choices: list[Callable[[], tuple[Ints, Ints]]] = [
        lambda: (codes, codes),
        lambda: (codes, codes),
        lambda: (codes + 1, sized - 1),
        lambda: (np.zeros_like(codes), codes - 1),
        lambda: (codes, sized - 1),
        lambda: (np.zeros_like(codes), codes),
    ]
    chosen = rng.integers(np.where(codes < sized, len(choices), 2))
    bounds = [choice() for choice in choices]
    lows = np.choose(chosen, [low for low, _ in bounds]).astype(np.int32)
    highs = np.choose(chosen, [high for _, high in bounds]).astype(np.int32)
    return Predicates(columns, lows, highs, chosen == 1)
