"""The search for the nearest records: every way to it gives what comparing all pairs gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import Coded
from understudy.learning import nearest
from understudy.learning.nearest import Search
from understudy.learning.packed import Records

WAYS = {
    "as planned": {},
    "few": {"_FEW": 10**12},
    "all pairs": {"_FEW": 0, "_PER_MASKED_KEY": 1e12},
    "sets of attributes": {"_FEW": 0, "_PER_MASKED_KEY": 1e-12},
    "sets, then pairs": {"_FEW": 0, "_SAMPLE": 1, "_PER_MASKED_KEY": 1e-3},
    "small blocks": {"_FEW": 0, "_CELLS": 8, "_MASKED_KEYS": 3, "_PAIRS": 5},
    "entries": {"_FEW": 0, "_CELLS": 2000},
    "entries, by sets": {"_FEW": 0, "_CELLS": 2000, "_PER_MASKED_KEY": 1e-12},
}


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    for name, value in WAYS[request.param].items():
        monkeypatch.setattr(nearest, name, value)
    return request.param


def records(keys, values, sizes, levels):
    columns = {f"c{place}": keys[:, place] for place in range(keys.shape[1])} | {"t": values}
    return Records(Coded.from_arrays(columns, dict(zip(columns, [*sizes, levels], strict=True))))


def by_all_pairs(theirs, told, mine, wanted, levels):
    """Return same, total, guess and distance of each query, one after the other."""
    order = np.argsort(-np.bincount(told, minlength=levels), kind="stable")
    rows = []
    for key, value in zip(mine, wanted, strict=True):
        distances = (theirs != key).sum(axis=1)
        counts = np.bincount(told[distances == distances.min()], minlength=levels)
        guess = order[np.argmax(counts[order])]
        rows.append([counts[value], counts.sum(), guess, distances.min()])
    return np.array(rows).tolist()


def searched(reference, queries, places, **options):
    found = Search(reference, queries).matches(places, **options)
    columns = [found.same, found.total, found.guess, found.distance]
    return np.stack(columns, axis=1)[queries.ids].tolist()


def assert_as_by_all_pairs(sizes, rows, levels=4):
    rng = np.random.default_rng(len(sizes))
    mine, theirs = (rng.integers(sizes, size=(n, len(sizes))) for n in (rows, rows + 3))
    wanted, told = rng.integers(levels, size=rows), rng.integers(levels, size=rows + 3)
    reference, queries = records(theirs, told, sizes, levels), records(mine, wanted, sizes, levels)
    found = searched(reference, queries, range(len(sizes)), nearest=True)
    assert found == by_all_pairs(theirs, told, mine, wanted, levels)
    counts = np.full((len(queries.weights), levels), -1)
    for lines, near in Search(reference, queries).nearest_counts(range(len(sizes))):
        counts[lines] = near.toarray()
    for key, row in zip(mine, counts[queries.ids], strict=True):
        distances = (theirs != key).sum(axis=1)
        near = told[distances == distances.min()]
        assert row.tolist() == np.bincount(near, minlength=levels).tolist()


@pytest.mark.parametrize(
    ("sizes", "rows"),
    [
        ([2], 5),
        ([200], 60),  # most keys are nobody's
        ([1, 1], 10),
        ([4, 3, 5], 60),
        ([9] * 6, 80),
        ([300, 5, 70_000], 60),  # codes of one, two and three bytes
    ],
)
def test_search_is_a_comparison_of_all_pairs(way, sizes, rows):
    assert_as_by_all_pairs(sizes, rows)


@pytest.mark.parametrize("sizes", [[2], [4, 3, 5], [9] * 6])
def test_search_over_many_values(way, sizes):
    assert_as_by_all_pairs(sizes, 70, levels=1000)


@pytest.mark.parametrize("few", [0, 10**12], ids=["planned", "all pairs"])
@pytest.mark.parametrize(
    ("cells", "blocks"),
    [
        (16_000, [(80, 80)]),  # 200 values for each of 80 keys
        (15_999, [(80, 0)]),  # the nearest of all keys are less than 4,000 together
        # About 340 entries where there is room for 200: two blocks of half the keys.
        (800, None),
        # Room for no more than two entries: keys one by one, with a cell for each value.
        (8, [(1, 1)] * 80),
    ],
)
def test_many_values_are_kept_where_they_occur(cells, blocks, few, monkeypatch):
    done = []
    found = nearest._Unmatched.found

    def noted(self):
        done.append((len(self.distance), len(self._store[0])))
        return found(self)

    monkeypatch.setattr(nearest, "_CELLS", cells)
    monkeypatch.setattr(nearest, "_FEW", few)
    monkeypatch.setattr(nearest._Unmatched, "found", noted)
    assert_as_by_all_pairs([9] * 6, 80, levels=200)
    done = done[: len(done) // 2]  # of two searches
    assert sum(keys for keys, _ in done) == 80
    if blocks is None:
        assert len(done) > 1
        assert all(cells == 0 for _, cells in done)
    else:
        assert done == blocks


@pytest.mark.parametrize("way", ["as planned", "all pairs", "small blocks"], indirect=True)
@pytest.mark.parametrize(
    ("sizes", "rows"),
    [
        ([3] * 40, 50),  # two words, and more sets of attributes than could be tried
        ([2] * 300, 12),  # distances beyond a byte
    ],
)
def test_search_over_any_number_of_attributes(way, sizes, rows):
    assert_as_by_all_pairs(sizes, rows)


def test_a_set_of_attributes_is_searched_alone(way):
    rng = np.random.default_rng(5)
    sizes = [7] * 6
    mine, theirs = rng.integers(7, size=(40, 6)), rng.integers(7, size=(30, 6))
    wanted, told = rng.integers(3, size=40), rng.integers(3, size=30)
    search = records(theirs, told, sizes, 3), records(mine, wanted, sizes, 3)
    for places in ([4], [0, 2, 5], [1, 2, 3, 4]):
        expected = by_all_pairs(theirs[:, places], told, mine[:, places], wanted, 3)
        assert searched(*search, places, nearest=True) == expected


def test_without_the_nearest_only_matches_count():
    theirs, mine = np.array([[0, 1], [0, 1], [1, 1]]), np.array([[0, 1], [1, 0]])
    reference = records(theirs, np.array([1, 0, 0]), [2, 2], 2)
    queries = records(mine, np.array([1, 1]), [2, 2], 2)
    found = Search(reference, queries).matches([0, 1], nearest=False)
    assert found.same.tolist() == [1, 0]
    assert found.total.tolist() == [2, 0]
    assert found.distance.tolist() == [0, -1]
    assert found.guess[0] == 0  # a tie of both values; 0 is more frequent in all


def test_ties_go_to_the_value_that_is_more_frequent_in_all_and_then_to_the_first():
    queries = records(np.array([[0], [1]]), np.array([0, 0]), [3], 3)
    # Key 0 has values 0 and 2 once each; 2 is the more frequent one in all.
    theirs = np.array([[0], [0], [2]])
    search = Search(records(theirs, np.array([0, 2, 2]), [3], 3), queries)
    assert search.matches([0], nearest=True).guess[0] == 2
    # Values 1 and 2 are as frequent everywhere.
    search = Search(records(theirs[:2], np.array([2, 1]), [3], 3), queries)
    assert search.matches([0], nearest=True).guess.tolist() == [1, 1]


table = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 3), st.integers(0, 2)),
    min_size=1,
    max_size=30,
)


@given(table, table)
def test_search_of_any_small_tables(mine, theirs):
    mine, theirs = np.array(mine), np.array(theirs)
    sizes = [3, 2, 4]
    reference, queries = (records(t[:, :3], t[:, 3], sizes, 3) for t in (theirs, mine))
    expected = by_all_pairs(theirs[:, :3], theirs[:, 3], mine[:, :3], mine[:, 3], 3)
    assert searched(reference, queries, range(3), nearest=True) == expected


@pytest.mark.parametrize(
    ("sizes", "rows", "enough"),
    [
        # Ten sets of attributes lead to the nearest of 20,000 keys; all pairs are 400 million.
        ([40] * 4, 20_000, 2),
        # 40 attributes have 780 sets of all but two, and 300 keys are soon compared.
        ([2] * 40, 300, 0),
    ],
)
def test_the_plan_follows_how_far_the_nearest_are(sizes, rows, enough, monkeypatch):
    rng = np.random.default_rng(1)
    mine, theirs = rng.integers(sizes, size=(2, rows, len(sizes)))
    plans = []
    choose = nearest._Unmatched._last_level

    def noted(self, sample):
        plans.append(choose(self, sample))
        return plans[-1]

    monkeypatch.setattr(nearest, "_FEW", 0)
    monkeypatch.setattr(nearest._Unmatched, "_last_level", noted)
    values = np.zeros(rows, int)
    reference, queries = (records(keys, values, sizes, 1) for keys in (theirs, mine))
    found = searched(reference, queries, range(len(sizes)), nearest=True)
    assert len(plans) == 1
    assert plans[0] >= enough if enough else plans[0] == 0
    few = slice(0, rows, rows // 50)
    assert found[few] == by_all_pairs(theirs, values, mine[few], values[few], 1)


# Entries of 30 values are counted, those of 1,000 values sorted if they are few. Most of 200 keys
# are nobody's, so that everybody is as near.
@pytest.mark.parametrize("levels", [30, 1000])
@pytest.mark.parametrize("sizes", [[3], [200], [4, 3, 5], [9] * 6])
def test_middle_values_are_those_of_all_pairs(way, sizes, levels):
    rng = np.random.default_rng(len(sizes))
    mine, theirs = (rng.integers(sizes, size=(n, len(sizes))) for n in (40, 70))
    wanted, told = (rng.integers(levels, size=n) for n in (40, 70))
    reference = records(theirs, told, sizes, levels)
    queries = records(mine, wanted, sizes, levels)
    near_by = levels // 10
    low = np.maximum(queries.sensitive - near_by, 0).astype(np.int32)
    high = (queries.sensitive + near_by).astype(np.int32)
    search = Search(reference, queries)
    found = search.middle_matches(range(len(sizes)), (low, high), nearest=True)
    columns = np.stack([found.same, found.total, found.guess, found.distance], axis=1)
    expected = []
    for key, value in zip(mine, wanted, strict=True):
        distances = (theirs != key).sum(axis=1)
        near = np.sort(told[distances == distances.min()])
        same = np.count_nonzero((near >= max(value - near_by, 0)) & (near <= value + near_by))
        expected.append([same, len(near), near[(len(near) - 1) // 2], distances.min()])
    assert columns[queries.ids].tolist() == np.array(expected).tolist()
