"""The normal variables behind the columns: one for the values, and one for whether there is one.

A missing number is neither high nor low. If it took a place among the numbers, gaps would weaken
every correlation of a column. So a column with gaps, or with special values such as -8, has two
variables: what its number is, and whether it has one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.counting import Source, engine_for
from understudy.data import Coded
from understudy.data.coders import Coder, LevelCoder
from understudy.data.value_coder import ValueCoder
from understudy.synthesis.copula.correlation import Floats, Margin

Order = NDArray[np.intp]

# Products of so many scores add up in a float without rounding: see `score_bits`.
_EXACT_ROWS = 4096

_FEWEST_KNOWN = 10
"""Records that have both of two variables, at least, for these to be correlated."""

_WORTH = 0.1
"""What levels in another order must tell of a number besides, as a share of its variance."""

_LENT = 5.0
"""What the mean of all records is worth, in records, beside those of a level."""


@dataclass(frozen=True, eq=False)
class Latent:
    """A normal variable that a column tells about.

    Parameters
    ----------
    column : int
        The place of the column.
    margin : Margin
        The variable's intervals.
    groups : ndarray of int
        For each code of the column, the code of the interval; -1 if the column tells nothing.
    has_values : bool
        Whether it tells what the value is; else, whether there is one.
    """

    column: int
    margin: Margin
    groups: NDArray[np.intp]
    has_values: bool = True

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether each code of the column tells where the variable is."""
        return self.groups >= 0

    @property
    def codes(self) -> NDArray[np.intp]:
        """A code of the column for each interval's; the last one, if there are several."""
        found = np.zeros(len(self.groups), np.intp)
        found[self.groups[self.known]] = np.flatnonzero(self.known)
        return found

    def log_shares(self) -> Floats:
        """Return the log probability of each code of the column; 0 where nothing is known."""
        shares = np.zeros(len(self.groups))
        shares[self.margin.codes] = self.margin.counts / self.margin.counts.sum()
        with np.errstate(divide="ignore"):
            return np.where(self.known, np.log(shares)[self.groups], 0.0)

    def scores(self) -> Floats:
        """Return the score of each code of the column, 0 where nothing is known."""
        table = self.margin.score_table(len(self.groups))
        return np.where(self.known, table[self.groups], 0.0)

    def limits(self) -> tuple[Floats, Floats]:
        """Return the interval of each code of the column; all numbers where nothing is known."""
        low, high = self.margin.limits(len(self.groups))
        known = self.known
        return np.where(known, low[self.groups], -np.inf), np.where(
            known, high[self.groups], np.inf
        )


def latents_of(
    counts: Sequence[NDArray[np.int64]],
    orders: Sequence[Order],
    gaps: Sequence[NDArray[np.intp]],
) -> list[Latent]:
    """Return one variable for each column, and after these those of whether there is a number.

    Examples
    --------
    Of four records, one has no number (code 2):

    >>> counts, order = np.array([1, 2, 1]), np.arange(3)
    >>> number, presence = latents_of([counts], [order], [np.array([2])])
    >>> number.groups.tolist(), presence.groups.tolist()
    ([0, 1, -1], [0, 0, 1])
    """
    values, presences = [], []
    for column, (own, order, absent) in enumerate(zip(counts, orders, gaps, strict=True)):
        present = own.copy()
        present[absent] = 0
        groups = np.arange(len(own))
        if own[absent].any() and np.count_nonzero(present) > 1:
            groups[absent] = -1
            whether = np.zeros(len(own), np.intp)
            whether[absent] = np.arange(1, len(absent) + 1)
            shares = np.bincount(whether, own, len(own)).astype(np.int64)
            margin = Margin.of(shares, np.arange(len(own)))
            presences.append(Latent(column, margin, whether, has_values=False))
        else:
            present = own
        values.append(Latent(column, Margin.of(present, order), groups))
    return values + presences


def gaps_of(coder: Coder, codes: int) -> NDArray[np.intp]:
    """Return the codes of a column of numbers that stand for none: special values and missing."""
    if not isinstance(coder, ValueCoder):
        return np.empty(0, np.intp)
    return np.append(np.arange(len(coder.special)), np.arange(coder.known, codes))


def natural_order(coder: Coder, codes: int) -> Order:
    """Return the codes of a column in the order of what they stand for, missing last."""
    order = np.arange(codes)
    if isinstance(coder, ValueCoder):
        order[: coder.known] = np.argsort(coder.numbers, kind="stable")
    return order


def telling_orders(
    source: Source,
    coders: Sequence[Coder],
    counts: Sequence[NDArray[np.int64]],
    orders: Sequence[Order],
    gaps: Sequence[NDArray[np.intp]],
) -> list[Order]:
    """Return orders of the columns' codes, those of levels by the number that they tell most of.

    The order of cities in the alphabet means nothing, and a correlation with it loses what cities
    tell. In the order of a number's mean, they keep it. Levels stay as they are unless this tells
    more of the number by a tenth of its variance or more.
    """
    latents = latents_of(counts, orders, gaps)[: len(counts)]
    levels = [
        place
        for place, (coder, own) in enumerate(zip(coders, counts, strict=True))
        if isinstance(coder, LevelCoder) and np.count_nonzero(own) > 2
    ]
    numbers = [place for place, coder in enumerate(coders) if isinstance(coder, ValueCoder)]
    if not levels or not numbers:
        return list(orders)
    sizes = {place: len(counts[place]) for place in levels}
    scores = {place: latents[place].scores() for place in numbers}
    weights = {
        place: (own, own**2, latents[place].known.astype(np.float64))
        for place, own in scores.items()
    }
    sums = engine_for(source).sum_over(source, lambda batch: _sums_by_level(batch, sizes, weights))
    found = list(orders)
    first = 0
    for place, size in sizes.items():
        own, best, known = latents[place].scores(), _WORTH, coders[place].known
        for _ in numbers:
            part = sums[first : first + 3 * size].reshape(3, size).astype(np.float64)
            first += 3 * size
            gain, means = _gain(part, own)
            # What differs by rounding alone must not depend on the order of the columns.
            if gain > best + 1e-9:
                best = gain
                ordered = np.argsort(means[:known], kind="stable")
                found[place] = np.append(ordered, np.arange(known, size))
    return found


def _sums_by_level(
    batch: Coded, levels: Mapping[int, int], numbers: Mapping[int, tuple[Floats, ...]]
) -> NDArray[np.int64]:
    """Return sums of a number's weights for each level, for each column of levels and number."""
    return np.concatenate(
        [
            np.bincount(batch.columns[place], own[batch.columns[number]], size).astype(np.int64)
            for place, size in levels.items()
            for number, weights in numbers.items()
            for own in weights
        ]
    )


def _gain(sums: Floats, scores: Floats) -> tuple[float, Floats]:
    """Return how much more of a number levels tell by their means than in their order.

    As a share of its variance, less what so many levels tell by chance; and the levels' means. The
    sums are those of the number's scores, of their squares, and of records that have one.
    """
    totals, squares, known = sums
    records = known.sum()
    if records < _FEWEST_KNOWN:
        return 0.0, totals
    mean = totals.sum() / records
    variance = squares.sum() / records - mean**2
    at = known @ scores / records
    spread = known @ scores**2 / records - at**2
    if variance <= 0 or spread <= 0:
        return 0.0, totals
    held = known > 0
    between = np.sum((totals[held] - known[held] * mean) ** 2 / known[held]) / records
    chance = (np.count_nonzero(held) - 1) / max(records - 1, 1)
    told = (between / variance - chance) / max(1 - chance, 1 / records)
    straight = (totals @ scores / records - mean * at) ** 2 / (variance * spread)
    return float(told - straight), (totals + _LENT * mean) / (known + _LENT)


def pair_correlations(source: Source, latents: Sequence[Latent]) -> Floats:
    """Return the correlations of the scores of variables, over the records that tell both.

    They are 0 where one does not vary, or fewer than ten records tell both. The sums are exact
    whole numbers, so batches and threads do not change a bit of the result.
    """
    tables = [(latent.column, latent.scores(), latent.known) for latent in latents]
    whole = all(latent.known.all() for latent in latents)
    total = engine_for(source).sum_over(source, lambda batch: _products(batch, tables, whole=whole))
    products, sums, squares, records = total.astype(np.float64)
    many = records >= min(_FEWEST_KNOWN, records.max())
    over = np.maximum(records, 1)
    covariances = products / over - sums / over * (sums.T / over)
    variances = squares / over - (sums / over) ** 2
    varied = (variances > 0) & (variances.T > 0) & many
    scale = np.sqrt(np.where(varied, variances * variances.T, 1.0))
    found: Floats = np.clip(np.where(varied, covariances, 0.0) / scale, -1, 1)
    np.fill_diagonal(found, 1.0)
    return found


def _products(
    batch: Coded, tables: Sequence[tuple[int, Floats, NDArray[np.bool_]]], *, whole: bool
) -> NDArray[np.int64]:
    """Return sums over records that tell both of two variables, for all pairs of these.

    Of products of the scores, of the first one's score and its square, and of records.
    """
    size = len(tables)
    total = np.zeros((4, size, size), np.int64)
    for start in range(0, len(batch), _EXACT_ROWS):
        rows = slice(start, start + _EXACT_ROWS)
        columns = [batch.columns[column][rows] for column, _, _ in tables]
        parts = list(zip(columns, tables, strict=True))
        scores = np.stack([own[codes] for codes, (_, own, _) in parts])
        total[0] += (scores @ scores.T).astype(np.int64)
        if whole:
            count = scores.shape[1]
            for row, sums in ((1, scores.sum(axis=1)), (2, (scores**2).sum(axis=1))):
                total[row] += sums.astype(np.int64)[:, None]
            total[3] += count
            continue
        known = np.stack([own[codes] for codes, (_, _, own) in parts]).astype(np.float64)
        total[1] += (scores @ known.T).astype(np.int64)
        total[2] += (scores**2 @ known.T).astype(np.int64)
        total[3] += (known @ known.T).astype(np.int64)
    return total
