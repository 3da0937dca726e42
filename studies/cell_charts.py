"""Charts of the 16 combinations of the paper on CART: the original, and syntheses of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from understudy.worlds.releases import CELLS, UNIQUE, VARIABLES

if TYPE_CHECKING:
    import altair as alt

WIDTH = 800
"""Of a chart that fills a page, in pixels; a narrower one has smaller letters and no note."""

# Colours that people with any kind of colour vision tell apart (Okabe and Ito 2008).
_PALE = "pale"
_COLOURS = {
    "original": "#CCCCCC",
    "synthetic": "#0072B2",
    UNIQUE: "#D55E00",
    _PALE: "#F5C6A5",  # the same orange, for a bar with points before it
}


def _data(rows: list[dict[str, Any]]) -> alt.Chart:
    import altair as alt

    return alt.Chart(alt.Data(values=rows))  # type: ignore[no-untyped-call]  # of Altair


def _place_axis(labels: Sequence[str], title: str | None, *, small: bool = False) -> alt.X:
    """Return an axis with a label at each of the places 0, 1, 2, ..."""
    import altair as alt

    # An axis knows the places, not the labels.
    unique = {"test": f"{list(labels)}[datum.value] == '{UNIQUE}'"}
    return alt.X(
        "x:Q",
        title=title,
        scale=alt.Scale(domain=[-0.6, len(labels) - 0.4], nice=False, zero=False),
        axis=alt.Axis(
            values=list(range(len(labels))),
            labelExpr=f"{list(labels)}[datum.value]",
            labelAngle=-90 if small else 0,
            labelFontSize=9 if small else 11,
            labelColor={"condition": {**unique, "value": _COLOURS[UNIQUE]}, "value": "#333333"},
            labelFontWeight={"condition": {**unique, "value": "bold"}, "value": "normal"},
            labelOverlap=False,
            labelPadding=5,
            ticks=False,
            grid=False,
        ),
    )


def _cell_axes(top: float, *, small: bool = False) -> dict[str, Any]:
    """Return the axes of a chart of counts by combination."""
    import altair as alt

    title = None if small else f"values of {', '.join(VARIABLES)}"
    return {
        "x": _place_axis(CELLS, title, small=small),
        "y": alt.Y(
            "y:Q",
            title="records" if small else "number of records",
            scale=alt.Scale(domain=[0, 1.05 * top], nice=False),
            axis=alt.Axis(tickCount=4 if small else 6),
        ),
    }


def _bars(
    heights: Sequence[float] | NDArray[Any], left: float, right: float, what: str
) -> list[dict[str, Any]]:
    """Return a bar around each of the places 0, 1, 2, ..., between two offsets from it."""
    return [
        {"x": place + left, "x2": place + right, "y": float(height), "y2": 0, "what": what}
        for place, height in enumerate(heights)
    ]


def _points(syntheses: NDArray[np.int64], spread: float) -> list[dict[str, Any]]:
    """Return a point for each synthesis and combination, side by side around its place."""
    offsets = np.linspace(-spread, spread, len(syntheses)) if len(syntheses) > 1 else [0.0]
    return [
        {
            "x": round(place + offset, 3),
            "y": int(count),
            "what": UNIQUE if place == len(CELLS) - 1 else "synthetic",
        }
        for offset, counts in zip(offsets, syntheses, strict=True)
        for place, count in enumerate(counts)
    ]


def _colour(legend: Sequence[str]) -> alt.Color:
    import altair as alt

    return alt.Color(
        "what:N",
        scale=alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values())),
        legend=alt.Legend(title=None, orient="top", values=list(legend)) if legend else None,
    )


def _rectangles(
    rows: list[dict[str, Any]], axes: dict[str, Any], legend: Sequence[str] = ()
) -> alt.Chart:
    chart = _data(rows).mark_rect()
    return cast("alt.Chart", chart.encode(**axes, x2="x2:Q", y2="y2:Q", color=_colour(legend)))


def panel(
    original: NDArray[np.int64],
    syntheses: NDArray[np.int64],
    *,
    title: str = "",
    top: float | None = None,
    size: tuple[int, int] = (WIDTH, 260),
) -> alt.LayerChart:
    """Return bars for the original and a point for each synthesis, for all combinations."""
    small = size[0] < WIDTH
    axes = _cell_axes(top or max(original.max(), syntheses.max()), small=small)
    bars = _bars(original, -0.42, 0.42, "original")
    bars[-1]["what"] = UNIQUE
    layers = [
        _rectangles(bars, axes),
        _data(_points(syntheses, 0.34))
        .mark_circle(size=9 if small else 16, opacity=1)
        .encode(**axes, color=_colour([])),
    ]
    if not small:
        layers.append(_note(syntheses, axes))
    return _titled(layers, title, size)


def guess_panel(
    guess: str,
    released: NDArray[np.int64],
    syntheses: NDArray[np.int64],
    posterior: float,
    *,
    top: float,
    labelled: tuple[bool, bool],
) -> alt.LayerChart:
    """Return a small panel for one guess at the last record.

    Parameters
    ----------
    guess : str
        The combination; the truth gets a frame and a colour.
    released, syntheses : ndarray
        Counts of the combinations: bars for the release, a point for each synthesis.
    posterior : float
        The probability of the guess after the release, for the heading.
    top : float
        The largest count that fits.
    labelled : tuple of bool
        Whether combinations are written below, and numbers of records on the left.
    """
    import altair as alt

    axes = _cell_axes(top, small=True)
    below, left = labelled
    # A count of 1 would be one pixel beside counts of 60: the root makes it ten times as high.
    axes["y"]["scale"] = alt.Scale(domain=[0, 1.05 * top], nice=False, type="sqrt")
    axes["y"]["axis"] = alt.Axis(
        values=[0, 1, 10, 50, 100], labels=left, ticks=left, labelOverlap=False, labelFontSize=9
    )
    axes["y"]["title"] = "records" if left else None
    if not below:
        axes["x"]["axis"]["labels"] = False
    bars = _bars(released, -0.42, 0.42, "original")
    bars[-1]["what"] = _PALE
    points = _data(_points(syntheses, 0.3))
    layers = [
        _rectangles(bars, axes),
        points.mark_circle(size=8, opacity=1).encode(**axes, color=_colour([])),
    ]
    true = guess == UNIQUE
    heading = alt.TitleParams(
        f"{guess}, the truth" if true else guess,
        subtitle=f"posterior {_probability(posterior)}; {UNIQUE} drawn {times(syntheses)} times",
        anchor="start",
        frame="group",
        fontSize=12,
        color=_COLOURS[UNIQUE] if true else "#333333",
        subtitleColor=_COLOURS[UNIQUE] if true else "#333333",
        subtitleFontSize=11,
        offset=4,
    )
    view = alt.ViewConfig(stroke=_COLOURS[UNIQUE] if true else "#CCCCCC", strokeWidth=2 * true or 1)
    return alt.LayerChart(layer=layers, width=192, height=100, title=heading, view=view)


def _probability(value: float) -> str:
    """Return a probability in words that do not round to certainty.

    Examples
    --------
    >>> [_probability(value) for value in (0.0, 1e-9, 0.0241, 1 - 1e-9, 1.0)]
    ['0', 'below 0.001', '0.024', 'above 0.999', '1']
    """
    if value in {0.0, 1.0}:
        return f"{value:g}"
    if value < 0.001:
        return "below 0.001"
    return "above 0.999" if value > 0.999 else f"{value:.3f}"


def _note(syntheses: NDArray[np.int64], axes: dict[str, Any]) -> alt.Chart:
    """Return a note above the disclosive record: how often it is in the syntheses."""
    words = ["original: 1", "synthetic:", times(syntheses)]
    place = {"x": len(CELLS) - 1, "y": max(int(syntheses[:, -1].max()), 1)}
    text = _data([place]).mark_text(
        text=words,
        color=_COLOURS[UNIQUE],
        fontWeight="bold",
        fontSize=10,
        baseline="bottom",
        dy=-32,
    )
    return cast("alt.Chart", text.encode(**axes))


def times(syntheses: NDArray[np.int64]) -> str:
    """Return how often the disclosive record is in the syntheses, in words.

    Examples
    --------
    >>> times(np.array([[500, 0], [499, 1]]))
    '0 to 1'
    """
    low, high = int(syntheses[:, -1].min()), int(syntheses[:, -1].max())
    return str(low) if low == high else f"{low} to {high}"


def within(original: NDArray[np.int64], synthesis: NDArray[np.int64]) -> alt.LayerChart:
    """Return the shares of 0 and 1 within each variable, as two bars beside each other."""
    import altair as alt

    values = np.array([[int(value) for value in cell] for cell in CELLS])
    ones = [counts @ values / counts.sum() for counts in (original, synthesis)]
    shares = [np.column_stack([1 - share, share]).ravel() for share in ones]
    labels = [f"{name} = {value}" for name in VARIABLES for value in (0, 1)]
    axes = {
        "x": _place_axis(labels, None),
        "y": alt.Y(
            "y:Q",
            title="share of records",
            scale=alt.Scale(domain=[0, 0.6]),
            axis=alt.Axis(format="%", tickCount=4),
        ),
    }
    bars = _bars(shares[0], -0.36, 0, "original") + _bars(shares[1], 0, 0.36, "synthetic")
    chart = _rectangles(bars, axes, legend=["original", "synthetic"])
    return _titled([chart], "(a) Within each variable", (WIDTH, 150))


def across(original: NDArray[np.int64], synthesis: NDArray[np.int64]) -> alt.LayerChart:
    """Return the counts of all combinations, as two bars beside each other."""
    axes = _cell_axes(max(original.max(), synthesis.max()))
    bars = _bars(original, -0.36, 0, "original") + _bars(synthesis, 0, 0.36, "synthetic")
    chart = _rectangles(bars, axes, legend=["original", "synthetic"])
    layers = [chart, _note(synthesis[None], axes)]
    return _titled(layers, "(b) Across all four variables", (WIDTH, 240))


def _titled(layers: Sequence[Any], title: str, size: tuple[int, int]) -> alt.LayerChart:
    import altair as alt

    heading = alt.TitleParams(title, anchor="start", fontSize=13 if size[0] == WIDTH else 11)
    return alt.LayerChart(layer=layers, width=size[0], height=size[1], title=heading)
