"""Which columns may follow from others, as far as a few records tell.

Records are sorted by the columns that may determine. What follows from them seldom changes between
neighbours that agree in these; most columns often do, and are discarded.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.data.dependencies.evidence import MOST_EXCEPTIONS
from understudy.data.dependencies.formulas import Floats
from understudy.data.dependencies.views import Codes, Views

By = tuple[str, ...]
"""One column, or two, that others may follow from."""
Values = NDArray[np.int32]
"""Codes of some columns, -1 where there is no value."""

_FIRST_ROWS = 500
_MOST_ROWS = 2_000
_AT_ONCE = 64
"""So many columns or pairs are sorted by at once: more would need much memory."""
_OF_CHANCE = 0.25
"""Of the changes that chance would bring, neighbours in a sample may show this share."""
_GLANCE = 64
"""Neighbours that are looked at first; a sample with fewer discards no candidate."""
_SPARED_AT_A_GLANCE = 4
"""Changes between these that are always spared."""
_SPARED = 2
"""The same among all neighbours of a sample."""
_SLACK = 4
"""In the sample, so many times the tolerated share of neighbours may differ."""


def shortlists(views: Views, among: Sequence[By], others: Sequence[str]) -> list[list[str]]:
    """Return which of some columns may follow from each of others, by the same few records."""
    rows = _shuffled(np.arange(0, views.rows, max(views.rows // _FIRST_ROWS, 1)))
    values = views.at(others, rows)
    found: list[list[str]] = []
    for first in range(0, len(among), _AT_ONCE):
        part = among[first : first + _AT_ONCE]
        keys = np.stack([_keys(views, by, rows) for by in part])
        for by, left in zip(part, _first_look(keys, values, views.varieties(others)), strict=True):
            found.append([others[place] for place in left if others[place] not in by])
    return found


def shortlist(views: Views, by: By, others: Sequence[str]) -> list[str]:
    """Return which of some columns may follow from one or two others, by more records."""
    if views.rows <= _FIRST_ROWS or not others:
        return list(others)
    rows = _shuffled(_whole_groups(views, by))
    order, same = _sorted(_keys(views, by, rows)[None])
    places = np.flatnonzero(same[0])
    if len(places) < _GLANCE:
        return list(others)
    before, after = rows[order[0][places]], rows[order[0][places + 1]]
    good = _seldom(views.at(others, before), views.at(others, after), views.varieties(others))
    return [name for name, kept in zip(others, good, strict=True) if kept]


def _shuffled(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return records in an order of chance: in a sorted table, neighbours agree in much."""
    return np.random.default_rng(0).permutation(rows)


def _keys(views: Views, by: By, rows: NDArray[np.int64]) -> Codes:
    """Return a number for each group of some records, and -1 where there is none."""
    key, known = np.zeros(len(rows), np.int64), np.ones(len(rows), bool)
    for name in by:
        own, size = views[name].codes[rows], views[name].size
        known &= own != size
        key = key * (size + 1) + own
    return np.where(known, key, -1)


def _sorted(keys: Codes) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the order of each row of keys, and where the next one in this order is the same."""
    order = np.argsort(keys, axis=1, kind="stable")
    ordered = np.take_along_axis(keys, order, 1)
    return order, (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)


def _first_look(keys: Codes, values: Values, varieties: Floats) -> list[NDArray[np.int64]]:
    """Return the places of the columns that may follow from what made each row of keys."""
    order, same = _sorted(keys)
    neighbours = [np.flatnonzero(one) for one in same]
    judged = [one for one, places in enumerate(neighbours) if len(places) >= _GLANCE]
    left = [np.arange(values.shape[1])] * len(keys)
    if not judged:
        return left
    # Most candidates are discarded at a glance.
    every = (neighbours[one][:: len(neighbours[one]) // _GLANCE] for one in judged)
    few = np.stack([one[:_GLANCE] for one in every])
    before, after = (np.take_along_axis(order[judged], few + step, 1) for step in (0, 1))
    good = _seldom(values[before], values[after], varieties, _SPARED_AT_A_GLANCE)
    for one, mine in zip(judged, good, strict=True):
        places, again = neighbours[one], np.flatnonzero(mine)
        if len(again):
            candidates = values[:, again]
            before, after = candidates[order[one][places]], candidates[order[one][places + 1]]
            again = again[_seldom(before, after, varieties[again])]
        left[one] = again
    return left


def _seldom(
    before: Values, after: Values, varieties: Floats, spared: int = _SPARED
) -> NDArray[np.bool_]:
    """Return which columns seldom change between neighbours; a few changes are spared.

    The neighbours are along the last axis but one, the columns along the last.
    """
    known = (before | after) >= 0
    asked, changes = _count(known), _count(known & (before != after))
    by_chance = np.maximum(_OF_CHANCE * varieties * asked, 1)
    allowed = np.minimum(_SLACK * MOST_EXCEPTIONS * asked, by_chance)
    return np.asarray(changes <= allowed + spared)


def _count(true: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return how many are true along the last axis but one; NumPy adds bytes faster than truths."""
    return np.asarray(true.view(np.uint8).sum(-2, dtype=np.int32))


def _whole_groups(views: Views, by: By) -> NDArray[np.int64]:
    """Return records of a few whole groups, so that also small ones have neighbours."""
    if views.rows <= _MOST_ROWS:
        return np.arange(views.rows)
    view = max((views[name] for name in by), key=lambda one: one.levels)
    every = -(-views.rows // _MOST_ROWS)
    if view.levels < 20 * every:
        return np.arange(0, views.rows, every)
    return np.flatnonzero(view.codes % every == 0)
