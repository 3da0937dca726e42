"""Cells of keys and sensitive value: counts are those of a plain counter."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import Coded
from understudy.risk.key_tally import KeyCells

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
