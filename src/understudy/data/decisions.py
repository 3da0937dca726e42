"""What each column was taken for, why, and what to write to change it.

What needs a look comes first: columns that are refused or made up anew, numbers that may be names
or labels, special values, formats, rare levels. Nothing of a single record is told: levels that
occur once are counted and not named, and neither the smallest nor the largest number is given.
"""

from __future__ import annotations

import html
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.coders import as_numbers
from understudy.data.frames import Backend, Frame, to_backend
from understudy.data.identifier_look import (
    FEWEST,
    looks_like_epoch,
    named_like_codes,
    named_like_one,
    text_in_disguise,
    why_number_is_one,
)
from understudy.data.inspection import form_problems, is_prose
from understudy.data.schema import NUMERIC, Column, Schema
from understudy.data.stream import FileStream, columns_of, layout_of
from understudy.data.values import numbers
from understudy.wording import counted, listed

Topic = Literal[
    "refused", "made up", "all differ", "may be a name", "codes", "special", "format", "rare"
]
"""What there is to know about a column; in this order they are told."""

FEWEST_TOLD = 5
"""A special number is named if so many records have it, else only counted."""

RARE_BELOW = 5
_NAMES_SHOWN = 8
_ORDER = ("refused", "made up", "all differ", "may be a name", "codes", "special", "format", "rare")


@dataclass(frozen=True)
class Remark:
    """Something to know about how a column was read.

    Parameters
    ----------
    topic : str
        What it is about: see `Topic`.
    why : str
        What was decided and why, in words.
    line : str
        The line for the column's section of the schema file that changes it; empty if there is
        none.
    option : str
        The option of the command line that changes it, with `COLUMN` for the column; empty if there
        is none.
    """

    topic: Topic
    why: str
    line: str = ""
    option: str = ""

    def typed(self, column: str) -> str:
        """Return the option as it is typed for a column.

        Examples
        --------
        >>> Remark("codes", "", option="--kind COLUMN=categorical").typed("zip code")
        "--kind 'zip code=categorical'"
        """
        # A list of names has commas between them: a name with one is in double quotes.
        listed = self.option.startswith("--drop") and "," in column
        name = f'"{column}"' if listed else column
        words = self.option.split()
        return " ".join(shlex.quote(word.replace("COLUMN", name)) for word in words)


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

    `change` is what to type or to write in the schema file if it is wrong.
    """

    columns: tuple[str, ...]
    read_as: str
    why: str = ""
    change: str = ""

    @property
    def named(self) -> str:
        """The columns in words; of many, the first."""
        if len(self.columns) == 1:
            return self.columns[0]
        shown = list(self.columns[:_NAMES_SHOWN])
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
        return sorted(found, key=lambda pair: _ORDER.index(pair[1].topic))

    def readings(self) -> list[Reading]:
        """Return the rows to show: what needs a look first, and then all others, together."""
        rows: dict[tuple[str, Remark], list[str]] = {}
        for one, remark in self.warnings:
            rows.setdefault((one.read_as, remark), []).append(one.column)
        found = [
            Reading(
                tuple(names),
                read_as,
                remark.why,
                (remark.typed(names[0]) if len(names) == 1 else remark.option) or remark.line,
            )
            for (read_as, remark), names in rows.items()
        ]
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
                "line": remark.line,
                "option": remark.typed(one.column),
            }
            for one in self.columns
            for remark in one.remarks or nothing
        ]
        names = ("column", "kind", "read_as", "topic", "why", "line", "option")
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


HEADINGS = ("column", "read as", "why, and what to know", "to change it")
"""What stands above the columns of the table that is shown."""


def decisions(
    data: Frame | FileStream,
    schema: Schema | None = None,
    *,
    formats: Mapping[str, str] | None = None,
) -> Decisions:
    """Say what each column of a table was taken for, why, and how to change that.

    Parameters
    ----------
    data : frame or FileStream
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
    id: identifier; values replaced: all 30 differ, and the name says so (--kind id=integer)
    sex: category
    """
    schema = schema or Schema.infer(data)
    told = formats or {}
    found = []
    for name, array in columns_of(data):
        if name not in schema:
            continue
        column = schema[name]
        # A table that does not fit the schema is told so elsewhere.
        remarks = [] if form_problems(column, array) else list(_remarks(column, array))
        if told.get(name):
            remarks.append(Remark("format", told[name]))
        remarks.sort(key=lambda one: _ORDER.index(one.topic))
        found.append(Decision(name, column.kind, read_as(column), tuple(remarks)))
    return Decisions(tuple(found), layout_of(data).backend)


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


def _remarks(column: Column, array: pa.Array) -> Iterator[Remark]:
    if column.kind == "text":
        yield _refused(array)
    elif column.kind == "identifier":
        yield _made_up(column, array)
    elif column.kind in NUMERIC:
        yield from _about_numbers(column, array)
    elif column.kind == "categorical":
        values = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
        times = _counts(values)
        yield from _about_names(column, times)
        yield from _rare(column, times, option=f"--group-rare {RARE_BELOW}")


def _counts(values: pa.Array) -> NDArray[np.int64]:
    """Return how often each value occurs that is not missing."""
    found = values.drop_null().value_counts().field("counts")
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64)


def _refused(array: pa.Array) -> Remark:
    values = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    times = _counts(values)
    what = text_in_disguise(values) if pa.types.is_string(values.type) or _is_large(values) else ""
    if what:
        why = f"refused: it looks like {what} written as text"
    elif len(times) and len(times) == times.sum() and is_prose(values):
        why = "refused: all values differ, and most are sentences"
    elif len(times) * 2 > times.sum():
        why = "refused: most values stand for one record each"
    else:
        why = "refused: the schema says that it is text"
    return Remark("refused", why, 'kind = "categorical"', "--drop COLUMN")


def _is_large(values: pa.Array) -> bool:
    return bool(pa.types.is_large_string(values.type) or pa.types.is_string_view(values.type))


def _made_up(column: Column, array: pa.Array) -> Remark:
    values = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    kind, why = "categorical", ""
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        found = numbers(values, column.name).as_whole()
        distinct, times = np.unique(found.present, return_counts=True)
        kind, why = "integer", why_number_is_one(column.name, distinct, int(times.sum()))
    else:
        times = _counts(values)
        if len(times) == times.sum():
            why = "the name says so" if named_like_one(column.name) else _look(values)
    if why:
        reason = f"values replaced: all {len(times):,} differ, and {why}"
    else:
        reason = "values replaced: the schema says that it names somebody"
    return Remark("made up", reason, f'kind = "{kind}"', f"--kind COLUMN={kind}")


def _look(values: pa.Array) -> str:
    """Return what texts that all differ look like."""
    spaced = pc.sum(pc.match_substring(values.cast(pa.string()), " ")).as_py() or 0
    return "they look like names" if spaced > len(values) / 2 else "they look like codes"


def _about_numbers(column: Column, array: pa.Array) -> Iterator[Remark]:
    found = numbers(array, column.name)
    values, times = np.unique(found.present, return_counts=True)
    if column.kind == "integer" and not pa.types.is_duration(array.type):
        yield from _about_whole(column, values, times)
    if column.special:
        yield _special(column, array, values, times)
    if column.levels:
        yield from _rare(column, times, line="bins = 10, no levels")


def _about_whole(
    column: Column, values: NDArray[Any], times: NDArray[np.int64]
) -> Iterator[Remark]:
    option = "--kind COLUMN=identifier"
    if len(values) == times.sum() >= FEWEST:
        epoch = looks_like_epoch(values)
        what = ", and may be times since 1970" if epoch else ""
        yield Remark(
            "all differ",
            f"all values differ{what}: if they name somebody, make it an identifier",
            'kind = "identifier"',
            option,
        )
    else:
        yield from _about_names(column, times)
    if column.binned and (named_like_codes(column.name) or _look_like_codes(values, times)):
        yield Remark(
            "codes",
            "may be codes, read as amounts: if they are labels, make it categorical",
            'kind = "categorical"',
            "--kind COLUMN=categorical",
        )


def _about_names(column: Column, times: NDArray[np.int64]) -> Iterator[Remark]:
    """Yield a remark if a name says that values stand for somebody, although they repeat."""
    if named_like_one(column.name) and len(times) > FEWEST:
        yield Remark(
            "may be a name",
            "the name says that it names somebody, but values repeat: make it an identifier",
            'kind = "identifier"',
            "--kind COLUMN=identifier",
        )


def _look_like_codes(values: NDArray[Any], times: NDArray[np.int64]) -> bool:
    """Whether whole numbers are few of many with as many digits, each of several records."""
    if len(values) < 2 or len(values) * 3 > times.sum() or values[0] < 1000:
        return False
    whole = values.astype(np.int64)
    if len(str(whole[0])) != len(str(whole[-1])):
        return False
    sparse = len(whole) < 0.1 * float(whole[-1] - whole[0])
    return sparse and int(np.gcd.reduce(np.diff(whole))) < 5  # amounts are often rounded


def _special(
    column: Column, array: pa.Array, values: NDArray[Any], times: NDArray[np.int64]
) -> Remark:
    known = dict(zip(values.tolist(), times.tolist(), strict=True))
    asked = as_numbers(column.special, column, array.type).tolist()
    told = [
        f"{shown:g}" if isinstance(shown, float) else str(shown)
        for shown, number in zip(column.special, asked, strict=True)
        if known.get(number, 0) >= FEWEST_TOLD
    ]
    rest = len(column.special) - len(told)
    if rest:
        told.append(counted(rest, "other number" if told else "number"))
    alone = "is a group of its own" if len(column.special) == 1 else "are groups of their own"
    return Remark("special", f"{listed(told)} {alone}", "special = []")


def _rare(
    column: Column, times: NDArray[np.int64], *, line: str = "", option: str = ""
) -> Iterator[Remark]:
    once = int(np.count_nonzero(times == 1))
    if once:
        occur = "occurs" if once == 1 else "occur"
        levels = counted(max(len(column.levels), len(times)), "level")
        yield Remark("rare", f"{once:,} of {levels} {occur} once", line, option)
