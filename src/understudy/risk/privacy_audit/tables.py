"""The tables from which the rows of a release were drawn, in two worlds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Coded
from understudy.risk.privacy_audit.laws import Law
from understudy.risk.privacy_audit.rows import log_probability


@dataclass(frozen=True, eq=False)
class DrawnTable:
    """A column's table: what is drawn for each combination of its parents.

    Parameters
    ----------
    released, one, other : ndarray of shape (combinations, values)
        Synthetic records, and records of both worlds.
    law : Law
        The noise on each count.
    """

    released: NDArray[np.int64]
    one: NDArray[np.int64]
    other: NDArray[np.int64]
    law: Law

    def log_ratio(self) -> float:
        """Return the log of how much more probable the synthetic values are in the first world."""
        differ = (self.one != self.other).any(axis=1) & self.released.any(axis=1)
        found = []
        for row in np.flatnonzero(differ):
            worlds = [self.one[row], self.other[row]]
            first, second = log_probability(self.released[row], worlds, self.law)
            found.append(first - second)
        return math.fsum(found)


def count(rows: Coded, names: Sequence[str], shape: tuple[int, int]) -> NDArray[np.int64]:
    """Return the rows of each combination of columns, as a table of that shape."""
    sizes = [rows.cardinality(name) for name in names]
    places = np.ravel_multi_index([rows[name].astype(np.int64) for name in names], sizes)
    return np.bincount(places, minlength=math.prod(sizes)).reshape(shape).astype(np.int64)


def log_ratio_of_rows(tables: Iterable[DrawnTable]) -> float:
    """Return the log of how much more probable rows are in the first world."""
    return math.fsum(table.log_ratio() for table in tables)
