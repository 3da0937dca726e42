"""All questions that a model asked of its records, and what they would have been in another world.

A private model is a function of the noisy answers to its questions, and of nothing else that
depends on the records. So it is fitted in one world, and once more in the other, where it gets the
answers of the first. Each question is then asked in both worlds, and how probable its answer was is
known exactly. If the model differs although all answers are the same, something reached it without
noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from understudy.errors import UnderstudyError
from understudy.privacy.ledger import Mechanism
from understudy.privacy.noise import Answer
from understudy.risk.privacy_audit.choices import log_chance
from understudy.risk.privacy_audit.laws import law_of


class OtherQuestionError(UnderstudyError):
    """In another world, other questions are asked after the same answers."""


@dataclass(frozen=True, eq=False)
class Question:
    """A question to the records, and its noisy answer.

    Parameters
    ----------
    mechanism : str
        How noise was added.
    truth : ndarray
        The counts, or the scores to choose by.
    scale : float
        The scale of the noise.
    answer : ndarray or int
        The noisy counts, or the place that was chosen.
    """

    mechanism: Mechanism
    truth: NDArray[Any]
    scale: float
    answer: NDArray[np.int64] | int

    @property
    def counts(self) -> bool:
        """Whether it asked for counts, and not for a choice."""
        return not isinstance(self.answer, int)

    @property
    def noise(self) -> NDArray[np.int64]:
        """What was added to the counts."""
        return np.asarray(self.answer - self.truth).ravel()

    def log_chance(self) -> float:
        """Return the log probability of the answer."""
        if isinstance(self.answer, int):
            return log_chance(self.mechanism, self.truth, self.scale, self.answer)
        noise = self.noise.astype(np.float64)
        return float(law_of(self.mechanism, self.scale).log_mass(noise).sum())


class Recorder:
    """Hears all questions and their answers, which are drawn."""

    def __init__(self) -> None:
        self.questions: list[Question] = []

    def answer(
        self,
        mechanism: Mechanism,
        truth: NDArray[Any],
        scale: float,
        draw: Callable[[], Answer],
    ) -> Answer:
        """Return the answer to a question for counts, or to a choice by scores."""
        found = self._answer(mechanism, truth, draw)
        self.questions.append(Question(mechanism, truth.copy(), scale, copy(found)))
        return found

    def _answer(
        self,
        mechanism: Mechanism,  # noqa: ARG002  # whatever it is, it is drawn
        truth: NDArray[Any],  # noqa: ARG002
        draw: Callable[[], Answer],
    ) -> Answer:
        return draw()


class Replayer(Recorder):
    """Hears all questions in another world, and answers as before.

    Parameters
    ----------
    before : list of Question
        The questions in the first world.

    Raises
    ------
    OtherQuestionError
        If a question is not that of the first world.
    """

    def __init__(self, before: list[Question]) -> None:
        super().__init__()
        self.before = before

    def _answer(
        self,
        mechanism: Mechanism,
        truth: NDArray[Any],
        draw: Callable[[], Answer],  # noqa: ARG002  # it was drawn before
    ) -> Answer:
        place = len(self.questions)
        if place >= len(self.before):
            raise OtherQuestionError("one more question was asked")
        found = self.before[place]
        if found.mechanism != mechanism or found.truth.shape != truth.shape:
            raise OtherQuestionError(
                f"question {place + 1} was about {found.truth.size:,} numbers in one world and "
                f"about {truth.size:,} in the other"
            )
        return cast("Answer", copy(found.answer))


def log_ratio(one: list[Question], other: list[Question]) -> float:
    """Return the log of how much more probable the same answers are in one world."""
    return math.fsum(
        own.log_chance() - its.log_chance()
        for own, its in zip(one, other, strict=True)
        if own.scale != its.scale or not np.array_equal(own.truth, its.truth)
    )


def largest_log_ratio(one: list[Question], other: list[Question]) -> float:
    """Return the largest log ratio of two worlds, over all answers to the same questions.

    Gaussian noise has none: the farther out an answer is, the more it tells.
    """
    return math.fsum(_largest(own, its) for own, its in zip(one, other, strict=True))


def _largest(own: Question, its: Question) -> float:
    if np.array_equal(own.truth, its.truth):
        return 0.0
    if own.mechanism == "discrete Laplace":
        return float(np.abs(own.truth - its.truth).sum() / own.scale)
    if own.mechanism == "discrete Gaussian":
        return math.inf
    return max(
        abs(replace(own, answer=place).log_chance() - replace(its, answer=place).log_chance())
        for place in range(len(own.truth))
    )
