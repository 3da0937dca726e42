"""What came of telling synthetic records from original ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.results import to_plain
from understudy.wording import percent

if TYPE_CHECKING:
    import polars as pl

IN_WORDS = {"cart": "a decision tree", "logistic": "a logistic regression"}


@dataclass(frozen=True)
class Null:
    """What the pMSE is when there is nothing to tell, and the pMSE measured by it.

    Parameters
    ----------
    mean, std : float
        Mean and standard deviation of the pMSE when there is nothing to tell.
    ratio : float
        The pMSE divided by this mean: about 1 if there is nothing to tell.
    standardised : float
        The pMSE less the mean, in standard deviations: about 0 if there is nothing to tell.
    """

    mean: float
    std: float
    ratio: float
    standardised: float

    @classmethod
    def of(cls, pmse: float, mean: float, std: float) -> Null:
        """Compare a pMSE with the mean and standard deviation that it has by chance."""
        ratio = pmse / mean if mean > 0 else math.nan
        return cls(mean, std, ratio, (pmse - mean) / std if std > 0 else math.nan)

    @classmethod
    def drawn(cls, pmse: float, draws: Sequence[float]) -> Null:
        """Compare a pMSE with those that chance gave; nan where there are too few of them."""
        mean = float(np.mean(draws)) if draws else math.nan
        std = float(np.std(draws, ddof=1)) if len(draws) > 1 else math.nan
        return cls.of(pmse, mean, std)


@dataclass(frozen=True)
class Discrimination:
    """How well one model tells synthetic records from original ones.

    Parameters
    ----------
    pmse : float
        Mean over all records of the squared difference between the predicted probability of being
        synthetic and the share of synthetic records: 0 if nothing can be told, and at most the
        share times one less the share (a quarter, for tables of one size).
    permutation : Null
        The pMSE of the same model when the labels are shuffled: as for two samples of the same
        people.
    analytic : Null or None
        The pMSE to expect of a right synthesis, by the formula for logistic regression; None for
        other models.
    parameters : int
        Coefficients that can be told apart, the intercept among them, or leaves of the tree.
    accuracy, permuted_accuracy : float
        Share of records whose table is guessed right (the mean of the shares in both tables, a
        record of even odds counting half), and its mean when labels are shuffled. The records are
        those that the model learnt from, so both are above one half.
    auc, permuted_auc : float
        Share of pairs of a synthetic and an original record in which the synthetic one has the
        higher probability (even ones count half), and its mean when labels are shuffled.
    """

    pmse: float
    permutation: Null
    analytic: Null | None
    parameters: int
    accuracy: float
    permuted_accuracy: float
    auc: float
    permuted_auc: float


@dataclass(frozen=True, eq=False)
class Propensity:
    """How well synthetic records can be told from original ones; `propensity` makes it.

    Parameters
    ----------
    columns : tuple of str
        What the models see, in order of the names.
    records, synthetic_records : int
        Size of the tables.
    used, synthetic_used : int
        How many of these records the models learn from.
    share : float
        Share of synthetic records among those.
    permutations : int
        How often the labels were shuffled.
    interactions : bool
        Whether the logistic regression has products of pairs of columns too.
    models : dict
        What each model reaches.
    reasons : dict
        Why a value is nan, or what was left out.
    """

    columns: tuple[str, ...]
    records: int
    synthetic_records: int
    used: int
    synthetic_used: int
    share: float
    permutations: int
    interactions: bool
    models: dict[str, Discrimination]
    reasons: dict[str, str]

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each model and null; what is undefined is null."""
        import polars as pl

        rows = []
        for name, model in self.models.items():
            nulls = {"permutation": model.permutation, "analytic": model.analytic}
            rows += [
                {
                    "model": name,
                    "null": kind,
                    "pmse": model.pmse,
                    "null_mean": null.mean,
                    "null_std": null.std,
                    "ratio": null.ratio,
                    "standardised": null.standardised,
                    "accuracy": model.accuracy,
                    "permuted_accuracy": model.permuted_accuracy,
                    "auc": model.auc,
                    "permuted_auc": model.permuted_auc,
                }
                for kind, null in nulls.items()
                if null is not None
            ]
        return pl.DataFrame(rows).fill_nan(None)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values, with None for nan."""
        found: dict[str, Any] = to_plain(self)
        return found

    def summary(self) -> str:
        """Return the result in a sentence or two."""
        return " ".join(_in_words(IN_WORDS[name], model) for name, model in self.models.items())

    def __str__(self) -> str:
        return self.summary()


def _in_words(name: str, model: Discrimination) -> str:
    chance = model.permuted_accuracy
    found = (
        f"{name.capitalize()} tells for {percent(model.accuracy)} of the records which table they "
        f"are from"
    )
    if math.isnan(chance):
        return f"{found}; 50 % is guessing."
    ratio = model.permutation.ratio
    times = "" if math.isnan(ratio) else f" (pMSE {ratio:.2f} times that of shuffled records)"
    return f"{found}; if the records are shuffled between the tables, {percent(chance)}{times}."
