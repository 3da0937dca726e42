"""The probability that two correlated normal variables fall into a rectangle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from understudy.synthesis.copula.margins import Floats

_NODES = 12
_CELLS = 4096

# No cut of a table is beyond 8: mass further out than this is nothing beside that of any cell.
_FAR = 18.0

_WHOLE = np.arange(-_FAR, _FAR + 1)
_BENDS = np.array([-8, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8.0])
_ENDS = 2.0 ** np.arange(-6, 4)


def log_interval(low: Floats, high: Floats) -> Floats:
    """Return the log of the normal probability of intervals, -inf for an empty one."""
    from scipy.special import log_ndtr

    # In the upper tail the mirror image is taken: there the distribution is too near to one.
    mirrored = low > 0
    below = log_ndtr(np.where(mirrored, -high, low))
    above = log_ndtr(np.where(mirrored, -low, high))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = above + np.log(-np.expm1(below - above))
    return np.where(high > low, found, -np.inf)


def log_rectangle(x: tuple[Floats, Floats], y: tuple[Floats, Floats], rho: float) -> Floats:
    """Return the log probability of rectangles under a standard bivariate normal distribution.

    Parameters
    ----------
    x, y : pairs of ndarray
        Lower and upper ends of the rectangles; infinite ones too.
    rho : float
        The correlation, between -1 and 1.

    Notes
    -----
    The integral over x of its density times the probability of y's interval given x, by
    Gauss-Legendre quadrature with 12 nodes. The range is split at whole numbers, and in units of
    the width of the conditional distribution around where that probability bends (at an end of
    y's interval divided by rho) and towards both ends, where all the mass of an unlikely rectangle
    can be. All terms are positive, and sums are taken of logarithms, so that small probabilities
    are as precise as large ones: to about 1e-10 of their size.

    Examples
    --------
    >>> half = np.array([0.0]), np.array([np.inf])
    >>> np.exp(log_rectangle(half, half, 0.5)).round(12).tolist()  # 1/4 + arcsin(1/2) / (2 pi)
    [0.333333333333]
    """
    found = np.empty(len(x[0]))
    for start in range(0, len(found), _CELLS):
        part = slice(start, start + _CELLS)
        found[part] = _integrate((x[0][part], x[1][part]), (y[0][part], y[1][part]), rho)
    return found


def _integrate(x: tuple[Floats, Floats], y: tuple[Floats, Floats], rho: float) -> Floats:
    cells, low, high = _pieces(x, y, rho)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = (high - low)[:, None] / 2
    at = low[:, None] + half * (nodes + 1)
    width = np.sqrt((1 - rho) * (1 + rho))
    given = log_interval(
        (y[0][cells, None] - rho * at) / width, (y[1][cells, None] - rho * at) / width
    )
    terms = given - 0.5 * at * at + np.log(half * weights / np.sqrt(2 * np.pi))
    largest = np.full(len(x[0]), -np.inf)
    np.maximum.at(largest, cells, terms.max(axis=1, initial=-np.inf))
    base = np.where(np.isfinite(largest), largest, 0.0)
    sums = np.bincount(cells, np.exp(terms - base[cells, None]).sum(axis=1), len(base))
    with np.errstate(divide="ignore"):
        return np.asarray(base + np.log(sums))


def _pieces(
    x: tuple[Floats, Floats], y: tuple[Floats, Floats], rho: float
) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return the pieces that the ranges of x are split into: cell, lower and upper end."""
    low, high = np.maximum(x[0], -_FAR), np.minimum(x[1], _FAR)
    breaks = [np.broadcast_to(_WHOLE, (len(low), len(_WHOLE)))]
    if rho != 0:
        width = np.sqrt((1 - rho) * (1 + rho)) / abs(rho)
        # Out of range they do no harm: they are moved to an end, and empty pieces are dropped.
        breaks += [np.clip(end / rho, -_FAR, _FAR)[:, None] + width * _BENDS for end in y]
        breaks += [low[:, None] + width * _ENDS, high[:, None] - width * _ENDS]
    points = np.concatenate([low[:, None], *breaks, high[:, None]], axis=1)
    points = np.sort(np.clip(points, low[:, None], high[:, None]), axis=1)
    cells, places = np.nonzero(np.diff(points, axis=1) > 0)
    return cells, points[cells, places], points[cells, places + 1]
