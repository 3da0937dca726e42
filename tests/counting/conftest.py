"""Random coded tables, and streams of them, for all tests of counting."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import strategies as st

from understudy.data.coded import Coded


@dataclass
class Batches:
    """A source that yields the given batches, and counts how often it is read."""

    batches: list[Coded]
    passes: int = 0

    def coded_batches(self):
        self.passes += 1
        return iter(self.batches)


def _table(cardinalities, rows, seed):
    rng = np.random.default_rng(seed)
    names = [f"c{place}" for place in range(len(cardinalities))]
    # Squares of uniform numbers: low codes are common, so that sparse tables have repetitions.
    arrays = {
        name: (rng.random(rows) ** 2 * size).astype(np.int64)
        for name, size in zip(names, cardinalities, strict=True)
    }
    return Coded.from_arrays(arrays, dict(zip(names, cardinalities, strict=True)))


@pytest.fixture(scope="session")
def random_table():
    """A function of cardinalities, rows and seed that gives a skewed random table."""
    return _table


@pytest.fixture(scope="session")
def tables():
    """A strategy for tables: 8, 16 and 32-bit columns, from none to some hundred rows."""
    sizes = st.lists(st.sampled_from([1, 2, 3, 7, 256, 257, 3000, 70_000]), min_size=1, max_size=6)
    return st.builds(_table, sizes, st.integers(0, 300), st.integers(0, 2**32))


@pytest.fixture(scope="session")
def in_batches():
    """A function that cuts a table at the given rows and makes it a stream."""

    def cut(coded, *cuts):
        edges = [0, *sorted(min(cut, len(coded)) for cut in cuts), len(coded)]
        return Batches(
            [coded.take(slice(start, stop)) for start, stop in itertools.pairwise(edges)]
        )

    return cut
