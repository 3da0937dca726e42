"""Records packed into 64-bit words and de-duplicated: what the search for near records works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from understudy.data import Coded

Words = NDArray[np.uint64]

_BITS = 64


@dataclass(frozen=True, eq=False)
class Records:
    """A coded table of keys and a sensitive attribute, packed and de-duplicated.

    Each column has its own bits, so that a set of columns is a mask. A column lies in one word;
    there are as many words as all columns need.

    Parameters
    ----------
    coded : Coded
        The table; the last column is the sensitive attribute.

    Examples
    --------
    >>> records = Records(Coded.from_arrays({"age": [2, 0, 2], "ill": [1, 0, 1]}))
    >>> records.words, records.weights
    (array([[6, 0]], dtype=uint64), array([2, 1]))
    """

    coded: Coded

    @cached_property
    def fields(self) -> tuple[tuple[int, int, int], ...]:
        """The word, the first bit and the number of bits of each column."""
        placed, word, used = [], 0, 0
        for cardinality in self.coded.cardinalities:
            bits = max(cardinality - 1, 0).bit_length()
            if used + bits > _BITS:
                word, used = word + 1, 0
            placed.append((word, min(used, _BITS - 1), bits))
            used += bits
        return tuple(placed)

    def mask(self, places: Sequence[int]) -> Words:
        """Return the bits of the columns at these places, one number for each word."""
        numbers = [0] * (self.fields[-1][0] + 1)
        for place in places:
            word, shift, bits = self.fields[place]
            numbers[word] |= ((1 << bits) - 1) << shift
        return np.array(numbers, np.uint64)

    @cached_property
    def _different(self) -> tuple[Words, NDArray[np.int32], NDArray[np.int32]]:
        from understudy.learning.matching_kernels import number_rows

        words = np.zeros((self.fields[-1][0] + 1, len(self.coded)), np.uint64)
        for column, (word, shift, _) in zip(self.coded.columns, self.fields, strict=True):
            words[word] |= column.astype(np.uint64) << np.uint64(shift)
        ids, firsts = number_rows(words, self.mask(range(len(self.fields))))
        return np.ascontiguousarray(words[:, firsts]), ids, firsts

    @property
    def words(self) -> Words:
        """The different records, packed."""
        return self._different[0]

    @property
    def ids(self) -> NDArray[np.int32]:
        """Which of the different records each record is."""
        return self._different[1]

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """How often each of the different records occurs."""
        return self.coded.counts(self.ids, self.words.shape[1])

    @cached_property
    def sensitive(self) -> NDArray[np.int32]:
        """The sensitive value of each of the different records."""
        return self.coded.columns[-1][self._different[2]].astype(np.int32)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How often each sensitive value occurs."""
        return self.coded.counts(self.coded.columns[-1], self.coded.cardinalities[-1])

    def key_bytes(
        self, places: Sequence[int], rows: NDArray[np.integer]
    ) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Return codes of some of the different records as bytes, and which byte ends its column.

        Bytes have the shape (bytes, rows), the lowest of a column first.
        """
        chosen = self._different[2][rows]
        lines, ends = [], []
        for place in places:
            codes = self.coded.columns[place][chosen]
            width = max((self.fields[place][2] + 7) // 8, 1)
            for number in range(width):
                lines.append((codes >> np.array(8 * number, codes.dtype)).astype(np.uint8))
                ends.append(number == width - 1)
        return np.array(lines), np.array(ends)


def coded_records(
    columns: Sequence[NDArray[np.integer]],
    sizes: Sequence[int],
    sensitive: NDArray[np.integer],
    levels: int,
) -> Records:
    """Return the records of columns of codes without names, and of a sensitive attribute.

    Examples
    --------
    >>> coded_records([np.array([2, 0, 2])], [3], np.array([1, 0, 1]), 2).weights
    array([2, 1])
    """
    names = [str(place) for place in range(len(sizes) + 1)]
    arrays = dict(zip(names, [*columns, sensitive], strict=True))
    return Records(Coded.from_arrays(arrays, dict(zip(names, [*sizes, levels], strict=True))))
