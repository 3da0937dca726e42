"""What is asked of which records, what is believed of them, and how that becomes a result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.arguments import check_choice
from understudy.counting import group_ids
from understudy.data.coded import Coded
from understudy.data.frames import Backend
from understudy.errors import ParameterError
from understudy.risk.strong.candidates import Candidates
from understudy.risk.strong.result import Mode, StrongAttack
from understudy.wording import counted

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

    def put(self, rows: NDArray[np.int64], other: Beliefs) -> Beliefs:
        """Return beliefs in which those of some records are replaced by others."""

        def replaced(own: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
            changed = own.copy()
            changed[rows] = theirs
            return changed

        return _put_through(replaced, [self, other])

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


@dataclass(frozen=True, eq=False)
class Question:
    """The unknown attributes of some records, and what is believed of them before the release.

    `labels` are what the values of each attribute are called, `rows` the records to attack, and
    `backend` the kind of frame that went in.
    """

    unknown: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]
    rows: NDArray[np.int64]
    prior: Prior
    prior_name: str
    backend: Backend

    def distinct(
        self, original: Coded, columns: Iterable[str], chosen: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return places among `rows` that stand for all chosen ones, and which stands for each.

        Records that agree on the given columns have the same posterior. `chosen` are places, too.
        """
        places = np.arange(len(self.rows)) if chosen is None else chosen
        if self.prior_name == "given" and np.ndim(self.prior) > 1:
            return places, np.arange(len(places))
        names = [name for name in original.names if name in set(columns)]
        groups = group_ids(original.take(self.rows[places]), names)
        return places[groups.representatives], groups.ids.astype(np.int64)

    def answer(  # noqa: PLR0913  # all that a result is made of
        self,
        mode: Mode,
        beliefs: Beliefs,
        guesses: Sequence[str],
        candidates: int,
        *,
        more: Mapping[str, NDArray[Any]] | None = None,
        reasons: Mapping[str, str] | None = None,
        notes: Iterable[str] = (),
        fixed: StrongAttack | None = None,
    ) -> StrongAttack:
        """Return the result of an attack; guesses are the most probable candidates in words."""
        found, told = dict(more or {}), dict(reasons or {})
        if np.isnan(beliefs.posterior).any():
            told["posterior"] = "the release has probability 0 in every world that the prior allows"
        excluded = int(np.count_nonzero(beliefs.prior == 0))
        if excluded:
            told["gain_bits"] = f"the prior excludes the truth of {counted(excluded, 'record')}"
        if beliefs.marginals:
            found.setdefault("rank", beliefs.rank)
        return StrongAttack(
            self.unknown,
            mode,
            self.prior_name,
            self.rows,
            beliefs.prior,
            beliefs.posterior,
            tuple(guesses),
            beliefs.right_before,
            beliefs.right_after,
            np.full(len(self.rows), min(candidates, np.iinfo(np.int64).max)),
            found,
            dict(zip(self.unknown, beliefs.marginals, strict=True)) if beliefs.marginals else {},
            self.labels,
            told,
            tuple(notes),
            fixed,
            _backend=self.backend,
        )


@dataclass(frozen=True, eq=False)
class Listed:
    """A question with a list of candidates, all of which are compared.

    `truth` is the candidate that each record of the original is; -1 if it is none of them.
    """

    question: Question
    candidates: Candidates
    truth: NDArray[np.int64]

    @cached_property
    def _frequency(self) -> NDArray[np.int64]:
        """How many records each candidate is."""
        return np.bincount(self.truth[self.truth >= 0], minlength=len(self.candidates))

    @cached_property
    def _counts(self) -> dict[str, NDArray[np.int64]]:
        """How many records have each value of each unknown attribute."""
        codes = self.candidates.codes
        return {
            name: np.bincount(column, self._frequency, size).astype(np.int64)
            for name, column, size in zip(
                codes.names, codes.columns, codes.cardinalities, strict=True
            )
        }

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        question = self.question
        return read_weights(question.prior, len(self.candidates), len(question.rows))

    def log_prior(
        self, rows: NDArray[np.int64], places: NDArray[np.int64] | slice
    ) -> NDArray[np.float64]:
        """Return the log prior, records by candidates or one row for all; not normalised.

        `places` say where these records stand among all that are attacked. An informed prior is
        the likelihood's affair.
        """
        if self.question.prior_name == "given":
            return self._weights[places] if len(self._weights) > 1 else self._weights
        if self.question.prior_name == "marginal":
            return self.marginal_prior(rows)
        return np.zeros((1, len(self.candidates)))

    def marginal_prior(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the log of the product of the attributes' shares among the other records."""
        return marginal_logs(self.candidates, self._counts, self.truth[rows])

    def beliefs(
        self, rows: NDArray[np.int64], log_prior: NDArray[np.float64], logs: NDArray[np.float64]
    ) -> Beliefs:
        """Return what is believed of some records, given the log likelihood of each candidate."""
        truth = self.truth[rows]
        others = popularity(self._frequency, truth)
        return Beliefs.of(log_prior, logs, truth, others, self.candidates)

    def answer(self, mode: Mode, beliefs: Beliefs, **said: Any) -> StrongAttack:  # noqa: ANN401  # see `Question`
        """Return the result of an attack."""
        guesses = self.candidates.labels(self.question.labels, beliefs.guess)
        return self.question.answer(mode, beliefs, guesses, len(self.candidates), **said)
