"""How far a table of shares is from another, and how far chance alone would take it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.counting.tables import group_ids, joint_codes
from understudy.data.coded import Coded

Counts = NDArray[np.int64]


def paired_counts(
    original: Coded, synthetic: Coded, sets: Iterable[Sequence[str]]
) -> Iterator[tuple[Counts, Counts]]:
    """Yield, for each set of columns, how often its combinations occur in either table.

    The tables are coded alike. Combinations that occur in neither may be among them, but never
    more than are quickly passed over.
    """
    both = Coded.concatenate([original, synthetic])
    rows = len(original)
    for names in sets:
        codes, bound = _joint_codes(both, names)
        if bound > max(2**10, len(both)):
            groups = group_ids(both, names)
            codes, bound = groups.ids, groups.count
        yield (
            np.bincount(codes[:rows], minlength=bound),
            np.bincount(codes[rows:], minlength=bound),
        )


def _joint_codes(both: Coded, names: Sequence[str]) -> tuple[NDArray[np.integer], int]:
    """Return what `joint_codes` does, in a quarter of the time where two bytes hold the codes."""
    sizes = [both.cardinality(name) for name in names]
    bound = math.prod(sizes)
    if bound > 2**16:
        return joint_codes(both, names)
    codes = both[names[0]].astype(np.uint16)
    for name, size in zip(names[1:], sizes[1:], strict=True):
        codes *= np.uint16(size)
        codes += both[name]
    return codes, bound


def total_variation(first: Counts, second: Counts) -> float:
    """Return half the sum of the absolute differences of two tables of shares.

    This is the share of the records that would have to move from one cell to another.

    Examples
    --------
    >>> total_variation(np.array([3, 1]), np.array([1, 1]))
    0.25
    """
    return float(np.abs(first / first.sum() - second / second.sum()).sum() / 2)


def expected_distance(counts: Counts, size: int) -> float:
    r"""Return the mean distance of samples of `size` records, drawn with replacement from a table.

    Notes
    -----
    Exact. A cell with share p has a binomial count X in a sample of m records, so that the
    distance is on average :math:`\frac{1}{2m} \sum E|X - mp|`, over the cells. With
    :math:`\nu = \lfloor mp \rfloor`, the mean absolute deviation is De Moivre's

    .. math:: E|X - mp| = 2 m p (1 - p) \binom{m - 1}{\nu} p^\nu (1 - p)^{m - 1 - \nu}.

    References
    ----------
    P. Diaconis, S. Zabell (1991). Closed form summation for classical distributions: variations on
    a theme of De Moivre. Statistical Science 6(3), 284-302, doi:10.1214/ss/1177011699.
    D. Berend, A. Kontorovich (2013). A sharp estimate of the binomial mean absolute deviation with
    applications. Statistics & Probability Letters 83(4), 1254-1259, for this use of it.

    Examples
    --------
    >>> round(expected_distance(np.array([5, 5]), 1), 6)  # a single record is wrong by a half
    0.5
    """
    rows = int(counts.sum())
    # Most cells of a large table have one of a few small counts.
    distinct, times = np.unique(counts[(counts > 0) & (counts < rows)], return_counts=True)
    return float(_mean_deviations(distinct, rows, size) @ times) / (2 * size)


def _mean_deviations(counts: Counts, rows: int, size: int) -> NDArray[np.float64]:
    """Return the mean absolute deviation of the binomial for `counts` of `rows`, none of them all.

    By logarithms, for the factors of the formula overflow.
    """
    from scipy.special import gammaln

    share = counts / rows
    below = counts * size // rows
    log_chance = (
        gammaln(size)
        - gammaln(below + 1)
        - gammaln(size - below)
        + below * np.log(share)
        + (size - 1 - below) * np.log1p(-share)
    )
    deviations: NDArray[np.float64] = 2 * size * share * (1 - share) * np.exp(log_chance)
    return deviations
