"""Own values: names, numbers and texts that belong to one person, and places in the file.

Attacks compare what people share: ages, regions, incomes. A column in which nearly everybody has a
value of their own tells nothing about others, so they leave it out. But a release that holds such
values gives their owners away, and if its other columns go with them, all that stands there too. So
may the order of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import norm

from understudy.arguments import as_names, check_seed
from understudy.data.frames import Backend, Frame
from understudy.data.joint_coding import EncodedColumn, EncodedTable, encode
from understudy.data.schema import Schema
from understudy.errors import ParameterError, unknown_columns
from understudy.learning.mixed_distance import UNIT, place_together
from understudy.results import Line, Result
from understudy.risk.compared_tables import ORIGINAL, drawn_rows, named_tables, without_others
from understudy.risk.lookalikes.looks import tail
from understudy.wording import p_value, quoted

TITLE, MEANING = "Own values", "people whose own name, number or text is in the table"
ROWS = "row number"
LEVEL = 0.05
OWN = ("identifier", "text")
"""The kinds of column in which nearly everybody has a value of their own."""
DENSE, STEMS = 0.01, 0.01
"""Numbers that fill this share of their range can be counted up by anybody, such as 1, 2, 3; so
can texts that are the same but for their numbers, if they have at most this share of stems."""
FEWEST, MOST_PAIRS, SHUFFLES = 20, 1_000, 999
"""So many pairs are needed, and compared at most; and so often they are paired anew."""
_FEW_SHUFFLES, _PLAINLY = 50, 3.5
"""So often to tell whether neighbours are alike; from so many standard deviations on they are."""


@dataclass(frozen=True)
class Mark:
    """What links a record of the release with a person.

    Parameters
    ----------
    column : str
        The column, or "row number".
    people : int
        People of the original with a value that nobody else has.
    kept : int
        How many of these values are in the release.
    expected : float
        How many would be, by chance, if the release were fresh people.
    control_people, control_kept : int
        The same for control records.
    kept_p_value : float
        Of as many or more, by chance; nan where anybody could make such values up.
    aligned_p_value : float
        Of the records with these values being as much like their owners, by chance; nan where there
        are too few, or where both tables are sorted.
    """

    column: str
    people: int
    kept: int
    expected: float
    control_people: int = 0
    control_kept: int = 0
    kept_p_value: float = math.nan
    aligned_p_value: float = math.nan

    @property
    def p_value(self) -> float:
        """The smaller of both, for having looked at both; nan if neither is defined."""
        known = [
            value for value in (self.kept_p_value, self.aligned_p_value) if not math.isnan(value)
        ]
        return min(1.0, min(known) * len(known)) if known else math.nan


@dataclass(frozen=True, eq=False)
class OwnValues(Result):
    """What own values and the order of rows give away; `own_values` makes it.

    Parameters
    ----------
    records : int
        Size of the original.
    marks : tuple of Mark
        Columns of own values, and the row number where tables are of the same size.
    p_value : float
        The smallest of all, for having looked at all of them; nan if nothing could be tested.
    """

    records: int
    marks: tuple[Mark, ...]
    p_value: float

    @property
    def worst(self) -> Mark | None:
        """The mark with the smallest p-value."""
        known = [mark for mark in self.marks if not math.isnan(mark.p_value)]
        return min(known, key=lambda mark: (mark.p_value, -mark.kept), default=None)

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each column of own values, and for the order of rows."""
        rows = [{**asdict(mark), "p_value": mark.p_value} for mark in self.marks]
        return self._framed(rows or {name: [] for name in Mark.__dataclass_fields__}, backend)

    def lines(self) -> Sequence[Line]:
        """Return the share of people whose own value is in the release."""
        one = self.worst
        if one is None:
            return []
        share = one.kept / self.records
        outside = one.control_kept / one.control_people if one.control_people else math.nan
        by_chance = min(one.expected / self.records, 1.0)
        return [Line(TITLE, MEANING, by_chance, share, control=outside, gain=share - by_chance)]

    def summary(self) -> str:
        """Return the result in a few sentences."""
        one = self.worst
        if one is None:
            return "There are no columns of own values to look at, nor rows in the same order."
        aligned = one.aligned_p_value
        alike = (
            f"{'more' if aligned <= LEVEL else 'no more'} alike than others ({p_value(aligned)})."
        )
        if one.column == ROWS:
            return f"Records in the same row of both tables are {alike}"
        found = (
            f"Of {one.people:,} people with a value of {quoted([one.column])} of their own, the "
            f"release holds those of {one.kept:,}; by chance it would hold those of "
            f"{one.expected:,.0f}."
        )
        if math.isnan(aligned):
            return found
        return f"{found} People and records with the same value are {alike}"


def own_values(
    original: Frame,
    synthetic: Frame | Sequence[Frame],
    *,
    control: Frame | None = None,
    columns: str | Sequence[str] | None = None,
    random_state: int = 0,
) -> OwnValues:
    """Look for names, numbers and texts of single people, and for rows in the original's order.

    Parameters
    ----------
    original, synthetic : frame
        The original table, and one or several releases.
    control : frame, optional
        Records like the original's that were not used for the synthesis.
    columns : sequence of str, optional
        Columns of own values; by default those that the schema takes for identifiers or texts.
    random_state : int
        Decides which pairs are compared where there are many, and how they are paired anew.

    Returns
    -------
    OwnValues

    Raises
    ------
    ParameterError
        If a column is not in the original.

    Notes
    -----
    A value is *kept* if one person of the original alone has it, and a record of the release has
    it. By chance, fresh people share as many values with the original as its people share with each
    other (the test is that of `lookalikes`). What can be counted up, such as 1, 2, 3 or P001, P002,
    may be made up anew, and is not tested so.

    Records are *aligned* with people if those of the same value, or of the same row, are more alike
    than others in any of the other columns. The pairs are shuffled 999 times, and the largest
    deviation of a column is compared with those that come of it. If both tables are sorted by a
    column, rows and running numbers agree by themselves, and nothing is tested.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"name": [f"{c}{d}" for c in "abcdefg" for d in "pqrst"],
    ...                        "ill": [0, 1, 1, 0, 1] * 7})
    >>> release = people.sample(fraction=1, shuffle=True, seed=1)
    >>> found = own_values(people, release, columns="name")
    >>> found.worst.column, found.worst.kept, found.p_value < 0.01
    ('name', 35, True)
    """
    check_seed(random_state)
    tables = named_tables(original, synthetic, control)
    if columns is None:
        columns = [one.name for one in Schema.infer(original) if one.kind in OWN]
    if unknown := unknown_columns(as_names(columns), tables[ORIGINAL].names):
        raise ParameterError(f"columns: {' '.join(unknown)}")
    return own_values_of(tables, as_names(columns), random_state=random_state)


def own_values_of(
    tables: Mapping[str, Frame | EncodedTable], columns: Sequence[str], *, random_state: int = 0
) -> OwnValues:
    """Look for own values in tables by name, as in `lookalikes_of`; see `own_values`."""
    held = without_others({name: encode(table) for name, table in tables.items()})
    original, control = held[ORIGINAL], held.get("control")
    made = [table for name, table in held.items() if name.startswith("synthetic")]
    shared = [name for name in original.names if all(name in one.names for one in made)]
    own = [name for name in columns if name in shared]
    others = [name for name in shared if name not in own]
    rng = np.random.default_rng(random_state)
    marks = [mark for table in made for mark in _marks(original, table, control, own, others, rng)]
    known = [mark.p_value for mark in marks if not math.isnan(mark.p_value)]
    smallest = min(1.0, min(known) * len(known)) if known else math.nan
    found = OwnValues(len(original), tuple(marks), smallest)
    return replace(found, _backend=original.backend)


def _marks(
    original: EncodedTable,
    release: EncodedTable,
    control: EncodedTable | None,
    own: Sequence[str],
    others: Sequence[str],
    rng: np.random.Generator,
) -> list[Mark]:
    """Return what each column of own values tells, and the order of rows."""
    found = []
    for name in own:
        people, held = (_single(table.column(name)) for table in (original, release))
        pairs = people.join(held, on="value").sort("row")
        times = np.bincount(original.column(name).codes)
        mark = Mark(name, people.height, pairs.height, float(times[times > 1].sum()))
        if control is not None and name in control.names:
            outside = _single(control.column(name))
            kept = outside.join(held, on="value").height
            mark = replace(mark, control_people=outside.height, control_kept=kept)
        if not _can_be_made_up(original.column(name).values):
            rate = len(release) / max(len(original), 1)
            by_chance = tail(np.array([float(mark.kept)]), np.array([mark.expected]), rate)
            mark = replace(mark, kept_p_value=float(by_chance[0]))
        linked = tuple(pairs[side].to_numpy() for side in ("row", "row_right"))
        free = _not_told_by(original, _orders(people), others, rng)
        aligned = _aligned((original, release), free, (linked[0], linked[1]), rng)
        found.append(replace(mark, aligned_p_value=aligned))
    if len(original) == len(release):
        rows = np.arange(len(original))
        free = _not_told_by(original, [rows], others, rng)
        aligned = _aligned((original, release), free, (rows, rows), rng)
        found.append(Mark(ROWS, len(rows), 0, 0.0, aligned_p_value=aligned))
    return found


def _orders(people: pl.DataFrame) -> list[NDArray[np.int64]]:
    """Return the rows in the order of their values, read from the front and from the back."""
    backwards = people.with_columns(pl.col("value").str.reverse())
    return [table.sort("value")["row"].to_numpy() for table in (people, backwards)]


def _not_told_by(
    original: EncodedTable,
    orders: Sequence[NDArray[np.int64]],
    columns: Sequence[str],
    rng: np.random.Generator,
) -> list[str]:
    """Return the columns that the place in an order does not tell.

    A flight number tells the airline, and a file may be in the order of time. Then records at the
    same place are alike in any table, as those at the next place are in the original.
    """
    told: set[str] = set()
    for order in orders:
        if not columns or len(order) <= FEWEST:
            continue
        places = drawn_rows(len(order) - 1, MOST_PAIRS, rng)
        compared = _Pairs.of((original, original), columns, (order[places], order[places + 1]))
        found, mean, scale = compared.against_chance(rng)
        beyond = (mean - found) / scale > _PLAINLY
        told |= {name for name, is_told in zip(compared.columns, beyond, strict=True) if is_told}
    return [name for name in columns if name not in told]


def _single(column: EncodedColumn) -> pl.DataFrame:
    """Return the values that one record alone has, as text, and its row.

    They are compared without case; of an e-mail address, what names the person.
    """
    times = np.bincount(column.codes, minlength=len(column.values) + 1)
    rows = np.flatnonzero(times[column.codes] == 1)
    rows = rows[column.codes[rows] < len(column.values)]
    text = column.values.cast(pl.String).str.strip_chars().str.to_lowercase()
    text = text.str.replace(r"^([^@\s]+)@[^@\s]+$", "$1")
    found = pl.DataFrame({"value": text.gather(column.codes[rows]), "row": rows})
    return found.filter(pl.col("value").is_unique())


def _can_be_made_up(values: pl.Series) -> bool:
    """Tell whether values can be counted up: by number, or by the same text with a number."""
    if values.dtype.is_temporal():
        return True
    frame = values.cast(pl.String).to_frame("text")
    stems = frame.select(pl.col("text").str.replace_all(r"\d", "").n_unique()).item()
    if stems > max(1, STEMS * len(values)):
        return False
    digits = pl.col("text").str.replace_all(r"[^\d]", "").cast(pl.Float64, strict=False)
    numbers = frame.select(digits).to_series().drop_nulls()
    if not len(numbers):
        return False
    span = float(numbers.max()) - float(numbers.min()) + 1  # type: ignore[arg-type]
    return bool(numbers.n_unique() >= DENSE * span)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of records, and how unlike they are in each column."""

    columns: tuple[str, ...]
    ours: NDArray[np.int32]
    theirs: NDArray[np.int32]
    numeric: int

    @classmethod
    def of(
        cls,
        tables: tuple[EncodedTable, EncodedTable],
        columns: Sequence[str],
        rows: tuple[NDArray[np.int64], NDArray[np.int64]],
    ) -> _Pairs:
        # Only those that are compared are placed: the tables may be long.
        taken = [table.take(chosen) for table, chosen in zip(tables, rows, strict=True)]
        placed = place_together({"original": taken[0], "release": taken[1]}, columns)
        ours, theirs = placed.values()
        return cls(ours.columns, ours.values, theirs.values, ours.numeric)

    def unlike(self, order: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the mean difference in each column, if they were paired in another order."""
        other, numeric = self.theirs[:, order], self.numeric
        sizes = np.minimum(np.abs(self.ours[:numeric] - other[:numeric]), UNIT).mean(axis=1) / UNIT
        return np.concatenate([sizes, (self.ours[numeric:] != other[numeric:]).mean(axis=1)])

    def shuffled(self, rng: np.random.Generator, times: int) -> NDArray[np.float64]:
        """Return the same for pairs at random, many times."""
        count = self.ours.shape[1]
        return np.array([self.unlike(rng.permutation(count)) for _ in range(times)])

    def against_chance(
        self, rng: np.random.Generator
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return how unlike the pairs are, and mean and spread of pairs at random."""
        drawn = self.shuffled(rng, _FEW_SHUFFLES)
        return self.unlike(np.arange(self.ours.shape[1])), drawn.mean(axis=0), _spread(drawn)


def _spread(shuffled: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard deviation of each column; a column that never differs tells nothing."""
    spread = shuffled.std(axis=0)
    return np.where(spread > 0, spread, np.inf)


def _aligned(
    tables: tuple[EncodedTable, EncodedTable],
    columns: Sequence[str],
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    rng: np.random.Generator,
) -> float:
    """Return how often pairs at random are as much alike in any column."""
    if not columns or len(pairs[0]) < FEWEST:
        return math.nan
    chosen = drawn_rows(len(pairs[0]), MOST_PAIRS, rng)
    compared = _Pairs.of(tables, columns, (pairs[0][chosen], pairs[1][chosen]))
    found = compared.unlike(np.arange(len(chosen)))
    shuffled = compared.shuffled(rng, SHUFFLES)
    scale, mean = _spread(shuffled), shuffled.mean(axis=0)
    most = ((mean - found) / scale).max()
    by_chance = ((mean - shuffled) / scale).max(axis=1)
    above = np.count_nonzero(by_chance >= most - 1e-12)
    if above:
        return float((1 + above) / (1 + SHUFFLES))
    # Beyond all that shuffling gave: as the sum of many pairs, it is nearly normal.
    return float(min(1 / (1 + SHUFFLES), len(found) * norm.sf(most)))
