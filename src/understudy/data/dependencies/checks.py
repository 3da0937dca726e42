"""Whether the columns that a dependency names are of kinds for which it can hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from understudy.data.dependencies.families import (
    PART_CODES,
    PARTS,
    Composite,
    Dependency,
    Form,
    Formula,
    MissingWhen,
    Ordered,
)
from understudy.data.schema import NUMERIC, Schema
from understudy.errors import did_you_mean

_OF_DAY: tuple[Form, ...] = ("hour", "minute", "second", "hhmm")
_OF_CODES = {form for forms in PART_CODES.values() for form in forms}


def parts_of(kind: pa.DataType) -> Sequence[Form]:
    """Return the parts that dates or times of a type have.

    Examples
    --------
    >>> parts_of(pa.time64("us"))
    ('hour', 'minute', 'second', 'hhmm')
    """
    if pa.types.is_date(kind):
        return [form for form in PARTS if form not in _OF_DAY]
    return _OF_DAY if pa.types.is_time(kind) else PARTS


def misfits(one: Dependency, schema: Schema, types: Mapping[str, pa.DataType]) -> list[str]:
    """Return why a dependency cannot hold, whatever the values are: a sentence for each reason."""
    columns = _Columns(schema, types)
    found: Iterator[str] = iter(())
    if isinstance(one, Formula):
        found = columns.of_formula(one)
    elif isinstance(one, Ordered):
        found = columns.of_ordering(one)
    elif isinstance(one, Composite):
        found = iter(
            () if columns.whole(one.column) else (f"{one.column!r} holds no whole numbers",)
        )
    elif isinstance(one, MissingWhen):
        found = columns.of_level(one)
    return [f"{one.sentence}: {problem}." for problem in found]


@dataclass(frozen=True)
class _Columns:
    """What the columns of a table hold."""

    schema: Schema
    types: Mapping[str, pa.DataType]

    def timed(self, name: str) -> bool:
        """Whether it holds dates or times."""
        kind = self.types[name]
        numeric = self.schema[name].kind in NUMERIC
        return numeric and pa.types.is_temporal(kind) and not pa.types.is_duration(kind)

    def dated(self, name: str) -> bool:
        """Whether it holds dates, with or without a time."""
        return self.timed(name) and not pa.types.is_time(self.types[name])

    def number(self, name: str) -> bool:
        """Whether it holds numbers, or lengths of time."""
        return self.schema[name].kind in NUMERIC and not self.timed(name)

    def whole(self, name: str) -> bool:
        """Whether it holds whole numbers."""
        return self.number(name) and self.schema[name].kind == "integer"

    def of_formula(self, one: Formula) -> Iterator[str]:
        """Yield what is wrong with the columns of a formula."""
        if one.form == "date":
            names = (one.column, one.of[0])
            yield from (f"{name!r} holds no dates" for name in names if not self.dated(name))
            return
        if not self.number(one.column):
            yield f"{one.column!r} holds no numbers"
        if one.form in PARTS:
            yield from self._of_part(one.of[0], one.form)
        elif one.form == "gap":
            wrong = [name for name in one.of if not self.timed(name)]
            yield from (f"{name!r} holds no dates or times" for name in wrong)
            if not wrong and self.dated(one.of[0]) != self.dated(one.of[1]):
                yield "one holds times of day, the other dates"
        elif one.form == "years":
            yield from (f"{name!r} holds no dates" for name in one.of if not self.dated(name))
        else:
            yield from (f"{name!r} holds no numbers" for name in one.of if not self.number(name))

    def _of_part(self, name: str, form: Form) -> Iterator[str]:
        if self.timed(name):
            if form not in parts_of(self.types[name]):
                yield f"{name!r} has no {form}"
        elif not self.whole(name) or form not in _OF_CODES:
            yield f"{name!r} holds no dates or times"

    def of_ordering(self, one: Ordered) -> Iterator[str]:
        """Yield what is wrong with two columns of which one is never above the other."""
        names = (one.low, one.high)
        wrong = [name for name in names if self.schema[name].kind not in NUMERIC]
        yield from (f"{name!r} holds no numbers or dates" for name in wrong)
        low, high = (self.types[name] for name in names)
        if not wrong and any(map(self.timed, names)) and low != high:
            yield f"one is {low}, the other {high}"

    def of_level(self, one: MissingWhen) -> Iterator[str]:
        """Yield what is wrong with the level at which a column is missing."""
        if one.level is None:
            return
        kind = self.types[one.other]
        levels = self.schema[one.other].levels
        try:
            pa.scalar(one.level).cast(kind.value_type if pa.types.is_dictionary(kind) else kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            yield f"{one.other!r} is {kind}, and has no such value"
            return
        if levels and one.level not in levels:
            hint = did_you_mean(str(one.level), [str(level) for level in levels])
            yield f"{one.other!r} has no such value.{hint}".removesuffix(".")
