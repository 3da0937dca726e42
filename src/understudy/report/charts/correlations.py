"""Correlations of the original against those of the release, each pair of columns a dot."""

from __future__ import annotations

import math
from typing import Any

from understudy.audit.number_findings import CorrelationFindings, PairFindings
from understudy.charts.chart import Chart, cells, drawing
from understudy.charts.palette import colour
from understudy.wording import counted

KEPT = "Within chance"
CHANGED = "Beyond chance"
LOST = "Strong and lost"

_COLOURS = {KEPT: "baseline", CHANGED: "original", LOST: "high"}
_SHAPES = {KEPT: "circle", CHANGED: "circle", LOST: "cross"}
_HEIGHT = 340


def correlations_chart(found: CorrelationFindings) -> Chart | None:
    """Return where each pair of columns stands; None if there is no pair."""
    if not found.shown:
        return None
    lost = {one.columns for one in found.losses}
    rows = [
        (*one.columns, one.original, one.synthetic, one.low, one.high, _kind(one, lost))
        for one in found.shown
    ]
    cut = ""
    if len(rows) < found.pairs:
        cut = (
            f" Shown are {len(rows):,} of {found.pairs:,} pairs: strong ones, and those that "
            "changed most."
        )
    worst = found.losses[0] if found.losses else None
    told = (
        f" {' and '.join(worst.columns)} fell from {worst.original:.3f} to {worst.synthetic:.3f}."
        if worst
        else ""
    )
    alt_text = (
        f"Scatter of the correlations of {counted(len(rows), 'pair')} of columns: original across, "
        f"release up.{told}"
    )
    return Chart(
        "correlations",
        "Correlation of each pair of columns",
        "Each dot is a pair of columns of numbers or dates. On the line, the release has the "
        f"original's correlation; nearer to the middle, it has lost some of it.{cut}",
        alt_text,
        _dots({row[-1] for row in rows}, alt_text),
        ("Column", "Other column", "Original", "Release", "From", "To", "Change"),
        cells(rows),
    )


def _kind(pair: PairFindings, lost: set[tuple[str, str]]) -> str:
    if pair.columns in lost:
        return LOST
    inside = math.isnan(pair.low) or pair.low <= pair.synthetic <= pair.high
    return KEPT if inside else CHANGED


def _dots(held: set[str], alt_text: str) -> dict[str, Any]:
    import altair as alt

    axis = alt.Axis(format=".1~f", values=[-1, -0.5, 0, 0.5, 1], grid=True)
    scale = alt.Scale(domain=[-1.05, 1.05], nice=False)
    x = alt.X("Original:Q", title="Correlation in the original", axis=axis, scale=scale)
    y = alt.Y("Release:Q", title="Correlation in the release", axis=axis, scale=scale)
    kinds = [one for one in _COLOURS if one in held]
    legend = alt.Legend(
        title=None, orient="top", symbolSize=110, columns=alt.ExprRef("width < 520 ? 1 : 3")
    )
    hue = alt.Color(
        "Change:N",
        scale=alt.Scale(domain=kinds, range=[colour(_COLOURS[one]) for one in kinds]),
        legend=legend,
    )
    shape = alt.Shape(
        "Change:N",
        scale=alt.Scale(domain=kinds, range=[_SHAPES[one] for one in kinds]),
        legend=legend,
    )
    ends = alt.InlineData(values=[{"Original": -1, "Release": -1}, {"Original": 1, "Release": 1}])
    line = (
        alt.Chart(ends)
        .mark_line(color=colour("baseline"), strokeWidth=1.5, strokeDash=[5, 4])
        .encode(x=x, y=y)
    )
    dots = (
        alt.Chart()
        .mark_point(filled=True, size=90, opacity=0.85, stroke=colour("card"), strokeWidth=0.8)
        .encode(
            x=x,
            y=y,
            color=hue,
            shape=shape,
            tooltip=[
                alt.Tooltip("Column:N"),
                alt.Tooltip("Other column:N"),
                alt.Tooltip("Original:Q", format=".3f"),
                alt.Tooltip("Release:Q", format=".3f"),
                alt.Tooltip("From:Q", title="A fresh sample: from", format=".3f"),
                alt.Tooltip("To:Q", title="to", format=".3f"),
            ],
        )
    )
    return drawing(line, dots, height=_HEIGHT, alt_text=alt_text)
