"""The probability of records under a network that was learnt from some table, smoothed.

For comparing how probable a record is in a release and among other people: a combination that a
table lacks is improbable there, not impossible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Coded
from understudy.learning.mixed_distance import UNIT, PlacedTable
from understudy.progress import quietly
from understudy.synthesis.bayes.constraints import build_constraints

BINS = 20
"""Parts of equally many original records that numbers are put in."""
PARENTS = 2
MOST_LABELS = 256
"""A column with more different labels tells people apart, and has no density to speak of."""
MOST_COLUMNS = 40
"""The search for a network looks at all pairs of parents; of wider tables, the first columns."""

Network = Mapping[str, tuple[str, ...]]


def code_placed(tables: Sequence[PlacedTable]) -> list[Coded]:
    """Return tables that were placed together as codes: numbers in parts, labels as they are."""
    first = tables[0]
    names: list[str] = []
    columns: list[NDArray[np.int64]] = []
    sizes: list[int] = []
    for place, name in enumerate(first.columns):
        values = np.concatenate([table.values[place] for table in tables]).astype(np.int64)
        if place < first.numeric:
            parts = np.clip(values * BINS // UNIT, 0, BINS - 1)
            # What has no size is far below 0; each kind of it is a value of its own.
            values = np.where(values < -2 * UNIT, values, parts)
        levels, codes = np.unique(values, return_inverse=True)
        if 1 < len(levels) <= MOST_LABELS and len(names) < MOST_COLUMNS:
            names.append(name)
            columns.append(codes)
            sizes.append(len(levels))
    ends = np.cumsum([table.rows for table in tables])[:-1]
    split = [np.split(codes, ends) for codes in columns]
    sized = dict(zip(names, sizes, strict=True))
    return [
        Coded.from_arrays({n: own[at] for n, own in zip(names, split, strict=True)}, sized)
        for at in range(len(tables))
    ]


def learn_network(table: Coded, random_state: int = 0) -> Network:
    """Return the columns and their parents, the one that tells most of the column first."""
    # Loads Numba, which is not for those who only want to import an attack.
    from understudy.synthesis.bayes.greedy import greedy_search

    rules = build_constraints(table.names, parents=min(PARENTS, len(table.names) - 1))
    with quietly():
        found = greedy_search(table, rules, np.random.default_rng(random_state))
    return found.structure.to_network(table.names).parents


def log_density(network: Network, table: Coded, records: Coded) -> NDArray[np.float64]:
    """Return the log probability of records under a network with the counts of a table.

    Counts of a combination of parents are mixed with the distribution for one parent less, which
    counts as one record; that without parents is mixed with all values alike.

    Examples
    --------
    >>> table = Coded.from_arrays({"x": [0, 0, 1]})
    >>> np.exp(log_density({"x": ()}, table, table))  # 2 and 1 of 3, and half a record each
    array([0.625, 0.625, 0.375])
    """
    return _summed(network, Coded.concatenate([table, records]), slice(len(table)))[len(table) :]


def log_density_of_others(network: Network, table: Coded) -> NDArray[np.float64]:
    """Return the log probability of each record of a table, with the counts of all others in it.

    Examples
    --------
    >>> table = Coded.from_arrays({"x": [0, 0, 1]})
    >>> np.exp(log_density_of_others({"x": ()}, table)).round(4)  # of 2 others 1 and 1 and 0
    array([0.5   , 0.5   , 0.1667])
    """
    return _summed(network, table, slice(None), own=1)


def _summed(network: Network, both: Coded, counted: slice, own: int = 0) -> NDArray[np.float64]:
    """Return the log probability of all records with the counts of some, less their own part."""
    total = np.zeros(len(both))
    for child, parents in network.items():
        size = both.cardinality(child)
        share = np.full(len(both), 1 / size)
        group = np.zeros(len(both), np.int64)
        for parent in (None, *parents):
            if parent is not None:
                group = _numbered(group * both.cardinality(parent) + both[parent])
            cells = _numbered(group * size + both[child])
            share = (_alike(cells, counted) - own + share) / (_alike(group, counted) - own + 1)
        total += np.log(share)
    return total


def _numbered(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(keys, return_inverse=True)[1]


def _alike(group: NDArray[np.int64], counted: slice) -> NDArray[np.int64]:
    """Return how many of the counted records are in the group of each record."""
    return np.bincount(group[counted], minlength=int(group.max(initial=0)) + 1)[group]
