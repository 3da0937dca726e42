"""How the numbers of a column follow those of others: regressions of normal scores, from sums."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.data.ends import FEWEST_AT_ENDS
from understudy.synthesis.bayes.normal_scores import FEWEST_IN_CORNER, STEP, Floats

_POOLED = 20.0
"""What the records of all codes together are worth, in records, beside those of one code."""

_LENT = 5.0
"""What the records of a code are worth, in records, beside those of one of its corners."""

PARTS = ("means", "slopes", "own", "left")
"""The arrays of a link, in its order."""


class Others(NamedTuple):
    """The parents and the children that a column follows, and the leading one of them."""

    parents: tuple[str, ...]
    children: tuple[str, ...]
    leading: str


@dataclass(frozen=True, eq=False)
class Link:
    """How the numbers of a column follow other columns.

    There is a regression for each code of the one of the others that tells most, the leading one,
    and after these for each corner of codes, if its numbers are known (see `Scale.groups`).

    Parameters
    ----------
    parents : tuple of str
        Columns that are drawn before: their numbers count.
    children : tuple of str
        Columns that are drawn after: only their bins count.
    leading : str
        The leading one of them.
    means, slopes : ndarray of float64, shape (codes, columns)
        The mean score of the others among the records of each code, and what the column's own
        score rises by for each unit that they lie above it.
    own : ndarray of float64, shape (codes,)
        The mean of the column's own score.
    left : ndarray of float64, shape (codes,)
        The standard deviation of the column's own score that the others leave.
    """

    parents: tuple[str, ...]
    children: tuple[str, ...]
    leading: str
    means: Floats
    slopes: Floats
    own: Floats
    left: Floats

    def __post_init__(self) -> None:
        shape = (len(self.left), len(self.parents) + len(self.children))
        parts = (self.means, self.slopes, self.own, self.left)
        fit = self.means.shape == self.slopes.shape == shape and self.own.shape == shape[:1]
        if not fit or self.leading not in self.others:
            raise ValueError("positions whose parts do not fit together")
        if not all(np.isfinite(part).all() for part in parts) or np.any(self.left <= 0):
            raise ValueError("positions that cannot be")

    @property
    def others(self) -> tuple[str, ...]:
        """The columns that the position follows."""
        return (*self.parents, *self.children)


_NO_CORNERS = np.empty(0, np.intp)


def learn_link(others: Others, sums: Floats, corners: NDArray[np.intp] = _NO_CORNERS) -> Link:
    """Return the regression of a column's scores on others, for each leading code, from sums.

    Slopes of a code are drawn towards those within all codes together, as if so many records more
    had these. A code of fewer than five records has the regression of all records. After the codes
    come corners, if there are any: parts of the records of the codes that `corners` names.
    """
    count = len(others.parents) + len(others.children)
    codes = len(sums) - len(corners)
    whole = sums[:codes].copy()
    np.add.at(whole, corners, sums[codes:])
    every, each = _Moments.of(whole.sum(axis=0), count), _Moments.of(whole, count)
    overall = _solve(every.spread, every.along)
    many = each.records >= FEWEST_AT_ENDS
    records = max(float(each.records[many].sum()), 1.0)
    spread, along = each.spread[many].sum(axis=0), each.along[many].sum(axis=0)
    pooled = _solve(spread, along)
    rest = float(each.rest(np.broadcast_to(pooled, each.along.shape))[many].sum()) / records
    lent = spread / records * _POOLED
    fit = np.where(each.usable, _solve(each.spread + lent, each.along + lent @ pooled), 0.0)
    variance = np.where(
        many,
        (each.rest(fit) + _POOLED * rest) / (each.records + _POOLED),
        every.rest(overall) / np.maximum(every.records, 1.0),
    )
    link = Link(
        *others,
        np.where(many[:, None], each.means, every.means),
        np.where(many[:, None], fit, overall),
        np.where(many, each.own, every.own),
        np.maximum(np.sqrt(np.maximum(variance, 0.0)), STEP),
    )
    if not len(corners):
        return link
    return _with_corners(link, corners, _Moments.of(sums[codes:], count), spread / records)


def _with_corners(link: Link, corners: NDArray[np.intp], each: _Moments, lent: Floats) -> Link:
    """Return a link with regressions of corners, each drawn towards that of its code.

    What a corner leaves is a geometric mean: what its code leaves must not hide how little it is. A
    corner with few records has the regression of its code.
    """
    lent = lent * _LENT
    means, slopes, own, left = (getattr(link, part) for part in PARTS)
    fit = _solve(each.spread + lent, each.along + slopes[corners] @ lent)
    fit = np.where(each.usable, fit, 0.0)
    rest = np.maximum(each.rest(fit) / np.maximum(each.records - 1, 1.0), STEP**2)
    weight = each.records / (each.records + _LENT)
    mean_rest = np.exp(weight * np.log(rest) / 2 + (1 - weight) * np.log(left[corners]))
    enough = each.records >= FEWEST_IN_CORNER / 2
    return replace(
        link,
        means=np.concatenate([means, np.where(enough[:, None], each.means, means[corners])]),
        slopes=np.concatenate([slopes, np.where(enough[:, None], fit, slopes[corners])]),
        own=np.concatenate([own, np.where(enough, each.own, own[corners])]),
        left=np.concatenate([left, np.where(enough, mean_rest, left[corners])]),
    )


def _solve(spread: Floats, along: Floats) -> Floats:
    """Solve for slopes; where columns repeat one another, or do not vary, they share."""
    scale = np.sqrt(np.maximum(np.diagonal(spread, axis1=-2, axis2=-1), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    even = spread / (scale[..., :, None] * scale[..., None, :])
    found = np.linalg.solve(even + 1e-6 * np.eye(scale.shape[-1]), (along / scale)[..., None])
    return np.asarray(found[..., 0] / scale)


@dataclass(frozen=True, eq=False)
class _Moments:
    """Moments of the records of one code, or of each: of the scores of others, and of the own.

    Another column's score that is not known is taken for the mean. One that fewer than five of the
    records have is not usable.
    """

    records: Floats
    usable: NDArray[np.bool_]
    means: Floats
    own: Floats
    spread: Floats
    along: Floats
    total: Floats

    @classmethod
    def of(cls, sums: Floats, count: int) -> _Moments:
        scores, known, own = slice(0, count), slice(count, 2 * count), 2 * count
        records, numbers = sums[..., -1, -1], sums[..., known, -1]
        usable = numbers >= FEWEST_AT_ENDS
        means = np.where(usable, sums[..., scores, -1] / np.maximum(numbers, 1), 0.0)
        # Of column i where j is known too, times j's mean.
        cross = sums[..., scores, known] * means[..., None, :]
        both = means[..., :, None] * means[..., None, :] * sums[..., known, known]
        spread = sums[..., scores, scores] - cross - np.swapaxes(cross, -1, -2) + both
        mean = sums[..., own, -1] / np.maximum(records, 1)
        along = sums[..., scores, own] - means * sums[..., known, own]
        pair = usable[..., :, None] & usable[..., None, :]
        return cls(
            records,
            usable,
            means,
            mean,
            np.where(pair, spread, 0.0),
            np.where(usable, along, 0.0),
            sums[..., own, own] - records * mean**2,
        )

    def rest(self, slopes: Floats) -> Floats:
        """Return the sum of squares that a regression with these slopes leaves."""
        told = 2 * np.sum(slopes * self.along, axis=-1)
        return np.asarray(
            self.total - told + np.einsum("...i,...ij,...j", slopes, self.spread, slopes)
        )
