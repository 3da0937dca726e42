"""How much a gain is, and how serious.

A level never rests on the height of a measure, which is high for any value that most people
share. It rests on what the release adds to what is guessed without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from understudy.audit.findings import Figure, StrongFindings
from understudy.audit.limits import Limits

Level = Literal["low", "raised", "high", "not measured"]
Size = Literal["none", "some", "large", "unknown"]

LEVELS: tuple[Level, ...] = ("high", "raised", "not measured", "low")
"""The most serious first. What was not measured may hide anything: it is never taken for low."""
_DEFAULT = Limits()
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Gain:
    """What the release adds to the guesses of one attacker, and how much that is.

    Parameters
    ----------
    figure : Figure
        The measure.
    gain : float
        What it adds to the baseline; nan if undefined.
    people : float
        The gain as a number of people.
    noise : float
        What chance explains.
    size : {"none", "some", "large", "unknown"}
        How much it is.
    """

    figure: Figure
    gain: float
    people: float
    noise: float
    size: Size


def size_of(baseline: float, gain: float, records: int, limits: Limits = _DEFAULT) -> Size:
    """Return how much a gain over a baseline is, among so many records.

    Examples
    --------
    >>> size_of(0.5, 0.09, 100), size_of(0.5, 0.09, 10_000), size_of(0.9, 0.03, 10_000)
    ('none', 'some', 'large')

    Chance explains the gain of one person, but it is half of those with a rare value:

    >>> size_of(0.998, 0.001, 1_000)
    'some'
    """
    noise = limits.noise(baseline, records)
    if math.isnan(gain) or math.isnan(noise):
        return "unknown"
    if gain <= noise + _ROUNDING:
        missed = limits.large_share * (1 - baseline)
        of_few = gain >= missed - _ROUNDING and gain * records >= 1 - 1e-6
        return "some" if of_few else "none"
    return "large" if gain >= limits.large(baseline) - _ROUNDING else "some"


def worst_of(levels: Iterable[Level]) -> Level:
    """Return the most serious level; "not measured" if there is none.

    Examples
    --------
    >>> worst_of(["low", "raised"]), worst_of(["low", "not measured"]), worst_of([])
    ('raised', 'not measured', 'not measured')
    """
    return min(levels, key=LEVELS.index, default="not measured")


def gain_of(figure: Figure, records: int, limits: Limits = _DEFAULT) -> Gain:
    """Return how much a measure gains."""
    gain = figure.synthetic - figure.baseline if math.isnan(figure.gain) else figure.gain
    size = size_of(figure.baseline, gain, records, limits)
    return Gain(figure, gain, gain * records, limits.noise(figure.baseline, records), size)


def strong_size(strong: StrongFindings, limits: Limits = _DEFAULT) -> Size:
    """Return how much the strong attacker's share of correct guesses gains; see `uniform_prior`."""
    gain = strong.accuracy_after - strong.accuracy_before
    return size_of(strong.accuracy_before, gain, strong.records, limits)


def uniform_prior(strong: StrongFindings) -> bool:
    """Tell whether all values were alike before the release.

    Then the first guess is no guess, and the smallest hint turns it: shares of correct guesses jump
    where hardly anything was learnt. Only the bits tell.
    """
    return strong.prior == "uniform"
