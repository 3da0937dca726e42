"""People in the data against people kept back: how much more often the first are guessed.

What is guessed about people who were not used for the synthesis is learnt about everybody. Only the
difference is about the people in the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from understudy.intervals import wilson_interval
from understudy.risk.rank_groups import rank_limits

Floats = NDArray[np.float64]
Interval = tuple[float, float]
UNDEFINED: Interval = (math.nan, math.nan)
TENTHS = 10
"""People with numbers are alike if these are in the same tenth of the original's."""
_NORMAL = NormalDist()
_Z = _NORMAL.inv_cdf(0.975)


@dataclass(frozen=True)
class Compared:
    """People in the data beside people who were kept back.

    Parameters
    ----------
    members, control : float
        Mean score of the people in the data, and of those kept back: the share of correct guesses.
    difference : float
        The first less the second.
    interval : tuple of float
        Its 95% interval.
    p_value : float
        How often chance alone gives such a difference or a larger one, if it makes no difference
        whether somebody is in the data.
    matched, matched_interval, matched_p_value
        The same among people with the same sensitive value (of numbers: in the same tenth): the
        mean of the differences there. A guess that always says the most frequent value is right
        for whoever has it, in the data or not; this takes such chance away, and differences between
        the groups as well.
    """

    members: float
    control: float
    difference: float
    interval: Interval
    p_value: float
    matched: float
    matched_interval: Interval
    matched_p_value: float


@dataclass(frozen=True, eq=False)
class People:
    """Some people: how often each is guessed, and who of them are alike.

    Parameters
    ----------
    scores : ndarray of float64
        For each person, 1 for a correct guess and 0 for a wrong one; with several attacks (sets of
        keys, classifiers) the mean of theirs, so that a person counts once.
    strata : ndarray of int
        People with the same number, from 0, are alike.
    """

    scores: Floats
    strata: NDArray[np.integer]

    @property
    def are_counted(self) -> bool:
        """Whether all scores are 0 or 1."""
        return bool(((self.scores == 0) | (self.scores == 1)).all())

    def in_order(self) -> People:
        """Return the people so that sums are the same to the last bit, however they are given."""
        if self.are_counted:
            return self
        order = np.lexsort((self.scores, self.strata))
        return People(self.scores[order], self.strata[order])


def compare_people(members: People, control: People) -> Compared:
    """Compare people in the data with people who were kept back.

    Members and controls are different people, so that the samples are independent. Several attacks
    on one person are not: their mean is that person's score.

    Notes
    -----
    The interval of a difference of shares is Newcombe's (1998, method 10); that of means over
    several attacks follows from the standard errors. The test is that of Mantel and Haenszel
    (1959), with the sum of the members' scores in each stratum: how it varies if those in the data
    are drawn from all people of the stratum. It is one-sided. For `difference` all people are one
    stratum.

    Examples
    --------
    >>> guessed, others = np.repeat([1.0, 0.0], [30, 10]), np.repeat([1.0, 0.0], [20, 20])
    >>> alike = np.zeros(40, int)
    >>> found = compare_people(People(guessed, alike), People(others, alike))
    >>> found.difference, round(found.p_value, 3)
    (0.25, 0.019)
    """
    if not len(members.scores) or not len(control.scores):
        one, other = (
            float(held.scores.mean()) if len(held.scores) else math.nan
            for held in (members, control)
        )
        return Compared(one, other, *(math.nan, UNDEFINED, math.nan) * 2)
    members, control = members.in_order(), control.in_order()
    scores = np.concatenate([members.scores, control.scores])
    strata = np.concatenate([members.strata, control.strata]).astype(np.int64)
    inside = np.arange(len(scores)) < len(members.scores)
    counted = members.are_counted and control.are_counted
    whole = _Test.of(scores, np.zeros(len(scores), np.int64), inside, counted=counted)
    within = _Test.of(scores, strata, inside, counted=counted)
    mean, other = float(members.scores.mean()), float(control.scores.mean())
    return Compared(
        mean,
        other,
        mean - other,
        _interval(members.scores, control.scores, counted=counted),
        whole.p_value,
        within.difference,
        within.interval,
        within.p_value,
    )


def strata_of(
    codes: NDArray[np.integer], control: NDArray[np.integer], *, numbers: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which of the original and of the control records are alike, by sensitive value.

    With `numbers`, codes are in the order of the numbers, and records are alike in tenths of the
    original's.
    """
    if not numbers or not len(codes):
        return codes.astype(np.int64), control.astype(np.int64)
    limits = rank_limits(codes, TENTHS)
    one, other = (np.searchsorted(limits, held, side="left") for held in (codes, control))
    return one.astype(np.int64), other.astype(np.int64)


@dataclass(frozen=True)
class _Test:
    difference: float
    interval: Interval
    p_value: float

    @classmethod
    def of(
        cls,
        scores: Floats,
        strata: NDArray[np.int64],
        inside: NDArray[np.bool_],
        *,
        counted: bool,
    ) -> _Test:
        """Compare scores of people inside and outside, within strata that have both."""
        size = int(strata.max()) + 1
        people = [np.bincount(strata[part], minlength=size) for part in (inside, ~inside)]
        sums = [np.bincount(strata[part], scores[part], size) for part in (inside, ~inside)]
        both = (people[0] > 0) & (people[1] > 0)
        if not both.any():
            return cls(math.nan, UNDEFINED, math.nan)
        total = sum(people)
        weight = np.where(both, people[0] * people[1] / np.maximum(total, 1), 0.0)
        means = [held / np.maximum(count, 1) for held, count in zip(sums, people, strict=True)]
        squares = np.bincount(strata, scores**2, size)
        around_all = np.maximum(squares - sum(sums) ** 2 / np.maximum(total, 1), 0.0)
        # The sum over the strata of how far the members' scores exceed what is expected.
        excess = float((weight * (means[0] - means[1])).sum())
        variance = float((weight / np.maximum(total - 1, 1) * around_all).sum())
        step = 0.5 if counted else 0.0
        p_value = 1.0
        if variance > 1e-12:
            p_value = 1 - _NORMAL.cdf((excess - step) / math.sqrt(variance))
        difference = excess / float(weight.sum())
        around_each = around_all - weight * (means[0] - means[1]) ** 2
        freedom = np.where(total > 2, total - 2, 1)
        spread = np.where(both, np.maximum(around_each, 0.0) / freedom, 0.0)
        error = math.sqrt(float((weight * spread).sum())) / float(weight.sum())
        return cls(difference, (difference - _Z * error, difference + _Z * error), p_value)


def _interval(members: Floats, control: Floats, *, counted: bool) -> Interval:
    """Return the 95% interval of the difference of two means of scores from 0 to 1."""
    one, other = float(members.mean()), float(control.mean())
    difference = one - other
    if counted:
        return newcombe_interval(
            (one, wilson_interval(float(members.sum()), len(members))),
            (other, wilson_interval(float(control.sum()), len(control))),
        )
    error = math.sqrt(
        sum(held.var(ddof=1) / len(held) for held in (members, control) if len(held) > 1)
    )
    return difference - _Z * error, difference + _Z * error


def newcombe_interval(one: tuple[float, Interval], other: tuple[float, Interval]) -> Interval:
    """Return the interval of a difference of two shares, each with its Wilson interval.

    References
    ----------
    .. [1] Newcombe (1998). Interval estimation for the difference between independent proportions.
       Statistics in Medicine 17, 873-890, method 10.

    Examples
    --------
    >>> one, other = (56 / 70, wilson_interval(56, 70)), (48 / 80, wilson_interval(48, 80))
    >>> [round(limit, 4) for limit in newcombe_interval(one, other)]
    [0.0524, 0.3339]
    """
    (share, (low, high)), (less, (lowest, highest)) = one, other
    difference = share - less
    return (
        difference - math.hypot(share - low, highest - less),
        difference + math.hypot(high - share, less - lowest),
    )
