"""Samples of large tables: how many, which, and that small ones are left as they are."""

from __future__ import annotations

import polars as pl

from understudy.audit import samples
from understudy.audit.samples import prediction_tables, sample

TABLE = pl.DataFrame({"x": range(100)})


def test_records_are_drawn_once_and_keep_their_order(as_frame):
    drawn = sample(as_frame({"x": list(range(100))}), 40, seed=1)
    values = list(drawn["x"].to_pylist() if hasattr(drawn["x"], "to_pylist") else drawn["x"])
    assert len(values) == len(set(values)) == 40
    assert values == sorted(values)
    assert values == sample(TABLE, 40, seed=1)["x"].to_list()


def test_the_seed_and_the_stream_decide():
    first = sample(TABLE, 40, seed=1)
    assert first.equals(sample(TABLE, 40, seed=1))
    assert not first.equals(sample(TABLE, 40, seed=2))
    assert not first.equals(sample(TABLE, 40, seed=1, stream=1))


def test_tables_of_the_size_are_left_as_they_are(monkeypatch):
    monkeypatch.setattr(samples, "LEARNT_FROM", 70)
    # Of 100 records 30 are held out, so that 70 are left to learn from.
    original, synthetic, test = prediction_tables(TABLE, TABLE[:70], None, seed=1)
    assert original is TABLE
    assert (len(synthetic), test) == (70, None)
    # With test records, none are held out.
    original, _, test = prediction_tables(TABLE, TABLE, TABLE, seed=1)
    assert len(original) == 70
    assert test is TABLE
