"""What each column was taken for, why, and what to write to change it.

What needs a look comes first: columns that are refused or made up anew, numbers that may be names
or labels, special values, formats, rare levels. Nothing of a single record is told: levels that
occur once are counted and not named, and neither the smallest nor the largest number is given.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import polars as pl

from understudy.data.column_remarks import TOPICS, Remark, remarks_about
from understudy.data.dependency_remarks import dependency_remarks
from understudy.data.frames import Backend, Frame, to_backend
from understudy.data.inspection import form_problems
from understudy.data.schema import Column, Schema
from understudy.data.source import TableSource, source_of
from understudy.wording import counted, shortened

_NAMES_SHOWN = 8

Change = Callable[[Remark, Sequence[str]], str]
"""Says what changes a remark about some columns."""


@dataclass(frozen=True)
class Decision:
    """What one column was taken for."""

    column: str
    kind: str
    read_as: str
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True)
class Reading:
    """A row of the table that is shown: columns that were read alike, and what to know of them.

    `change` is what to write in the schema file, or to do, if it is wrong.
    """

    columns: tuple[str, ...]
    read_as: str
    why: str = ""
    change: str = ""

    @property
    def named(self) -> str:
        """The columns in words; of many, the first."""
        if len(self.columns) == 1:
            return shortened(self.columns[0])
        shown = list(map(shortened, self.columns[:_NAMES_SHOWN]))
        more = len(self.columns) - len(shown)
        shown += [f"{more:,} more"] if more else []
        return f"{len(self.columns):,} columns: {', '.join(shown)}"


@dataclass(frozen=True, eq=False)
class Decisions:
    """What every column of a table was taken for; made by `decisions`."""

    columns: tuple[Decision, ...]
    _backend: Backend = field(default="polars", repr=False)

    def __iter__(self) -> Iterator[Decision]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, name: str) -> Decision:
        return next(one for one in self.columns if one.column == name)

    @property
    def warnings(self) -> list[tuple[Decision, Remark]]:
        """What needs a look, the gravest first."""
        found = [(one, remark) for one in self.columns for remark in one.remarks]
        return sorted(found, key=lambda pair: TOPICS.index(pair[1].topic))

    def readings(self, change: Change | None = None) -> list[Reading]:
        """Return the rows to show: what needs a look first, and then all others, together.

        `change` says what changes a remark about some columns; by default it is the remark's line.
        """
        rows: dict[tuple[str, Remark], list[str]] = {}
        for one, remark in self.warnings:
            rows.setdefault((one.read_as, remark), []).append(one.column)
        found = [
            Reading(
                tuple(names),
                read_as,
                remark.why,
                change(remark, names) if change else remark.line,
            )
            for (read_as, remark), names in islice(rows.items(), MOST_REMARKS)
        ]
        others = [name for names in islice(rows.values(), MOST_REMARKS, None) for name in names]
        if others:
            others = list(dict.fromkeys(others))
            found.append(Reading(tuple(others), "several", _MORE_REMARKS))
        plain: dict[str, list[str]] = {}
        for one in self.columns:
            if not one.remarks:
                plain.setdefault(one.read_as, []).append(one.column)
        return found + [Reading(tuple(names), read_as) for read_as, names in plain.items()]

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each remark, and one for each column without any."""
        nothing = (Remark("format", ""),)
        rows = [
            {
                "column": one.column,
                "kind": one.kind,
                "read_as": one.read_as,
                "topic": remark.topic if remark.why else "",
                "why": remark.why,
                "change": remark.line,
            }
            for one in self.columns
            for remark in one.remarks or nothing
        ]
        names = ("column", "kind", "read_as", "topic", "why", "change")
        frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String))
        return to_backend(frame, self._backend if backend is None else backend)

    def __str__(self) -> str:
        return "\n".join(
            f"{row.named}: {row.read_as}"
            + (f"; {row.why}" if row.why else "")
            + (f" ({row.change})" if row.change else "")
            for row in self.readings()
        )

    def _repr_html_(self) -> str:
        """Return the table for notebooks; every value is escaped."""
        head = "".join(f"<th>{name}</th>" for name in HEADINGS)
        body = "".join(
            "<tr>"
            + "".join(
                f"<td>{html.escape(text)}</td>"
                for text in (row.named, row.read_as, row.why, row.change)
            )
            + "</tr>"
            for row in self.readings()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


MOST_REMARKS = 200
"""Rows of remarks that are shown; a table of thousands of columns may have as many."""
_MORE_REMARKS = "more remarks like these; `understudy.data.decisions(table).to_frame()` has all"
HEADINGS = ("column", "read as", "why, and what to know", "to change it")
"""What stands above the columns of the table that is shown."""


def decisions(
    data: Frame | TableSource,
    schema: Schema | None = None,
    *,
    formats: Mapping[str, str] | None = None,
) -> Decisions:
    """Say what each column of a table was taken for, why, and how to change that.

    Parameters
    ----------
    data : frame or TableSource
        The table.
    schema : Schema, optional
        What the columns are taken for; inferred if not given.
    formats : mapping of str to str, optional
        How the text of some columns was read, in words, such as "dates as dd/mm/yyyy".

    Returns
    -------
    Decisions
        With `to_frame`, `warnings` and a row for each column; `print` shows it.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"id": range(1, 31), "sex": ["f", "m"] * 15})
    >>> print(decisions(table))
    id: identifier; values replaced: all 30 differ, and the name says so (kind = "integer")
    sex: category
    """
    source = source_of(data)
    schema = schema or Schema.infer(source)
    told = formats or {}
    between = dependency_remarks(source, schema)
    found = []
    for name, array in source.describe([name for name in source.layout.types if name in schema]):
        column = schema[name]
        # A table that does not fit the schema is told so elsewhere.
        remarks = [] if form_problems(column, array) else list(remarks_about(column, array))
        if told.get(name):
            remarks.append(Remark("format", told[name]))
        remarks += between.get(name, ())
        remarks.sort(key=lambda one: TOPICS.index(one.topic))
        found.append(Decision(name, column.kind, read_as(column), tuple(remarks)))
    return Decisions(tuple(found), source.layout.backend)


def read_as(column: Column) -> str:
    """Return what a column is taken for, in a few words.

    Examples
    --------
    >>> read_as(Column("age", "integer", range=(16, 49)))
    'number in 20 groups'
    """
    if column.kind == "identifier":
        return "identifier"
    if column.kind == "text":
        return "free text"
    if column.kind == "boolean":
        return "true or false"
    if column.kind == "categorical":
        return "category"
    noun = "date or time" if column.kind == "datetime" else "number"
    if not column.binned:
        return f"{noun} as levels"
    groups = len(column.edges) - 1 if column.binning == "edges" else column.bins
    return f"{noun} in {counted(groups, 'group')}"
