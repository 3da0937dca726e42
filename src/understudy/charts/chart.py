"""A chart of the report: its drawing, its words, and the table that it shows."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from understudy.charts.palette import CONFIG, ROLES, SHAPES, colour, in_light

if TYPE_CHECKING:
    import altair as alt

Value = str | float | int | bool | None
"""What stands in a cell of a chart's table; None where there is nothing."""

ROWS = "rows"
"""The name by which a drawing asks for its chart's own table."""


@dataclass(frozen=True)
class Chart:
    """A chart of the report.

    Parameters
    ----------
    key : str
        By which the page and the files of pictures know it; letters, digits and dashes.
    title, sentence, alt : str
        The heading, one sentence for somebody who is no expert, and the chart in words for those
        who cannot see it.
    specification : dict
        The drawing in Vega-Lite. Its fields are headings of the table, which are words of our own:
        a name from the data could not be a field, as dots and brackets mean something there.
    headings : tuple of str
        The columns of the table.
    rows : tuple of tuple
        The table, which a reader can download.
    width : int
        Pixels of a picture of it, and of the page's if it is `fixed`.
    fixed : bool
        Whether it keeps its width in the page, and is scrolled where that has less.
    """

    key: str
    title: str
    sentence: str
    alt: str
    specification: dict[str, Any]
    headings: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    width: int = 720
    fixed: bool = False

    def placed(self, prefix: str) -> Chart:
        """Return the chart under a key that no other release's chart has."""
        return replace(self, key=f"{prefix}-{self.key}")

    def for_page(self) -> dict[str, Any]:
        """Return the drawing for the page, where its description is the alternative text."""
        return {name: part for name, part in self.specification.items() if name != "description"}

    def for_picture(self) -> dict[str, Any]:
        """Return the drawing with its table and colours in it, ready to be drawn anywhere."""
        drawing = copy.deepcopy(self.specification)
        if drawing.get("data", {}).get("name") == ROWS:
            values = [dict(zip(self.headings, row, strict=True)) for row in self.rows]
            drawing["data"] = {"values": values}
        if drawing.get("width") == "container":
            drawing["width"] = self.width
        title = {"text": self.title, "anchor": "start", "fontSize": 15, "color": colour("ink")}
        drawing |= {"title": title, "config": CONFIG, "background": colour("card"), "padding": 14}
        return in_light(drawing)


def cell(value: Value) -> Value:
    """Return a value as a chart takes it: what is undefined is None, long fractions are cut.

    Examples
    --------
    >>> cell(float("nan")), cell(2 / 3), cell("a")
    (None, 0.666667, 'a')
    """
    if not isinstance(value, float):
        return value
    return round(value, 6) if math.isfinite(value) else None


def cells(rows: Sequence[Sequence[Value]]) -> tuple[tuple[Value, ...], ...]:
    """Return a table as a chart takes it."""
    return tuple(tuple(cell(value) for value in row) for row in rows)


@contextmanager
def unchecked() -> Iterator[None]:
    """Make drawings without checking each part of them against the schema.

    It would take most of the time of a report; the tests do it.
    """
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):
        yield


def drawing(*layers: alt.Chart, height: float, alt_text: str) -> dict[str, Any]:
    """Return layers over the chart's own table as one drawing, as wide as the place it gets.

    Altair would do it as well, but copies each layer several times on the way.
    """
    context: dict[str, Any] = {"top_level": False, "data": None, "datasets": {}}
    made = [layer.to_dict(validate=False, context=context) for layer in layers]
    found: dict[str, Any] = {
        "layer": made,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"name": ROWS},
        "description": alt_text,
        "height": height,
        "width": "container",
    }
    # Tables that belong to single layers.
    return found | ({"datasets": context["datasets"]} if context["datasets"] else {})


def role_scales(
    labels: Mapping[str, str], *, explained: bool = True
) -> tuple[alt.Color, alt.Shape]:
    """Return the colour and the shape of a field `Series`, which holds the labels of roles.

    There is a legend if they are to be `explained`.
    """
    import altair as alt

    present = [role for role in ROLES if role in labels]
    names = [labels[role] for role in present]
    legend = (
        alt.Legend(
            title=None,
            orient="top",
            symbolSize=110,
            symbolOpacity=1,
            columns=alt.ExprRef("width < 520 ? 1 : 4"),  # below each other on a phone
        )
        if explained
        else None
    )
    return (
        alt.Color(
            "Series:N",
            scale=alt.Scale(domain=names, range=[colour(role) for role in present]),
            legend=legend,
        ),
        alt.Shape(
            "Series:N",
            scale=alt.Scale(domain=names, range=[SHAPES[role] for role in present]),
            legend=legend,
        ),
    )
