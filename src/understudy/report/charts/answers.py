"""The small pictures of the first page, one for each answer: bars that need no explanation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from understudy.audit.findings import Figure, ReleaseFindings, StrongFindings
from understudy.audit.levels import gain_of
from understudy.audit.measures import main_figures
from understudy.charts.chart import Chart, cells, drawing
from understudy.charts.palette import colour
from understudy.report.charts.people import least_bits, lookalikes_chart
from understudy.report.names import models_in_words
from understudy.wording import Unit, share, times_by_bits

if TYPE_CHECKING:
    from understudy.audit.answers import Answer
    from understudy.audit.measures.declaration import Question

_STEP = 46
_MEMBERS = "membership.share_above_90_percent"


@dataclass(frozen=True)
class _Bar:
    """One bar: what stands above it, its length, what stands at its end, and its colour."""

    name: str
    value: float
    text: str
    role: str


def answer_chart(
    question: Question, answer: Answer, release: ReleaseFindings, rows: int, unit: Unit
) -> Chart | None:
    """Return the picture that goes with an answer; None if there is nothing to show."""
    if question == "records":
        found = release.lookalikes
        return None if found is None else lookalikes_chart(found, unit, small=True)
    if question == "ordinary":
        figure = _deciding(answer, release, rows)
        return None if figure is None else guesses_chart(figure, unit)
    return strongest_chart(release, unit)


def _deciding(answer: Answer, release: ReleaseFindings, rows: int) -> Figure | None:
    """Return the figure of the measure that decided; if none did, the largest gain of a guess."""
    decisive = [clue.measure for clue in answer.deciding]
    figures = [release.figure(name) for name in decisive if answer.level in {"high", "raised"}]
    known = [one for one in figures if one is not None and math.isfinite(one.synthetic)]
    if known:
        return known[0]
    main = [release.figure(name) for name in main_figures("ordinary")]
    gains = [gain_of(one, rows) for one in main if one is not None]
    gains = [one for one in gains if math.isfinite(one.gain)]
    return max(gains, key=lambda one: one.gain).figure if gains else None


def guesses_chart(figure: Figure, unit: Unit) -> Chart | None:
    """Return how often a guess is correct: without the release, outside the data, and in it."""
    bars = [
        _Bar(name, value, share(value), role)
        for name, value, role in (
            ("Without the release", figure.baseline, "baseline"),
            (f"With it: {unit.many} not in the data", figure.control, "control"),
            (f"With it: {unit.many} in the data", figure.synthetic, "synthetic"),
        )
        if math.isfinite(value)
    ]
    pattern = ""
    if math.isfinite(figure.control):
        pattern = (
            " What is told about those not in the data as well is a pattern; only the rest is told "
            "because they are in it."
        )
    return _bars(
        "answer-ordinary",
        f"{figure.title}: how much is told",
        f"{models_in_words(figure.meaning)}.{pattern}",
        bars,
    )


def strongest_chart(release: ReleaseFindings, unit: Unit) -> Chart | None:
    """Return about how many people the strongest attacker becomes sure."""
    bars = [] if release.strong is None else [*_of_strong(release.strong)]
    members = float(release.numbers.get(_MEMBERS, math.nan))
    if math.isfinite(members):
        bars.append(_Bar("Almost surely in the data", members, share(members), "synthetic"))
    certain = " For some of those above 90%, the value was likely without the release, too."
    return _bars(
        "answer-strongest",
        f"Of how many {unit.many} this attacker becomes sure",
        f"What an attacker finds who knows the model and everyone else's record: shares of the "
        f"{unit.many}.{certain if release.strong else ''}",
        bars,
    )


def _of_strong(strong: StrongFindings) -> Iterator[_Bar]:
    if not strong.records:
        return
    certain = strong.certain / strong.records
    yield _Bar("Certain to be disclosed", certain, f"{strong.certain:,} ({share(certain)})", "high")
    above = strong.share_above_90_percent
    if math.isfinite(above):
        yield _Bar("Value more than 90% probable", above, share(above), "synthetic")
    least = least_bits(strong.gains.edges)
    counts = zip(strong.gains.edges[:-1], strong.gains.synthetic, strict=True)
    doubled = sum(count for edge, count in counts if edge >= least) if least >= 1 - 1e-9 else 0
    part = doubled / strong.records
    times = "twice" if not least > 1 + 1e-9 else times_by_bits(least)
    yield _Bar(f"At least {times} as probable", part, f"{doubled:,} ({share(part)})", "synthetic")


def _bars(key: str, title: str, sentence: str, bars: Sequence[_Bar]) -> Chart | None:
    if not bars:
        return None
    alt_text = f"{title}. {'; '.join(f'{bar.name.lower()}: {bar.text}' for bar in bars)}."
    return Chart(
        key,
        title,
        sentence,
        alt_text,
        _drawn(bars, alt_text),
        ("Place", "Bar", "Share", "Text"),
        cells([(place + 1, bar.name, bar.value, bar.text) for place, bar in enumerate(bars)]),
        width=420,
    )


def _drawn(bars: Sequence[_Bar], alt_text: str) -> dict[str, Any]:
    import altair as alt

    y = alt.Y("Place:O", axis=None, sort="ascending")
    most = max(bar.value for bar in bars)
    # Room for the text at the end of the longest bar.
    x = alt.X("Share:Q", axis=None, scale=alt.Scale(domain=[0, max(1.0, most) * 1.4], nice=False))
    hue = alt.Color(
        "Bar:N",
        scale=alt.Scale(
            domain=[bar.name for bar in bars], range=[colour(bar.role) for bar in bars]
        ),
        legend=None,
    )
    base = alt.Chart()
    whole = base.transform_calculate(Whole="1")
    return drawing(
        whole.mark_bar(height=11, color=colour("soft"), yOffset=6).encode(
            x=alt.X("Whole:Q", axis=None), y=y
        ),
        base.mark_bar(height=11, yOffset=6).encode(
            x=x, y=y, color=hue, tooltip=[alt.Tooltip("Bar:N"), alt.Tooltip("Text:N")]
        ),
        base.mark_text(align="left", dx=6, dy=6, fontWeight=600).encode(
            x=x, y=y, text=alt.Text("Text:N")
        ),
        base.mark_text(align="left", baseline="bottom", dy=-4, limit=330).encode(
            x=alt.XValue(0),  # type: ignore[no-untyped-call]  # of Altair
            y=y,
            text=alt.Text("Bar:N"),
        ),
        height=_STEP * len(bars),
        alt_text=alt_text,
    )
