"""Drawing a panel: units first, whole ones, and then their records step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Codes
from understudy.synthesis.blocks import BLOCK_ROWS, Block


@dataclass(frozen=True, eq=False)
class Units:
    """Units that were drawn, before their further records are.

    Parameters
    ----------
    codes : mapping
        The codes of their first records.
    counts : ndarray of int64
        How many records each has.
    starts : mapping
        Where the counters of each begin.
    """

    codes: Mapping[str, Codes]
    counts: NDArray[np.int64]
    starts: Mapping[str, NDArray[Any]]

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, rows: NDArray[np.int64]) -> Units:
        """Return some of the units."""
        return Units(
            {name: own[rows] for name, own in self.codes.items()},
            self.counts[rows],
            {name: own[rows] for name, own in self.starts.items()},
        )

    @classmethod
    def concatenate(cls, pieces: Sequence[Units]) -> Units:
        """Put units one after the other."""
        first = pieces[0]
        if len(pieces) == 1:
            return first
        return cls(
            {name: np.concatenate([one.codes[name] for one in pieces]) for name in first.codes},
            np.concatenate([one.counts for one in pieces]),
            {name: np.concatenate([one.starts[name] for one in pieces]) for name in first.starts},
        )


@dataclass(frozen=True)
class PanelBlock(Block):
    """A piece of a panel to draw: some whole units, of which the first has a number."""

    units: Units = field(kw_only=True)
    first_unit: int = field(kw_only=True)


def whole_units(counts: NDArray[np.int64], rows: int) -> NDArray[np.int64]:
    """Return which of some units to take, in their order, so that they have so many records.

    The first ones are taken. If the last of them has too many records, another unit is left out
    that has as many as are too many, or the last is replaced by one that fits. If there is none,
    the sum is as near as possible.

    Parameters
    ----------
    counts : ndarray of int64
        Records of each unit; together at least `rows`.
    rows : int
        Records that are wanted.

    Examples
    --------
    >>> whole_units(np.array([2, 3, 1, 4]), 6).tolist()
    [0, 1, 2]
    >>> whole_units(np.array([2, 3, 4, 1]), 7).tolist()  # 2 too many, and the first has 2
    [1, 2]
    >>> whole_units(np.array([4, 4]), 6).tolist()
    [0, 1]
    """
    ends = np.cumsum(counts)
    last = int(np.searchsorted(ends, rows))
    over = int(ends[last]) - rows
    taken = np.arange(last + 1)
    if not over:
        return taken
    spare = np.flatnonzero(counts[:last] == over)
    if len(spare):
        return np.delete(taken, spare[-1])
    lacking = int(counts[last]) - over
    fitting = np.flatnonzero(counts[last + 1 :] == lacking)
    if len(fitting):
        return np.append(taken[:-1], last + 1 + fitting[0])
    return taken[:-1] if last and lacking < over else taken


def blocks_of(units: Units, seed: np.random.SeedSequence, copy: int) -> list[Block]:
    """Return units in blocks of about as many records as any other table has in one."""
    ends = np.cumsum(units.counts)
    starts = ends - units.counts
    edges = np.flatnonzero(np.append(True, np.diff(starts // BLOCK_ROWS) > 0)).tolist()
    found: list[Block] = []
    for first, stop in zip(edges, [*edges[1:], len(units)], strict=True):
        # One more number than the blocks of units have, whose draws these must not repeat.
        key = (*seed.spawn_key, copy, first, 1)
        own = units.take(np.arange(first, stop))
        found.append(
            PanelBlock(
                int(starts[first]),
                int(own.counts.sum()),
                np.random.SeedSequence(seed.entropy, spawn_key=key),
                copy,
                units=own,
                first_unit=first,
            )
        )
    return found


@dataclass(frozen=True, eq=False)
class Series:
    """All records of some units, unit by unit.

    Parameters
    ----------
    unit : ndarray of int64
        The number of each record's unit among these.
    numbers : mapping
        The numbers of counters, record by record.
    codes : mapping
        The codes of columns that vary, record by record.
    shares : mapping
        How far through its bin the number of such a column lies, if that is carried on.
    """

    unit: NDArray[np.int64]
    numbers: dict[str, NDArray[Any]]
    codes: dict[str, Codes]
    shares: dict[str, NDArray[np.float64]]
