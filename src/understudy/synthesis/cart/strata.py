"""Parts of the records that have trees of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.counting import group_ids
from understudy.data import Coded
from understudy.data.coded import Codes


@dataclass(frozen=True, eq=False)
class Strata:
    """The combinations of some columns that occur, and how many records have each.

    Parameters
    ----------
    columns : tuple of int
        The places of the columns; none for one stratum with all records.
    codes : ndarray, shape (strata, columns)
        The codes of each stratum.
    counts : ndarray of int64
        Records in each stratum.

    Examples
    --------
    >>> coded = Coded.from_arrays({"sex": [0, 1, 1], "age": [2, 0, 2]})
    >>> strata = Strata.of(coded, ["sex"])
    >>> strata.counts, strata.find([coded["sex"]])
    (array([1, 2]), array([0, 1, 1]))
    """

    columns: tuple[int, ...]
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, coded: Coded, names: Sequence[str]) -> Strata:
        """Return the strata of a table by the named columns."""
        if not names:
            return cls((), np.zeros((1, 0), np.int64), np.array([len(coded)]))
        groups = group_ids(coded, names)
        places = tuple(coded.position(name) for name in names)
        columns = [coded.columns[place][groups.representatives] for place in places]
        codes = np.stack(columns, axis=1).astype(np.int64)
        return cls(places, codes, np.bincount(groups.ids, minlength=groups.count))

    def __len__(self) -> int:
        return len(self.counts)

    def find(self, columns: Sequence[Codes]) -> NDArray[np.int64]:
        """Return the stratum of each record, -1 for a combination of codes that did not occur."""
        own = np.stack(columns, axis=1).astype(np.int64)
        both, number = np.unique(np.concatenate([self.codes, own]), axis=0, return_inverse=True)
        stratum_of = np.full(len(both), -1, np.int64)
        stratum_of[number[: len(self)]] = np.arange(len(self))
        return stratum_of[number[len(self) :]]

    def split(self, strata: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return the rows of each stratum, given the stratum of each row; -1 belongs to none."""
        if len(self) == 1:
            return [np.flatnonzero(strata == 0)]
        order = np.argsort(strata, kind="stable")
        edges = np.searchsorted(strata[order], np.arange(len(self) + 1))
        return np.split(order, edges)[1:-1]

    def draw(self, rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw the stratum of each record, as often as it occurs."""
        if len(self) == 1:
            return np.zeros(rows, np.int64)
        positions = rng.integers(0, int(self.counts.sum()), size=rows)
        return np.searchsorted(np.cumsum(self.counts), positions, side="right")

    def codes_of(self, strata: NDArray[np.int64]) -> dict[int, Codes]:
        """Return the codes of the strata's columns for each record, by the columns' places."""
        return {
            place: self.codes[strata, column].astype(np.uint32)
            for column, place in enumerate(self.columns)
        }
