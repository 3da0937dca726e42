"""What one reading of a release shows, and what several of them show together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from understudy.learning.mixed_distance import Kind, PlacedTable
from understudy.risk.lookalikes.control import ControlLookalikes, compare_with_control
from understudy.risk.lookalikes.looks import Family, nested, overall, smallest_share_seen
from understudy.risk.lookalikes.near import Near
from understudy.risk.lookalikes.neighbours import Comparison, near_to, rank_step
from understudy.risk.lookalikes.readings import Reading
from understudy.risk.lookalikes.result import Look
from understudy.risk.lookalikes.whole_units import NearUnits, UnitsOf
from understudy.risk.renamed import ranked

PROVING = 0.8
"""The part of the chance of a false alarm that goes to the reading that proves something."""


@dataclass(frozen=True, eq=False)
class Way:
    """What one reading of a release shows."""

    reading: Reading
    comparison: Comparison
    families: tuple[Family, ...]
    control: ControlLookalikes | None
    outside: Mapping[Kind, Near] | None

    @classmethod
    def of(
        cls,
        reading: Reading,
        original: PlacedTable,
        others: PlacedTable | None,
        rows: NDArray[np.int64],
        ratio: float,
        units: UnitsOf | None = None,
    ) -> Way:
        """Compare a release, as one reading has it, with the people and with control records."""
        half, columns = reading.half, reading.synthetic.columns
        if reading.pair is not None:
            rows = rows[reading.pair.telling(original, original)[rows]]
            if others is not None:
                others = others.take(np.flatnonzero(reading.pair.telling(others, original)))
        base = ranked(original.select(columns), original.select(columns), reading.recoded)
        step = rank_step(base, reading.recoded)
        comparison = Comparison.of(
            base, reading.synthetic, rows, ratio, half=half, step=step, units=units
        )
        families = tuple(comparison.families())
        way = cls(reading, comparison, families, None, None)
        if others is None:
            return way
        outside = ranked(others.select(columns), original.select(columns), reading.recoded)
        codes = None if units is None else units.original
        near = near_to(outside, base, reading.synthetic, half=half, step=step, units=codes)
        full = {family.name: family for family in families if family.rate == comparison.rate}
        of_people = near
        if units is not None and units.control is not None:
            own = units.control
            of_people = {kind: NearUnits.gathered(one, own, ratio) for kind, one in near.items()}
        beside = compare_with_control(
            full, of_people, ratio, way.everybody.distance, power=reading.proves
        )
        return replace(way, control=beside, outside=near)

    @cached_property
    def looks(self) -> list[Look]:
        """All looks, by distance and by how isolated people are."""
        return [look for family in self.families for look in _looks(family, self.comparison)]

    @property
    def everybody(self) -> Look:
        """The look at everybody by the distance that tells more."""
        near = self.comparison.near
        whole = (look for look in self.looks if look.isolated == 1 and look.distance in near)
        return min(whole, key=lambda look: look.p_value)

    @property
    def p_value(self) -> float:
        """Of as much as this reading shows, if the release were fresh people."""
        return overall(self.families)

    @cached_property
    def power(self) -> float:
        """The smallest share of copies that would have been seen."""
        return smallest_share_seen(self.families)


def shared_p_values(ways: Sequence[Way], p_values: Sequence[float]) -> list[float]:
    """Return p-values for having read the release in several ways; see `PROVING`.

    Two numbers were chosen out of several pairs.
    """
    others = sum(not way.reading.proves for way in ways)
    if len(ways) == 1 or others == len(ways):
        parts = [1 / len(ways)] * len(ways)
    else:
        parts = [PROVING if way.reading.proves else (1 - PROVING) / others for way in ways]
    tried = [way.reading.pair.tried if way.reading.pair else 1 for way in ways]
    looks = [pairs / part for pairs, part in zip(tried, parts, strict=True)]
    return [min(1.0, p_value * many) for p_value, many in zip(p_values, looks, strict=True)]


def _looks(family: Family, comparison: Comparison) -> list[Look]:
    """Return the looks of a family, from everybody to the most isolated."""
    counts = np.bincount(family.shell, minlength=len(family.cuts)).astype(float)
    records = round(family.rate * comparison.everybody)
    columns = nested(counts), nested(family.found_by_shell), nested(family.paired_by_shell)
    return [
        Look(
            family.name,
            people / len(family.found),
            records,
            int(people),
            found,
            family.rate * paired,
            p_value,
        )
        for people, found, paired, p_value in zip(
            *(held.tolist() for held in columns), family.p_values.tolist(), strict=True
        )
    ]
