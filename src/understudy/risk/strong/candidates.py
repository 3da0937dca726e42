"""What is unknown of which records, and what it might be: the candidates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.arguments import as_names
from understudy.counting import group_ids
from understudy.data.coded import Coded, Codes, code_dtype
from understudy.errors import ParameterError, unknown_columns

WHOLE = "*"
"""Stands for all attributes: nothing of the record is known."""


def read_unknown(
    unknown: str | Iterable[str], columns: Sequence[str], identifiers: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the names of the unknown attributes, in the order in which they were given.

    Examples
    --------
    >>> read_unknown("smokes", ["sex", "smokes"]), read_unknown("*", ["sex", "smokes"])
    (('smokes',), ('sex', 'smokes'))
    """
    if isinstance(unknown, str) and unknown == WHOLE and WHOLE not in columns:
        return tuple(columns)
    if not isinstance(unknown, Iterable):
        raise ParameterError(
            'unknown must be a column, a list of columns, or "*" for the whole record; got '
            f"{unknown!r}."
        )
    names = as_names(unknown if isinstance(unknown, str) else tuple(unknown))
    for name in names:
        if name in identifiers:
            raise ParameterError(
                f"unknown: {name!r} is an identifier. The release makes up new identifiers, so "
                "there is nothing to learn."
            )
    if WHOLE in names and WHOLE not in columns:
        raise ParameterError('unknown: write "*" alone, for the whole record.')
    return read_columns("unknown", names, columns)


def read_columns(argument: str, given: object, columns: Sequence[str]) -> tuple[str, ...]:
    """Return one column or several as a tuple of names, or raise."""
    if not isinstance(given, Iterable):
        raise ParameterError(f"{argument} must be a column or a list of columns; got {given!r}.")
    names = as_names(given if isinstance(given, str) else tuple(given))
    if not names:
        raise ParameterError(f"{argument}: name at least one column.")
    problems = unknown_columns(names, columns)
    if problems:
        raise ParameterError(f"{argument}: {' '.join(problems)}")
    return names


def check_records(records: Sequence[int] | ArrayLike | None, rows: int) -> NDArray[np.int64]:
    """Return the row numbers of the records to attack, all of them by default."""
    if records is None:
        return np.arange(rows)
    try:
        found = np.atleast_1d(np.asarray(records))
    except ValueError:
        found = np.empty((0, 0))
    if found.dtype.kind == "b" and found.shape == (rows,):
        found = np.flatnonzero(found)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise ParameterError(f"records must be row numbers from 0; got {records!r}.")
    found = found.astype(np.int64)
    outside = found[(found < 0) | (found >= rows)]
    if len(outside):
        raise ParameterError(
            f"records: there is no row {outside[0]}; the original has rows 0 to {rows - 1}."
        )
    if not len(found):
        raise ParameterError("records: name at least one row.")
    return found


@dataclass(frozen=True, eq=False)
class Candidates:
    """The combinations that the unknown attributes may have: a row for each, coded.

    Examples
    --------
    >>> candidates = Candidates.grid(("sex", "smokes"), (2, 3))
    >>> len(candidates), candidates.codes["smokes"].tolist()
    (6, [0, 1, 2, 0, 1, 2])
    >>> candidates.find(Coded.from_arrays({"sex": [1], "smokes": [2]}, {"sex": 2, "smokes": 3}))
    array([5])
    """

    codes: Coded

    @classmethod
    def grid(cls, names: tuple[str, ...], sizes: tuple[int, ...]) -> Candidates:
        """Return all combinations, in lexicographic order."""
        rest = np.arange(math.prod(sizes))
        columns = []
        for size in reversed(sizes):
            rest, own = np.divmod(rest, size)
            columns.append(own.astype(code_dtype(size)))
        return cls(Coded(names, tuple(reversed(columns)), sizes))

    @classmethod
    def occurring(cls, names: tuple[str, ...], tables: Sequence[Coded]) -> Candidates:
        """Return the combinations that some record of the tables has."""
        both = Coded.concatenate([table.select(names) for table in tables])
        return cls(both.take(group_ids(both, names).representatives))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def names(self) -> tuple[str, ...]:
        """The unknown attributes."""
        return self.codes.names

    @cached_property
    def _sorted(self) -> bool:
        return len(self) == math.prod(self.codes.cardinalities)

    def find(self, records: Coded) -> NDArray[np.int64]:
        """Return the candidate that each record is; all must be among them."""
        own = records.select(self.names)
        if self._sorted:
            number = np.zeros(len(own), np.int64)
            for codes, size in zip(own.columns, own.cardinalities, strict=True):
                number = number * size + codes
            return number
        both = Coded.concatenate([self.codes, own])
        ids = group_ids(both, self.names).ids
        candidate_of = np.empty(int(ids.max()) + 1, np.int64)
        candidate_of[ids[: len(self)]] = np.arange(len(self))
        return candidate_of[ids[len(self) :]]

    def worlds(self, records: Coded, columns: Iterable[str]) -> dict[str, Codes]:
        """Return the given columns of every record with every candidate in its place.

        The candidates of the first record come first.
        """
        found: dict[str, Codes] = {}
        for name in columns:
            if name in self.names:
                found[name] = np.tile(self.codes[name], len(records))
            else:
                found[name] = np.repeat(records[name], len(self))
        return found

    def labels(self, labels: Mapping[str, Sequence[str]], chosen: NDArray[np.int64]) -> list[str]:
        """Return candidates in words; several attributes are separated by commas."""
        parts = [
            np.array(labels[name], object)[self.codes[name][chosen]].tolist() for name in self.names
        ]
        return parts[0] if len(parts) == 1 else [", ".join(row) for row in zip(*parts, strict=True)]
