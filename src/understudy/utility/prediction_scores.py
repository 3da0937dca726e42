"""How well classes are predicted, and how sure a difference is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from understudy.intervals import wilson_interval

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
        Wilson's 95 % interval of it, for so many test records.
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
    """Return the 95 % interval of a difference of two shares of the same records.

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
    """Return the 95 % interval of a mean by the normal distribution; nan for a single value.

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
