"""What protection leaves: the paths by which a protected attribute is still linked to others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from understudy.synthesis.bayes.network import Network

if TYPE_CHECKING:
    import networkx as nx


def residual_paths(
    network: Network, protect: Mapping[str, str | None]
) -> dict[str, list[tuple[str, ...]]]:
    """Return, for each protected attribute, a shortest path to every attribute it is linked to.

    Two attributes are linked (not d-separated, with nothing given) exactly if one descends from
    the other or both descend from a third. The path runs up to the common ancestor and down again.

    Examples
    --------
    >>> network = Network({"income": (), "relationship": ("income",), "age": ("income",)})
    >>> residual_paths(network, {"relationship": "income"})
    {'relationship': [('relationship', 'income'), ('relationship', 'income', 'age')]}
    """
    import networkx as nx

    graph = network.to_networkx()
    found: dict[str, list[tuple[str, ...]]] = {}
    for sensitive in protect:
        others = [name for name in network.names if name != sensitive]
        linked = [name for name in others if not nx.is_d_separator(graph, sensitive, name, set())]
        paths = [_path(graph, sensitive, name) for name in linked]
        found[sensitive] = sorted(paths, key=lambda path: (len(path), path))
    return found


def _path(graph: nx.DiGraph[str], one: str, other: str) -> tuple[str, ...]:
    """Return the shortest path from `one` up to a common ancestor and down to `other`."""
    import networkx as nx

    above = (nx.ancestors(graph, one) | {one}) & (nx.ancestors(graph, other) | {other})
    paths = []
    for ancestor in sorted(above):
        up = nx.shortest_path(graph, ancestor, one)[::-1]
        paths.append((*up, *nx.shortest_path(graph, ancestor, other)[1:]))
    return min(paths, key=len)
