"""The laws of noise: how probable an answer is, and what a count below noise may have become."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, gammaln, hyp1f1, logsumexp

from understudy.privacy.ledger import Mechanism
from understudy.risk.privacy_audit.moment_kernels import log_sums

Numbers = NDArray[np.float64]


class Law(Protocol):
    """Noise that is added to a count.

    A published count is `t = max(0, count + noise)`. The sums go over the same values of `t` in all
    worlds, so that no ratio of worlds can be wrong by where a sum ends.
    """

    def log_mass(self, noise: Numbers) -> Numbers:
        """Return the log probability, or density, of each value of the noise."""

    def log_zero(self, count: int) -> float:
        """Return the log probability that `t` is 0."""

    def log_moments(
        self, count: int, power: int, rates: Numbers, near: tuple[int, int], missed: float
    ) -> Numbers:
        """Return log E[t^power exp(-rate t); t > 0] for each rate.

        Parameters
        ----------
        count : int
            The true count.
        power : int
            The synthetic records of this value.
        rates : ndarray
            Where the integral looks.
        near : tuple of int
            The smallest and the largest true count of all worlds.
        missed : float
            The log probability of the values of `t` that may be left out.
        """

    def limits(self, near: tuple[int, int], missed: float) -> tuple[float, float]:
        """Return the smallest and the largest positive `t` that count."""


class _Discrete:
    """What laws of whole numbers share: sums over the values of `t`."""

    scale: float

    def log_mass(self, noise: Numbers) -> Numbers:
        raise NotImplementedError

    def reach(self, missed: float) -> int:
        raise NotImplementedError

    def limits(self, near: tuple[int, int], missed: float) -> tuple[float, float]:
        reach = self.reach(missed)
        return max(1.0, near[0] - reach), float(near[1] + reach)

    def log_zero(self, count: int) -> float:
        reach = self.reach(-60.0)
        below = np.arange(-count - reach, -count + 1, dtype=np.float64)
        return float(logsumexp(self.log_mass(below)))

    def log_moments(
        self, count: int, power: int, rates: Numbers, near: tuple[int, int], missed: float
    ) -> Numbers:
        low, high = self.limits(near, missed)
        values = np.arange(low, high + 1)
        own = self.log_mass(values - count) + power * np.log(values)
        return log_sums(own, low, rates)


@dataclass(frozen=True)
class DiscreteLaplace(_Discrete):
    """Whole numbers k with probability tanh(1 / (2 scale)) exp(-abs(k) / scale).

    Examples
    --------
    >>> law = DiscreteLaplace(1 / np.log(2))
    >>> np.exp(law.log_mass(np.array([0.0, 1.0, -2.0]))).round(6).tolist()  # 1/3 of 1, 1/2, 1/4
    [0.333333, 0.166667, 0.083333]
    """

    scale: float

    def log_mass(self, noise: Numbers) -> Numbers:
        """Return the log probability of each value of the noise."""
        return np.asarray(math.log(math.tanh(0.5 / self.scale)) - np.abs(noise) / self.scale)

    def log_zero(self, count: int) -> float:
        """Return the log probability that the noise is at most -count."""
        ratio = math.exp(-1 / self.scale)
        if count > 0:
            return -count / self.scale - math.log1p(ratio)
        return math.log1p(-math.exp((count - 1) / self.scale) / (1 + ratio))

    def reach(self, missed: float) -> int:
        """Return how far the noise goes but for a log probability of `missed`."""
        return math.ceil(self.scale * -missed) + 1


@dataclass(frozen=True)
class DiscreteGaussian(_Discrete):
    """Whole numbers k with a probability in proportion to exp(-k^2 / (2 scale^2))."""

    scale: float

    def log_mass(self, noise: Numbers) -> Numbers:
        """Return the log probability of each value of the noise."""
        return np.asarray(-((noise / self.scale) ** 2) / 2 - _log_gaussian_sum(self.scale))

    def reach(self, missed: float) -> int:
        """Return how far the noise goes but for a log probability of `missed`."""
        return math.ceil(self.scale * math.sqrt(2 * (1 - missed))) + 1


@cache
def _log_gaussian_sum(scale: float) -> float:
    reach = math.ceil(40 * scale) + 1
    values = np.arange(-reach, reach + 1, dtype=np.float64)
    return float(logsumexp(-((values / scale) ** 2) / 2))


@dataclass(frozen=True)
class Laplace:
    """Real numbers with density exp(-abs(x) / scale) / (2 scale), as other tools draw them."""

    scale: float

    def log_mass(self, noise: Numbers) -> Numbers:
        """Return the log density of each value of the noise."""
        return np.asarray(-np.abs(noise) / self.scale - math.log(2 * self.scale))

    def log_zero(self, count: int) -> float:
        """Return the log probability that the noise is at most -count, which is not positive."""
        return -count / self.scale - math.log(2)

    def limits(self, near: tuple[int, int], missed: float) -> tuple[float, float]:
        """Return the smallest and the largest positive `t` that count."""
        return self.scale * math.exp(missed), near[1] + self.scale * -missed

    def log_moments(
        self,
        count: int,
        power: int,
        rates: Numbers,
        near: tuple[int, int],  # noqa: ARG002  # nothing is left out
        missed: float,  # noqa: ARG002
    ) -> Numbers:
        """Return log E[t^power exp(-rate t); t > 0], by incomplete gamma functions."""
        above = rates + 1 / self.scale
        with np.errstate(divide="ignore"):
            upper = (
                np.log(gammaincc(power + 1, above * count))
                + gammaln(power + 1)
                - (power + 1) * np.log(above)
                + count / self.scale
            )
            if not count:
                return np.asarray(upper - math.log(2 * self.scale))
            lower = _log_lower(power, rates - 1 / self.scale, count) - count / self.scale
        return np.asarray(np.logaddexp(upper, lower) - math.log(2 * self.scale))


def _log_lower(power: int, rates: Numbers, end: int) -> Numbers:
    """Return the log of the integral of t^power exp(-rate t) from 0 to `end`.

    Each formula is used where no terms of different signs are added, and nothing underflows.
    """
    scaled = rates * end
    small, large = np.clip(scaled, None, 1), np.maximum(scaled, 1)
    first = (power + 1) * math.log(end) - math.log(power + 1)
    found = np.where(
        scaled > 1,
        np.log(gammainc(power + 1, large)) + gammaln(power + 1) - (power + 1) * np.log(large / end),
        first + np.log(hyp1f1(1, power + 2, small)) - small,
    )
    return np.asarray(found)


def law_of(mechanism: Mechanism, scale: float) -> DiscreteLaplace | DiscreteGaussian:
    """Return the law of the noise that a mechanism adds to counts."""
    return DiscreteLaplace(scale) if mechanism == "discrete Laplace" else DiscreteGaussian(scale)
