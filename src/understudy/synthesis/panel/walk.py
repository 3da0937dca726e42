"""The records of units one step after the other, all units at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data.bins import Decoding
from understudy.data.coded import Codes
from understudy.data.coders import BinCoder
from understudy.data.values import numbers
from understudy.synthesis.panel.drawing import PanelBlock, Series

if TYPE_CHECKING:
    from understudy.synthesis.panel.model import Panel


class Walk:
    """Draws the records of a block's units.

    Units with many records come first: those that go on are then always the first ones.
    """

    def __init__(
        self, panel: Panel, block: PanelBlock, rng: np.random.Generator, how: Decoding
    ) -> None:
        self.panel, self.outline = panel, panel.outline
        self.codec, self.names = panel.parts.codec, panel.parts.names
        self.rng, self.how, self.copy = rng, how, block.copy
        counts = block.units.counts
        order = np.argsort(-counts, kind="stable")
        self.units = block.units.take(order)
        self.unit = np.repeat(np.arange(len(counts)), counts)
        self.firsts = np.cumsum(counts) - counts
        self.lasts = self.firsts + counts - 1
        self.rows = self.firsts[order]
        self.limits = {one.name: one.limits(self.codec) for one in self.outline.counters}
        self.codes = {name: self.units.codes[name].copy() for name in self.outline.varying}
        self.numbers = {name: own.copy() for name, own in self.units.starts.items()}
        self.places = {name: rng.random(len(counts)) for name in panel.changes}
        when = self._when(len(counts))
        self.scores = {
            name: change.scores(self.codec, self.codes[name], self._places(name), when)
            for name, change in panel.changes.items()
        }

    def series(self) -> Series:
        """Return all records."""
        found = Series(self.unit, {}, {}, {})
        for held, kept in self._held(found):
            for name, own in held.items():
                kept[name] = np.empty(len(self.unit), own.dtype)
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
            (self.places, found.shares),
        ]

    def _keep(self, found: Series, active: int, step: int) -> None:
        rows = self.rows[:active] + step
        for held, kept in self._held(found):
            for name, own in held.items():
                kept[name][rows] = own[:active]

    def _step(self, active: int, step: int) -> None:
        """Go on to the next record of the first `active` units."""
        names = self.names
        known = {name: self.units.codes[name][:active] for name in self.outline.constant}
        known |= {names.before(name): own[:active].copy() for name, own in self.codes.items()}
        known[names.count] = self.units.codes[names.count][:active]
        if self.outline.numbered:
            known[names.number] = self._number(active, step + 1)
        known |= self._move(active, known)
        if self.panel.following is None:
            return
        for counter in self.outline.counters:
            known[counter.name] = counter.codes(self.codec, self.numbers[counter.name][:active])
        drawn = self.panel.following.draw_given(known, active, self.rng, self.copy, self._changed)
        for name in self.outline.varying:
            self.codes[name][:active] = drawn[name]

    def _changed(self, name: str, drawn: Codes, rows: NDArray[np.int64]) -> Codes:
        """Return the codes of a column whose changes were drawn, of some of the units."""
        coding = self.panel.parts.changes
        assert coding is not None  # noqa: S101  # changes are drawn
        change = self.names.change(name)
        built = coding.coders[change].build(drawn.astype(np.int64), self.how, self.rng)
        held = (self.codes[name], self.scores[name], self.places[name])
        before = (held[0][rows], held[1][rows], held[2][rows])
        when = self._when(len(self.units))[rows]
        codes, scores, places = self.panel.changes[name].follow(self.codec, built, before, when)
        self.scores[name][rows], self.places[name][rows] = scores, places
        return codes

    def _places(self, name: str) -> NDArray[np.float64] | None:
        """Return how far numbers lie through their bins; None if they lie in none."""
        return self.places[name] if isinstance(self.codec.coders[name], BinCoder) else None

    def _when(self, active: int) -> Codes:
        """Return the codes of time; 0 if there is no time."""
        clock = self.outline.clock
        if clock is None:
            return np.zeros(active, np.uint32)
        return clock.codes(self.codec, self.numbers[clock.name][:active])

    def _number(self, active: int, number: int) -> Codes:
        coder = self.panel.parts.units.coders[self.names.number]
        code, _ = coder.assign(pa.array([number]))
        # A unit may have more records than any had.
        return np.full(active, code[0] if code[0] >= 0 else coder.known - 1, np.uint32)

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
            if counter.step is None and counter.name != self.outline.time:
                moved = np.clip(moved, *self.limits[counter.name])
            own[:active] = moved
        return drawn

    def _back_in_time(self, found: Series) -> None:
        """Let units whose irregular steps led beyond the last time begin so much earlier."""
        clock = self.outline.clock
        if clock is None or clock.step is not None:
            return
        low, high = self.limits[clock.name]
        own = found.numbers[clock.name]
        over = np.maximum(own[self.lasts] - high, 0)
        back = np.minimum(over, np.maximum(own[self.firsts] - low, 0))
        found.numbers[clock.name] = clock.rounded(own - back[self.unit])
