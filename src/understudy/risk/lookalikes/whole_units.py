"""Lookalikes of whole units: one has a lookalike if any of its records has.

The next person of a record is then the nearest record of another unit. A fresh unit is a lookalike
of a unit if one of its records is much closer to one of the unit's than all other units are. How
often that happens follows from the original's units among themselves: each pair of a unit and
another that would be its lookalike, were it not in the data itself, is counted once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from understudy.learning.mixed_distance import Kind, PlacedTable
from understudy.risk.lookalikes.looks import Family
from understudy.risk.lookalikes.near import Near

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class UnitsOf:
    """Which unit each record belongs to, by table.

    Parameters
    ----------
    original : ndarray of int64
        The unit of each original record, from 0.
    control : ndarray of int64, optional
        The same of the control records.
    released : ndarray of int64, optional
        The same of the releases, one below the other; None if nothing says which of their records
        belong together, so that each counts as a unit.
    """

    original: Codes
    control: Codes | None = None
    released: Codes | None = None

    @property
    def count(self) -> int:
        """How many units the original has."""
        return int(self.original.max()) + 1

    def looked_at(self, rows: Codes) -> UnitsOf:
        """Return the same with some of the released records."""
        return self if self.released is None else replace(self, released=self.released[rows])

    def released_units(self, records: int) -> int:
        """Return how many units the released records are, of which there are so many."""
        return records if self.released is None else len(np.unique(self.released))


def drawn_units(units: Codes, most: int, rng: np.random.Generator) -> Codes:
    """Return the rows of units, or at most so many: of each unit as many, drawn at random.

    If there are more units than that, some of them are drawn, with a row each.

    Examples
    --------
    >>> drawn_units(np.array([0, 0, 1, 1, 2]), 5, np.random.default_rng(1)).tolist()
    [0, 1, 2, 3, 4]
    >>> rows = drawn_units(np.array([0, 0, 0, 1, 1, 1, 2]), 6, np.random.default_rng(1))
    >>> np.bincount(np.array([0, 0, 0, 1, 1, 1, 2])[rows]).tolist()
    [2, 2, 1]
    """
    if len(units) <= most:
        return np.arange(len(units))
    known, codes = np.unique(units, return_inverse=True)
    codes = codes.ravel()
    each = max(1, most // len(known))
    order = np.lexsort((rng.random(len(units)), codes))
    starts = np.searchsorted(codes[order], np.arange(len(known)))
    chosen = order[np.arange(len(units)) - starts[codes[order]] < each]
    if len(chosen) > most:
        chosen = chosen[rng.permutation(len(chosen))[:most]]
    return np.sort(chosen)


@dataclass(frozen=True, eq=False)
class NearUnits(Near):
    """What is near to some units: that of any of their records.

    `person` is how far the most isolated of a unit's records is from other units.
    """

    has_lookalike: NDArray[np.bool_] | None = None

    @classmethod
    def gathered(cls, near: Near, units: Codes, ratio: float) -> NearUnits:
        """Return what is near to units, by what is near to their records."""
        known, codes = np.unique(units, return_inverse=True)
        codes, count = codes.ravel(), len(known)
        isolated = largest(near.person, codes, count)
        found = np.bincount(codes, near.found(ratio), count) > 0
        nothing = np.zeros(count)
        return cls(
            nothing,
            np.zeros(count, np.int64),
            isolated,
            nothing,
            near.rounding,
            near.step,
            has_lookalike=found,
        )

    def found(self, ratio: float) -> NDArray[np.bool_]:  # noqa: ARG002  # it was asked for then
        """Return which units have a lookalike."""
        assert self.has_lookalike is not None  # noqa: S101  # `gathered` sets it
        return self.has_lookalike


def largest(values: Floats, codes: Codes, count: int) -> Floats:
    """Return the largest value of each group.

    Examples
    --------
    >>> largest(np.array([1.0, 3.0, 2.0]), np.array([0, 0, 1]), 2).tolist()
    [3.0, 2.0]
    """
    found = np.full(count, -np.inf)
    np.maximum.at(found, codes, values)
    return found


def family_of_units(
    kind: Kind,
    near: Near,
    units: tuple[Codes, Codes],
    ratio: float,
    rates: tuple[float, float],
    found: Floats,
) -> Family:
    """Return a way to look for lookalikes of units, by what is near to their records.

    Parameters
    ----------
    kind : str
        By which distance.
    near : Near
        What is near to the records of the units that are compared.
    units : tuple of ndarray
        The unit of each of these records, and of each original record.
    ratio : float
        How much nearer a lookalike must be than the next unit.
    rates : tuple of float
        Units of the release for each original unit: those that are looked at, and all.
    found : ndarray
        The probability that each of the records has a lookalike among those that are looked at.

    Notes
    -----
    A unit is as isolated as its most isolated record. Without the other unit k, a record whose
    nearest one is of k would be as far from the next as from the second nearest now.
    """
    compared, everybody = units
    known, codes = np.unique(compared, return_inverse=True)
    codes, count = codes.ravel(), len(known)
    isolation = largest(near.person, codes, count)
    paired = near.paired(ratio)
    assert near.person_row is not None  # noqa: S101  # `near_to` sets it where there are units
    others = everybody[near.person_row[paired]]
    both = codes[paired] * (int(everybody.max()) + 1) + others
    pairs, where = np.unique(both, return_inverse=True)
    beyond = largest(near.second[paired], where.ravel(), len(pairs))
    of_unit = pairs // (int(everybody.max()) + 1)
    return Family(
        kind,
        rates[0],
        isolation,
        np.maximum(beyond, isolation[of_unit]) if len(pairs) else beyond,
        largest(found, codes, count),
        np.ones(len(pairs), bool),
        np.bincount(codes, near.limits(ratio) > 0, count) > 0,
        rates[0] / rates[1],
    )


def alone_and_equalled(
    original: PlacedTable, synthetic: PlacedTable, units: Codes
) -> tuple[int, int]:
    """Return how many units have a record that no other unit has, but the release does.

    In all columns, and with nobody who differs in one column or none.
    """
    from understudy.risk.lookalikes.kernels import hash_records, leave_out

    hashes = [np.zeros(table.rows, np.uint64) for table in (original, synthetic)]
    for table, sums in zip((original, synthetic), hashes, strict=True):
        hash_records(table.values, sums)
    entirely = _own(hashes[0], units) & np.isin(hashes[0], hashes[1])
    alone, equalled = np.ones(original.rows, bool), np.zeros(original.rows, bool)
    left = [np.empty(table.rows, np.uint64) for table in (original, synthetic)]
    for column in range(len(original.columns)):
        for table, sums, rest in zip((original, synthetic), hashes, left, strict=True):
            leave_out(table.values[column], column, sums, rest)
        alone &= _own(left[0], units)
        equalled |= np.isin(left[0], left[1])
    return len(np.unique(units[entirely])), len(np.unique(units[alone & equalled]))


def _own(hashes: NDArray[np.uint64], units: Codes) -> NDArray[np.bool_]:
    """Return which records equal none of another unit."""
    _, codes = np.unique(hashes, return_inverse=True)
    codes = codes.ravel()
    low = np.full(int(codes.max()) + 1, np.iinfo(np.int64).max)
    high = np.full(len(low), -1)
    np.minimum.at(low, codes, units)
    np.maximum.at(high, codes, units)
    own: NDArray[np.bool_] = (low == high)[codes]
    return own
