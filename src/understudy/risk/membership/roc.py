"""How well a score tells people who were in the data from people who were not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from understudy.intervals import wilson_interval

Scores = NDArray[np.float64]

FALSE_POSITIVES = (0.01, 0.001)
"""Shares of people wrongly called members at which the true positives are told."""

CONFIDENCE = 0.95
_BOOTSTRAPS = 2_000


@dataclass(frozen=True)
class Detection:
    """Share of members found by a limit that few others exceed.

    `limit` is the score above which somebody is called a member. Undefined is nan, with a reason.
    """

    false_positive_rate: float
    true_positive_rate: float
    low: float
    high: float
    limit: float
    reason: str = ""


@dataclass(frozen=True)
class Separation:
    """How well a score separates members from others.

    Parameters
    ----------
    auc : float
        Probability that a member scores higher than somebody else; ties count half.
    low, high : float
        Its 95% interval.
    p_value : float
        Probability of an AUC as large, or larger, if who was a member were drawn at random.
    detections : tuple of Detection
        At 1% and at 0.1% false positives.
    """

    auc: float
    low: float
    high: float
    p_value: float
    detections: tuple[Detection, ...]


def separation(inside: Scores, outside: Scores, random_state: int = 0) -> Separation:
    """Compare the scores of members and of others.

    Examples
    --------
    >>> found = separation(np.array([3.0, 2.0, 2.0]), np.array([1.0, 2.0]))
    >>> found.auc, round(found.p_value, 3)  # of 6 pairs 4 are in order, and 2 tied
    (0.8333333333333334, 0.098)
    """
    auc = area_under_curve(inside, outside)
    low, high = area_interval(auc, len(inside), len(outside))
    return Separation(
        auc,
        low,
        high,
        chance_of_area(inside, outside),
        tuple(detection(inside, outside, rate, random_state) for rate in FALSE_POSITIVES),
    )


def _ranks(inside: Scores, outside: Scores) -> NDArray[np.float64]:
    """Return the rank of each score among all, members first; equal scores share theirs."""
    _, place, counts = np.unique(
        np.concatenate([inside, outside]), return_inverse=True, return_counts=True
    )
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[place])


def area_under_curve(inside: Scores, outside: Scores) -> float:
    """Return the share of pairs of a member and another in which the member scores higher.

    Examples
    --------
    >>> area_under_curve(np.array([2.0, 1.0]), np.array([1.0, 0.0]))  # 3 pairs, and half of a tie
    0.875
    """
    members, others = len(inside), len(outside)
    total = _ranks(inside, outside)[:members].sum()
    return float((total - members * (members + 1) / 2) / (members * others))


def chance_of_area(inside: Scores, outside: Scores) -> float:
    """Return the one-sided p-value of the test of Mann and Whitney, with ties accounted for."""
    ranks = _ranks(inside, outside)
    members, others = len(inside), len(outside)
    every = members + others
    # The variance of the members' mean rank if they were drawn at random from all.
    variance = float(ranks.var()) * others / (members * max(every - 1, 1))
    if variance == 0:
        return 1.0
    apart = float(ranks[:members].mean()) - (every + 1) / 2
    return NormalDist().cdf(-apart / math.sqrt(variance))


def area_interval(auc: float, members: int, others: int) -> tuple[float, float]:
    """Return the 95% interval of an area under the curve, which does not collapse at 0 and 1.

    References
    ----------
    .. [1] Newcombe (2006). Confidence intervals for an effect size measure based on the
       Mann-Whitney statistic. Part 2: asymptotic methods and evaluation. Statistics in Medicine
       25(4), doi:10.1002/sim.2324 (method 5)

    Examples
    --------
    >>> low, high = area_interval(1.0, 50, 50)
    >>> round(low, 3), high
    (0.96, 1.0)
    """
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    pairs, mean = members * others, (members + others) / 2

    def outside(area: float) -> bool:
        spread = 1 + (mean - 1) * ((1 - area) / (2 - area) + area / (1 + area))
        return (auc - area) ** 2 > z**2 * area * (1 - area) * spread / pairs

    def limit(beyond: float) -> float:
        """Halve the range between the estimate and where no area can lie."""
        inner, outer = auc, beyond
        for _ in range(50):
            middle = (inner + outer) / 2
            inner, outer = (inner, middle) if outside(middle) else (middle, outer)
        return inner

    return limit(0.0), limit(1.0)


def _shares_above(inside: Scores, falling: Scores) -> NDArray[np.float64]:
    """Return the share of members above each of the others, who come from the highest down.

    Of a tie of others, the first has no member of the tie above, and each further one more of them.

    Examples
    --------
    >>> _shares_above(np.array([5.0, 1.0]), np.array([5.0, 5.0, 2.0]))
    array([0.  , 0.25, 0.5 ])
    """
    rising = np.sort(inside)
    above = len(rising) - np.searchsorted(rising, falling, side="right")
    tied = np.searchsorted(rising, falling, side="right") - np.searchsorted(rising, falling)
    _, first, number, counts = np.unique(
        -falling, return_index=True, return_inverse=True, return_counts=True
    )
    part = (np.arange(len(falling)) - first[number]) / counts[number]
    return np.asarray((above + tied * part) / len(rising))


def roc_curve(inside: Scores, outside: Scores, most: int = 100) -> list[tuple[float, float]]:
    """Return shares of others and of members above a limit, for up to `most` limits.

    There are more limits where few others exceed them: the shares grow by about the same factor.

    Examples
    --------
    >>> roc_curve(np.array([3.0, 1.5]), np.array([2.0, 1.0]))
    [(0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]
    """
    others = len(outside)
    shares = np.append(_shares_above(inside, -np.sort(-outside)), 1.0)
    places = np.unique(np.round(np.geomspace(1, others, max(most - 1, 2))).astype(np.int64))
    chosen = [0, *places.tolist()]
    return [(place / others, float(shares[place])) for place in chosen]


def detection(inside: Scores, outside: Scores, rate: float, random_state: int = 0) -> Detection:
    """Return the share of members above a limit that at most `rate` of the others exceed.

    Of people whose score is the limit itself, as many are called members as keep to the rate, drawn
    at random.

    Notes
    -----
    The limit is itself an estimate. The interval is that of a bootstrap of both groups, without
    drawing any: of n others the k-th largest of a bootstrap sample is the one of rank ceil(n u),
    with u from a Beta distribution with parameters k and n - k + 1. It is never narrower than
    Wilson's.

    Examples
    --------
    >>> found = detection(np.array([1.5, 3.0]), np.arange(100) / 50, 0.01)
    >>> found.true_positive_rate, found.limit
    (0.5, 1.96)
    >>> detection(np.array([1.5]), np.arange(99.0), 0.01).reason
    'a rate of 1% needs at least 100 control records, and there are 99'
    """
    others = len(outside)
    allowed = math.floor(rate * others * (1 + 1e-12))
    if not allowed:
        needed = math.ceil(1 / rate)
        reason = (
            f"a rate of {rate:.1%} needs at least {needed:,} control records, and there are "
            f"{others:,}"
        ).replace(".0%", "%")
        return Detection(rate, math.nan, math.nan, math.nan, math.nan, reason)
    falling = -np.sort(-outside)
    share_above = _shares_above(inside, falling)
    share = float(share_above[allowed])
    rng = np.random.default_rng(random_state)
    place = allowed + 1
    drawn = np.ceil(others * rng.beta(place, others - place + 1, _BOOTSTRAPS)).astype(np.int64) - 1
    found = rng.binomial(len(inside), share_above[np.clip(drawn, 0, others - 1)]) / len(inside)
    low, high = np.quantile(found, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]).tolist()
    wilson = wilson_interval(share * len(inside), len(inside), CONFIDENCE)
    return Detection(
        rate, share, min(low, wilson[0]), max(high, wilson[1]), float(falling[allowed])
    )
