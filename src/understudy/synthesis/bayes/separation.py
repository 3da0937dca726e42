"""Protection along paths: sensitive attributes that no path of a network links to chosen ones.

With nothing else known, two attributes of a network are independent exactly if they have no
ancestor in common, where an attribute is its own ancestor (d-separation). Whoever knows the chosen
attributes then learns nothing of the sensitive one, whatever runs through others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import ParameterError, unknown_columns
from understudy.synthesis.bayes.network import Network, linking_path
from understudy.wording import quoted

if TYPE_CHECKING:
    import networkx as nx

Pair = tuple[str, str]


def read_separation(given: Any, names: Sequence[str]) -> tuple[Pair, ...]:  # noqa: ANN401  # a user's
    """Return the pairs of attributes that are to be independent, as (sensitive, chosen).

    Examples
    --------
    >>> read_separation({"ill": ["age", "sex"]}, ["age", "sex", "ill"])
    (('ill', 'age'), ('ill', 'sex'))
    """
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        raise ParameterError(
            "protect_from must be a mapping from a sensitive attribute to those that must not tell "
            f"anything of it; got {given!r}."
        )
    pairs = []
    for sensitive, own in given.items():
        chosen = [own] if isinstance(own, str) else own
        if not isinstance(chosen, Iterable) or not (listed := list(chosen)):
            raise ParameterError(
                f"protect_from: name at least one column from which {sensitive!r} is protected; "
                f"got {own!r}."
            )
        if sensitive in listed:
            raise ParameterError(
                f"protect_from: {sensitive!r} cannot be protected from itself. Name other columns."
            )
        pairs += [(sensitive, one) for one in listed]
    problems = unknown_columns(dict.fromkeys(name for pair in pairs for name in pair), names)
    if problems:
        raise ParameterError(f"protect_from: {' '.join(problems)}")
    return tuple(dict.fromkeys(pairs))


def separating(pairs: Collection[Pair], names: Sequence[str]) -> NDArray[np.bool_]:
    """Return which ``[child, parent]`` a search may use so that no pair has a common ancestor.

    Attributes of pairs have parents only among those that are to be independent of the same ones.
    All ancestors of such an attribute are then independent of the same ones too, so that none of
    them can be an ancestor of its partner, which would have to be independent of itself. All other
    attributes may depend on everything.
    """
    apart: dict[str, set[str]] = {}
    for one, other in pairs:
        apart.setdefault(one, set()).add(other)
        apart.setdefault(other, set()).add(one)
    return np.array(
        [
            [child not in apart or apart.get(parent) == apart[child] for parent in names]
            for child in names
        ],
        dtype=bool,
    ).reshape(len(names), len(names))


def check_separated(
    network: Network, pairs: Collection[Pair], kept: Collection[str] = ()
) -> list[str]:
    """Return a sentence for each pair that a path links.

    Columns that are `kept` as they are all belong together, whatever the edges say.
    """
    import networkx as nx

    graph = with_kept(network.to_networkx(), kept)
    linked = [pair for pair in pairs if not nx.is_d_separator(graph, *pair, set())]
    found = []
    for sensitive, other in linked:
        path = " - ".join(linking_path(graph, sensitive, other))
        found.append(
            f"{sensitive!r} is to be independent of {other!r}, but a path links them: {path}."
        )
    return found


def with_kept(graph: nx.DiGraph[str], kept: Collection[str]) -> nx.DiGraph[str]:
    """Return the graph with an edge between any two columns that are kept as they are."""
    first = [name for name in graph if name in kept]
    graph.add_edges_from(
        (one, other) for place, one in enumerate(first) for other in first[place + 1 :]
    )
    return graph


def above(network: Network, names: Collection[str]) -> frozenset[str]:
    """Return some attributes and all of their ancestors."""
    found: set[str] = set()
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += network.parents[name]
    return frozenset(found)


def separation_in_words(pairs: Collection[Pair]) -> list[str]:
    """Return what holds for each sensitive attribute, in a sentence.

    Examples
    --------
    >>> separation_in_words([("ill", "age"), ("ill", "sex")])
    ["'ill' is protected from 'age' and 'sex': no path of the network links them."]
    """
    chosen: dict[str, list[str]] = {}
    for sensitive, other in pairs:
        chosen.setdefault(sensitive, []).append(other)
    return [
        f"{sensitive!r} is protected from {quoted(others)}: no path of the network links them."
        for sensitive, others in chosen.items()
    ]
