"""What smoothing does to networks and trees: people described, people given away, use kept.

``python -m studies smoothing`` prints a table for each original: models with and without
smoothing, fitted to a random half of the people and judged by the other half, fresh people. With
``--keep FILE`` a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from studies.keeping import kept_or_made
from understudy.data import Schema, fetch, load, simulate
from understudy.errors import DataError, ParameterError
from understudy.learning.jobs import mapped
from understudy.progress import quietly, track
from understudy.risk import lookalikes, membership_exact, strong_attacker
from understudy.synthesis import BayesNet, Cart, Synthesizer
from understudy.synthesis.bayes.model import Search
from understudy.synthesis.bayes.smoothing import Smoothing
from understudy.utility import marginals, prediction, propensity
from understudy.wording import markdown_table, quoted

MOST_TRIPLES = 2000
"""Tables of three columns that are compared at most."""
OF_SHARES = 0.01
"""The part of a model without relations in every density, so that nobody is impossible."""
PERMUTATIONS = 5
FITS = 2
"""Fits, of which the quickest counts for the time: the first one may have to load what it needs."""


@dataclass(frozen=True)
class Table:
    """A table, how many of its records are the original, and the column that is predicted."""

    title: str
    read: Callable[[], pl.DataFrame]
    size: int
    target: str


TABLES = (
    Table("cmc", lambda: cast("pl.DataFrame", load("cmc")), 736, "method"),
    Table("Adult", lambda: fetch("adult_train"), 3000, "income"),
    Table("SD2011", lambda: fetch("sd2011"), 1000, "edu"),
    Table("fertility", lambda: fetch("fertility"), 50, "diagnosis"),
    Table(
        "credit card",
        lambda: cast("pl.DataFrame", simulate("credit_card", 6000)),
        3000,
        "Class",
    ),
)


def _network(
    parents: int, structure: Search, smoothing: Smoothing, *, halves: bool = False
) -> Callable[[int], Synthesizer]:
    """Return what fits a network with a seed.

    Numbers are coded alike by all of them, ends and all, so that likelihoods can be compared.
    """
    return lambda seed: BayesNet(
        parents, structure, smoothing=smoothing, ends=1, halves=halves, random_state=seed
    )


MODELS: dict[str, Callable[[int], Synthesizer]] = {
    "greedy, 1 parent": _network(1, "greedy", 0),
    "greedy, 2 parents": _network(2, "greedy", 0),
    "greedy, 3 parents": _network(3, "greedy", 0),
    "greedy, 3 parents, smoothed": _network(3, "greedy", "auto"),
    "genetic, 3 parents": _network(3, "genetic", 0),
    "genetic, 3 parents, smoothed": _network(3, "genetic", "auto"),
    "predictive": _network(3, "predictive", 0),
    "predictive, smoothed": _network(3, "predictive", "auto"),
    "predictive, smoothed, in halves": _network(3, "predictive", "auto", halves=True),
    "CART": lambda seed: Cart(smoothing_leaves=0, random_state=seed),
    "CART, smoothed": lambda seed: Cart(smoothing_leaves="auto", random_state=seed),
}
FRESH = "fresh people"
"""The other half of the people in the place of a release: what can be reached at best."""

FIGURES = {
    "fresh people, nats": "{:.1f}",
    "pairs": "{:.4f}",
    "triples": "{:.4f}",
    "predicted": "{:.1%}",
    "by a forest": "{:.1%}",
    "told apart": "{:.1f}",
    "lookalikes": "{:.0f}",
    "expected": "{:.0f}",
    "certain": "{:.0f}",
    "mean gain, bits": "{:.3f}",
    "largest gain, bits": "{:.1f}",
    "sure members": "{:.1%}",
    "fit, s": "{:.2f}",
}
"""The columns of the table, and how their numbers are written."""

Figures = dict[str, float]


def judge(table: Table, split: int, models: Sequence[str] | None = None) -> dict[str, Figures]:
    """Return the figures of models for one split of a table into original and fresh people."""
    drawn = table.read().sample(2 * table.size, shuffle=True, seed=split)
    original, fresh = drawn.head(table.size), drawn.slice(table.size)
    schema = Schema.infer(drawn, dependencies=False)  # so that all columns are modelled
    found = {FRESH: _use(table, original, fresh, fresh, split) | _lookalikes(original, fresh)}
    with quietly():
        shares = BayesNet(0, smoothing="auto", ends=1, halves=False).fit(original, schema)
        for name in MODELS if models is None else models:
            seconds = []
            for _ in range(FITS):
                begun = time.process_time()
                model = MODELS[name](split).fit(original, schema)
                seconds.append(time.process_time() - begun)
            release = cast("pl.DataFrame", model.sample(random_state=split))
            found[name] = {
                "fresh people, nats": _described(model, shares, fresh),
                **_use(table, original, release, fresh, split),
                **_lookalikes(original, release),
                **_given_away(model, original, release, table.target),
                "fit, s": min(seconds),
            }
    return {name: {key: float(one) for key, one in own.items()} for name, own in found.items()}


def _described(model: Synthesizer, shares: Synthesizer, fresh: pl.DataFrame) -> float:
    """Return the mean log likelihood of fresh people, in nats; nan if none can be coded.

    Trees know the numbers that occur: people with other numbers are left out.
    """
    _, known = model.codec_.encode_seen(fresh)
    if not known.any():
        return float("nan")
    people = fresh.filter(pl.Series(known))
    own = np.log1p(-OF_SHARES) + model.log_likelihood(people)
    return float(np.logaddexp(own, np.log(OF_SHARES) + shares.log_likelihood(people)).mean())


def _use(
    table: Table, original: pl.DataFrame, release: pl.DataFrame, fresh: pl.DataFrame, seed: int
) -> Figures:
    """Return how far tables of shares are off, and how well the target of fresh people is told."""
    # Fresh people are compared with the original, and releases with fresh people.
    other = original if release is fresh else fresh
    shares = marginals(other, release, ways=(2, 3), most_tables=MOST_TRIPLES)
    told = prediction(
        original,
        original if release is fresh else release,
        target=table.target,
        test=fresh,
        random_state=seed,
    )
    apart = propensity(other, release, models="logistic", permutations=PERMUTATIONS)
    return {
        "pairs": shares[2].mean,
        "triples": shares[3].mean,
        "predicted": told.mean.synthetic,
        "by a forest": told.classifiers["random_forest"].synthetic.accuracy,
        "told apart": apart.models["logistic"].permutation.ratio,
    }


def _lookalikes(original: pl.DataFrame, release: pl.DataFrame) -> Figures:
    found = lookalikes(original, release, random_state=0)
    return {"lookalikes": found.found, "expected": found.expected}


def _given_away(
    model: Synthesizer, original: pl.DataFrame, release: pl.DataFrame, target: str
) -> Figures:
    """Return what an attacker learns who knows the model and everyone else."""
    strong = strong_attacker(model, original, release, unknown=target, mode="fixed")
    members = membership_exact(model, original, release, draws=0)
    return {
        "certain": strong.certain,
        "mean gain, bits": strong.mean_gain,
        "largest gain, bits": strong.max_gain,
        "sure members": members.without.share_above(0.9),
    }


def smoothing_markdown(
    splits: int = 10,
    *,
    tables: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    processes: int = 1,
    seed: int = 0,
    keep: Path | None = None,
) -> str:
    """Return a table for each original that is at hand: means over splits.

    Splits that the file `keep` holds are not judged again, and others are added to it.
    """
    if models is not None and not set(models) <= set(MODELS):
        raise ParameterError(f"models must be names out of {quoted(MODELS)}; got {quoted(models)}.")
    wanted = [table for table in TABLES if tables is None or table.title in tables]
    if tables is not None and len(wanted) < len(tables):
        names = [table.title for table in TABLES]
        raise ParameterError(f"tables must be names out of {quoted(names)}; got {quoted(tables)}.")
    wanted = [table for table in wanted if _at_hand(table)]
    jobs = [(table.title, split) for table in wanted for split in range(seed, seed + splits)]

    def judge_splits(places: Sequence[int]) -> Iterator[dict[str, Figures]]:
        missing = [jobs[place] for place in places]
        with mapped(partial(_judged, models), missing, processes, must_travel=None) as found:
            yield from track(found, "Splitting", total=len(missing))

    asked = [{"table": title, "split": split, "models": models} for title, split in jobs]
    judged = dict(zip(jobs, kept_or_made(keep, asked, judge_splits), strict=True))
    parts = []
    for table in wanted:
        own = [judged[job] for job in jobs if job[0] == table.title]
        parts.append(f"**{table.title}**, {table.size:,} records, {splits} splits:")
        parts.append(_table_of(own))
    return "\n\n".join(parts)


def _at_hand(table: Table) -> bool:
    try:
        table.read()
    except DataError:
        return False  # the user has to fetch it
    return True


def _judged(models: Sequence[str] | None, job: tuple[str, int]) -> dict[str, Figures]:
    """Judge one split in whichever process; a table is known there by its title."""
    title, split = job
    (table,) = (table for table in TABLES if table.title == title)
    return judge(table, split, models)


def _table_of(judged: Sequence[dict[str, Figures]]) -> str:
    lines = []
    for name in judged[0]:
        cells: list[str] = []
        for figure, form in FIGURES.items():
            values = np.array([split[name].get(figure, np.nan) for split in judged])
            mean: Any = np.max(values) if figure.startswith("largest") else np.mean(values)
            cells.append("" if np.isnan(mean) else form.format(mean))
        lines.append([name, *cells])
    return markdown_table(["model", *FIGURES], lines)
