"""Numbers of a few rows: what is found in Python is what polars finds."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.data.few_numbers import find_few_numbers
from understudy.data.number_search import find_numbers

WHOLE = st.integers(-(2**63), 2**63).map(str)
FIXED = st.tuples(st.integers(-(10**8), 10**8), st.integers(1, 4)).map(
    lambda two: f"{two[0] / 10 ** two[1]:.{two[1]}f}"
)
COLUMNS = st.one_of(
    *(
        st.lists(some | st.none(), min_size=1, max_size=9).filter(any)
        for some in (
            WHOLE,
            st.integers(-20, 20).map(str),
            FIXED,
            st.integers(-999, 999).map(lambda n: f"{n / 100:.2f}"),
            st.integers(-999, 999).map(lambda n: repr(n / 100)),
            st.integers(-999, 999).map(lambda n: f"{n / 100:g}"),
            st.floats(allow_nan=False, allow_infinity=False).map(repr),
            st.floats(-1, 1).map("{:.15g}".format),
            st.sampled_from(["-0.0", "-0.5", "0.00", "0.00001", "1.5", "0.10"]),
        )
    )
)


@settings(max_examples=500)
@given(COLUMNS)
def test_what_is_found_is_what_is_found_with_polars(column):
    texts = pl.Series("x", column, pl.String)
    found = find_few_numbers(texts)
    if found is None:
        return
    slow = find_numbers(texts, texts.drop_nulls().unique(maintain_order=True).to_list(), ".")
    assert slow is not None
    assert slow.exact
    assert found.format == slow.format
    assert found.values.equals(slow.values)


@pytest.mark.parametrize(
    "column",
    [
        [None],
        ["x"],
        ["1", "x"],
        ["01"],
        ["+1"],
        ["1.5", "2.0", "3"],
        ["1e5"],
        [".5"],
        ["1."],
    ],
)
def test_what_is_not_sure_is_left_to_polars(column):
    assert find_few_numbers(pl.Series(column, dtype=pl.String)) is None


def test_plain_numbers_are_found():
    assert find_few_numbers(pl.Series(["-5", None, "17"])).values.to_list() == [-5, None, 17]
    assert find_few_numbers(pl.Series(["1.5", "0.25"])).format.digits == 2
