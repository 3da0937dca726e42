"""What is near to each person: the next two people, and the records of the releases."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from understudy.learning.mixed_distance import (
    KINDS,
    UNIT,
    Kind,
    PlacedTable,
    count_nearer,
    nearest_by_both,
    nearest_by_half,
)
from understudy.risk.lookalikes.equality import Equals, equal_records
from understudy.risk.lookalikes.looks import Family
from understudy.risk.lookalikes.near import Near
from understudy.risk.lookalikes.whole_units import (
    UnitsOf,
    alone_and_equalled,
    family_of_units,
)

MOST_PEOPLE = 20_000
"""People up to whom everybody is compared with all records."""
SAMPLED_PEOPLE = 10_000
"""How many are, drawn at random, where there are more."""
MOST_RECORDS, FEWEST_RECORDS, MOST_PAIRS = 5_000, 1_000, 3 * 10**8
"""Synthetic records, drawn at random, whose nearest people are looked up: so many at most, and
fewer where so many pairs of a record and a person are exceeded, but so many at least."""

EXACT = {"equal": "entirely", "all but one": "but_one"}
"""Rules that need no distance, and what they count."""
FEWEST_TRIMMED = 3
"""With fewer columns, what is left without one is a single column: any release that repeats single
values, as independent draws do, would hold lookalikes by it."""


def sampled_records(people: int) -> int:
    """Return the number of synthetic records whose nearest people are looked up, at most.

    Examples
    --------
    >>> sampled_records(1_000), sampled_records(100_000), sampled_records(10_000_000)
    (5000, 3000, 1000)
    """
    return min(MOST_RECORDS, max(FEWEST_RECORDS, MOST_PAIRS // people))


def rank_step(original: PlacedTable, columns: Collection[str]) -> float:
    """Return the distance that two people keep in columns in which their exact ranks count.

    Two people have different ranks where nearly everybody has a number of their own, but a fresh
    one can have anybody's, since it has a rank among others. So it counts as one rank farther away.

    Examples
    --------
    >>> import polars as pl
    >>> from understudy.learning.mixed_distance import place_together
    >>> people = pl.DataFrame({"pay": np.arange(50) ** 2, "rooms": [1, 2] * 25})
    >>> placed = place_together({"original": people}, people.columns)["original"]
    >>> rank_step(placed, ["pay", "rooms"])
    0.02
    """
    fine = [
        2 * len(np.unique(values)) > original.rows
        for name, values in zip(original.columns[: original.numeric], original.values, strict=False)
        if name in columns
    ]
    return sum(fine) / original.rows


def near_to(
    people: PlacedTable,
    original: PlacedTable,
    synthetic: PlacedTable,
    own: NDArray[np.int64] | None = None,
    *,
    half: bool = False,
    step: float = 0.0,
    units: NDArray[np.int64] | None = None,
) -> dict[Kind, Near]:
    """Return what is near to people; `own` are their rows in the original, if they are in it.

    If there are `units` of the original's records, other people are those of other units.

    The distances are the whole and, from three columns on, the trimmed one, or that of the better
    half of the columns.
    """
    rounding = 2 * people.numeric / UNIT
    if units is not None and own is not None:
        own = units[own]
    if half:
        distances, rows = nearest_by_half(people, synthetic)
        others, which = nearest_by_half(people, original, count=2, own=own, groups=units)
        held = others[:, 0], others[:, 1], rounding
        return {"half": Near(distances[:, 0], rows[:, 0], *held, person_row=which[:, 0])}
    kinds = KINDS if len(people.columns) >= FEWEST_TRIMMED else KINDS[:1]
    twice: dict[Kind, int] = dict.fromkeys(kinds, 2)
    between = nearest_by_both(people, original, counts=twice, own=own, groups=units)
    records = nearest_by_both(people, synthetic, counts=dict.fromkeys(kinds, 1))
    return {
        kind: Near(
            records[kind][0][:, 0],
            records[kind][1][:, 0],
            between[kind][0][:, 0],
            between[kind][0][:, 1],
            rounding,
            step,
            between[kind][1][:, 0],
        )
        for kind in kinds
    }


@dataclass(frozen=True, eq=False)
class Comparison:
    """People of the original, and the releases that they are compared with.

    Parameters
    ----------
    original, synthetic : PlacedTable
        All records; several releases are one below the other.
    rows : ndarray of int64
        The people who are compared with all records, by row.
    ratio : float
        How much nearer a lookalike must be than the next person.
    near : mapping
        What is near to them.
    units : UnitsOf or None
        The units that are compared in place of people, if there are such.
    """

    original: PlacedTable
    synthetic: PlacedTable
    rows: NDArray[np.int64]
    ratio: float
    near: Mapping[Kind, Near]
    units: UnitsOf | None = None

    @classmethod
    def of(
        cls,
        original: PlacedTable,
        synthetic: PlacedTable,
        rows: NDArray[np.int64],
        ratio: float,
        *,
        half: bool = False,
        step: float = 0.0,
        units: UnitsOf | None = None,
    ) -> Comparison:
        """Compare some people with all records, and everybody by equality."""
        codes = None if units is None else units.original
        near = near_to(
            original.take(rows), original, synthetic, rows, half=half, step=step, units=codes
        )
        return cls(
            original,
            synthetic,
            rows,
            ratio,
            near,
            units,
        )

    @cached_property
    def equals(self) -> Equals:
        """How many synthetic records equal each person of the original."""
        return equal_records(self.original, self.synthetic)

    @cached_property
    def equal_people(self) -> Equals:
        """How many people equal each person of the original, they themselves included."""
        return equal_records(self.original, self.original)

    @property
    def everybody(self) -> int:
        """How many people or units the original has."""
        return self.original.rows if self.units is None else self.units.count

    @property
    def compared(self) -> int:
        """How many of them are compared with all records."""
        if self.units is None:
            return len(self.rows)
        return len(np.unique(self.units.original[self.rows]))

    @property
    def rate(self) -> float:
        """Synthetic records or units for each original one."""
        if self.units is None:
            return self.synthetic.rows / self.original.rows
        return self.units.released_units(self.synthetic.rows) / self.units.count

    def alone_and_equalled(self) -> tuple[int, int]:
        """Return how many people equal nobody else, but a synthetic record: see `Equals`.

        In all columns, and in all but one.
        """
        if self.units is not None:
            return alone_and_equalled(self.original, self.synthetic, self.units.original)
        found = []
        for how in EXACT.values():
            alone = getattr(self.equal_people, how) == 1
            found.append(int(np.count_nonzero(alone & (getattr(self.equals, how) > 0))))
        return found[0], found[1]

    def families(self) -> list[Family]:
        """Return all ways to look for lookalikes that the test uses."""
        found = list(self._by_distance(self.rate))
        if "half" in self.near:
            return found
        if self.units is not None:
            # Records that belong together cannot be drawn one by one.
            alone = self.units.released is None and self.rate > 1
            return found + list(self._by_distance(1.0)) if alone else found
        sampled = len(self.rows) < self.original.rows
        if sampled:
            found += self._by_equality(self.rate)
        if self.rate > 1:
            found += self._by_distance(1.0)
            if sampled:
                found += self._by_equality(1.0)
        return found

    def _by_distance(self, rate: float) -> Sequence[Family]:
        counts: Mapping[Kind, NDArray[np.int64]] = {}
        if rate < self.rate:
            limits = {kind: near.limits(self.ratio) for kind, near in self.near.items()}
            counts = count_nearer(self.original.take(self.rows), self.synthetic, limits=limits)
        if self.units is not None:
            own, rates = (self.units.original[self.rows], self.units.original), (rate, self.rate)
            return [
                family_of_units(
                    kind,
                    near,
                    own,
                    self.ratio,
                    rates,
                    self._drawn(counts[kind]) if counts else near.found(self.ratio).astype(float),
                )
                for kind, near in self.near.items()
            ]
        return [
            Family(
                kind,
                rate,
                near.person,
                near.second,
                self._drawn(counts[kind]) if counts else near.found(self.ratio).astype(float),
                near.paired(self.ratio),
                near.limits(self.ratio) > 0,
                rate / self.rate,
            )
            for kind, near in self.near.items()
        ]

    def _by_equality(self, rate: float) -> Sequence[Family]:
        found = []
        rules = list(EXACT.items())
        for name, counted in rules if len(self.original.columns) >= FEWEST_TRIMMED else rules[:1]:
            records = getattr(self.equals, counted)
            people = getattr(self.equal_people, counted)
            alone = people == 1
            isolation = alone.astype(float)
            share = self._drawn(records) if rate < self.rate else np.minimum(records, 1.0)
            nothing = np.zeros(len(people))
            found.append(
                Family(
                    name,
                    rate,
                    nothing,
                    nothing,
                    share * isolation,
                    people == 2,
                    alone,
                    rate / self.rate,
                )
            )
        return found

    def _drawn(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the chance that one of so many records is drawn, if as many as people are."""
        from scipy.special import gammaln

        every, drawn = self.synthetic.rows, self.everybody
        rest = every - counts
        # Of all ways to draw, those that leave these records out.
        with np.errstate(invalid="ignore"):
            log_none = (
                gammaln(rest + 1.0)
                - gammaln(rest - drawn + 1.0)
                - gammaln(every + 1.0)
                + gammaln(every - drawn + 1.0)
            )
        return np.where(rest < drawn, 1.0, -np.expm1(np.minimum(log_none, 0.0)))
