"""The genetic search for a network: the paper's algorithm on the pairwise mutual information.

The data are read once, for the matrix; the search sees only that. The individuals of a generation
are networks in the making, and the fitness of one is the sum of the mutual information of all its
edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.progress import track
from understudy.synthesis.bayes.constraints import Constraints
from understudy.synthesis.bayes.genetic_kernels import (
    Individual,
    Rules,
    initialize,
    measure,
    next_generation,
)
from understudy.synthesis.bayes.network import Structure

# Bits after the point of the whole numbers that stand for mutual information. Sums of 2**18 edges
# of 32 bits still fit into 64.
FIXED_POINT = 40


@dataclass(frozen=True, eq=False)
class GeneticResult:
    """The fittest network of the last generation, and how the search got there.

    `best` and `mean` are the largest and the mean fitness, in bits, of the first generation and of
    each that followed.
    """

    structure: Structure
    best: NDArray[np.float64]
    mean: NDArray[np.float64]


def fixed_point(information: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return mutual information as whole numbers of 2**-40 bits, 0 on the diagonal.

    Sums of whole numbers are the same in any order, and equal information stays equal: which
    network is best does not depend on how it was added up. What is below 0, as noise can make it,
    counts as 0.

    Examples
    --------
    >>> fixed_point(np.array([[1.0, 2.0**-40], [2.0**-40, 1.0]])).tolist()
    [[0, 1], [1, 0]]
    """
    weights = np.rint(np.ldexp(information, FIXED_POINT)).astype(np.int64)
    np.fill_diagonal(weights, 0)
    return np.maximum(weights, 0)


def in_bits(weight: NDArray[np.int64] | np.int64 | int) -> NDArray[np.float64]:
    """Return a sum of `fixed_point` numbers in bits."""
    return np.ldexp(np.asarray(weight, dtype=np.float64), -FIXED_POINT)


def genetic_search(  # the four parameters of the paper
    information: NDArray[np.float64],
    constraints: Constraints,
    rng: np.random.Generator,
    *,
    population: int = 200,
    elite: int = 10,
    mutation_rate: float | None = None,
    generations: int = 400,
) -> GeneticResult:
    """Search for a network whose edges carry much mutual information, by selection and mutation.

    Parameters
    ----------
    information : ndarray of float64, shape (d, d)
        The mutual information of each pair, in bits, as `pairwise_information` gives it; the
        diagonal is ignored.
    constraints : Constraints
        What the network may look like.
    rng : numpy.random.Generator
        Where the seed is drawn from: the same generator gives the same network.
    population : int, default 200
        How many individuals there are in each generation.
    elite : int, default 10
        How many of the fittest are kept, and have descendants.
    mutation_rate : float, optional
        The chance of a crossover, and of a mutation at each place; 1 / d by default.
    generations : int, default 400
        How many generations follow the first.

    Returns
    -------
    GeneticResult
        The fittest network, and the history of the fitness.

    Notes
    -----
    The fitness of a network is the sum of I(child; parent) over its edges. An individual is an
    order of the attributes, and for each attribute a set of candidate parents; those that do not
    stand before it are ignored. The set has exactly k candidates, or all that are allowed where
    these are fewer than k; forbidden ones are never among them, and required ones always are.
    Each operator is that of the listing of its name in [1]_. Where a listing leaves it open:
    Order Flip goes through the places, not the attributes, and exchanges two places; Crossover
    takes two different members of the elite; Order Flip and Swap are applied to every descendant,
    whether it comes from a crossover or not; of equally fit individuals the younger are kept.

    References
    ----------
    .. [1] M. Hittmeir, R. Mayer, A. Ekelhart (2022), Efficient Bayesian Network Construction for
       Increased Privacy on Synthetic Data, IEEE Big Data 2022.
       https://doi.org/10.1109/BigData55660.2022.10020936

    Examples
    --------
    >>> from understudy.synthesis.bayes.constraints import build_constraints
    >>> information = np.array([[0.0, 0.9, 0.1], [0.9, 0.0, 0.5], [0.1, 0.5, 0.0]])
    >>> rules = build_constraints(["a", "b", "c"], parents=1, root="a")
    >>> genetic_search(information, rules, np.random.default_rng(0)).structure
    Structure(order=(0, 1, 2), parents=((), (0,), (1,)))
    """
    rate = 1 / max(len(constraints), 1) if mutation_rate is None else mutation_rate
    weights, rules = fixed_point(information), build_rules(constraints)
    state = rng.integers(2**64, size=1, dtype=np.uint64)
    old, new = (blank_population(constraints, rules, population) for _ in range(2))
    scores = np.empty(population, np.int64)
    best, mean = (np.empty(generations + 1) for _ in range(2))

    def record(generation: int) -> None:
        measure(old, weights, scores)
        best[generation] = in_bits(scores.max())
        mean[generation] = in_bits(scores).mean()

    initialize(old, rules, state)
    record(0)
    for generation in track(
        range(1, generations + 1), lambda: f"Evolving, best {in_bits(scores.max()):.4f} bits"
    ):
        next_generation(old, new, fittest_of(scores, elite), rules, rate, state)
        old, new = new, old
        record(generation)
    fittest = fittest_of(scores, 1)[0]
    return GeneticResult(read_off(old.order[fittest], old.candidates[fittest]), best, mean)


def fittest_of(scores: NDArray[np.int64], elite: int) -> NDArray[np.int64]:
    """Return the positions of the fittest individuals, fittest first.

    Of equally fit ones, those that stand last: they are younger, and a search that prefers them
    drifts on where one that keeps the old would stand still.
    """
    return len(scores) - 1 - np.argsort(-scores[::-1], kind="stable")[:elite]


def build_rules(constraints: Constraints) -> Rules:
    """Return constraints in the form in which the kernels read them."""
    allowed = constraints.allowed & ~np.eye(len(constraints), dtype=bool)
    edges = [
        (child, parent) for child, found in enumerate(constraints.required) for parent in found
    ]
    return Rules(
        allowed,
        np.minimum(constraints.most, allowed.sum(axis=1)),
        np.array([len(found) for found in constraints.required], np.int64),
        np.array(edges, np.int64).reshape(-1, 2),
        len(constraints.first),
    )


def blank_population(constraints: Constraints, rules: Rules, population: int) -> Individual:
    """Return individuals that hold what never changes: the first attributes, required parents."""
    d = len(constraints)
    rest = [place for place in range(d) if place not in constraints.first]
    order = np.array([*constraints.first, *rest], np.int64)
    candidates = np.full((d, rules.sizes.max(initial=0)), -1, np.int64)
    for child, parents in enumerate(constraints.required):
        candidates[child, : len(parents)] = parents
    return Individual(
        np.repeat(order[np.newaxis], population, axis=0),
        np.repeat(candidates[np.newaxis], population, axis=0),
    )


def read_off(order: NDArray[np.int64], candidates: NDArray[np.int64]) -> Structure:
    """Return the network of an individual: its candidates that stand before their attribute."""
    places = np.argsort(order)
    return Structure(
        tuple(order.tolist()),
        tuple(
            tuple(sorted(c for c in members if c >= 0 and places[c] < places[child]))
            for child, members in enumerate(candidates.tolist())
        ),
    )
