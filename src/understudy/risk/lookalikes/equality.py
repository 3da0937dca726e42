"""How many records equal a person in all columns, or in all but one: everybody, in linear time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.learning.mixed_distance import PlacedTable

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Equals:
    """For each person, the records of a table that are equal in all columns, and in all but one.

    Those that are equal in all columns are counted among the others, too.
    """

    entirely: Counts
    but_one: Counts


def equal_records(people: PlacedTable, table: PlacedTable) -> Equals:
    """Count the records of a table that equal each person, if compared loosely.

    Parameters
    ----------
    people, table : PlacedTable
        Tables that were placed together. If they are the same, everybody equals themselves.

    Examples
    --------
    >>> import polars as pl
    >>> from understudy.learning.mixed_distance import place_together
    >>> people = pl.DataFrame({"a": ["x", "y"], "b": ["p", "q"], "c": ["r", "s"]})
    >>> other = pl.DataFrame({"a": ["x", "x"], "b": ["p", "p"], "c": ["r", "t"]})
    >>> placed = place_together({"people": people, "other": other}, ["a", "b", "c"])
    >>> found = equal_records(placed["people"], placed["other"])
    >>> found.entirely.tolist(), found.but_one.tolist()
    ([1, 0], [2, 0])
    """
    from understudy.risk.lookalikes.kernels import count_equal, hash_records, leave_out

    hashes = [np.zeros(held.rows, np.uint64) for held in (table, people)]
    left = [np.empty(held.rows, np.uint64) for held in (table, people)]
    for held, sums in zip((table, people), hashes, strict=True):
        hash_records(held.values, sums)
    size = 2 ** (2 * table.rows).bit_length()
    slots = np.empty(size, np.uint64), np.empty(size, np.int64)
    entirely, nearly = np.zeros(people.rows, np.int64), np.zeros(people.rows, np.int64)
    count_equal(hashes[0], hashes[1], slots, entirely)
    columns = len(people.columns)
    for column in range(columns):
        for held, sums, rest in zip((table, people), hashes, left, strict=True):
            leave_out(held.values[column], column, sums, rest)
        count_equal(left[0], left[1], slots, nearly)
    # Who is equal in all columns was counted once for each that was left out.
    return Equals(entirely, nearly - (columns - 1) * entirely if columns else entirely)
