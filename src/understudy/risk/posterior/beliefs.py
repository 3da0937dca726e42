"""From prior and likelihood to what the attacker believes, and guesses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.risk.posterior.candidates import Candidates

TIED = 1e-9
"""Log probabilities that differ by less count as equal: rounding decides nothing."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is believed of some records before and after the release.

    Parameters
    ----------
    prior, posterior : ndarray of float64
        Probability of the truth; nan if the release is impossible in every world.
    guess : ndarray of int64
        The most probable candidate after the release.
    right_before, right_after : ndarray of bool
        Whether the most probable candidate is the truth.
    rank : ndarray of float64
        One more than the number of candidates that are more probable than the truth.
    marginals : tuple of ndarray of float64
        For each unknown attribute the posterior of its values, records by values; none if only one
        attribute is unknown.
    """

    prior: NDArray[np.float64]
    posterior: NDArray[np.float64]
    guess: NDArray[np.int64]
    right_before: NDArray[np.bool_]
    right_after: NDArray[np.bool_]
    rank: NDArray[np.float64]
    marginals: tuple[NDArray[np.float64], ...] = ()

    @classmethod
    def of(
        cls,
        log_prior: NDArray[np.float64],
        log_likelihood: NDArray[np.float64],
        truth: NDArray[np.int64],
        popularity: NDArray[np.int64],
        candidates: Candidates,
    ) -> Beliefs:
        """Apply Bayes' rule; all arrays are records by candidates, but for `truth`.

        Examples
        --------
        >>> found = Beliefs.of(np.log([[0.5, 0.5]]), np.log([[0.2, 0.6]]), np.array([1]),
        ...                    np.array([[3, 2]]), Candidates.grid(("sex",), (2,)))
        >>> found.prior, found.posterior, found.right_before, found.right_after
        (array([0.5]), array([0.75]), array([False]), array([ True]))
        """
        rows = np.arange(len(truth))
        before = _normalised(np.broadcast_to(log_prior, log_likelihood.shape))
        # Not from the normalised prior: a release that tells nothing changes not even a last digit.
        after = _normalised(log_prior + log_likelihood)
        guessed, guess = _winner(before, popularity), _winner(after, popularity)
        own = after[rows, truth]
        possible = ~np.isnan(own)
        marginals: tuple[NDArray[np.float64], ...] = ()
        if len(candidates.names) > 1:
            marginals = _marginals(np.exp(after), candidates)
        return cls(
            np.exp(before[rows, truth]),
            np.exp(own),
            guess,
            guessed == truth,
            (guess == truth) & possible,
            np.where(possible, 1.0 + (after > own[:, None] + TIED).sum(axis=1), np.nan),
            marginals,
        )

    def take(self, rows: NDArray[np.int64]) -> Beliefs:
        """Return the beliefs of some of the records, or of all in another order."""
        return _put_through(lambda own: own[rows], [self])

    @classmethod
    def concatenate(cls, parts: Sequence[Beliefs]) -> Beliefs:
        """Return the beliefs of all records of the parts."""
        return _put_through(lambda *own: np.concatenate(own), parts)


def _put_through(change: Callable[..., NDArray[Any]], parts: Sequence[Beliefs]) -> Beliefs:
    """Return beliefs whose arrays are a function of the parts' arrays of the same name."""
    return Beliefs(
        change(*(part.prior for part in parts)),
        change(*(part.posterior for part in parts)),
        change(*(part.guess for part in parts)),
        change(*(part.right_before for part in parts)),
        change(*(part.right_after for part in parts)),
        change(*(part.rank for part in parts)),
        tuple(change(*own) for own in zip(*(part.marginals for part in parts), strict=True)),
    )


def _normalised(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log weights less the log of their sum in each row; nan if all are minus infinity."""
    largest = logs.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        scaled = logs - largest
    return np.asarray(scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True)))


def _winner(logs: NDArray[np.float64], popularity: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the best candidate of each row; of equal ones the most frequent, then the first."""
    tied = logs >= logs.max(axis=1, keepdims=True) - TIED
    return np.asarray(np.where(tied, popularity, -1).argmax(axis=1))


def _marginals(
    posterior: NDArray[np.float64], candidates: Candidates
) -> tuple[NDArray[np.float64], ...]:
    found = []
    for codes, size in zip(candidates.codes.columns, candidates.codes.cardinalities, strict=True):
        own = np.zeros((len(posterior), size))
        for value in range(size):
            own[:, value] = posterior[:, codes == value].sum(axis=1)
        found.append(own)
    return tuple(found)
