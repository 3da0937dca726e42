"""Prediction of the target: training on the release against training on real records."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from understudy.audit.findings import (
    NAN,
    ClassifierFindings,
    PredictionFindings,
    ReleaseFindings,
)
from understudy.audit.measures.declaration import (
    BIG_DATA,
    USE,
    Collected,
    Column,
    Explanation,
    Measure,
    Part,
    Use,
    mean,
)
from understudy.audit.synthesis import Synthesis
from understudy.data.joint_coding import CodedTables, EncodedTable
from understudy.utility.prediction import prediction
from understudy.utility.prediction_result import Comparison, Prediction, Trained
from understudy.utility.shares import NOT_SHOWN

OF_FEW = "a value of few records"
"""In place of a class that too few records of the original have to name it."""

LEARNT_FROM = 10_000
"""Records of a table that classifiers learn to predict the target from, at most.

The papers' support vector machine takes time in proportion to the square of the records: with all
of Adult's 48,842 the prediction takes fourteen times as long (102 s), and the mean accuracies of
both trainings are within half a point of those with samples.
"""
TESTED_ON = 10_000
"""Given test records that are predicted, at most: two standard errors are then within 1 point."""
TEST_SHARE = 0.3
"""What is held out of the original where no test records are given."""


SEEN = (
    "The release was made from the test records too, unless they were kept back; the models of the "
    "real records were not. This favours the release: its true loss is probably larger. To avoid "
    "it, synthesize from a part of the records and test on the others."
)
"""What must be known where the test records are from the original."""


def prediction_tables(synthesis: Synthesis, *, test: bool) -> CodedTables:
    """Return the tables to predict with, or random samples of those that are too large.

    Parameters
    ----------
    synthesis : Synthesis
        The tables; without test records, some are to be held out of the original's.
    test : bool
        Whether there are test records: those that were given, or else the control.
    """
    held = synthesis.tables.encoded
    most = LEARNT_FROM if test else math.ceil(LEARNT_FROM / (1 - TEST_SHARE))
    used = {"original": (held["original"], most), "synthetic": (held["synthetic"], LEARNT_FROM)}
    if test:
        used["test"] = held["test" if "test" in held else "control"], TESTED_ON
    seed, units = synthesis.task.seed, synthesis.task.units
    if not test and units is not None:
        # Whoever has learnt from a unit's records knows its others.
        inside, outside = split_by_unit(units.original, TEST_SHARE, seed)
        used["original"] = held["original"].take(inside), LEARNT_FROM
        used["test"] = held["original"].take(outside), TESTED_ON
    return CodedTables.of(
        {
            name: sample(table, most, seed, stream)
            for stream, (name, (table, most)) in enumerate(used.items())
        },
        (),
    )


def split_by_unit(
    units: NDArray[np.int64], share: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of most units, and those of a share of them, drawn at random.

    Examples
    --------
    >>> inside, outside = split_by_unit(np.array([0, 0, 1, 1, 2]), 0.34, seed=1)
    >>> len({0, 1, 2} - {*np.array([0, 0, 1, 1, 2])[outside]})
    2
    """
    count = int(units.max()) + 1
    drawn = np.zeros(count, bool)
    drawn[np.random.default_rng([seed, count]).permutation(count)[: round(share * count)]] = True
    return np.flatnonzero(~drawn[units]), np.flatnonzero(drawn[units])


def sample(table: EncodedTable, most: int, seed: int, stream: int = 0) -> EncodedTable:
    """Return a table, or so many of its records in their order.

    Examples
    --------
    >>> import polars as pl
    >>> from understudy.data.joint_coding import encode
    >>> table = encode(pl.DataFrame({"x": range(9)}))
    >>> len(sample(table, 4, seed=1)), sample(table, 9, seed=1) is table
    (4, True)
    """
    if len(table) <= most:
        return table
    drawn = np.random.default_rng([seed, stream]).choice(len(table), most, replace=False)
    return table.take(np.sort(drawn))


def prediction_note(found: Prediction, rows: int, made: int) -> str:
    """Say that the prediction is of samples, if it is."""
    held_out = found.test_records if found.held_out == "split" else 0
    if found.records + held_out == rows and found.synthetic_records == made:
        return ""
    return (
        f"The target was predicted from random samples, since all records would take too long: "
        f"{found.records:,} of {rows:,} real records and {found.synthetic_records:,} of {made:,} "
        "synthetic ones."
    )


def shown_classes(
    labels: Sequence[str],
    tables: CodedTables,
    target: str,
    *,
    grouped: bool,
    few: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the classes as they may be shown: those that the release lacks have no names.

    Those of `few` records of the original have none either. Groups of numbers are numbered, for
    their limits are the original's.

    Examples
    --------
    >>> import polars as pl
    >>> tables = CodedTables.of({"synthetic": pl.DataFrame({"x": ["a"]})})
    >>> shown_classes(["a", "b"], tables, "x", grouped=False)
    ('a', 'not in the release')
    """
    if grouped:
        return tuple(f"group {number}" for number in range(1, len(labels) + 1))
    held = set(tables.select(["synthetic"], [target]).levels[target].labels)
    # A class of that very name is another one than what is not known.
    held |= {"missing value"} & set(labels) if "missing" in held else set()
    named: dict[str, str] = {}
    for title, hidden in (
        (NOT_SHOWN, [label for label in labels if label not in held]),
        (OF_FEW, [label for label in labels if label in held and label in few]),
    ):
        for number, label in enumerate(hidden, 1):
            named[label] = title if len(hidden) == 1 else f"{title} ({number})"
    return tuple(named.get(label, label) for label in labels)


def _of_few(labels: Sequence[str], tables: CodedTables, target: str, fewest: int) -> set[str]:
    """Return the classes that fewer records of the original have than may be named."""
    original = tables.select(["original"], [target])
    counts = np.bincount(original["original"][target], minlength=len(original.levels[target]))
    rare = original.levels[target].labels_of(np.flatnonzero((counts > 0) & (counts < fewest)))
    return set(rare) & set(labels)


def prediction_findings(
    found: Sequence[Prediction], classes: tuple[str, ...]
) -> PredictionFindings:
    """Return what classifiers reach over the syntheses, and the confusion of the first.

    Precision, recall and F2 are of the positive class; where there is none, means over all.
    """
    first = found[0]
    positive = "" if first.positive is None else classes[first.labels.index(first.positive)]
    return PredictionFindings(
        target=first.target,
        classes=classes,
        positive=positive,
        held_out=_tested_on(first),
        note=SEEN if first.held_out == "split" else "",
        baseline=mean(result.baseline for result in found),
        mean_real=mean(result.mean.real for result in found),
        mean_synthetic=mean(result.mean.synthetic for result in found),
        mean_difference=mean(result.mean.difference for result in found),
        classifiers=tuple(
            _classifier(name, [result.classifiers[name] for result in found], first.positive)
            for name in first.classifiers
        ),
    )


def _tested_on(found: Prediction) -> str:
    """Return in words what the test records are."""
    if found.held_out == "given":
        return f"{found.test_records:,} real records that the synthesis did not use"
    return (
        f"{found.test_records:,} records of the original, held out from the real training but not "
        "from the synthesis"
    )


def _classifier(name: str, found: Sequence[Comparison], positive: str | None) -> ClassifierFindings:
    def over(measure: str, side: Callable[[Comparison], Trained]) -> float:
        return mean(_score(side(one), measure, positive) for one in found)

    def real(one: Comparison) -> Trained:
        return one.real

    def synthetic(one: Comparison) -> Trained:
        return one.synthetic

    return ClassifierFindings(
        classifier=name,
        real_accuracy=mean(one.real.accuracy for one in found),
        synthetic_accuracy=mean(one.synthetic.accuracy for one in found),
        difference=mean(one.difference for one in found),
        difference_low=mean(one.interval[0] for one in found),
        difference_high=mean(one.interval[1] for one in found),
        real_confusion=found[0].real.confusion,
        synthetic_confusion=found[0].synthetic.confusion,
        real_precision=over("precision", real),
        real_recall=over("recall", real),
        real_f2=over("f2", real),
        synthetic_precision=over("precision", synthetic),
        synthetic_recall=over("recall", synthetic),
        synthetic_f2=over("f2", synthetic),
    )


def _score(trained: Trained, measure: str, positive: str | None) -> float:
    scores: Iterable[float] = (
        getattr(one, measure)
        for one in trained.classes
        if positive is None or one.label == positive
    )
    return mean(scores) if trained.classes else NAN


def _run(synthesis: Synthesis) -> Prediction:
    task, held = synthesis.task, synthesis.tables.encoded
    assert task.target is not None  # noqa: S101  # there is no such job without one
    features = [name for name in synthesis.columns if name != task.target]
    test = held.get("test", held.get("control"))
    if test is not None:
        known = [name for name in features if name in test.names]
        if "test" not in held and (len(known) < len(features) or task.target not in test.names):
            test = None  # the control table was made for the attacks alone
        else:
            features = known
    found = prediction(
        prediction_tables(synthesis, test=test is not None),
        target=task.target,
        test_share=TEST_SHARE,
        features=features,
        groups=task.groups_of([*features, task.target]) or None,
        random_state=task.seed,
    )
    # Units were held out of the original, which the synthesis has seen.
    return found if test is not None else replace(found, held_out="split")


def _collect(first: Synthesis, found: Sequence[Prediction]) -> Collected:
    task, tables = first.task, first.tables
    assert task.target is not None  # noqa: S101  # there is no such job without one
    grouped = task.target in task.groups
    few = set() if grouped else _of_few(found[0].labels, tables, task.target, task.fewest_to_name)
    classes = shown_classes(found[0].labels, tables, task.target, grouped=grouped, few=few)
    rows = (len(tables.encoded[name]) for name in ("original", "synthetic"))
    note = prediction_note(found[0], *rows)
    return Collected(
        utility={"prediction": prediction_findings(found, classes)}, notes=[note] if note else []
    )


def _field(name: str) -> Callable[[ReleaseFindings], float]:
    return lambda release: getattr(release.utility.prediction, name, math.nan)


GATE = {
    "baseline": "baseline",
    "real": "mean_real",
    "synthetic": "mean_synthetic",
    "difference": "mean_difference",
}
"""What the gate calls the fields of `PredictionFindings`."""


def _values(release: ReleaseFindings) -> list[tuple[str, object]]:
    found = release.utility.prediction
    if found is None:
        return []
    return [("prediction", {name: getattr(found, field) for name, field in GATE.items()})]


def _use(release: ReleaseFindings) -> Use:
    found = release.utility.prediction
    if found is not None:
        yield "prediction", found.mean_synthetic, found.mean_real


PREDICTION = Measure(
    "prediction",
    "predicting the target",
    _run,
    _collect,
    level="standard",
    needed=lambda task, _given: task.target is not None,
    needs="a target to predict",
    numbers={"prediction": tuple(GATE)},
    values=_values,
    use=_use,
    found=lambda release: release.utility.prediction,
    explanation=Explanation(
        "Prediction",
        "Classifiers are trained on the release, and again on real records. Both predict the "
        "target of real people who were held out. The interval is for the difference between the "
        "two accuracies. F2 is a mean of precision and recall in which recall weighs four times as "
        "much.",
        BIG_DATA,
    ),
    part=Part("prediction", "Prediction", 9),
    columns=(
        Column(
            USE,
            "Predicted, %",
            "the target, by classifiers trained on the release",
            _field("mean_synthetic"),
            without=_field("baseline"),
            original=_field("mean_real"),
        ),
    ),
    of_units="all records",
    place=150,
)
