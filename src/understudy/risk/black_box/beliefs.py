"""What an attacker believes of each record before and after a release, over listed candidates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.errors import ParameterError, did_you_mean
from understudy.risk.black_box.candidates import Candidates
from understudy.risk.black_box.likelihood import Likelihood

TIE = 1e-9
"""Probabilities that differ by no more than this share of the larger count as equal."""

Beliefs = NDArray[np.float64]
"""Probabilities, a row for each record and a column for each candidate."""


def beliefs_before(
    prior: object, candidates: Candidates, truth: NDArray[np.int64]
) -> tuple[str, Beliefs]:
    """Return the name of a prior, and its probabilities.

    Parameters
    ----------
    prior : {"uniform", "marginal"} or array
        The same for each candidate; the product of its attributes' shares among the other records,
        with half a record spread evenly over an attribute's values, so that none is excluded; or
        weights, one for each candidate or a row of them for each record.
    candidates : Candidates
        The candidates.
    truth : ndarray of int64
        The true candidate of each attacked record.

    Raises
    ------
    ParameterError
        If the prior is none of these.
    """
    size = len(candidates)
    if isinstance(prior, str):
        if prior == "uniform":
            return prior, np.full((len(truth), size), 1 / size)
        if prior == "marginal":
            return prior, _normalised(_shares(candidates, truth))
        if prior == "informed":
            raise ParameterError(
                "The informed prior comes from a fitted model, which a black box does not show. "
                "Give an array of the probabilities instead, a row for each record."
            )
        raise ParameterError(
            f"prior is 'uniform', 'marginal' or an array of weights; got {prior!r}."
            f"{did_you_mean(prior, ('uniform', 'marginal'))}"
        )
    try:
        weights = np.array(prior, np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            f"prior is 'uniform', 'marginal' or an array of weights; got {prior!r}."
        ) from None
    if weights.shape not in {(size,), (len(truth), size)}:
        raise ParameterError(
            f"prior has {size} weights, one for each candidate, or {len(truth)} rows of them, one "
            f"for each record; got an array of shape {weights.shape}."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ParameterError("The weights of prior are finite numbers from 0.")
    weights = np.broadcast_to(weights, (len(truth), size))
    if not weights.any(axis=1).all():
        raise ParameterError("prior: at least one candidate of a record has a weight above 0.")
    return "given", _normalised(weights)


def _shares(candidates: Candidates, truth: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the product of the attributes' shares, each but for a factor that all have."""
    product = np.ones((len(truth), len(candidates)))
    for codes in candidates.codes.T:
        levels, place = np.unique(codes, return_inverse=True)
        counts = np.bincount(place, candidates.counts, len(levels))
        others = counts - (np.arange(len(levels)) == place[truth][:, None])
        product *= (others + 0.5 / len(levels))[:, place]
    return product


def _normalised(weights: NDArray[np.floating]) -> Beliefs:
    scaled = weights / weights.max(axis=1, keepdims=True)  # so that no sum overflows
    normalised: Beliefs = scaled / scaled.sum(axis=1, keepdims=True)
    return normalised


def others_with(candidates: Candidates, truth: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many other records have each candidate, a row for each attacked record."""
    own = np.arange(len(candidates)) == truth[:, None]
    others: NDArray[np.int64] = candidates.counts - own
    return others


def beliefs_after(before: Beliefs, log_likelihood: NDArray[np.float64]) -> Beliefs:
    """Return the probabilities after the release, by Bayes' rule in log space.

    Examples
    --------
    >>> beliefs_after(np.array([[0.5, 0.5]]), np.log([[3e-9, 1e-9]]))
    array([[0.75, 0.25]])
    """
    with np.errstate(divide="ignore"):
        logs = np.log(before) + log_likelihood
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    after = weights / weights.sum(axis=1, keepdims=True)
    # A release that is as likely in every world tells nothing, not a rounding error's worth.
    silent = (log_likelihood == log_likelihood[:, :1]).all(axis=1, keepdims=True)
    return np.where(silent, before, after)


def best_guess(beliefs: Beliefs, others: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the most probable candidate; of several, that of most other records, or the first.

    Examples
    --------
    >>> best_guess(np.array([[0.4, 0.4, 0.2], [0.2, 0.3, 0.5]]), np.array([[1, 2, 9], [1, 2, 3]]))
    array([1, 2])
    """
    tied = beliefs >= beliefs.max(axis=1, keepdims=True) * (1 - TIE)
    chosen: NDArray[np.int64] = np.where(tied, others, -1).argmax(axis=1)
    return chosen


def monte_carlo_error(
    before: Beliefs,
    truth: NDArray[np.int64],
    worlds: NDArray[np.int64],
    likelihood: Likelihood,
) -> NDArray[np.float64]:
    """Return the standard error of the truth's posterior, by leaving out each run in turn.

    A run is left out of all worlds at once: it has the same seed in all of them, so that much of
    its chance cancels. The error of a single run is nan.

    Parameters
    ----------
    before : ndarray
        The prior.
    truth : ndarray of int64
        The true candidate of each record.
    worlds : ndarray of int64
        The world of each record and candidate.
    likelihood : Likelihood
        The log likelihood of each world, with and without each run.
    """
    runs = likelihood.without.shape[1]
    if not runs:
        return np.full(len(truth), np.nan)
    found = np.empty((runs, len(truth)))
    for run in range(runs):
        after = beliefs_after(before, likelihood.without[:, run][worlds])
        found[run] = after[np.arange(len(truth)), truth]
    # From the first one: the mean of equal numbers may differ from them in the last digit.
    apart = found - found[0]
    squares = ((apart - apart.mean(axis=0)) ** 2).sum(axis=0)
    errors: NDArray[np.float64] = np.sqrt((runs - 1) / runs * squares)
    return errors


def marginal_beliefs(
    after: Beliefs, candidates: Candidates
) -> tuple[dict[str, Beliefs], dict[str, tuple[str, ...]]]:
    """Return the probability of each value of each unknown attribute, and what these are called."""
    marginals: dict[str, Beliefs] = {}
    labels: dict[str, tuple[str, ...]] = {}
    for name, codes in zip(candidates.unknown, candidates.codes.T, strict=True):
        levels, place = np.unique(codes, return_inverse=True)
        marginals[name] = after @ np.eye(len(levels))[place]
        labels[name] = _named(candidates.levels[name], levels.tolist())
    return marginals, labels


def _named(labels: Sequence[str], codes: Sequence[int]) -> tuple[str, ...]:
    return tuple(labels[code] for code in codes)
