"""The contingency tables of many pairs of columns, counted at once, and their information."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import accumulate, combinations

import numpy as np
from numpy.typing import NDArray

from understudy.counting.covering import Cover, Pair, cover_pairs
from understudy.counting.engine import Engine, Source, engine_for, in_order, threads_within
from understudy.counting.information import Information
from understudy.counting.tables import (
    DENSE_CELLS,
    ContingencyTable,
    check_names,
    checked_codes,
    is_dense,
    marginal_counts,
)
from understudy.data.coded import Coded
from understudy.errors import DataError

# Beyond this many cells, a triple's histograms leave the fast caches, and pairs are as quick.
TRIPLE_CELLS = 2**15
# Rows that are stacked for the kernels at once: bounds the memory used beside the table.
_STACKED_ROWS = 2**20
# Rows times histograms of one kernel call: about a tenth of a second, so that Ctrl-C is heard.
_CALL_WORK = 2**27
# Below this much work, starting threads costs more than it saves.
_THREADS_PAY = 2**22
# Cells of the pair tables that are held at once (256 MB), and what a sparse table counts as.
_PASS_CELLS = 2**25
_SPARSE_CELLS = 2**22


@dataclass(frozen=True)
class PairLayout:
    """Which pairs of columns are counted, and where each dense table starts in one flat array.

    Parameters
    ----------
    cardinalities : tuple of int
        Number of codes of each column of the table.
    pairs : tuple of (int, int)
        Positions of two columns, increasing; each pair once.
    dense_cells : int, optional
        The largest number of cells of a dense table.

    Examples
    --------
    >>> layout = PairLayout((2, 3, 10**6), ((0, 1), (0, 2), (1, 2)))
    >>> layout.starts, layout.cells, layout.sparse
    ({(0, 1): 0}, 6, ((0, 2), (1, 2)))
    """

    cardinalities: tuple[int, ...]
    pairs: tuple[Pair, ...]
    dense_cells: int = DENSE_CELLS

    def sizes(self, pair: Pair) -> tuple[int, int]:
        """Return the two cardinalities of a pair: the shape of its table."""
        return self.cardinalities[pair[0]], self.cardinalities[pair[1]]

    @cached_property
    def dense(self) -> tuple[Pair, ...]:
        """The pairs whose tables have all their cells."""
        return tuple(p for p in self.pairs if is_dense(self.sizes(p), self.dense_cells))

    @cached_property
    def sparse(self) -> tuple[Pair, ...]:
        """The pairs whose tables have only the combinations that occur."""
        return tuple(p for p in self.pairs if not is_dense(self.sizes(p), self.dense_cells))

    @cached_property
    def starts(self) -> dict[Pair, int]:
        """Where the table of each dense pair starts."""
        ends = accumulate(math.prod(self.sizes(pair)) for pair in self.dense)
        return dict(zip(self.dense, [0, *ends], strict=False))

    @cached_property
    def cells(self) -> int:
        """Number of cells of all dense tables."""
        return sum(math.prod(self.sizes(pair)) for pair in self.dense)


@dataclass(frozen=True, eq=False)
class PairCounts:
    """The contingency tables of many pairs of columns.

    Look a pair up by its names, in either order. The counts of two batches of rows add up with
    `+`.

    Parameters
    ----------
    names : tuple of str
        All columns of the table.
    layout : PairLayout
        The pairs.
    rows : int
        Number of rows counted.
    cells : ndarray of int64
        The tables of all dense pairs, one after the other.
    sparse : tuple of ContingencyTable
        The tables of the sparse pairs.
    """

    names: tuple[str, ...]
    layout: PairLayout
    rows: int
    cells: NDArray[np.int64]
    sparse: tuple[ContingencyTable, ...]

    @classmethod
    def of(cls, coded: Coded, layout: PairLayout, *, threads: int = 1) -> PairCounts:
        """Count the pairs of a layout in a coded table."""
        cells = np.zeros(layout.cells, np.int64)
        for rows in coded.batches(_STACKED_ROWS):
            _add_dense(rows, layout, cells, threads)
        sparse = tuple(
            ContingencyTable.of(coded, (coded.names[i], coded.names[j]), dense_cells=0)
            for i, j in layout.sparse
        )
        return cls(coded.names, layout, len(coded), cells, sparse)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The names of the pairs that were counted."""
        return tuple((self.names[i], self.names[j]) for i, j in self.layout.pairs)

    def __getitem__(self, pair: tuple[str, str]) -> ContingencyTable:
        check_names(pair, self.names)
        left, right = (self.names.index(name) for name in pair)
        if left > right:
            return self[pair[1], pair[0]].marginal(pair)
        return self.table((left, right))

    def table(self, pair: Pair) -> ContingencyTable:
        """Return the table of two columns by their positions, the lower one first."""
        if pair in self.layout.starts:
            sizes = self.layout.sizes(pair)
            start = self.layout.starts[pair]
            cells = self.cells[start : start + sizes[0] * sizes[1]]
            names = self.names[pair[0]], self.names[pair[1]]
            return ContingencyTable(names, sizes, cells.reshape(sizes))
        if pair not in self.layout.sparse:
            names = self.names[pair[0]], self.names[pair[1]]
            raise DataError(f"The pair {names} was not counted.")
        return self.sparse[self.layout.sparse.index(pair)]

    def __add__(self, other: PairCounts) -> PairCounts:
        if (self.names, self.layout) != (other.names, other.layout):
            raise DataError("Only counts of the same pairs of columns can be added.")
        return PairCounts(
            self.names,
            self.layout,
            self.rows + other.rows,
            self.cells + other.cells,
            tuple(mine + theirs for mine, theirs in zip(self.sparse, other.sparse, strict=True)),
        )


def pair_counts(
    source: Source,
    pairs: Sequence[tuple[str, str]] | None = None,
    *,
    engine: Engine | None = None,
) -> PairCounts:
    """Count the contingency tables of many pairs of columns in one pass.

    Parameters
    ----------
    source : Coded or BatchSource
        The table.
    pairs : sequence of (str, str), optional
        The pairs of columns; all of them by default. Their tables are held in memory together.
    engine : Engine, optional
        What sums over the batches; the local one, with one thread, by default.

    Returns
    -------
    PairCounts
        A table for each pair, such as ``counts["age", "sex"]``.

    Examples
    --------
    >>> from understudy.data.coded import Coded
    >>> table = Coded.from_arrays({"sex": [0, 1, 1], "age": [2, 0, 2]})
    >>> pair_counts(table)["sex", "age"].counts.tolist()
    [[0, 0, 1], [1, 0, 1]]
    """
    engine = engine or engine_for(source)
    chosen = None if pairs is None else tuple(pairs)
    kernel = partial(_count_named, pairs=chosen, threads=threads_within(engine, source))
    return engine.sum_over(source, kernel)


def _count_named(
    coded: Coded, *, pairs: tuple[tuple[str, str], ...] | None, threads: int
) -> PairCounts:
    """Count pairs of columns, given by name, in a batch."""
    chosen = set(combinations(range(len(coded.names)), 2))
    if pairs is not None:
        for pair in pairs:
            check_names(pair, coded.names)
        places = [sorted((coded.position(left), coded.position(right))) for left, right in pairs]
        chosen = {(lower, upper) for lower, upper in places}
    layout = PairLayout(coded.cardinalities, tuple(sorted(chosen)))
    return PairCounts.of(coded, layout, threads=threads)


@lru_cache(maxsize=32)
def _cover(layout: PairLayout, cells: int) -> Cover:
    """Choose the triples of 8-bit columns, of at most `cells` cells, for a layout's dense pairs."""
    sizes = [size if size <= 256 else TRIPLE_CELLS + 1 for size in layout.cardinalities]
    return cover_pairs(sizes, layout.dense, cells)


def _add_dense(coded: Coded, layout: PairLayout, cells: NDArray[np.int64], threads: int) -> None:
    """Add the tables of all dense pairs to `cells`."""
    from understudy.counting.kernels import count_pairs, count_triples

    # A triple pays from about four rows per cell. A power of two, so that covers are reused.
    cover = _cover(layout, min(TRIPLE_CELLS, 1 << (len(coded) // 4).bit_length() >> 1))
    calls: list[Callable[[], None]] = []
    if cover.triples:
        offsets = np.array(
            [
                [layout.starts[pair] if serve else -1 for pair, serve in served]
                for served in cover.served()
            ]
        )
        stack, triples, sizes = _stacked(coded, cover.triples, np.uint8)
        calls += [
            partial(count_triples, stack, triples[part], sizes, offsets[part], cells)
            for part in _parts(len(triples), len(coded), threads)
        ]
    if cover.pairs:
        offsets = np.array([layout.starts[pair] for pair in cover.pairs])
        stack, pairs, sizes = _stacked(coded, cover.pairs, np.uint32)
        calls += [
            partial(count_pairs, stack, pairs[part], sizes, offsets[part], cells)
            for part in _parts(len(pairs), len(coded), threads)
        ]
    # Each call fills tables of its own, so they can run in any order and at the same time.
    work = len(coded) * (len(cover.triples) + len(cover.pairs))
    with closing(in_order(_call, calls, threads if work >= _THREADS_PAY else 1)) as results:
        for _ in results:
            pass


def _call(kernel: Callable[[], None]) -> None:
    kernel()


def _stacked(
    coded: Coded, sets: Sequence[tuple[int, ...]], dtype: type[np.unsignedinteger]
) -> tuple[NDArray[np.unsignedinteger], NDArray[np.int64], NDArray[np.int64]]:
    """Return the columns of some sets as one array, the sets' places in it, and cardinalities.

    One type of array, always contiguous and writable: each other would compile a kernel again.
    """
    used, places = np.unique(np.array(sets, np.int64), return_inverse=True)
    stack = np.empty((len(used), len(coded)), dtype)
    for row, place in zip(stack, used.tolist(), strict=True):
        row[:] = checked_codes(coded, place)
    sizes = np.array(coded.cardinalities, np.int64)[used]
    return stack, places.reshape(len(sets), -1), sizes


def _parts(sets: int, rows: int, threads: int) -> Iterator[slice]:
    """Cut the work into calls: enough for all threads to end together, and none of them long."""
    step = max(1, min(-(-sets // (4 * threads)) if threads > 1 else sets, _CALL_WORK // rows))
    for start in range(0, sets, step):
        yield slice(start, start + step)


def pairwise_information(source: Source, *, engine: Engine | None = None) -> NDArray[np.float64]:
    """Measure, in bits, how much each column tells about each other one.

    Parameters
    ----------
    source : Coded or BatchSource
        The table. A stream is read once, or several times if the tables of all pairs are too
        large to be held together.
    engine : Engine, optional
        What sums over the batches; the local one, with one thread, by default.

    Returns
    -------
    ndarray of float64, shape (columns, columns)
        Symmetric: the mutual information of each pair, and each column's entropy on the diagonal.

    Notes
    -----
    The same numbers, to the last bit, as `mutual_information` and `entropy` of the columns,
    whatever the threads and batches. Three columns are counted at once where their table is
    small, and the tables of their pairs are sums over it.

    Examples
    --------
    >>> from understudy.data.coded import Coded
    >>> table = Coded.from_arrays({"a": [0, 1, 0, 1], "b": [0, 1, 0, 1], "c": [0, 0, 1, 1]})
    >>> pairwise_information(table).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    engine = engine or engine_for(source)
    threads = threads_within(engine, source)
    dense_cells = _dense_cells(source)
    joint: dict[Pair, int] = {}
    single: dict[int, int] = {}
    number, passes = 0, 1
    while number < passes:
        kernel = partial(_count_pass, number=number, dense_cells=dense_cells, threads=threads)
        counts = engine.sum_over(source, kernel)
        information = Information(counts.rows)
        _add_totals(counts, information, joint, single)
        number, passes = number + 1, len(_passes(counts.layout.cardinalities, dense_cells))
    if len(counts.names) == 1:
        single[0] = information.total(marginal_counts(source, engine=engine)[0])
    return _matrix(information, joint, single)


def _dense_cells(source: Source) -> int:
    """Return the largest dense table: in a table of few rows, most cells would be counted empty.

    A stream does not know its rows, so it takes the limit of all tables. Either form gives the
    same information. A power of two, so that layouts are reused.
    """
    if not isinstance(source, Coded):
        return DENSE_CELLS
    return min(DENSE_CELLS, max(2**12, 16 << len(source).bit_length()))


def _count_pass(coded: Coded, *, number: int, dense_cells: int, threads: int) -> PairCounts:
    """Count the pairs of one pass in a batch."""
    layout = _passes(coded.cardinalities, dense_cells)[number]
    return PairCounts.of(coded, layout, threads=threads)


@lru_cache(maxsize=8)
def _passes(cardinalities: tuple[int, ...], dense_cells: int) -> tuple[PairLayout, ...]:
    """Split all pairs into passes whose tables fit in memory together; most often one."""
    cover = cover_pairs(
        cardinalities, tuple(combinations(range(len(cardinalities)), 2)), TRIPLE_CELLS
    )
    # Pairs of a triple stay together, so that their pass can count them at once.
    ordered = [pair for served in cover.served() for pair, serve in served if serve]
    # Small tables first: fewer passes than in any order that mixes them with large ones.
    ordered += sorted(cover.pairs, key=lambda pair: cardinalities[pair[0]] * cardinalities[pair[1]])
    parts: list[list[Pair]] = [[]]
    held = 0
    for i, j in ordered:
        sizes = cardinalities[i], cardinalities[j]
        cells = sizes[0] * sizes[1] if is_dense(sizes, dense_cells) else _SPARSE_CELLS
        if held + cells > _PASS_CELLS and parts[-1]:
            parts.append([])
            held = 0
        parts[-1].append((i, j))
        held += cells
    return tuple(PairLayout(cardinalities, tuple(sorted(part)), dense_cells) for part in parts)


def _add_totals(
    counts: PairCounts,
    information: Information,
    joint: dict[Pair, int],
    single: dict[int, int],
) -> None:
    """Note the total of each pair that was counted, and of each column not seen before."""
    layout = counts.layout
    starts = np.fromiter(layout.starts.values(), np.int64, len(layout.starts))
    totals = information.totals(counts.cells, starts).tolist()
    joint.update(zip(layout.dense, totals, strict=True))
    for pair, table in zip(layout.sparse, counts.sparse, strict=True):
        joint[pair] = information.total(table.counts)
    for pair in layout.pairs:
        for column in pair:
            if column not in single:
                margin = counts.table(pair).marginal(counts.names[column])
                single[column] = information.total(margin.counts)


def _matrix(
    information: Information, joint: dict[Pair, int], single: dict[int, int]
) -> NDArray[np.float64]:
    """Put the totals together; integers up to the last step."""
    alone = np.array([single[column] for column in range(len(single))], np.int64)
    scores = np.diag(information.whole - alone)
    if joint:
        left, right = np.array(list(joint)).T
        totals = np.fromiter(joint.values(), np.int64, len(joint))
        mutual = information.mutual_score(totals, alone[left], alone[right])
        scores[left, right] = scores[right, left] = mutual
    return information.bits(scores)
