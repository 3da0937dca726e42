"""Identity and attribute risk on Social Diagnosis 2011, as in Table A.4 of the paper on CART.

``python -m studies sd2011-disclosure`` prints the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from studies.reproduction.printed import printed_tables
from understudy.arguments import check_whole
from understudy.data import Schema, fetch
from understudy.progress import track
from understudy.risk.disclosure import disclosure
from understudy.synthesis import Cart
from understudy.wording import markdown_table

KEYS = ("sex", "age", "region", "placesize")
TARGET = "depress"
PAPER_COLUMNS = (*KEYS, TARGET)
"""What the authors of the paper synthesize, and in which order: so says the code they publish."""
SYNTHPOP = (13.98, 9.33, 14.60)
"""The same three as means over a hundred syntheses by synthpop 1.9-3."""


@dataclass(frozen=True)
class DisclosureTable:
    """Identity and attribute risk of syntheses of Social Diagnosis 2011, in percent.

    Attributes
    ----------
    columns : tuple of str
        The columns that were synthesized.
    original : tuple of float
        UiO, and Dorig twice: what the three figures are for the original itself.
    syntheses : tuple of (float, float, float)
        For each synthesis repU, DiSCO, and DiSCO with the target set to 0 everywhere.
    """

    columns: tuple[str, ...]
    original: tuple[float, float, float]
    syntheses: tuple[tuple[float, float, float], ...]

    @property
    def mean(self) -> tuple[float, ...]:
        """The mean of each figure over the syntheses."""
        return tuple(np.mean(self.syntheses, axis=0).tolist())

    def to_markdown(self) -> str:
        """Return the table; if the columns are the paper's, with its and synthpop's figures."""
        lines = [
            ("original", self.original),
            *((f"synthesis {n}", found) for n, found in enumerate(self.syntheses, 1)),
            (f"mean of {len(self.syntheses)}", self.mean),
        ]
        if self.columns == PAPER_COLUMNS:
            paper = _paper()
            five = np.mean([paper[str(n)] for n in range(1, 6)], axis=0)
            lines += [
                ("synthpop 1.9-3, mean of 100", SYNTHPOP),
                ("paper, original", paper["original"]),
                ("paper, mean of 5", tuple(five.tolist())),
            ]
        return markdown_table(
            ["data", "repU", "DiSCO", f"DiSCO, {TARGET} = 0"],
            [[name, *(f"{value:.2f}" for value in row)] for name, row in lines],
        )


def _paper() -> dict[str, tuple[float, ...]]:
    """Return repU, DiSCO, and DiSCO with the target set to 0, as printed."""
    rows = printed_tables()["cart-a4"].rows
    names = {"Original data": "original"} | {f"Synthetic {n}": str(n) for n in range(1, 6)}
    return {own: tuple(cell.mean for cell in rows[name]) for name, own in names.items()}


def sd2011_disclosure(
    seeds: int = 20, *, columns: Sequence[str] | None = PAPER_COLUMNS
) -> DisclosureTable:
    """Return the risk figures of Table A.4 for CART syntheses.

    Parameters
    ----------
    seeds : int
        Syntheses; the model is fitted once, as all of them would fit the same trees.
    columns : sequence of str, optional
        What to synthesize, in this order; None for all columns in the order of the file. The keys
        and the target are among them.

    Raises
    ------
    DataError
        When there is no file of Social Diagnosis 2011; see `fetch`.

    References
    ----------
    .. [1] Latner, J., Neunhoeffer, M., Drechsler, J. Buyer Beware: Understanding the trade-off
       between utility and risk in CART based models using simulation data, Table A.4.
    """
    check_whole("seeds", seeds, 1)
    original = fetch("sd2011")
    if columns is not None:
        original = original.select(columns)
    model = Cart(smoothing_leaves=0, random_state=0).fit(
        original, Schema.infer(original, dependencies=False)
    )
    found = [
        _risks(original, model.sample(random_state=seed))
        for seed in track(range(seeds), "Synthesizing")
    ]
    unique, disclosed, _ = _risks(original, original)
    itself = (unique, disclosed, disclosed)
    return DisclosureTable(tuple(original.columns), itself, tuple(found))


def _risks(original: pl.DataFrame, synthetic: pl.DataFrame) -> tuple[float, float, float]:
    constant = synthetic.with_columns(pl.lit(0, synthetic.schema[TARGET]).alias(TARGET))
    told, untold = disclosure(original, [synthetic, constant], keys=KEYS, sensitive=TARGET)
    return 100 * told.repu, 100 * told.disco, 100 * untold.disco
