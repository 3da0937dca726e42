"""A picture of a Bayesian network: columns in layers, arrows from parents to children."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from understudy.data.files import write_bytes
from understudy.errors import DataError
from understudy.synthesis.bayes import BayesNet, Network

if TYPE_CHECKING:
    import altair as alt

# Colours that people with any kind of colour vision tell apart (Okabe and Ito 2008).
COLOURS = {"sensitive": "#E69F00", "target": "#56B4E9", "ordinary": "#DDDDDD"}
_BOX_HEIGHT = 26
_LAYER_HEIGHT = 90
_CHARACTER_WIDTH = 7.5
_GAP = 24
_HEAD = 7


def network_chart(model: BayesNet) -> alt.LayerChart:
    """Return the network as a chart; arrows are the thicker the more the parent tells."""
    import altair as alt

    def data(rows: list[dict[str, Any]]) -> alt.Chart:
        return alt.Chart(alt.Data(values=rows))  # type: ignore[no-untyped-call]  # of Altair

    boxes, width, height = _boxes(model.network_, _roles(model))
    places = {box["column"]: box for box in boxes}
    arrows, heads = _arrows(model, places)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, width]))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[height, 0]))
    colour = alt.Color(
        "role:N",
        scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
        legend=alt.Legend(title=None, orient="bottom"),
    )
    layers: list[Any] = []
    if arrows:
        lines = data(arrows)
        layers.append(
            lines.mark_rule(color="#555555").encode(
                x=x,
                y=y,
                x2="x2:Q",
                y2="y2:Q",
                strokeWidth=alt.StrokeWidth("bits:Q", scale=alt.Scale(range=[0.8, 4]), legend=None),
                tooltip=["parent:N", "child:N", alt.Tooltip("bits:Q", format=".3f")],
            )
        )
        layers.append(
            data(heads)
            .mark_point(shape="triangle", filled=True, size=60, color="#555555", opacity=1)
            .encode(x=x, y=y, angle=alt.Angle("angle:Q", scale=None))
        )
    nodes = data(boxes)
    layers.append(
        nodes.mark_rect(cornerRadius=6, stroke="#333333", opacity=1).encode(
            x=x, y=y, x2="x2:Q", y2="y2:Q", color=colour, tooltip=["column:N", "role:N"]
        )
    )
    layers.append(
        nodes.mark_text(color="black", fontSize=12, fontWeight="bold").encode(
            x=alt.X("middle:Q", axis=None, scale=alt.Scale(domain=[0, width])),
            y=alt.Y("centre:Q", axis=None, scale=alt.Scale(domain=[height, 0])),
            text="column:N",
        )
    )
    chart = alt.layer(*layers, width=width, height=height, background="white")
    return cast("alt.LayerChart", chart.configure_view(stroke=None))


def draw_network(model: BayesNet, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write the picture of a network to an SVG or PNG file."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (".svg", ".png"):
        raise DataError(f"{path} should end in .svg or .png: the ending says what to draw.")
    import vl_convert as vlc

    specification = network_chart(model).to_dict()
    if suffix == ".svg":
        content = vlc.vegalite_to_svg(specification).encode()
    else:
        content = vlc.vegalite_to_png(specification, scale=2)
    return write_bytes(content, path, overwrite=overwrite)


def _roles(model: BayesNet) -> dict[str, str]:
    """Return which columns are sensitive or targets, by protection first and then by the schema."""
    protect = model.protect or {}
    roles = {}
    for name in model.network_.names:
        if name in protect:
            roles[name] = "sensitive"
        elif name in protect.values():
            roles[name] = "target"
        else:
            role = model.schema_[name].role
            roles[name] = role if role in COLOURS else "ordinary"
    return roles


def _boxes(network: Network, roles: Mapping[str, str]) -> tuple[list[dict[str, Any]], float, float]:
    """Return a box for each column, layer by layer, and the size of the whole picture."""
    layers = _ordered_layers(network)
    widths = {name: max(60.0, _CHARACTER_WIDTH * len(name) + 16) for name in network.names}
    rows = [sum(widths[name] + _GAP for name in layer) for layer in layers]
    width = max(rows)
    boxes = []
    for depth, (layer, row) in enumerate(zip(layers, rows, strict=True)):
        left = (width - row + _GAP) / 2
        top = depth * _LAYER_HEIGHT + 8.0
        for name in layer:
            right = left + widths[name]
            boxes.append(
                {
                    "column": name,
                    "role": roles[name],
                    "x": left,
                    "x2": right,
                    "y": top,
                    "y2": top + _BOX_HEIGHT,
                    "middle": (left + right) / 2,
                    "centre": top + _BOX_HEIGHT / 2,
                }
            )
            left = right + _GAP
    return boxes, width, (len(layers) - 1) * _LAYER_HEIGHT + _BOX_HEIGHT + 16.0


def _ordered_layers(network: Network) -> list[list[str]]:
    """Return the columns by their longest path from a root, each layer below its parents."""
    import networkx as nx

    layers: list[list[str]] = []
    place: dict[str, float] = {}
    for generation in nx.topological_generations(network.to_networkx()):
        names = list(generation)
        if layers:
            # Below the middle of its parents: fewer arrows cross.
            names.sort(key=lambda name: np.mean([place[p] for p in network.parents[name]]))
        place |= {name: (rank + 0.5) / len(names) for rank, name in enumerate(names)}
        layers.append(names)
    return layers


def _arrows(
    model: BayesNet, boxes: Mapping[str, dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return lines from parents' lower edges to children's upper edges, and their heads."""
    arrows, heads = [], []
    for parent, child, bits in model.edge_information():
        start, end = boxes[parent], boxes[child]
        tip = {"x": end["middle"], "y": end["y"]}
        slope = np.hypot(tip["x"] - start["middle"], tip["y"] - start["y2"])
        sine = (tip["x"] - start["middle"]) / slope
        cosine = (tip["y"] - start["y2"]) / slope
        base = {"x": tip["x"] - _HEAD * sine, "y": tip["y"] - _HEAD * cosine}
        arrows.append(
            {
                "parent": parent,
                "child": child,
                "bits": bits,
                "x": start["middle"],
                "y": start["y2"],
                "x2": base["x"],
                "y2": base["y"],
            }
        )
        # A triangle points up; an arrow straight down is turned half around.
        heads.append({**base, "angle": 180 - float(np.degrees(np.arctan2(sine, cosine)))})
    return arrows, heads
