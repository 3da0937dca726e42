"""Shares of columns in labels of the release alone."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.utility.shares import column_shares_of
from understudy.utility.tables import tables_of


def shares(original, synthetic):
    frames = pl.DataFrame({"x": original}), pl.DataFrame({"x": synthetic})
    (found,) = column_shares_of(tables_of(*frames))
    return found


def test_categories_by_hand():
    found = shares(["a", "a", "b", "q", None], ["b", "a", "c", "b"])
    assert found.labels == ("a", "b", "c", "not in the release")
    assert found.original == (2 / 5, 1 / 5, 0, 2 / 5)  # q and the gap
    assert found.synthetic == (1 / 4, 2 / 4, 1 / 4, 0)


def test_nothing_is_left_if_the_release_shows_everything():
    found = shares(["a", None], ["a", None, None])
    assert found.labels == ("a", "missing")
    assert found.synthetic == (1 / 3, 2 / 3)


def test_a_gap_is_one_of_many_labels():
    names = [f"{number:02}" for number in range(30)]
    found = shares([*names, None, None], [*names, *names[:18], None, None])
    assert found.labels == (*names[:18], "missing", "12 other values")
    assert found.original[18:] == (2 / 32, 12 / 32)
    rare = shares([*names, None], [*names, *names[:19], None])
    assert rare.labels == (*names[:19], "12 other values")  # the gap among them
    assert rare.original[-1] == 12 / 31


def test_few_numbers_are_labels():
    found = shares([1, 2, 99], [1, 2, 2])
    assert found.labels == ("1", "2", "not in the release")


def test_many_numbers_are_grouped_by_limits_of_the_release():
    # 0, 1, .. 99: the middle 98 % are 98 wide, a twelfth of which is above 5: in steps of 10.
    found = shares([5, 15, 15, 999], list(range(100)))
    steps = [f"{low} to below {low + 10}" for low in range(10, 90, 10)]
    assert found.labels == ("below 10", *steps, "90 and more", "not in the release")
    assert found.original[:2] == (1 / 4, 2 / 4)
    assert found.original[-1] == 1 / 4
    assert found.synthetic == pytest.approx([0.1] * 10 + [0])


def test_a_frequent_number_and_gaps_have_labels_of_their_own():
    found = shares([0, 50], [0] * 50 + list(range(1, 50)) + [None])
    assert found.labels[:2] == ("0", "below 5, not 0")
    assert found.labels[-2:] == ("missing", "not in the release")  # 50 is beyond the release
    assert found.synthetic[0] == 0.5


def test_infinite_numbers_have_labels_of_their_own():
    found = shares([1.0, -math.inf], [*np.arange(30.0).tolist(), math.inf])
    assert "inf" in found.labels
    assert found.original[-1] == 0.5
    assert sum(found.synthetic[:-1]) == pytest.approx(1)


def test_small_whole_numbers_are_not_cut_between():
    found = shares([1], [0, 1, 2, 3] * 100 + list(range(4, 30)))
    assert not [label for label in found.labels if "." in label]


def test_days_are_grouped_by_days_of_the_release():
    days = [dt.date(2020, 1, 1) + dt.timedelta(2 * number) for number in range(60)]
    between, before = dt.date(2020, 1, 2), dt.date(2019, 12, 24)
    found = shares([between, before, dt.date(2020, 1, 10)], [*days, None])
    assert found.labels[0] == "2020-01-01 to 2020-01-09"
    assert found.labels[-2:] == ("missing", "not in the release")
    # January 10 lies between two groups, and counts for the one before.
    assert found.original[0] == pytest.approx(2 / 3)
    assert found.original[-1] == pytest.approx(1 / 3)


def test_rare_labels_are_put_together():
    synthetic = [f"a{number:02}" for number in range(30)] + ["a29"] * 5
    found = shares(["a29", "a28", "zz"], synthetic)
    assert len(found.labels) == 21
    assert found.labels[-2:] == ("11 other values", "not in the release")
    assert found.labels[-3] == "a29"
    assert found.original[-3:] == pytest.approx([1 / 3] * 3)


elements = (
    st.integers(-1000, 1000),
    st.floats(-1e6, 1e6),
    st.sampled_from("abcdefghijklmnopqrstuvwxyz"),
    st.dates(),
    st.none() | st.integers(0, 9),
)


def column(element):
    return st.lists(element, min_size=1, max_size=60)


@given(st.one_of(*(st.tuples(column(one), column(one)) for one in elements)))
def test_shares_sum_to_one_and_the_release_is_shown_whole(tables):
    found = shares(*tables)
    assert sum(found.original) == pytest.approx(1)
    assert sum(found.synthetic) == pytest.approx(1)
    assert len(found.labels) == len(found.original) == len(found.synthetic)
    if found.labels[-1] == "not in the release":
        assert found.synthetic[-1] == 0
        assert found.original[-1] > 0


@given(st.one_of(*map(column, elements)))
def test_a_copy_has_equal_shares(synthetic):
    found = shares(synthetic, synthetic)
    assert found.original == found.synthetic
    assert "not in the release" not in found.labels
