"""How well scores tell the people in the data from people who are not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.data.frames import Backend, Frame
from understudy.results import Line, Result, to_plain
from understudy.risk.membership.roc import Separation
from understudy.wording import counted, p_value, percent, sentence

TITLES = {
    "closeness": "Closeness",
    "relative_closeness": "Closer than other people",
    "density_ratio": "Ratio of densities",
}


@dataclass(frozen=True, eq=False)
class Scored:
    """One score of the people in the data and of the control records, and how it separates them."""

    original: NDArray[np.float64]
    control: NDArray[np.float64]
    separation: Separation


@dataclass(frozen=True, eq=False)
class ControlMembership(Result):
    """Who was in the data, guessed from the release and from control records alone.

    See `membership_by_control`.

    Parameters
    ----------
    record : ndarray of int64
        Row numbers of the people in the data who were scored, from 0.
    control_record : ndarray of int64
        Row numbers of the control records that were scored.
    scores : mapping from str to Scored
        Each score by name: higher means more likely a member.
    releases : int
        How many releases were seen.
    reasons : mapping from str to str
        Why a figure is undefined.
    notes : tuple of str
        What a reader should know, such as that a sample of the people was scored.
    """

    record: NDArray[np.int64]
    control_record: NDArray[np.int64]
    scores: Mapping[str, Scored]
    releases: int = 1
    reasons: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @cached_property
    def best(self) -> str:
        """The name of the score with the largest AUC."""
        return max(self.scores, key=lambda name: self.scores[name].separation.auc)

    @property
    def auc(self) -> float:
        """The largest AUC."""
        return self.scores[self.best].separation.auc

    @property
    def p_value(self) -> float:
        """The smallest p-value, times the number of scores that were tried."""
        every = [scored.separation.p_value for scored in self.scores.values()]
        return min(1.0, len(every) * min(every))

    def true_positive_rate(self, false_positive_rate: float) -> float:
        """Return the largest share of members found by any score, at 0.01 or 0.001 others."""
        found = [
            one.true_positive_rate
            for scored in self.scores.values()
            for one in scored.separation.detections
            if one.false_positive_rate == false_positive_rate
        ]
        return max(found, default=math.nan)

    def lines(self) -> list[Line]:
        """Return the share of members found by each score, beside that of others."""
        return [
            Line(
                f"{TITLES[name]}, {one.false_positive_rate:.1%} of others",
                "Share of people in the data who score higher than all but so many others",
                one.false_positive_rate,
                one.true_positive_rate,
            )
            for name, scored in self.scores.items()
            for one in scored.separation.detections
        ]

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each score: AUC and true positives, with their intervals."""
        rows = []
        for name, scored in self.scores.items():
            own = scored.separation
            row: dict[str, Any] = {
                "score": name,
                "auc": own.auc,
                "auc_low": own.low,
                "auc_high": own.high,
                "p_value": own.p_value,
            }
            for one in own.detections:
                key = f"tpr_at_{one.false_positive_rate:g}"
                row |= {key: one.true_positive_rate, f"{key}_low": one.low, f"{key}_high": one.high}
            rows.append(row)
        return self._framed(rows, backend)

    def per_record(self, *, backend: Backend | None = None) -> Frame:
        """Return the scores of each person, and the share of control records that reach them."""
        columns: dict[str, Any] = {"record": self.record}
        for name, scored in self.scores.items():
            rising = np.sort(scored.control)
            below = np.searchsorted(rising, scored.original, side="left")
            columns[name] = scored.original
            columns[f"{name}_control_share"] = 1 - below / len(rising)
        return self._framed(columns, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures over all people as plain values, with None for what is undefined."""
        plain: dict[str, Any] = to_plain(
            {
                "records": len(self.record),
                "control_records": len(self.control_record),
                "releases": self.releases,
                "best": self.best,
                "auc": self.auc,
                "p_value": self.p_value,
                "scores": {name: scored.separation for name, scored in self.scores.items()},
                "reasons": dict(self.reasons),
                "notes": list(self.notes),
            }
        )
        return plain

    def summary(self) -> str:
        """Return the result in a few plain sentences."""
        own = self.scores[self.best].separation
        found = own.detections[0]
        detected = (
            f"A limit that {percent(found.false_positive_rate)} of the control records exceed finds"
            f" {percent(found.true_positive_rate)} of the people in the data."
            if not math.isnan(found.true_positive_rate)
            else f"How many are found at few false alarms is unknown: {sentence(found.reason)}"
        )
        return (
            f"Of a person in the data and one who is not, an attacker with the release picks the "
            f"right one {percent(self.auc)} of the time (95% interval {percent(own.low)} to "
            f"{percent(own.high)}; 50% is chance; {p_value(self.p_value)}), from "
            f"{counted(len(self.record), 'record')} and "
            f"{counted(len(self.control_record), 'control record')}. {detected}"
        )
