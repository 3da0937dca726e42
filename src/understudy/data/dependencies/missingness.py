"""Which columns are missing together, and which are missing because of what another one says."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from understudy.data.dependencies.evidence import LIKELY_FORMULA, beyond_chance
from understudy.data.dependencies.families import MissingTogether, MissingWhen
from understudy.data.dependencies.views import View, Views

MOST_LEVELS = 50
"""Levels of a column that is asked why another one is missing, at most."""

FEWEST_MISSING = 10
"""Records that a pattern of missing values must rest on."""


def find_missing(views: Views, derived: Collection[str]) -> Iterator[MissingTogether | MissingWhen]:
    """Yield why values are missing: blocks first, then levels of other columns.

    Of the columns of a block, only the first can be missing because of another column. `derived`
    are the columns that are computed: they are missing where their parts are.
    """
    gappy = [
        name
        for name, view in views.columns.items()
        if name not in derived and FEWEST_MISSING <= view.gaps <= views.rows - FEWEST_MISSING
    ]
    blocks: dict[bytes, list[str]] = {}
    for name in gappy:
        blocks.setdefault(np.packbits(views[name].missing).tobytes(), []).append(name)
    tests = len(gappy) * max(len(views.columns), 1)
    for names in blocks.values():
        first = views[names[0]]
        chance = 2 * (first.gaps / views.rows) * (1 - first.gaps / views.rows)
        if len(names) > 1 and beyond_chance(0, views.rows, chance, tests, LIKELY_FORMULA):
            yield MissingTogether(tuple(names))
    for names in blocks.values():
        found = _reason(views, names[0], set(names) | set(derived), tests * MOST_LEVELS)
        if found is not None:
            yield found


def _reason(views: Views, name: str, excluded: Collection[str], tests: int) -> MissingWhen | None:
    """Return the level of another column that explains most missing values of one, if any does."""
    missing = views[name].missing
    gaps, best, explained = int(missing.sum()), None, 0
    for other, view in views.columns.items():
        if other in excluded or other == name or not 2 <= view.levels <= MOST_LEVELS:
            continue
        if view.column.binned or view.timed:
            continue
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


def where_level(view: View, level: str | float | bool) -> NDArray[np.bool_]:
    """Return which records have a level."""
    codes = {view.array[int(row)].as_py(): code for code, row in _examples(view).items()}
    return np.asarray(view.codes == codes.get(level, -1))


def _examples(view: View) -> dict[int, int]:
    """Return a record for each value that occurs."""
    codes, rows = np.unique(view.codes, return_index=True)
    return {int(code): int(row) for code, row in zip(codes, rows, strict=True) if code < view.size}
