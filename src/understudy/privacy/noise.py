"""Noise and its cost, from OpenDP: the only place that knows this library.

Noise is integer or discrete, so that no rounding of floats tells what was below it. It cannot be
seeded: who knows the seed can take the noise away.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from understudy.errors import UnderstudyError

if TYPE_CHECKING:
    from understudy.privacy.ledger import Mechanism

Counts = NDArray[np.int64]
Answer = TypeVar("Answer", Counts, int)
_STEPS = 80
_KEPT = 1024
"""So many mechanisms are kept: OpenDP takes longer to make one than to draw."""
_WIDER = 1 + 2.0**-40


class MissingPrivacyError(UnderstudyError, ImportError):
    """OpenDP is not installed."""


class Witness(Protocol):
    """Sees every question to the records, and may hand on an answer that was drawn before.

    An audit of made-up tables needs one. It gets the true answers, so nothing else may have any.
    """

    def answer(
        self,
        mechanism: Mechanism,
        truth: NDArray[Any],
        scale: float,
        draw: Callable[[], Answer],
    ) -> Answer:
        """Return the answer to a question for counts, or to a choice by scores."""


_witness: ContextVar[Witness | None] = ContextVar("witness", default=None)


@contextmanager
def witnessed(witness: Witness) -> Iterator[None]:
    """Let a witness see all questions that are asked meanwhile."""
    token = _witness.set(witness)
    try:
        yield
    finally:
        _witness.reset(token)


@cache
def _opendp() -> Any:  # noqa: ANN401  # a module
    try:
        import opendp.prelude as dp
    except ImportError as error:
        raise MissingPrivacyError(
            "Differential privacy needs the package opendp. Install it with: "
            "pip install 'understudy[dp]'"
        ) from error
    dp.enable_features("contrib")
    return dp


def require_opendp() -> None:
    """Raise with what to install, if OpenDP is not there."""
    _opendp()


def opendp_version() -> str:
    """Return the version of OpenDP, for the ledger."""
    from importlib.metadata import version

    require_opendp()
    return version("opendp")


def epsilon_of(rho: float, delta: float) -> float:
    """Return the epsilon of a mechanism of cost `rho` (zero-concentrated), by OpenDP's conversion.

    Notes
    -----
    Bun, Steinke (2016), doi:10.1007/978-3-662-53641-4_24; Canonne, Kamath, Steinke (2020).
    """
    dp = _opendp()
    unit = _gaussian(1.0)
    # The Gaussian of scale 1 costs rho for a change of this size, which is rounded up.
    change = math.nextafter(math.sqrt(2 * rho), math.inf)
    return float(dp.c.make_zCDP_to_approxDP(unit).map(change).epsilon(delta))


@cache
def rho_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest zero-concentrated budget that keeps to epsilon and delta, rounded down."""
    low, high = 0.0, float(epsilon)  # a cost of rho has an epsilon of more than rho
    least = rounded_down(delta)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle > 0 and epsilon_of(middle, least) <= epsilon:
            low = middle
        else:
            high = middle
    return Fraction(low)


def rounded_down(number: Fraction) -> float:
    """Return the largest float that is no more than a number.

    Examples
    --------
    >>> rounded_down(Fraction(1, 10)) <= Fraction(1, 10) < 0.1
    True
    """
    near = float(number)
    return near if near <= number else math.nextafter(near, -math.inf)


@lru_cache(_KEPT)
def _gaussian(scale: float) -> Any:  # noqa: ANN401  # a measurement
    dp = _opendp()
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    return dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=scale)


@lru_cache(_KEPT)
def _laplace(scale: float) -> Any:  # noqa: ANN401
    dp = _opendp()
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    return dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=scale)


@lru_cache(_KEPT)
def _noisy_max(scale: float, *, pure: bool) -> Any:  # noqa: ANN401
    dp = _opendp()
    measure = dp.max_divergence() if pure else dp.zero_concentrated_divergence()
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    return dp.m.make_noisy_max(domain, dp.linf_distance(T=float), measure, scale=scale)


@lru_cache(_KEPT)
def gaussian_scale(l2: float, rho: Fraction) -> float:
    """Return the scale with which counts of sensitivity `l2` cost at most `rho`.

    Examples
    --------
    >>> round(gaussian_scale(2**0.5, Fraction(1, 100)), 6)
    10.0
    """
    scale = l2 / math.sqrt(2 * rho)
    while Fraction(_gaussian(scale).map(l2)) > rho:
        scale *= _WIDER
    return scale


@lru_cache(_KEPT)
def laplace_scale(l1: int, epsilon: Fraction) -> float:
    """Return the scale with which counts of sensitivity `l1` cost at most `epsilon`.

    Examples
    --------
    >>> round(laplace_scale(2, Fraction(1, 10)), 6)
    20.0
    """
    scale = float(l1 / epsilon)
    while Fraction(_laplace(scale).map(l1)) > epsilon:
        scale *= _WIDER
    return scale


@lru_cache(_KEPT)
def choice_scale(sensitivity: float, cost: Fraction, *, pure: bool) -> float:
    """Return the scale with which a noisy choice by scores costs at most `cost`."""
    scale = 2 * sensitivity / (float(cost) if pure else math.sqrt(8 * cost))
    while Fraction(_noisy_max(scale, pure=pure).map(sensitivity)) > cost:
        scale *= _WIDER
    return scale


def with_gaussian(counts: Counts, scale: float) -> Counts:
    """Return counts with discrete Gaussian noise."""
    return _answer("discrete Gaussian", counts, scale, lambda: _noised(_gaussian(scale), counts))


def with_laplace(counts: Counts, scale: float) -> Counts:
    """Return counts with discrete Laplace noise."""
    return _answer("discrete Laplace", counts, scale, lambda: _noised(_laplace(scale), counts))


def _answer(
    mechanism: Mechanism, truth: NDArray[Any], scale: float, draw: Callable[[], Answer]
) -> Answer:
    witness = _witness.get()
    return draw() if witness is None else witness.answer(mechanism, truth, scale, draw)


def _noised(measurement: Any, counts: Counts) -> Counts:  # noqa: ANN401
    flat = np.ascontiguousarray(counts, np.int64).ravel()
    if not len(flat):
        return flat.reshape(counts.shape)
    return np.array(measurement(flat.tolist()), np.int64).reshape(counts.shape)


def reach(scale: float, delta: float, *, gaussian: bool) -> int:
    """Return a whole number that noise reaches with a probability of at most `delta`.

    Examples
    --------
    >>> reach(10.0, 1e-6, gaussian=False), reach(10.0, 1e-6, gaussian=True)
    (132, 53)
    """
    if gaussian:
        # Discrete Gaussian noise reaches t with at most exp(-t^2 / (2 s^2)).
        return math.ceil(_WIDER * scale * math.sqrt(2 * math.log(1 / delta)))
    # Discrete Laplace noise reaches t with exp(-t / s) / (1 + exp(-1 / s)).
    far = scale * (math.log(1 / delta) - math.log1p(math.exp(-1 / scale)))
    return max(1, math.ceil(_WIDER * far))


def choose(scores: NDArray[np.float64], scale: float, *, pure: bool) -> int:
    """Return the place of the largest score after noise: exponential if pure, and else Gumbel."""
    if not np.isfinite(scores).all():
        raise ValueError("scores must be finite numbers")

    def draw() -> int:
        return int(_noisy_max(scale, pure=pure)(scores.tolist()))

    return _answer("permute and flip" if pure else "exponential", scores, scale, draw)
