"""Records packed into words: nothing is lost, and equal records are one."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.data import Coded
from understudy.learning.packed import Records


def coded(sizes, rows, seed=0):
    """Return random codes; the first rows hold the largest codes and the smallest ones."""
    rng = np.random.default_rng(seed)
    columns = {f"c{place}": rng.integers(size, size=rows) for place, size in enumerate(sizes)}
    for column, size in zip(columns.values(), sizes, strict=True):
        column[:2] = size - 1, 0
    return Coded.from_arrays(columns, dict(zip(columns, sizes, strict=True)))


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ([1, 1], 1),
        ([2] * 64, 1),
        ([2] * 65, 2),
        ([2] * 64 + [1], 1),
        ([2**20, 2**20, 2**20, 2**5], 2),  # 60 bits, and 5 that do not fit
        ([70_000] * 9, 3),  # 17 bits each: three to a word
    ],
)
def test_codes_come_back_from_their_bits(sizes, words):
    table = coded(sizes, 30)
    records = Records(table)
    assert records.words.shape[0] == words
    for place, (word, shift, bits) in enumerate(records.fields):
        codes = (records.words[word] >> np.uint64(shift)) & np.uint64((1 << bits) - 1)
        assert codes[records.ids].tolist() == table.columns[place].tolist()
        mask = records.mask([place])
        assert int(mask[word]) == ((1 << bits) - 1) << shift
        assert mask.astype(bool).sum() <= 1


def test_equal_records_are_one_with_a_weight():
    records = Records(Coded.from_arrays({"a": [1, 0, 1, 1], "t": [0, 0, 0, 1]}))
    assert records.ids.tolist() == [0, 1, 0, 2]
    assert records.weights.tolist() == [2, 1, 1]
    assert records.sensitive.tolist() == [0, 0, 1]
    assert records.counts.tolist() == [3, 1]


def test_bytes_of_wide_codes_are_the_lowest_first():
    table = Coded.from_arrays({"a": [258, 3], "b": [1, 0], "t": [0, 0]})
    found, ends = Records(table).key_bytes([0, 1], np.array([0, 1]))
    assert found.tolist() == [[2, 3], [1, 0], [1, 0]]  # 258 = 2 + 256 * 1
    assert ends.tolist() == [False, True, True]
