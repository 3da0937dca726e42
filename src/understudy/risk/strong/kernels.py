"""The compiled loops of the strong attacker: how the probability of a release moves with a record.

A table of counts is a tree: its root holds all records that take part, its nodes on level l those
that agree on the first l parents, and a cell of a node those that also have a certain value. A
synthetic value was drawn from the deepest node with its parents' codes that holds a record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from understudy.counting.compiling import kernel
from understudy.synthesis.sampler import ENDED, IMPOSSIBLE

if TYPE_CHECKING:
    from numpy.typing import NDArray


RECORDS, RELEASED, DRAWN = 0, 1, 2
"""Columns of counts: original records, synthetic records, and those drawn from the very node."""


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
    node_counts, cell_counts : ndarray of int64, shape (nodes or cells, 3)
        Original records, synthetic records, and those of these that were drawn from the node: by
        the columns `RECORDS`, `RELEASED` and `DRAWN`.
    """

    sizes: NDArray[np.int64]
    cardinality: int
    level_starts: NDArray[np.int64]
    child_bases: NDArray[np.int64]
    child_keys: NDArray[np.int64]
    child_index: NDArray[np.int32]
    cell_keys: NDArray[np.int64]
    cell_index: NDArray[np.int32]
    node_counts: NDArray[np.int64]
    cell_counts: NDArray[np.int64]


class Standing(NamedTuple):
    """Where records stand in a table: value, and node and cell, levels by records (-1: none)."""

    values: NDArray[np.int64]
    nodes: NDArray[np.int32]
    cells: NDArray[np.int32]


@kernel
def locate(  # noqa: C901  # calls with arrays would take much longer
    tally: Tally,
    values: NDArray[np.int64],
    parents: NDArray[np.int64],
    nodes: NDArray[np.int32],
    cells: NDArray[np.int32],
) -> None:
    """Find the nodes and cells of records, levels by records; -1 for what neither table has.

    `values` are below 0 for records that take no part; `parents` are codes, parents by records,
    and `ENDED` below the last node of a record.
    """
    sizes, cardinality = tally.sizes, tally.cardinality
    child_keys, child_index = tally.child_keys, tally.child_index
    cell_keys, cell_index = tally.cell_keys, tally.cell_index
    for level in range(len(sizes) + 1):
        if level:
            size, base = sizes[level - 1], tally.child_bases[level - 1]
            start = tally.level_starts[level - 1]
        for row in range(len(values)):
            node = 0 if values[row] >= 0 else -1
            if level:
                node = nodes[level - 1, row] if parents[level - 1, row] != ENDED else -1
                if node >= 0:
                    key = base + (node - start) * size + parents[level - 1, row]
                    if len(child_index):
                        place = child_index[key]
                    else:
                        place = np.searchsorted(child_keys, key)
                        if place == len(child_keys) or child_keys[place] != key:
                            place = -1
                    node = place + 1 if place >= 0 else -1
            nodes[level, row] = node
            place = -1
            if node >= 0:
                key = node * cardinality + values[row]
                if len(cell_index):
                    place = cell_index[key]
                else:
                    place = np.searchsorted(cell_keys, key)
                    if place == len(cell_keys) or cell_keys[place] != key:
                        place = -1
            cells[level, row] = place


@kernel
def _change(after: int, log_of: float, before: int, log_out_of: float) -> float:
    """Return after * log_of - before * log_out_of, in the way that loses the fewest digits.

    Where nothing is drawn the logarithm does not count: it may be that of 0.
    """
    if after == before:
        return before * (log_of - log_out_of) if before else 0.0
    total = after * log_of if after else 0.0
    return total - before * log_out_of if before else total


@kernel
def add_shifts(  # noqa: C901, PLR0912, PLR0915  # calls with arrays would take much longer
    tally: Tally,
    own: Standing,
    other: Standing,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    logs: NDArray[np.float64],
    total: NDArray[np.float64],
) -> None:
    """Add how the log likelihood of the release moves if a candidate takes a record's place.

    The likelihood is that of the table's draws; it is finite with the record in place. `own` are
    the original records, `other` the candidates, and `pairs` which record i and which candidate c.
    `logs` are the logarithms of 0 (any number), 1, 2, ..; up to one more than there are records.
    The total is minus infinity for a world in which the release is impossible.
    """
    node_counts, cell_counts = tally.node_counts, tally.cell_counts
    own_values, own_nodes, own_cells = own
    values, nodes, cells = other
    records, candidates = pairs
    depth = len(nodes)
    for pair in range(len(records)):
        i, c = records[pair], candidates[pair]
        mine, theirs = own_values[i], values[c]
        if theirs == IMPOSSIBLE:
            total[pair] = -np.inf
        if total[pair] == -np.inf or (mine < 0 and theirs < 0):
            continue
        same = mine == theirs
        # The last level on which both are in one node.
        shared = -1
        if mine >= 0 and theirs >= 0:
            while shared + 1 < depth and own_nodes[shared + 1, i] == nodes[shared + 1, c]:
                shared += 1
            if shared == depth - 1 and same:
                continue
        # The first level on which i is alone in its node, which is empty without it.
        alone = depth
        if mine >= 0:
            alone = 0
            while alone < depth and node_counts[own_nodes[alone, i], RECORDS] > 1:
                alone += 1
        # The deepest level on which c's node holds another record. Below it c would be alone, and
        # what is drawn there from the node above would be drawn from c: it must have c's value.
        seen, moved = -1, 0
        if theirs >= 0:
            seen = min(shared, alone - 1)
            if shared < alone:
                while seen + 1 < depth:
                    node = nodes[seen + 1, c]
                    if node < 0 or node_counts[node, RECORDS] == 0:
                        break
                    seen += 1
            if seen + 1 < depth and nodes[seen + 1, c] >= 0:
                cell = cells[seen + 1, c]
                moved = cell_counts[cell, RELEASED] if cell >= 0 else 0
                if moved != node_counts[nodes[seen + 1, c], RELEASED]:
                    total[pair] = -np.inf
                    continue
        # What is drawn from i alone is drawn from the node above without it, unless c takes over.
        fallen = 0
        if shared >= alone:
            moved = 0
        elif alone < depth:
            fallen = node_counts[own_nodes[alone, i], RELEASED]
            if alone == 0 and fallen:
                total[pair] = -np.inf
                continue
        change = 0.0
        for level in range(alone if mine >= 0 else 0):
            joined = level <= shared
            stays = joined and same
            lands = fallen if level == alone - 1 else 0
            leaves = moved if joined and level == seen else 0
            cell = own_cells[level, i]
            count, drawn = cell_counts[cell, RECORDS], cell_counts[cell, DRAWN]
            count_then = count if stays else count - 1
            drawn_then = drawn + lands - (leaves if stays else 0)
            if drawn_then > 0 and count_then == 0:
                change = -np.inf
                break
            change += _change(drawn_then, logs[count_then], drawn, logs[count])
            node = own_nodes[level, i]
            count, drawn = node_counts[node, RECORDS], node_counts[node, DRAWN]
            log_then = logs[count if joined else count - 1]
            change -= _change(drawn + lands - leaves, log_then, drawn, logs[count])
            if joined and not same:
                cell = cells[level, c]
                count = cell_counts[cell, RECORDS] if cell >= 0 else 0
                drawn = cell_counts[cell, DRAWN] if cell >= 0 else 0
                change += _change(drawn - leaves, logs[count + 1], drawn, logs[count])
        for level in range(shared + 1, seen + 1):
            leaves = moved if level == seen else 0
            cell = cells[level, c]
            count = cell_counts[cell, RECORDS] if cell >= 0 else 0
            drawn = cell_counts[cell, DRAWN] if cell >= 0 else 0
            change += _change(drawn - leaves, logs[count + 1], drawn, logs[count])
            node = nodes[level, c]
            count, drawn = node_counts[node, RECORDS], node_counts[node, DRAWN]
            change -= _change(drawn - leaves, logs[count + 1], drawn, logs[count])
        total[pair] += change


@kernel
def add_predictions(
    tally: Tally,
    own: Standing,
    other: Standing,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    hedge: float,
    total: NDArray[np.float64],
) -> None:
    """Add to `total` the log probability of each candidate, from all records but the pair's own.

    A part `hedge` of a record is spread evenly over all values, so that none is excluded; with 0,
    it is the probability itself. All is as in `add_shifts`.
    """
    node_counts, cell_counts = tally.node_counts, tally.cell_counts
    own_values, own_nodes, _ = own
    values, nodes, cells = other
    records, candidates = pairs
    spread = hedge / tally.cardinality
    for pair in range(len(records)):
        i, c = records[pair], candidates[pair]
        if values[c] < 0:
            if values[c] == IMPOSSIBLE:
                total[pair] = -np.inf
            continue
        count, cell_count = 0, 0
        for level in range(len(nodes)):
            node, cell = nodes[level, c], cells[level, c]
            if node < 0:
                break
            inside = own_values[i] >= 0 and own_nodes[level, i] == node
            others = node_counts[node, RECORDS] - (1 if inside else 0)
            if others == 0:
                break
            count = others
            cell_count = cell_counts[cell, RECORDS] if cell >= 0 else 0
            if inside and own_values[i] == values[c]:
                cell_count -= 1
        # Without anybody else, nothing could be drawn.
        possible = cell_count + spread > 0
        total[pair] += np.log((cell_count + spread) / (count + hedge)) if possible else -np.inf
