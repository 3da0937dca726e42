"""A number line: for each name, dots for what is reached without a release, with it, and so on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from understudy.charts.chart import Chart, cells, drawing, role_scales
from understudy.charts.palette import ROLES, colour
from understudy.wording import share

if TYPE_CHECKING:
    import altair as alt

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
    low, high = min(values) - 0.05, min(1.0, max(values) + 0.05)
    return [round(max(0.0, low) if min(values) >= 0 else low, 2), round(high, 2)]


def _gaps(
    words: Words, present: Mapping[str, str], base: alt.Chart, y: alt.Y
) -> Iterator[alt.Chart]:
    """Yield what is stressed between two dots, where there is a gain.

    A pattern, which is told about people who are not in the data as well, has a colour of its own.
    """
    import altair as alt

    if not set(words.gap) <= set(present):
        return
    start, end = (f"datum['{present[role]}']" for role in words.gap)
    parts = {"synthetic": (start, end)}
    if words.gap[1] == "synthetic" and "control" in present:
        beside = f"datum['{present['control']}']"
        known = f"isValid({beside})"
        parts = {
            "synthetic": (f"{known} ? max({start}, {beside}) : {start}", end),
            "control": (start, f"{known} ? min({beside}, {end}) : {start}"),
        }
    for role, (low, high) in parts.items():
        # A release that is worse than a guess without it has no gain.
        gained = "isValid(datum.Low) && isValid(datum.High) && datum.Low < datum.High"
        yield (
            base.transform_calculate(Low=low, High=high)
            .mark_rule(color=colour(role), strokeWidth=5)
            .encode(
                x=alt.X("Low:Q"),
                x2=alt.X2("High:Q"),
                y=y,
                opacity=alt.OpacityValue(0, condition={"test": gained, "value": 0.45}),
            )
        )


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
            x=x, y=y, detail=alt.Detail("Place:O"), order=alt.Order("Share:Q")
        )
    ]
    layers += _gaps(words, present, base, y)
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
            x=alt.XValue(0),  # type: ignore[no-untyped-call]  # of Altair
            y=y,
            text=alt.Text(f"{words.first}:N"),
            tooltip=alt.Tooltip(f"{words.first}:N"),
        )
    )
    return drawing(*layers, height=_STEP * shown, alt_text=alt_text)
