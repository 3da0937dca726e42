"""Cutting numbers into bins, and the numbers that a column can hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.data.bins import (
    PIECES,
    RealGrid,
    WholeGrid,
    _place_among,
    build_bins,
    given_edges,
    grid_of,
    quantile_edges,
    time_step,
    width_edges,
)

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


whole = st.integers(-1_000, 1_000)
real = st.floats(-1e9, 1e9, allow_subnormal=False)
columns = st.one_of(
    st.lists(whole, min_size=1, max_size=60).map(lambda v: np.sort(np.array(v, dtype=np.int64))),
    st.lists(real, min_size=1, max_size=60).map(lambda v: np.sort(np.array(v, dtype=np.float64))),
)


def slow_quantile_edges(ordered, bins):
    cuts = {ordered[place * len(ordered) // bins] for place in range(bins)}
    return sorted(cuts | {ordered[-1]})


def slow_bin(edges, value):
    """Return the bin of one value by looking at each bin in turn."""
    last = len(edges) - 2
    for place in range(last + 1):
        if edges[place] <= value < edges[place + 1] or (place == last and value == edges[-1]):
            return place
    return -1


@pytest.mark.parametrize(
    ("values", "bins", "edges"),
    [
        ([0, 1, 2, 3, 4, 5, 6, 7, 8], 3, [0, 3, 6, 8]),  # places 0, 3 and 6 of nine, and the end
        ([1, 1, 1, 1, 2], 5, [1, 2]),  # a heavy value takes several quantiles
        ([1, 2, 3], 20, [1, 2, 3]),
        ([7], 4, [7]),
        ([0.5, 1.5, 2.5, 3.5], 2, [0.5, 2.5, 3.5]),
    ],
)
def test_quantile_edges_by_hand(values, bins, edges):
    assert quantile_edges(np.array(values), bins).tolist() == edges


@given(columns, st.integers(1, 25))
def test_quantile_edges_agree_with_the_plain_twin(ordered, bins):
    assert quantile_edges(ordered, bins).tolist() == slow_quantile_edges(ordered, bins)


@given(st.integers(1, 300), st.integers(1, 25))
def test_quantile_bins_of_distinct_values_hold_the_same_number_of_records(rows, bins):
    ordered = np.arange(rows, dtype=float)
    found = build_bins(quantile_edges(ordered, bins), ordered).assign(ordered)
    sizes = np.bincount(found)
    # Equal but for rounding; the last bin also holds its upper edge, the largest value.
    assert sizes.max() - sizes.min() <= 2


@pytest.mark.parametrize(
    ("low", "high", "bins", "edges"),
    [
        (0.0, 1.0, 4, [0, 0.25, 0.5, 0.75, 1]),
        (0, 10, 4, [0, 3, 5, 8, 10]),  # 2.5 and 7.5, rounded up
        (-10, 0, 4, [-10, -7, -5, -2, 0]),
        (0, 2, 20, [0, 1, 2]),  # more bins than numbers
        (5, 5, 3, [5]),
        (2.0, 2.0, 3, [2]),
        (-(2**62), 2**62, 2, [-(2**62), 0, 2**62]),  # exact, where floats are not
    ],
)
def test_width_edges_by_hand(low, high, bins, edges):
    assert width_edges(low, high, bins).tolist() == edges


@given(whole, st.integers(1, 500), st.integers(1, 25), st.data())
def test_whole_edges_part_the_same_numbers_as_fractional_ones(low, span, bins, data):
    # Below the largest number: it alone would be a bin where bins are narrower than 1.
    one, other = (data.draw(st.integers(low, low + span - 1)) for _ in range(2))
    exact = [low + Fraction(place * span, bins) for place in range(bins + 1)]
    edges = width_edges(low, low + span, bins).tolist()
    together = slow_bin(edges, one) == slow_bin(edges, other)
    assert together == (slow_bin(exact, one) == slow_bin(exact, other))


def test_the_widest_range_of_floats_is_cut_without_overflow():
    largest = np.finfo(float).max
    edges = width_edges(-largest, largest, 4)
    np.testing.assert_allclose(edges, np.array([-1, -0.5, 0, 0.5, 1]) * largest, atol=1e292)


def test_given_edges_of_whole_numbers_are_exact():
    assert given_edges([0, 17.5, 64.5, 99.5], whole=True).tolist() == [0, 18, 65, 99]
    assert given_edges([2**60 + 1, 2**60 + 3], whole=True).tolist() == [2**60 + 1, 2**60 + 3]
    assert given_edges([0, 0.5], whole=False).tolist() == [0, 0.5]


def test_a_bin_holds_its_lower_edge_and_the_last_one_both():
    bins = build_bins(np.array([0, 10, 20]), np.array([0, 5, 20]))
    assert bins.assign(np.array([-1, 0, 9, 10, 20, 21])).tolist() == [-1, 0, 0, 1, 1, -1]


@given(columns, st.integers(1, 25), st.data())
def test_bins_are_those_that_a_search_in_turn_finds(ordered, bins, data):
    edges = data.draw(
        st.sampled_from([quantile_edges(ordered, bins), width_edges(ordered[0], ordered[-1], bins)])
    )
    built = build_bins(edges, ordered)
    strange = np.append(ordered, [ordered[0] - 1, ordered[-1] + 1])
    expected = [slow_bin(built.edges, value) for value in strange]
    assert built.assign(strange).tolist() == expected
    assert (built.assign(ordered) >= 0).all()


def test_quartiles_of_a_bin_by_hand():
    # Nine values in the first bin: the places 0, 2, 4, 6, 8 are its quartiles.
    ordered = np.array([1, 2, 3, 5, 8, 13, 21, 34, 55, 100, 200])
    bins = build_bins(np.array([0, 100, 200]), ordered)
    assert bins.knots[0].tolist() == [1, 3, 8, 21, 55]
    # Two values say too much of themselves: 100 to 200 evenly, 101 numbers in four pieces.
    assert bins.knots[1].tolist() == [100, 125, 150, 175, 200]
    assert bins.bounds.tolist() == [[0, 99], [100, 200]]


def test_a_bin_without_data_is_drawn_from_evenly():
    bins = build_bins(np.array([0.0, 1.0, 3.0]), np.array([], dtype=float), RealGrid(2))
    assert bins.bounds.tolist() == [[0.0, 0.99], [1.0, 3.0]]
    assert bins.knots[1].tolist() == [1.0, 1.5, 2.0, 2.5, 3.0]


def test_bins_without_a_number_that_can_be_written_are_left_out():
    # In tenths: [0, 0.1) and [0.1, 0.15] hold 0 and 0.1; 0.03 and 0.12 are no tenths.
    bins = build_bins(np.array([0, 0.03, 0.1, 0.12, 0.15]), np.array([0, 0.1]), RealGrid(1))
    assert bins.edges.tolist() == [0, 0.1, 0.15]
    assert bins.bounds.tolist() == [[0, 0], [0.1, 0.1]]


def test_the_ends_of_a_bin_are_not_special():
    bins = build_bins(np.array([0, 5]), np.array([2, 3]), WholeGrid(), np.array([1, 0]))
    assert bins.bounds.tolist() == [[2, 5]]


DRAWN_FROM = [
    WholeGrid(),
    WholeGrid(5, 2),
    RealGrid(),
    RealGrid(0),
    RealGrid(3),
    RealGrid(2, "float32"),
]


@settings(max_examples=150)
@given(
    grid=st.sampled_from(DRAWN_FROM),
    numbers=st.lists(st.integers(-3_000, 3_000), min_size=1, max_size=60),
    bins=st.integers(1, 25),
    how=st.sampled_from(["interpolate", "uniform"]),
    width=st.booleans(),
)
def test_a_number_drawn_from_a_bin_is_on_the_grid_and_in_the_bin(grid, numbers, bins, how, width):
    dtype = np.int64 if isinstance(grid, WholeGrid) else np.float64
    ordered = np.unique(grid.nearest(np.array(numbers, dtype=dtype) / dtype(7)).astype(dtype))
    ends = ordered[0], ordered[-1]
    edges = width_edges(*ends, bins) if width else quantile_edges(ordered, bins)
    built = build_bins(edges, ordered, grid)
    wanted = np.unique(built.assign(ordered)).repeat(20)
    drawn = built.draw(wanted, how, np.random.default_rng(0))
    np.testing.assert_array_equal(built.assign(drawn), wanted)
    np.testing.assert_array_equal(grid.nearest(drawn), drawn)


def test_uniform_draws_are_even_over_the_bin_and_interpolated_ones_follow_the_data():
    # Half of the bin's values lie below 1, the others between 1 and 10.
    ordered = np.concatenate([np.linspace(0, 1, 500, endpoint=False), np.linspace(1, 10, 500)])
    bins = build_bins(np.array([0.0, 10.0]), ordered)
    zeros = np.zeros(20_000, dtype=int)
    below_one = {
        how: (bins.draw(zeros, how, np.random.default_rng(3)) < 1).mean()
        for how in ("uniform", "interpolate")
    }
    # Standard errors are 0.0021 and 0.0035: four of them.
    assert below_one["uniform"] == pytest.approx(0.1, abs=0.009)
    assert below_one["interpolate"] == pytest.approx(0.5, abs=0.015)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 20, 21, 99, 1_000])
@pytest.mark.parametrize("how", ["interpolate", "uniform"])
def test_no_continuous_value_of_the_data_is_drawn_again(rows, how):
    ordered = np.sort(np.random.default_rng(rows).normal(size=rows))
    wide = np.array([-10.0, *quantile_edges(ordered, 20)[1:-1], 10.0])
    bins = build_bins(wide, ordered)
    drawn = bins.draw(np.arange(len(bins)).repeat(50), how, np.random.default_rng(0))
    assert not np.isin(drawn, ordered).any()


def test_every_bin_has_as_many_knots_as_pieces_and_one():
    assert build_bins(np.array([0.0, 1, 2]), np.array([0.5])).knots.shape == (2, PIECES + 1)


@pytest.mark.parametrize("cuts", [0, 1, 19, 64, 65])
def test_few_and_many_cuts_place_values_like_searchsorted(cuts):
    rng = np.random.default_rng(cuts)
    for values in (rng.normal(size=20_000), rng.integers(-9, 9, 20_000)):
        edges = np.sort(rng.choice(values, cuts))
        expected = np.searchsorted(edges, values, side="right")
        np.testing.assert_array_equal(_place_among(edges, values), expected)
