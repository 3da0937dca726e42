"""MST: measures a tree of pairs of columns that depend most on each other.

McKenna, Miklau, Sheldon (2021), Winning the NIST contest: a scalable and general approach to
differentially private synthetic data, doi:10.29012/jpc.778.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from understudy.progress import track
from understudy.synthesis.marginals.measurement import Measurement
from understudy.synthesis.marginals.questions import Questions
from understudy.synthesis.marginals.tree import Columns, cells_of
from understudy.synthesis.marginals.workload import distance

FOR_TREE = Fraction(1, 2)
"""The part of what is left after single columns that the choice of the tree costs."""


def mst(
    questions: Questions, known: Sequence[Measurement], total: float, most_cells: float
) -> list[Measurement]:
    """Return measurements for all that is left of the budget, beside those that are known.

    Parameters
    ----------
    questions : Questions
        What may be asked.
    known : sequence of Measurement
        The tables of single columns, and of pairs that are in the tree already.
    total : float
        The number of records.
    most_cells : float
        How many cells a pair may have.
    """
    import networkx as nx

    sizes = questions.sizes
    tree: nx.Graph[int] = nx.Graph()
    tree.add_nodes_from(range(len(sizes)))
    tree.add_edges_from(one.columns for one in known if len(one.columns) == 2)
    pairs = {
        number: own
        for number, own in enumerate(questions.candidates.sets.columns)
        if len(own) == 2 and cells_of(own, sizes) <= most_cells
    }
    scores = np.zeros(len(questions.candidates))
    shares = {one.columns[0]: _shares(one) for one in known if len(one.columns) == 1}
    for number, (one, other) in pairs.items():
        expected = np.outer(shares[one], shares[other]) * total
        counts = questions.candidates.table(number, questions.counts)
        scores[number] = distance(counts, expected)
    whole = tree.copy()
    whole.add_edges_from(pairs.values())
    links = nx.number_connected_components(tree) - nx.number_connected_components(whole)
    budget = questions.accountant.left
    chosen: list[Columns] = []
    for _ in track(range(links), "Choosing pairs of columns"):
        joined = {place: part for part in nx.connected_components(tree) for place in part}
        open_pairs = np.array(
            [number for number, (one, other) in pairs.items() if other not in joined[one]], np.int64
        )
        cost = budget * FOR_TREE / links
        number = questions.choose("a pair of columns for the tree", scores, open_pairs, cost)
        tree.add_edge(*pairs[number])
        chosen.append(pairs[number])
    rest = chosen or [(column,) for column in range(len(sizes))]
    return [*known, *questions.measure_all(rest, questions.accountant.left)]


def _shares(measurement: Measurement) -> NDArray[np.float64]:
    counts = np.maximum(measurement.counts, 0.0)
    whole = counts.sum()
    return counts / whole if whole else np.full(len(counts), 1 / len(counts))
