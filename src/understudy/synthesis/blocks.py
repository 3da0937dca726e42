"""Randomness in blocks: a table is drawn in pieces of fixed size, each with its own generator.

So the rows depend on the seed and on their number alone, not on how many threads draw them or in
which batches they are written; a longer table begins with the whole blocks of a shorter one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from understudy.arguments import is_whole
from understudy.errors import ParameterError

RandomState: TypeAlias = int | np.random.Generator | None

BLOCK_ROWS = 65_536


@dataclass(frozen=True)
class Block:
    """A piece of a table to draw: its rows, where they start, and its own stream of numbers.

    `copy` says of which table, if several are drawn.
    """

    first_row: int
    rows: int
    seed: np.random.SeedSequence
    copy: int = 0

    def generator(self) -> np.random.Generator:
        """Return the generator of this block, always at its beginning."""
        return np.random.default_rng(self.seed)


def plan_blocks(rows: int, seed: np.random.SeedSequence, copy: int = 0) -> list[Block]:
    """Return the blocks of a table of `rows` rows.

    Examples
    --------
    >>> [block.rows for block in plan_blocks(100_000, np.random.SeedSequence(1))]
    [65536, 34464]
    """
    return [
        Block(
            first,
            min(BLOCK_ROWS, rows - first),
            np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, copy, first)),
            copy,
        )
        for first in range(0, rows, BLOCK_ROWS)
    ]


def seed_of(random_state: RandomState) -> np.random.SeedSequence:
    """Return the seed that a user's `random_state` stands for; None is a new one each time."""
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(random_state.integers(2**63, size=2).tolist())
    if is_whole(random_state) and random_state >= 0:
        return np.random.SeedSequence(int(random_state))
    raise ParameterError(
        "random_state must be a whole number from 0, a numpy Generator or None; got "
        f"{random_state!r}."
    )
