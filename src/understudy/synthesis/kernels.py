"""The compiled loops of tables (sorting, drawing), of rows within rows, and of trees."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.counting.compiling import kernel

Rows: TypeAlias = tuple[
    NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]
]
"""Start, length, row above and strength of rows within rows."""

Held: TypeAlias = tuple[NDArray[np.unsignedinteger], NDArray[np.int64], NDArray[np.int64], int]
"""The donors; or the value of each run of equal ones and where it begins, the last run that begins
in each block of places or before, and how many bits of a place its block leaves out."""


Index: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Numbers in places that follow from them, and at each place which number it is; -1 where none is.
There is a power of two of places, more than twice as many as numbers."""


@kernel
def _scattered(number: np.uint64) -> np.uint64:
    """Return a number that looks random for a number (Steele, Lea and Flood 2014)."""
    mixed = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return mixed ^ (mixed >> np.uint64(31))


@kernel
def index_numbers(numbers: NDArray[np.int64], index: Index) -> None:
    """Fill an index, whose places are all -1, with different numbers."""
    held, which = index
    last = np.uint64(len(which) - 1)
    for i in range(len(numbers)):
        place = _scattered(np.uint64(numbers[i])) & last
        while which[place] >= 0:
            place = (place + np.uint64(1)) & last
        held[place] = numbers[i]
        which[place] = i


@kernel
def look_up(wanted: NDArray[np.int64], index: Index, found: NDArray[np.int64]) -> None:
    """Find out which of the numbers of an index each wanted one is; -1 if it is none."""
    held, which = index
    last = np.uint64(len(which) - 1)
    for i in range(len(wanted)):
        place = _scattered(np.uint64(wanted[i])) & last
        while which[place] >= 0 and held[place] != wanted[i]:
            place = (place + np.uint64(1)) & last
        found[i] = which[place]


@kernel
def sort_donors(
    groups: NDArray[np.uint32],
    child: NDArray[np.unsignedinteger],
    cardinality: int,
    starts: NDArray[np.int64],
    donors: NDArray[np.unsignedinteger],
) -> None:
    """Put the child's codes in the order of their groups, and increasing within a group.

    Two counting sorts, the less significant first: by the child's code, then by group. That groups
    are below ``len(starts) - 1`` and codes below `cardinality` is not checked here. `starts` is
    filled with where each group starts in `donors`, and with the number of rows.
    """
    of_child = np.zeros(cardinality + 1, np.int64)
    for i in range(len(child)):
        of_child[np.uint64(child[i]) + np.uint64(1)] += 1
    for value in range(cardinality):
        of_child[value + 1] += of_child[value]
    place = of_child.copy()
    by_child = np.empty(len(groups), np.uint32)
    # 32 bits hold the positions of four billion records, and stay in the caches for longer.
    end = np.zeros(len(starts), np.uint32)
    one = np.uint32(1)
    for i in range(len(groups)):
        code, group = np.uint64(child[i]), np.uint64(groups[i])
        by_child[np.uint64(place[code])] = groups[i]
        place[code] += 1
        end[group + np.uint64(1)] += one
    for number in range(len(starts) - 1):
        end[number + 1] += end[number]
    # Loops, because numba takes a second to compile the assignment of a slice.
    for number in range(len(starts)):
        starts[number] = end[number]
    for value in range(cardinality):
        for i in range(of_child[value], of_child[value + 1]):
            group = np.uint64(by_child[np.uint64(i)])
            donors[np.uint64(end[group])] = value
            end[group] += one


@kernel
def _donor(place: np.uint64, held: Held) -> np.unsignedinteger:
    """Return the value of the donor at a place, from an array of all or from runs of equal ones."""
    values, begins, guide, shift = held
    if len(begins) == 0:
        found: np.unsignedinteger = values[place]
        return found
    block = place >> np.uint64(shift)
    low, high = guide[block], guide[block + np.uint64(1)]
    while low < high:
        middle = (low + high + 1) // 2
        if np.uint64(begins[middle]) <= place:
            low = middle
        else:
            high = middle - 1
    one: np.unsignedinteger = values[low]
    return one


@kernel
def draw_donors(
    codes: NDArray[np.uint32],
    ranges: tuple[NDArray[np.uint32], NDArray[np.uint32]],
    chances: NDArray[np.float64],
    held: Held,
    drawn: NDArray[np.unsignedinteger],
) -> None:
    """Draw a donor from the range of each row's combination, by a number in [0, 1) for each row.

    `ranges` are start and length of each combination's range of donors. That each code has one is
    not checked here.
    """
    starts, lengths = ranges
    for i in range(len(codes)):
        code = np.uint64(codes[i])
        place = np.uint64(starts[code]) + np.uint64(chances[i] * lengths[code])
        drawn[i] = _donor(place, held)


@kernel
def draw_shrunk(
    numbers: NDArray[np.int64],
    rows: Rows,
    least: int,
    chances: NDArray[np.float64],
    cumulative: NDArray[np.float64],
    held: Held,
    drawn: NDArray[np.unsignedinteger],
) -> None:
    """Draw a donor from a row or one above it, by a number in [0, 1) for each draw.

    `rows` are start, length, row above (-1 for none) and strength of each row; rows of fewer than
    `least` donors are passed over. With N donors and strength a, the row's own are drawn with
    probability N / (N + a), and else the row above decides, by what is left of the chance.
    `cumulative` are the cumulative shares of values above all rows, which end with 1.
    """
    starts, lengths, above, strengths = rows
    below_one = np.nextafter(1.0, 0.0)
    for i in range(len(numbers)):
        row = numbers[i]
        chance = chances[i]
        while row >= 0:
            length = lengths[row]
            if length >= least:
                strength = strengths[row]
                place = chance * (length + strength)
                if place < length or strength == 0:
                    first = starts[row] + min(np.int64(place), length - 1)
                    drawn[i] = _donor(np.uint64(first), held)
                    break
                chance = min((place - length) / strength, below_one)
            row = above[row]
        if row < 0:
            low, high = 0, len(cumulative) - 1
            while low < high:
                middle = (low + high) // 2
                if cumulative[middle] > chance:
                    high = middle
                else:
                    low = middle + 1
            drawn[i] = low


@kernel
def _first_from(begins: NDArray[np.int64], low: int, high: int, wanted: int) -> int:
    """Return the first place from `low`, below `high`, that is not before `wanted`, or `high`."""
    while low < high:
        middle = (low + high) // 2
        if begins[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def shrunk_probability(
    numbers: NDArray[np.int64],
    values: NDArray[np.int64],
    rows: Rows,
    least: int,
    index: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    base: NDArray[np.float64],
    found: NDArray[np.float64],
) -> None:
    """Compute the probability with which `draw_shrunk` gives each value in each row.

    `index` is that of `Cells.index`, and `base` has the shares of values above all rows.
    """
    starts, lengths, above, strengths = rows
    edges, begins, before = index
    for i in range(len(numbers)):
        row, value = numbers[i], values[i]
        low, high = edges[value], edges[value + 1]
        share, left = 0.0, 1.0
        while row >= 0:
            length = lengths[row]
            if length >= least:
                total = length + strengths[row]
                first = _first_from(begins, low, high, starts[row])
                last = _first_from(begins, first, high, starts[row] + length)
                share += left * (before[last] - before[first]) / total
                left *= strengths[row] / total
            row = above[row]
        found[i] = share + left * base[value]


@kernel
def merge_cells(
    rows: tuple[NDArray[np.int64], NDArray[np.int64]],
    cells: tuple[NDArray[np.int64], NDArray[np.unsignedinteger], NDArray[np.int64]],
    cardinality: int,
    merged: NDArray[np.int64],
    found: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
) -> int:
    """Merge the cells of a row that have the same value, and return how many cells remain.

    `rows` are start and length of the rows of one level, increasing, and `cells` where each cell
    begins, its value and count. `merged` is filled with the number of the cell that each becomes,
    -1 if it is in no row; `found` with the first of the cells that become one, their count, and
    that of their row.
    """
    starts, lengths = rows
    begins, values, counts = cells
    first, joint, whole = found
    latest = np.full(cardinality, -1, np.int64)
    count, cell = 0, 0
    merged[:] = -1
    for row in range(len(starts)):
        end, of_row = starts[row] + lengths[row], count
        while cell < len(begins) and begins[cell] < starts[row]:
            cell += 1
        while cell < len(begins) and begins[cell] < end:
            number = latest[values[cell]]
            if number < of_row:
                number = count
                latest[values[cell]] = number
                first[number], joint[number], whole[number] = cell, 0, lengths[row]
                count += 1
            joint[number] += counts[cell]
            merged[cell] = number
            cell += 1
    return count


# Rows of fewer records than this are counted by their size.
_SMALL = 1024

Condensed: TypeAlias = tuple[
    NDArray[np.int64],
    tuple[NDArray[np.int64], NDArray[np.int64]],
    tuple[NDArray[np.int64], NDArray[np.float64]],
    int,
]
"""What the likelihood of left-out records depends on: how many records are in rows of each size;
for each cell of the larger rows, its records and the row's size; counts, increasing, and shares of
cells of several records; and how many cells have one record."""


@kernel
def _sum_of_logs(values: NDArray[np.float64]) -> float:
    """Return the sum of the logarithms, with one logarithm for many values."""
    total, product = 0.0, 1.0
    for value in values:
        if value > 1e-100:
            product *= value
            # It stays above the least number that has all its digits.
            if product < 1e-200:
                total += np.log(product)
                product = 1.0
        else:
            total += np.log(value)
    return float(total + np.log(product))


@kernel
def _by_count(
    counts: NDArray[np.int64], shares: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return counts, increasing, and their shares: a counting sort, since most are small."""
    most = 0
    for count in counts:
        most = max(most, count)
    ends = np.zeros(most + 2, np.int64)
    for count in counts:
        ends[count + 1] += 1
    for count in range(most):
        ends[count + 1] += ends[count]
    in_order, along = np.empty_like(counts), np.empty_like(shares)
    for cell in range(len(counts)):
        place = ends[counts[cell]]
        in_order[place], along[place] = counts[cell], shares[cell]
        ends[counts[cell]] += 1
    return in_order, along


@kernel
def _condense(
    counts: tuple[NDArray[np.int64], NDArray[np.int64]], shares: NDArray[np.float64], least: int
) -> tuple[Condensed, float]:
    """Return the cells of `search_strength` condensed, and what depends on no strength."""
    joint, whole = counts
    sizes, ones = np.zeros(_SMALL, np.int64), np.empty(len(joint))
    several = np.empty(len(joint), np.int64), np.empty(len(joint))
    large = np.empty(len(joint), np.int64), np.empty(len(joint), np.int64)
    single, more, larger, largest, fixed = 0, 0, 0, 0, 0.0
    for cell in range(len(joint)):
        count, size = joint[cell], whole[cell]
        if size - 1 < least:
            fixed += count * np.log(shares[cell])
            continue
        if size < _SMALL:
            sizes[size] += count
            largest = max(largest, size)
        else:
            large[0][larger], large[1][larger] = count, size
            larger += 1
        if count == 1:
            ones[single] = shares[cell]
            single += 1
        else:
            several[0][more], several[1][more] = count, shares[cell]
            more += 1
    fixed += _sum_of_logs(ones[:single])
    cells = _by_count(several[0][:more], several[1][:more])
    rows = large[0][:larger], large[1][:larger]
    return (sizes[: largest + 1], rows, cells, single), fixed


@kernel
def _left_out_total(strength: float, condensed: Condensed) -> float:
    """Return what depends on the strength in the log likelihood of left-out records."""
    sizes, large, several, single = condensed
    total = single * np.log(strength)
    cell = 0
    while cell < len(several[0]):
        # Cells of one count need one logarithm, as long as their product is in range.
        count, product = several[0][cell], 1.0
        while cell < len(several[0]) and several[0][cell] == count and product < 1e200:
            product *= count - 1 + strength * several[1][cell]
            cell += 1
        total += count * np.log(product)
    for size in range(len(sizes)):
        if sizes[size]:
            total -= sizes[size] * np.log(size - 1 + strength)
    for cell in range(len(large[0])):
        total -= large[0][cell] * np.log(large[1][cell] - 1 + strength)
    return float(total)


@kernel
def _largest_of_best(
    strengths: NDArray[np.float64], totals: NDArray[np.float64], same: float
) -> int:
    """Return the place of the largest strength whose total is the best, or as good as that."""
    enough = totals.max() - same
    best = -1
    for one in range(len(totals)):
        if totals[one] >= enough and (best < 0 or strengths[one] > strengths[best]):
            best = one
    return best


@kernel
def search_strength(
    counts: tuple[NDArray[np.int64], NDArray[np.int64]],
    shares: NDArray[np.float64],
    tried: tuple[NDArray[np.float64], NDArray[np.float64]],
    least: int,
    same: float,
) -> tuple[float, float]:
    """Return the strength with the largest log likelihood of records left out one by one, and this.

    A left-out record of a cell has the probability (count - 1 + strength * share) / (row - 1 +
    strength), or its share if its row has fewer than `least` others. The logarithms of
    denominators depend on rows' sizes alone, of which there are few, and those of cells of one
    record are log(strength) + log(share): so few are left to compute for each strength.

    Parameters
    ----------
    counts : tuple of two ndarray of int64
        The count of each cell (records of a row with one value) and that of its row, the left-out
        record included.
    shares : ndarray of float64
        The probability of the value in the row above.
    tried : tuple of two ndarray of float64
        Strengths to try, and factors by which the best is then made smaller and larger.
    same : float
        Log likelihoods this near count as equally good; then the larger strength is taken.
    """
    coarse, finer = tried
    condensed, fixed = _condense(counts, shares, least)
    strengths = np.empty(len(coarse) + 2 * len(finer))
    totals = np.empty(len(strengths))
    strengths[: len(coarse)] = coarse
    known, added = 0, len(coarse)
    for step in range(len(finer) + 1):
        for one in range(known, added):
            totals[one] = fixed + _left_out_total(strengths[one], condensed)
        known = added
        best = _largest_of_best(strengths[:known], totals[:known], same)
        if step < len(finer):
            for strength in (strengths[best] / finer[step], strengths[best] * finer[step]):
                if coarse[0] < strength < coarse[-1]:
                    strengths[added] = strength
                    added += 1
    return strengths[best], totals[best]


@kernel
def left_out_shares(
    counts: tuple[NDArray[np.int64], NDArray[np.int64]],
    strength: float,
    least: int,
    shares: NDArray[np.float64],
) -> None:
    """Turn shares in the row above into those in the row, in place, for `search_strength`."""
    joint, whole = counts
    for cell in range(len(joint)):
        rest = whole[cell] - 1
        if rest >= least:
            shares[cell] = (joint[cell] - 1 + strength * shares[cell]) / (rest + strength)


@kernel
def add_level(
    rows: tuple[NDArray[np.int64], NDArray[np.int64]],
    cells: tuple[NDArray[np.int64], NDArray[np.unsignedinteger], NDArray[np.int64]],
    cardinality: int,
    strength: float,
    tried: tuple[NDArray[np.float64], NDArray[np.float64]],
    rules: tuple[int, float, float],
    shares: NDArray[np.float64],
) -> float:
    """Turn the shares of left-out records above a level of rows into those in it; in place.

    `rows` and `cells` are those of `merge_cells`. If `strength` is nan, the best one is taken, by
    `search_strength`. The strength is returned. `rules` are the fewest records of a row that is
    used, and how near likelihoods are that count as equally good: of all records, or of each.
    """
    least, slack, of_each = rules
    size = len(shares)
    merged, first = np.empty(size, np.int64), np.empty(size, np.int64)
    joint, whole = np.empty(size, np.int64), np.empty(size, np.int64)
    count = merge_cells(rows, cells, cardinality, merged, (first, joint, whole))
    counts = joint[:count], whole[:count]
    own = np.empty(count)
    for number in range(count):
        own[number] = shares[first[number]]
    if np.isnan(strength):
        records = 0
        for number in range(count):
            records += joint[number]
        same = max(slack, of_each * records)
        strength, _ = search_strength(counts, own, tried, least, same)
    left_out_shares(counts, strength, least, own)
    for cell in range(size):
        if merged[cell] >= 0:
            shares[cell] = own[merged[cell]]
    return strength


@kernel
def prune(
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    risk: NDArray[np.float64],
    price: float,
    ends: NDArray[np.int64],
) -> None:
    """Find the smallest subtree with the least sum of its leaves' risks and a price for each leaf.

    `left` and `right` are the children of each node, -1 for a leaf; every child comes after its
    parent. `risk` is the share of the records in the node times its impurity. `ends` is filled with
    the node at which records of each node end in the smaller tree: the node itself if it is kept,
    and else the ancestor that became a leaf.
    """
    best = risk + price
    cut = np.ones(len(left), np.bool_)
    for node in range(len(left) - 1, -1, -1):
        if left[node] >= 0:
            below = best[left[node]] + best[right[node]]
            if below < best[node]:
                best[node] = below
                cut[node] = False
    ends[0] = 0
    for node in range(len(left)):
        if left[node] >= 0:
            stop = ends[node] != node or cut[node]
            ends[left[node]] = ends[node] if stop else left[node]
            ends[right[node]] = ends[node] if stop else right[node]


@kernel
def find_leaves(
    places: NDArray[np.int32],
    feature: NDArray[np.int32],
    threshold: NDArray[np.int32],
    children: NDArray[np.int32],
    order_of: NDArray[np.int32],
    orders: NDArray[np.int32],
    leaves: NDArray[np.uint32],
) -> None:
    """Lead each record down a tree, and fill `leaves` with the number of its leaf.

    `places` has numbers by rank and categories by code. A node looks at the column `feature`, -1
    for a leaf; a record goes left if its place is not above `threshold`, which of a leaf is its
    number. `order_of` says where the order of a column's categories starts in `orders`, and is -1
    if its places are compared as they are.
    """
    for row in range(len(places)):
        node = 0
        column = feature[0]
        while column >= 0:
            place = places[row, column]
            if order_of[column] >= 0:
                place = orders[order_of[column] + place]
            node = children[node, 0 if place <= threshold[node] else 1]
            column = feature[node]
        leaves[row] = threshold[node]
