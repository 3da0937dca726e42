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
from understudy.data.coded import Coded, code_dtype
from understudy.data.coders import BinCoder
from understudy.data.made_up_identifiers import Pattern
from understudy.data.panel_records import Records
from understudy.data.values import Numbers, numbers, numbers_to_arrow
from understudy.synthesis.blocks import Block, plan_blocks
from understudy.synthesis.panel.changes import Change
from understudy.synthesis.panel.drawing import PanelBlock, Series, Units, blocks_of, whole_units
from understudy.synthesis.panel.outline import Outline, order_records, outline_of, time_of
from understudy.synthesis.panel.parts import Part, Parts
from understudy.synthesis.panel.reading import Reading
from understudy.synthesis.panel.walk import Walk
from understudy.wording import quoted

if TYPE_CHECKING:
    from understudy.synthesis.panel.synthesizer import PanelSynthesizer

LARGE_SHARE = 0.1
"""A unit with more than this share of the records is told: the model is largely about it."""

_PARTS = ("unit", "start", "moves", "following")


@dataclass(frozen=True, eq=False)
class Panel:
    """The models of a panel, all of the same method.

    Parameters
    ----------
    parts : Parts
        What they draw, and how it is coded.
    unit : PanelSynthesizer
        Draws what a unit has once: constants, the number of its records, where counters begin.
    start : PanelSynthesizer or None
        Draws the other columns of its first record.
    moves : PanelSynthesizer or None
        Draws the steps of counters given the record before; None if all steps are the same.
    following : PanelSynthesizer or None
        Draws a record given the one before it.
    changes : dict
        How numbers become changes, by column.
    n_units : int
        Units that the models were fitted to.
    """

    parts: Parts
    unit: PanelSynthesizer
    start: PanelSynthesizer | None
    moves: PanelSynthesizer | None
    following: PanelSynthesizer | None
    changes: dict[str, Change]
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
        codec = owner.codec_.inner
        time = time_of(codec, columns)
        codes = dict(zip(coded.names, coded.columns, strict=True))
        records = order_records(codec, columns, time, codes.get(time or ""))
        outline = outline_of(
            codec,
            columns,
            codes,
            records,
            time,
            set_by_rules=owner.columns_set_by_rules,
            hidden=owner.hidden_columns,
        )
        owner.check_panel(outline)
        _tell_of_large(records)
        how = owner.decoding
        read = Reading.of(codec, outline, columns, coded, records)
        changes = read.find_changes(owner.columns_set_by_rules | owner.hidden_columns, how)
        parts = read.parts(
            changes, owner.hidden_columns, exact=owner.exact, ends=owner.least_at_ends, how=how
        )
        tables = read.tables(parts, changes, how)
        seeds = rng.spawn(len(_PARTS))
        models = {
            name: None if part is None else owner.fit_part(part, part.coded(tables[name]), own)
            for (name, part), own in zip(_each(parts), seeds, strict=True)
        }
        return cls(parts, changes=changes, n_units=len(records), **models)  # type: ignore[arg-type]

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
        codes = self.unit.draw_given({}, block.rows, rng, block.copy)
        coding, names = self.parts.units, self.parts.names

        def decoded(name: str) -> NDArray[Any]:
            built = coding.coders[name].build(codes[name].astype(np.int64), how, rng)
            return numbers(built, name).values

        counts = np.maximum(decoded(names.count), 1)
        starts = {one.name: one.rounded(decoded(one.name)) for one in self.outline.counters}
        for counter in self.outline.counters:
            if counter.step:
                own = starts[counter.name]
                starts[counter.name] = counter.within(self.parts.codec, own, counts)
        if self.start is not None:
            known = codes | {
                one.name: one.codes(self.parts.codec, starts[one.name])
                for one in self.outline.counters
            }
            begins, _ = coding.coders[names.begins].assign(pa.array([1]))
            known[names.begins] = np.full(block.rows, begins[0], np.uint32)
            codes |= self.start.draw_given(known, block.rows, rng, block.copy)
        return Units(codes, counts, starts)

    def series(self, block: Block, rng: np.random.Generator, how: Decoding) -> Series:
        """Draw all records of a block's units."""
        assert isinstance(block, PanelBlock)  # noqa: S101  # of a panel
        return Walk(self, block, rng, how).series()

    def coded(self, block: Block, rng: np.random.Generator, how: Decoding) -> Coded:
        """Draw the records of a block as codes of the whole table."""
        assert isinstance(block, PanelBlock)  # noqa: S101  # of a panel
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
        assert isinstance(block, PanelBlock)  # noqa: S101  # of a panel
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
                codes = counters[name].codes(codec, found.numbers[name]).astype(np.int64)
                columns[name] = coder.build(codes, how, rng)
            elif name in self.outline.constant:
                built = coder.build(block.units.codes[name].astype(np.int64), how, rng)
                columns[name] = built.take(pa.array(found.unit))
            elif isinstance(coder, BinCoder) and name in found.shares:
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
        read = Reading.of(codec, outline, columns, coded, records)
        tables = read.tables(self.parts, self.changes, self.unit.decoding)
        found = np.zeros(len(coded))
        for name, model in self.models.items():
            part = getattr(self.parts, name)
            table = part.coded(tables[name])
            rows = records.firsts if name in ("unit", "start") else records.later
            # First records are learnt from all.
            found[rows] += model.log_probability_given(
                table.take(rows) if name == "start" else table
            )
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
        for name, change in self.changes.items():
            own = change.to_arrays().items()
            found |= {f"change_{places[name]}_{key}": array for key, array in own}
        return found

    def _codecs(self) -> Iterator[tuple[str, Codec]]:
        yield "units", self.parts.units
        if self.parts.steps is not None:
            yield "steps", self.parts.steps
        if self.parts.changes is not None:
            yield "changes", self.parts.changes

    @classmethod
    def restore(
        cls, owner: PanelSynthesizer, plain: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> Panel:
        """Return the panel that was taken apart; ValueError or KeyError if it does not fit."""
        codec = owner.codec_.inner
        outline = Outline.from_plain(plain["outline"], codec)
        codecs = {
            name: Codec.from_plain(own, _with_prefix(arrays, f"codec_{name}_"))
            for name, own in plain["codecs"].items()
        }
        others = codecs.get("steps"), codecs.get("changes")
        parts = Parts(codec, outline, codecs["units"], *others, owner.hidden_columns)
        models = {
            name: None
            if part is None
            else owner.restore_part(
                part, int(plain["rows"][name]), _with_prefix(arrays, f"{name}_")
            )
            for name, part in _each(parts)
        }
        coded_changes = () if parts.changes is None else parts.changes.names
        changes = {}
        for place, name in enumerate(codec.names):
            if parts.names.change(name) in coded_changes:
                own = _with_prefix(arrays, f"change_{place}_")
                changes[name] = Change.from_arrays(name, codec, own)
        units = int(plain["units"])
        if not 0 < units <= owner.n_rows_:
            raise ValueError("more units than records")
        return cls(parts, changes=changes, n_units=units, **models)  # type: ignore[arg-type]

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
