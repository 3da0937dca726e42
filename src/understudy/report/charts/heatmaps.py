"""Heat maps of how strongly each pair of columns hangs together, before, after, and the change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from understudy.audit.findings import AssociationFindings
from understudy.charts.chart import Chart, Value, cells, drawing
from understudy.charts.palette import colour
from understudy.wording import number

MOST_COLUMNS = 30
"""Columns in a heat map; more could not be read, and the page would grow with their square."""

_FEW = 12
"""Up to so many columns, the cells are drawn larger."""

_STRENGTHS = (0.1, 0.2, 0.3, 0.5, 0.7)
_CHANGES = (-0.2, -0.1, -0.05, 0.05, 0.1, 0.2)


def association_charts(found: AssociationFindings) -> tuple[Chart, ...]:
    """Return the heat maps of the original, of the release, and of the difference."""
    if len(found.columns) < 2:
        return ()
    chosen = _most_changed(found)
    cut = (
        f" Shown are the {MOST_COLUMNS} of {len(found.columns)} columns that changed most."
        if len(chosen) < len(found.columns)
        else ""
    )
    change = [
        [after - before for before, after in zip(befores, afters, strict=True)]
        for befores, afters in zip(found.original, found.synthetic, strict=True)
    ]
    return tuple(
        _map((key, title, sentence), found.columns, matrix, chosen)
        for key, title, sentence, matrix in (
            (
                "association-original",
                "Original",
                f"The stronger the colour, the more two columns say about each other.{cut}",
                found.original,
            ),
            (
                "association-release",
                "Release",
                "The same for the synthetic records: a good stand-in shows the same pattern.",
                found.synthetic,
            ),
            (
                "association-change",
                "Difference",
                "Orange: stronger in the release than in the original. Blue: weaker, so lost.",
                change,
            ),
        )
    )


def _most_changed(found: AssociationFindings) -> list[int]:
    """Return the places of the columns to show, in their order."""
    places = range(len(found.columns))
    if len(found.columns) <= MOST_COLUMNS:
        return list(places)

    def change(place: int) -> float:
        pairs = zip(found.original[place], found.synthetic[place], strict=True)
        gaps = [abs(after - before) for before, after in pairs]
        return max((gap for gap in gaps if math.isfinite(gap)), default=0.0)

    return sorted(sorted(places, key=change, reverse=True)[:MOST_COLUMNS])


def _map(
    words: tuple[str, str, str],
    columns: Sequence[str],
    matrix: Sequence[Sequence[float]],
    chosen: Sequence[int],
) -> Chart:
    """Return one heat map, given its key, title and sentence."""
    key, title, sentence = words
    rows: list[tuple[Value, ...]] = [
        (columns[one], columns[other], float(matrix[one][other]))
        for one in chosen
        for other in chosen
    ]
    pairs = [
        (abs(value), first, second, value)
        for first, second, value in rows
        if first != second and isinstance(value, float) and math.isfinite(value)
    ]
    most = ""
    if pairs:
        _, first, second, value = max(pairs, key=lambda pair: pair[0])
        most = f" Largest: {number(value)} for {first} and {second}."
    alt_text = f"Heat map of {len(chosen)} by {len(chosen)} columns: {title.lower()}.{most}"
    return Chart(
        key,
        title,
        sentence,
        alt_text,
        _squares(len(chosen), key.endswith("change"), alt_text),
        ("Column", "Other column", "Value"),
        cells(rows),
        width=460,
    )


def _squares(columns: int, change: bool, alt_text: str) -> dict[str, Any]:
    import altair as alt

    axis = alt.Axis(
        title=None, domain=False, ticks=False, labelLimit=108, labelFontSize=11, labelPadding=4
    )
    # Without room for every label some are left out; tooltips have them all.
    axis_x = axis.copy()
    axis_x.labelAngle = -60
    x = alt.X("Column:N", sort=None, axis=axis_x)
    y = alt.Y("Other column:N", sort=None, axis=axis)
    if change:
        roles = ["less-3", "less-2", "less-1", "same", "more-1", "more-2", "more-3"]
        domain = list(_CHANGES)
    else:
        roles = [f"heat-{step}" for step in range(1, 7)]
        domain = list(_STRENGTHS)
    base = alt.Chart().transform_calculate(Size="abs(datum.Value)")
    valid = base.transform_filter(alt.FieldValidPredicate(field="Value", valid=True))
    tooltip = [
        alt.Tooltip("Column:N"),
        alt.Tooltip("Other column:N"),
        alt.Tooltip("Value:Q", title="Difference" if change else "Strength", format=".3f"),
    ]
    legend = alt.Legend(
        title=None, orient="bottom", gradientLength=210, gradientThickness=10, labelFontSize=11
    )
    layers = [
        base.mark_rect(fill=colour("soft")).encode(x=x, y=y, tooltip=tooltip[:2]),
        valid.mark_rect(stroke=colour("card"), strokeWidth=1).encode(
            x=x,
            y=y,
            tooltip=tooltip,
            color=alt.Color(
                f"{'Value' if change else 'Size'}:Q",
                scale=alt.Scale(
                    type="threshold", domain=domain, range=[colour(role) for role in roles]
                ),
                legend=legend,
            ),
        ),
    ]
    return drawing(*layers, height=columns * (24 if columns <= _FEW else 16), alt_text=alt_text)
