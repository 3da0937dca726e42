"""What the strong attacker makes of the paper's syntheses, and what protects against it.

``python -m studies sixteen-worlds`` prints both tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from understudy.data import load, load_syntheses
from understudy.progress import track
from understudy.risk import StrongAttack, disclosure, strong_attacker
from understudy.synthesis import Cart
from understudy.wording import markdown_table
from understudy.worlds.cells import CELLS, UNIQUE, VARIABLES, cell_counts
from understudy.worlds.releases import RECORD

SETTINGS = ((5, 1e-8), (75, 1e-8), (5, 0.05))
"""minbucket and cp: the defaults, and the two that the paper found to protect."""


@dataclass(frozen=True, eq=False)
class Attacked:
    """One release, and what the strong attacker learns from it.

    Parameters
    ----------
    name : str
        Which release.
    copies : int
        Synthetic records with the values of the unique one.
    repu, disco : float
        Replicated uniques and correct attribute disclosures: shares of all records, with the first
        three variables as keys and the fourth as target.
    refit : StrongAttack
        The attack on the unique record, with CART fitted anew in each of the 16 worlds.
    fixed : StrongAttack
        The attack on all records, with the trees as published.
    """

    name: str
    copies: int
    repu: float
    disco: float
    refit: StrongAttack
    fixed: StrongAttack

    @classmethod
    def of(cls, name: str, model: Cart, release: pl.DataFrame) -> Attacked:
        """Attack a release; nothing is known of the record, and all 16 worlds are alike before."""
        original = load("buyer_beware")
        told = disclosure(original, release, keys=VARIABLES[:3], sensitive=VARIABLES[3])
        return cls(
            name,
            int(cell_counts(release)[CELLS.index(UNIQUE)]),
            told.repu,
            told.disco,
            strong_attacker(model, original, release, mode="refit", records=[RECORD]),
            strong_attacker(model, original, release),
        )


def published_syntheses() -> list[Attacked]:
    """Attack the ten syntheses that the paper prints."""
    model = Cart(random_state=0).fit(load("buyer_beware"))
    tables = load_syntheses("buyer_beware")
    return [
        Attacked.of(f"synthesis {number}", model, table)
        for number, table in enumerate(track(tables, "Attacking releases"), 1)
    ]


def attacked_markdown(attacked: Iterable[Attacked]) -> str:
    """Return a line for each release."""
    return markdown_table(
        (
            "release",
            "copies",
            "repU",
            "DiSCO",
            "posterior, refit",
            "posterior, fixed",
            "certain of 1,000",
            "mean gain",
            "largest gain",
        ),
        [
            (
                one.name,
                str(one.copies),
                f"{one.repu:.2%}",
                f"{one.disco:.2%}",
                f"{one.refit.posterior[0]:.4f}",
                f"{one.fixed.posterior[RECORD]:.4f}",
                str(one.fixed.certain),
                f"{one.fixed.mean_gain:.3f} bits",
                f"{one.fixed.max_gain:.2f} bits",
            )
            for one in attacked
        ],
    )


@dataclass(frozen=True)
class Protection:
    """The posterior of the unique record over many releases with one setting of CART."""

    minbucket: int
    cp: float
    posteriors: tuple[float, ...]

    @property
    def certain(self) -> int:
        """Releases after which the record is certain."""
        return sum(posterior >= 1 - 1e-12 for posterior in self.posteriors)


def protections(releases: int = 100, random_state: int = 0) -> list[Protection]:
    """Attack many releases with each of the settings, in refit mode."""
    original = load("buyer_beware")
    found = []
    for minbucket, cp in SETTINGS:
        model = Cart(minbucket, cp, random_state=random_state).fit(original)
        tables = model.sample(copies=releases)
        posteriors = [
            float(
                strong_attacker(model, original, table, mode="refit", records=[RECORD]).posterior[0]
            )
            for table in track(tables, f"Attacking minbucket {minbucket}, cp {cp:g}")
        ]
        found.append(Protection(minbucket, cp, tuple(posteriors)))
    return found


def protections_markdown(found: Iterable[Protection]) -> str:
    """Return a line for each setting; the prior is one in 16."""
    lines = []
    for one in found:
        low, middle, high = np.quantile(one.posteriors, [0.05, 0.5, 0.95])
        lines.append(
            (
                str(one.minbucket),
                f"{one.cp:g}",
                f"{np.mean(one.posteriors):.4f}",
                f"{middle:.4f}",
                f"{low:.4f} to {high:.4f}",
                f"{one.certain} of {len(one.posteriors)}",
            )
        )
    heads = ("minbucket", "cp", "mean posterior", "median", "from 5% to 95%", "certain")
    return markdown_table(heads, lines)
