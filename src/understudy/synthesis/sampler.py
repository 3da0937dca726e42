"""A sampler as a list of tables of counts: what is drawn, and from the records of which row.

Whoever wants to know how the probability of a release moves when one original record changes (the
strong attacker) needs no more of a synthesizer than this: every draw picks a random one of the
original records that agree with it on some codes, and takes that record's value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Codes

ABSENT = -1
"""In place of a value: the record takes no part in a table."""

ENDED = -1
"""In place of a parent's code: the record's row has no parents beyond those before."""

IMPOSSIBLE = -2
"""In place of a value: the structure as published has no place for such a record."""


@dataclass(frozen=True, eq=False)
class Entries:
    """Where some records stand in a table: the code that is drawn, and those that decide it.

    `values` are `ABSENT` or `IMPOSSIBLE` where there is none. If no record has all the codes of
    `parents`, the last ones are dropped until some record has the rest. A code of `ENDED` says
    that the row has no further parents, as where some ways down a tree are shorter than others.
    """

    values: NDArray[np.int64]
    parents: tuple[Codes, ...]


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """How far each row of a table is drawn towards the row with one parent fewer.

    With N records in the row, of which N(v) have the value v, and a the strength of its level:
    ``p(v) = (N(v) + a * p_above(v)) / (N + a)``. A row of fewer than `min_count` records is passed
    over: ``p(v) = p_above(v)``. Above the row of all records stands `base`.

    Parameters
    ----------
    strengths : ndarray of float64
        For each number of parents, from none on: how many records the row above is worth.
    base : ndarray of float64
        A distribution over all values, towards which the row of all records is drawn.
    min_count : int
        The fewest records of a row that is used.
    """

    strengths: NDArray[np.float64]
    base: NDArray[np.float64]
    min_count: int = 1


class SamplingTable(Protocol):
    """One draw of a sampler."""

    @property
    def name(self) -> str:
        """The column that is drawn."""
        ...

    @property
    def columns(self) -> frozenset[str]:
        """All columns on which it depends where a record stands, and with which value."""
        ...

    @property
    def cardinality(self) -> int:
        """Number of values."""
        ...

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of codes of each parent."""
        ...

    @property
    def donors(self) -> NDArray[np.integer]:
        """The values of the original records, sorted by the parents' codes and by value."""
        ...

    @property
    def shrinkage(self) -> Shrinkage | None:
        """How rows are drawn towards those above; None if they are drawn from as they are."""
        ...

    def entries(self, known: Mapping[str, Codes], rows: int) -> Entries:
        """Return where records stand; `known` holds the codes of at least `columns`."""
        ...


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """A column that is drawn given some other columns, or given none.

    `groups` has, for each parent, the group of each of its codes, or None if its codes are used as
    they are. A parent may come in groups first, and as it is later.

    Examples
    --------
    >>> table = ColumnTable("smokes", 2, ("sex",), (2,), np.array([0, 1, 1]))
    >>> found = table.entries({"sex": np.array([1], np.uint8), "smokes": np.array([0])}, 1)
    >>> found.values.tolist(), found.parents[0].tolist()
    ([0], [1])
    """

    name: str
    cardinality: int
    parents: tuple[str, ...]
    sizes: tuple[int, ...]
    donors: NDArray[np.integer]
    shrinkage: Shrinkage | None = None
    groups: tuple[Codes | None, ...] = ()

    @property
    def columns(self) -> frozenset[str]:
        """All columns on which it depends where a record stands, and with which value."""
        return frozenset({self.name, *self.parents})

    def entries(self, known: Mapping[str, Codes], rows: int) -> Entries:  # noqa: ARG002  # the columns tell
        """Return where records stand; `known` holds the codes of at least `columns`."""
        groups = self.groups or (None,) * len(self.parents)
        parents = tuple(
            known[parent] if own is None else own[known[parent]]
            for parent, own in zip(self.parents, groups, strict=True)
        )
        return Entries(known[self.name].astype(np.int64), parents)
