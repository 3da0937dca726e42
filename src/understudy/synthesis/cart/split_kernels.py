"""The compiled search for the splits of a tree, on places in at most 256 bins.

A column's bins are counted in each node, and only the edges between bins that have records there
are tried. Counts are whole numbers, and so are the outcome's numbers: every sum is exact, whatever
its order. Columns are visited in the order in which scikit-learn would visit them with its seed 0,
since the first of equally good splits is taken: where every place has a bin of its own, the trees
are the same.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.counting.compiling import kernel
from understudy.synthesis.cart.binned import MOST_BINS

FIRST_STATE = 209652396
"""What scikit-learn's seed 0 makes of its generator, ``RandomState(0).randint(0, 2**31 - 1)``."""

_PURE = np.finfo(np.float64).eps
# Bins that occur in a node are sorted if they are this few, and else looked for one by one.
_FEW = 48

Nodes: TypeAlias = tuple[
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.float64],
]
"""Of each node: its first child, its second, the row of `bins` that it is split by (-1 for leaves),
the last bin with records on the left of the split and the first on the right, how many records it
has, and its impurity."""

Cut: TypeAlias = tuple[float, int, int, int]
"""How good a split is, the last bin on its left and the first on its right, and the records left of
it; none if there is no better one."""

Scratch: TypeAlias = tuple[
    NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.uint8], NDArray[np.uint8]
]
"""Room for the search in a node: records of each bin, all 0 between two searches; the bins that
occur; the sum of each bin, all 0 between two searches; the bins and classes of records."""


@kernel
def _occurring(counts: NDArray[np.int64], seen: NDArray[np.int64], found: int) -> int:
    """Sort the `found` bins that have records, and return how many there are."""
    if found > _FEW:
        found = 0
        for number in range(len(counts)):
            if counts[number] > 0:
                seen[found] = number
                found += 1
        return found
    for last in range(1, found):
        number, place = seen[last], last
        while place > 0 and seen[place - 1] > number:
            seen[place] = seen[place - 1]
            place -= 1
        seen[place] = number
    return found


@kernel
def _cut_by_mean(
    bins: NDArray[np.uint8],
    rows: NDArray[np.int32],
    numbers: NDArray[np.float64],
    least: int,
    best: float,
    scratch: Scratch,
) -> tuple[Cut, int]:
    """Return the split that leaves least variance of numbers, and how many bins have records.

    `numbers` are those of `rows`. It is a split that is better than `best`, and leaves `least`
    records on either side.
    """
    counts, seen, sums, _, _ = scratch
    found, whole = 0, 0.0
    for record in range(len(rows)):
        number = bins[rows[record]]
        if counts[number] == 0:
            seen[found] = number
            found += 1
        counts[number] += 1
        sums[number] += numbers[record]
    found = _occurring(counts, seen, found)
    for one in range(found):
        whole += sums[seen[one]]
    last, first, size = -1, -1, 0
    left, total = 0, 0.0
    for one in range(found):
        number = seen[one]
        right = len(rows) - left
        if left >= least and right >= least:
            other = whole - total
            score = total * total / left + other * other / right
            if score > best:
                best, last, first, size = score, seen[one - 1], number, left
        left += counts[number]
        total += sums[number]
        counts[number], sums[number] = 0, 0.0
    return (best, last, first, size), found


@kernel
def _sort_by_bin(
    bins: NDArray[np.uint8], rows: NDArray[np.int32], classes: NDArray[np.uint8], scratch: Scratch
) -> int:
    """Put the classes of records in the order of their bins, and return how many bins have records.

    Counts become the place after each bin's last record, if there is more than one bin.
    """
    counts, seen, _, own, in_order = scratch
    found = 0
    for record in range(len(rows)):
        number = bins[rows[record]]
        own[record] = number
        if counts[number] == 0:
            seen[found] = number
            found += 1
        counts[number] += 1
    found = _occurring(counts, seen, found)
    if found < 2:
        return found
    begin = 0
    for one in range(found):
        of_bin = counts[seen[one]]
        counts[seen[one]] = begin
        begin += of_bin
    for record in range(len(rows)):
        in_order[counts[own[record]]] = classes[record]
        counts[own[record]] += 1
    return found


@kernel
def _cut_by_shares(
    bins: NDArray[np.uint8],
    rows: NDArray[np.int32],
    classes: NDArray[np.uint8],
    held: NDArray[np.int64],
    least: int,
    best: float,
    scratch: Scratch,
) -> tuple[Cut, int]:
    """Return the split with the purest sides by Gini's index, and how many bins have records.

    `classes` are those of `rows`, and `held` says how many records have each.
    """
    counts, seen, _, _, in_order = scratch
    found = _sort_by_bin(bins, rows, classes, scratch)
    if found < 2:
        counts[seen[0]] = 0
        return (best, -1, -1, 0), found
    here = np.zeros(len(held), np.int64)
    square, other_square = 0, 0
    for one in range(len(held)):
        other_square += held[one] * held[one]
    last, first, size, left = -1, -1, 0, 0
    for one in range(found):
        number = seen[one]
        right = len(rows) - left
        if left >= least and right >= least:
            impure = 1.0 - square / (float(left) * left)
            other_impure = 1.0 - other_square / (float(right) * right)
            score = -right * other_impure - left * impure
            if score > best:
                best, last, first, size = score, seen[one - 1], number, left
        for record in range(left, counts[number]):
            which = in_order[record]
            square += 2 * here[which] + 1
            other_square -= 2 * (held[which] - here[which]) - 1
            here[which] += 1
        left = counts[number]
        counts[number] = 0
    return (best, last, first, size), found


@kernel
def _next_state(state: np.uint64) -> np.uint64:
    """Return the next state of a small generator (Marsaglia 2003)."""
    state ^= (state << np.uint64(13)) & np.uint64(0xFFFFFFFF)
    state ^= state >> np.uint64(17)
    return state ^ ((state << np.uint64(5)) & np.uint64(0xFFFFFFFF))


@kernel
def _search(
    bins: NDArray[np.uint8],
    rows: NDArray[np.int32],
    outcome: tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.int64]],
    least: int,
    visits: tuple[NDArray[np.int64], NDArray[np.int64], int, np.uint64],
    scratch: Scratch,
) -> tuple[int, Cut, int, np.uint64]:
    """Return the column that a node is split by, the split, the constant columns, and the state.

    `outcome` has the classes of the rows, or their numbers, and how many have each class. `visits`
    has the columns in an order that changes with each node; those that were found to be constant
    in nodes above, in the order in which they were; how many these are; the state of the
    generator.
    """
    classes, numbers, held = outcome
    order, constant, known, state = visits
    best_column, best = -1, (-np.inf, -1, -1, 0)
    drawn, newly, end = 0, 0, len(order)
    while end > known + newly:
        state = _next_state(state)
        place = drawn + np.int64(state % np.uint64(1 << 31)) % (end - newly - drawn)
        if place < known:
            order[drawn], order[place] = order[place], order[drawn]
            drawn += 1
            continue
        place += newly
        column = order[place]
        if len(held):
            cut, different = _cut_by_shares(
                bins[column], rows, classes, held, least, best[0], scratch
            )
        else:
            cut, different = _cut_by_mean(bins[column], rows, numbers, least, best[0], scratch)
        if different < 2:
            order[place], order[known + newly] = order[known + newly], order[place]
            newly += 1
            continue
        end -= 1
        order[end], order[place] = order[place], order[end]
        if cut[1] >= 0:
            best_column, best = column, cut
    order[:known] = constant[:known]
    constant[known : known + newly] = order[known : known + newly]
    return best_column, best, known + newly, state


@kernel
def _part(
    bins: NDArray[np.uint8], last: int, rows: NDArray[np.int32], spare: NDArray[np.int32]
) -> None:
    """Put the rows whose bin is at most `last` first; both parts keep their order."""
    left, right = 0, 0
    for one in range(len(rows)):
        row = rows[one]
        if bins[row] <= last:
            rows[left] = row
            left += 1
        else:
            spare[right] = row
            right += 1
    rows[left:] = spare[:right]


@kernel
def _impurity(
    classes: NDArray[np.uint8], numbers: NDArray[np.float64], held: NDArray[np.int64]
) -> float:
    """Return Gini's index of classes, which `held` is filled with the counts of, or a variance."""
    if len(held):
        held[:] = 0
        for which in classes:
            held[which] += 1
        square = 0
        for count in held:
            square += count * count
        return 1.0 - square / (float(len(classes)) * len(classes))
    total, squares, low, high = 0.0, 0.0, numbers[0], numbers[0]
    for number in numbers:
        total += number
        squares += number * number
        low, high = min(low, number), max(high, number)
    mean = total / len(numbers)
    return 0.0 if low == high else max(squares / len(numbers) - mean * mean, 0.0)


@kernel
def grow_nodes(
    bins: NDArray[np.uint8],
    outcome: tuple[NDArray[np.uint8], NDArray[np.float64], int],
    limits: tuple[int, int, int],
    nodes: Nodes,
    at: NDArray[np.int64],
) -> int:
    """Grow a tree, and return how many nodes it has.

    Parameters
    ----------
    bins : ndarray of uint8, shape (columns, records)
        The bin of each record.
    outcome : tuple
        The class of each record and the number of classes; or, if there are 0 classes, the number
        of each record: whole numbers whose sums floats hold exactly.
    limits : tuple of int
        Records in a leaf, at least; records of a node that is split, at least; levels, at most.
    nodes : tuple of ndarray
        Filled with the nodes, depth first, the left one first.
    at : ndarray of int64
        Filled with the node in which each record ends.
    """
    classes, numbers, count = outcome
    least, fewest, deepest = limits
    below, beside, column, last, first, sizes, impurity = nodes
    columns, records = bins.shape
    rows, spare = np.arange(records).astype(np.int32), np.empty(records, np.int32)
    own_classes, own_numbers = np.empty_like(classes), np.empty_like(numbers)
    held = np.zeros(count, np.int64)
    scratch = (
        np.zeros(MOST_BINS, np.int64),
        np.empty(MOST_BINS, np.int64),
        np.zeros(MOST_BINS),
        np.empty(records, np.uint8),
        np.empty(records, np.uint8),
    )
    order, constant = np.arange(columns), np.empty(columns, np.int64)
    state = np.uint64(FIRST_STATE)
    # Nodes that wait: begin, end, depth, the node above, whether they are its left one, and how
    # many columns are known to be constant.
    waiting = np.empty((deepest + 2, 6), np.int64)
    waiting[0] = np.array([0, records, 0, -1, 0, 0])
    left_to_do, found = 1, 0
    while left_to_do:
        left_to_do -= 1
        begin, end, depth, above, is_left, known = waiting[left_to_do]
        size, node = end - begin, found
        sizes[node] = size
        found += 1
        if above >= 0 and is_left:
            below[above] = node
        elif above >= 0:
            beside[above] = node
        for one in range(begin, end):
            if count:
                own_classes[one - begin] = classes[rows[one]]
            else:
                own_numbers[one - begin] = numbers[rows[one]]
        mine = own_classes[: size if count else 0], own_numbers[: 0 if count else size]
        impurity[node] = _impurity(mine[0], mine[1], held)
        best, cut = -1, (-np.inf, -1, -1, 0)
        pure = impurity[node] <= (_PURE if count else 0.0)
        if depth < deepest and size >= max(fewest, 2 * least) and not pure:
            best, cut, known, state = _search(
                bins,
                rows[begin:end],
                (mine[0], mine[1], held),
                least,
                (order, constant, known, state),
                scratch,
            )
        column[node] = best
        if best < 0:
            below[node], beside[node] = -1, -1
            at[rows[begin:end]] = node
            continue
        last[node], first[node] = cut[1], cut[2]
        _part(bins[best], cut[1], rows[begin:end], spare)
        waiting[left_to_do] = np.array([begin + cut[3], end, depth + 1, node, 0, known])
        waiting[left_to_do + 1] = np.array([begin, begin + cut[3], depth + 1, node, 1, known])
        left_to_do += 2
    return found
