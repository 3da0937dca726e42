r"""Numbers that vary within a unit are drawn by how they change, so that no smoothing loosens them.

Where a number stands among all records is its score: the normal quantile of its rank, less the mean
of the records of the same time. With the score z of a record, and that of the record before it,
what is drawn is the change

.. math:: r_t = z_t - \varphi z_{t-1}

where :math:`\varphi` is the one for which changes and scores before are not correlated. If the
model smoothes, it draws changes nearer to those of all records, and these keep the correlation of a
number with the one before. The score leads back to a number with the same rank.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data.bins import Decoding
from understudy.data.codec import Codec
from understudy.data.coded import Codes
from understudy.data.coders import BinCoder
from understudy.data.schema import Column
from understudy.data.value_coder import ValueCoder
from understudy.data.values import from_numpy, numbers

SAME = 1e6
"""In place of a change, which is far smaller: the number stays exactly the same."""
OTHER = SAME + 1
"""This and following numbers: the special values of the column, in their order."""
_MOST = 0.999
_EDGE = 1e-6
_HALF = 0.5

LENT = 20.0
"""How many records of no trend are added to those of each time, so that none rests on a few."""

Scores: TypeAlias = NDArray[np.float64]
"""The scores of records; NaN for those that have no ordinary number."""

Pairs: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
"""The rows of records, and those of the records before them."""


@dataclass(frozen=True, eq=False)
class Change:
    """How a column's numbers become changes, and changes numbers.

    Parameters
    ----------
    name : str
        The column.
    factor : float
        What a score keeps of the score before.
    ranks : ndarray of float64
        The share of ordinary records below each code of ordinary numbers, and 1 at the end.
    means : ndarray of float64
        The mean of the normal quantiles of each time; one 0 if there is no time.
    """

    name: str
    factor: float
    ranks: NDArray[np.float64]
    means: NDArray[np.float64]

    @classmethod
    def fit(
        cls, name: str, codec: Codec, codes: Codes, places: Scores | None, when: Codes, pairs: Pairs
    ) -> Change:
        """Learn ranks from the codes of all records, and the factor from pairs of records.

        Parameters
        ----------
        name : str
            The column.
        codec : Codec
            The coding of the table.
        codes : ndarray
            The codes of the column.
        places : ndarray of float64 or None
            How far numbers lie through their bins, if they lie in bins.
        when : ndarray
            The codes of time; all 0 if there is no time.
        pairs : tuple
            The rows of records, and of those before them.
        """
        first, last = ordinary_codes(codec, name)
        counts = np.bincount(codes, minlength=last)[first:last]
        ranks = np.concatenate([[0.0], np.cumsum(counts) / max(int(counts.sum()), 1)])
        found = cls(name, 0.0, ranks, np.zeros(int(when.max(initial=0)) + 1))
        scores = found.scores(codec, codes, places, when)
        ordinary = np.isfinite(scores)
        sums = np.bincount(when[ordinary], scores[ordinary], minlength=len(found.means))
        times = np.bincount(when[ordinary], minlength=len(found.means))
        means = sums / (times + LENT) if len(found.means) > 1 else found.means
        scores -= means[when]
        now, before = (scores[rows] for rows in pairs)
        both = np.isfinite(now) & np.isfinite(before)
        squares = float((before[both] ** 2).sum())
        factor = float((now[both] * before[both]).sum()) / squares if squares else 0.0
        return cls(name, float(np.clip(factor, -_MOST, _MOST)), ranks, means)

    def scores(self, codec: Codec, codes: Codes, places: Scores | None, when: Codes) -> Scores:
        """Return the scores of records; those of a code differ by their places in the bin."""
        from scipy.special import ndtri

        first, last = ordinary_codes(codec, self.name)
        ordinary = (codes >= first) & (codes < last)
        own = np.where(ordinary, codes.astype(np.int64) - first, 0)
        share = _HALF if places is None else places
        rank = self.ranks[own] + share * (self.ranks[own + 1] - self.ranks[own])
        found = ndtri(np.clip(rank, _EDGE, 1 - _EDGE)) - self._mean(when)
        return np.where(ordinary, found, np.nan)

    def _mean(self, when: Codes) -> Scores:
        return self.means[np.minimum(when, len(self.means) - 1)]

    def values(
        self, codec: Codec, codes: Codes, scores: Scores, rows: Pairs, same: NDArray[np.bool_]
    ) -> pa.Array:
        """Return what is drawn of records given those before: changes, and what stands for them."""
        first, last = ordinary_codes(codec, self.name)
        now, before = rows
        drawn = scores[now] - self.factor * np.nan_to_num(scores[before])
        drawn = np.where(same & np.isfinite(scores[now]), SAME, drawn)
        own = codes[now].astype(np.int64)
        drawn = np.where(own < first, OTHER + own, drawn)
        missing = own >= last
        return from_numpy(np.where(missing, 0.0, drawn), missing)

    def follow(
        self, codec: Codec, drawn: pa.Array, before: tuple[Codes, Scores, Scores], when: Codes
    ) -> tuple[Codes, Scores, Scores]:
        """Return the codes, scores and places in bins of records, from changes and those before.

        `when` are the codes of their time.
        """
        from scipy.special import ndtr

        first, last = ordinary_codes(codec, self.name)
        found = numbers(drawn, self.name)
        codes, scores, places = before
        special = ~found.missing & (found.values >= OTHER - _HALF)
        # Where there was no number, there is none that can stay.
        known = np.isfinite(scores)
        stays = ~found.missing & ~special & (found.values >= SAME - _HALF)
        change = np.where(stays, 0.0, found.values)
        moved = self.factor * np.nan_to_num(scores) + change
        rank = np.clip(ndtr(moved + self._mean(when)), _EDGE, 1 - _EDGE)
        bins = np.searchsorted(self.ranks, rank, side="right") - 1
        bins = np.clip(bins, 0, len(self.ranks) - 2)
        width = self.ranks[bins + 1] - self.ranks[bins]
        inside = (rank - self.ranks[bins]) / np.where(width > 0, width, 1)
        stays &= known
        new = np.where(stays, codes, bins + first)
        new = np.where(special, np.rint(found.values - OTHER).astype(np.int64), new)
        new = np.where(found.missing, last, new).astype(np.uint32)
        # Numbers that have codes of their own lie in the middle of their ranks.
        binned = isinstance(codec.coders[self.name], BinCoder)
        inside = np.clip(np.where(stays, places, inside), 0, 1 - _EDGE) if binned else places
        return new, self.scores(codec, new, inside if binned else None, when), inside

    def column(self, codec: Codec, name: str, drawn: pa.Array) -> Column:
        """Return what the column of changes is."""
        own = codec.schema[self.name]
        first, _ = ordinary_codes(codec, self.name)
        special = (SAME, *(OTHER + number for number in range(first)))
        missing = drawn.null_count / max(len(drawn), 1)
        # A value that the column can miss may be missing in any record.
        missing = max(missing, own.missing) if own.missing > 0 else 0.0
        return Column(name, "real", special=special, bins=own.bins, missing=missing)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what was learnt, as arrays."""
        return {"factor": np.array([self.factor]), "ranks": self.ranks, "means": self.means}

    @classmethod
    def from_arrays(cls, name: str, codec: Codec, arrays: Mapping[str, NDArray[Any]]) -> Change:
        """Return what `to_arrays` took apart; ValueError if it does not fit the column."""
        first, last = ordinary_codes(codec, name)
        ranks, factor, means = arrays["ranks"], arrays["factor"], arrays["means"]
        fits = (
            ranks.shape == (last - first + 1,)
            and factor.shape == (1,)
            and bool(np.abs(factor[0]) <= _MOST)
            and ranks[0] == 0
            and bool((np.diff(ranks) >= 0).all())
            and bool(ranks[-1] <= 1 + _EDGE)
            and means.ndim == 1
            and len(means) > 0
            and bool(np.isfinite(means).all())
        )
        if not fits:
            raise ValueError("ranks of numbers that do not fit the column")
        return cls(name, float(factor[0]), ranks.astype(np.float64), means.astype(np.float64))


def ordinary_codes(codec: Codec, name: str) -> tuple[int, int]:
    """Return the first code of a column's ordinary numbers, and the one after the last."""
    coder = codec.coders[name]
    special = len(coder.special) if isinstance(coder, BinCoder | ValueCoder) else 0
    return special, coder.known


def can_change(codec: Codec, name: str) -> bool:
    """Whether a column has so many numbers that it is drawn by changes."""
    coder = codec.coders[name]
    if not codec.schema[name].binned:
        return False
    if isinstance(coder, ValueCoder):
        return len(coder.values) > 1 and bool(np.isfinite(coder.values).all())
    return isinstance(coder, BinCoder) and len(coder.bins) > 1


def places_of(
    codec: Codec, name: str, array: pa.Array, codes: Codes, how: Decoding
) -> Scores | None:
    """Return how far each number lies through its bin, as numbers are drawn there.

    None if numbers do not lie in bins. It is the inverse of `BinCoder.build_at`, but for numbers
    that lie at several places.
    """
    coder = codec.coders[name]
    if not isinstance(coder, BinCoder):
        return None
    knots = coder.bins.knots_for(how)
    pieces = knots.shape[1] - 1
    stored = numbers(array, name).values.astype(knots.dtype)
    bins = np.clip(codes.astype(np.int64) - len(coder.special), 0, len(knots) - 1)
    own = knots[bins]
    piece = np.clip((own[:, 1:-1] <= stored[:, None]).sum(axis=1), 0, pieces - 1)
    rows = np.arange(len(stored))
    low, high = own[rows, piece], own[rows, piece + 1]
    width = (high - low).astype(np.float64)
    share = np.where(width > 0, (stored - low) / np.where(width > 0, width, 1), _HALF)
    # At the very end of a bin begins the next.
    return np.asarray(np.clip((piece + np.clip(share, 0, 1)) / pieces, _EDGE, 1 - _EDGE))
