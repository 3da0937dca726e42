"""A panel as a model: units with their first records, and each further record given the last."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data.bins import Decoding
from understudy.data.codec import Codec
from understudy.data.coded import Coded, Codes, code_dtype
from understudy.data.coders import BinCoder
from understudy.data.made_up_identifiers import Pattern
from understudy.data.schema import NUMERIC
from understudy.data.values import Numbers, numbers, numbers_to_arrow
from understudy.synthesis.blocks import Block, plan_blocks
from understudy.synthesis.panel.carrying import Carry, places_of
from understudy.synthesis.panel.drawing import PanelBlock, Series, Units, blocks_of, whole_units
from understudy.synthesis.panel.outline import (
    Outline,
    order_records,
    outline_of,
    time_of,
)
from understudy.synthesis.panel.parts import Part, Parts, codec_of_numbers
from understudy.synthesis.panel.records import Records, Values
from understudy.wording import quoted

if TYPE_CHECKING:
    from understudy.synthesis.panel.synthesizer import PanelSynthesizer

LARGE_SHARE = 0.1
"""A unit with more than this share of the records is told: the model is largely about it."""

_PARTS = ("first", "moves", "following")


@dataclass(frozen=True, eq=False)
class Panel:
    """The models of a panel, all of the same method.

    Parameters
    ----------
    parts : Parts
        What they draw, and how it is coded.
    first : PanelSynthesizer
        Draws the first record of a unit, the number of its records, and where its counters begin.
    moves : PanelSynthesizer or None
        Draws the steps of counters given the record before; None if all steps are the same.
    following : PanelSynthesizer or None
        Draws a record given the one before it.
    carries : dict
        How numbers move within a bin.
    n_units : int
        Units that the models were fitted to.
    """

    parts: Parts
    first: PanelSynthesizer
    moves: PanelSynthesizer | None
    following: PanelSynthesizer | None
    carries: dict[str, Carry]
    n_units: int

    @classmethod
    def fit(
        cls,
        owner: PanelSynthesizer,
        columns: Mapping[str, pa.Array],
        coded: Coded,
        rng: np.random.Generator,
    ) -> Panel:
        """Learn a panel from its columns and their codes, with models like `owner`."""
        codec = owner.codec_
        time = time_of(codec, columns)
        codes = dict(zip(coded.names, coded.columns, strict=True))
        records = order_records(codec, columns, time, codes.get(time or ""))
        outline = outline_of(
            codec, columns, codes, records, time, never_counted=owner.columns_never_counted
        )
        owner.check_panel(outline)
        _tell_of_large(records)
        read = _Read.of(codec, outline, columns, coded, records)
        parts = _make_parts(owner, codec, outline, read)
        tables = read.tables(parts)
        seeds = rng.spawn(len(_PARTS))
        models = {
            name: None if part is None else owner.fit_part(part, part.coded(tables[name]), own)
            for (name, part), own in zip(_each(parts), seeds, strict=True)
        }
        assert models["first"] is not None  # noqa: S101  # of any panel
        carries = _fit_carries(codec, outline, columns, coded, records, owner.decode)
        return cls(parts, carries=carries, n_units=len(records), **models)  # type: ignore[arg-type]

    @property
    def outline(self) -> Outline:
        """How the columns are drawn."""
        return self.parts.outline

    @property
    def models(self) -> dict[str, PanelSynthesizer]:
        """The models that there are, by name."""
        found = {name: getattr(self, name) for name in _PARTS}
        return {name: model for name, model in found.items() if model is not None}

    def blocks(
        self, rows: int, seed: np.random.SeedSequence, copy: int, how: Decoding
    ) -> list[Block]:
        """Draw units that have about so many records together, and return them in blocks."""
        pieces, total = [], 0
        # Each unit has a record at least, so that as many units as rows are always enough.
        for block in plan_blocks(rows, seed, copy):
            pieces.append(self._draw_units(block, how))
            total += int(pieces[-1].counts.sum())
            if total >= rows:
                break
        units = Units.concatenate(pieces)
        return blocks_of(units.take(whole_units(units.counts, rows)), seed, copy)

    def _draw_units(self, block: Block, how: Decoding) -> Units:
        rng = block.generator()
        codes = self.first.draw_given({}, block.rows, rng, block.copy)
        coding = self.parts.units

        def decoded(name: str) -> NDArray[Any]:
            built = coding.coders[name].build(codes[name].astype(np.int64), how, rng)
            return numbers(built, name).values

        counts = np.maximum(decoded(self.parts.names.count), 1)
        starts = {one.name: one.rounded(decoded(one.name)) for one in self.outline.counters}
        clock = self.outline.clock
        if clock is not None and clock.step:
            # A unit that would go on beyond the last time begins earlier, or ends there.
            low, high = clock.limits(self.parts.codec)
            counts = np.minimum(counts, 1 + int((high - low) / clock.step + 1e-9))
            starts[clock.name] = np.minimum(
                starts[clock.name], high - (counts - 1) * clock.step
            ).astype(starts[clock.name].dtype)
        return Units(codes, counts, starts)

    def series(self, block: Block, rng: np.random.Generator, how: Decoding) -> Series:
        """Draw all records of a block's units."""
        assert isinstance(block, PanelBlock) and block.units is not None  # noqa: S101, PT018
        return _Walk(self, block, rng, how).series()

    def coded(self, block: Block, rng: np.random.Generator, how: Decoding) -> Coded:
        """Draw the records of a block as codes of the whole table."""
        assert isinstance(block, PanelBlock) and block.units is not None  # noqa: S101, PT018
        found, codec = self.series(block, rng, how), self.parts.codec
        codes: dict[str, NDArray[Any]] = dict(found.codes)
        for name in self.outline.constant:
            codes[name] = block.units.codes[name][found.unit]
        for counter in self.outline.counters:
            codes[counter.name] = counter.codes(codec, found.numbers[counter.name])
        columns = tuple(
            codes[name].astype(code_dtype(size))
            for name, size in zip(codec.names, codec.cardinalities, strict=True)
        )
        return Coded(codec.names, columns, codec.cardinalities)

    def table(
        self,
        block: Block,
        rng: np.random.Generator,
        how: Decoding,
        made_up: Mapping[str, Pattern],
    ) -> dict[str, pa.Array]:
        """Draw the records of a block as values; `made_up` is how identifiers are made up."""
        assert isinstance(block, PanelBlock) and block.units is not None  # noqa: S101, PT018
        found, codec = self.series(block, rng, how), self.parts.codec
        counters = {one.name: one for one in self.outline.counters}
        columns: dict[str, pa.Array] = {}
        for name in codec.schema.names:
            kind = codec.types[name]
            if name in codec.schema.identifiers:
                pattern = made_up.get(name, Pattern())
                if name in self.outline.named:
                    made = pattern.make(name, kind, len(block.units), block.first_unit)
                    columns[name] = made.take(pa.array(found.unit))
                else:
                    columns[name] = pattern.make(name, kind, len(found.unit), block.first_row)
                continue
            coder = codec.coders[name]
            if name in counters and not counters[name].ranked:
                stored = counters[name].scale.write(found.numbers[name])
                present = np.zeros(len(stored), bool)
                columns[name] = numbers_to_arrow(Numbers(stored, present), kind)
            elif name in counters:
                codes = counters[name].codes(codec, found.numbers[name])
                columns[name] = coder.build(codes, how, rng)
            elif name in self.outline.constant:
                built = coder.build(block.units.codes[name].astype(np.int64), how, rng)
                columns[name] = built.take(pa.array(found.unit))
            elif isinstance(coder, BinCoder):
                codes = found.codes[name].astype(np.int64)
                columns[name] = coder.build_at(codes, how, found.shares[name], rng)
            else:
                columns[name] = coder.build(found.codes[name].astype(np.int64), how, rng)
        return columns

    def log_likelihood(
        self, columns: Mapping[str, pa.Array], coded: Coded, possible: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return the log probability of each record given those before it in its unit.

        That of a unit's first record is of the whole unit's: its number of records, too. So the
        sum over a unit's records is the log probability of the unit.
        """
        codec, outline = self.parts.codec, self.outline
        codes = dict(zip(coded.names, coded.columns, strict=True))
        records = order_records(codec, columns, outline.time, codes.get(outline.time or ""))
        read = _Read.of(codec, outline, columns, coded, records)
        tables = read.tables(self.parts)
        found = np.zeros(len(coded))
        for name, model in self.models.items():
            part = getattr(self.parts, name)
            rows = records.firsts if name == "first" else records.later
            found[rows] += model.log_probability_given(part.coded(tables[name]))
        found[~(read.possible & possible[records.order])] = -np.inf
        ordered = np.empty(len(found))
        ordered[records.order] = found
        return ordered

    def to_plain(self) -> dict[str, Any]:
        """Return all but the arrays in values that JSON can hold."""
        return {
            "units": self.n_units,
            "rows": {name: model.n_rows_ for name, model in self.models.items()},
            "outline": self.outline.to_plain(),
            "codecs": {name: codec.to_plain() for name, codec in self._codecs()},
        }

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what was learnt, as arrays."""
        found = {
            f"{name}_{key}": array
            for name, model in self.models.items()
            for key, array in model.own_state().items()
        }
        for name, codec in self._codecs():
            found |= {f"codec_{name}_{key}": array for key, array in codec.to_arrays().items()}
        places = {name: place for place, name in enumerate(self.parts.codec.names)}
        for name, carry in self.carries.items():
            found |= {f"carry_{places[name]}_{key}": own for key, own in carry.to_arrays().items()}
        return found

    def _codecs(self) -> Iterator[tuple[str, Codec]]:
        yield "units", self.parts.units
        if self.parts.steps is not None:
            yield "steps", self.parts.steps

    @classmethod
    def restore(
        cls, owner: PanelSynthesizer, plain: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> Panel:
        """Return the panel that was taken apart; raise ValueError or KeyError if it does not fit."""
        codec = owner.codec_
        outline = Outline.from_plain(plain["outline"], codec)
        codecs = {
            name: Codec.from_plain(own, _with_prefix(arrays, f"codec_{name}_"))
            for name, own in plain["codecs"].items()
        }
        parts = Parts(codec, outline, codecs["units"], codecs.get("steps"), owner.hidden_columns)
        models = {
            name: None
            if part is None
            else owner.restore_part(part, int(plain["rows"][name]), _with_prefix(arrays, f"{name}_"))
            for name, part in _each(parts)
        }
        carries = {}
        for name in _carried(codec, outline):
            own = _with_prefix(arrays, f"carry_{codec.names.index(name)}_")
            coder = codec.coders[name]
            assert isinstance(coder, BinCoder)  # noqa: S101  # those are carried
            carries[name] = Carry.from_arrays(own, len(coder.bins))
        units = int(plain["units"])
        if not 0 < units <= owner.n_rows_:
            raise ValueError("more units than records")
        return cls(parts, carries=carries, n_units=units, **models)  # type: ignore[arg-type]

    def in_words(self) -> list[str]:
        """Return what the panel is, in sentences."""
        outline, names = self.outline, quoted
        found = [
            f"A panel: {self.n_units:,} units, named by {names(outline.units)}. Each is drawn as a "
            "whole: its first record and the number of its records, then each further record given "
            "the one before."
        ]
        found.append(
            f"Records are in the order of {outline.time!r}."
            if outline.time
            else "Records are in the order of the file."
        )
        if outline.constant:
            found.append(f"The same in all records of a unit: {names(outline.constant)}.")
        if outline.counters:
            steps = [
                f"{one.name!r} (steps {'differ' if one.step is None else f'of {one.step:g}'})"
                for one in outline.counters
            ]
            found.append(f"Drawn by steps: {', '.join(steps)}.")
        if outline.varying:
            found.append(f"Drawn given the record before: {names(outline.varying)}.")
        return found


def _with_prefix(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {k.removeprefix(prefix): own for k, own in arrays.items() if k.startswith(prefix)}


def _each(parts: Parts) -> Iterator[tuple[str, Part | None]]:
    for name in _PARTS:
        yield name, getattr(parts, name)


def _tell_of_large(records: Records) -> None:
    share = int(records.counts.max()) / len(records.order)
    if len(records) > 1 / LARGE_SHARE and share > LARGE_SHARE:
        logging.getLogger("understudy").warning(
            "One unit has %.0f%% of all records, so a large part of what is learnt about further "
            "records is about this unit.",
            100 * share,
        )


@dataclass(frozen=True, eq=False)
class _Read:
    """The records of a panel in order, as its models see them."""

    codes: dict[str, NDArray[Any]]
    numbers: dict[str, NDArray[Any]]
    steps: dict[str, NDArray[Any]]
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
    ) -> _Read:
        order, later = records.order, records.later
        codes = {name: own[order] for name, own in zip(coded.names, coded.columns, strict=True)}
        found, steps = {}, {}
        possible = np.ones(len(order), bool)
        for counter in outline.counters:
            numeric = codec.schema[counter.name].kind in NUMERIC
            values = Values.of(columns[counter.name], counter.name, numeric=numeric).take(order)
            own = counter.read(values, codes[counter.name])
            found[counter.name] = own
            steps[counter.name] = counter.rounded(own[later] - own[later - 1])
            possible &= ~values.missing
            if counter.step is not None:
                possible[later] &= steps[counter.name] == counter.step
        for name in outline.constant:
            values = Values.of(columns[name], name, numeric=codec.schema[name].kind in NUMERIC)
            possible[later] &= values.same(order[later], order[later - 1])
        return cls(codes, found, steps, records, possible)

    def units(self, parts: Parts) -> dict[str, NDArray[Any]]:
        """Return the numbers that are coded beside the table's own columns."""
        names, records = parts.names, self.records
        found: dict[str, NDArray[Any]] = {names.count: records.counts}
        if parts.outline.numbered and len(records.later):
            found[names.number] = records.number[records.later] + 1
        return found | {name: own[records.firsts] for name, own in self.numbers.items()}

    def moves(self, parts: Parts) -> dict[str, NDArray[Any]]:
        """Return the steps that differ."""
        return {parts.names.step(one.name): self.steps[one.name] for one in parts.outline.moving}

    def tables(self, parts: Parts) -> dict[str, dict[str, NDArray[Any]]]:
        """Return the codes of each part; marks records that cannot be drawn."""
        records, outline, names = self.records, parts.outline, parts.names
        later, firsts = records.later, records.firsts
        beside = self._assign(parts.units, self.units(parts), {names.number: later})
        counts = beside.pop(names.count)
        number = beside.pop(names.number, None)
        first = {name: own[firsts] for name, own in self.codes.items()} | beside
        first[names.count] = counts
        known = {name: self.codes[name][later] for name in outline.constant}
        known |= {names.before(name): self.codes[name][later - 1] for name in outline.varying}
        known[names.count] = counts[records.unit[later]]
        if number is not None:
            known[names.number] = number
        steps: dict[str, NDArray[Any]] = {}
        if parts.steps is not None:
            rows = dict.fromkeys(parts.steps.names, later)
            steps = self._assign(parts.steps, self.moves(parts), rows)
        now: dict[str, NDArray[Any]] = {name: self.codes[name][later] for name in outline.varying}
        before = {}
        for counter in outline.counters:
            codes = counter.codes(parts.codec, self.numbers[counter.name])
            before[names.before(counter.name)] = codes[later - 1]
            now[counter.name] = codes[later]
        return {"first": first, "moves": known | before | steps, "following": known | steps | now}

    def _assign(
        self,
        codec: Codec,
        found: Mapping[str, NDArray[Any]],
        rows: Mapping[str, NDArray[np.int64]],
    ) -> dict[str, NDArray[Any]]:
        """Return codes of numbers; where there is none, the record is not possible.

        `rows` are the records of some numbers; of others they are the first of each unit.
        """
        codes = {}
        for name, own in found.items():
            assigned, missing = codec.coders[name].assign(pa.array(own))
            self.possible[rows.get(name, self.records.firsts)] &= (assigned >= 0) & ~missing
            codes[name] = np.maximum(assigned, 0)
        return codes


def _make_parts(
    owner: PanelSynthesizer, codec: Codec, outline: Outline, read: _Read
) -> Parts:
    """Return the parts of a panel with the codings of numbers that the table does not hold."""
    hidden = owner.hidden_columns
    blank = Parts(codec, outline, codec, None, hidden)
    settings = {"exact": owner.exact, "ends": owner.least_at_ends}
    steps = read.moves(blank)
    return Parts(
        codec,
        outline,
        codec_of_numbers(read.units(blank), **settings),
        codec_of_numbers(steps, **settings) if steps else None,
        hidden,
    )


def _carried(codec: Codec, outline: Outline) -> list[str]:
    """Return the columns whose numbers lie in bins, and vary."""
    return [name for name in outline.varying if isinstance(codec.coders[name], BinCoder)]


def _fit_carries(
    codec: Codec,
    outline: Outline,
    columns: Mapping[str, pa.Array],
    coded: Coded,
    records: Records,
    how: Decoding,
) -> dict[str, Carry]:
    """Learn how numbers move within their bins, from records that stay in one."""
    found = {}
    now, before = records.order[records.later], records.order[records.later - 1]
    for name in _carried(codec, outline):
        coder = codec.coders[name]
        assert isinstance(coder, BinCoder)  # noqa: S101  # those are carried
        codes = coded[name].astype(np.int64)
        stayed = (codes[now] == codes[before]) & (codes[now] >= len(coder.special))
        stayed &= codes[now] < coder.known
        rows, others = now[stayed], before[stayed]
        bins = codes[rows] - len(coder.special)
        stored = numbers(columns[name], name).values
        places = (
            places_of(coder, stored[others], bins, how),
            places_of(coder, stored[rows], bins, how),
        )
        same = stored[rows] == stored[others]
        found[name] = Carry.fit(places, bins, same, len(coder.bins))
    return found


class _Walk:
    """Draws the records of some units, one step after the other, all units at a time."""

    def __init__(
        self, panel: Panel, block: PanelBlock, rng: np.random.Generator, how: Decoding
    ) -> None:
        assert block.units is not None  # noqa: S101  # of every block of a panel
        self.panel, self.outline = panel, panel.outline
        self.codec, self.names = panel.parts.codec, panel.parts.names
        self.rng, self.how, self.copy = rng, how, block.copy
        # Units with many records first: those that go on are then always the first ones.
        self.order = np.argsort(-block.units.counts, kind="stable")
        self.units = block.units.take(self.order)
        starts = np.cumsum(block.units.counts) - block.units.counts
        self.rows = starts[self.order]
        self.total = int(block.units.counts.sum())
        self.unit = np.repeat(np.arange(len(block.units)), block.units.counts)
        self.limits = {one.name: one.limits(self.codec) for one in self.outline.counters}

    def series(self) -> Series:
        """Return all records."""
        found = Series(self.unit, {}, {}, {})
        self.codes = {name: self.units.codes[name].copy() for name in self.outline.varying}
        self.numbers = {name: own.copy() for name, own in self.units.starts.items()}
        self.shares = {name: self.rng.random(len(self.units)) for name in self.panel.carries}
        for held, kept in self._held(found):
            for name, own in held.items():
                kept[name] = np.empty(self.total, own.dtype)
        self._keep(found, len(self.units), 0)
        for step in range(1, int(self.units.counts.max(initial=0))):
            active = int(np.searchsorted(-self.units.counts, -step, side="left"))
            self._step(active, step)
            self._keep(found, active, step)
        self._back_in_time(found)
        return found

    def _held(self, found: Series) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        return [
            (self.codes, found.codes),
            (self.numbers, found.numbers),
            (self.shares, found.shares),
        ]

    def _keep(self, found: Series, active: int, step: int) -> None:
        rows = self.rows[:active] + step
        for held, kept in self._held(found):
            for name, own in held.items():
                kept[name][rows] = own[:active]

    def _step(self, active: int, step: int) -> None:
        """Go on to the next record of the first `active` units."""
        panel, names = self.panel, self.names
        known = {name: self.units.codes[name][:active] for name in self.outline.constant}
        known |= {names.before(name): own[:active] for name, own in self.codes.items()}
        known[names.count] = self.units.codes[names.count][:active]
        if self.outline.numbered:
            known[names.number] = self._number(active, step + 1)
        known |= self._move(active, known)
        if panel.following is None:
            return
        for counter in self.outline.counters:
            known[counter.name] = counter.codes(self.codec, self.numbers[counter.name][:active])
        drawn = panel.following.draw_given(known, active, self.rng, self.copy)
        for name in self.outline.varying:
            before = self.codes[name][:active].copy()
            self.codes[name][:active] = drawn[name]
            if name in self.shares:
                self._carry(name, before, active)

    def _number(self, active: int, number: int) -> Codes:
        coder = self.panel.parts.units.coders[self.names.number]
        code, _ = coder.assign(pa.array([number]))
        if code[0] < 0:  # units may have more records than any had
            code = np.array([coder.known - 1])
        return np.full(active, code[0], np.uint32)

    def _move(self, active: int, known: Mapping[str, Codes]) -> dict[str, Codes]:
        """Let counters go on, and return the steps that were drawn."""
        panel, drawn = self.panel, {}
        if panel.moves is not None:
            before = {
                self.names.before(one.name): one.codes(self.codec, self.numbers[one.name][:active])
                for one in self.outline.counters
            }
            drawn = panel.moves.draw_given({**known, **before}, active, self.rng, self.copy)
        for counter in self.outline.counters:
            own = self.numbers[counter.name]
            by: Any = counter.step
            if counter.step is None:
                assert panel.parts.steps is not None  # noqa: S101  # steps differ
                name = self.names.step(counter.name)
                coder = panel.parts.steps.coders[name]
                built = coder.build(drawn[name].astype(np.int64), self.how, self.rng)
                by = numbers(built, name).values
            moved = counter.rounded(own[:active] + by)
            if counter.name != self.outline.time:
                moved = np.clip(moved, *self.limits[counter.name])
            own[:active] = moved
        return drawn

    def _carry(self, name: str, before: Codes, active: int) -> None:
        coder = self.codec.coders[name]
        assert isinstance(coder, BinCoder)  # noqa: S101  # those are carried
        codes = self.codes[name][:active].astype(np.int64)
        in_bin = (codes >= len(coder.special)) & (codes < coder.known)
        bins = np.where(in_bin, codes - len(coder.special), 0)
        shares = self.shares[name]
        shares[:active] = self.panel.carries[name].draw(
            bins, shares[:active], in_bin & (codes == before), self.rng
        )

    def _back_in_time(self, found: Series) -> None:
        """Let units whose irregular steps led beyond the last time begin so much earlier."""
        clock = self.outline.clock
        if clock is None or clock.step is not None:
            return
        low, high = self.limits[clock.name]
        own = found.numbers[clock.name]
        counts = np.bincount(self.unit)
        firsts = np.cumsum(counts) - counts
        over = np.maximum(own[firsts + counts - 1] - high, 0)
        back = np.minimum(over, np.maximum(own[firsts] - low, 0))
        found.numbers[clock.name] = clock.rounded(own - back[self.unit])
