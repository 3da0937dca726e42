"""What a release of the gallery is made from, and how a kind of release is declared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from typing import Literal

import numpy as np
import polars as pl
from scipy.spatial import cKDTree

Need = Literal[
    "numbers",
    "dates",
    "words",
    "others",
    "many keys",
    "telling key",
    "telling pair",
    "related numbers",
    "rare",
    "wide",
    "numeric secret",
    "coarse secret",
    "opendp",
]
Release = pl.DataFrame | list[pl.DataFrame]
"""One table, or several that are released together."""

FINE = 15
"""From so many values on, a numeric column is a number; with fewer, it is a category."""
MANY_KEYS = 10
PAIR, RELATED = 2, 8
"""So many exact numbers tell people apart; and the relations of so many tell which is which."""
WIDE = 10
COARSE = 10
"""A value that so many people share on average can be told from its code."""
FEWEST_RARE, MOST_RARE = 3, 0.05
"""A rare value has so many people at least, and this share at most."""


@dataclass(frozen=True, eq=False)
class Setting:
    """One table, split at random into people who are in the data and people who are not.

    Parameters
    ----------
    original : polars.DataFrame
        The people in the data.
    fresh : polars.DataFrame
        Others of the same population, as many.
    control : polars.DataFrame
        Still others, for audits: no release is made of them.
    keys : tuple of str
        What an attacker knows.
    sensitive : str
        What an attacker wants to know.
    seed : int
        Decides all that is random.
    kind : str
        The kind of release that is made, since each has random numbers of its own.
    """

    original: pl.DataFrame
    fresh: pl.DataFrame
    control: pl.DataFrame
    keys: tuple[str, ...]
    sensitive: str
    seed: int = 0
    kind: str = ""

    @cached_property
    def rng(self) -> np.random.Generator:
        """The source of all that is random."""
        return np.random.default_rng([self.seed, *self.kind.encode()])

    @property
    def rows(self) -> int:
        """How many people are in the data."""
        return self.original.height

    @property
    def population(self) -> pl.DataFrame:
        """Everybody, for what is known of the population and not learnt from the original."""
        return pl.concat([self.original, self.fresh, self.control])

    @cached_property
    def numbers(self) -> list[str]:
        """Numeric columns with many values, but for the sensitive one."""
        numeric = self.original.select(pl.selectors.numeric()).columns
        return [
            name
            for name in numeric
            if name != self.sensitive and self.original[name].n_unique() >= FINE
        ]

    @cached_property
    def dates(self) -> list[str]:
        """Columns of dates."""
        return self.original.select(pl.selectors.date()).columns

    @cached_property
    def words(self) -> list[str]:
        """Columns of text, but for the sensitive one."""
        found = self.original.select(pl.selectors.string()).columns
        return [name for name in found if name != self.sensitive]

    @cached_property
    def others(self) -> list[str]:
        """Columns that are neither keys nor sensitive."""
        return [name for name in self.original.columns if name not in (*self.keys, self.sensitive)]

    @cached_property
    def most_telling(self) -> str:
        """The key with the most values."""
        return max(self.keys, key=lambda name: self.original[name].n_unique())

    @cached_property
    def rare(self) -> np.ndarray:
        """Row numbers of the people with the rarest value of the sensitive column.

        Values that fewer than three people have are left out. It is empty if no value is rare.
        """
        counts = (
            self.original.with_row_index("row")
            .group_by(self.sensitive)
            .agg("row")
            .with_columns(people=pl.col("row").list.len())
            .filter(pl.col("people").is_between(FEWEST_RARE, MOST_RARE * self.rows))
            .sort("people", self.sensitive)
        )
        return counts["row"][0].to_numpy() if counts.height else np.empty(0, dtype=np.int64)

    @property
    def _with_own_values(self) -> int:
        """How many columns of numbers or dates hold hardly the same value twice."""
        columns = (*self.numbers, *self.dates)
        return sum(2 * self.original[name].n_unique() > self.rows for name in columns)

    def has(self, need: Need) -> bool:
        """Tell whether the table, or the installation, has what a kind of release needs."""
        held = {
            "numbers": bool(self.numbers),
            "dates": bool(self.dates),
            "words": bool(self.words),
            "others": len(self.others) > 1,
            "many keys": len(self.keys) >= MANY_KEYS,
            "telling key": 2 * self.original[self.most_telling].n_unique() > self.rows,
            "telling pair": self._with_own_values >= PAIR,
            "related numbers": len(self.numbers) >= RELATED,
            "rare": self.rare.size > 0,
            "wide": self.original.width >= WIDE,
            "coarse secret": self.original[self.sensitive].n_unique() < self.rows / COARSE,
            "numeric secret": self.original[self.sensitive].dtype.is_float(),
            "opendp": find_spec("opendp") is not None,
        }
        return held[need]

    def independent(self, rows: int | None = None) -> pl.DataFrame:
        """Return records each column of which is drawn by itself, with replacement."""
        size = self.rows if rows is None else rows
        drawn = [column[self.rng.integers(self.rows, size=size)] for column in self.original]
        return pl.DataFrame(drawn)

    def some(self, share: float) -> np.ndarray:
        """Return the row numbers of a share of the people, at least one, drawn at random."""
        count = max(1, round(share * self.rows))
        return self.rng.choice(self.rows, count, replace=False)

    def among(self, planted: pl.DataFrame, rest: pl.DataFrame) -> pl.DataFrame:
        """Return planted records in the place of as many of the rest, in random order."""
        held = pl.concat([planted, rest.slice(planted.height)], how="vertical_relaxed")
        return self.shuffled(held)

    def shuffled(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows in another order."""
        return frame[self.rng.permutation(frame.height)]

    def permuted(self, frame: pl.DataFrame, columns: str | Sequence[str]) -> pl.DataFrame:
        """Return the table with some columns cut loose: each one's values in random order."""
        names = [columns] if isinstance(columns, str) else columns
        return frame.with_columns(self.shuffled(frame.select(name)).to_series() for name in names)

    def recoded(self, column: pl.Series) -> pl.Series:
        """Return the values under other names, one to one, in random order."""
        values = column.unique().sort()
        names = [f"code {number}" for number in self.rng.permutation(values.len())]
        return column.replace_strict(values, names, return_dtype=pl.String)

    @cached_property
    def places(self) -> np.ndarray:
        """The people as points: numbers and dates by rank, all else by 0 and 1."""
        ranked = [name for name in (*self.numbers, *self.dates) if name != self.sensitive]
        ranks = [
            (self.original[name].rank() / self.rows).fill_null(0.0).to_numpy() for name in ranked
        ]
        plain = self.original.drop(ranked).cast(pl.String)
        # Half, since two people who differ do so in two columns of zeros and ones.
        dummies = plain.to_dummies() / 2
        return np.column_stack([*ranks, dummies.to_numpy()]).astype(float)

    @cached_property
    def neighbours(self) -> tuple[np.ndarray, np.ndarray]:
        """The distance to the nearest other person, and who that is."""
        distances, people = cKDTree(self.places).query(self.places, k=2, p=1)
        # Of two equal people, either may come first.
        itself = people[:, 1] == np.arange(self.rows)
        return distances[:, 1], np.where(itself, people[:, 0], people[:, 1])

    def odd(self, count: int) -> np.ndarray:
        """Return the row numbers of the people who are farthest from everybody else."""
        return np.argsort(-self.neighbours[0], kind="stable")[:count]


@dataclass(frozen=True)
class Kind:
    """A kind of release with a known answer.

    Parameters
    ----------
    name : str
        What it is called.
    meaning : str
        What leaks, or why nothing does, in a sentence.
    make : callable
        Makes it.
    leaks : bool
        Whether it gives people away.
    needs : tuple of str
        What a table must have: see `Setting.has`.
    share : float
        The share of the people whom it gives away, if it leaks.
    people : int, optional
        At most so many people are given away, if that is less.
    """

    name: str
    meaning: str
    make: Callable[[Setting], Release]
    leaks: bool
    needs: tuple[Need, ...] = ()
    share: float = 1.0
    people: int | None = None

    def __reduce__(self) -> tuple[Callable[[str], Kind], tuple[str]]:
        """Travel to other processes by name: what makes a release has none of its own."""
        return kind_named, (self.name,)

    def share_of(self, setting: Setting) -> float:
        """Return the share of the people whom such a release gives away."""
        counts = [self.share * setting.rows]
        counts += [setting.rare.size] if "rare" in self.needs else []
        counts += [] if self.people is None else [self.people]
        return min(counts) / setting.rows

    def fits(self, setting: Setting) -> bool:
        """Tell whether such a release can be made."""
        return all(setting.has(need) for need in self.needs)

    def release(self, setting: Setting) -> Release:
        """Make such a release, whatever else was made before."""
        return self.make(replace(setting, kind=self.name))


def kind_named(name: str) -> Kind:
    """Return a kind of the gallery."""
    from understudy.worlds.gallery import KINDS

    return next(kind for kind in KINDS if kind.name == name)


class Shelf:
    """Collects kinds of release as they are declared."""

    def __init__(self, *, leaks: bool) -> None:
        self.leaks = leaks
        self.kinds: list[Kind] = []

    def add(
        self,
        name: str,
        meaning: str,
        *needs: Need,
        share: float = 1.0,
        people: int | None = None,
    ) -> Callable[[Callable[[Setting], Release]], Callable[[Setting], Release]]:
        """Declare the function below as a kind of release."""

        def declared(make: Callable[[Setting], Release]) -> Callable[[Setting], Release]:
            self.kinds.append(Kind(name, meaning, make, self.leaks, needs, share, people))
            return make

        return declared
