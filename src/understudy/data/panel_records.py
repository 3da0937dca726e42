"""The records of a panel, unit by unit and in the order of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.identifier_look import words_of
from understudy.data.schema import NUMERIC, Schema
from understudy.data.values import numbers, to_numpy

NEARLY_ALL = 0.95
"""A column orders records if it does so in this share of the units with several records."""

_TIMES = frozenset(
    {"time", "date", "day", "week", "month", "quarter", "year", "yr", "wave", "round", "period"}
    | {"visit", "t", "datum", "jahr", "tag", "monat", "welle", "zeit", "annee", "mois", "jour"}
    | {"fecha", "anio", "mes", "dia"}
)
"""Words of a name that say that a column tells when."""


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a column as numbers that can be compared, and where they are missing."""

    numbers: NDArray[Any]
    missing: NDArray[np.bool_]

    @classmethod
    def of(cls, array: pa.Array, name: str, *, numeric: bool) -> Values:
        """Return the numbers of a column; of other columns a number for each different value."""
        if numeric:
            found = numbers(array, name)
            return cls(found.values, found.missing)
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        missing = to_numpy(pc.is_null(array))
        return cls(to_numpy(array.indices.cast(pa.int64()), missing=-1), missing)

    def take(self, rows: NDArray[np.int64]) -> Values:
        """Return the values of some records."""
        return Values(self.numbers[rows], self.missing[rows])

    def same(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether records have the same value as others."""
        equal = (self.numbers[rows] == self.numbers[others]) | self.missing[rows]
        return np.asarray(equal & (self.missing[rows] == self.missing[others]))


@dataclass(frozen=True, eq=False)
class Records:
    """Where the records of each unit stand.

    Parameters
    ----------
    order : ndarray of int64
        The rows of the table, unit by unit, and within each in the order of time.
    firsts : ndarray of int64
        Where in `order` each unit begins.

    Examples
    --------
    >>> found = Records.of(np.array([0, 1, 0]), np.array([2001, 2000, 2000]))
    >>> found.order.tolist(), found.firsts.tolist(), found.counts.tolist()
    ([2, 0, 1], [0, 2], [2, 1])
    """

    order: NDArray[np.int64]
    firsts: NDArray[np.int64]

    @classmethod
    def of(cls, units: NDArray[np.int64], time: NDArray[Any] | None = None) -> Records:
        """Sort records by the number of their unit and by time; those of one time as they stand."""
        keys = (units,) if time is None else (time, units)
        order = np.lexsort(keys).astype(np.int64)
        ordered = units[order]
        return cls(order, np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])))

    def __len__(self) -> int:
        return len(self.firsts)

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of records of each unit."""
        return np.diff(np.append(self.firsts, len(self.order)))

    @cached_property
    def unit(self) -> NDArray[np.int64]:
        """The number of each ordered record's unit."""
        return np.repeat(np.arange(len(self)), self.counts)

    @cached_property
    def number(self) -> NDArray[np.int64]:
        """How many records of its unit stand before each ordered record."""
        return np.arange(len(self.order)) - self.firsts[self.unit]

    @cached_property
    def later(self) -> NDArray[np.int64]:
        """Where in `order` the records stand that have one of their unit before them."""
        return np.flatnonzero(self.number > 0)


def find_time(
    schema: Schema, columns: Mapping[str, pa.Array], units: NDArray[np.int64]
) -> str | None:
    """Return the column that tells the order of a unit's records, if one looks like it.

    It holds numbers or dates, no two the same within nearly every unit. Dates count most, then
    columns with names such as year or wave, then those that rise from record to record.
    """
    as_filed = Records.of(units)
    if not len(as_filed.later):
        return None
    ranked: list[tuple[int, int, str]] = []
    for place, column in enumerate(schema):
        if column.kind not in NUMERIC:
            continue
        values = Values.of(columns[column.name], column.name, numeric=True)
        if values.missing.any() or not _differ(values.numbers, units):
            continue
        own = values.numbers[as_filed.order]
        fell = np.unique(as_filed.unit[as_filed.later[np.diff(own)[as_filed.later - 1] <= 0]])
        rises = len(fell) <= (1 - NEARLY_ALL) * _several(as_filed)
        named = not _TIMES.isdisjoint(words_of(column.name))
        if column.kind == "datetime" or named or rises:
            ranked.append(
                (-(4 * (column.kind == "datetime") + 2 * named + rises), place, column.name)
            )
    return min(ranked)[2] if ranked else None


def _several(records: Records) -> int:
    """Return how many units have more than one record."""
    return int(np.count_nonzero(records.counts > 1))


def _differ(values: NDArray[Any], units: NDArray[np.int64]) -> bool:
    """Return whether nearly all units have no value twice."""
    sorted_ = Records.of(units, values)
    own, later = values[sorted_.order], sorted_.later
    twice = np.unique(sorted_.unit[later[own[later] == own[later - 1]]])
    return len(twice) <= (1 - NEARLY_ALL) * _several(sorted_)
