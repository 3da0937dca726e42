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
    owners, records : ndarray of int
        Those of them whose value the release has, and a record that has it.
    kept : dict
        For each other column that more of them kept than fresh people would, how probable that is
        by chance, for all pairs of columns that were looked at.
    """

    column: str
    people: int
    owners: Rows
    records: Rows
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
    >>> [(found.column, [*found.kept]) for found in kept_companions(*tables, own.columns, rng)]
    [('day', ['ward'])]
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
        times = _times(own.values[place])
        alone, owners, records = _linked(own.values[place], held.values[place], times)
        couples = _couples(own.values[place], times)
        kept = {}
        for other, (ours, theirs) in enumerate(beside):
            if other != place:
                pairs = _together(own.values[place], ours), _together(held.values[place], theirs)
                by_chance = _shared_by_chance(*pairs, times, rate) * tried
                if by_chance < LEVEL and not _follows(ours[couples]):
                    kept[own.columns[other]] = by_chance
        if kept:
            yield Companions(own.columns[place], alone, rows[0][owners], rows[1][records], kept)


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


def _times(values: NDArray[np.integer]) -> Rows:
    """Return how many people have the value of each."""
    _, where, times = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(times[where.ravel()], np.int64)


def _linked(own: Values, released: Values, times: Rows) -> tuple[int, Rows, Rows]:
    """Return how many have a value of their own, and the rows of those that are in the release."""
    people = np.flatnonzero(times == 1)
    values, first = np.unique(released, return_index=True)
    at = np.minimum(np.searchsorted(values, own[people]), len(values) - 1)
    there = values[at] == own[people]
    return len(people), people[there], first[at[there]]


def _together(one: Values, other: Values) -> Rows:
    """Return a number for each pair of values, the same for the same ones."""
    return np.asarray(one.astype(np.int64) * 2**32 + other)


def _couples(values: Values, times: Rows) -> Rows:
    """Return the rows of those who share their value with one other person, two by two."""
    sharing = np.flatnonzero(times == 2)
    ordered = sharing[np.argsort(values[sharing], kind="stable")]
    return ordered.reshape(-1, 2).T


def _follows(couples: Values) -> bool:
    """Tell whether one value follows from the other: whoever shares the first shares both."""
    pairs = couples.shape[1]
    alike = np.count_nonzero(couples[0] == couples[1])
    return pairs > 0 and bool(alike >= FOLLOWS * pairs)


def _shared_by_chance(own: Rows, released: Rows, times: Rows, rate: float) -> float:
    """Return how often fresh people would share so many pairs that one person alone has.

    Pairs count whose first value is rare: beside the person, at most one other has it. Two people
    with the same pair tell how many fresh people would have it; at most one other has the value.
    """
    of_pair = _times(own)
    alone = (of_pair == 1) & (times <= 2)
    found = np.count_nonzero(np.isin(own[alone], released))
    shared = np.count_nonzero((of_pair == 2) & (times <= 3))
    return float(tail(np.array([float(found)]), np.array([float(shared)]), rate)[0])
