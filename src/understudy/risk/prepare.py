"""Tables made ready for an attack: checked, and coded alike."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.data import Coded
from understudy.data.frames import Backend, Frame, Layout
from understudy.data.together import Levels, code_together
from understudy.errors import DataError, ParameterError
from understudy.risk.scenario import Scenario

NEARLY_DISTINCT = 0.9
"""A key with more different values than this share of the records matches almost nobody."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """An original, its syntheses and perhaps a control table, coded alike.

    Parameters
    ----------
    scenario : Scenario
        Keys and sensitive attribute; their columns are those of the tables, in this order.
    original : Coded
        The original records.
    syntheses : tuple of Coded
        The synthetic tables.
    control : Coded or None
        Records that were not used for the synthesis.
    levels : dict
        What the codes of each column stand for.
    backend : {"polars", "pandas", "pyarrow"}
        The kind of frame that the original came in, which results give back.
    """

    scenario: Scenario
    original: Coded
    syntheses: tuple[Coded, ...]
    control: Coded | None
    levels: dict[str, Levels]
    backend: Backend = "polars"


def prepare(
    original: Frame,
    syntheses: Sequence[Frame],
    scenario: Scenario,
    *,
    control: Frame | None = None,
    groups: Mapping[str, int] | None = None,
    special: Mapping[str, Sequence[float]] | None = None,
) -> Prepared:
    """Check the tables of an attack and code them alike.

    Parameters
    ----------
    original : frame
        The original table.
    syntheses : sequence of frames
        One or more synthetic tables.
    scenario : Scenario
        Keys and sensitive attribute.
    control : frame, optional
        Records like the original's that were not used for the synthesis.
    groups, special : mapping, optional
        Numeric columns to put in groups, and their numbers that are not grouped; see
        `understudy.data.together.code_together`.

    Raises
    ------
    ParameterError
        If a table lacks a column of the scenario, or `groups` names another column.
    DataError
        If a table has no rows, or tables hold values that cannot be compared.
    """
    columns = (*scenario.keys, scenario.sensitive)
    named = (
        ["synthetic"]
        if len(syntheses) == 1
        else [f"synthetic {number}" for number in range(1, len(syntheses) + 1)]
    )
    if not named:
        raise ParameterError("There is no synthetic table to attack.")
    frames: dict[str, Frame] = {"original": original}
    frames |= dict(zip(named, syntheses, strict=True))
    if control is not None:
        frames["control"] = control
    together = code_together(frames, columns, groups=groups, special=special)
    for table, coded in together.tables.items():
        if not len(coded):
            raise DataError(f"The {table} table has no rows.")
    _warn_of_distinct_keys(scenario, together["original"])
    return Prepared(
        scenario,
        together["original"],
        tuple(together[name] for name in named),
        together.tables.get("control"),
        together.levels,
        Layout.of(original).backend,
    )


def _warn_of_distinct_keys(scenario: Scenario, original: Coded) -> None:
    rows = len(original)
    for name in scenario.keys:
        distinct = int(np.count_nonzero(np.bincount(original[name])))
        if rows > 1 and distinct > NEARLY_DISTINCT * rows:
            logging.getLogger("understudy").warning(
                "The key %r has %s different values in %s records: it matches almost nobody, so "
                "that every measure by matching is about this key alone. Put it in groups, or "
                "leave it out.",
                name,
                f"{distinct:,}",
                f"{rows:,}",
            )
