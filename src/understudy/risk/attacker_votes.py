"""Guesses of several models: when one is right, how the models vote, and what it comes to."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.data import Coded
from understudy.data.frames import Backend, Frame
from understudy.errors import DataError
from understudy.intervals import wilson_interval
from understudy.learning.classifiers import MANY_LEVELS
from understudy.results import Line, Result
from understudy.risk.kept_back import Compared, People, compare_people, strata_of
from understudy.risk.prepare import Prepared
from understudy.risk.scenario import Baseline, Scenario
from understudy.risk.tolerance import NumberTarget, Tolerance
from understudy.wording import percent, quoted

Truth = tuple[NDArray[Any], NDArray[np.bool_]]
"""The sensitive attribute of each record, as codes or numbers, and where there is one."""


@dataclass(frozen=True)
class Score:
    """How often one attacker is right: the mean over the sets of keys, and how it varies.

    Parameters
    ----------
    accuracy, accuracy_std : float
        Share of the original records that are guessed correctly after training on the synthetic
        table: mean and population standard deviation over the sets of keys.
    original, original_std : float
        The same after training on the original itself.
    control, control_std : float
        Share of the control records that are guessed correctly after training on the synthetic
        table; nan without control records.
    gain : float
        `accuracy` less the zero rule of the baseline.
    interval, control_interval : tuple of float
        Wilson's 95% intervals of `accuracy` and `control`, for so many records.
    compared : Compared or None
        People in the data beside those kept back; None without control records. The score of a
        person is the share of right guesses over sets of keys and models.
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
    compared: Compared | None


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
        is guessed correctly; see `per_record`.
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
        """Return the share of sets of keys with which each original record is guessed correctly.

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
            f"{'' if self.tolerance is None else f' {self.tolerance.sentence()}'}"
        )

    def lines(self) -> Sequence[Line]:
        """Return each attacker beside its references."""
        return [self.line(name, "", score) for name, score in self.scores.items()]

    def line(self, name: str, meaning: str, score: Score) -> Line:
        """Return one of the scores beside its references."""
        shares = score.accuracy, score.original, score.control, score.gain
        return Line(name, meaning, self.baseline, *shares)


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be guessed, in each table."""

    original: Truth
    synthetic: Truth
    control: Truth | None
    size: int
    number: NumberTarget | None

    @classmethod
    def of(cls, prepared: Prepared) -> Target:
        """Return the sensitive attribute of all tables, as codes or as numbers."""
        name, number = prepared.scenario.sensitive, prepared.number
        levels = prepared.levels[name]
        if number is None and len(levels) > MANY_LEVELS:
            logging.getLogger("understudy").warning(
                "The sensitive attribute %r has %s levels. Classifiers will be slow, and a guess "
                "counts only if it is exact. Put the values in groups, or give a tolerance if "
                "they are numbers.",
                name,
                f"{len(levels):,}",
            )

        def truth(table: Coded) -> Truth:
            codes = table[name].astype(np.int64)
            if number is None:
                return codes, np.ones(len(codes), bool)
            numbers = number.numbers[codes]
            return numbers, ~np.isnan(numbers)

        original = truth(prepared.original)
        if not original[1].any():
            raise DataError(f"The original table has no number in {name!r} to guess.")
        control = None if prepared.control is None else truth(prepared.control)
        return cls(original, truth(prepared.released), control, len(levels), number)

    @property
    def records(self) -> int:
        """How many original records there are to guess."""
        return int(self.original[1].sum())

    @property
    def control_records(self) -> int:
        """How many control records there are to guess."""
        return 0 if self.control is None else int(self.control[1].sum())

    def right(self, guesses: NDArray[Any], truth: Truth) -> NDArray[np.float64]:
        """Return 1 for a right guess, 0 for a wrong one, and nan where there is no truth."""
        values, known = truth
        if self.number is None:
            right = guesses == values
        else:
            right = self.number.closeness.right(guesses, values)
        return np.where(known, right, np.nan)

    def baseline(self, truth: Truth | None) -> Baseline:
        """Return what is reached without the release; nan if there is nothing to guess."""
        if truth is None or not truth[1].any():
            return Baseline(math.nan, math.nan)
        values, released = truth[0][truth[1]], self.synthetic[0][self.synthetic[1]]
        if self.number is None:
            counts = (np.bincount(held, minlength=self.size) for held in (values, released))
            return Baseline.of(*counts)
        return self.number.closeness.baseline(values, released)

    def vote(self, guesses: Sequence[NDArray[Any]], trained_on: Truth) -> NDArray[Any]:
        """Return the guess of all models together: the majority's, or the median number."""
        if self.number is not None:
            return np.asarray(np.median(np.stack(guesses), axis=0))
        return majority(guesses, np.bincount(trained_on[0], minlength=self.size))


def majority(guesses: Sequence[NDArray[Any]], counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the code that most guess; of several, the one with the highest count, then the first.

    Examples
    --------
    >>> votes = [np.array([0, 0]), np.array([1, 2]), np.array([1, 1])]
    >>> majority(votes, np.array([5, 3, 9])).tolist()  # two for 1; then one each, and 2 is frequent
    [1, 2]
    """
    stacked = np.stack(guesses).astype(np.int64)
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    votes = np.stack([(stacked == guess).sum(axis=0) for guess in stacked])
    winner = (votes * len(counts) - rank[stacked]).argmax(axis=0)
    chosen: NDArray[np.int64] = np.take_along_axis(stacked, winner[None], axis=0)[0]
    return chosen


class VoteCount:
    """Adds up what the models guess, one set of keys after the other."""

    def __init__(self, target: Target, models: tuple[str, ...]) -> None:
        self._target = target
        self._models = models
        self._names = (*models, "ensemble")
        self._baseline = target.baseline(target.original)
        rows = len(target.original[0])
        self._hits = {name: np.zeros(rows) for name in self._names}
        others = 0 if target.control is None else len(target.control[0])
        self._control_hits = {name: np.zeros(others) for name in self._names}
        self._rates: dict[str, list[dict[str, float]]] = {
            side: [] for side in ("synthetic", "original", "control")
        }
        self._subsets: list[tuple[str, ...]] = []
        self._reasons: dict[str, str] = {}

    def add(
        self,
        keys: tuple[str, ...],
        side: str,
        guesses: Sequence[NDArray[Any] | str],
        which: NDArray[np.integer],
    ) -> None:
        """Add what the models guess that know these keys and were trained on one side.

        `guesses` are, for each model, those for the different combinations of keys, or why there
        are none; `which` is the combination of each original record, then of each control record.
        """
        target, rows = self._target, len(self._target.original[0])
        found: dict[str, NDArray[Any]] = {}
        for name, guess in zip(self._models, guesses, strict=True):
            if isinstance(guess, str):
                trouble = f"It failed on the {side} table with {quoted(keys)}: {guess}"
                self._reasons.setdefault(name, trouble)
            else:
                found[name] = guess
        trained_on = target.synthetic if side == "synthetic" else target.original
        if found:
            found["ensemble"] = target.vote(list(found.values()), trained_on)
        else:
            self._reasons.setdefault("ensemble", "All models failed.")
        right = {
            name: target.right(found[name][which[:rows]], target.original)
            if name in found
            else np.full(rows, np.nan)
            for name in self._names
        }
        known = target.original[1]
        self._rates[side].append({name: float(right[name][known].mean()) for name in self._names})
        if side != "synthetic":
            return
        self._subsets.append(keys)
        for name in self._names:
            self._hits[name] += right[name]
        self._rates["control"].append(
            {name: self._control_rate(name, found.get(name), which[rows:]) for name in self._names}
        )

    def _control_rate(
        self, name: str, guesses: NDArray[Any] | None, which: NDArray[np.integer]
    ) -> float:
        control = self._target.control
        if guesses is None or control is None or not control[1].any():
            self._control_hits[name] += math.nan
            return math.nan
        right = self._target.right(guesses[which], control)
        self._control_hits[name] += right
        return float(right[control[1]].mean())

    def _compared(self, models: Sequence[str]) -> Compared | None:
        """Compare people in the data with those kept back, by the mean of some models."""
        target = self._target
        if target.control is None or not models:
            return None
        sides = ((target.original, self._hits), (target.control, self._control_hits))
        known = [truth[1] for truth, _ in sides]
        values = [truth[0][truth[1]] for truth, _ in sides]
        _, codes = np.unique(np.concatenate(values), return_inverse=True)
        own, other = np.split(codes, [len(values[0])])
        strata = strata_of(own, other, numbers=target.number is not None)
        people = [
            People(
                np.mean([hits[name][rows] for name in models], axis=0) / len(self._subsets), alike
            )
            for (_, hits), rows, alike in zip(sides, known, strata, strict=True)
        ]
        return compare_people(*people)

    def result(self, scenario: Scenario, preset: str | None, backend: Backend) -> Attackers:
        """Return the whole attack."""
        target = self._target
        if target.control is None:
            self._reasons["control"] = "No control records were given."
        elif not target.control_records:
            self._reasons["control"] = "No control record has a number to guess."
        scores = {name: self._score([name], [name]) for name in self._names}
        works = [name for name in self._models if not math.isnan(scores[name].accuracy)]
        mean = self._score(works, [name for name in works if not math.isnan(scores[name].original)])
        failed = [name for name in self._models if name not in works]
        if failed:
            self._reasons["mean"] = f"It leaves out the models that failed: {', '.join(failed)}."
        best = max(works, key=lambda name: scores[name].accuracy, default=None)
        return Attackers(
            scenario=scenario,
            preset=preset,
            tolerance=None if target.number is None else target.number.closeness.tolerance,
            records=target.records,
            control_records=target.control_records,
            baseline=self._baseline,
            control_baseline=target.baseline(target.control),
            models={name: scores[name] for name in self._models},
            ensemble=scores["ensemble"],
            mean=mean,
            maximum=scores[best] if best is not None else mean,
            best=best,
            subsets=tuple(
                SubsetScores(keys, *rates)
                for keys, *rates in zip(self._subsets, *self._rates.values(), strict=True)
            ),
            shares={name: hits / len(self._subsets) for name, hits in self._hits.items()},
            reasons=self._reasons,
            _backend=backend,
        )

    def _score(self, models: Sequence[str], on_original: Sequence[str]) -> Score:
        """Return the mean of some models, and of some after training on the original."""
        found = {}
        for side, rates in self._rates.items():
            names = on_original if side == "original" else models
            scores = [[rate[name] for name in names] or [math.nan] for rate in rates]
            each = np.array([np.mean(own) for own in scores])
            found[side] = float(each.mean()), float(each.std())
        records, controls = self._target.records, self._target.control_records
        accuracy, of_control = found["synthetic"][0], found["control"][0]
        return Score(
            *found["synthetic"],
            *found["original"],
            *found["control"],
            gain=accuracy - self._baseline.zero_rule,
            interval=wilson_interval(accuracy * records, records),
            control_interval=wilson_interval(of_control * controls, controls),
            compared=self._compared(models),
        )
