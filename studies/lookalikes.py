"""Lookalikes in releases of which it is known how much of the original they hold.

``python -m studies lookalikes`` prints the table: for each release, the people with a lookalike,
and how many would have one at most if the release were fresh people.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

import polars as pl

from understudy.data import Schema, fetch, load
from understudy.errors import DataError
from understudy.progress import quietly, track
from understudy.risk import Lookalikes, lookalikes
from understudy.synthesis import BayesNet, Cart, GaussianCopula, Independent, Synthesizer
from understudy.wording import markdown_table

ISOLATED = 40
"""How many of the oddest people are copied among fresh ones."""


@dataclass(frozen=True)
class Half:
    """A table, and how many of its records are the original; as many others are fresh people."""

    title: str
    read: Callable[[], pl.DataFrame]
    size: int


HALVES = (
    Half("cmc", lambda: cast("pl.DataFrame", load("cmc")), 736),
    Half("Adult", lambda: fetch("adult_train"), 1500),
    Half("SD2011", lambda: fetch("sd2011"), 1000),
)


def releases_of(original: pl.DataFrame, fresh: pl.DataFrame, seed: int) -> dict[str, pl.DataFrame]:
    """Return releases by what they hold."""
    rows = original.height
    independent = _drawn(Independent(random_state=seed), original, seed)
    odd = lookalikes(original, fresh, random_state=seed).per_record()
    isolated = odd.sort("next_person", descending=True)["record"].head(ISOLATED)
    models: Mapping[str, Synthesizer] = {
        "CART, minbucket 5": Cart(minbucket=5, smoothing_leaves=0, random_state=seed),
        "CART, minbucket 75": Cart(minbucket=75, smoothing_leaves=0, random_state=seed),
        "greedy network, 3 parents": BayesNet(3, "greedy", smoothing=0, random_state=seed),
        "greedy network, 1 parent": BayesNet(1, "greedy", smoothing=0, random_state=seed),
        "Gaussian copula": GaussianCopula(random_state=seed),
    }
    return {
        "the other half (fresh people)": fresh,
        "independent": independent,
        **{
            f"copies of {share:.0%} and {what}": _with_copies(original, rest, round(share * rows))
            for share, what, rest in (
                (0.02, "fresh people", fresh),
                (0.1, "fresh people", fresh),
                (0.3, "independent", independent),
            )
        },
        f"the {ISOLATED} oddest and fresh people": pl.concat(
            [original[isolated], fresh.slice(ISOLATED)]
        ),
        **{name: _drawn(model, original, seed) for name, model in models.items()},
    }


def _drawn(model: Synthesizer, original: pl.DataFrame, seed: int) -> pl.DataFrame:
    with quietly():
        return cast(
            "pl.DataFrame",
            model.fit(original, Schema.infer(original, dependencies=False)).sample(
                random_state=seed
            ),
        )


def _with_copies(original: pl.DataFrame, rest: pl.DataFrame, count: int) -> pl.DataFrame:
    return pl.concat([original.head(count), rest.slice(count)], how="vertical_relaxed")


def lookalikes_markdown(seed: int = 1) -> str:
    """Return the table: a row for each release, a column for each original that is at hand."""
    cells: dict[str, dict[str, str]] = {}
    titles = []
    for half in track(HALVES, "Attacking"):
        try:
            table = half.read()
        except DataError:
            continue  # the user has to fetch it
        titles.append(half.title)
        drawn = table.sample(2 * half.size, shuffle=True, seed=seed)
        original, fresh = drawn.head(half.size), drawn.slice(half.size)
        for name, release in releases_of(original, fresh, seed).items():
            found = lookalikes(original, release, random_state=seed)
            cells.setdefault(name, {})[half.title] = in_words(found)
    rows = [[name, *(found[title] for title in titles)] for name, found in cells.items()]
    return markdown_table(["release", *titles], rows)


def in_words(found: Lookalikes) -> str:
    """Return people found, those expected, and the p-value; the power if there is no alarm."""
    counts = f"{found.found:.0f} / {found.expected:.0f}"
    if found.alarm:
        return f"**{counts}**, p {'< 0.001' if found.p_value < 0.001 else f'= {found.p_value:.3f}'}"
    return f"{counts}, {'no power' if math.isnan(found.power) else f'power {found.power:.1%}'}"
