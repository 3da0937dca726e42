"""Are there more lookalikes than fresh people would have? The test, and what it would have seen.

A family of looks counts lookalikes among everybody and among the most isolated people, by one
distance. For each look there is a number of people found, and a number of pairs of original
records that tells how many fresh people would be found at most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SHARES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02)
"""The most isolated shares of the people that are looked at by themselves."""
LEVEL = 0.05
"""The chance of an alarm without a cause."""
SEEN_AT = 0.006
"""The level at which they must be: a verdict shares the chance of 5% among several tests."""
SEEN = 0.99
"""How often the copies that a test is said to see must be seen."""
_SIMULATIONS = 2000
_PLANTINGS = 400

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Family:
    """One way to look for lookalikes.

    Parameters
    ----------
    name : str
        By which distance or rule.
    rate : float
        Synthetic records that are looked at, for each original record.
    isolation : ndarray
        How far the nearest other person is from each.
    next_isolation : ndarray
        How far the second nearest is.
    found : ndarray
        The probability that the person has a lookalike among the records that are looked at.
    paired : ndarray of bool
        Whether the nearest other person is a lookalike, if the second nearest counts as the
        nearest.
    open : ndarray of bool
        Whether a copy of the person would be a lookalike.
    planted : float
        The chance that a copy in the release is among the records that are looked at.
    """

    name: str
    rate: float
    isolation: Floats
    next_isolation: Floats
    found: Floats
    paired: NDArray[np.bool_]
    open: NDArray[np.bool_]
    planted: float = 1.0

    @cached_property
    def cuts(self) -> Floats:
        """The isolation from which on people belong to each of the shares, each cut once."""
        quantiles = [1 - share for share in SHARES[1:]]
        known = np.where(np.isfinite(self.isolation), self.isolation, np.finfo(float).max)
        found = np.quantile(known, quantiles, method="higher") if len(known) else np.empty(0)
        return np.unique(np.append(found, 0.0))

    @cached_property
    def shell(self) -> NDArray[np.int64]:
        """How many of the cuts but the first each person's isolation reaches."""
        return np.searchsorted(self.cuts, self.isolation, "right") - 1

    @cached_property
    def found_by_shell(self) -> Floats:
        """The people found, by how isolated they are."""
        return np.bincount(self.shell, self.found, len(self.cuts)).astype(np.float64)

    @cached_property
    def paired_by_shell(self) -> Floats:
        """The people whose nearest is a lookalike, by the isolation that they would have."""
        shell = np.searchsorted(self.cuts, self.next_isolation, "right") - 1
        return np.bincount(shell, self.paired, len(self.cuts)).astype(np.float64)

    @property
    def unsuspicious(self) -> Floats:
        """What was found of each person, made less where it is more than was expected."""
        expected = self.rate * self.paired_by_shell
        kept = np.minimum(expected / np.maximum(self.found_by_shell, 1e-300), 1.0)
        return self.found * kept[self.shell]

    @cached_property
    def p_values(self) -> Floats:
        """The p-value of each look by itself, from everybody to the most isolated."""
        return tail(nested(self.found_by_shell), nested(self.paired_by_shell), self.rate)

    @cached_property
    def smallest(self) -> Floats:
        """The smallest p-value over all looks, as it would be by chance, sorted.

        Given how many pairs there are in each shell, those between a person and a fresh record,
        and not between two people, are a matter of chance.
        """
        pairs = np.ceil(self.found_by_shell + self.paired_by_shell / 2).astype(np.int64)
        rng = np.random.default_rng(0)
        drawn = rng.binomial(pairs, chance(self.rate), (_SIMULATIONS, len(pairs)))
        found = drawn.astype(np.float64)
        simulated = tail(nested(found), nested(2 * (pairs - found)), self.rate)
        return np.sort(simulated.min(axis=1))

    def corrected(self, p_value: Floats | float) -> Floats:
        """Return the chance that the smallest p-value of all looks is at most this one."""
        below = np.searchsorted(self.smallest, np.asarray(p_value) * (1 + 1e-9), "right")
        simulated = (1 + below) / (1 + _SIMULATIONS)
        every: Floats = np.asarray(p_value) * len(self.cuts)
        return np.minimum(np.minimum(simulated, every), 1.0)

    @property
    def p_value(self) -> float:
        """The p-value over all looks of this family."""
        return float(self.corrected(self.p_values.min()))


def chance(rate: float) -> float:
    """Return how probable it is that a pair is one of a person and a fresh record.

    Of fresh people, `rate` times as many as the original has, a share of pairs is with a person of
    the original; a pair of two people of the original counts for both.

    Examples
    --------
    >>> round(chance(1.0), 4)
    0.6667
    """
    return rate / (rate + 0.5)


def tail(found: Floats, paired: Floats, rate: float) -> Floats:
    """Return the probability of so many lookalikes or more, given the pairs in all.

    Examples
    --------
    >>> [round(float(p), 4) for p in tail(np.array([2.0, 0.0]), np.array([0.0, 4.0]), 1.0)]
    [0.4444, 1.0]
    """
    from scipy.special import betainc

    shape = np.maximum(found, 1e-300)
    beyond: Floats = betainc(shape, paired / 2 + 1, chance(rate))
    return np.where(found > 0, beyond, 1.0)


def nested(by_shell: Floats) -> Floats:
    """Return the counts from each shell outwards.

    Examples
    --------
    >>> nested(np.array([5.0, 2.0, 1.0])).tolist()
    [8.0, 3.0, 1.0]
    """
    return np.cumsum(by_shell[..., ::-1], axis=-1)[..., ::-1]


def overall(families: Sequence[Family]) -> float:
    """Return the p-value over all families, corrected for their number."""
    if not families:
        return math.nan
    return min(1.0, len(families) * min(family.p_value for family in families))


def smallest_share_seen(families: Sequence[Family], random_state: int = 0) -> float:
    """Return the smallest share of people whose copies the test would see; nan if it sees none.

    Copies of people drawn at random are planted in the release, in place of as many of its
    records. What else is found varies as counts do, about what was found, or about what was
    expected where that is less: so it does not help that there are lookalikes already. The share
    is the smallest of a series of steps at which the test sees the copies in 99 of 100
    simulations.
    """
    level = SEEN_AT / max(len(families), 1)
    smallest = math.nan
    # Everybody is looked at by equality, and some people by distance: copies are planted in each.
    for people in {len(family.found) for family in families} - {0}:
        same = [family for family in families if len(family.found) == people]
        limits = [_limit(family, level) for family in same]
        kinds = _Kinds.of(same)
        steps = np.unique(np.ceil(people * np.geomspace(1 / people, 1, 60)).astype(np.int64))
        low, high = -1, len(steps)  # too few, and enough
        while high - low > 1:
            middle = (low + high) // 2
            copies = int(steps[middle])
            rng = np.random.default_rng([random_state, copies])
            enough = _seen(same, kinds, limits, copies, rng) >= SEEN
            low, high = (low, middle) if enough else (middle, high)
        if high < len(steps):
            smallest = float(np.fmin(smallest, steps[high] / people))
    return smallest


def _limit(family: Family, level: float) -> float:
    """Return the largest p-value of a single look that is an alarm."""
    low, high = 0.0, level
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if float(family.corrected(middle)) <= level else (low, middle)
    return low


class _Kinds(NamedTuple):
    """What matters of a person is the same for many: so many of each kind are drawn, not people.

    Parameters
    ----------
    shells : ndarray of int, shape (kinds, families)
        The shell of each kind in each family; -1 where nobody can be found.
    of_people : ndarray of int
        The kind of each person.
    sizes : ndarray of int
        How many people there are of each kind.
    """

    shells: NDArray[np.int64]
    of_people: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, families: Sequence[Family]) -> _Kinds:
        shells = np.stack([np.where(f.open, f.shell, -1) for f in families], axis=1)
        kinds, where, sizes = np.unique(shells, axis=0, return_inverse=True, return_counts=True)
        return cls(kinds, where.ravel(), sizes)


def _seen(
    families: Sequence[Family],
    kinds: _Kinds,
    limits: Sequence[float],
    copies: int,
    rng: np.random.Generator,
) -> float:
    """Return how often so many copies are seen."""
    people = len(families[0].found)
    shells_of, kind_of, sizes = kinds
    drawn = rng.multivariate_hypergeometric(sizes, copies, _PLANTINGS, method="marginals")
    seen = np.zeros(_PLANTINGS, bool)
    for number, (family, limit) in enumerate(zip(families, limits, strict=True)):
        found = np.bincount(kind_of, family.unsuspicious, len(sizes)) / sizes
        # Of those found anyway, the ones whose copies are planted are not found once more.
        others = rng.poisson(np.maximum((sizes - drawn) * found * (1 - copies / people), 0.0))
        shells = len(family.cuts)
        planted = np.zeros((_PLANTINGS, shells))
        for kind, shell in enumerate(shells_of[:, number].tolist()):
            if shell >= 0:
                planted[:, shell] += rng.binomial(drawn[:, kind], family.planted)
                planted[:, shell] += others[:, kind]
        p_values = tail(nested(planted), nested(family.paired_by_shell), family.rate)
        seen |= p_values.min(axis=1) <= limit
    return float(seen.mean())
