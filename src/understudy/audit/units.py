"""An audit by unit: people, households or firms with several records count once.

Records of one unit are alike, so that they are neither independent evidence nor independent
chances. Attacks therefore see one record of each unit, drawn at random, in the original and among
the control records, unless a measure says that it looks at whole units or at all records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.arguments import as_names
from understudy.audit.task import Task
from understudy.data.declared import declare_like
from understudy.data.frames import Frame, column_to_arrow, to_narwhals
from understudy.data.identifier_look import words_of
from understudy.data.unit_look import Repeats, why_unit
from understudy.data.units import Codes, one_of_each, units_of
from understudy.errors import ParameterError, unknown_columns
from understudy.wording import Unit, listed, quoted

_STREAM = 1_970_170_729
"""Sets the draws of records apart from others that are given the same seed."""

_NOUNS = {
    "household": "households",
    "hh": "households",
    "hhid": "households",
    "person": "people",
    "pers": "people",
    "pid": "people",
    "patient": "patients",
    "subject": "subjects",
    "customer": "customers",
    "client": "clients",
    "user": "users",
    "userid": "users",
    "patientid": "patients",
    "personid": "people",
    "student": "students",
    "employee": "employees",
    "worker": "workers",
    "member": "members",
    "family": "families",
    "firm": "firms",
    "company": "companies",
    "business": "businesses",
    "hospital": "hospitals",
    "school": "schools",
    "order": "orders",
    "account": "accounts",
}
"""What a unit is called, by a word in the name of its column."""


@dataclass(frozen=True, eq=False)
class Units:
    """The units of the tables of an audit.

    Parameters
    ----------
    names : tuple of str
        The columns that name a unit together.
    original : ndarray of int64
        The unit of each original record, from 0.
    control : ndarray of int64 or None
        The same of the control records; None if there are none.
    rows, control_rows : ndarray of int64
        A record of each unit, drawn at random.
    """

    names: tuple[str, ...]
    original: Codes
    control: Codes | None
    rows: NDArray[np.int64]
    control_rows: NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many units the original has."""
        return len(self.rows)


def read_unit_id(unit_id: object, task: Task) -> tuple[str, ...]:
    """Return the columns that name the unit; those of a model if nothing is said.

    Raises
    ------
    ParameterError
        If the original lacks one, or one is a key, the sensitive column or the target.
    """
    columns = to_narwhals(task.original).columns
    if unit_id is None:
        schemas = [given.model.schema_ for given in task.releases if given.model is not None]
        named = next((schema.units for schema in schemas if schema.units), ())
        names = named if all(name in columns for name in named) else ()
    elif isinstance(unit_id, Sequence):
        names = tuple(dict.fromkeys(as_names(unit_id)))
    else:
        raise ParameterError(f"unit_id must name columns; got {unit_id!r}.")
    if problems := unknown_columns(names, columns):
        raise ParameterError(f"unit_id: {' '.join(problems)}")
    used = {*task.scenario.keys, task.scenario.sensitive, task.target}
    if both := [name for name in names if name in used]:
        raise ParameterError(
            f"unit_id: {quoted(both)} names a unit, so it cannot be a key, the sensitive column or "
            "the target. Its values are made up in a release."
        )
    return names


def name_of_units(names: Sequence[str]) -> str:
    """Return what units are called if nobody says it: after the column, else units.

    Examples
    --------
    >>> name_of_units(["household_id"]), name_of_units(["nr"]), name_of_units(["hh", "pers"])
    ('households', 'units', 'people')
    """
    found = [_NOUNS[word] for name in names for word in words_of(name) if word in _NOUNS]
    return found[-1] if found else "units"


def with_units(task: Task, names: tuple[str, ...]) -> tuple[Task, Units, tuple[str, ...]]:
    """Return the task with control and test records of other units only, the units, and notes.

    Control records of a unit that is in the original are none: the synthesis has seen the unit.
    """
    original = units_of(task.original, names)
    notes: list[str] = []
    control = task.control
    if control is not None:
        control, told = _other_units(task.original, control, names, "control")
        notes += told
    test = task.test
    if test is not None and set(names) <= set(to_narwhals(test).columns):
        test, told = _other_units(task.original, test, names, "test")
        notes += told
    rng = np.random.default_rng([task.seed, _STREAM])
    rows = one_of_each(original, rng)
    codes = None if control is None else units_of(control, names)
    units = Units(
        names,
        original,
        codes,
        rows,
        np.empty(0, np.int64) if codes is None else one_of_each(codes, rng),
    )
    task = replace(task, control=control, test=test, units=units, unit_id=names)
    return task, units, tuple(notes)


def _other_units(
    original: Frame, control: Frame, names: tuple[str, ...], title: str
) -> tuple[Frame | None, Iterator[str]]:
    """Return control or test records whose units are not in the original, and what was left out."""
    table = to_narwhals(control)
    if lacking := [name for name in names if name not in table.columns]:
        text = (
            f"The {title} records lack {quoted(lacking)}, so that nobody can tell whether their "
            "units are in the original, and they were not used."
        )
        return None, iter([text])
    seen, held = (
        to_narwhals(frame).select(list(names)).to_polars().with_columns(pl.all().cast(pl.String))
        for frame in (original, control)
    )
    known = held.join(seen.unique().with_columns(_inside=True), on=list(names), how="left")
    inside = known["_inside"].fill_null(value=False).to_numpy()
    if not inside.any():
        return control, iter(())
    codes = units_of(control, names)
    count, every = len(np.unique(codes[inside])), int(codes.max()) + 1
    text = (
        f"{count:,} of the {every:,} units of the {title} records are in the original too, by "
        f"{quoted(names)}. Their records were not used: the synthesis has seen these units. Give "
        "records of units that no synthesis used."
    )
    if inside.all():
        return None, iter([text])
    return declare_like(table.filter((~inside).tolist()).to_native(), control), iter([text])


def one_record_each(task: Task) -> Task:
    """Return the task with one record of each unit in the original and among control records."""
    units = task.units
    if units is None:
        return task

    def some(frame: Frame, rows: NDArray[np.int64]) -> Frame:
        return declare_like(to_narwhals(frame)[rows.tolist()].to_native(), frame)

    control = None if task.control is None else some(task.control, units.control_rows)
    return replace(task, original=some(task.original, units.rows), control=control, units=None)


def about_units(units: Units, unit: str, sizes: Codes) -> str:
    """Say what the units are, and how they are counted."""
    words, records = Unit.of(unit), len(units.original)
    fewest, most = int(sizes.min()), int(sizes.max())
    each = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
    return (
        f"{words.count(units.count)} with {records:,} records, {each} each, are named by "
        f"{quoted(units.names)}. Risk is counted by {words.one}: lookalikes are those of any of "
        "its records, and other attacks see one record of each, drawn at random, in the original "
        "and among control records."
    )


def values_of_units(frame: Frame, name: str) -> int:
    """Return how many values a column has that looks like the name of units; else 0."""
    array = column_to_arrow(to_narwhals(frame)[name], name)
    return Repeats.of(array).values if why_unit(name, array) else 0


def looking_like_units(frame: Frame) -> str:
    """Say which columns look like names of units although none was named; empty if none does."""
    table = to_narwhals(frame)
    known = {name: values_of_units(frame, name) for name in table.columns}
    found = [f"{name!r} ({values:,} values)" for name, values in known.items() if values]
    if not found:
        return ""
    look = "looks like the name of a unit" if len(found) == 1 else "look like names of units"
    return (
        f"{listed(found)} {look} with several of the {len(table):,} records. Figures count "
        "records, and p-values take them for independent. If it is one, name it (unit_id), so "
        "that risk is counted by unit."
    )
