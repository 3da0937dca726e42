"""The compiled loops that improve an order of many attributes: a greedy start, then insertions.

All sums are of whole numbers (`fixed_point`), so they are exact. Coverage is not measured here,
for it cannot see into compiled code: the tests compare with sums that are made anew, and with
the exact search.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from understudy.counting.compiling import announce_compilation
from understudy.synthesis.bayes.genetic_kernels import Whole, random_below, random_unit, ranks
from understudy.synthesis.bayes.optimal_kernels import Problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

announce_compilation()


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

    order: NDArray[np.int64]
    places: NDArray[np.int64]
    totals: NDArray[np.int64]
    least: NDArray[np.int64]
    spare: NDArray[np.int64]


@njit(cache=True, nogil=True)  # pragma: no cover
def append_greedily(problem: Problem, order: NDArray[np.int64], placed: int) -> None:
    """Complete an order: always append the attribute to which those before it add most.

    Of equal ones, the first column. With one parent each, this is Prim's algorithm.
    """
    d = len(order)
    held = np.zeros((d, max(1, problem.slots.max())), np.int64)
    totals, waiting = np.zeros(d, np.int64), problem.waits.sum(axis=1)
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


@njit(cache=True, nogil=True)  # pragma: no cover
def own_gain(
    problem: Problem, places: NDArray[np.int64], child: Whole, end: Whole
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


@njit(cache=True, nogil=True)  # pragma: no cover
def order_gain(problem: Problem, order: NDArray[np.int64]) -> np.int64:
    """Return what the best parents of all attributes add under an order."""
    places, total = ranks(order), np.int64(0)
    for child in order:
        total += own_gain(problem, places, child, places[child])[0]
    return total


@njit(cache=True, nogil=True)  # pragma: no cover
def refresh(problem: Problem, tour: Tour, start: Whole, stop: Whole) -> None:
    """Compute anew what the parents of the attributes at the places `start` to `stop` - 1 add."""
    for place in range(start, stop):
        tour.places[tour.order[place]] = place
    for place in range(start, stop):
        child = tour.order[place]
        total, least, spare = own_gain(problem, tour.places, child, place)
        tour.totals[child], tour.least[child], tour.spare[child] = total, least, spare


@njit(cache=True, nogil=True)  # pragma: no cover
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


@njit(cache=True, nogil=True)  # pragma: no cover
def move(problem: Problem, tour: Tour, source: Whole, target: Whole) -> None:
    """Take the attribute at place `source` out of the order and insert it at `target`."""
    order, moved = tour.order, tour.order[source]
    step = 1 if source < target else -1
    for place in range(source, target, step):
        order[place] = order[place + step]
    order[target] = moved
    refresh(problem, tour, min(source, target), max(source, target) + 1)


@njit(cache=True, nogil=True)  # pragma: no cover
def anneal(
    problem: Problem,
    tour: Tour,
    temperature: float,
    moves: int,
    best: NDArray[np.int64],
    state: NDArray[np.uint64],
) -> None:
    """Try random insertions; one that loses x is made with chance exp(-x / temperature).

    Parameters
    ----------
    problem : Problem
        What the order is judged by.
    tour : Tour
        The order; changed in place.
    temperature : float
        How much a move may lose, in the unit of the weights.
    moves : int
        How many insertions are tried.
    best : ndarray of int64, shape (d,)
        The best order so far; changed in place when a better one is met.
    state : ndarray of uint64, shape (1,)
        The state of the generator.
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


@njit(cache=True, nogil=True)  # pragma: no cover
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
