"""Cells of keys and sensitive value, and copies of records: as plain twins count them."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.counting import tables
from understudy.data import Coded
from understudy.data.joint_coding import CodedTables
from understudy.risk.key_tally import KeyCells, copied_records_of

rows = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=20
)


def coded(records):
    columns = np.array(records).reshape(-1, 3).T
    names = ("a", "b", "t")
    return Coded.from_arrays(dict(zip(names, columns, strict=True)), {"a": 3, "b": 4, "t": 3})


@given(st.lists(rows, min_size=1, max_size=3))
def test_counts_are_those_of_a_counter(tables):
    cells = KeyCells.of([coded(records) for records in tables], ["b", "a"], "t")
    held = np.stack([cells.examples[name] for name in ("a", "b", "t")], axis=1).tolist()
    named = [tuple(cell) for cell in held]
    # Ordered by the keys as they were given, then by the sensitive value; each cell once.
    every = {(b, a, t) for records in tables for a, b, t in records}
    assert [(b, a, t) for a, b, t in named] == sorted(every)
    assert cells.value.tolist() == [t for _, _, t in named]
    numbered = {key: number for number, key in enumerate(dict.fromkeys(c[:2] for c in named))}
    assert cells.key.tolist() == [numbered[cell[:2]] for cell in named]
    assert cells.keys == len(numbered)
    for records, counts, cell_of in zip(tables, cells.counts, cells.cell_of, strict=True):
        counter = Counter(records)
        assert counts.tolist() == [counter[cell] for cell in named]
        assert [named[place] for place in cell_of.tolist()] == records
        by_key = Counter(record[:2] for record in records)
        assert cells.per_key(counts).tolist() == [by_key[key] for key in numbered]


def test_more_levels_than_a_dense_table_holds():
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, 2**31, 50) for name in ("a", "b", "c", "t")}
    columns = {name: np.append(values, values[:10]) for name, values in columns.items()}
    cells = KeyCells.of([Coded.from_arrays(columns)], ["a", "b", "c"], "t")
    assert cells.keys == len(cells.key) == 50
    assert sorted(cells.counts[0].tolist()) == [1] * 40 + [2] * 10


SCHEMA = {"a": pl.Int64, "b": pl.String, "c": pl.Int64}


def tables_of(original, synthetic):
    frames = {"original": original, "synthetic": synthetic}
    return CodedTables.of(
        {name: pl.DataFrame(records, SCHEMA, orient="row") for name, records in frames.items()}
    )


def plain(original, synthetic):
    alone = [row for row, times in Counter(original).items() if times == 1]
    if not alone:
        return math.nan, 0, math.nan
    held, people = set(synthetic), set(original)
    new = sum(row not in people for row in synthetic) / len(synthetic)
    of_fresh_people = len(alone) / len(original)
    return sum(row in held for row in alone) / len(alone), len(alone), new / of_fresh_people


records = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["x", "y", None]), st.integers(0, 2)),
    min_size=1,
    max_size=12,
)


@pytest.mark.parametrize("largest", [2**62, 4])
@given(original=records, synthetic=records)
def test_the_plain_twin_agrees(largest, original, synthetic):
    # With a small limit, records are numbered anew after each column, as with many levels.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_LARGEST_CODE", largest)
        found = copied_records_of(tables_of(original, synthetic))
    assert found == pytest.approx(plain(original, synthetic), nan_ok=True)


def test_trivial_worlds():
    records = [(1, "x", 1), (2, "y", 1), (2, "y", 1)]
    assert copied_records_of(tables_of(records, records)) == (1.0, 1, 0.0)
    # One of three is like no other, so that a third of fresh people would be new.
    assert copied_records_of(tables_of(records, [(9, "z", 9)])) == (0.0, 1, 3.0)
    assert copied_records_of(tables_of(records, [*records, *[(9, "z", 9)] * 3])) == (1.0, 1, 1.5)
    twice = copied_records_of(tables_of(records * 2, records))
    assert math.isnan(twice[0])
    assert twice[1] == 0


def test_columns_can_be_chosen():
    tables = tables_of([(1, "x", 1), (2, "y", 2)], [(1, "x", 9)])
    assert copied_records_of(tables)[:2] == (0.0, 2)
    assert copied_records_of(tables, ["a", "b"])[:2] == (0.5, 2)
