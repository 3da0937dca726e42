"""Histograms: how many records have a score in each interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from understudy.audit.findings import Histogram
from understudy.charts.chart import Chart, cells, drawing, role_scales
from understudy.charts.palette import COUNT, colour
from understudy.wording import MOST_BITS

_SERIES = {"synthetic": "With the release", "original": "With the original data"}
_HEIGHT = 230


@dataclass(frozen=True)
class _Words:
    """What is written at a histogram; `form` is how its scores are written."""

    key: str
    title: str
    sentence: str
    axis: str
    form: str


def attribution_chart(histogram: Histogram) -> Chart | None:
    """Return for how many records the release points to the true value, and how clearly."""
    words = _Words(
        "attribution",
        "How clearly the release points to the truth, record by record",
        "Each bar counts records. On the right are those whose true value all similar synthetic "
        "records have; on the left, those whose value none of them has.",
        "Nearest records with the true value",
        ".0%",
    )
    return _histogram(histogram, words)


def gains_chart(gains: Histogram) -> Chart | None:
    """Return how many records there are by the bits that the strong attacker gains."""
    words = _Words(
        "gains",
        "What the strong attacker learns, record by record",
        "Each bar counts records. One bit doubles the odds of the truth; left of zero the attacker "
        "is misled. Heights go by powers of ten, so that you can see a single record."
        f"{_BEYOND if _beyond(gains) else ''}",
        "Gain in bits",
        ".2~f",
    )
    return _histogram(_capped(gains), words, powers=True)


_BEYOND = (
    f" The outermost bars hold all beyond {MOST_BITS} bits, which is more than a million times."
)


def _beyond(gains: Histogram) -> bool:
    return any(abs(edge) > MOST_BITS for edge in gains.edges)


def _capped(gains: Histogram) -> Histogram:
    """Return the bits with all beyond the most that are told apart in the outermost intervals.

    Examples
    --------
    >>> _capped(Histogram((0.0, 20.0, 40.0, 60.0, 80.0), (5, 3, 2, 1)))
    Histogram(edges=(0.0, 20.0, 40.0), synthetic=(5, 6), original=())
    """
    if not _beyond(gains):
        return gains
    inside = [place for place, edge in enumerate(gains.edges) if abs(edge) <= MOST_BITS]
    last = len(gains.synthetic)
    first = max(0, inside[0] - 1) if inside else 0
    end = min(last, inside[-1] + 1) if inside else last
    counts = list(gains.synthetic[first:end])
    counts[0] += sum(gains.synthetic[:first])
    counts[-1] += sum(gains.synthetic[end:])
    return Histogram(gains.edges[first : end + 1], tuple(counts))


def _histogram(histogram: Histogram, words: _Words, *, powers: bool = False) -> Chart | None:
    if not histogram.synthetic:
        return None
    present = {
        role: label for role, label in _SERIES.items() if role == "synthetic" or histogram.original
    }
    counts = [histogram.synthetic, *([histogram.original] if histogram.original else [])]
    edges = list(zip(histogram.edges[:-1], histogram.edges[1:], strict=True))
    rows = [
        (float(low), float(high), *(series[place] for series in counts))
        for place, (low, high) in enumerate(edges)
    ]
    top = max(range(len(rows)), key=lambda place: histogram.synthetic[place])
    alt_text = (
        f"{words.title}. Histogram of {sum(histogram.synthetic):,} records from "
        f"{edges[0][0]:g} to {edges[-1][1]:g}; most, {histogram.synthetic[top]:,}, are between "
        f"{edges[top][0]:g} and {edges[top][1]:g}."
    )
    return Chart(
        words.key,
        words.title,
        words.sentence,
        alt_text,
        _bars(words, present, powers, alt_text),
        ("From", "To", *present.values()),
        cells(rows),
    )


def _bars(words: _Words, present: Mapping[str, str], powers: bool, alt_text: str) -> dict[str, Any]:
    import altair as alt

    hue, _ = role_scales(present)
    x = alt.X(
        "From:Q",
        title=words.axis,
        axis=alt.Axis(format=words.form, tickCount=6, grid=False, labelFlush=True),
        scale=alt.Scale(zero=False, nice=False),
    )
    scale = alt.Scale(type="symlog", constant=1) if powers else alt.Scale()
    ticks = [0, 1, 10, 100, 1000, 10_000, 100_000, 1_000_000] if powers else alt.Undefined
    y = alt.Y(
        "Records:Q",
        title="Records",
        scale=scale,
        axis=alt.Axis(values=ticks, tickCount=5, format=COUNT),
    )
    tooltip = [
        alt.Tooltip("From:Q", format=words.form),
        alt.Tooltip("To:Q", format=words.form),
        alt.Tooltip("Series:N", title="Shown"),
        alt.Tooltip("Records:Q", title="Records", format=","),
    ]
    folded = alt.Chart().transform_fold(list(present.values()), as_=["Series", "Records"])

    def of(role: str) -> alt.Chart:
        return folded.transform_filter(alt.FieldEqualPredicate(field="Series", equal=present[role]))

    layers = [
        of("synthetic")
        .mark_rect(opacity=0.85, stroke=colour("card"), strokeWidth=2)
        .encode(x=x, x2=alt.X2("To:Q"), y=y, y2=alt.Y2Datum(0), color=hue, tooltip=tooltip)
    ]
    if "original" in present:
        layers.append(
            of("original")
            .mark_rule(strokeWidth=3)
            .encode(x=x, x2=alt.X2("To:Q"), y=y, color=hue, tooltip=tooltip)
        )
    return drawing(*layers, height=_HEIGHT, alt_text=alt_text)
