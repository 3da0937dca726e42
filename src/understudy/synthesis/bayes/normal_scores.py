"""Numbers as values of a normal variable, by their ranks, and where they lie far out together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Codes
from understudy.data.coders import BinCoder, Coder
from understudy.synthesis.bayes.levels import ordered_numbers

Floats = NDArray[np.float64]
Groups = NDArray[np.integer]

STEP = 2.0**-10
"""Scores are multiples of this, so that sums of their products are exact in any order."""

FEWEST_IN_CORNER = 25
"""Records that a part of a column's first or last code rests on, at least."""


@dataclass(frozen=True, eq=False)
class Scale:
    """The numbers of a column as values of a normal variable, by their ranks.

    Parameters
    ----------
    lows, widths : ndarray of float64
        For each code, the share of records with lower codes, and with this one. The width is -1 for
        a code that stands for no number: a special value, or a missing one.
    records : int
        Records with a number.

    Examples
    --------
    Half of four records are in the first bin; its middle is the first quartile:

    >>> scale = Scale(np.array([0.0, 0.5]), np.array([0.5, 0.5]), 4)
    >>> scale.scores(np.array([0, 1]), np.array([0.5, 0.0])).round(2).tolist()
    [-0.67, 0.0]
    """

    lows: Floats
    widths: Floats
    records: int

    @classmethod
    def of(cls, coder: Coder, counts: NDArray[np.int64]) -> Scale | None:
        """Return the scale of a column with these counts of codes; None if it has no numbers."""
        order = ordered_numbers(coder)
        if order is None:
            return None
        own = counts[order]
        records = int(own.sum())
        if np.count_nonzero(own) < 2 and not isinstance(coder, BinCoder):
            return None
        lows, widths = np.zeros(len(counts)), np.full(len(counts), -1.0)
        lows[order] = (np.cumsum(own) - own) / max(records, 1)
        widths[order] = own / max(records, 1)
        return cls(lows, widths, records)

    def known(self, codes: Codes) -> NDArray[np.bool_]:
        """Return which codes stand for numbers."""
        return np.asarray(self.widths >= 0)[codes]

    def scores(self, codes: Codes, positions: Floats | None = None) -> Floats:
        """Return the normal score of each code at a position, or at the middle of the code."""
        if positions is None:
            middles = _score(self.lows + self.widths / 2, self.records)
            return middles[codes]
        return _score(self.lows[codes] + self.widths[codes] * positions, self.records)

    @cached_property
    def outer(self) -> tuple[int, int]:
        """The first and the last code of the column's numbers."""
        held = np.flatnonzero(self.widths > 0)
        if not len(held):
            return 0, 0
        lows = self.lows[held]
        return int(held[np.argmin(lows)]), int(held[np.argmax(lows)])

    @cached_property
    def _halvings(self) -> tuple[int, int]:
        """How often the first and the last code are halved, towards the ends of the column."""
        first, last = (
            int(np.log2(max(self.widths[code] * self.records / FEWEST_IN_CORNER, 1.0)))
            for code in self.outer
        )
        return first, last

    @cached_property
    def corners(self) -> NDArray[np.intp]:
        """The code of each corner that `groups` tells apart."""
        first, last = self._halvings
        return np.array(2 * ([self.outer[0]] * (first + 1) + [self.outer[1]] * (last + 1)), np.intp)

    def groups(self, codes: Codes, positions: Floats, own: Codes, scale: Scale) -> Groups:
        """Return a group for each number: its code, or a corner that it shares with another column.

        A corner is where both columns are in one of their outer codes. There numbers lie far apart,
        and may go together more closely than anywhere else. The outer half of the records of the
        code is a corner of its own, so is the outer half of these, and so on, as long as enough
        records are left.

        Parameters
        ----------
        codes, positions : ndarray
            Of this column.
        own : ndarray
            The codes of the other column.
        scale : Scale
            That of the other column.

        Examples
        --------
        Of a hundred records in each of two bins, 25 are in the outer quarter:

        >>> scale = Scale(np.array([0.0, 0.5]), np.array([0.5, 0.5]), 200)
        >>> codes, positions = np.array([1, 1, 1, 0]), np.array([0.4, 0.6, 0.8, 0.1])
        >>> scale.groups(codes, positions, codes, scale).tolist()
        [11, 12, 13, 4]
        """
        found = codes.astype(np.intp)
        after = len(self.lows)
        for other in scale.outer:
            ways = zip(self.outer, self._halvings, (positions, 1 - positions), strict=True)
            for code, halvings, inwards in ways:
                halved = -np.log2(np.maximum(inwards, 2.0**-halvings))
                here = (codes == code) & (own == other)
                found = np.where(here, after + halved.astype(np.intp), found)
                after += halvings + 1
        return found

    def ends(self) -> tuple[Floats, Floats]:
        """Return the lowest and the highest score of each code.

        They are infinite at the column's ends, and for a code that no number has.
        """
        from scipy.special import ndtri

        none, above = self.widths <= 0, self.lows + self.widths
        low = np.where(none, 0.0, self.lows)
        return ndtri(low), ndtri(np.where(none | (above > 1 - 1e-12), 1.0, above))


def _score(shares: Floats, records: int) -> Floats:
    from scipy.special import ndtri

    least = 0.5 / max(records, 1)
    found = ndtri(np.clip(shares, least, 1 - least))
    found /= STEP
    np.rint(found, out=found)
    found *= STEP
    return np.asarray(found)
