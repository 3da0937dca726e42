"""Tables whose rows are drawn towards those above, made ready for the strong attacker."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.synthesis.sampler import Shrinkage

if TYPE_CHECKING:
    from understudy.risk.strong.kernels import Tally
    from understudy.risk.strong.shrunk_kernels import ShrunkTally

MOST_KEPT = 2**25
"""Moves for which there is room, at most; those of the smallest parts are then computed anew."""


def shrunk_tally(
    shrinkage: Shrinkage, tally: Tally, cells: NDArray[np.int32], released: NDArray[np.int64]
) -> ShrunkTally:
    """Return what the kernels need of a table beside its counts.

    `cells` are those of each distinct combination of parents and value, levels by combinations, -1
    below where its path ends; combinations are sorted by parents. `released` is how many synthetic
    records have each.
    """
    from understudy.risk.strong.kernels import RECORDS
    from understudy.risk.strong.shrunk_kernels import ShrunkTally

    nodes, values = np.divmod(tally.cell_keys, tally.cardinality)
    node_levels = np.repeat(np.arange(len(cells)), np.diff(tally.level_starts))
    cell_levels = node_levels[nodes]
    above = np.full(len(nodes), -1, np.int64)
    for higher, lower in pairwise(cells):
        there = lower >= 0
        above[lower[there]] = higher[there]
    node_above = np.full(len(node_levels), -1, np.int64)
    below = above >= 0
    node_above[nodes[below]] = nodes[above[below]] + len(nodes)

    fewest = max(shrinkage.min_count, 1)
    counts, hits = tally.node_counts[nodes, RECORDS], tally.cell_counts[:, RECORDS]
    used = counts >= fewest
    strengths = shrinkage.strengths[cell_levels]
    # No row that is used is empty.
    total = np.where(used, counts + strengths, 1.0)
    own, weight = np.where(used, hits / total, 0.0), np.where(used, strengths / total, 1.0)
    shares = np.empty(len(nodes))
    for level in range(len(cells)):
        mine = np.flatnonzero(cell_levels == level)
        before = shares[above[mine]] if level else shrinkage.base[values[mine]]
        shares[mine] = own[mine] + weight[mine] * before

    drawn = np.flatnonzero(released)
    # Combinations are sorted by parents: a stable sort by value leaves these in order.
    drawn = drawn[np.argsort(values[cells[0, drawn]], kind="stable")]
    starts, stops = np.zeros((2, len(nodes)), np.int64)
    fixed, factors = np.zeros((len(cells), len(drawn))), np.ones((len(cells), len(drawn)))
    for level in reversed(range(len(cells))):
        cell = cells[level, drawn]
        there = np.flatnonzero(cell >= 0)
        first = np.flatnonzero(np.diff(cell, prepend=-2))
        ends = np.append(first[1:], len(cell))
        held = cell[first] >= 0
        starts[cell[first[held]]], stops[cell[first[held]]] = first[held], ends[held]
        if level:
            factor = factors[level, there]
            fixed[level - 1, there] = fixed[level, there] + factor * own[cell[there]]
            factors[level - 1, there] = factor * weight[cell[there]]

    node_cells = np.searchsorted(nodes, np.arange(len(node_levels) + 1))
    before = np.concatenate([[0], np.cumsum(stops - starts)])
    node_entries = np.diff(before[node_cells])
    levels = np.concatenate([cell_levels, node_levels])
    parts_above = np.concatenate([above, node_above])
    entries = np.concatenate([stops - starts, node_entries])
    carriers = np.where(entries > 0, np.arange(len(entries)), parts_above)
    for _ in range(len(cells) - 1):
        empty = (carriers >= 0) & (entries[carriers] == 0)
        carriers = np.where(empty, parts_above[carriers], carriers)
    slots, strides, room = _slots(entries, len(nodes), len(cells))
    return ShrunkTally(
        np.asarray(shrinkage.strengths, np.float64),
        np.asarray(shrinkage.base, np.float64),
        fewest,
        bool((shrinkage.strengths[: len(cells)] <= 0).any()),
        parts_above,
        levels,
        carriers,
        node_cells,
        counts.astype(np.float64),
        hits.astype(np.float64),
        shrinkage.base[values],
        shares,
        starts,
        stops,
        released[drawn],
        fixed,
        factors,
        slots,
        strides,
        # Zeros take no memory before they are written to.
        np.zeros(room),
        np.zeros(room, np.int64),
    )


def _slots(
    entries: NDArray[np.int64], cells: int, depth: int
) -> tuple[NDArray[np.int64], tuple[int, int], int]:
    """Return the slots and strides of moves that are kept, and how many there are.

    Parts with the fewest entries are computed the quickest, and are left out first.
    """
    from understudy.risk.strong.shrunk_kernels import CELL_KINDS, NODE_KINDS, SHARED_KINDS

    each = SHARED_KINDS + CELL_KINDS * depth, NODE_KINDS * depth
    fewest = 1
    while True:
        kept = entries >= fewest
        strides = int(kept[:cells].sum()), int(kept[cells:].sum())
        room = each[0] * strides[0] + each[1] * strides[1]
        if room <= MOST_KEPT:
            break
        fewest *= 2
    slots = np.cumsum(kept) - 1
    slots[cells:] += (each[0] - 1) * strides[0]
    return np.where(kept, slots, -1), strides, room
