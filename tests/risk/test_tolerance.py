"""When a guess of a number or a date is right, and what the best constant guess reaches."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.joint_coding import code_together
from understudy.errors import ParameterError
from understudy.risk.prepare import prepare
from understudy.risk.scenario import Scenario
from understudy.risk.tolerance import STANDARD, Tolerance, number_target, sizes_of

NONE = np.array([])


def target(values, wanted=None, **options):
    coded = code_together({"original": pl.DataFrame({"s": values})}, ["s"])
    return number_target("s", coded.levels["s"], coded["original"]["s"], wanted, **options)


def test_the_limits_of_a_tolerance_are_right():
    # In floating point, 0.8 - 0.1 is more than 0.7.
    close = Tolerance(0.1).among(NONE)
    assert close.right(np.array([0.7, 0.9, 0.69]), np.full(3, 0.8)).tolist() == [1, 1, 0]
    equal = Tolerance(0.0).among(NONE)
    assert equal.right(np.array([0.7]), np.array([0.7])).all()
    assert not equal.right(np.array([np.nextafter(0.7, 0)]), np.array([0.7])).any()
    negative = Tolerance(0.5, "relative").among(NONE)
    assert negative.right(np.array([-15.0, -4.0]), np.full(2, -10.0)).tolist() == [True, False]


@given(
    truths=st.lists(st.integers(-20, 20), min_size=1, max_size=12),
    size=st.integers(0, 8),
    kind=st.sampled_from(["absolute", "relative", "ranks"]),
)
def test_the_best_constant_is_the_best(truths, size, kind):
    # Quarters of whole numbers are exact, so that every place where an interval ends can be tried.
    numbers = np.array(truths, np.float64)
    close = Tolerance(size if kind == "absolute" else size / 8, kind).among(numbers)
    tried = np.arange(-4 * 60, 4 * 60 + 1) / 4
    best = max(close.right(np.full(len(numbers), guess), numbers).mean() for guess in tried)
    drawn = np.mean([close.right(np.full(len(numbers), one), numbers) for one in numbers])
    each = np.mean([close.right(np.full(len(numbers), one), numbers) for one in set(truths)])
    baseline = close.baseline(numbers, numbers)
    assert baseline.zero_rule == pytest.approx(best)
    assert baseline.proportional == pytest.approx(drawn)
    assert baseline.uniform == pytest.approx(each)
    assert baseline.release_rule == baseline.zero_rule


@given(
    original=st.lists(st.integers(0, 12), min_size=1, max_size=30),
    pairs=st.lists(st.tuples(st.integers(-2, 14), st.integers(-2, 14)), min_size=1),
    share=st.sampled_from([0.0, 0.05, 0.1, 0.3, 1.0]),
)
def test_ranks_agree_with_a_plain_twin(original, pairs, share):
    close = Tolerance(share, "ranks").among(np.array(original, np.float64))
    guesses, truths = (np.array(held, np.float64) for held in zip(*pairs, strict=True))

    def right(guess, truth):
        between = sum(min(guess, truth) < one < max(guess, truth) for one in original)
        return guess == truth or between < round(share * len(original), 9)

    assert close.right(guesses, truths).tolist() == [right(*pair) for pair in pairs]


def test_a_tenth_of_twenty_records_by_hand():
    # Fewer than 2 of 1, 2, .., 20 lie between 10 and what is right: 8, 9, 10, 11, 12.
    close = Tolerance(0.1, "ranks").among(np.arange(1.0, 21.0))
    tried = np.arange(1.0, 21.0)
    assert tried[close.right(tried, np.full(20, 10.0))].tolist() == [8, 9, 10, 11, 12]
    # Five numbers have a guess of their own right at best: 5 of 20.
    assert close.baseline(np.arange(1.0, 21.0)).zero_rule == 0.25


def test_what_counts_as_a_number():
    assert target(list(range(20))) is None
    assert target(list(range(21))).closeness.tolerance == STANDARD
    assert target([f"v{number}" for number in range(50)]) is None
    assert target([dt.date(2020, 1, 1), dt.date(2020, 1, 9)]).closeness.tolerance == STANDARD
    assert target(list(range(21)), "exact") is None
    assert target(list(range(21)), grouped=True) is None
    assert target([1, 2, 3], 1).closeness.tolerance == Tolerance(1.0)
    assert target([None, None]) is None
    assert target([True, False] * 30) is None


def test_dates_count_in_days():
    dates = [dt.date(2020, 1, 1), dt.date(2020, 1, 3), None]
    found = target(dates, dt.timedelta(days=2))
    assert found.closeness.tolerance == Tolerance(2.0)
    assert np.diff(found.numbers)[0] == 2
    assert found.code_limits[0].tolist() == [0, 0, 0]
    assert found.code_limits[1].tolist() == [1, 1, -1]
    times = [dt.datetime(2020, 1, 1, hour) for hour in (0, 12)]  # noqa: DTZ001  # without a zone
    assert np.diff(target(times).numbers).tolist() == [0.5]
    spans = [dt.timedelta(hours=6), dt.timedelta(hours=12)]
    assert target(spans).numbers.tolist() == [0.25, 0.5]
    assert target([dt.time(6), dt.time(18)]).numbers.tolist() == [0.25, 0.75]


def test_dates_beside_times_count_in_days():
    frames = {
        "original": pl.DataFrame({"s": [dt.date(1970, 1, 2)]}),
        "synthetic": pl.DataFrame({"s": [dt.datetime(1970, 1, 2, 6), None]}),  # noqa: DTZ001
    }
    assert sizes_of(code_together(frames, ["s"]).levels["s"])[:2].tolist() == [1.0, 1.25]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (-1, "tolerance must be a number of at least 0; got -1"),
        ("soon", "'exact', or a number and its kind such as '0.05 ranks'"),
        ("1 2 3", "got '1 2 3'"),
        ("", "got ''"),
        ("0.1 relative", "'s' holds dates, which have no size"),
    ],
)
def test_tolerances_that_cannot_be(wanted, message):
    with pytest.raises(ParameterError, match=message):
        target([dt.date(2020, 1, 1)], wanted)


def test_kinds_and_labels_are_checked():
    with pytest.raises(ParameterError, match="kind of tolerance must be one of ranks"):
        Tolerance(1, "places")
    with pytest.raises(ParameterError, match="'s' holds labels"):
        target(["a"], 1)
    table = pl.DataFrame({"k": [1, 2], "s": [1.0, 2.0]})
    with pytest.raises(ParameterError, match="both in groups and guessed"):
        prepare(table, [table], Scenario("k", "s"), groups={"s": 2}, tolerance=1)
