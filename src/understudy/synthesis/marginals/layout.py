"""From which larger table the columns of each factor are summed, so that little is summed twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import combinations

import numpy as np

from understudy.synthesis.marginals.kernels import LayoutArrays
from understudy.synthesis.marginals.tree import Columns, Tree, cells_of, map_arrays, smallest_first


def layout_arrays(tree: Tree, factors: Sequence[Columns]) -> LayoutArrays:
    """Return where the tables of cliques, of factors and of sums between them lie."""
    sizes, cliques = tree.sizes, len(tree)
    inside = defaultdict(list)
    for columns in factors:
        inside[tree.clique_with(columns)].append(columns)
    clique_of: dict[Columns, int] = {}
    home_of: dict[Columns, Columns] = {}
    for clique, sets in inside.items():
        found = _homes(sets, tree.cliques[clique], sizes)
        home_of |= found
        clique_of |= dict.fromkeys({*sets, *found.values()}, clique)
    between = sorted(clique_of.keys() - set(factors))
    tables = [*tree.cliques, *factors, *(smallest_first(own, sizes) for own in between)]
    parts = [*factors, *between]
    number_of = {columns: cliques + place for place, columns in enumerate(parts)}
    homes = [number_of[home_of[own]] if own in home_of else clique_of[own] for own in parts]
    order = sorted(number_of.values(), key=lambda number: -len(tables[number]))
    pairs: list[tuple[Columns, Columns]] = [((), ())] * cliques
    pairs += [(tables[home], own) for home, own in zip(homes, tables[cliques:], strict=True)]
    return (
        np.cumsum([0, *(cells_of(own, sizes) for own in tables)], dtype=np.int64),
        np.array([*range(cliques), *homes], np.int64),
        np.array(order, np.int64),
        map_arrays(pairs, sizes),
    )


def _homes(
    sets: Iterable[Columns], clique: Columns, sizes: Sequence[int]
) -> dict[Columns, Columns]:
    """Return the union of sets that each is summed from, for those not summed from the clique.

    Examples
    --------
    >>> _homes([(0, 1), (1,), (2, 3)], (0, 1, 2, 3), [2, 3, 9, 9])
    {(1,): (0, 1)}
    """
    whole = cells_of(clique, sizes)
    left = set(sets)

    def pair(one: Columns, other: Columns) -> tuple[int, Columns, Columns]:
        return cells_of({*one, *other}, sizes), one, other

    pairs = [pair(one, other) for one, other in combinations(sorted(left), 2)]
    heapify(pairs)
    found: dict[Columns, Columns] = {}
    while pairs:
        cells, one, other = heappop(pairs)
        both = tuple(sorted({*one, *other}))
        parts = {one, other} - {both}
        # The clique is gone through once less for each part, and once for both.
        gone = len(parts) if both in left else len(parts) - 1
        if {one, other} <= left and len(parts) * cells < gone * whole:
            left -= parts
            found |= dict.fromkeys(parts, both)
            if both not in left:
                for third in sorted(left):
                    heappush(pairs, pair(both, third))
                left.add(both)
    return found
