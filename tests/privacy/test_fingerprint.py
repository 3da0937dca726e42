"""Fingerprints: the same for the same records in any order, and another for any other table."""

from __future__ import annotations

import numpy as np
import polars as pl

from understudy.data import scan, write
from understudy.privacy.fingerprint import fingerprint

KEY = b"key"
TABLE = pl.DataFrame({"x": [1, 2, None, 2], "y": ["a", "", "b", None]})


def test_the_order_of_rows_does_not_matter():
    shuffled = TABLE.sample(fraction=1, shuffle=True, seed=1)
    assert fingerprint(shuffled, KEY) == fingerprint(TABLE, KEY)


def test_any_change_matters():
    others = [
        TABLE.with_columns(x=pl.Series([1, 2, None, 3])),
        TABLE.with_columns(y=pl.Series(["a", None, "b", None])),  # a gap is no empty text
        TABLE.rename({"x": "z"}),
        TABLE.select("y", "x"),
        TABLE.head(3),
        pl.concat([TABLE, TABLE.head(1)]),
        pl.DataFrame({"x": [1, 2, None, 2], "y": ["b", "", "a", None]}),  # values change partners
    ]
    found = {fingerprint(one, KEY) for one in (TABLE, *others)}
    assert len(found) == 1 + len(others)
    assert fingerprint(TABLE, b"other") not in found


def test_all_of_many_single_changes_are_told_apart():
    values = np.arange(60)
    tables = []
    for place in range(60):
        changed = values.copy()
        changed[place] += 1000
        tables.append(fingerprint(pl.DataFrame({"x": changed}), KEY))
    assert len(set(tables)) == 60


def test_a_stream_has_the_fingerprint_of_its_table(tmp_path):
    table = pl.DataFrame({"x": range(50), "y": ["a", "b"] * 25})
    write(table, tmp_path / "t.csv")
    stream = scan(tmp_path / "t.csv", batch_rows=7)
    assert fingerprint(stream, KEY) == fingerprint(table, KEY)


def test_a_table_without_rows_has_one():
    assert fingerprint(TABLE.head(0), KEY) == fingerprint(TABLE.head(0), KEY)
