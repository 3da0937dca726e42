"""How far the shares of values, pairs and triples of values are from those of the original."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from understudy.arguments import check_whole, is_whole
from understudy.data.frames import Backend, Frame
from understudy.data.groups import Groups, code_in_groups
from understudy.data.joint_coding import CodedTables
from understudy.data.source import FrameSource, TableSource, source_of
from understudy.errors import ParameterError, unknown_columns
from understudy.progress import track
from understudy.results import Line, Result, to_plain
from understudy.utility.compared_shares import SharesInMemory, SharesOfSources
from understudy.utility.distances import expected_distance, total_variation
from understudy.utility.tables import COMPARED, compared, tables_of
from understudy.wording import percent, quoted, times

MOST_TABLES = 2_000
"""All tables of three of up to 23 columns."""
MOST_WAYS = 4
"""Beyond, nearly every record is alone in its cell."""
WORST = 5
"""How many of the worst tables a result names by itself."""


@dataclass(frozen=True)
class TableDistance:
    """The distance of one table of shares.

    Parameters
    ----------
    columns : tuple of str
        The columns of the table.
    cells : int
        Combinations of their values that occur in either data set.
    distance : float
        Total variation distance: the share of the synthetic records that would have to move to
        another cell. 0 if all shares are equal, 1 if no combination is in both.
    expected : float
        What sampling alone gives: the mean distance of as many records drawn with replacement from
        the original.
    """

    columns: tuple[str, ...]
    cells: int
    distance: float
    expected: float

    @property
    def ratio(self) -> float:
        """Distance over the expected one; nan if chance moves nothing, for there is one cell."""
        return self.distance / self.expected if self.expected else math.nan


@dataclass(frozen=True)
class WayDistances:
    """The distances of the tables of one, two or three columns.

    Parameters
    ----------
    way : int
        How many columns each table has.
    tables, possible : int
        Tables that were compared, and how many there are.
    mean, median, largest : float
        Of the distances; nan if there is no table.
    expected : float
        The mean of what sampling alone gives.
    ratio : float
        Mean distance over the expected one. About 1: the synthetic data are like another sample of
        the original's records. Clearly above 1: the model has lost or invented something. Below 1:
        nearer than chance would allow, as copied records are. nan if it is undefined.
    worst : tuple of TableDistance
        The tables with the largest distances.
    """

    way: int
    tables: int
    possible: int
    mean: float
    median: float
    largest: float
    expected: float
    ratio: float
    worst: tuple[TableDistance, ...]

    @classmethod
    def of(cls, way: int, possible: int, tables: list[TableDistance]) -> WayDistances:
        """Return the figures over some tables."""
        if not tables:
            nan = math.nan
            return cls(way, 0, possible, nan, nan, nan, nan, nan, ())
        distances = np.array([table.distance for table in tables])
        mean, expected = float(distances.mean()), float(np.mean([t.expected for t in tables]))
        return cls(
            way,
            len(tables),
            possible,
            mean,
            float(np.median(distances)),
            float(distances.max()),
            expected,
            mean / expected if expected else math.nan,
            tuple(tables[place] for place in np.argsort(-distances, kind="stable")[:WORST]),
        )


@dataclass(frozen=True, eq=False)
class Marginals(Result):
    """How far the shares of a synthetic table are from the original's; `marginals` makes it.

    Parameters
    ----------
    columns : tuple of str
        The columns that were compared.
    records, synthetic_records : int
        Size of the tables.
    groups : dict
        For each column of numbers, how many groups they were put into.
    ways : tuple of WayDistances
        The figures for tables of one, two, three columns.
    reasons : dict
        Why a value is nan, or what was left out.
    """

    SERIES: ClassVar = {"baseline": "Chance alone", "synthetic": "This release"}
    AXIS = "Share of records that would have to change"

    columns: tuple[str, ...]
    records: int
    synthetic_records: int
    groups: dict[str, int]
    ways: tuple[WayDistances, ...]
    reasons: dict[str, str]
    _tables: tuple[TableDistance, ...] = field(repr=False)
    _shares: SharesInMemory | SharesOfSources = field(repr=False)

    def __getitem__(self, way: int) -> WayDistances:
        for found in self.ways:
            if found.way == way:
                return found
        known = ", ".join(str(found.way) for found in self.ways)
        raise ParameterError(f"Tables of {way!r} columns were not compared, but of {known}.")

    def shares(self, column: str, *, backend: Backend | None = None) -> Frame:
        """Return the shares of the levels of one column, in both tables.

        Parameters
        ----------
        column : str
            The column.
        backend : {"polars", "pandas", "pyarrow"}, optional
            The kind of frame to return; by default the kind that went in.

        Returns
        -------
        frame
            `level` in words (a group of numbers by its limits, null for missing), `original` and
            `synthetic`. Levels that one of the tables lacks are among them.

        Raises
        ------
        ParameterError
            If the column was not compared.
        """
        if problems := unknown_columns([column], self.columns):
            raise ParameterError(problems[0])
        labels = self._shares.labels.labels(column)
        tables = zip(COMPARED, self._shares.margins(column), strict=True)
        found = {name: counts / counts.sum() for name, counts in tables}
        frame = pl.DataFrame({"level": pl.Series(labels, dtype=pl.String), **found})
        return self._framed(frame, backend)

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return one row for each table: way, columns, cells, distance, expected and ratio.

        A ratio that is undefined is null. The frame is of the kind that went in, or of `backend`.
        """
        return self._framed(self._rows(), backend)

    def _rows(self) -> pl.DataFrame:
        rows = [
            (len(one.columns), one.columns, one.cells, one.distance, one.expected, one.ratio)
            for one in self._tables
        ]
        schema: dict[str, Any] = {"way": pl.UInt32, "columns": pl.List(pl.String)}
        schema |= {"cells": pl.UInt32} | dict.fromkeys(
            ("distance", "expected", "ratio"), pl.Float64
        )
        return pl.DataFrame(rows, schema, orient="row").fill_nan(None)

    def worst(
        self,
        count: int = 10,
        *,
        way: int | None = None,
        by: Literal["distance", "ratio"] = "distance",
        backend: Backend | None = None,
    ) -> Frame:
        """Return the rows of `to_frame` with the largest distances or ratios.

        Parameters
        ----------
        count : int
            How many.
        way : int, optional
            Of how many columns; of any number by default.
        by : {"distance", "ratio"}
            What they are ordered by.
        backend : {"polars", "pandas", "pyarrow"}, optional
            The kind of frame to return; by default the kind that went in.
        """
        if by not in ("distance", "ratio"):
            raise ParameterError(f"by must be 'distance' or 'ratio'; got {by!r}.")
        rows = self._rows()
        if way is not None:
            rows = rows.filter(rows["way"] == self[way].way)
        worst = rows.sort(by, descending=True, nulls_last=True, maintain_order=True).head(count)
        return self._framed(worst, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return all but the single tables as plain values, with None for nan."""
        found = super().to_dict()
        for way, result in zip(found["ways"], self.ways, strict=True):
            for table, held in zip(way["worst"], result.worst, strict=True):
                table["ratio"] = to_plain(held.ratio)
        return found

    def summary(self) -> str:
        """Return the result in a few sentences."""
        defined = [way for way in self.ways if way.tables]
        if not defined:
            return f"No table was compared: {'; '.join(self.reasons.values())}."
        way = next((way for way in defined if way.way == 2), defined[0])
        worst = way.worst[0]
        one = "one column" if way.way == 1 else f"{way.way} columns"
        much = "" if math.isnan(way.ratio) else f", so this is {way.ratio:.2f} times as much"
        return (
            f"{percent(way.mean)} of the synthetic records would have to change for the tables of "
            f"{one} to have the original's shares (mean of {way.tables:,} tables). A random sample "
            f"of the original differs by {percent(way.expected)}{much}. The worst table is "
            f"{quoted(worst.columns)} with {percent(worst.distance)}, where chance alone gives "
            f"{percent(worst.expected)}."
        )

    def lines(self) -> list[Line]:
        """Return the mean distance for each number of columns beside what chance gives."""
        return [
            distance_line(way.way, way.tables, way.mean, way.expected, way.ratio)
            for way in self.ways
        ]


def distance_line(way: int, tables: int, mean: float, expected: float, ratio: float) -> Line:
    """Return the distance of the tables of some columns beside chance's, for a number line."""
    names = {1: "Single columns", 2: "Pairs of columns", 3: "Three columns at once"}
    return Line(
        names.get(way, f"{way} columns at once"),
        f"{tables:,} tables, {times(ratio)} what chance gives",
        expected,
        mean,
    )


def marginals(  # noqa: PLR0913  # all but the tables have defaults
    original: Frame | TableSource | CodedTables,
    synthetic: Frame | TableSource | None = None,
    *,
    ways: int | Collection[int] = (1, 2, 3),
    columns: str | Sequence[str] | None = None,
    groups: Groups = None,
    special: Mapping[str, Sequence[float]] | None = None,
    most_tables: int = MOST_TABLES,
    random_state: int = 0,
) -> Marginals:
    """Compare the shares of all values, pairs and triples of values with the original's.

    Parameters
    ----------
    original, synthetic : frame, FileStream or DataFrame of Spark
        The tables; they may differ in their number of rows. Tables that are coded already stand
        for both, as `CodedTables` in place of the original.
    ways : int or collection of int
        Of how many columns tables are made: 1 for each column by itself, 2 for pairs, and so on.
    columns : str or sequence of str, optional
        The columns to compare; all those of the original by default.
    groups : int or mapping, optional
        Into how many groups of about the same number of original records numbers are put, for all
        columns or by column; 10 by default. A number that makes up more than a group's share is a
        group of its own, and up to as many different numbers are all kept apart. Dates and times
        are put into groups like numbers.
    special : mapping, optional
        Numbers of a column that are levels of their own, such as -8.
    most_tables : int
        The largest number of tables of three or more columns; of more, so many are drawn at
        random. Tables of one and two columns are all compared.
    random_state : int
        Seed of that choice.

    Returns
    -------
    Marginals
        The distances of all tables beside those that sampling alone would give, and the shares of
        each column.

    Raises
    ------
    ParameterError
        If an argument has a value that cannot be used, or a table lacks a column.
    DataError
        If a table has no rows, or the tables hold values that cannot be compared.

    Notes
    -----
    The distance of two tables of shares is their total variation distance, half the sum of the
    absolute differences. Beside it stands the mean distance of a sample of as many records as the
    synthetic table has, drawn with replacement from the original; `expected_distance` in
    `understudy.utility.distances` has the formula. What is no number is compared level by level,
    and missing is a level of every column.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": [0, 1, 0, 1]})
    >>> synthetic = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": [1, 1, 0, 1]})
    >>> result = marginals(original, synthetic)
    >>> result[2].mean, result[2].expected
    (0.25, 0.31640625)
    """
    chosen = _checked_ways(ways)
    check_whole("most_tables", most_tables, 1)
    check_whole("random_state", random_state, 0)
    both = _coded_alike(original, synthetic, columns, groups, special)
    names = both.names
    rng = np.random.default_rng(random_state)
    reasons = {}
    found: list[WayDistances] = []
    distances: list[TableDistance] = []
    for way in chosen:
        possible = math.comb(len(names), way)
        if way > 2 and possible > most_tables:
            sets = _drawn(names, way, most_tables, rng)
            reasons[f"{way}-way"] = (
                f"{most_tables:,} of {possible:,} tables of {way} columns, drawn at random with "
                f"random_state {random_state}"
            )
        else:
            sets = list(combinations(names, way))
        if not possible:
            reasons[f"{way}-way"] = (
                f"there is no table of {way} columns, because only {len(names)} are compared"
            )
        held = _compare(both, sets)
        distances += held
        found.append(WayDistances.of(way, possible, held))
        if held and not found[-1].expected:
            reasons[f"{way}-way ratio"] = "chance moves nothing, because every table has one cell"
    return Marginals(
        names,
        *both.records,
        both.labels.groups,
        tuple(found),
        reasons,
        tuple(distances),
        both,
        _backend=both.backend,
    )


def _coded_alike(
    original: Frame | TableSource | CodedTables,
    synthetic: Frame | TableSource | None,
    columns: str | Sequence[str] | None,
    groups: Groups,
    special: Mapping[str, Sequence[float]] | None,
) -> SharesInMemory | SharesOfSources:
    """Return the tables coded alike: all of their codes, or how sources are coded."""
    if not isinstance(original, CodedTables) and synthetic is not None:
        sources = source_of(original), source_of(synthetic)
        if not all(isinstance(one, FrameSource) for one in sources):
            return SharesOfSources.of(*sources, columns, groups, special)
    tables = compared(tables_of(original, synthetic), columns)
    both = code_in_groups(tables, groups=groups, special=special)
    return SharesInMemory(both, tables.backend)


def _compare(
    both: SharesInMemory | SharesOfSources, sets: Sequence[tuple[str, ...]]
) -> list[TableDistance]:
    """Compare the tables of some sets of columns."""
    size = both.records[1]
    counts = both.paired_counts(sets)
    return [
        TableDistance(
            names,
            int(np.count_nonzero(first + second)),
            total_variation(first, second),
            expected_distance(first, size),
        )
        for names, (first, second) in track(
            zip(sets, counts, strict=True), "comparing tables of shares", len(sets)
        )
    ]


def _drawn(
    names: Sequence[str], way: int, count: int, rng: np.random.Generator
) -> list[tuple[str, ...]]:
    """Draw `count` different sets of `way` columns, and return them in order.

    A set is found from its number in the combinatorial number system: with a > b > c, the set
    {a, b, c} has the number C(a, 3) + C(b, 2) + C(c, 1).
    """
    numbers = rng.choice(math.comb(len(names), way), count, replace=False, shuffle=False)
    places = np.empty((count, way), np.int64)
    for size in range(way, 0, -1):
        below = np.array([math.comb(place, size) for place in range(len(names))])
        places[:, size - 1] = np.searchsorted(below, numbers, side="right") - 1
        numbers = numbers - below[places[:, size - 1]]
    return [tuple(names[place] for place in row) for row in sorted(places.tolist())]


def _checked_ways(ways: int | Collection[int]) -> list[int]:
    several = [ways] if isinstance(ways, int | np.integer) else ways
    whole = isinstance(several, Collection) and all(
        is_whole(way) and 1 <= way <= MOST_WAYS for way in several
    )
    if not whole or not several:
        raise ParameterError(
            f"ways must be whole numbers from 1 to {MOST_WAYS}, such as (1, 2, 3); got {ways!r}."
        )
    return sorted({int(way) for way in several})
