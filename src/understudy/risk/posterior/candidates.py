"""What the attacked record might be: the candidate values of its unknown attributes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from understudy.counting import group_ids
from understudy.data.codec import Codec
from understudy.data.coded import Coded, Codes, code_dtype
from understudy.errors import ParameterError, unknown_columns

WHOLE = "*"
"""Stands for all attributes: nothing of the record is known."""


def read_unknown(unknown: str | Sequence[str], codec: Codec) -> tuple[str, ...]:
    """Return the names of the unknown attributes, in the order of the table.

    Examples
    --------
    >>> import polars as pl
    >>> codec = Codec.fit(pl.DataFrame({"sex": ["f", "m"], "smokes": [True, False]}))
    >>> read_unknown("smokes", codec), read_unknown("*", codec)
    (('smokes',), ('sex', 'smokes'))
    """
    if isinstance(unknown, str) and unknown == WHOLE and WHOLE not in codec.names:
        return codec.names
    if not isinstance(unknown, str) and not isinstance(unknown, Iterable):
        raise ParameterError(
            f'unknown is a column, a list of columns, or "*" for the whole record; got {unknown!r}.'
        )
    names = [unknown] if isinstance(unknown, str) else list(unknown)
    if not names:
        raise ParameterError("unknown: name at least one column.")
    made_up = [name for name in names if name in codec.schema.identifiers]
    if made_up:
        raise ParameterError(
            f"unknown: {made_up[0]!r} is an identifier, which the release makes up anew."
        )
    problems = unknown_columns(names, codec.names)
    if problems:
        whole = ' Write unknown="*" for the whole record.' if WHOLE in names else ""
        raise ParameterError(f"unknown: {' '.join(problems)}{whole}")
    return tuple(name for name in codec.names if name in names)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The combinations that the unknown attributes may have.

    Parameters
    ----------
    codes : Coded
        A row for each candidate, a column for each unknown attribute.

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
