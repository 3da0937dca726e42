"""The network behind a release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from understudy.audit.findings import NetworkFindings
from understudy.charts.chart import Chart, cells
from understudy.charts.palette import colour
from understudy.report.network import edges_chart
from understudy.wording import listed, number, shortened

MOST_COLUMNS = 80
"""Columns of a network that can still be read."""

_LONGEST = 26


def network_drawing(network: NetworkFindings, sensitive: str, target: str) -> Chart | None:
    """Return the network with an arrow for each edge, None if it is too large to be read."""
    if not 1 <= len(network.order) <= MOST_COLUMNS:
        return None
    names = dict(zip(network.order, _distinct(network.order), strict=True))
    roles = {
        names[column]: _role(column, {*network.protected, sensitive}, target)
        for column in network.order
    }
    chart = edges_chart(
        list(names.values()),
        [(names[parent], names[child], bits) for parent, child, bits in network.edges],
        roles,
        colours={
            "sensitive": colour("node-sensitive"),
            "target": colour("node-target"),
            "ordinary": colour("node"),
        },
        paint={
            "line": colour("muted"),
            "outline": colour("edge"),
            "text": colour("node-text"),
            "background": "transparent",
        },
    )
    drawing = chart.to_dict(validate=False)
    for unwanted in ("$schema", "config"):
        drawing.pop(unwanted, None)
    strongest = sorted(network.edges, key=lambda edge: -edge[2])[:3]
    alt_text = f"Network of {len(network.order)} columns with {len(network.edges)} arrows." + (
        " Strongest: "
        + "; ".join(
            f"{parent} to {child}, {number(bits)} bits" for parent, child, bits in strongest
        )
        + "."
        if strongest
        else ""
    )
    protected = (
        f" {listed(network.protected)} {'is' if len(network.protected) == 1 else 'are'} protected."
        if network.protected
        else ""
    )
    drawing["description"] = alt_text
    return Chart(
        "network",
        "Which columns each column was drawn from",
        "A column at the tip of an arrow was drawn from the column at its start. The thicker the "
        f"arrow, the more that column says.{protected}",
        alt_text,
        drawing,
        ("From", "To", "Bits"),
        cells([(parent, child, float(bits)) for parent, child, bits in network.edges]),
        width=int(drawing["width"]),
        fixed=True,
    )


def _role(column: str, sensitive: set[str], target: str) -> str:
    if column in sensitive:
        return "sensitive"
    return "target" if column == target else "ordinary"


def _distinct(columns: Sequence[str]) -> list[str]:
    """Return names that fit into a box, and differ where the columns do."""
    cut = [shortened(column, _LONGEST) for column in columns]
    often = Counter(cut)
    return [f"{name} #{place + 1}" if often[name] > 1 else name for place, name in enumerate(cut)]
