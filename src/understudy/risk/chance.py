"""Agreement beyond chance: what guesses would get right if they were dealt out at random."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.risk.tails import poisson_limit
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
    step : float
        In steps of how many hits it varies, as its skewness tells: two if whoever gets the right
        guess takes the wrong one from somebody who then is right, too, as with two values.
    """

    people: int
    hits: int
    expected: float
    variance: float
    step: float = 1.0

    @property
    def excess(self) -> float:
        """Correct guesses beyond chance, as a share of the people; nan if there are none."""
        return (self.hits - self.expected) / self.people if self.people else math.nan

    @property
    def p_value(self) -> float:
        """How often chance alone gets as many right, or more; nan if there is nobody to guess.

        It is that of a Poisson distribution in steps of so many hits, with this variance and moved
        to this mean: right where few hits are expected by chance, careful where many are, and the
        normal one in between. The moved distribution lies between whole numbers, so its tail is
        taken there too (it is an incomplete gamma function): where the variance is far below 1,
        whole steps would make the next whole number look rare even if it is what chance nearly
        always gives.
        """
        return self._chance_of(self.hits) if self.people else math.nan

    def _chance_of(self, hits: int) -> float:
        """Return how often chance alone gets at least so many right."""
        if hits - self.expected <= _ROUNDING * max(self.expected, 1.0):
            return 1.0
        from scipy.special import gammainc

        mean = max(self.variance, _ROUNDING) / self.step**2
        return float(gammainc((hits - self.expected) / self.step + mean, mean))

    def limit(self, level: float) -> float:
        """Return so many hits that chance alone exceeds them with at most this probability."""
        if not self.people:
            return math.nan
        mean = max(self.variance, _ROUNDING) / self.step**2
        steps = poisson_limit(level, mean) + 1 - mean
        most = min(math.ceil(self.expected + self.step * steps), self.people)
        while most > self.expected and self._chance_of(most) <= level:
            most -= 1
        return float(most)


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
    where d is a less the means of its row and column, plus the mean of all; the third moment is
    n sum d(i, j)^3 / ((n - 1) (n - 2)). A Poisson distribution in steps of s has s times its
    variance there, which gives the step, from one to two hits.

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
        # What the guesses that are right for each person are worth together.
        worth = np.bincount(guesses + 1, rows, minlength=int(truths.max()) + 2)[truths + 1]
    else:
        hits, rows, columns = _shares_of_near(guesses, truths, number)
        first, last = number.code_limits
        low, high = first[truths].astype(np.int64), last[truths].astype(np.int64)
        said = guesses >= 0
        by_code = np.bincount(guesses[said], rows[said], minlength=len(number.numbers))
        below = np.concatenate([[0.0], np.cumsum(by_code)])
        worth = np.where(low <= high, below[high + 1] - below[low], 0.0)
    mean = float(rows.mean())
    squares = total * (total * mean - float((rows**2).sum()) - float((columns**2).sum()))
    spread = max(squares + total**2 * mean**2, 0.0) / max(total - 1, 1)
    third = _third_moment(rows, columns, float(columns @ worth))
    step = third / spread if spread > _ROUNDING else 1.0
    return Agreement(total, hits, total * mean, spread, min(max(step, 1.0), 2.0))


def _third_moment(rows: Shares, columns: Shares, product: float) -> float:
    """Return the third central moment of the hits of guesses that are dealt out at random.

    `rows` and `columns` are the means of a(i, j), as in `agreement`, and `product` is the sum of
    a(i, j) times the means of its row and its column.
    """
    total = len(rows)
    if total < 3:
        return 0.0
    mean = float(rows.mean())
    # With u the sum of both means less that of all, d = a - u, and a is 0 or 1, so that
    # d^3 = a (1 - 3 u + 3 u^2) - u^3.
    one, other = rows - mean, columns
    r1, r2, r3 = (float((one**power).sum()) for power in (1, 2, 3))
    c1, c2, c3 = (float((other**power).sum()) for power in (1, 2, 3))
    # Sums over all pairs of a, a u, a u^2 and u^3; a sums to `total` times a mean in each row.
    hits = total**2 * mean
    in_rows = [total * float((one**power) @ rows) for power in (1, 2)]
    in_columns = [total * float((other**power) @ columns) for power in (1, 2)]
    mixed = product - mean * total * float(columns @ columns)
    firsts = in_rows[0] + in_columns[0]
    seconds = in_rows[1] + in_columns[1] + 2 * mixed
    cubes = total * (r3 + c3) + 3 * (r2 * c1 + r1 * c2)
    return total / ((total - 1) * (total - 2)) * (hits - 3 * firsts + 3 * seconds - cubes)


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


def gain_error(
    right: Codes | NDArray[np.bool_],
    truths: Codes,
    zero_rule: float,
    weights: Codes | None = None,
    number: NumberTarget | None = None,
) -> float:
    """Return the standard error of a gain over the best constant guess, for the same people.

    Only those count for whom just one of both is right. Of numbers, who is near the best constant
    is taken to have nothing to do with who is guessed.

    Examples
    --------
    >>> truths = np.repeat([0, 1], [75, 25])
    >>> always, also = truths == 0, np.arange(100) < 79  # four people more are right
    >>> gain_error(always, truths, 0.75), round(gain_error(also, truths, 0.75), 4)
    (0.0, 0.0196)
    """
    counts = np.ones(len(truths), np.int64) if weights is None else weights
    total = int(counts.sum())
    if not total:
        return math.nan
    share = float(counts @ right) / total
    if number is None:
        constant = truths == np.bincount(truths.astype(np.int64), counts).argmax()
        either = float(counts @ (constant != right)) / total
    else:
        either = share + zero_rule - 2 * share * zero_rule
    return math.sqrt(max(either - (share - zero_rule) ** 2, 0.0) / total)


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
