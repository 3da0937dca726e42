"""The numbers of a few records, on which most formulas are discarded before any is checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.data.dependencies.evidence import MOST_EXCEPTIONS
from understudy.data.dependencies.formulas import Floats
from understudy.data.dependencies.views import Views

FIRST_LOOK = 200
"""Records that a formula is first looked at with."""

SLACK = 10
"""On the first look, so many times the tolerated share of records may disagree."""

FEWEST = 15
"""Records with numbers that a formula needs to be looked at."""

FEWEST_MOVES = 6
"""Records with less common numbers that a suggestion rests on, at least."""

GLANCED = 0.75
"""Share of the first few records that must agree before more are looked at."""

_MORE = 4
"""Of so many times the records that are looked at, the fullest are taken."""


@dataclass(frozen=True, eq=False)
class Looks:
    """Columns of numbers, and how far each number may be off."""

    views: Views
    names: Sequence[str]

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each column stands."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def _sampled(self) -> tuple[Floats, Floats, Floats]:
        small = self.views.sample
        floats = np.stack([small[name].floats for name in self.names])
        room = np.stack([small[name].tolerance for name in self.names])
        few = np.array([self.views[name].few_levels for name in self.names])
        return floats, np.where(few[:, None], exactly(room, floats), room), room

    def rows(self, count: int) -> NDArray[np.int64]:
        """Return some records; of a table with gaps, there may be none that has three columns."""
        gaps = np.count_nonzero(np.isnan(self._sampled[0]), axis=0)
        full = np.sort(np.argsort(gaps, kind="stable")[: _MORE * count])
        chosen = np.unique(np.linspace(0, len(full) - 1, count).astype(int))
        return np.asarray(full[chosen])

    def few(self, count: int) -> tuple[Floats, Floats]:
        """Return the numbers of a few records, column by column, and how far they may be off."""
        rows = self.rows(count)
        return self._sampled[0][:, rows], self._sampled[1][:, rows]

    @cached_property
    def first(self) -> tuple[Floats, Floats, Floats]:
        """The numbers of the first look, how far they may be off, and how far if rounded."""
        rows = self.rows(FIRST_LOOK)
        values, strict, tolerance = (one[:, rows] for one in self._sampled)
        return values, strict, tolerance

    def near(self, told: Floats) -> list[str]:
        """Return the columns that are mostly what a formula tells for the first look."""
        values, _, room = self.first
        known = ~np.isnan(told)
        if np.count_nonzero(known) < FEWEST:
            return []
        agree = np.abs(values[:, known] - told[known]) <= room[:, known]
        gaps = np.isnan(values[:, known])
        enough = np.count_nonzero(~gaps, axis=1) >= FEWEST
        found = enough & ((agree | gaps).mean(1) >= 1 - SLACK * MOST_EXCEPTIONS)
        return [name for name, good in zip(self.names, found, strict=True) if good]


def exactly(room: Floats, numbers: Floats) -> Floats:
    """Return how far numbers may be off that have few values: not at all.

    Otherwise anything would round to a few whole numbers.
    """
    return np.minimum(room, 1e-6 * (1 + np.abs(numbers)))


def mostly(agree: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether so many records agree that all are worth a look; row by row."""
    if agree.shape[-1] < FEWEST:
        return np.zeros(agree.shape[:-1], bool)
    return np.asarray(agree.mean(-1) >= 1 - SLACK * MOST_EXCEPTIONS)


def significant(value: Any, digits: int) -> float:  # noqa: ANN401  # a number of any kind
    """Return a number with so many digits that count.

    Examples
    --------
    >>> significant(0.45359237, 3)
    0.454
    """
    return float(f"{value:.{digits - 1}e}") if np.isfinite(value) else 0.0


def round_numbers(value: float) -> list[float]:
    """Return numbers near one, the roundest first."""
    return list(dict.fromkeys(significant(value, digits) for digits in (1, 2, 3, 5, 8)))
