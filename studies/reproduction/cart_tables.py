"""The tables of the paper on CART: the unique record, and Social Diagnosis 2011."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.buyer_beware import synthesize, unique_copies
from studies.disclosure_counts import sd2011_disclosure
from studies.reproduction.found import Found
from understudy import risk
from understudy.data import load, load_syntheses
from understudy.synthesis import Cart
from understudy.synthesis.kernels import prune
from understudy.worlds.releases import CELLS, VARIABLES, cell_counts

MEASURES = ("identity", "attribute")


def unique_record(syntheses: int, processes: int) -> Found:  # noqa: ARG001  # it is quick
    """Return Table 1, Tables A.1 and A.2 with the average row, and footnote 4."""
    found = Found()
    original = load("buyer_beware")
    own = Cart(smoothing_leaves=0, random_state=0).fit(original)
    tables = own.sample(copies=max(syntheses, 2))
    told = [_risks(table) for table in tables]
    for row, runs in (("Original", [_risks(original)]), ("Synthetic", told)):
        for measure, figures in zip(MEASURES, zip(*runs, strict=True), strict=True):
            found.add("cart-1", row, measure, *figures)
    counts = synthesize(max(syntheses, 2))
    first = cell_counts(original)
    for place, cell in enumerate(CELLS):
        found.add("cart-a1", cell, "Original", first[place])
        for column in range(1, 11):
            found.add("cart-a1", cell, str(column), *counts[:, place])
    # Table A.2 is about the syntheses that the paper prints, so that ours must be the same.
    published = [_risks(table) for table in load_syntheses("buyer_beware")]
    rows = {"Original": _risks(original)}
    rows |= {f"Synthetic {number}": one for number, one in enumerate(published, 1)}
    rows["Average"] = tuple(np.mean(published, axis=0).tolist())
    for row, figures in rows.items():
        for measure, figure in zip(MEASURES, figures, strict=True):
            found.add("cart-a2", row, measure, figure)
    copies = unique_copies(100 * syntheses).copies.reshape(syntheses, 100)
    for number in range(4):
        beyond = np.minimum(copies, 3)
        found.add("cart-footnote4", "syntheses", str(number), *(beyond == number).sum(axis=1))
    return found


def _risks(release: object) -> tuple[float, float]:
    told = risk.disclosure(
        load("buyer_beware"), release, keys=VARIABLES[:3], sensitive=VARIABLES[3]
    )
    return 100 * told.repu, 100 * told.disco


def sd2011(syntheses: int, processes: int) -> Found:  # noqa: ARG001  # it is quick
    """Return Table A.4: risk on Social Diagnosis 2011, from a file of it."""
    table = sd2011_disclosure(max(syntheses, 2))
    columns = ("identity", "attribute", "attribute, depress = 0")
    found = Found()
    for column, own in zip(columns, table.original, strict=True):
        found.add("cart-a4", "Original data", column, own)
    for column, runs in zip(columns, zip(*table.syntheses, strict=True), strict=True):
        for row in (*(f"Synthetic {number}" for number in range(1, 6)), "Average"):
            found.add("cart-a4", row, column, *runs)
    with pruned_by_errors():
        like_rpart = sd2011_disclosure(max(syntheses, 2))
    for column, runs in zip(columns, zip(*like_rpart.syntheses, strict=True), strict=True):
        found.add("cart-a4", "Average, pruned by errors", column, *runs)
    return found


@contextmanager
def pruned_by_errors() -> Iterator[None]:
    """Let trees of categories keep a branch only if it misclassifies fewer records, as rpart does.

    The library has no such setting: a branch that changes the shares helps in drawing. It is here
    to show what the rule makes of the figures.
    """
    from understudy.synthesis.cart import trees

    before = trees.node_ends

    def ends(nodes: Any, cp: float) -> NDArray[np.int64]:  # noqa: ANN401  # has no types
        shares = nodes.value[:, 0, :]
        if shares.shape[1] == 1 or cp <= 0:
            return before(nodes, cp)
        found = np.arange(nodes.node_count)
        wrong = 1 - shares.max(axis=1) / shares.sum(axis=1)
        risk = wrong * nodes.weighted_n_node_samples / nodes.n_node_samples[0]
        left, right = map(np.ascontiguousarray, (nodes.children_left, nodes.children_right))
        prune(left, right, risk, cp * risk[0], found)
        return found

    trees.node_ends = ends
    try:
        yield
    finally:
        trees.node_ends = before
