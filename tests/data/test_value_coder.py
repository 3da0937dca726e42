"""Exact codes: every number its own code, and numbers that are moved when codes become values."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import value_coder
from understudy.data.schema import Column, Schema
from understudy.data.value_coder import (
    _bandwidth,
    _first_places,
    build_value_coder,
    restore_value_coder,
)

SMOOTHINGS = ["interpolate", "density"]
seeds = st.integers(0, 2**32 - 1)


def coder_of(array, column=None):
    """Return the exact coder of an Arrow array, by default with the inferred description."""
    return build_value_coder(column or Schema.infer(pa.table({"x": array}))["x"], array)


def smooth(array, smoothing, column=None, copies=50):
    """Return the values of all records `copies` times over, moved, and those before."""
    coder = coder_of(array, column)
    codes, missing = coder.assign(array)
    codes = np.where(missing, coder.known, codes)
    counts = np.bincount(codes, minlength=coder.known)
    many = np.tile(codes, copies)
    moved = coder.smoothed(smoothing, counts).build(many, "interpolate", np.random.default_rng(0))
    return moved.to_pylist(), coder.build(many, "interpolate", np.random.default_rng(0)).to_pylist()


# By hand


def test_codes_are_special_values_and_then_ranks():
    array = pa.array([3.5, 0.0, -8.0, 1.25, 3.5, None])
    coder = coder_of(array, Column("x", "real", special=(0.0, -8.0), missing=0.1))
    codes, missing = coder.assign(array)
    assert codes[:5].tolist() == [3, 0, 1, 2, 3]
    assert missing.tolist() == [False] * 5 + [True]
    assert coder.known == 4
    assert coder.numbers.tolist() == [0, -8, 1.25, 3.5]
    assert coder.labels() == ["0", "-8", "1.25", "3.5"]
    back = coder.build(np.array([3, 0, 1, 2, 3, 4]), "interpolate", np.random.default_rng(0))
    assert back.equals(array)


def test_a_number_that_did_not_occur_has_no_code():
    coder = coder_of(pa.array([1.0, 2.0, 4.0]))
    codes, _ = coder.assign(pa.array([0.5, 1.0, 3.0, 4.0, 9.0, float("inf")]))
    assert codes.tolist() == [-1, 0, -1, 2, -1, -1]
    whole = coder_of(pa.array([1, 2, 4]))
    assert whole.assign(pa.array([1.0, 1.5, 4.0]))[0].tolist() == [0, -1, 2]


def test_listed_levels_have_codes_even_if_they_do_not_occur():
    coder = coder_of(pa.array([3, 1]), Column("x", "integer", levels=(5, 1, 3)))
    assert coder.values.tolist() == [1, 3, 5]
    assert not len(coder.special)


def test_a_column_without_a_value():
    array = pa.nulls(3, pa.float64())
    coder = coder_of(array)
    assert coder.known == 0
    _, missing = coder.assign(array)
    assert missing.all()
    assert coder.build(np.zeros(3, np.int64), "interpolate", np.random.default_rng(0)) == array


@pytest.mark.parametrize(
    "array",
    [
        pa.array([0.1, 0.25, 7.5], pa.float32()),
        pa.array([2, 1, 2], pa.int8()),
        pa.array([2**62, -(2**62), 5]),
        pa.array([dt.date(2020, 2, 29), dt.date(1999, 1, 1)]),
        pa.array([1, 10**15, 10**15 + 1], pa.timestamp("ns", "Europe/Berlin")),
        pa.array([dt.time(8, 30), dt.time(23, 59, 59)]),
        pa.array([5, 3_600_000], pa.duration("ms")),
        pa.array([Decimal("1.25"), Decimal("-3.10")], pa.decimal128(9, 2)),
        pa.array([float("inf"), float("-inf"), 0.0]),
    ],
    ids=lambda array: str(array.type),
)
def test_every_kind_of_number_comes_back(array):
    coder = coder_of(array)
    codes, _ = coder.assign(array)
    assert sorted(set(codes.tolist())) == list(range(len(array.unique())))
    assert coder.build(codes, "interpolate", np.random.default_rng(0)) == array


def test_places_among_many_values_are_those_of_searchsorted(monkeypatch):
    monkeypatch.setattr(value_coder, "_CACHED", 10)
    rng = np.random.default_rng(0)
    values = np.unique(rng.integers(0, 1000, 300))
    wanted = rng.integers(-10, 1010, 5_000)
    np.testing.assert_array_equal(_first_places(values, wanted), np.searchsorted(values, wanted))


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=60))
def test_codes_are_the_ranks_of_any_numbers(numbers):
    array = pa.array(numbers, pa.float64())
    coder = coder_of(array, Column("x", "real"))
    codes, _ = coder.assign(array)
    _, ranks = np.unique(np.array(numbers), return_inverse=True)
    assert codes.tolist() == ranks.tolist()


# Smoothing


def test_the_bandwidth_is_silvermans():
    # 1, 2, 3, 4 and 4: mean 2.8, variance (3.24 + 0.64 + 0.04 + 1.44 * 2) / 4 = 1.7. A quarter of
    # five records, 1.25, is reached at 2, three quarters, 3.75, at 4: (4 - 2) / 1.34 = 1.4925 is
    # more than sqrt(1.7) = 1.3038.
    counts = np.array([1, 1, 1, 2])
    wanted = 0.9 * np.sqrt(1.7) * 5**-0.2 / 3  # as a share of the range from 1 to 4
    assert _bandwidth(np.array([1.0, 2, 3, 4]), counts) == pytest.approx(wanted)
    # One far record: the quartiles 1 and 2 of nine decide.
    wanted = 0.9 * 1 / 1.34 * 9**-0.2 / 999
    assert _bandwidth(np.array([1, 2, 1000]), np.array([4, 4, 1])) == pytest.approx(wanted)
    # Where the quartiles agree, the deviation of 0 (nine times) and 10: sqrt(10) = 3.162.
    wanted = 0.9 * np.sqrt(10) * 10**-0.2 / 10
    assert _bandwidth(np.array([0, 10]), np.array([9, 1])) == pytest.approx(wanted)
    assert _bandwidth(np.array([7]), np.array([1])) == 0
    assert _bandwidth(np.array([7]), np.array([5])) == 0


def test_interpolation_goes_halfway_to_the_neighbours():
    array = pa.array([0.0, 10.0, 40.0])
    moved, before = smooth(array, "interpolate", Column("x", "real"), copies=2_000)
    found = {number: [] for number in (0.0, 10.0, 40.0)}
    for old, new in zip(before, moved, strict=True):
        found[old].append(new)
    for number, (low, high) in {0.0: (0, 5), 10.0: (5, 25), 40.0: (25, 40)}.items():
        own = np.array(found[number])
        assert own.min() >= low
        assert own.max() <= high
        # Even over the whole way: 2,000 uniform draws have a mean within 5 standard errors.
        error = (high - low) / np.sqrt(12 * 2_000)
        assert own.mean() == pytest.approx((low + high) / 2, abs=5 * error)


def test_density_adds_noise_of_the_bandwidth():
    rng = np.random.default_rng(1)
    array = pa.array(rng.normal(size=500))
    coder = coder_of(array)
    codes, _ = coder.assign(array)
    moved, before = smooth(array, "density")
    width = coder.smoothed("density", np.bincount(codes)).bandwidth * np.ptp(coder.values)
    noise = np.array(moved) - np.array(before)
    inner = np.abs(np.array(before)) < 1.5  # the ends turn the noise back
    # 20,000 draws: the standard deviation is known to half a percent.
    assert noise[inner].std() == pytest.approx(width, rel=0.03)
    assert abs(noise[inner].mean()) < 0.03 * width


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@given(seed=seeds, decimals=st.integers(0, 3), single=st.booleans())
def test_moved_numbers_keep_range_decimals_and_special_values(smoothing, seed, decimals, single):
    rng = np.random.default_rng(seed)
    numbers = np.round(rng.gamma(2, 20, 60), decimals)
    numbers[rng.random(60) < 0.3] = special = np.round(rng.uniform(0, 60), decimals)
    stored = np.float32 if single else np.float64
    numbers = numbers.astype(stored)
    array = pa.array(numbers)
    special = float(stored(special))
    column = Column("x", "real", special=(special,), decimals=decimals)
    moved, before = smooth(array, smoothing, column, copies=5)
    moved, before = np.array(moved), np.array(before)
    np.testing.assert_array_equal(moved == special, before == special)
    ordinary = numbers[numbers != special]
    if len(ordinary):
        assert moved[moved != special].min() >= ordinary.min()
        assert moved[moved != special].max() <= ordinary.max()
    np.testing.assert_array_equal(np.round(moved, decimals).astype(stored), moved.astype(stored))


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_fewer_decimals_than_the_data_have_do_not_lead_out_of_the_range(smoothing):
    array = pa.array([0.4, 0.6, 3.2, 7.1, 9.6])
    moved, _ = smooth(array, smoothing, Column("x", "real", decimals=0), copies=200)
    assert 0.4 <= min(moved) <= max(moved) <= 9.6
    assert {1.0, 2.0, 3.0, 9.0} <= set(moved)  # and neither 0 nor 10


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_where_only_special_values_are_near_the_number_itself_is_given(smoothing):
    # Between 0 and 10 all whole numbers are special: 0 and 10 can only be moved to each other.
    array = pa.array([0] * 5 + [10] * 5 + list(range(1, 10)))
    column = Column("x", "integer", special=tuple(range(1, 10)))
    moved, before = smooth(array, smoothing, column, copies=300)
    pairs = set(zip(before, moved, strict=True))
    assert {new for old, new in pairs if old in (0, 10)} <= {0, 10}
    assert all(old == new for old, new in pairs if old not in (0, 10))
    if smoothing == "interpolate":
        assert all(old == new for old, new in pairs)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize(
    "array",
    [
        pa.array([7] * 4),
        pa.array([2.5]),
        pa.array([dt.date(2020, 1, 1)]),
        pa.array([None, None], pa.float64()),
    ],
    ids=str,
)
def test_one_number_cannot_be_moved(smoothing, array):
    moved, before = smooth(array, smoothing)
    assert moved == before


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_moved_times_are_no_finer_than_the_data(smoothing):
    start = dt.datetime(2020, 1, 1, 8, 30)  # noqa: DTZ001
    times = [start + n * n * dt.timedelta(minutes=15) for n in range(60)]
    array = pl.Series(times).to_arrow()
    moved, before = smooth(array, smoothing)
    assert {(moment.second, moment.microsecond) for moment in moved} == {(0, 0)}
    assert times[0] <= min(moved) <= max(moved) <= times[-1]
    assert moved != before
    days = pl.Series([dt.date(2020, 1, 1) + n * n * dt.timedelta(1) for n in range(60)]).to_arrow()
    moved, before = smooth(days, smoothing)
    assert all(type(day) is dt.date for day in moved)
    assert before[0] <= min(moved) <= max(moved) <= before[59]
    assert len(set(moved)) > 100  # days of which the data know nothing


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_moments_are_moved_to_the_exact_tick(smoothing):
    start = 1_600_000_000_000_000_000  # a float holds only every 256th of these nanoseconds
    array = pa.array([start + 10 * n + n % 2 for n in range(30)], pa.timestamp("ns"))
    coder = coder_of(array, Column("x", "datetime"))
    codes, _ = coder.assign(array)
    moved = coder.smoothed(smoothing, np.bincount(codes)).build(
        np.tile(codes, 50), "interpolate", np.random.default_rng(0)
    )
    ticks = np.array(moved.cast(pa.int64())) - start
    assert 0 <= ticks.min() <= ticks.max() <= 291
    assert len(np.unique(ticks)) > 250


def test_smoothing_can_be_taken_back():
    array = pa.array([1.5, 2.5, 9.0])
    coder = coder_of(array, Column("x", "real"))
    again = coder.smoothed("density", np.ones(3, np.int64)).smoothed(None, np.ones(3, np.int64))
    assert (again.smoothing, again.bandwidth) == (None, 0)


# Taking apart and putting together


@pytest.mark.parametrize("smoothing", [None, *SMOOTHINGS])
@pytest.mark.parametrize("array", [pa.array([1.5, 2.25, -8.0]), pa.array([1, 5, 9])], ids=str)
def test_a_coder_comes_back_from_its_parts(array, smoothing):
    column = Column("x", "integer" if pa.types.is_integer(array.type) else "real", special=(-8,))
    coder = build_value_coder(column, array).smoothed(smoothing, np.ones(4, np.int64))
    again = restore_value_coder(column, array.type, coder.to_plain(), coder.values)
    codes, _ = coder.assign(array)
    assert again.assign(array)[0].tolist() == codes.tolist()
    many = np.tile(codes, 30)
    one, other = (c.build(many, "interpolate", np.random.default_rng(3)) for c in (coder, again))
    assert one == other


@pytest.mark.parametrize("array", [pa.array(range(30)), pa.array([n / 8 for n in range(30)])])
@pytest.mark.parametrize("rows", [30, 9])
def test_ends_come_back_from_their_parts(array, rows):
    column = Column("x", "integer" if pa.types.is_integer(array.type) else "real", missing=0.1)
    for ends in (1, 5, 10):
        coder = build_value_coder(column, array[:rows], ends)
        plain = json.loads(json.dumps(coder.to_plain()))
        again = restore_value_coder(column, array.type, plain, coder.values)
        assert again.to_plain() == coder.to_plain()
        assert again.withheld is (rows < ends)
        for one, other in zip(again.assign(array), coder.assign(array), strict=True):
            assert one.tolist() == other.tolist()


def test_files_from_before_there_were_ends_have_none():
    coder = coder_of(pa.array([1.5, 2.0] * 9))
    plain = {
        name: part
        for name, part in coder.to_plain().items()
        if name in ("real", "smoothing", "bandwidth")
    }
    again = restore_value_coder(Column("x", "real"), pa.float64(), plain, coder.values)
    assert again.to_plain() == coder.to_plain()


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_smoothed_numbers_stay_within_the_ends(smoothing):
    array = pa.array(np.random.default_rng(1).lognormal(size=300).round(3))
    column = Schema.infer(pa.table({"x": array}))["x"]
    coder = build_value_coder(column, array, 5)
    codes = coder.assign(array)[0]
    moved = coder.smoothed(smoothing, np.bincount(codes, minlength=coder.known))
    drawn = moved.build(np.tile(codes, 20), "interpolate", np.random.default_rng(0)).to_numpy()
    ordered = np.sort(array.to_numpy())
    assert ordered[0] < coder.values[0] <= drawn.min() <= ordered[5]
    assert ordered[-6] <= drawn.max() <= coder.values[-1] < ordered[-1]


@pytest.mark.parametrize(
    ("values", "plain", "message"),
    [
        ([2.0, 1.0], {}, "not increasing numbers"),
        ([1.0, 1.0], {}, "not increasing numbers"),
        ([1.0, float("nan")], {}, "not increasing numbers"),
        ([[1.0, 2.0]], {}, "not increasing numbers"),
        ([1, 2], {}, "not increasing numbers"),
        ([1.0, 2.0], {"smoothing": "spline"}, "smoothing of 'x' that is not known"),
        ([1.0, 2.0], {"bottom": 2.0}, "ends of 'x' that are not those of its values"),
        ([1.0, 2.0], {"bottom": 0.5}, "ends of 'x'"),
        ([1.0, 2.0], {"bottom": "1"}, "ends of 'x'"),
        ([1.0, 2.0], {"bottom": 1}, "ends of 'x'"),
        ([1.0, 2.0], {"top": 1.0}, "ends of 'x'"),
        ([1.0, 2.0], {"top": 2.5}, "ends of 'x'"),
        ([1.0, 2.0], {"top": float("nan")}, "ends of 'x'"),
        ([], {"top": 1.0}, "ends of 'x'"),
    ],
)
def test_parts_that_do_not_fit_are_refused(values, plain, message):
    column = Column("x", "real")
    whole = coder_of(pa.array([1.5, 2.0]), column).to_plain() | plain
    with pytest.raises(ValueError, match=message):
        restore_value_coder(column, pa.float64(), whole, np.array(values or [1.0])[: len(values)])


@pytest.mark.parametrize("smoothing", ["interpolate", "density"])
def test_huge_numbers_are_smoothed_within_their_range(smoothing):
    array = pa.array([1e308, -1e308, 1e307, 5e-324] * 20)
    moved, _ = smooth(array, smoothing)
    assert np.isfinite(np.array(moved)).all()
    assert np.abs(np.array(moved)).max() <= 1e308


def test_the_widest_whole_numbers_can_be_restored():
    array = pa.array([-(2**62), 2**62, 5] * 10)
    coder = coder_of(array)
    column = Column("x", "integer", range=(-(2**62), 2**62))
    again = restore_value_coder(column, array.type, coder.to_plain(), coder.values)
    assert again.values.tolist() == [-(2**62), 5, 2**62]
