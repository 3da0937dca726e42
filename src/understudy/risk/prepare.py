"""Tables made ready for an attack: checked, and coded alike."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from understudy.data import Coded
from understudy.data.frames import Backend, Frame
from understudy.data.joint_coding import CodedTables, EncodedTable, Levels, encode
from understudy.data.source import FrameSource, TableSource, source_of
from understudy.errors import ParameterError
from understudy.risk.compared_tables import named_tables
from understudy.risk.scenario import Scenario
from understudy.risk.tolerance import NumberTarget, Tolerance, number_target

NOT_HELD = (
    "The original was not held in memory, only counted, so there is no row for each record. Give "
    "it as a frame."
)
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
        The original records, or those that differ with their numbers.
    syntheses : tuple of Coded
        The synthetic tables.
    control : Coded or None
        Records that were not used for the synthesis.
    levels : dict
        What the codes of each column stand for.
    backend : str
        The kind of frame that the original is, and so the kind that results give.
    number : NumberTarget or None
        When a guess of a sensitive number or date is right; None if only equal values are.
    """

    scenario: Scenario
    original: Coded
    syntheses: tuple[Coded, ...]
    control: Coded | None
    levels: dict[str, Levels]
    backend: Backend = "polars"
    number: NumberTarget | None = None

    @cached_property
    def released(self) -> Coded:
        """The records of all synthetic tables, one table below the other."""
        return Coded.concatenate(self.syntheses)


def prepare(
    original: Frame,
    syntheses: Sequence[Frame],
    scenario: Scenario,
    *,
    control: Frame | None = None,
    groups: Mapping[str, int] | None = None,
    special: Mapping[str, Sequence[float]] | None = None,
    tolerance: object = None,
) -> Prepared:
    """Check the tables of an attack, and code them alike.

    `groups` and `special` are numeric columns to put in groups, and their numbers that are not
    grouped. `tolerance` says when a guess of a number is right; see `number_target`.

    Raises
    ------
    ParameterError
        If a table lacks a column of the scenario, or `groups` names another column.
    DataError
        If a table has no rows, or tables hold values that cannot be compared.
    """
    columns = (*scenario.keys, scenario.sensitive)
    given = [counted_rows(one, columns) for one in (original, *syntheses)]
    others = None if control is None else counted_rows(control, columns)
    tables = tables_of(given[0], given[1:], others).select(columns=columns)
    return prepared_from(tables, scenario, groups=groups, special=special, tolerance=tolerance)


def counted_rows(table: Frame | TableSource, columns: Sequence[str]) -> Frame | EncodedTable:
    """Return a frame as it is, and of any other table its different rows with their numbers."""
    source = None if isinstance(table, EncodedTable) else source_of(table)
    if source is None or isinstance(source, FrameSource):
        return table
    known = [name for name in columns if name in source.layout.types]
    rows, counts = source.combinations(known)
    return replace(encode(rows), backend=source.layout.backend, weights=counts)


def require_rows(coded: Coded) -> None:
    """Raise if rows that are alike were counted, so that there is none for each record."""
    if coded.weights is not None:
        raise ParameterError(NOT_HELD)


def tables_of(
    original: Frame, syntheses: Sequence[Frame], control: Frame | None = None
) -> CodedTables:
    """Name the tables of an attack as `prepared_from` wants them; columns are chosen later."""
    return CodedTables.of(named_tables(original, list(syntheses), control), ())


def releases_of(tables: CodedTables) -> list[str]:
    """Return the names of the synthetic tables."""
    return [name for name in tables.encoded if name.startswith("synthetic")]


def prepared_from(
    tables: CodedTables,
    scenario: Scenario,
    *,
    groups: Mapping[str, int] | None = None,
    special: Mapping[str, Sequence[float]] | None = None,
    tolerance: object = None,
) -> Prepared:
    """Make ready for an attack what is coded already; see `prepare`.

    The tables are "original", "synthetic" (or "synthetic 1", "synthetic 2", ...) and perhaps
    "control"; others are left out.
    """
    wanted = Tolerance.of(tolerance)
    if isinstance(wanted, Tolerance) and scenario.sensitive in {**tables.groups, **(groups or {})}:
        raise ParameterError(
            f"{scenario.sensitive!r} cannot be both in groups and guessed within a tolerance."
        )
    made = releases_of(tables)
    used = [name for name in tables.encoded if name in ("original", "control", *made)]
    coded = tables.select(used, (*scenario.keys, scenario.sensitive)).grouped(groups, special)
    held = coded.tables
    coded.check_rows()
    name = scenario.sensitive
    own = held["original"]
    codes = own[name] if own.weights is None else np.repeat(own[name], own.weights)
    number = number_target(name, coded.levels[name], codes, wanted, grouped=name in coded.groups)
    _warn_of_distinct_keys(scenario, held["original"])
    return Prepared(
        scenario,
        held["original"],
        tuple(held[name] for name in made),
        held.get("control"),
        coded.levels,
        coded.backend,
        number,
    )


def _warn_of_distinct_keys(scenario: Scenario, original: Coded) -> None:
    rows = original.records
    for name in scenario.keys:
        distinct = int(np.count_nonzero(np.bincount(original[name])))
        if rows > 1 and distinct > NEARLY_DISTINCT * rows:
            logging.getLogger("understudy").warning(
                "The key %r has %s different values in %s records. It matches almost nobody, so "
                "every measure that looks keys up is about this key alone. Put it in groups, or "
                "leave it out.",
                name,
                f"{distinct:,}",
                f"{rows:,}",
            )
