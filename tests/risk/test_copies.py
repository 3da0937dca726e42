"""Copies of one-of-a-kind records: by hand, and beside a plain twin."""

from __future__ import annotations

import math
from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.joint_coding import CodedTables
from understudy.risk import copies
from understudy.risk.copies import copied_records_of

SCHEMA = {"a": pl.Int64, "b": pl.String, "c": pl.Int64}


def tables_of(original, synthetic):
    frames = {"original": original, "synthetic": synthetic}
    return CodedTables.of(
        {name: pl.DataFrame(rows, SCHEMA, orient="row") for name, rows in frames.items()}
    )


def plain(original, synthetic):
    alone = [row for row, times in Counter(original).items() if times == 1]
    held = set(synthetic)
    return (sum(row in held for row in alone) / len(alone) if alone else math.nan), len(alone)


rows = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["x", "y", None]), st.integers(0, 2)),
    min_size=1,
    max_size=12,
)


@pytest.mark.parametrize("largest", [2**62, 4])
@given(original=rows, synthetic=rows)
def test_the_plain_twin_agrees(largest, original, synthetic):
    # With a small limit, records are settled after each column, as in tables of many levels.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copies, "_LARGEST_CODE", largest)
        found = copied_records_of(tables_of(original, synthetic))
    assert found == pytest.approx(plain(original, synthetic), nan_ok=True)


def test_trivial_worlds():
    records = [(1, "x", 1), (2, "y", 1), (2, "y", 1)]
    assert copied_records_of(tables_of(records, records)) == (1.0, 1)
    assert copied_records_of(tables_of(records, [(9, "z", 9)])) == (0.0, 1)
    twice = copied_records_of(tables_of(records * 2, records))
    assert math.isnan(twice[0])
    assert twice[1] == 0


def test_columns_can_be_chosen():
    tables = tables_of([(1, "x", 1), (2, "y", 2)], [(1, "x", 9)])
    assert copied_records_of(tables) == (0.0, 2)
    assert copied_records_of(tables, ["a", "b"]) == (0.5, 2)
