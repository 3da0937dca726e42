"""The compiled loops of the strong attacker: how the probability of a release moves with a record.

A table of counts is a tree: its root holds all records that take part, its nodes on level l those
that agree on the first l parents, and a cell of a node those that also have a certain value. A
synthetic value was drawn from the deepest node with its parents' codes that holds a record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from understudy.counting.compiling import announce_compilation
from understudy.synthesis.sampler import IMPOSSIBLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

announce_compilation()

SMOOTHING = 0.5
"""Records that an attacker's own prediction spreads evenly over all values."""


class Tally(NamedTuple):
    """Counts of a table's nodes and cells, in the original and in the release.

    Nodes are numbered level by level, and on each level in the order of their codes.

    Parameters
    ----------
    sizes : ndarray of int64
        Number of codes of each parent.
    cardinality : int
        Number of values.
    level_starts : ndarray of int64
        The first node of each level, and the number of nodes.
    child_bases : ndarray of int64
        For each level but the last: what to add to (place of a node on its level times size plus
        code) to get the key of a child.
    child_keys, cell_keys : ndarray of int64
        The keys of children and cells that exist, increasing. A child's number is its place among
        the keys plus one; a cell's key is its node times cardinality plus value.
    child_index, cell_index : ndarray of int32
        Child or cell of every key, -1 if there is none; empty if that would be too large.
    records, released, drawn : ndarray of int64
        For each node: original records, synthetic records, and those of them drawn from the node.
    cell_records, cell_released, cell_drawn : ndarray of int64
        The same for each cell.
    """

    sizes: NDArray[np.int64]
    cardinality: int
    level_starts: NDArray[np.int64]
    child_bases: NDArray[np.int64]
    child_keys: NDArray[np.int64]
    child_index: NDArray[np.int32]
    cell_keys: NDArray[np.int64]
    cell_index: NDArray[np.int32]
    records: NDArray[np.int64]
    released: NDArray[np.int64]
    drawn: NDArray[np.int64]
    cell_records: NDArray[np.int64]
    cell_released: NDArray[np.int64]
    cell_drawn: NDArray[np.int64]


class Standing(NamedTuple):
    """Where records stand in a table: value, and node and cell on each level (-1: none)."""

    values: NDArray[np.int64]
    nodes: NDArray[np.int32]
    cells: NDArray[np.int32]


@njit(cache=True, nogil=True)  # pragma: no cover
def _place_of(keys: NDArray[np.int64], index: NDArray[np.int32], key: int) -> int:
    """Return the place of a key, -1 if it does not exist."""
    if len(index):
        return int(index[key])
    place = int(np.searchsorted(keys, key))
    return place if place < len(keys) and keys[place] == key else -1


@njit(cache=True, nogil=True)  # pragma: no cover
def locate(
    tally: Tally,
    values: NDArray[np.int64],
    parents: NDArray[np.int64],
    nodes: NDArray[np.int32],
    cells: NDArray[np.int32],
) -> None:
    """Find the nodes and cells of records.

    Parameters
    ----------
    tally : Tally
        The table.
    values : ndarray of int64
        The value of each record; below 0 if it takes no part.
    parents : ndarray of int64, shape (parents, records)
        The parents' codes.
    nodes, cells : ndarray of int32, shape (records, levels)
        Filled; -1 for what neither the original nor the release has.
    """
    for row in range(len(values)):
        nodes[row] = -1
        cells[row] = -1
        if values[row] < 0:
            continue
        node = 0
        for level in range(len(tally.sizes) + 1):
            if level:
                place = node - tally.level_starts[level - 1]
                key = (
                    tally.child_bases[level - 1]
                    + place * tally.sizes[level - 1]
                    + parents[level - 1, row]
                )
                found = _place_of(tally.child_keys, tally.child_index, key)
                if found < 0:
                    break
                node = found + 1
            nodes[row, level] = node
            cells[row, level] = _place_of(
                tally.cell_keys, tally.cell_index, node * tally.cardinality + values[row]
            )


@njit(cache=True, nogil=True)  # pragma: no cover
def _change(after: int, of: int, before: int, out_of: int, logs: NDArray[np.float64]) -> float:
    """Return after * log(of) - before * log(out_of), with 0 * log(0) = 0."""
    if after == before:
        return 0.0 if before == 0 or of == out_of else before * (logs[of] - logs[out_of])
    total = 0.0
    if after:
        total += after * logs[of]
    if before:
        total -= before * logs[out_of]
    return total


@njit(cache=True, nogil=True)  # pragma: no cover
def _shared_level(own: Standing, i: int, other: Standing, c: int) -> int:
    """Return the last level on which both are in one node; -1 if one of them takes no part."""
    shared = -1
    if own.values[i] >= 0 and other.values[c] >= 0:
        depth = own.nodes.shape[1]
        while shared + 1 < depth and own.nodes[i, shared + 1] == other.nodes[c, shared + 1]:
            shared += 1
    return shared


@njit(cache=True, nogil=True)  # pragma: no cover
def _lonely_level(tally: Tally, own: Standing, i: int) -> int:
    """Return the first level on which record i is alone in its node, which is empty without it."""
    depth = int(own.nodes.shape[1])
    if own.values[i] >= 0:
        for level in range(depth):
            if tally.records[own.nodes[i, level]] == 1:
                return level
    return depth


@njit(cache=True, nogil=True)  # pragma: no cover
def _seen_level(tally: Tally, other: Standing, c: int, shared: int, alone: int) -> int:
    """Return the deepest level on which c's node holds another record; -1 if there is none."""
    if other.values[c] < 0:
        return -1
    if shared >= alone:
        return alone - 1
    seen = shared
    while seen + 1 < other.nodes.shape[1]:
        node = other.nodes[c, seen + 1]
        if node < 0 or tally.records[node] == 0:
            break
        seen += 1
    return seen


@njit(cache=True, nogil=True)  # pragma: no cover
def _moved_below(tally: Tally, other: Standing, c: int, seen: int) -> int:
    """Return how many synthetic records are drawn from c alone if it is there; -1: impossible.

    They were drawn from the node above; c's value is then the only one that they can have.
    """
    if other.values[c] < 0 or seen + 1 == other.nodes.shape[1] or other.nodes[c, seen + 1] < 0:
        return 0
    cell = other.cells[c, seen + 1]
    right = int(tally.cell_released[cell]) if cell >= 0 else 0
    whole = int(tally.released[other.nodes[c, seen + 1]])
    return right if right == whole else -1


@njit(cache=True, nogil=True)  # pragma: no cover
def _added(
    tally: Tally, other: Standing, c: int, level: int, moved: int, logs: NDArray[np.float64]
) -> float:
    """Return what c's value adds to its cell on a level, if `moved` draws leave the cell."""
    cell = other.cells[c, level]
    count = tally.cell_records[cell] if cell >= 0 else 0
    drawn = tally.cell_drawn[cell] if cell >= 0 else 0
    return _change(drawn - moved, count + 1, drawn, count, logs)


@njit(cache=True, nogil=True)  # pragma: no cover
def _along_own_nodes(
    tally: Tally,
    own: Standing,
    i: int,
    other: Standing,
    c: int,
    levels: tuple[int, int, int, int],
    logs: NDArray[np.float64],
) -> float:
    """Return how the draws from record i's nodes change, without it and with c."""
    shared, alone, seen, moved = levels
    same = own.values[i] == other.values[c]
    fallen = 0
    if alone < own.nodes.shape[1] and shared < alone:
        # Drawn from record i alone: without it, from the node above.
        fallen = tally.released[own.nodes[i, alone]]
        if alone == 0 and fallen:
            return -np.inf
    total = 0.0
    for level in range(alone):
        node, cell = own.nodes[i, level], own.cells[i, level]
        count, drawn = tally.records[node], tally.drawn[node]
        cell_count, cell_drawn = tally.cell_records[cell], tally.cell_drawn[cell]
        lands = fallen if level == alone - 1 else 0
        leaves = moved if level == seen and level <= shared else 0
        count_then, cell_count_then = count - 1, cell_count - 1
        cell_drawn_then = cell_drawn + lands
        if level <= shared:
            count_then += 1
            if same:
                cell_count_then += 1
                cell_drawn_then -= leaves
            else:
                total += _added(tally, other, c, level, leaves, logs)
        if cell_drawn_then > 0 and cell_count_then == 0:
            return -np.inf
        total += _change(cell_drawn_then, cell_count_then, cell_drawn, cell_count, logs)
        total -= _change(drawn + lands - leaves, count_then, drawn, count, logs)
    return total


@njit(cache=True, nogil=True)  # pragma: no cover
def _shift(
    tally: Tally, own: Standing, i: int, other: Standing, c: int, logs: NDArray[np.float64]
) -> float:
    """Return how the log likelihood of the release moves if record i is replaced by record c.

    The likelihood is that of the table's draws; it is finite with record i in place.
    """
    if other.values[c] == IMPOSSIBLE:
        return -np.inf
    shared = _shared_level(own, i, other, c)
    if shared == own.nodes.shape[1] - 1 and own.values[i] == other.values[c]:
        return 0.0
    alone = _lonely_level(tally, own, i)
    seen = _seen_level(tally, other, c, shared, alone)
    moved = _moved_below(tally, other, c, seen)
    if moved < 0:
        return -np.inf
    if shared >= alone:
        # c takes the place of i, and the draws from there stay.
        moved = 0
    total = 0.0
    if own.values[i] >= 0:
        total += _along_own_nodes(tally, own, i, other, c, (shared, alone, seen, moved), logs)
    for level in range(shared + 1, seen + 1):
        count, drawn = tally.records[other.nodes[c, level]], tally.drawn[other.nodes[c, level]]
        leaves = moved if level == seen else 0
        total += _added(tally, other, c, level, leaves, logs)
        total -= _change(drawn - leaves, count + 1, drawn, count, logs)
    return total


@njit(cache=True, nogil=True)  # pragma: no cover
def add_shifts(
    tally: Tally,
    own: Standing,
    other: Standing,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    logs: NDArray[np.float64],
    total: NDArray[np.float64],
) -> None:
    """Add to `total` how the log likelihood moves for each pair of a record and a candidate.

    Parameters
    ----------
    tally : Tally
        The table.
    own, other : Standing
        The original records, and the candidates that may stand in their place.
    pairs : tuple of two ndarrays of int64
        Which record, and which candidate.
    logs : ndarray of float64
        The logarithms of 0, 1, 2, ..; up to one more than there are records.
    total : ndarray of float64
        What is added to; minus infinity for a world in which the release is impossible.
    """
    records, candidates = pairs
    for pair in range(len(records)):
        if total[pair] > -np.inf:
            total[pair] += _shift(tally, own, records[pair], other, candidates[pair], logs)


@njit(cache=True, nogil=True)  # pragma: no cover
def add_predictions(
    tally: Tally,
    own: Standing,
    other: Standing,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    total: NDArray[np.float64],
) -> None:
    """Add to `total` the log probability of each candidate, from all records but the pair's own.

    Half a record is spread evenly over all values, so that none is excluded.

    Parameters
    ----------
    tally, own, other, pairs, total
        As in `add_shifts`.
    """
    records, candidates = pairs
    spread = SMOOTHING / tally.cardinality
    for pair in range(len(records)):
        i, c = records[pair], candidates[pair]
        if other.values[c] < 0:
            if other.values[c] == IMPOSSIBLE:
                total[pair] = -np.inf
            continue
        count, cell_count = 0, 0
        for level in range(len(tally.sizes) + 1):
            node, cell = other.nodes[c, level], other.cells[c, level]
            if node < 0:
                break
            inside = own.values[i] >= 0 and own.nodes[i, level] == node
            others = tally.records[node] - (1 if inside else 0)
            if others == 0:
                break
            count = others
            cell_count = tally.cell_records[cell] if cell >= 0 else 0
            if inside and own.values[i] == other.values[c]:
                cell_count -= 1
        total[pair] += np.log((cell_count + spread) / (count + SMOOTHING))
