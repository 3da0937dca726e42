"""The simulated audit, for tools of which nothing is known but what they make of two tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.risk.privacy_audit.bounds import epsilon_of_event

Features = NDArray[np.float64]
_HEIGHTS = 16
_SMALL = 1e-6
"""What is added to variances, in counts: a column that never varies must not decide."""


@dataclass(frozen=True)
class Found:
    """What runs in two worlds prove.

    Parameters
    ----------
    epsilon : float
        Its lower bound.
    event : str
        What tells the worlds apart.
    one, other : float
        How often that happened, in the runs that were kept back.
    """

    epsilon: float
    event: str
    one: float
    other: float


@dataclass(frozen=True, eq=False)
class _Event:
    weights: Features
    height: float
    sign: int
    name: str

    def count(self, features: Features) -> int:
        return int(np.count_nonzero(self.sign * (features @ self.weights) >= self.height))


def lower_bound(
    one: Features,
    other: Features,
    describe: Callable[[int], str],
    *,
    delta: float,
    error: float,
) -> Found:
    """Return the epsilon that runs prove, wrong with at most the given probability.

    Parameters
    ----------
    one, other : ndarray of shape (runs, features)
        What was counted in the releases of each world.
    describe : callable
        Returns what a feature counts, in words.
    delta, error : float
        The delta that is claimed, and the probability with which the bound may be wrong.

    Notes
    -----
    The first half of the runs chooses the event that tells the worlds apart best: a feature, or the
    linear discriminant of all, above or below a height. The second half says how often it happens,
    with Clopper-Pearson limits. So choosing costs nothing.
    """
    half = len(one) // 2
    kept = len(one) - half
    best: tuple[float, _Event, bool] | None = None
    for event in _events(one[:half], other[:half], describe):
        counts = event.count(one[:half]), event.count(other[:half])
        for swapped in (False, True):
            first, second = counts[::-1] if swapped else counts
            value = epsilon_of_event(first, second, half, delta=delta, error=error)
            if best is None or value > best[0]:
                best = value, event, swapped
    assert best is not None  # noqa: S101  # there is a feature
    _, event, swapped = best
    counts = event.count(one[half:]), event.count(other[half:])
    first, second = counts[::-1] if swapped else counts
    epsilon = epsilon_of_event(first, second, kept, delta=delta, error=error)
    sign = "at least" if event.sign > 0 else "at most"
    text = f"{event.name} is {sign} {event.sign * event.height:.4g}"
    return Found(epsilon, text, counts[0] / kept, counts[1] / kept)


def _events(one: Features, other: Features, describe: Callable[[int], str]) -> Iterator[_Event]:
    features = one.shape[1]
    directions = [(np.eye(features)[place], describe(place)) for place in range(features)]
    directions.append((_discriminant(one, other), "a weighted sum of all counts"))
    for weights, name in directions:
        values = np.concatenate([one @ weights, other @ weights])
        for sign in (1, -1):
            heights = np.quantile(sign * values, np.linspace(0.02, 1, _HEIGHTS), method="lower")
            for height in np.unique(heights):
                yield _Event(weights, float(height), sign, name)


def _discriminant(one: Features, other: Features) -> Features:
    """Return the direction in which the worlds differ most, measured by their spread."""
    spread = np.cov(one, rowvar=False) + np.cov(other, rowvar=False)
    spread = np.atleast_2d(spread) + _SMALL * np.eye(one.shape[1])
    return np.asarray(np.linalg.solve(spread, one.mean(axis=0) - other.mean(axis=0)))
