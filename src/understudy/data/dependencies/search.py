"""The search for dependencies between the columns of a table, simplest kinds first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data.dependencies.composites import are_codes, code_of
from understudy.data.dependencies.families import (
    Code,
    Composite,
    Dependency,
    Determined,
    Formula,
)
from understudy.data.dependencies.formula_search import find_formulas
from understudy.data.dependencies.formulas import Floats
from understudy.data.dependencies.mappings import find_mappings
from understudy.data.dependencies.missingness import find_missing
from understudy.data.dependencies.orderings import find_orderings
from understudy.data.dependencies.views import Views
from understudy.data.schema import Column


def search_table(table: pa.Table, columns: Iterable[Column]) -> tuple[Dependency, ...]:
    """Return the dependencies of a table in memory.

    A column has one that gives its value, at most, and none gives its own by way of others.
    Formulas come before tables of what follows from what, one column before two.
    """
    views = Views.of(table, columns)
    if views.rows < 2:
        return ()
    # Whatever a table holds is tried in every formula: most of them lead nowhere.
    with np.errstate(all="ignore"):
        return _searched(views)


def _searched(views: Views) -> tuple[Dependency, ...]:
    codes = dict(_composites(views))
    chosen: dict[str, Determined | Formula] = {}
    for formula in find_formulas(views, codes):
        _choose(chosen, formula)
    for mapping in find_mappings(views, list(chosen)):
        _choose(chosen, mapping)
    derived = set(chosen)
    found: list[Dependency] = [
        Composite(name, code) for name, code in codes.items() if name not in derived
    ]
    found += chosen.values()
    found += find_orderings(views, codes, derived)
    found += find_missing(views, {name: one.names[1:] for name, one in chosen.items()})
    places = {name: place for place, name in enumerate(views.columns)}
    return tuple(sorted(found, key=lambda one: (_RANKS[one.kind], places[one.names[0]])))


_RANKS = {
    "composite": 0,
    "formula": 1,
    "determined": 2,
    "ordered": 3,
    "missing together": 4,
    "missing when": 5,
}


def _composites(views: Views) -> Iterator[tuple[str, Code]]:
    for name, view in views.columns.items():
        if view.column.kind != "integer" or not view.numeric:
            continue
        known = view.floats[~np.isnan(view.floats)]
        few = known[:: max(len(known) // 1000, 1)]
        if are_codes(_different(few)) and (code := code_of(_different(known))) is not None:
            yield name, code


def _different(numbers: Floats) -> NDArray[np.int64]:
    """Return the different whole numbers, sorted; none if some are too large for a date."""
    largest = float(np.abs(numbers).max(initial=0.0))
    return np.unique(numbers.astype(np.int64)) if largest < 1e9 else np.empty(0, np.int64)


def _choose(chosen: dict[str, Determined | Formula], one: Determined | Formula) -> None:
    """Take a dependency unless its column has one, or would follow from itself."""
    if one.column in chosen:
        return
    sources = list(one.names[1:])
    seen: set[str] = set()
    while sources:
        name = sources.pop()
        if name == one.column:
            return
        if name not in seen:
            seen.add(name)
            sources += chosen[name].names[1:] if name in chosen else ()
    chosen[one.column] = one


def derivation_order(sources: Mapping[str, Sequence[str]]) -> list[str]:
    """Return columns so that each comes after those that it is made from.

    Raises
    ------
    ValueError
        If some are made from each other in a circle; it names one of them.

    Examples
    --------
    >>> derivation_order({"total": ["a", "b"], "b": ["c"]})
    ['a', 'c', 'b', 'total']
    """
    import graphlib

    try:
        return list(graphlib.TopologicalSorter(sources).static_order())
    except graphlib.CycleError as error:
        raise ValueError(str(error.args[1][0])) from error
