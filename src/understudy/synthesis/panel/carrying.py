r"""Where a number lies in its bin, given where the number before it lay.

A network draws the bin of a number. If a unit stays in a bin, the number moves little within it, or
not at all: that is learnt from the records that stay, and kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.data.bins import Decoding
from understudy.data.coders import BinCoder

LENT = 20.0
"""How many records all bins together lend to each bin, so that none rests on a few."""
_MOST = 0.999
_EDGE = 1e-6


@dataclass(frozen=True, eq=False)
class Carry:
    """How the place of a number in its bin depends on the place before, for each bin of a column.

    Places are shares of the way through the bin. They are compared as normal scores.

    Parameters
    ----------
    stays : ndarray of float64
        How often the number stays exactly the same.
    correlation : ndarray of float64
        Of the normal scores of places, if it does not.
    """

    stays: NDArray[np.float64]
    correlation: NDArray[np.float64]

    @classmethod
    def fit(
        cls,
        places: tuple[NDArray[np.float64], NDArray[np.float64]],
        bins: NDArray[np.int64],
        same: NDArray[np.bool_],
        count: int,
    ) -> Carry:
        """Learn from pairs of records in the same bin: the places of both, and whether equal."""
        from scipy.special import ndtri

        total = np.bincount(bins, minlength=count)
        equal = np.bincount(bins[same], minlength=count)
        before, after = (ndtri(_inside(own[~same])) for own in places)
        moved = bins[~same]
        products = np.bincount(moved, before * after, minlength=count)
        squares = np.bincount(moved, (before**2 + after**2) / 2, minlength=count)
        stays = _lent(equal, total)
        return cls(stays, np.clip(_lent(products, squares), -_MOST, _MOST))

    def draw(
        self,
        bins: NDArray[np.int64],
        before: NDArray[np.float64],
        stayed: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Return places in bins; where the bin `stayed` the same, given the place before."""
        from scipy.special import ndtr, ndtri

        chances = rng.random((2, len(bins)))
        places = chances[0]
        rows = np.flatnonzero(stayed)
        own = bins[rows]
        rho = self.correlation[own]
        scores = rho * ndtri(_inside(before[rows]))
        scores += np.sqrt(1 - rho**2) * ndtri(_inside(places[rows]))
        kept = chances[1][rows] < self.stays[own]
        places[rows] = np.where(kept, before[rows], ndtr(scores))
        return places

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what was learnt, as arrays."""
        return {"stays": self.stays, "correlation": self.correlation}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], count: int) -> Carry:
        """Return what `to_arrays` took apart; ValueError if it does not fit so many bins."""
        stays, correlation = arrays["stays"], arrays["correlation"]
        fits = stays.shape == correlation.shape == (count,) and (
            (stays >= 0) & (stays <= 1) & (np.abs(correlation) <= _MOST)
        ).all()
        if not fits:
            raise ValueError("places in bins that do not fit the bins")
        return cls(stays.astype(np.float64), correlation.astype(np.float64))


def _inside(places: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.clip(places, _EDGE, 1 - _EDGE)


def _lent(parts: NDArray[Any], wholes: NDArray[Any]) -> NDArray[np.float64]:
    """Return ratios, each drawn towards the ratio of all together."""
    overall = float(parts.sum()) / max(float(wholes.sum()), 1.0)
    return np.asarray((parts + LENT * overall) / (wholes + LENT))


def places_of(
    coder: BinCoder, numbers: NDArray[Any], bins: NDArray[np.int64], how: Decoding
) -> NDArray[np.float64]:
    """Return how far each number lies through its bin, as numbers are drawn there.

    It is the inverse of `BinCoder.build_at`, but for numbers that were drawn at the same place.
    """
    knots = coder.bins.knots_for(how)
    pieces = knots.shape[1] - 1
    own = knots[bins]
    piece = np.clip((own[:, 1:-1] <= numbers[:, None]).sum(axis=1), 0, pieces - 1)
    rows = np.arange(len(numbers))
    low, high = own[rows, piece], own[rows, piece + 1]
    width = (high - low).astype(np.float64)
    share = np.where(width > 0, (numbers - low) / np.where(width > 0, width, 1), 0.5)
    return np.asarray((piece + np.clip(share, 0, 1)) / pieces)
