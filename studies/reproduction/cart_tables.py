"""The tables of the paper on CART: the unique record, and Social Diagnosis 2011."""

from __future__ import annotations

import numpy as np

from studies.buyer_beware import synthesize, unique_copies
from studies.disclosure_counts import sd2011_disclosure
from studies.reproduction.found import Found
from understudy import risk
from understudy.data import load, load_syntheses
from understudy.synthesis import Cart
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
    return found
