"""What is near to each person: the next two people, and the records of the releases."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

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

MOST_PEOPLE = 20_000
"""People up to whom everybody is compared with all records."""
SAMPLED_PEOPLE = 10_000
"""How many are, drawn at random, where there are more."""
SAMPLED_RECORDS = 5_000
"""Synthetic records, drawn at random, whose nearest people are looked up."""

EXACT = {"equal": "entirely", "all but one": "but_one"}
"""Rules that need no distance, and what they count."""
FEWEST_TRIMMED = 3
"""With fewer columns, what is left without one is a single column: any release that repeats single
values, as independent draws do, would hold lookalikes by it."""


@dataclass(frozen=True, eq=False)
class Near:
    """The distances of some people by one kind of distance.

    Parameters
    ----------
    record : ndarray
        To the nearest synthetic record.
    row : ndarray of int64
        Which one that is.
    person, second : ndarray
        To the nearest and second nearest other person of the original.
    rounding : float
        What is nearer by no more than this is as near.
    step : float
        What a synthetic record is taken to be farther away than it seems: see `rank_step`.
    """

    record: NDArray[np.float64]
    row: NDArray[np.int64]
    person: NDArray[np.float64]
    second: NDArray[np.float64]

    rounding: float
    step: float = 0.0

    def limits(self, ratio: float) -> NDArray[np.float64]:
        """Return how near a lookalike of each person must be."""
        nearest = np.where(np.isfinite(self.person), self.person, 0.0)
        return ratio * nearest - self.rounding - self.step

    def found(self, ratio: float) -> NDArray[np.bool_]:
        """Return who has a lookalike: a synthetic record much nearer than the next person."""
        return self.record < self.limits(ratio)

    def paired(self, ratio: float) -> NDArray[np.bool_]:
        """Return for whom the next person is as near, beside the second nearest."""
        return self.person < ratio * self.second - self.rounding


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
) -> dict[Kind, Near]:
    """Return what is near to people; `own` are their rows in the original, if they are in it.

    The distances are the whole and, from three columns on, the trimmed one, or that of the better
    half of the columns.
    """
    rounding = 2 * people.numeric / UNIT
    if half:
        distances, rows = nearest_by_half(people, synthetic)
        others, _ = nearest_by_half(people, original, count=2, own=own)
        return {"half": Near(distances[:, 0], rows[:, 0], others[:, 0], others[:, 1], rounding)}
    kinds = KINDS if len(people.columns) >= FEWEST_TRIMMED else KINDS[:1]
    between = nearest_by_both(people, original, counts=dict.fromkeys(kinds, 2), own=own)
    records = nearest_by_both(people, synthetic, counts=dict.fromkeys(kinds, 1))
    return {
        kind: Near(
            records[kind][0][:, 0],
            records[kind][1][:, 0],
            between[kind][0][:, 0],
            between[kind][0][:, 1],
            rounding,
            step,
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
    equals, equal_people : Equals
        How many synthetic records equal each person of the original, and how many people do, they
        themselves included.
    """

    original: PlacedTable
    synthetic: PlacedTable
    rows: NDArray[np.int64]
    ratio: float
    near: Mapping[Kind, Near]
    equals: Equals
    equal_people: Equals

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
    ) -> Comparison:
        """Compare some people with all records, and everybody by equality."""
        near = near_to(original.take(rows), original, synthetic, rows, half=half, step=step)
        return cls(
            original,
            synthetic,
            rows,
            ratio,
            near,
            equal_records(original, synthetic),
            equal_records(original, original),
        )

    @property
    def rate(self) -> float:
        """Synthetic records for each original one."""
        return self.synthetic.rows / self.original.rows

    def alone_and_equalled(self, how: str) -> int:
        """Return how many people equal nobody else, but a synthetic record: see `Equals`."""
        alone = getattr(self.equal_people, how) == 1
        return int(np.count_nonzero(alone & (getattr(self.equals, how) > 0)))

    def families(self) -> list[Family]:
        """Return all ways to look for lookalikes that the test uses."""
        found = list(self._by_distance(self.rate))
        if "half" in self.near:
            return found
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

        every, drawn = self.synthetic.rows, self.original.rows
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
