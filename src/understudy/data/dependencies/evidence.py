"""How sure a finding must be: tolerance for exceptions, and evidence beyond chance.

A column that is nearly unique "determines" every other one, and a column that is nearly constant is
"determined" by all. So a finding counts only if it could have failed, often enough.
"""

from __future__ import annotations

import math

MOST_EXCEPTIONS = 0.01
"""Share of records that may break a dependency: slips of the pen. What more records break is a
tendency, which is for the model to learn."""

LEFT_OPEN = 0.05
"""Share of a column's own variety that exceptions may be: of a column with 2% of other values than
the most frequent one, they may be 0.1% of the records."""

DOUBT = 0.001
"""Chance findings to expect in a whole table, at most; it is shared by all that was tried."""

LIKELY_MAPPING = 0.1
"""Share of exceptions that the records must rule out before one column is said to follow from
another: two columns that mostly go together are not the same as two that always do."""

LIKELY_FORMULA = 0.4
"""The same for formulas, orderings and gaps, which do not come about by halves."""


def beyond_chance(exceptions: int, tries: int, chance: float, tests: int, likely: float) -> bool:
    """Return whether so few exceptions in so many tries are neither chance nor a tendency.

    Parameters
    ----------
    exceptions : int
        Records that break the dependency.
    tries : int
        Records that could have broken it.
    chance : float
        Share of them that would break it by chance.
    tests : int
        Dependencies that were looked for.
    likely : float
        Share of exceptions that must be ruled out.

    Notes
    -----
    By Chernoff's bound, the probability of k exceptions or fewer in n tries, each with probability
    p, is at most exp(-n KL(k/n, p)), where KL is the relative entropy.

    Examples
    --------
    >>> beyond_chance(0, 1000, 0.5, 100, 0.1), beyond_chance(0, 10, 0.5, 100, 0.1)
    (True, False)
    """
    if tries <= 0 or chance <= 0:
        return False
    share = exceptions / tries
    if share > MOST_EXCEPTIONS or share > LEFT_OPEN * chance:
        return False
    needed = math.log(max(tests, 1) / DOUBT)
    return tries * relative_entropy(share, min(chance, likely)) >= needed


def can_be_told(records: int, tests: int, likely: float) -> bool:
    """Return whether so many records could tell any of so many dependencies from chance.

    Of few records and many columns, none could: then the search is over before it begins.

    Examples
    --------
    >>> can_be_told(40, 100 * 99, 0.4), can_be_told(40, 20_000 * 19_999, 0.4)
    (True, False)
    """
    return beyond_chance(0, records, 1.0, tests, likely)


def relative_entropy(share: float, other: float) -> float:
    """Return how far a share of exceptions lies below another one, in nats per record.

    Examples
    --------
    >>> round(relative_entropy(0.0, 0.1), 4)
    0.1054
    """
    if share >= other:
        return 0.0
    if other >= 1:
        return math.inf
    low = share * math.log(share / other) if share > 0 else 0.0
    return low + (1 - share) * math.log((1 - share) / (1 - other))
