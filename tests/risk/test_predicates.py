"""Predicates: by hand, and against a plain twin that asks every record every condition."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.joint_coding import encode
from understudy.risk.predicates import (
    CodedRecords,
    Predicates,
    Scale,
    code_records,
    predicates_of_release,
    random_predicates,
)


def coded(**tables):
    frames = {name: pl.DataFrame(held) for name, held in tables.items()}
    columns = next(iter(frames.values())).columns
    return code_records({name: encode(frame) for name, frame in frames.items()}, columns)


def plain_fits(predicates, codes):
    """Return whom each predicate fits: a row for each predicate, a column for each record."""
    fits = np.ones((len(predicates), codes.shape[1]), bool)
    for at, place in np.ndindex(*predicates.columns.shape):
        column = codes[predicates.columns[at, place]]
        inside = (column >= predicates.lows[at, place]) & (column <= predicates.highs[at, place])
        fits[at] &= inside != predicates.negated[at, place]
    return fits


def in_words(predicates, records):
    signs = {True: "not ", False: ""}
    return {
        " and ".join(
            f"{signs[bool(no)]}{records.scale.names[column]} {low}-{high}"
            for column, low, high, no in zip(*(held[at] for held in predicates.arrays), strict=True)
        )
        for at in range(len(predicates))
    }


def test_numbers_count_by_size_and_texts_without_case():
    tables = coded(
        original={"x": [5, 1, None], "job": ["Cook", "nurse", ""]},
        other={"x": ["1.0", " 3", "?"], "job": ["cook ", "clerk", None]},
    )
    # Sizes 1, 3 and 5 are 0, 1 and 2; then missing, and "?".
    assert tables["original"].codes.tolist() == [[2, 0, 3], [2, 3, 0]]
    assert tables["other"].codes.tolist() == [[0, 1, 4], [2, 1, 0]]
    assert tables["other"].scale.sized.tolist() == [3, 0]


def test_rare_values_of_one_column():
    release = coded(release={"x": [1, 2, 2, 7], "job": ["a", "b", "b", None]})["release"]
    found = predicates_of_release(release, 1, 100, np.random.default_rng(0))
    # 1 is the least and 7 the largest number; of jobs, "a" is 1, missing 0, and two have "b".
    assert in_words(found, release) == {"x 0-0", "x 2-2", "job 0-0", "job 1-1"}


def test_extremes_reach_beyond_the_release():
    tables = coded(original={"x": [0, 9]}, release={"x": [1, 4]})
    found = predicates_of_release(tables["release"], 1, 100, np.random.default_rng(0))
    assert in_words(found, tables["release"]) == {"x 0-1", "x 2-3"}  # at most 1, at least 4


def test_combinations_are_those_of_one_record():
    # The median of x is 2 (the lower one of four): 1 and 2 are taken downwards, 3 and 4 upwards.
    release = coded(release={"x": [1, 2, 3, 4], "job": ["a", "b", "b", "b"]})["release"]
    found = predicates_of_release(release, 2, 100, np.random.default_rng(0))
    # x of at least 3 and b fits two records, x of at least 4 and b one.
    assert in_words(found, release) == {
        "x 0-0 and job 1-1",
        "x 0-1 and job 2-2",
        "x 3-3 and job 2-2",
    }


@pytest.mark.parametrize("conditions", [1, 2, 3])
def test_every_predicate_fits_one_record_of_the_release_and_none_comes_twice(conditions):
    rng = np.random.default_rng(conditions)
    frame = {"x": rng.integers(0, 50, 200), "y": rng.normal(size=200).round(1)}
    frame |= {"job": rng.choice(list("abcdef"), 200), "sex": rng.choice(["f", "m", None], 200)}
    release = coded(release=frame)["release"].distinct()
    found = predicates_of_release(release, conditions, 40, rng)
    assert 0 < len(found) <= 40
    assert (plain_fits(found, release.codes).sum(axis=1) == 1).all()
    assert len(in_words(found, release)) == len(found)


def test_the_same_record_twice_is_one_record():
    release = coded(release={"x": [3, 1, 3, 2, 1], "y": [1, 1, 1, 1, 1]})["release"]
    assert release.distinct().codes[0].tolist() == [2, 0, 1]


@given(st.data())
def test_whom_predicates_fit_against_a_plain_twin(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    width, rows = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 40))
    sizes = rng.integers(1, 8, width)
    codes = np.stack([rng.integers(0, size, rows) for size in sizes]).astype(np.int32)
    sized = np.array([rng.integers(0, size + 1) for size in sizes], np.int32)
    scale = Scale(tuple("abcd"[:width]), sized, sizes.astype(np.int32))
    records = CodedRecords(scale, codes)
    predicates = random_predicates(records, data.draw(st.integers(1, width)), 30, rng)
    first, limit = data.draw(st.integers(1, rows)), data.draw(st.integers(1, 5))
    counts, people = records.fitting(predicates, limit=limit, first=first)
    fits = plain_fits(predicates, codes)
    own, rest = fits[:, :first].sum(axis=1), fits[:, first:].sum(axis=1)
    few = own + rest <= limit
    assert (counts[few] == np.stack([own, rest], axis=1)[few]).all()
    assert (np.minimum(counts[:, 0], 2) == np.minimum(own, 2)).all()
    assert (np.minimum(counts[:, 1], 2) == np.minimum(rest, 2)).all()
    for at in np.flatnonzero(few):
        found = people[at][people[at] >= 0]
        assert sorted(found) == np.flatnonzero(fits[at]).tolist()


def test_random_predicates_take_all_comparisons():
    release = coded(release={"x": [1, 2, 3], "job": ["a", "b", "c"]})["release"]
    found = random_predicates(release, 1, 2_000, np.random.default_rng(0))
    numbers = found.columns[:, 0] == 0
    assert numbers.mean() == pytest.approx(0.5, abs=0.05)
    fits = plain_fits(found, release.codes).sum(axis=1)
    # Of a number: = one, != two, > and < one on average, >= and <= two on average.
    assert fits[numbers].mean() == pytest.approx((1 + 2 + 1 + 1 + 2 + 2) / 6, abs=0.1)
    assert fits[~numbers].mean() == pytest.approx(1.5, abs=0.1)
    assert found.negated[numbers].mean() == pytest.approx(1 / 6, abs=0.05)


def test_predicates_can_be_taken_and_joined():
    columns = np.array([[0], [1]], np.int32)
    both = Predicates(columns, columns, columns, np.zeros((2, 1), bool))
    again = both.take(slice(0, 1)).joined(both.take(np.array([False, True])))
    assert again.columns.tolist() == both.columns.tolist()
    assert len(again) == 2
