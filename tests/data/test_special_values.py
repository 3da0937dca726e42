"""Which numbers have a meaning of their own: those apart or far more frequent than others."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy import Schema, load
from understudy.data.special_values import special_values


def found(values, share=0.05, **more):
    numbers, counts = np.unique(np.asarray(values), return_counts=True)
    return numbers[special_values(numbers, counts, len(values), share, **more)].tolist()


RNG = np.random.default_rng(0)
AGES = RNG.integers(18, 90, 1000)
DELAYS = np.round(RNG.normal(-3, 3, 1000)).astype(int)
DELAYS[:100] = RNG.integers(5, 60, 100)


def test_consecutive_delays_are_not_special_however_frequent():
    share = np.mean(np.isin(DELAYS, range(-6, 0)))
    assert share > 0.5
    assert found(DELAYS) == []


@pytest.mark.parametrize("code", [-8, -9, -99, 999, 200])
def test_a_frequent_number_apart_from_the_others_is_special(code):
    assert found([*AGES, *[code] * 100]) == [code]


def test_several_codes_side_by_side_are_special_together():
    assert found([*AGES, *[997] * 80, *[998] * 80, *[999] * 80]) == [997, 998, 999]
    assert found([*AGES, *[-9] * 80, *[-8] * 80, *[999] * 80]) == [-9, -8, 999]


@pytest.mark.parametrize("code", [99, 98, 999, -9, -1])
def test_codes_of_surveys_are_found_though_they_are_rare(code):
    old = AGES[AGES < 85] if code in (98, 99) else AGES
    assert found([*old, *[code] * 6]) == [code]
    assert found([*old, *[code] * 4]) == []  # too few to be a code
    assert found([*old, *[code] * 6], coded=False) == []


def test_rare_numbers_that_are_no_codes_are_part_of_the_rest():
    assert found([*AGES, *[250] * 6]) == []
    assert found([*np.repeat(range(60), 9), *[59] * 9]) == []  # the next in the row
    assert found([*np.repeat(range(120), 9), *[99] * 9]) == []  # inside the range


def test_a_code_that_continues_the_row_is_an_age():
    assert found(np.repeat(range(60, 100), 9)) == []


def test_spikes_are_special():
    incomes = np.round(RNG.lognormal(7, 1, 800), 2)
    assert found([*incomes, *[0.0] * 200]) == [0.0]
    assert found([*incomes, *[1000.0] * 100]) == [1000.0]  # in the middle
    capped = np.minimum(incomes, np.quantile(incomes, 0.9))
    assert found(capped) == [capped.max()]  # top coded


def test_chance_alone_makes_few_spikes_in_short_columns():
    # With 60 records, "more than 5%" is 4 of them: chance repeats some number so often in half
    # of such columns.
    rng = np.random.default_rng(1)
    for rows in (40, 60, 100):
        draws = [rng.integers(18, 60, rows) for _ in range(150)]
        draws += [np.round(rng.lognormal(3, 0.7, rows)) for _ in range(150)]
        assert sum(found(values) != [] for values in draws) <= 9  # three times what is aimed at


def test_a_law_that_falls_steeply_has_no_special_values_but_its_first():
    counts = np.array([600, 300, 150, 80, 40, 20, 10, *[3] * 30])
    assert found(np.repeat(np.arange(len(counts)), counts)) == [0]  # four times 80, the middle
    flat = np.array([100, 90, 80, 70, 60, 50, *[10] * 30])
    assert found(np.repeat(np.arange(len(flat)), flat)) == []


def test_the_share_decides_and_one_turns_it_off():
    values = [*AGES, *[250] * 30]  # 2.9%
    assert found(values) == []
    assert found(values, share=0.02) == [250]
    assert found([*AGES, *[-8] * 500], share=1) == []


def test_the_bundled_survey_has_none():
    assert Schema.infer(load("cmc"))["age"].special == ()


def test_dates_that_stand_for_none_are_special():
    days = pl.Series([*range(10_000, 10_400), *[-25_567] * 60], dtype=pl.Int32).cast(pl.Date)
    column = Schema.infer(pl.DataFrame({"born": days}))["born"]
    assert column.special == ("1900-01-01",)


@given(st.lists(st.integers(-20, 40), min_size=1), st.integers(-1000, 1000))
def test_moving_all_numbers_moves_the_special_ones(values, by):
    moved = [value + by for value in values]
    assert found(moved, coded=False) == [value + by for value in found(values, coded=False)]


@given(st.lists(st.integers(-20, 40), min_size=1))
def test_only_frequent_numbers_or_codes_are_special(values):
    for number in found(values):
        assert values.count(number) > 0.05 * len(values) or values.count(number) >= 5
