"""What `linkability` returns: its rates beside their references, and who is linked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from understudy.data.frames import Backend, Frame
from understudy.results import Line, Result
from understudy.risk.rates import Interval, Rate
from understudy.wording import counted, people, percent, quoted

_NAMED = 3  # columns, in a sentence


@dataclass(frozen=True, eq=False)
class Linkability(Result):
    """How often a release links what two files hold of the same person.

    Attributes
    ----------
    columns_a, columns_b : tuple of str
        What the two files hold.
    neighbours : int
        How many nearest records are looked at on each side.
    records, control_records : int
        The original's people, and the control records; 0 if there are none.
    synthetic_records : tuple of int
        The records of each release.
    attack : Rate
        The share of people whose nearest records by `columns_a` and by `columns_b` have one in
        common; of equally near records, any are taken with the same probability.
    baseline : Rate
        The same for records drawn at random.
    control : Rate or None
        The same for control records.
    difference, difference_interval : float, (float, float)
        `attack` less `control`, and its interval; nan without control records.
    p_value : float
        How often people and control records who change places differ as much, if they are alike.
    risk, risk_interval : float, (float, float)
        The difference as a share of what `control` leaves, and its interval as anonymeter computes
        it; without control records the attack's rate.
    tied : float
        The share of people for whom more records are equally near than are looked at, by either
        set of columns.
    random_state : int
        Seed of who is attacked.
    confidence : float
        The confidence of the intervals.
    reasons : dict
        Why a figure is nan.
    """

    columns_a: tuple[str, ...]
    columns_b: tuple[str, ...]
    neighbours: int
    records: int
    synthetic_records: tuple[int, ...]
    control_records: int
    attack: Rate
    baseline: Rate
    control: Rate | None
    difference: float
    difference_interval: Interval
    p_value: float
    risk: float
    risk_interval: Interval
    tied: float
    random_state: int
    confidence: float
    reasons: dict[str, str]
    _people: NDArray[np.int64] = field(repr=False)
    _chances: NDArray[np.float64] = field(repr=False)

    def per_record(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each person who is attacked: how likely the two parts are linked.

        Rows are numbered from 0.
        """
        return self._framed({"record": self._people, "linked": self._chances}, backend)

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return all figures as a table of one row; what is undefined is null."""
        import polars as pl

        row = {
            "attacks": self.attack.attacks,
            "attack": self.attack.value,
            "attack_low": self.attack.interval[0],
            "attack_high": self.attack.interval[1],
            "baseline": self.baseline.value,
            "control": math.nan if self.control is None else self.control.value,
            "difference": self.difference,
            "difference_low": self.difference_interval[0],
            "difference_high": self.difference_interval[1],
            "p_value": self.p_value,
            "risk": self.risk,
            "risk_low": self.risk_interval[0],
            "risk_high": self.risk_interval[1],
            "tied": self.tied,
        }
        return self._framed(pl.DataFrame([row]).fill_nan(None), backend)

    def lines(self) -> list[Line]:
        """Return the attack beside its references."""
        return [
            Line(
                "Linkability",
                "people whose two parts have a nearest synthetic record in common",
                baseline=self.baseline.value,
                synthetic=self.attack.value,
                control=math.nan if self.control is None else self.control.value,
                gain=self.attack.value - self.baseline.value,
            )
        ]

    def summary(self) -> str:
        """Return the result in a few sentences."""
        one = self.neighbours == 1
        near = "nearest synthetic record" if one else f"{self.neighbours} nearest synthetic records"
        shared = "are the same" if one else "have a record in common"
        sides = [_in_words(columns) for columns in (self.columns_a, self.columns_b)]
        text = (
            f"Of {people(self.attack.attacks)}, {percent(self.attack.value)} are linked: their "
            f"{near} by {sides[0]} and by {sides[1]} {shared}. With records drawn at random it "
            f"would be {percent(self.baseline.value, 2)}."
        )
        if self.tied > 0:
            text += f" For {percent(self.tied)} of them, several records are equally near."
        if self.control is None:
            return text
        low, high = self.risk_interval
        return (
            f"{text} Of {counted(self.control.attacks, 'control record')}, "
            f"{percent(self.control.value)} are linked (p = {self.p_value:.3f} for the "
            f"difference). Residual risk: {percent(self.risk)}, from {percent(low)} to "
            f"{percent(high)}."
        )


def _in_words(columns: Sequence[str]) -> str:
    return quoted(columns) if len(columns) <= _NAMED else f"{len(columns)} columns"
