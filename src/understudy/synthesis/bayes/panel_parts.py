"""The parameters of a network for a part of a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.synthesis.bayes.network import Edge, read_edges, read_graph
from understudy.synthesis.panel.parts import Part
from understudy.synthesis.panel.settings import protection_for, settings_for

if TYPE_CHECKING:
    from understudy.synthesis.bayes.model import BayesNet


def network_params(model: BayesNet, part: Part) -> BayesNet:
    """Return an unfitted network with the parameters of `model` that concern a part of a panel.

    An edge that is forbidden is so from the record before, too. A network that was given is that
    of each record; a column depends on itself in the record before as well.
    """
    own = model.clone()
    own.smoothing = settings_for(model.smoothing, part)
    own.protect = protection_for(model.protect, part)
    own.root = model.root if part.is_first else None
    own.order = None
    if model.order is not None:
        drawn = [name for name in model.order if name in part.drawn]
        rest = [name for name in part.drawn if name not in drawn]
        own.order = [*part.given, *drawn, *rest]
    edges = read_edges(model.required or (), "required")
    own.required = [edge for edge in edges if edge[0] in part.names and edge[1] in part.drawn]
    own.forbidden = _forbidden(model, part)
    if not isinstance(model.structure, str):
        own.structure = _structure(model, part)
        own.parents = max((len(parents) for parents in own.structure.values()), default=0)
    return own


def _forbidden(model: BayesNet, part: Part) -> list[Edge]:
    edges = read_edges(model.forbidden or (), "forbidden")
    edges += [(part.before[parent], child) for parent, child in edges if parent in part.before]
    return [edge for edge in edges if edge[0] in part.names and edge[1] in part.drawn]


def _structure(model: BayesNet, part: Part) -> dict[str, list[str]]:
    found = read_graph(model.structure, model.codec_.names, order=model.order)
    parents: dict[str, list[str]] = {name: [] for name in part.given}
    for name in (*found.names, *part.drawn):
        if name in part.drawn and name not in parents:
            before = [part.before[name]] if name in part.before else []
            own = [parent for parent in found.parents.get(name, ()) if parent in part.names]
            parents[name] = [*before, *own]
    return parents
