"""What the attacker believes of each candidate, before and after the release, and guesses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.arguments import check_choice
from understudy.errors import ParameterError
from understudy.risk.strong.candidates import Candidates

PriorName = Literal["uniform", "marginal", "informed"]
Prior = PriorName | ArrayLike

TIED = 1e-9
"""Log probabilities that differ by no more than this count as equal: rounding decides nothing."""

HALF_RECORD = 0.5
"""Records that a prior spreads evenly over all values of an attribute, so that none is excluded."""


def prior_name(prior: object, names: Sequence[str] = get_args(PriorName)) -> str:
    """Return what the prior is called; raise if it is none.

    Examples
    --------
    >>> prior_name("marginal"), prior_name([0.2, 0.8])
    ('marginal', 'given')
    """
    if isinstance(prior, str):
        return check_choice("prior", prior, names, ", or an array of weights")
    _numbers(prior)
    return "given"


def read_weights(prior: ArrayLike, candidates: int, records: int) -> NDArray[np.float64]:
    """Return given weights as logarithms: one row for all records, or one for each."""
    weights = _numbers(prior)
    if weights.shape not in {(candidates,), (records, candidates)}:
        raise ParameterError(
            f"prior: there are {candidates:,} candidates and {records:,} records, so an array must "
            f"have the shape ({candidates},) or ({records}, {candidates}); got {weights.shape}."
        )
    weights = np.atleast_2d(weights)
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any(axis=1).all():
        raise ParameterError(
            "prior: weights must be finite and at least 0, and not all weights of a record may be "
            "0."
        )
    weights = weights / weights.max(axis=1, keepdims=True)  # so that no sum overflows
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(weights / weights.sum(axis=1, keepdims=True)))


def _numbers(prior: Any) -> NDArray[np.float64]:  # noqa: ANN401  # whatever was given
    try:
        return np.asarray(prior, np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"prior: an array must hold numbers; got {prior!r}.") from None


def attribute_logs(counts: NDArray[np.int64], own: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """Return the log share of each value among all records but one, for each such one.

    Of `counts` records with each value, one with the value `own` is left out.

    Examples
    --------
    >>> np.exp(attribute_logs(np.array([3, 1]), np.array([0]))).round(4)  # 2.25 and 1.25 of 3.5
    array([[0.6429, 0.3571]])
    """
    weights = np.tile(counts + HALF_RECORD / len(counts), (len(own), 1))
    weights[np.arange(len(own)), own] -= 1
    return np.asarray(np.log(weights / (counts.sum() - 1 + HALF_RECORD)))


def marginal_logs(
    candidates: Candidates, counts: Mapping[str, NDArray[np.int64]], truth: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the logarithm of the product of the attributes' shares, records by candidates."""
    total = np.zeros((len(truth), len(candidates)))
    for name in candidates.names:
        codes = candidates.codes[name]
        total += attribute_logs(counts[name], codes[truth])[:, codes]
    return total


def popularity(counts: NDArray[np.int64], truth: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many records other than each one have each candidate; it decides ties.

    Examples
    --------
    >>> popularity(np.array([3, 1]), np.array([0, 1]))
    array([[2, 1],
           [3, 0]])
    """
    others = np.tile(counts, (len(truth), 1))
    others[np.arange(len(truth)), truth] -= 1
    return others


def normalised(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log weights less the log of their sum in each row; nan if all are minus infinity."""
    largest = logs.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        scaled = logs - largest
    return np.asarray(scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True)))


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
        before = normalised(np.broadcast_to(log_prior, log_likelihood.shape))
        # Not from the normalised prior: a release that tells nothing changes not even a last digit.
        after = normalised(log_prior + log_likelihood)
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
    *names, last = (field.name for field in fields(Beliefs))
    found: dict[str, Any] = {
        name: change(*(getattr(part, name) for part in parts)) for name in names
    }
    marginals = zip(*(part.marginals for part in parts), strict=True)
    found[last] = tuple(change(*own) for own in marginals)
    return Beliefs(**found)


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
