"""The numbers that a column can hold, and those next to any number."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.grids import RealGrid, WholeGrid, grid_of, time_step

GRIDS = [
    WholeGrid(),
    WholeGrid(step=60, start=7),
    RealGrid(),
    RealGrid(decimals=2),
    RealGrid(precision="float32"),
    RealGrid(1, "float32"),
    RealGrid(precision="float16"),
]


def values_for(grid, numbers):
    return np.array(numbers, dtype=np.int64 if isinstance(grid, WholeGrid) else np.float64)


def test_whole_numbers_in_steps_of_sixty_from_seven_by_hand():
    # ..., -53, 7, 67, 127, ...
    grid = WholeGrid(step=60, start=7)
    values = np.array([6, 7, 8, 36, 37, 38])
    assert grid.at_least(values).tolist() == [7, 7, 67, 67, 67, 67]
    assert grid.at_most(values).tolist() == [-53, 7, 7, 7, 7, 7]
    assert grid.nearest(values).tolist() == [7, 7, 7, 7, 67, 67]
    assert grid.step_from(np.array([7]), -1).tolist() == [-53]


def test_tenths_by_hand():
    grid = RealGrid(decimals=1)
    values = np.array([0.1, 0.11, 0.19])
    assert grid.at_least(values).tolist() == [0.1, 0.2, 0.2]
    assert grid.at_most(values).tolist() == [0.1, 0.1, 0.1]
    assert grid.nearest(values).tolist() == [0.1, 0.1, 0.2]
    assert grid.step_from(np.array([0.2]), 1).tolist() == [0.3]  # not 0.30000000000000004


def test_single_precision_numbers_are_next_to_each_other():
    grid = RealGrid(precision="float32")
    one = np.array([1.0])
    assert grid.step_from(one, 1) - one == 2.0**-23
    # 0.1 lies between two of them; the nearest is 0.10000000149.
    assert grid.at_most(np.array([0.1]))[0] < 0.1 < grid.at_least(np.array([0.1]))[0]


def test_a_step_never_stands_still_where_numbers_lie_far_apart():
    large = np.array([2.0**60])
    assert RealGrid(decimals=2).step_from(large, -1) < large
    assert RealGrid(decimals=2).step_from(large, 1) > large


@pytest.mark.parametrize("grid", GRIDS, ids=repr)
@given(numbers=st.lists(st.integers(-10_000, 10_000).map(lambda n: n / 7), min_size=1))
def test_neighbours_enclose_a_number_and_lie_on_the_grid(grid, numbers):
    values = values_for(grid, numbers)
    above, below = grid.at_least(values), grid.at_most(values)
    assert (below <= values).all()
    assert (values <= above).all()
    np.testing.assert_array_equal(grid.nearest(above), above)
    np.testing.assert_array_equal(grid.nearest(below), below)
    np.testing.assert_array_equal(np.where(above > below, grid.step_from(below, 1), above), above)
    np.testing.assert_array_equal(grid.step_from(grid.step_from(below, 1), -1), below)


@pytest.mark.parametrize("grid", GRIDS, ids=repr)
@given(
    ends=st.tuples(st.integers(-500, 500), st.integers(-500, 500)).map(sorted),
    share=st.floats(0, 1),
)
def test_a_number_between_two_of_the_grid_is_on_the_grid_and_between_them(grid, ends, share):
    low, high = grid.nearest(values_for(grid, ends))
    drawn = grid.between(np.array([low]), np.array([high]), np.array([share]))
    assert low <= drawn[0] <= high
    np.testing.assert_array_equal(grid.nearest(drawn), drawn)


def test_each_whole_number_between_two_has_the_same_share_of_the_way():
    low, high = np.full(8, 3), np.full(8, 6)
    shares = np.array([0.0, 0.24, 0.25, 0.49, 0.5, 0.74, 0.75, 1.0])
    assert WholeGrid().between(low, high, shares).tolist() == [3, 3, 4, 4, 5, 5, 6, 6]


def test_the_widest_interval_of_floats_does_not_overflow():
    largest = np.array([np.finfo(float).max])
    assert RealGrid().between(-largest, largest, np.array([0.5])) == 0


@pytest.mark.parametrize(
    ("unit", "times", "step"),
    [
        ("s", [0, 86_400 * 3, 86_400 * 5], 86_400),
        ("s", [5, 3_605], 3_600),
        ("s", [30, 90, 3_630], 60),
        ("s", [1, 3], 1),
        ("ms", [0, 1_500], 1),
        ("ms", [500, 2_500], 1_000),
        ("us", [0, 7_000], 1_000),
        ("us", [0, 7_001], 1),
        ("ns", [0, 5_000_000], 1_000_000),
        ("ns", [0, 5_000], 1_000),
        ("D", [0, 7], 1),
        ("s", [60], 1),
        ("s", [60, 60], 1),
        ("s", [], 1),
    ],
)
def test_times_keep_the_coarsest_step_that_their_differences_have(unit, times, step):
    assert time_step(np.array(times, dtype=np.int64), unit) == step


@pytest.mark.parametrize(
    ("kind", "decimals", "grid"),
    [
        (pa.float64(), None, RealGrid()),
        (pa.float64(), 2, RealGrid(2)),
        (pa.float32(), 2, RealGrid(2, "float32")),
        (pa.float16(), None, RealGrid(None, "float16")),
        (pa.decimal128(9, 3), None, RealGrid(3)),  # its type holds no more
        (pa.decimal128(9, 3), 5, RealGrid(3)),
        (pa.decimal128(9, 3), 1, RealGrid(1)),
    ],
)
def test_real_columns_are_written_as_their_type_and_decimals_allow(kind, decimals, grid):
    assert grid_of(kind, np.array([0.5, 1.5]), decimals) == grid


@pytest.mark.parametrize(
    ("kind", "grid"),
    [
        (pa.int16(), WholeGrid()),
        (pa.date32(), WholeGrid()),
        (pa.timestamp("s"), WholeGrid(60, 30)),
        (pa.duration("s"), WholeGrid(60, 30)),
    ],
)
def test_times_and_durations_start_their_steps_at_the_data(kind, grid):
    assert grid_of(kind, np.array([90, 150]), None) == grid
