"""The exact audit of our own private models: fitted in one world, asked again in the other."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.data.coded import Coded
from understudy.privacy.noise import witnessed
from understudy.progress import quietly
from understudy.risk.privacy_audit.domain import Domain
from understudy.risk.privacy_audit.laws import law_of
from understudy.risk.privacy_audit.tables import DrawnTable, count, log_ratio_of_rows
from understudy.risk.privacy_audit.transcript import (
    OtherQuestionError,
    Question,
    Recorder,
    Replayer,
    largest_log_ratio,
    log_ratio,
)
from understudy.risk.privacy_audit.worlds import Pair
from understudy.synthesis import BayesNet, Independent
from understudy.synthesis.private import PrivateSynthesizer

CRAFTED_ROWS = 200
"""Rows of the release that is made up: all of them the record that only one world has."""


@dataclass(frozen=True, eq=False)
class Loss:
    """What one release tells about which of two worlds is true: logs of likelihood ratios.

    Parameters
    ----------
    model : float
        If the noisy answers are published, as in a model file; infinite if the other world cannot
        give this release.
    rows : float
        If synthetic rows and the structure are; nan if that is not known exactly.
    crafted : float
        The largest for a release that was not drawn, but could be: many copies of one record, or
        the noisy answers that tell most. It is infinite, and tells nothing, if noise is Gaussian.
    why : str
        Why it is infinite.
    questions : sequence of Question
        What was asked in the first world.
    """

    model: float
    rows: float = math.nan
    crafted: float = math.nan
    why: str = ""
    questions: Sequence[Question] = ()

    @property
    def drawn(self) -> float:
        """The largest loss, in either direction, of what was drawn."""
        return max(abs(one) for one in (self.model, self.rows) if not math.isnan(one))

    @property
    def largest(self) -> float:
        """The largest loss, in either direction, of all that was looked at."""
        return max(self.drawn, 0.0 if math.isnan(self.crafted) else abs(self.crafted))


@dataclass(frozen=True, eq=False)
class Fitted:
    """A private synthesizer with a public domain, to be fitted to made-up tables.

    Parameters
    ----------
    synthesizer : PrivateSynthesizer
        Its parameters alone are used.
    domain : Domain
        What the tables hold.
    released : int, optional
        Rows of a release; as many as the table has if not given.
    """

    synthesizer: PrivateSynthesizer
    domain: Domain
    released: int | None = None

    def loss(self, pair: Pair, seed: int) -> Loss:
        """Fit to the first table of a pair, and say what the release tells.

        Parameters
        ----------
        pair : Pair
            Two neighbouring tables.
        seed : int
            Decides the rows that are drawn; never the noise.
        """
        heard = Recorder()
        with quietly(), witnessed(heard):
            model = self._fit(pair.one, seed)
        asked = Replayer(heard.questions)
        try:
            with quietly(), witnessed(asked):
                again = self._fit(pair.other, seed)
            problem = "" if len(asked.questions) == len(heard.questions) else "a question less"
            problem = problem or _difference(model, again)
        except OtherQuestionError as error:
            problem = str(error)
        if problem:
            why = f"With the same noisy answers, the release differs: {problem}."
            return Loss(math.inf, why=why, questions=heard.questions)
        ratio = log_ratio(heard.questions, asked.questions)
        if not isinstance(model, BayesNet | Independent):
            most = largest_log_ratio(heard.questions, asked.questions)
            return Loss(ratio, crafted=most, questions=heard.questions)
        rows = model.sample_coded(self.released or len(pair.one), seed)
        crafted = copies(rows, pair.record)
        made_up = rows_log_ratio(model, heard.questions, asked.questions, crafted)
        return Loss(
            ratio,
            rows_log_ratio(model, heard.questions, asked.questions, rows),
            max(abs(made_up), largest_log_ratio(heard.questions, asked.questions)),
            questions=heard.questions,
        )

    def _fit(self, coded: Coded, seed: int) -> PrivateSynthesizer:
        own = self.synthesizer
        made = {"random_state": seed, "spend_on_domain": 0}
        synthesizer = type(own)(**(own.get_params() | made))
        return synthesizer.fit(self.domain.frame(coded, seed), self.domain.schema)


def rows_log_ratio(
    model: BayesNet | Independent,
    one: Sequence[Question],
    other: Sequence[Question],
    rows: Coded,
) -> float:
    """Return the log of how much more probable rows and a structure are in the first world."""
    chosen = [(own, its) for own, its in zip(one, other, strict=True) if not own.counts]
    structure = log_ratio(*map(list, zip(*chosen, strict=True))) if chosen else 0.0
    return structure + log_ratio_of_rows(_tables(model, one, other, rows))


def _tables(
    model: BayesNet | Independent,
    one: Sequence[Question],
    other: Sequence[Question],
    rows: Coded,
) -> Iterator[DrawnTable]:
    """Yield the tables that rows were drawn from: the last that were counted, in their order."""
    if isinstance(model, BayesNet):
        families = [(*parents, child) for child, parents in model.network_.parents.items()]
    else:
        families = [(name,) for name in model.codec_.names]
    counted = [(own, its) for own, its in zip(one, other, strict=True) if own.counts]
    for names, (own, its) in zip(families, counted[-len(families) :], strict=True):
        values = own.truth.shape[-1]
        first, second = own.truth.reshape(-1, values), its.truth.reshape(-1, values)
        released = count(rows, names, first.shape)
        yield DrawnTable(released, first, second, law_of(own.mechanism, own.scale))


def copies(rows: Coded, record: tuple[int, ...]) -> Coded:
    """Return a release that could be drawn, though it hardly ever is: copies of one record."""
    number = max(CRAFTED_ROWS, len(rows))
    columns = tuple(
        np.full(number, code, column.dtype)
        for code, column in zip(record, rows.columns, strict=True)
    )
    return Coded(rows.names, columns, rows.cardinalities)


def _difference(one: PrivateSynthesizer, other: PrivateSynthesizer) -> str:
    """Return in what two models differ that got the same answers; empty if in nothing."""
    (plain, arrays), (its_plain, its_arrays) = one.contents(), other.contents()
    for name, value in plain.items():
        if _text(value) != _text(its_plain.get(name)):
            return f"its {_PARTS.get(name, name)} is another"
    same = arrays.keys() == its_arrays.keys() and all(
        np.array_equal(array, its_arrays[name], equal_nan=array.dtype.kind == "f")
        for name, array in arrays.items()
    )
    return "" if same else "what it learnt is another"


_PARTS = {"rows": "number of records", "codec": "domain", "params": "set of parameters"}


def _text(value: Any) -> str:  # noqa: ANN401  # whatever a model file says
    return json.dumps(value, sort_keys=True, default=str)
