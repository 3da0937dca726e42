"""Rows within rows: each is drawn towards the row above it, as far as left-out records advise.

A row is a range of the donors of a table: the records that agree on some parents, or that reach a
node of a tree. The row above has a parent fewer, or is the node above, so its range contains the
row's. Whatever has such rows (a network's tables, a tree) draws, and finds probabilities and
strengths, by the functions here. `Shrinkage` has the formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Codes
from understudy.synthesis.sampler import Shrinkage

if TYPE_CHECKING:
    from understudy.synthesis.kernels import Held

Positions: TypeAlias = NDArray[np.int64]
Probabilities: TypeAlias = NDArray[np.float64]

LEAST_STRENGTH = 0.5
"""What the row above is worth at least, in records, when left-out records decide.

So every value stays possible in every row, and one record never fills a row of its own.
"""

TRIED = (
    np.array([LEAST_STRENGTH * 4.0**step for step in range(11)], np.float64),
    np.array([2.0, 2.0**0.5], np.float64),
)
"""Strengths that are tried: first in coarse steps, then in finer ones around the best."""

SAME = 1e-9
"""Likelihoods this near, in nats a record, differ by rounding alone."""

# Donors up to which all of them are held to draw from, which is quicker than to look runs up.
_ONE_BY_ONE = 2**22
# Runs are found by so many of the leading bits of a place.
_GUIDE_BITS = 16


@dataclass(frozen=True, eq=False)
class NestedRows:
    """Rows within rows, numbered level by level from the row of all records.

    Parameters
    ----------
    starts, lengths : ndarray of int64
        The range of donors of each row; increasing within a level.
    above : ndarray of int64
        The number of the row above; -1 for the row of all records, which is row 0.
    bounds : ndarray of int64
        The first row of each level, and the number of rows.

    Examples
    --------
    Five records, of which two have the first parent's code 0 and three have 1; of these, one has
    the second parent's code 0 and two have 1:

    >>> rows = NestedRows.of(np.array([[0, 0], [1, 0], [1, 1]]), np.array([0, 2, 3]), 5)
    >>> rows.starts.tolist(), rows.lengths.tolist()
    ([0, 0, 2, 0, 2, 3], [5, 2, 3, 2, 1, 2])
    >>> rows.above.tolist(), rows.bounds.tolist()
    ([-1, 0, 0, 1, 2, 2], [0, 1, 3, 6])
    """

    starts: Positions
    lengths: Positions
    above: Positions
    bounds: Positions

    @classmethod
    def of(cls, configurations: Codes, begins: Positions, records: int) -> NestedRows:
        """Return the rows of sorted combinations of parents, and of all their beginnings.

        `begins` is where the records of each combination start.
        """
        starts, lengths, above = [], [], []
        bounds = [0, 1]
        number = np.zeros(len(begins), np.int64)
        for level in range(configurations.shape[1] + 1):
            new = np.ones(len(begins), bool)
            if level:
                column = configurations[:, level - 1]
                new[1:] = (number[1:] != number[:-1]) | (column[1:] != column[:-1])
                above.append(number[new])
                number = np.cumsum(new) - 1 + bounds[-1]
                bounds.append(int(number[-1]) + 1)
            else:
                new[1:] = False
                above.append(np.full(1, -1, np.int64))
            starts.append(begins[new])
            lengths.append(np.diff(np.append(starts[-1], records)))
        return cls(
            np.concatenate(starts),
            np.concatenate(lengths),
            np.concatenate(above),
            np.array(bounds, np.int64),
        )

    @property
    def levels(self) -> int:
        """How many rows lie within one another at most."""
        return len(self.bounds) - 1

    def splits(self, level: int) -> int:
        """Return by how many splits in two the rows above a level became its rows."""
        own = self.above[self.bounds[level] : self.bounds[level + 1]]
        return len(own) - len(np.unique(own))

    @cached_property
    def smallest(self) -> Positions:
        """The rows that have none within them, in the order of the donors."""
        inner = np.zeros(len(self.above), bool)
        inner[self.above[1:]] = True
        found = np.flatnonzero(~inner)
        return found[np.argsort(self.starts[found], kind="stable")]

    def at_level(self, level: int, places: Positions) -> Positions:
        """Return which row of a level the donors at some places are in; -1 if in none.

        Rows are counted from the first of the level.
        """
        own = slice(self.bounds[level], self.bounds[level + 1])
        starts = self.starts[own]
        found = np.searchsorted(starts, places, side="right") - 1
        inside = (found >= 0) & (places < (starts + self.lengths[own])[found])
        return np.where(inside, found, -1)


@dataclass(frozen=True, eq=False)
class Cells:
    """How many donors of each smallest row have which value; in the order of the donors.

    Parameters
    ----------
    begins : ndarray of int64
        Where the donors of each cell begin.
    values : ndarray
        Their value.
    counts : ndarray of int64
        How many they are.
    """

    begins: Positions
    values: Codes
    counts: Positions

    @classmethod
    def of(cls, rows: NestedRows, donors: Codes | Cells) -> Cells:
        """Count the donors, which are increasing within each smallest row."""
        if isinstance(donors, Cells):
            return donors
        new = np.ones(len(donors), bool)
        new[1:] = donors[1:] != donors[:-1]
        starts = rows.starts[rows.smallest]
        # The row of no records at all starts nowhere.
        new[starts[starts < len(donors)]] = True
        begins = np.flatnonzero(new)
        return cls(begins, donors[begins], np.diff(np.append(begins, len(donors))))

    @classmethod
    def from_counts(cls, values: Codes, counts: Positions) -> Cells:
        """Return the cells of so many donors with each value, one cell after the other."""
        return cls(np.cumsum(counts) - counts, values, counts)

    @property
    def donors(self) -> Codes:
        """The values of all donors."""
        return np.repeat(self.values, self.counts)

    @property
    def records(self) -> int:
        """How many donors there are."""
        return int(self.begins[-1] + self.counts[-1]) if len(self.begins) else 0

    @cached_property
    def held(self) -> Held:
        """The donors as kernels take them: one by one, or as runs if they are very many."""
        if self.records <= _ONE_BY_ONE:
            nothing = np.empty(0, np.int64)
            return np.ascontiguousarray(self.donors), nothing, nothing, 0
        shift = max(self.records.bit_length() - _GUIDE_BITS, 0)
        firsts = np.arange((self.records >> shift) + 2) << shift
        guide = np.searchsorted(self.begins, firsts, side="right") - 1
        return np.ascontiguousarray(self.values), np.ascontiguousarray(self.begins), guide, shift

    @cached_property
    def by_value(self) -> Positions:
        """The cells in the order of their values, and of the donors where these are equal."""
        return np.argsort(self.values, kind="stable")

    def index(self, cardinality: int) -> tuple[Positions, Positions, Positions]:
        """Return what it takes to count a value within any range of donors.

        First where the cells of each value begin in the two others, and their number; then where
        the donors of each cell begin; last how many donors come before it, and their number.
        """
        order = self.by_value
        edges = np.searchsorted(self.values[order], np.arange(cardinality + 1))
        before = np.concatenate([[0], np.cumsum(self.counts[order])])
        return edges, self.begins[order], before


def held_by(donors: Codes | Cells) -> Held:
    """Return donors as the kernels that draw take them."""
    if isinstance(donors, Cells):
        return donors.held
    nothing = np.empty(0, np.int64)
    return donors, nothing, nothing, 0


@dataclass(frozen=True, eq=False)
class ShrunkRows:
    """The distribution of a value in each of some rows, every one drawn towards the row above.

    Parameters
    ----------
    rows : NestedRows
        The rows.
    donors : ndarray or Cells
        The values of all records, increasing within each smallest row.
    shrinkage : Shrinkage
        How far rows are drawn towards those above.

    Examples
    --------
    Two of three records have the value 1. The uniform base is worth one record:

    >>> rows = NestedRows.of(np.zeros((1, 0), np.uint8), np.zeros(1, np.int64), 3)
    >>> drawn_to = Shrinkage(np.array([1.0]), np.array([0.5, 0.5]))
    >>> table = ShrunkRows(rows, np.array([0, 1, 1], np.uint8), drawn_to)
    >>> table.probability(np.zeros(2, np.int64), np.array([0, 1])).tolist()
    [0.375, 0.625]
    """

    rows: NestedRows
    donors: Codes | Cells
    shrinkage: Shrinkage

    @property
    def least(self) -> int:
        """The fewest records of a row that is used; an empty one never is."""
        return max(self.shrinkage.min_count, 1)

    @cached_property
    def _walk(self) -> tuple[Positions, Positions, Positions, Probabilities]:
        """Start, length, row above and strength of each row."""
        sizes = np.diff(self.rows.bounds)
        strengths = np.repeat(self.shrinkage.strengths, sizes)
        return self.rows.starts, self.rows.lengths, self.rows.above, strengths

    @cached_property
    def _cumulative(self) -> Probabilities:
        cumulative = np.cumsum(self.shrinkage.base)
        return np.asarray(cumulative / cumulative[-1])

    @cached_property
    def _index(self) -> tuple[Positions, Positions, Positions]:
        return Cells.of(self.rows, self.donors).index(len(self.shrinkage.base))

    def draw(self, numbers: Positions, chances: Probabilities) -> Codes:
        """Draw a value in the row of each number, by one chance in [0, 1) for each."""
        from understudy.synthesis.kernels import draw_shrunk

        held = held_by(self.donors)
        drawn = np.empty(len(numbers), held[0].dtype)
        draw_shrunk(numbers, self._walk, self.least, chances, self._cumulative, held, drawn)
        return drawn

    def probability(self, numbers: Positions, values: Codes) -> Probabilities:
        """Return the probability with which `draw` gives each value in the row of each number."""
        from understudy.synthesis.kernels import shrunk_probability

        found = np.empty(len(numbers))
        wanted = values.astype(np.int64)
        base = np.ascontiguousarray(self.shrinkage.base)
        shrunk_probability(numbers, wanted, self._walk, self.least, self._index, base, found)
        return found

    def left_out(self) -> float:
        """Return the log likelihood, in nats, of all records, each under the others alone.

        The record itself is taken out of all its rows; the strengths are held.
        """
        given = LeftOut(self.rows, self.donors, self.shrinkage.base, self.least)
        for strength in self.shrinkage.strengths.tolist():
            given.add_level(strength)
        return given.total


class LeftOut:
    """What each record's value is expected to be without it, level by level of its rows.

    Levels are added from the row of all records down. What a level tells of a record depends on
    its row and value alone, so that it is computed once for each such cell.
    """

    def __init__(
        self, rows: NestedRows, donors: Codes | Cells, base: Probabilities, least: int
    ) -> None:
        self.rows = rows
        self.cells = Cells.of(rows, donors)
        self.base = base
        self.least = least
        self.strengths: list[float] = []
        self.shares: Probabilities = base[self.cells.values]
        """The probability of the value of each cell's records when one of them is left out."""

    @property
    def total(self) -> float:
        """The log likelihood, in nats, of all records under the levels that were added."""
        with np.errstate(divide="ignore"):
            return float(self.cells.counts @ np.log(self.shares))

    def add_level(self, strength: float | None = None, slack: float = 0.0) -> float:
        """Add a level with a strength, the best one if none is given; return the strength.

        `slack` is that of `best_strength`.
        """
        from understudy.synthesis.kernels import add_level

        level, cells = len(self.strengths), self.cells
        own = slice(self.rows.bounds[level], self.rows.bounds[level + 1])
        chosen = add_level(
            (self.rows.starts[own], self.rows.lengths[own]),
            (cells.begins, cells.values, cells.counts),
            len(self.base),
            np.nan if strength is None else strength,
            TRIED,
            (self.least, slack, SAME),
            self.shares,
        )
        self.strengths.append(chosen)
        return chosen


def best_strength(
    counts: tuple[Positions, Positions], shares: Probabilities, least: int, slack: float = 0.0
) -> tuple[float, float]:
    """Return the strength with the largest likelihood of left-out records, and this, in nats.

    Of equally good ones it is the largest: rows of which nobody is left when a record is left out
    say nothing, so the row above counts.

    Parameters
    ----------
    counts : tuple of two ndarray of int64
        How many records each cell has (those of a row with one value), and its row.
    shares : ndarray of float64
        The probability of the cell's value in the row above.
    least : int
        The fewest records of a row that is used.
    slack : float
        Likelihoods this near, in nats, count as equally good.
    """
    from understudy.synthesis.kernels import search_strength

    same = max(slack, SAME * int(counts[0].sum()))
    return search_strength(counts, shares, TRIED, least, same)


def fit_levels(
    rows: NestedRows,
    donors: Codes | Cells,
    base: Probabilities,
    min_count: int = 1,
    slacks: Sequence[float] | None = None,
    first: float | None = None,
) -> LeftOut:
    """Return how far rows of each level are best drawn to those above, by left-out records.

    Level by level, from the row of all records down, the strength is taken with which the records
    of the level are most probable, each under the others alone.

    Parameters
    ----------
    rows, donors, base
        As of `ShrunkRows`; `base` are the shares of values above all rows.
    min_count : int
        The fewest records of a row that is used.
    slacks : sequence of float, optional
        For each level below the row of all records: a larger strength is taken if it costs less
        than this, in nats.
    first : float, optional
        The strength of the row of all records, if it is given.

    Examples
    --------
    The parent tells nothing, so its rows are drawn to the row of all records as far as can be:

    >>> rows = NestedRows.of(np.array([[0], [1]], np.uint8), np.array([0, 4]), 8)
    >>> fit_levels(rows, np.array([0, 0, 1, 1, 0, 0, 1, 1], np.uint8), np.full(2, 0.5)).strengths
    [524288.0, 524288.0]
    """
    left_out = LeftOut(rows, donors, base, max(min_count, 1))
    left_out.add_level(first)
    for slack in [0.0] * (rows.levels - 1) if slacks is None else slacks:
        left_out.add_level(slack=slack)
    return left_out
