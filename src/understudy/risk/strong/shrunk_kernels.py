"""The compiled loops of the strong attacker for tables whose rows are drawn towards those above.

The probability of a value in a row rests on all rows from that of all records down to it:
``p = (N(v) + a p_above) / (N + a)``. A record that leaves or joins changes the counts of the rows
on its own path. It moves all synthetic records that stand below one of them, and these may go other
ways further down. So the path is walked from the top, and each row counts what its *own* change
does to everything below it, the rows above it being changed already and those below it not yet.
These moves add up to the whole. Each depends on the row, the value and on where the paths of the
two records part, not on the records: it is computed once, when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from understudy.counting.compiling import kernel
from understudy.risk.strong.kernels import RECORDS
from understudy.synthesis.sampler import IMPOSSIBLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from understudy.risk.strong.kernels import Standing, Tally


LOST, GAINED = 0, 1
SAME_LEAVES, OWN_LEAVES, NEW_BESIDE = 2, 3, 4
SAME_JOINS, NEW_JOINS, OWN_BESIDE = 5, 6, 7
REST_LEAVES, REST_JOINS = 8, 9
MOVES = np.array(
    [
        [0, 0, -1],
        [0, 0, 1],
        [0, -1, -1],
        [-1, -1, -1],
        [1, -1, 0],
        [0, 1, 1],
        [1, 1, 1],
        [-1, 1, 0],
        [0, -1, 0],
        [0, 1, 0],
    ]
)
"""How counts change, for each kind of move: of the value in rows that both records are in; of all
records, and of the value, in the rows below, which only one of them is in.

In rows of both, the old record's value is `LOST` and the new one's `GAINED`. Further down, the old
record leaves its rows, and the new one joins others. `SAME` is the value of a record if the other
one has the same, or there is no other; else the values are `OWN` and `NEW`. All other values are
the `REST`, summed for the whole row.
"""

LEAVING = (SAME_LEAVES, OWN_LEAVES, NEW_BESIDE, REST_LEAVES)
OF_OWN = (LOST, SAME_LEAVES, OWN_LEAVES)
"""Kinds of moves of rows that the old record leaves, and of its value in its own rows."""

IF_SAME = np.array([0, 0, 1, 0, 0, 1, 0, 0, 1, 1])
IF_NOT_SAME = np.array([1, 1, 0, 1, 1, 0, 1, 1, 1, 1])
"""Which kinds of moves there are if both records have the same value, or one of them is missing;
and if not."""

SHARED_KINDS, CELL_KINDS, NODE_KINDS = 2, 6, 2
"""How many kinds there are of moves in rows of both, of one value elsewhere, and of whole rows."""


class ShrunkTally(NamedTuple):
    """What a table needs beside its `Tally` if its rows are drawn towards those above.

    Synthetic records that agree on row and value are one entry. Entries are sorted by value and
    then by row: those below any cell of any level stand next to each other. Parts are the cells,
    and after them the nodes.

    Parameters
    ----------
    strengths, base : ndarray of float64
        See `Shrinkage`.
    fewest : int
        Records of a row that is used, at least.
    hedged : bool
        Whether some value may be impossible in some row, so that a prediction allows for it.
    above : ndarray of int64
        The part that each part lies in, a level higher; -1 for those of the row of all records.
    levels : ndarray of int64
        The level of each part.
    carriers : ndarray of int64
        The part itself, or the next one above, that has entries below it; -1 if there is none.
    node_cells : ndarray of int64
        The first cell of each node, and the number of cells.
    counts, hits : ndarray of float64
        Original records in each cell's row, and in the cell.
    bases, shares : ndarray of float64
        Probability of each cell's value in the base, and in its row.
    starts, stops : ndarray of int64
        The entries below each cell.
    times : ndarray of int64
        Synthetic records of each entry.
    fixed, factors : ndarray of float64, levels by entries
        The probability of an entry is ``fixed + factor * p``, where p is that of its value in its
        row of this level.
    slots : ndarray of int64
        Where the first move of each part is kept; -1 if they are computed each time.
    strides : tuple of int
        How far it is to the next move of a cell, and of a node. Moves of one kind stand together:
        memory is taken by those alone that are asked for.
    logs : ndarray of float64
        Moves as far as they are known, summed along the path from where it parted.
    known : ndarray of int64
        0 if not known yet, and else one more than twice the number of synthetic records that are
        impossible then, which do not count in `logs`.
    """

    strengths: NDArray[np.float64]
    base: NDArray[np.float64]
    fewest: int
    hedged: bool
    above: NDArray[np.int64]
    levels: NDArray[np.int64]
    carriers: NDArray[np.int64]
    node_cells: NDArray[np.int64]
    counts: NDArray[np.float64]
    hits: NDArray[np.float64]
    bases: NDArray[np.float64]
    shares: NDArray[np.float64]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    times: NDArray[np.int64]
    fixed: NDArray[np.float64]
    factors: NDArray[np.float64]
    slots: NDArray[np.int64]
    strides: tuple[int, int]
    logs: NDArray[np.float64]
    known: NDArray[np.int64]


@kernel
def _cell_move(shrunk: ShrunkTally, cell: int, fork: int, kind: int) -> tuple[float, int]:
    """Return what the change of a cell's own row does to all entries below the cell.

    It is the move of their log likelihood, and how many synthetic records become impossible. `fork`
    is the last level of which both records share the row.
    """
    start, stop = shrunk.starts[cell], shrunk.stops[cell]
    log, impossible = 0.0, 0
    if start == stop:
        return log, impossible
    in_shared, records, own = MOVES[kind, 0], MOVES[kind, 1], MOVES[kind, 2]
    # The probability in the row above, all rows above being changed.
    share, weight = 0.0, 1.0
    at = shrunk.above[cell]
    while at >= 0:
        level = shrunk.levels[at]
        if level <= fork and in_shared == 0:
            share += weight * shrunk.shares[at]
            weight = 0.0
            break
        count, hits = shrunk.counts[at], shrunk.hits[at]
        if level > fork:
            count, hits = count + records, hits + own
        else:
            hits += in_shared
        if count >= shrunk.fewest:
            scale = weight / (count + shrunk.strengths[level])
            share += scale * hits
            weight = scale * shrunk.strengths[level]
        at = shrunk.above[at]
    share += weight * shrunk.bases[cell]
    level = shrunk.levels[cell]
    strength = shrunk.strengths[level]
    count, hits = shrunk.counts[cell], shrunk.hits[cell]
    used, used_then = count >= shrunk.fewest, count + records >= shrunk.fewest
    before = (hits + strength * share) / (count + strength) if used else share
    total = count + records + strength
    after = (hits + own + strength * share) / total if used_then else share
    # The difference of two nearly equal numbers would lose digits.
    change = (own - records * before) / total if used and used_then else after - before
    for entry in range(start, stop):
        fixed, factor = shrunk.fixed[level, entry], shrunk.factors[level, entry]
        then = fixed + factor * before
        if then <= 0:
            # A row above has made it impossible, and counted it.
            continue
        relative = factor * change / then
        if relative > -0.5:
            log += shrunk.times[entry] * np.log1p(relative)
            continue
        left = fixed + factor * after
        if left > 0:
            log += shrunk.times[entry] * np.log(left / then)
        else:
            impossible += shrunk.times[entry]
    return log, impossible


@kernel
def _move(shrunk: ShrunkTally, part: int, fork: int, kind: int) -> tuple[float, int]:
    """Return the same for any part; what the rest of its row has counted is taken back."""
    cells = len(shrunk.shares)
    if part < cells:
        log, impossible = _cell_move(shrunk, part, fork, kind)
        if kind >= SHARED_KINDS:
            rest = REST_LEAVES if MOVES[kind, 1] < 0 else REST_JOINS
            log_rest, impossible_rest = _cell_move(shrunk, part, fork, rest)
            log, impossible = log - log_rest, impossible - impossible_rest
        return log, impossible
    log, impossible = 0.0, 0
    for cell in range(shrunk.node_cells[part - cells], shrunk.node_cells[part - cells + 1]):
        log_cell, impossible_cell = _cell_move(shrunk, cell, fork, kind)
        log, impossible = log + log_cell, impossible + impossible_cell
    return log, impossible


@kernel
def _offset(fork: int, kind: int, strides: tuple[int, int]) -> int:
    """Return how far from the first slot of a part a move is kept."""
    if kind < SHARED_KINDS:
        return kind * strides[0]
    if kind < SHARED_KINDS + CELL_KINDS:
        return ((fork + 1) * CELL_KINDS + kind) * strides[0]
    return ((fork + 1) * NODE_KINDS + kind - SHARED_KINDS - CELL_KINDS) * strides[1]


@kernel
def _along(
    shrunk: ShrunkTally, part: int, fork: int, kind: int, path: NDArray[np.int64]
) -> tuple[float, int]:
    """Return the sum of all moves from below `fork` down to a part.

    `path` is room for a part of each level.
    """
    log, impossible = 0.0, 0
    level = shrunk.levels[part]
    while level > fork and shrunk.slots[part] < 0:
        more, lost = _move(shrunk, part, fork, kind)
        log, impossible = log + more, impossible + lost
        part, level = shrunk.above[part], level - 1
    if level <= fork:
        return log, impossible
    offset = _offset(fork, kind, shrunk.strides)
    top = level
    while top > fork and shrunk.known[shrunk.slots[part] + offset] == 0:
        path[top] = part
        part, top = shrunk.above[part], top - 1
    kept, kept_impossible = 0.0, 0
    if top > fork:
        slot = shrunk.slots[part] + offset
        kept, kept_impossible = shrunk.logs[slot], (shrunk.known[slot] - 1) // 2
    for at in range(top + 1, level + 1):
        more, lost = _move(shrunk, path[at], fork, kind)
        kept, kept_impossible = kept + more, kept_impossible + lost
        slot = shrunk.slots[path[at]] + offset
        shrunk.logs[slot] = kept
        shrunk.known[slot] = 2 * kept_impossible + 1
    return log + kept, impossible + kept_impossible


@kernel
def add_shrunk_shifts(  # noqa: C901, PLR0912, PLR0915  # calls with arrays would take much longer
    tally: Tally,
    shrunk: ShrunkTally,
    own: Standing,
    other: Standing,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    total: NDArray[np.float64],
) -> None:
    """Add how the log likelihood of the release moves if a candidate takes a record's place.

    All is as in `add_shifts`.
    """
    own_values, own_nodes, own_cells = own
    values, nodes, cells = other
    records, candidates = pairs
    cell_keys, cell_index, cardinality = tally.cell_keys, tally.cell_index, tally.cardinality
    carriers, levels, slots = shrunk.carriers, shrunk.levels, shrunk.slots
    logs, known = shrunk.logs, shrunk.known
    depth = len(nodes)
    path = np.empty(depth, np.int64)
    for pair in range(len(records)):
        i, c = records[pair], candidates[pair]
        mine, theirs = own_values[i], values[c]
        if theirs == IMPOSSIBLE:
            total[pair] = -np.inf
        if total[pair] == -np.inf:
            continue
        same = mine == theirs or mine < 0 or theirs < 0
        # The last level of either path, and the last on which both are in one node.
        last, new_last, fork = -1, -1, -1
        while mine >= 0 and last + 1 < depth and own_nodes[last + 1, i] >= 0:
            last += 1
        while theirs >= 0 and new_last + 1 < depth and nodes[new_last + 1, c] >= 0:
            new_last += 1
        while fork < min(last, new_last) and own_nodes[fork + 1, i] == nodes[fork + 1, c]:
            fork += 1
        log, impossible = 0.0, 0
        for kind in range(len(MOVES)):
            if (IF_SAME if same else IF_NOT_SAME)[kind] == 0:
                continue
            top, end = fork, last if kind in LEAVING else new_last
            if kind < SHARED_KINDS:
                top, end = -1, fork
            if end <= top:
                continue
            # The deepest part that there is: where no record of either table has the value, there
            # is nothing to move, nor further down.
            part = -1
            if kind == REST_LEAVES:
                part = len(cell_keys) + own_nodes[end, i]
            elif kind == REST_JOINS:
                part = len(cell_keys) + nodes[end, c]
            elif kind in (NEW_BESIDE, OWN_BESIDE):
                level = end
                while part < 0 and level > top:
                    key = own_nodes[level, i] * cardinality + theirs
                    if kind == OWN_BESIDE:
                        key = nodes[level, c] * cardinality + mine
                    if len(cell_index):
                        part = cell_index[key]
                    else:
                        part = np.searchsorted(cell_keys, key)
                        if part == len(cell_keys) or cell_keys[part] != key:
                            part = -1
                    level -= 1
            else:
                level = end
                while part < 0 and level > top:
                    part = own_cells[level, i] if kind in OF_OWN else cells[level, c]
                    level -= 1
            if part >= 0:
                part = carriers[part]
            if part < 0 or levels[part] <= top:
                continue
            slot = slots[part]
            if slot >= 0:
                slot += _offset(top, kind, shrunk.strides)
                if known[slot]:
                    log += logs[slot]
                    impossible += (known[slot] - 1) // 2
                    continue
            more, lost = _along(shrunk, part, top, kind, path)
            log += more
            impossible += lost
        total[pair] = -np.inf if impossible > 0 else total[pair] + log


@kernel
def add_shrunk_predictions(
    tally: Tally,
    shrunk: ShrunkTally,
    own: Standing,
    other: Standing,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    hedge: float,
    total: NDArray[np.float64],
) -> None:
    """Add to `total` the log probability of each candidate, from all records but the pair's own.

    If a value may be impossible in a row, a part `hedge` of a record is spread over all values as
    the base has them. All is as in `add_shifts`.
    """
    own_values, own_nodes, _ = own
    values, nodes, cells = other
    records, candidates = pairs
    for pair in range(len(records)):
        i, c = records[pair], candidates[pair]
        if values[c] < 0:
            if values[c] == IMPOSSIBLE:
                total[pair] = -np.inf
            continue
        base = shrunk.base[values[c]]
        share, used = base, 0
        for level in range(len(nodes)):
            node, cell = nodes[level, c], cells[level, c]
            if node < 0:
                break
            inside = own_values[i] >= 0 and own_nodes[level, i] == node
            count = tally.node_counts[node, RECORDS] - (1 if inside else 0)
            if count < shrunk.fewest:
                break
            hits = tally.cell_counts[cell, RECORDS] if cell >= 0 else 0
            if inside and own_values[i] == values[c]:
                hits -= 1
            share = (hits + shrunk.strengths[level] * share) / (count + shrunk.strengths[level])
            used = count
        if shrunk.hedged and hedge:
            share = (used * share + hedge * base) / (used + hedge)
        total[pair] += np.log(share)
