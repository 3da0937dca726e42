"""AIM: measures, round by round, the table that the model so far gets most wrong.

McKenna, Mullins, Sheldon, Miklau (2022), AIM: an adaptive and iterative mechanism for
differentially private synthetic data, doi:10.14778/3551793.3551817.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from understudy.progress import track
from understudy.synthesis.marginals.budget import FOR_CHOICE
from understudy.synthesis.marginals.distribution import Distribution
from understudy.synthesis.marginals.measurement import Measurement, Wanted
from understudy.synthesis.marginals.questions import EXPECTED_NOISE, Questions
from understudy.synthesis.marginals.tree import Tree

ROUNDS_FOR_A_COLUMN = 3
"""Rounds for each column, if no round gets more than its part of the budget."""

MORE = 4
"""How many times as much later rounds may cost, once a round has found nothing but noise."""

PENALTY = 1.25
"""How much the expected noise of a table counts against it, beside what the model gets wrong.

This was chosen on Adult and cmc, and the rounds on Adult, among settings that differ by little more
than their noise. These are public tables. benchmarks/private.py measures what they give.
"""

LEAST_SCORE = -(2.0**32)
"""Nothing with so low a score is ever chosen. Scores far below would be rounded too coarsely."""

STEPS, LAST_STEPS = 70, 1000
"""Rounds of mirror descent at most, after each measurement and in the end."""

_FEWEST_ROWS, _MOST_ROWS = 2_000, 2**18
"""How many rows are drawn of the model to see what it says of all tables."""

_ROWS_FOR_A_RECORD = 4
"""Rows for each record: with as many as records, chance in rows would look like something wrong."""


def aim(
    questions: Questions,
    known: Sequence[Measurement],
    total: float,
    most_cells: float,
    rng: np.random.Generator,
) -> tuple[list[Measurement], Distribution]:
    """Return measurements for all that is left of the budget, after those known, and their model.

    Parameters
    ----------
    questions : Questions
        What may be asked.
    known : sequence of Measurement
        The tables of single columns.
    total : float
        The number of records.
    most_cells : float
        How many cells the model may have when all is spent; before, in proportion.
    rng : numpy.random.Generator
        Draws rows of the model, to see what it says.
    """
    accountant, candidates = questions.accountant, questions.candidates
    measured = list(known)
    budget = accountant.left
    cost = budget / (ROUNDS_FOR_A_COLUMN * len(questions.sizes))
    model = Distribution(questions.sizes, {}).fitted(Wanted.of(measured), total, STEPS)
    for left in track(_while_left(questions), lambda: _said(questions)):
        # A rest that is too little for another round is spent with this one.
        cost = left if left < 2 * cost else cost
        scale = accountant.scale_of(cost * (1 - FOR_CHOICE))
        limit = most_cells * float(1 - (left - cost) / budget)
        usable = _usable(questions, measured, limit)
        drawn = model.draw(int(np.clip(_ROWS_FOR_A_RECORD * total, _FEWEST_ROWS, _MOST_ROWS)), rng)
        wrong = candidates.distances(drawn, questions.counts, total)
        noise = EXPECTED_NOISE * scale * candidates.cells
        scores = candidates.weights * np.maximum(wrong - PENALTY * noise, LEAST_SCORE)
        what = "a table that the model gets wrong"
        chosen = questions.choose(what, scores, usable, cost * FOR_CHOICE)
        measured.append(questions.measure(chosen, cost * (1 - FOR_CHOICE)))
        before = candidates.shares(chosen, drawn) * total
        model = model.fitted(Wanted.of(measured), total, STEPS)
        after = model.marginal(measured[-1].columns) * total
        if np.abs(after - before).sum() <= noise[chosen]:
            cost *= MORE
    return measured, model


def _while_left(questions: Questions) -> Iterator[Fraction]:
    while questions.accountant.left > 0:
        yield questions.accountant.left


def _said(questions: Questions) -> str:
    accountant = questions.accountant
    spent = float(1 - accountant.left / accountant.total)
    return f"Measuring tables ({spent:.0%} of the budget spent)"


def _usable(
    questions: Questions, measured: Sequence[Measurement], limit: float
) -> NDArray[np.int64]:
    """Return the candidates that keep the model small; those of its own tables always do."""
    sets = [one.columns for one in measured]
    largest = max(limit, Tree.of(sets, questions.sizes).cells)
    cells = questions.candidates.sets.cells_in_tree(sets, questions.sizes, largest)
    return np.flatnonzero(cells <= largest)
