"""The coded table: every column as small unsigned integers, and how many codes each one has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.errors import DataError, unknown_columns

Codes = NDArray[np.unsignedinteger]


def code_dtype(cardinality: int) -> np.dtype[np.unsignedinteger]:
    """Return the smallest unsigned type that holds the codes 0 .. `cardinality` - 1.

    Examples
    --------
    >>> code_dtype(256), code_dtype(257)
    (dtype('uint8'), dtype('uint16'))
    """
    return np.dtype(np.min_scalar_type(max(cardinality - 1, 0)))


@dataclass(frozen=True, eq=False)
class Coded:
    """A table of integer codes, one contiguous array per column.

    Everything numeric in the package works on this; strings and frames live only at the edge.

    Parameters
    ----------
    names : tuple of str
        Column names, in order.
    columns : tuple of ndarray
        One array per column, of the type that `code_dtype` gives for its cardinality.
    cardinalities : tuple of int
        Number of codes of each column, seen or not. Missing, where it can occur, is one of them.
    weights : ndarray of int64, optional
        How many records each row stands for, if rows that are alike were counted; else one each.

    Examples
    --------
    >>> table = Coded.from_arrays({"sex": [0, 1, 1], "age": [2, 0, 2]}, {"sex": 2, "age": 3})
    >>> len(table), table.cardinalities, table["age"]
    (3, (2, 3), array([2, 0, 2], dtype=uint8))
    """

    names: tuple[str, ...]
    columns: tuple[Codes, ...]
    cardinalities: tuple[int, ...]
    weights: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        lengths = {len(column) for column in self.columns}
        if len(lengths) > 1:
            raise DataError(f"The columns of a table have one length, not {sorted(lengths)}.")
        if not len(self.names) == len(self.columns) == len(self.cardinalities):
            raise DataError("A coded table has one name and one cardinality for each column.")

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, Sequence[int] | NDArray[np.integer]],
        cardinalities: Mapping[str, int] | None = None,
    ) -> Coded:
        """Build a table from integer arrays; a cardinality not given is the largest code + 1."""
        names = tuple(arrays)
        columns: list[Codes] = []
        sizes: list[int] = []
        for name in names:
            values = np.asarray(arrays[name])
            if values.size and not np.issubdtype(values.dtype, np.integer):
                raise DataError(f"Codes are integers; column {name!r} holds {values.dtype}.")
            top = int(values.max()) + 1 if values.size else 0
            size = top if cardinalities is None else cardinalities[name]
            if top > size or (values.size and int(values.min()) < 0):
                raise DataError(
                    f"Column {name!r} holds codes outside 0..{size - 1}: "
                    f"they run from {int(values.min())} to {top - 1}."
                )
            columns.append(np.ascontiguousarray(values, dtype=code_dtype(size)))
            sizes.append(size)
        return cls(names, tuple(columns), tuple(sizes))

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    @property
    def records(self) -> int:
        """How many records the rows stand for."""
        return len(self) if self.weights is None else int(self.weights.sum())

    def counts(self, codes: NDArray[np.integer], size: int = 0) -> NDArray[np.int64]:
        """Return how many records have each of some codes, of which each row has one."""
        # Sums of whole numbers below 2**53 are exact in the floats that bincount adds.
        return np.bincount(codes, self.weights, minlength=size).astype(np.int64)

    def __getitem__(self, name: str) -> Codes:
        return self.columns[self.position(name)]

    def position(self, name: str) -> int:
        """Return where the column `name` stands."""
        try:
            return self.names.index(name)
        except ValueError:
            raise DataError(unknown_columns([name], self.names)[0]) from None

    def cardinality(self, name: str) -> int:
        """Return the number of codes of the column `name`."""
        return self.cardinalities[self.position(name)]

    def select(self, names: Iterable[str]) -> Coded:
        """Return the table of the columns `names`, in that order; the arrays are shared."""
        places = [self.position(name) for name in names]
        return Coded(
            tuple(self.names[place] for place in places),
            tuple(self.columns[place] for place in places),
            tuple(self.cardinalities[place] for place in places),
            self.weights,
        )

    def take(self, rows: slice | NDArray[np.integer] | NDArray[np.bool_]) -> Coded:
        """Return the table of the given rows: a slice, positions, or a mask."""
        columns = tuple(column[rows] for column in self.columns)
        weights = None if self.weights is None else self.weights[rows]
        return Coded(self.names, columns, self.cardinalities, weights)

    def batches(self, rows: int) -> Iterator[Coded]:
        """Yield the table in pieces of at most `rows` rows, in order."""
        for start in range(0, len(self), rows):
            yield self.take(slice(start, start + rows))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Coded):
            return NotImplemented
        return (
            self.names == other.names
            and self.cardinalities == other.cardinalities
            and all(
                np.array_equal(mine, theirs)
                for mine, theirs in zip(self.columns, other.columns, strict=True)
            )
        )

    __hash__ = None  # type: ignore[assignment]  # equal by content, and the content is arrays

    @classmethod
    def concatenate(cls, tables: Sequence[Coded]) -> Coded:
        """Stack tables of the same columns."""
        first = tables[0]
        if len(tables) == 1:
            return first
        if any(
            table.names != first.names or table.cardinalities != first.cardinalities
            for table in tables
        ):
            raise DataError("Only tables with the same columns and cardinalities can be stacked.")
        columns = tuple(
            np.concatenate([table.columns[place] for table in tables])
            for place in range(len(first.names))
        )
        weights = None
        if any(table.weights is not None for table in tables):
            held = [(len(table), table.weights) for table in tables]
            weights = np.concatenate([np.ones(n, np.int64) if w is None else w for n, w in held])
        return cls(first.names, columns, first.cardinalities, weights)
