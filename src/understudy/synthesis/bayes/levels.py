"""The parents of a column as its table uses them: value by value, or neighbouring values together.

A parent of twenty bins splits the records into twenty rows, and two such parents into four hundred:
most of them then have too few records to tell anything. In four groups of neighbouring bins it
tells most of what it knows in a fifth of the rows. A table may use a parent in groups first, and
value by value later: each such use is a level of the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import is_whole
from understudy.data import Codec, Coded
from understudy.data.coded import Codes, code_dtype
from understudy.data.coders import BinCoder, Coder, NumberLevelCoder
from understudy.errors import ParameterError

Parent = str | tuple[str, int]
"""A parent, or a parent of numbers and how many groups of neighbouring ones it is used in."""


class Level(NamedTuple):
    """A parent, and in how many groups its numbers are used; 0 if value by value."""

    parent: str
    groups: int = 0

    @property
    def plain(self) -> Parent:
        """The parent as a user writes it."""
        return (self.parent, self.groups) if self.groups else self.parent


def ordered_numbers(coder: Coder) -> NDArray[np.intp] | None:
    """Return the codes of a column's bins or listed numbers, in their order; None if it has none.

    Special values, and a missing one, are not among them.
    """
    if isinstance(coder, BinCoder):
        return np.arange(len(coder.special), coder.known)
    if isinstance(coder, NumberLevelCoder):
        return np.argsort(coder.numbers, kind="stable")
    return None


def group_codes(coder: Coder, cardinality: int, groups: int) -> Codes | None:
    """Return the group of each code of a column of numbers; None if there are not more numbers.

    The groups hold equally many neighbouring bins or listed numbers, as far as that can be. A
    special value, and a missing one, is a group of its own.

    Examples
    --------
    >>> import pyarrow as pa
    >>> ages = NumberLevelCoder(np.array([20, 50, 30, 40, 60]), pa.int64(), "age")
    >>> group_codes(ages, 6, 2).tolist()  # the last code stands for missing
    [0, 1, 0, 0, 1, 2]
    """
    order = ordered_numbers(coder)
    if order is None or groups < 1 or len(order) <= groups:
        return None
    found = np.full(cardinality, -1, np.int64)
    found[order] = np.arange(len(order)) * groups // len(order)
    others = np.flatnonzero(found < 0)
    found[others] = groups + np.arange(len(others))
    return found.astype(code_dtype(groups + len(others)))


def read_levels(structure: Mapping[Any, Any]) -> dict[str, tuple[Level, ...]]:
    """Return the levels of a user's mapping from columns to their parents.

    Raises
    ------
    ParameterError
        If a parent is neither a column nor a pair of a column and a number of groups, or comes
        again otherwise than with more groups, or value by value.

    Examples
    --------
    >>> read_levels({"age": [], "income": [("age", 4), "age"]})["income"]
    (Level(parent='age', groups=4), Level(parent='age', groups=0))
    """
    found = {}
    for child, own in structure.items():
        if isinstance(own, str) or not isinstance(own, Sequence):
            raise ParameterError(
                f"structure: the parents of {child!r} must be a list of columns; got {own!r}."
            )
        levels = tuple(_read_level(child, one) for one in own)
        for place, level in enumerate(levels):
            before = [one.groups for one in levels[:place] if one.parent == level.parent]
            if before and (not before[-1] or 0 < level.groups <= before[-1]):
                raise ParameterError(
                    f"structure: {level.parent!r} is a parent of {child!r} twice. It may come "
                    "again in more groups, or value by value."
                )
        found[child] = levels
    return found


def _read_level(child: Any, one: Any) -> Level:  # noqa: ANN401  # whatever a user gave
    if isinstance(one, list | tuple):
        if len(one) == 2 and is_whole(one[1]) and one[1] >= 1:
            return Level(one[0], int(one[1]))
        raise ParameterError(
            f"structure: a parent of {child!r} must be a column, or a pair of a column and a "
            f"number of groups from 1; got {one!r}."
        )
    return Level(one)


def parents_of(levels: Sequence[Level]) -> tuple[str, ...]:
    """Return the parents of some levels, each once, in the order in which they first come."""
    return tuple(dict.fromkeys(level.parent for level in levels))


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of the tables of a network.

    Parameters
    ----------
    by_column : mapping from str to tuple of Level
        The levels of each column's table.
    groups : mapping from Level to ndarray
        The group of each code of a parent, for levels that use groups.
    sizes : mapping from str to int
        The number of codes of each column.
    """

    by_column: Mapping[str, tuple[Level, ...]]
    groups: Mapping[Level, Codes]
    sizes: Mapping[str, int]

    @classmethod
    def of(cls, by_column: Mapping[str, tuple[Level, ...]], codec: Codec) -> Levels:
        """Return the levels of columns that a codec codes.

        Raises
        ------
        ParameterError
            If a parent that is used in groups has no numbers, or not more than groups.
        """
        sizes = dict(zip(codec.names, codec.cardinalities, strict=True))
        groups = {}
        for level in {one for own in by_column.values() for one in own if one.groups}:
            found = group_codes(codec.coders[level.parent], sizes[level.parent], level.groups)
            if found is None:
                raise ParameterError(
                    f"structure: {level.parent!r} cannot be used in {level.groups} groups: it does "
                    "not have more different numbers."
                )
            groups[level] = found
        return cls(by_column, groups, sizes)

    @property
    def plain(self) -> dict[str, tuple[Parent, ...]]:
        """The parents of each column as a user writes them."""
        return {name: tuple(one.plain for one in own) for name, own in self.by_column.items()}

    def of_column(self, name: str, known: Mapping[str, Codes] | Coded) -> list[Codes]:
        """Return the codes of each level of a column's table, given the codes of its parents."""
        return [self._codes(level, known[level.parent]) for level in self.by_column[name]]

    def _codes(self, level: Level, codes: Codes) -> Codes:
        return self.groups[level][codes] if level.groups else codes

    def maps(self, name: str) -> tuple[NDArray[np.unsignedinteger] | None, ...]:
        """Return the group of each code, level by level; None for one that uses every value."""
        return tuple(self.groups.get(level) for level in self.by_column[name])

    def sizes_of(self, name: str) -> tuple[int, ...]:
        """Return the number of codes of each level of a column's table."""
        return tuple(
            int(self.groups[level].max()) + 1 if level.groups else self.sizes[level.parent]
            for level in self.by_column[name]
        )

    def columns(self, name: str, coded: Coded) -> tuple[Coded, str, list[str]]:
        """Return a table with a column and the levels of its table, and what they are called."""
        levels = self.by_column[name]
        if not any(level.groups for level in levels):
            return coded, name, [level.parent for level in levels]
        # Called by their places, since a parent may come twice.
        names = [str(place) for place in range(len(levels) + 1)]
        codes = (*self.of_column(name, coded), coded[name])
        sizes = (*self.sizes_of(name), self.sizes[name])
        return Coded(tuple(names), codes, sizes), names[-1], names[:-1]

    def to_arrays(self) -> dict[str, NDArray[np.int32]]:
        """Return the levels as arrays, a row for each column in order; -1 where there is none.

        A parent is known by its place among the columns that `sizes` has.
        """
        places = {name: place for place, name in enumerate(self.sizes)}
        most = max(map(len, self.by_column.values()))
        found = np.full((2, len(self.by_column), most), -1, np.int32)
        for row, levels in enumerate(self.by_column.values()):
            for place, level in enumerate(levels):
                found[:, row, place] = places[level.parent], level.groups
        return {"level_parents": found[0], "level_groups": found[1]}


def read_level_arrays(
    arrays: Mapping[str, NDArray[Any]], order: Sequence[str], names: Sequence[str]
) -> dict[str, tuple[Level, ...]]:
    """Return the levels that `Levels.to_arrays` took apart; none if no level uses groups.

    `order` are the columns in the order of drawing, `names` those by place.
    """
    if "level_parents" not in arrays:
        return {}
    parents, groups = arrays["level_parents"].tolist(), arrays["level_groups"].tolist()
    return {
        child: tuple(
            Level(names[parent], count)
            for parent, count in zip(row, counts, strict=True)
            if parent >= 0
        )
        for child, row, counts in zip(order, parents, groups, strict=True)
    }
