"""Trees on places in bins: the quick way to grow them on many records.

The places of a column are put into at most 256 bins, which hold about as many records each, and a
split stands between two of them. The exact way sorts the records of each node by each column
instead, and tries every place between two of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Codes
from understudy.synthesis.cart.features import Feature, Places

MOST_BINS = 256
"""Bins of a column at most, so that a byte holds the number of each."""


@dataclass(frozen=True, eq=False)
class Bins:
    """Neighbouring places of a column, put together.

    Parameters
    ----------
    of_place : ndarray of uint8
        The bin of each place; that of a place that no record has says nothing.
    lowest, highest : ndarray of int64
        The first and the last place of each bin that a record has.
    """

    of_place: NDArray[np.uint8]
    lowest: NDArray[np.int64]
    highest: NDArray[np.int64]

    @classmethod
    def of(cls, counts: NDArray[np.int64], alone: Sequence[int] = ()) -> Bins:
        """Return bins of about the same number of records, given the records of each place.

        As long as there are no more than `MOST_BINS` different places, each is a bin by itself.
        The places `alone` are so in any case, if there are few of them: a missing or special value
        next to a number does not mean nearly the same.

        Examples
        --------
        >>> Bins.of(np.array([5, 0, 7])).of_place.tolist()
        [0, 0, 1]
        """
        seen = np.flatnonzero(counts)
        number = np.arange(len(seen))
        if len(seen) > MOST_BINS:
            own = counts[seen]
            apart = np.isin(seen, alone)
            # Each place that stands alone may part a bin in two.
            others = MOST_BINS - 2 * int(np.count_nonzero(apart))
            if others < MOST_BINS // 2:
                apart[:], others = False, MOST_BINS
            group = (2 * np.cumsum(own) - own) * others // (2 * own.sum())
            begins = (np.diff(group) > 0) | apart[1:] | apart[:-1]
            number = np.concatenate([[0], np.cumsum(begins)])
        of_place = np.zeros(len(counts), np.uint8)
        of_place[seen] = number
        edges = np.flatnonzero(np.diff(number)) + 1
        lowest = seen[np.concatenate([[0], edges])] if len(seen) else seen
        highest = seen[np.concatenate([edges - 1, [len(seen) - 1]])] if len(seen) else seen
        return cls(of_place, lowest, highest)


@dataclass(frozen=True, eq=False)
class BinnedColumns:
    """The columns of records in bins, each when it is first asked for.

    Attributes
    ----------
    features
        The columns.
    places
        Where the value of each record stands in each column, of all records.
    rows
        The records that are looked at; None for all.
    known
        The bins of all records in each column that was asked for.
    """

    features: Sequence[Feature]
    places: Places
    rows: NDArray[np.int64] | None = None
    known: dict[int, tuple[NDArray[np.uint8], Bins]] = field(default_factory=dict)

    def take(self, rows: NDArray[np.int64]) -> BinnedColumns:
        """Return some of the records, in the bins of all."""
        return replace(self, rows=rows if self.rows is None else self.rows[rows])

    def column(self, place: int) -> tuple[NDArray[np.uint8], Bins]:
        """Return the bin of each record in a column whose places have an order of their own."""
        if place not in self.known:
            own = self.places[:, place]
            bins = Bins.of(np.bincount(own), self.features[place].apart)
            self.known[place] = bins.of_place[own], bins
        codes, bins = self.known[place]
        return codes if self.rows is None else codes[self.rows], bins


def bin_ordered(codes: Places, order: NDArray[np.int32]) -> tuple[NDArray[np.uint8], Bins]:
    """Return the bin of each record in a column whose codes a tree has given an order."""
    counts = np.empty(len(order), np.int64)
    counts[order] = np.bincount(codes, minlength=len(order))
    bins = Bins.of(counts)
    return bins.of_place[order][codes], bins


@dataclass(frozen=True, eq=False)
class BinnedNodes:
    """The nodes of a tree in the layout of scikit-learn's, and where each record ends.

    `threshold` is the place halfway between those on the two sides of a split.
    """

    children_left: NDArray[np.int64]
    children_right: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: NDArray[np.int64]
    impurity: NDArray[np.float64]
    n_node_samples: NDArray[np.int64]
    at: NDArray[np.int64]

    @property
    def node_count(self) -> int:
        """The number of nodes."""
        return len(self.feature)

    @property
    def weighted_n_node_samples(self) -> NDArray[np.float64]:
        """The records of each node: all weigh the same."""
        return self.n_node_samples.astype(np.float64)


def whole_numbers(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers times a power of two, rounded, such that floats hold each sum of them exactly.

    Sums then do not depend on their order. What is lost is less than a part in 10**15 of the sum of
    as many numbers as there are, each as large as the largest.

    Examples
    --------
    >>> found = whole_numbers(np.array([0.5, -3.0, 0.1]))
    >>> (found[:2] / found[0] / 2).tolist(), bool((found == np.rint(found)).all())
    ([0.5, -3.0], True)
    """
    _, exponent = np.frexp(np.abs(numbers).max(initial=0) * len(numbers))
    return np.rint(np.ldexp(numbers, 52 - int(exponent)))


def grow_binned(
    codes: NDArray[np.uint8],
    bins: Sequence[Bins],
    outcome: tuple[Codes, int] | NDArray[np.float64],
    limits: tuple[int, int, int],
) -> BinnedNodes:
    """Grow a tree on the bins of records, predictors by records.

    It explains classes, of which the number is given, or numbers. `limits` are the fewest records
    of a leaf and of a node that is split, and the most levels.
    """
    from understudy.synthesis.cart.split_kernels import grow_nodes

    if isinstance(outcome, tuple):
        explained = outcome[0].astype(np.uint8), np.empty(0), outcome[1]
    else:
        explained = np.empty(0, np.uint8), whole_numbers(outcome), 0
    records = codes.shape[1]
    room = 2 * max(records // limits[0], 1)
    below, beside, column, low, high, held = np.empty((6, room), np.int64)
    impurity, at = np.empty(room), np.empty(records, np.int64)
    nodes = below, beside, column, low, high, held, impurity
    count = grow_nodes(codes, explained, limits, nodes, at)
    left, right, feature, last, first, sizes, impurity = (array[:count] for array in nodes)
    threshold = np.zeros(count, np.int64)
    for number, own in enumerate(bins):
        splits = np.flatnonzero(feature == number)
        threshold[splits] = (own.highest[last[splits]] + own.lowest[first[splits]]) // 2
    return BinnedNodes(left, right, feature, threshold, impurity, sizes, at)
