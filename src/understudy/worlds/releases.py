"""Releases of which it is known what they give away of one record: the worlds for the measures.

The record is the last of the simulated data of the paper on CART: 1111, the only one of its kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
import polars as pl

from understudy.data import load, load_syntheses
from understudy.synthesis import Cart
from understudy.synthesis.base import Synthesizer
from understudy.synthesis.independent import Uniform
from understudy.worlds.cells import UNIQUE, VARIABLES, cell_counts
from understudy.worlds.samplers import Copy, Noisy

KEYS, TARGET = VARIABLES[:3], VARIABLES[3]
RECORD = 999
"""The row of the record in the simulated data, from 0."""
NOISE = (0.0, 0.05, 0.2, 0.5, 1.0)
"""How likely it is that a value is replaced, step by step."""

NOISE_STEPS = tuple(f"noise {noise:g}" for noise in NOISE)
WORLDS = {
    "present": f"syntheses of the paper that hold {UNIQUE}",
    "absent": f"syntheses of the paper that do not hold {UNIQUE}",
    "copy": "the original itself",
    "constant": f"syntheses by CART in which {TARGET} is 0 everywhere",
    "unrelated": "values drawn evenly, without a look at the data",
    **{
        step: f"syntheses by CART, each value replaced with probability {noise:g}"
        for step, noise in zip(NOISE_STEPS, NOISE, strict=True)
    },
}
"""The worlds, and in words which releases they hold."""
CERTAIN = ("present", "copy")
"""Worlds in which no other record can have been there, by the way in which they are made."""
UNINFORMATIVE = ("constant", "unrelated", NOISE_STEPS[-1])
"""Worlds whose releases tell nothing of the record, or next to nothing."""


@dataclass(frozen=True, eq=False)
class Release:
    """A table that is given out, and how it was made.

    Parameters
    ----------
    world : str
        One of `WORLDS`.
    number : int
        Its number in the world, from 0. Releases of the noise steps with the same number are the
        same draw, with more and more values replaced.
    table : polars.DataFrame
        The records.
    model : Synthesizer
        What it was drawn from: the strong attacker knows it.
    """

    world: str
    number: int
    table: pl.DataFrame
    model: Synthesizer


def draw_releases(count: int, random_state: int = 0) -> Iterator[Release]:
    """Yield the releases of all worlds.

    Parameters
    ----------
    count : int
        Releases of each world that is drawn by chance. There are 8 of the paper's syntheses with
        the record, 2 without it, and one copy.
    random_state : int
        Decides the draws.
    """
    original = load("buyer_beware")
    cart = Cart(random_state=0).fit(original)
    numbers = {"present": 0, "absent": 0}
    for table in load_syntheses("buyer_beware"):
        world = "present" if cell_counts(table)[-1] else "absent"
        yield Release(world, numbers[world], table, cart)
        numbers[world] += 1
    copy = Copy(random_state=random_state).fit(original)
    yield Release("copy", 0, cast("pl.DataFrame", copy.sample()), copy)
    seeds = np.random.default_rng(random_state).integers(2**32, size=count).tolist()
    for number, seed in enumerate(seeds):
        table = cast("pl.DataFrame", cart.sample(random_state=seed))
        yield Release("constant", number, _constant(table), cart)
    samplers: dict[str, Synthesizer] = {"unrelated": Uniform().fit(original)}
    for step, noise in zip(NOISE_STEPS, NOISE, strict=True):
        samplers[step] = Noisy(noise).fit(original)
    for world, sampler in samplers.items():
        for number, seed in enumerate(seeds):
            table = cast("pl.DataFrame", sampler.sample(random_state=seed))
            yield Release(world, number, table, sampler)


def _constant(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.lit(0, table.schema[TARGET]).alias(TARGET))
