"""The compiled operators of the genetic search, one function for each listing of the paper.

An individual is an order of the attributes and a set of candidate parents for each of them. All
operators draw from a generator whose state is passed in, and change arrays in place, so that a
generation allocates next to nothing. Coverage is not measured here, for it cannot see into
compiled code: the tests call every operator, and check what it must preserve.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.counting.compiling import kernel

Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
State: TypeAlias = NDArray[np.uint64]
"""The state of the generator, one number."""

Whole = int | np.int64
"""A whole number, as Python and as the kernels have it."""

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT = np.uint64(30), np.uint64(27), np.uint64(31)
_HALF_WORD = np.uint64(32)
_BELOW_MANTISSA = np.uint64(11)


class Rules(NamedTuple):
    """What every individual keeps to.

    Parameters
    ----------
    allowed : ndarray of bool, shape (d, d)
        Whether ``allowed[child, parent]``; never on the diagonal.
    sizes : ndarray of int64, shape (d,)
        How many candidates each attribute has: its largest number of parents, or all that are
        allowed if these are fewer.
    pinned : ndarray of int64, shape (d,)
        How many of its candidates are required; they stand first, and stay.
    required : ndarray of int64, shape (edges, 2)
        The required edges, each as (child, parent).
    start : int
        How many attributes at the beginning of the order never move.
    """

    allowed: Flags
    sizes: Ints
    pinned: Ints
    required: Ints
    start: int


class Individual(NamedTuple):
    """The two chromosomes; for a population, with one more axis in front of both.

    Parameters
    ----------
    order : ndarray of int64, shape (d,)
        The attributes in the order in which they are drawn.
    candidates : ndarray of int64, shape (d, largest size)
        Candidate parents of each attribute, as many as `Rules.sizes` says, then -1.
    """

    order: Ints
    candidates: Ints


@kernel
def random_word(state: State) -> np.uint64:
    """Return 64 random bits: one step of SplitMix64 (Steele et al. 2014)."""
    state[0] += _STEP
    word = state[0]
    word = (word ^ (word >> _SHIFT[0])) * _MIX[0]
    word = (word ^ (word >> _SHIFT[1])) * _MIX[1]
    return np.uint64(word ^ (word >> _SHIFT[2]))


@kernel
def random_below(state: State, bound: Whole) -> np.int64:
    """Return a whole number from 0 to `bound` - 1, each as likely up to `bound` / 2**32."""
    return np.int64(((random_word(state) >> _HALF_WORD) * np.uint64(bound)) >> _HALF_WORD)


@kernel
def random_unit(state: State) -> np.float64:
    """Return a number that is at least 0 and below 1."""
    return np.float64(random_word(state) >> _BELOW_MANTISSA) * 2.0**-53


@kernel
def ranks(order: Ints) -> Ints:
    """Return the place of each attribute in the order."""
    places = np.empty_like(order)
    for place in range(len(order)):
        places[order[place]] = place
    return places


@kernel
def fitness(individual: Individual, weights: Ints) -> np.int64:
    """Return the sum of the weights of all edges from a candidate to an attribute after it.

    Candidates that do not stand before their attribute are ignored: this is also how the network
    is read off.
    """
    places = ranks(individual.order)
    total = np.int64(0)
    for child in range(len(places)):
        for candidate in individual.candidates[child]:
            if candidate >= 0 and places[candidate] < places[child]:
                total += weights[child, candidate]
    return total


@kernel
def shuffle(order: Ints, rules: Rules, state: State) -> None:
    """Put the attributes that may move into a random order, required parents before children.

    Each place takes one of the attributes that can stand there, with equal chance; if nothing is
    required, all orders are equally likely.
    """
    waiting = rules.pinned.copy()
    for place in range(len(order)):
        if place >= rules.start:
            ready = 0
            for later in range(place, len(order)):
                ready += waiting[order[later]] == 0
            drawn = random_below(state, ready)
            for later in range(place, len(order)):
                if waiting[order[later]] == 0:
                    if drawn == 0:
                        order[place], order[later] = order[later], order[place]
                        break
                    drawn -= 1
        for edge in range(len(rules.required)):
            waiting[rules.required[edge, 0]] -= rules.required[edge, 1] == order[place]


@kernel
def unused(child: Whole, members: Ints, rules: Rules, order: Ints, found: Ints) -> int:
    """Write the attributes of `order` that `child` could have as further candidates to `found`.

    Returns
    -------
    int
        How many there are.
    """
    count = 0
    for attribute in order:
        if rules.allowed[child, attribute]:
            used = False
            for member in members:
                used |= member == attribute
            if not used:
                found[count] = attribute
                count += 1
    return count


@kernel
def initialize(population: Individual, rules: Rules, state: State) -> None:
    """Fill the first generation: the listing Initialization.

    Orders are random, and so are the candidates from before each attribute. Where too few stand
    before, all of them are candidates, and so are random ones from behind. The population comes
    with the attributes of `Constraints.first` and the required parents in front, and -1 elsewhere.
    """
    found = np.empty(population.order.shape[1], np.int64)
    for number in range(len(population.order)):
        order, candidates = population.order[number], population.candidates[number]
        shuffle(order, rules, state)
        for place in range(len(order)):
            child = order[place]
            members = candidates[child]
            for slot in range(rules.pinned[child], rules.sizes[child]):
                count = unused(child, members, rules, order[:place], found)
                if count == 0:
                    count = unused(child, members, rules, order[place + 1 :], found)
                members[slot] = found[random_below(state, count)]


@kernel
def combine(first: Individual, second: Individual, point: Whole, child: Individual) -> None:
    """Give `child` the order of `first`, its candidates before attribute `point`, and `second`'s.

    Loops, because numba takes seconds to compile the assignment of a slice.
    """
    for place in range(len(first.order)):
        child.order[place] = first.order[place]
        source = first.candidates if place < point else second.candidates
        for slot in range(source.shape[1]):
            child.candidates[place, slot] = source[place, slot]


@kernel
def crossover(first: Individual, second: Individual, child: Individual, state: State) -> None:
    """Mix two individuals: the listing Crossover.

    The order is the first parent's. So are the candidates of the columns before a random point,
    from none to all; those of the others are the second parent's.
    """
    combine(first, second, random_below(state, len(first.order) + 1), child)


@kernel
def order_flip(individual: Individual, rules: Rules, rate: float, state: State) -> None:
    """Change the order a little: the listing Order Flip.

    Each place in turn exchanges attributes with a random place, with chance `rate`. An exchange
    that would put a required parent behind its child is undone.
    """
    order = individual.order
    for place in range(rules.start, len(order)):
        if random_unit(state) < rate:
            other = rules.start + random_below(state, len(order) - rules.start)
            order[place], order[other] = order[other], order[place]
            if len(rules.required):
                places = ranks(order)
                for edge in range(len(rules.required)):
                    if places[rules.required[edge, 1]] > places[rules.required[edge, 0]]:
                        order[place], order[other] = order[other], order[place]
                        break


@kernel
def swap(individual: Individual, rules: Rules, rate: float, state: State) -> None:
    """Repair candidates that stand behind their attribute, and mutate some: the listing Swap.

    A candidate from behind is exchanged for a random unused attribute from before, as long as
    there is one; after that each candidate is, with chance `rate`. Required parents stay.
    """
    order, places = individual.order, ranks(individual.order)
    found = np.empty_like(order)
    for child in range(len(order)):
        members = individual.candidates[child]
        before = order[: places[child]]
        for mutate in (False, True):
            for slot in range(rules.pinned[child], rules.sizes[child]):
                if mutate:
                    chosen = random_unit(state) < rate
                else:
                    chosen = places[members[slot]] > places[child]
                if chosen:
                    count = unused(child, members, rules, before, found)
                    if count:
                        members[slot] = found[random_below(state, count)]


@kernel
def member(population: Individual, number: Whole) -> Individual:
    """Return one individual of a population, as a view."""
    return Individual(population.order[number], population.candidates[number])


@kernel
def measure(population: Individual, weights: Ints, scores: Ints) -> None:
    """Write the fitness of each individual of the population to `scores`."""
    for number in range(len(scores)):
        scores[number] = fitness(member(population, number), weights)


@kernel
def next_generation(
    old: Individual, new: Individual, fittest: Ints, rules: Rules, rate: float, state: State
) -> None:
    """Keep the elite, in front, and add mutated descendants of it: the listing Next Generation.

    A descendant is a copy of a random member of the elite, or, with chance `rate`, a crossover of
    it with another member; Order Flip and Swap follow. `fittest` has the places of the elite in
    `old`.
    """
    elite = len(fittest)
    for number in range(elite):
        kept = member(old, fittest[number])
        combine(kept, kept, np.int64(0), member(new, number))
    for number in range(elite, len(new.order)):
        child, one = member(new, number), random_below(state, elite)
        first = member(new, one)
        if random_unit(state) < rate and elite > 1:
            other = (one + 1 + random_below(state, elite - 1)) % elite
            crossover(first, member(new, other), child, state)
        else:
            combine(first, first, np.int64(0), child)
        order_flip(child, rules, rate, state)
        swap(child, rules, rate, state)
