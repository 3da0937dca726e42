"""Ends of a column: each rests on several records, and nobody's extreme value is left."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from statistics import median_high, median_low

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.bins import RealGrid, WholeGrid
from understudy.data.ends import fold_ends
from understudy.data.schema import Column, Schema
from understudy.data.value_coder import build_value_coder


def folded(numbers, least=5, grid=None, **options):
    """Return the numbers that are left of a list, and the two borders."""
    values, counts = np.unique(numbers, return_counts=True)
    grid = grid or (WholeGrid() if values.dtype.kind == "i" else RealGrid())
    found = fold_ends(values, counts, least, grid, **options)
    assert found.values.dtype == values.dtype
    return found.values.tolist(), found.bottom, found.top


def released(numbers, least=5, grid=None, **options):
    """Return each number of a list as it is drawn."""
    values, bottom, top = folded(numbers, least, grid, **options)
    return [
        values[0]
        if bottom is not None and number <= bottom
        else values[-1]
        if top is not None and number >= top
        else number
        for number in numbers
    ]


MIDDLE = [50] * 20

# By hand


def test_both_ends_become_their_means():
    low, high = [1, 2, 4, 5, 8], [80, 81, 84, 85, 90]
    # 20 / 5 = 4 and 420 / 5 = 84; the borders are the fifth values.
    assert folded(low + MIDDLE + high) == ([4, 50, 84], 8, 80)


def test_means_are_rounded_inwards():
    # 23 / 5 = 4.6 is rounded up, and 423 / 5 = 84.6 down.
    assert folded([1, 2, 5, 7, 8, *MIDDLE, 80, 82, 85, 86, 90])[0] == [5, 50, 84]
    # Four of five records have 90; their mean of 89.8 would round to what only they have.
    assert folded([*MIDDLE, 89, 90, 90, 90, 90])[0] == [50, 89]


def test_an_extreme_that_five_records_share_stays():
    numbers = [1] * 5 + MIDDLE + [90] * 5
    assert folded(numbers) == ([1, 50, 90], None, None)


def test_an_end_holds_all_records_of_its_innermost_value():
    # 90, 88, 84, 80, 80 would do, but the third record with 80 is no different: 502 / 6.
    assert folded([*MIDDLE, 70, 70, 70, 80, 80, 80, 84, 88, 90])[0] == [50, 70, 83]


def test_few_records_beyond_a_common_value_take_it():
    # Zero is left as it is, and not moved by what two records owe.
    numbers = [-700.5, -20.0, *[0.0] * 30, *[50.0] * 30]
    assert folded(numbers) == ([0.0, 50.0], 0.0, None)
    assert folded([*MIDDLE, *[60] * 5, 70, 90]) == ([50, 60], None, 60)


def test_a_value_that_dwarfs_the_others_does_not_show():
    # Distances from 100 are 0, 10, 20, 40 and a million: the largest counts for (0+10+20) * 10.
    expected = 100 + (0 + 10 + 20 + 40 + 300) // 5
    for largest in (10**6, 10**9):
        assert folded([*MIDDLE, 100, 110, 120, 140, largest])[0] == [50, expected]
    # Nor do two: their partner in the mean would know the other one's.
    expected = 100 + (0 + 10 + 20 + 300 + 300) // 5
    assert folded([*MIDDLE, 100, 110, 120, 10**6, 2 * 10**6])[0] == [50, expected]
    # Alone beyond values that are all the same, it counts for nothing.
    assert folded([*MIDDLE, 100, 100, 100, 100, 10**6])[0] == [50, 100]


def test_the_lower_end_is_the_mirror_image():
    numbers = [*MIDDLE, 100, 110, 120, 140, 10**6]
    mirrored = [-number for number in numbers]
    values, bottom, top = folded(numbers)
    assert folded(mirrored) == ([-value for value in reversed(values)], -top, bottom)


@pytest.mark.parametrize(
    ("numbers", "median"),
    [
        ([1, 2, 3, 4, 5], 3),
        ([1, 2, 3, 4, 5, 6, 7, 8], 4),  # 4.5, rounded down
        ([1, 2, 3, 4, 5, 6, 7, 8, 1000], 5),
        ([0.0, 0.5, 1.0, 1.25, 9.0, 10.0], 1.125),
        ([0] * 4 + [1] * 4, 0),
        ([1] * 4 + [5] * 300 + [9] * 4, 5),
        ([0] * 997 + [1] * 3, 0),
    ],
)
def test_ends_that_overlap_leave_the_median(numbers, median):
    assert folded(numbers) == ([median], median, median)


def test_from_twice_as_many_records_on_there_are_two_ends():
    assert folded(list(range(9)))[0] == [4]
    assert folded(list(range(10)))[0] == [2, 7]


def test_fewer_records_leave_nothing():
    assert folded([7, 8, 8, 9]) == ([], None, None)
    assert folded([7.5] * 4) == ([], None, None)
    assert folded([7.5] * 5) == ([7.5], None, None)


def test_no_record_has_no_ends():
    nothing = fold_ends(np.array([1, 2]), np.array([0, 0]), 5, WholeGrid())
    assert (nothing.values.tolist(), nothing.bottom, nothing.top) == ([1, 2], None, None)
    assert folded(np.array([], np.int64)) == ([], None, None)


def test_a_listed_column_keeps_to_its_list():
    values = np.array([0, 1, 5, 10, 20, 50, 99])
    counts = np.array([0, 9, 9, 1, 2, 4, 0])
    # (2 * 20 + 4 * 50) / 6 = 40, and the list has 20 below it. Nobody has 0 or 99.
    found = fold_ends(values, counts, 5, WholeGrid(), listed=True)
    assert (found.values.tolist(), found.top) == ([0, 1, 5, 10, 20], 20)
    mirrored = fold_ends(-values[::-1], counts[::-1], 5, WholeGrid(), listed=True)
    assert (mirrored.values.tolist(), mirrored.bottom) == ([-20, -10, -5, -1, 0], -20)
    one = fold_ends(np.array([1, 2, 3, 4]), np.array([3, 0, 0, 3]), 5, WholeGrid(), listed=True)
    assert one.values.tolist() == [2]


def test_an_end_does_not_become_a_special_value():
    high = [80, 81, 84, 85, 90]  # their mean is 84
    assert folded([*MIDDLE, *high], special=np.array([84, 83]))[0] == [50, 82]
    assert folded([*MIDDLE, 80, 82, 90, 90, 90], special=np.arange(81, 87))[0] == [50, 80]
    assert folded([1, 2, 4, 6, 7, 8], special=np.array([5]))[0] == [4]


def test_decimals_are_kept():
    numbers = [50.0] * 20 + [80.11, 80.2, 80.31, 80.4, 80.53]
    assert folded(numbers, grid=RealGrid(2))[0] == [50.0, 80.31]
    assert folded(numbers, grid=RealGrid(1))[0] == [50.0, 80.3]
    # Fewer decimals than the data have do not lead out of the end.
    assert folded(numbers, grid=RealGrid(0))[0] == [50.0, 80.11]


def test_neighbouring_floats_are_not_rounded_to_the_extreme():
    low = 80.0
    high = np.nextafter(low, 90)
    assert folded([50.0] * 20 + [low, high, high, high, high])[0] == [50.0, low]


def test_times_stay_on_their_step():
    minutes = WholeGrid(60, 30)
    numbers = 60 * np.array([*MIDDLE, 80, 81, 84, 85, 92]) + 30
    # The mean is 84.4 minutes.
    assert folded(numbers, grid=minutes)[0] == [60 * 50 + 30, 60 * 84 + 30]


def test_huge_numbers_do_not_overflow():
    whole = np.array([-(2**63) + 1, -(2**63) + 2, -5, -4, -3, 0, 0, 3, 4, 5, 2**63 - 2, 2**63 - 1])
    values = folded(whole, 3)[0]
    assert min(whole) < values[0] <= -5
    assert 5 <= values[-1] < max(whole)
    real = [-1.7e308, -1.6e308, -1.5e308, -1.4e308, -1.3e308]
    values = folded([*real, *[0.0] * 9, *(-number for number in real)])[0]
    np.testing.assert_allclose(values, [-1.5e308, 0, 1.5e308])


@pytest.mark.parametrize("least", [2, 3])
def test_of_two_or_three_records_the_innermost_counts(least):
    # The p% rule takes three records that are not the innermost.
    assert folded([*MIDDLE, 80, 85, 90], least)[0][-1] == [80, 85, 90][-least]


# Twins and invariants

wholes = st.lists(st.integers(-20, 20) | st.integers(-(2**62), 2**62), min_size=1, max_size=60)
least_records = st.integers(2, 8)


def twin_end(numbers, least):
    """The number of the upper end, record by record and in fractions."""
    border = sorted(numbers)[-least]
    group = sorted(number for number in numbers if number >= border)
    if group.count(border) >= least:
        return border
    away = [number - border for number in group]
    limit = 10 * sum(away[:-2])
    return border + Fraction(sum(min(distance, limit) for distance in away), len(away))


@given(wholes, least_records)
def test_the_ends_are_those_of_a_twin_with_fractions(numbers, least):
    values, bottom, top = folded(numbers, least)
    if len(numbers) < least:
        assert values == []
        return
    low, high = sorted(numbers)[least - 1], sorted(numbers)[-least]
    if low >= high and len(set(numbers)) > 1:
        assert values == [(median_low(numbers) + median_high(numbers)) // 2]
        return
    upper, lower = twin_end(numbers, least), -twin_end([-number for number in numbers], least)
    assert (values[0], values[-1]) == (-(-lower // 1), upper // 1)
    assert bottom == (low if min(numbers) < low else None)
    assert top == (high if max(numbers) > high else None)
    assert values[1:-1] == [value for value in sorted(set(numbers)) if low < value < high]


@given(wholes, least_records)
def test_nothing_is_released_beyond_what_enough_records_share(numbers, least):
    if len(numbers) < least:
        return
    drawn = released(numbers, least)
    assert all(type(number) is int for number in drawn)
    assert min(numbers) <= min(drawn) <= max(drawn) <= max(numbers)
    for extreme in (min, max):
        if len(set(numbers)) > 1 and len(drawn) >= 2 * least:
            # An original extreme is seen only if enough records have it.
            assert extreme(drawn) != extreme(numbers) or numbers.count(extreme(numbers)) >= least
        # What is drawn in its place stands for enough records.
        assert drawn.count(extreme(drawn)) >= least
    in_order = [after for _, after in sorted(zip(numbers, drawn, strict=True))]
    assert in_order == sorted(drawn)


@given(st.lists(st.floats(-1e6, 1e6), min_size=12, max_size=60), st.integers(0, 3))
def test_real_numbers_keep_their_decimals_and_their_order(numbers, decimals):
    grid = RealGrid(decimals)
    numbers = grid.nearest(np.array(numbers))
    values = np.array(folded(numbers, grid=grid)[0])
    np.testing.assert_array_equal(grid.nearest(values), values)
    assert (np.diff(values) > 0).all()
    ordered = np.sort(numbers)
    assert ordered[0] <= values[0] <= values[-1] <= ordered[-1]
    if len(values) > 1:
        assert values[0] <= ordered[4]
        assert values[-1] >= ordered[-5]


@given(wholes, st.integers(1, 2**62))
def test_a_greater_maximum_far_out_changes_nothing(numbers, further):
    # Further out than what the end counts a record for, its value has no influence at all.
    numbers = [number for number in numbers if abs(number) < 2**40] + list(range(20))
    far = max(numbers) + 2**50
    assert folded([*numbers, far])[0] == folded([*numbers, far + further])[0]


# Columns of all kinds


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([float(n) / 4 for n in range(100)]), [0.5, 24.25]),
        (pa.array([n / 4 for n in range(100)], pa.float32()), [0.5, 24.25]),
        (pa.array([2 * n // 2 for n in range(50)] * 2), [1, 48]),
        (
            pa.array([dt.date(2020, 1, 1) + dt.timedelta(days=n * n) for n in range(60)]),
            [dt.date(2020, 1, 7), dt.date(2028, 11, 25)],
        ),
        (
            pa.array([dt.datetime(2020, 1, 1, n // 60, n % 60, tzinfo=dt.UTC) for n in range(300)]),
            [dt.datetime(2020, 1, 1, *time, tzinfo=dt.UTC) for time in ((0, 2), (4, 57))],
        ),
        (pa.array([dt.time(n // 60, n % 60) for n in range(300)]), [dt.time(0, 2), dt.time(4, 57)]),
        (pa.array([Decimal(n) / 4 for n in range(80)]), [Decimal("0.50"), Decimal("19.25")]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_every_kind_of_number_has_ends(array, expected):
    column = Schema.infer(pa.table({"x": array}), special_share=1)["x"]
    coder = build_value_coder(column, array, 5)
    codes, missing = coder.assign(array)
    assert codes.min() == 0
    assert not missing.any()
    drawn = coder.build(codes, "interpolate", np.random.default_rng(0))
    assert drawn.type == array.type
    assert [min(drawn.to_pylist()), max(drawn.to_pylist())] == expected
    inside = codes[(codes > 0) & (codes < coder.known - 1)]
    assert len(inside) >= len(array) - 16
    # What was drawn can be read again, so can numbers further out, and no others.
    assert coder.assign(drawn)[0].tolist() == codes.tolist()


def test_infinite_and_special_values_are_not_part_of_the_ends():
    array = pa.array([float("-inf"), -8.0, *map(float, range(20)), 99.0, float("inf")])
    coder = build_value_coder(Column("x", "real", special=(-8.0, 99.0)), array, 5)
    middle = [2.0, *map(float, range(5, 15)), 17.0]
    assert coder.numbers.tolist() == [-8.0, 99.0, float("-inf"), *middle, float("inf")]
    codes, missing = coder.assign(array)
    assert not missing.any()
    assert codes.tolist() == [2, 0, *[3] * 5, *range(4, 14), *[14] * 5, 1, 15]


def test_numbers_that_are_not_whole_are_in_no_end_of_whole_ones():
    coder = build_value_coder(Column("x", "integer"), pa.array(range(30)), 5)
    codes, _ = coder.assign(pa.array([-7.0, -7.5, 2.0, 2.5, 35.0, 35.5]))
    assert codes.tolist() == [0, -1, 0, -1, coder.known - 1, -1]


def test_numbers_of_too_few_records_are_missing():
    array = pa.array([1.5, 2.5, None, 4.5, 8.0, 8.0])
    coder = build_value_coder(Column("x", "real", special=(8.0,), missing=0.1), array, 5)
    assert coder.withheld
    codes, missing = coder.assign(array)
    assert missing.tolist() == [True] * 4 + [False] * 2
    assert codes[4:].tolist() == [0, 0]
    assert not build_value_coder(Column("x", "real", missing=1.0), pa.nulls(9), 5).withheld
