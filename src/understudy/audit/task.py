"""What an audit is given: tables by release, models by release, and the attacker; all checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, cast, get_args

import narwhals as nw
from narwhals.dtypes import DType

from understudy.arguments import check_choice
from understudy.data.dependencies.finding import find_dependencies
from understudy.data.frames import Frame, to_narwhals
from understudy.data.matched_names import match_names
from understudy.data.matched_types import match_types
from understudy.data.schema import Schema
from understudy.errors import (
    DataError,
    ParameterError,
    UnderstudyError,
    did_you_mean,
    unknown_columns,
)
from understudy.progress import reporting
from understudy.risk.own_values import OWN
from understudy.risk.scenario import Scenario
from understudy.showing import SHARED_BY
from understudy.synthesis import Synthesizer

if TYPE_CHECKING:
    from understudy.audit.units import Units

MeasureSet = Literal["quick", "standard", "full"]
LEVELS: tuple[MeasureSet, ...] = get_args(MeasureSet)
"""Sets of measures; each holds those before it."""
Preset = Literal["strong", "papers"]
"""Which classifiers attack."""

RELEASE = "synthetic"
"""What a release is called that was given no name."""


@dataclass(frozen=True, eq=False)
class Given:
    """One release: its name, its tables, and the model that made them, if it is known.

    It is `drawn` if its model drew the tables for this very audit, and nobody had them in between.
    """

    name: str
    tables: tuple[Frame, ...]
    model: Synthesizer | None = None
    drawn: bool = False


@dataclass(frozen=True, eq=False)
class Task:
    """All that an audit is about, after the checks.

    Parameters
    ----------
    original : frame
        The original table.
    releases : tuple of Given
        The releases.
    scenario : Scenario
        What the attacker knows and wants.
    target : str or None
        What the data are used to predict.
    control, test : frame or None
        Records that were not used for the synthesis: for attacks, and for the prediction.
    groups : mapping
        Numeric columns to put in groups.
    measures : {"quick", "standard", "full"}
        What is measured.
    classifiers : {"strong", "papers"} or None
        Which classifiers attack.
    seed : int
        Decides what is random.
    show_records : bool
        Whether values of single records may be shown.
    tolerance : object
        How far off a guess of a sensitive number or date may be; what suits the values if None.
    units : Units or None
        The units of the records, if records are to be counted by unit; None where there is one
        record of each.
    unit_id : tuple of str
        The columns that name them; empty if nobody said it.
    """

    original: Frame
    releases: tuple[Given, ...]
    scenario: Scenario
    target: str | None
    control: Frame | None
    test: Frame | None
    groups: Mapping[str, int]
    measures: MeasureSet
    classifiers: Preset | None
    seed: int
    show_records: bool
    tolerance: object = None
    units: Units | None = None
    unit_id: tuple[str, ...] = ()

    @cached_property
    def columns(self) -> Schema | None:
        """What the columns of the original are; None if they cannot be described."""
        return columns_of(self.original)

    @cached_property
    def described(self) -> Schema:
        """What the columns of the original are, and what holds between them.

        The dependencies are those that are found, and those that a model was told of.
        """
        with reporting(None):  # the audit has a bar of its own
            columns = self.columns or Schema.infer(self.original, dependencies=False)
            schema = Schema(columns.columns, find_dependencies(self.original, columns))
        models = [one.model for one in self.releases if hasattr(one.model, "schema_")]
        declared = [
            one
            for model in models
            for one in model.schema_.dependencies  # type: ignore[union-attr]  # `hasattr` says so
            if set(one.names) <= set(schema.names)
        ]
        known = {(one.kind, one.names) for one in schema.dependencies}
        more = {(o.kind, o.names): o for o in declared if (o.kind, o.names) not in known}
        return Schema(schema.columns, (*schema.dependencies, *more.values()))

    @property
    def fewest_to_name(self) -> int:
        """How many records of the original must have a value before it is named."""
        return 1 if self.show_records else SHARED_BY

    def groups_of(self, columns: Sequence[str]) -> dict[str, int]:
        """Return the groups of some columns; measures refuse those of others."""
        return {name: count for name, count in self.groups.items() if name in columns}

    def shared_columns(self, synthetic: Frame) -> tuple[str, ...]:
        """Return the columns of the original that a release has too, in their order."""
        held = set(to_narwhals(synthetic).columns)
        return tuple(name for name in to_narwhals(self.original).columns if name in held)


def read_releases(synthetic: object, model: object, drawn: object = False) -> tuple[Given, ...]:
    """Return the releases by name, whether one, several syntheses or several methods are given.

    Raises
    ------
    ParameterError
        If there is no table, or `model` or `drawn` does not fit the names.
    DataError
        If something is no table.
    """
    named = synthetic if isinstance(synthetic, Mapping) else {RELEASE: synthetic}
    if not named:
        raise ParameterError("synthetic names no release; give at least one table.")
    wrong = [name for name in named if not isinstance(name, str) or not name.strip()]
    if wrong:
        raise ParameterError(f"synthetic: the name of a release must be text; got {wrong[0]!r}.")
    models = _read_models(model, list(named), by_name=isinstance(synthetic, Mapping))
    drawn_here = _read_drawn(drawn, models, list(named))
    found = []
    for name, held in named.items():
        tables = tuple(held) if isinstance(held, list | tuple) else (held,)
        if not tables:
            raise ParameterError(f"The release {name!r} has no table.")
        for table in tables:
            to_narwhals(table)  # raises for what is no table
        found.append(Given(name, tables, models.get(name), name in drawn_here))
    return tuple(found)


def _read_drawn(
    drawn: object, models: Mapping[str, Synthesizer], names: Sequence[str]
) -> Collection[str]:
    """Return the releases that their models drew: all that have one if it is True."""
    if isinstance(drawn, bool):
        return models if drawn else ()
    if isinstance(drawn, str) or not isinstance(drawn, Collection):
        raise ParameterError(f"drawn must be True, False or names of releases; got {drawn!r}.")
    _check_release("drawn", drawn, names)
    if lost := [name for name in drawn if name not in models]:
        raise ParameterError(f"drawn: the release {lost[0]!r} has no model that can have drawn it.")
    return drawn


def _check_release(argument: str, given: Collection[object], names: Sequence[str]) -> None:
    """Raise if an argument names a release that there is not."""
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ParameterError(
            f"{argument}: there is no release {unknown[0]!r}; there are {', '.join(names)}."
            f"{did_you_mean(str(unknown[0]), names)}"
        )


def _read_models(model: object, names: Sequence[str], *, by_name: bool) -> dict[str, Synthesizer]:
    if model is None:
        return {}
    if isinstance(model, Mapping):
        _check_release("model", model, names)
        models = {name: held for name, held in model.items() if held is not None}
    elif by_name and len(names) > 1:
        raise ParameterError(
            "model is for one release, and there are several: give a mapping from the names of "
            "the releases to their models."
        )
    else:
        models = {names[0]: model}
    for held in models.values():
        if not isinstance(held, Synthesizer):
            raise ParameterError(
                "model must be a fitted synthesizer, or a mapping from the names of releases to "
                f"fitted synthesizers; got {type(held).__name__}."
            )
        if not hasattr(held, "codec_"):
            raise ParameterError(f"model: this {type(held).__name__} is not fitted yet.")
    return models


def read_measures(measures: object) -> MeasureSet:
    """Return the name of a set of measures, or say which there are."""
    return cast("MeasureSet", check_choice("measures", measures, LEVELS))


def read_classifiers(classifiers: object) -> Preset | None:
    """Return the name of a preset of classifiers, None for none, or say which there are."""
    if classifiers is None:
        return None
    presets = get_args(Preset)
    return cast("Preset", check_choice("classifiers", classifiers, presets, ", or None for none"))


def read_unit(unit: object) -> str:
    """Return what a record or unit is about, or say how it is written."""
    if not isinstance(unit, str) or not all(part.strip() for part in unit.split("/", 1)):
        raise ParameterError(
            "unit must say what a record is about, in a word: 'people', 'flights', or "
            f"'child/children'; got {unit!r}."
        )
    return unit.strip()


def read_groups(groups: object) -> dict[str, int]:
    """Return the numbers of groups by column."""
    if groups is not None and not isinstance(groups, Mapping):
        raise ParameterError(f"groups must be a mapping such as {{'age': 5}}; got {groups!r}.")
    return dict(groups or {})


def check_task(task: Task) -> None:
    """Refuse tables that the attacker or the prediction do not fit, before any work.

    Raises
    ------
    ParameterError
        If a table lacks a column that is needed; all such problems are told at once.
    DataError
        If a table has no rows.
    """
    wanted = (*task.scenario.keys, task.scenario.sensitive)
    if task.target is not None and not isinstance(task.target, str):
        raise ParameterError(f"target must be the name of a column; got {task.target!r}.")
    predicted = () if task.target is None or task.target in wanted else (task.target,)
    problems = []
    for title, table, needed in _tables(task, wanted, predicted):
        frame = to_narwhals(table)
        if not len(frame):
            raise DataError(f"The {title} table has no rows.")
        problems += [
            f"The {title} table has no column {name!r}.{did_you_mean(name, frame.columns)}"
            for name in needed
            if name not in frame.columns
        ]
    if problems:
        raise ParameterError(" ".join(problems))
    columns = to_narwhals(task.original).columns
    if unknown := unknown_columns(task.groups, columns):
        raise ParameterError(f"groups: {' '.join(unknown)}")


def _tables(
    task: Task, wanted: tuple[str, ...], predicted: tuple[str, ...]
) -> list[tuple[str, Frame, tuple[str, ...]]]:
    """Return all tables with what each is called, and the columns that it must have."""
    tables = [("original", task.original, (*wanted, *predicted))]
    for given in task.releases:
        for number, table in enumerate(given.tables, 1):
            title = "synthetic" if given.name == RELEASE else f"synthetic ({given.name})"
            several = f" {number}" if len(given.tables) > 1 else ""
            tables.append((f"{title}{several}", table, (*wanted, *predicted)))
    if task.control is not None:
        tables.append(("control", task.control, wanted))
    if task.test is not None and task.target is not None:
        tables.append(("test", task.test, (task.target,)))
    return tables


def with_types_matched(task: Task) -> tuple[Task, tuple[str, ...]]:
    """Return the task with columns of all tables stored like the original's, and what was changed.

    A release that holds the ages as text is no safer: an attacker would read them.
    """
    titled = [
        ("release" if given.name == RELEASE else f"release {given.name!r}", table)
        for given in task.releases
        for table in given.tables
    ]
    kept_back = {"control table": task.control, "test table": task.test}
    titled += [(name, table) for name, table in kept_back.items() if table is not None]
    named: list[tuple[str, Frame]] = []
    notes: list[str] = []
    for title, table in titled:
        is_release = title.startswith("release")
        known, said = match_names(task.original, table, title) if is_release else (table, ())
        named.append((title, known))
        notes += said
    matched = match_types(task.original, named)
    rest = iter(matched.others)
    releases = tuple(
        replace(given, tables=tuple(next(rest) for _ in given.tables)) for given in task.releases
    )
    control = None if task.control is None else next(rest)
    test = None if task.test is None else next(rest)
    changed = replace(
        task, original=matched.original, releases=releases, control=control, test=test
    )
    return changed, (*notes, *matched.notes)


def keys_by_kind(task: Task, share: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the keys of numbers or dates that have extremes in a release, and those of text.

    An extreme is above the limit that such a share of the original's values do not exceed.
    """
    schema = to_narwhals(task.original).schema
    keys = task.scenario.keys
    return (
        tuple(name for name in keys if _has_size(schema[name]) and _extreme(task, name, share)),
        tuple(name for name in keys if schema[name] in (nw.String, nw.Categorical, nw.Enum)),
    )


def _has_size(kind: DType) -> bool:
    return kind.is_numeric() or kind.is_temporal()


def _extreme(task: Task, name: str, share: float) -> bool:
    from understudy.synthesis.control import limits_by_share

    try:
        ((_, limit),) = limits_by_share(task.original, {name: (None, share)}).values()
    except ParameterError:  # a column without values, or without an order
        return False
    tables = (to_narwhals(table) for given in task.releases for table in given.tables)
    columns = [table[name] for table in tables if name in table.columns]
    largest = [column.max() for column in columns if _has_size(column.dtype)]
    return any(one is not None and one > limit for one in largest)


def personal_columns(task: Task) -> frozenset[str]:
    """Return the columns in which nearly every original record has a value of its own.

    An identifier is made up anew, and a text in one's own words is like no other: comparing them
    says nothing. Columns that the audit is about are not among them.
    """
    named = {*task.scenario.keys, task.scenario.sensitive, task.target}
    units = () if task.units is None else task.units.names
    return frozenset({*units, *columns_of_own_values(task.columns)} - named)


def columns_of(original: Frame) -> Schema | None:
    """Return what the columns of a table are; None if they cannot be described."""
    try:
        with reporting(None):  # the audit has a bar of its own
            return Schema.infer(original, dependencies=False)
    except UnderstudyError:
        return None


def columns_of_own_values(columns: Schema | None) -> set[str]:
    """Return the columns of identifiers and of free text."""
    return {column.name for column in columns or () if column.kind in OWN}
