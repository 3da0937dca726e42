"""What the page shows of an audit: the charts of each release, and of all together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from understudy.audit.findings import Findings, ReleaseFindings
from understudy.charts.chart import Chart
from understudy.report.charts.columns import column_chart, distance
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
    strong_chart,
    subsets_chart,
)
from understudy.report.charts.tradeoff import tradeoff_chart

if TYPE_CHECKING:
    from understudy.audit.verdict import ReleaseVerdict, Verdict

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
        found, utility = self.release, self.release.utility
        there: tuple[tuple[str, str, object], ...] = (
            ("gain", "What an attacker gains", found.figures or found.subsets),
            ("people", "Whom it concerns", found.attribution or found.worst),
            ("strong", "The strong attacker", found.strong),
            ("disclosure", "repU and DiSCO", found.disclosure),
            ("anonymity", "k, l and t", found.anonymity),
            ("association", "Association", utility.association),
            ("columns", "Columns", utility.shares or utility.marginals),
            ("propensity", "Telling apart", utility.propensity),
            ("prediction", "Prediction", utility.prediction),
            ("network", "The network", found.network),
            ("notes", "Not compared", utility.notes),
            ("errors", "Not measured", found.errors),
        )
        return {key: title for key, title, something in there if something}

    def all_charts(self) -> Iterator[Chart]:
        """Yield every chart of the release."""
        yield from self.charts.values()
        yield from self.columns


def comparison(findings: Findings) -> tuple[Chart, ...]:
    """Return the charts that compare several releases; none if there is one."""
    if len(findings.releases) < 2:
        return ()
    scatter = tradeoff_chart(findings)
    return (*([scatter] if scatter else []), *comparison_charts(findings))


def sections(findings: Findings, verdict: Verdict | None) -> tuple[Section, ...]:
    """Return what the page shows of each release."""
    most = max(FEWEST_COLUMNS, MOST_COLUMNS // max(1, len(findings.releases)))
    found = []
    for place, release in enumerate(findings.releases):
        key = f"release-{place + 1}"
        charts = {
            chart.key: chart.placed(key)
            for chart in _charts(findings, release)
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


def _charts(findings: Findings, release: ReleaseFindings) -> Iterator[Chart | None]:
    utility = release.utility
    yield figures_chart(release, findings.sensitive)
    yield subsets_chart(release.subsets)
    if release.attribution is not None:
        yield attribution_chart(release.attribution)
    if release.strong is not None:
        yield strong_chart(release.strong.accuracy_before, release.strong.accuracy_after)
        yield gains_chart(release.strong.gains)
    if release.disclosure is not None:
        yield disclosure_chart(release.disclosure)
    if utility.association is not None:
        yield from association_charts(utility.association)
    yield distances_chart(utility.marginals)
    yield propensity_chart(utility.propensity)
    if utility.prediction is not None:
        yield prediction_chart(utility.prediction)
    if release.network is not None:
        yield network_drawing(release.network, findings.sensitive, findings.target)
