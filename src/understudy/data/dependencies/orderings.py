"""Which columns are never above others: starts and ends, lowest and highest temperatures.

An ordering counts if many records would break it were the two columns unrelated, and if some come
close to breaking it: that weights in kilograms are below heights in centimetres is no ordering.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.data.dependencies.composites import as_count
from understudy.data.dependencies.evidence import LIKELY_FORMULA, beyond_chance, can_be_told
from understudy.data.dependencies.families import Code, Ordered
from understudy.data.dependencies.views import View, Views
from understudy.data.values import from_numpy

FEWEST_BROKEN = 0.05
"""Share of records that would break an ordering if the columns were unrelated, at least."""

REACHED = 0.1
"""Some records must lie as near the limit as this share of the usual distance between the two."""

_FEWEST_NEAR = 5
_FIRST_LOOK = 64


def find_orderings(
    views: Views, codes: Mapping[str, Code], derived: Collection[str]
) -> Iterator[Ordered]:
    """Yield the orderings that hold without exception; not those that follow from others.

    `derived` are the columns that are computed: they keep their places by themselves.
    """
    for code in dict.fromkeys([None, *codes.values()]):
        names = [one for one in views.columns if codes.get(one) == code and one not in derived]
        if code is None:
            yield from _orderings(views, names)
        elif len(names) > 1:
            yield from _orderings(_counts(views, names, code), names)


def _counts(views: Views, names: Sequence[str], code: Code) -> Views:
    """Return columns of codes as the minutes, days or months that they stand for."""
    found = {}
    for name in names:
        view = views[name]
        counted = as_count(view.array, code, name)
        found[name] = View(view.column, from_numpy(counted.values, counted.missing))
    return Views(found, views.rows)


def _orderings(views: Views, among: Sequence[str]) -> Iterator[Ordered]:
    """Yield the orderings between some columns, all of them numbers or times of the same kind."""
    names = [
        name
        for name in among
        if ((view := views[name]).numeric or view.timed)
        and view.levels > 2
        and not view.column.special
        and (view.timed or view.exact)
    ]
    tests = len(names) * max(len(names) - 1, 1)
    if not can_be_told(views.rows, tests, LIKELY_FORMULA):
        return
    found: dict[tuple[str, str], int] = {}
    for low, high in _unbroken(views, names):
        if _comparable(views[low], views[high]):
            records = _holds(views, low, high, tests)
            if records:
                found[low, high] = records
    for low, high in found:
        between = any((low, one) in found and (one, high) in found for one in names)
        if (high, low) not in found and not between:
            yield Ordered(low, high)


def _unbroken(views: Views, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of columns whose ordering none of the first few records breaks."""
    if not names:
        return
    first = np.stack([views.sample[name].floats[:_FIRST_LOOK] for name in names])
    for place, low in enumerate(names):
        # Where one has no number, nothing is broken.
        held = ~(first[place] > first).any(axis=1)
        held[place] = False
        yield from ((low, names[one]) for one in np.flatnonzero(held).tolist())


def _comparable(a: View, b: View) -> bool:
    if a.timed or b.timed:
        return bool(a.array.type == b.array.type)
    return True


def _holds(views: Views, low: str, high: str, tests: int) -> int:
    """Return how many records show that an ordering holds, 0 if it does not."""
    small = views.sample
    a, b = _both(small[low], small[high])
    if len(a) < 2 or (a > b).any():
        return 0
    shuffled = b[np.random.default_rng(0).permutation(len(b))]
    chance = float(np.mean(a > shuffled))
    if chance < FEWEST_BROKEN:
        return 0
    a, b = _both(views[low], views[high])
    if (a > b).any() or not beyond_chance(0, len(a), chance, tests, LIKELY_FORMULA):
        return 0
    gap = np.asarray(b - a, np.float64)
    near = np.count_nonzero(gap <= REACHED * float(np.median(gap)) + _step(gap))
    return len(a) if near >= _FEWEST_NEAR and (gap > 0).any() else 0


def _step(gap: NDArray[np.float64]) -> float:
    """Return the smallest gap that is not 0: in whole numbers, the limit may be 1 away."""
    positive = gap[gap > 0]
    return float(positive.min()) if len(positive) else 0.0


def _both(a: View, b: View) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the numbers of the records that have both."""
    known = ~(np.isnan(a.floats) | np.isnan(b.floats))
    return a.floats[known], b.floats[known]
