"""How each column is distributed, the release on top of the original."""

from __future__ import annotations

import functools
from typing import Any

from understudy.charts.chart import Chart, cells, drawing, role_scales
from understudy.utility.shares import ColumnShares
from understudy.wording import share

_SERIES = {"synthetic": "Release", "original": "Original"}
NOT_SHOWN = "not in the release"
"""The label of what only the original has; see `ColumnShares`."""

_SHORT = 9
"""Labels of up to so many characters stand below upright bars; longer ones beside lying bars."""

_UPRIGHT = 26
"""How many upright bars have room on a phone."""


def distance(column: ColumnShares) -> float:
    """Return the share of the records that would have to change for the shares to agree.

    Examples
    --------
    >>> distance(ColumnShares("sex", ("f", "m"), (0.5, 0.5), (0.6, 0.4)))
    0.1
    """
    gaps = (
        abs(before - after) for before, after in zip(column.original, column.synthetic, strict=True)
    )
    return round(sum(gaps) / 2, 12)


def column_chart(column: ColumnShares, place: int) -> Chart:
    """Return the shares of one column's values, in the original and in the release."""
    gap = distance(column)
    wide = sum(label != NOT_SHOWN and len(label) > _SHORT for label in column.labels)
    upright = not wide and len(column.labels) <= _UPRIGHT
    alt_text = (
        f"Shares of the {len(column.labels)} values of {column.column}, original and release; "
        f"{share(gap)} of the records would have to change."
    )
    rows = cells(
        [
            (number + 1, label, before, after)
            for number, (label, before, after) in enumerate(
                zip(column.labels, column.original, column.synthetic, strict=True)
            )
        ]
    )
    return Chart(
        f"column-{place}",
        column.column,
        f"{share(gap)} of the records would have to change to agree with the original.",
        alt_text,
        _bars(upright, len(rows)) | {"description": alt_text},
        ("Place", "Label", "Original", "Release"),
        rows,
        width=380,
    )


@functools.cache
def _bars(upright: bool, bars: int) -> dict[str, Any]:
    """Return the drawing of so many bars, which many columns have in common."""
    import altair as alt

    hue, _ = role_scales(_SERIES, explained=False)  # the page has one legend for all columns
    # The order is that of the data, which sorting by name would lose: -1, 10, 2.
    sort = alt.EncodingSortField(field="Place", op="min", order="ascending")
    label_axis = alt.Axis(title=None, ticks=False, labelLimit=120, labelFontSize=11)
    share_axis = alt.Axis(title=None, format="~%", tickCount=4, labelFontSize=11, labelFlush=False)
    if upright:
        label_axis.labelAngle = 0 if bars <= 6 else -45
        label_axis.labelLimit = 64
        label_axis.labelExpr = f"datum.label == '{NOT_SHOWN}' ? ['not in', 'release'] : datum.label"
    label: Any = alt.X if upright else alt.Y
    value: Any = alt.Y if upright else alt.X
    names = label("Label:N", sort=sort, axis=label_axis)
    amount = value("Share:Q", axis=share_axis)
    folded = alt.Chart().transform_fold(list(_SERIES.values()), as_=["Series", "Share"])
    tooltip = [
        alt.Tooltip("Label:N", title="Value"),
        alt.Tooltip("Series:N", title="Shown"),
        alt.Tooltip("Share:Q", format=".1%"),
    ]

    def layer(role: str, band: float, opacity: float) -> alt.Chart:
        one = folded.transform_filter(alt.FieldEqualPredicate(field="Series", equal=_SERIES[role]))
        size = {"width" if upright else "height": alt.RelativeBandSize(band)}
        bar: alt.Chart = one.mark_bar(opacity=opacity, cornerRadiusEnd=2, **size)  # type: ignore[arg-type]  # Altair names each keyword
        return bar.encode(
            color=hue,
            tooltip=tooltip,
            **({"x": names, "y": amount} if upright else {"y": names, "x": amount}),
        )

    # The original is a broad bar behind a narrow one, so that both are seen where they agree.
    layers = [layer("original", 0.88, 0.55), layer("synthetic", 0.4, 1.0)]
    return drawing(*layers, height=170 if upright else 22 * bars, alt_text="")
