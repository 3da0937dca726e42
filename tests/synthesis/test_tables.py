"""Conditional tables: counts, back-off, drawing and probabilities."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.counting import joint_counts
from understudy.data.coded import Coded
from understudy.synthesis import shrinkage, tables
from understudy.synthesis.kernels import draw_donors, sort_donors
from understudy.synthesis.tables import (
    ConditionalTable,
    DenseRanges,
    Keys,
    SparseRanges,
    build_ranges,
)


@st.composite
def coded_tables(draw):
    """A table of one to four small columns, the last of which is the child."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    rows = draw(st.integers(1, 40))
    names = [*"abc"[: len(sizes) - 1], "child"]
    arrays = {name: rng.integers(0, size, rows) for name, size in zip(names, sizes, strict=True)}
    return Coded.from_arrays(arrays, dict(zip(names, sizes, strict=True)))


def slow_probability(coded, parents, record):
    """The share of the child's code among the records that agree on the longest seen prefix."""
    *values, child = record
    rows = np.ones(len(coded), bool)
    for name, value in zip(parents, values, strict=True):
        narrower = rows & (coded[name] == value)
        if not narrower.any():
            break
        rows = narrower
    return np.mean(coded["child"][rows] == child)


def as_sparse(table):
    """The same table with its ranges in the sparse form."""
    configurations, begins = table.ranges.seen
    ranges = SparseRanges(table.ranges.sizes, configurations, begins, table.records)
    return ConditionalTable(table.cardinality, ranges, table.held)


def test_by_hand():
    coded = Coded.from_arrays(
        {"a": [0, 0, 1, 1, 1], "b": [0, 0, 1, 1, 0], "child": [1, 0, 1, 1, 0]},
        {"a": 2, "b": 2, "child": 2},
    )
    table = ConditionalTable.of(coded, "child", ["a", "b"])
    # records by (a, b): 00 has 0, 1; 01 none; 10 has 0; 11 has 1, 1
    assert table.donors.tolist() == [0, 1, 0, 1, 1]
    assert table.ranges.starts.tolist() == [0, 2, 2, 3, 5]
    parents = [np.array([0, 0, 1, 1], np.uint8), np.array([0, 1, 0, 1], np.uint8)]
    ones = table.probability(np.ones(4, np.uint8), parents)
    # 01 does not occur and falls back on a = 0: one of two
    assert ones.tolist() == [1 / 2, 1 / 2, 0, 1]
    assert table.ranges.parents_used(parents, 4).tolist() == [2, 1, 2, 2]
    assert sorted(table.cell_counts().tolist()) == [1, 1, 1, 2]


@given(coded_tables())
def test_probabilities_are_those_of_the_slow_twin_and_sum_to_one(coded):
    *parents, _ = coded.names
    table = ConditionalTable.of(coded, "child", parents)
    grid = np.array(list(itertools.product(*map(range, coded.cardinalities))))
    columns = [grid[:, place].astype(np.uint8) for place in range(grid.shape[1])]
    expected = [slow_probability(coded, parents, record) for record in grid]
    for form in (table, as_sparse(table)):
        found = form.probability(columns[-1], columns[:-1])
        np.testing.assert_allclose(found, expected, rtol=1e-15)
    sums = np.reshape(expected, (-1, coded.cardinalities[-1])).sum(axis=1)
    np.testing.assert_allclose(sums, 1, rtol=1e-12)


@given(coded_tables())
def test_counts_give_the_same_table_as_records(coded):
    table = ConditionalTable.of(coded, "child", coded.names[:-1])
    for counts in (joint_counts(coded, coded.names), joint_counts(coded, coded.names).to_sparse()):
        other = ConditionalTable.from_counts(counts)
        for mine, theirs in zip(
            table.to_arrays().values(), other.to_arrays().values(), strict=True
        ):
            np.testing.assert_array_equal(mine, theirs)


@given(coded_tables(), st.integers(0, 2**32))
def test_dense_and_sparse_ranges_draw_the_same(coded, seed):
    table = ConditionalTable.of(coded, "child", coded.names[:-1])
    rng = np.random.default_rng(seed)
    parents = [rng.integers(0, size, 30).astype(np.uint8) for size in coded.cardinalities[:-1]]
    drawn = [
        form.draw(parents, 30, np.random.default_rng(seed)).tolist()
        for form in (table, as_sparse(table))
    ]
    assert drawn[0] == drawn[1]


@given(coded_tables())
def test_arrays_round_trip(coded):
    table = ConditionalTable.of(coded, "child", coded.names[:-1])
    again = ConditionalTable.from_arrays(
        table.to_arrays(), table.cardinality, table.ranges.sizes, len(coded)
    )
    np.testing.assert_array_equal(again.donors, table.donors)
    np.testing.assert_array_equal(again.ranges.starts, table.ranges.starts)


def test_row_order_does_not_matter():
    rng = np.random.default_rng(0)
    arrays = {name: rng.integers(0, 5, 200) for name in ("a", "b", "child")}
    shuffled = rng.permutation(200)
    tables = [
        ConditionalTable.of(Coded.from_arrays(columns), "child", ["a", "b"])
        for columns in (arrays, {name: column[shuffled] for name, column in arrays.items()})
    ]
    np.testing.assert_array_equal(tables[0].donors, tables[1].donors)


def test_ten_thousand_levels_need_memory_like_the_records():
    rng = np.random.default_rng(0)
    rows = 20_000
    arrays = {name: rng.integers(0, 10_000, rows) for name in ("a", "b", "c", "d", "child")}
    coded = Coded.from_arrays(arrays, dict.fromkeys(arrays, 10_000))

    def counted_and_drawn():
        table = ConditionalTable.of(coded, "child", ["a", "b", "c", "d"])
        return table, table.draw([coded[name] for name in "abcd"], rows, rng)

    counted_and_drawn()  # its kernels are compiled before it is measured
    tracemalloc.start()
    table, drawn = counted_and_drawn()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(table.ranges, SparseRanges)
    # Nearly all combinations are unique, so the records come back.
    assert np.mean(drawn == coded["child"]) > 0.99
    assert peak < 400 * rows  # a few dozen 8-byte numbers for each record


def test_many_parents_beyond_64_bits():
    rng = np.random.default_rng(1)
    names = [f"p{i}" for i in range(20)]
    arrays = {name: rng.integers(0, 1000, 50) for name in [*names, "child"]}
    coded = Coded.from_arrays(arrays, dict.fromkeys(arrays, 1000))
    table = ConditionalTable.of(coded, "child", names)
    found = table.probability(coded["child"], [coded[name] for name in names])
    np.testing.assert_array_equal(found, np.ones(50))


def test_dense_or_sparse_is_decided_by_size():
    one = np.zeros((1, 2), np.uint16)
    begins = np.zeros(1, np.int64)
    assert isinstance(build_ranges(one, begins, 10, (512, 512)), DenseRanges)
    assert isinstance(build_ranges(one, begins, 10, (512, 513)), SparseRanges)
    assert isinstance(build_ranges(one, begins, 2**17, (512, 513)), DenseRanges)


@pytest.mark.parametrize(
    "damage",
    [
        {"values": np.zeros(3, np.uint8)},
        {"values": np.full(4, 9, np.uint8)},
        {"times": np.array([1, 1, 1, 1], np.uint8)},
        {"times": np.array([1, 1, 3, 0], np.uint8)},
        {"times": np.array([1, 2, 1, 1], np.uint8)},
        {"donors": np.zeros(4, np.uint8)},
        {"donors": np.full(5, 9, np.uint8)},
        {"begins": np.array([0, 3, 2])},
        {"begins": np.array([1, 2, 3])},
        {"configurations": np.zeros((3, 1), np.uint8)},
        {"configurations": np.full((3, 2), 9, np.uint8)},
    ],
)
def test_arrays_that_do_not_fit_are_refused(damage):
    coded = Coded.from_arrays(
        {"a": [0, 0, 1, 1, 1], "b": [0, 0, 1, 1, 0], "child": [1, 0, 1, 1, 0]},
        {"a": 2, "b": 2, "child": 2},
    )
    arrays = ConditionalTable.of(coded, "child", ["a", "b"]).to_arrays() | damage
    with pytest.raises(ValueError, match="do not fit together"):
        ConditionalTable.from_arrays(arrays, 2, (2, 2), 5)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_sort_kernel_equals_its_numpy_twin(dtype):
    rng = np.random.default_rng(2)
    for _ in range(20):
        groups = rng.integers(0, 7, 100).astype(np.uint32)
        child = rng.integers(0, 5, 100).astype(dtype)
        starts, donors = np.empty(8, np.int64), np.empty(100, dtype)
        sort_donors(groups, child, 5, starts, donors)
        np.testing.assert_array_equal(donors, child[np.lexsort((child, groups))])
        np.testing.assert_array_equal(starts, np.searchsorted(np.sort(groups), np.arange(8)))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_draw_kernel_equals_its_numpy_twin(dtype):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 6, 50).astype(np.uint32)
    starts, lengths = (rng.integers(1, 99, 6).astype(np.uint32) for _ in range(2))
    chances = rng.random(50)
    donors = rng.integers(0, 200, 200).astype(dtype)
    drawn = np.empty(50, dtype)
    nothing = np.empty(0, np.int64)
    draw_donors(codes, (starts, lengths), chances, (donors, nothing, nothing, 0), drawn)
    positions = starts[codes] + (chances * lengths[codes]).astype(int)
    np.testing.assert_array_equal(drawn, donors[positions])


def test_the_limits_are_what_the_size_test_assumes():
    assert tables._ALWAYS_DENSE == 512 * 512
    assert tables._DENSE_PER_RECORD * 2**17 >= 512 * 513


@pytest.mark.parametrize("records", [1, 3, 700, 40_000])
@pytest.mark.parametrize("smoothed", [False, True])
def test_counted_codes_give_the_draws_of_all_records(monkeypatch, records, smoothed):
    rng = np.random.default_rng(records)
    sizes = {"a": 5, "b": 300, "child": 40}
    arrays = {name: rng.integers(0, size, records) ** 2 % size for name, size in sizes.items()}
    table = ConditionalTable.of(Coded.from_arrays(arrays, sizes), "child", ["a", "b"])
    table = table.shrunk() if smoothed else table
    parents = [rng.integers(0, sizes[name], 5000).astype(np.uint16) for name in ("a", "b")]
    draws = [table.draw(parents, 5000, np.random.default_rng(1))]
    for most in (2**22, 0):  # one by one, and as runs
        monkeypatch.setattr(shrinkage, "_ONE_BY_ONE", most)
        draws.append(table.compact().draw(parents, 5000, np.random.default_rng(1)))
    np.testing.assert_array_equal(draws[0], draws[1])
    np.testing.assert_array_equal(draws[0], draws[2])


def test_a_table_does_not_grow_with_the_records():
    arrays = {"a": np.arange(20) % 4, "child": np.arange(20) % 5}
    few = ConditionalTable.of(Coded.from_arrays(arrays), "child", ["a"])
    many = {name: np.tile(codes, 1000) for name, codes in arrays.items()}
    grown = ConditionalTable.of(Coded.from_arrays(many), "child", ["a"]).to_arrays()
    assert {k: len(a) for k, a in grown.items()} == {k: len(a) for k, a in few.to_arrays().items()}


def test_a_table_of_a_former_version_is_read():
    coded = Coded.from_arrays({"a": [0, 0, 1, 1, 1], "child": [1, 0, 1, 1, 0]})
    table = ConditionalTable.of(coded, "child", ["a"])
    former = {k: v for k, v in table.to_arrays().items() if k in ("configurations", "begins")}
    former["donors"] = table.donors
    again = ConditionalTable.from_arrays(former, 2, (2,), 5)
    assert all(np.array_equal(again.to_arrays()[k], v) for k, v in table.to_arrays().items())


@pytest.mark.parametrize("step", [1, 3, 2**20, 2**44])
def test_numbers_are_looked_up_by_a_hash_as_by_a_search(step, monkeypatch):
    rng = np.random.default_rng(1)
    numbers = np.unique(rng.integers(0, 3000, 1000)) * step
    wanted = np.concatenate([numbers, rng.integers(0, 3001, 5000) * step, numbers + 1])
    searched = Keys(numbers).places(wanted)
    monkeypatch.setattr(tables, "_MANY_KEYS", 0)
    assert np.array_equal(Keys(numbers).places(wanted), searched)
    assert (searched[: len(numbers)] == np.arange(len(numbers))).all()
    assert (searched == -1).any()
