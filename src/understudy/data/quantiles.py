"""How numbers are spread inside bins: from a number to its position in the bin, and back.

Between two cut points a bin's numbers may crowd at one end, and in the first and the last bin of a
column they may reach far out. Knots follow them, so many as there are records to rest on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.data.bins import Bins, Grid, Numeric
from understudy.data.counted import Ranked
from understudy.data.ends import FEWEST_AT_ENDS

Floats = NDArray[np.float64]

MOST_PIECES = 16
"""Pieces of a bin, but for those that the ends of a column are cut into besides."""

_LAST = np.nextafter(1.0, 0.0)


@dataclass(frozen=True, eq=False)
class Quantiles:
    """The numbers of each bin at some shares of its records; between them they lie evenly.

    Parameters
    ----------
    values : ndarray
        The numbers of all bins, one after the other; they do not decrease.
    shares : ndarray of float64
        The share of the bin's records that are below each of them: 0 for a bin's first number, 1
        for its last.
    firsts : ndarray of int64
        Where the numbers of each bin begin, and their count.

    Examples
    --------
    >>> from understudy.data.bins import WholeGrid, build_bins
    >>> ordered = np.arange(20) ** 2
    >>> spread = Quantiles.of(build_bins(np.array([0, 361]), ordered), ordered)
    >>> spread.values.tolist(), spread.shares.tolist()
    ([0, 25, 100, 196, 361], [0.0, 0.25, 0.5, 0.75, 1.0])
    >>> spread.positions(np.array([0]), np.array([62])).round(3).tolist()
    [0.373]
    >>> spread.at(np.array([0]), np.array([0.373]), WholeGrid()).tolist()
    [62]
    """

    values: Numeric
    shares: Floats
    firsts: NDArray[np.int64]

    @classmethod
    def of(cls, bins: Bins, ordered: Numeric | Ranked) -> Quantiles:
        """Return the quantiles of sorted numbers in the bins that they are in.

        Each piece between two quantiles rests on five records or more. A bin with too few for two
        pieces is drawn from evenly, from the first number that can be written there to the last.
        """
        starts = ordered.searchsorted(bins.edges[:-1], side="left")
        stops = np.append(starts[1:], ordered.searchsorted(bins.edges[-1], side="right"))
        shares = [
            _shares(stop - start, first=place == 0, last=place == len(bins) - 1)
            for place, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True))
        ]
        sizes = np.array([len(own) for own in shares])
        all_shares, bin_of = np.concatenate(shares), np.repeat(np.arange(len(bins)), sizes)
        low, high = bins.bounds[bin_of].T
        # Of a bin with too few records, the two ends of what can be written there.
        values = np.where(all_shares > 0, high, low)
        many = np.flatnonzero((sizes > 2)[bin_of])
        if len(many):
            own = bin_of[many]
            ranks = np.round(all_shares[many] * (stops - starts - 1)[own]).astype(np.int64)
            found = ordered[starts[own] + ranks]
            known = np.isfinite(found)
            near = bins.grid.nearest(np.where(known, found, low[many]))
            values[many] = np.where(known, np.clip(near, low[many], high[many]), found)
        return cls(values, all_shares, np.cumsum([0, *sizes.tolist()]))

    def __len__(self) -> int:
        return len(self.firsts) - 1

    @cached_property
    def _keys(self) -> Floats:
        """The number of each knot's bin plus its share: increasing over all bins."""
        return np.repeat(np.arange(len(self)), np.diff(self.firsts)) + self.shares

    def at(self, bins: NDArray[np.integer], positions: Floats, grid: Grid) -> Numeric:
        """Return the number at each position, from 0 to 1, of a bin."""
        inside = np.minimum(positions, _LAST)
        found = np.searchsorted(self._keys, bins + inside, side="right") - 1
        # Adding the bin may round a position up to the next bin's first.
        piece = np.clip(found, self.firsts[bins], self.firsts[bins + 1] - 2)
        below, above = self.shares[piece], self.shares[piece + 1]
        share = np.clip((inside - below) / (above - below), 0.0, _LAST)
        return grid.between(self.values[piece], self.values[piece + 1], share)

    def positions(self, bins: NDArray[np.integer], values: Numeric) -> Floats:
        """Return where in its bin each number lies: the share of the bin's records below it.

        Half of the records with the same number count as below.
        """
        first, last = self.firsts[bins], self.firsts[bins + 1] - 1
        left = np.clip(np.searchsorted(self.values, values, side="left"), first, last)
        right = np.clip(np.searchsorted(self.values, values, side="right") - 1, first, last)
        before = np.maximum(left - 1, first)
        width = (self.values[left] - self.values[before]).astype(np.float64)
        passed = (values - self.values[before]).astype(np.float64)
        part = np.clip(passed / np.where(width > 0, width, 1.0), 0.0, 1.0)
        between = self.shares[before] + part * (self.shares[left] - self.shares[before])
        return np.where(right >= left, (self.shares[left] + self.shares[right]) / 2, between)

    def to_plain(self) -> dict[str, Any]:
        """Return the quantiles in values that JSON can hold exactly, bin by bin."""
        cuts = self.firsts[1:-1]
        return {
            "values": [own.tolist() for own in np.split(self.values, cuts)],
            "shares": [own.tolist() for own in np.split(self.shares, cuts)],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], bins: Bins) -> Quantiles:
        """Return what `to_plain` took apart; raise ValueError if it does not fit the bins."""
        sizes = [len(own) for own in plain["shares"]]
        if sizes != [len(own) for own in plain["values"]] or len(sizes) != len(bins):
            raise ValueError("quantiles of other bins")
        shares = np.array([one for own in plain["shares"] for one in own], np.float64)
        values = np.array([one for own in plain["values"] for one in own], bins.edges.dtype)
        firsts = np.cumsum([0, *sizes])
        rising = np.diff(shares) > 0
        rising[firsts[1:-1] - 1] = True
        fit = (
            min(sizes) > 1
            and bool((shares[firsts[:-1]] == 0).all() and (shares[firsts[1:] - 1] == 1).all())
            and bool(rising.all() and (np.diff(values) >= 0).all())
        )
        if not fit:
            raise ValueError("quantiles that do not increase")
        return cls(values, shares, firsts)


@lru_cache(maxsize=256)
def _shares(records: int, *, first: bool, last: bool) -> Floats:
    """Return the shares at which a bin of so many records has a knot.

    The first bin of a column is halved again and again towards its lower end, and the last towards
    its upper, since few records are far out there, and these far apart.
    """
    pieces = min(MOST_PIECES, records // FEWEST_AT_ENDS)
    if pieces < 2:
        return np.array([0.0, 1.0])
    found = np.arange(pieces + 1) / pieces
    halvings = int(np.log2(records / (pieces * FEWEST_AT_ENDS)))
    outer = 0.5 ** np.arange(1, halvings + 1) / pieces
    if first:
        found = np.concatenate([found[:1], outer[::-1], found[1:]])
    if last:
        found = np.concatenate([found[:-1], 1 - outer, found[-1:]])
    return found
