"""The compiled loop of the attack on whole units: a release in worlds that differ in many records.

Where one record changes, a few sums tell how the probability of a release moves. Where all records
of a unit change at once, they meet in rows and values in every way. So the counts are changed, the
synthetic records are drawn from them once more, and the counts are changed back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from understudy.counting.compiling import kernel
from understudy.synthesis.sampler import IMPOSSIBLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from understudy.risk.strong.kernels import Standing


class Draws(NamedTuple):
    """The synthetic records of a table, those that stand alike once.

    Parameters
    ----------
    standing : Standing
        Where they stand.
    times : ndarray of int64
        How many stand there.
    strengths, base : ndarray of float64
        See `Shrinkage`; empty if rows are drawn from as they are.
    fewest : int
        Records of a row that is used, at least.
    """

    standing: Standing
    times: NDArray[np.int64]
    strengths: NDArray[np.float64]
    base: NDArray[np.float64]
    fewest: int


@kernel
def _share(draws: Draws, entry: int, nodes: NDArray[np.int64], cells: NDArray[np.int64]) -> float:
    """Return with which probability a value is drawn, given the records in each row and cell."""
    values, own_nodes, own_cells = draws.standing
    share = draws.base[values[entry]] if len(draws.base) else 0.0
    for level in range(len(own_nodes)):
        node, cell = own_nodes[level, entry], own_cells[level, entry]
        if node < 0 or nodes[node] < draws.fewest:
            if len(draws.base):
                continue  # passed over; below it, there may be none either
            break
        hits = cells[cell] if cell >= 0 else 0
        if len(draws.base):
            strength = draws.strengths[level]
            share = (hits + strength * share) / (nodes[node] + strength)
        else:
            share = hits / nodes[node]
    return share


@kernel
def shares_of(
    draws: Draws,
    nodes: NDArray[np.int64],
    cells: NDArray[np.int64],
    shares: NDArray[np.float64],
) -> None:
    """Put the probability of each synthetic value into `shares`."""
    for entry in range(len(draws.times)):
        shares[entry] = _share(draws, entry, nodes, cells)


@kernel
def _count(
    standing: Standing,
    place: int,
    by: int,
    nodes: NDArray[np.int64],
    cells: NDArray[np.int64],
) -> None:
    """Add a record that stands somewhere to the counts, or take it away."""
    values, own_nodes, own_cells = standing
    if values[place] < 0:
        return
    for level in range(len(own_nodes)):
        node, cell = own_nodes[level, place], own_cells[level, place]
        if node >= 0:
            nodes[node] += by
        if cell >= 0:
            cells[cell] += by


@kernel
def _is_impossible(standing: Standing, start: int, stop: int) -> bool:
    """Whether the structure has no place for one of some records."""
    values = standing[0][start:stop]
    return bool((values == IMPOSSIBLE).any())


@kernel
def _moved(
    draws: Draws,
    nodes: NDArray[np.int64],
    cells: NDArray[np.int64],
    shares: NDArray[np.float64],
) -> float:
    """Return how the log likelihood of the draws has moved since values had these `shares`."""
    moved = 0.0
    for entry in range(len(draws.times)):
        share = _share(draws, entry, nodes, cells)
        if share <= 0.0:
            return -np.inf
        if share != shares[entry]:
            moved += draws.times[entry] * np.log(share / shares[entry])
    return moved


@kernel
def add_world_logs(
    draws: Draws,
    counts: tuple[NDArray[np.int64], NDArray[np.int64]],
    shares: NDArray[np.float64],
    leaving: tuple[Standing, NDArray[np.int64], NDArray[np.int64]],
    joining: tuple[Standing, NDArray[np.int64], NDArray[np.int64]],
    total: NDArray[np.float64],
) -> None:
    """Add to `total` how the log likelihood of the draws moves in each world.

    `counts` are the records of each node and cell, and `shares` what follows from them. In world w
    the records from `starts[w]` to `stops[w]` of those that leave do so, and others join; either is
    (where they stand, starts, stops). Minus infinity for a world in which the draws are impossible.
    """
    nodes, cells = counts
    (old, old_starts, old_stops), (new, new_starts, new_stops) = leaving, joining
    for world in range(len(total)):
        if total[world] == -np.inf:
            continue
        if _is_impossible(new, new_starts[world], new_stops[world]):
            total[world] = -np.inf
            continue
        for place in range(old_starts[world], old_stops[world]):
            _count(old, place, -1, nodes, cells)
        for place in range(new_starts[world], new_stops[world]):
            _count(new, place, 1, nodes, cells)
        total[world] += _moved(draws, nodes, cells, shares)
        for place in range(old_starts[world], old_stops[world]):
            _count(old, place, 1, nodes, cells)
        for place in range(new_starts[world], new_stops[world]):
            _count(new, place, -1, nodes, cells)
