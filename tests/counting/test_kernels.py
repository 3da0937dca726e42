from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from understudy.counting.information import Information, _scaled_c_log2_c
from understudy.counting.kernels import count_pairs, count_triples, scaled_c_log2_c


def table_of(codes, sizes, columns):
    table = np.zeros([sizes[column] for column in columns], np.int64)
    np.add.at(table, tuple(codes[column] for column in columns), 1)
    return table


def random_stack(rng, sizes, rows, dtype):
    return np.stack([(rng.random(rows) ** 3 * size).astype(dtype) for size in sizes])


# Around the sizes of a block (2048 rows) and of a span (127 blocks), and not multiples of four.
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 4, 2047, 2048, 2051, 260_096, 260_101, 530_003])
def test_count_triples_is_its_numpy_twin(rows):
    rng = np.random.default_rng(rows)
    sizes = np.array([20, 1, 31, 64])
    stack = random_stack(rng, sizes, rows, np.uint8)
    triples = np.array(list(combinations(range(4), 3)))
    wanted = np.array([[1, 1, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0]], bool)

    expected = [
        table_of(stack, sizes, pair).ravel()
        for triple, serve in zip(triples, wanted, strict=True)
        for pair, want in zip(combinations(triple, 2), serve, strict=True)
        if want
    ]
    lengths = np.zeros(wanted.shape, np.int64)
    lengths[wanted] = [len(cells) for cells in expected]
    offsets = np.where(wanted, np.cumsum(lengths).reshape(wanted.shape) - lengths, -1)
    cells = np.ones(lengths.sum(), np.int64)
    count_triples(stack, triples, sizes, offsets, cells)

    # The tables were 1 before: a kernel adds.
    np.testing.assert_array_equal(cells, 1 + np.concatenate(expected))


def test_count_triples_has_room_for_a_constant_table_of_two_to_the_sixteenth_cells():
    rows = 600_000  # twice what four 16-bit counters hold
    stack = np.full((3, rows), 15, np.uint8)
    stack[2] = 255
    cells = np.zeros(256 + 2 * 4096, np.int64)
    offsets = np.array([[0, 256, 256 + 4096]])
    count_triples(stack, np.array([[0, 1, 2]]), np.array([16, 16, 256]), offsets, cells)
    assert np.flatnonzero(cells).tolist() == [255, 256 + 4095, 256 + 2 * 4096 - 1]
    assert cells[cells > 0].tolist() == [rows] * 3


@pytest.mark.parametrize("rows", [0, 1, 2047, 2048, 5000])
def test_count_pairs_is_its_numpy_twin(rows):
    rng = np.random.default_rng(rows)
    sizes = np.array([3000, 5, 1, 300])
    stack = random_stack(rng, sizes, rows, np.uint32)
    pairs = np.array([[0, 1], [0, 3], [2, 3]])
    expected = [table_of(stack, sizes, pair).ravel() for pair in pairs]
    offsets = np.cumsum([0, *(len(cells) for cells in expected[:-1])])
    cells = np.ones(sum(map(len, expected)), np.int64)
    count_pairs(stack, pairs, sizes, offsets, cells)
    np.testing.assert_array_equal(cells, 1 + np.concatenate(expected))


@pytest.mark.parametrize("rows", [1, 1000, 284_807, 2**40])
def test_the_compiled_entropy_term_has_the_bits_of_the_numpy_one(rows):
    counts = np.unique(np.append(np.geomspace(1, rows, 3000).astype(np.int64), 0))
    shift = Information(rows).shift
    compiled = [scaled_c_log2_c(count, shift) for count in counts]
    np.testing.assert_array_equal(compiled, _scaled_c_log2_c(counts, shift))
