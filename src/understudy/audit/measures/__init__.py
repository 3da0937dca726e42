"""All measures of an audit.

A new measure is one module here, with its `Measure`: it is found by itself. Terminal, report, JSON,
gate, comparison, explanations and the table of trust go through `MEASURES`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager

from understudy.audit.measures.declaration import (
    GROUPS,
    Column,
    FigureKind,
    Measure,
    Question,
)
from understudy.audit.task import LEVELS, Given, Task

__all__ = [
    "MEASURES",
    "Measure",
    "columns",
    "figure_kinds",
    "main_figures",
    "measures_for",
    "registered",
]


def _declared() -> list[Measure]:
    """Return what the modules of this package declare, in the order in which it is shown."""
    modules = [
        importlib.import_module(f"{__name__}.{found.name}")
        for found in pkgutil.iter_modules(__path__)
    ]
    values = [value for module in modules for value in vars(module).values()]
    measures = dict.fromkeys(value for value in values if isinstance(value, Measure))
    return sorted(measures, key=lambda measure: measure.place)


MEASURES: list[Measure] = _declared()


@contextmanager
def registered(measure: Measure) -> Iterator[None]:
    """Add a measure for the time of a block."""
    MEASURES.append(measure)
    try:
        yield
    finally:
        MEASURES.remove(measure)


def measures_for(task: Task, given: Given) -> list[Measure]:
    """Return what is measured of one release, the quick measures first."""
    most = LEVELS.index(task.measures)
    wanted = [
        measure
        for measure in MEASURES
        if LEVELS.index(measure.level) <= most and measure.needed(task, given)
    ]
    return sorted(wanted, key=lambda measure: LEVELS.index(measure.level))


def figure_kinds() -> list[FigureKind]:
    """Return all figures of risk that stand beside a baseline."""
    return [kind for measure in MEASURES for kind in measure.figures]


def main_figures(question: Question) -> tuple[str, ...]:
    """Return the figures whose gain answers a question of the verdict."""
    return tuple(
        kind.name for kind in figure_kinds() if kind.question == question and not kind.tested
    )


def columns() -> list[Column]:
    """Return the columns of releases side by side, by heading; those with references come first."""
    found = [column for measure in MEASURES for column in measure.columns]
    groups = list(dict.fromkeys([*GROUPS, *(column.group for column in found)]))
    return sorted(found, key=lambda one: (groups.index(one.group), one.original is None))
