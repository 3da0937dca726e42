"""What came of comparing the tables of shares of an original and its synthesis."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from understudy.errors import ParameterError, unknown_columns
from understudy.results import to_plain
from understudy.utility.grouped import Grouped
from understudy.wording import percent

if TYPE_CHECKING:
    import polars as pl

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
class Marginals:
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

    columns: tuple[str, ...]
    records: int
    synthetic_records: int
    groups: dict[str, int]
    ways: tuple[WayDistances, ...]
    reasons: dict[str, str]
    _tables: tuple[TableDistance, ...] = field(repr=False)
    _grouped: Grouped = field(repr=False)

    def __getitem__(self, way: int) -> WayDistances:
        for found in self.ways:
            if found.way == way:
                return found
        known = ", ".join(str(found.way) for found in self.ways)
        raise ParameterError(f"Tables of {way!r} columns were not compared, but of {known}.")

    def shares(self, column: str) -> pl.DataFrame:
        """Return the shares of the levels of one column, in both tables.

        Parameters
        ----------
        column : str
            The column.

        Returns
        -------
        polars.DataFrame
            `level` in words (a group of numbers by its limits, null for missing), `original` and
            `synthetic`. Levels that one of the tables lacks are among them.

        Raises
        ------
        ParameterError
            If the column was not compared.
        """
        import polars as pl

        if problems := unknown_columns([column], self.columns):
            raise ParameterError(problems[0])
        labels = self._grouped.labels[column]
        found = {
            name: np.bincount(table[column], minlength=len(labels)) / len(table)
            for name, table in (
                ("original", self._grouped.original),
                ("synthetic", self._grouped.synthetic),
            )
        }
        return pl.DataFrame({"level": pl.Series(labels, dtype=pl.String), **found})

    def to_frame(self) -> pl.DataFrame:
        """Return one row for each table: way, columns, cells, distance, expected and ratio.

        A ratio that is undefined is null.
        """
        import polars as pl

        tables = self._tables
        return pl.DataFrame(
            {
                "way": pl.Series([len(table.columns) for table in tables], dtype=pl.UInt32),
                "columns": pl.Series(
                    [list(table.columns) for table in tables], dtype=pl.List(pl.String)
                ),
                "cells": pl.Series([table.cells for table in tables], dtype=pl.UInt32),
                "distance": pl.Series([table.distance for table in tables], dtype=pl.Float64),
                "expected": pl.Series([table.expected for table in tables], dtype=pl.Float64),
                "ratio": pl.Series([table.ratio for table in tables], dtype=pl.Float64),
            }
        ).with_columns(pl.col("ratio").fill_nan(None))

    def worst(
        self,
        count: int = 10,
        *,
        way: int | None = None,
        by: Literal["distance", "ratio"] = "distance",
    ) -> pl.DataFrame:
        """Return the rows of `to_frame` with the largest distances or ratios.

        Parameters
        ----------
        count : int
            How many.
        way : int, optional
            Of how many columns; of any number by default.
        by : {"distance", "ratio"}
            What they are ordered by.
        """
        if by not in ("distance", "ratio"):
            raise ParameterError(f"by is 'distance' or 'ratio'; got {by!r}.")
        rows = self.to_frame()
        if way is not None:
            rows = rows.filter(rows["way"] == self[way].way)
        return rows.sort(by, descending=True, nulls_last=True, maintain_order=True).head(count)

    def to_dict(self) -> dict[str, Any]:
        """Return all but the single tables as plain values, with None for nan."""
        found: dict[str, Any] = to_plain(self)
        for way, result in zip(found["ways"], self.ways, strict=True):
            for table, held in zip(way["worst"], result.worst, strict=True):
                table["ratio"] = to_plain(held.ratio)
        return found

    def summary(self) -> str:
        """Return the result in a few words."""
        defined = [way for way in self.ways if way.tables]
        if not defined:
            return f"No table was compared: {'; '.join(self.reasons.values())}."
        way = next((way for way in defined if way.way == 2), defined[0])
        worst = way.worst[0]
        one = "one column" if way.way == 1 else f"{way.way} columns"
        times = "" if math.isnan(way.ratio) else f", so that this is {way.ratio:.2f} times as much"
        return (
            f"For the tables of {one} to have the original's shares, {percent(way.mean)} of the "
            f"synthetic records would have to change (mean of {way.tables:,} tables). A sample of "
            f"the original's records differs by {percent(way.expected)} by chance alone{times}. "
            f"Worst: {' and '.join(worst.columns)}, {percent(worst.distance)} (by chance "
            f"{percent(worst.expected)})."
        )

    def __str__(self) -> str:
        return self.summary()
