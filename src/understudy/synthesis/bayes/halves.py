"""A column of numbers drawn in steps: whether there is a number, then in which half it lies.

A row of a table that is drawn towards the row above loses as much of what tells high from low as of
what tells a bin from the next one, though the records of the row know the first far better. Here a
number is found in steps: the lower or the upper half of the bins, then half of that half, and so
on. Each step is a table of its own, smoothed as its own left-out records advise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Codes, code_dtype
from understudy.data.coders import Coder
from understudy.synthesis.bayes.levels import ordered_numbers
from understudy.synthesis.sampler import ABSENT, ColumnTable, Entries, Shrinkage
from understudy.synthesis.shrinkage import (
    LEAST_STRENGTH,
    Cells,
    NestedRows,
    ShrunkRows,
    fit_levels,
)
from understudy.synthesis.tables import ConditionalTable, Ranges

FEWEST_NUMBERS = 5
"""Numbers that a column has, at least, to be drawn in steps."""

MOST_OTHERS = 254
"""Codes that stand for no number, at most: a step has few values."""

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Step:
    """One step towards the code of a column.

    Parameters
    ----------
    values : ndarray of int64
        For each code, what is drawn in this step; `ABSENT` if the code is known before.
    parts : ndarray
        For each code, the part of the codes that was drawn so far; 0 if it is known before.
    leads : ndarray of int64, shape (parts, values)
        For each part and what is drawn there, the part of the next step, or ``-1 - code`` if the
        code is known.
    """

    values: Integers
    parts: Codes
    leads: Integers

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of parts, if these are told apart."""
        return (len(self.leads),) if len(self.leads) > 1 else ()

    @property
    def cardinality(self) -> int:
        """The number of values."""
        return int(self.leads.shape[1])


def steps_of(coder: Coder, cardinality: int) -> tuple[Step, ...]:
    """Return the steps in which the codes of a column are drawn; none if it has few numbers.

    The first says whether there is a number: a special value, and a missing one, are values of
    their own. It is left out if there are none. Each further one halves what is left of the bins,
    or of the listed numbers.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from understudy.data.coders import NumberLevelCoder
    >>> ages = NumberLevelCoder(np.array([20, 30, 40, 50, 60]), pa.int64(), "age")
    >>> [step.values.tolist() for step in steps_of(ages, 6)]  # the last code stands for missing
    [[0, 0, 0, 0, 0, 1], [0, 0, 1, 1, 1, -1], [0, 1, 0, 1, 1, -1], [-1, -1, -1, 0, 1, -1]]
    """
    order = ordered_numbers(coder)
    if order is None or len(order) < FEWEST_NUMBERS:
        return ()
    found = []
    others = np.setdiff1d(np.arange(cardinality), order)
    if len(others) > MOST_OTHERS:
        return ()
    if len(others):
        values = np.zeros(cardinality, np.int64)
        values[others] = np.arange(1, len(others) + 1)
        leads = np.append(0, -1 - others)[None]
        found.append(Step(values, np.zeros(cardinality, np.uint8), leads))
    parts = [order]
    while parts:
        values, part_of = np.full(cardinality, ABSENT), np.zeros(cardinality, np.int64)
        halves = [(part[: len(part) // 2], part[len(part) // 2 :]) for part in parts]
        following: list[NDArray[np.intp]] = []
        leads = np.empty((len(parts), 2), np.int64)
        for place, pair in enumerate(halves):
            for value, half in enumerate(pair):
                values[half], part_of[half] = value, place
                leads[place, value] = len(following) if len(half) > 1 else -1 - half[0]
                following += [half] if len(half) > 1 else []
        found.append(Step(values, part_of.astype(code_dtype(len(parts))), leads))
        parts = following
    return tuple(found)


@dataclass(frozen=True, eq=False)
class StepRows:
    """The rows of a table as a step draws from them: those of each part of the codes by themselves.

    A row of several parts lies in that of the same part with a parent fewer, and the row of a part
    without any parents in one of all parts together.

    Parameters
    ----------
    step : Step
        The step.
    rows : ShrunkRows
        The rows, and what the step draws for the records in them.
    above : ndarray of int64
        The row above each row of the table, -1 for none.
    became : tuple of ndarray of int64
        What the rows of the table became, as `part_rows` returns it.
    """

    step: Step
    rows: ShrunkRows
    above: Integers
    became: tuple[Integers, Integers, Integers]

    @classmethod
    def of(
        cls, whole: ConditionalTable, step: Step, min_count: int, strengths: Floats | None
    ) -> tuple[StepRows, float]:
        """Return the rows of a table, and the log likelihood of left-out records if it is found.

        They are smoothed with a strength for no parent and for each further one, or as left-out
        records advise.
        """
        from understudy.synthesis.bayes.step_kernels import part_cells, part_rows

        nested, held = whole.nested, whole.cells
        known = nested.starts, nested.lengths, nested.above, nested.bounds
        cells = held.begins, held.values, held.counts
        parted = step.values, step.parts, len(step.leads)
        own, became = part_rows(known, cells, parted)
        values = Cells.from_counts(*part_cells(known, cells, parted, step.cardinality))
        rows, base = NestedRows(*own), np.full(step.cardinality, 1 / step.cardinality)
        # All parts together mean nothing: what is drawn in one has no likeness in another.
        first = LEAST_STRENGTH if step.sizes else None
        left_out = np.nan
        if strengths is None:
            fitted = fit_levels(rows, values, base, min_count, first=first)
            found, left_out = np.array(fitted.strengths), fitted.total
        else:
            found = np.append([first] if step.sizes else [], strengths)
        shrinkage = Shrinkage(found, base, min_count)
        return cls(step, ShrunkRows(rows, values, shrinkage), nested.above, became), left_out

    @property
    def strengths(self) -> Floats:
        """How far it is smoothed, for no parent and for each further one."""
        return self.rows.shrinkage.strengths[len(self.step.sizes) :]

    def numbers(self, numbers: Integers, part: Integers) -> Integers:
        """Return the row of each row of the table, or of the first above it that has the part."""
        from understudy.synthesis.bayes.step_kernels import find_parts

        found = np.full(len(numbers), 0 if self.step.sizes else -1, np.int64)
        find_parts(numbers, part, self.above, self.became, found)
        return found


@dataclass(frozen=True, eq=False)
class SteppedTable:
    """The distribution of a column of numbers given its parents, drawn in steps.

    Parameters
    ----------
    whole : ConditionalTable
        The records by all their codes.
    steps : tuple of StepRows
        What each step draws from.
    left_out : float
        The log likelihood, in nats, of all records, each under the others alone; nan if the
        strengths were given.
    """

    whole: ConditionalTable
    steps: tuple[StepRows, ...]
    left_out: float

    @classmethod
    def of(
        cls,
        whole: ConditionalTable,
        steps: tuple[Step, ...],
        min_count: int = 1,
        strengths: Floats | None = None,
    ) -> SteppedTable:
        """Return the table in steps, smoothed as given, or as left-out records advise.

        Strengths are those of `SteppedTable.strengths`.
        """
        if strengths is None:
            own: list[Floats | None] = [None] * len(steps)
        else:
            own = list(np.transpose(strengths))
            fits = strengths.shape == (len(whole.ranges.sizes) + 1, len(steps))
            if not fits or not np.isfinite(strengths).all() or strengths.min() < 0:
                raise ValueError("strengths of smoothing that do not fit the steps")
        found = [
            StepRows.of(whole, step, min_count, one) for step, one in zip(steps, own, strict=True)
        ]
        return cls(whole, tuple(rows for rows, _ in found), sum(total for _, total in found))

    @property
    def cardinality(self) -> int:
        """The number of codes of the column."""
        return self.whole.cardinality

    @property
    def records(self) -> int:
        """How many records there are."""
        return self.whole.records

    def compact(self) -> SteppedTable:
        """Return the table with codes counted, which does not grow with the records."""
        return replace(self, whole=self.whole.compact())

    @property
    def ranges(self) -> Ranges:
        """Where the records of each combination of the parents' codes stand."""
        return self.whole.ranges

    @property
    def shrinkage(self) -> Shrinkage:
        """How the first step is smoothed."""
        return self.steps[0].rows.shrinkage

    @property
    def strengths(self) -> Floats:
        """How far each step (column) is smoothed, for no parent and for each further one (row)."""
        return np.stack([one.strengths for one in self.steps], axis=1)

    def draw(self, parents: Sequence[Codes], rows: int, rng: np.random.Generator) -> Codes:
        """Draw the column for `rows` records with the given codes of the parents."""
        drawn = np.empty(rows, code_dtype(self.cardinality))
        numbers = self.whole.ranges.numbers(parents, rows)
        open_rows, part = np.arange(rows), np.zeros(rows, np.int64)
        for one in self.steps:
            values = one.rows.draw(one.numbers(numbers, part), rng.random(len(open_rows)))
            led = one.step.leads[part, values]
            known = led < 0
            drawn[open_rows[known]] = -1 - led[known]
            open_rows, numbers, part = open_rows[~known], numbers[~known], led[~known]
        return drawn

    def probability(self, child: Codes, parents: Sequence[Codes]) -> Floats:
        """Return the probability with which `draw` gives each code of `child`."""
        found = np.ones(len(child))
        numbers = self.whole.ranges.numbers(parents, len(child))
        for one in self.steps:
            values = one.step.values[child]
            there = np.flatnonzero(values >= 0)
            part = one.step.parts[child[there]].astype(np.int64)
            rows = one.numbers(numbers[there], part)
            found[there] *= one.rows.probability(rows, values[there].astype(np.uint8))
        return found

    def cell_counts(self) -> NDArray[np.int64]:
        """Return the count of each combination of parents and column that occurs."""
        return self.whole.cell_counts()

    def code_counts(self) -> Integers:
        """Return how many records have each code of the column."""
        return self.whole.code_counts()

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the table of all codes as arrays; with the strengths, it gives the steps."""
        return self.whole.to_arrays()

    def sampling_tables(
        self, name: str, parents: Sequence[str], groups: Sequence[Codes | None]
    ) -> list[ColumnTable]:
        """Return the table of each step as a draw of its own; the column is a parent of itself."""
        found: list[ColumnTable] = []
        for one in self.steps:
            own = (name,) if one.step.sizes else ()
            maps = (one.step.parts,) if one.step.sizes else ()
            found.append(
                StepTable(
                    name,
                    one.step.cardinality,
                    (*own, *parents),
                    (*one.step.sizes, *self.whole.ranges.sizes),
                    Cells.of(one.rows.rows, one.rows.donors).donors,
                    one.rows.shrinkage,
                    (*maps, *groups),
                    one.step.values,
                )
            )
        return found


@dataclass(frozen=True, eq=False)
class StepTable(ColumnTable):
    """A step of a column that is drawn in steps: records whose code is known before are absent.

    `values` has what is drawn for each code of the column.
    """

    values: Integers = field(default_factory=lambda: np.empty(0, np.int64))

    def entries(self, known: Mapping[str, Codes], rows: int) -> Entries:
        """Return where records stand; `known` holds the codes of at least `columns`."""
        found = super().entries(known, rows)
        return Entries(self.values[found.values], found.parents)
