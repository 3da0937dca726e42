"""What is shown on number lines: measures of risk and of use, sets of keys, releases."""

from __future__ import annotations

import math
from collections.abc import Sequence

from understudy.audit.findings import (
    DisclosureFindings,
    Findings,
    PredictionFindings,
    PropensityFindings,
    ReleaseFindings,
    SubsetRisk,
    WayFindings,
)
from understudy.audit.measures import figure_kinds
from understudy.audit.measures.declaration import FigureKind
from understudy.charts.chart import Chart
from understudy.charts.number_line import Line, Words, number_line
from understudy.report.names import model_name, models_in_words
from understudy.results import Result
from understudy.utility.marginals import Marginals, distance_line
from understudy.utility.prediction_result import Prediction
from understudy.utility.propensity import Propensity
from understudy.wording import listed, times

MOST_SUBSETS = 20
"""Sets of keys in a chart; more could not be read."""

_MOST_COMPARED = 4
"""Measures that are drawn for several releases, at most; the table has all."""


def figures_chart(release: ReleaseFindings, sensitive: str) -> Chart | None:
    """Return a line for each measure of risk.

    repU and DiSCO are not guesses, and have a chart of their own if all of their counts are there.
    """
    apart = {kind.name for kind in figure_kinds() if not kind.guess}
    apart = apart if release.disclosure is not None else set()
    lines = [
        Line(
            found.title,
            models_in_words(found.meaning),
            {
                "baseline": found.baseline,
                "synthetic": found.synthetic,
                "original": found.original,
                "control": found.control,
            },
        )
        for found in release.figures
        if found.measure not in apart
    ]
    words = Words(
        "figures",
        "How often a guess is correct",
        f"Each line is one way to find out {_of_whom(sensitive)}. The "
        "further the circle lies to the right of the square, the more the release gives away.",
        "Measure",
        "Share of the people in the data",
    )
    return number_line(words, lines, Result.SERIES)


def _of_whom(sensitive: str) -> str:
    return f"a person's '{sensitive}'" if sensitive else "a person's sensitive value"


def subsets_chart(subsets: Sequence[SubsetRisk]) -> Chart | None:
    """Return a line for each set of keys that an attacker may know, the most telling first."""
    ordered = sorted(subsets, key=_least_gain_last)
    lines = [
        Line(
            listed(subset.keys),
            f"{len(subset.keys)} known",
            {
                "baseline": subset.baseline,
                "synthetic": subset.synthetic,
                "original": subset.original,
            },
        )
        for subset in ordered
    ]
    cut = (
        f" Shown are the {MOST_SUBSETS} of {len(lines)} sets with the largest gain."
        if len(lines) > MOST_SUBSETS
        else ""
    )
    words = Words(
        "subsets",
        "What the attacker knows decides what the attacker learns",
        "Each line is an attacker who knows a different set of columns about a person (GCAP). The "
        f"release helps most with the sets at the top.{cut}",
        "Known columns",
        "Share of correct guesses",
    )
    return number_line(words, lines, Result.SERIES, shown=MOST_SUBSETS)


def _least_gain_last(subset: SubsetRisk) -> float:
    gain = subset.synthetic - subset.baseline
    return math.inf if math.isnan(gain) else -gain


def strong_chart(before: float, after: float) -> Chart | None:
    """Return one line: right guesses of the strong attacker before and after the release."""
    words = Words(
        "strong-guesses",
        "Correct guesses before and after",
        "How often the strong attacker's best guess is correct, before and after the release.",
        "Attacker",
        "Share of correct guesses",
    )
    line = Line(
        "Knows every value but one",
        "best guess of that value",
        {"baseline": before, "synthetic": after},
    )
    return number_line(words, [line], Result.SERIES)


def disclosure_chart(found: DisclosureFindings) -> Chart | None:
    """Return repU and DiSCO beside what a constant guess and the original itself give."""
    words = Words(
        "disclosure",
        "Unique people, and people whose keys leave one value",
        "The circle counts people in the release, the diamond in the original. For DiSCO, the "
        "square is what a constant guess gives: only what lies to its right was disclosed.",
        "Count",
        "Share of the people in the data",
    )
    lines = [
        Line(
            "repU: unique in both",
            "keys that one person and one synthetic record have",
            {"synthetic": found.repu, "original": found.uio},
        ),
        Line(
            "DiSCO: one value, and it is true",
            "keys that have one sensitive value in the release, the person's own",
            {
                "baseline": found.disco_baseline,
                "synthetic": found.disco,
                "original": found.dorig,
            },
        ),
    ]
    series = {
        "baseline": "A constant guess",
        "synthetic": "In the release",
        "original": "In the original",
    }
    return number_line(words, lines, series)


def distances_chart(ways: Sequence[WayFindings]) -> Chart | None:
    """Return a line for tables of one, two and three columns: their distance and chance's."""
    lines = [
        distance_line(way.way, way.tables, way.mean, way.expected, way.ratio).drawn()
        for way in ways
    ]
    words = Words(
        "distances",
        "Distance of all shares from the original's",
        "The share of records that would have to change for the counts to agree. A new sample of "
        "the same people would reach the square; a dot near it is as good as can be.",
        "Tables of",
        Marginals.AXIS,
    )
    return number_line(words, lines, Marginals.SERIES)


def propensity_chart(models: Sequence[PropensityFindings]) -> Chart | None:
    """Return a line for each model that tells synthetic from original records: its AUC."""
    lines = [
        Line(
            model_name(model.model),
            f"pMSE {times(model.ratio)} what chance gives",
            {"baseline": model.auc_by_chance, "synthetic": model.auc},
        )
        for model in models
    ]
    words = Words(
        "propensity",
        "Telling synthetic from original records",
        "Given an original and a synthetic record, how often a model finds the synthetic one "
        "(AUC). The square is what a model reaches if it cannot tell the tables apart: the "
        "nearer, the better.",
        "Model",
        Propensity.AXIS,
    )
    return number_line(words, lines, Propensity.SERIES)


def prediction_chart(prediction: PredictionFindings) -> Chart | None:
    """Return a line for each classifier: right predictions after training on either table."""
    lines = [
        Line(
            model_name(found.classifier),
            f"tested on {prediction.held_out}",
            {
                "baseline": prediction.baseline,
                "synthetic": found.synthetic_accuracy,
                "original": found.real_accuracy,
            },
        )
        for found in prediction.classifiers
    ]
    words = Words(
        "prediction",
        "Correct predictions for real people",
        "Each line is a classifier, trained once on the release and once on real records. The "
        "nearer the circle is to the diamond, the better the release stands in for the original.",
        "Classifier",
        Prediction.AXIS,
        gap=("synthetic", "original"),
    )
    return number_line(words, lines, Prediction.SERIES)


def comparison_charts(findings: Findings) -> tuple[Chart, ...]:
    """Return a chart for each of the telling measures, with a line for each release."""
    charts = []
    for kind in sorted((one for one in figure_kinds() if one.chart), key=_decisive_first):
        found = [(release.name, release.figure(kind.name)) for release in findings.releases]
        lines = [
            Line(
                name,
                models_in_words(figure.meaning),
                {
                    "baseline": figure.baseline,
                    "synthetic": figure.synthetic,
                    "original": figure.original,
                },
            )
            for name, figure in found
            if figure is not None
        ]
        if len(lines) < 2:
            continue
        words = Words(
            f"compare-{kind.name.replace('_', '-')}",
            kind.title,
            f"{kind.chart} A line for each release.",
            "Release",
            "Share of the people in the data",
        )
        chart = number_line(words, lines, Result.SERIES)
        if chart is not None:
            charts.append(chart)
    return tuple(charts[:_MOST_COMPARED])


def _decisive_first(kind: FigureKind) -> int:
    """Return the place of a measure among the charts: those that answer a question come first."""
    return 0 if kind.question is not None else 1 if kind.guess else 2
