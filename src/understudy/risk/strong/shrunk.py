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

MOST_KEPT = 2**22
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
    entries = np.concatenate([[0], np.cumsum(stops - starts)])
    node_entries = entries[node_cells[1:]] - entries[node_cells[:-1]]
    levels = np.concatenate([cell_levels, node_levels])
    slots, room = _slots(np.concatenate([stops - starts, node_entries]), levels, len(nodes))
    return ShrunkTally(
        np.asarray(shrinkage.strengths, np.float64),
        np.asarray(shrinkage.base, np.float64),
        fewest,
        bool((shrinkage.strengths[: len(cells)] <= 0).any()),
        np.concatenate([above, node_above]).astype(np.int32),
        levels.astype(np.int32),
        node_cells,
        shares,
        starts,
        stops,
        released[drawn],
        fixed,
        factors,
        slots,
        # Zeros take no memory before they are written to.
        np.zeros(room),
        np.zeros(room, np.int64),
    )


def _slots(
    entries: NDArray[np.int64], levels: NDArray[np.int64], cells: int
) -> tuple[NDArray[np.int64], int]:
    """Return where the moves of each part are kept, -1 if they are not, and how many there are.

    Parts with the fewest entries are computed the quickest, and are left out first.
    """
    from understudy.risk.strong.shrunk_kernels import CELL_KINDS, NODE_KINDS, SHARED_KINDS

    each = np.where(
        np.arange(len(levels)) < cells,
        SHARED_KINDS + CELL_KINDS * (levels + 1),
        NODE_KINDS * (levels + 1),
    )
    fewest = 1
    room = np.where(entries >= fewest, each, 0)
    while room.sum() > MOST_KEPT:
        fewest *= 2
        room = np.where(entries >= fewest, each, 0)
    ends = np.cumsum(room)
    return np.where(room > 0, ends - room, -1), int(ends[-1])
