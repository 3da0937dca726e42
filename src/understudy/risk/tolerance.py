"""When a guess of a number or a date is close enough, and what a constant guess then reaches."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, cast, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.arguments import is_number
from understudy.data.groups import numbers_of
from understudy.data.levels import Levels
from understudy.errors import ParameterError
from understudy.risk.scenario import Baseline

Numbers = NDArray[np.float64]
Kind = Literal["ranks", "absolute", "relative"]

FEW_NUMBERS = 20
"""Numbers with no more different values than this count as categories: codes, grades, children.

Each is then the value of a twentieth of the records or more, on average, which is as much as the
standard tolerance allows.
"""
_EXACT: Literal["exact"] = "exact"
# A limit that is hit exactly in decimals may be missed by the last bits: 0.8 - 0.1 > 0.7.
_LAST_BITS = 8 * np.finfo(np.float64).eps
_UNITS_A_DAY = {"ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


@dataclass(frozen=True)
class Tolerance:
    """How far from the truth a guess of a number or a date may be, and still be right.

    Parameters
    ----------
    size : float
        The limit. For ranks it is a share of the original's records, and a guess is right if fewer
        records than this lie between it and the truth. For the others it is the largest difference
        that is right: of dates in days.
    kind : {"absolute", "relative", "ranks"}
        Whether it is the same for all numbers, a share of the true number's size, or a share of
        the records.

    Examples
    --------
    >>> close = Tolerance(0.25, "ranks").among(np.array([1, 2, 3, 4, 5, 90, 95, 99.0]))
    >>> close.right(np.array([4.0, 5.0, 90.0]), np.full(3, 2.0)).tolist()  # 1, 2, 3 in between
    [True, False, False]
    """

    size: float
    kind: Kind = "absolute"

    def __post_init__(self) -> None:
        if not (is_number(self.size) and 0 <= self.size < math.inf):
            raise ParameterError(f"tolerance must be a number of at least 0; got {self.size!r}.")
        if self.kind not in get_args(Kind):
            kinds = ", ".join(get_args(Kind))
            raise ParameterError(
                f"The kind of tolerance must be one of {kinds}; got {self.kind!r}."
            )

    @classmethod
    def of(cls, wanted: object) -> Tolerance | Literal["exact"] | None:
        """Return what a user asks for: a tolerance, "exact", or None for what suits the values.

        A number is an absolute tolerance, and so is a `timedelta`. A text has a number and a kind.

        Examples
        --------
        >>> Tolerance.of("0.1 relative"), Tolerance.of(10)
        (Tolerance(size=0.1, kind='relative'), Tolerance(size=10.0, kind='absolute'))
        """
        if wanted is None or isinstance(wanted, Tolerance):
            return wanted
        if isinstance(wanted, dt.timedelta):
            return cls(wanted / dt.timedelta(days=1))
        if isinstance(wanted, str):
            return _from_text(wanted)
        if not is_number(wanted):
            raise ParameterError(f"tolerance must be a number of at least 0; got {wanted!r}.")
        return cls(float(cast("float", wanted)))

    def among(self, numbers: Numbers) -> Closeness:
        """Return the tolerance for an original with these numbers."""
        ranked = np.sort(numbers[~np.isnan(numbers)]) if self.kind == "ranks" else None
        return Closeness(self, ranked)

    def __str__(self) -> str:
        return f"{self.size:g} {self.kind}"

    def sentence(self) -> str:
        """Say when a guess is right.

        Examples
        --------
        >>> Tolerance(0.05, "ranks").sentence()
        "A guess is right if fewer than 5% of the original's records lie between it and the truth."
        """
        share = f"{100 * self.size:g}%"
        if self.kind == "ranks":
            return (
                f"A guess is right if fewer than {share} of the original's records lie between it "
                "and the truth."
            )
        most = f"{share} of the true number" if self.kind == "relative" else f"{self.size:g}"
        return f"A guess is right if it is off by at most {most}."


STANDARD = Tolerance(0.05, "ranks")
"""The tolerance for numbers and dates if nothing else is asked for."""


def _from_text(wanted: str) -> Tolerance | Literal["exact"]:
    words = wanted.split()
    if words == [_EXACT]:
        return _EXACT
    number, kind = (*words, "absolute")[:2] if 0 < len(words) < 3 else ("", "")
    try:
        size = float(number)
    except ValueError:
        size = math.nan
    if kind not in get_args(Kind) or math.isnan(size):
        raise ParameterError(
            "tolerance must be a number, 'exact', or a number and its kind such as '0.05 ranks', "
            f"'0.1 relative' or '500 absolute'; got {wanted!r}."
        )
    return Tolerance(size, cast("Kind", kind))


@dataclass(frozen=True, eq=False)
class Closeness:
    """A tolerance for the numbers of one original.

    Parameters
    ----------
    tolerance : Tolerance
        What counts as close.
    ranked : ndarray of float64 or None
        The original's numbers, sorted; None unless the tolerance is in ranks.
    """

    tolerance: Tolerance
    ranked: Numbers | None = None

    def limits(self, truths: Numbers) -> tuple[Numbers, Numbers]:
        """Return the smallest and the largest right guess for each true number."""
        if self.ranked is not None:
            return self._limits_in_ranks(self.ranked, truths)
        size = self.tolerance.size
        relative = self.tolerance.kind == "relative"
        reach = size * np.abs(truths) if relative else np.full(len(truths), float(size))
        if size:
            reach = reach + _LAST_BITS * np.maximum(np.abs(truths), reach)
        return truths - reach, truths + reach

    def _limits_in_ranks(self, ranked: Numbers, truths: Numbers) -> tuple[Numbers, Numbers]:
        # So many records in between are too many. A share that is whole in decimals stays whole.
        many = math.ceil(round(self.tolerance.size * len(ranked), 9))
        ends = np.concatenate([[-np.inf], ranked, [np.inf]])
        below = np.searchsorted(ranked, truths, side="left")
        up_to = np.searchsorted(ranked, truths, side="right")
        low = ends[np.clip(below - many + 1, 0, len(ranked) + 1)]
        high = ends[np.clip(up_to + many, 0, len(ranked) + 1)]
        return np.minimum(low, truths), np.maximum(high, truths)

    def right(self, guesses: Numbers, truths: Numbers) -> NDArray[np.bool_]:
        """Tell which guesses are right."""
        low, high = self.limits(truths)
        return (low <= guesses) & (guesses <= high)

    def hits(self, guesses: Numbers, truths: Numbers) -> NDArray[np.int64]:
        """Return for how many of the true numbers each guess is right."""
        low, high = (np.sort(limit) for limit in self.limits(truths))
        found = np.searchsorted(low, guesses, side="right") - np.searchsorted(high, guesses)
        return found.astype(np.int64)

    def best_constant(self, numbers: Numbers) -> float:
        """Return the guess that is right for most of the numbers; of equals the lowest.

        Each number has an interval of right guesses. The best constant lies where the most of them
        overlap, and such a place is the lower end of one of them.
        """
        tried = np.maximum(self.limits(numbers)[0], numbers.min())
        hits = self.hits(tried, numbers)
        return float(tried[hits == hits.max()].min())

    def baseline(self, truths: Numbers, released: Numbers | None = None) -> Baseline:
        """Return how often guesses are right that know nothing but numbers of all people.

        Parameters
        ----------
        truths : ndarray of float64
            The true numbers.
        released : ndarray of float64, optional
            The release's numbers, for its own best constant.

        Examples
        --------
        >>> close = Tolerance(1).among(np.array([]))
        >>> found = close.baseline(np.array([1.0, 2.0, 3.0, 9.0]))  # 2 is near three of them
        >>> found.zero_rule, found.proportional
        (0.75, 0.5)
        """
        total = len(truths)
        if not total:
            return Baseline(math.nan, math.nan)
        best = self.best_constant(truths)
        tried = [np.array([best]), truths, np.unique(truths)]
        constant, drawn, each = (self.hits(guesses, truths) for guesses in tried)
        own = math.nan
        if released is not None and len(released):
            said = np.array([self.best_constant(released)])
            own = int(self.hits(said, truths)[0]) / total
        return Baseline(
            int(constant[0]) / total,
            int(drawn.sum()) / total**2,
            own,
            int(each.sum()) / (total * len(each)),
        )


@dataclass(frozen=True, eq=False)
class NumberTarget:
    """A sensitive attribute that is a number or a date, and when a guess of it is right.

    Parameters
    ----------
    numbers : ndarray of float64
        The number of each code of the column, in rising order; NaN for missing, which is the last.
    closeness : Closeness
        When a guess is right.
    """

    numbers: Numbers
    closeness: Closeness

    def known(self, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Tell which records have a number."""
        known: NDArray[np.bool_] = ~np.isnan(self.numbers[codes])
        return known

    @cached_property
    def code_limits(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The first and the last code that is a right guess, for each code."""
        known = self.numbers[~np.isnan(self.numbers)]
        low, high = self.closeness.limits(known)
        first = np.searchsorted(known, low, side="left").astype(np.int32)
        last = np.searchsorted(known, high, side="right").astype(np.int32) - 1
        # What is missing is within no limits.
        gaps = np.zeros(len(self.numbers) - len(known), np.int32)
        return np.concatenate([first, gaps]), np.concatenate([last, gaps - 1])


def number_target(
    name: str,
    levels: Levels,
    codes: NDArray[np.integer],
    wanted: object = None,
    *,
    grouped: bool = False,
) -> NumberTarget | None:
    """Return how close a guess of a column must be; None if only equal values are right.

    Parameters
    ----------
    name : str
        The column, for messages.
    levels, codes : Levels, ndarray
        Its levels, and the original's codes.
    wanted : Tolerance, number, str or None
        As `Tolerance.of` takes it. Without it, numbers with more than `FEW_NUMBERS` different
        values and all dates are guessed within `STANDARD`, and all else is guessed exactly.
    grouped : bool
        Whether the column is in groups, which are categories.
    """
    tolerance = Tolerance.of(wanted)
    if isinstance(tolerance, str) or (tolerance is None and grouped):
        return None
    numbers = sizes_of(levels)
    if tolerance is None:
        if numbers is None:
            return None
        own = np.unique(codes)
        different = int(np.count_nonzero(~np.isnan(numbers[own])))
        if not different or (levels.numbers is not None and different <= FEW_NUMBERS):
            return None
        tolerance = STANDARD
    elif numbers is None:
        raise ParameterError(f"{name!r} holds labels, and a tolerance needs numbers or dates.")
    elif tolerance.kind == "relative" and levels.numbers is None:
        raise ParameterError(
            f"{name!r} holds dates, which have no size to be relative to. Give the tolerance in "
            "ranks, or in days as an absolute one."
        )
    return NumberTarget(numbers, tolerance.among(numbers[codes]))


def sizes_of(levels: Levels) -> Numbers | None:
    """Return the number of each level, of dates in days; NaN for missing, None for labels.

    Examples
    --------
    >>> sizes_of(Levels((dt.date(1970, 1, 3), None), None, 1)).tolist()
    [2.0, nan]
    """
    if levels.numbers is not None or not levels.are_times:
        return levels.numbers
    if isinstance(levels.held, tuple):
        return _from_values(levels)
    held, kind = levels.held, levels.held.dtype
    unit = 1.0
    if isinstance(kind, pl.Datetime | pl.Duration):
        unit = float(_UNITS_A_DAY[kind.time_unit])
    elif kind == pl.Time:
        unit = float(_UNITS_A_DAY["ns"])
    return held.to_physical().cast(pl.Float64).fill_null(math.nan).to_numpy() / unit


def _from_values(levels: Levels) -> Numbers | None:
    start = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # only differences count
    sizes = np.full(len(levels), math.nan)
    for place, value in enumerate(levels.held):
        if isinstance(value, dt.datetime) and value.tzinfo is None:
            sizes[place] = (value - start) / dt.timedelta(days=1)
        elif isinstance(value, dt.date) and not isinstance(value, dt.datetime):
            sizes[place] = (value - start.date()) / dt.timedelta(days=1)
        elif value is not None:
            return numbers_of(levels)
    return sizes
