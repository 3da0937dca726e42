"""What came of learning from a release and predicting real records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from understudy.errors import ParameterError, did_you_mean
from understudy.results import to_plain
from understudy.utility.prediction_scores import ClassScore, Trained
from understudy.wording import percent

if TYPE_CHECKING:
    import polars as pl

HeldOut = Literal["given", "split"]
Training = Literal["synthetic", "real"]


@dataclass(frozen=True)
class Comparison:
    """One classifier, trained on the release and on real data.

    Parameters
    ----------
    synthetic, real : Trained
        What it predicts after training on each.
    difference : float
        Accuracy after training on the synthetic data less that after training on real data.
    interval : tuple of float
        95 % interval of the difference for so many test records.
    """

    synthetic: Trained
    real: Trained
    difference: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class MeanAccuracy:
    """The mean over the classifiers that worked on both tables.

    Parameters
    ----------
    synthetic, real : float
        Mean accuracy after training on each table.
    difference : float
        The former less the latter.
    interval : tuple of float
        95 % interval of the difference for so many test records.
    """

    synthetic: float
    real: float
    difference: float
    interval: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Prediction:
    """How well a target is predicted by who learns from the release; `prediction` makes it.

    Parameters
    ----------
    target : str
        What is predicted.
    features : tuple of str
        From what it is predicted, in order of the names.
    labels : tuple of str
        The classes of the target in any of the tables, in order.
    positive : str or None
        The class of interest, if there is one.
    held_out : {"given", "split"}
        Whether the test records were given, or were held out from the original.
    records, synthetic_records, test_records : int
        Real and synthetic records that are learnt from, and test records.
    baseline, synthetic_baseline : float
        Accuracy of who always predicts the class that is most frequent in the real training
        records, and in the synthetic ones.
    classifiers : dict
        What each classifier reaches.
    mean : MeanAccuracy
        The mean over them.
    reasons : dict
        Why a value is nan, or what to bear in mind.
    """

    target: str
    features: tuple[str, ...]
    labels: tuple[str, ...]
    positive: str | None
    held_out: HeldOut
    records: int
    synthetic_records: int
    test_records: int
    baseline: float
    synthetic_baseline: float
    classifiers: dict[str, Comparison]
    mean: MeanAccuracy
    reasons: dict[str, str]

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each classifier, and one for their mean; what is undefined is null.

        With a positive class there are its precision, recall and F2 too.
        """
        import polars as pl

        rows = []
        for name, one in self.classifiers.items():
            row: dict[str, Any] = {
                "classifier": name,
                "baseline": self.baseline,
                "real": one.real.accuracy,
                "synthetic": one.synthetic.accuracy,
                "difference": one.difference,
                "low": one.interval[0],
                "high": one.interval[1],
            }
            if self.positive is not None:
                for training in ("real", "synthetic"):
                    score = self._positive(getattr(one, training))
                    row |= {
                        f"{training}_{measure}": getattr(score, measure, math.nan)
                        for measure in ("precision", "recall", "f2")
                    }
            rows.append(row)
        low, high = self.mean.interval
        mean = {
            "classifier": "mean",
            "baseline": self.baseline,
            "real": self.mean.real,
            "synthetic": self.mean.synthetic,
            "difference": self.mean.difference,
            "low": low,
            "high": high,
        }
        return pl.DataFrame([*rows, mean]).fill_nan(None)

    def _positive(self, trained: Trained) -> ClassScore | None:
        found = [score for score in trained.classes if score.label == self.positive]
        return found[0] if found else None

    def per_class(self) -> pl.DataFrame:
        """Return a row for each classifier, training table and class; undefined is null."""
        import polars as pl

        rows = [
            {"classifier": name, "training": training}
            | {
                "class": score.label,
                "records": score.records,
                "predicted": score.predicted,
                "right": score.right,
                "precision": score.precision,
                "recall": score.recall,
                "f2": score.f2,
            }
            for name, one in self.classifiers.items()
            for training in ("real", "synthetic")
            for score in getattr(one, training).classes
        ]
        return pl.DataFrame(rows).fill_nan(None)

    def confusion(self, classifier: str, training: Training = "synthetic") -> pl.DataFrame:
        """Return how many test records of each class (rows) are predicted as which (columns).

        Parameters
        ----------
        classifier : str
            One of `classifiers`.
        training : {"synthetic", "real"}
            What it was trained on.

        Raises
        ------
        ParameterError
            If there is no such classifier or table.
        """
        import polars as pl

        if classifier not in self.classifiers:
            raise ParameterError(
                f"classifier is one of {', '.join(self.classifiers)}; got {classifier!r}."
                f"{did_you_mean(str(classifier), self.classifiers)}"
            )
        if training not in ("synthetic", "real"):
            raise ParameterError(f"training is 'synthetic' or 'real'; got {training!r}.")
        counts = getattr(self.classifiers[classifier], training).confusion
        content = {
            f"predicted {label}": [row[place] for row in counts]
            for place, label in enumerate(self.labels)
        }
        return pl.DataFrame({"class": self.labels[: len(counts)]} | content)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values, with None for nan."""
        found: dict[str, Any] = to_plain(self)
        return found

    def summary(self) -> str:
        """Return the result in two sentences."""
        mean = self.mean
        low, high = (100 * limit for limit in mean.interval)
        apart = (
            ""
            if math.isnan(mean.difference)
            else f" (difference {100 * mean.difference:+.1f} points, 95 % interval {low:+.1f} to "
            f"{high:+.1f})"
        )
        where = "given test records" if self.held_out == "given" else "held-out original records"
        caveat = (
            " The test records were held out from the original: if the synthetic table was made "
            "from all of it, it has seen them, and the comparison favours it."
            if self.held_out == "split"
            else ""
        )
        return (
            f"Of {self.test_records:,} {where}, classifiers trained on the synthetic data predict "
            f"{self.target!r} right for {percent(mean.synthetic)} on average, those trained on "
            f"real data for {percent(mean.real)}{apart}; always predicting the most frequent "
            f"class is right for {percent(self.baseline)}.{caveat}"
        )

    def __str__(self) -> str:
        return self.summary()
