"""What came of learning from a release and predicting real records: scores and intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.arguments import check_choice
from understudy.data.frames import Backend, Frame
from understudy.errors import ParameterError
from understudy.intervals import wilson_interval
from understudy.results import Line, Result
from understudy.wording import percent, signed_points

HeldOut = Literal["given", "split"]
Training = Literal["synthetic", "real"]
TRAININGS: tuple[str, ...] = get_args(Training)
Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class ClassScore:
    """How well one class is predicted.

    Parameters
    ----------
    label : str
        The class, in words.
    records, predicted, right : int
        Test records of this class, those that are predicted to be, and those that are both.
    precision : float
        Share of the predictions that are right; nan if there are none.
    recall : float
        Share of the class that is found; nan if no test record is of it.
    f2 : float
        Both in one number, in which recall counts twice as much: 5 precision recall divided by
        (4 precision + recall); nan if no test record is of the class.
    """

    label: str
    records: int
    predicted: int
    right: int
    precision: float
    recall: float
    f2: float

    @classmethod
    def of(cls, label: str, records: int, predicted: int, right: int) -> ClassScore:
        """Compute the scores of a class from its counts.

        Examples
        --------
        >>> ClassScore.of("ill", records=4, predicted=5, right=3).f2  # 5 * 3 / (4 * 4 + 5)
        0.7142857142857143
        """
        precision = right / predicted if predicted else math.nan
        recall = right / records if records else math.nan
        f2 = 5 * right / (4 * records + predicted) if records else math.nan
        return cls(label, records, predicted, right, precision, recall, f2)


@dataclass(frozen=True)
class Trained:
    """What one classifier predicts after training on one table.

    Parameters
    ----------
    accuracy : float
        Share of the test records whose class is predicted right; nan if the classifier failed.
    interval : tuple of float
        Wilson's 95% interval of it, for so many test records.
    confusion : tuple of tuples of int
        Test records by their class (rows) and the predicted one (columns); empty if it failed.
    classes : tuple of ClassScore
        Precision, recall and F2 of each class; empty if it failed.
    """

    accuracy: float
    interval: tuple[float, float]
    confusion: tuple[tuple[int, ...], ...]
    classes: tuple[ClassScore, ...]

    @classmethod
    def of(
        cls, truth: NDArray[np.int64], guesses: NDArray[np.int64] | None, labels: Sequence[str]
    ) -> Trained:
        """Compare the classes of the test records with what was predicted, if anything was."""
        if guesses is None:
            return cls(math.nan, (math.nan, math.nan), (), ())
        size = len(labels)
        counts = np.bincount(truth * size + guesses, minlength=size**2).reshape(size, size)
        hits = int(np.trace(counts))
        return cls(
            accuracy=hits / len(truth),
            interval=wilson_interval(hits, len(truth)),
            confusion=tuple(map(tuple, counts.tolist())),
            classes=tuple(
                ClassScore.of(label, records, predicted, right)
                for label, records, predicted, right in zip(
                    labels,
                    counts.sum(axis=1).tolist(),
                    counts.sum(axis=0).tolist(),
                    np.diag(counts).tolist(),
                    strict=True,
                )
            ),
        )


def paired_interval(first: int, second: int, total: int) -> tuple[float, float]:
    """Return the 95% interval of a difference of two shares of the same records.

    Parameters
    ----------
    first, second : int
        Records that count for the first share alone, and for the second alone.
    total : int
        All records.

    References
    ----------
    .. [1] Bonett, Price (2012). Adjusted Wald confidence interval for a difference of binomial
       proportions based on paired data. Journal of Educational and Behavioral Statistics 37,
       doi:10.3102/1076998611411915

    Examples
    --------
    >>> low, high = paired_interval(26, 4, 48)
    >>> round(low, 4), round(high, 4)
    (0.2548, 0.6252)
    """
    one, other = (first + 1) / (total + 2), (second + 1) / (total + 2)
    middle = one - other
    spread = Z * math.sqrt((one + other - middle**2) / (total + 2))
    return max(-1.0, middle - spread), min(1.0, middle + spread)


def mean_interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95% interval of a mean by the normal distribution; nan for a single value.

    Examples
    --------
    >>> low, high = mean_interval(np.array([0.0, 0.5, 1.0, 0.5]))
    >>> round(low, 3), round(high, 3)
    (0.1, 0.9)
    """
    if len(values) < 2:
        return math.nan, math.nan
    middle = float(values.mean())
    spread = Z * float(values.std(ddof=1)) / math.sqrt(len(values))
    return middle - spread, middle + spread


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
        95% interval of the difference for so many test records.
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
        95% interval of the difference for so many test records.
    """

    synthetic: float
    real: float
    difference: float
    interval: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Prediction(Result):
    """How well classifiers that learn from the release predict a target; `prediction` makes it.

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
        Accuracy of always predicting the class that is most frequent in the real training
        records, and in the synthetic ones.
    classifiers : dict
        What each classifier reaches.
    mean : MeanAccuracy
        The mean over them.
    reasons : dict
        Why a value is nan, or what to bear in mind.
    """

    SERIES: ClassVar = {
        "baseline": "Always the most frequent class",
        "synthetic": "Trained on the release",
        "original": "Trained on real records",
    }
    AXIS = "Share of correct predictions"

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

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each classifier, and one for their mean; what is undefined is null.

        With a positive class there are its precision, recall and F2 too. The frame is of the kind
        that went in, or of `backend`.
        """
        rows = []
        for name, one in self.classifiers.items():
            row = self._row(name, one.real.accuracy, one.synthetic.accuracy, one)
            if self.positive is not None:
                for training in ("real", "synthetic"):
                    classes = getattr(one, training).classes
                    score = next((item for item in classes if item.label == self.positive), None)
                    for measure in ("precision", "recall", "f2"):
                        row[f"{training}_{measure}"] = getattr(score, measure, math.nan)
            rows.append(row)
        rows.append(self._row("mean", self.mean.real, self.mean.synthetic, self.mean))
        return self._framed(pl.DataFrame(rows).fill_nan(None), backend)

    def _row(
        self, name: str, real: float, synthetic: float, apart: Comparison | MeanAccuracy
    ) -> dict[str, Any]:
        row = {"classifier": name, "baseline": self.baseline, "real": real, "synthetic": synthetic}
        low, high = apart.interval
        return row | {"difference": apart.difference, "low": low, "high": high}

    def per_class(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each classifier, training table and class; undefined is null."""
        rows = [
            {"classifier": name, "training": training, **vars(score)}
            for name, one in self.classifiers.items()
            for training in ("real", "synthetic")
            for score in getattr(one, training).classes
        ]
        frame = pl.DataFrame(rows).rename({"label": "class"}, strict=False)
        return self._framed(frame.fill_nan(None), backend)

    def confusion(
        self,
        classifier: str,
        training: Training = "synthetic",
        *,
        backend: Backend | None = None,
    ) -> Frame:
        """Return how many test records of each class (rows) are predicted as which (columns).

        Parameters
        ----------
        classifier : str
            One of `classifiers`.
        training : {"synthetic", "real"}
            What it was trained on.
        backend : {"polars", "pandas", "pyarrow"}, optional
            The kind of frame to return; by default the kind that went in.

        Raises
        ------
        ParameterError
            If there is no such classifier or table.
        """
        check_choice("classifier", classifier, self.classifiers)
        if training not in TRAININGS:
            raise ParameterError(f"training must be 'synthetic' or 'real'; got {training!r}.")
        counts = getattr(self.classifiers[classifier], training).confusion
        content = {
            f"predicted {label}": [row[place] for row in counts]
            for place, label in enumerate(self.labels)
        }
        frame = pl.DataFrame({"class": self.labels[: len(counts)]} | content)
        return self._framed(frame, backend)

    def lines(self) -> list[Line]:
        """Return each classifier beside its references."""
        about = "Share of test records predicted correctly"
        return [
            Line(name, about, self.baseline, one.synthetic.accuracy, one.real.accuracy)
            for name, one in self.classifiers.items()
        ]

    def summary(self) -> str:
        """Return the result in a few sentences."""
        mean = self.mean
        low, high = mean.interval
        apart = (
            ""
            if math.isnan(mean.difference)
            else f", a difference of {signed_points(mean.difference)} points (95% interval "
            f"{signed_points(low)} to {signed_points(high)})"
        )
        where = "given test records" if self.held_out == "given" else "held-out original records"
        caveat = (
            " The test records were held out from the original. If the synthetic table was made "
            "from all of it, it has seen them, which favours it."
            if self.held_out == "split"
            else ""
        )
        return (
            f"Classifiers trained on the synthetic data predict {self.target!r} correctly for "
            f"{percent(mean.synthetic)} of {self.test_records:,} {where} on average. Trained on "
            f"real data, they do so for {percent(mean.real)}{apart}. Always predicting the most "
            f"frequent class is correct for {percent(self.baseline)}.{caveat}"
        )
