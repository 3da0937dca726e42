"""The risk of private releases by our own attacks, beside those of trees and networks.

``python -m studies private-risk`` prints the table: for each release, the people with a lookalike,
how often a sensitive value is guessed by keys, and how well members are told from others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import polars as pl

from understudy.arguments import check_choice
from understudy.data import Schema, fetch, load
from understudy.errors import DataError
from understudy.progress import quietly, track
from understudy.risk import Lookalikes, attribution, lookalikes, membership_by_control
from understudy.synthesis import BayesNet, Cart, DPMarginals, Independent, Synthesizer
from understudy.wording import counted, markdown_table, percent

EPSILONS = (0.1, 1.0, 10.0)
BINS = 8


@dataclass(frozen=True)
class Scene:
    """A table of which some records are the original and as many are others, and the attack."""

    title: str
    read: Callable[[], pl.DataFrame]
    size: int
    keys: tuple[str, ...]
    sensitive: str


SCENES = (
    Scene("cmc", lambda: cast("pl.DataFrame", load("cmc")), 736, ("age", "education"), "method"),
    Scene(
        "Adult",
        lambda: fetch("adult_train").drop("fnlwgt"),
        10_000,
        ("age", "education", "sex"),
        "marital_status",
    ),
)


def public_schema(table: pl.DataFrame) -> Schema:
    """Return the schema of a table that is public itself, so that all of it may be known."""
    schema = Schema.infer(table, bins=BINS, binning="width", dependencies=False)
    for column in schema:
        if column.binned and column.range is None:
            values = table[column.name]
            schema = schema.edit(column.name, range=(values.min(), values.max()))
    return schema.as_public()


def models(seed: int) -> dict[str, tuple[Synthesizer, bool]]:
    """Return synthesizers by name, and whether they need the public schema."""
    found: dict[str, tuple[Synthesizer, bool]] = {
        "CART": (Cart(random_state=seed), False),
        "CART, leaves not smoothed": (Cart(smoothing_leaves=0, random_state=seed), False),
        "network": (BayesNet(random_state=seed), False),
        "network, not smoothed": (BayesNet(3, "greedy", smoothing=0, random_state=seed), False),
        "independent": (Independent(random_state=seed), False),
    }
    for epsilon in EPSILONS:
        found[f"AIM, epsilon {epsilon:g}"] = (DPMarginals(epsilon, random_state=seed), True)
        found[f"PrivBayes, epsilon {epsilon:g}"] = (
            BayesNet(epsilon=epsilon, random_state=seed),
            True,
        )
    return found


def private_risk_markdown(table: str | None = None, seed: int = 1, releases: int = 10) -> str:
    """Return a table of risks for each scene that is at hand, or for the one that is named."""
    if table is not None:
        check_choice("table", table, [scene.title for scene in SCENES])
    parts = []
    for scene in SCENES:
        if table not in (None, scene.title):
            continue
        try:
            records = scene.read()
        except DataError as error:
            if table is not None:
                raise
            parts.append(f"{scene.title} is left out: {error}")
            continue
        parts.append(_attacked(scene, records, range(seed, seed + releases)))
    return "\n\n".join(parts)


def _attacked(scene: Scene, records: pl.DataFrame, seeds: Sequence[int]) -> str:
    schema = public_schema(records)
    runs: dict[str, list[_Run]] = {}
    for seed in seeds:
        drawn = records.sample(2 * scene.size, shuffle=True, seed=seed)
        halves = drawn.head(scene.size), drawn.slice(scene.size)
        named = list(models(seed).items())
        for name, (model, public) in track(named, f"Attacking {scene.title}"):
            with quietly():
                runs.setdefault(name, []).append(
                    _run(scene, halves, model, schema if public else None, seed)
                )
    heading = (
        f"{scene.title}: {scene.size:,} records, {scene.size:,} control records; "
        f"{', '.join(scene.keys)} known, {scene.sensitive} wanted; "
        f"{counted(len(seeds), 'release')}."
    )
    columns = [
        "release",
        "lookalikes / expected",
        "alarms",
        "GCAP",
        "GCAP, control",
        "membership (AUC)",
    ]
    rows = [[name, *_together(own)] for name, own in runs.items()]
    return f"{heading}\n\n{markdown_table(columns, rows)}"


@dataclass(frozen=True)
class _Run:
    """What attacks found in one release."""

    near: Lookalikes
    guessed: float
    of_others: float
    told_apart: float


def _run(
    scene: Scene,
    halves: tuple[pl.DataFrame, pl.DataFrame],
    model: Synthesizer,
    schema: Schema | None,
    seed: int,
) -> _Run:
    original, control = halves
    own = schema or Schema.infer(original, dependencies=False)
    release = cast("pl.DataFrame", model.fit(original, own).sample(random_state=seed))
    guess = attribution(
        original, release, keys=scene.keys, sensitive=scene.sensitive, control=control
    )
    return _Run(
        lookalikes(original, release, random_state=seed),
        guess.accuracy,
        np.nan if guess.control is None else guess.control.accuracy,
        membership_by_control(original, release, control, random_state=seed).auc,
    )


def _together(runs: Sequence[_Run]) -> list[str]:
    """Return means over releases, with the standard deviation of one behind."""
    found, expected = (
        np.mean([getattr(run.near, name) for run in runs]) for name in ("found", "expected")
    )
    alarms = sum(run.near.alarm for run in runs)
    shares = [
        [getattr(run, name) for run in runs] for name in ("guessed", "of_others", "told_apart")
    ]
    return [
        f"{found:.0f} / {expected:.0f}",
        f"**{alarms} of {len(runs)}**" if alarms > len(runs) / 2 else f"{alarms} of {len(runs)}",
        *(_spread(own) for own in shares),
    ]


def _spread(shares: Sequence[float]) -> str:
    if np.isnan(shares).all():
        return ""
    spread = f" ± {100 * np.std(shares, ddof=1):.1f}" if len(shares) > 1 else ""
    return f"{percent(float(np.mean(shares)))}{spread}"
