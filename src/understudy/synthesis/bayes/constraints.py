"""What a network may look like: degree, order, required, forbidden and protected attributes.

The searches know only this: positions of attributes, who may be whose parent, and what comes
first. Protection (paper of 2022, section IV) is such a rule: a sensitive attribute has its target
as its only parent, or none, and is nobody's parent. So is protection from chosen attributes along
all paths, and that some attributes are kept as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import ParameterError, unknown_columns
from understudy.synthesis.bayes.network import Edge, Network, read_edges
from understudy.synthesis.bayes.separation import (
    Pair,
    check_separated,
    read_separation,
    separating,
)
from understudy.wording import quoted


@dataclass(frozen=True, eq=False)
class Constraints:
    """Rules for the structure over attributes 0 .. d - 1.

    Parameters
    ----------
    names : tuple of str
        The attributes.
    most : ndarray of int64, shape (d,)
        The largest number of parents of each attribute.
    allowed : ndarray of bool, shape (d, d)
        Whether ``allowed[child, parent]``.
    required : tuple of tuple of int
        Parents that each attribute must have.
    first : tuple of int
        Attributes that come first, in this order; all of them for a fixed order.
    apart : tuple of pairs of str
        Attributes that no path may link.
    kept : tuple of str
        Attributes that are kept as they are: they come first, and have no parents.
    """

    names: tuple[str, ...]
    most: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    required: tuple[tuple[int, ...], ...]
    first: tuple[int, ...] = ()
    apart: tuple[Pair, ...] = ()
    kept: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def with_given(self, given: Sequence[str], following: Mapping[str, str]) -> Constraints:
        """Return the rules of a network in which some attributes are known.

        Those that are `given` come first, and have no parents. Those `following` another one have
        that one as their only parent.
        """
        places = {name: place for place, name in enumerate(self.names)}
        allowed, most, required = self.allowed.copy(), self.most.copy(), list(self.required)
        known = [places[name] for name in given]
        allowed[known] = False
        most[known] = 0
        for follower, leader in following.items():
            row = places[follower]
            allowed[row] = False
            allowed[row, places[leader]] = True
            required[row], most[row] = (places[leader],), 1
        first = (*known, *(place for place in self.first if place not in known))
        return replace(self, most=most, allowed=allowed, required=tuple(required), first=first)

    def check(self, network: Network) -> None:
        """Raise with every way in which a user's network breaks the rules."""
        places = {name: place for place, name in enumerate(self.names)}
        problems = check_separated(network, self.apart, self.kept)
        for name, parents in network.parents.items():
            child = places[name]
            found = [places[parent] for parent in parents]
            problems += [
                f"{self.names[parent]!r} may not be a parent of {name!r}."
                for parent in found
                if not self.allowed[child, parent]
            ]
            if len(found) > self.most[child]:
                problems.append(
                    f"{name!r} has {len(found)} parents, more than the {self.most[child]} allowed."
                )
            problems += [
                f"{self.names[parent]!r} must be a parent of {name!r}."
                for parent in self.required[child]
                if parent not in found
            ]
        rank = {self.names[place]: number for number, place in enumerate(self.first)}
        problems += [
            f"{parent!r} is a parent of {child!r}, but the order puts it later."
            for parent, child in network.edges
            if child in rank and rank.get(parent, len(rank)) > rank[child]
        ]
        if problems:
            raise ParameterError(f"structure breaks the rules: {' '.join(problems)}")


def build_constraints(  # noqa: PLR0913  # the constraining arguments of BayesNet
    names: Sequence[str],
    *,
    parents: int,
    order: Sequence[str] | None = None,
    required: Sequence[Edge] | None = None,
    forbidden: Sequence[Edge] | None = None,
    protect: Mapping[str, str | None] | None = None,
    root: str | None = None,
    protect_from: Mapping[str, Sequence[str]] | None = None,
    keep: Sequence[str] = (),
    searched: bool = True,
) -> Constraints:
    """Return the rules that the arguments of `BayesNet` stand for, or say which cannot be met.

    A network that is `searched` for has no edges from which a path could come that must not be. A
    user's own is looked at as a whole, by `Constraints.check`.
    """
    names = tuple(names)
    wanted = read_edges(required or (), "required")
    unwanted = read_edges(forbidden or (), "forbidden")
    protected = read_protect(protect or {}, names)
    _check_known(names, [n for edge in wanted for n in edge], "required")
    _check_known(names, [n for edge in unwanted for n in edge], "forbidden")
    _check_known(names, [root] if root is not None else [], "root")
    places = {name: place for place, name in enumerate(names)}

    allowed = ~np.eye(len(names), dtype=bool)
    for parent, child in unwanted:
        allowed[places[child], places[parent]] = False
    most = np.full(len(names), parents, dtype=np.int64)
    must: dict[int, list[int]] = {place: [] for place in places.values()}
    for sensitive, target in protected.items():
        row = places[sensitive]
        kept = allowed[row, places[target]] if target is not None else False
        allowed[:, row] = False
        allowed[row] = False
        most[row] = int(kept)
        if target is not None:
            if not kept:
                raise ParameterError(f"protect: the edge {target!r} -> {sensitive!r} is forbidden.")
            allowed[row, places[target]] = True
            must[row].append(places[target])
    pairs = read_separation(protect_from, names)
    _check_keep(keep, wanted, {*protected, *(sensitive for sensitive, _ in pairs)})
    _check_targets(protected, pairs)
    if searched:
        allowed &= separating(pairs, names)
    for parent, child in wanted:
        if not allowed[places[child], places[parent]]:
            raise ParameterError(f"required: {parent!r} may not be a parent of {child!r}.")
        if places[parent] not in must[places[child]]:
            must[places[child]].append(places[parent])
    _check_required(names, must, most)
    needed = tuple(tuple(sorted(parents)) for parents in must.values())
    first = _first(places, order, protected, root)
    if order is None and searched:
        # What others may depend on comes before them.
        early = [places[name] for pair in pairs for name in pair if name not in keep]
        first = tuple(dict.fromkeys((*first, *_parents_first(early, must))))
    constraints = Constraints(names, most, allowed, needed, first, pairs, tuple(keep))
    _check_order(constraints)
    return constraints.with_given(keep, {}) if keep else constraints


def _parents_first(given: Sequence[int], must: Mapping[int, list[int]]) -> list[int]:
    """Return attributes in the order given, but each behind its required parents."""
    if not any(must.values()):
        return list(dict.fromkeys(given))
    import networkx as nx

    ranks = {place: rank for rank, place in enumerate(dict.fromkeys(given))}
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(ranks)
    graph.add_edges_from(
        (parent, child) for child in ranks for parent in must[child] if parent in ranks
    )
    return list(nx.lexicographical_topological_sort(graph, key=ranks.__getitem__))


def _check_keep(keep: Sequence[str], wanted: Sequence[Edge], sensitive: Collection[str]) -> None:
    for parent, child in wanted:
        if child in keep:
            raise ParameterError(
                f"required: {child!r} is kept as it is, so it cannot depend on {parent!r}."
            )
    shown = [name for name in keep if name in sensitive]
    if shown:
        raise ParameterError(
            f"keep: {quoted(shown)} is to be protected. Kept as it is, everyone could read it."
        )


def _check_targets(protected: Mapping[str, str | None], pairs: Sequence[Pair]) -> None:
    for sensitive, target in protected.items():
        alone = [other for own, other in pairs if own == sensitive]
        if target is not None and alone:
            raise ParameterError(
                f"protect draws {sensitive!r} from {target!r}, and protect_from wants it to be "
                f"independent of {quoted(alone)}. Give one of them: with protect_from alone, "
                f"{target!r} may depend on both."
            )


def read_protect(protect: Any, names: Sequence[str]) -> dict[str, str | None]:  # noqa: ANN401
    """Return the target of each sensitive attribute, None for one without, as a checked mapping."""
    if not isinstance(protect, Mapping):
        raise ParameterError(
            f"protect must be a mapping from a sensitive attribute to its target; got {protect!r}."
        )
    targets = [target for target in protect.values() if target is not None]
    if bad := [target for target in targets if not isinstance(target, str)]:
        raise ParameterError(f"protect: the target of a column must be one column; got {bad[0]!r}.")
    _check_known(names, [*protect, *targets], "protect")
    for sensitive, target in protect.items():
        if target in protect:
            raise ParameterError(
                f"protect: {target!r} is protected itself, so it cannot be the target of "
                f"{sensitive!r}."
            )
    return dict(protect)


def _check_known(names: Sequence[str], used: Sequence[str], argument: str) -> None:
    problems = unknown_columns(dict.fromkeys(used), names)
    if problems:
        raise ParameterError(f"{argument}: {' '.join(problems)}")


def _check_required(
    names: Sequence[str], must: Mapping[int, list[int]], most: NDArray[np.int64]
) -> None:
    for child, parents in must.items():
        if len(parents) > most[child]:
            raise ParameterError(
                f"required: {names[child]!r} must have {len(parents)} parents, but may have only "
                f"{most[child]}."
            )
    if not any(must.values()):
        return
    import networkx as nx

    graph = nx.DiGraph((parent, child) for child, found in must.items() for parent in found)
    if not nx.is_directed_acyclic_graph(graph):
        cycle = [names[parent] for parent, _ in nx.find_cycle(graph)]
        raise ParameterError(f"required has a cycle: {' -> '.join([*cycle, cycle[0]])}.")


def _first(
    places: Mapping[str, int],
    order: Sequence[str] | None,
    protected: Mapping[str, str | None],
    root: str | None,
) -> tuple[int, ...]:
    """Return the attributes that come first: a whole order, or the root and targets."""
    if order is not None:
        if sorted(order) != sorted(places):
            problems = unknown_columns(order, list(places)) + [
                f"{name!r} is not in it." for name in places if name not in order
            ]
            raise ParameterError(
                "order must hold every attribute once. " + " ".join(problems or ["One repeats."])
            )
        if root is not None and order[0] != root:
            raise ParameterError(f"order begins with {order[0]!r}, but root is {root!r}.")
        return tuple(places[name] for name in order)
    leading: dict[str, None] = {}
    for sensitive, target in protected.items():
        if target is not None:
            leading |= {target: None, sensitive: None}
    targets = {target for target in protected.values() if target is not None}
    if root is not None and targets and root not in targets:
        raise ParameterError(
            f"root is {root!r}, but a protected network begins with its target: "
            f"{', '.join(map(repr, sorted(targets)))}."
        )
    if root in protected:
        raise ParameterError(f"root: {root!r} is protected, so nothing can depend on it.")
    if root is not None:
        leading = {root: None} | leading
    return tuple(places[name] for name in leading)


def _check_order(constraints: Constraints) -> None:
    """Raise if a required parent cannot stand before its child."""
    rank = {place: number for number, place in enumerate(constraints.first)}
    for child, parents in enumerate(constraints.required):
        for parent in parents:
            if child in rank and rank.get(parent, len(rank)) > rank[child]:
                raise ParameterError(
                    f"{constraints.names[parent]!r} must be a parent of "
                    f"{constraints.names[child]!r}, but the order puts it later."
                )
