"""What `singling_out` returns: each kind of predicates with its rates, and who is singled out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.data.frames import Backend, Frame
from understudy.errors import ParameterError, did_you_mean
from understudy.results import Line, Result
from understudy.risk.rates import Interval, Rate
from understudy.wording import counted, people, percent


@dataclass(frozen=True)
class PredicateAttack:
    """The attack with predicates of one kind.

    Attributes
    ----------
    columns : int
        The columns of a predicate; 1 for values that one synthetic record has alone.
    asked : int
        How many predicates were asked for; there may be fewer.
    attack : Rate
        The share of predicates that fit exactly one person of the original.
    baseline : Rate
        The same for predicates drawn at random.
    same_weight : float
        What chance gives any predicate that fits one of as many people as there are different
        synthetic records.
    control : Rate or None
        What the same predicates would do with as many people who are not in the data.
    difference : float
        `attack` less `control`; nan without control records.
    difference_interval : (float, float)
        Its interval, for other people drawn in place of these.
    p_value : float
        How often people and control records who change places differ as much, if they are alike.
    risk : float
        The difference as a share of what `control` leaves; without control records the attack's
        rate.
    risk_interval : (float, float)
        Its interval as anonymeter computes it: for other predicates about the same people.
    people : int
        How many people are singled out.
    """

    columns: int
    asked: int
    attack: Rate
    baseline: Rate
    same_weight: float
    control: Rate | None
    difference: float
    difference_interval: Interval
    p_value: float
    risk: float
    risk_interval: Interval
    people: int

    @property
    def name(self) -> str:
        """What it is called: by its number of columns."""
        return counted(self.columns, "column")

    @property
    def without(self) -> float:
        """The rate without the release: of random predicates, or of the same weight, if higher."""
        return float(np.fmax(self.baseline.value, self.same_weight))

    @property
    def gain(self) -> float:
        """What the attack gets beyond that."""
        return self.attack.value - self.without

    def to_row(self) -> dict[str, Any]:
        """Return the figures as a row of a table."""
        return {
            "columns": self.columns,
            "predicates": self.attack.attacks,
            "attack": self.attack.value,
            "attack_low": self.attack.interval[0],
            "attack_high": self.attack.interval[1],
            "baseline": self.baseline.value,
            "same_weight": self.same_weight,
            "control": None if self.control is None else self.control.value,
            "difference": self.difference,
            "difference_low": self.difference_interval[0],
            "difference_high": self.difference_interval[1],
            "p_value": self.p_value,
            "risk": self.risk,
            "risk_low": self.risk_interval[0],
            "risk_high": self.risk_interval[1],
            "people": self.people,
        }

    def summary(self) -> str:
        """Return the figures in a few sentences."""
        if not self.attack.attacks:
            return f"No predicate of {self.name} fits exactly one synthetic record."
        text = (
            f"Of {counted(self.attack.attacks, 'predicate')} of {self.name}, each of which fits "
            f"exactly one synthetic record, {percent(self.attack.value)} fit exactly one person: "
            f"{people(self.people)} in all. Random predicates do so in "
            f"{percent(self.baseline.value)} of the cases, and chance gives any predicate of the "
            f"same weight {percent(self.same_weight)}."
        )
        if self.control is None:
            return text
        low, high = self.risk_interval
        return (
            f"{text} With people who are not in the data it would be "
            f"{percent(self.control.value)} (p = {self.p_value:.3f} for the difference). Residual "
            f"risk: {percent(self.risk)}, from {percent(low)} to {percent(high)}."
        )


@dataclass(frozen=True, eq=False)
class SinglingOut(Result):
    """How often what is rare in a release points to exactly one person of the original.

    Attributes
    ----------
    columns : tuple of str
        What predicates are about.
    records, control_records : int
        The original's people, and the control records; 0 if there are none.
    synthetic_records : tuple of int
        The records of each release.
    random_state : int
        Seed of what was drawn.
    confidence : float
        The confidence of the intervals.
    attacks : tuple of PredicateAttack
        The attack with each kind of predicates; also by name, as in ``found["3 columns"]``.
    """

    columns: tuple[str, ...]
    records: int
    synthetic_records: tuple[int, ...]
    control_records: int
    random_state: int
    confidence: float
    attacks: tuple[PredicateAttack, ...]
    _singled: Mapping[int, NDArray[np.int64]] = field(repr=False)

    def __getitem__(self, name: str) -> PredicateAttack:
        known = {attack.name: attack for attack in self.attacks}
        if name not in known:
            raise ParameterError(
                f"The kinds of predicates are {', '.join(map(repr, known))}; got {name!r}."
                f"{did_you_mean(name, known)}"
            )
        return known[name]

    @property
    def worst(self) -> PredicateAttack:
        """The kind of predicates with the largest risk."""
        return max(self.attacks, key=lambda attack: np.nan_to_num(attack.risk, nan=-1.0))

    @property
    def p_value(self) -> float:
        """The smallest p-value of the kinds, times their number; nan without control records."""
        found = [attack.p_value for attack in self.attacks if not np.isnan(attack.p_value)]
        return min(1.0, len(found) * min(found)) if found else float("nan")

    @cached_property
    def reasons(self) -> dict[str, str]:
        """Why a figure is nan."""
        found = {
            attack.name: f"No predicate of {attack.name} fits exactly one synthetic record."
            for attack in self.attacks
            if not attack.attack.attacks
        }
        if not self.control_records:
            found["control"] = "There are no control records."
        return found

    def per_record(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each person: how many predicates of each kind single them out.

        Rows are numbered from 0. `singled_out` tells whether any does.
        """
        import polars as pl

        times = {f"predicates_{kind}": held for kind, held in self._singled.items()}
        any_kind = np.logical_or.reduce([held > 0 for held in self._singled.values()])
        frame = pl.DataFrame({"singled_out": any_kind, **times}).with_row_index("record")
        return self._framed(frame, backend)

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each kind of predicates; what is undefined is null."""
        import polars as pl

        frame = pl.DataFrame(
            [attack.to_row() for attack in self.attacks], schema_overrides={"control": pl.Float64}
        )
        return self._framed(frame.fill_nan(None), backend)

    def to_dict(self) -> dict[str, Any]:
        """Return all but the single records as plain values, with None for nan."""
        return super().to_dict() | {"reasons": self.reasons}

    def lines(self) -> list[Line]:
        """Return each kind of predicates beside its references."""
        return [
            Line(
                f"Singling out, {attack.name}",
                "predicates that fit exactly one synthetic record and exactly one person",
                baseline=attack.without,
                synthetic=attack.attack.value,
                control=float("nan") if attack.control is None else attack.control.value,
                gain=attack.gain,
            )
            for attack in self.attacks
        ]

    def summary(self) -> str:
        """Return the result in a few sentences."""
        return " ".join(attack.summary() for attack in self.attacks)
