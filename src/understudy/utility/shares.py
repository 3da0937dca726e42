"""How each column is distributed in both tables, in labels that the release itself shows.

Limits of groups come from the release, too: what only the original holds is one last label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Codes
from understudy.data.groups import Grouping, round_groups
from understudy.data.joint_coding import CodedTables
from understudy.data.levels import Levels
from understudy.utility.tables import compared
from understudy.wording import counted

NOT_SHOWN = "not in the release"
MOST_LABELS = 20
"""A column with more different values is put into groups, or its rare values are put together."""
_RUNS = 12
"""Into how many groups of neighbours dates and times are put."""


@dataclass(frozen=True)
class ColumnShares:
    """How a column is distributed: labels that the release shows, and the shares of each.

    What the original has and the release does not is one last label, "not in the release".
    """

    column: str
    labels: tuple[str, ...]
    original: tuple[float, ...]
    synthetic: tuple[float, ...]


def column_shares_of(
    tables: CodedTables, columns: Sequence[str] | None = None, *, fewest: int = 1
) -> tuple[ColumnShares, ...]:
    """Return the shares of the values of each column, all by default, in original and release.

    Values that fewer than `fewest` records of the original have, but some, are put together
    without their names, and then no label says where a column of dates begins and ends.

    Examples
    --------
    >>> import polars as pl
    >>> frames = {"original": pl.DataFrame({"sex": ["f", "m", "x", "f"]}),
    ...           "synthetic": pl.DataFrame({"sex": ["f", "m"]})}
    >>> column_shares_of(CodedTables.of(frames))[0].labels
    ('f', 'm', 'not in the release')
    """
    both = compared(tables, columns)
    return tuple(
        _shares(name, both.levels[name], both["original"][name], both["synthetic"][name], fewest)
        for name in both.columns
    )


def _shares(
    name: str, levels: Levels, original: Codes, synthetic: Codes, fewest: int
) -> ColumnShares:
    counts = np.bincount(synthetic, minlength=len(levels))
    shown = np.flatnonzero(counts)
    people = np.bincount(original, minlength=len(levels))
    few = (people > 0) & (people < fewest)
    if levels.missing is not None:
        few[levels.missing] = False
    found = _labelled(levels, counts, shown, few, ends=fewest <= 1)
    labels = [*found.names, NOT_SHOWN]
    place = np.where(found.place < 0, len(labels) - 1, found.place)
    before, after = (
        np.bincount(place[codes], minlength=len(labels)) / len(codes)
        for codes in (original, synthetic)
    )
    if not before[-1]:
        labels, before, after = labels[:-1], before[:-1], after[:-1]
    return ColumnShares(name, tuple(labels), tuple(before.tolist()), tuple(after.tolist()))


def _labelled(
    levels: Levels,
    counts: NDArray[np.int64],
    shown: NDArray[np.intp],
    few: NDArray[np.bool_],
    *,
    ends: bool,
) -> Grouping:
    if len(shown) <= MOST_LABELS:
        return _together(_by_value(levels, shown[~few[shown]]), (counts > 0) & few)
    if levels.numbers is None and not levels.are_times:
        return _by_frequency(levels, counts, few)
    found = (
        _by_runs(levels, shown, ends=ends)
        if levels.numbers is None
        else round_groups(levels, counts)
    )
    if levels.missing is None or not counts[levels.missing]:
        return found
    found.place[levels.missing] = len(found.names)
    return Grouping(found.place, [*found.names, levels.label(levels.missing)])


def _by_value(levels: Levels, shown: NDArray[np.intp]) -> Grouping:
    place = np.full(len(levels), -1, np.int64)
    place[shown] = np.arange(len(shown))
    return Grouping(place, levels.labels_of(shown))


def _by_frequency(levels: Levels, counts: NDArray[np.int64], few: NDArray[np.bool_]) -> Grouping:
    """Keep the most frequent labels of the release, and put its others together."""
    order = np.argsort(-np.where(few, 0, counts), kind="stable")
    kept = np.sort(order[: MOST_LABELS - 1])
    kept = kept[(counts[kept] > 0) & ~few[kept]]
    found = _by_value(levels, kept)
    return _together(found, (counts > 0) & (found.place < 0))


def _together(found: Grouping, rest: NDArray[np.bool_]) -> Grouping:
    """Give all of some values one more label, which names none of them."""
    if not rest.any():
        return found
    found.place[rest] = len(found.names)
    return Grouping(found.place, [*found.names, counted(int(rest.sum()), "other value")])


def _by_runs(levels: Levels, shown: NDArray[np.intp], *, ends: bool) -> Grouping:
    """Put ordered values that are no numbers into groups of neighbours, named by their ends.

    The first value of all and the last are named only if `ends` may be.
    """
    known = shown[shown != (-1 if levels.missing is None else levels.missing)]
    place = np.full(len(levels), -1, np.int64)
    labels: list[str] = []
    for run in np.array_split(known, _RUNS):
        first, last = int(run[0]), int(run[-1])
        place[first : last + 1] = len(labels)
        labels.append(" to ".join(levels.labels_of([first, last])))
    if not ends:
        first, last = int(known[0]), int(known[-1])
        labels[0] = f"up to {labels[0].removeprefix(f'{levels.label(first)} to ')}"
        labels[-1] = f"from {labels[-1].removesuffix(f' to {levels.label(last)}')}"
    # What lies between two groups is shown by neither, and inside the release all the same.
    inside = np.arange(int(known[0]), int(known[-1]) + 1)
    gaps = inside[place[inside] < 0]
    place[gaps] = place[known[np.searchsorted(known, gaps) - 1]]
    return Grouping(place, labels)
