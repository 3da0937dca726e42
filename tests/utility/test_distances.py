"""The total variation distance, and what chance gives for it: by hand, by sums, by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import Coded
from understudy.utility.distances import expected_distance, paired_counts, total_variation


def test_a_distance_by_hand():
    # Shares 1/2, 1/4, 1/4 against 0, 1/2, 1/2: (1/2 + 1/4 + 1/4) / 2.
    assert total_variation(np.array([2, 1, 1]), np.array([0, 5, 5])) == 0.5
    assert total_variation(np.array([1, 2]), np.array([10, 20])) == 0
    assert total_variation(np.array([1, 0]), np.array([0, 3])) == 1


def test_chance_by_hand():
    # Of two records from 1/2, 1/2: the counts (2, 0), (1, 1), (0, 2) have chances 1/4, 1/2, 1/4 and
    # distances 1/2, 0, 1/2.
    assert expected_distance(np.array([3, 3]), 2) == pytest.approx(1 / 4)
    # One record from 3/4, 1/4: distance 1/4 with chance 3/4, 3/4 with chance 1/4.
    assert expected_distance(np.array([3, 1]), 1) == pytest.approx(3 / 8)


def test_chance_moves_nothing_in_one_cell():
    assert expected_distance(np.array([7, 0]), 5) == 0


def slow_expected(counts, size):
    """Sum the absolute deviations of each cell over all counts that it can have."""
    total = 0.0
    for count in counts:
        share = count / sum(counts)
        total += sum(
            math.comb(size, k) * share**k * (1 - share) ** (size - k) * abs(k / size - share)
            for k in range(size + 1)
        )
    return total / 2


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8).filter(any), st.integers(1, 60))
def test_chance_is_the_sum_over_all_outcomes(counts, size):
    expected = slow_expected(counts, size)
    assert expected_distance(np.array(counts), size) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("size", [50, 1473, 10_000])
def test_chance_is_what_simulation_gives(size):
    # Shares of all sizes; 4,000 samples know the mean to a sixtieth of the standard deviation of
    # one distance, which is below a third of the distance: four of these are 2 %.
    counts = np.array([700, 300, 200, 100, 50, 50, 30, 20, 10, 5, 5, 1, 1, 1])
    rng = np.random.default_rng(7)
    samples = rng.multinomial(size, counts / counts.sum(), size=4_000)
    mean = np.mean([total_variation(counts, sample) for sample in samples])
    assert expected_distance(counts, size) == pytest.approx(mean, rel=0.02)


def test_chance_in_large_samples_falls_with_the_root_of_their_size():
    # For many records, a cell's mean absolute deviation is sqrt(2 p (1 - p) / (pi m)).
    counts = np.array([600_000, 300_000, 100_000])
    shares = counts / counts.sum()
    normal = np.sqrt(2 * shares * (1 - shares) / np.pi / 10_000_000).sum() / 2
    assert expected_distance(counts, 10_000_000) == pytest.approx(normal, rel=1e-4)


@pytest.mark.parametrize("levels", [3, 3_000])
def test_counts_are_of_the_same_combinations(levels):
    # Three thousand levels each: nine million cells, of which a few hundred occur.
    rng = np.random.default_rng(1)
    tables = [
        Coded.from_arrays(
            {name: rng.integers(levels, size=rows) for name in "ab"},
            {"a": levels, "b": levels},
        )
        for rows in (200, 100)
    ]
    ((first, second),) = paired_counts(*tables, [("a", "b")])
    assert (first.sum(), second.sum()) == (200, 100)
    assert len(first) == len(second) <= max(2**10, 300)
    cells = [list(zip(table["a"].tolist(), table["b"].tolist(), strict=True)) for table in tables]
    every = set(cells[0]) | set(cells[1])
    assert sorted(zip(first.tolist(), second.tolist(), strict=True), reverse=True)[
        : len(every)
    ] == sorted(((cells[0].count(c), cells[1].count(c)) for c in every), reverse=True)
