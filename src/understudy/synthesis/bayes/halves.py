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

from understudy.data.coded import Coded, Codes, code_dtype
from understudy.data.coders import Coder
from understudy.synthesis.bayes.levels import ordered_numbers
from understudy.synthesis.sampler import ABSENT, ColumnTable, Entries, Shrinkage
from understudy.synthesis.shrinkage import LEAST_STRENGTH
from understudy.synthesis.tables import ConditionalTable, Ranges

FEWEST_NUMBERS = 5
"""Numbers that a column has, at least, to be drawn in steps."""

Integers = NDArray[np.int64]


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
class SteppedTable:
    """The distribution of a column of numbers given its parents, drawn in steps.

    Parameters
    ----------
    whole : ConditionalTable
        The records by all their codes.
    steps : tuple of Step
        The steps.
    tables : tuple of ConditionalTable
        The table of each step: its values given the part that was drawn so far, if there are
        several, and the parents of `whole`.
    """

    whole: ConditionalTable
    steps: tuple[Step, ...]
    tables: tuple[ConditionalTable, ...]

    @classmethod
    def of(
        cls,
        whole: ConditionalTable,
        steps: tuple[Step, ...],
        min_count: int = 1,
        strengths: NDArray[np.float64] | None = None,
    ) -> SteppedTable:
        """Return the table in steps, smoothed as given, or as left-out records advise.

        Strengths are those of `SteppedTable.strengths`.
        """
        if strengths is not None and strengths.shape != (len(whole.ranges.sizes) + 1, len(steps)):
            raise ValueError("strengths of other steps")
        configurations, begins = whole.ranges.seen
        sizes = np.diff(np.append(begins, whole.records))
        donors = whole.donors
        parents = [np.repeat(codes, sizes) for codes in configurations.T]
        tables = []
        for place, step in enumerate(steps):
            values = step.values[donors]
            there = slice(None) if values.min(initial=0) >= 0 else np.flatnonzero(values >= 0)
            columns = [codes[there] for codes in parents]
            if step.sizes:
                columns.insert(0, step.parts[donors[there]])
            columns.append(values[there].astype(np.uint8))
            names = tuple(str(place) for place in range(len(columns)))
            coded = Coded(
                names, tuple(columns), (*step.sizes, *whole.ranges.sizes, step.cardinality)
            )
            own = None
            # All parts together mean nothing: what is drawn in one has no likeness in another.
            first = LEAST_STRENGTH if step.sizes else None
            if strengths is not None:
                own = np.append([first] if step.sizes else [], strengths[:, place])
            table = ConditionalTable.of(coded, names[-1], names[:-1])
            tables.append(table.shrunk(own, min_count, first))
        return cls(whole, steps, tuple(tables))

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
        tables = tuple(table.compact() for table in self.tables)
        return replace(self, whole=self.whole.compact(), tables=tables)

    @property
    def donors(self) -> Codes:
        """The codes of all records, by the parents' codes, increasing within each."""
        return self.whole.donors

    @property
    def ranges(self) -> Ranges:
        """Where the records of each combination of the parents' codes stand in `donors`."""
        return self.whole.ranges

    @property
    def shrinkage(self) -> Shrinkage | None:
        """How the first step is smoothed."""
        return self.tables[0].shrinkage

    @property
    def strengths(self) -> NDArray[np.float64]:
        """How far each step (column) is smoothed, for no parent and for each further one (row)."""
        own = [table.shrinkage for table in self.tables]
        return np.stack(
            [
                one.strengths[len(step.sizes) :]
                for one, step in zip(own, self.steps, strict=True)
                if one is not None
            ],
            axis=1,
        )

    @property
    def left_out(self) -> float:
        """The log likelihood, in nats, of all records, each under the others alone."""
        return sum(table.left_out for table in self.tables)

    def draw(self, parents: Sequence[Codes], rows: int, rng: np.random.Generator) -> Codes:
        """Draw the column for `rows` records with the given codes of the parents."""
        drawn = np.empty(rows, code_dtype(self.cardinality))
        open_rows, part = np.arange(rows), np.zeros(rows, np.int64)
        for step, table in zip(self.steps, self.tables, strict=True):
            given = [codes[open_rows] for codes in parents]
            if step.sizes:
                given.insert(0, part.astype(step.parts.dtype))
            led = step.leads[part, table.draw(given, len(open_rows), rng)]
            known = led < 0
            drawn[open_rows[known]] = -1 - led[known]
            open_rows, part = open_rows[~known], led[~known]
        return drawn

    def probability(self, child: Codes, parents: Sequence[Codes]) -> NDArray[np.float64]:
        """Return the probability with which `draw` gives each code of `child`."""
        found = np.ones(len(child))
        for step, table in zip(self.steps, self.tables, strict=True):
            values = step.values[child]
            there = np.flatnonzero(values >= 0)
            given = [codes[there] for codes in parents]
            if step.sizes:
                given.insert(0, step.parts[child[there]])
            found[there] *= table.probability(values[there].astype(np.uint8), given)
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
        for step, table in zip(self.steps, self.tables, strict=True):
            own = (name,) if step.sizes else ()
            maps = (step.parts,) if step.sizes else ()
            found.append(
                StepTable(
                    name,
                    table.cardinality,
                    (*own, *parents),
                    table.ranges.sizes,
                    table.donors,
                    table.shrinkage,
                    (*maps, *groups),
                    step.values,
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
