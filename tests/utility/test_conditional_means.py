"""Means by level: by hand, in trivial worlds, and how often chance crosses the limits."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import polars as pl
import pytest

from understudy.errors import ParameterError
from understudy.utility import conditional_means


def people(rows: int, seed: int, gap: float = 1.0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], rows)
    return pl.DataFrame({"sex": sex, "pay": rng.normal(size=rows) + gap * (sex == "m")})


def test_by_hand(as_frame):
    # f: 0 and 2, m: 4 and 6, 40 of each: the mean of all is 3, their variance 5.
    original = {"sex": ["f", "f", "m", "m"] * 20, "pay": [0.0, 2, 4, 6] * 20}
    synthetic = {"sex": ["f", "f", "m", "m"] * 20, "pay": [0.0, 2, 0, 2] * 20}
    found = conditional_means(as_frame(original), as_frame(synthetic))
    worst = found.worst[0]
    assert (worst.number, worst.by, worst.level) == ("pay", "sex", "m")
    assert (worst.original, worst.synthetic) == pytest.approx((5, 1))
    assert worst.difference == pytest.approx(-4 / math.sqrt(5))
    assert (found.means, found.beyond) == (2, 1)
    assert found.mean == pytest.approx(4 / math.sqrt(5) / 2)
    # Within a level the variance is 1, with n - 1: 40 / 39; two means of 40 records each.
    error = math.sqrt(40 / 39 * 2 / 40) / math.sqrt(5)
    assert found.expected == pytest.approx(error * math.sqrt(2 / math.pi))
    assert "Where 'sex' is 'm', the mean of 'pay' is 5 in the original and 1" in str(found)


def test_a_copy_differs_nowhere():
    table = people(300, 1)
    found = conditional_means(table, table, control=people(300, 2))
    assert (found.mean, found.largest, found.beyond) == (0, 0, 0)
    assert found.control > 0


def test_rare_levels_are_left_out_and_missing_is_a_level():
    table = pl.DataFrame({"group": ["a"] * 50 + ["b"] * 29 + [None] * 50, "x": np.arange(129.0)})
    found = conditional_means(table, table)
    assert set(found.to_frame()["level"]) == {"a", "missing"}
    more = conditional_means(table, table, fewest=10)
    assert set(more.to_frame()["level"]) == {"a", "b", "missing"}


def test_whole_numbers_with_few_values_have_levels_and_dates_no_means_in_words():
    rng = np.random.default_rng(1)
    month = rng.integers(1, 4, 300)
    day = [dt.date(2020, int(one), 1 + place % 28) for place, one in enumerate(month)]
    table = pl.DataFrame({"month": month, "day": day, "x": rng.normal(size=300)})
    frame = conditional_means(table, table).to_frame()
    assert set(frame["by"]) == {"month"}
    assert set(frame["number"]) == {"day", "x"}
    assert frame.filter(pl.col("number") == "day")["original"].null_count() == 3


def test_nothing_to_compare():
    table = pl.DataFrame({"x": [1.0, 2.0] * 20})
    found = conditional_means(table, table)
    assert found.means == 0
    assert math.isnan(found.mean)
    assert "No mean was compared" in str(found)
    with pytest.raises(ParameterError, match="fewest"):
        conditional_means(table, table, fewest=1)


def test_chance_alone_crosses_rarely():
    """40 pairs of samples of one law: the limits allow 2, and 7 have a probability below 1%."""
    crossed = sum(
        conditional_means(people(120, 2 * seed), people(120, 2 * seed + 1)).beyond > 0
        for seed in range(40)
    )
    assert crossed <= 6
