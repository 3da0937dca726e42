"""Two tables coded alike to compare shares: in memory, or as sources that are only counted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.arguments import as_names
from understudy.counting import ContingencyTable, counts_of_sets
from understudy.data.coded import Coded, Codes, code_dtype
from understudy.data.frames import Backend
from understudy.data.groups import (
    Grouped,
    GroupedColumn,
    Groups,
    Labels,
    check_groups,
    group_column,
    labels_of,
)
from understudy.data.joint_coding import CodedTables, encode
from understudy.data.source import TableSource
from understudy.data.values import to_numpy
from understudy.errors import DataError, ParameterError, did_you_mean
from understudy.utility.distances import Counts, paired_counts
from understudy.utility.tables import COMPARED


@dataclass(frozen=True, eq=False)
class SharesInMemory:
    """Two tables whose codes are in memory."""

    labels: Grouped
    backend: Backend

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self.labels.original.names

    @property
    def records(self) -> tuple[int, int]:
        """How many records the original and the synthetic table have."""
        return len(self.labels.original), len(self.labels.synthetic)

    def paired_counts(self, sets: Sequence[Sequence[str]]) -> Iterator[tuple[Counts, Counts]]:
        """Yield, for each set of columns, how often its combinations occur in either table."""
        return paired_counts(self.labels.original, self.labels.synthetic, sets)

    def margins(self, column: str) -> tuple[Counts, Counts]:
        """Return how many records of either table have each code of a column."""
        both = self.labels.original, self.labels.synthetic
        size = both[0].cardinality(column)
        first, second = (np.bincount(table[column], minlength=size) for table in both)
        return first, second


@dataclass(frozen=True, eq=False)
class ValueCodec:
    """Codes values by looking them up among those that occur.

    Parameters
    ----------
    names : tuple of str
        The columns.
    values : tuple of Array
        The values that occur in each.
    codes : tuple of ndarray
        The code of each of them.
    cardinalities : tuple of int
        How many codes there are.
    """

    names: tuple[str, ...]
    values: tuple[pa.Array, ...]
    codes: tuple[Codes, ...]
    cardinalities: tuple[int, ...]

    def encode(self, source: TableSource) -> Coded:
        """Return the codes of a table, all in memory."""
        return Coded.concatenate([self.encode_batch(batch) for batch in source.arrow_batches()])

    def encode_batch(self, table: pa.Table) -> Coded:
        """Return the codes of some records."""
        columns = []
        for name, values, codes in zip(self.names, self.values, self.codes, strict=True):
            places = pc.index_in(_plain(table[name].combine_chunks()), value_set=values)
            columns.append(codes[to_numpy(places)])
        return Coded(self.names, tuple(columns), self.cardinalities)


@dataclass(frozen=True, eq=False)
class SharesOfSources:
    """Two tables that need not fit in memory; only counts of them are held."""

    labels: Labels
    backend: Backend
    records: tuple[int, int]
    coded: tuple[Any, Any]
    _margins: Mapping[str, tuple[Counts, Counts]]

    @classmethod
    def of(
        cls,
        original: TableSource,
        synthetic: TableSource,
        columns: str | Sequence[str] | None,
        groups: Groups,
        special: Mapping[str, Sequence[float]] | None,
    ) -> SharesOfSources:
        """Describe both tables, and code them alike."""
        sources = dict(zip(COMPARED, (original, synthetic), strict=True))
        names = tuple(original.layout.types) if columns is None else as_names(columns)
        _check(sources, names)
        check_groups(groups, special, names, by_default=True)
        described = [dict(one.describe(names)) for one in sources.values()]
        found: dict[str, GroupedColumn] = {}
        codes: dict[str, list[Codes]] = {}
        margins: dict[str, tuple[Counts, Counts]] = {}
        for name in names:
            both = [own[name] for own in described]
            tables = CodedTables.of(
                {
                    table: replace(encode(pa.table({name: held.values})), weights=held.counts)
                    for table, held in zip(COMPARED, both, strict=True)
                },
                [name],
            )
            found[name] = group_column(tables, name, groups, special)
            codes[name] = _codes(tables, name, found[name])
            first, second = (
                np.bincount(own, held.counts, found[name].size).astype(np.int64)
                for own, held in zip(codes[name], both, strict=True)
            )
            margins[name] = first, second
        sizes = tuple(found[name].size for name in names)
        coded = [
            source.coded(
                ValueCodec(
                    names,
                    tuple(_plain(own[name].values) for name in names),
                    tuple(codes[name][place] for name in names),
                    sizes,
                )
            )
            for place, (source, own) in enumerate(zip(sources.values(), described, strict=True))
        ]
        rows = (original.rows, synthetic.rows)
        labels = Labels(*labels_of(found))
        return cls(labels, original.layout.backend, rows, (coded[0], coded[1]), margins)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self._margins)

    def paired_counts(self, sets: Sequence[Sequence[str]]) -> Iterator[tuple[Counts, Counts]]:
        """Yield, for each set of columns, how often its combinations occur in either table."""
        rows = sum(self.records)
        bounds = [math.prod(len(self._margins[name][0]) for name in names) for names in sets]
        cells = [min(bound, rows) for bound in bounds]
        first, second = (counts_of_sets(one, sets, cells) for one in self.coded)
        for bound, *tables in zip(bounds, first, second, strict=True):
            # In the order, and with the empty cells, of tables in memory: sums are then the same.
            if bound <= max(2**10, rows):
                dense = [table.to_dense().counts.ravel() for table in tables]
                yield dense[0], dense[1]
            else:
                yield _side_by_side(*tables)

    def margins(self, column: str) -> tuple[Counts, Counts]:
        """Return how many records of either table have each code of a column."""
        return self._margins[column]


def _check(sources: Mapping[str, TableSource], names: Sequence[str]) -> None:
    """Raise if there is nothing to compare, or a table lacks a column or has no rows."""
    if not names:
        raise ParameterError("There is no column to compare. Name one in columns, or leave it out.")
    problems = [
        f"The {table} table has no column {name!r}.{did_you_mean(name, list(source.layout.types))}"
        for table, source in sources.items()
        for name in names
        if name not in source.layout.types
    ]
    if problems:
        raise ParameterError(" ".join(problems))
    for table, source in sources.items():
        if not source.rows:
            raise DataError(f"The {table} table has no rows.")


def _codes(tables: CodedTables, name: str, found: GroupedColumn) -> list[Codes]:
    """Return the code of each value that occurs, in either table."""
    codes, _ = tables.column(name)
    kind = code_dtype(max(found.size, 1))
    groups = np.arange(found.size) if found.grouping is None else found.grouping.place
    return [groups[codes[table]].astype(kind) for table in COMPARED]


def _plain(array: pa.Array) -> pa.Array:
    """Return values that Arrow can look up."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return array.cast(pa.large_string()) if pa.types.is_string_view(array.type) else array


def _side_by_side(first: ContingencyTable, second: ContingencyTable) -> tuple[Counts, Counts]:
    """Return the counts of all combinations that occur in either table, in their order."""
    both = first + second
    found = []
    for table in (first, second):
        seen, every = table.to_sparse(), both.to_sparse()
        where = _places(every.combinations, seen.combinations)
        counts = np.zeros(len(every.counts), np.int64)
        counts[where] = seen.counts
        found.append(counts)
    return found[0], found[1]


def _places(every: Codes | None, some: Codes | None) -> np.ndarray[Any, Any]:
    """Return where some sorted combinations stand among all."""
    if every is None or some is None:
        raise TypeError("a sparse table has combinations")
    stacked = np.concatenate([every, some])
    order = np.lexsort((np.repeat([0, 1], [len(every), len(some)]), *stacked.T[::-1]))
    mine = order >= len(every)
    # Each of the others stands right after its like.
    places = np.empty(len(some), np.int64)
    places[order[mine] - len(every)] = (np.cumsum(~mine) - 1)[mine]
    return places
