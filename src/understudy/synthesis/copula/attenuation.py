"""From correlations of scores back to those of the normal variables that they stand for.

Scores are coarser than the variables, so their correlation is nearer to zero: two halves that
agree in 2/3 of the records have scores correlated by 1/3, and normal variables by 1/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.synthesis.copula.correlation import Floats, Margin, normal_density

# A column with more cuts is thinned out to a few in each slot of this width.
_MOST_CUTS = 1024
_SLOTS_PER_UNIT = 64

# With 64 terms the series misses at most rho**65 of what its terms leave open: less than 8e-9
# up to 0.75, and up to 0.99 for two columns so fine that its terms leave next to nothing open.
_TERMS = 64
_SERIES_ENDS = (0.75, 0.99)
_FINE = 1e-4
_COPIED = 1e-9

_PAIRS = 2048
_LAST_ANGLE = 2e-3
_NODES = 8
_REACH = 13
_STEPS = 60


@dataclass(frozen=True, eq=False)
class Staircases:
    """The standardized scores of several columns as increasing steps of a normal variable.

    `cuts` and `jumps` say where the scores jump and how far, column after column; `starts` where
    each column begins. Every column has at least one jump.
    """

    cuts: Floats
    jumps: Floats
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, margins: Sequence[Margin]) -> Staircases:
        """Return the steps of margins with two codes or more."""
        parts = [_steps(margin) for margin in margins]
        sizes = [len(cuts) for cuts, _ in parts]
        return cls(
            np.concatenate([cuts for cuts, _ in parts]),
            np.concatenate([jumps for _, jumps in parts]),
            np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp),
        )

    @property
    def owners(self) -> NDArray[np.intp]:
        """The column of each jump."""
        sizes = np.diff(np.append(self.starts, len(self.cuts)))
        return np.repeat(np.arange(len(self.starts)), sizes)

    def select(self, columns: NDArray[np.intp]) -> Staircases:
        """Return the steps of some columns, in increasing order."""
        owners = self.owners
        kept = np.isin(owners, columns)
        starts = np.searchsorted(owners[kept], columns)
        return Staircases(self.cuts[kept], self.jumps[kept], starts)

    def hermite(self, terms: int) -> Floats:
        """Return the coefficients of the steps in normalized Hermite polynomials, from the first.

        For a jump at z it is f(z) h[k-1](z) / sqrt(k), with f the normal density.
        """
        found = np.empty((terms, len(self.starts)))
        before, now = np.zeros_like(self.cuts), self.jumps * normal_density(self.cuts)
        for k in range(1, terms + 1):
            found[k - 1] = np.add.reduceat(now, self.starts) / np.sqrt(k)
            before, now = now, (self.cuts * now - np.sqrt(k - 1) * before) / np.sqrt(k)
        return found

    def halves(self, rho: float) -> Floats:
        """Return a matrix whose product with its transpose is the slope of the score correlations.

        Two variables with correlation rho are sqrt(rho) w and noise of their own, so that the
        density of both at two cuts is an integral over w; by the trapezoidal rule, which for such
        functions is exact to 1e-12 at this spacing. Columns are values of w, in increasing order.
        """
        root, noise = np.sqrt(rho), 1 - rho
        spacing = 0.85 * np.sqrt((1 - rho) / (1 + rho))
        half = int(np.ceil(8 / spacing))
        middle = np.rint(self.cuts / (root * spacing)).astype(np.intp)
        # Further away than this the noise has seven standard deviations, and nothing is left.
        near = middle[:, None] + np.arange(-_REACH, _REACH + 1)
        away = self.cuts[:, None] - root * spacing * near
        weights = self.jumps[:, None] * np.exp(-0.5 * away * away / noise)
        inside = np.abs(near) <= half
        width = 2 * half + 1
        places = self.owners[:, None] * width + near + half
        found = np.bincount(places[inside], weights[inside], len(self.starts) * width)
        at = spacing * np.arange(-half, half + 1)
        scale = np.sqrt(spacing * normal_density(at) / (2 * np.pi * noise))
        return np.asarray(found.reshape(-1, width) * scale)


def _steps(margin: Margin) -> tuple[Floats, Floats]:
    """Return cuts and standardized jumps of a column; tiny steps close together become one."""
    cuts, counts, scores = margin.edges[1:-1], margin.counts, margin.scores
    if len(cuts) > _MOST_CUTS:
        slots = np.floor(cuts * _SLOTS_PER_UNIT)
        changes = slots[1:] != slots[:-1]
        # The first and the last cut of each slot: so an interval wider than a slot stays.
        kept = np.append(True, changes) | np.append(changes, True)
        begins = np.append(0, np.flatnonzero(kept) + 1)
        totals = np.add.reduceat(counts * scores, begins)
        counts = np.add.reduceat(counts, begins)
        cuts, scores = cuts[kept], totals / counts
    shares = counts / counts.sum()
    centred = scores - shares @ scores
    return cuts, np.diff(scores) / np.sqrt(shares @ (centred * centred))


def latent_correlations(observed: Floats, margins: Sequence[Margin]) -> Floats:
    """Return the correlations of normal variables whose scores have the `observed` ones.

    Parameters
    ----------
    observed : ndarray of shape (columns, columns)
        Correlations of the scores.
    margins : sequence of Margin
        The columns.

    Returns
    -------
    ndarray
        Symmetric, with ones on the diagonal and 0 for a column with a single value. A correlation
        out of reach for these margins becomes 1 or -1. The matrix need not be positive definite.

    Notes
    -----
    With c[k] the Hermite coefficients of two columns' scores, these are correlated by the sum of
    rho**k c[k] c'[k] (Mehler's formula), which increases with rho and is solved by Newton steps.
    Near one the series is too slow, and its slope, the joint density at all pairs of cuts [1]_, is
    integrated along the angle arccos(rho) instead, up to 0.999998.

    References
    ----------
    .. [1] Plackett (1954). A reduction formula for normal multivariate integrals. Biometrika 41,
       doi:10.1093/biomet/41.3-4.351
    """
    found = np.eye(len(margins))
    varied = np.flatnonzero([len(margin.codes) > 1 for margin in margins])
    if len(varied) < 2:
        return found
    steps = Staircases.of([margins[column] for column in varied.tolist()])
    coefficients = steps.hermite(_TERMS)
    left, right = np.triu_indices(len(varied), 1)
    targets = observed[varied[left], varied[right]]
    # What the terms leave open of each column, as a root, so that a pair has their product.
    rest = np.sqrt(np.maximum(1 - np.sum(coefficients**2, axis=0), 0))
    ends = np.where(rest[left] * rest[right] > _FINE, *_SERIES_ENDS)
    signs = np.where(targets < 0, -1.0, 1.0)
    solved = np.empty(len(left))
    beyond = np.empty(len(left))
    for start in range(0, len(left), _PAIRS):
        part = slice(start, start + _PAIRS)
        series = coefficients[:, left[part]] * coefficients[:, right[part]]
        reached = _polynomial(series, signs[part] * ends[part])[0]
        beyond[part] = (targets[part] - reached) * signs[part]
        within = np.where(beyond[part] > 0, 0.0, targets[part])
        solved[part] = _solve(series, within, -ends[part], ends[part])
    # Copies of a column are common, and would be followed through ever smaller angles.
    copied = np.abs(targets) > 1 - _COPIED
    solved[copied] = signs[copied]
    for end in _SERIES_ENDS:
        tail = np.flatnonzero((beyond > 0) & (ends == end) & ~copied)
        if len(tail):
            found_there = _solve_tail(
                steps, (left[tail], right[tail]), signs[tail], beyond[tail], end
            )
            solved[tail] = signs[tail] * found_there
    found[varied[left], varied[right]] = found[varied[right], varied[left]] = solved
    return found


def _solve_tail(
    steps: Staircases,
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]],
    signs: Floats,
    beyond: Floats,
    start: float,
) -> Floats:
    """Return correlations above `start`, for pairs whose scores' are so far `beyond` its.

    A pair with a negative sign has one of its variables mirrored.
    """
    found = np.ones(len(beyond))
    nodes = np.polynomial.legendre.leggauss(_NODES)[0] + 1
    powers = np.arange(_NODES)
    # From values at the nodes to the coefficients of the integral, from 0, of their polynomial.
    integral = np.linalg.inv(nodes[:, None] ** powers) / (powers[:, None] + 1)
    todo = np.arange(len(beyond))
    remaining = beyond.copy()
    angle = np.arccos(start)
    while len(todo) and angle > _LAST_ANGLE:
        columns, places = np.unique(np.stack(pairs)[:, todo], return_inverse=True)
        first, second = places.reshape(2, -1)
        active = steps.select(columns)
        step = angle / 4  # half of the way to half the angle; a node is at 0..2 of these
        slopes = np.empty((_NODES, len(todo)))
        angles = angle - step * nodes
        for row, rho in zip(slopes, np.cos(angles), strict=True):
            halves = active.halves(rho)
            for sign, others in ((1, halves), (-1, halves[:, ::-1])):
                chosen = signs[todo] == sign
                if chosen.any():
                    row[chosen] = (halves @ others.T)[first[chosen], second[chosen]]
        series = integral @ (slopes * (step * np.sin(angles))[:, None])
        reached = _polynomial(series, np.full(len(todo), 2.0))[0]
        here = remaining[todo] <= reached
        inside = todo[here]
        ends = np.full(len(inside), 2.0)
        at = _solve(series[:, here], remaining[inside], 0 * ends, ends)
        found[inside] = np.cos(angle - step * at)
        remaining[todo] -= reached
        todo = todo[~here]
        angle /= 2
    return found


def _solve(series: Floats, targets: Floats, lows: Floats, highs: Floats) -> Floats:
    """Return where increasing polynomials without a constant take the values `targets`.

    Newton steps from 0; where one leads out of the interval that is left, this is halved.
    """
    at = np.zeros(len(targets))
    for _ in range(_STEPS):
        values, slopes = _polynomial(series, at)
        lows = np.where(values <= targets, at, lows)
        highs = np.where(values >= targets, at, highs)
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = at - (values - targets) / slopes
        moved = np.where((moved >= lows) & (moved <= highs), moved, (lows + highs) / 2)
        change = np.max(np.abs(moved - at), initial=0.0)
        at = moved
        if change <= 1e-11:
            break
    return at


def _polynomial(series: Floats, at: Floats) -> tuple[Floats, Floats]:
    """Return the values of polynomials without a constant, and their slopes, by Horner's rule."""
    values, slopes = np.zeros_like(at), np.zeros_like(at)
    for coefficients in series[::-1]:
        values += coefficients
        slopes *= at
        slopes += values
        values *= at
    return values, slopes
