"""A number line: for each name, dots for what is reached without a release, with it, and so on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from understudy.charts.chart import Chart, cells, drawing, role_scales
from understudy.charts.palette import ROLES, colour
from understudy.wording import share

_STEP = 48
_NARROW = 0.02
"""Shares that differ by less than this are shown on an axis that is wider than they need."""


@dataclass(frozen=True)
class Line:
    """One line: its name, what it is in words, and a value for each role that has one."""

    name: str
    about: str
    values: Mapping[str, float]


@dataclass(frozen=True)
class Words:
    """What is written at a chart; `first` is the heading of what the lines are of.

    The line is stressed between the two roles of `gap`, which the chart is about.
    """

    key: str
    title: str
    sentence: str
    first: str
    axis: str
    gap: tuple[str, str] = ("baseline", "synthetic")


def number_line(
    words: Words, lines: Sequence[Line], series: Mapping[str, str], *, shown: int | None = None
) -> Chart | None:
    """Return dots on a line for each name, None if there is no value to show.

    Parameters
    ----------
    words : Words
        What is written at the chart.
    lines : sequence of Line
        What is shown, from top to bottom.
    series : mapping
        What each role is called.
    shown : int, optional
        How many lines are drawn; the table has all.
    """
    lines = [line for line in lines if any(map(math.isfinite, line.values.values()))]
    if not lines:
        return None
    present = {
        role: series[role]
        for role in ROLES
        if role in series and any(math.isfinite(line.values.get(role, math.nan)) for line in lines)
    }
    alt_text = f"{words.title}. {'; '.join(_in_words(line, present) for line in lines[:shown])}."
    rows = cells(
        [
            (
                place + 1,
                line.name,
                line.about,
                *(line.values.get(role, math.nan) for role in present),
            )
            for place, line in enumerate(lines)
        ]
    )
    return Chart(
        words.key,
        words.title,
        words.sentence,
        alt_text,
        _dots(words, present, lines[:shown], alt_text),
        ("Place", words.first, "About", *present.values()),
        rows,
    )


def _in_words(line: Line, present: Mapping[str, str]) -> str:
    values = (
        f"{label.lower()} {share(line.values[role])}"
        for role, label in present.items()
        if math.isfinite(line.values.get(role, math.nan))
    )
    return f"{line.name}: {', '.join(values)}"


def _domain(lines: Sequence[Line]) -> list[float] | None:
    """Return from where to where the axis goes, None if the values themselves can decide.

    Examples
    --------
    >>> _domain([Line("a", "", {"baseline": 0.5, "synthetic": 0.5})])
    [0.45, 0.55]
    """
    values = [value for line in lines for value in line.values.values() if math.isfinite(value)]
    if not values or max(values) - min(values) > _NARROW:
        return None
    return [round(max(0.0, min(values) - 0.05), 2), round(min(1.0, max(values) + 0.05), 2)]


def _dots(
    words: Words, present: Mapping[str, str], lines: Sequence[Line], alt_text: str
) -> dict[str, Any]:
    import altair as alt

    shown, domain = len(lines), _domain(lines)
    y = alt.Y("Place:O", axis=None, sort="ascending")
    x = alt.X(
        "Share:Q",
        title=words.axis,
        axis=alt.Axis(format="~%", tickCount=5, labelFlush=True),
        scale=alt.Scale(zero=False, nice=True, padding=14)
        if domain is None
        else alt.Scale(domain=domain, nice=False, padding=14),
    )
    base = alt.Chart().transform_filter(alt.FieldLTEPredicate(field="Place", lte=shown))
    folded = base.transform_fold(list(present.values()), as_=["Series", "Share"]).transform_filter(
        alt.FieldValidPredicate(field="Share", valid=True)
    )
    hue, shape = role_scales(present)
    # The square is larger than the circle on top of it, so that its corners are seen.
    size = alt.ExprRef(f"datum.Series == '{present.get('baseline', '')}' ? 230 : 130")
    layers = [
        folded.mark_line(color=colour("edge"), strokeWidth=3, strokeCap="round").encode(
            x=x, y=y, detail="Place:O", order="Share:Q"
        )
    ]
    if set(words.gap) <= set(present):
        start, end = (present[role] for role in words.gap)
        # Only where there is one: a release that is worse than a guess without it has no gain.
        gained = alt.condition(f"datum['{start}'] < datum['{end}']", alt.value(0.45), alt.value(0))
        layers.append(
            base.mark_rule(color=colour("synthetic"), strokeWidth=5).encode(
                x=alt.X(f"{start}:Q"), x2=f"{end}:Q", y=y, opacity=gained
            )
        )
    about = [
        alt.Tooltip(f"{words.first}:N"),
        alt.Tooltip("Series:N", title="Shown"),
        alt.Tooltip("Share:Q", title="Share", format=".1%"),
        alt.Tooltip("About:N"),
    ]
    layers.append(
        folded.mark_point(
            filled=True, size=size, opacity=1, stroke=colour("card"), strokeWidth=1.2
        ).encode(x=x, y=y, color=hue, shape=shape, tooltip=about)
    )
    # Names stand above their lines: beside them, they would leave no room on a phone.
    layers.append(
        base.mark_text(align="left", baseline="bottom", dy=-10, limit=330, fontWeight=600).encode(
            x=alt.value(0),
            y=y,
            text=alt.Text(f"{words.first}:N"),
            tooltip=alt.Tooltip(f"{words.first}:N"),
        )
    )
    return drawing(*layers, height=_STEP * shown, alt_text=alt_text)
