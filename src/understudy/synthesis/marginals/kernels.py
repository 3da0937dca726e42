"""The compiled loops of models of marginals: elimination, belief propagation, fitting, drawing.

Tables lie flat in one array, one after the other. Which cell of one table belongs to which cell of
another was worked out before, so that all loops are over cells, and none over columns.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from understudy.counting.compiling import kernel

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Cells = NDArray[np.int32]

MapArrays = tuple[Cells, Places, Places, Places]
"""How tables lie in larger ones, of which cells are gone through run by run: the cell of the part
where each run starts, where the runs of each table start, how long they are, and their step in the
part.
"""

TreeArrays = tuple[Places, Places, MapArrays, MapArrays]
"""Parents of cliques, starts of separators, and how these lie in cliques and in their parents."""

LayoutArrays = tuple[Places, Places, Places, MapArrays]
"""Starts of cliques, factors and sums between; the larger table that each is a part of; the order
from large to small without the cliques; how they lie in the larger ones.
"""

SMALLEST = -80.0
"""The logarithm of the smallest factor of a cell, beside the largest of its table."""

PARTS = 2**20
"""Into so many parts a record is cut where counts are compared: 2**32 of them stay exact."""

GOLDEN_SECTION = (math.sqrt(5.0) - 1.0) / 2.0

SHORTEST = 1e-30
"""The length of a step below which it is taken, whatever it gains: rounding is all that is left."""


@kernel
def eliminate(  # noqa: C901, PLR0912  # a call in a loop would be slow
    links: NDArray[np.bool_], sizes: Floats, order: Places, most: float
) -> float:
    """Find an order in which to eliminate columns, and return the cells that their cliques have.

    The next column is the one whose clique with its neighbours has the fewest cells. `links` is
    filled with the links that are added. Beyond `most` cells it stops.
    """
    columns = len(sizes)
    gone = np.zeros(columns, np.bool_)
    cells = 0.0
    for step in range(columns):
        best, fewest = -1, np.inf
        for one in range(columns):
            if not gone[one]:
                own = sizes[one]
                for other in range(columns):
                    if links[one, other] and not gone[other]:
                        own *= sizes[other]
                if own < fewest:
                    best, fewest = one, own
        # A clique inside that of a column that goes before is no table of its own.
        inside = False
        for earlier in range(step):
            before = order[earlier]
            if links[before, best]:
                covers = True
                for other in range(columns):
                    if links[best, other] and not gone[other] and not links[before, other]:
                        covers = False
                        break
                if covers:
                    inside = True
                    break
        if not inside:
            cells += fewest
            if cells > most:
                return cells
        for one in range(columns):
            if links[best, one] and not gone[one]:
                for other in range(columns):
                    if other != one and links[best, other] and not gone[other]:
                        links[one, other] = True
        gone[best] = True
        order[step] = best
    return cells


@kernel
def cells_with(
    links: NDArray[np.bool_],
    sizes: Floats,
    sets: Places,
    starts: Places,
    most: float,
) -> Floats:
    """Return how many cells a tree would have if the columns of each set were linked as well."""
    found = np.empty(len(starts) - 1)
    columns = len(sizes)
    order = np.empty(columns, np.int64)
    for number in range(len(found)):
        tried = links.copy()
        for i in range(starts[number], starts[number + 1]):
            for j in range(starts[number], starts[number + 1]):
                if i != j:
                    tried[sets[i], sets[j]] = True
        found[number] = eliminate(tried, sizes, order, most)
    return found


@kernel
def add_up(whole: Floats, part: Floats, maps: MapArrays, number: int) -> None:
    """Fill a table with the sums over the columns that a larger one has beside."""
    firsts, starts, lengths, steps = maps
    length, step = lengths[number], steps[number]
    for place in range(len(part)):
        part[place] = 0.0
    at = 0
    for run in range(starts[number], starts[number + 1]):
        cell = firsts[run]
        if step:
            for place in range(length):
                part[cell + place * step] += whole[at + place]
        else:
            # Four sums at once need not wait for each other.
            one, two, three, four = 0.0, 0.0, 0.0, 0.0
            even = at + length - length % 4
            for place in range(at, even, 4):
                one += whole[place]
                two += whole[place + 1]
                three += whole[place + 2]
                four += whole[place + 3]
            for place in range(even, at + length):
                one += whole[place]
            part[cell] += (one + two) + (three + four)
        at += length


@kernel
def multiply(whole: Floats, part: Floats, maps: MapArrays, number: int) -> None:
    """Multiply each cell of a table by that of a part of its columns."""
    firsts, starts, lengths, steps = maps
    length, step = lengths[number], steps[number]
    at = 0
    for run in range(starts[number], starts[number + 1]):
        cell = firsts[run]
        if step:
            for place in range(length):
                whole[at + place] *= part[cell + place * step]
        else:
            factor = part[cell]
            for place in range(at, at + length):
                whole[place] *= factor
        at += length


@kernel
def calibrate(
    tables: Floats, starts: Places, separators: Floats, tree: TreeArrays, total: float
) -> None:
    """Turn the factors of a tree of cliques into its marginals, which sum to `total`, in place.

    Parents come before their children. `separators` is filled with the marginals of what cliques
    share with their parents.
    """
    parent, separator_starts, own, above = tree
    cliques = len(parent)
    scales = np.ones(cliques)
    for clique in range(cliques - 1, 0, -1):
        shared = separators[separator_starts[clique] : separator_starts[clique + 1]]
        add_up(tables[starts[clique] : starts[clique + 1]], shared, own, clique)
        largest = shared.max()
        if largest > 0:
            # Products of many small sums would vanish.
            scales[clique] = largest
            shared /= largest
        up = parent[clique]
        multiply(tables[starts[up] : starts[up + 1]], shared, above, clique)
    root = tables[: starts[1]]
    mass = root.sum()
    root *= total / mass if mass > 0 else 0.0
    separators[0] = total
    for clique in range(1, cliques):
        shared = separators[separator_starts[clique] : separator_starts[clique + 1]]
        ratio = np.empty(len(shared))
        up = parent[clique]
        add_up(tables[starts[up] : starts[up + 1]], ratio, above, clique)
        for place in range(len(shared)):
            reached, held = ratio[place], shared[place] * scales[clique]
            shared[place] = reached
            ratio[place] = reached / held if held > 0 else 0.0
        multiply(tables[starts[clique] : starts[clique + 1]], ratio, own, clique)


@kernel
def multiply_factors(tables: Floats, logs: Floats, cliques: int, layout: LayoutArrays) -> None:
    """Fill the tables of cliques with the products of their factors, given as logarithms."""
    starts, homes, order, maps = layout
    tables[:] = 1.0
    shift = starts[cliques]
    number = cliques
    while number < len(homes) and starts[number] < shift + len(logs):
        own = logs[starts[number] - shift : starts[number + 1] - shift]
        largest = own.max()
        for place in range(len(own)):
            tables[starts[number] + place] = np.exp(max(own[place] - largest, SMALLEST))
        number += 1
    for number in order[::-1]:
        home = homes[number]
        part = tables[starts[number] : starts[number + 1]]
        multiply(tables[starts[home] : starts[home + 1]], part, maps, number)


@kernel
def take_marginals(tables: Floats, layout: LayoutArrays) -> None:
    """Fill all other tables with the sums over those of cliques."""
    starts, homes, order, maps = layout
    for number in order:
        home = homes[number]
        part = tables[starts[number] : starts[number + 1]]
        add_up(tables[starts[home] : starts[home + 1]], part, maps, number)


@kernel
def count_sets(
    codes: NDArray[np.unsignedinteger],
    sizes: Places,
    sets: Places,
    starts: Places,
    cell_starts: Places,
    counts: Cells,
) -> None:
    """Count the rows of each combination of sets of columns; a row of `codes` is a column.

    The columns and the cells of each set begin at its starts, in `sets` and in `counts`.
    """
    rows = codes.shape[1]
    for number in range(len(starts) - 1):
        columns = sets[starts[number] : starts[number + 1]]
        own = counts[cell_starts[number] : cell_starts[number + 1]]
        own[:] = 0
        if len(columns) == 1:
            for i in range(rows):
                own[codes[columns[0], i]] += 1
        elif len(columns) == 2:
            a, b = codes[columns[0]], codes[columns[1]]
            size = sizes[columns[1]]
            for i in range(rows):
                own[a[i] * size + b[i]] += 1
        elif len(columns) == 3:
            a, b, c = codes[columns[0]], codes[columns[1]], codes[columns[2]]
            size, last = sizes[columns[1]] * sizes[columns[2]], sizes[columns[2]]
            for i in range(rows):
                own[a[i] * size + b[i] * last + c[i]] += 1
        else:
            for i in range(rows):
                cell = np.int64(0)
                for column in columns:
                    cell = cell * sizes[column] + codes[column, i]
                own[cell] += 1


@kernel
def distances(
    counts: Cells, others: Cells, scale: float, cell_starts: Places, found: Floats
) -> None:
    """Fill `found` with how far counts are from others times `scale`, for each set in all.

    What counts are compared with is rounded to `PARTS` of a record, so that all sums are exact: one
    record changes a distance by no more than it changes the counts.
    """
    for number in range(len(found)):
        distance = np.int64(0)
        for place in range(cell_starts[number], cell_starts[number + 1]):
            expected = np.int64(np.rint(others[place] * scale * PARTS))
            distance += abs(np.int64(counts[place]) * PARTS - expected)
        found[number] = distance / PARTS


@kernel
def shares_in_groups(values: Floats, groups: Cells, count: int) -> Floats:
    """Return what each value is of the sum of its group; equal shares where that is zero."""
    sums = np.zeros(count)
    sizes = np.zeros(count)
    for i in range(len(values)):
        sums[groups[i]] += values[i]
        sizes[groups[i]] += 1.0
    found = np.empty(len(values))
    for i in range(len(values)):
        whole = sums[groups[i]]
        found[i] = values[i] / whole if whole > 0 else 1.0 / sizes[groups[i]]
    return found


@kernel
def draw_evenly(
    shares: Floats,
    cells: Cells,
    starts: Places,
    groups: Places,
    order: Places,
    offsets: Floats,
    drawn: Cells,
) -> None:
    """Draw a cell for each row by the shares in its group, with as little chance as there can be.

    Of m rows in a group, each cell gets its share of m, rounded up or down by chance. So do rows
    that follow each other in the order, as nearly as can be. Each row by itself has each cell with
    exactly its share.

    Parameters
    ----------
    shares : ndarray
        The share of each cell, group by group: they sum to 1 in each.
    cells : ndarray
        The cells that the shares are of.
    starts : ndarray
        Where each group starts, and the number of cells.
    groups : ndarray
        The group of each row.
    order : ndarray
        The rows in an order in which those that are alike follow each other.
    offsets : ndarray
        A number from 0 to below 1 for each group, at random.
    drawn : ndarray
        Is filled with the cells.
    """
    count = len(starts) - 1
    firsts = np.zeros(count + 1, np.int64)
    for row in range(len(groups)):
        firsts[groups[row] + 1] += 1
    strides = np.ones(count, np.int64)
    for group in range(count):
        rows = firsts[group + 1]
        # Multiples of the golden section are spread most evenly; without a common divisor, all
        # places are reached.
        stride = max(1, int(GOLDEN_SECTION * rows))
        while math.gcd(stride, rows) > 1:
            stride += 1
        strides[group] = stride
        firsts[group + 1] += firsts[group]
    seen = np.zeros(count, np.int64)
    placed = np.empty(len(groups), np.int64)
    for row in order:
        group = groups[row]
        rows = firsts[group + 1] - firsts[group]
        shift = int(offsets[group] * rows)
        placed[firsts[group] + (seen[group] * strides[group] + shift) % rows] = row
        seen[group] += 1
    for group in range(count):
        rows = firsts[group + 1] - firsts[group]
        offset = offsets[group] * rows % 1.0
        place, reached, last = starts[group], 0.0, starts[group + 1] - 1
        for rank in range(rows):
            aim = (rank + offset) / rows
            while place < last and reached + shares[place] <= aim:
                reached += shares[place]
                place += 1
            # Rounding may leave a row beyond the last cell that can be drawn.
            while shares[place] == 0.0 and place > starts[group]:
                place -= 1
            drawn[placed[firsts[group] + rank]] = cells[place]


@kernel
def find_marginals(
    logs: Floats,
    total: float,
    tree: TreeArrays,
    layout: LayoutArrays,
    tables: Floats,
    separators: Floats,
) -> Floats:
    """Return the marginals of the factors' columns, in `tables`, given the factors' logarithms."""
    cliques = len(tree[0])
    multiply_factors(tables, logs, cliques, layout)
    calibrate(tables, layout[0], separators, tree, total)
    take_marginals(tables, layout)
    first = layout[0][cliques]
    return tables[first : first + len(logs)]


@kernel
def misfit(found: Floats, wanted: Floats, weights: Floats, slope: Floats) -> float:
    """Return half the weighted squares between marginals and what is wanted; fill their slope."""
    loss = 0.0
    for place in range(len(found)):
        gap = found[place] - wanted[place]
        slope[place] = weights[place] * gap
        loss += 0.5 * slope[place] * gap
    return loss


@kernel
def descend(  # noqa: PLR0913, PLR0917  # the model, the aim, and room to work in
    logs: Floats,
    wanted: Floats,
    weights: Floats,
    total: float,
    step: float,
    rounds: int,
    enough: float,
    tree: TreeArrays,
    layout: LayoutArrays,
    tables: Floats,
    separators: Floats,
) -> tuple[float, float, bool]:
    """Go some rounds of mirror descent with momentum on the logarithms of factors, in place.

    Returns the length of the next step, the misfit, and whether a round gained less than `enough`
    of it.
    """
    count = len(logs)
    at, ahead = logs.copy(), np.empty(count)
    slope, next_slope = np.empty(count), np.empty(count)
    found = find_marginals(at, total, tree, layout, tables, separators)
    loss = misfit(found, wanted, weights, slope)
    speed = 1.0
    done = False
    for _ in range(rounds):
        next_speed = (1.0 + np.sqrt(1.0 + 4.0 * speed * speed)) / 2.0
        push = (speed - 1.0) / next_speed
        for place in range(count):
            stepped = at[place] - step * slope[place]
            ahead[place] = stepped + push * (stepped - logs[place])
        found = find_marginals(ahead, total, tree, layout, tables, separators)
        next_loss = misfit(found, wanted, weights, next_slope)
        if next_loss > loss and step > SHORTEST:
            # Too far: go back to where it was, without momentum.
            if speed == 1.0:
                step *= 0.5
            speed = 1.0
            continue
        for place in range(count):
            logs[place] = at[place] - step * slope[place]
        gained = loss - next_loss
        loss = next_loss
        at, ahead = ahead, at
        slope, next_slope = next_slope, slope
        speed = next_speed
        if gained <= enough * loss:
            done = True
            break
    for place in range(count):
        logs[place] = at[place]
    return step, loss, done
