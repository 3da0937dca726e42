"""Figure A.1 for a table of one's own: what larger leaves and a higher cp protect, and cost.

``python -m studies cart-sweep survey.csv`` prints the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from studies.figures import CPS, MINBUCKETS
from studies.marginals import pair_distance
from understudy.arguments import check_whole
from understudy.data import Schema
from understudy.progress import track
from understudy.synthesis import Cart
from understudy.wording import markdown_table


@dataclass(frozen=True)
class Swept:
    """One setting of CART, as means over syntheses.

    Attributes
    ----------
    minbucket, cp
        The setting.
    expected : float
        Copies that a release is expected to hold of a record that is one of its kind in the
        original, by the density of the model: the mean over these records.
    copied : float
        The share of these records that a release holds.
    distance : float
        The mean total variation distance of the two-column tables from those of the original.
    """

    minbucket: int
    cp: float
    expected: float
    copied: float
    distance: float


def cart_sweep(
    table: pl.DataFrame,
    minbuckets: Sequence[int] = MINBUCKETS,
    cps: Sequence[float] = CPS,
    *,
    syntheses: int = 3,
    random_state: int = 0,
) -> list[Swept]:
    """Return what each least size of a leaf, and each complexity parameter, protects and costs.

    Parameters
    ----------
    table : polars.DataFrame
        The original.
    minbuckets, cps : sequence
        The settings; one of the two is at its default while the other varies, as in the paper.
    syntheses : int
        Tables that are drawn with each setting.
    random_state : int
        Decides the draws.

    References
    ----------
    .. [1] Latner, J., Neunhoeffer, M., Drechsler, J. Buyer Beware: Understanding the trade-off
       between utility and risk in CART based models using simulation data, Figure A.1.
    """
    check_whole("syntheses", syntheses, 1)
    settings = [(value, CPS[0]) for value in minbuckets]
    settings += [(MINBUCKETS[0], value) for value in cps if value != CPS[0]]
    schema = Schema.infer(table, dependencies=False)
    single = table.is_unique()
    found = []
    for minbucket, cp in track(settings, "Synthesizing"):
        model = Cart(minbucket, cp, smoothing_leaves=0, random_state=random_state)
        model.fit(table, schema)
        drawn = model.sample(copies=syntheses)
        releases = drawn if syntheses > 1 else [drawn]
        own = table.filter(single)
        copied = [len(own.join(one.unique(), on=own.columns, how="semi", nulls_equal=True))
                  for one in releases]  # fmt: skip
        found.append(
            Swept(
                minbucket,
                cp,
                float(np.mean(model.expected_copies(own))) if len(own) else float("nan"),
                float(np.mean(copied)) / len(own) if len(own) else float("nan"),
                float(np.mean([pair_distance(table, one) for one in releases])),
            )
        )
    return found


def sweep_markdown(table: pl.DataFrame, found: Sequence[Swept]) -> str:
    """Return a line for each setting, and what the columns mean."""
    single = int(table.is_unique().sum())
    lines = [
        [
            str(one.minbucket),
            f"{one.cp:g}",
            f"{one.expected:.3f}",
            f"{100 * one.copied:.1f}%",
            f"{one.distance:.3f}",
        ]
        for one in found
    ]
    heads = ["minbucket", "cp", "copies expected", "one of a kind, copied", "distance of pairs"]
    return (
        f"{len(table):,} records, of which {single:,} are one of a kind. The first two figures are "
        "about these: how many copies of one a release is expected to hold, and how many a release "
        "holds. The last is what it costs: how far the two-column tables lie from the original's, "
        f"from 0 to 1.\n\n{markdown_table(heads, lines)}"
    )
