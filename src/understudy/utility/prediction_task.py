"""What is to be predicted: the tables to learn from, and real records to be tested on."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.counting.groups import as_names
from understudy.data import Coded
from understudy.data.frames import Frame, to_narwhals
from understudy.data.joint_coding import Levels
from understudy.errors import ParameterError, did_you_mean, unknown_columns
from understudy.learning.classifiers import MANY_LEVELS
from understudy.utility.draws import content_order

MOST_NUMBERS = 20
"""A target with more different numbers than this is not a set of classes."""


@dataclass(frozen=True, eq=False)
class Task:
    """The coded tables of a prediction: two to learn from, and the test records.

    Parameters
    ----------
    target : str
        What is predicted.
    features : tuple of str
        From what it is predicted.
    synthetic, real, test : Coded
        The tables.
    levels : mapping
        What the codes of each column stand for.
    """

    target: str
    features: tuple[str, ...]
    synthetic: Coded
    real: Coded
    test: Coded
    levels: Mapping[str, Levels]

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes, in words that differ."""
        labels = self.levels[self.target].labels
        # A class may be called what a gap is called.
        return labels if labels.count("missing") < 2 else (*labels[:-1], "missing value")

    @property
    def truth(self) -> NDArray[np.int64]:
        """The class of each test record."""
        return self.test[self.target].astype(np.int64)

    def counts(self, table: Coded) -> NDArray[np.int64]:
        """Return how many records of a table each class has."""
        return np.bincount(table[self.target], minlength=len(self.labels))

    def baseline(self, training: Coded) -> float:
        """Return how often the most frequent class of the training records is right."""
        return float(np.mean(self.truth == self.counts(training).argmax()))


def features_for(
    original: Frame, target: str, features: str | Sequence[str] | None
) -> tuple[str, ...]:
    """Return the columns to predict from in order of their names, or say what is wrong."""
    columns = to_narwhals(original).columns
    if not isinstance(target, str) or target not in columns:
        hint = did_you_mean(target, columns) if isinstance(target, str) else ""
        raise ParameterError(f"target is a column of the original; got {target!r}.{hint}")
    names = as_names(features) if features is not None else columns
    unknown = unknown_columns(names, columns)
    if unknown:
        raise ParameterError(f"features: {' '.join(unknown)}")
    if features is not None and target in names:
        raise ParameterError(f"{target!r} is the target, and so no feature.")
    chosen = tuple(sorted(name for name in names if name != target))
    if not chosen:
        raise ParameterError(f"There is no feature to predict {target!r} from.")
    return chosen


def check_groups(groups: object, names: Sequence[str]) -> None:
    """Refuse groups of what is neither the target nor a feature."""
    other = [name for name in groups if name not in names] if isinstance(groups, Mapping) else []
    if other:
        raise ParameterError(
            f"groups are for the target and the features; {other[0]!r} is none of them."
            f"{did_you_mean(str(other[0]), names)}"
        )


def check_target(target: str, levels: Levels, groups: Mapping[str, int] | None) -> None:
    """Refuse a target with many different numbers, and warn of one with many labels."""
    if groups and target in groups:
        return
    if levels.numbers is not None and len(levels) > MOST_NUMBERS:
        raise ParameterError(
            f"{target!r} has {len(levels):,} different numbers, and classifiers predict classes. "
            f"Put them in groups, such as groups={{{target!r}: 5}}."
        )
    if len(levels) > MANY_LEVELS:
        logging.getLogger("understudy").warning(
            "The target %r has %s classes: classifiers are slow, and hardly ever right.",
            target,
            f"{len(levels):,}",
        )


def split(
    table: Coded, target: str, share: float, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows to learn from and those held out, drawn evenly over the classes."""
    real = isinstance(share, float | np.floating)
    total = math.floor(len(table) * share + 0.5) if real and 0 < share < 1 else 0
    if not 0 < total < len(table):
        raise ParameterError(
            f"test_share lies between 0 and 1, and leaves records on both sides; got {share!r} of "
            f"{len(table):,} records."
        )
    rows = np.random.default_rng(seed).permutation(content_order(table))
    rows = rows[np.argsort(table[target][rows], kind="stable")]
    # Every 1/share-th record in the order of classes: each class has its share, but for rounding.
    steps = np.floor(np.arange(len(rows) + 1) * total / len(rows) + 0.5)
    held = np.diff(steps) > 0
    return rows[~held], rows[held]


def positive_class(positive: object, task: Task, original: Coded) -> str | None:
    """Return the label of the class of interest."""
    levels = task.levels[task.target]
    if positive is None:
        counts = task.counts(original)
        return task.labels[len(counts) - 1 - counts[::-1].argmin()] if len(counts) == 2 else None
    wanted = positive.item() if isinstance(positive, np.generic) else positive
    for label, value in zip(task.labels, levels.values, strict=True):
        # True is no 1, though Python takes them for equal.
        alike = isinstance(wanted, bool) == isinstance(value, bool)
        if wanted == label or (alike and wanted == value):
            return label
    raise ParameterError(
        f"positive is a class of {task.target!r}; {positive!r} is none."
        f"{did_you_mean(str(positive), task.labels)}"
    )


def absent_classes(task: Task) -> dict[str, str]:
    """Say which classes are missing where."""
    reasons = {}
    if len(task.labels) == 1:
        reasons["target"] = f"{task.target!r} has one class, so there is nothing to predict."
    synthetic, real, test = (task.counts(table) for table in (task.synthetic, task.real, task.test))
    for place, label in enumerate(task.labels):
        absent = []
        if not synthetic[place]:
            absent.append(
                "no synthetic record is of it, so who learns from these never predicts it"
            )
        if not real[place]:
            absent.append("no real training record is of it, so who learns from these neither")
        if not test[place]:
            absent.append("no test record is of it, so its recall and F2 are undefined")
        if absent:
            text = "; ".join(absent)
            reasons[f"class {label}"] = f"{text[0].upper()}{text[1:]}."
    return reasons
