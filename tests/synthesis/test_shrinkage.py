"""Rows that are drawn towards the rows above: density, draws, and strengths by left-out records."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy import load
from understudy.counting import joint_counts
from understudy.data import Codec
from understudy.data.coded import Coded
from understudy.synthesis.kernels import (
    draw_shrunk,
    left_out_shares,
    merge_cells,
    search_strength,
    shrunk_probability,
)
from understudy.synthesis.sampler import Shrinkage
from understudy.synthesis.shrinkage import (
    LEAST_STRENGTH,
    Cells,
    NestedRows,
    ShrunkRows,
    best_strength,
    fit_levels,
)
from understudy.synthesis.tables import ConditionalTable, SparseRanges

LARGEST = 524288
"""The largest strength that is tried."""


@st.composite
def coded_tables(draw):
    """A table of one to four small columns, the last of which is the child."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    rows = draw(st.integers(1, 40))
    names = [*"abc"[: len(sizes) - 1], "child"]
    arrays = {name: rng.integers(0, size, rows) for name, size in zip(names, sizes, strict=True)}
    return Coded.from_arrays(arrays, dict(zip(names, sizes, strict=True)))


@st.composite
def shrunk_tables(draw):
    """A table, with some strengths (zero at times) and some fewest records."""
    coded = draw(coded_tables())
    levels = len(coded.names)
    strength = st.one_of(st.just(0.0), st.floats(0.01, 1000))
    strengths = np.array(draw(st.lists(strength, min_size=levels, max_size=levels)))
    return coded, strengths, draw(st.integers(1, 4))


def slow_share(columns, value, codes, strengths, min_count, cardinality):
    """The formula as it is written, from the row of all records down, by counting records."""
    *parents, child = columns
    agree = np.ones(len(child), bool)
    share = 1 / cardinality
    for level, strength in enumerate(strengths):
        if level:
            agree = agree & (parents[level - 1] == codes[level - 1])
        count = agree.sum()
        if count >= max(min_count, 1):
            share = (np.sum(child[agree] == value) + strength * share) / (count + strength)
    return share


def slow_left_out(coded, strengths, min_count):
    """The log likelihood of each record under a table of the others."""
    columns = [np.asarray(column) for column in coded.columns]
    total = 0.0
    for row in range(len(coded)):
        others = [np.delete(column, row) for column in columns]
        *codes, value = (column[row] for column in columns)
        size = coded.cardinalities[-1]
        total += np.log(slow_share(others, value, codes, strengths, min_count, size))
    return total


def all_records(coded):
    """Every combination of codes, as columns."""
    grid = np.array(list(itertools.product(*map(range, coded.cardinalities))))
    return [grid[:, place].astype(np.uint8) for place in range(grid.shape[1])]


def as_sparse(table):
    """The same table with its ranges in the sparse form."""
    configurations, begins = table.ranges.seen
    ranges = SparseRanges(table.ranges.sizes, configurations, begins, table.records)
    return ConditionalTable(table.cardinality, ranges, table.held, table.shrinkage)


def uneven_rows():
    """A tree whose ways down differ: donors 0-5 and 6-8 below the root, 0-1 and 2-5 below these."""
    rows = NestedRows(
        starts=np.array([0, 0, 6, 0, 2]),
        lengths=np.array([9, 6, 3, 2, 4]),
        above=np.array([-1, 0, 0, 1, 1]),
        bounds=np.array([0, 1, 3, 5]),
    )
    return rows, np.array([0, 1, 0, 0, 2, 2, 1, 1, 2], np.uint8)


def slow_row_share(rows, donors, row, value, shrinkage):
    """The share of a value in a row, by the row above, by counting donors."""
    if row < 0:
        return shrinkage.base[value]
    above = slow_row_share(rows, donors, rows.above[row], value, shrinkage)
    own = donors[rows.starts[row] : rows.starts[row] + rows.lengths[row]]
    if len(own) < max(shrinkage.min_count, 1):
        return above
    strength = shrinkage.strengths[np.searchsorted(rows.bounds, row, side="right") - 1]
    return (np.sum(own == value) + strength * above) / (len(own) + strength)


def test_two_by_two_by_hand():
    # sex 0: smokes no, no, yes; sex 1: yes
    coded = Coded.from_arrays(
        {"sex": [0, 0, 0, 1], "smokes": [0, 0, 1, 1]}, {"sex": 2, "smokes": 2}
    )
    table = ConditionalTable.of(coded, "smokes", ["sex"]).shrunk(np.array([2.0, 3.0]))
    # of all: (2 + 2 * 1/2) / (4 + 2) = 1/2 smoke
    # of sex 0: (1 + 3 * 1/2) / (3 + 3) = 5/12; of sex 1: (1 + 3 * 1/2) / (1 + 3) = 5/8
    sex = np.array([0, 1], np.uint8)
    found = table.probability(np.ones(2, np.uint8), [sex])
    np.testing.assert_allclose(found, [5 / 12, 5 / 8], rtol=1e-15)
    # without the record of sex 1, of which nobody else is: (1 + 2 * 1/2) / (3 + 2) = 2/5
    # without the smoker of sex 0: of all (1 + 1) / (3 + 2) = 2/5, then (0 + 3 * 2/5) / (2 + 3)
    # without one of the others: of all (1 + 1) / (3 + 2) = 2/5, then (1 + 3 * 2/5) / (2 + 3)
    by_hand = np.log(2 / 5) + np.log(6 / 25) + 2 * np.log(11 / 25)
    assert table._shrunk_rows.left_out() == pytest.approx(by_hand, rel=1e-14)


def test_fewest_records_by_hand():
    coded = Coded.from_arrays(
        {"sex": [0, 0, 0, 1], "smokes": [0, 0, 1, 1]}, {"sex": 2, "smokes": 2}
    )
    table = ConditionalTable.of(coded, "smokes", ["sex"])
    sex = np.array([0, 1], np.uint8)
    # three records are enough for sex 0; one is not for sex 1, so half of all four smoke
    hard = table.shrunk(np.zeros(2), min_count=2)
    assert hard.probability(np.ones(2, np.uint8), [sex]).tolist() == [1 / 3, 1 / 2]
    # five records are more than there are: all codes are equally likely
    none = table.shrunk(np.zeros(2), min_count=5)
    assert none.probability(np.ones(2, np.uint8), [sex]).tolist() == [1 / 2, 1 / 2]
    drawn = hard.draw([np.ones(1000, np.uint8)], 1000, np.random.default_rng(0))
    assert 400 < drawn.sum() < 600  # one half of 1,000, give or take six standard errors


@given(shrunk_tables())
def test_probabilities_are_those_of_the_formula_and_sum_to_one(setting):
    coded, strengths, min_count = setting
    table = ConditionalTable.of(coded, "child", coded.names[:-1]).shrunk(strengths, min_count)
    *parents, child = all_records(coded)
    columns, size = [np.asarray(column) for column in coded.columns], coded.cardinalities[-1]
    expected = [
        slow_share(columns, value, codes, strengths, min_count, size)
        for *codes, value in zip(*parents, child, strict=True)
    ]
    for form in (table, as_sparse(table)):
        np.testing.assert_allclose(form.probability(child, parents), expected, rtol=1e-12)
    np.testing.assert_allclose(np.reshape(expected, (-1, size)).sum(axis=1), 1, rtol=1e-12)


@given(shrunk_tables(), st.integers(0, 2**32))
def test_draws_have_the_density(setting, seed):
    coded, strengths, min_count = setting
    table = ConditionalTable.of(coded, "child", coded.names[:-1]).shrunk(strengths, min_count)
    rng = np.random.default_rng(seed)
    # Of one combination, chances that lie evenly instead of at random: then a value's share is
    # off by no more than one chance for each end of the intervals that lead to it.
    codes = [np.full(10_000, rng.integers(size), np.uint8) for size in coded.cardinalities[:-1]]
    numbers = table.ranges.numbers(codes, 10_000)
    assert (numbers == numbers[0]).all()
    drawn = table._shrunk_rows.draw(numbers, (np.arange(10_000) + 0.5) / 10_000)
    shares = np.bincount(drawn, minlength=table.cardinality) / 10_000
    values = np.arange(table.cardinality, dtype=np.uint8)
    expected = table.probability(values, [column[: len(values)] for column in codes])
    intervals = len(coded) * len(strengths) + 1
    assert np.abs(shares - expected).max() <= intervals / 10_000


@given(shrunk_tables(), st.integers(0, 2**32))
def test_dense_and_sparse_ranges_draw_the_same(setting, seed):
    coded, strengths, min_count = setting
    table = ConditionalTable.of(coded, "child", coded.names[:-1]).shrunk(strengths, min_count)
    parents = [
        np.random.default_rng(seed).integers(0, size, 30).astype(np.uint8)
        for size in coded.cardinalities[:-1]
    ]
    drawn = [
        form.draw(parents, 30, np.random.default_rng(seed)).tolist()
        for form in (table, as_sparse(table))
    ]
    assert drawn[0] == drawn[1]


def test_shares_of_a_large_sample_agree_with_the_density():
    rng = np.random.default_rng(0)
    coded = Coded.from_arrays({name: rng.integers(0, 3, 60) for name in ("a", "b", "child")})
    table = ConditionalTable.of(coded, "child", ["a", "b"]).shrunk(np.array([2.0, 5.0, 10.0]))
    parents = [rng.integers(0, 3, 300_000).astype(np.uint8) for _ in range(2)]
    drawn = Coded.from_arrays(
        {"a": parents[0], "b": parents[1], "child": table.draw(parents, 300_000, rng)}
    )
    seen = joint_counts(drawn, drawn.names).counts.reshape(-1, 3)
    columns = all_records(drawn)
    expected = table.probability(columns[2], columns[:2]).reshape(-1, 3)
    # Five standard errors of a share: a right sampler fails for one seed in about 60,000.
    bound = 5 * np.sqrt(expected * (1 - expected) / seen.sum(axis=1, keepdims=True))
    assert np.all(np.abs(seen / seen.sum(axis=1, keepdims=True) - expected) <= bound)


@given(shrunk_tables())
def test_leaving_out_is_counting_the_others(setting):
    coded, strengths, min_count = setting
    strengths = np.maximum(strengths, 0.01)  # nothing is impossible
    table = ConditionalTable.of(coded, "child", coded.names[:-1]).shrunk(strengths, min_count)
    expected = slow_left_out(coded, strengths, min_count)
    assert table._shrunk_rows.left_out() == pytest.approx(expected, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("min_count", [1, 3])
def test_each_strength_is_the_best_of_its_level(min_count):
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 4, 300), rng.integers(0, 4, 300)
    child = np.where(rng.random(300) < 0.6, a, rng.integers(0, 4, 300))
    coded = Coded.from_arrays({"a": a, "b": b, "child": child})
    table = ConditionalTable.of(coded, "child", ["a", "b"])
    found = table.shrunk(min_count=min_count).shrinkage.strengths
    tried = LEAST_STRENGTH * 2.0 ** (np.arange(41) / 2)
    for level in range(3):
        parents = ["a", "b"][:level]
        smaller = ConditionalTable.of(coded, "child", parents)
        totals = [
            smaller.shrunk(np.append(found[:level], strength), min_count)._shrunk_rows.left_out()
            for strength in tried
        ]
        assert found[level] == pytest.approx(tried[np.argmax(totals)])
    # a tells much of the child, b nothing
    assert found[1] < 20
    assert found[2] > 20 * found[1]


def test_rows_that_only_one_record_has_are_not_trusted():
    # Everybody has a combination of their own, so nobody can say what it tells.
    coded = Coded.from_arrays({"a": np.arange(30), "child": np.arange(30) % 3})
    table = ConditionalTable.of(coded, "child", ["a"]).shrunk()
    assert table.shrinkage.strengths[1] == LARGEST
    found = table.probability(coded["child"], [coded["a"]])
    np.testing.assert_allclose(found, 1 / 3, atol=1e-4)


@given(coded_tables())
def test_every_value_is_possible_in_every_row(coded):
    table = ConditionalTable.of(coded, "child", coded.names[:-1]).shrunk()
    assert table.shrinkage.strengths.min() >= LEAST_STRENGTH
    *parents, child = all_records(coded)
    assert (table.probability(child, parents) > 0).all()


@given(coded_tables(), st.integers(0, 2**32))
def test_neither_the_order_of_records_nor_of_levels_matters(coded, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(coded))
    labels = [rng.permutation(size) for size in coded.cardinalities]
    arrays = {name: coded[name][order] for name in coded.names}
    relabelled = {n: own[coded[n]] for n, own in zip(coded.names, labels, strict=True)}
    sizes = dict(zip(coded.names, coded.cardinalities, strict=True))
    strengths = [
        ConditionalTable.of(table, "child", coded.names[:-1]).shrunk().shrinkage.strengths
        for table in (
            coded,
            Coded.from_arrays(arrays, sizes),
            Coded.from_arrays(relabelled, sizes),
        )
    ]
    np.testing.assert_array_equal(strengths[0], strengths[1])
    np.testing.assert_allclose(strengths[0], strengths[2])


@pytest.mark.parametrize(
    "arrays",
    [{"a": [0], "child": [0]}, {"a": [0, 1, 1], "child": [0, 0, 0]}, {"child": [1]}],
    ids=["one record", "constant", "no parent"],
)
def test_trivial_tables(arrays):
    coded = Coded.from_arrays(arrays)
    table = ConditionalTable.of(coded, "child", coded.names[:-1]).shrunk()
    *parents, child = all_records(coded)
    sums = table.probability(child, parents).reshape(-1, table.cardinality).sum(axis=1)
    np.testing.assert_allclose(sums, 1, rtol=1e-12)
    assert len(table.draw([parent[:1] for parent in parents], 1, np.random.default_rng(0))) == 1


def test_rows_of_different_depths():
    rows, donors = uneven_rows()
    shrinkage = Shrinkage(np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.25, 0.25]), min_count=3)
    table = ShrunkRows(rows, donors, shrinkage)
    assert rows.smallest.tolist() == [3, 4, 2]
    numbers, values = np.repeat(np.arange(5), 3), np.tile(np.arange(3), 5)
    expected = [
        slow_row_share(rows, donors, row, value, shrinkage)
        for row, value in zip(numbers, values, strict=True)
    ]
    np.testing.assert_allclose(table.probability(numbers, values), expected, rtol=1e-14)
    chances = (np.arange(50_000) + 0.5) / 50_000
    for row in range(5):
        drawn = table.draw(np.full(len(chances), row), chances)
        shares = np.bincount(drawn, minlength=3) / len(chances)
        np.testing.assert_allclose(shares, expected[3 * row : 3 * row + 3], atol=20 / len(chances))


def test_leaving_out_in_rows_of_different_depths():
    rows, donors = uneven_rows()
    shrinkage = Shrinkage(np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.25, 0.25]), min_count=2)
    expected = 0.0
    for place, value in enumerate(donors):
        fewer = NestedRows(
            rows.starts - (rows.starts > place),
            rows.lengths - ((rows.starts <= place) & (place < rows.starts + rows.lengths)),
            rows.above,
            rows.bounds,
        )
        ends = rows.starts[rows.smallest] + rows.lengths[rows.smallest]
        row = rows.smallest[np.searchsorted(ends, place, side="right")]
        others = np.delete(donors, place)
        expected += np.log(slow_row_share(fewer, others, row, value, shrinkage))
    found = ShrunkRows(rows, donors, shrinkage).left_out()
    assert found == pytest.approx(expected, rel=1e-12)
    assert len(fit_levels(rows, donors, shrinkage.base).strengths) == rows.levels


def test_half_a_survey_tells_more_of_the_other_half():
    survey = load("cmc")
    coded = Codec.fit(survey).encode(survey)
    halves = coded.take(np.arange(0, len(coded), 2)), coded.take(np.arange(1, len(coded), 2))
    parents = ["children", "education", "method"]
    table = ConditionalTable.of(halves[0], "age", parents)
    others = halves[1]["age"], [halves[1][parent] for parent in parents]
    floor = 1e-3  # the table as it is finds many of the others impossible
    plain = np.log(np.maximum(table.probability(*others), floor)).mean()
    assert np.log(table.shrunk().probability(*others)).mean() > plain + 0.5


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_drawing_kernel_equals_its_twin(dtype):
    rows, donors = uneven_rows()
    rng = np.random.default_rng(1)
    numbers, chances = rng.integers(0, 5, 300), rng.random(300)
    strengths = np.array([1.0, 2.0, 2.0, 0.0, 3.0])
    cumulative = np.cumsum([0.5, 0.0, 0.5])
    drawn = np.empty(300, dtype)
    walk = rows.starts, rows.lengths, rows.above, strengths
    nothing = np.empty(0, np.int64)
    held = (donors.astype(dtype), nothing, nothing, 0)
    draw_shrunk(numbers, walk, 3, chances, cumulative, held, drawn)
    for number, chance, value in zip(numbers, chances, drawn, strict=True):
        row, left = number, chance
        while row >= 0:
            count, strength = rows.lengths[row], strengths[row]
            if count >= 3:
                if left * (count + strength) < count:
                    assert value == donors[rows.starts[row] + int(left * (count + strength))]
                    break
                left = (left * (count + strength) - count) / strength
            row = rows.above[row]
        else:
            assert value == np.searchsorted(cumulative, left, side="right")


def test_probability_kernel_equals_its_twin():
    rows, donors = uneven_rows()
    strengths = np.array([1.0, 2.0, 3.0])
    shrinkage = Shrinkage(strengths, np.array([0.2, 0.3, 0.5]))
    numbers, values = np.repeat(np.arange(5), 3), np.tile(np.arange(3), 5)
    found = np.empty(15)
    walk = rows.starts, rows.lengths, rows.above, strengths[[0, 1, 1, 2, 2]]
    index = Cells.of(rows, donors).index(3)
    shrunk_probability(numbers, values, walk, 1, index, shrinkage.base, found)
    expected = [
        slow_row_share(rows, donors, row, value, shrinkage)
        for row, value in zip(numbers, values, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_merging_kernel_equals_its_twin():
    rng = np.random.default_rng(2)
    for _ in range(20):
        values, counts = rng.integers(0, 4, 30).astype(np.uint8), rng.integers(1, 9, 30)
        begins = np.cumsum(counts) - counts
        # Some cells before, between and after the rows are in none.
        edges = np.sort(rng.choice(30, 6, replace=False))
        firsts, ends = edges[::2], edges[1::2]
        starts = begins[firsts]
        merged, found = np.full(30, -1), tuple(np.empty(30, np.int64) for _ in range(3))
        rows = starts, begins[ends] - starts
        count = merge_cells(rows, (begins, values, counts), 4, merged, found)
        row_of = np.full(30, -1)
        for row, (first, end) in enumerate(zip(firsts, ends, strict=True)):
            row_of[first:end] = row
        assert (merged[row_of < 0] == -1).all()
        pairs = list(zip(row_of.tolist(), values.tolist(), strict=True))
        assert count == len({pair for pair in pairs if pair[0] >= 0})
        for cell in np.flatnonzero(row_of >= 0).tolist():
            same = [one for one in range(30) if pairs[one] == pairs[cell]]
            of_row = counts[row_of == row_of[cell]].sum()
            got = [part[merged[cell]] for part in found]
            assert got == [same[0], counts[same].sum(), of_row]


def left_out_cells(rng, cells=5000, most=4):
    joint = np.where(rng.random(cells) < 0.8, 1, rng.integers(2, 9, cells))
    whole = joint + rng.integers(0, most, cells)
    # Shares as small as a deep tree gives them: their product leaves the range of numbers.
    return joint, whole, 10.0 ** -rng.choice([0.1, 3, 150, 250], cells)


def slow_left_out_shares(joint, whole, above, strength, least):
    own = (joint - 1 + strength * above) / (whole - 1 + strength)
    return np.where(whole - 1 >= least, own, above)


@pytest.mark.parametrize("strength", [0.5, 7.0, 1000.0])
def test_left_out_kernels_equal_their_twins(strength):
    joint, whole, above = left_out_cells(np.random.default_rng(3))
    expected = slow_left_out_shares(joint, whole, above, strength, 2)
    shares = above.copy()
    left_out_shares((joint, whole), strength, 2, shares)
    np.testing.assert_allclose(shares, expected, rtol=1e-14)
    alone = np.array([strength]), np.empty(0)
    chosen, total = search_strength((joint, whole), above, alone, 2, 0.0)
    assert chosen == strength
    assert total == pytest.approx(joint @ np.log(expected), rel=1e-12)


@pytest.mark.parametrize("most", [4, 3000])  # rows that are counted by size, and larger ones
@pytest.mark.parametrize("slack", [0.0, 5.0])
def test_search_for_strength_equals_its_twin(slack, most):
    rng = np.random.default_rng(4)
    for _ in range(10):
        joint, whole, _ = left_out_cells(rng, 200, most)
        above = rng.uniform(0.01, 1, 200)
        tried = {}

        def best_of(strengths, tried=tried, cells=(joint, whole, above)):
            for strength in strengths:
                tried[strength] = cells[0] @ np.log(slow_left_out_shares(*cells, strength, 1))
            enough = max(tried.values()) - max(slack, 1e-9 * cells[0].sum())
            return max(strength for strength, total in tried.items() if total >= enough)

        best = best_of([0.5 * 4**step for step in range(11)])
        for step in (2, 2**0.5):
            best = best_of([one for one in (best / step, best * step) if 0.5 < one < 0.5 * 4**10])
        found, total = best_strength((joint, whole), above, 1, slack)
        assert found == best
        assert total == pytest.approx(tried[best], rel=1e-12)
