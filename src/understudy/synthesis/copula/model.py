"""The Gaussian copula: normal variables behind the columns, and the correlations of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_choice, check_whole
from understudy.counting import Source, marginal_counts
from understudy.data import Coded
from understudy.data.coded import code_dtype
from understudy.data.ends import FEWEST_AT_ENDS
from understudy.data.value_coder import Smoothing, ValueCoder
from understudy.errors import NoDensityError
from understudy.synthesis.base import Synthesizer
from understudy.synthesis.blocks import Block, RandomState
from understudy.synthesis.copula.attenuation import latent_correlations
from understudy.synthesis.copula.correlation import Floats, nearest_correlation
from understudy.synthesis.copula.latents import (
    Latent,
    Order,
    gaps_of,
    latents_of,
    natural_order,
    pair_correlations,
    telling_orders,
)
from understudy.threads import one_thread

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
    columns, all but one order of categories, and numbers that go together only far out.

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
        Correlations of the normal variables behind the columns: one for each column, and after
        these one for each column of numbers with gaps, of whether there is a number.

    Notes
    -----
    The method of the Synthetic Data Vault [1]_, with the original's own distributions in place of
    fitted ones. The values of a column, in order, are intervals of a normal variable, each as
    probable as the value's share. The correlation of two variables is the one under which the mean
    scores of these intervals are as correlated as in the original. A missing number, or a special
    value such as -8, has no place among numbers: whether there is one is a variable of its own.
    Levels are in the order of the mean of the number that they tell most of, if that tells more of
    it than the order that they come in.

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
    most_columns: ClassVar[int] = 2_000
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

    @one_thread()
    def _fit(self, source: Source, rng: np.random.Generator) -> None:  # noqa: ARG002  # nothing is drawn
        counts, coders = marginal_counts(source), list(self.codec_.coders.values())
        orders = self._natural_orders()
        orders = telling_orders(source, coders, counts, orders, self._gaps())
        self._set_counts(counts, orders, self._gaps())
        observed = pair_correlations(source, self._latents)
        margins = [latent.margin for latent in self._latents]
        found = latent_correlations(observed, margins)
        # Of a value that few records have, correlations are hardly known, and often extreme.
        rest = np.array([1 - own.counts.max() / own.counts.sum() for own in margins])
        self._set_correlation(nearest_correlation(found, np.maximum(rest, 1 / self.n_rows_)))
        named = zip(self.codec_.coders.items(), self.counts_, strict=True)
        self.codec_ = replace(
            self.codec_,
            coders={
                name: coder.smoothed(self.smoothing, own)
                if isinstance(coder, ValueCoder)
                else coder
                for (name, coder), own in named
            },
        )

    def _natural_orders(self) -> list[Order]:
        parts = zip(self.codec_.coders.values(), self.codec_.cardinalities, strict=True)
        return [natural_order(coder, size) for coder, size in parts]

    def _gaps(self) -> list[NDArray[np.intp]]:
        """Return the codes of each column that stand for no number."""
        parts = zip(self.codec_.coders.values(), self.codec_.cardinalities, strict=True)
        return [gaps_of(coder, size) for coder, size in parts]

    def _set_counts(
        self,
        counts: tuple[NDArray[np.int64], ...],
        orders: Sequence[Order],
        gaps: Sequence[NDArray[np.intp]],
    ) -> None:
        self.counts_ = counts
        self._orders = tuple(orders)
        self._latents: list[Latent] = latents_of(counts, orders, gaps)
        self._ranked: tuple[NDArray[np.integer], ...] = tuple(
            np.repeat(
                latent.margin.codes.astype(code_dtype(len(latent.groups))), latent.margin.counts
            )
            for latent in self._latents
        )

    def _set_correlation(self, correlation: Floats) -> None:
        self.correlation_ = correlation
        self._root = np.linalg.cholesky(correlation)

    @one_thread()
    def _draw(self, block: Block, rng: np.random.Generator) -> Coded:
        from scipy.special import ndtr

        columns = len(self.counts_)
        drawn = tuple(np.empty(block.rows, ranked.dtype) for ranked in self._ranked[:columns])
        step = max(_HELD // len(self._ranked), 1)
        for start in range(0, block.rows, step):
            rows = slice(start, min(start + step, block.rows))
            normal = self._root @ rng.standard_normal((len(self._ranked), rows.stop - rows.start))
            for latent, ranked, at in zip(self._latents, self._ranked, normal, strict=True):
                # The record at this place of the original, sorted by this column: exact shares.
                places = (ndtr(at, out=at) * len(ranked)).astype(np.intp)
                found = ranked[np.minimum(places, len(ranked) - 1, out=places)]
                own = drawn[latent.column][rows]
                # Whether there is a number comes after the numbers, and overrules them.
                own[:] = (
                    found if latent.has_values else np.where(found > 0, latent.codes[found], own)
                )
        return Coded(self.codec_.names, drawn, self.codec_.cardinalities)

    def _log_likelihood(self, coded: Coded) -> Floats:
        linked = (self.correlation_ != 0) & ~np.eye(len(self._latents), dtype=bool)
        if np.any(linked.sum(axis=1) > 1):
            raise NoDensityError(
                "A Gaussian copula of three or more linked columns has no log likelihood that can "
                "be computed exactly: it is an integral over as many dimensions. `Independent`, "
                "`BayesNet` and `Cart` have one."
            )
        total = np.zeros(len(coded))
        for place in np.flatnonzero(~linked.any(axis=1)).tolist():
            latent = self._latents[place]
            total += latent.log_shares()[coded.columns[latent.column]]
        for left, right in np.argwhere(np.triu(linked)).tolist():
            rho = float(self.correlation_[left, right])
            total += _pair_log_likelihood(coded, self._latents[left], self._latents[right], rho)
        return total

    def _state(self) -> dict[str, NDArray[Any]]:
        return {
            "counts": np.concatenate(self.counts_),
            "orders": np.concatenate(self._orders).astype(np.int32),
            "correlation": self.correlation_,
        }

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        counts = self._counts_by_column(arrays["counts"])
        orders, gaps = self._natural_orders(), self._gaps()
        if "orders" in arrays:
            stops = np.cumsum(self.codec_.cardinalities)
            given = np.split(arrays["orders"].astype(np.intp, casting="safe"), stops[:-1])
            if any(
                not np.array_equal(np.sort(own), np.arange(size))
                for own, size in zip(given, self.codec_.cardinalities, strict=True)
            ):
                raise ValueError("orders of other columns")
            orders = given
        else:
            # A file of a former version: a gap is the highest number.
            gaps = [own[:0] for own in gaps]
        correlation = arrays["correlation"].astype(np.float64, casting="safe")
        self._set_counts(counts, orders, gaps)
        if correlation.shape != (len(self._latents), len(self._latents)):
            raise ValueError("correlations of other columns")
        if not np.array_equal(correlation, correlation.T) or np.any(np.diag(correlation) != 1):
            raise ValueError("correlations that are not symmetric with a unit diagonal")
        self._set_correlation(correlation)

    def _cells(self) -> list[NDArray[np.int64]]:
        return list(self.counts_)


def _pair_log_likelihood(coded: Coded, left: Latent, right: Latent, rho: float) -> Floats:
    """Return the log probability of what records tell about two variables."""
    size = len(right.groups)
    joint = coded.columns[left.column].astype(np.int64) * size + coded.columns[right.column]
    cells, places = np.unique(joint, return_inverse=True)
    first, second = np.divmod(cells, size)
    (x_low, x_high), (y_low, y_high) = left.limits(), right.limits()
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
