"""What the budget is spent on, decided from what is public: records, columns and epsilon."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.synthesis.marginals.questions import EXPECTED_NOISE
from understudy.synthesis.marginals.workload import Candidates

if TYPE_CHECKING:
    from understudy.privacy import Accountant

FOR_COLUMNS = Fraction(1, 5)
"""The part of the budget that the tables of single columns cost, before links are looked for."""

FOR_CHOICE = Fraction(1, 10)
"""The part of a round's budget that the choice of a table costs; its counts cost the rest."""

MOST_NOISE = 0.06
"""Pairs are of no use if noise moves more than this part of the records, on average.

Columns that are drawn independently are nearer to the original then, with all of the budget. The
shares above were chosen on Adult, and this limit on Adult, cmc and SD2011: these are public tables,
so that no user's record decides them.
"""


def noise_share(cells: NDArray[np.int64], scale: float, rows: float) -> NDArray[np.float64]:
    """Return how large noise is beside the records of tables with so many cells, on average."""
    return EXPECTED_NOISE * scale / (2 * rows) * cells.astype(np.float64)


def can_show_links(candidates: Candidates, accountant: Accountant, rows: int) -> bool:
    """Return whether the budget is enough to measure links between columns.

    It is if a tree of the smallest pairs, one for each column but the first, would be of use.
    """
    pairs = [
        int(cells)
        for own, cells in zip(candidates.sets.columns, candidates.cells, strict=True)
        if len(own) > 1
    ]
    # No more links are paid for than the workload asks for.
    links = min(len(candidates.sizes) - 1, len(pairs))
    if not links:
        return False
    cost = accountant.left * (1 - FOR_COLUMNS) * (1 - FOR_CHOICE) / links
    smallest = np.sort(np.array(pairs, np.int64))[:links]
    shares = noise_share(smallest, accountant.scale_of(cost), rows)
    return bool(shares.mean() <= MOST_NOISE)
