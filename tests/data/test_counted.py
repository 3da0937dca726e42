"""Columns as values and counts, beside plain counting; and what many numbers take of memory."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import Codec, Schema, counted, scan
from understudy.data.bins import RealGrid, WholeGrid
from understudy.data.coders import folded
from understudy.data.counted import Counted, Ranked, once, tally
from understudy.data.ends import fold_ends

WHOLE = st.integers(-5, 5)
REAL = st.one_of(WHOLE.map(float), st.sampled_from([-0.0, 0.5, np.inf, -np.inf, np.nan]))


def _named(value):
    return "nan" if str(value) == "nan" else value


@pytest.mark.parametrize("numbers", [WHOLE, REAL], ids=["whole", "real"])
@given(data=st.data())
def test_sorted_numbers_are_counted_one_by_one(numbers, data):
    values = data.draw(st.lists(numbers, min_size=1))
    gaps = data.draw(st.integers(0, 2))
    found = Counted.of_numbers(np.array(values), gaps, None)
    wanted = Counter(map(_named, values))
    wanted |= Counter({None: gaps} if gaps else {})
    held = map(_named, found.values.to_pylist())
    assert dict(zip(held, found.counts.tolist(), strict=True)) == wanted
    assert (found.rows, found.gaps) == (len(values) + gaps, wanted["nan"] + gaps)


def test_many_numbers_of_a_frame_are_sorted_too(monkeypatch):
    monkeypatch.setattr(counted, "MOST_DISTINCT", 10)
    values = np.append(np.arange(2000) / 4, [0.25, 7])
    found = Counted.of(pa.array(np.random.default_rng(1).permutation(values)))
    assert found.values.to_pylist() == sorted(set(values))
    assert np.flatnonzero(found.counts == 2).tolist() == [1, 28]
    assert found.order.runs > 1900


@pytest.mark.parametrize("times", [None, 3], ids=["once", "often"])
@given(data=st.data())
def test_counted_numbers_are_asked_as_sorted_ones(times, data):
    values = np.array(sorted(data.draw(st.sets(st.integers(-20, 20), min_size=1))))
    counts = once(len(values))
    if times:
        counts = np.array(data.draw(st.lists(st.integers(1, times), min_size=len(values))))
        counts = counts[: len(values)]
    bottom, top = sorted(data.draw(st.tuples(st.integers(-25, 25), st.integers(-25, 25))))
    ends = np.array([bottom - 1, top + 1])
    ranked, plain = Ranked(values, counts), np.repeat(values, counts)
    for held, wanted in (
        (ranked, plain),
        (ranked.folded(ends, bottom, None), folded(plain, ends, bottom, None)),
        (ranked.folded(ends, None, top), folded(plain, ends, None, top)),
        (ranked.only(values > bottom), plain[plain > bottom]),
    ):
        ranks = np.arange(-len(wanted), len(wanted))
        assert len(held) == len(wanted)
        assert held[ranks].tolist() == wanted[ranks].tolist()
        for side in ("left", "right"):
            asked = np.arange(-30, 30)
            places = np.searchsorted(wanted, asked, side).tolist()
            assert held.searchsorted(asked, side).tolist() == places


@pytest.mark.parametrize("least", [2, 5])
@pytest.mark.parametrize("grid", [WholeGrid(), RealGrid(1)], ids=["whole", "real"])
def test_the_ends_of_many_numbers_are_those_of_their_tails(least, grid):
    rng = np.random.default_rng(least)
    for _ in range(200):
        values = np.unique(np.round(rng.standard_cauchy(300) * 9))
        values = values.astype(np.int64) if isinstance(grid, WholeGrid) else values / 10
        counts = rng.integers(1, 4, len(values))
        special = rng.choice(values, 3)
        whole = fold_ends(values, counts, least, grid, special=special)
        tails = Ranked(values, counts).tails(least)
        found = fold_ends(*tails, least, grid, special=special)
        assert len(tails[0]) < len(values)
        assert (found.bottom, found.top) == (whole.bottom, whole.top)
        assert found.values[[0, -1]].tolist() == whole.values[[0, -1]].tolist()


def test_what_is_in_order_is_not_copied():
    values, counts = np.array([1.5, 2, 7]), np.array([3, 1, 2])
    assert tally(values, counts) == (values, counts)


@pytest.mark.parametrize("repeated", [0, 5])
def test_describing_a_file_holds_few_copies_of_a_column(tmp_path, monkeypatch, repeated):
    monkeypatch.setattr(counted, "MOST_DISTINCT", 1000)
    rows = 2**19  # 4 MB a copy
    values = np.random.default_rng(1).normal(size=rows)
    values[rows - repeated :] = values[:repeated]
    pl.DataFrame({"x": values}).write_parquet(tmp_path / "x.parquet")
    stream = scan(tmp_path / "x.parquet", batch_rows=2**14)
    tracemalloc.start()
    codec = Codec.fit(stream, Schema.infer(stream, dependencies=False))
    peak = tracemalloc.get_traced_memory()[1] / (8 * rows)
    tracemalloc.stop()
    # Where numbers repeat, their counts are held, and the sums of these.
    assert peak < (2.7 if repeated == 0 else 4.7)
    assert codec.to_plain() == Codec.fit(pl.DataFrame({"x": values})).to_plain()
