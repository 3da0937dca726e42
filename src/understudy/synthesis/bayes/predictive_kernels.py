"""The compiled loops of the predictive search: records in order, and what a parent tells."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.counting.compiling import kernel
from understudy.synthesis.kernels import search_strength

Ints: TypeAlias = NDArray[np.int64]
UInts32: TypeAlias = NDArray[np.uint32]
Floats: TypeAlias = NDArray[np.float64]


@kernel
def order_records(
    groups: UInts32, count: int, child: UInts32, cardinality: int, order: Ints
) -> None:
    """Fill `order` with the records by group, by the child's code within one, and as they come.

    Two counting sorts, the less significant first. That groups are below `count` and codes below
    `cardinality` is not checked here.
    """
    ends = np.zeros(cardinality + 1, np.int64)
    for i in range(len(child)):
        ends[child[i] + 1] += 1
    for value in range(cardinality):
        ends[value + 1] += ends[value]
    by_child = np.empty(len(child), np.int64)
    for i in range(len(child)):
        by_child[ends[child[i]]] = i
        ends[child[i]] += 1
    starts = np.zeros(count + 1, np.int64)
    for i in range(len(groups)):
        starts[groups[i] + 1] += 1
    for group in range(count):
        starts[group + 1] += starts[group]
    for i in range(len(by_child)):
        record = by_child[i]
        order[starts[groups[record]]] = record
        starts[groups[record]] += 1


@kernel
def split_cells(
    starts: Ints,
    begins: Ints,
    codes: UInts32,
    size: int,
    least: int,
    found: tuple[Ints, Ints, Ints],
) -> int:
    """Split rows by a further parent, and return how many cells can tell of a left-out record.

    These are cells whose row has `least` records beside the one that is left out. If no row is
    split at all, the answer is 0.

    Parameters
    ----------
    starts, begins : ndarray of int64
        Where each row, and each cell (the records of a row with one value), begins among records
        that are sorted by both; and the number of records.
    codes : ndarray of uint32
        The further parent's code of each record, in this order, below `size`.
    found : tuple of three ndarray of int64
        Filled with the count of each new cell, that of its row, and the cell that it is part of.
    """
    joint, whole, cells = found
    in_row, in_cell = np.zeros(size, np.int64), np.zeros(size, np.int64)
    cell, number, split = 0, 0, False
    for row in range(len(starts) - 1):
        begin, end = starts[row], starts[row + 1]
        if end - begin - 1 < least:
            while begins[cell] < end:
                cell += 1
            continue
        for i in range(begin, end):
            in_row[codes[i]] += 1
        split = split or in_row[codes[begin]] < end - begin
        while begins[cell] < end:
            for i in range(begins[cell], begins[cell + 1]):
                in_cell[codes[i]] += 1
            for i in range(begins[cell], begins[cell + 1]):
                code = codes[i]
                if in_cell[code] and in_row[code] - 1 >= least:
                    joint[number], whole[number] = in_cell[code], in_row[code]
                    cells[number] = cell
                    number += 1
                in_cell[code] = 0
            cell += 1
        for i in range(begin, end):
            in_row[codes[i]] = 0
    return number if split else 0


@kernel
def gain_of_parent(
    records: tuple[Ints, Ints, Ints],
    codes: UInts32,
    size: int,
    known: tuple[Floats, Floats],
    tried: tuple[Floats, Floats],
    least: int,
    same: float,
) -> float:
    """Return what a further parent adds to the log likelihood of left-out records, in nats.

    Parameters
    ----------
    records : tuple of three ndarray of int64
        The records in order, and `starts` and `begins` of `split_cells`.
    codes : ndarray of uint32
        The further parent's code of each record, as they come, below `size`.
    known : tuple of two ndarray of float64
        The probability of each cell's value for a left-out record, and its logarithm.
    tried : tuple of two ndarray of float64
        The strengths that `search_strength` tries.
    least : int
        The fewest records of a row that is used.
    same : float
        Likelihoods this near, in nats a record, count as equally good.
    """
    order, starts, begins = records
    shares, logs = known
    in_order = np.empty(len(order), np.uint32)
    for place in range(len(order)):
        in_order[place] = codes[order[place]]
    joint, whole = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    cells = np.empty(len(order), np.int64)
    count = split_cells(starts, begins, in_order, size, least, (joint, whole, cells))
    if count == 0:
        return 0.0
    above, before, told = np.empty(count), 0.0, 0
    for cell in range(count):
        above[cell] = shares[cells[cell]]
        told += joint[cell]
    counts = joint[:count], whole[:count]
    _, total = search_strength(counts, above, tried, least, same * told)
    for cell in range(count):
        before += joint[cell] * logs[cells[cell]]
    return total - before
