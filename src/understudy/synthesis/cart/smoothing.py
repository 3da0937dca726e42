"""How far the leaves of a tree are drawn towards the nodes above them.

Left-out records decide, if the user does not. Of a category they ask how probable its code is. Of
a number that would not do: where every number differs, none is ever found among the others, and
all leaves would seem to tell nothing. So of a number they ask how probable its group is, among
groups of the numbers in the node above. These get as fine as the nodes do.

A record that is left out has still helped to choose the splits, so that these seem to tell more
than they do. A level of splits must therefore tell enough to be believed: see `SLACK` and
`FOR_A_SPLIT`.
"""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import is_number
from understudy.data.coded import Codes
from understudy.errors import ParameterError
from understudy.synthesis.bayes.smoothing import AUTO
from understudy.synthesis.shrinkage import (
    NestedRows,
    Probabilities,
    best_strength,
    fit_levels,
)

LeafSmoothing: TypeAlias = Literal["auto"] | float
"""How many records a node is worth to those below it, at all depths alike if it is a number."""

MOST_GROUPS = 20
"""Groups of the numbers in a node, at most, that left-out numbers are looked for in.

A node of few records has fewer: half as many as records, so that a left-out one is not always alone
in its group; but two at least.
"""

SLACK = 3.0
"""A weaker smoothing must make the left-out records more probable by this much, in nats.

That is 20 times as probable, all records of a level together. Without it, levels that gain next to
nothing multiply: a value that a node hardly ever has becomes next to impossible some levels below,
and whoever has it there is given away by a single draw.
"""

FOR_A_SPLIT = 1.0
"""Of categories, it must gain this much for each split of the level, in nats, if that is more.

The splits were chosen to tell these very categories of these very records. Each of hundreds gains
a little by that alone, and together they would seem to tell enough. Splits of numbers are chosen by
squares, and groups of numbers judge them.
"""


def check_leaf_smoothing(smoothing: Any) -> None:  # noqa: ANN401  # whatever a user gave
    """Raise if a smoothing of leaves, of one column or of all, cannot be used."""
    automatic = isinstance(smoothing, str) and smoothing == AUTO
    if not automatic and not (is_number(smoothing) and 0 <= smoothing < math.inf):
        raise ParameterError(
            f"smoothing_leaves must be 'auto', or a number of records from 0; got {smoothing!r}."
        )


def leaf_strengths(
    smoothing: LeafSmoothing,
    rows: NestedRows,
    donors: Codes,
    base: Probabilities,
    *,
    numbers: bool,
) -> NDArray[np.float64]:
    """Return how many records the row above is worth, for each depth from all records on.

    `numbers` says that the donors are codes of numbers, in their order.

    Examples
    --------
    All of 100 records in one leaf have a 0, all in the other a 1. So leaves tell a lot, and what
    is above them is worth few records:

    >>> rows = NestedRows.of(np.array([[0], [1]], np.uint8), np.array([0, 100]), 200)
    >>> donors = np.repeat(np.array([0, 1], np.uint8), 100)
    >>> leaf_strengths("auto", rows, donors, np.full(2, 0.5), numbers=False)[1].round(1)
    np.float64(2.8)
    >>> leaf_strengths(5, rows, donors, np.full(2, 0.5), numbers=False)
    array([5., 5.])
    """
    if not isinstance(smoothing, str):
        return np.full(rows.levels, smoothing, np.float64)
    if numbers:
        return _fit_number_strengths(rows, donors, base)
    slacks = [max(SLACK, FOR_A_SPLIT * rows.splits(level)) for level in range(1, rows.levels)]
    return np.array(fit_levels(rows, donors, base, slacks=slacks).strengths)


def _fit_number_strengths(
    rows: NestedRows, donors: Codes, base: Probabilities
) -> NDArray[np.float64]:
    """Return the strengths with which the groups of left-out numbers are most probable."""
    from understudy.synthesis.cart.kernels import count_groups, sort_within

    nodes = rows.starts, rows.lengths, rows.above
    count = len(donors)
    order = np.argsort(donors, kind="stable").astype(np.int32)
    records = order, donors[order].astype(np.int32)
    firsts = np.zeros((rows.levels, count), np.int32)
    cumulative = np.concatenate([[0.0], np.cumsum(base)])
    strengths = np.zeros(rows.levels)
    # Each cell holds a record, so there are no more of them.
    joint, whole, shares = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count)
    cells = joint, whole, shares
    for level in range(rows.levels):
        higher = records
        if level:
            records = np.empty_like(order), np.empty_like(records[1])
            sort_within(level, nodes, rows.bounds, higher, records, firsts[level])
        codes, known = (higher[1], records[1]), (firsts, strengths, cumulative)
        found = count_groups(level, nodes, rows.bounds, codes, known, MOST_GROUPS, cells)
        counts, slack = (joint[:found], whole[:found]), SLACK if level else 0.0
        strengths[level], _ = best_strength(counts, shares[:found], 1, slack)
    return strengths
