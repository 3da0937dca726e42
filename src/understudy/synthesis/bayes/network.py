"""The network: on which attributes each one depends, in an order in which they can be drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from understudy.errors import ParameterError, unknown_columns

if TYPE_CHECKING:
    import networkx as nx

Edge = tuple[str, str]
"""From a parent to a child."""


@dataclass(frozen=True)
class Network:
    """An ordered list of attributes, each with its parents among the attributes before it.

    Parameters
    ----------
    parents : mapping from str to tuple of str
        The parents of each attribute, in the order in which the attributes are drawn. Of an
        attribute's parents, the first is the one that tells most of it.

    Examples
    --------
    >>> network = Network({"age": (), "children": ("age",), "method": ("children", "age")})
    >>> network.edges
    (('age', 'children'), ('children', 'method'), ('age', 'method'))
    """

    parents: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        placed: set[str] = set()
        for name, parents in self.parents.items():
            late = [parent for parent in parents if parent not in placed]
            if late or len(set(parents)) < len(parents):
                raise ParameterError(
                    f"The parents of {name!r} must be different attributes placed before it; "
                    f"got {', '.join(map(repr, parents))}."
                )
            placed.add(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes, in the order in which they are drawn."""
        return tuple(self.parents)

    @property
    def edges(self) -> tuple[Edge, ...]:
        """All edges, from parent to child."""
        return tuple((parent, name) for name, parents in self.parents.items() for parent in parents)

    @property
    def degree(self) -> int:
        """The largest number of parents."""
        return max((len(parents) for parents in self.parents.values()), default=0)

    def to_networkx(self) -> nx.DiGraph[str]:
        """Return the network as a directed graph."""
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.names)
        graph.add_edges_from(self.edges)
        return graph


def read_graph(
    graph: Any,  # noqa: ANN401  # edges or DiGraph
    names: Sequence[str],
    order: Sequence[str] | None = None,
) -> Network:
    """Return the network of a user's own edges or `networkx.DiGraph` over the attributes `names`.

    A mapping from attributes to their parents keeps the order of both. Attributes that no edge
    mentions stand alone. Wherever the edges allow it, the attributes are drawn in the given
    `order`, or in that of `names`.
    """
    import networkx as nx

    if isinstance(graph, Mapping):
        first = [name for name in graph if name in names]
        rest = [name for name in names if name not in graph]
        found = read_graph(_edges_of(graph), names, order or [*first, *rest])
        return Network({name: tuple(graph.get(name, ())) for name in found.names})
    if isinstance(graph, nx.DiGraph):
        nodes, edges = list(graph.nodes), list(graph.edges)
    else:
        edges = read_edges(graph, "structure")
        nodes = [name for edge in edges for name in edge]
    problems = unknown_columns(dict.fromkeys(map(str, nodes)), names)
    if problems:
        raise ParameterError(f"structure: {' '.join(problems)}")
    own: nx.DiGraph[str] = nx.DiGraph()
    own.add_nodes_from(names)
    own.add_edges_from(edges)
    places = {name: place for place, name in enumerate(order or names)}
    try:
        drawn = list(nx.lexicographical_topological_sort(own, key=places.__getitem__))
    except nx.NetworkXUnfeasible:
        cycle = [parent for parent, _ in nx.find_cycle(own)]
        raise ParameterError(
            f"structure has a cycle: {' -> '.join([*cycle, cycle[0]])}. Remove one of its edges."
        ) from None
    return Network({name: tuple(sorted(own.predecessors(name), key=drawn.index)) for name in drawn})


def _edges_of(parents: Mapping[Any, Any]) -> list[Edge]:
    """Return the edges of a user's mapping from attributes to their parents."""
    found = []
    for child, own in parents.items():
        if isinstance(own, str) or not isinstance(own, Sequence):
            raise ParameterError(
                f"structure: the parents of {child!r} must be a list of columns; got {own!r}."
            )
        found += [(parent, child) for parent in own]
    return found


def read_edges(edges: Any, argument: str) -> list[Edge]:  # noqa: ANN401  # whatever a user gave
    """Return edges that a user gave as pairs (parent, child), each once."""
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise ParameterError(f"{argument} must be a list of edges (parent, child); got {edges!r}.")
    found = []
    for edge in edges:
        if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) != 2:
            raise ParameterError(
                f"{argument}: an edge must be a pair (parent, child); got {edge!r}."
            )
        parent, child = edge
        if parent == child:
            raise ParameterError(f"{argument}: {parent!r} cannot be its own parent.")
        found.append((parent, child))
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Structure:
    """A network over attributes that are known by their positions, in the order of drawing.

    The parents of attribute 0, 1, ... are increasing, or in the order in which they were chosen.
    If tables may use parents in groups of neighbouring values, `levels` has the parents that each
    table uses, one after the other, and whether in groups.
    """

    order: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]
    levels: tuple[tuple[tuple[int, bool], ...], ...] | None = field(default=None, repr=False)

    def to_network(self, names: Sequence[str]) -> Network:
        """Return the network of the attributes with these names."""
        return Network(
            {names[child]: tuple(names[p] for p in self.parents[child]) for child in self.order}
        )


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
        paths = [linking_path(graph, sensitive, name) for name in linked]
        found[sensitive] = sorted(paths, key=lambda path: (len(path), path))
    return found


def linking_path(graph: nx.DiGraph[str], one: str, other: str) -> tuple[str, ...]:
    """Return the shortest path from `one` up to a common ancestor and down to `other`."""
    import networkx as nx

    above = (nx.ancestors(graph, one) | {one}) & (nx.ancestors(graph, other) | {other})
    paths = []
    for ancestor in sorted(above):
        up = nx.shortest_path(graph, ancestor, one)[::-1]
        paths.append((*up, *nx.shortest_path(graph, ancestor, other)[1:]))
    return min(paths, key=len)
