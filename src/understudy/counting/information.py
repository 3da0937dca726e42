"""Entropy and mutual information of sets of columns, in bits, from exact integer sums.

Structure search compares scores that are often equal in theory: one-to-one columns such as a code
and its label carry the same information. Sums of floating point numbers depend on the order of
the cells, so such ties would be decided by the order of the levels, of threads or of batches.
Here every term is rounded to an integer first; integers add up to the same number in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import as_names
from understudy.counting.engine import Engine, Source
from understudy.counting.tables import joint_counts
from understudy.errors import ParameterError

SQRT_HALF = 0.7071067811865476
LOG2_FACTOR = 2.8853900817779268  # 2 / ln 2
# atanh(r) = r (1 + r^2/3 + r^4/5 + ...), highest power first. For |r| < 0.172 eleven terms leave
# less than 1e-18.
ATANH_SERIES = tuple(1.0 / (2 * k + 1) for k in range(10, -1, -1))

_TABLE_SIZE = 2**16
_SUM_BITS = 62


def _scaled_c_log2_c(counts: NDArray[np.integer], shift: int) -> NDArray[np.int64]:
    """Return c log2(c) in units of 2**-shift, rounded to integers; 0 for c = 0.

    Only additions, multiplications and divisions, which IEEE 754 defines to the last bit: library
    logarithms differ between machines and even between vector lengths.
    """
    values = np.maximum(counts, 1).astype(np.float64)
    mantissa, exponent = np.frexp(values)
    low = mantissa < SQRT_HALF
    mantissa = np.where(low, 2.0 * mantissa, mantissa)
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square = ratio * ratio
    series = np.zeros_like(ratio)
    for coefficient in ATANH_SERIES:
        series = series * square + coefficient
    log2 = (exponent - low) + ratio * series * LOG2_FACTOR
    terms: NDArray[np.int64] = np.rint(np.ldexp(values * log2, shift)).astype(np.int64)
    return terms


@dataclass(frozen=True)
class Information:
    r"""Turn counts of a table of `rows` rows into information in bits, free of rounding by order.

    Work with the integer `total` of a set of columns as long as scores are compared, and call
    `entropy` or `mutual` to show them.

    Parameters
    ----------
    rows : int
        Number of rows n; every set of columns has counts that sum to it.

    Notes
    -----
    With :math:`S = \sum_c \mathrm{round}(2^s\, c \log_2 c)` over the cells of a set of columns,
    the entropy is :math:`H = (S_n - S) / (n 2^s)`, and the mutual information of two sets is
    :math:`I(A; B) = (S_{AB} - S_A - S_B + S_n) / (n 2^s)`, where :math:`S_n` is the sum for a
    single cell that holds all rows. The shift s depends on n alone, and is chosen so that
    :math:`S_n < 2^{62}`: sums and differences of two fit 64 bits.

    Examples
    --------
    >>> import numpy as np
    >>> information = Information(rows=4)
    >>> information.entropy(information.total(np.array([2, 1, 1])))
    1.5
    """

    rows: int

    def __post_init__(self) -> None:
        if self.rows < 0:
            raise ParameterError(f"`rows` must not be negative; got {self.rows}.")

    @cached_property
    def shift(self) -> int:
        """Binary digits after the point: the unit of all sums is 2**-shift."""
        return _SUM_BITS - (self.rows * self.rows.bit_length()).bit_length()

    @cached_property
    def table(self) -> NDArray[np.int64]:
        """The terms of the counts 0, 1, 2, ... for looking up; at most 2**16 + 1 of them."""
        terms = _scaled_c_log2_c(np.arange(min(self.rows, _TABLE_SIZE) + 1), self.shift)
        terms.flags.writeable = False
        return terms

    @cached_property
    def whole(self) -> int:
        """The sum for a single cell that holds all rows: the total of a constant column."""
        return int(_scaled_c_log2_c(np.array([self.rows]), self.shift)[0])

    def terms(self, counts: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return c log2(c) of each count as an integer multiple of 2**-shift."""
        largest = int(counts.max()) if counts.size else 0
        if largest > self.rows:
            raise ParameterError(f"A count of {largest} cannot come from {self.rows} rows.")
        if largest < len(self.table):
            known: NDArray[np.int64] = self.table[counts]
            return known
        terms: NDArray[np.int64] = self.table[np.minimum(counts, len(self.table) - 1)]
        beyond = counts >= len(self.table)
        terms[beyond] = _scaled_c_log2_c(counts[beyond], self.shift)
        return terms

    def total(self, counts: NDArray[np.integer]) -> int:
        """Return the sum of c log2(c) over all cells, an integer multiple of 2**-shift."""
        return int(self.terms(counts).sum())

    def totals(self, counts: NDArray[np.integer], starts: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the totals of several tables that lie one after the other in `counts`.

        Examples
        --------
        >>> information = Information(rows=2)
        >>> totals = information.totals(np.array([2, 0, 1, 1]), np.array([0, 2]))
        >>> totals == [information.whole, 0]
        array([ True,  True])
        """
        # The running sum may wrap around 64 bits; its differences wrap back.
        ends = np.concatenate([[0], np.cumsum(self.terms(counts))])
        totals: NDArray[np.int64] = np.diff(ends[np.append(starts, len(counts))])
        return totals

    def bits(self, score: NDArray[np.int64] | int) -> NDArray[np.float64]:
        """Return a sum or difference of totals as bits per row."""
        return np.ldexp(np.asarray(score, np.float64), -self.shift) / max(self.rows, 1)

    def entropy(self, total: int) -> float:
        """Return the entropy in bits of the columns whose cells have this total."""
        return float(self.bits(self.whole - total))

    def mutual_score(
        self, joint: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return n times the mutual information, as an integer multiple of 2**-shift.

        Totals of independent sets can miss 0 by the rounding of their terms; that is taken to 0.
        """
        # Two differences of two: neither leaves 63 bits.
        score: NDArray[np.int64] = np.maximum((joint - left) + (self.whole - right), 0)
        return score

    def mutual(self, joint: int, left: int, right: int) -> float:
        """Return the mutual information in bits, given the totals of the sets, joint and alone."""
        score = self.mutual_score(np.asarray(joint), np.asarray(left), np.asarray(right))
        return float(self.bits(score))


def entropy(source: Source, columns: str | Sequence[str], *, engine: Engine | None = None) -> float:
    r"""Measure, in bits, how uncertain a row's values in `columns` are.

    Parameters
    ----------
    source : Coded or BatchSource
        The table.
    columns : str or sequence of str
        A column or a set of columns.
    engine : Engine, optional
        What sums over the batches; the local one by default.

    Returns
    -------
    float
        Between 0 (every row is the same) and log2 of the number of combinations. 0 without rows.

    Notes
    -----
    :math:`H = -\sum_x p(x) \log_2 p(x)` of the empirical distribution (Shannon, 1948,
    https://doi.org/10.1002/j.1538-7305.1948.tb01338.x), without any correction for small samples.

    Examples
    --------
    >>> from understudy.data.coded import Coded
    >>> entropy(Coded.from_arrays({"coin": [0, 1, 1, 0]}), "coin")
    1.0
    """
    names = tuple(dict.fromkeys(as_names(columns)))
    counts = joint_counts(source, names, engine=engine)
    information = Information(counts.total)
    return information.entropy(information.total(counts.counts))


def mutual_information(
    source: Source,
    left: str | Sequence[str],
    right: str | Sequence[str],
    *,
    engine: Engine | None = None,
) -> float:
    """Measure, in bits, how much knowing the columns `left` tells about the columns `right`.

    Parameters
    ----------
    source : Coded or BatchSource
        The table.
    left, right : str or sequence of str
        Columns or sets of columns; they may overlap.
    engine : Engine, optional
        What sums over the batches; the local one by default.

    Returns
    -------
    float
        0 if the sets are independent in the table, at most the smaller of the two entropies.

    Notes
    -----
    :math:`I(A; B) = H(A) + H(B) - H(A, B)` of the empirical distribution (Shannon, 1948,
    https://doi.org/10.1002/j.1538-7305.1948.tb01338.x). The result does not change, to the last
    bit, with the order of rows, the labels of levels, threads or batches.

    Examples
    --------
    >>> from understudy.data.coded import Coded
    >>> table = Coded.from_arrays({"a": [0, 1, 0, 1], "b": [0, 1, 0, 1], "c": [0, 0, 1, 1]})
    >>> mutual_information(table, "a", "b"), mutual_information(table, "a", ["c"])
    (1.0, 0.0)
    """
    left, right = as_names(left), as_names(right)
    joint = joint_counts(source, tuple(dict.fromkeys(left + right)), engine=engine)
    information = Information(joint.total)
    return information.mutual(
        information.total(joint.counts),
        information.total(joint.marginal(tuple(dict.fromkeys(left))).counts),
        information.total(joint.marginal(tuple(dict.fromkeys(right))).counts),
    )
