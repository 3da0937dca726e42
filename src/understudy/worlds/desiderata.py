"""What a valid measure of risk must do, D1 to D5, decided from its scores in known worlds.

A score is that of one release. Its scale has a maximum and a baseline, the score without a
release; see `worlds.measures`. The worlds are listed in `worlds.releases`. Means over releases
that are drawn by chance are compared with two allowances: a difference counts if it is more than
`ERRORS` standard errors and more than `SLIGHT`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from understudy.wording import listed
from understudy.worlds.measures import Measure
from understudy.worlds.releases import CERTAIN, NOISE_STEPS, UNINFORMATIVE

ERRORS = 3
"""Chance alone exceeds so many standard errors in one of 360 comparisons of 30 equal releases."""
SLIGHT = 0.01
"""A hundredth of the scale: less than this is no gain, and no rise."""
_EXACT = 1e-12

DESIDERATA = {
    "D1": "certain disclosure gives the maximum",
    "D2": "noise does not raise it",
    "D3": "no gain without information",
    "D4": "it rises with the information",
    "D5": "a low value does not reassure falsely",
}

Scores = Mapping[str, NDArray[np.float64]]
"""The scores of one measure in each world, by the number of the release."""


@dataclass(frozen=True)
class Verdict:
    """Whether a measure does what is asked of it.

    Parameters
    ----------
    desideratum : str
        One of `DESIDERATA`.
    passed : bool
        Whether it does.
    why : str
        What decided, in one sentence.
    numbers : mapping from str to float
        The figures that decided.
    """

    desideratum: str
    passed: bool
    why: str
    numbers: Mapping[str, float]


def judge(measure: Measure, scores: Scores) -> tuple[Verdict, ...]:
    """Return the verdicts on a measure, in the order of `DESIDERATA`."""
    return (
        certain_is_maximal(measure, scores),
        noise_does_not_raise(scores),
        nothing_is_no_gain(measure, scores),
        rises_with_information(scores),
        low_is_no_false_reassurance(measure, scores),
    )


def certain_is_maximal(measure: Measure, scores: Scores) -> Verdict:
    """D1: in every release that makes the truth certain, the score is its maximum.

    The record is certain in a copy, and in a synthesis by CART that holds it: no other record can
    have been there. For the score of a whole table only the copy counts, in which all records are
    certain: a mean over all cannot be expected to show one.
    """
    worlds = CERTAIN if measure.about == "record" else ("copy",)
    found = np.concatenate([scores[world] for world in worlds])
    reached = found >= measure.maximum - _EXACT
    where = f"the {len(found)} releases" if len(found) > 1 else "the copy"
    whose = "of the record" if measure.about == "record" else "of all records"
    why = (
        f"The truth {whose} is certain in {where}, and the score is "
        f"{_range(found)} where the maximum is {measure.maximum:g}."
    )
    return Verdict(
        "D1", bool(reached.all()), why, {"lowest": found.min(), "maximum": measure.maximum}
    )


def noise_does_not_raise(scores: Scores) -> Verdict:
    """D2: with more noise, the mean score is not higher than with less.

    Every two steps are compared, so that a rise by many small steps counts as well, and releases in
    pairs: the same draw with less and with more of its values replaced.
    """
    means = {step: float(scores[step].mean()) for step in NOISE_STEPS}
    rises = {}
    for less, more in combinations(NOISE_STEPS, 2):
        differences = scores[more] - scores[less]
        rise, error = float(differences.mean()), _standard_error(differences)
        if rise > max(ERRORS * error, SLIGHT):
            rises[rise] = f"from {less} to {more}"
    found = ", ".join(f"{mean:.3f}" for mean in means.values())
    steps = f"From {NOISE_STEPS[0]} to {NOISE_STEPS[-1]}, the mean score is {found}"
    if not rises:
        return Verdict("D2", True, f"{steps}: it does not rise.", means)
    largest = max(rises)
    return Verdict("D2", False, f"{steps}: it rises by {largest:.3f} {rises[largest]}.", means)


def nothing_is_no_gain(measure: Measure, scores: Scores) -> Verdict:
    """D3: where a release tells nothing of the record, the mean score is not above the baseline.

    A release with a constant target is still a synthesis of the keys, and tells a little of these.
    That is why `SLIGHT` is allowed, and not the standard errors alone.
    """
    means = {world: float(scores[world].mean()) for world in UNINFORMATIVE}
    above = [
        world
        for world, mean in means.items()
        if mean - measure.baseline > max(ERRORS * _standard_error(scores[world]), SLIGHT)
    ]
    found = ", ".join(f"{world} {mean:.3f}" for world, mean in means.items())
    told = f"Without the release the score is {measure.baseline:.3f}; mean with it: {found}"
    numbers = means | {"baseline": measure.baseline}
    if not above:
        return Verdict("D3", True, f"{told}.", numbers)
    return Verdict("D3", False, f"{told}: a gain for {listed(above)}.", numbers)


def rises_with_information(scores: Scores) -> Verdict:
    """D4: the mean score is higher where the release holds the record than where it tells less.

    That is, higher than in syntheses that do not hold it, and than in each world whose releases
    tell nothing.
    """
    held = scores["present"]
    means = {world: float(scores[world].mean()) for world in ("present", "absent", *UNINFORMATIVE)}
    not_below = []
    for world in ("absent", *UNINFORMATIVE):
        error = math.hypot(_standard_error(held), _standard_error(scores[world]))
        if means["present"] - means[world] <= ERRORS * error:
            not_below.append(world)
    others = ", ".join(f"{world} {mean:.3f}" for world, mean in means.items() if world != "present")
    told = f"The mean is {means['present']:.3f} where the record is present; {others}"
    if not not_below:
        return Verdict("D4", True, f"{told}: lower in each.", means)
    return Verdict("D4", False, f"{told}: not lower for {listed(not_below)}.", means)


def low_is_no_false_reassurance(measure: Measure, scores: Scores) -> Verdict:
    """D5: in no release that makes the truth certain is the score at or below its baseline.

    A score of the whole table need not be high because of one record, but it must show that there
    is something to find.
    """
    found = np.concatenate([scores[world] for world in CERTAIN])
    low = int(np.count_nonzero(found <= measure.baseline + _EXACT))
    how = f"no higher in {low}" if low else "higher in all"
    why = (
        f"Without the release the score is {measure.baseline:.3f}; it is {how} of the {len(found)} "
        f"releases that make the record certain: {_range(found)}."
    )
    return Verdict("D5", not low, why, {"lowest": found.min(), "baseline": measure.baseline})


def _standard_error(values: NDArray[np.float64]) -> float:
    """Return the standard error of a mean; 0 for a single value, which is not drawn by chance."""
    if len(values) < 2:
        return 0.0
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def _range(values: NDArray[np.float64]) -> str:
    low, high = f"{values.min():.3f}", f"{values.max():.3f}"
    return low if low == high else f"{low} to {high}"
