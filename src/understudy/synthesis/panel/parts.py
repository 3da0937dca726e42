"""What the models of a panel draw: units, first records, steps, and records given the last."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.data.codec import Codec
from understudy.data.coded import Coded, code_dtype
from understudy.data.frames import Layout
from understudy.data.schema import Kind, Schema
from understudy.synthesis.panel.outline import Outline

Numbers = Mapping[str, NDArray[Any]]
"""Numbers by column."""


@dataclass(frozen=True, eq=False)
class Part:
    """What one of the models of a panel draws, and given what.

    Parameters
    ----------
    codec : Codec
        The coding of its columns.
    given : tuple of str
        Columns that are known when the others are drawn.
    before : mapping of str to str
        For a column, the given one with its value in the record before.
    changes : mapping of str to str
        For a column that is not drawn itself, the one of its changes, which is.
    """

    codec: Codec
    given: tuple[str, ...] = ()
    before: Mapping[str, str] = field(default_factory=dict)
    changes: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """All of its columns."""
        return self.codec.names

    @property
    def drawn(self) -> tuple[str, ...]:
        """The columns that it draws."""
        known = {*self.given, *self.changes}
        return tuple(name for name in self.names if name not in known)

    def drawing(self, name: str) -> str | None:
        """Return the column that is drawn for one of the table; None if none is."""
        found = self.changes.get(name, name)
        return found if found in self.drawn else None

    def coded(self, codes: Mapping[str, NDArray[np.integer]]) -> Coded:
        """Return a table of this part from the codes of its columns."""
        columns = tuple(
            np.ascontiguousarray(codes[name], code_dtype(size))
            for name, size in zip(self.names, self.codec.cardinalities, strict=True)
        )
        return Coded(self.names, columns, self.codec.cardinalities)


@dataclass(frozen=True)
class Names:
    """What the columns are called that only the parts of a panel have."""

    taken: Collection[str]

    def before(self, name: str) -> str:
        """Return the name of a column's value in the record before."""
        return self._free(f"{name} (before)")

    def step(self, name: str) -> str:
        """Return the name of a counter's step."""
        return self._free(f"{name} (step)")

    def change(self, name: str) -> str:
        """Return the name of a number's change."""
        return self._free(f"{name} (change)")

    @property
    def count(self) -> str:
        """The number of a unit's records."""
        return self._free("(records of the unit)")

    @property
    def begins(self) -> str:
        """Whether a record is the first of its unit."""
        return self._free("(first of the unit)")

    @property
    def number(self) -> str:
        """The number of a record in its unit."""
        return self._free("(number of the record)")

    def _free(self, name: str) -> str:
        while name in self.taken:
            name += "'"
        return name


def codec_of_numbers(found: Numbers, *, exact: bool, ends: int) -> Codec:
    """Return the coding of some numbers, each a column; columns may be of different lengths."""
    table = Codings()
    for name, own in found.items():
        kind: Kind = "integer" if own.dtype.kind == "i" else "real"
        frame = pl.DataFrame({name: own})
        schema = Schema.infer(frame, kinds={name: kind})
        table.add(name, Codec.fit(frame, schema, exact=exact, ends=ends), name)
    return table.codec()


class Codings:
    """Collects the codings of columns, each from a codec and under a name there."""

    def __init__(self) -> None:
        self._columns: dict[str, tuple[Codec, str]] = {}

    def add(self, name: str, codec: Codec, own: str) -> None:
        """Add a column with the coding that another has in a codec."""
        self._columns[name] = (codec, own)

    def codec(self) -> Codec:
        """Return the coding of all columns that were added."""
        return Codec(
            Schema(
                replace(codec.schema[own], name=name, role="ordinary")
                for name, (codec, own) in self._columns.items()
            ),
            Layout(
                "polars",
                {name: codec.layout.types[own] for name, (codec, own) in self._columns.items()},
            ),
            {name: codec.types[own] for name, (codec, own) in self._columns.items()},
            {name: codec.coders[own] for name, (codec, own) in self._columns.items()},
        )


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a panel.

    Parameters
    ----------
    codec : Codec
        The coding of the whole table.
    outline : Outline
        How the columns are drawn.
    units : Codec
        The coding of what the table's columns do not hold: the number of a unit's records, where
        its counters begin, and the number of a record.
    steps : Codec or None
        The coding of steps that differ; None if there are none.
    changes : Codec or None
        The coding of numbers' changes; None if there are none.
    hidden : frozenset of str
        Columns that no other may depend on.
    """

    codec: Codec
    outline: Outline
    units: Codec
    steps: Codec | None
    changes: Codec | None
    hidden: frozenset[str]

    @property
    def names(self) -> Names:
        """What further columns are called."""
        return Names(self.codec.schema.names)

    @property
    def unit(self) -> Part:
        """The part that draws what a unit has once: constants, its size, where counters begin."""
        table = Codings()
        counted = {counter.name for counter in self.outline.counters}
        for name in self.codec.names:
            if name in counted:
                table.add(name, self.units, name)
            elif name in self.outline.constant and name not in self.hidden:
                table.add(name, self.codec, name)
        table.add(self.names.count, self.units, self.names.count)
        return Part(table.codec())

    @property
    def start(self) -> Part | None:
        """The part that draws the other columns of the first record, learnt from all records.

        Whether a record is the first is given. Columns that nothing depends on may depend on these
        columns, so they are drawn here, too.
        """
        drawn = [n for n in self.codec.names if n in {*self.outline.varying, *self._alone}]
        if not drawn:
            return None
        table = Codings()
        given = self._of_unit(table)
        for counter in self.outline.counters:
            if counter.name not in self.hidden:
                given.append(counter.name)
                table.add(counter.name, self.codec, counter.name)
        given.append(self.names.begins)
        table.add(self.names.begins, self.units, self.names.begins)
        for name in drawn:
            table.add(name, self.codec, name)
        return Part(table.codec(), tuple(given))

    @property
    def _alone(self) -> list[str]:
        """The constants that nothing may depend on."""
        return [name for name in self.outline.constant if name in self.hidden]

    @property
    def moves(self) -> Part | None:
        """The part that draws the steps of counters, given the record before."""
        if self.steps is None:
            return None
        table = Codings()
        given, before = self._known(table)
        for counter in self.outline.counters:
            if counter.name not in self.hidden:
                before[counter.name] = self.names.before(counter.name)
                given.append(before[counter.name])
                table.add(before[counter.name], self.codec, counter.name)
        for name in self.steps.names:
            table.add(name, self.steps, name)
        return Part(table.codec(), tuple(given), before)

    @property
    def following(self) -> Part | None:
        """The part that draws a record given the one before it, and the counters of its own."""
        if not self.outline.varying:
            return None
        table = Codings()
        given, before = self._known(table)
        for counter in self.outline.counters:
            if counter.name not in self.hidden:
                given.append(counter.name)
                table.add(counter.name, self.codec, counter.name)
        for counter in self.outline.moving:
            if counter.name not in self.hidden and self.steps is not None:
                step = self.names.step(counter.name)
                given.append(step)
                table.add(step, self.steps, step)
        changes = {}
        for name in self.outline.varying:
            change = self.names.change(name)
            if self.changes is not None and change in self.changes.coders:
                changes[name] = change
                table.add(change, self.changes, change)
            table.add(name, self.codec, name)
        return Part(table.codec(), tuple(given), before, changes)

    def _of_unit(self, table: Codings) -> list[str]:
        """Return what is known of a unit."""
        given = [name for name in self.outline.constant if name not in self.hidden]
        for name in given:
            table.add(name, self.codec, name)
        table.add(self.names.count, self.units, self.names.count)
        return [*given, self.names.count]

    def _known(self, table: Codings) -> tuple[list[str], dict[str, str]]:
        """Return what is known of any further record: of its unit, and of the record before."""
        given = self._of_unit(table)
        before: dict[str, str] = {}
        for name in self.outline.varying:
            if name not in self.hidden:
                before[name] = self.names.before(name)
                table.add(before[name], self.codec, name)
        given += before.values()
        if self.outline.numbered:
            given.append(self.names.number)
            table.add(self.names.number, self.units, self.names.number)
        return given, before
