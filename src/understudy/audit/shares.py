"""How each column is distributed in both tables, in labels that the release itself shows.

Limits of groups come from the release, too: what only the original holds is one last label.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from understudy.audit.findings import ColumnShares
from understudy.data.coded import Codes
from understudy.data.frames import Frame
from understudy.data.joint_coding import code_together
from understudy.data.levels import Levels, in_words

NOT_SHOWN = "not in the release"
MOST_LABELS = 20
"""A column with more different values is put into groups, or its rare values are put together."""
_GROUPS = 12
_FREQUENT = 0.1
"""A number that so large a share of the release has is a label of its own."""


def column_shares(
    original: Frame, synthetic: Frame, columns: Sequence[str]
) -> tuple[ColumnShares, ...]:
    """Return the shares of the values of each column in the original and in a release.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"sex": ["f", "m", "x", "f"]})
    >>> column_shares(original, pl.DataFrame({"sex": ["f", "m"]}), ["sex"])[0].labels
    ('f', 'm', 'not in the release')
    """
    together = code_together({"original": original, "synthetic": synthetic}, columns)
    return tuple(
        _shares(
            name, together.levels[name], together["original"][name], together["synthetic"][name]
        )
        for name in columns
    )


@dataclass(frozen=True, eq=False)
class _Labelled:
    """Labels, and which of them each level has; -1 for those that the release does not show."""

    labels: list[str]
    place: NDArray[np.int64]


def _shares(name: str, levels: Levels, original: Codes, synthetic: Codes) -> ColumnShares:
    counts = np.bincount(synthetic, minlength=len(levels))
    shown = np.flatnonzero(counts)
    if len(shown) <= MOST_LABELS:
        found = _by_value(levels, shown)
    elif levels.numbers is not None:
        found = _by_limits(levels, levels.numbers, counts)
    elif any(isinstance(value, dt.date | dt.time | dt.timedelta) for value in levels.values):
        found = _by_runs(levels, shown)
    else:
        found = _by_frequency(levels, counts)
    labels = [*found.labels, NOT_SHOWN]
    place = np.where(found.place < 0, len(labels) - 1, found.place)
    before, after = (
        np.bincount(place[codes], minlength=len(labels)) / len(codes)
        for codes in (original, synthetic)
    )
    if not before[-1]:
        labels, before, after = labels[:-1], before[:-1], after[:-1]
    return ColumnShares(name, tuple(labels), tuple(before.tolist()), tuple(after.tolist()))


def _by_value(levels: Levels, shown: NDArray[np.int64]) -> _Labelled:
    place = np.full(len(levels), -1, np.int64)
    place[shown] = np.arange(len(shown))
    return _Labelled([levels.labels[code] for code in shown.tolist()], place)


def _by_frequency(levels: Levels, counts: NDArray[np.int64]) -> _Labelled:
    """Keep the most frequent labels of the release, and put its others together."""
    order = np.argsort(-counts, kind="stable")
    kept = np.sort(order[: MOST_LABELS - 1])
    found = _by_value(levels, kept)
    rest = (counts > 0) & (found.place < 0)
    found.place[rest] = len(kept)
    return _Labelled([*found.labels, f"{int(rest.sum()):,} other values"], found.place)


def _by_runs(levels: Levels, shown: NDArray[np.int64]) -> _Labelled:
    """Put ordered values that are no numbers into groups of neighbours, named by their ends."""
    missing = levels.missing
    known = shown[shown != missing] if missing is not None else shown
    place = np.full(len(levels), -1, np.int64)
    labels: list[str] = []
    for run in np.array_split(known, _GROUPS):
        first, last = int(run[0]), int(run[-1])
        place[first : last + 1] = len(labels)
        labels.append(f"{levels.labels[first]} to {levels.labels[last]}")
    # What lies between two groups is shown by neither, and inside the release all the same.
    inside = np.arange(int(known[0]), int(known[-1]) + 1)
    gaps = inside[place[inside] < 0]
    place[gaps] = place[known[np.searchsorted(known, gaps) - 1]]
    return _with_missing(levels, shown, labels, place)


def _by_limits(
    levels: Levels, numbers: NDArray[np.float64], counts: NDArray[np.int64]
) -> _Labelled:
    """Put numbers into groups of the same width, between limits that the release decides."""
    finite = np.isfinite(numbers)
    held = finite & (counts > 0)
    own = (counts > 0) & (~finite | (counts > _FREQUENT * counts.sum()))
    if levels.missing is not None:
        own[levels.missing] = False
    rest = np.repeat(numbers[held & ~own], counts[held & ~own])
    limits = _round_limits(rest)
    labels = [levels.labels[code] for code in np.flatnonzero(own).tolist()]
    place = np.full(len(levels), -1, np.int64)
    low, high = numbers[held].min(), numbers[held].max()
    inside = finite & (numbers >= low) & (numbers <= high)
    place[inside] = len(labels) + np.searchsorted(limits, numbers[inside], side="right")
    groups = _limit_labels([in_words(limit) for limit in limits.tolist()])
    for code in np.flatnonzero(own & finite).tolist():
        groups[place[code] - len(labels)] += f", not {levels.labels[code]}"
    place[own] = np.arange(len(labels))
    labels += groups
    return _with_missing(levels, np.flatnonzero(counts), labels, place)


def _round_limits(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return round numbers that cut the middle 98 % of the values into about 12 pieces."""
    low, high = np.quantile(values, [0.01, 0.99])
    least = (high - low) / _GROUPS
    if not least > 0 or not math.isfinite(least):
        return np.array([low])
    power = 10.0 ** math.floor(math.log10(least))
    step = next(power * unit for unit in (1, 2, 5, 10) if power * unit >= least * (1 - 1e-9))
    if bool(np.all(np.floor(values) == values)):
        step = max(step, 1.0)
    limits: NDArray[np.float64] = np.arange(math.floor(low / step) + 1, high / step) * step
    digits = max(0, -math.floor(math.log10(step)))
    return np.unique(limits.round(digits)) if len(limits) else np.array([round(low, digits)])


def _limit_labels(limits: Sequence[str]) -> list[str]:
    between = [f"{low} to below {high}" for low, high in pairwise(limits)]
    return [f"below {limits[0]}", *between, f"{limits[-1]} and more"]


def _with_missing(
    levels: Levels, shown: NDArray[np.int64], labels: list[str], place: NDArray[np.int64]
) -> _Labelled:
    if levels.missing is not None:
        place[levels.missing] = len(labels) if levels.missing in shown else -1
        labels = [*labels, levels.labels[levels.missing]] if levels.missing in shown else labels
    return _Labelled(labels, place)
