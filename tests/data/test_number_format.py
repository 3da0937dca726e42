"""How numbers are written."""

from __future__ import annotations

import polars as pl

from understudy.data.number_format import NumberFormat


def test_new_numbers_fit_their_format():
    two = NumberFormat(places=2, prefix="$", thousands=",")
    new = pl.Series([1234.5, -0.001, 1e20, None, 7.0])
    assert two.rendered(new).to_list()[:2] == ["$1,234.50", "$0.00"]
    assert two.rendered(new).to_list()[3:] == [None, "$7.00"]
    assert NumberFormat(whole=True).rendered(pl.Series([1.0, None])).to_list() == ["1", None]
    assert two.rendered(pl.Series([5])).to_list() == ["$5.00"]


def test_new_numbers_have_the_magnitude_that_they_round_to():
    short = NumberFormat(places=1, magnitudes=("k", "M"))
    new = pl.Series([999_960.0, 999.7, 1234.5, 0.0, -5e9, None])
    assert short.rendered(new).to_list() == ["1.0M", "1.0k", "1.2k", "0", "-5000.0M", None]
    needed = NumberFormat(digits=2, magnitudes=("k",))
    assert needed.rendered(pl.Series([1500.0, 12_000.0, 1234.5])).to_list() == [
        "1.5k",
        "12k",
        "1.23k",
    ]
