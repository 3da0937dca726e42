"""Columns on the normal scale, the correlations of their scores, and the nearest such matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.errors import ParameterError

Floats = NDArray[np.float64]

_MOST_BITS = 17

_FLOOR = 1e-12
_TOLERANCE = 1e-6
_ROUNDS = 100


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


def nearest_correlation(matrix: Floats, weights: Floats | None = None) -> Floats:
    """Return the positive definite correlation matrix that is nearest to a symmetric matrix.

    Parameters
    ----------
    matrix : ndarray of shape (columns, columns)
        Symmetric, with ones on the diagonal.
    weights : ndarray of shape (columns,), optional
        How well each column's correlations are known, above 0; all alike by default. Where a
        correlation has to give way, it is one of columns with small weights.

    Returns
    -------
    ndarray
        The matrix itself if it is positive definite. Otherwise the nearest one, up to a small
        tolerance, with no eigenvalue below 1e-12 times the columns if weights are alike. The
        distance is the Frobenius norm, each entry times the roots of both columns' weights.

    Notes
    -----
    Alternating projections on the matrices without small eigenvalues and on those with a unit
    diagonal, with Dykstra's correction, in the norm of the weights [1]_.

    References
    ----------
    .. [1] Higham (2002). Computing the nearest correlation matrix: a problem from finance.
       IMA Journal of Numerical Analysis 22(3), doi:10.1093/imanum/22.3.329

    Examples
    --------
    >>> nearest = nearest_correlation(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1.0]]))
    >>> nearest.round(4).tolist()  # the example of Higham's paper
    [[1.0, 0.7607, 0.1573], [0.7607, 1.0, 0.7607], [0.1573, 0.7607, 1.0]]
    """
    if matrix.ndim != 2 or not np.array_equal(matrix, matrix.T) or np.any(np.diag(matrix) != 1):
        raise ParameterError("A correlation matrix is symmetric and has ones on its diagonal.")
    floor = _FLOOR * len(matrix)
    if _is_definite(matrix, floor):
        return matrix
    roots = np.ones(len(matrix)) if weights is None else np.sqrt(weights / weights.max())
    unit = roots * roots
    found: Floats = matrix * np.outer(roots, roots)
    correction = np.zeros_like(matrix)
    for _ in range(_ROUNDS):
        before = found
        shifted = found - correction
        projected = _lift_eigenvalues(shifted, floor)
        correction = projected - shifted
        found = projected.copy()
        np.fill_diagonal(found, unit)
        if np.linalg.norm(found - before) <= _TOLERANCE * np.linalg.norm(found):
            break
    # The last projection was that on the unit diagonal. Twice the floor leaves room for scaling.
    found = _lift_eigenvalues(found, 2 * floor)
    scale = np.sqrt(np.diag(found))
    found = found / np.outer(scale, scale)
    np.fill_diagonal(found, 1.0)
    return found


def _is_definite(matrix: Floats, floor: float) -> bool:
    try:
        np.linalg.cholesky(matrix - floor * np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        return False
    return True


def _lift_eigenvalues(matrix: Floats, floor: float) -> Floats:
    """Return the nearest symmetric matrix with no eigenvalue below `floor`."""
    values, vectors = np.linalg.eigh(matrix)
    few = values < floor
    low = vectors[:, few]
    lifted = matrix + (low * (floor - values[few])) @ low.T
    return np.asarray((lifted + lifted.T) / 2)
