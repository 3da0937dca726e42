"""Cutting numbers into bins, and drawing a number inside a bin.

Whole numbers and times stay int64 throughout (nanosecond timestamps do not fit a float). A bin
holds its lower edge and not its upper one, save for the last, which holds both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from understudy.data.grids import Grid, Numeric, RealGrid, WholeGrid

Decoding = Literal["interpolate", "uniform"]

_FEW_CUTS = 64
_PIECE = 8192

PIECES = 4
"""A bin's values are interpolated between its quartiles."""


@dataclass(frozen=True)
class Bins:
    """Consecutive intervals of numbers, and how to draw inside each.

    Parameters
    ----------
    edges : ndarray of shape (bins + 1,)
        Increasing cut points; int64 for whole numbers, float64 otherwise.
    knots : ndarray of shape (bins, PIECES + 1)
        Smallest value, quartiles and largest value of the data in each bin.
    bounds : ndarray of shape (bins, 2)
        Smallest and largest number that can be written inside each bin.
    grid : Grid
        The numbers that can be written.
    """

    edges: Numeric
    knots: Numeric
    bounds: Numeric
    grid: Grid

    def __len__(self) -> int:
        return len(self.bounds)

    def assign(self, values: Numeric) -> NDArray[np.int64]:
        """Return the bin of each value, -1 for one outside all bins."""
        found = _place_among(self.edges[1:-1], values)
        outside = (values < self.edges[0]) | (values > self.edges[-1])
        found[outside] = -1
        return found

    def draw(self, bins: NDArray[np.integer], how: Decoding, rng: np.random.Generator) -> Numeric:
        """Draw a number inside each given bin, evenly between its quartiles or its ends."""
        knots = self.knots if how == "interpolate" else self.bounds
        pieces = knots.shape[1] - 1
        place = rng.random(len(bins)) * pieces
        piece = np.minimum(place.astype(np.int64), pieces - 1)
        return self.grid.between(knots[bins, piece], knots[bins, piece + 1], place - piece)


def _place_among(cuts: Numeric, values: Numeric) -> NDArray[np.int64]:
    """Return how many of the increasing `cuts` are not above each value.

    What `numpy.searchsorted` gives. A few cuts are compared one by one instead, in pieces that
    stay in the fastest cache: several times quicker, since nothing is mispredicted.
    """
    if len(cuts) > _FEW_CUTS:
        return np.searchsorted(cuts, values, side="right")
    found = np.zeros(len(values), np.uint8)
    for start in range(0, len(values), _PIECE):
        part, places = values[start : start + _PIECE], found[start : start + _PIECE]
        for cut in cuts:
            places += part >= cut
    return found.astype(np.int64)


def quantile_edges(ordered: Numeric, bins: int) -> Numeric:
    """Return cut points that put about the same number of the sorted values into each bin.

    Examples
    --------
    >>> quantile_edges(np.arange(9), 3)
    array([0, 3, 6, 8])
    """
    inner = ordered[(np.arange(bins) * len(ordered)) // bins]
    return np.unique(np.append(inner, ordered[-1]))


def width_edges(low: Any, high: Any, bins: int) -> Numeric:  # noqa: ANN401  # int or float, kept as is
    """Return cut points of `bins` intervals of the same width; whole numbers stay whole.

    Examples
    --------
    >>> width_edges(0, 10, 4)
    array([ 0,  3,  5,  8, 10])
    """
    if isinstance(low, int | np.integer):
        low, high = int(low), int(high)
        # A whole number lies in [a, b) exactly if it lies in [ceil a, ceil b).
        inner = [low - (-place * (high - low)) // bins for place in range(bins)]
        return np.unique(np.array([*inner, high], dtype=np.int64))
    # In this form the difference of two huge numbers cannot overflow.
    shares = np.arange(bins) / bins
    inner = np.clip(low * (1 - shares) + high * shares, low, high)
    return np.unique(np.append(inner, high))


def given_edges(edges: Sequence[float], whole: bool) -> Numeric:
    """Return a user's cut points as numbers of the column's own type.

    Examples
    --------
    >>> given_edges([0, 17.5, 64.5, 99.5], whole=True)
    array([ 0, 18, 65, 99])
    """
    if not whole:
        return np.array(edges, dtype=np.float64)
    inner = [math.ceil(edge) for edge in edges[:-1]]
    return np.unique(np.array([*inner, math.floor(edges[-1])], dtype=np.int64))


def build_bins(
    edges: Numeric, ordered: Numeric, grid: Grid | None = None, special: Numeric | None = None
) -> Bins:
    """Return bins with the given edges that know the quartiles of the sorted values in each.

    Cut points are moved up to the grid, which changes no number's bin, so that every bin that is
    left holds a number that can be written. A bin's ends are never `special` values.
    """
    grid = grid or (WholeGrid() if edges.dtype.kind == "i" else RealGrid())
    inner = np.minimum(grid.at_least(edges[1:-1]), edges[-1])
    edges = np.unique(np.concatenate([edges[:1], inner, edges[-1:]]))
    if len(edges) == 1:  # one value only: a bin still has two ends
        edges = np.repeat(edges, 2)
    bounds = _bounds(edges, grid, edges[:0] if special is None else special)
    low, high = bounds[:, :1], bounds[:, 1:]
    starts = np.searchsorted(ordered, edges[:-1], side="left")
    stops = np.append(starts[1:], np.searchsorted(ordered, edges[-1], side="right"))
    shares = np.linspace(0, 1, PIECES + 1)
    even = grid.between(low, high, np.broadcast_to(shares, (len(bounds), PIECES + 1)))
    # Quartiles of fewer values would be these values themselves: such a bin is drawn from evenly.
    many = stops - starts > PIECES
    if not many.any():
        return Bins(edges, even, bounds, grid)
    last = np.where(many, stops - starts - 1, 0)
    places = np.where(many, starts, 0)[:, None] + np.round(shares * last[:, None]).astype(np.int64)
    quartiles = np.clip(grid.nearest(ordered[places]), low, high)
    return Bins(edges, np.where(many[:, None], quartiles, even), bounds, grid)


def _bounds(edges: Numeric, grid: Grid, special: Numeric) -> Numeric:
    """Return the smallest and the largest number that can be written inside each bin."""
    low, high = grid.at_least(edges[:-1]), grid.at_most(edges[1:])
    for _ in special:
        low = np.where(np.isin(low, special), grid.step_from(low, 1), low)
    upper = high[:-1] == edges[1:-1]  # is in the next bin
    high[:-1] = np.where(upper, grid.step_from(high[:-1], -1), high[:-1])
    # Where a bin holds no such number (edges between two of them), its lower edge stands for it.
    empty = low > high
    low, high = np.where(empty, edges[:-1], low), np.where(empty, edges[:-1], high)
    return np.stack([low, high], axis=1)
