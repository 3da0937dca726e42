"""The parameters of a network for a part of a panel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from understudy.synthesis.bayes.network import Edge, read_edges
from understudy.synthesis.panel.parts import Part
from understudy.synthesis.panel.settings import protection_for, settings_for

if TYPE_CHECKING:
    from understudy.synthesis.bayes.model import BayesNet


def set_network_params(own: BayesNet, model: BayesNet, part: Part) -> None:
    """Give a copy of `model` the parameters that concern a part of a panel.

    An edge that is forbidden is so from the record before, too. A network that was given is that
    of each record; a column depends on itself in the record before as well.
    """
    own.smoothing = settings_for(model.smoothing, part)
    own.protect = protection_for(model.protect, part)
    own.root = model.root if not part.given and model.root in part.drawn else None
    own.order = None
    if model.order is not None:
        wanted = [name for name in model.order if part.drawing(name)]
        own.order = [*part.given, *_in_order(part, wanted)]
    edges = read_edges(model.required or (), "required")
    own.required = _edges(part, edges)
    unwanted = read_edges(model.forbidden or (), "forbidden")
    own.forbidden = _edges(part, unwanted)
    for names in (part.before, part.changes):
        further = [(names[parent], child) for parent, child in unwanted if parent in names]
        own.forbidden += _edges(part, further)
    if not isinstance(model.structure, str):
        structure = _structure(model, part)
        own.structure = structure
        own.parents = max((len(parents) for parents in structure.values()), default=0)


def _in_order(part: Part, wanted: Sequence[str]) -> list[str]:
    """Return what a part draws, first what is wanted, and what follows after its changes."""
    found: list[str] = []
    for name in (*wanted, *part.changes, *part.drawn):
        found += [one for one in (part.drawing(name), name) if one is not None]
    return list(dict.fromkeys(found))


def _edges(part: Part, edges: Sequence[Edge]) -> list[Edge]:
    """Return edges between the columns of a part, to those that it draws."""
    found = [(parent, part.drawing(child)) for parent, child in edges if parent in part.names]
    return [(parent, child) for parent, child in found if child is not None and parent != child]


def _structure(model: BayesNet, part: Part) -> dict[str, list[str]]:
    found = model.given_network(model.codec_.names)
    parents: dict[str, list[str]] = {name: [] for name in part.given}
    for name in (*found.names, *part.drawn):
        drawn = part.drawing(name)
        if drawn is None or drawn in parents:
            continue
        before = [part.before[name]] if name in part.before else []
        parents[drawn] = [*before, *(p for p in found.parents.get(name, ()) if p in part.names)]
        if drawn != name:
            parents[name] = [drawn]
    return parents
