"""A picture of a Bayesian network: columns in layers, arrows from parents to children.

An arrow over several layers is led between the boxes in between, never behind one: it must not
seem to start from a column that it only passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from understudy.data.files import write_bytes
from understudy.errors import DataError
from understudy.synthesis.bayes import BayesNet

if TYPE_CHECKING:
    import altair as alt

# Colours that people with any kind of colour vision tell apart (Okabe and Ito 2008).
COLOURS = {"sensitive": "#E69F00", "target": "#56B4E9", "ordinary": "#DDDDDD"}
PAINT = {"line": "#555555", "outline": "#333333", "text": "black", "background": "white"}

Place: TypeAlias = str | tuple[str, str, int]
"""What stands in a layer: a column, or the passage of an edge (parent, child) through it."""

WeightedEdge: TypeAlias = tuple[str, str, float]
"""Parent, child, and the bits that the one tells of the other."""

_BOX_HEIGHT = 26.0
_LAYER_HEIGHT = 90.0
_CHARACTER_WIDTH = 7.5
_PASSAGE_WIDTH = 4.0
_GAP = 24.0
_MARGIN = 8.0
_HEAD = 7.0
_SWEEPS = 8


def network_chart(model: BayesNet) -> alt.LayerChart:
    """Return the network as a chart; arrows are the thicker the more the parent tells."""
    shown = model.of_records
    return edges_chart(shown.columns_of_network, shown.edge_information(), _roles(shown))


def edges_chart(
    names: Sequence[str],
    edges: Sequence[WeightedEdge],
    roles: Mapping[str, str],
    *,
    colours: Mapping[str, str] = COLOURS,
    paint: Mapping[str, str] = PAINT,
) -> alt.LayerChart:
    """Return columns and edges as a chart.

    Parameters
    ----------
    names : sequence of str
        The columns, parents before their children.
    edges : sequence of (parent, child, bits)
        The edges; arrows are the thicker the more bits.
    roles : mapping
        Whether each column is sensitive, target or ordinary.
    colours : mapping
        The colour of each role.
    paint : mapping
        The colours of arrows (line), of the boxes' edges (outline), of names (text), and of the
        ground (background).
    """
    import altair as alt

    def data(rows: list[dict[str, Any]]) -> alt.Chart:
        return alt.Chart(alt.Data(values=rows))  # type: ignore[no-untyped-call]  # of Altair

    layers = _layers(names, edges)
    centres, width = _centres(layers)
    height = (len(layers) - 1) * _LAYER_HEIGHT + _BOX_HEIGHT + 2 * _MARGIN
    boxes = _boxes(layers, centres, roles)
    lines, heads = _arrows(edges, layers, centres)
    scales = {
        "x": alt.Scale(domain=[0, width], nice=False),
        "y": alt.Scale(domain=[height, 0], nice=False),
    }
    x = alt.X("x:Q", axis=None, scale=scales["x"])
    y = alt.Y("y:Q", axis=None, scale=scales["y"])
    parts: list[Any] = []
    if lines:
        parts.append(
            data(lines)
            .mark_line(color=paint["line"], strokeJoin="round")
            .encode(
                x=x,
                y=y,
                order=alt.Order("step:Q"),
                detail=[alt.Detail("parent:N"), alt.Detail("child:N")],
                strokeWidth=alt.StrokeWidth("bits:Q", scale=alt.Scale(range=[0.8, 4]), legend=None),
                tooltip=[
                    alt.Tooltip("parent:N"),
                    alt.Tooltip("child:N"),
                    alt.Tooltip("bits:Q", format=".3f"),
                ],
            )
        )
        parts.append(
            data(heads)
            .mark_point(shape="triangle", filled=True, size=60, color=paint["line"], opacity=1)
            .encode(x=x, y=y, angle=alt.Angle("angle:Q", scale=None))
        )
    colour = alt.Color(
        "role:N",
        scale=alt.Scale(domain=list(colours), range=list(colours.values())),
        legend=alt.Legend(title=None, orient="bottom"),
    )
    parts.append(
        data(boxes)
        .mark_rect(cornerRadius=6, stroke=paint["outline"], opacity=1)
        .encode(x=x, y=y, x2="x2:Q", y2="y2:Q", color=colour, tooltip=["column:N", "role:N"])
    )
    parts.append(
        data(boxes)
        .mark_text(color=paint["text"], fontSize=12, fontWeight="bold")
        .encode(
            x=alt.X("middle:Q", axis=None, scale=scales["x"]),
            y=alt.Y("centre:Q", axis=None, scale=scales["y"]),
            text="column:N",
        )
    )
    chart = alt.layer(*parts, width=width, height=height, background=paint["background"])
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


def _layers(names: Sequence[str], edges: Sequence[WeightedEdge]) -> list[list[Place]]:
    """Return the columns by their longest path from a root, with passages for longer edges.

    Within a layer, what stands near in the layers above and below is put near: fewer lines cross
    (the barycentre method of Sugiyama, Tagawa and Toda 1981).
    """
    generations = list(_generations(names, edges))
    depth = {name: level for level, names in enumerate(generations) for name in names}
    layers: list[list[Place]] = [list(names) for names in generations]
    links: dict[Place, list[Place]] = {place: [] for layer in layers for place in layer}
    for parent, child, _ in edges:
        passages: list[Place] = [(parent, child, d) for d in range(depth[parent] + 1, depth[child])]
        for passage in passages:
            layers[cast("tuple[str, str, int]", passage)[2]].append(passage)
            links[passage] = []
        for one, other in zip([parent, *passages], [*passages, child], strict=True):
            links[one].append(other)
            links[other].append(one)
    for sweep in range(_SWEEPS):
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            rank = {
                place: (number + 0.5) / len(row)
                for row in layers
                for number, place in enumerate(row)
            }
            layer.sort(key=lambda place: float(np.mean([rank[p] for p in links[place] or [place]])))
    return layers


def _generations(names: Sequence[str], edges: Sequence[WeightedEdge]) -> Iterator[tuple[str, ...]]:
    graph: TopologicalSorter[str] = TopologicalSorter()
    for name in names:
        graph.add(name)
    for parent, child, _ in edges:
        graph.add(child, parent)
    graph.prepare()
    while ready := graph.get_ready():
        yield ready
        graph.done(*ready)


def _width(place: Place) -> float:
    return (
        max(60.0, _CHARACTER_WIDTH * len(place) + 16) if isinstance(place, str) else _PASSAGE_WIDTH
    )


def _centres(layers: Sequence[Sequence[Place]]) -> tuple[dict[Place, float], float]:
    """Return the middle of everything in the layers, each layer centred, and the whole width."""
    rows = [sum(_width(place) + _GAP for place in layer) for layer in layers]
    width = max(rows)
    centres = {}
    for layer, row in zip(layers, rows, strict=True):
        left = (width - row + _GAP) / 2
        for place in layer:
            centres[place] = left + _width(place) / 2
            left += _width(place) + _GAP
    return centres, width


def _top(depth: int) -> float:
    return depth * _LAYER_HEIGHT + _MARGIN


def _boxes(
    layers: Sequence[Sequence[Place]], centres: Mapping[Place, float], roles: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return a box for each column."""
    return [
        {
            "column": name,
            "role": roles[name],
            "x": centres[name] - _width(name) / 2,
            "x2": centres[name] + _width(name) / 2,
            "y": _top(depth),
            "y2": _top(depth) + _BOX_HEIGHT,
            "middle": centres[name],
            "centre": _top(depth) + _BOX_HEIGHT / 2,
        }
        for depth, layer in enumerate(layers)
        for name in layer
        if isinstance(name, str)
    ]


def _arrows(
    edges: Sequence[WeightedEdge],
    layers: Sequence[Sequence[Place]],
    centres: Mapping[Place, float],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the points of a line for each edge, from the parent down to the child, and heads."""
    depth = {place: level for level, layer in enumerate(layers) for place in layer}
    lines: list[dict[str, Any]] = []
    heads = []
    for parent, child, bits in edges:
        points = [(centres[parent], _top(depth[parent]) + _BOX_HEIGHT)]
        for level in range(depth[parent] + 1, depth[child]):
            middle = centres[parent, child, level]
            points += [(middle, _top(level)), (middle, _top(level) + _BOX_HEIGHT)]
        tip = np.array([centres[child], _top(depth[child])])
        direction = tip - points[-1]
        direction /= np.hypot(*direction)
        base = tip - _HEAD * direction
        lines += [
            {"parent": parent, "child": child, "bits": bits, "step": step, "x": px, "y": py}
            for step, (px, py) in enumerate([*points, base.tolist()])
        ]
        # A triangle points up; an arrow straight down is turned half around.
        angle = 180 - float(np.degrees(np.arctan2(*direction)))
        heads.append({"x": base[0], "y": base[1], "angle": angle})
    return lines, heads
