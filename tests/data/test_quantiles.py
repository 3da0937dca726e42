"""Numbers inside bins: from a number to its position, and back."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.bins import RealGrid, WholeGrid, build_bins, quantile_edges
from understudy.data.quantiles import Quantiles

lists_of_numbers = st.lists(st.integers(-1000, 1000), min_size=1, max_size=300)


def spread_of(ordered, bins):
    ordered = np.sort(ordered)
    found = build_bins(quantile_edges(ordered, bins), ordered)
    return found, Quantiles.of(found, ordered)


def test_every_piece_rests_on_five_records():
    bins, spread = spread_of(np.arange(100.0), 4)
    assert np.diff(spread.firsts).tolist() == [6, 6, 6, 6]  # 25 records: five pieces
    assert spread.values[:6].tolist() == [0, 5, 10, 14, 19, 24]
    assert len(spread) == len(bins)


def test_a_bin_with_few_records_is_drawn_from_evenly():
    _, spread = spread_of(np.arange(9), 1)
    assert spread.values.tolist() == [0, 8]
    assert spread.shares.tolist() == [0, 1]


def test_the_ends_of_a_column_are_halved_as_long_as_five_records_are_left():
    _, spread = spread_of(np.arange(1000), 2)
    first, last = np.split(spread.shares, spread.firsts[1:-1])
    # 500 records: 16 pieces of 31; halves of 15 and 7 records, but not of 3.
    assert first[:3].tolist() == [0, 1 / 64, 1 / 32]
    assert last[-3:].tolist() == [1 - 1 / 32, 1 - 1 / 64, 1]
    assert len(first) == len(last) == 17 + 2


def test_a_long_tail_keeps_its_mean():
    ordered = np.sort(np.random.default_rng(1).pareto(2.5, 20_000))
    bins, spread = spread_of(ordered, 20)
    last = np.full(20_000, 19)
    drawn = spread.at(last, np.random.default_rng(2).random(20_000), bins.grid)
    true = ordered[ordered >= bins.edges[-2]].mean()
    # Between quartiles alone it is half as large again.
    assert drawn.mean() == pytest.approx(true, rel=0.05)
    assert bins.draw(last, "interpolate", np.random.default_rng(2)).mean() > 1.4 * true


def test_the_position_of_a_number_that_many_have_is_the_middle_of_theirs():
    ordered = np.sort([*range(10), *[50] * 20, *range(90, 100)])
    _, spread = spread_of(ordered, 1)
    assert spread.positions(np.array([0]), np.array([50]))[0] == pytest.approx(0.5)


def test_nanoseconds_stay_exact():
    start = 1_700_000_000_000_000_000
    ordered = start + np.arange(40, dtype=np.int64) * 7
    bins, spread = spread_of(ordered, 2)
    drawn = spread.at(np.array([0, 1]), np.array([0.0, 1.0]), bins.grid)
    assert drawn.tolist() == [start, start + 39 * 7]


@given(lists_of_numbers, st.integers(1, 6), st.data())
def test_a_number_lies_in_its_bin(numbers, count, data):
    bins, spread = spread_of(np.array(numbers), count)
    places = np.array(data.draw(st.lists(st.floats(0, 1), min_size=1, max_size=20)))
    chosen = np.arange(len(places)) % len(bins)
    drawn = spread.at(chosen, places, bins.grid)
    assert bins.assign(drawn).tolist() == chosen.tolist()
    assert (np.diff(spread.at(np.zeros(len(places), int), np.sort(places), bins.grid)) >= 0).all()


@given(lists_of_numbers, st.integers(1, 6))
def test_positions_are_shares_and_increase_with_the_number(numbers, count):
    bins, spread = spread_of(np.array(numbers), count)
    ordered = np.unique(numbers)
    found = spread.positions(bins.assign(ordered), ordered)
    assert (found >= 0).all()
    assert (found <= 1).all()
    assert (np.diff(bins.assign(ordered) + found) >= 0).all()


def test_real_numbers_return_to_where_they_were():
    ordered = np.sort(np.random.default_rng(1).normal(size=500))
    bins, spread = spread_of(ordered, 5)
    own = bins.assign(ordered)
    again = spread.at(own, spread.positions(own, ordered), RealGrid())
    assert np.allclose(again, ordered)


@given(lists_of_numbers, st.integers(1, 6))
def test_quantiles_survive_json(numbers, count):
    bins, spread = spread_of(np.array(numbers), count)
    again = Quantiles.from_plain(json.loads(json.dumps(spread.to_plain())), bins)
    assert again.values.tolist() == spread.values.tolist()
    assert again.values.dtype == spread.values.dtype
    assert again.shares.tolist() == spread.shares.tolist()
    assert again.firsts.tolist() == spread.firsts.tolist()


@pytest.mark.parametrize(
    "plain",
    [
        {"values": [[0, 8]], "shares": [[0.0, 0.5]]},
        {"values": [[8, 0]], "shares": [[0.0, 1.0]]},
        {"values": [[0, 8]], "shares": [[0.0, 1.0], [0.0, 1.0]]},
        {"values": [[0, 4, 8]], "shares": [[0.0, 0.0, 1.0]]},
        {"values": [[0]], "shares": [[0.0]]},
    ],
)
def test_damaged_quantiles_are_refused(plain):
    bins = build_bins(np.array([0, 8]), np.arange(9), WholeGrid())
    with pytest.raises(ValueError, match="quantiles"):
        Quantiles.from_plain(plain, bins)
