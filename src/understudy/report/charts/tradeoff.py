"""Risk against loss of use of several releases, with those marked that are worth a choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from understudy.audit.findings import Findings
from understudy.audit.tradeoff import Place, Tradeoff, tradeoff
from understudy.charts.chart import Chart, cells, drawing
from understudy.charts.labels import place_labels
from understudy.charts.palette import COUNT, colour
from understudy.wording import listed, shortened

MARKED = "Worth choosing"
OTHER = "Another release is better"
HIGH = "The risk is high"

_COLOURS = {MARKED: "synthetic", OTHER: "baseline", HIGH: "high"}
_SHAPES = {MARKED: "circle", OTHER: "circle", HIGH: "cross"}

_LONGEST = 26
_HEIGHT = 340
_WIDTHS = {"width >= 520": 640, "width < 520": 260}
"""For which widths of the drawing names are placed, and the pixels that there are at least."""


def tradeoff_chart(findings: Findings) -> Chart | None:
    """Return where each release stands, as the verdict compares them; None if it cannot."""
    compared = tradeoff(findings)
    if compared is None:
        return None
    best = compared.frontier()
    names = [place.name for place in best]
    alt_text = (
        f"Scatter of {len(compared.places)} releases: {compared.risk_name} against "
        f"{compared.loss_name}. "
        f"Worth choosing: {listed(names) or 'none'}."
    )
    rows = [(place.name, place.risk, place.loss, _choice(place, best)) for place in compared.places]
    labels = _labels(compared, best)
    most = max(map(len, labels.values()))
    unnamed = " Point at a dot without a name to see its name." if most < len(rows) else ""
    return Chart(
        "tradeoff",
        "Risk against loss of use",
        "The nearer to the lower left corner, the better: down is less risk, left is more useful. "
        f"The risk is {compared.risk_name}, the question with the worst answer. "
        "The dashed line joins the releases worth choosing: each costs less use, beyond chance, "
        f"than all that come before it in the order of the verdict.{unnamed}",
        alt_text,
        _dots(compared, labels, alt_text),
        ("Release", "Risk", "Loss", "Choice"),
        cells(rows),
    )


def _choice(place: Place, best: Sequence[Place]) -> str:
    if place in best:
        return MARKED
    return HIGH if place.level == "high" else OTHER


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


def _labels(compared: Tradeoff, best: Sequence[Place]) -> dict[str, list[dict[str, Any]]]:
    """Return the names and where they are written, for each of the widths of the drawing."""
    places = [*best, *(place for place in compared.places if place not in best)]
    names = [shortened(place.name, _LONGEST) for place in places]
    across = _parts([place.loss for place in places])
    up = _parts([place.risk for place in places])
    return {
        condition: [
            {
                "Name": names[label.dot],
                "Release": places[label.dot].name,
                "Loss": round(places[label.dot].loss, 6),
                "Risk": round(places[label.dot].risk, 6),
                "dx": label.dx,
                "dy": label.dy,
                "align": label.align,
            }
            for label in place_labels(
                names,
                [(width * x, _HEIGHT * (1 - y)) for x, y in zip(across, up, strict=True)],
                width,
                _HEIGHT,
            )
        ]
        for condition, width in _WIDTHS.items()
    }


def _parts(values: Sequence[float]) -> list[float]:
    """Return where on its axis each value is, from 0 to 1."""
    low, high = _domain(values)
    return [(value - low) / (high - low) for value in values]


def _dots(
    compared: Tradeoff, labels: Mapping[str, list[dict[str, Any]]], alt_text: str
) -> dict[str, Any]:
    import altair as alt

    form = COUNT if "ratio" in compared.loss_name else "~%"
    x = alt.X(
        "Loss:Q",
        title=f"{compared.loss_name[0].upper()}{compared.loss_name[1:]} (less is better)",
        axis=alt.Axis(format=form, tickCount=5, grid=True),
        scale=alt.Scale(domain=_domain([place.loss for place in compared.places]), nice=False),
    )
    y = alt.Y(
        "Risk:Q",
        title=f"{compared.risk_name[0].upper()}{compared.risk_name[1:]} (less is better)",
        axis=alt.Axis(format="~%", tickCount=5),
        scale=alt.Scale(domain=_domain([place.risk for place in compared.places]), nice=False),
    )
    tooltip = [
        alt.Tooltip("Release:N"),
        alt.Tooltip("Risk:Q", title="Risk", format=".1%"),
        alt.Tooltip("Loss:Q", title="Loss of use", format=",.2~f" if form == COUNT else ".1%"),
    ]
    best = compared.frontier()
    held = {_choice(place, best) for place in compared.places}
    choices = [one for one in _COLOURS if one in held]
    scale = alt.Scale(domain=choices, range=[colour(_COLOURS[one]) for one in choices])
    shapes = alt.Scale(domain=choices, range=[_SHAPES[one] for one in choices])
    legend = alt.Legend(
        title=None,
        orient="top",
        symbolSize=110,
        columns=alt.ExprRef("width < 520 ? 1 : 3"),
    )
    hue = alt.Color("Choice:N", scale=scale, legend=legend)
    shape = alt.Shape("Choice:N", scale=shapes, legend=legend)

    def of(choice: str) -> alt.Chart:
        return alt.Chart().transform_filter(alt.FieldEqualPredicate(field="Choice", equal=choice))

    def dots(choice: str, size: int) -> alt.Chart:
        point: alt.Chart = of(choice).mark_point(
            filled=True, size=size, opacity=1, stroke=colour("card"), strokeWidth=1.2
        )
        return point.encode(
            x=x, y=y, color=hue, shape=shape, tooltip=[*tooltip, alt.Tooltip("Choice:N")]
        )

    names = [
        alt.Chart(alt.InlineData(values=values))
        .mark_text(
            fontWeight=600,
            baseline="middle",
            align=alt.ExprRef("datum.align"),
            dx=alt.ExprRef("datum.dx"),
            dy=alt.ExprRef("datum.dy"),
            opacity=alt.ExprRef(f"{condition} ? 1 : 0"),
        )
        .encode(x=x, y=y, text=alt.Text("Name:N"), tooltip=tooltip)
        for condition, values in labels.items()
    ]
    return drawing(
        of(MARKED)
        .mark_line(color=colour("synthetic"), strokeWidth=2, strokeDash=[5, 4])
        .encode(x=x, y=y, order=alt.Order("Loss:Q")),
        # Below a dot that it is worth to choose, one that it beats narrowly is still seen.
        dots(HIGH, 200),
        dots(OTHER, 230),
        dots(MARKED, 150),
        *names,
        height=_HEIGHT,
        alt_text=alt_text,
    )
