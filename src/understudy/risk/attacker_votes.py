"""Guesses of several models: when one is right, how the models vote, and what it comes to."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.data import Coded
from understudy.data.frames import Backend
from understudy.errors import DataError, ParameterError
from understudy.intervals import wilson_interval
from understudy.learning.classifiers import MANY_LEVELS
from understudy.risk.attacker_results import Attackers, Score, SubsetScores
from understudy.risk.prepare import Prepared
from understudy.risk.scenario import Baseline, Scenario
from understudy.wording import quoted

Truth = tuple[NDArray[Any], NDArray[np.bool_]]
"""The sensitive attribute of each record, as codes or numbers, and where there is one."""

Numbers = NDArray[np.float64]

# A limit that is hit exactly in decimals may be missed by the last bits: 0.8 - 0.1 > 0.7.
_LAST_BITS = 8 * np.finfo(np.float64).eps


def _is_size(value: object) -> bool:
    return (
        isinstance(value, int | float | np.integer | np.floating)
        and not isinstance(value, bool)
        and bool(0 <= value < np.inf)
    )


@dataclass(frozen=True)
class Tolerance:
    """How far from the truth a guess may be; the limits themselves count as right.

    Parameters
    ----------
    size : float
        The largest difference that is right.
    relative : bool
        Whether that is a share of the true number's size, rather than the same for all.

    Examples
    --------
    >>> Tolerance(10).right(np.array([110.0, 111.0]), np.array([100.0, 100.0])).tolist()
    [True, False]
    """

    size: float
    relative: bool = False

    @classmethod
    def of(cls, tolerance: float | None, relative_tolerance: float | None) -> Tolerance | None:
        """Return the tolerance that a user asked for, or None."""
        named = {"tolerance": tolerance, "relative_tolerance": relative_tolerance}
        given = {name: value for name, value in named.items() if value is not None}
        if not given:
            return None
        if len(given) == 2:
            raise ParameterError("Give either tolerance or relative_tolerance, not both.")
        ((name, value),) = given.items()
        if not _is_size(value):
            raise ParameterError(f"{name} is a number from 0; got {value!r}.")
        return cls(float(value), name == "relative_tolerance")

    def limits(self, truths: Numbers) -> tuple[Numbers, Numbers]:
        """Return the smallest and the largest right guess for each true number."""
        reach = self.size * np.abs(truths) if self.relative else np.full(len(truths), self.size)
        if self.size:
            reach = reach + _LAST_BITS * np.maximum(np.abs(truths), reach)
        return truths - reach, truths + reach

    def right(self, guesses: Numbers, truths: Numbers) -> NDArray[np.bool_]:
        """Tell which guesses are right."""
        low, high = self.limits(truths)
        return (low <= guesses) & (guesses <= high)

    def baseline(self, truths: Numbers) -> Baseline:
        """Return how often the best constant guess, and a guess drawn from `truths`, is right.

        Each true number has an interval of right guesses. The best constant lies where the most
        of them overlap, and such a place is the lower end of one of them.

        Examples
        --------
        >>> Tolerance(1).baseline(np.array([1.0, 2.0, 3.0, 9.0]))  # 2 is within 1 of three numbers
        Baseline(zero_rule=0.75, proportional=0.5)
        """
        low, high = (np.sort(limit) for limit in self.limits(truths))
        hits = [
            np.searchsorted(low, guesses, side="right") - np.searchsorted(high, guesses)
            for guesses in (low, truths)
        ]
        total = len(truths)
        return Baseline(int(hits[0].max()) / total, int(hits[1].sum()) / total**2)


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be guessed, in each table."""

    original: Truth
    synthetic: Truth
    control: Truth | None
    size: int
    tolerance: Tolerance | None

    @classmethod
    def of(cls, prepared: Prepared, tolerance: Tolerance | None) -> Target:
        """Return the sensitive attribute of all tables, as codes or as numbers."""
        name = prepared.scenario.sensitive
        levels = prepared.levels[name]
        if tolerance is not None and levels.numbers is None:
            raise ParameterError(f"{name!r} holds labels, and a tolerance is for numbers.")
        if tolerance is None and len(levels) > MANY_LEVELS:
            logging.getLogger("understudy").warning(
                "The sensitive attribute %r has %s levels. Classifiers will be slow, and a guess "
                "counts only if it is exact. Put the values in groups, or give a tolerance if "
                "they are numbers.",
                name,
                f"{len(levels):,}",
            )

        def truth(table: Coded) -> Truth:
            codes = table[name].astype(np.int64)
            if tolerance is None or levels.numbers is None:
                return codes, np.ones(len(codes), bool)
            numbers = levels.numbers[codes]
            return numbers, ~np.isnan(numbers)

        original = truth(prepared.original)
        if not original[1].any():
            raise DataError(f"The original table has no number in {name!r} to guess.")
        control = None if prepared.control is None else truth(prepared.control)
        return cls(original, truth(prepared.syntheses[0]), control, len(levels), tolerance)

    def right(self, guesses: NDArray[Any], truth: Truth) -> NDArray[np.float64]:
        """Return 1 for a right guess, 0 for a wrong one, and nan where there is no truth."""
        values, known = truth
        if self.tolerance is None:
            right = guesses == values
        else:
            right = self.tolerance.right(guesses, values)
        return np.where(known, right, np.nan)

    def baseline(self, truth: Truth) -> Baseline:
        """Return what is reached without the release."""
        values = truth[0][truth[1]]
        if not len(values):
            return Baseline(math.nan, math.nan)
        if self.tolerance is None:
            return Baseline.of(np.bincount(values, minlength=self.size))
        return self.tolerance.baseline(values)

    def vote(self, guesses: Sequence[NDArray[Any]], trained_on: Truth) -> NDArray[Any]:
        """Return the guess of all models together: the majority's, or the median number."""
        if self.tolerance is not None:
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
        """Add what the models guess that were trained on one side.

        Parameters
        ----------
        keys : tuple of str
            What they know.
        side : {"synthetic", "original"}
            What they were trained on.
        guesses : sequence
            For each model, guesses for the different combinations of keys, or why there are none.
        which : ndarray
            The combination of each original record, and of the control records after them.
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
            {name: self._control_rate(found.get(name), which[rows:]) for name in self._names}
        )

    def _control_rate(self, guesses: NDArray[Any] | None, which: NDArray[np.integer]) -> float:
        control = self._target.control
        if guesses is None or control is None or not control[1].any():
            return math.nan
        return float(self._target.right(guesses[which], control)[control[1]].mean())

    def result(self, scenario: Scenario, preset: str | None, backend: Backend) -> Attackers:
        """Return the whole attack."""
        target = self._target
        control_records = 0 if target.control is None else int(target.control[1].sum())
        if target.control is None:
            self._reasons["control"] = "No control records were given."
        elif not control_records:
            self._reasons["control"] = "No control record has a number to guess."
        scores = {
            name: self._score({side: self._column(side, [name]) for side in self._rates})
            for name in self._names
        }
        works = [name for name in self._models if not math.isnan(scores[name].accuracy)]
        whole = [name for name in works if not math.isnan(scores[name].original)]
        mean = self._score(
            {
                side: self._column(side, whole if side == "original" else works)
                for side in self._rates
            }
        )
        failed = [name for name in self._models if name not in works]
        if failed:
            self._reasons["mean"] = f"It leaves out the models that failed: {', '.join(failed)}."
        best = max(works, key=lambda name: scores[name].accuracy, default=None)
        return Attackers(
            scenario=scenario,
            preset=preset,
            tolerance=target.tolerance,
            records=int(target.original[1].sum()),
            control_records=control_records,
            baseline=self._baseline,
            control_baseline=(
                target.baseline(target.control)
                if target.control is not None
                else Baseline(math.nan, math.nan)
            ),
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

    def _column(self, side: str, names: Sequence[str]) -> NDArray[np.float64]:
        """Return the rates of each set of keys, averaged over some models."""
        if not names:
            return np.full(len(self._subsets), np.nan)
        return np.array(
            [np.mean([rate[name] for name in names]) for rate in self._rates[side]], np.float64
        )

    def _score(self, rates: dict[str, NDArray[np.float64]]) -> Score:
        target = self._target
        mean = {side: float(values.mean()) for side, values in rates.items()}
        deviation = {side: float(values.std()) for side, values in rates.items()}
        records = int(target.original[1].sum())
        controls = 0 if target.control is None else int(target.control[1].sum())
        return Score(
            accuracy=mean["synthetic"],
            accuracy_std=deviation["synthetic"],
            original=mean["original"],
            original_std=deviation["original"],
            control=mean["control"],
            control_std=deviation["control"],
            gain=mean["synthetic"] - self._baseline.zero_rule,
            interval=wilson_interval(mean["synthetic"] * records, records),
            control_interval=wilson_interval(mean["control"] * controls, controls),
        )
