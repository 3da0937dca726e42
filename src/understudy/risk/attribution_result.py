"""What came of looking keys up in a release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.errors import ParameterError
from understudy.progress import track
from understudy.results import to_plain
from understudy.risk.attribution_scores import Attack, Scores, Unmatched
from understudy.risk.references import Baseline
from understudy.risk.scenario import Scenario
from understudy.wording import percent

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Rates:
    """Accuracy and mean of an attack, over the sets of keys.

    Parameters
    ----------
    accuracy, accuracy_std : float
        Share of right guesses: mean and population standard deviation over the sets of keys.
    mean, mean_std : float
        The same of the mean correct attribution probability.
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
        Wilson's 95 % interval of `accuracy`; None if there are several sets of keys.
    baseline : Baseline
        What is reached without the release, among the control records that count.
    difference, mean_difference : float
        Accuracy and mean for the original records less those for these.
    """

    records: int
    interval: tuple[float, float] | None
    baseline: Baseline
    difference: float
    mean_difference: float


@dataclass(frozen=True)
class SubsetAttribution:
    """The attack by one who knows one set of keys.

    Parameters
    ----------
    keys : tuple of str
        What is known.
    records : int
        Records that count: all of them, or those with a match if others are ignored.
    accuracy, mean : float
        Share of right guesses, and mean correct attribution probability.
    interval : tuple of float
        Wilson's 95 % interval of `accuracy`.
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
class Attribution:
    """What is learnt by looking keys up in the synthetic data; `attribution` makes it.

    Parameters
    ----------
    scenario : Scenario
        What the attacker knows and wants.
    rule : {"nearest", "zero", "ignore"}
        What was done with records without a match.
    records, synthetic_records : int
        Size of the tables.
    accuracy, accuracy_std : float
        Share of right guesses: mean and population standard deviation over the sets of keys.
    mean, mean_std : float
        The same of the mean correct attribution probability.
    interval : tuple of float or None
        Wilson's 95 % interval of `accuracy`; None if there are several sets of keys.
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
    _labels: tuple[str | None, ...] = field(repr=False)

    def per_record(self, subset: int | Sequence[str] | None = None) -> pl.DataFrame:
        """Return the scores of each original record, which are computed again for this.

        Parameters
        ----------
        subset : int or sequence of str, optional
            One set of keys: its place in `subsets`, or the keys. All sets if not given.

        Returns
        -------
        polars.DataFrame
            For all sets, `record` (the row number, from 0), `cap` and `right` (its mean score and
            the share of right guesses, over the sets of keys in which it counts) and `sets` (how
            many these are). For one set, `record`, `cap`, `rho`, `guess` and `right`. What is
            undefined is null, and so is a guess that the value is missing.

        Raises
        ------
        ParameterError
            If that set of keys was not attacked.
        """
        import polars as pl

        rows = self._attack.queries.ids
        record = pl.int_range(len(rows), dtype=pl.UInt32, eager=True).alias("record")
        if subset is not None:
            return self._of_subset(self._chosen(subset))[rows].insert_column(0, record)
        cap, right, sets = (np.zeros(self._attack.queries.words.shape[1]) for _ in range(3))
        for one in track(self.subsets, "scoring each record"):
            scores = self._scores(one)
            cap += scores.cap
            right += scores.right
            sets += scores.counted
        shares = pl.DataFrame({"cap": cap, "right": right, "sets": sets.astype(np.uint32)})
        defined = pl.when(pl.col("sets") > 0).then(pl.col("cap", "right") / pl.col("sets"))
        return shares.with_columns(defined)[rows].insert_column(0, record)

    def _of_subset(self, subset: SubsetAttribution) -> pl.DataFrame:
        import polars as pl

        scores = self._scores(subset)
        found = pl.col("rho") >= 0
        guess = pl.col("guess").replace_strict(dict(enumerate(self._labels)), default=None)
        return (
            pl.DataFrame({"cap": scores.cap, "rho": scores.distance, "guess": scores.guess})
            .with_columns(pl.Series("right", scores.right), pl.Series("counted", scores.counted))
            .with_columns(
                pl.when(pl.col("counted")).then(pl.col("cap", "right")),
                guess.cast(pl.String),
                rho=pl.when(found).then(pl.col("rho")),
            )
            .drop("counted")
        )

    def _scores(self, subset: SubsetAttribution) -> Scores:
        places = [self.scenario.keys.index(key) for key in subset.keys]
        return self._attack.scores(places, self.rule)[0]

    def _chosen(self, subset: int | Sequence[str]) -> SubsetAttribution:
        if isinstance(subset, int | np.integer):
            found = self.subsets[subset : subset + 1] if subset >= 0 else ()
        else:
            names = {subset} if isinstance(subset, str) else set(subset)
            found = tuple(one for one in self.subsets if set(one.keys) == names)
        if not found:
            raise ParameterError(
                f"subset is a number below {len(self.subsets)} or a set of keys that was "
                f"attacked, such as {list(self.subsets[0].keys)}; got {subset!r}."
            )
        return found[0]

    def to_frame(self) -> pl.DataFrame:
        """Return one row for each set of keys."""
        import polars as pl

        rows = [
            {item.name: getattr(one, item.name) for item in fields(one)} for one in self.subsets
        ]
        for row in rows:
            row["low"], row["high"] = row.pop("interval")
            row["baseline"] = row["baseline"].zero_rule
        unused = [] if self.rho else ["rho"]
        unused += [] if self.control else ["control_accuracy", "control_mean"]
        return pl.DataFrame(rows).drop(unused)

    def to_dict(self) -> dict[str, Any]:
        """Return all but the single records as plain values, with None for nan."""
        found: dict[str, Any] = to_plain(self)
        return found

    def summary(self) -> str:
        """Return the result in a few words."""
        known = self.scenario.known or len(self.scenario.keys)
        many = f" (mean of {len(self.subsets)} sets of keys)" if len(self.subsets) > 1 else ""
        among = " of the records that have a match" if self.rule == "ignore" else " of the records"
        control = (
            f" Of people who are not in the data, {percent(self.control.accuracy)}."
            if self.control
            else ""
        )
        return (
            f"Who knows {known} of {len(self.scenario.keys)} keys and looks them up guesses "
            f"{self.scenario.sensitive!r} right for {percent(self.accuracy)}{among}{many}; "
            f"without the release {percent(self.baseline.zero_rule)}, "
            f"with the original {percent(self.original.accuracy)}.{control}"
        )

    def __str__(self) -> str:
        return self.summary()
