"""What comes of looking keys up in a release: the scores of records, and the whole result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import as_names
from understudy.data.coded import Coded
from understudy.data.frames import Backend, Frame
from understudy.data.levels import Levels
from understudy.errors import ParameterError
from understudy.learning.nearest import Matches, Search
from understudy.learning.packed import Records
from understudy.progress import track
from understudy.results import Line, Result
from understudy.risk.kept_back import Compared
from understudy.risk.prepare import require_rows
from understudy.risk.scenario import Baseline, Scenario
from understudy.risk.tolerance import NumberTarget, Tolerance
from understudy.wording import percent

if TYPE_CHECKING:
    import polars as pl

Unmatched = Literal["nearest", "zero", "ignore"]
"""What a record without a match counts: what the nearest records say, 0, or nothing at all."""

TITLES: dict[Unmatched, tuple[str, str]] = {
    "nearest": ("GCAP", "nearest records"),
    "ignore": ("ICAP", "exact matches only"),
    "zero": ("0CAP", "no match counts as wrong"),
}
"""What the measure by each rule is called, and how it treats records without a match."""


@dataclass(frozen=True, eq=False)
class Scores:
    """How well each of the different queries is attributed; a query can stand for many records.

    Parameters
    ----------
    cap : ndarray of float64
        Share of the records found that have the query's sensitive value, or one within the
        tolerance; 0 if none was found.
    right : ndarray of bool
        Whether the most frequent value among them, or the middle number, is right.
    guess : ndarray of int32
        The code of that guess; -1 if none was found.
    distance : ndarray of int32
        In how many keys they differ from the query; -1 if none was found.
    counted : ndarray of bool
        Whether the query counts at all.
    weights : ndarray of int64
        How many records each query stands for.
    sensitive : ndarray of int
        The sensitive value of each query.
    baseline : Baseline
        What is reached without the release, among the records that count.
    """

    cap: NDArray[np.float64]
    right: NDArray[np.bool_]
    guess: NDArray[np.int32]
    distance: NDArray[np.int32]
    counted: NDArray[np.bool_]
    weights: NDArray[np.int64]
    sensitive: NDArray[np.integer]
    baseline: Baseline

    @cached_property
    def records(self) -> int:
        """How many records count."""
        return int(self.weights @ self.counted)

    @cached_property
    def hits(self) -> int:
        """How many records are guessed correctly."""
        return int(self.weights @ self.right)

    @property
    def accuracy(self) -> float:
        """Share of the records that are guessed correctly; nan if none counts."""
        return self.hits / self.records if self.records else math.nan

    @property
    def mean(self) -> float:
        """Mean of the records' scores; nan if none counts."""
        # Rounded once, so that it is the same in whatever order records come.
        total = math.fsum((self.weights * self.cap).tolist())
        return total / self.records if self.records else math.nan

    @property
    def unmatched(self) -> int:
        """How many records have no match on all keys."""
        return int(self.weights @ (self.distance != 0))

    def at_distance(self, keys: int) -> tuple[int, ...]:
        """Return how many records have their nearest match at distance 0, 1, .. `keys`."""
        found = self.distance >= 0
        counts = np.bincount(self.distance[found], self.weights[found], minlength=keys + 1)
        return tuple(int(count) for count in counts)


class Attack:
    """An attacker who looks up the keys of each query in a reference table.

    With `number`, the sensitive attribute is a number that is guessed within a tolerance. Records
    without one do not count: neither those that are looked up nor those that are found.
    """

    def __init__(
        self, reference: Coded, queries: Records, number: NumberTarget | None = None
    ) -> None:
        self.queries = queries
        self._number = number
        self._counted = np.ones(len(queries.weights), bool)
        if number is not None:
            known = number.known(reference.columns[-1])
            # In the order of numbers, in which those that are found with one key are wanted.
            order = np.argsort(reference.columns[-1], kind="stable")
            reference = reference.take(order[known[order]])
            self._counted = number.known(queries.sensitive)
            limits = number.code_limits
            self._limits = limits[0][queries.sensitive], limits[1][queries.sensitive]
        same = reference is queries.coded
        self._search = Search(queries if same else Records(reference), queries)
        self._baseline = self._baseline_of(self._counted)

    def scores(self, places: Sequence[int], *rules: Unmatched) -> list[Scores]:
        """Attack with the keys at these places among the columns, by each of the rules.

        The records are looked up once for all rules.
        """
        nearest = "nearest" in rules
        if self._number is None:
            found = self._search.matches(places, nearest=nearest)
        else:
            found = self._search.middle_matches(places, self._limits, nearest=nearest)
        return [self._scored(found, rule) for rule in rules]

    def _scored(self, found: Matches, rule: Unmatched) -> Scores:
        matched = found.total > 0
        distance, cap = found.distance, found.same / np.maximum(found.total, 1)
        if rule != "nearest":
            matched = distance == 0
            distance, cap = np.where(matched, distance, np.int32(-1)), cap * matched
        counted = self._counted & matched if rule == "ignore" else self._counted
        return Scores(
            cap=cap,
            right=matched & self._right(found.guess),
            guess=np.where(matched, found.guess, np.int32(-1)),
            distance=distance,
            counted=counted,
            weights=self.queries.weights,
            sensitive=self.queries.sensitive,
            baseline=self._baseline_of(counted) if rule == "ignore" else self._baseline,
        )

    def _right(self, guess: NDArray[np.int32]) -> NDArray[np.bool_]:
        if self._number is None:
            right: NDArray[np.bool_] = guess == self.queries.sensitive
            return right
        low, high = self._limits
        return (low <= guess) & (guess <= high)

    def _baseline_of(self, counted: NDArray[np.bool_]) -> Baseline:
        """Return what is reached without the release, among some of the queries."""
        own, weights = self.queries.sensitive[counted], self.queries.weights[counted]
        released = self._search.reference.counts
        if self._number is None:
            counts = np.bincount(own, weights, minlength=1)
            return Baseline.of(counts.astype(np.int64), released)
        numbers, closeness = self._number.numbers, self._number.closeness
        return closeness.baseline(
            np.repeat(numbers[own], weights), np.repeat(numbers[: len(released)], released)
        )


@dataclass(frozen=True)
class Rates:
    """Accuracy and mean of an attack: mean and population standard deviation over the sets of keys.

    `mean` is that of the correct attribution probability.
    """

    accuracy: float
    accuracy_std: float
    mean: float
    mean_std: float

    @classmethod
    def over(cls, pairs: Sequence[tuple[float, float]]) -> Rates:
        """Return the rates, given accuracy and mean for each set of keys.

        Sets for which they are undefined are left out.
        """
        defined = np.array([pair for pair in pairs if not math.isnan(pair[0])])
        if not len(defined):
            return cls(math.nan, math.nan, math.nan, math.nan)
        (accuracy, mean), (accuracy_std, mean_std) = defined.mean(axis=0), defined.std(axis=0)
        return cls(float(accuracy), float(accuracy_std), float(mean), float(mean_std))


@dataclass(frozen=True)
class ControlRates(Rates):
    """The same attack on records that were not used for the synthesis.

    What is learnt about them too is learnt about everybody; what is left concerns the members.

    Parameters
    ----------
    records : int
        Records of the control table.
    interval : tuple of float or None
        Wilson's 95% interval of `accuracy`; None if there are several sets of keys.
    baseline : Baseline
        What is reached without the release, among the control records that count.
    difference, mean_difference : float
        Accuracy and mean for the original records less those for these.
    compared : Compared
        The difference with its interval and test. With several sets of keys, the score of a person
        is the share of the sets with which the guess is right, among those in which it counts.
    """

    records: int
    interval: tuple[float, float] | None
    baseline: Baseline
    difference: float
    mean_difference: float
    compared: Compared


@dataclass(frozen=True)
class SubsetAttribution:
    """The attack by somebody who knows one set of keys.

    Parameters
    ----------
    keys : tuple of str
        What is known.
    records : int
        Records that count: all of them, or those with a match if others are ignored.
    accuracy, mean : float
        Share of right guesses, and mean correct attribution probability.
    interval : tuple of float
        Wilson's 95% interval of `accuracy`.
    baseline : Baseline
        What is reached without the release, among the records that count.
    unmatched : int
        Records whose keys no synthetic record has.
    rho : tuple of int or None
        How many records have their nearest synthetic records at distance 0, 1, 2, ..; None unless
        records without a match are given the nearest.
    original_accuracy, original_mean : float
        Accuracy and mean of the original on itself.
    control_accuracy, control_mean : float
        Accuracy and mean for the control records; nan if there are none.
    """

    keys: tuple[str, ...]
    records: int
    accuracy: float
    mean: float
    interval: tuple[float, float]
    baseline: Baseline
    unmatched: int
    rho: tuple[int, ...] | None
    original_accuracy: float
    original_mean: float
    control_accuracy: float
    control_mean: float


@dataclass(frozen=True, eq=False)
class Attribution(Result):
    """What is learnt by looking keys up in the synthetic data; `attribution` makes it.

    Parameters
    ----------
    scenario : Scenario
        What the attacker knows and wants.
    rule : {"nearest", "zero", "ignore"}
        What was done with records without a match.
    tolerance : Tolerance or None
        How far off a guess of a number or date may be; None if only equal values are right.
    records, synthetic_records : int
        Size of the tables.
    accuracy, accuracy_std : float
        Share of right guesses: mean and population standard deviation over the sets of keys.
    mean, mean_std : float
        The same of the mean correct attribution probability.
    interval : tuple of float or None
        Wilson's 95% interval of `accuracy`; None if there are several sets of keys.
    baseline : Baseline
        What is reached without the release, from the shares of the sensitive values among the
        records that count: mean over the sets of keys.
    gain : float
        `accuracy` less the zero rule of the baseline.
    original : Rates
        The same attack with the original in place of the synthetic data.
    control : ControlRates or None
        The attack on control records, if there are any.
    unmatched : float
        Share of records whose keys no synthetic record has: mean over the sets of keys.
    rho : tuple of int or None
        How many records have their nearest synthetic records at distance 0, 1, 2, .., summed over
        the sets of keys; None unless `rule` is ``"nearest"``.
    subsets : tuple of SubsetAttribution
        The same for each set of keys.
    reasons : dict
        Why a value is nan, or what was left out.
    """

    scenario: Scenario
    rule: Unmatched
    tolerance: Tolerance | None
    records: int
    synthetic_records: int
    accuracy: float
    accuracy_std: float
    mean: float
    mean_std: float
    interval: tuple[float, float] | None
    baseline: Baseline
    gain: float
    original: Rates
    control: ControlRates | None
    unmatched: float
    rho: tuple[int, ...] | None
    subsets: tuple[SubsetAttribution, ...]
    reasons: dict[str, str]
    _attack: Attack = field(repr=False)
    _levels: Levels = field(repr=False)

    def per_record(
        self, subset: int | Sequence[str] | None = None, *, backend: Backend | None = None
    ) -> Frame:
        """Return the scores of each original record, which are computed again for this.

        Parameters
        ----------
        subset : int or sequence of str, optional
            One set of keys: its place in `subsets`, or the keys. All sets if not given.
        backend : {"polars", "pandas", "pyarrow"}, optional
            The kind of frame; that of the original if not given.

        Returns
        -------
        frame
            For all sets, `record` (the row number, from 0), `cap` and `right` (its mean score and
            the share of right guesses, over the sets of keys in which it counts) and `sets` (how
            many these are). For one set, `record`, `cap`, `rho`, `guess` and `right`. What is
            undefined is null, and so is a guess that the value is missing.

        Raises
        ------
        ParameterError
            If that set of keys was not attacked, or the original's records were counted.
        """
        import polars as pl

        require_rows(self._attack.queries.coded)

        frame = self._over_subsets() if subset is None else self._of_subset(self._chosen(subset))
        rows = self._attack.queries.ids
        record = pl.int_range(len(rows), dtype=pl.UInt32, eager=True).alias("record")
        return self._framed(frame[rows].insert_column(0, record), backend)

    def _over_subsets(self) -> pl.DataFrame:
        import polars as pl

        cap, right, sets = (np.zeros(self._attack.queries.words.shape[1]) for _ in range(3))
        for one in track(self.subsets, "scoring each record"):
            scores = self._scores(one)
            cap += scores.cap
            right += scores.right
            sets += scores.counted
        shares = pl.DataFrame({"cap": cap, "right": right, "sets": sets.astype(np.uint32)})
        defined = pl.when(pl.col("sets") > 0).then(pl.col("cap", "right") / pl.col("sets"))
        return shares.with_columns(defined)

    def _of_subset(self, subset: SubsetAttribution) -> pl.DataFrame:
        import polars as pl

        scores = self._scores(subset)
        missing = (-1, self._levels.missing)
        guessed = [code for code in np.unique(scores.guess).tolist() if code not in missing]
        labels = dict(zip(guessed, self._levels.labels_of(guessed), strict=True))
        guess = pl.col("guess").replace_strict(labels, default=None, return_dtype=pl.String)
        return (
            pl.DataFrame({"cap": scores.cap, "rho": scores.distance, "guess": scores.guess})
            .with_columns(pl.Series("right", scores.right), pl.Series("counted", scores.counted))
            .with_columns(
                pl.when(pl.col("counted")).then(pl.col("cap", "right")),
                guess,
                rho=pl.when(pl.col("rho") >= 0).then(pl.col("rho")),
            )
            .drop("counted")
        )

    def _scores(self, subset: SubsetAttribution) -> Scores:
        places = [self.scenario.keys.index(key) for key in subset.keys]
        return self._attack.scores(places, self.rule)[0]

    def _chosen(self, subset: int | Sequence[str]) -> SubsetAttribution:
        found: tuple[SubsetAttribution, ...]
        if isinstance(subset, int | np.integer):
            found = self.subsets[subset : subset + 1] if subset >= 0 else ()
        else:
            names = set(as_names(subset))
            found = tuple(one for one in self.subsets if set(one.keys) == names)
        if not found:
            raise ParameterError(
                f"subset must be a number below {len(self.subsets)} or a set of keys that was "
                f"attacked, such as {list(self.subsets[0].keys)}; got {subset!r}."
            )
        return found[0]

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return one row for each set of keys."""
        import polars as pl

        rows = [dict(vars(one)) for one in self.subsets]
        for row in rows:
            row["low"], row["high"] = row.pop("interval")
            row["baseline"] = row["baseline"].zero_rule
        unused = [] if self.rho else ["rho"]
        unused += [] if self.control else ["control_accuracy", "control_mean"]
        return self._framed(pl.DataFrame(rows).drop(unused), backend)

    def summary(self) -> str:
        """Return the result in a few sentences."""
        sets, known = len(self.subsets), len(self.subsets[0].keys)
        among = "the records that have a match" if self.rule == "ignore" else "the records"
        over = f", averaged over {sets} sets of keys" if sets > 1 else ""
        control = (
            f" For people who are not in the data it is {percent(self.control.accuracy)}."
            if self.control
            else ""
        )
        return (
            f"An attacker who knows {self.scenario.known_keys} and looks "
            f"{'it' if known == 1 else 'them'} up guesses {self.scenario.sensitive!r} "
            f"correctly for {percent(self.accuracy)} of {among}{over}. "
            f"Without the release it is {percent(self.baseline.zero_rule)}, "
            f"with the original {percent(self.original.accuracy)}.{control}"
            f"{'' if self.tolerance is None else f' {self.tolerance.sentence()}'}"
        )

    def lines(self) -> Sequence[Line]:
        """Return the measure beside its references."""
        control = self.control.accuracy if self.control else math.nan
        own, best = self.accuracy, self.original.accuracy
        return [Line(*TITLES[self.rule], self.baseline, own, best, control, self.gain)]
