"""What is found record by record: how close the release comes, and who was in the data."""

from __future__ import annotations

import math
from typing import Any

from understudy.audit.attack_findings import LookalikeFindings, MembershipCurve
from understudy.charts.chart import Chart, Value, cells, drawing, role_scales
from understudy.charts.palette import COUNT, colour
from understudy.wording import Unit, share

_HEIGHT = 340
_GROUPS = {"synthetic": "In the data", "control": "Not in the data"}
_NEXT = "Distance to the next original record"
_NEAREST = "Distance to the nearest synthetic record"
_LEAST_SHARE = 0.001
"""Where the axes of the curve begin: one false alarm in a thousand."""


def lookalikes_chart(found: LookalikeFindings, unit: Unit, *, small: bool = False) -> Chart | None:
    """Return the distance to the nearest synthetic record against that to the next person.

    A `small` one has a key of its own, and less room for words.
    """
    rows: list[tuple[Value, ...]] = [
        (person, record, count, _GROUPS[role])
        for role, points in (("synthetic", found.points), ("control", found.control))
        for person, record, count in points
    ]
    if not rows:
        return None
    labels = {role: _GROUPS[role] for role in _GROUPS if role == "synthetic" or found.control}
    close = sum(count for one, other, count in found.points if other < found.ratio * one)
    shown = sum(count for _, _, count in found.points)
    alt_text = (
        f"Scatter of {unit.count(shown)}: distance to the nearest synthetic record against the "
        f"distance to the nearest other original record. {close:,} of them lie below the line, and "
        "have a lookalike."
    )
    below = _below(found.ratio)
    return Chart(
        "answer-records" if small else "lookalikes",
        "How close the release comes to each record",
        f"Distances of the {unit.many}, a dot for each; larger dots stand for several. Those below "
        f"the line have a lookalike: a synthetic record {below} as far away as the next original "
        "one."
        f"{_sampled(found, unit)}{_trimmed(found)}",
        alt_text,
        _scatter(found, rows, labels, small, alt_text),
        ("Next", "Nearest", "Records", "Series"),
        cells(rows),
    )


def _below(ratio: float) -> str:
    return "less than a quarter" if ratio == 0.25 else f"less than {ratio:g} times"


def _trimmed(found: LookalikeFindings) -> str:
    if found.distance != "trimmed":
        return ""
    return " The column that differs most is left out of each distance."


def _sampled(found: LookalikeFindings, unit: Unit) -> str:
    parts = []
    for total, points, where in (
        (found.people, found.points, "in the data"),
        (found.control_people, found.control, "that are not in the data"),
    ):
        drawn = sum(count for _, _, count in points)
        if points and drawn < total:
            parts.append(f"{drawn:,} of {unit.count(total)} {where}")
    return f" Shown are {' and '.join(parts)}, drawn at random." if parts else ""


def _scatter(
    found: LookalikeFindings,
    rows: list[tuple[Value, ...]],
    labels: dict[str, str],
    small: bool,
    alt_text: str,
) -> dict[str, Any]:
    import altair as alt

    across = max(float(row[0] or 0) for row in rows) or 1.0
    up = max(*(float(row[1] or 0) for row in rows), found.ratio * across)

    # Roots make room for what is near, and a line through the corner stays straight.
    def axis(kind: Any, field: str, title: str, most: float) -> Any:  # noqa: ANN401  # x or y
        return kind(
            f"{field}:Q",
            title=title,
            axis=alt.Axis(format=COUNT, tickCount=4, grid=not small, labelOverlap="greedy"),
            scale=alt.Scale(type="sqrt", domain=[0, round(most * 1.04, 3)], nice=False),
        )

    x = axis(alt.X, "Next", "To the next original one" if small else _NEXT, across)
    y = axis(alt.Y, "Nearest", "To the nearest synthetic one" if small else _NEAREST, up)
    hue, shape = role_scales(labels)
    ends = [{"Next": place, "Nearest": found.ratio * place} for place in (0.0, across)]
    limit = alt.Chart(alt.InlineData(values=ends))
    most = max(int(row[2] or 1) for row in rows)
    size = alt.Size(
        "Records:Q",
        scale=alt.Scale(domain=[1, max(most, 2)], range=[24, 24 if most == 1 else 260]),
        legend=None,
    )
    tooltip = [
        alt.Tooltip("Series:N", title="Who"),
        alt.Tooltip("Next:Q", title=_NEXT, format=",.3~f"),
        alt.Tooltip("Nearest:Q", title=_NEAREST, format=",.3~f"),
        alt.Tooltip("Records:Q", title="How many", format=","),
    ]
    return drawing(
        limit.mark_area(color=colour("high-soft"), line=False).encode(x=x, y=y),
        limit.mark_line(color=colour("high"), strokeWidth=1.6, strokeDash=[5, 4]).encode(x=x, y=y),
        alt.Chart()
        .mark_point(filled=True, opacity=0.5, strokeWidth=0)
        .encode(x=x, y=y, color=hue, shape=shape, size=size, tooltip=tooltip),
        height=190 if small else _HEIGHT,
        alt_text=alt_text,
    )


def membership_chart(found: MembershipCurve, unit: Unit) -> Chart | None:
    """Return the share of people found against that of false alarms, with the low end enlarged."""
    rows = [(others, members, others) for others, members in found.points if others > 0]
    if not rows:
        return None
    at = max((row for row in rows if row[0] <= 0.01), default=None)
    told = "" if at is None else f" At {share(at[0])} false alarms, {share(at[1])} are found."
    alt_text = (
        f"Curve of the share of {unit.count(found.people)} in the data that are found, against the "
        f"share of {unit.count(found.control_people)} not in the data that are taken for such."
        f"{told} Area under the curve: {share(found.auc)}; by chance, 50.0%."
    )
    return Chart(
        "membership",
        "Can an attacker tell who was in the data?",
        f"An attacker calls the {unit.many} that the release comes closest to members. Upwards: "
        "the share of members that are found; to the right: false alarms. Both go by powers of "
        f"ten, which enlarges the low end. Chance gives the dashed line.{told}",
        alt_text,
        _curve(alt_text),
        ("False alarms", "Found", "By chance"),
        cells(rows),
    )


def _curve(alt_text: str) -> dict[str, Any]:
    import altair as alt

    ticks = [_LEAST_SHARE, 0.01, 0.1, 1]
    scale = alt.Scale(type="log", domain=[_LEAST_SHARE, 1], clamp=True, nice=False)

    def axis(kind: Any, field: str, title: str) -> Any:  # noqa: ANN401  # x or y
        axis = alt.Axis(values=ticks, format="~%", labelFlush=False)
        return kind(f"{field}:Q", title=title, axis=axis, scale=scale)

    x = axis(alt.X, "False alarms", "False alarms")
    y = axis(alt.Y, "Found", "Members found")
    ends: list[dict[str, float]] = [{"a": _LEAST_SHARE}, {"a": 1.0}]
    chance = alt.Chart(alt.InlineData(values=ends))
    tooltip = [
        alt.Tooltip("False alarms:Q", format=".2%"),
        alt.Tooltip("Found:Q", title="Members found", format=".1%"),
    ]
    positive = alt.Chart().transform_filter("datum.Found > 0")
    return drawing(
        chance.mark_line(color=colour("baseline"), strokeDash=[5, 4], strokeWidth=2).encode(
            x=alt.X("a:Q", scale=scale), y=alt.Y("a:Q", scale=scale)
        ),
        positive.mark_line(color=colour("synthetic"), strokeWidth=2.5).encode(x=x, y=y),
        positive.mark_point(filled=True, size=26, color=colour("synthetic"), opacity=1).encode(
            x=x, y=y, tooltip=tooltip
        ),
        height=_HEIGHT,
        alt_text=alt_text,
    )


def least_bits(edges: tuple[float, ...]) -> float:
    """Return the first edge of a histogram of bits from which on the truth is twice as probable.

    Examples
    --------
    >>> least_bits((0.0, 0.5, 1.0, 1.5)), least_bits((0.0, 0.5))
    (1.0, nan)
    """
    return next((edge for edge in edges[:-1] if edge >= 1 - 1e-9), math.nan)
