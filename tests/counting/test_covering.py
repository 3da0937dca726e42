from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.counting.covering import cover_pairs, steiner_triples


@pytest.mark.parametrize("points", [1, 3, 7, 9, 13, 15, 19, 21, 31, 33, 37])
def test_a_steiner_system_holds_every_pair_once(points):
    pairs = Counter(pair for triple in steiner_triples(points) for pair in combinations(triple, 2))
    assert pairs == Counter(combinations(range(points), 2))


def all_pairs(columns):
    return tuple(combinations(range(columns), 2))


def test_thirty_one_columns_need_the_fewest_triples_possible():
    cover = cover_pairs([20] * 31, all_pairs(31), cells=8000)
    assert len(cover.triples) == 155  # 465 pairs, three at a time
    assert cover.pairs == ()


@pytest.mark.parametrize("columns", range(3, 40))
def test_any_number_of_columns_is_near_the_bound_of_schoenheim(columns):
    cover = cover_pairs([2] * columns, all_pairs(columns), cells=8)
    bound = math.ceil(columns / 3 * math.ceil((columns - 1) / 2))
    assert len(cover.triples) + len(cover.pairs) <= 1.15 * bound + 1


@given(
    sizes=st.lists(st.sampled_from([1, 2, 5, 20, 100, 500]), max_size=14),
    cells=st.sampled_from([0, 10, 1000, 100_000]),
    data=st.data(),
)
def test_every_wanted_pair_is_served_once_by_a_small_triple(sizes, cells, data):
    every = all_pairs(len(sizes))
    pairs = data.draw(st.lists(st.sampled_from(every), unique=True) if every else st.just([]))
    cover = cover_pairs(sizes, pairs, cells)
    served = [pair for triple in cover.served() for pair, serve in triple if serve]
    assert Counter([*served, *cover.pairs]) == Counter(pairs)
    for triple, wanted in zip(cover.triples, cover.wanted, strict=True):
        assert list(triple) == sorted(set(triple))
        assert sum(wanted) >= 2
        assert math.prod(sizes[column] for column in triple) <= cells
