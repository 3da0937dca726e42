"""The risk of private releases by our own attacks, beside those of trees and networks.

``python -m studies private-risk`` prints the table: for each release, the people with a lookalike,
how often a sensitive value is guessed by keys, and how well members are told from others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import polars as pl

from studies.lookalikes import in_words
from understudy.data import Schema, fetch, load
from understudy.errors import DataError
from understudy.progress import quietly, track
from understudy.risk import attribution, lookalikes, membership_by_control
from understudy.synthesis import BayesNet, Cart, DPMarginals, Independent, Synthesizer
from understudy.wording import markdown_table, percent

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


def private_risk_markdown(table: str | None = None, seed: int = 1) -> str:
    """Return a table of risks for each scene that is at hand, or for the one that is named."""
    parts = []
    for scene in SCENES:
        if table not in (None, scene.title):
            continue
        try:
            records = scene.read()
        except DataError:
            continue  # the user has to fetch it
        parts.append(_attacked(scene, records, seed))
    return "\n\n".join(parts)


def _attacked(scene: Scene, records: pl.DataFrame, seed: int) -> str:
    schema = public_schema(records)
    drawn = records.sample(2 * scene.size, shuffle=True, seed=seed)
    original, control = drawn.head(scene.size), drawn.slice(scene.size)
    rows = []
    for name, (model, public) in track(list(models(seed).items()), f"Attacking {scene.title}"):
        with quietly():
            own = schema if public else Schema.infer(original, dependencies=False)
            release = cast("pl.DataFrame", model.fit(original, own).sample(random_state=seed))
            near = lookalikes(original, release, random_state=seed)
            guess = attribution(
                original, release, keys=scene.keys, sensitive=scene.sensitive, control=control
            )
            members = membership_by_control(original, release, control, random_state=seed)
        others = "" if guess.control is None else percent(guess.control.accuracy)
        rows.append([name, in_words(near), percent(guess.accuracy), others, percent(members.auc)])
    heading = (
        f"{scene.title}: {scene.size:,} records, {scene.size:,} control records; "
        f"{', '.join(scene.keys)} known, {scene.sensitive} wanted."
    )
    columns = ["release", "lookalikes / expected", "GCAP", "GCAP, control", "membership (AUC)"]
    return f"{heading}\n\n{markdown_table(columns, rows)}"
