"""Risk against loss of use of several releases, with those marked that no other one beats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from understudy.audit.findings import Findings
from understudy.audit.tradeoff import tradeoff
from understudy.report.charts.chart import Chart, cells, drawing
from understudy.report.charts.palette import colour
from understudy.report.wording import listing, short

MARKED = "Worth a choice"
OTHER = "Another one is better"


def tradeoff_chart(findings: Findings) -> Chart | None:
    """Return where each release stands, as the verdict compares them; None if it cannot."""
    compared = tradeoff(findings)
    if compared is None:
        return None
    best = compared.frontier()
    names = [place.name for place in best]
    alt_text = (
        f"Scatter of {len(compared.places)} releases: risk against {compared.loss_name}. "
        f"No other release beats {listing(names)}."
    )
    rows = [
        (
            place.name,
            short(place.name, 26),
            place.risk,
            place.loss,
            MARKED if place in best else OTHER,
        )
        for place in compared.places
    ]
    return Chart(
        "tradeoff",
        "Risk against loss of use",
        "The nearer to the lower left corner, the better: down is safer, left is more useful. On "
        "the dashed line are the releases of which no other is better in both.",
        alt_text,
        _dots(
            compared.loss_name,
            _domain([place.loss for place in compared.places]),
            _domain([place.risk for place in compared.places]),
            alt_text,
        ),
        ("Release", "Short name", "Risk", "Loss", "Choice"),
        cells(rows),
    )


def _domain(values: Sequence[float]) -> list[float]:
    """Return from where to where an axis goes, with room for names around the dots.

    Examples
    --------
    >>> _domain([0.0, 0.1])
    [-0.015, 0.12]
    """
    low, high = min(0.0, *values), max(values)
    span = max(high - low, 0.02)
    return [round(low - 0.15 * span, 6), round(low + 1.2 * span, 6)]


def _dots(
    loss: str, losses: Sequence[float], risks: Sequence[float], alt_text: str
) -> dict[str, Any]:
    import altair as alt

    form = "~" if "ratio" in loss else "~%"
    x = alt.X(
        "Loss:Q",
        title=f"{loss[0].upper()}{loss[1:]} (less is better)",
        axis=alt.Axis(format=form, tickCount=5, grid=True),
        scale=alt.Scale(domain=list(losses), nice=False),
    )
    y = alt.Y(
        "Risk:Q",
        title="Gain of the attacker (less is better)",
        axis=alt.Axis(format="~%", tickCount=5),
        scale=alt.Scale(domain=list(risks), nice=False),
    )
    tooltip = [
        alt.Tooltip("Release:N"),
        alt.Tooltip("Risk:Q", title="Gain of the attacker", format=".1%"),
        alt.Tooltip("Loss:Q", title="Loss of use", format=".2~f" if form == "~" else ".1%"),
        alt.Tooltip("Choice:N"),
    ]
    scale = alt.Scale(domain=[MARKED, OTHER], range=[colour("synthetic"), colour("baseline")])
    legend = alt.Legend(title=None, orient="top", symbolType="circle", symbolSize=110)
    base = alt.Chart()
    marked = base.transform_filter(alt.FieldEqualPredicate(field="Choice", equal=MARKED))
    return drawing(
        marked.mark_line(color=colour("synthetic"), strokeWidth=2, strokeDash=[5, 4]).encode(
            x=x, y=y, order="Loss:Q"
        ),
        base.mark_point(filled=True, size=180, opacity=1).encode(
            x=x, y=y, color=alt.Color("Choice:N", scale=scale, legend=legend), tooltip=tooltip
        ),
        base.mark_text(dy=-15, fontWeight=600).encode(
            x=x, y=y, text="Short name:N", tooltip=tooltip
        ),
        height=340,
        alt_text=alt_text,
    )
