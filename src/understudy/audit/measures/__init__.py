"""All measures of an audit, in the order in which they are shown.

A new measure is one module here with its `Measure`, and its line in `MEASURES`. Terminal, report,
JSON, gate, comparison, explanations and the table of trust go through this list.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from understudy.audit.measures.anonymity import ANONYMITY
from understudy.audit.measures.association import ASSOCIATION
from understudy.audit.measures.attribution import ATTRIBUTION
from understudy.audit.measures.classifiers import CLASSIFIERS, CLASSIFIERS_PAPERS
from understudy.audit.measures.copies import COPIES
from understudy.audit.measures.declaration import (
    GROUPS,
    Column,
    FigureKind,
    Measure,
    Question,
)
from understudy.audit.measures.disclosure import DISCLOSURE
from understudy.audit.measures.marginals import MARGINALS, SHARES
from understudy.audit.measures.network import NETWORK
from understudy.audit.measures.prediction import PREDICTION
from understudy.audit.measures.propensity import PROPENSITY, PROPENSITY_INTERACTIONS
from understudy.audit.measures.records import RECORDS
from understudy.audit.measures.strong import STRONG, STRONG_RECORD
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

MEASURES: list[Measure] = [
    ATTRIBUTION,
    RECORDS,
    CLASSIFIERS,
    CLASSIFIERS_PAPERS,
    DISCLOSURE,
    COPIES,
    STRONG,
    STRONG_RECORD,
    ANONYMITY,
    MARGINALS,
    SHARES,
    ASSOCIATION,
    PROPENSITY,
    PROPENSITY_INTERACTIONS,
    PREDICTION,
    NETWORK,
]


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
    """Return the figures that answer a question of the verdict."""
    return tuple(kind.name for kind in figure_kinds() if kind.question == question)


def columns() -> list[Column]:
    """Return the columns of releases side by side, by heading; those with references come first."""
    found = [column for measure in MEASURES for column in measure.columns]
    groups = list(dict.fromkeys([*GROUPS, *(column.group for column in found)]))
    return sorted(found, key=lambda one: (groups.index(one.group), one.original is None))
