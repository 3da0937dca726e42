"""Whether rare values of a release stand beside what else is true of the people who have them.

A date of admission that one person alone has, and that person's ward: if just such columns were
kept together and all others made up, no record looks like a person's, over all columns or over half
of them. But whoever knows the date reads the ward.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.data.joint_coding import EncodedTable
from understudy.learning.mixed_distance import UNIT, PlacedTable, place_together
from understudy.risk.compared_tables import drawn_rows
from understudy.risk.lookalikes.looks import LEVEL, tail

FEWEST = 20
"""So many people must have a value that nobody else has, and that the release has as well."""
MOST_COLUMNS = 12
"""So many columns are tried for rare values: those in which most people have one."""
MOST_RECORDS = 40_000
"""Of more records, so many are looked at."""
FOLLOWS = 0.95
"""A column follows from another, as a weekday from a date, if so many of the couples who share the
value of one share that of the other. Then it tells nothing that the value itself does not."""
TENTHS = 10
"""A number beside a rare value counts by its tenth."""

Rows = NDArray[np.int64]
Values = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Companions:
    """The columns that seem to have stayed with the rare values of another.

    Parameters
    ----------
    column : str
        The column of the rare values.
    people : int
        People with a value that nobody else has.
    owners : ndarray of int
        Rows of those of them whose value the release has.
    pairs : tuple of PlacedTable
        They, and for each of them a record of the release with the value.
    kept : dict
        For each other column that more of them kept than fresh people would, how probable that is
        by chance, for all pairs of columns that were looked at.
    """

    column: str
    people: int
    owners: Rows
    pairs: tuple[PlacedTable, PlacedTable]
    kept: dict[str, float]


def kept_companions(
    original: EncodedTable,
    release: EncodedTable,
    columns: Sequence[str],
    rng: np.random.Generator,
) -> Iterator[Companions]:
    """Yield the columns whose rare values seem to be kept with others; none if none are.

    Fresh people share as many pairs of a rare value and another one, that one person alone has, as
    people share with each other. A release that repeats single values may hold more of them
    without telling anything: whether a pair belongs together is for the caller to find out. Pairs
    of columns are left out of which one follows from the other.

    Examples
    --------
    >>> import polars as pl
    >>> from understudy.data.joint_coding import encode
    >>> rng = np.random.default_rng(1)
    >>> own = pl.DataFrame({"day": rng.integers(0, 5000, 300), "ward": rng.integers(0, 9, 300),
    ...                     "age": rng.integers(0, 80, 300)})
    >>> release = own.with_columns(pl.col("age").shuffle(seed=1)).sample(300, shuffle=True, seed=2)
    >>> tables = encode(own), encode(release)
    >>> (found,) = kept_companions(*tables, own.columns, rng)
    >>> found.column, min(found.kept, key=found.kept.get)
    ('day', 'ward')
    """
    rows = [drawn_rows(len(table), MOST_RECORDS, rng) for table in (original, release)]
    placed = place_together(
        {
            name: table.take(some)
            for name, table, some in zip(("own", "release"), (original, release), rows, strict=True)
        },
        columns,
    )
    own, held = placed["own"], placed["release"]
    rate = held.rows / own.rows
    beside = [_coarse(*tables) for tables in zip(_by_column(own), _by_column(held), strict=True)]
    chosen = _with_rare_values(own, held)
    tried = len(chosen) * (len(columns) - 1)
    for place in chosen:
        rare = Rare.of(own.values[place], held.values[place])
        alone, owners, records = rare.linked(own.values[place], held.values[place])
        kept = {}
        for other, (ours, theirs) in enumerate(beside):
            if other != place:
                found, shared = np.array(rare.pairs(ours, theirs), float)[:, None]
                by_chance = float(tail(found, shared, rate)[0]) * tried
                if by_chance < LEVEL and not _follows(ours[rare.couples]):
                    kept[own.columns[other]] = by_chance
        if kept:
            pairs = own.take(owners), held.take(records)
            yield Companions(own.columns[place], alone, rows[0][owners], pairs, kept)


def _by_column(table: PlacedTable) -> list[tuple[Values, bool]]:
    return [(values, place < table.numeric) for place, values in enumerate(table.values)]


def _coarse(own: tuple[Values, bool], held: tuple[Values, bool]) -> tuple[Values, Values]:
    """Return labels as they are, and numbers by their tenths of the original's."""
    values, by_size = own
    if not by_size:
        return values, held[0]
    first, second = (
        np.where(
            one < -2 * UNIT, -1, np.clip(one.astype(np.int64) * TENTHS // UNIT, 0, TENTHS - 1)
        ).astype(np.int32)
        for one in (values, held[0])
    )
    return first, second


def _with_rare_values(own: PlacedTable, held: PlacedTable) -> list[int]:
    """Return the columns in which most people have a value of their own that is released."""
    people = []
    for values, released in zip(own.values, held.values, strict=True):
        single, times = np.unique(values, return_counts=True)
        people.append(np.count_nonzero(np.isin(single[times == 1], released)))
    order = sorted(range(len(people)), key=lambda place: -people[place])
    return [place for place in order[:MOST_COLUMNS] if people[place] >= FEWEST]


@dataclass(frozen=True, eq=False)
class Rare:
    """Who has the rare values of a column, in the original and in the release.

    Parameters
    ----------
    times : ndarray of int
        How many people have the value of each.
    couples, triples : ndarray of int
        The rows of those who share their value with one other person, two by two; and with two
        others, three by three.
    people, records : ndarray of int
        All rows of a person and of a record with the same value, if at most two people have it.
    """

    times: Rows
    couples: Rows
    triples: Rows
    people: Rows
    records: Rows

    @classmethod
    def of(cls, own: Values, released: Values) -> Rare:
        """Return the rare values of a column of the original, and the records that have them."""
        _, where, counts = np.unique(own, return_inverse=True, return_counts=True)
        times = counts[where.ravel()]
        order = np.argsort(own, kind="stable")
        few = order[times[order] <= 2]
        first, end = (np.searchsorted(own[few], released, side) for side in ("left", "right"))
        count = end - first
        records = np.repeat(np.arange(len(released)), count)
        within = np.arange(len(records)) - np.repeat(np.cumsum(count) - count, count)
        couples, triples = (order[times[order] == n].reshape(-1, n).T for n in (2, 3))
        return cls(times, couples, triples, few[first[records] + within], records)

    def linked(self, own: Values, released: Values) -> tuple[int, Rows, Rows]:
        """Return how many have a value of their own, and the rows of those that are released."""
        people = np.flatnonzero(self.times == 1)
        values, first = np.unique(released, return_index=True)
        at = np.minimum(np.searchsorted(values, own[people]), len(values) - 1)
        there = values[at] == own[people]
        return len(people), people[there], first[at[there]]

    def pairs(self, ours: Values, theirs: Values) -> tuple[int, int]:
        """Return how many pairs with another value one person has, and the release has as well.

        Only pairs count whose first value is rare: beside the person, at most one other has it. The
        second number is how many people share a pair with one other, if at most one further person
        has the value: these tell how many fresh people would have it.

        Examples
        --------
        >>> day, ward = np.array([1, 2, 2, 3, 3]), np.array([7, 8, 9, 8, 8])
        >>> Rare.of(day, np.array([1, 2, 2])).pairs(ward, np.array([7, 9, 7]))
        (2, 2)
        """
        alike = ours[self.couples[0]] == ours[self.couples[1]]
        found = np.zeros(len(ours), bool)
        found[self.people[ours[self.people] == theirs[self.records]]] = True
        found[self.couples[:, alike]] = False
        one, two, three = ours[self.triples]
        of_three = np.add(one == two, two == three, dtype=np.int8) + (one == three)
        shared = 2 * (np.count_nonzero(alike) + np.count_nonzero(of_three == 1))
        return int(np.count_nonzero(found)), int(shared)


def _follows(couples: Values) -> bool:
    """Tell whether one value follows from the other: whoever shares the first shares both."""
    pairs = couples.shape[1]
    alike = np.count_nonzero(couples[0] == couples[1])
    return pairs > 0 and bool(alike >= FOLLOWS * pairs)
