"""Prediction: learn from the release, and predict real records that nobody learnt from."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import as_names, check_seed, check_whole
from understudy.counting import group_ids
from understudy.data.coded import Coded
from understudy.data.frames import Backend, Frame
from understudy.data.joint_coding import CodedTables
from understudy.data.levels import Levels
from understudy.errors import ParameterError, did_you_mean, unknown_columns
from understudy.learning.classifiers import CLASSIFIERS, MANY_LEVELS, Codes, Model
from understudy.learning.jobs import Guesses, Job, mapped
from understudy.progress import track
from understudy.showing import hint_of
from understudy.utility.prediction_result import (
    TRAININGS,
    Comparison,
    HeldOut,
    MeanAccuracy,
    Prediction,
    Trained,
    mean_interval,
    paired_interval,
)
from understudy.utility.tables import content_order, tables_of

MOST_NUMBERS = 20
"""A target with more different numbers than this is not a set of classes."""
TREES = 100
"""Trees of the papers' random forest: scikit-learn's standard, which was 10 until version 0.22."""


def prediction(  # noqa: PLR0913  # the tables, the task, and who learns it
    original: Frame | CodedTables,
    synthetic: Frame | None = None,
    *,
    target: str,
    test: Frame | None = None,
    test_share: float = 0.3,
    features: str | Sequence[str] | None = None,
    classifiers: Literal["papers", "modern"] | Mapping[str, Any] = "papers",
    positive: object = None,
    groups: Mapping[str, int] | None = None,
    processes: int = 1,
    random_state: int = 0,
) -> Prediction:
    """Train classifiers on a release and on real data, and test both on held-out real records.

    Parameters
    ----------
    original, synthetic : frame
        The original table and the release. Tables that are coded already stand for all, as
        `CodedTables` in place of the original.
    target : str
        The column to predict: labels, or a few different numbers.
    test : frame, optional
        Real records that were used neither for the synthesis nor in `original`. If not given, a
        share of the original is held out, evenly over the classes. Such records were seen by the
        synthesizer if it had all of the original, so that the comparison favours the release:
        better split first, synthesize the one part, and give the other.
    test_share : float
        Share of the original that is held out if no `test` is given.
    features : sequence of str, optional
        The columns to predict from; all others of the original if not given.
    classifiers : {"papers", "modern"} or mapping
        Which classifiers are trained; see the notes. Your own are estimators of scikit-learn's
        kind by name; they are shown numbers by value and other labels by their place in the order
        of levels, not scaled.
    positive : optional
        The class of interest, as its value or label; of two classes, the one that is rarer in the
        original if not given.
    groups : mapping, optional
        Numeric columns to put into so many groups of about the same number of original records;
        this makes classes of a target with many numbers.
    processes : int
        Classifiers that are trained at the same time. With more than one, a script must do its
        work under ``if __name__ == "__main__":``.
    random_state : int
        The seed of the split, of all classifiers that use chance, and of the order in which
        records are learnt from.

    Returns
    -------
    Prediction
        Accuracy, confusion matrices, precision, recall and F2 for both trainings.

    Raises
    ------
    ParameterError
        If an argument cannot be used, such as a target with many different numbers.
    DataError
        If a table has no rows, or tables hold values that cannot be compared.

    Notes
    -----
    ``"papers"`` are the five classifiers of [1]_: Gaussian naive Bayes, a support vector machine, 5
    nearest neighbours, a random forest of 100 trees and logistic regression, with scikit-learn's
    standard settings; labels are numbers in the order of levels, standardised. ``"modern"`` are
    gradient boosting with categories as such, a random forest of 200 trees, and logistic regression
    and naive Bayes on categories. A missing value is a level of its own, in the target too.

    The interval of a difference is for the same test records under both trainings, by [2]_ for one
    classifier and by the normal distribution for the mean. It tells how far chance in these test
    records goes, not how another synthesis would differ. Recall counts twice as much as precision
    in F2, as suits a rare class that must not be missed.

    The result does not depend on the order of rows and columns.

    References
    ----------
    .. [1] Hittmeir, Mayer, Ekelhart (2022). Efficient Bayesian network construction for increased
       privacy on synthetic data. IEEE Big Data, doi:10.1109/BigData55660.2022.10020936
    .. [2] Bonett, Price (2012). Adjusted Wald confidence interval for a difference of binomial
       proportions based on paired data. Journal of Educational and Behavioral Statistics 37,
       doi:10.3102/1076998611411915

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"age": [20, 25, 60, 70] * 9, "ill": ["no", "no", "yes", "yes"] * 9})
    >>> result = prediction(table, table, target="ill", test=table)
    >>> result.mean.synthetic, result.mean.real, result.baseline
    (1.0, 1.0, 0.5)
    """
    tables = tables_of(original, synthetic, test=test)
    models = chosen_models(classifiers)
    check_whole("processes", processes, 1)
    seed = check_seed(random_state)
    names = _features(tables.encoded["original"].names, target, features)
    _check_groups(groups, (*names, target))
    used = [name for name in ("original", "synthetic", "test") if name in tables.encoded]
    coded = tables.select(used, (*names, target)).grouped(groups).check_rows()
    _check_target(target, coded.levels[target], groups)
    real = coded["original"]
    held_out: HeldOut = "given" if "test" in used else "split"
    if held_out == "split":
        rest, rows = _split(real, target, test_share, seed)
        parts = real.take(rest), real.take(rows)
    else:
        parts = real, coded["test"]
    task = _Task(target, names, coded["synthetic"], *parts, coded.levels)
    chosen = _positive_class(positive, task, real)
    guesses = _guesses(task, models, int(processes), seed)
    return _result(task, models, guesses, chosen, held_out, tables.backend)


@dataclass(frozen=True, eq=False)
class _Task:
    """What is predicted from what: two coded tables to learn from, and the test records."""

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


def _features(
    columns: Sequence[str], target: str, features: str | Sequence[str] | None
) -> tuple[str, ...]:
    """Return the columns to predict from in order of their names, or say what is wrong."""
    if not isinstance(target, str) or target not in columns:
        hint = did_you_mean(target, columns) if isinstance(target, str) else ""
        raise ParameterError(f"target must be a column of the original; got {target!r}.{hint}")
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


def _check_groups(groups: object, names: Sequence[str]) -> None:
    """Refuse groups of what is neither the target nor a feature."""
    other = [name for name in groups if name not in names] if isinstance(groups, Mapping) else []
    if other:
        raise ParameterError(
            f"groups are for the target and the features; {other[0]!r} is none of them."
            f"{did_you_mean(str(other[0]), names)}"
        )


def _check_target(target: str, levels: Levels, groups: Mapping[str, int] | None) -> None:
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
            "The target %r has %s classes. With so many, classifiers are slow and seldom right.",
            target,
            f"{len(levels):,}",
        )


def _split(
    table: Coded, target: str, share: float, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows to learn from and those held out, drawn evenly over the classes."""
    real = isinstance(share, float | np.floating)
    total = math.floor(len(table) * share + 0.5) if real and 0 < share < 1 else 0
    if not 0 < total < len(table):
        raise ParameterError(
            "test_share must lie between 0 and 1, and leave records on both sides; got "
            f"{share!r} of {len(table):,} records."
        )
    rows = np.random.default_rng(seed).permutation(content_order(table))
    rows = rows[np.argsort(table[target][rows], kind="stable")]
    # Every 1/share-th record in the order of classes: each class has its share, but for rounding.
    steps = np.floor(np.arange(len(rows) + 1) * total / len(rows) + 0.5)
    held = np.diff(steps) > 0
    return rows[~held], rows[held]


def _positive_class(positive: object, task: _Task, original: Coded) -> str | None:
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
        f"{hint_of(str(positive), task.labels)}"
    )


def _absent_classes(task: _Task) -> dict[str, str]:
    """Say which classes are missing where."""
    reasons = {}
    if len(task.labels) == 1:
        reasons["target"] = f"{task.target!r} has one class, so there is nothing to predict."
    where = [
        (
            task.synthetic,
            "synthetic record has it, so classifiers that learn from these never predict it",
        ),
        (task.real, "real training record has it, so classifiers that learn from these never do"),
        (task.test, "test record has it, so its recall and F2 are undefined"),
    ]
    counts = [(task.counts(table), text) for table, text in where]
    for place, label in enumerate(task.labels):
        absent = [f"no {text}" for records, text in counts if not records[place]]
        if absent:
            text = "; ".join(absent)
            reasons[f"class {label}"] = f"{text[0].upper()}{text[1:]}."
    return reasons


def papers_models(trees: int = TREES) -> dict[str, Model]:
    """Return the five classifiers of the paper on networks, with standard settings.

    Examples
    --------
    >>> list(papers_models())
    ['naive_bayes', 'svm', 'k_nearest', 'random_forest', 'logistic_regression']
    """
    models = _without_lookup("papers")
    forest = models["random_forest"]
    models["random_forest"] = replace(forest, settings={"n_estimators": trees})
    return models


def _without_lookup(preset: str) -> dict[str, Model]:
    """Return the attackers of a preset but the one who looks records up, which is no model."""
    return {name: model for name, model in CLASSIFIERS[preset].items() if name != "fixed_radius"}


def chosen_models(classifiers: str | Mapping[str, Any]) -> dict[str, Model]:
    """Return the classifiers of a preset, or a user's own after a check."""
    if isinstance(classifiers, Mapping) and classifiers:
        return {name: _own_model(name, estimator) for name, estimator in classifiers.items()}
    presets = {"papers": papers_models, "modern": lambda: _without_lookup("strong")}
    if not isinstance(classifiers, str) or classifiers not in presets:
        raise ParameterError(
            f"classifiers must be {' or '.join(map(repr, presets))}, or estimators by name; got "
            f"{classifiers!r}.{did_you_mean(str(classifiers), presets)}"
        )
    return presets[classifiers]()


def _own_model(name: str, estimator: Any) -> Model:  # noqa: ANN401  # scikit-learn has no types
    from sklearn.base import clone, is_classifier

    try:
        copied = clone(estimator)
        usable = is_classifier(copied)
    except (TypeError, RuntimeError, AttributeError) as error:
        raise ParameterError(f"classifiers: {name!r} cannot be copied: {error}") from error
    if not usable or not isinstance(name, str) or name == "mean":
        raise ParameterError(
            "classifiers must be scikit-learn's classifiers by name, none of them called 'mean'; "
            f"got {estimator!r} for {name!r}."
        )
    return Model("places", copied)


def _guesses(
    task: _Task, models: Mapping[str, Model], processes: int, seed: int
) -> dict[tuple[str, str], Guesses]:
    """Return what each model predicts for each test record, by training and model."""
    alike = group_ids(task.test, task.features)
    asked = _matrix(task.test.take(alike.representatives), task.features)
    levels = tuple(task.levels[name] for name in task.features)

    def jobs() -> Iterator[Job]:
        for training in (task.synthetic, task.real):
            # Some classifiers depend on the order of what they learn from.
            rows = np.random.default_rng(seed).permutation(content_order(training))
            keys = _matrix(training, task.features)[rows]
            truth = training[task.target][rows].astype(np.int64)
            for model in models.values():
                yield Job(model, keys, truth, asked, levels, seed)

    found = {}
    with mapped(Job.guesses, jobs(), processes, must_travel=dict(models)) as results:
        kinds = list(product(TRAININGS, models))
        tracked = track(results, "Training classifiers", len(kinds))
        for kind, guess in zip(kinds, tracked, strict=True):
            found[kind] = guess if isinstance(guess, str) else guess[alike.ids]
    return found


def _matrix(table: Coded, names: Sequence[str]) -> Codes:
    return np.column_stack([table[name].astype(np.int64) for name in names])


def _result(
    task: _Task,
    models: Mapping[str, Model],
    guesses: Mapping[tuple[str, str], Guesses],
    positive: str | None,
    held_out: HeldOut,
    backend: Backend,
) -> Prediction:
    reasons = _absent_classes(task)
    compared = {}
    right = []
    for name in models:
        hits, sides = [], []
        for training in TRAININGS:
            guess = guesses[training, name]
            if isinstance(guess, str):
                reasons.setdefault(name, f"It failed on the {training} records: {guess}")
                sides.append(Trained.of(task.truth, None, task.labels))
            else:
                sides.append(Trained.of(task.truth, guess, task.labels))
                hits.append(guess == task.truth)
        interval = math.nan, math.nan
        if len(hits) == len(TRAININGS):
            right.append(hits)
            only = int((hits[0] & ~hits[1]).sum()), int((hits[1] & ~hits[0]).sum())
            interval = paired_interval(*only, len(task.test))
        synthetic, real = sides
        difference = synthetic.accuracy - real.accuracy
        compared[name] = Comparison(synthetic, real, difference, interval)
    failed = [name for name, one in compared.items() if math.isnan(one.difference)]
    if failed:
        reasons["mean"] = f"It leaves out classifiers that failed: {', '.join(failed)}."
    return Prediction(
        target=task.target,
        features=task.features,
        labels=task.labels,
        positive=positive,
        held_out=held_out,
        records=len(task.real),
        synthetic_records=len(task.synthetic),
        test_records=len(task.test),
        baseline=task.baseline(task.real),
        synthetic_baseline=task.baseline(task.synthetic),
        classifiers=compared,
        mean=_mean(right),
        reasons=reasons,
        _backend=backend,
    )


def _mean(right: Sequence[Sequence[NDArray[np.bool_]]]) -> MeanAccuracy:
    """Return the mean over classifiers, given which records are right after either training."""
    if not right:
        return MeanAccuracy(math.nan, math.nan, math.nan, (math.nan, math.nan))
    synthetic, real = np.mean(right, axis=0)
    apart = synthetic - real
    return MeanAccuracy(
        float(synthetic.mean()), float(real.mean()), float(apart.mean()), mean_interval(apart)
    )
