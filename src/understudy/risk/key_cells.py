"""How many records of each table have each combination of keys and sensitive value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from understudy.counting.tables import group_ids
from understudy.data.coded import Coded

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class KeyCells:
    """Counts of several tables, for each key and sensitive value that any of them holds.

    A *key* is a combination of the key columns' values, a *cell* a key with a sensitive value.

    Parameters
    ----------
    key : ndarray of int64
        The number of each cell's key; keys are numbered from 0 in the order of their codes.
    value : ndarray of int64
        The code of each cell's sensitive value.
    keys : int
        How many different keys there are.
    counts : tuple of ndarray of int64
        For each table, its records in each cell.
    cell_of : tuple of ndarray of int64
        For each table, the cell of each record.
    examples : Coded
        One record for each cell, with all columns.
    """

    key: Counts
    value: Counts
    keys: int
    counts: tuple[Counts, ...]
    cell_of: tuple[Counts, ...]
    examples: Coded

    @classmethod
    def of(cls, tables: Sequence[Coded], keys: Sequence[str], sensitive: str) -> KeyCells:
        """Count tables that were coded alike.

        Examples
        --------
        >>> table = Coded.from_arrays({"age": [0, 0, 1, 0], "ill": [1, 0, 0, 1]})
        >>> cells = KeyCells.of([table], ["age"], "ill")
        >>> cells.key.tolist(), cells.value.tolist(), cells.counts[0].tolist()
        ([0, 0, 1], [0, 1, 0], [1, 2, 1])
        """
        stacked = Coded.concatenate(tables)
        keyed = group_ids(stacked, keys)
        values = stacked[sensitive]
        pairs = Coded(
            ("key", "value"), (keyed.ids, values), (keyed.count, stacked.cardinality(sensitive))
        )
        cells = group_ids(pairs, pairs.names)
        ends = np.cumsum([len(table) for table in tables])[:-1]
        cell_of = tuple(np.split(cells.ids.astype(np.int64), ends))
        return cls(
            keyed.ids[cells.representatives].astype(np.int64),
            values[cells.representatives].astype(np.int64),
            keyed.count,
            tuple(np.bincount(part, minlength=cells.count) for part in cell_of),
            cell_of,
            stacked.take(cells.representatives),
        )

    @cached_property
    def starts(self) -> Counts:
        """The first cell of each key: cells are in the order of keys, then of values."""
        changes = np.flatnonzero(self.key[1:] != self.key[:-1]) + 1
        return np.concatenate([np.zeros(min(self.keys, 1), np.int64), changes])

    def per_key(self, counts: Counts) -> Counts:
        """Return the sums of the cells' counts over each key."""
        return np.add.reduceat(counts, self.starts)
