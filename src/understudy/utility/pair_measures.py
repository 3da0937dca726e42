"""How strongly two columns are associated: three measures, and matrices of them for all pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.counting import ContingencyTable
from understudy.data.coded import Codes
from understudy.data.frames import Backend, Frame
from understudy.results import Result, to_plain

Kind = Literal["number", "category"]
Measure = Literal["pearson", "cramers_v", "correlation_ratio"]
Floats = NDArray[np.float64]
Matrix = Floats


def measure_of(first: Kind, second: Kind) -> Measure:
    """Return the measure for two columns of these kinds."""
    if first == second:
        return "pearson" if first == "number" else "cramers_v"
    return "correlation_ratio"


@dataclass(frozen=True, eq=False)
class MatrixComparison(Result):
    """One matrix of all pairs of columns, for the original and the synthetic table.

    Parameters
    ----------
    columns : tuple of str
        What rows and columns stand for.
    original, synthetic : ndarray of float64
        The values; nan where undefined.
    expected : ndarray of float64
        What sampling alone gives for each absolute difference: its mean over bootstrap samples of
        the original, of as many records as the synthetic table has. nan without samples.
    pairs : int
        Pairs of different columns whose value is defined in both tables; all figures are of them.
    mean, largest : float
        Of the absolute differences; nan if there is no pair.
    largest_pair : tuple of str or None
        Whose difference is the largest.
    expected_mean, expected_largest : float
        The mean and, on average over the samples, the largest absolute difference that sampling
        alone gives.
    ratio : float
        `mean` over `expected_mean`; nan if that is 0 or unknown.
    """

    columns: tuple[str, ...]
    original: Matrix
    synthetic: Matrix
    expected: Matrix
    pairs: int
    mean: float
    largest: float
    largest_pair: tuple[str, str] | None
    expected_mean: float
    expected_largest: float
    ratio: float

    @classmethod
    def of(
        cls,
        columns: tuple[str, ...],
        original: Matrix,
        synthetic: Matrix,
        samples: Matrix,
        backend: Backend,
    ) -> MatrixComparison:
        """Compare two matrices, beside those of bootstrap samples, stacked in `samples`."""
        moved = np.abs(samples - original)
        defined = ~np.isnan(moved)
        times = defined.sum(axis=0)
        sums = np.where(defined, moved, 0.0).sum(axis=0)
        expected = np.where(times > 0, sums / np.maximum(times, 1), np.nan)
        upper = np.triu(np.ones(original.shape, bool), k=1)
        used = upper & ~np.isnan(original) & ~np.isnan(synthetic)
        places = np.argwhere(used)
        if not len(places):
            none = (0, math.nan, math.nan, None, math.nan, math.nan, math.nan)
            return cls(columns, original, synthetic, expected, *none, _backend=backend)
        gaps = np.abs(synthetic - original)[used]
        first, second = places[int(gaps.argmax())].tolist()
        known = expected[used][~np.isnan(expected[used])]
        chance = float(known.mean()) if len(known) else math.nan
        largest = np.where(defined, moved, 0.0)[:, used].max(axis=1)
        mean = float(gaps.mean())
        return cls(
            columns,
            original,
            synthetic,
            expected,
            len(gaps),
            mean,
            float(gaps.max()),
            (columns[first], columns[second]),
            chance,
            float(largest.mean()) if len(largest) else math.nan,
            mean / chance if chance else math.nan,
            _backend=backend,
        )

    @property
    def difference(self) -> Matrix:
        """The synthetic values less the original ones."""
        return self.synthetic - self.original

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return one row for each cell, for a heat map: both orders of a pair, and the diagonal.

        What is undefined is null. The frame is of the kind that went in, or of `backend`.
        """
        count = len(self.columns)
        frame = pl.DataFrame(
            {
                "first": np.repeat(self.columns, count).tolist(),
                "second": list(self.columns) * count,
                "original": self.original.reshape(-1),
                "synthetic": self.synthetic.reshape(-1),
                "difference": self.difference.reshape(-1),
                "expected": self.expected.reshape(-1),
            }
        )
        return self._framed(frame.fill_nan(None), backend)

    def __str__(self) -> str:
        return f"{self.pairs:,} pairs of columns differ by {self.mean:.3f} on average."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, matrices as lists of rows, with None for nan."""
        found = super().to_dict()
        found["difference"] = self.difference
        for name in ("original", "synthetic", "expected", "difference"):
            found[name] = to_plain(np.asarray(found[name]).tolist())
        return found


def cramers_v(table: ContingencyTable, *, corrected: bool = False) -> float:
    r"""Return Cramér's V of two categorical columns: 0 if they are unrelated, 1 at the most.

    Parameters
    ----------
    table : ContingencyTable
        The counts of two columns. Levels that do not occur do not matter.
    corrected : bool
        Whether to take off what chance alone adds, which is much where there are many levels and
        few records.

    Returns
    -------
    float
        nan if one of the columns has a single level, or if all values of one differ and the bias
        is to be corrected.

    Notes
    -----
    With n records, r and c levels and :math:`\varphi^2 = \chi^2 / n`, it is
    :math:`\sqrt{\varphi^2 / \min(r - 1, c - 1)}`. Corrected, :math:`\varphi^2` is less by
    :math:`(r - 1)(c - 1) / (n - 1)`, but not below 0, r by :math:`(r - 1)^2 / (n - 1)`, and c
    likewise.

    References
    ----------
    W. Bergsma (2013). A bias correction for Cramér's V and Tschuprow's T. Journal of the Korean
    Statistical Society 42(3), 323-328, doi:10.1016/j.jkss.2012.10.002.

    Examples
    --------
    >>> equal = ContingencyTable(("a", "b"), (2, 2), np.array([[3, 0], [0, 3]]))
    >>> cramers_v(equal)
    1.0
    """
    sparse = table.to_sparse()
    if sparse.combinations is None or not len(sparse.counts):
        return math.nan
    left, right = sparse.combinations.T.astype(np.int64)
    counts = sparse.counts.astype(np.float64)
    total = float(counts.sum())
    sums = np.bincount(left, weights=counts), np.bincount(right, weights=counts)
    rows, columns = (float(np.count_nonzero(margin)) for margin in sums)
    expected = sums[0][left] * sums[1][right] / total
    chi2 = float(((counts - expected) ** 2 / expected).sum())
    if len(counts) < rows * columns:
        # In an empty cell, the square over the expected count is that count.
        chi2 += max(total - float(expected.sum()), 0.0)
    phi2 = chi2 / total
    if corrected and total > 1:
        phi2 = max(phi2 - (rows - 1) * (columns - 1) / (total - 1), 0.0)
        rows -= (rows - 1) ** 2 / (total - 1)
        columns -= (columns - 1) ** 2 / (total - 1)
    least = min(rows, columns) - 1
    return min(math.sqrt(phi2 / least), 1.0) if least > 0 else math.nan


def correlation_ratio(codes: Codes, numbers: Floats) -> float:
    r"""Return the correlation ratio eta of numbers by category: 0 if means are equal, 1 at most.

    Parameters
    ----------
    codes : ndarray of unsigned int
        The category of each record.
    numbers : ndarray of float64
        The number of each record; where it is NaN, the record is left out.

    Returns
    -------
    float
        nan if all numbers, or all categories, are equal.

    Notes
    -----
    :math:`\eta^2` is the share of the sum of squares that lies between the categories:
    :math:`\sum_g n_g (\bar{x}_g - \bar{x})^2 / \sum_i (x_i - \bar{x})^2`.

    Examples
    --------
    >>> correlation_ratio(np.array([0, 0, 1, 1], np.uint8), np.array([1.0, 1, 2, 2]))
    1.0
    """
    known = ~np.isnan(numbers)
    if not known.all():
        codes, numbers = codes[known], numbers[known]
    counts = np.bincount(codes)
    if np.count_nonzero(counts) < 2 or not _vary(numbers):
        return math.nan
    centred = _centred(numbers)
    seen = counts > 0
    between = np.bincount(codes, weights=centred)[seen] ** 2 / counts[seen]
    return min(math.sqrt(float(between.sum()) / float(np.square(centred).sum())), 1.0)


def pearson(values: Floats) -> Floats:
    """Return Pearson's correlation coefficients of all pairs of rows of numbers.

    Parameters
    ----------
    values : ndarray of float64, shape (columns, records)
        The numbers, NaN for missing.

    Returns
    -------
    ndarray of float64, shape (columns, columns)
        For each pair, over the records in which both are known; nan if one of them does not vary
        among these.

    Examples
    --------
    >>> pearson(np.array([[1.0, 2, 3], [6, 4, 2]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    count = len(values)
    found = np.full((count, count), np.nan)
    known = ~np.isnan(values)
    complete: NDArray[np.bool_] = np.all(known, axis=1)
    whole = [row for row in np.flatnonzero(complete) if _vary(values[row])]
    if whole:
        scaled = np.array([_scaled(values[row]) for row in whole])
        for place, row in enumerate(whole):
            products = _products(scaled[place : place + 1], scaled[place:])[0]
            found[row, whole[place:]] = found[whole[place:], row] = products
    for first in np.flatnonzero(~complete).tolist():
        for second in range(count):
            if second < first and not complete[second]:
                continue  # done already, as its own pair with this one
            both = known[first] & known[second]
            pair = values[first][both], values[second][both]
            if all(map(_vary, pair)):
                product = _products(_scaled(pair[0])[None], _scaled(pair[1])[None])[0, 0]
                found[first, second] = found[second, first] = product
    np.fill_diagonal(found, np.where(np.isnan(found.diagonal()), np.nan, 1.0))
    coefficients: Floats = np.clip(found, -1.0, 1.0)
    return coefficients


def _vary(numbers: Floats) -> bool:
    return len(numbers) > 0 and bool(numbers.min() < numbers.max())


def _centred(numbers: Floats) -> Floats:
    """Return numbers less their mean, in a unit in which squares neither over- nor underflow."""
    # A power of two, and less the smallest: both keep every digit of large, close numbers.
    exponent = int(np.frexp(np.abs(numbers).max())[1])
    scaled = np.ldexp(numbers, -exponent)
    scaled -= scaled.min()
    centred: Floats = scaled - scaled.mean()
    centred /= np.abs(centred).max()
    return centred


def _scaled(numbers: Floats) -> Floats:
    """Return numbers with mean 0 and a sum of squares of 1."""
    centred = _centred(numbers)
    return centred / math.sqrt(float(np.square(centred).sum()))


def _products(first: Floats, second: Floats) -> Floats:
    """Return the scalar products of all pairs of rows.

    Not by a matrix product: that starts threads, which cost more here, and makes the last digits
    depend on their number.
    """
    products: Floats = np.einsum("ik,jk->ij", first, second, optimize=False)
    return products
