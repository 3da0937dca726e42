"""What came of an attack by classifiers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.data.frames import Backend, Frame
from understudy.results import Line, Result
from understudy.risk.scenario import Baseline, Scenario
from understudy.wording import percent

if TYPE_CHECKING:
    from understudy.risk.attacker_votes import Tolerance


@dataclass(frozen=True)
class Score:
    """How often one attacker is right: the mean over the sets of keys, and how it varies.

    Parameters
    ----------
    accuracy, accuracy_std : float
        Share of the original records that are guessed right after training on the synthetic
        table: mean and population standard deviation over the sets of keys.
    original, original_std : float
        The same after training on the original itself.
    control, control_std : float
        Share of the control records that are guessed right after training on the synthetic table;
        nan without control records.
    gain : float
        `accuracy` less the zero rule of the baseline.
    interval, control_interval : tuple of float
        Wilson's 95 % intervals of `accuracy` and `control`, for so many records.
    """

    accuracy: float
    accuracy_std: float
    original: float
    original_std: float
    control: float
    control_std: float
    gain: float
    interval: tuple[float, float]
    control_interval: tuple[float, float]


@dataclass(frozen=True)
class SubsetScores:
    """How often the attackers are right who know one set of keys.

    Parameters
    ----------
    keys : tuple of str
        What they know.
    synthetic, original, control : mapping
        Share of right guesses by model, the ensemble last: of original records after training on
        the synthetic and on the original table, and of control records.
    """

    keys: tuple[str, ...]
    synthetic: Mapping[str, float]
    original: Mapping[str, float]
    control: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Attackers(Result):
    """What classifiers guess of a sensitive attribute that were trained on a release.

    Parameters
    ----------
    scenario : Scenario
        What the attackers know and want.
    preset : str or None
        Which models were trained; None for a user's own.
    tolerance : Tolerance or None
        How far off a guess of a number may be; None if levels are guessed.
    records, control_records : int
        How many records were attacked.
    baseline, control_baseline : Baseline
        What is reached without the release, among the original and the control records.
    models : dict
        The score of each model.
    ensemble : Score
        That of their vote.
    mean, maximum : Score
        Mean of the models, and the model with the highest accuracy. An attacker cannot know which
        model that is; the maximum is a bound. All of `maximum` is of this one model: its
        `original` is what the same model reaches on the original, which is not the highest there,
        and may be lower than that of the ensemble.
    best : str or None
        The name of the model behind `maximum`.
    subsets : tuple of SubsetScores
        The same for each set of keys.
    shares : dict
        For each model and the ensemble, the share of sets of keys with which each original record
        is guessed right; see `per_record`.
    reasons : dict
        Why a value is nan.
    """

    scenario: Scenario
    preset: str | None
    tolerance: Tolerance | None
    records: int
    control_records: int
    baseline: Baseline
    control_baseline: Baseline
    models: dict[str, Score]
    ensemble: Score
    mean: Score
    maximum: Score
    best: str | None
    subsets: tuple[SubsetScores, ...]
    shares: dict[str, NDArray[np.float64]] = field(repr=False)
    reasons: dict[str, str]

    @property
    def scores(self) -> dict[str, Score]:
        """The score of each model, and then those of the ensemble, the mean and the maximum."""
        together = {"ensemble": self.ensemble, "mean": self.mean, "maximum": self.maximum}
        return self.models | together

    @property
    def voters(self) -> int:
        """How many models have a score: those that failed have no vote."""
        return sum(not math.isnan(score.accuracy) for score in self.models.values())

    def per_record(self, *, backend: Backend | None = None) -> Frame:
        """Return the share of sets of keys with which each original record is guessed right.

        A column for the number of the record, from 0, one for each model and one for the ensemble;
        null where there is nothing to guess, or the model failed.
        """
        import polars as pl

        frame = pl.DataFrame(self.shares).fill_nan(None).with_row_index("record")
        return self._framed(frame, backend)

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return the scores, a row for each model, the ensemble, the mean and the maximum."""
        columns = ["accuracy", "accuracy_std", "original", "original_std", "gain"]
        if self.control_records:
            columns += ["control", "control_std"]
        scores = self.scores
        content: dict[str, Any] = {"attacker": list(scores)}
        content["baseline"] = [self.baseline.zero_rule] * len(scores)
        content |= {name: [getattr(score, name) for score in scores.values()] for name in columns}
        return self._framed(content, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return all but the single records as plain values, with None for nan."""
        content = super().to_dict()
        del content["shares"]
        return content

    def summary(self) -> str:
        """Return the result in a few sentences."""
        best = f" with {self.best}" if self.best else ""
        voters = {0: "no model", 1: "one model"}.get(self.voters, f"{self.voters} models")
        control = (
            f" For people who are not in the data it is {percent(self.ensemble.control)}."
            if self.control_records
            else ""
        )
        return (
            f"An attacker who knows {self.scenario.known_keys} guesses "
            f"{self.scenario.sensitive!r} correctly for {percent(self.ensemble.accuracy)} of the "
            f"records by a vote of {voters} (mean {percent(self.mean.accuracy)}, "
            f"best {percent(self.maximum.accuracy)}{best}). "
            f"Without the release it is {percent(self.baseline.zero_rule)}, "
            f"with the original {percent(self.ensemble.original)}.{control}"
        )

    def lines(self) -> Sequence[Line]:
        """Return each attacker beside its references."""
        return [self.line(name, "", score) for name, score in self.scores.items()]

    def line(self, name: str, meaning: str, score: Score) -> Line:
        """Return one of the scores beside its references."""
        shares = score.accuracy, score.original, score.control, score.gain
        return Line(name, meaning, self.baseline, *shares)
