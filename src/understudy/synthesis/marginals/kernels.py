"""The compiled loops of models of marginals: elimination, belief propagation, fitting, drawing.

Tables lie flat in one array, one after the other. Which cell of one table belongs to which cell of
another was worked out before, so that all loops are over cells, and none over columns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from understudy.counting.compiling import kernel

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Cells = NDArray[np.int32]

TreeArrays = tuple[Places, Places, Cells, Cells, Places, Places]
"""Starts of cliques, their parents, cells of separators by own and parent's cell, two starts."""

LayoutArrays = tuple[Places, Places, Cells, Places]
"""Starts of tables, the clique of each, their cells by the clique's cell, and starts of these."""

SMALLEST = -80.0
"""The logarithm of the smallest factor of a cell, beside the largest of its table."""

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
def calibrate(  # noqa: C901, PLR0912  # there and back, over the same tables
    tables: Floats, separators: Floats, tree: TreeArrays, total: float
) -> None:
    """Turn the factors of a tree of cliques into its marginals, which sum to `total`, in place.

    Parents come before their children. `separators` is filled with the marginals of what cliques
    share with their parents.
    """
    starts, parent, own, above, above_starts, separator_starts = tree
    cliques = len(parent)
    scales = np.ones(cliques)
    for place in range(len(separators)):
        separators[place] = 0.0
    for clique in range(cliques - 1, 0, -1):
        base = separator_starts[clique]
        for i in range(starts[clique], starts[clique + 1]):
            separators[base + own[i]] += tables[i]
        largest = 0.0
        for place in range(base, separator_starts[clique + 1]):
            largest = max(largest, separators[place])
        if largest > 0:
            # Products of many small sums would vanish.
            scales[clique] = largest
            for place in range(base, separator_starts[clique + 1]):
                separators[place] /= largest
        shift = starts[parent[clique]]
        for j in range(above_starts[clique], above_starts[clique + 1]):
            tables[shift + j - above_starts[clique]] *= separators[base + above[j]]
    mass = 0.0
    for i in range(starts[0], starts[1]):
        mass += tables[i]
    scale = total / mass if mass > 0 else 0.0
    for i in range(starts[0], starts[1]):
        tables[i] *= scale
    separators[0] = total
    ratio = np.empty(0)
    for clique in range(1, cliques):
        base, end = separator_starts[clique], separator_starts[clique + 1]
        if len(ratio) < end - base:
            ratio = np.empty(end - base)
        for place in range(end - base):
            ratio[place] = 0.0
        shift = starts[parent[clique]]
        for j in range(above_starts[clique], above_starts[clique + 1]):
            ratio[above[j]] += tables[shift + j - above_starts[clique]]
        for place in range(end - base):
            reached, held = ratio[place], separators[base + place] * scales[clique]
            separators[base + place] = reached
            ratio[place] = reached / held if held > 0 else 0.0
        for i in range(starts[clique], starts[clique + 1]):
            tables[i] *= ratio[own[i]]


@kernel
def multiply_factors(tables: Floats, starts: Places, logs: Floats, layout: LayoutArrays) -> None:
    """Fill the tables of cliques with the products of their factors, given as logarithms."""
    log_starts, clique_of, cells, cell_starts = layout
    for i in range(len(tables)):
        tables[i] = 1.0
    for number in range(len(clique_of)):
        first = log_starts[number]
        largest = -np.inf
        for place in range(first, log_starts[number + 1]):
            largest = max(largest, logs[place])
        factor = np.empty(log_starts[number + 1] - first)
        for place in range(len(factor)):
            factor[place] = np.exp(max(logs[first + place] - largest, SMALLEST))
        shift = starts[clique_of[number]]
        for i in range(cell_starts[number], cell_starts[number + 1]):
            tables[shift + i - cell_starts[number]] *= factor[cells[i]]


@kernel
def take_marginals(tables: Floats, starts: Places, found: Floats, layout: LayoutArrays) -> None:
    """Fill `found` with the marginals of the factors' columns."""
    log_starts, clique_of, cells, cell_starts = layout
    for place in range(len(found)):
        found[place] = 0.0
    for number in range(len(clique_of)):
        first = log_starts[number]
        shift = starts[clique_of[number]]
        for i in range(cell_starts[number], cell_starts[number + 1]):
            found[first + cells[i]] += tables[shift + i - cell_starts[number]]


@kernel
def count_cells(
    codes: NDArray[np.unsignedinteger], columns: Places, sizes: Places, counts: Places
) -> None:
    """Add the rows of each combination of some columns to the counts; a row of `codes` each."""
    rows = codes.shape[1]
    if len(columns) == 1:
        for i in range(rows):
            counts[codes[columns[0], i]] += 1
    elif len(columns) == 2:
        a, b = codes[columns[0]], codes[columns[1]]
        size = sizes[columns[1]]
        for i in range(rows):
            counts[a[i] * size + b[i]] += 1
    elif len(columns) == 3:
        a, b, c = codes[columns[0]], codes[columns[1]], codes[columns[2]]
        size, last = sizes[columns[1]] * sizes[columns[2]], sizes[columns[2]]
        for i in range(rows):
            counts[a[i] * size + b[i] * last + c[i]] += 1
    else:
        for i in range(rows):
            cell = np.int64(0)
            for column in columns:
                cell = cell * sizes[column] + codes[column, i]
            counts[cell] += 1


@kernel
def count_sets(  # noqa: PLR0913, PLR0917  # what is counted, and where it lies
    codes: NDArray[np.unsignedinteger],
    sizes: Places,
    sets: Places,
    starts: Places,
    cell_starts: Places,
    counts: NDArray[np.int32],
    first: int,
    last: int,
) -> None:
    """Count the combinations of each of the sets of columns from `first` to before `last`."""
    for number in range(first, last):
        own = np.zeros(cell_starts[number + 1] - cell_starts[number], np.int64)
        count_cells(codes, sets[starts[number] : starts[number + 1]], sizes, own)
        for place in range(len(own)):
            counts[cell_starts[number] + place] = own[place]


@kernel
def distances(  # noqa: PLR0913, PLR0917  # what is compared, and where it lies
    codes: NDArray[np.unsignedinteger],
    sizes: Places,
    sets: Places,
    starts: Places,
    cell_starts: Places,
    counts: NDArray[np.int32],
    scale: float,
    found: Floats,
    first: int,
    last: int,
) -> None:
    """Fill `found` with how far counts are from those of other rows times `scale`, in all."""
    for number in range(first, last):
        own = np.zeros(cell_starts[number + 1] - cell_starts[number], np.int64)
        count_cells(codes, sets[starts[number] : starts[number + 1]], sizes, own)
        distance = 0.0
        for place in range(len(own)):
            distance += abs(counts[cell_starts[number] + place] - own[place] * scale)
        found[number] = distance


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
    shuffled: Places,
    offsets: Floats,
    drawn: Cells,
) -> None:
    """Draw a cell for each row by the shares in its group, with as little chance as there can be.

    Of m rows in a group, each cell gets its share of m, rounded up or down by chance; which rows
    get it is up to the order in which they are `shuffled`. So each row by itself has each cell
    with exactly its share.

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
    shuffled : ndarray
        The rows in random order.
    offsets : ndarray
        A number from 0 to below 1 for each group, at random.
    drawn : ndarray
        Is filled with the cells.
    """
    count = len(starts) - 1
    rows = np.zeros(count)
    for i in range(len(groups)):
        rows[groups[i]] += 1.0
    rank = np.zeros(count)
    at = starts[:-1].copy()
    reached = np.zeros(count)
    for row in shuffled:
        group = groups[row]
        aim = (rank[group] + offsets[group]) / rows[group]
        rank[group] += 1.0
        place, sum_before = at[group], reached[group]
        last = starts[group + 1] - 1
        while place < last and sum_before + shares[place] <= aim:
            sum_before += shares[place]
            place += 1
        # Rounding may leave a row beyond the last cell that can be drawn.
        while shares[place] == 0.0 and place > starts[group]:
            place -= 1
        at[group], reached[group] = place, sum_before
        drawn[row] = cells[place]


@kernel
def find_marginals(
    logs: Floats,
    total: float,
    tree: TreeArrays,
    layout: LayoutArrays,
    tables: Floats,
    separators: Floats,
    found: Floats,
) -> None:
    """Fill `found` with the marginals of the factors' columns, given the factors' logarithms."""
    multiply_factors(tables, tree[0], logs, layout)
    calibrate(tables, separators, tree, total)
    take_marginals(tables, tree[0], found, layout)


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
    found = np.empty(count)
    find_marginals(at, total, tree, layout, tables, separators, found)
    loss = misfit(found, wanted, weights, slope)
    speed = 1.0
    done = False
    for _ in range(rounds):
        next_speed = (1.0 + np.sqrt(1.0 + 4.0 * speed * speed)) / 2.0
        push = (speed - 1.0) / next_speed
        for place in range(count):
            stepped = at[place] - step * slope[place]
            ahead[place] = stepped + push * (stepped - logs[place])
        find_marginals(ahead, total, tree, layout, tables, separators, found)
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
