"""Rows that agree on a set of columns: their groups, and contingency tables that count them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import as_names
from understudy.counting.engine import Engine, Source, engine_for
from understudy.data.coded import Coded, Codes, code_dtype
from understudy.errors import DataError, ParameterError, unknown_columns

# Joint codes stay below this, so that they never overflow a signed 64-bit integer.
_LARGEST_CODE = 2**62
# Tables up to this many cells are dense. A function of the cardinalities alone: every batch of a
# stream must choose the same form.
DENSE_CELLS = 2**20
_LARGEST_DENSE = 2**27
# Cells of tables that are counted in one pass over a stream: half a gigabyte for two of each.
_CELLS_IN_A_PASS = 2**25


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


def is_dense(cardinalities: Sequence[int], dense_cells: int = DENSE_CELLS) -> bool:
    """Tell whether a table of these cardinalities is kept with all its cells.

    Examples
    --------
    >>> is_dense([20, 20, 20]), is_dense([10_000, 10_000])
    (True, False)
    """
    return math.prod(cardinalities) <= dense_cells


@dataclass(frozen=True, eq=False)
class ContingencyTable:
    """How often each combination of codes occurs in some columns.

    Small tables are dense: an array with one axis per column. Large ones are sparse: only the
    combinations that occur, and their counts. Two tables are equal if their counts are, in either
    form.

    Parameters
    ----------
    names : tuple of str
        The columns.
    cardinalities : tuple of int
        Number of codes of each column.
    counts : ndarray of int64
        Dense: of shape `cardinalities`. Sparse: one positive count per combination.
    combinations : ndarray of unsigned int, shape (combinations, columns), optional
        Sparse: the combinations that occur, in lexicographic order. Dense: None.

    Examples
    --------
    >>> coded = Coded.from_arrays({"sex": [0, 1, 1], "age": [2, 0, 2]})
    >>> table = ContingencyTable.of(coded, ["sex", "age"])
    >>> table.counts.tolist(), table.marginal(["age"]).counts.tolist()
    ([[0, 0, 1], [1, 0, 1]], [1, 0, 2])
    """

    names: tuple[str, ...]
    cardinalities: tuple[int, ...]
    counts: NDArray[np.int64]
    combinations: Codes | None = None

    @classmethod
    def of(
        cls, coded: Coded, columns: str | Sequence[str], *, dense_cells: int = DENSE_CELLS
    ) -> ContingencyTable:
        """Count the combinations of `columns` in a coded table; dense up to `dense_cells` cells."""
        names = as_names(columns)
        check_names(names, coded.names)
        sizes = tuple(coded.cardinality(name) for name in names)
        if is_dense(sizes, dense_cells):
            codes, cells = joint_codes(coded, names)
            return cls(names, sizes, np.bincount(codes, minlength=cells).reshape(sizes))
        groups = group_ids(coded, names)
        rows = groups.representatives
        combinations = np.empty((groups.count, len(names)), code_dtype(max(sizes)))
        for place, name in enumerate(names):
            combinations[:, place] = coded[name][rows]
        counts = np.bincount(groups.ids, minlength=groups.count)
        return cls(names, sizes, counts, combinations)

    @property
    def total(self) -> int:
        """Number of rows counted."""
        return int(self.counts.sum())

    def marginal(self, columns: str | Sequence[str]) -> ContingencyTable:
        """Return the table of some of the columns, in the order given.

        Parameters
        ----------
        columns : str or sequence of str
            Columns of this table.

        Returns
        -------
        ContingencyTable
            Dense or sparse as its own cardinalities ask for.
        """
        names = as_names(columns)
        check_names(names, self.names)
        places = [self.names.index(name) for name in names]
        sizes = tuple(self.cardinalities[place] for place in places)
        if self.combinations is None:
            others = tuple(sorted(set(range(len(self.names))) - set(places)))
            order = [sorted(places).index(place) for place in places]
            counts = np.asarray(self.counts.sum(axis=others)).transpose(order)
            return ContingencyTable(names, sizes, counts)
        combinations = self.combinations[:, places]
        return _collected(names, sizes, combinations, self.counts, dense=is_dense(sizes))

    def to_dense(self) -> ContingencyTable:
        """Return the table with all its cells; refused where these would not fit in memory."""
        if self.combinations is None:
            return self
        cells = math.prod(self.cardinalities)
        if cells > _LARGEST_DENSE:
            raise DataError(
                f"The table of {', '.join(self.names)} has {cells:,} cells; "
                f"a dense one has at most {_LARGEST_DENSE:,}. Use its `combinations`."
            )
        counts = np.zeros(self.cardinalities, np.int64)
        counts[tuple(self.combinations.T)] = self.counts
        return ContingencyTable(self.names, self.cardinalities, counts)

    def to_sparse(self) -> ContingencyTable:
        """Return the table of the combinations that occur."""
        combinations, counts = self._seen()
        return ContingencyTable(self.names, self.cardinalities, counts, combinations)

    def _seen(self) -> tuple[Codes, NDArray[np.int64]]:
        """Return the combinations that occur, in lexicographic order, and their counts."""
        if self.combinations is not None:
            return self.combinations, self.counts
        flat = self.counts.reshape(-1)
        cells = np.flatnonzero(flat)
        combinations = np.empty(
            (len(cells), len(self.names)), code_dtype(max(self.cardinalities, default=1))
        )
        rest = cells
        for place in range(len(self.names) - 1, -1, -1):
            rest, combinations[:, place] = np.divmod(rest, self.cardinalities[place])
        return combinations, flat[cells]

    def __add__(self, other: ContingencyTable) -> ContingencyTable:
        if (self.names, self.cardinalities) != (other.names, other.cardinalities):
            raise DataError(
                "Only tables of the same columns and cardinalities can be added; got "
                f"{self.names} {self.cardinalities} and {other.names} {other.cardinalities}."
            )
        if self.combinations is None and other.combinations is None:
            return ContingencyTable(self.names, self.cardinalities, self.counts + other.counts)
        (mine, my_counts), (theirs, their_counts) = self._seen(), other._seen()
        return _collected(
            self.names,
            self.cardinalities,
            np.concatenate([mine, theirs]),
            np.concatenate([my_counts, their_counts]),
            dense=self.combinations is None or other.combinations is None,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ContingencyTable):
            return NotImplemented
        if (self.names, self.cardinalities) != (other.names, other.cardinalities):
            return False
        if self.combinations is None and other.combinations is None:
            return np.array_equal(self.counts, other.counts)
        return all(map(np.array_equal, self._seen(), other._seen()))

    __hash__ = None  # type: ignore[assignment]  # equal by content, and the content is arrays


def _collected(
    names: tuple[str, ...],
    cardinalities: tuple[int, ...],
    combinations: Codes,
    weights: NDArray[np.int64],
    *,
    dense: bool,
) -> ContingencyTable:
    """Add up the weights of equal combinations."""
    columns = tuple(np.ascontiguousarray(column) for column in combinations.T)
    coded = Coded(names, columns, cardinalities)
    if not names:
        return ContingencyTable((), (), np.array(weights.sum()))
    if dense:
        codes, cells = joint_codes(coded, names)
        counts = np.zeros(cells, np.int64)
        np.add.at(counts, codes, weights)
        return ContingencyTable(names, cardinalities, counts.reshape(cardinalities))
    groups = group_ids(coded, names)
    counts = np.zeros(groups.count, np.int64)
    np.add.at(counts, groups.ids, weights)
    kept = combinations[groups.representatives].astype(code_dtype(max(cardinalities)))
    return ContingencyTable(names, cardinalities, counts, kept)


@dataclass(frozen=True)
class TableSet:
    """The tables of several sets of columns; those of batches add up."""

    tables: tuple[ContingencyTable, ...]

    @classmethod
    def of(
        cls, coded: Coded, sets: Sequence[Sequence[str]], view: Callable[[Coded], Coded] | None
    ) -> TableSet:
        """Count sets of columns, of the table as `view` shows it."""
        seen = coded if view is None else view(coded)
        return cls(tuple(ContingencyTable.of(seen, columns) for columns in sets))

    @classmethod
    def of_columns(cls, coded: Coded) -> TableSet:
        """Count each column by itself."""
        return cls.of(coded, [[name] for name in coded.names], None)

    def __add__(self, other: TableSet) -> TableSet:
        pairs = zip(self.tables, other.tables, strict=True)
        return TableSet(tuple(mine + theirs for mine, theirs in pairs))


def counts_of_sets(
    source: Source,
    sets: Sequence[Sequence[str]],
    cells: Sequence[int],
    *,
    view: Callable[[Coded], Coded] | None = None,
    engine: Engine | None = None,
) -> Iterator[ContingencyTable]:
    """Yield the table of each set of columns, as many in a pass over the rows as memory allows.

    Parameters
    ----------
    source : Coded or BatchSource
        The table.
    sets : sequence of sequences of str
        The columns of each table.
    cells : sequence of int
        How many cells each has at most.
    view : callable, optional
        Gives the columns that are counted, from the codes of a batch; these by default.
    engine : Engine, optional
        What sums over the batches; that of the source by default.

    Examples
    --------
    >>> table = Coded.from_arrays({"a": [0, 1, 1], "b": [0, 0, 1]})
    >>> [one.counts.tolist() for one in counts_of_sets(table, [["a"], ["b", "a"]], [2, 4])]
    [[1, 2], [[1, 1], [0, 1]]]
    """
    first = 0
    while first < len(sets):
        after, held = first + 1, cells[first]
        while after < len(sets) and held + cells[after] <= _CELLS_IN_A_PASS:
            held += cells[after]
            after += 1
        kernel = partial(TableSet.of, sets=sets[first:after], view=view)
        yield from (engine or engine_for(source)).sum_over(source, kernel).tables
        first = after


def joint_counts(
    source: Source, columns: str | Sequence[str], *, engine: Engine | None = None
) -> ContingencyTable:
    """Count how often each combination of codes occurs in `columns`.

    Parameters
    ----------
    source : Coded or BatchSource
        The table, in memory or in batches; the result is the same.
    columns : str or sequence of str
        The columns, each once.
    engine : Engine, optional
        What sums over the batches; the local one by default.

    Returns
    -------
    ContingencyTable
        Dense up to 2**20 cells, sparse beyond.

    Examples
    --------
    >>> table = Coded.from_arrays({"sex": [0, 1, 1]})
    >>> joint_counts(table, "sex").counts
    array([1, 2])
    """
    names = as_names(columns)
    kernel = partial(ContingencyTable.of, columns=names)
    return (engine or engine_for(source)).sum_over(source, kernel)


def _margins(coded: Coded) -> NDArray[np.object_]:
    """Count the codes of every column; an array of arrays, for these add up one by one."""
    counts = np.empty(len(coded.names), object)
    for place, cardinality in enumerate(coded.cardinalities):
        counts[place] = np.bincount(checked_codes(coded, place), minlength=cardinality)
    return counts


def marginal_counts(
    source: Source, *, engine: Engine | None = None
) -> tuple[NDArray[np.int64], ...]:
    """Count the codes of every column, in one pass over the table.

    Parameters
    ----------
    source : Coded or BatchSource
        The table.
    engine : Engine, optional
        What sums over the batches; the local one by default.

    Returns
    -------
    tuple of ndarray of int64
        For each column, one count per code.

    Examples
    --------
    >>> marginal_counts(Coded.from_arrays({"sex": [0, 1, 1], "age": [2, 0, 2]}))
    (array([1, 2]), array([1, 0, 2]))
    """
    return tuple((engine or engine_for(source)).sum_over(source, _margins))
