"""Numbers found from their texts, and how they are written."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.number_search import find_numbers, looks_like_numbers


def found(texts, decimal="."):
    series = pl.Series(texts, dtype=pl.String)
    return find_numbers(series, series.drop_nulls().to_list(), decimal)


@pytest.mark.parametrize(
    ("texts", "values", "words"),
    [
        (["1", "-20", None], [1, -20, None], ""),
        (["+1", "-2", "0"], [1, -2, 0], "numbers: plus signs"),
        (["+1", "-2", "+0"], [1, -2, 0], "numbers: plus signs"),
        (["8.80", "9.25"], [8.8, 9.25], "numbers: 2 decimals"),
        (["8.8", "9.25", "10.0"], [8.8, 9.25, 10.0], ""),
        (["8.8", "9.25", "10"], [8.8, 9.25, 10.0], ""),
        (["-0.00", "1.50"], [-0.0, 1.5], "numbers: 2 decimals"),
        ([".5", "-.25", "1.5"], [0.5, -0.25, 1.5], "numbers: no 0 before the point"),
        (["0.1", "1e-05"], [0.1, 1e-5], ""),
        (["0.1", "1E-05"], [0.1, 1e-5], ""),
        (["1e+05", "123456", "2e-04"], [1e5, 123456, 2e-4], ""),
        (["1.50e+00", "-2.25e-10"], [1.5, -2.25e-10], "numbers: exponents, 2 decimals"),
        (["inf", "1.5"], [np.inf, 1.5], ""),
        (
            ["$7,061.73", "-$5.00"],
            [7061.73, -5],
            "money: '$' before, comma for thousands, 2 decimals",
        ),
        (["$-5", "$6"], [-5, 6], "money: '$' before"),
        (["($5.00)", "$6.00"], [-5.0, 6.0], "money: '$' before, 2 decimals, negative in brackets"),
        (["5.00-", "6.00"], [-5.0, 6.0], "numbers: 2 decimals, minus at the end"),
        (
            ["1.234,56 €", "-5,00 €"],
            [1234.56, -5],
            "money: '€' after, point for thousands, decimal comma, 2 decimals",
        ),
        (["€1.234", "€12.500"], [1234, 12500], "money: '€' before, point for thousands"),
        (["$3.459", "$3.999"], [3.459, 3.999], "money: '$' before, 3 decimals"),
        (["12.5%", "-8.0%"], [12.5, -8], "percentages: '%' after, 1 decimal"),
        (["5 %", "60 %"], [5, 60], "percentages: '%' after"),
        (["1,234", "12"], [1234, 12], "numbers: comma for thousands"),
        (["1'234.5", "12.5"], [1234.5, 12.5], "numbers: apostrophe for thousands, 1 decimal"),
        (["1 234", "12"], [1234, 12], "numbers: space for thousands"),
        (["1\u2019234", "12"], [1234, 12], "numbers: apostrophe for thousands"),
        (["61 kg", "104 kg"], [61, 104], "numbers: 'kg' after"),
        (["1.234 kg", "12.500 kg"], [1.234, 12.5], "numbers: 'kg' after, 3 decimals"),
        (["9.5km/h", "-10.0km/h"], [9.5, -10.0], "numbers: 'km/h' after, 1 decimal"),
        (["\u22121.50", "2.25"], [-1.5, 2.25], "numbers: 2 decimals"),
        (["\u2212$5", "$6"], [-5, 6], "money: '$' before"),
        (["  1", " 20", "-30"], [1, 20, -30], "numbers: spaces to a width of 3"),
        ([" 1", " 20", " -3"], [1, 20, -3], ""),
        (["1.5 ", "-20.5 "], [1.5, -20.5], ""),
        (["20.5"] * 5 + ["1.0", "9999"] * 5, [20.5] * 5 + [1.0, 9999.0] * 5, ""),
        (
            [*(f"{n}.50" for n in range(20)), *["9"] * 5],
            [*(n + 0.5 for n in range(20)), *[9.0] * 5],
            "numbers: 2 decimals",
        ),
        (
            ["1.2k", "3.4M", "850"],
            [1200.0, 3_400_000, 850],
            "numbers: 1 decimal, k, M for thousands and more",
        ),
        (
            ["£32k", "-£1.25M", "£0"],
            [32_000.0, -1_250_000, 0],
            "money: '£' before, k, M for thousands and more",
        ),
        (
            ["$1.5bn", "$200M", "$3K"],
            [1.5e9, 2e8, 3000],
            "money: '$' before, K, M, bn for thousands and more",
        ),
        (
            ["1,234", "12,34,567", "-1,00,000", "7"],
            [1234, 1_234_567, -100_000, 7],
            "numbers: comma for thousands and lakhs",
        ),
        (
            ["₹12,34,567.50", "₹999.00"],
            [1_234_567.5, 999.0],
            "money: '₹' before, comma for thousands and lakhs, 2 decimals",
        ),
        (["£32k", "£45k"], [32, 45], "money: '£' before, 'k' after"),
        (["0,5", "12"], [0.5, 12], "numbers: decimal comma"),
        (
            ["20,34", "7,5", "12", "3,05", "41,2", "9,99", "30,1", "8,75", "16,4", "2,2", "5,61"],
            [20.34, 7.5, 12, 3.05, 41.2, 9.99, 30.1, 8.75, 16.4, 2.2, 5.61],
            "numbers: decimal comma",
        ),
    ],
)
def test_numbers_are_read_and_written_as_they_were(texts, values, words):
    got = found(texts)
    assert got.exact
    assert got.values.to_list() == values
    assert got.format.rendered(got.values).to_list() == texts
    assert got.format.words == words
    assert got.format.whole == all(isinstance(one, int) for one in values if one is not None)
    assert got.values.dtype == got.format.dtype


@pytest.mark.parametrize(
    ("texts", "values", "written"),
    [
        (["1.50", "2.25", "3.125"], [1.5, 2.25, 3.125], ["1.5", "2.25", "3.125"]),
        (["1,000", "1000"], [1000, 1000], ["1,000", "1,000"]),
        ([" 5", "5", "6  "], [5, 5, 6], ["5", "5", "6"]),
        (["20.5", "1.0", "9999"], [20.5, 1.0, 9999.0], ["20.5", "1.0", "9999.0"]),
        (["+5", "5"], [5, 5], ["5", "5"]),
        (["1e5", "5"], [1e5, 5.0], ["100000", "5"]),
        (["$1.5", "$1.25", "$1.50"], [1.5, 1.25, 1.5], ["$1.5", "$1.25", "$1.5"]),
    ],
)
def test_numbers_that_are_not_alike_are_numbers_in_the_closest_form(texts, values, written):
    got = found(texts)
    assert not got.exact
    assert got.values.to_list() == values
    assert got.format.rendered(got.values).to_list() == written


@pytest.mark.parametrize(
    "texts",
    [
        ["x"],
        ["1", "x"],
        ["$5", "5"],
        ["$5", "5€"],
        ["1,2", "3"],  # two answers, perhaps
        ["1,2,3", "4"],
        ["1,23,45"],
        ["1,23,456", "12,345,678"],
        ["(1)", "(2)"],
        ["12-34"],
        ["5 kg", "6 g"],
        ["5th", "6th", "1st"],
        ["1 234.5 6", "7"],
        ["192.168.1.1", "10.0.0.1"],
    ],
)
def test_other_texts_are_no_numbers(texts):
    assert found(texts) is None


def test_the_usual_decimal_sign_of_a_file_decides():
    assert found(["1,5", "2,25"], ",").values.to_list() == [1.5, 2.25]
    assert found(["1.234", "12.345"], ",").values.to_list() == [1234, 12345]
    assert found(["1,234", "12,345"], ",").values.to_list() == [1.234, 12.345]
    assert found(["1,234", "12,345"], ".").values.to_list() == [1234, 12345]
    assert found(["1,5", "2,5"], ".").values.to_list() == [1.5, 2.5]


def test_a_late_text_has_its_say():
    texts = ["$5.00"] * 500 + ["$1,234.00", "($3.00)"]
    series = pl.Series(texts)
    assert find_numbers(series, ["$5.00"], ".") is None  # found again with those in the sample
    assert find_numbers(series, ["$5.00", "$1,234.00", "($3.00)"], ".").exact


def test_the_look_of_numbers():
    assert looks_like_numbers(["1", "2.5", "$3"], ".")
    assert looks_like_numbers(["1,5"], ",")
    assert not looks_like_numbers(["1", "one"], ".")


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_what_python_writes_comes_back(numbers):
    texts = [repr(number) for number in numbers]
    got = found(texts)
    assert got.exact
    assert got.values.to_list() == numbers


@given(st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=20), st.integers(2, 4))
def test_fixed_decimals_come_back(numbers, places):
    texts = [f"{number / 10**places:.{places}f}" for number in numbers]
    got = found(texts)
    assert got.exact
    assert got.format.rendered(got.values).to_list() == texts


@given(st.lists(st.floats(-1e9, 1e9, allow_nan=False), min_size=1), st.integers(0, 6))
def test_exponents_come_back(numbers, places):
    texts = [f"{number:.{places}e}" for number in numbers]
    got = found(texts)
    assert got.exact
    assert got.format.rendered(got.values).to_list() == texts


@pytest.mark.parametrize("last", ["3,12", "1,2"])
def test_lists_of_answers_are_no_numbers(last):
    answers = ["1,2", "1,3", "2,4", "1,12", "3", "2,3", "4,11", "5", "3,4", "1,5", "2,10", "6,7"]
    assert found([*answers, last]) is None


@pytest.mark.parametrize(
    ("texts", "value", "written"),
    [
        (["0.123203285420945", "12.5"], 1.7030521873709512, "1.70305218737095"),
        (["0.123203285420945", "12.5"], 8.2e-6, "0.0000082"),
        (["0.25", "1.5"], 8.2e-6, "0.0"),
        (["0.00002", "1.5"], 8.2e-6, "0.00001"),
        (["1e-05", "1.5"], 8.2e-6, "8.2e-06"),
        (["1,25", "0,5"], -8.2e-6, "0,0"),
        (["0.123203285420945", "12.5"], -1.5, "-1.5"),
    ],
)
def test_new_numbers_have_no_more_digits_and_no_exponent_that_the_old_have_not(
    texts, value, written
):
    assert found(texts).format.rendered(pl.Series([value])).to_list() == [written]


def test_more_decimals_than_exact_ones_hold():
    texts = ["0." + "0" * 110 + "22345", "0." + "0" * 110 + "31"]
    got = found(texts)
    assert got.format.places is None
    assert got.format.rendered(got.values).to_list() == texts
