"""What is asked of which records, and how beliefs become a result, whatever the likelihood."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.counting import group_ids
from understudy.data.coded import Coded
from understudy.data.frames import Backend
from understudy.risk.strong.beliefs import Beliefs, Prior, marginal_logs, popularity, read_weights
from understudy.risk.strong.candidates import Candidates
from understudy.risk.strong.result import Mode, StrongAttack
from understudy.wording import counted


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
        self, original: Coded, columns: Iterable[str]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return rows that stand for all attacked ones, and which of them stands for each.

        Records that agree on the given columns have the same posterior.
        """
        if self.prior_name == "given" and np.ndim(self.prior) > 1:
            return self.rows, np.arange(len(self.rows))
        names = [name for name in original.names if name in set(columns)]
        groups = group_ids(original.take(self.rows), names)
        return self.rows[groups.representatives], groups.ids.astype(np.int64)

    def answer(
        self,
        mode: Mode,
        beliefs: Beliefs,
        guesses: Sequence[str],
        candidates: int,
        *,
        more: Mapping[str, NDArray[Any]] | None = None,
        reasons: Mapping[str, str] | None = None,
        notes: Iterable[str] = (),
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

    def log_prior(self, rows: NDArray[np.int64], place: slice) -> NDArray[np.float64]:
        """Return the log prior, records by candidates or one row for all; not normalised.

        `place` says where these records stand among all that are compared. An informed prior is
        the likelihood's affair.
        """
        if self.question.prior_name == "given":
            return self._weights[place] if len(self._weights) > 1 else self._weights
        if self.question.prior_name == "marginal":
            return marginal_logs(self.candidates, self._counts, self.truth[rows])
        return np.zeros((1, len(self.candidates)))

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
