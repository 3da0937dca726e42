"""A linear classifier that tells releases with a person from those without, and how well it does.

The scores are those of releases that the classifier has not seen. They are linear in the labels,
so that the same attack on thousands of permuted labels costs one product of matrices. This gives
exact p-values; the usual ones take scores of a cross-validation for independent, and alarm about
twice too often.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.intervals import wilson_interval
from understudy.progress import track
from understudy.risk.membership.roc import area_interval, area_under_curve
from understudy.threads import one_thread

FOLDS = 10
"""Parts of the releases, each of which is scored by what the others teach."""
RIDGE = 3.0
"""Penalty, in units of the mean square of a release's features."""
PERMUTATIONS = 2_000

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ToldApart:
    """How well releases with a person are told from those without; nan if there is no release."""

    auc: float
    auc_low: float
    auc_high: float
    p_value: float
    advantage: float
    advantage_low: float
    advantage_high: float
    probability: float


def tell_each_apart(
    shadows: Iterable[tuple[Floats, NDArray[np.bool_], Floats | None]], rng: np.random.Generator
) -> list[ToldApart]:
    """Return it for several people, one after the other, in one thread."""
    with one_thread():
        return [tell_apart(*one, rng) for one in track(list(shadows), "Telling releases apart")]


def tell_apart(
    features: Floats, inside: NDArray[np.bool_], given: Floats | None, rng: np.random.Generator
) -> ToldApart:
    """Return how well the features of releases tell which of them were made with a person.

    Parameters
    ----------
    features : ndarray
        Of each release.
    inside : ndarray of bool
        Whether it was made with the person.
    given : ndarray, optional
        The features of a release of which it is not known.
    rng : numpy.random.Generator
        Decides parts and permutations.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> inside = np.arange(100) % 2 == 0
    >>> found = tell_apart(inside[:, None] + rng.normal(0, 0.1, (100, 5)), inside, None, rng)
    >>> found.auc, found.p_value < 0.001
    (1.0, True)
    """
    telling = np.ptp(features, axis=0) > 0
    shown = features[:, telling]
    centre = shown.mean(axis=0)
    scale = shown.std(axis=0) * math.sqrt(max(shown.shape[1], 1))
    scaled = (shown - centre) / scale
    labels = np.where(inside, 1.0, -1.0)
    unseen = _unseen_scores(scaled @ scaled.T, rng)
    scores = unseen @ labels
    auc = area_under_curve(scores[inside], scores[~inside])
    shuffled = rng.permuted(np.tile(labels, (PERMUTATIONS, 1)), axis=1)
    by_chance = _areas(shuffled @ unseen.T, shuffled > 0)
    # Scores of a cross-validation vary more than so many independent ones: as if they were fewer.
    pairs = inside.sum() * (~inside).sum()
    inflation = max(1.0, float(by_chance.var()) * 12 * pairs / (len(inside) + 1))
    fewer = tuple(max(2, round(count / inflation)) for count in (inside.sum(), (~inside).sum()))
    probability = math.nan
    if given is not None:
        weights = np.linalg.solve(_penalised(scaled @ scaled.T), labels)
        own = float((given[telling] - centre) / scale @ scaled.T @ weights)
        probability = _probability(own, scores[inside], scores[~inside])
    shares = [float((scores[group] > 0).mean()) for group in (inside, ~inside)]
    return ToldApart(
        auc,
        *area_interval(auc, *fewer),
        float((1 + np.count_nonzero(by_chance >= auc - 1e-12)) / (1 + PERMUTATIONS)),
        *_difference(shares[0], fewer[0], shares[1], fewer[1]),
        probability,
    )


def _penalised(kernel: Floats) -> Floats:
    return np.asarray(kernel + RIDGE * np.eye(len(kernel)))


def _unseen_scores(kernel: Floats, rng: np.random.Generator) -> Floats:
    """Return the matrix that turns labels into scores, each by a fit to the other parts."""
    part = rng.permutation(len(kernel)) % FOLDS
    found = np.zeros_like(kernel)
    for fold in range(FOLDS):
        test, train = np.flatnonzero(part == fold), np.flatnonzero(part != fold)
        taught = np.linalg.solve(_penalised(kernel[np.ix_(train, train)]), kernel[train][:, test])
        found[np.ix_(test, train)] = taught.T
    return found


def _areas(scores: Floats, inside: NDArray[np.bool_]) -> Floats:
    """Return the area under the curve of each row of scores, without regard to ties."""
    ranks = np.empty(scores.shape)
    np.put_along_axis(ranks, scores.argsort(axis=1), np.arange(1.0, scores.shape[1] + 1)[None], 1)
    members = inside.sum(axis=1)
    total = (ranks * inside).sum(axis=1)
    others = scores.shape[1] - members
    return np.asarray((total - members * (members + 1) / 2) / (members * others))


def _probability(own: float, within: Floats, without: Floats) -> float:
    """Return the probability of a score if those of both groups are normal, with one spread."""
    spread = math.sqrt((within.var() + without.var()) / 2)
    apart = float(within.mean() - without.mean())
    if apart <= 0 or spread == 0:
        return 0.5
    middle = float(within.mean() + without.mean()) / 2
    # No more sure than so many releases can be.
    most = math.log(len(within) + len(without))
    log_odds = min(max(apart * (own - middle) / spread**2, -most), most)
    return 1 / (1 + math.exp(-log_odds))


def _difference(first: float, total: int, second: float, others: int) -> tuple[float, float, float]:
    """Return the difference of two shares, and its 95% interval by Newcombe's hybrid score.

    References
    ----------
    .. [1] Newcombe (1998). Interval estimation for the difference between independent proportions:
       comparison of eleven methods. Statistics in Medicine 17(8),
       doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I (method 10)

    Examples
    --------
    >>> [round(one, 4) for one in _difference(0.8, 70, 0.6, 80)]  # the paper's first example
    [0.2, 0.0524, 0.3339]
    """
    low, high = wilson_interval(first * total, total)
    low_other, high_other = wilson_interval(second * others, others)
    apart = first - second
    return (
        apart,
        apart - math.hypot(first - low, high_other - second),
        apart + math.hypot(high - first, second - low_other),
    )
