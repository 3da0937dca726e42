"""What a structure search returns: an order of the attributes, and each one's parents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from understudy.synthesis.bayes.network import Network


@dataclass(frozen=True)
class Structure:
    """A network over attributes that are known by their positions.

    Parameters
    ----------
    order : tuple of int
        The attributes in the order in which they are drawn.
    parents : tuple of tuple of int
        The parents of attribute 0, 1, ..., each increasing.
    """

    order: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]

    def to_network(self, names: Sequence[str]) -> Network:
        """Return the network of the attributes with these names."""
        return Network(
            {names[child]: tuple(names[p] for p in self.parents[child]) for child in self.order}
        )
