"""The records of a panel as its models see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data.bins import Decoding
from understudy.data.codec import Codec
from understudy.data.coded import Coded
from understudy.data.panel_records import Records, Values
from understudy.data.schema import NUMERIC, Schema
from understudy.synthesis.panel.changes import Change, can_change, places_of
from understudy.synthesis.panel.outline import Outline
from understudy.synthesis.panel.parts import Codings, Names, Parts, codec_of_numbers

Tables = dict[str, dict[str, NDArray[Any]]]
"""The codes of each part's columns."""


@dataclass(frozen=True, eq=False)
class Reading:
    """The columns of a panel, its records in order.

    Parameters
    ----------
    codec : Codec
        The coding of the table.
    outline : Outline
        How its columns are drawn.
    columns : mapping
        The values, as they stand in the table.
    codes : mapping
        The codes, as they stand in the table.
    records : Records
        The order.
    possible : ndarray of bool
        Which of the ordered records a model of this outline can draw, as far as was seen.
    """

    codec: Codec
    outline: Outline
    columns: Mapping[str, pa.Array]
    codes: Mapping[str, NDArray[Any]]
    records: Records
    possible: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        codec: Codec,
        outline: Outline,
        columns: Mapping[str, pa.Array],
        coded: Coded,
        records: Records,
    ) -> Reading:
        """Read the columns of a table."""
        codes = dict(zip(coded.names, coded.columns, strict=True))
        found = cls(codec, outline, columns, codes, records, np.ones(len(coded), bool))
        later = records.later
        for name in outline.constant:
            found.possible[later] &= found._values(name).same(*found.pairs)
        for counter in outline.counters:
            found.possible[:] &= ~found._values(counter.name).missing[records.order]
            if counter.step is not None:
                found.possible[later] &= found.steps(counter.name) == counter.step
        return found

    @property
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows of the records that have one before them, and the rows of these."""
        order, later = self.records.order, self.records.later
        return order[later], order[later - 1]

    def _values(self, name: str) -> Values:
        numeric = self.codec.schema[name].kind in NUMERIC
        return Values.of(self.columns[name], name, numeric=numeric)

    def numbers(self, name: str) -> NDArray[Any]:
        """Return the numbers of a counter, in order."""
        counter = next(one for one in self.outline.counters if one.name == name)
        values, order = self._values(name).take(self.records.order), self.records.order
        return counter.read(values, self.codes[name][order])

    def steps(self, name: str) -> NDArray[Any]:
        """Return the steps of a counter, of each record that has one before it."""
        counter = next(one for one in self.outline.counters if one.name == name)
        numbers, later = self.numbers(name), self.records.later
        return counter.rounded(numbers[later] - numbers[later - 1])

    def beside(self, names: Names) -> dict[str, NDArray[Any]]:
        """Return the numbers that no column of the table holds, and where counters begin."""
        records = self.records
        begins = (records.number == 0).astype(np.int64)
        found: dict[str, NDArray[Any]] = {names.count: records.counts, names.begins: begins}
        if self.outline.numbered and len(records.later):
            found[names.number] = records.number[records.later] + 1
        firsts = {one.name: self.numbers(one.name)[records.firsts] for one in self.outline.counters}
        return found | firsts

    def moves(self, names: Names) -> dict[str, NDArray[Any]]:
        """Return the steps that differ."""
        return {names.step(one.name): self.steps(one.name) for one in self.outline.moving}

    def find_changes(self, kept: frozenset[str], how: Decoding) -> dict[str, Change]:
        """Learn how numbers change, but for columns that are to be drawn as they are."""
        found = {}
        for name in self.outline.varying:
            if name not in kept and can_change(self.codec, name):
                places = self._places(name, how)
                codes = self.codes[name]
                found[name] = Change.fit(name, self.codec, codes, places, self._when, self.pairs)
        return found

    @property
    def _when(self) -> NDArray[np.uint32]:
        """The codes of time, as records stand in the table; 0 if there is no time."""
        clock = self.outline.clock
        found = np.zeros(len(self.records.order), np.uint32)
        if clock is not None:
            found[self.records.order] = clock.codes(self.codec, self.numbers(clock.name))
        return found

    def _places(self, name: str, how: Decoding) -> NDArray[np.float64] | None:
        return places_of(self.codec, name, self.columns[name], self.codes[name], how)

    def changed(self, change: Change, how: Decoding) -> pa.Array:
        """Return the changes of a column, of each record that has one before it."""
        codes = self.codes[change.name]
        scores = change.scores(self.codec, codes, self._places(change.name, how), self._when)
        same = self._values(change.name).same(*self.pairs)
        return change.values(self.codec, codes, scores, self.pairs, same)

    def parts(
        self,
        changes: Mapping[str, Change],
        hidden: frozenset[str],
        *,
        exact: bool,
        ends: int,
        how: Decoding,
    ) -> Parts:
        """Return the parts of the panel, with the codings of numbers that the table does not hold.

        Their lowest and highest rest on at least `ends` records, like those of the table.
        """
        names = Names(self.codec.schema.names)
        steps = self.moves(names)
        table = Codings()
        for name, change in changes.items():
            own = names.change(name)
            drawn = self.changed(change, how)
            schema = Schema([change.column(self.codec, own, drawn)])
            frame = pa.table({own: drawn})
            table.add(own, Codec.fit(frame, schema, exact=exact, ends=ends), own)
        return Parts(
            self.codec,
            self.outline,
            codec_of_numbers(self.beside(names), exact=exact, ends=ends),
            codec_of_numbers(steps, exact=exact, ends=ends) if steps else None,
            table.codec() if changes else None,
            hidden,
        )

    def tables(self, parts: Parts, changes: Mapping[str, Change], how: Decoding) -> Tables:
        """Return the codes of each part's columns; records without a code are not possible."""
        records, outline, names = self.records, self.outline, parts.names
        later, order = records.later, records.order
        codes = {name: own[order] for name, own in self.codes.items()}
        rows = {names.number: later, names.begins: np.arange(len(order))}
        beside = {
            name: self._assign(parts.units, name, pa.array(own), rows.get(name, records.firsts))
            for name, own in self.beside(names).items()
        }
        counts, begins = beside[names.count], beside.pop(names.begins)
        number = beside.pop(names.number, None)
        unit = {name: codes[name][records.firsts] for name in outline.constant} | beside
        counted = {
            one.name: one.codes(self.codec, self.numbers(one.name)) for one in outline.counters
        }
        start = codes | counted | {names.count: counts[records.unit], names.begins: begins}
        known = {name: codes[name][later] for name in outline.constant}
        known |= {names.before(name): codes[name][later - 1] for name in outline.varying}
        known[names.count] = counts[records.unit[later]]
        if number is not None:
            known[names.number] = number
        steps = {}
        if parts.steps is not None:
            for name, own in self.moves(names).items():
                steps[name] = self._assign(parts.steps, name, pa.array(own), later)
        now = {name: codes[name][later] for name in outline.varying}
        if parts.changes is not None:
            for name, change in changes.items():
                own = self.changed(change, how)
                now[names.change(name)] = self._assign(
                    parts.changes, names.change(name), own, later
                )
        before = {names.before(name): own[later - 1] for name, own in counted.items()}
        now |= {name: own[later] for name, own in counted.items()}
        moves, following = known | before | steps, known | steps | now
        return {"unit": unit, "start": start, "moves": moves, "following": following}

    def _assign(
        self, codec: Codec, name: str, values: pa.Array, rows: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the codes of values; those without one make the records `rows` impossible."""
        coder = codec.coders[name]
        codes, missing = coder.assign(values)
        can_miss = codec.schema[name].missing > 0
        self.possible[rows] &= np.where(missing, can_miss, codes >= 0)
        return np.where(missing & can_miss, coder.known, np.maximum(codes, 0))
