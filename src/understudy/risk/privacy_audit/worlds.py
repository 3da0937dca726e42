"""Pairs of neighbouring tables in which a release may tell which of the two is true."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Coded, code_dtype
from understudy.privacy.guarantee import Neighbours

Kind = Literal["all others alike", "others as different as can be", "others at random"]
KINDS: tuple[Kind, ...] = (
    "all others alike",
    "others as different as can be",
    "others at random",
)


@dataclass(frozen=True, eq=False)
class Pair:
    """Two tables that differ in one record.

    Parameters
    ----------
    one, other : Coded
        The tables.
    kind : str
        How the other records were chosen.
    record, instead : tuple of int
        The codes of the record that differs, and of what stands in its place; the latter is empty
        if it is absent.
    """

    one: Coded
    other: Coded
    kind: Kind
    record: tuple[int, ...]
    instead: tuple[int, ...]

    @property
    def swapped(self) -> Pair:
        """The same tables, the other one first."""
        return Pair(self.other, self.one, self.kind, self.record, self.instead)

    def in_words(self) -> str:
        """Return which records differ, as codes: no table of anybody's is meant."""
        rows = max(len(self.one), len(self.other))
        end = f"{self.instead} instead" if self.instead else "nothing in its place"
        return f"{rows:,} records, {self.kind}; the record {self.record} or {end}"


def make_pairs(
    names: Sequence[str],
    sizes: Sequence[int],
    rows: int,
    neighbours: Neighbours,
    rng: np.random.Generator,
    number: int,
) -> Iterator[Pair]:
    """Yield pairs of neighbouring tables of one domain.

    In the first two kinds the record is as conspicuous as can be: nobody else has its values, or
    everybody has. In the last, all is drawn at random.

    Parameters
    ----------
    names, sizes : sequences
        The columns, and how many values each can have.
    rows : int
        Records of a table.
    neighbours : {"change-one", "add-remove"}
        Whether the record is another in the other table, or is absent.
    rng : numpy.random.Generator
        Draws them.
    number : int
        How many pairs.
    """
    limits = np.asarray(sizes)
    for place in range(number):
        kind = KINDS[place % len(KINDS)]
        record = rng.integers(0, limits)
        instead = (record + rng.integers(1, np.maximum(limits, 2))) % limits
        if place % (2 * len(KINDS)) >= len(KINDS):
            # Some columns stay as they are, so that parents may.
            stay = rng.random(len(limits)) < 0.5
            if stay.all():
                stay[rng.integers(len(stay))] = False
            instead = np.where(stay, record, instead)
        others = {
            "all others alike": np.tile(instead, (rows - 1, 1)),
            "others as different as can be": np.tile(record, (rows - 1, 1)),
            "others at random": rng.integers(0, limits, size=(rows - 1, len(limits))),
        }[kind]
        one = np.vstack([others, record])
        changed = neighbours == "change-one"
        other = np.vstack([others, instead]) if changed else others
        yield Pair(
            coded(one, names, sizes),
            coded(other, names, sizes),
            kind,
            tuple(record.tolist()),
            tuple(instead.tolist()) if changed else (),
        )


def coded(rows: NDArray[np.int64], names: Sequence[str], sizes: Sequence[int]) -> Coded:
    """Return rows of codes as a table."""
    columns = [rows[:, place].astype(code_dtype(size)) for place, size in enumerate(sizes)]
    return Coded(tuple(names), tuple(columns), tuple(sizes))
