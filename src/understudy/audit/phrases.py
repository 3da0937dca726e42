"""How figures are put into sentences, so that the same figure reads the same everywhere."""

from __future__ import annotations

import math
from collections.abc import Sequence

from understudy.wording import percent

__all__ = ["column", "count_of", "ended", "listed", "percent", "points", "scale"]


def points(share: float) -> str:
    """Return the difference of two shares, without its sign, in percentage points.

    Examples
    --------
    >>> points(0.0743), points(-0.01)
    ('7.4 points', '1.0 points')
    """
    return f"{abs(100 * share):.1f} points"


def count_of(count: float) -> str:
    """Return a number of people in words.

    Examples
    --------
    >>> count_of(1), count_of(1473.2)
    ('1 person', '1,473 people')
    """
    rounded = round(count)
    return "1 person" if rounded == 1 else f"{rounded:,} people"


def scale(bits: float) -> str:
    """Return how many times as probable something becomes by so many bits.

    Examples
    --------
    >>> scale(0.2802), scale(1), scale(13.16)
    ('1.2 times', '2.0 times', '9,153 times')
    """
    times = 2.0**bits if bits < 1000 else math.inf
    return f"{times:.1f} times" if times < 100 else f"{times:,.0f} times"


def listed(names: Sequence[str]) -> str:
    """Return names for a sentence.

    Examples
    --------
    >>> listed(["age"]), listed(["age", "sex", "job"]), listed([])
    ('age', 'age, sex and job', '')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def column(name: str) -> str:
    """Return a column's name for a sentence, or words for a column that was not named."""
    return name or "the sensitive column"


def ended(reason: str) -> str:
    """Return a reason as the end of a sentence: with one full stop.

    Examples
    --------
    >>> ended("no key matches"), ended("no key matches.")
    ('no key matches.', 'no key matches.')
    """
    return reason.strip().rstrip(".") + "."
