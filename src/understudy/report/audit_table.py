"""The verdict of an audit and its figures, in the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from understudy.audit.findings import Findings, ReleaseFindings
from understudy.audit.result import Audit
from understudy.audit.verdict import ReleaseVerdict, Verdict
from understudy.report.attack_table import difference, percentage

_COLOURS = {"low": "green", "raised": "yellow", "high": "red", "unknown": "yellow"}
_COMPARED = ("gcap", "vote", "mean_attacker", "papers_mean_attacker")
"""The measures of risk that have a column where releases stand side by side."""
_HEADINGS = {
    "gcap": "GCAP",
    "vote": "vote",
    "mean_attacker": "mean",
    "papers_mean_attacker": "papers",
}
_MEANINGS = {
    "gcap": "GCAP, by a lookup of the keys",
    "vote": "vote, by a vote of classifiers",
    "mean_attacker": "mean, by a classifier on average",
    "papers_mean_attacker": "papers, by one of the papers' classifiers on average",
}


def audit_table(found: Audit) -> Group:
    """Return the verdict and a table of the figures.

    One release has a row for each measure; several have a row each.
    """
    findings, verdict = found.findings, found.verdict
    shown: list[RenderableType] = [
        Text(verdict.headline, style=f"bold {_COLOURS[verdict.level]}"),
        Text(verdict.sentences[0]),
    ]
    if len(findings.releases) == 1:
        shown += _one(findings.releases[0], verdict.releases[0])
    else:
        shown += _several(findings, verdict)
    return Group(*shown)


def _one(release: ReleaseFindings, judged: ReleaseVerdict) -> Iterator[RenderableType]:
    controlled = any(not math.isnan(one.control) for one in release.figures)
    table = Table(title="Share of the people", title_justify="left", header_style="bold")
    table.add_column("measure", overflow="fold")
    for heading in ("baseline", "synthetic", "original", *(["control"] * controlled), "gain"):
        table.add_column(heading, justify="right")
    for one in release.figures:
        shares = [one.baseline, one.synthetic, one.original, *([one.control] * controlled)]
        table.add_row(Text(one.title), *map(percentage, shares), difference(one.gain))
    yield table
    for sentence in (*judged.sentences, *judged.disagreements):
        yield Text(f"- {sentence}")


def _several(findings: Findings, verdict: Verdict) -> Iterator[RenderableType]:
    """Yield a row for each release, between the guess without one and the original itself."""
    releases = findings.releases
    measures = [
        name for name in _COMPARED if any(release.figure(name) is not None for release in releases)
    ]
    predicted = any(release.utility.prediction is not None for release in releases)
    table = Table(header_style="bold", box=box.SIMPLE_HEAD)
    table.add_column("release", overflow="fold")
    table.add_column("risk")
    headings = [*(_HEADINGS[name] for name in measures), "certain", *(["predicted"] * predicted)]
    for heading in (*headings, "pairs"):
        table.add_column(heading, justify="right")
    table.add_row(*_reference("no release", findings, measures, "baseline", predicted=predicted))
    for release, judged in zip(releases, verdict.releases, strict=True):
        level = Text(judged.level, style=_COLOURS[judged.level])
        guesses = [_percent(_share(release, name, "synthetic")) for name in measures]
        certain = "-" if release.strong is None else f"{release.strong.certain:,}"
        use = [_percent(_predicted(release, "mean_synthetic"))] * predicted
        table.add_row(Text(release.name), level, *guesses, certain, *use, _pairs(release))
    table.add_row(*_reference("the original", findings, measures, "original", predicted=predicted))
    yield table
    words = [_MEANINGS[name] for name in measures]
    words.append("certain, people whose value is certain for one who knows model and all others")
    words += [f"predicted, {findings.target} guessed by who learns from the release"] * predicted
    words.append("pairs, how far tables of two columns are off as a multiple of chance")
    yield Text(f"Guessed right, in percent: {'; '.join(words)}.\n", style="dim")
    for sentence in verdict.sentences[2:-1]:
        yield Text(f"- {sentence}")


def _reference(
    name: str, findings: Findings, measures: list[str], field: str, *, predicted: bool
) -> list[RenderableType]:
    """Return the row of what is guessed without a release, or with the original itself."""
    guesses = [
        _percent(_first(_share(release, measure, field) for release in findings.releases))
        for measure in measures
    ]
    use = "baseline" if field == "baseline" else "mean_real"
    right = _percent(_first(_predicted(release, use) for release in findings.releases))
    cells = [name, "", *guesses, "", *([right] * predicted), ""]
    return [Text(cell, style="dim") for cell in cells]


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f}"


def _share(release: ReleaseFindings, measure: str, field: str) -> float:
    figure = release.figure(measure)
    return math.nan if figure is None else float(getattr(figure, field))


def _predicted(release: ReleaseFindings, field: str) -> float:
    found = release.utility.prediction
    return math.nan if found is None else float(getattr(found, field))


def _pairs(release: ReleaseFindings) -> str:
    ratio = next((way.ratio for way in release.utility.marginals if way.way == 2), math.nan)
    return "-" if math.isnan(ratio) else f"{ratio:.1f}"


def _first(values: Iterator[float]) -> float:
    return next((value for value in values if not math.isnan(value)), math.nan)


def next_steps(found: Audit) -> Iterator[str]:
    """Yield what to try next with a single release, in lines that can be copied."""
    if len(found.findings.releases) != 1 or not found.verdict.releases[0].advice:
        return
    yield "\nWhat to try next:"
    for advice in found.verdict.releases[0].advice:
        yield f"- {advice.text}"
        yield f"    {advice.command}"
