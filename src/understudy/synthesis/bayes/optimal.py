"""The best network for the objective of the genetic search, found through orders alone.

Under a fixed order, the best parents of an attribute are those before it that tell most about it.
So only the order is searched: exactly for up to 20 attributes, by annealing beyond.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.progress import track
from understudy.synthesis.bayes import optimal_kernels as kernels
from understudy.synthesis.bayes.constraints import Constraints
from understudy.synthesis.bayes.genetic import fixed_point, in_bits
from understudy.synthesis.bayes.network import Structure
from understudy.synthesis.bayes.optimal_kernels import HALF, Problem, Subsets, Tour

# Attributes beside the first ones for which all subsets are gone through: 8 MB and 0.1 s.
EXACT = 20
# The annealing cools from a share of a typical weight to a share of that, in so many steps, with
# so many insertions for each attribute and step: found by trying, on random and real matrices.
_HOTTEST, _COLDEST = 0.1, 0.005
_TEMPERATURES = 60
_MOVES = 200


@dataclass(frozen=True)
class OptimalResult:
    """The best network that was found, and how good any network can be.

    `score` is the sum of the mutual information of its edges, in bits; no network that keeps to the
    constraints has more than `bound`. If both are equal, the network is `proven` to be the best
    one.
    """

    structure: Structure
    score: float
    bound: float
    proven: bool


def optimal_search(
    information: NDArray[np.float64],
    constraints: Constraints,
    rng: np.random.Generator | None = None,
) -> OptimalResult:
    r"""Search for the network whose edges carry the most mutual information.

    Parameters
    ----------
    information, constraints
        As for `genetic_search`.
    rng : numpy.random.Generator, optional
        Where the seed of the annealing is drawn from; a fixed seed by default. The exact search
        needs none.

    Returns
    -------
    OptimalResult
        The network, its score, an upper bound, and whether the network is proven to be the best.

    Notes
    -----
    The score is the sum of I(child; parent) over all edges, the fitness of `genetic_search`. With
    S the set of attributes that stand before c, the best parents of c add g(c, S), and

    .. math:: f(S) = \max_{c \notin S} g(c, S) + f(S \cup \{c\}), \quad f(\text{all}) = 0.

    Up to 20 attributes beside those of ``constraints.first``, f is computed for all subsets, and
    of all best orders the first one in the order of the columns is taken. Beyond, the order that
    always appends the attribute to which those before it add most, the best one over all roots,
    is improved by annealing with insertions. Of parents that tell equally much, the first columns
    are taken. Attributes have as many parents as they may, even where these tell nothing.

    With one parent each, and if every edge may have either direction, the best network is the
    maximum spanning tree [1]_, and the search is exact for any number of attributes.

    The bound is the smaller of two. In a network with at most k parents each, any s attributes
    have at most ks - k(k + 1) / 2 edges between them if s > k, so at most ks - (2k - 1); the
    heaviest graph with that property is found by the pebble game [2]_, and is the maximum
    spanning tree for k = 1. Attributes that are nobody's parent are left out of it, and each adds
    what its best parents add. The other bound is the sum of what each attribute's best parents
    add, whatever the order.

    References
    ----------
    .. [1] C. Chow, C. Liu (1968), Approximating discrete probability distributions with
       dependence trees. https://doi.org/10.1109/TIT.1968.1054142
    .. [2] A. Lee, I. Streinu (2008), Pebble game algorithms and sparse graphs.
       https://doi.org/10.1016/j.disc.2007.07.104

    Examples
    --------
    >>> from understudy.synthesis.bayes.constraints import build_constraints
    >>> information = np.array([[0.0, 0.75, 0.25], [0.75, 0.0, 0.5], [0.25, 0.5, 0.0]])
    >>> optimal_search(information, build_constraints(["a", "b", "c"], parents=1))
    OptimalResult(structure=Structure(order=(0, 1, 2), parents=((), (0,), (1,))), score=1.25,
                  bound=1.25, proven=True)
    """
    weights = fixed_point(information)
    problem = build_problem(weights, constraints)
    exact = len(constraints) - len(constraints.first) <= EXACT
    if exact:
        order = exact_order(problem, constraints.first)
    else:
        bound = upper_bound(weights, problem)
        required = int(weights[problem.waits].sum())
        rng = rng or np.random.default_rng(0)
        order = annealed_order(problem, constraints.first, rng, bound - required)
    structure = best_structure(problem, order)
    score = total_weight(weights, structure)
    if exact:
        bound = score
    return OptimalResult(structure, float(in_bits(score)), float(in_bits(bound)), score == bound)


def build_problem(weights: NDArray[np.int64], constraints: Constraints) -> Problem:
    """Return weights and constraints in the form in which the kernels read them."""
    d = len(constraints)
    waits = np.zeros((d, d), dtype=bool)
    for child, parents in enumerate(constraints.required):
        waits[child, list(parents)] = True
    optional = constraints.allowed & ~waits & ~np.eye(d, dtype=bool)
    for place, child in enumerate(constraints.first):
        earlier = np.zeros(d, dtype=bool)
        earlier[list(constraints.first[:place])] = True
        optional[child] &= earlier
    slots = np.minimum(constraints.most - waits.sum(axis=1), optional.sum(axis=1))
    optional[slots == 0] = False
    values = np.where(optional, weights, -1)
    ranked = np.argsort(-values, axis=1, kind="stable")
    ranked[np.take_along_axis(values, ranked, axis=1) < 0] = -1
    return Problem(np.maximum(values, 0), slots, ranked, waits, len(constraints.first))


def best_structure(problem: Problem, order: Sequence[int]) -> Structure:
    """Return the best network under an order: its required parents, and the best of the others."""
    parents: list[tuple[int, ...]] = [()] * len(order)
    placed: set[int] = set()
    for child in order:
        open_to = [parent for parent in problem.ranked[child].tolist() if parent in placed]
        required = np.flatnonzero(problem.waits[child]).tolist()
        parents[child] = tuple(sorted(required + open_to[: problem.slots[child]]))
        placed.add(child)
    return Structure(tuple(order), tuple(parents))


def total_weight(weights: NDArray[np.int64], structure: Structure) -> int:
    """Return the sum of the weights of all edges of a network."""
    return sum(
        int(weights[child, parent])
        for child, parents in enumerate(structure.parents)
        for parent in parents
    )


def upper_bound(weights: NDArray[np.int64], problem: Problem) -> int:
    """Return a total weight that no network can exceed; the Notes of `optimal_search` say why."""
    d = len(weights)
    required = problem.waits.sum(axis=1)
    best = np.where(problem.waits, weights, 0).sum(axis=1)
    possible = problem.waits.copy()
    for child, parents in enumerate(problem.ranked):
        possible[child, parents[parents >= 0]] = True
        best[child] += weights[child, parents[: problem.slots[child]]].sum()
    # Leave out who is nobody's parent, then who is a parent of none but those, and so on.
    core = np.ones(d, dtype=bool)
    while (parents := core & possible[core].any(axis=0)).sum() < core.sum():
        core = parents
    possible &= core & core[:, np.newaxis]
    either = np.where(possible, weights, -1)
    either = np.triu(np.maximum(either, either.T) + 1, 1) - 1
    pairs = np.argwhere(either >= 0)
    values = either[pairs[:, 0], pairs[:, 1]]
    falling = np.argsort(-values, kind="stable")
    k = int((problem.slots + required)[core].max(initial=0))
    heaviest = kernels.heaviest_sparse_graph(pairs[falling], values[falling], d, k)
    return min(int(heaviest + best[~core].sum()), int(best.sum()))


def exact_order(problem: Problem, first: Sequence[int]) -> list[int]:
    """Return the best order that begins with `first`, by dynamic programming over subsets."""
    free = [place for place in range(len(problem.slots)) if place not in first]
    subsets = build_subsets(problem, free)
    return [
        *first,
        *(free[place] for place in kernels.trace(subsets, kernels.best_completions(subsets))),
    ]


def build_subsets(problem: Problem, free: Sequence[int]) -> Subsets:
    """Return what is left of a problem when all attributes but those of `free` are placed."""
    n = len(free)
    bit = {attribute: place for place, attribute in enumerate(free)}
    values, floors = np.zeros((n, 64), np.int64), np.zeros((n, n), np.int64)
    slots, waits = np.zeros(n, np.int64), np.zeros(n, np.int64)
    # The place of each other attribute in an attribute's row of values, as a bit.
    spread = np.zeros((2 * HALF, n), np.uint64)
    low, high = (np.zeros((2**HALF, n), np.uint64) for _ in range(2))
    for child, attribute in enumerate(free):
        ranked = [int(parent) for parent in problem.ranked[attribute] if parent >= 0]
        inside = [parent for parent in ranked if parent in bit]
        most = int(problem.slots[attribute])
        # Parents among the first attributes are there whatever the order; the worst goes first.
        given = [parent for parent in ranked if parent not in bit][:most]
        driven_out = np.zeros(most, np.int64)
        driven_out[most - len(given) :] = problem.weights[attribute, given[::-1]]
        slots[child] = min(most, len(inside))
        floors[child, : slots[child]] = driven_out[: slots[child]]
        values[child, : len(inside)] = problem.weights[attribute, inside]
        for place, parent in enumerate(inside):
            spread[bit[parent], child] = 1 << place
        required = np.flatnonzero(problem.waits[attribute]).tolist()
        waits[child] = sum(1 << bit[parent] for parent in required if parent in bit)
        low[0, child] = ((1 << int(slots[child])) - 1) << n
    for place in range(HALF):
        size = 1 << place
        low[size : 2 * size] = low[:size] | spread[place]
        high[size : 2 * size] = high[:size] | spread[HALF + place]
    return Subsets(values, floors, slots, low, high, waits)


def annealed_order(
    problem: Problem, first: Sequence[int], rng: np.random.Generator, ceiling: int
) -> list[int]:
    """Return a good order that begins with `first`: a greedy one, improved by annealing.

    The annealing is left out if the greedy order reaches `ceiling`: it cannot be improved.
    """
    best = greedy_order(problem, first)
    gain = int(kernels.order_gain(problem, best))
    if gain < ceiling:
        state = rng.integers(2**64, size=1, dtype=np.uint64)
        tour = build_tour(problem, best)
        typical = ceiling / max(1, problem.slots.sum())
        temperatures = np.geomspace(_HOTTEST * typical, _COLDEST * typical, _TEMPERATURES)
        for temperature in track(
            temperatures,
            lambda: (
                f"Ordering, {1 - kernels.order_gain(problem, best) / ceiling:.2%} below the bound"
            ),
        ):
            kernels.anneal(problem, tour, temperature, _MOVES * len(best), best, state)
        tour = build_tour(problem, best)
        kernels.climb(problem, tour)
        best = tour.order
    return [int(attribute) for attribute in best]


def greedy_order(problem: Problem, first: Sequence[int]) -> NDArray[np.int64]:
    """Return the best of the greedy orders that begin with `first`, or with any attribute."""
    roots = np.flatnonzero(~problem.waits.any(axis=1)).tolist()
    orders = []
    for beginning in [list(first)] if first else [[root] for root in roots]:
        order = np.array(beginning + [0] * (len(problem.slots) - len(beginning)), np.int64)
        kernels.append_greedily(problem, order, len(beginning))
        orders.append(order)
    return max(orders, key=lambda order: int(kernels.order_gain(problem, order)))


def build_tour(problem: Problem, order: NDArray[np.int64]) -> Tour:
    """Return an order with what the annealing keeps up to date about it."""
    tour = Tour(order.copy(), *(np.zeros_like(order) for _ in range(4)))
    kernels.refresh(problem, tour, 0, len(order))
    return tour
