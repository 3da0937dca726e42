"""Whether a release holds pairs of numbers that belong to single people, whatever else it holds.

Two exact numbers, such as a height and a cost, tell people apart. If they were kept and all other
columns made up, no record looks like a person's over all columns, or over half of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from understudy.learning.mixed_distance import UNIT, PlacedTable
from understudy.risk.lookalikes.linked import some_rows
from understudy.risk.lookalikes.looks import LEVEL, tail

MOST_COLUMNS = 12
"""So many columns are tried at most: those in which most people have a telling value."""
RARE, FEWEST_PEOPLE = 0.01, 30
"""A number is telling if at most this share of the people have it, or two; and so many people must
have two telling ones. With a frequent one, a pair would be no more than the other number, and any
release that repeats single values repeats such pairs."""
MOST_RECORDS = 40_000
"""Of more records, so many are looked at."""
SMOOTH = 0.1
"""If people in the order of one number differ by less than this share of the ranks in the other, on
average (a third would be by chance), one follows from the other. Then, too, two are as one."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class KeptPair:
    """Two numbers that were kept together.

    Parameters
    ----------
    columns : tuple of str
        Their names.
    tried : int
        How many pairs were looked at.
    """

    columns: tuple[str, str]
    tried: int

    def telling(self, people: PlacedTable, original: PlacedTable) -> Flags:
        """Return which people have two telling numbers: rare among those of the original."""
        places = [original.columns.index(name) for name in self.columns]
        one, other = (_rare(people.values[place], original.values[place]) for place in places)
        return one & other


def kept_pair(original: PlacedTable, released: PlacedTable) -> KeptPair | None:
    """Return the pair of numbers that a release seems to hold of most people; None if none does.

    Fresh people share as many pairs that one person alone has as people share with each other.

    Examples
    --------
    >>> import polars as pl
    >>> from understudy.learning.mixed_distance import place_together
    >>> rng = np.random.default_rng(1)
    >>> own = pl.DataFrame({name: rng.normal(size=300).round(2) for name in "abcd"})
    >>> loose = own.with_columns(pl.col(name).shuffle(seed=2) for name in "bc")
    >>> loose = loose.with_columns(pl.col("b").shuffle(seed=3))
    >>> kept_pair(*place_together({"own": own, "release": loose}, own.columns).values())
    KeptPair(columns=('a', 'd'), tried=6)
    """
    people, records = (one.take(some_rows(one, MOST_RECORDS)) for one in (original, released))
    rate = records.rows / people.rows
    found = []
    for one, other, telling in _telling_pairs(people):
        own, held = (_together(table, one, other) for table in (people, records))
        pairs, times = np.unique(own[telling], return_counts=True)
        kept = np.count_nonzero(np.isin(pairs[times == 1], held))
        shared = 2 * np.count_nonzero(times == 2)
        by_chance = tail(np.array([float(kept)]), np.array([float(shared)]), rate)
        found.append((float(by_chance[0]), (original.columns[one], original.columns[other])))
    if not found:
        return None
    smallest, columns = min(found)
    return KeptPair(columns, len(found)) if smallest * len(found) < LEVEL else None


def _telling_pairs(people: PlacedTable) -> Iterator[tuple[int, int, Flags]]:
    """Yield pairs of numbers that are not much the same, by their places, and whom they tell."""
    values = people.values[: people.numeric]
    rare = [_rare(row, row) for row in values]
    most = sorted(range(people.numeric), key=lambda place: -np.count_nonzero(rare[place]))
    for one, other in combinations(sorted(most[:MOST_COLUMNS]), 2):
        both = rare[one] & rare[other]
        if np.count_nonzero(both) >= FEWEST_PEOPLE:
            ranks = [values[place][both].argsort(kind="stable").argsort() for place in (one, other)]
            if min(_steps(*ranks), _steps(*reversed(ranks))) >= SMOOTH:
                yield one, other, both


def _rare(values: NDArray[np.int32], original: NDArray[np.int32]) -> Flags:
    """Return which values have a size and few people of the original."""
    sizes, times = np.unique(original, return_counts=True)
    frequent = sizes[times > max(2.0, RARE * len(original))]
    return (values >= -2 * UNIT) & ~np.isin(values, frequent)


def _together(table: PlacedTable, one: int, other: int) -> NDArray[np.int64]:
    """Return a number for each pair of values, the same for the same ones."""
    both = table.values[[one, other]].astype(np.int64)
    return np.asarray(both[0] * 2**32 + both[1])


def _steps(order: NDArray[np.int64], ranks: NDArray[np.int64]) -> float:
    """Return by how much of the ranks neighbours in an order differ, on average."""
    ordered = np.empty_like(ranks)
    ordered[order] = ranks
    return float(np.abs(np.diff(ordered)).mean() / len(ranks))
