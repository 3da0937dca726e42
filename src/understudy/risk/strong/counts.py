"""The counts of a sampler's tables in the original and in the release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.counting import group_ids
from understudy.data.coded import Coded, Codes, code_dtype
from understudy.errors import DataError
from understudy.synthesis.sampler import ABSENT, IMPOSSIBLE, SamplingTable
from understudy.wording import counted

if TYPE_CHECKING:
    from understudy.risk.strong.kernels import Standing, Tally

_MOST_INDEXED = 2**22
"""Keys up to which a table of all of them is held, in place of a search among those that exist."""


@dataclass(frozen=True, eq=False)
class TableCounts:
    """One table of a sampler, and how many records of both tables each node and cell holds."""

    table: SamplingTable
    tally: Tally

    @classmethod
    def of(cls, table: SamplingTable, original: Coded, synthetic: Coded) -> TableCounts:
        """Count a table.

        Raises
        ------
        DataError
            If the model was fitted to other records than `original`, or could not have drawn
            `synthetic`.
        """
        from understudy.risk.strong.kernels import DRAWN, RECORDS, RELEASED

        tally, donors = _count(table, original, synthetic)
        # Where rules decide of all records, a tree was grown on these, but nothing is drawn of it.
        if len(donors) and not np.array_equal(donors, table.donors):
            raise DataError(
                f"The model was not fitted to this original: its records of {table.name!r} differ. "
                "Give the table that the model was fitted to."
            )
        drawn, cells = tally.node_counts[0], tally.cell_counts
        impossible = int(cells[cells[:, RECORDS] == 0, DRAWN].sum())
        if drawn[RECORDS] == 0:
            impossible = int(drawn[RELEASED])
        if impossible:
            raise DataError(
                f"This model did not make the release: in {counted(impossible, 'record')} of it, "
                f"{table.name!r} has a value that the model cannot draw there. Give the model that "
                "did, or attack the release as a black box (black_box_attacker)."
            )
        return cls(table, tally)

    def locate(self, known: Mapping[str, Codes], rows: int) -> Standing:
        """Return where records stand in the table; `known` holds their codes."""
        from understudy.risk.strong.kernels import Standing, locate

        entries = self.table.entries(known, rows)
        parents = np.empty((len(entries.parents), rows), np.int64)
        for place, codes in enumerate(entries.parents):
            parents[place] = codes
        nodes = np.empty((len(parents) + 1, rows), np.int32)
        cells = np.empty_like(nodes)
        locate(self.tally, entries.values, parents, nodes, cells)
        return Standing(entries.values, nodes, cells)


def columns_of(coded: Coded) -> dict[str, Codes]:
    """Return the columns of a coded table by name."""
    return dict(zip(coded.names, coded.columns, strict=True))


def _count(
    table: SamplingTable, original: Coded, synthetic: Coded
) -> tuple[Tally, NDArray[np.int64]]:
    """Return the counts, and the values of the original records by node and value."""
    from understudy.risk.strong.kernels import Tally

    parents, values, records, released = _distinct_cells(table, original, synthetic)
    # For each level, the node of each distinct cell of the deepest level.
    node_of = [np.zeros(len(values), np.int64)]
    starts, bases, child_keys = [0, 1], [], []
    ends = 0
    for size, codes in zip(table.sizes, parents, strict=True):
        keys = node_of[-1] * size + codes
        new = np.ones(len(keys), bool)
        new[1:] = keys[1:] != keys[:-1]
        bases.append(ends)
        child_keys.append(keys[new] + ends)
        ends += (starts[-1] - starts[-2]) * size
        node_of.append(np.cumsum(new) - 1)
        starts.append(starts[-1] + int(new.sum()))
    counts = [
        np.bincount(own, records, stop - start).astype(np.int64)
        for own, start, stop in zip(node_of, starts[:-1], starts[1:], strict=True)
    ]
    # Each synthetic record was drawn from its deepest node that holds an original one.
    level_of = sum((n[own] > 0 for n, own in zip(counts[1:], node_of[1:], strict=True)), 0)
    node_parts, cell_parts, cell_keys = [], [], []
    for level, (own, count) in enumerate(zip(node_of, counts, strict=True)):
        drawn = np.where((level_of == level) & (count[own] > 0), released, 0)
        node_parts.append(_sums(own, len(count), records, released, drawn))
        keys, number = np.unique(own * table.cardinality + values, return_inverse=True)
        cell_parts.append(_sums(number, len(keys), records, released, drawn))
        cell_keys.append(keys + starts[level] * table.cardinality)
    children = np.concatenate([np.empty(0, np.int64), *child_keys])
    cells = np.concatenate(cell_keys)
    tally = Tally(
        np.array(table.sizes, np.int64),
        table.cardinality,
        np.array(starts, np.int64),
        np.array(bases, np.int64),
        children,
        _index(children, ends),
        cells,
        _index(cells, starts[-1] * table.cardinality),
        np.concatenate(node_parts),
        np.concatenate(cell_parts),
    )
    return tally, np.repeat(values, records)


def _distinct_cells(
    table: SamplingTable, original: Coded, synthetic: Coded
) -> tuple[list[NDArray[np.int64]], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return parents' codes and value of each combination that occurs, and how often it does.

    Combinations are in lexicographic order, parents first.
    """
    both = []
    for coded in (original, synthetic):
        entries = table.entries(columns_of(coded), len(coded))
        if (entries.values == IMPOSSIBLE).any():
            raise DataError(
                f"Records hold a combination of {table.name!r} that no record had when the model "
                "was fitted."
            )
        part = np.flatnonzero(entries.values != ABSENT)
        both.append([*(codes[part] for codes in entries.parents), entries.values[part]])
    of_original = len(both[0][-1])
    sizes = (*table.sizes, table.cardinality)
    columns = tuple(
        np.concatenate(pair).astype(code_dtype(size))
        for *pair, size in zip(*both, sizes, strict=True)
    )
    names = tuple(str(place) for place in range(len(sizes)))
    groups = group_ids(Coded(names, columns, sizes), names)
    *parents, values = (codes[groups.representatives].astype(np.int64) for codes in columns)
    counts = [
        np.bincount(ids, minlength=groups.count)
        for ids in (groups.ids[:of_original], groups.ids[of_original:])
    ]
    return parents, values, counts[0], counts[1]


def _sums(group: NDArray[np.int64], groups: int, *weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of each weight in each group; counts are far below the limits of floats."""
    sums = [np.bincount(group, weight, groups) for weight in weights]
    return np.stack(sums, axis=1).astype(np.int64)


def _index(keys: NDArray[np.int64], bound: int) -> NDArray[np.int32]:
    """Return the place of every key below `bound`, -1 for none; empty if there are too many."""
    if bound > _MOST_INDEXED:
        return np.empty(0, np.int32)
    index = np.full(max(bound, 1), -1, np.int32)
    index[keys] = np.arange(len(keys))
    return index
