"""From the results of all measures of one release to its findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from understudy.audit.collect_model import method_of, network_of
from understudy.audit.collect_records import RecordScores, values_to_show, worst_records
from understudy.audit.collect_risk import (
    anonymity_findings,
    attacker_figures,
    attribution_figures,
    disclosure_figures,
    disclosure_findings,
    subset_risks,
)
from understudy.audit.collect_strong import record_figure, strong_figure, strong_findings
from understudy.audit.collect_utility import (
    association_findings,
    prediction_findings,
    propensity_findings,
    shown_classes,
    way_findings,
)
from understudy.audit.findings import NAN, Figure, ReleaseFindings, UtilityFindings
from understudy.audit.inputs import Preset
from understudy.audit.key_sets import with_fewer_sets
from understudy.audit.measures import LOOKED_UP, Synthesis, most_trained
from understudy.audit.samples import prediction_note
from understudy.data.frames import to_narwhals

THE_PAPERS = "The papers' classifiers: ours are stronger, and take longer."

Results = Mapping[str, Sequence[Any]]
"""What each measure found for the syntheses on which it did not fail."""


def release_findings(
    first: Synthesis, results: Results, errors: Mapping[str, str]
) -> ReleaseFindings:
    """Return all that was found about one release.

    Parameters
    ----------
    first : Synthesis
        The first table of the release.
    results : mapping
        What each measure found, by name; a measure that failed on all tables is not in it.
    errors : mapping
        What went wrong, by measure.
    """
    task, given = first.task, first.given
    strong: Sequence[Any] = results.get("strong", ())
    scores: RecordScores | None = next(iter(results.get("records", ())), None)
    told = results.get("disclosure", ())
    grouped = task.groups_of((*task.scenario.keys, task.scenario.sensitive))
    values = values_to_show(task.original, task.scenario) if task.show_records else {}
    return ReleaseFindings(
        name=given.name,
        method=method_of(given.model),
        syntheses=len(given.tables),
        rows=len(to_narwhals(first.table)),
        figures=tuple(_figures(first, results)),
        subsets=subset_risks([one["nearest"] for one in results.get("attribution", ())]),
        attribution=None if scores is None else scores.histogram(),
        worst=worst_records(scores, next(iter(strong), None), values),
        strong=strong_findings(strong) if strong else None,
        disclosure=disclosure_findings(told, grouped) if told else None,
        anonymity=anonymity_findings(held) if (held := results.get("anonymity")) else None,
        utility=_utility(first, results),
        network=network_of(given.model),
        copied=max((share for share, _ in results.get("copies", ())), default=NAN),
        one_of_a_kind=max((count for _, count in results.get("copies", ())), default=0),
        errors=dict(errors),
    )


def _figures(first: Synthesis, results: Results) -> list[Figure]:
    task = first.task
    figures: list[Figure] = []
    if found := results.get("attribution"):
        _, note = with_fewer_sets(first.prepared, LOOKED_UP, task.seed)
        figures += attribution_figures(found, note)
    presets: list[tuple[str, Preset]] = [
        ("classifiers", task.classifiers or "strong"),
        ("classifiers_papers", "papers"),
    ]
    for measure, preset in presets:
        if found := results.get(measure):
            _, note = with_fewer_sets(first.prepared, most_trained(first, preset), task.seed)
            beside = measure == "classifiers_papers"
            if preset == "papers" and not beside:
                note = f"{THE_PAPERS} {note}"
            figures += attacker_figures(found, of_papers=beside, note=note)
    if found := results.get("disclosure"):
        figures += disclosure_figures(found)
    if found := results.get("strong"):
        figures.append(strong_figure(found))
    if found := results.get("strong_record"):
        figures.append(record_figure(found))
    return figures


def _utility(first: Synthesis, results: Results) -> UtilityFindings:
    task = first.task
    association = results.get("association")
    apart = propensity_findings(found) if (found := results.get("propensity")) else ()
    if found := results.get("propensity_interactions"):
        apart += propensity_findings(found, {"logistic": "logistic with interactions"})
    prediction = None
    if task.target is not None and (found := results.get("prediction")):
        grouped = task.target in task.groups
        classes = shown_classes(found[0].labels, first.table, task.target, grouped=grouped)
        prediction = prediction_findings(found, classes)
    marginals = results.get("marginals")
    return UtilityFindings(
        marginals=way_findings(marginals) if marginals else (),
        shares=next(iter(results.get("shares", ())), ()),
        association=association_findings(association) if association else None,
        propensity=apart,
        prediction=prediction,
        notes=(*_left_out(first), *_sampled(first, results)),
    )


def _sampled(first: Synthesis, results: Results) -> Iterator[str]:
    """Say which measures of the use are of samples."""
    for found in results.get("propensity", ())[:1]:
        if told := found.reasons.get("records"):
            yield f"The tables were told apart by a part of them. {told}"
    for found in results.get("prediction", ())[:1]:
        if told := prediction_note(found, first.task.original, first.table):
            yield told


def _left_out(first: Synthesis) -> tuple[str, ...]:
    """Say which columns of the original were not compared."""
    shared = first.task.shared_columns(first.table)
    absent = [name for name in to_narwhals(first.task.original).columns if name not in shared]
    own = [name for name in shared if name not in first.columns]
    notes = []
    if absent:
        notes.append(f"The release has no column {', '.join(map(repr, absent))}.")
    if own:
        notes.append(
            f"Not compared, for nearly every record has a value of its own there: "
            f"{', '.join(map(repr, own))}."
        )
    return tuple(notes)
