"""Groups of rows that agree on a set of columns, numbered from 0 without gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from understudy.arguments import as_names
from understudy.errors import DataError, ParameterError, unknown_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from understudy.data.coded import Coded, Codes

# Joint codes stay below this, so that they never overflow a signed 64-bit integer.
_LARGEST_CODE = 2**62


@dataclass(frozen=True, eq=False)
class Groups:
    """Which rows agree on a set of columns.

    Parameters
    ----------
    ids : ndarray of uint32
        The group of each row. Groups are numbered in the lexicographic order of their codes.
    count : int
        Number of groups.
    representatives : ndarray of int64
        The first row of each group.
    """

    ids: NDArray[np.uint32]
    count: int
    representatives: NDArray[np.int64]


def check_names(columns: Sequence[str], names: Sequence[str]) -> None:
    """Refuse columns that are not among `names`, or are given twice."""
    problems = unknown_columns(columns, names)
    if problems:
        raise ParameterError(" ".join(problems))
    if len(set(columns)) < len(columns):
        raise ParameterError(f"Each column is counted once; got {list(columns)}.")


def checked_codes(coded: Coded, place: int) -> Codes:
    """Return a column, after making sure that its codes are below its cardinality.

    A code beyond would silently be taken for another combination, or write outside a histogram.
    """
    column = coded.columns[place]
    if len(column) and int(column.max()) >= coded.cardinalities[place]:
        raise DataError(
            f"Column {coded.names[place]!r} has {coded.cardinalities[place]} levels, "
            f"but holds the code {int(column.max())}."
        )
    return column


def joint_codes(coded: Coded, columns: Sequence[str]) -> tuple[NDArray[np.int64], int]:
    """Return one number per row that stands for its codes in `columns`, and a bound above it.

    The numbers sort like the codes do, the first column first. While the product of the
    cardinalities fits, the number is the mixed-radix one and the bound is that product; beyond,
    the combinations seen so far are renumbered before the next column joins.

    Examples
    --------
    >>> from understudy.data.coded import Coded
    >>> table = Coded.from_arrays({"a": [1, 0], "b": [2, 1]}, {"a": 2, "b": 3})
    >>> joint_codes(table, ["a", "b"])
    (array([5, 1]), 6)
    """
    codes, bound = np.zeros(len(coded), np.int64), 1
    for name in columns:
        place = coded.position(name)
        column, cardinality = checked_codes(coded, place), coded.cardinalities[place]
        if bound * cardinality > _LARGEST_CODE:
            groups = _numbered(codes, bound)
            codes, bound = groups.ids.astype(np.int64), groups.count
            if bound == len(coded):
                break  # every row is alone already, whatever the other columns say
        if bound * cardinality > _LARGEST_CODE:
            groups = _numbered(column, cardinality)
            column, cardinality = groups.ids, groups.count
        codes *= cardinality
        codes += column.astype(np.int64, copy=False)
        bound *= cardinality
    return codes, bound


def group_ids(coded: Coded, columns: str | Sequence[str]) -> Groups:
    """Find the groups of rows that have the same codes in all of `columns`.

    Works for any number of columns of any cardinality, with memory in proportion to the rows.

    Parameters
    ----------
    coded : Coded
        The table.
    columns : str or sequence of str
        The columns; with none of them, all rows are one group.

    Returns
    -------
    Groups
        The group of each row, their number, and the first row of each.

    Examples
    --------
    >>> from understudy.data.coded import Coded
    >>> table = Coded.from_arrays({"sex": [1, 0, 1], "age": [2, 0, 2]})
    >>> groups = group_ids(table, ["sex", "age"])
    >>> groups.ids, groups.count, groups.representatives
    (array([1, 0, 1], dtype=uint32), 2, array([1, 0]))
    """
    names = as_names(columns)
    check_names(names, coded.names)
    return _numbered(*joint_codes(coded, names))


def _numbered(codes: NDArray[np.integer], bound: int) -> Groups:
    """Give numbers to the codes that occur, in increasing order; `codes` are below `bound`."""
    rows = len(codes)
    if bound <= max(2**10, 8 * rows):
        first = np.full(bound, rows, np.int64)
        # Of several rows with one code, the last to be assigned stays: backwards, the first row.
        first[codes[::-1]] = np.arange(rows - 1, -1, -1)
        seen = first < rows
        numbers = (np.cumsum(seen) - 1).astype(np.uint32)
        return Groups(numbers[codes], int(seen.sum()), first[seen])
    order = np.argsort(codes)
    ordered = codes[order]
    changes = np.empty(rows, bool)
    changes[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=changes[1:])
    starts = np.flatnonzero(changes)
    ids = np.empty(rows, np.uint32)
    ids[order] = np.cumsum(changes) - 1
    representatives = np.minimum.reduceat(order, starts) if rows else starts
    return Groups(ids, len(starts), representatives.astype(np.int64))
