"""Own values: names, numbers and texts that belong to one person, and places in the file.

Attacks compare what people share: ages, regions, incomes. A column in which nearly everybody has a
value of their own tells nothing about others, so they leave it out. But a release that holds such
values gives their owners away, and if its other columns go with them, all that stands there too. So
may the order of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.arguments import as_names, check_seed
from understudy.data.frames import Backend, Frame
from understudy.data.joint_coding import EncodedColumn, EncodedTable, encode
from understudy.data.schema import Schema
from understudy.data.unit_look import why_unit
from understudy.errors import ParameterError, unknown_columns
from understudy.learning.mixed_distance import UNIT, PlacedTable, place_together
from understudy.results import Line, Result
from understudy.risk.compared_tables import ORIGINAL, named_tables, without_others
from understudy.risk.kept_companions import Companions, kept_companions
from understudy.risk.lookalikes.looks import tail
from understudy.risk.tails import normal_tail
from understudy.wording import p_value, quoted

TITLE, MEANING = "Own values", "people whose own name, number or text is in the table"
ROWS = "row number"
LEVEL = 0.05
OWN = ("identifier", "text")
"""The kinds of column in which nearly everybody has a value of their own."""
DENSE, STEMS = 0.01, 0.01
"""Numbers that fill this share of their range can be counted up by anybody, such as 1, 2, 3; so
can texts that are the same but for their numbers, if they have at most this share of stems."""
FEWEST, MOST_PAIRS = 20, 1_000
"""So many pairs are needed, and compared at most."""
STRETCHES, SHORTEST = 25, 4
"""They are compared in so many stretches of neighbours, or fewer that are at least so long."""
LAGS, AROUND = 60, 3
"""People are compared with records up to so many places away (there may be 52 weeks or 60 minutes
to a person); and each place with so many on both sides of it."""
SORTED = 0.5
"""A file is sorted by a column if it has at least so many different values, as a share of the
records: where many have the same, the order says little about who stands where."""
OWN_PLACE = 0.95
"""The part of the chance of a false alarm that goes to the own place, if all may have shifted."""
_NOTHING = 1e-12
Tables = tuple[EncodedTable, EncodedTable] | tuple[PlacedTable, PlacedTable]
"""The original and a release, as they are encoded, or placed already."""


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
        are too few.
    beside : str
        The other column in which they are most like them, if the column is one that people share
        values of, such as a date: only then does it matter that the release has some of them.
    """

    column: str
    people: int
    kept: int
    expected: float
    control_people: int = 0
    control_kept: int = 0
    kept_p_value: float = math.nan
    aligned_p_value: float = math.nan
    beside: str = ""

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
        Columns of own values, and the row number.
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
            return (
                "Records in the same row of both tables, from either end or a few rows off, are "
                f"{alike}"
            )
        found = (
            f"Of {one.people:,} people with a value of {quoted([one.column])} of their own, the "
            f"release holds those of {one.kept:,}"
        )
        if one.beside:
            return f"{found}. In {quoted([one.beside])}, the records with these values are {alike}"
        found += f"; by chance it would hold those of {one.expected:,.0f}."
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
        Decides which pairs are compared where there are many.

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
    it. Where a column names people, households or firms with several records, each value is that
    of one of them, however many records have it. By chance, fresh people share as many values with
    the original as its people share with each other (the test is that of `lookalikes`). What can be
    counted up, such as 1, 2, 3 or P001, P002, may be made up anew, and is not tested so.

    Records are *aligned* with people if those of the same value, or of the same row, are more alike
    than others in any of the other columns. If both tables are sorted, or hold several rows a
    person, rows and running numbers agree by themselves, and so do rows nearby. So each person is
    compared with the records up to 60 places away as well. A place scores by how much more alike
    its pairs are than those of the three places on both sides of it, in standard errors. The own
    place counts by how far it is beyond the best of all others, as a normal deviate; for having
    looked at several columns, the p-value is multiplied by their number.

    Rows are counted from the top. If the release has more or fewer, its first half is counted from
    the top and its last half from the end. It may also stand upside down, or all rows may have
    shifted by up to 60 places: then the place that stands out most is judged, for having looked at
    all of them. If the release is sorted by a column, the original is sorted by it as well, and
    looked at once more.

    A value of any other column, such as a date, may also be that of one person alone. Releases of
    fresh people hold such values by chance, and others repeat them one by one. But if records with
    these values are more like their owners in another column than those with values nearby are, and
    share more pairs of both than fresh people would, the columns were kept together. Both tests
    must say so, for having looked at all pairs of columns. A column that follows from the other, as
    a weekday from a date, is left out: people who share the one share both.

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
        columns = [
            one.name for one in Schema.infer(original, dependencies=False) if one.kind in OWN
        ]
    if unknown := unknown_columns(as_names(columns), tables[ORIGINAL].names):
        raise ParameterError(f"columns: {' '.join(unknown)}")
    return own_values_of(tables, as_names(columns), random_state=random_state)


def own_values_of(
    tables: Mapping[str, Frame | EncodedTable],
    columns: Sequence[str],
    *,
    units: Sequence[str] = (),
    random_state: int = 0,
) -> OwnValues:
    """Look for own values in tables by name, as in `lookalikes_of`; see `own_values`.

    Each value of the columns `units` is that of one unit, however many records have it.
    """
    held = without_others({name: encode(table) for name, table in tables.items()})
    original, control = held[ORIGINAL], held.get("control")
    made = [table for name, table in held.items() if name.startswith("synthetic")]
    shared = [name for name in original.names if all(name in one.names for one in made)]
    own = [name for name in columns if name in shared]
    others = [name for name in shared if name not in own]
    rng = np.random.default_rng(random_state)
    naming = {name for name in own if name in units or _names_units(name, original.column(name))}
    marks = [
        mark
        for table in made
        for mark in _marks(original, table, control, (own, naming), others, rng)
    ]
    known = [mark.p_value for mark in marks if not math.isnan(mark.p_value)]
    smallest = min(1.0, min(known) * len(known)) if known else math.nan
    found = OwnValues(len(original), tuple(marks), smallest)
    return replace(found, _backend=original.backend)


def _marks(
    original: EncodedTable,
    release: EncodedTable,
    control: EncodedTable | None,
    own: tuple[Sequence[str], Collection[str]],
    others: Sequence[str],
    rng: np.random.Generator,
) -> list[Mark]:
    """Return what each column of own values tells, and the order of rows.

    `own` are these columns, and those of them that name units with several records.
    """
    found = []
    for name in own[0]:
        single = _first if name in own[1] else _single
        people, held = (single(table.column(name)) for table in (original, release))
        pairs = people.join(held, on="value").sort("row")
        shared = 0.0 if name in own[1] else _shared(original.column(name))
        mark = Mark(name, people.height, pairs.height, shared)
        if control is not None and name in control.names:
            outside = single(control.column(name))
            kept = outside.join(held, on="value").height
            mark = replace(mark, control_people=outside.height, control_kept=kept)
        if not _can_be_made_up(original.column(name).values):
            rate = len(release) / max(len(original), 1)
            if name in own[1]:
                rate = held.height / max(people.height, 1)
            by_chance = tail(np.array([float(mark.kept)]), np.array([mark.expected]), rate)
            mark = replace(mark, kept_p_value=float(by_chance[0]))
        aligned = _aligned((original, release), others, _looks_at_pairs(pairs), rng)
        found.append(replace(mark, aligned_p_value=aligned))
    if lines := _looks_at_rows(original, release, others):
        aligned = _aligned((original, release), others, lines, rng)
        found.append(Mark(ROWS, len(original), 0, 0.0, aligned_p_value=aligned))
    companions = list(kept_companions(original, release, others, rng))
    looks = sum(len(one.kept) for one in companions)
    for one in companions:
        p_value, beside = _belonging(original.column(one.column), one, looks, rng)
        shared = _shared(original.column(one.column))
        mark = Mark(one.column, one.people, len(one.owners), shared, beside=beside)
        found.append(replace(mark, aligned_p_value=p_value))
    return found


def _belonging(
    column: EncodedColumn, held: Companions, looks: int, rng: np.random.Generator
) -> tuple[float, str]:
    """Return how often records would by chance go so well with the people whose value they have.

    It is for so many looks. With it goes the column in which they go best. What any order of the
    values explains tells nothing: that of the file, by size, by how they end, and by the parts of a
    date, from which others may follow.
    """
    codes = column.codes[held.owners]
    sorting = [held.owners, codes, *(keys[codes] for keys in _other_orders(column.values))]
    found = dict.fromkeys(held.kept, 0.0)
    for keys in sorting:
        # What one order explains, no other one makes unlikely again.
        open_still = [name for name, p_value in found.items() if p_value * looks < 1]
        if not open_still:
            break
        order = np.argsort(keys, kind="stable")
        aligned = _standing_out(held.pairs, open_still, _Line(order, order), rng)
        for name, by_chance in zip(open_still, aligned, strict=True):
            found[name] = max(found[name], by_chance)
    # Fresh people who happen to share a value may be alike, and so may values that go together.
    both = {name: max(found[name] * looks, by_chance) for name, by_chance in held.kept.items()}
    beside = min(both, key=lambda name: both[name])
    return min(1.0, both[beside]), beside


def _other_orders(values: pl.Series) -> list[NDArray[np.generic]]:
    """Return what sorts values otherwise than by size."""
    orders = [values.cast(pl.String).str.reverse()]
    if values.dtype in (pl.Date, pl.Datetime):
        orders += [values.dt.weekday(), values.dt.month(), values.dt.day()]
    if values.dtype == pl.Datetime:
        orders.append(values.dt.time())
    return [one.rank("ordinal").to_numpy() for one in orders]


def _shared(column: EncodedColumn) -> float:
    """Return how many people share their value with others."""
    times = np.bincount(column.codes)
    return float(times[times > 1].sum())


def _looks_at_pairs(pairs: pl.DataFrame) -> list[list[_Line]]:
    """Return pairs in the order of the original's rows, and of their values.

    A flight number tells the airline by how it begins, and other numbers tell something by how they
    end; and people may be numbered in the order of the file.
    """
    if pairs.height < FEWEST:
        return []
    backwards = pairs.with_columns(pl.col("value").str.reverse())
    ordered = [pairs.sort("row"), pairs.sort("value"), backwards.sort("value")]
    return [[_Line(one["row"].to_numpy(), one["row_right"].to_numpy()) for one in ordered]]


def _looks_at_rows(
    original: EncodedTable, release: EncodedTable, columns: Sequence[str]
) -> list[list[_Line]]:
    """Return the rows of both files side by side; the release may also stand upside down.

    If rows were dropped or added somewhere, those above still stand at the same place from the top,
    and those below from the end. So the halves of files of unequal length are looked at apart. If
    the release is sorted by some columns, so is the original.
    """
    people, records = len(original), len(release)
    line = np.arange(records)
    sorting = [original.column(name).codes for name in columns if _is_sorted(release.column(name))]
    orders = [np.arange(people), *(np.argsort(codes, kind="stable") for codes in sorting)]
    parts = [_Line(rows, line, may_shift=True) for rows in orders]
    if people != records:
        half = min(people, records) // 2
        parts = [
            part
            for rows in orders
            for part in (
                _Line(rows[:half], line, may_shift=True),
                _Line(rows[people - half :], line, records - half, may_shift=True),
            )
        ]
    parts = [part for part in parts if len(part.people) >= FEWEST]
    return [[one] for part in parts for one in (part, replace(part, records=line[::-1]))]


def _is_sorted(column: EncodedColumn) -> bool:
    """Tell whether a file is sorted by a column, in which nearly every record has its own value."""
    if len(column.values) < SORTED * len(column.codes):
        return False
    steps = np.diff(column.codes.astype(np.int64))
    return bool((steps >= 0).all() or (steps <= 0).all())


def _single(column: EncodedColumn) -> pl.DataFrame:
    """Return the values that one record alone has, as text, and its row.

    They are compared without case; of an e-mail address, what names the person.
    """
    times = np.bincount(column.codes, minlength=len(column.values) + 1)
    rows = np.flatnonzero(times[column.codes] == 1)
    return _named(column, rows).filter(pl.col("value").is_unique())


def _first(column: EncodedColumn) -> pl.DataFrame:
    """Return each value as text, and the first row that has it."""
    _, rows = np.unique(column.codes, return_index=True)
    return _named(column, rows).unique("value", keep="first", maintain_order=True)


def _names_units(name: str, column: EncodedColumn) -> bool:
    """Whether a column looks like the name of units with several records."""
    known = column.values.gather(column.codes[column.codes < len(column.values)])
    return bool(why_unit(name, known.to_arrow()))


def _named(column: EncodedColumn, rows: NDArray[np.int64]) -> pl.DataFrame:
    """Return the values of some rows as text, without those that are missing."""
    rows = rows[column.codes[rows] < len(column.values)]
    text = column.values.cast(pl.String).str.strip_chars().str.to_lowercase()
    text = text.str.replace(r"^([^@\s]+)@[^@\s]+$", "$1")
    return pl.DataFrame({"value": text.gather(column.codes[rows]), "row": rows})


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
class _Line:
    """People in an order, and the line of records in which each has a place.

    Parameters
    ----------
    people : ndarray of int
        Rows of the original, in the order.
    records : ndarray of int
        Rows of the release, in the order. The last is followed by the first.
    first : int
        Where in the line the first person stands; the next person stands at the next place.
    may_shift : bool
        Whether all people together may stand some places further up or down.
    """

    people: NDArray[np.int64]
    records: NDArray[np.int64]
    first: int = 0
    may_shift: bool = False

    @property
    def lags(self) -> NDArray[np.int64]:
        """How far from their own place people are compared with records."""
        most = min(LAGS, len(self.records) // 2 - AROUND - 1) + AROUND
        return np.arange(-most, most + 1)

    def stretches(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the people to compare, by number: a row for each stretch of neighbours.

        They lie evenly in the line. If not all people are compared, chance decides where in its
        part of the line each begins.
        """
        count = min(STRETCHES, len(self.people) // SHORTEST)
        part = len(self.people) // count
        size = min(part, MOST_PAIRS // STRETCHES)
        begins = np.arange(count) * part + rng.integers(part - size + 1, size=count)
        return begins[:, None] + np.arange(size)

    def unlike(
        self,
        tables: Tables,
        columns: Sequence[str],
        rng: np.random.Generator,
    ) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.int64]]]:
        """Yield how unlike people are to the records around their places, column by column.

        With each column goes an array by stretch, person and lag, and the place of each record.
        """
        chosen = self.stretches(rng)
        places = (chosen[:, :, None] + self.first + self.lags) % len(self.records)
        # Only those that are compared are placed: the tables may be long.
        used, where = np.unique(places, return_inverse=True)
        people, records = self.people[chosen.ravel()], self.records[used]
        ours, theirs = _placed(tables, columns, people, records)
        where = where.reshape(places.shape)
        for number, name in enumerate(ours.columns):
            mine = ours.values[number].reshape(chosen.shape)[:, :, None]
            other = theirs.values[number][where]
            if number < ours.numeric:
                yield name, np.minimum(np.abs(mine - other), UNIT) / UNIT, where
            else:
                yield name, (mine != other).astype(float), where


def _placed(
    tables: Tables, columns: Sequence[str], people: NDArray[np.int64], records: NDArray[np.int64]
) -> tuple[PlacedTable, PlacedTable]:
    """Return some rows of both tables so that they can be compared, if they cannot be yet."""
    own, release = tables
    if isinstance(own, PlacedTable) and isinstance(release, PlacedTable):
        return own.select(columns).take(people), release.select(columns).take(records)
    taken = {"original": own.take(people), "release": release.take(records)}
    first, second = place_together(taken, columns).values()
    return first, second


def _standing_out(
    tables: Tables,
    columns: Sequence[str],
    line: _Line,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return for each column how often people are by chance so much more like their own record."""
    found = {
        name: own_place_p_value(unlike, places, may_shift=line.may_shift)
        for name, unlike, places in line.unlike(tables, columns, rng)
    }
    return np.array([found[name] for name in columns])


def own_place_p_value(
    unlike: NDArray[np.float64], places: NDArray[np.int64], *, may_shift: bool = False
) -> float:
    """Return how often the own place stands out so far among those around it, by chance.

    Whatever order both files are in, records at places nearby are nearly as much alike, or as
    often. So a place is judged by how much more alike it is than those next to it, and the own
    place by how far this is beyond that of all other places. If all may have shifted, the place
    that stands out most is judged as well, for having looked at all of them.
    """
    alike = _without_margins(-unlike, places)
    by_stretch = alike.mean(axis=1)
    width = 2 * AROUND + 1
    near = np.lib.stride_tricks.sliding_window_view(by_stretch, width, axis=1).mean(axis=2)
    beyond = (by_stretch[:, AROUND:-AROUND] - near) * width / (width - 1)
    own = beyond.shape[1] // 2
    others = np.arange(beyond.shape[1]) != own
    # Neighbours may belong together, so that stretches vary more than their pairs would make them;
    # and a few rare values that agree at one place are no more than a few.
    of_stretches = beyond[:, others].var(axis=0, ddof=1).mean() / len(beyond)
    of_pairs = alike[:, :, AROUND:-AROUND].var(axis=(0, 1)) / (alike.shape[0] * alike.shape[1])
    least = max(of_stretches, of_pairs.mean())
    if least < _NOTHING:
        return 1.0
    score = beyond.mean(axis=0) / np.sqrt(np.maximum(of_pairs, least))
    # That the own place is the best of all is no sign yet: two files in the same order may make it
    # so. It counts by how much.
    by_place = normal_tail(_standing_out_by(score, own))
    if not may_shift:
        return by_place
    best = int(score.argmax())
    elsewhere = normal_tail(_standing_out_by(score, best)) * len(score) / (1 - OWN_PLACE)
    return min(1.0, by_place / OWN_PLACE, elsewhere)


def _standing_out_by(score: NDArray[np.float64], place: int) -> float:
    """Return by how much a place is beyond the best of all others, in standard deviations."""
    others = np.delete(score, place)
    return float((score[place] - others.max()) / max(1.0, others.std()))


def _without_margins(alike: NDArray[np.float64], places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how much more alike pairs are than both of them are to others.

    People with frequent values are like many, at any place: that tells nothing, but would make rare
    values that agree look like chance.
    """
    times = np.bincount(places.ravel())
    of_record = np.bincount(places.ravel(), alike.ravel()) / times
    rest = alike - of_record[places]
    return np.asarray(rest - rest.mean(axis=2, keepdims=True))


def _aligned(
    tables: tuple[EncodedTable, EncodedTable],
    columns: Sequence[str],
    looks: Sequence[Sequence[_Line]],
    rng: np.random.Generator,
) -> float:
    """Return how often people are by chance so much more like their own records in any column.

    Each look pairs people with records, and sets the pairs in one or several orders. What any of
    its orders explains, the pairs do not tell.
    """
    if not columns or not looks:
        return math.nan
    found = [
        np.max([_standing_out(tables, columns, line, rng) for line in look], axis=0).min()
        for look in looks
    ]
    return float(min(1.0, min(found) * len(columns) * len(looks)))
