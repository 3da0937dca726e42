"""The coders of one column: which numbers they know, and what they say of the others."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.bins import quantile_edges, width_edges
from understudy.data.coders import (
    LevelCoder,
    NumberLevelCoder,
    build_coder,
    levels_of,
    restore_coder,
)
from understudy.data.schema import Column

RNG = np.random.default_rng(0)


def test_levels_have_their_places_and_gaps_and_strangers_none():
    coder = LevelCoder(("b", "a"))
    codes, missing = coder.assign(pa.array(["a", "b", None, "c"]))
    assert codes.tolist() == [1, 0, -1, -1]
    assert missing.tolist() == [False, False, True, False]
    assert coder.build(np.array([0, 1, 2]), "interpolate", RNG).to_pylist() == ["b", "a", None]


def test_a_gap_inside_a_dictionary_is_a_gap():
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["a", None]))
    assert LevelCoder(("a",)).assign(array)[1].tolist() == [False, True, True]


@given(st.permutations([3, -1, 7, 0]))
def test_number_levels_may_be_in_any_order(levels):
    coder = build_coder(Column("x", "integer", levels=tuple(levels)), pa.array([0]))
    assert isinstance(coder, NumberLevelCoder)
    codes, _ = coder.assign(pa.array([*levels, 5]))
    assert codes.tolist() == [0, 1, 2, 3, -1]
    assert coder.build(np.arange(4), "uniform", RNG).to_pylist() == levels


def test_numbers_that_are_not_whole_are_no_whole_level():
    coder = build_coder(Column("x", "integer", levels=(1, 2)), pa.array([1]))
    codes, missing = coder.assign(pa.array([1.0, 1.5, None, float("nan")]))
    assert codes[:2].tolist() == [0, -1]
    assert missing.tolist() == [False, False, True, True]


@pytest.mark.parametrize("binning", ["quantile", "width"])
@given(numbers=st.lists(st.integers(0, 99), min_size=1, max_size=50), bins=st.integers(1, 9))
def test_bins_are_cut_at_the_edges_of_the_data(binning, numbers, bins):
    coder = build_coder(Column("x", "integer", binning=binning, bins=bins), pa.array(numbers))
    ordered = np.sort(numbers)
    edges = quantile_edges(ordered, bins)
    if binning == "width":
        edges = width_edges(ordered[0], ordered[-1], bins)
    assert coder.bins.edges.tolist() == (edges.tolist() if len(edges) > 1 else [edges[0]] * 2)
    assert coder.known == max(len(edges) - 1, 1)


def test_special_values_come_before_the_bins_and_are_no_part_of_them():
    column = Column("x", "integer", bins=2, special=(0, 99))
    coder = build_coder(column, pa.array([0, 0, 1, 2, 3, 4, 99]))
    codes, _ = coder.assign(pa.array([0, 99, 1, 4, 5]))
    assert codes.tolist() == [0, 1, 2, 3, -1]


def test_a_column_of_special_values_alone_has_no_bins():
    coder = build_coder(Column("x", "real", special=(0.0,)), pa.array([0.0, 0.0]))
    assert coder.known == 1
    assert coder.assign(pa.array([0.0, 1.0]))[0].tolist() == [0, -1]


def test_a_range_without_data_is_cut_by_width():
    coder = build_coder(Column("x", "integer", range=(0, 10), bins=2), pa.nulls(3, pa.int64()))
    assert coder.bins.edges.tolist() == [0, 5, 10]


@given(st.lists(st.integers(0, 9), max_size=30))
def test_draws_from_a_bin_are_never_special(special):
    column = Column("x", "integer", binning="edges", edges=(0, 10), special=tuple(set(special)))
    coder = build_coder(column, pa.array([10, 10]))
    codes = np.full(200, coder.known - 1)
    drawn = coder.build(codes, "uniform", np.random.default_rng(1))
    assert not set(drawn.to_pylist()) & set(special)


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.float32(), pa.float64(), pa.timestamp("s")], ids=str
)
def test_bins_come_back_from_strict_json(kind):
    array = pa.array([5, 1, 9, 7, 3, 8, 2]).cast(kind)
    described = "datetime" if pa.types.is_temporal(kind) else "integer"
    column = Column("x", "real" if pa.types.is_floating(kind) else described, bins=3, decimals=1)
    coder = build_coder(column, array)
    plain = json.loads(json.dumps(coder.bins.to_plain(), allow_nan=False))
    again = restore_coder(column, kind, plain)
    for name in ("edges", "knots", "bounds"):
        mine, theirs = getattr(coder.bins, name), getattr(again.bins, name)
        np.testing.assert_array_equal(mine, theirs)
        assert mine.dtype == theirs.dtype
    assert again.bins.grid == coder.bins.grid


def test_levels_of_a_column_are_sorted_and_without_gaps():
    assert levels_of(pa.array(["b", None, "a", "b"])) == ("a", "b")
    assert levels_of(pa.array([2.0, float("nan"), 1.0])) == (1.0, 2.0)


def test_numbers_lie_where_they_are_told_to_in_their_bins():
    column = Column("x", "integer", binning="edges", edges=(0, 10, 20), special=(5,))
    coder = build_coder(column, pa.array([5, *range(21)]))
    codes, shares = np.array([1, 1, 2, 0, 3]), np.array([0.0, 0.999, 0.5, 0.5, 0.5])
    rng = np.random.default_rng(1)
    found = coder.build_at(codes, "uniform", shares, rng).to_pylist()
    # From 0 to 9, and from 10 to 20; then the special value, and a missing one.
    assert found == [0, 9, 15, 5, None]
    # What stands at a special value's place is drawn anew.
    assert coder.build_at(np.array([1]), "uniform", np.array([0.55]), rng).to_pylist() != [5]
