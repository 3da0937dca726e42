"""The compiled loops: histograms of three or two columns at once, and the entropy term of a count.

All kernels release the GIL and are cached on disk. None asks for the number of threads: whoever
wants several threads calls a kernel several times, with different tables to fill. Coverage is not
measured here, for it cannot see into compiled code: every kernel has a NumPy twin in its test.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from understudy.counting.compiling import kernel
from understudy.counting.information import ATANH_SERIES, LOG2_FACTOR, SQRT_HALF

# Rows whose cell numbers are computed in one vectorized sweep; the buffer stays in the L1 cache.
_BLOCK = 2048
# Cells of four interleaved 16-bit histograms hold at most 2^16 - 1 rows each before they are
# emptied; a whole number of blocks below 4 * (2^16 - 1).
_SPAN = 127 * _BLOCK


@kernel
def _fill(
    histograms: NDArray[np.uint16],
    places: NDArray[np.uint16],
    columns: tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]],
    sizes: tuple[int, int, int],
) -> None:
    """Count the cells of three columns, of at most `_SPAN` rows, in four interleaved histograms."""
    zeroth, first, second, third = histograms[0], histograms[1], histograms[2], histograms[3]
    middle, low = np.uint32(sizes[1]), np.uint32(sizes[2])
    one = np.uint16(1)
    rows = len(columns[0])
    for begin in range(0, rows, _BLOCK):
        length = min(_BLOCK, rows - begin)
        a = columns[0][begin : begin + length]
        b = columns[1][begin : begin + length]
        c = columns[2][begin : begin + length]
        for i in range(length):
            pair = np.uint32(a[i]) * middle + np.uint32(b[i])
            places[i] = np.uint16(pair * low + np.uint32(c[i]))
        whole = length - length % 4
        # Unsigned subscripts: a signed one is tested for being negative, at every row.
        for i in range(0, whole, 4):
            zeroth[np.uint64(places[i])] += one
            first[np.uint64(places[i + 1])] += one
            second[np.uint64(places[i + 2])] += one
            third[np.uint64(places[i + 3])] += one
        for i in range(whole, length):
            zeroth[np.uint64(places[i])] += one


@kernel
def _empty_into_pairs(
    histograms: NDArray[np.uint16],
    sizes: tuple[int, int, int],
    offsets: NDArray[np.int64],
    cells: NDArray[np.int64],
) -> None:
    """Add the histograms of a triple to the tables of its pairs, and set them to 0."""
    high, middle, low = sizes
    outer, inner = np.zeros(low, np.int64), np.zeros((middle, low), np.int64)
    for x in range(high):
        outer[:] = 0
        for y in range(middle):
            start = (x * middle + y) * low
            total = np.int64(0)
            for z in range(low):
                count = np.int64(0)
                for k in range(4):
                    count += np.int64(histograms[k, start + z])
                total += count
                outer[z] += count
                inner[y, z] += count
            if offsets[0] >= 0:
                cells[offsets[0] + x * middle + y] += total
        if offsets[1] >= 0:
            cells[offsets[1] + x * low : offsets[1] + (x + 1) * low] += outer
    if offsets[2] >= 0:
        cells[offsets[2] : offsets[2] + middle * low] += inner.reshape(-1)
    histograms[:, : high * middle * low] = 0


@kernel
def count_triples(
    stack: NDArray[np.uint8],
    triples: NDArray[np.int64],
    cardinalities: NDArray[np.int64],
    offsets: NDArray[np.int64],
    cells: NDArray[np.int64],
) -> None:
    """Count three columns at once, and add the tables of their three pairs to `cells`.

    A pass over a triple serves three pairs. The histogram is kept four times, for rows 0, 1, 2, 3
    modulo 4: on skewed data, neighbouring rows hit the same cell, and each increment would wait
    for the one before.

    Parameters
    ----------
    stack : ndarray of uint8, shape (columns, rows)
        The codes, each below its column's cardinality: this is not checked here.
    triples : ndarray, shape (triples, 3)
        Positions of the columns in `stack`. The product of their cardinalities is at most 2**16.
    cardinalities : ndarray, shape (columns,)
        Number of codes of each column.
    offsets : ndarray, shape (triples, 3)
        Where the tables of the pairs (0, 1), (0, 2), (1, 2) of each triple start in `cells`;
        negative if the pair is not wanted.
    cells : ndarray of int64
        The tables, one after the other, each in C order; changed in place.
    """
    rows = stack.shape[1]
    largest = np.int64(0)
    for t in range(triples.shape[0]):
        a, b, c = triples[t]
        largest = max(largest, cardinalities[a] * cardinalities[b] * cardinalities[c])
    histograms = np.zeros((4, largest), np.uint16)
    places = np.empty(_BLOCK, np.uint16)
    for t in range(triples.shape[0]):
        a, b, c = triples[t]
        sizes = (cardinalities[a], cardinalities[b], cardinalities[c])
        for start in range(0, rows, _SPAN):
            stop = min(start + _SPAN, rows)
            columns = (stack[a, start:stop], stack[b, start:stop], stack[c, start:stop])
            _fill(histograms, places, columns, sizes)
            _empty_into_pairs(histograms, sizes, offsets[t], cells)


@kernel
def count_pairs(
    stack: NDArray[np.uint32],
    pairs: NDArray[np.int64],
    cardinalities: NDArray[np.int64],
    offsets: NDArray[np.int64],
    cells: NDArray[np.int64],
) -> None:
    """Count pairs of columns and add their tables to `cells`; the way for larger cardinalities.

    Arguments are as those of `count_triples`, with one offset for each pair. The product of the
    cardinalities of a pair is below 2**32.
    """
    rows = stack.shape[1]
    places = np.empty(_BLOCK, np.uint32)
    for p in range(pairs.shape[0]):
        first, second = stack[pairs[p, 0]], stack[pairs[p, 1]]
        width = np.uint32(cardinalities[pairs[p, 1]])
        size = cardinalities[pairs[p, 0]] * cardinalities[pairs[p, 1]]
        table = cells[offsets[p] : offsets[p] + size]
        for begin in range(0, rows, _BLOCK):
            length = min(_BLOCK, rows - begin)
            a = first[begin : begin + length]
            b = second[begin : begin + length]
            for i in range(length):
                places[i] = np.uint32(a[i] * width + b[i])
            for i in range(length):
                table[np.uint64(places[i])] += 1


@kernel
def scaled_c_log2_c(count: int, shift: int) -> np.int64:
    """Return c log2(c) in units of 2**-shift: `Information.terms` for use inside kernels.

    The same operations in the same order as the NumPy form, so the same bits.
    """
    if count < 2:
        return np.int64(0)
    mantissa, exponent = math.frexp(float(count))
    if mantissa < SQRT_HALF:
        mantissa *= 2.0
        exponent -= 1
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square = ratio * ratio
    series = 0.0
    for coefficient in ATANH_SERIES:
        series = series * square + coefficient
    log2 = exponent + ratio * series * LOG2_FACTOR
    return np.int64(np.rint(math.ldexp(count * log2, shift)))
