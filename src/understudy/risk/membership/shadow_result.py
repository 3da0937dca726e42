"""How surely shadow releases tell whether a person was in the data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from understudy.data.frames import Backend, Frame
from understudy.results import Line, Result, to_plain
from understudy.wording import counted, p_value, percent

Others = Literal["sample", "all"]


@dataclass(frozen=True, eq=False)
class ShadowMembership(Result):
    """How well an attacker who can run the tool tells whether some people were in the data.

    See `membership_by_shadows`.

    Parameters
    ----------
    record : ndarray of int64
        Row numbers of the people who were attacked, from 0.
    exposure : ndarray of float64
        Distance to the nearest other person.
    auc, auc_low, auc_high : ndarray of float64
        Probability that a shadow release with the person scores higher than one without, and its
        95% interval.
    p_value : ndarray of float64
        Probability of an AUC as large by chance, of each person by themselves.
    advantage, advantage_low, advantage_high : ndarray of float64
        Share of releases with the person that are called so, less that of releases without.
    probability : ndarray of float64
        Probability that the person was in the data of the release that was given, if both are as
        likely before; nan if that is not known.
    shadows : int
        Shadow releases for each person.
    runs : int
        How often the tool was run.
    others : {"sample", "all"}
        Whether shadows were made from a random half of the other people, or from all of them.
    reasons : mapping from str to str
        Why a figure is undefined.
    """

    record: NDArray[np.int64]
    exposure: NDArray[np.float64]
    auc: NDArray[np.float64]
    auc_low: NDArray[np.float64]
    auc_high: NDArray[np.float64]
    p_value: NDArray[np.float64]
    advantage: NDArray[np.float64]
    advantage_low: NDArray[np.float64]
    advantage_high: NDArray[np.float64]
    probability: NDArray[np.float64]
    shadows: int
    runs: int
    others: Others = "sample"
    reasons: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.record)

    @property
    def mean_auc(self) -> float:
        """The mean of the AUC over the people."""
        return float(np.mean(self.auc))

    @property
    def max_auc(self) -> float:
        """The largest AUC of a person."""
        return float(np.max(self.auc))

    @property
    def smallest_p_value(self) -> float:
        """The smallest p-value, times the number of people who were looked at."""
        return min(1.0, len(self) * float(np.min(self.p_value)))

    def lines(self) -> list[Line]:
        """Return the share of right answers, for the people on average and for the worst."""
        about = "Share of pairs of a release with the person and one without that are told apart"
        return [
            Line("Told apart, on average", about, 0.5, self.mean_auc),
            Line("Told apart, worst person", about, 0.5, self.max_auc),
        ]

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each person, in the order in which they are exposed."""
        names = (
            "record",
            "exposure",
            "auc",
            "auc_low",
            "auc_high",
            "p_value",
            "advantage",
            "advantage_low",
            "advantage_high",
            "probability",
        )
        return self._framed({name: getattr(self, name) for name in names}, backend)

    def per_record(self, *, backend: Backend | None = None) -> Frame:
        """Return the same as `to_frame`, as all measures have it."""
        return self.to_frame(backend=backend)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures over all people as plain values, with None for what is undefined."""
        given = self.probability[~np.isnan(self.probability)]
        plain: dict[str, Any] = to_plain(
            {
                "records": len(self),
                "shadows": self.shadows,
                "runs": self.runs,
                "others": self.others,
                "mean_auc": self.mean_auc,
                "max_auc": self.max_auc,
                "p_value": self.smallest_p_value,
                "max_advantage": float(np.max(self.advantage)),
                "max_probability": float(given.max()) if len(given) else math.nan,
                "reasons": dict(self.reasons),
            }
        )
        return plain

    def summary(self) -> str:
        """Return the result in a few plain sentences."""
        worst = int(np.argmax(self.auc))
        text = (
            f"An attacker who can run the tool, and tried it {counted(self.runs, 'time')}, tells a "
            f"release with a person from one without {percent(self.mean_auc)} of the time for the "
            f"{counted(len(self), 'person')} who are most exposed, and {percent(self.max_auc)} for "
            f"the worst of them (95% interval {percent(float(self.auc_low[worst]))} to "
            f"{percent(float(self.auc_high[worst]))}; 50% is chance; "
            f"{p_value(self.smallest_p_value)} after {counted(len(self), 'look')})."
        ).replace("persons who are", "people who are")
        if not np.isnan(self.probability).all():
            text += (
                " From the release itself, the largest probability that one of them was in the "
                f"data is {np.nanmax(self.probability):.2f}."
            )
        return text
