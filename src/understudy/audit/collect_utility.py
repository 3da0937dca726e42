"""What a release keeps of the original, as plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from understudy.audit.collect_risk import mean
from understudy.audit.findings import (
    NAN,
    AssociationFindings,
    ClassifierFindings,
    PredictionFindings,
    PropensityFindings,
    WayFindings,
)
from understudy.audit.shares import NOT_SHOWN
from understudy.data.frames import Frame
from understudy.data.joint_coding import code_together
from understudy.utility.association import Association
from understudy.utility.marginals import Marginals
from understudy.utility.pair_measures import Matrix
from understudy.utility.prediction_result import Comparison, Prediction, Trained
from understudy.utility.propensity import Propensity

SEEN = (
    "The release was made from the test records, too, unless they were kept from it, and real "
    "training was not: this favours the release, whose true loss is likely larger. Synthesize from "
    "a part of the records, and give the others as the test (--test)."
)
"""What must be known where the test records are from the original."""


def way_findings(found: Sequence[Marginals]) -> tuple[WayFindings, ...]:
    """Return the distances of tables over the syntheses, and the worst tables of the first."""
    return tuple(
        WayFindings(
            way=ways[0].way,
            tables=ways[0].tables,
            mean=mean(way.mean for way in ways),
            expected=mean(way.expected for way in ways),
            ratio=mean(way.ratio for way in ways),
            worst=tuple((one.columns, one.distance, one.expected) for one in ways[0].worst),
        )
        for ways in zip(*(result.ways for result in found), strict=True)
    )


def association_findings(found: Sequence[Association]) -> AssociationFindings:
    """Return the matrices of the first synthesis, and the differences over all."""
    first = found[0].strength
    return AssociationFindings(
        columns=first.columns,
        original=_rows(first.original),
        synthetic=_rows(first.synthetic),
        mean_difference=mean(result.strength.mean for result in found),
        largest_difference=mean(result.strength.largest for result in found),
        expected_difference=mean(result.strength.expected_mean for result in found),
    )


def _rows(matrix: Matrix) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def propensity_findings(
    found: Sequence[Propensity], names: Mapping[str, str] | None = None
) -> tuple[PropensityFindings, ...]:
    """Return how well each model tells the tables apart, over the syntheses."""
    return tuple(
        PropensityFindings(
            model=(names or {}).get(name, name),
            pmse=mean(result.models[name].pmse for result in found),
            ratio=mean(result.models[name].permutation.ratio for result in found),
            standardised=mean(result.models[name].permutation.standardised for result in found),
            auc=mean(result.models[name].auc for result in found),
            auc_by_chance=mean(result.models[name].permuted_auc for result in found),
        )
        for name in found[0].models
    )


def shown_classes(
    labels: Sequence[str], synthetic: Frame, target: str, *, grouped: bool
) -> tuple[str, ...]:
    """Return the classes as they may be shown: those that the release lacks have no names.

    Groups of numbers are numbered, for their limits are the original's.

    Examples
    --------
    >>> import polars as pl
    >>> shown_classes(["a", "b"], pl.DataFrame({"x": ["a"]}), "x", grouped=False)
    ('a', 'not in the release')
    """
    if grouped:
        return tuple(f"group {number}" for number in range(1, len(labels) + 1))
    held = set(code_together({"synthetic": synthetic}, [target]).levels[target].labels)
    # A class of that very name is another one than what is not known.
    held |= {"missing value"} & set(labels) if "missing" in held else set()
    hidden = [label for label in labels if label not in held]
    numbered = {
        label: NOT_SHOWN if len(hidden) == 1 else f"{NOT_SHOWN} ({number})"
        for number, label in enumerate(hidden, 1)
    }
    return tuple(numbered.get(label, label) for label in labels)


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
        return f"{found.test_records:,} real records that were given for it"
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
