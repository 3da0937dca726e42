"""Correlations of all pairs of columns at once, and how far chance moves each of them.

They are products of matrices. The columns are standardised, so that sums lose no digits, and taken
a block of records at a time, so that memory does not grow with the records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Codes, code_dtype
from understudy.utility.pair_measures import Floats, Matrix, pearson

FEWEST = 10
"""Records in which both columns are known, below which a correlation says nothing."""
SPREAD_RECORDS = 20_000
"""Records that decide how far chance moves a correlation, at most."""
_BLOCK = 4_096
_SAFE = 1000
"""Up to this exponent, a power of two is a number, by which one multiplies sooner."""
_DIGITS = 10
_FLAT = 1e-8
"""A column whose variance is this share of its own where another is known: summed up anew."""


@dataclass(frozen=True, eq=False)
class CorrelationMatrix:
    """Correlations of all pairs of columns of one table.

    Parameters
    ----------
    values : ndarray of float64, shape (columns, columns)
        The coefficients; nan where a column does not vary, or too few records have both.
    records : ndarray of int64
        Records in which both columns are known.
    spread : ndarray of float64
        The variance of the coefficient's Fisher transform times the number of records: 1 for
        normal numbers, more where tails are heavy.
    """

    values: Matrix
    records: NDArray[np.int64]
    spread: Matrix


def correlation_matrix(
    codes: Sequence[Codes], numbers: Sequence[Floats], rng: np.random.Generator
) -> CorrelationMatrix:
    r"""Return Pearson's coefficients of all pairs of columns.

    Parameters
    ----------
    codes : sequence of ndarray
        The columns, coded.
    numbers : sequence of ndarray
        What each code of a column stands for; a record whose number is NaN is left out of all pairs
        of that column.
    rng : Generator
        Draws the records that `spread` rests on, if there are many.

    Notes
    -----
    With standardised :math:`x` and :math:`y`, the coefficient r of n records has the asymptotic
    variance :math:`\mathrm{Var}(xy - r (x^2 + y^2) / 2) / n`, whatever the distribution (Steiger
    and Hakstian 1982, doi:10.1111/j.2044-8317.1982.tb00653.x). `spread` is that of Fisher's
    :math:`\mathrm{artanh}(r)`, times n, and at least the 1 of normal numbers.

    Examples
    --------
    >>> codes = [np.arange(12, dtype=np.uint8)] * 2
    >>> numbers = [np.arange(12.0), -np.arange(12.0)]
    >>> correlation_matrix(codes, numbers, np.random.default_rng(1)).values[0, 1]
    np.float64(-1.0)
    """
    scaled = [_standardised(own, lookup) for own, lookup in zip(codes, numbers, strict=True)]
    rows = len(codes[0]) if codes else 0
    size = len(codes)
    whole = not any(_has_gaps(own, lookup) for own, lookup in zip(codes, scaled, strict=True))
    count, both = np.zeros((2, size, size))
    first, squares = np.zeros((2, size, size))
    for block in _blocks(codes, scaled):
        known = ~np.isnan(block)
        block[~known] = 0.0
        both += block.T @ block
        if whole:
            count += len(block)
            first += block.sum(axis=0)[:, None]
            squares += np.square(block).sum(axis=0)[:, None]
        else:
            mask = known.astype(np.float64)
            count += mask.T @ mask
            first += block.T @ mask
            squares += np.square(block).T @ mask
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = first / count
        variance = squares / count - mean**2
        values = (both / count - mean * mean.T) / np.sqrt(variance * variance.T)
    enough = count >= FEWEST
    known_pairs = enough & (variance > _FLAT) & (variance.T > _FLAT)
    values[~known_pairs] = np.nan
    for one, other in np.argwhere(np.triu(enough & ~known_pairs)).tolist():
        # Nearly constant where the other is known: sums of squares have lost their digits.
        pair = np.array([numbers[place][codes[place]] for place in (one, other)])
        values[one, other] = values[other, one] = pearson(pair)[0, 1]
    values = np.clip(values, -1.0, 1.0).round(_DIGITS)  # a constant formula gives 1, not nearly 1
    drawn = None
    if rows > SPREAD_RECORDS:
        drawn = np.sort(rng.choice(rows, SPREAD_RECORDS, replace=False))
    spread = _spread(values, _blocks(codes, scaled, drawn))
    return CorrelationMatrix(values, count.astype(np.int64), spread)


def ranks_of(codes: Codes, numbers: Floats) -> Floats:
    """Return the mean rank of the records with each level, NaN where there is no number.

    Examples
    --------
    >>> ranks_of(np.array([0, 0, 1, 2]), np.array([5.0, 7.0, np.nan]))
    array([1.5, 3. , nan])
    """
    counts = np.bincount(codes, minlength=len(numbers)).astype(np.float64)
    order = np.argsort(numbers, kind="stable")  # NaN come last
    held = counts[order]
    ranks = np.empty(len(numbers))
    ranks[order] = np.cumsum(held) - (held - 1) / 2
    return np.where(np.isnan(numbers), np.nan, ranks)


def levels_that_occur(codes: Codes, numbers: Floats) -> tuple[Codes, Floats]:
    """Return codes among the levels that occur, and the numbers of these, if that is worth while.

    Measurements of several tables have many levels that only the others have.

    Examples
    --------
    >>> levels_that_occur(np.array([3, 1]), np.array([0.5, 2.0, 2.5, 4.0]))
    (array([1, 0], dtype=uint8), array([2., 4.]))
    """
    if len(numbers) <= len(codes):
        return codes, numbers
    seen = np.zeros(len(numbers), bool)
    seen[codes] = True
    place = np.cumsum(seen, dtype=np.int32) - 1
    return place[codes].astype(code_dtype(int(place[-1]) + 1)), numbers[seen]


def _has_gaps(codes: Codes, lookup: Floats) -> bool:
    unknown = np.isnan(lookup)
    return bool(unknown.any()) and bool(unknown[codes].any())


def _standardised(codes: Codes, numbers: Floats) -> Floats:
    """Return the number of each level with mean 0 and variance 1 over the records."""
    counts = np.bincount(codes, minlength=len(numbers)).astype(np.float64)
    known = ~np.isnan(numbers) & (counts > 0)
    if not known.any():
        return np.full(len(numbers), np.nan)
    weights, held = counts[known], numbers[known]
    # A power of two, and less the smallest: both keep every digit of large, close numbers.
    exponent = int(np.frexp(np.abs(held).max())[1])
    held = np.ldexp(held, -exponent) if abs(exponent) > _SAFE else held * 2.0**-exponent
    held -= held.min()
    mean = float(weights @ held / weights.sum())
    deviation = float(np.sqrt(weights @ (held - mean) ** 2 / weights.sum()))
    found = np.full(len(numbers), np.nan)
    found[known] = (held - mean) / deviation if deviation > 0 else 0.0
    return found


def _blocks(
    codes: Sequence[Codes], scaled: Sequence[Floats], rows: NDArray[np.int64] | None = None
) -> Iterator[Floats]:
    """Yield the numbers of some records at a time, a row for each; of all, if not told of which."""
    if rows is not None:
        codes = [own[rows] for own in codes]
    for start in range(0, len(codes[0]) if codes else 0, _BLOCK):
        block = np.empty((min(_BLOCK, len(codes[0]) - start), len(codes)))
        for place, (own, lookup) in enumerate(zip(codes, scaled, strict=True)):
            block[:, place] = lookup[own[start : start + _BLOCK]]
        yield block


def _spread(values: Matrix, blocks: Iterator[Floats]) -> Matrix:
    """Return the variance of Fisher's transform of each coefficient, times the records."""
    size = len(values)
    count, both, twos, fours, mixed, cubes = np.zeros((6, size, size))
    for block in blocks:
        mask = (~np.isnan(block)).astype(np.float64)
        np.nan_to_num(block, copy=False)
        square = np.square(block)
        count += mask.T @ mask
        both += block.T @ block
        twos += square.T @ mask
        fours += np.square(square).T @ mask
        mixed += square.T @ square
        cubes += (square * block).T @ block
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (both - values / 2 * (twos + twos.T)) / count
        square_mean = (
            mixed - values * (cubes + cubes.T) + values**2 / 4 * (fours + 2 * mixed + fours.T)
        ) / count
        spread = (square_mean - mean**2) / (1 - values**2) ** 2
    return np.where(np.isfinite(spread), np.maximum(spread, 1.0), 1.0)
