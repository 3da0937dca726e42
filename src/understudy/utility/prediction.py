"""Prediction: learn from the release, and predict real records that nobody learnt from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from understudy.counting import group_ids
from understudy.data import Coded
from understudy.data.frames import Frame
from understudy.data.joint_coding import code_together
from understudy.errors import DataError
from understudy.learning.classifiers import Codes, Model
from understudy.learning.jobs import Guesses, Job
from understudy.learning.processes import mapped
from understudy.progress import track
from understudy.utility.arguments import check_whole
from understudy.utility.draws import check_seed, content_order
from understudy.utility.prediction_models import chosen_models
from understudy.utility.prediction_result import Comparison, HeldOut, MeanAccuracy, Prediction
from understudy.utility.prediction_scores import Trained, mean_interval, paired_interval
from understudy.utility.prediction_task import (
    Task,
    absent_classes,
    check_groups,
    check_target,
    features_for,
    positive_class,
    split,
)

TRAININGS = ("synthetic", "real")


def prediction(  # noqa: PLR0913  # the tables, the task, and who learns it
    original: Frame,
    synthetic: Frame,
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
        The original table and the release.
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
    models = chosen_models(classifiers)
    check_whole("processes", processes, 1)
    seed = check_seed(random_state)
    names = features_for(original, target, features)
    tables = {"original": original, "synthetic": synthetic}
    if test is not None:
        tables["test"] = test
    check_groups(groups, (*names, target))
    together = code_together(tables, (*names, target), groups=groups)
    for name, coded in together.tables.items():
        if not len(coded):
            raise DataError(f"The {name} table has no rows.")
    check_target(target, together.levels[target], groups)
    real = together["original"]
    held_out: HeldOut = "split" if test is None else "given"
    if test is None:
        rest, rows = split(real, target, test_share, seed)
        parts = real.take(rest), real.take(rows)
    else:
        parts = real, together["test"]
    task = Task(target, names, together["synthetic"], *parts, together.levels)
    chosen = positive_class(positive, task, real)
    guesses = _guesses(task, models, int(processes), seed)
    return _result(task, models, guesses, chosen, held_out)


def _guesses(
    task: Task, models: Mapping[str, Model], processes: int, seed: int
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
    task: Task,
    models: Mapping[str, Model],
    guesses: Mapping[tuple[str, str], Guesses],
    positive: str | None,
    held_out: HeldOut,
) -> Prediction:
    reasons = absent_classes(task)
    compared = {}
    right: dict[str, list[NDArray[np.bool_]]] = {training: [] for training in TRAININGS}
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
        if len(hits) == len(TRAININGS):
            for training, hit in zip(TRAININGS, hits, strict=True):
                right[training].append(hit)
            only = int((hits[0] & ~hits[1]).sum()), int((hits[1] & ~hits[0]).sum())
            interval = paired_interval(*only, len(task.test))
        else:
            interval = math.nan, math.nan
        difference = sides[0].accuracy - sides[1].accuracy
        compared[name] = Comparison(sides[0], sides[1], difference, interval)
    failed = [name for name, one in compared.items() if math.isnan(one.difference)]
    if failed:
        reasons["mean"] = f"It leaves out what failed: {', '.join(failed)}."
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
    )


def _mean(right: Mapping[str, Sequence[NDArray[np.bool_]]]) -> MeanAccuracy:
    if not right["real"]:
        return MeanAccuracy(math.nan, math.nan, math.nan, (math.nan, math.nan))
    synthetic, real = (np.mean(right[training], axis=0) for training in TRAININGS)
    apart = synthetic - real
    return MeanAccuracy(
        float(synthetic.mean()), float(real.mean()), float(apart.mean()), mean_interval(apart)
    )
