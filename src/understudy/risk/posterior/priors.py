"""What the attacker believes before the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.data.coded import Coded
from understudy.errors import ParameterError
from understudy.risk.posterior.candidates import Candidates

PriorName = Literal["uniform", "marginal", "informed"]
Prior = PriorName | ArrayLike

SPREAD = 0.5
"""Records that are spread evenly over all values of an attribute, so that none is excluded."""


def prior_name(prior: Prior) -> str:
    """Return what the prior is called; raise if it is none.

    Examples
    --------
    >>> prior_name("marginal"), prior_name([0.2, 0.8])
    ('marginal', 'given')
    """
    if not isinstance(prior, str):
        _numbers(prior)
        return "given"
    if prior not in get_args(PriorName):
        raise ParameterError(
            f"prior is one of {', '.join(get_args(PriorName))}, or an array of weights; "
            f"got {prior!r}."
        )
    return prior


def read_weights(prior: ArrayLike, candidates: int, records: int) -> NDArray[np.float64]:
    """Return given weights as logarithms: one row for all records, or one for each."""
    weights = _numbers(prior)
    if weights.shape not in {(candidates,), (records, candidates)}:
        raise ParameterError(
            f"prior: there are {candidates:,} candidates and {records:,} records, so an array has "
            f"the shape ({candidates},) or ({records}, {candidates}); got {weights.shape}."
        )
    weights = np.atleast_2d(weights)
    if not np.isfinite(weights).all() or (weights < 0).any() or (weights.sum(axis=1) <= 0).any():
        raise ParameterError(
            "prior: weights are finite and not below 0, and those of a record are not all 0."
        )
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(weights / weights.sum(axis=1, keepdims=True)))


def _numbers(prior: ArrayLike) -> NDArray[np.float64]:
    try:
        return np.asarray(prior, np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"prior: an array holds numbers; got {prior!r}.") from None


def attribute_logs(counts: NDArray[np.int64], own: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """Return the log share of each value among all records but one, for each such one.

    Parameters
    ----------
    counts : ndarray of int64
        Records with each value.
    own : ndarray of int
        The value of the one that is left out.

    Examples
    --------
    >>> np.exp(attribute_logs(np.array([3, 1]), np.array([0]))).round(4)  # 2.25 and 1.25 of 3.5
    array([[0.6429, 0.3571]])
    """
    weights = np.tile(counts + SPREAD / len(counts), (len(own), 1))
    weights[np.arange(len(own)), own] -= 1
    return np.asarray(np.log(weights / (counts.sum() - 1 + SPREAD)))


def marginal_logs(
    candidates: Candidates, counts: Mapping[str, NDArray[np.int64]], records: Coded
) -> NDArray[np.float64]:
    """Return the logarithm of the product of the attributes' shares, records by candidates."""
    total = np.zeros((len(records), len(candidates)))
    for name in candidates.names:
        logs = attribute_logs(counts[name], records[name])
        total += logs[:, candidates.codes[name]]
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


def check_records(records: Sequence[int] | ArrayLike | None, rows: int) -> NDArray[np.int64]:
    """Return the row numbers of the records to attack, all of them by default."""
    if records is None:
        return np.arange(rows)
    try:
        found = np.atleast_1d(np.asarray(records))
    except ValueError:
        found = np.empty((0, 0))
    if found.dtype.kind == "b" and found.shape == (rows,):
        found = np.flatnonzero(found)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise ParameterError(f"records are row numbers from 0; got {records!r}.")
    found = found.astype(np.int64)
    outside = found[(found < 0) | (found >= rows)]
    if len(outside):
        raise ParameterError(
            f"records: there is no row {outside[0]}; the original has rows 0 to {rows - 1}."
        )
    if not len(found):
        raise ParameterError("records: name at least one row.")
    return found
