"""The Gaussian copula: normal variables behind the columns, and the correlations of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_choice, check_whole
from understudy.counting import Source, marginal_counts
from understudy.data import Coded
from understudy.data.coded import Codes, code_dtype
from understudy.data.ends import FEWEST_AT_ENDS
from understudy.data.value_coder import Smoothing, ValueCoder
from understudy.errors import NoDensityError
from understudy.synthesis.base import Synthesizer
from understudy.synthesis.blocks import Block, RandomState
from understudy.synthesis.copula.attenuation import latent_correlations
from understudy.synthesis.copula.correlation import (
    Floats,
    Margin,
    nearest_correlation,
    score_correlations,
)

# Normal variables that are held at once while drawing (16 MB).
_HELD = 2**21

# Quadrature: nodes in a piece, and rectangles at once.
_NODES = 12
_CELLS = 4096

# No cut of a table is beyond 8: mass further out than this is nothing beside that of any cell.
_FAR = 18.0

_WHOLE = np.arange(-_FAR, _FAR + 1)
_BENDS = np.array([-8, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8.0])
_ENDS = 2.0 ** np.arange(-6, 4)


class GaussianCopula(Synthesizer):
    """Draws correlated normal variables and turns each into a column by its own shares.

    Every column keeps its shares exactly, numbers one by one but for the most extreme, and every
    pair of columns its correlation. What is not a correlation is lost: links between three or more
    columns, and between categories whose order means nothing.

    Parameters
    ----------
    smoothing : {"interpolate", "density"}, optional
        Move each number a little, to between its neighbours or by a normal kernel; by default the
        numbers drawn are those of the original.
    ends : int
        The lowest and the highest number of a column rest on at least so many records each: the
        few beyond become one, about their mean. With 1 they are drawn as they are, and the
        largest is a person's.
    random_state : int or numpy Generator, optional
        Decides the draws.

    Attributes
    ----------
    counts_ : tuple of ndarray
        Records with each code, column by column.
    correlation_ : ndarray
        Correlations of the normal variables behind the columns.

    Notes
    -----
    The method of the Synthetic Data Vault [1]_, with the original's own distributions in place of
    fitted ones. The values of a column, in order and missing last, are intervals of a normal
    variable, each as probable as the value's share. The correlation of two variables is the one
    under which the mean scores of these intervals are as correlated as in the original.

    References
    ----------
    .. [1] Patki, Wedge, Veeramachaneni (2016). The Synthetic Data Vault. IEEE International
       Conference on Data Science and Advanced Analytics, doi:10.1109/DSAA.2016.49

    Examples
    --------
    >>> import polars as pl
    >>> a, b = [0, 0, 0, 1, 1, 1], [0, 0, 1, 0, 1, 1]
    >>> model = GaussianCopula(random_state=1).fit(pl.DataFrame({"a": a * 2, "b": b * 2}))
    >>> float(model.correlation_[0, 1].round(6))  # halves that agree in 2/3 of the records
    0.5
    """

    method: ClassVar[str] = "copula"
    why_not_private: ClassVar[str] = "Its margins are the values of the records themselves."
    exact: ClassVar[bool] = True
    former_params: ClassVar[Mapping[str, Any]] = {"ends": 1}

    counts_: tuple[NDArray[np.int64], ...]
    correlation_: Floats

    def __init__(
        self,
        *,
        smoothing: Smoothing | None = None,
        ends: int = FEWEST_AT_ENDS,
        random_state: RandomState = None,
    ) -> None:
        self.smoothing = smoothing
        self.ends = ends
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        check_whole("ends", self.ends, 1)
        if self.smoothing is not None:
            check_choice("smoothing", self.smoothing, get_args(Smoothing), ", or None")

    def _fit(self, source: Source, rng: np.random.Generator) -> None:  # noqa: ARG002  # nothing is drawn
        self._set_counts(marginal_counts(source))
        margins = self._margins()
        observed = score_correlations(source, margins, self.codec_.cardinalities)
        self._set_correlation(nearest_correlation(latent_correlations(observed, margins)))
        coders = zip(self.codec_.coders.items(), self.counts_, strict=True)
        self.codec_ = replace(
            self.codec_,
            coders={
                name: coder.smoothed(self.smoothing, counts)
                if isinstance(coder, ValueCoder)
                else coder
                for (name, coder), counts in coders
            },
        )

    def _set_counts(self, counts: tuple[NDArray[np.int64], ...]) -> None:
        self.counts_ = counts
        self._ranked: tuple[Codes, ...] = tuple(
            np.repeat(order.astype(code_dtype(len(own))), own[order])
            for own, order in zip(counts, self._orders(), strict=True)
        )

    def _orders(self) -> list[NDArray[np.intp]]:
        """Return the codes of each column in the order of what they stand for, missing last."""
        orders = []
        for coder, counts in zip(self.codec_.coders.values(), self.counts_, strict=True):
            order = np.arange(len(counts))
            if isinstance(coder, ValueCoder):
                order[: coder.known] = np.argsort(coder.numbers, kind="stable")
            orders.append(order)
        return orders

    def _margins(self) -> list[Margin]:
        parts = zip(self.counts_, self._orders(), strict=True)
        return [Margin.of(counts, order) for counts, order in parts]

    def _set_correlation(self, correlation: Floats) -> None:
        self.correlation_ = correlation
        self._root = np.linalg.cholesky(correlation)

    def _draw(self, block: Block, rng: np.random.Generator) -> Coded:
        from scipy.special import ndtr

        drawn = tuple(np.empty(block.rows, ranked.dtype) for ranked in self._ranked)
        step = max(_HELD // len(drawn), 1)
        for start in range(0, block.rows, step):
            rows = slice(start, min(start + step, block.rows))
            normal = self._root @ rng.standard_normal((len(drawn), rows.stop - rows.start))
            for column, ranked, latent in zip(drawn, self._ranked, normal, strict=True):
                # The record at this place of the original, sorted by this column: exact shares.
                places = (ndtr(latent, out=latent) * self.n_rows_).astype(np.intp)
                column[rows] = ranked[np.minimum(places, self.n_rows_ - 1, out=places)]
        return Coded(self.codec_.names, drawn, self.codec_.cardinalities)

    def _log_likelihood(self, coded: Coded) -> Floats:
        linked = (self.correlation_ != 0) & ~np.eye(len(self.counts_), dtype=bool)
        if np.any(linked.sum(axis=1) > 1):
            raise NoDensityError(
                "A Gaussian copula of three or more linked columns has no log likelihood that can "
                "be computed exactly: it is an integral over as many dimensions. Independent, "
                "BayesNet and Cart have one."
            )
        total = np.zeros(len(coded))
        with np.errstate(divide="ignore"):
            for column in np.flatnonzero(~linked.any(axis=1)):
                shares = np.log(self.counts_[column] / self.n_rows_)
                total += shares[coded.columns[column]]
        pairs = np.argwhere(np.triu(linked)).tolist()
        margins = self._margins() if pairs else []
        for left, right in pairs:
            rho = float(self.correlation_[left, right])
            codes = coded.select([coded.names[left], coded.names[right]])
            total += _pair_log_likelihood(codes, margins[left], margins[right], rho)
        return total

    def _state(self) -> dict[str, NDArray[Any]]:
        return {"counts": np.concatenate(self.counts_), "correlation": self.correlation_}

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        counts = self._counts_by_column(arrays["counts"])
        correlation = arrays["correlation"].astype(np.float64, casting="safe")
        if correlation.shape != (len(counts), len(counts)):
            raise ValueError("correlations of other columns")
        if not np.array_equal(correlation, correlation.T) or np.any(np.diag(correlation) != 1):
            raise ValueError("correlations that are not symmetric with a unit diagonal")
        self._set_counts(counts)
        self._set_correlation(correlation)

    def _cells(self) -> list[NDArray[np.int64]]:
        return list(self.counts_)


def _pair_log_likelihood(coded: Coded, left: Margin, right: Margin, rho: float) -> Floats:
    """Return the log probability of records of two columns."""
    sizes = coded.cardinalities
    joint = coded.columns[0].astype(np.int64) * sizes[1] + coded.columns[1]
    cells, places = np.unique(joint, return_inverse=True)
    first, second = np.divmod(cells, sizes[1])
    (x_low, x_high), (y_low, y_high) = left.limits(sizes[0]), right.limits(sizes[1])
    x, y = (x_low[first], x_high[first]), (y_low[second], y_high[second])
    return log_rectangle(x, y, rho)[places]


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
