"""Questions to the records: their tables, asked through an accountant alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.privacy.accountant import ROUNDING_OF_SCORES
from understudy.synthesis.marginals.measurement import Measurement, estimated_total
from understudy.synthesis.marginals.tree import Columns
from understudy.synthesis.marginals.workload import Candidates
from understudy.wording import quoted

if TYPE_CHECKING:
    from understudy.privacy import Accountant

EXPECTED_NOISE = math.sqrt(2 / math.pi)
"""The mean distance of Gaussian noise from zero, in standard deviations."""

_UNLIKELY = 4.0
"""So many standard errors away, the number of records inside the domain is not the public one."""


@dataclass(frozen=True, eq=False)
class Questions:
    """What may be asked of the records, with the accountant who adds noise and keeps the ledger.

    Parameters
    ----------
    names : tuple of str
        The columns.
    candidates : Candidates
        The tables that may be asked for.
    counts : ndarray of int32
        The records of all their cells: nothing but the accountant's noise may be told of them.
    accountant : Accountant
        Pays for every question.
    """

    names: tuple[str, ...]
    candidates: Candidates
    counts: NDArray[np.int32]
    accountant: Accountant

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of codes of each column."""
        return self.candidates.sizes

    @cached_property
    def _numbers(self) -> dict[Columns, int]:
        return {own: number for number, own in enumerate(self.candidates.sets.columns)}

    def number_of(self, columns: Columns) -> int | None:
        """Return the place of a table among the candidates; None if it is not one of them."""
        return self._numbers.get(columns)

    def measure(self, number: int, cost: Fraction) -> Measurement:
        """Return the noisy counts of a table."""
        columns = self.candidates.sets.columns[number]
        what = f"values of {quoted(self.names[column] for column in columns)}"
        counts = self.candidates.table(number, self.counts)
        found = self.accountant.counts(what, counts, cost)
        return Measurement(columns, found, self.accountant.scale_of(cost))

    def measure_all(self, sets: Iterable[Columns], budget: Fraction) -> list[Measurement]:
        """Return the noisy counts of several tables, which cost the budget together."""
        own = [self._numbers[columns] for columns in sets]
        costs = self.accountant.split(budget, self.candidates.cells[own].tolist())
        return [self.measure(number, cost) for number, cost in zip(own, costs, strict=True)]

    def choose(
        self, what: str, scores: NDArray[np.float64], numbers: NDArray[np.int64], cost: Fraction
    ) -> int:
        """Return one of some candidates that is likely to have one of the largest scores.

        A score is a distance between counts and what is public, times a weight of at most 1, and
        plus what is public: one record changes it by no more than it changes the counts.
        """
        chosen = self.accountant.choose(what, scores[numbers], self.score_sensitivity, cost)
        return int(numbers[chosen])

    @property
    def score_sensitivity(self) -> float:
        """How much a score changes at most between neighbouring tables."""
        return self.accountant.l1 + ROUNDING_OF_SCORES


def total_of(measurements: Sequence[Measurement], rows: int, *, public: bool) -> float:
    """Return the number of records that tables sum to.

    It is the public one if there is one, unless it is clear that some records were left out.
    """
    found, error = estimated_total(measurements)
    if public and abs(found - rows) <= _UNLIKELY * error:
        return float(rows)
    return max(found, 1.0)
