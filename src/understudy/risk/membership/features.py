"""What a classifier sees of a shadow release: histograms, correlations, and counts around a person.

The features are those of the literature: histograms and correlations (Stadler, Oprisanu, Troncoso
2022), and counts of records that agree with the target on random sets of columns (Houssiau and
others 2022).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from understudy.data.frames import Frame
from understudy.data.joint_coding import EncodedTable, encode
from understudy.errors import DataError
from understudy.learning.mixed_distance import UNIT, PlacedTable, place_together

PARTS = 10
"""Parts of equally many original records that the histogram of a number has."""
MOST_LABELS = 30
"""Labels of a column that the histogram tells apart, the commonest in the original."""
LOOSELY = UNIT // 20
"""Numbers agree loosely if fewer than 5% of the original's records lie between them."""
MOST_COLUMNS = 64
MOST_CORRELATED = 40
"""Of wider tables, the first columns."""


@dataclass(frozen=True, eq=False)
class FeatureMaker:
    """Turns releases of one table into numbers, the same for all of them.

    Parameters
    ----------
    original : EncodedTable
        The table, encoded once.
    columns : tuple of str
        The columns that are looked at.
    targets : ndarray of int64
        The rows of the people who are attacked.
    queries : int
        Random sets of columns whose agreement with a target is counted.
    seed : int
        Decides these sets.
    """

    original: EncodedTable
    columns: tuple[str, ...]
    targets: NDArray[np.int64]
    queries: int
    seed: int

    @cached_property
    def _placed(self) -> PlacedTable:
        return place_together({"original": self.original}, self.columns)["original"]

    @cached_property
    def _queries(self) -> NDArray[np.uint64]:
        """Which columns each query asks for strictly, and which loosely, a bit for each."""
        columns = min(len(self.columns), MOST_COLUMNS)
        rng = np.random.default_rng(self.seed)
        every = (1 << columns) - 1
        found = [(every, 0), (0, every)]
        for _ in range(self.queries):
            size = int(rng.integers(1, columns + 1))
            asked = sum(1 << int(one) for one in rng.choice(columns, size, replace=False))
            found.append((asked, 0) if rng.random() < 0.5 else (0, asked))
        return np.array(found, np.uint64)

    @cached_property
    def _reach(self) -> NDArray[np.int32]:
        numeric = np.arange(len(self._placed.columns)) < self._placed.numeric
        return np.stack([np.zeros(len(numeric)), LOOSELY * numeric]).astype(np.int32)[
            :, :MOST_COLUMNS
        ]

    @cached_property
    def _levels(self) -> list[NDArray[np.int32]]:
        """The labels of each column without sizes that its histogram tells apart."""
        found = []
        for values in self._placed.values[self._placed.numeric :]:
            labels, counts = np.unique(values, return_counts=True)
            found.append(np.sort(labels[np.argsort(-counts, kind="stable")[:MOST_LABELS]]))
        return found

    def of(self, release: Frame) -> NDArray[np.float64]:
        """Return the features of a release, a row for each target.

        Raises
        ------
        DataError
            If the release has no rows, or lacks a column.
        """
        table = encode(release)
        lacking = [name for name in self.columns if name not in table.names]
        if lacking:
            raise DataError(f"The synthetic table has no column {lacking[0]!r}.")
        if not len(table):
            raise DataError("The synthetic table has no rows.")
        placed = place_together({"original": self.original, "release": table}, self.columns)
        values = self._renumbered(placed["original"], placed["release"])
        general = np.concatenate([*self._histograms(values), self._correlations(values)])
        own = self._counts(values)
        return np.hstack([np.tile(general, (len(own), 1)), own])

    def _renumbered(self, original: PlacedTable, release: PlacedTable) -> NDArray[np.int32]:
        """Return the release with the labels' own numbers; a label that is new has number -1."""
        values = release.values.copy()
        for place in range(original.numeric, len(values)):
            size = int(max(original.values[place].max(), values[place].max())) + 1
            number = np.full(size, -1, np.int32)
            number[original.values[place]] = self._placed.values[place]
            values[place] = number[values[place]]
        return values

    def _histograms(self, values: NDArray[np.int32]) -> list[NDArray[np.float64]]:
        rows, numeric = values.shape[1], self._placed.numeric
        found = []
        for own in values[:numeric]:
            parts = np.clip(own.astype(np.int64) * PARTS // UNIT, 0, PARTS - 1)
            # What has no size is far below 0.
            parts = np.where(own < -2 * UNIT, PARTS, parts)
            found.append(np.bincount(parts, minlength=PARTS + 1) / rows)
        for own, levels in zip(values[numeric:], self._levels, strict=True):
            place = np.searchsorted(levels, own)
            known = levels[np.minimum(place, len(levels) - 1)] == own
            counts = np.bincount(np.where(known, place, len(levels)), minlength=len(levels) + 1)
            found.append(counts / rows)
        return found

    def _correlations(self, values: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the correlation of each pair of columns; 0 where a column is constant."""
        some = values[:MOST_CORRELATED].astype(np.float64)
        apart = some - some.mean(axis=1, keepdims=True)
        spread = np.sqrt((apart**2).sum(axis=1))
        scaled = np.divide(
            apart, spread[:, None], out=np.zeros_like(apart), where=spread[:, None] > 0
        )
        return np.asarray((scaled @ scaled.T)[np.triu_indices(len(scaled), 1)])

    def _counts(self, values: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the shares of records that agree with each target, and how near they come."""
        from understudy.risk.membership.kernels import count_agreeing

        targets = np.ascontiguousarray(self._placed.values[:MOST_COLUMNS, self.targets])
        counts = np.empty((len(self.targets), len(self._queries)), np.int64)
        fewest = np.empty((len(self.targets), 2), np.int64)
        records = np.ascontiguousarray(values[:MOST_COLUMNS])
        count_agreeing(targets, records, self._reach, self._queries, counts, fewest)
        return np.hstack([counts / values.shape[1], fewest])
