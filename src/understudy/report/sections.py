"""What the page shows of an audit: the charts of each release, and of all together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from understudy.audit.findings import Findings, ReleaseFindings
from understudy.audit.measures import MEASURES
from understudy.audit.measures.attribution import ATTRIBUTION
from understudy.audit.measures.declaration import Explanation, Part
from understudy.charts.chart import Chart
from understudy.report.charts.columns import column_chart, distance
from understudy.report.charts.correlations import correlations_chart
from understudy.report.charts.edges import network_drawing
from understudy.report.charts.heatmaps import association_charts
from understudy.report.charts.histograms import attribution_chart, gains_chart
from understudy.report.charts.lines import (
    comparison_charts,
    disclosure_chart,
    distances_chart,
    figures_chart,
    prediction_chart,
    propensity_chart,
    rare_values_chart,
    strong_chart,
    subsets_chart,
    telling_keys_chart,
)
from understudy.report.charts.people import lookalikes_chart, membership_chart
from understudy.report.charts.tradeoff import tradeoff_chart
from understudy.wording import Unit

if TYPE_CHECKING:
    from understudy.audit.verdict import ReleaseVerdict, Verdict

GAIN: Part = ATTRIBUTION.part  # type: ignore[assignment]  # it has one, which holds all figures

RECORDS = Part("records", "Are records in it?", 0)
"""Lookalikes and membership."""

OPEN_COLUMNS = 12
"""Columns whose charts are seen at once; the others are folded away."""

MOST_COLUMNS = 120
"""Columns that are drawn in all, over all releases: the page must stay small."""

FEWEST_COLUMNS = 4


@dataclass(frozen=True)
class Section:
    """One release in the page: what was found, what is said of it, and its charts by name.

    `columns` are the charts of single columns, those furthest from the original first, and
    `left_out` says how many more there are.
    """

    key: str
    release: ReleaseFindings
    verdict: ReleaseVerdict | None
    charts: dict[str, Chart]
    columns: tuple[Chart, ...]
    left_out: int

    @property
    def parts(self) -> dict[str, str]:
        """The parts of which something was found, in their order, and what the contents call them.

        Examples
        --------
        >>> Section("release-1", ReleaseFindings("a.csv", "", 1, 10), None, {}, (), 0).parts
        {}
        """
        declared = [
            measure.part
            for measure in MEASURES
            if measure.part is not None and measure.has_findings(self.release)
        ]
        there = {part.key: part.title for part in sorted(declared, key=lambda part: part.place)}
        if self.release.figures:
            there = {GAIN.key: GAIN.title} | there
        if self.release.lookalikes is not None or self.release.membership_curve is not None:
            there = {RECORDS.key: RECORDS.title} | there
        for key, title, something in (
            ("numbers", "Further figures", self.release.numbers),
            ("notes", "Not compared", self.release.utility.notes),
            ("errors", "Not measured", self.release.errors),
        ):
            if something:
                there[key] = title
        return there

    def all_charts(self) -> Iterator[Chart]:
        """Yield every chart of the release."""
        yield from self.charts.values()
        yield from self.columns


def explanations(findings: Findings) -> tuple[Explanation, ...]:
    """Return how the measures that were run are computed, and none of the others."""
    return tuple(
        replace(measure.explanation, text=findings.units.told(measure.explanation.text))
        for measure in MEASURES
        if measure.explanation is not None
        and any(measure.has_findings(release) for release in findings.releases)
    )


def in_units(findings: Findings) -> Findings:
    """Return findings that speak of what a record is about wherever measures speak of people."""
    told = findings.units.told

    def of(release: ReleaseFindings) -> ReleaseFindings:
        figures = tuple(
            replace(figure, meaning=told(figure.meaning), note=told(figure.note))
            for figure in release.figures
        )
        strong = release.strong
        if strong is not None:
            strong = replace(strong, notes=tuple(map(told, strong.notes)))
        return replace(release, figures=figures, strong=strong)

    return replace(findings, releases=tuple(map(of, findings.releases)))


def _about(chart: Chart, unit: Unit) -> Chart:
    """Return a chart whose words are about what a record is about."""
    told = unit.told
    return replace(
        chart, title=told(chart.title), sentence=told(chart.sentence), alt=told(chart.alt)
    )


def comparison(findings: Findings) -> tuple[Chart, ...]:
    """Return the charts that compare several releases; none if there is one."""
    if len(findings.releases) < 2:
        return ()
    scatter = tradeoff_chart(findings)
    charts = (*([scatter] if scatter else []), *comparison_charts(findings))
    return tuple(_about(chart, findings.units) for chart in charts)


def sections(
    findings: Findings, verdict: Verdict | None, *, show_records: bool = False
) -> tuple[Section, ...]:
    """Return what the page shows of each release."""
    most = max(FEWEST_COLUMNS, MOST_COLUMNS // max(1, len(findings.releases)))
    found = []
    for place, release in enumerate(findings.releases):
        key = f"release-{place + 1}"
        charts = {
            chart.key: _about(chart, findings.units).placed(key)
            for chart in _charts(findings, release, show_records)
            if chart is not None
        }
        ordered = sorted(release.utility.shares, key=distance, reverse=True)
        columns = tuple(
            column_chart(column, number + 1).placed(key)
            for number, column in enumerate(ordered[:most])
        )
        own = verdict.releases[place] if verdict and place < len(verdict.releases) else None
        left_out = max(0, len(ordered) - most)
        found.append(Section(key, release, own, charts, columns, left_out))
    return tuple(found)


def _charts(
    findings: Findings, release: ReleaseFindings, show_records: bool
) -> Iterator[Chart | None]:
    utility, unit = release.utility, findings.units
    if release.lookalikes is not None:
        yield lookalikes_chart(release.lookalikes, unit)
    if release.membership_curve is not None:
        yield membership_chart(release.membership_curve, unit)
    yield figures_chart(release, findings.sensitive)
    yield subsets_chart(release.subsets)
    yield rare_values_chart(
        release.rare_values, findings.sensitive, unit, show_records=show_records
    )
    yield telling_keys_chart(release.telling_keys)
    if release.attribution is not None:
        yield attribution_chart(release.attribution)
    if release.strong is not None:
        yield strong_chart(release.strong.accuracy_before, release.strong.accuracy_after)
        yield gains_chart(release.strong.gains)
    if release.disclosure is not None:
        yield disclosure_chart(release.disclosure)
    if utility.correlations is not None:
        yield correlations_chart(utility.correlations)
    if utility.association is not None:
        yield from association_charts(utility.association)
    yield distances_chart(utility.marginals)
    yield propensity_chart(utility.propensity)
    if utility.prediction is not None:
        yield prediction_chart(utility.prediction)
    if release.network is not None:
        yield network_drawing(release.network, findings.sensitive, findings.target)
