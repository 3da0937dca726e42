"""Networks under differential privacy: PrivBayes with a budget that adds up.

Every column but the first is placed by a noisy choice among columns and sets of parents, and then
every column's table is counted with noise. The structure is published with the model, so that
anyone can compute how likely a release is: see `understudy.risk.privacy_audit`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.counting import joint_counts
from understudy.data.coded import Coded
from understudy.errors import ParameterError
from understudy.privacy.accountant import ROUNDING_OF_SCORES
from understudy.progress import track
from understudy.synthesis.bayes.constraints import Constraints
from understudy.synthesis.bayes.greedy import next_attribute
from understudy.synthesis.bayes.network import Network, Structure
from understudy.synthesis.private import tell_of_hidden_links

if TYPE_CHECKING:
    from understudy.privacy import Accountant

Parents: TypeAlias = tuple[int, ...]

SHARE_FOR_STRUCTURE = Fraction(1, 5)
"""The part of the budget that the choice of parents may cost."""

USEFULNESS = 12
"""A cell of a table has at least so many times as many records as noise, on average.

This and the share above are constants, so that no record decides them. benchmarks/private.py
measures what they give.
"""

MOST_TABLES = 60_000
"""So many sets of columns are counted for a search; with more, sets are smaller."""

MOST_CELLS = 2**22
"""Cells of a table that a given structure may have."""


def cell_limit(rows: int, columns: int, accountant: Accountant) -> int:
    """Return how many cells a table may have so that counts stand out from noise.

    It follows from the number of records, that of columns, and the budget: all are public.
    """
    budget = accountant.left * (1 - SHARE_FOR_STRUCTURE) / columns
    return int(rows / (USEFULNESS * accountant.scale_of(budget)))


def score_of(counts: NDArray[np.int64], rows: int | None, child: int) -> float:
    """Return how many records would have to change for a column to be independent of the others.

    It is the score R of PrivBayes, in records: half the distance between the counts and those of
    independence.

    Parameters
    ----------
    counts : ndarray
        Records of each combination, one axis for each column.
    rows : int or None
        The number of records, if that is public; None takes it from the counts.
    child : int
        The axis of the column.

    Examples
    --------
    >>> score_of(np.array([[2, 0], [0, 2]]), 4, 1)
    2.0
    """
    others = tuple(axis for axis in range(counts.ndim) if axis != child)
    own = counts.sum(axis=others, keepdims=True)
    rest = counts.sum(axis=child, keepdims=True)
    total = int(own.sum()) if rows is None else rows
    if not total:
        return 0.0
    # Whole numbers are exact, so that one division alone is rounded.
    return int(np.abs(counts * total - own * rest).sum()) / (2 * total)


def score_sensitivity(rows: int | None) -> float:
    """Return how much `score_of` changes at most between neighbours.

    With a public number of records, one of them changes; without, one is added or removed.

    Notes
    -----
    The score is half the sum of abs(c - a b / n). A changed record moves two counts c by one: a
    change of 1 in the score. It moves both margins by 2 in total, and as a' b' - a b is
    (a' - a) b' + a (b' - b), their product by no more than 2n + 2n: a change of 2. This holds as
    well if records that lie outside the domain are counted in n alone. With an added record,
    c moves by one, which is 1/2, and a b / n by at most (3n + 1) / (n + 1), which is below 3/2.
    """
    return (2.0 if rows is None else 3.0) + ROUNDING_OF_SCORES


def private_search(
    coded: Coded,
    constraints: Constraints,
    accountant: Accountant,
    rows: int,
    rng: np.random.Generator,
) -> Structure:
    """Find a network by noisy choices, each of a column and the parents that tell most of it.

    Parameters
    ----------
    coded : Coded
        The records; they are seen through the accountant alone.
    constraints : Constraints
        What the network may look like.
    accountant : Accountant
        Pays for each choice, in all `SHARE_FOR_STRUCTURE` of what it has.
    rows : int
        The number of records, as far as it is public.
    rng : numpy.random.Generator
        Draws the first column, unless the constraints say which it is.
    """
    limit = cell_limit(rows, len(constraints), accountant)
    public_rows = rows if accountant.guarantee.neighbours == "change-one" else None
    families = _families(constraints, coded.cardinalities, limit)
    if not families and len(constraints) > 1 and constraints.most.max() > 0:
        tell_of_hidden_links()
    scores = _score(coded, families, public_rows)
    cost = accountant.left * SHARE_FOR_STRUCTURE / max(len(constraints) - 1, 1)
    root = next_attribute(constraints, [], [], lambda free: free[int(rng.integers(len(free)))])
    placed = [root]
    parents: dict[int, Parents] = {root: ()}
    for _ in track(range(len(constraints) - 1), "Placing attributes"):
        found = _candidates(constraints, placed, scores)
        chosen = 0
        if len(found) > 1 and any(one in scores for one in found):
            what = f"column {len(placed) + 1} of the network, and its parents"
            values = np.array([scores.get(one, 0.0) for one in found])
            chosen = accountant.choose(what, values, score_sensitivity(public_rows), cost)
        child, own = found[chosen]
        placed.append(child)
        parents[child] = own
    return Structure(tuple(placed), tuple(parents[place] for place in range(len(constraints))))


def _families(constraints: Constraints, sizes: Sequence[int], limit: int) -> list[tuple[int, ...]]:
    """Return all sets of columns whose tables stand out from noise, or are required."""
    columns = range(len(constraints))
    most = int(constraints.most.max(initial=0))
    while (
        most > 1 and sum(math.comb(len(columns), k + 1) for k in range(1, most + 1)) > MOST_TABLES
    ):
        most -= 1
    found = {tuple(sorted((child, *own))) for child, own in enumerate(constraints.required) if own}
    for size in range(2, most + 2):
        found |= {
            own
            for own in combinations(columns, size)
            if math.prod(sizes[place] for place in own) <= limit
        }
    return sorted(found)


def _score(
    coded: Coded, families: Sequence[tuple[int, ...]], rows: int | None
) -> dict[tuple[int, Parents], float]:
    """Return the score of each column of each set given the others; each set is counted once."""
    scores = {}
    for own in track(families, "Scoring parents"):
        shape = tuple(coded.cardinalities[place] for place in own)
        if math.prod(shape) > MOST_CELLS:
            continue
        counts = dense_counts(coded, [coded.names[place] for place in own])
        for axis, child in enumerate(own):
            rest = tuple(place for place in own if place != child)
            scores[child, rest] = score_of(counts, rows, axis)
    return scores


def dense_counts(coded: Coded, names: Sequence[str]) -> NDArray[np.int64]:
    """Return the records of each combination, one axis for each column."""
    return joint_counts(coded, names).to_dense().counts


def _candidates(
    constraints: Constraints,
    placed: Sequence[int],
    scores: dict[tuple[int, Parents], float],
) -> list[tuple[int, Parents]]:
    """Return the columns that may come next, each with all sets of parents that cannot grow."""
    if len(placed) < len(constraints.first):
        ready = [constraints.first[len(placed)]]
    else:
        ready = [
            child
            for child in range(len(constraints))
            if child not in placed and set(constraints.required[child]) <= set(placed)
        ]
    found: list[tuple[int, Parents]] = []
    for child in ready:
        needed = set(constraints.required[child])
        usable = sorted(place for place in placed if constraints.allowed[child, place])
        most = int(constraints.most[child])
        own: list[Parents] = []
        covered: set[Parents] = set()
        for size in range(min(most, len(usable)), max(len(needed), 1) - 1, -1):
            fitting = [
                parents
                for parents in combinations(usable, size)
                if (child, parents) in scores and needed <= set(parents)
            ]
            own += [parents for parents in fitting if parents not in covered]
            covered = {part for parents in fitting for part in combinations(parents, size - 1)}
        found += [(child, parents) for parents in own or [tuple(sorted(needed))]]
    return found


def costs_of_tables(coded: Coded, network: Network, accountant: Accountant) -> list[Fraction]:
    """Return what each column's table may cost of all that is left of the budget."""
    sizes = []
    for child, parents in network.parents.items():
        cells = math.prod(coded.cardinality(name) for name in (*parents, child))
        if cells > MOST_CELLS:
            raise ParameterError(
                f"structure: the table of {child!r} given {len(parents)} parents has {cells:,} "
                f"cells, and with epsilon noise is drawn for each. At most {MOST_CELLS:,} can be "
                "used; give it fewer parents."
            )
        sizes.append(cells)
    return accountant.split(accountant.left, sizes)


def noisy_tables(
    coded: Coded, network: Network, costs: Sequence[Fraction], accountant: Accountant
) -> dict[str, NDArray[np.int64]]:
    """Return the noisy counts of each column's table, for these costs.

    The last axis is that of the column.
    """
    found = {}
    families = list(zip(network.parents.items(), costs, strict=True))
    for (child, parents), cost in track(families, "Counting with noise"):
        given = f" given {', '.join(map(repr, parents))}" if parents else ""
        counts = dense_counts(coded, (*parents, child))
        found[child] = accountant.counts(f"values of {child!r}{given}", counts, cost)
    return found
