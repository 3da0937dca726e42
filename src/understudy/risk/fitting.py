"""Whom predicates fit, and whether they fit members more often than control records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from understudy.risk.predicates import CodedRecords, Predicates
from understudy.risk.rates import EXCHANGES, Interval, Rate, exchange_p_value

_TURNS = 64
_LIKELY = 1e-4
_MOST_NOTED = 4_096

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fitting:
    """Whom each predicate fits.

    Parameters
    ----------
    counts : ndarray of int64
        For each predicate, how many members and how many control records; beyond `limit` in all,
        whether it is none, one or more.
    people : ndarray of int32
        Who they are, up to `limit`; -1 where there are fewer.
    members, controls : int
        How many there are.
    """

    counts: NDArray[np.int64]
    people: NDArray[np.int32]
    members: int
    controls: int

    @classmethod
    def of(cls, people: CodedRecords, members: int, predicates: Predicates) -> Fitting:
        """Put predicates to people, of whom the first are members and the others control."""
        controls = people.rows - members
        limit = noted(members, controls)
        return cls(*people.fitting(predicates, limit=limit, first=members), members, controls)

    @property
    def limit(self) -> int:
        """Of how many people per predicate it is known who they are."""
        return int(self.people.shape[1])

    @property
    def singled(self) -> NDArray[np.int64]:
        """The members that a predicate fits alone; once for each that does."""
        rows = self.people[self.counts[:, 0] == 1]
        own: NDArray[np.int64] = rows[(rows >= 0) & (rows < self.members)].astype(np.int64)
        return own

    def difference(self, weights: Sequence[Floats]) -> float:
        """Return the sum of weights of members' counts less that of control records' counts."""
        counts = self.counts[self._whole]
        return float(weights[0][counts[:, 0]].sum() - weights[1][counts[:, 1]].sum())

    def exchanged(self, weights: Sequence[Floats], rng: np.random.Generator) -> Floats:
        """Return the differences when who is a member is drawn at random, again and again."""
        from understudy.risk.predicate_kernels import exchange_labels

        held = self.people[self._whole]
        there = held >= 0
        who, places = np.unique(held[there], return_inverse=True)
        starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        groups = self.members, self.members + self.controls
        found = [
            exchange_labels(
                places.astype(np.int64),
                starts,
                groups,
                (weights[0], weights[1]),
                rng.random((min(_TURNS, EXCHANGES - start), len(who)), np.float32),
            )
            for start in range(0, EXCHANGES, _TURNS)
        ]
        return np.concatenate(found)

    @property
    def _whole(self) -> NDArray[np.bool_]:
        """Which predicates have all their people noted; hardly any other singles out."""
        whole: NDArray[np.bool_] = self.counts.sum(axis=1) <= self.limit
        return whole


@dataclass(frozen=True)
class Compared:
    """What control records tell: the rate for as many people, the difference, and its p-value."""

    control: Rate | None
    difference: float
    interval: Interval
    p_value: float


def compare(
    fitting: Fitting, attack: Rate, confidence: float, rng: np.random.Generator
) -> Compared:
    """Compare the rate of an attack with that for control records; nan if there are none."""
    if not attack.attacks or not fitting.controls:
        return Compared(None, math.nan, (math.nan, math.nan), math.nan)
    size = min(fitting.members, fitting.controls)
    weights = [
        chances_of_one(rows, size, fitting.limit) for rows in (fitting.members, fitting.controls)
    ]
    control = fitting.counts[:, 1]
    if fitting.controls < fitting.members:
        shares = float((control == 0).mean()), float((control == 1).mean())
        value = one_of_more(*shares, fitting.members / fitting.controls)
    else:
        value = float(weights[1][np.minimum(control, fitting.limit)].mean())
    found, exchanged = fitting.difference(weights), fitting.exchanged(weights, rng)
    scale = fitting.members / size / attack.attacks
    reach = NormalDist().inv_cdf(0.5 + confidence / 2) * scale * float(exchanged.std())
    difference = attack.value - value
    return Compared(
        Rate.of(value * attack.attacks, attack.attacks, confidence),
        difference,
        (max(difference - reach, -1.0), min(difference + reach, 1.0)),
        exchange_p_value(found, exchanged),
    )


def chances_of_one(rows: int, size: int, most: int) -> Floats:
    """Return how likely exactly one of c people is in a random part of a table, for c from 0.

    Parameters
    ----------
    rows, size : int
        The records of the table, and of the part.
    most : int
        The largest c.

    Examples
    --------
    >>> chances_of_one(4, 2, 3).round(3).tolist()  # of 6 pairs, 4 have one of two people
    [0.0, 0.5, 0.667, 0.5]
    >>> chances_of_one(4, 4, 3).tolist()
    [0.0, 1.0, 0.0, 0.0]
    """
    found = np.zeros(most + 1)
    chance = size / rows
    for people in range(1, min(most, rows) + 1):
        found[people] = chance
        # c C(rows - c, size - 1) / C(rows, size), from one c to the next.
        if people < rows:
            chance *= (people + 1) / people * max(rows - people - size + 1, 0) / (rows - people)
    return found


def one_of_more(none: float, one: float, times: float) -> float:
    """Return the share of predicates that would fit exactly one of more people.

    Parameters
    ----------
    none, one : float
        The shares of predicates that fit none and one of the people there are.
    times : float
        How many times as many people are meant.

    Notes
    -----
    If weights have a gamma distribution of shape r, a predicate fits nobody with probability
    ``(1 + s)**-r`` and one person with ``r s (1 + s)**-(r + 1)``; for more people, s is so many
    times as large. Where the two shares are too close to each other for any r, all predicates have
    the same weight.

    Examples
    --------
    >>> round(one_of_more(0.25, 0.25, 1), 6)
    0.25
    >>> one_of_more(0.9, 0.0, 4)
    0.0
    """
    if one <= 0 or none <= 0:
        return max(one, 0.0)
    odds, empty = one / none, -math.log(none)
    if odds >= empty * (1 - 1e-9):
        return times * odds * math.exp(-times * odds)
    low, high = -40.0, 700.0
    for _ in range(200):
        middle = (low + high) / 2
        scale = math.exp(middle)
        if scale / (1 + scale) / math.log1p(scale) * empty > odds:
            low = middle
        else:
            high = middle
    scale = math.exp((low + high) / 2)
    shape = empty / math.log1p(scale)
    more = times * scale
    return shape * more / (1 + more) * math.exp(-shape * math.log1p(more))


def noted(members: int, controls: int) -> int:
    """Return of how many people per predicate it must be known who they are.

    Of more than these, exactly one belongs to the smaller group with hardly any probability.

    Examples
    --------
    >>> noted(1000, 0), noted(1000, 1000)
    (1, 18)
    """
    if not controls:
        return 1
    share = min(members, controls) / (members + controls)
    people = math.ceil(1 / share)  # until then it becomes more likely
    while people * share * (1 - share) ** (people - 1) > _LIKELY and people < _MOST_NOTED:
        people += 1
    return min(people, _MOST_NOTED)
