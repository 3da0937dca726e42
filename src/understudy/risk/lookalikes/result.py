"""What was found of lookalikes: over all people, look by look, and for each person."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.data.frames import Backend, Frame
from understudy.results import Line, Result
from understudy.risk.lookalikes.control import ControlLookalikes
from understudy.risk.lookalikes.looks import LEVEL
from understudy.wording import mean_count, p_value, percent

TITLE = "Lookalikes"
MEANING = "people to whom a synthetic record is much closer than the next person"


@dataclass(frozen=True)
class Look:
    """One count of lookalikes.

    Parameters
    ----------
    distance : str
        "whole" and "trimmed", which leaves out the largest difference; "equal" in all columns, and
        in "all but one".
    isolated : float
        The share of people that were looked at, the most isolated.
    synthetic_records : int
        Records that were looked at: all, or as many as there are people, on average over all ways
        to draw them.
    people : int
        People that were looked at.
    found : float
        How many of them have a lookalike.
    expected : float
        How many would have one, at most, if the records were fresh people.
    p_value : float
        Of this look by itself.
    """

    distance: str
    isolated: float
    synthetic_records: int
    people: int
    found: float
    expected: float
    p_value: float

    @property
    def excess(self) -> float:
        """People found beyond those expected."""
        return self.found - self.expected


@dataclass(frozen=True)
class Closeness:
    """How close records are to the original's people, as it is often reported.

    Parameters
    ----------
    records : int
        Records that were looked at.
    dcr : tuple of float
        Distance to the closest record of the original: its 5% quantile and its median.
    nndr : tuple of float
        The same of this distance divided by that to the second closest; 1 if both are 0.
    """

    records: int
    dcr: tuple[float, float]
    nndr: tuple[float, float]

    @classmethod
    def of(cls, nearest: NDArray[np.float64], second: NDArray[np.float64]) -> Closeness:
        """Return the quantiles of distances to the closest and second closest person."""
        with np.errstate(invalid="ignore", divide="ignore"):
            ratios = np.where(second > 0, nearest / second, 1.0)
        usable = np.isfinite(nearest) & np.isfinite(second)
        if not usable.any():
            return cls(0, (math.nan, math.nan), (math.nan, math.nan))
        dcr, nndr = (
            tuple(float(one) for one in np.quantile(held[usable], (0.05, 0.5)))
            for held in (nearest, ratios)
        )
        return cls(int(usable.sum()), (dcr[0], dcr[1]), (nndr[0], nndr[1]))


@dataclass(frozen=True, eq=False)
class Lookalikes(Result):
    """Who has a lookalike in the release; `lookalikes` makes it.

    Parameters
    ----------
    columns : tuple of str
        What was compared.
    records, synthetic_records : int
        Size of the original (in units, if they were named), and of all releases together.
    people : int
        People of the original who were compared with all records.
    ratio : float
        How much closer than the next person a lookalike is.
    found, expected, excess : float
        People with a lookalike, how many would have one at most if the release were fresh people,
        and the difference: of everybody who was compared, by the distance that tells more.
    p_value : float
        Of as much as was found, if the release were fresh people; corrected for all looks.
    power : float
        The smallest share of people whose whole records would have been seen, had they been copied
        into the release, 99 times of 100; nan if not even copies of everybody would. It says
        nothing about copies of some columns only.
    worst : Look
        The look with the smallest p-value.
    looks : tuple of Look
        All looks, by distance and by how isolated people are.
    control : ControlLookalikes or None
        The same for people who are not in the data, if there are any.
    equal, equal_but_one : int
        People with no equal in the original whom a synthetic record equals in all columns; and
        with nobody who differs in one column or none, whom a synthetic record resembles so much.
    closeness : mapping
        Distances to the closest record and their ratios, of "synthetic" records, of the "original"
        ones to each other, and of "control" records.
    seed : int
        Decides which people are compared where there are many.
    reasons : mapping
        Why a figure is undefined.
    notes : tuple of str
        What a reader should know.
    unit_records : int or None
        How many records the original's units have, if people are units that were named.
    """

    columns: tuple[str, ...]
    records: int
    synthetic_records: int
    people: int
    ratio: float
    found: float
    expected: float
    excess: float
    p_value: float
    power: float
    worst: Look
    looks: tuple[Look, ...]
    control: ControlLookalikes | None
    equal: int
    equal_but_one: int
    closeness: Mapping[str, Closeness]
    seed: int
    reasons: Mapping[str, str]
    notes: tuple[str, ...]
    _of_people: Mapping[str, NDArray[Any]] = field(repr=False)
    _of_control: Mapping[str, NDArray[Any]] = field(repr=False)
    unit_records: int | None = None

    @property
    def distance(self) -> str:
        """The distance of `found`: "whole", "trimmed" by the largest difference, or "half"."""
        everybody = [look for look in self.looks if look.isolated == 1]
        by_distance = [look for look in everybody if look.distance in {"whole", "trimmed", "half"}]
        return min(by_distance, key=lambda look: look.p_value).distance

    def distances(self) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Return the distances to the next person and to the nearest record, by who it is.

        They are those of the people in the data ("original") and of the control records
        ("control"), if there are any, by the distance of `found`. Of a unit they are those of the
        record that a synthetic one comes closest to, beside other units.
        """
        prefix = "trimmed_" if self.distance == "trimmed" else ""
        groups = {"original": self._of_people, "control": self._of_control}
        return {
            name: (held[f"{prefix}next_person"][rows], held[f"{prefix}distance"][rows])
            for name, held in groups.items()
            if held
            for rows in [_most_telling(held, f"{prefix}ratio")]
        }

    @property
    def alarm(self) -> bool:
        """Whether there are more lookalikes than chance explains."""
        return self.p_value < LEVEL

    def per_record(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each person who was compared, in the order of the original.

        `record` is the row number, from 0. `distance` is that to the nearest synthetic record, in
        row `nearest` of the releases one below the other, `next_person` that to the nearest other
        person, and `ratio` the one divided by the other (null if the other is 0). Those with
        `trimmed_` leave out the largest difference. `lookalike` says whether there is one by
        either distance. Where `distance` of the result is "half", all are by that one. If units
        were named, `unit` is that of the record, from 0, and other people are those of others.
        """
        return self._framed(self._of_people, backend)

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each look."""
        return self._framed([asdict(look) for look in self.looks], backend)

    def lines(self) -> Sequence[Line]:
        """Return the share of people with a lookalike beside what fresh people would give."""
        share = 1 / self.people if self.people else math.nan
        control = math.nan if self.control is None else self.control.share
        baseline = min(self.expected * share, 1.0)
        return [
            Line(
                TITLE, MEANING, baseline, self.found * share, math.nan, control, self.excess * share
            )
        ]

    def summary(self) -> str:
        """Return the result in a few sentences."""
        sampled = f", drawn from {self.records:,}," if self.people < self.records else ""
        text = (
            f"{mean_count(self.found)} of {self.people:,} people{sampled} have a "
            f"lookalike: a synthetic record much closer to them than the next person is. Fresh "
            f"people would make it at most {mean_count(self.expected)}. {self._verdict()}"
        )
        if self.control is not None:
            text += (
                f" Of {self.control.people:,} people who are not in the data, "
                f"{self.control.found:,} have one ({percent(self.control.share)}; in the data "
                f"{percent(self.control.share + self.control.difference)}; "
                f"{p_value(self.control.p_value)})."
            )
            worst = self.control.worst
            if self.control.p_value < LEVEL and worst.isolated < 1:
                text += (
                    f" Most telling: {worst.found:,} of the {worst.people:,} most isolated people "
                    f"in the data, and {worst.control_found:,} of {worst.control_people:,} others "
                    "as isolated."
                )
        return text

    def _verdict(self) -> str:
        if self.alarm:
            look = self.worst
            where = (
                ""
                if look.isolated == 1
                else f" Most telling: {mean_count(look.found)} of the {look.people:,} most "
                f"isolated people, where {mean_count(look.expected)} would be expected."
            )
            return f"That is more than chance explains ({p_value(self.p_value)}).{where}"
        if math.isnan(self.power):
            return f"That is no more than chance explains. {self.reasons['power']}"
        return (
            f"That is no more than chance explains ({p_value(self.p_value)}). Whole copies of "
            f"{percent(self.power)} of the people or more would have been seen."
        )


def _most_telling(held: Mapping[str, NDArray[Any]], ratio: str) -> NDArray[np.int64]:
    """Return the record of each unit to which a synthetic one comes closest; all without units."""
    if "unit" not in held:
        return np.arange(len(held[ratio]))
    order = np.lexsort((np.nan_to_num(held[ratio], nan=np.inf), held["unit"]))
    _, first = np.unique(held["unit"][order], return_index=True)
    return np.sort(order[first])
