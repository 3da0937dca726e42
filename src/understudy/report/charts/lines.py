"""What is shown on number lines: measures of risk and of use, sets of keys, releases."""

from __future__ import annotations

import math
from collections.abc import Sequence

from understudy.audit.attack_findings import KeySetFindings, RareValueFindings
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
from understudy.wording import Unit, listed, times

MOST_SUBSETS = 20
"""Sets of keys in a chart; more could not be read."""

PATTERN = (
    "From the square to the triangle it is a pattern: it is told about those who are not in the "
    "data as well. From the triangle to the circle, it is told because they are in the data."
)
"""What control records show, where it is seen first."""

_BESIDE_CONTROL = {"synthetic": "In the data", "control": "Not in the data"}

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
    controlled = any(math.isfinite(line.values["control"]) for line in lines)
    words = Words(
        "figures",
        "How often a guess is correct",
        f"Each line is one way to find out {_of_whom(sensitive)}. The further the circle lies to "
        "the right of the square, the more the release gives away."
        f"{f' {PATTERN}' if controlled else ''}",
        "Measure",
        "Share of the original's records",
    )
    return number_line(words, lines, Result.SERIES)


def _of_whom(sensitive: str) -> str:
    return f"'{sensitive}' of a record" if sensitive else "a sensitive value"


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
        "Each line is an attacker who knows a different set of columns (GCAP). The "
        f"release helps most with the sets at the top.{cut}",
        "Known columns",
        "Share of correct guesses",
    )
    return number_line(words, lines, Result.SERIES, shown=MOST_SUBSETS)


def _least_gain_last(subset: SubsetRisk) -> float:
    gain = subset.synthetic - subset.baseline
    return math.inf if math.isnan(gain) else -gain


def rare_values_chart(
    values: Sequence[RareValueFindings], sensitive: str, unit: Unit, *, show_records: bool = False
) -> Chart | None:
    """Return a line for each value that few people have: how many of them are told."""

    def name(one: RareValueFindings) -> str:
        known = one.named(show_records=show_records, unit=unit.many)
        if known == one.value:
            return f"{known} ({unit.count(one.people)})"
        return f"{known[0].upper()}{known[1:]}"

    lines = [
        Line(
            name(one),
            f"guessed for {one.told:,} of the {one.people:,} that have it",
            {
                "baseline": one.expected / one.people,
                "synthetic": one.told / one.people,
                "control": one.control_told / one.control_people
                if one.control_people
                else math.nan,
            },
        )
        for one in values
        if one.people
    ]
    which = f"'{sensitive}'" if sensitive else "the sensitive column"
    words = Words(
        "rare-values",
        "What is told about rare values",
        f"Each line is a value of {which}, the rarest first. The circle is the share of those that "
        "have it for whom an attacker guesses it; by chance, the same guesses would reach the "
        "square.",
        "Value",
        "Share of those that have the value",
    )
    return number_line(words, lines, {**_BESIDE_CONTROL, "baseline": "By chance"})


def telling_keys_chart(sets: Sequence[KeySetFindings]) -> Chart | None:
    """Return a line for each of the most telling sets of keys: gains, and what chance gives."""
    lines = [
        Line(
            listed(one.keys),
            f"{len(one.keys)} known",
            {
                "baseline": max(one.limit, 0.0),
                "synthetic": one.gain,
                "control": one.control_gain,
            },
        )
        for one in sets
    ]
    words = Words(
        "telling-keys",
        "Which keys tell most",
        "Each line is an attacker who knows these keys alone. Shown is what the release adds to "
        "the correct guesses. Chance alone stays left of the square in 95 of 100 releases.",
        "Known columns",
        "Gain in correct guesses",
    )
    return number_line(words, lines, {**_BESIDE_CONTROL, "baseline": "Chance alone, at most"})


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
        "Unique records, and records whose keys leave one value",
        "The circle counts records in the release, the diamond in the original. For DiSCO, the "
        "square is what a constant guess gives: only what lies to its right was disclosed.",
        "Count",
        "Share of the original's records",
    )
    lines = [
        Line(
            "repU: unique in both",
            "keys that one original and one synthetic record have",
            {"synthetic": found.repu, "original": found.uio},
        ),
        Line(
            "DiSCO: one value, and it is true",
            "keys that have one sensitive value in the release, the record's own",
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
        "the same size would reach the square; a dot near it is as good as can be.",
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
        "Correct predictions for real records",
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
                    "control": figure.control,
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
            "Share of the original's records",
        )
        chart = number_line(words, lines, Result.SERIES)
        if chart is not None:
            charts.append(chart)
    return tuple(charts[:_MOST_COMPARED])


def _decisive_first(kind: FigureKind) -> int:
    """Return the place of a measure among the charts: those that answer a question come first."""
    if kind.question is not None and not kind.beside_control:
        return 1 if kind.tested else 0
    return 2 if kind.guess else 3
