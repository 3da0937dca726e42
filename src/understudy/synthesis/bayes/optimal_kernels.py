"""The compiled loops of the search for the best order.

Dynamic programming over subsets, a bound, and for many attributes a greedy start that insertions
improve. All sums are of whole numbers (`fixed_point`), so they are exact. Coverage is not measured
here, for it cannot see into compiled code: the tests compare with brute force over all orders, and
with sums that are made anew.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.counting.compiling import kernel
from understudy.synthesis.bayes.genetic_kernels import (
    Flags,
    Ints,
    State,
    Whole,
    random_below,
    random_unit,
    ranks,
)

# Subsets of up to twice as many attributes are looked up in two tables.
HALF = 10
_ONE = np.uint64(1)
# Constants of a kernel's own type: for a bare -1 its callees would be compiled a second time.
_NONE = np.int64(-1)
# The place of a single bit by multiplication with a de Bruijn sequence (Leiserson et al. 1998).
_SEQUENCE = 0x03F79D71B4CB0A89
_MULTIPLIER, _TOP = np.uint64(_SEQUENCE), np.uint64(58)
_PLACES = np.argsort([(_SEQUENCE << place) % 2**64 >> 58 for place in range(64)])


class Problem(NamedTuple):
    """What an order is judged by. Required parents are part of it only as far as they bind it.

    Parameters
    ----------
    weights : ndarray of int64, shape (d, d)
        What ``weights[child, parent]`` adds; 0 where the edge is impossible or required.
    slots : ndarray of int64, shape (d,)
        How many parents each attribute may have beside the required ones.
    ranked : ndarray of int64, shape (d, d)
        The possible parents of each attribute beside the required ones, best first, then -1.
    waits : ndarray of bool, shape (d, d)
        Whether ``waits[child, parent]``: the parent is required, so it stands before.
    start : int
        How many attributes at the beginning of the order never move.
    """

    weights: Ints
    slots: Ints
    ranked: Ints
    waits: Flags
    start: int


class Subsets(NamedTuple):
    """The part of a problem that is left when the first attributes are placed, for bit sets.

    Parameters
    ----------
    values : ndarray of int64, shape (n, 64)
        What the other attributes add to each attribute, largest first, then 0.
    floors : ndarray of int64, shape (n, n)
        What the i-th best parent drives out: a parent among the first attributes, or 0.
    slots : ndarray of int64, shape (n,)
        How many parents each attribute may take from the others.
    low, high : ndarray of uint64, shape (2**HALF, n)
        For each half of a subset, its members as places in the row of `values`.
    waits : ndarray of int64, shape (n,)
        The subset that must stand before each attribute.
    """

    values: Ints
    floors: Ints
    slots: Ints
    low: NDArray[np.uint64]
    high: NDArray[np.uint64]
    waits: Ints


@kernel
def lowest_bit(bits: np.uint64) -> np.int64:
    """Return the place of the lowest bit that is set; one must be."""
    return np.int64(_PLACES[((bits & (~bits + _ONE)) * _MULTIPLIER) >> _TOP])


@kernel
def subset_gain(subsets: Subsets, child: Whole, subset: Whole) -> np.int64:
    """Return what the best parents of `child` add if exactly `subset` stands before it.

    The rows of `values` end in zeros, and `low` has a bit for as many of them as can be needed:
    so the loop has no exit, which a processor would have to guess.
    """
    bits = subsets.low[subset & (2**HALF - 1), child] | subsets.high[subset >> HALF, child]
    gain = np.int64(0)
    for number in range(subsets.slots[child]):
        value = subsets.values[child, lowest_bit(bits)]
        gain += max(np.int64(0), value - subsets.floors[child, number])
        bits &= bits - _ONE
    return gain


@kernel
def best_completions(subsets: Subsets) -> Ints:
    """Return, for each subset, what the attributes outside add in the best order after it."""
    n = len(subsets.slots)
    best = np.zeros(1 << n, np.int64)
    for subset in range((1 << n) - 2, -1, -1):
        outside = np.uint64(~subset & ((1 << n) - 1))
        most = np.int64(-1)
        while outside:
            child = lowest_bit(outside)
            outside &= outside - _ONE
            if subsets.waits[child] & ~subset == 0:
                total = subset_gain(subsets, child, subset) + best[subset | (1 << child)]
                most = max(most, total)
        best[subset] = most
    return best


@kernel
def trace(subsets: Subsets, best: Ints) -> Ints:
    """Return, of all best orders, the first one in the order of the columns."""
    n = len(subsets.slots)
    order = np.empty(n, np.int64)
    subset = np.int64(0)
    for place in range(n):
        for child in range(n):
            fits = not subset >> child & 1 and subsets.waits[child] & ~subset == 0
            if fits and (
                subset_gain(subsets, child, subset) + best[subset | (1 << child)] == best[subset]
            ):
                order[place] = child
                subset |= 1 << child
                break
    return order


@kernel
def find_pebble(out: Ints, free: Ints, root: Whole, frozen: Whole, come_from: Ints) -> np.int64:
    """Return a vertex with a free pebble to which edges lead from `root`, or -1; not `frozen`."""
    stack = np.empty(len(free), np.int64)
    come_from.fill(-1)
    come_from[root] = root
    stack[0] = root
    height = 1
    while height:
        height -= 1
        vertex = stack[height]
        for after in out[vertex]:
            if after >= 0 and come_from[after] < 0:
                come_from[after] = vertex
                if free[after] > 0 and after != frozen:
                    return np.int64(after)
                stack[height] = after
                height += 1
    return np.int64(-1)


@kernel
def replace(row: Ints, old: Whole, new: Whole) -> None:
    """Replace the first `old` of a row."""
    for place in range(len(row)):
        if row[place] == old:
            row[place] = new
            break


@kernel
def gather(out: Ints, free: Ints, root: Whole, frozen: Whole) -> bool:
    """Give `root` all its pebbles back, from wherever its edges lead, but not from `frozen`.

    A vertex has k pebbles, and each edge that starts at it holds one. A free pebble at the end of
    a path frees one at its beginning, when all its edges are turned round.
    """
    come_from = np.empty(len(free), np.int64)
    while free[root] < out.shape[1]:
        vertex = find_pebble(out, free, root, frozen, come_from)
        if vertex < 0:
            return False
        free[vertex] -= 1
        free[root] += 1
        while vertex != root:
            before = come_from[vertex]
            replace(out[vertex], _NONE, before)
            replace(out[before], vertex, _NONE)
            vertex = before
    return True


@kernel
def heaviest_sparse_graph(pairs: Ints, values: Ints, d: int, k: int) -> np.int64:
    """Return the largest weight of a sparse graph: at most ks - 2k + 1 edges among s vertices.

    The pebble game of Lee and Streinu, for d vertices. Such graphs are the independent sets of a
    matroid, so it is enough to take the pairs by falling value, and each that can be taken.
    """
    total = np.int64(0)
    out, free = np.full((d, k), -1, np.int64), np.full(d, k, np.int64)
    if k == 0:
        return total
    for edge in range(len(pairs)):
        one, other = pairs[edge]
        gather(out, free, one, _NONE)
        if gather(out, free, other, one):
            out[one, 0] = other
            free[one] -= 1
            total += values[edge]
    return total


class Tour(NamedTuple):
    """An order, and for each attribute what its best parents add under it.

    Parameters
    ----------
    order, places : ndarray of int64, shape (d,)
        The attributes in order, and where each stands.
    totals : ndarray of int64, shape (d,)
        What the chosen parents of each attribute add.
    least, spare : ndarray of int64, shape (d,)
        What the worst chosen parent adds, and the best that is not chosen; 0 if there is none.
    """

    order: Ints
    places: Ints
    totals: Ints
    least: Ints
    spare: Ints


@kernel
def append_greedily(problem: Problem, order: Ints, placed: int) -> None:
    """Complete an order: always append the attribute to which those before it add most.

    Of equal ones, the first column. With one parent each, this is Prim's algorithm.
    """
    d = len(order)
    held = np.zeros((d, d), np.int64)
    totals, waiting = np.zeros(d, np.int64), np.zeros(d, np.int64)
    for child in range(d):
        for parent in range(d):
            waiting[child] += problem.waits[child, parent]
    done = np.zeros(d, np.bool_)
    for place in range(d):
        if place >= placed:
            chosen = -1
            for child in range(d):
                ready = not done[child] and waiting[child] == 0
                if ready and (chosen < 0 or totals[child] > totals[chosen]):
                    chosen = child
            order[place] = chosen
        parent = order[place]
        done[parent] = True
        for child in range(d):
            waiting[child] -= problem.waits[child, parent]
            # The values of the best parents, largest first, as in an insertion sort.
            value = problem.weights[child, parent]
            for number in range(problem.slots[child]):
                if value > held[child, number]:
                    totals[child] += value - held[child, number]
                    held[child, number], value = value, held[child, number]


@kernel
def own_gain(
    problem: Problem, places: Ints, child: Whole, end: Whole
) -> tuple[np.int64, np.int64, np.int64]:
    """Return what the best parents of `child` add if all before place `end` may be parents.

    Returns
    -------
    total, least, spare : int
        The sum, the smallest value in it if it is full, and the largest one that is left out.
    """
    total, least, taken = np.int64(0), np.int64(0), 0
    for parent in problem.ranked[child]:
        if parent < 0:
            break
        if places[parent] < end:
            value = problem.weights[child, parent]
            if taken == problem.slots[child]:
                return total, least, value
            total += value
            taken += 1
            if taken == problem.slots[child]:
                least = value
    return total, least, np.int64(0)


@kernel
def order_gain(problem: Problem, order: Ints) -> np.int64:
    """Return what the best parents of all attributes add under an order."""
    places, total = ranks(order), np.int64(0)
    for child in order:
        total += own_gain(problem, places, child, places[child])[0]
    return total


@kernel
def refresh(problem: Problem, tour: Tour, start: Whole, stop: Whole) -> None:
    """Compute anew what the parents of the attributes at the places `start` to `stop` - 1 add."""
    for place in range(start, stop):
        tour.places[tour.order[place]] = place
    for place in range(start, stop):
        child = tour.order[place]
        total, least, spare = own_gain(problem, tour.places, child, place)
        tour.totals[child], tour.least[child], tour.spare[child] = total, least, spare


@kernel
def move_gain(problem: Problem, tour: Tour, source: Whole, target: Whole) -> tuple[bool, np.int64]:
    """Return whether the attribute at `source` may be moved to `target`, and what that adds.

    An attribute that is passed loses the moved one as a parent, and takes its best spare one; or
    it can have the moved one in place of its worst. Both are known without a search.
    """
    moved, order = tour.order[source], tour.order
    gain = np.int64(0)
    if source < target:
        for place in range(source + 1, target + 1):
            child = order[place]
            if problem.waits[child, moved]:
                return False, gain
            gain -= max(np.int64(0), problem.weights[child, moved] - tour.spare[child])
    else:
        for place in range(target, source):
            child = order[place]
            if problem.waits[moved, child]:
                return False, gain
            gain += max(np.int64(0), problem.weights[child, moved] - tour.least[child])
    end = target + 1 if source < target else target
    total, _, _ = own_gain(problem, tour.places, moved, end)
    return True, gain + total - tour.totals[moved]


@kernel
def move(problem: Problem, tour: Tour, source: Whole, target: Whole) -> None:
    """Take the attribute at place `source` out of the order and insert it at `target`."""
    order, moved = tour.order, tour.order[source]
    step = 1 if source < target else -1
    for place in range(source, target, step):
        order[place] = order[place + step]
    order[target] = moved
    refresh(problem, tour, min(source, target), max(source, target) + 1)


@kernel
def anneal(
    problem: Problem, tour: Tour, temperature: float, moves: int, best: Ints, state: State
) -> None:
    """Try random insertions; one that loses x is made with chance exp(-x / temperature).

    The temperature is in the unit of the weights. `tour` is changed in place, and so is `best`, the
    best order so far, when a better one is met.
    """
    free = len(tour.order) - problem.start
    ahead = tour.totals.sum() - order_gain(problem, best)
    for _ in range(moves):
        source = problem.start + random_below(state, free)
        target = problem.start + random_below(state, free)
        if source == target:
            continue
        fits, gain = move_gain(problem, tour, source, target)
        if fits and (gain >= 0 or random_unit(state) < math.exp(gain / temperature)):
            move(problem, tour, source, target)
            ahead += gain
            if ahead > 0:
                ahead = np.int64(0)
                for place in range(len(best)):
                    best[place] = tour.order[place]


@kernel
def climb(problem: Problem, tour: Tour) -> None:
    """Make insertions that add something, place by place, until there is none."""
    d = len(tour.order)
    found = True
    while found:
        found = False
        for source in range(problem.start, d):
            for target in range(problem.start, d):
                if source != target:
                    fits, gain = move_gain(problem, tour, source, target)
                    if fits and gain > 0:
                        move(problem, tour, source, target)
                        found = True
