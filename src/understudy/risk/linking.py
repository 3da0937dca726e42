"""People linked with the records of a release that are nearest to them by their keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_whole
from understudy.data.joint_coding import CodedTables
from understudy.learning.mixed_distance import PlacedTable, nearest_records, place_together
from understudy.risk.prepare import releases_of

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Linker:
    """Finds the nearest records of all releases together, by the distance over mixed columns.

    Parameters
    ----------
    people : dict
        The original, and the control records if there are any, by name.
    released : PlacedTable
        The records of all releases, one table below the other.
    """

    people: Mapping[str, PlacedTable]
    released: PlacedTable

    @classmethod
    def of(
        cls, tables: CodedTables, keys: Sequence[str], weights: Mapping[str, float] | None = None
    ) -> Linker:
        """Make people and releases comparable by their keys, some of which may count for less.

        Parameters
        ----------
        tables : CodedTables
            "original", "synthetic" (or "synthetic 1", ..) and perhaps "control".
        keys : sequence of str
            What is compared.
        weights : mapping, optional
            How much each key counts, at most 1.
        """
        used = [name for name in ("original", "control") if name in tables.encoded]
        made = releases_of(tables)
        chosen = tables.select([*used, *made], keys)
        placed = place_together(chosen.encoded, keys)
        if weights is not None:
            placed = {name: table.weighted(weights) for name, table in placed.items()}
        parts = [placed[name] for name in made]
        values = np.hstack([part.values for part in parts]) if len(parts) > 1 else parts[0].values
        return cls(
            {name: placed[name] for name in used},
            replace(parts[0], values=np.ascontiguousarray(values)),
        )

    def nearest(
        self, table: str, rows: Rows, *, count: int = 1, among: Rows | None = None
    ) -> tuple[NDArray[np.float64], Rows]:
        """Return how far away the nearest records of the releases are, and which, nearest first.

        Parameters
        ----------
        table : str
            Whose people are linked.
        rows : ndarray of int
            Which of its records.
        count : int
            How many records are found for each.
        among : ndarray of int, optional
            The released records that are looked at; all if not given.
        """
        reference = self.released if among is None else self.released.take(among)
        distance, found = nearest_records(
            self.people[table].take(rows), reference, count=min(count, reference.rows)
        )
        if among is not None:
            found = np.where(found < 0, -1, among[found])
        return distance, found


def drawn_people(total: int, most: int | None, seed: int) -> Rows:
    """Return the rows of the people who are attacked: all, or so many drawn at random, in order."""
    if most is not None:
        check_whole("people", most, 1)
    if most is None or most >= total:
        return np.arange(total)
    return np.sort(np.random.default_rng(seed).choice(total, most, replace=False))
