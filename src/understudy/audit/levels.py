"""What counts as a gain: the measures that decide the level of a release, and their limits.

A level never rests on the height of a measure, which is high for any value that most people
share. It rests on what the release adds to what is guessed without it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from understudy.audit.findings import Figure, Findings, ReleaseFindings, StrongFindings
from understudy.audit.measures import main_figures

Level = Literal["low", "raised", "high", "unknown"]
Size = Literal["none", "some", "large", "unknown"]

STANDARD_ERRORS = 2.0
"""A gain within so many standard errors of 0 counts as none.

If the release told nothing, the share of correct guesses among n people would still vary about the
baseline b, with the standard error sqrt(b (1 - b) / n); it stays within two of them 19 times out
of 20. A wider limit would call gains none that are most likely real.
"""
LARGE_GAIN = 0.10
"""A gain of this share of all people is large: one in ten is guessed who was not before."""
LARGE_SHARE = 0.25
"""So is one that corrects this share of the guesses that were wrong without the release.

Where nearly everybody has the same value, few are left to learn something about, and they are
those with the rare value. A small gain over all people may then be most of these.
"""
DOUBLED_BITS = 1.0
"""The strong attacker counts from so many bits for one person: the truth is twice as probable.

A person is not helped by a low mean, so the largest gain counts. Releases whose sensitive column
was cut loose stay well below (0.3 bits on the bundled survey), those of single cells far above.
"""
COPIED = 0.9
"""A release that holds this share of the original's one-of-a-kind records is a copy of it.

A model that draws from the records themselves gives back 63% of them at most: each of n draws
misses a record with probability 1 - 1/n.
"""
ENOUGH_TO_COPY = 20
"""One-of-a-kind records from which such a share means something."""
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


@dataclass(frozen=True)
class Evidence:
    """What decides the level of one release.

    Parameters
    ----------
    level : {"low", "raised", "high", "unknown"}
        The level.
    gains : tuple of Gain
        The main measures that were run.
    certain : int or None
        People who are certain to be disclosed; None if that is not known.
    doubled : bool
        Whether the strong attacker's belief in somebody's true value has doubled.
    copy : bool
        Whether the release holds nearly all of the original's one-of-a-kind records.
    """

    level: Level
    gains: tuple[Gain, ...]
    certain: int | None
    doubled: bool
    copy: bool = False

    @property
    def too_few(self) -> bool:
        """Whether chance alone explains what would be a large gain, by every main measure."""
        known = [one for one in self.gains if one.size != "unknown" and one.figure.baseline < 1]
        return bool(known) and all(one.noise >= large_gain(one.figure.baseline) for one in known)

    @property
    def largest(self) -> Gain | None:
        """The main measure with the largest gain; None if none is defined."""
        known = [one for one in self.gains if one.size != "unknown"]
        return max(known, key=lambda one: one.gain, default=None)


def noise_of(share: float, records: int) -> float:
    """Return the gain that chance explains: two standard errors of a share of so many records.

    Examples
    --------
    >>> round(noise_of(0.5, 100), 6), noise_of(1.0, 100), noise_of(0.5, 0)
    (0.1, 0.0, nan)
    """
    if not records or math.isnan(share):
        return math.nan
    within = min(max(share, 0.0), 1.0)
    return STANDARD_ERRORS * math.sqrt(within * (1 - within) / records)


def size_of(baseline: float, gain: float, records: int) -> Size:
    """Return how much a gain over a baseline is, among so many records.

    Examples
    --------
    >>> size_of(0.5, 0.09, 100), size_of(0.5, 0.09, 10_000), size_of(0.9, 0.03, 10_000)
    ('none', 'some', 'large')

    Chance explains the gain of one person, but it is half of those with a rare value:

    >>> size_of(0.998, 0.001, 1_000)
    'some'
    """
    noise = noise_of(baseline, records)
    if math.isnan(gain) or math.isnan(noise):
        return "unknown"
    if gain <= noise + _ROUNDING:
        of_few = gain >= LARGE_SHARE * (1 - baseline) - _ROUNDING and gain * records >= 1 - 1e-6
        return "some" if of_few else "none"
    return "large" if gain >= large_gain(baseline) - _ROUNDING else "some"


def large_gain(baseline: float) -> float:
    """Return the gain over a baseline from which it is large."""
    return min(LARGE_GAIN, LARGE_SHARE * (1 - baseline))


def gain_of(figure: Figure, records: int) -> Gain:
    """Return how much a measure gains."""
    gain = figure.synthetic - figure.baseline if math.isnan(figure.gain) else figure.gain
    size = size_of(figure.baseline, gain, records)
    return Gain(figure, gain, gain * records, noise_of(figure.baseline, records), size)


def strong_size(strong: StrongFindings) -> Size:
    """Return how much the strong attacker's share of correct guesses gains; see `uniform_prior`."""
    gain = strong.accuracy_after - strong.accuracy_before
    return size_of(strong.accuracy_before, gain, strong.records)


def uniform_prior(strong: StrongFindings) -> bool:
    """Tell whether all values were alike before the release.

    Then the first guess is no guess, and the smallest hint turns it: shares of correct guesses jump
    where hardly anything was learnt. Only the bits tell.
    """
    return strong.prior == "uniform"


def weigh(findings: Findings, release: ReleaseFindings) -> Evidence:
    """Weigh what decides the level of a release.

    It is high if anybody is certain to be disclosed or a gain is large; raised if a gain is more
    than chance explains, or the strong attacker's belief in somebody's true value has doubled;
    unknown if neither of the main measures is known, or there are too few people to tell; and low
    if nothing of this holds. A release that is a copy of the original is high, whatever the keys.
    """
    figures = [release.figure(measure) for measure in main_figures("ordinary")]
    gains = tuple(gain_of(one, findings.rows) for one in figures if one is not None)
    sizes = {one.size for one in gains}
    strong = release.strong
    doubled = False
    if strong is not None:
        doubled = strong.max_gain_bits >= DOUBLED_BITS
        if not uniform_prior(strong):
            sizes.add(strong_size(strong))
    certain = strong.certain if strong is not None else None
    copy = release.one_of_a_kind >= ENOUGH_TO_COPY and release.copied >= COPIED
    evidence = Evidence("low", gains, certain, doubled, copy)
    level: Level = "low"
    if certain or copy or "large" in sizes:
        level = "high"
    elif doubled or "some" in sizes:
        level = "raised"
    elif all(one.size == "unknown" for one in gains) or evidence.too_few:
        level = "unknown"
    return replace(evidence, level=level)
