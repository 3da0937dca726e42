"""What a tree is like, in a few numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from understudy.synthesis.cart.sequence import TreeSequence


@dataclass(frozen=True)
class TreeSummary:
    """What one tree is like.

    Parameters
    ----------
    column : str
        The column that it explains.
    part : {"kind", "value"}
        Whether it draws the kind of a number, or the value.
    stratum : str
        The part of the records that it was grown on; empty if all.
    leaves, depth : int
        Its size.
    smallest_leaf : int
        Records in its smallest leaf.
    uses : dict
        How many splits look at each column, the most used first.
    """

    column: str
    part: str
    stratum: str
    leaves: int
    depth: int
    smallest_leaf: int
    uses: dict[str, int]


def summarize(sequence: TreeSequence, stratum: str) -> Iterator[TreeSummary]:
    """Yield a summary of each tree, in the order in which the columns are drawn."""
    names = [feature.name for feature in sequence.features]
    for column in sequence.columns:
        for part, model in column.parts.items():
            yield TreeSummary(
                column.feature.name,
                part,
                stratum,
                model.tree.leaves,
                model.tree.depth,
                int(model.leaf_sizes.min()),
                {names[place]: times for place, times in model.uses().items()},
            )
