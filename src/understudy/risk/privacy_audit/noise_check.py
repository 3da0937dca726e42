"""Whether the noise that is drawn is the noise that was paid for."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from understudy.privacy.ledger import Mechanism
from understudy.risk.privacy_audit.laws import DiscreteGaussian, DiscreteLaplace, law_of
from understudy.risk.privacy_audit.transcript import Question

LEVEL = 1e-9
"""Chance explains what is rarer than this only once in so many audits."""


def noise_problems(
    transcripts: Sequence[Sequence[Question]], rng: np.random.Generator
) -> Iterator[str]:
    """Yield a sentence for each way in which noise is not what its scale says.

    Parameters
    ----------
    transcripts : sequence of sequences of Question
        The questions of several fits.
    rng : numpy.random.Generator
        Breaks ties of whole numbers, for the test.

    Notes
    -----
    Whole numbers become uniform ones if each is drawn anew inside its step of the distribution
    function. Those of absolute noise are tested by Kolmogorov and Smirnov, one-sided: noise that is
    too small. Two fits with the same noise in all counts are compared with the probability of that.
    """
    yield from _repeated(transcripts)
    drawn: dict[tuple[Mechanism, float], list[NDArray[np.int64]]] = defaultdict(list)
    for questions in transcripts:
        for question in questions:
            if question.counts:
                drawn[question.mechanism, question.scale].append(question.noise)
    for (mechanism, scale), parts in drawn.items():
        noise = np.abs(np.concatenate(parts))
        law = law_of(mechanism, scale)
        places = _uniform(noise, law, rng)
        found = stats.kstest(places, "uniform", alternative="greater")
        if found.pvalue < LEVEL / len(drawn):
            expected = _mean_size(law)
            yield (
                f"The noise is smaller than its scale of {scale:.6g} ({mechanism}) allows: over "
                f"{len(noise):,} counts it is {noise.mean():.4g} on average, and should be "
                f"{expected:.4g} (p = {found.pvalue:.1g})."
            )


def _repeated(transcripts: Sequence[Sequence[Question]]) -> Iterator[str]:
    for before, after in pairwise(transcripts):
        pairs = [
            (first, second)
            for first, second in zip(before, after, strict=False)
            if first.counts and second.counts
        ]
        if not pairs or any(
            first.truth.shape != second.truth.shape or not np.array_equal(first.noise, second.noise)
            for first, second in pairs
        ):
            continue
        by_chance = math.fsum(
            first.truth.size * _log_same(law_of(first.mechanism, first.scale)) for first, _ in pairs
        )
        if by_chance < math.log(LEVEL / len(transcripts)):
            yield (
                "Two fits drew the same noise for all counts, which chance does with a probability "
                f"of 10^{by_chance / math.log(10):.0f}. Whoever can draw it again takes it away."
            )
            return


def _log_same(law: DiscreteLaplace | DiscreteGaussian) -> float:
    """Return the log probability that noise is the same twice."""
    return math.log(float((np.exp(_masses(law)) ** 2).sum()))


def _masses(law: DiscreteLaplace | DiscreteGaussian) -> NDArray[np.float64]:
    reach = law.reach(-40.0)
    return law.log_mass(np.arange(-reach, reach + 1, dtype=np.float64))


def _mean_size(law: DiscreteLaplace | DiscreteGaussian) -> float:
    masses = np.exp(_masses(law))
    half = len(masses) // 2
    return float((np.abs(np.arange(-half, half + 1)) * masses).sum())


def _uniform(
    sizes: NDArray[np.int64], law: DiscreteLaplace | DiscreteGaussian, rng: np.random.Generator
) -> NDArray[np.float64]:
    reach = max(law.reach(-40.0), int(sizes.max(initial=0)))
    own = np.exp(law.log_mass(np.arange(reach + 1, dtype=np.float64)))
    own[1:] *= 2
    below = np.concatenate([[0.0], np.cumsum(own)])
    return np.asarray(below[sizes] + rng.random(len(sizes)) * own[sizes])
