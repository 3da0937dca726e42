"""How probable the rows of a release are, with the noise below them integrated out.

See `log_probability` for the derivation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammainccinv, gammaincinv, gammaln, loggamma, logsumexp

from understudy.risk.privacy_audit.laws import Law

_ERROR = math.log(1e-15)
"""The log of how much of the whole each step of the computation may lose."""

_TRIES = 8


def log_probability(
    released: Sequence[int] | NDArray[np.integer],
    worlds: Sequence[Sequence[int] | NDArray[np.integer]],
    law: Law,
) -> NDArray[np.float64]:
    """Return the log probability of synthetic values in each of several worlds, exactly.

    The values of one column, for one combination of its parents, are drawn in proportion to noisy
    counts. It is known how often each was drawn, and in each world, how many records have it.

    Parameters
    ----------
    released : sequence of int
        How many synthetic records have each value.
    worlds : sequence of sequences of int
        How many records have each value, in each world.
    law : Law
        The noise that was added to each count.

    Returns
    -------
    ndarray
        For each world, the log probability of the values in the order in which they came.

    Notes
    -----
    With C synthetic records, of which c_v have the value v, and noisy counts t_v = max(0, N_v +
    noise), the probability is E[prod_v t_v^c_v / (sum_v t_v)^C], and r^-C if all t_v are 0, where
    r is the number of values. As S^-C is the integral of lambda^(C-1) exp(-lambda S) / Gamma(C)
    over lambda, and noise is independent, it is the integral of lambda^(C-1) / Gamma(C) prod_v
    E[t_v^c_v exp(-lambda t_v)], plus P(all t_v = 0) r^-C.

    It is a mixture of gamma densities of lambda, so that the trapezoidal rule over log lambda has a
    relative error of at most twice the sum of abs(Gamma(C + 2 pi i k / h)) / Gamma(C) over k, for
    steps of h: h is chosen so that it is below 1e-15. Values of t_v that are left out have a
    probability below 1e-15 of that of the release's counts. All worlds have the same nodes and the
    same values of t_v: so whatever is left out, the ratio of two worlds cannot become larger than
    that of their noise.

    Examples
    --------
    >>> from understudy.risk.privacy_audit.laws import DiscreteLaplace
    >>> one, other = log_probability([20, 0], [[1, 0], [0, 1]], DiscreteLaplace(2.0))
    >>> bool(0.93 < one - other < 1)  # 1 is what noise of scale 2 allows
    True
    """
    counts = np.asarray(released, np.int64)
    total = int(counts.sum())
    tables = np.asarray(worlds, np.int64)
    if not total:
        return np.zeros(len(tables))
    ways = float(gammaln(total + 1) - gammaln(counts + 1).sum())
    missed = _ERROR
    for _ in range(_TRIES):
        found = _integrated(counts, tables, law, missed)
        needed = _ERROR + min(float(found.min()) + ways, 0.0) - math.log(2 * len(counts))
        if missed <= needed:
            break
        missed = needed - 1
    return found


def _integrated(
    counts: NDArray[np.int64], tables: NDArray[np.int64], law: Law, missed: float
) -> NDArray[np.float64]:
    total = int(counts.sum())
    near = [(int(own.min()), int(own.max())) for own in tables.T]
    limits = [law.limits(own, missed) for own in near]
    # A value that was drawn has a positive count; the others may have none.
    smallest = sum(low for (low, _), drawn in zip(limits, counts, strict=True) if drawn)
    largest = sum(high for _, high in limits)
    step, places = nodes(total, smallest, largest)
    rates = np.exp(places)
    known: dict[tuple[int, int, tuple[int, int]], NDArray[np.float64]] = {}
    found = np.empty(len(tables))
    for number, table in enumerate(tables.tolist()):
        logs = total * places - float(gammaln(total)) + math.log(step)
        for count, drawn, own in zip(table, counts.tolist(), near, strict=True):
            key = (count, drawn, own)
            if key not in known:
                known[key] = _moments(law, count, drawn, rates, own, missed)
            logs = logs + known[key]
        nothing = sum(law.log_zero(count) for count in table) - total * math.log(len(counts))
        found[number] = np.logaddexp(logsumexp(logs), nothing)
    return found


def _moments(
    law: Law,
    count: int,
    drawn: int,
    rates: NDArray[np.float64],
    near: tuple[int, int],
    missed: float,
) -> NDArray[np.float64]:
    positive = law.log_moments(count, drawn, rates, near, missed)
    return positive if drawn else np.logaddexp(positive, law.log_zero(count))


def nodes(total: int, smallest: float, largest: float) -> tuple[float, NDArray[np.float64]]:
    """Return the step and the nodes, in log lambda, for sums of noisy counts between two limits."""
    step = _step(total)
    error = math.exp(_ERROR)
    first = math.log(gammaincinv(total, error) / largest)
    last = math.log(gammainccinv(total, error) / smallest)
    return step, np.arange(first, last + step, step)


@cache
def _step(total: int) -> float:
    """Return the step of log lambda with which the trapezoidal rule is exact to 1e-15."""
    own = float(gammaln(total))

    def excess(frequency: float) -> float:
        return float(loggamma(total + 1j * frequency).real) - own - _ERROR + math.log(4)

    high = 30.0 + 10 * math.sqrt(total)
    return 2 * math.pi / float(brentq(excess, 0.0, high))
