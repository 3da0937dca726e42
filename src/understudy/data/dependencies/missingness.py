"""Which columns are missing together, and which are missing because of what another one says."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np
import pyarrow as pa

from understudy.data.dependencies.evidence import LIKELY_FORMULA, beyond_chance, can_be_told
from understudy.data.dependencies.families import MissingTogether, MissingWhen
from understudy.data.dependencies.views import View, Views

MOST_LEVELS = 50
"""Levels of a column that is asked why another one is missing, at most."""

FEWEST_MISSING = 10
"""Records that a pattern of missing values must rest on."""


def find_missing(
    views: Views, derived: Mapping[str, Collection[str]]
) -> Iterator[MissingTogether | MissingWhen]:
    """Yield why values are missing: blocks first, then levels of other columns.

    Of the columns of a block, only the first can be missing because of another column. `derived`
    are the columns that others tell, and which others: most are missing where these are.
    """
    told = {name for name, by in derived.items() if not _own_gaps(views, name, by)}
    gappy = [
        name
        for name, view in views.columns.items()
        if name not in told and FEWEST_MISSING <= view.gaps <= views.rows - FEWEST_MISSING
    ]
    blocks: dict[bytes, list[str]] = {}
    for name in gappy:
        blocks.setdefault(np.packbits(views[name].missing).tobytes(), []).append(name)
    tests = len(gappy) * max(len(views.columns), 1)
    if not can_be_told(views.rows, tests, LIKELY_FORMULA):
        return
    for names in blocks.values():
        first = views[names[0]]
        chance = 2 * (first.gaps / views.rows) * (1 - first.gaps / views.rows)
        if len(names) > 1 and beyond_chance(0, views.rows, chance, tests, LIKELY_FORMULA):
            yield MissingTogether(tuple(names))
    for names in blocks.values():
        found = _reason(views, names[0], set(names) | set(derived), tests * MOST_LEVELS)
        if found is not None:
            yield found


def _own_gaps(views: Views, name: str, by: Collection[str]) -> int:
    """Return how many records have no value of a column, but of all that it follows from."""
    known = np.all([~views[one].missing for one in by], axis=0)
    return int(np.count_nonzero(views[name].missing & known))


def _reason(views: Views, name: str, excluded: Collection[str], tests: int) -> MissingWhen | None:
    """Return the level of another column that explains most missing values of one, if any does."""
    missing = views[name].missing
    gaps, best, explained = int(missing.sum()), None, 0
    for other, view in views.columns.items():
        if other in excluded or other == name:
            continue
        if FEWEST_MISSING <= view.gaps < gaps and not (view.missing & ~missing).any():
            tries = view.gaps
            if tries > explained and beyond_chance(
                0, tries, 1 - gaps / views.rows, tests, LIKELY_FORMULA
            ):
                best, explained = MissingWhen(name, other), tries
        if view.column.binned or not 2 <= view.levels <= MOST_LEVELS:
            continue
        if pa.types.is_temporal(view.array.type) or pa.types.is_decimal(view.array.type):
            continue  # such a level cannot be written into a schema file
        within = np.bincount(view.codes, missing, minlength=view.size + 1)[: view.size]
        always = np.flatnonzero((within == view.counts[:-1]) & (view.counts[:-1] > 0))
        for code in always:
            tries = int(view.counts[code])
            if tries <= explained or not beyond_chance(
                0, tries, 1 - gaps / views.rows, tests, LIKELY_FORMULA
            ):
                continue
            level = level_of(view, int(code))
            best = MissingWhen(name, other, level, exactly=tries == gaps)
            explained = tries
    return best


def level_of(view: View, code: int) -> str | int | float | bool:
    """Return the value that a code of a view stands for."""
    row = int(np.flatnonzero(view.codes == code)[0])
    value: str | int | float | bool = view.array[row].as_py()
    return value
