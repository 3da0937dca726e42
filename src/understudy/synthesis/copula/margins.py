"""A column on the normal scale: its codes in order, each with an interval as large as its share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MOST_BITS = 17


def normal_density(at: Floats) -> Floats:
    """Return the density of the standard normal distribution; 0 at the infinities."""
    return np.asarray(np.exp(-0.5 * at * at) / np.sqrt(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Margin:
    """The codes of one column as consecutive intervals of a standard normal variable.

    Parameters
    ----------
    codes : ndarray of int
        The codes that occur, in the order of the column.
    counts : ndarray of int64
        Records with each of them.
    edges : ndarray of float64
        The ends of their intervals, from -inf to inf: one more than codes.
    scores : ndarray of float64
        The mean of the normal variable inside each interval, as a whole number of units.

    Notes
    -----
    The interval of a code from a to b has the code's share F(b) - F(a) of the probability, and the
    mean (f(a) - f(b)) / (F(b) - F(a)), where F and f are the normal distribution and density. The
    unit is a power of two, see `score_bits`: sums of whole numbers do not depend on their order.
    """

    codes: NDArray[np.intp]
    counts: NDArray[np.int64]
    edges: Floats
    scores: Floats

    @classmethod
    def of(cls, counts: NDArray[np.int64], order: NDArray[np.intp]) -> Margin:
        """Return the margin of a column from the counts of its codes and the order of these."""
        from scipy.special import ndtri

        codes = order[counts[order] > 0]
        present = counts[codes]
        rows = int(present.sum())
        edges = ndtri(np.concatenate([[0], np.cumsum(present)]) / rows)
        means = -np.diff(normal_density(edges)) * rows / present
        return cls(codes, present, edges, np.rint(np.ldexp(means, score_bits(rows))))

    def score_table(self, cardinality: int) -> Floats:
        """Return the score of every code; 0 for one that does not occur."""
        table = np.zeros(cardinality)
        table[self.codes] = self.scores
        return table

    def limits(self, cardinality: int) -> tuple[Floats, Floats]:
        """Return the ends of every code's interval; an empty one for a code that does not occur."""
        low, high = np.zeros(cardinality), np.zeros(cardinality)
        low[self.codes], high[self.codes] = self.edges[:-1], self.edges[1:]
        return low, high


def score_bits(rows: int) -> int:
    """Return how many binary places a score has, in a table of so many rows.

    Scores are below 8 in size. With 17 places, a product of two is a whole number of at most 40
    bits, and 4,096 of them add up in a float without rounding; all of them fit 64 bits if there
    are fewer than 2**28 rows, and in a larger table there are fewer places.
    """
    return min(_MOST_BITS, (62 - rows.bit_length()) // 2)
