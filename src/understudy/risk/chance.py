"""Agreement beyond chance: what guesses would get right if they were dealt out at random."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.risk.tails import poisson_limit, poisson_tail
from understudy.risk.tolerance import Numbers, NumberTarget

Shares = NDArray[np.float64]
Codes = NDArray[np.integer]
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Agreement:
    """How many guesses are right, beside what the same guesses for other people would be.

    Parameters
    ----------
    people : int
        People who are guessed.
    hits : int
        Correct guesses.
    expected : float
        Correct guesses on average, if the same guesses were dealt out among these people at random.
    variance : float
        How much that varies.
    """

    people: int
    hits: int
    expected: float
    variance: float

    @property
    def excess(self) -> float:
        """Correct guesses beyond chance, as a share of the people; nan if there are none."""
        return (self.hits - self.expected) / self.people if self.people else math.nan

    @property
    def p_value(self) -> float:
        """How often chance alone gets as many right, or more; nan if there is nobody to guess.

        It is that of a Poisson distribution with this variance, moved to this mean: right where few
        hits are expected by chance, careful where many are, and the normal one in between.
        """
        if not self.people:
            return math.nan
        if self.hits <= self.expected:
            return 1.0
        beyond = math.ceil(self.hits - self.expected + self.variance - _ROUNDING)
        return poisson_tail(beyond, max(self.variance, _ROUNDING))

    def limit(self, level: float) -> float:
        """Return so many hits that chance alone exceeds them with at most this probability."""
        if not self.people:
            return math.nan
        most = poisson_limit(level, max(self.variance, _ROUNDING))
        return min(self.expected - self.variance + most, float(self.people))


def agreement(
    guesses: Codes, truths: Codes, number: NumberTarget | None = None, weights: Codes | None = None
) -> Agreement:
    """Count correct guesses, and those that chance would give.

    Parameters
    ----------
    guesses, truths : ndarray of int
        Codes of what is guessed of each person, and of what is true; -1 guesses nothing.
    number : NumberTarget, optional
        When a guess of a number is right; without it, if it is equal.
    weights : ndarray of int, optional
        How many people each stands for.

    Notes
    -----
    With a(i, j) = 1 if the guess for person i is right for person j, and 0 otherwise, dealing out
    the guesses at random gets sum a / n right on average. The variance is sum d(i, j)^2 / (n - 1),
    where d is a less the means of its row and column, plus the mean of all.

    Examples
    --------
    >>> found = agreement(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0]))
    >>> found.hits, found.expected  # two say 0, as three are; two say 1, as one is
    (3, 2.0)
    """
    if weights is not None:
        guesses, truths = np.repeat(guesses, weights), np.repeat(truths, weights)
    guesses, truths = guesses.astype(np.int64), truths.astype(np.int64)
    total = len(truths)
    if not total:
        return Agreement(0, 0, 0.0, 0.0)
    if number is None:
        hits = int(np.count_nonzero(guesses == truths))
        rows, columns = _shares_of_equals(guesses, truths)
    else:
        hits, rows, columns = _shares_of_near(guesses, truths, number)
    mean = float(rows.mean())
    squares = total * (total * mean - float((rows**2).sum()) - float((columns**2).sum()))
    spread = max(squares + total**2 * mean**2, 0.0) / max(total - 1, 1)
    return Agreement(total, hits, total * mean, spread)


def _shares_of_equals(guesses: Codes, truths: Codes) -> tuple[Shares, Shares]:
    """Return for which share of people each guess is right, and which share says each truth."""
    size = int(max(guesses.max(), truths.max())) + 2
    true, said = (np.bincount(held + 1, minlength=size) / len(truths) for held in (truths, guesses))
    said[0] = 0.0
    rows = np.where(guesses < 0, 0.0, true[guesses + 1])
    return rows, said[truths + 1]


def _shares_of_near(
    guesses: Codes, truths: Codes, number: NumberTarget
) -> tuple[int, Shares, Shares]:
    first, last = number.code_limits
    low, high = first[truths].astype(np.int64), last[truths].astype(np.int64)
    total, size = len(truths), len(number.numbers)
    said = guesses >= 0
    hits = int(np.count_nonzero((guesses >= low) & (guesses <= high) & said))
    known = low <= high
    # For each code, how many truths it is right for; and how many guesses are below each code.
    begins = np.bincount(low[known], minlength=size + 1)
    ends = np.bincount(high[known] + 1, minlength=size + 1)
    right = np.cumsum(begins - ends)
    below = np.concatenate([[0], np.cumsum(np.bincount(guesses[said], minlength=size))])
    rows = np.where(said, right[guesses], 0)
    columns = np.where(known, below[high + 1] - below[low], 0)
    return hits, rows / total, columns / total


def shares_right(own: Codes, number: NumberTarget | None = None) -> Shares:
    """Return how often somebody else's value would be right for each person.

    Examples
    --------
    >>> shares_right(np.array([0, 0, 1, 0])).tolist()
    [0.75, 0.75, 0.25, 0.75]
    """
    codes = own.astype(np.int64)
    return (
        _shares_of_equals(codes, codes)[1]
        if number is None
        else _shares_of_near(np.where(number.known(codes), codes, -1), codes, number)[2]
    )


def corrected(p_values: Numbers, looks: int | None = None) -> Numbers:
    """Return p-values for having looked so often: Holm's, each at least as careful as needed.

    Parameters
    ----------
    p_values : ndarray of float64
        Those of all looks; nan where nothing was tested.
    looks : int, optional
        How many looks there could have been, if more than were tested.

    Examples
    --------
    >>> corrected(np.array([0.01, 0.02, 0.5])).tolist()
    [0.03, 0.04, 0.5]
    """
    found = np.full(len(p_values), math.nan)
    tested = np.flatnonzero(~np.isnan(p_values))
    order = tested[np.argsort(p_values[tested], kind="stable")]
    times = (looks or len(order)) - np.arange(len(order))
    found[order] = np.minimum(np.maximum.accumulate(p_values[order] * times), 1.0)
    return found
