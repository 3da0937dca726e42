"""The mutual information of all pairs of columns, in one call."""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from understudy.counting.covering import Pair, cover_pairs
from understudy.counting.engine import Engine, LocalEngine, Source, threads_within
from understudy.counting.information import Information
from understudy.counting.pairs import TRIPLE_CELLS, PairCounts, PairLayout
from understudy.counting.tables import DENSE_CELLS, is_dense, marginal_counts
from understudy.data.coded import Coded

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Cells of the pair tables that are held at once (256 MB), and what a sparse table counts as.
_PASS_CELLS = 2**25
_SPARSE_CELLS = 2**22


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
    engine = engine or LocalEngine()
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
