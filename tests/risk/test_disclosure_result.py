"""Levels that explain most disclosures: by hand, at the thresholds, and against a slow twin."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections import Counter
from dataclasses import asdict
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.risk.disclosure import disclosure
from understudy.risk.disclosure_result import OneWayCheck, TwoWayCheck, plain_level, shown_level


def world(cells):
    """Return a table with so many records of each (sex, age, ill)."""
    rows = [cell for cell, count in cells.items() for _ in range(count)]
    return pl.DataFrame(rows, schema=["sex", "age", "ill"], orient="row")


def measure(cells, **options):
    table = world(cells)
    return disclosure(table, table, keys=["sex", "age"], sensitive="ill", **options)


# Disclosed in a copy: 60 of n, 5 of y and 1 of z; 1 and 3 are not.
CELLS = {
    ("f", 30, "n"): 40,
    ("f", 31, "n"): 20,
    ("m", 30, "y"): 5,
    ("m", 31, "z"): 1,
    ("m", 32, "n"): 1,
    ("m", 32, "y"): 3,
}


def test_the_level_that_is_disclosed_most_by_hand():
    found = measure(CELLS).check_1way
    assert found == OneWayCheck("n", 70, 61, 66, 60, flagged=True)
    assert found.level_share == 61 / 70
    assert found.disclosed_share == 60 / 66  # 90.9 %
    assert str(found) == (
        "'n' makes up 60 of 66 disclosed values (90.9%) and 87.1% of all original values. This is "
        "worth a look."
    )
    assert found.to_dict() == asdict(found) | {"level_share": 61 / 70, "disclosed_share": 60 / 66}


@pytest.mark.parametrize(
    ("threshold", "flagged"),
    [
        ((50, 0.9), True),
        ((59, 0.9), True),
        ((60, 0.9), False),  # both are to be exceeded
        ((50, 60 / 66), False),
        ((50, 0.909), True),
        ((0, 1), False),
    ],
)
def test_both_one_way_thresholds_are_to_be_exceeded(threshold, flagged):
    assert measure(CELLS, one_way=threshold).check_1way.flagged is flagged


def test_the_check_is_of_what_is_left():
    found = measure(CELLS, exclude_levels=["n"]).check_1way
    assert found == OneWayCheck("y", 9, 8, 6, 5, flagged=False)
    assert "Worth" not in str(found)


def test_of_equal_levels_the_first_is_named():
    found = measure({("f", 1, "b"): 2, ("m", 1, "a"): 2, ("m", 2, "c"): 1}).check_1way
    assert found.level == "a"


def test_pairs_by_hand():
    found = measure(CELLS).check_2way
    # Cells of more than 4: f 30 n, f 31 n, m 30 y. Of 60 f, all are n. Age 30: 40 of 45 n, and
    # 5 of 45 y. Age 31: 20 of 21 n. Of 10 m, 8 are y, which is no more than 80 %.
    assert found == (
        TwoWayCheck("sex", "f", "n", 60, 60, 60),
        TwoWayCheck("age", 30, "n", 40, 40, 45),
        TwoWayCheck("age", 31, "n", 20, 20, 21),
    )
    assert found[1].share == 40 / 45
    assert str(found[1]) == (
        "'n' is disclosed for 40 records in which 'age' is 30. 88.9% of all original records with "
        "this 'age' have it anyway."
    )
    assert found[1].to_dict() == asdict(found[1]) | {"share": 40 / 45}


def test_both_two_way_thresholds_are_to_be_exceeded():
    named = [(check.key, check.key_level) for check in measure(CELLS).check_2way]
    with_m = measure(CELLS, two_way=(4, 0.79)).check_2way
    assert [(check.key, check.key_level) for check in with_m] == [*named, ("sex", "m")]
    assert measure(CELLS, two_way=(5, 0.79)).check_2way == measure(CELLS).check_2way
    assert measure(CELLS, two_way=(40, 0)).check_2way == ()


def test_pairs_are_counted_before_records_are_left_out():
    found = measure(CELLS, exclude=[("age", 30, "n")]).check_2way
    # Disclosed are only those that are left; the totals are of the whole original.
    assert found[0] == TwoWayCheck("sex", "f", "n", 20, 60, 60)
    assert found[1] == TwoWayCheck("age", 31, "n", 20, 20, 21)


def test_levels_are_values_and_may_hold_a_bar():
    table = pl.DataFrame({"a|b": ["x|y"] * 6 + [None] * 6, "t": [2.5] * 6 + [None] * 6})
    found = disclosure(table, table, keys="a|b", sensitive="t")
    assert found.check_2way == (
        TwoWayCheck("a|b", "x|y", 2.5, 6, 6, 6),
        TwoWayCheck("a|b", None, None, 6, 6, 6),
    )
    assert str(found.check_2way[1]).startswith(
        "missing is disclosed for 6 records in which 'a|b' is missing."
    )
    assert found.check_1way.level == 2.5


def test_levels_are_named_exactly():
    day, large = dt.date(2020, 1, 1), 2**62 + 1
    original = pl.DataFrame({"k": [large] * 6, "t": [day] * 6})
    synthetic = original.cast({"t": pl.Datetime("ns")})
    found = disclosure(original, synthetic, keys="k", sensitive="t")
    assert (found.constant, found.check_1way.level) == (day, day)
    assert found.check_2way == (TwoWayCheck("k", large, day, 6, 6, 6),)
    assert "always guessing 2020-01-01 would be correct" in str(found)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["constant"] == plain["check_1way"]["level"] == "2020-01-01"
    assert plain["check_2way"][0]["key_level"] == large
    swapped = disclosure(original, synthetic, keys="t", sensitive="k")
    assert (swapped.constant, swapped.check_2way[0].key_level) == (large, day)
    for options in ({"exclude_levels": [day]}, {"exclude": [("k", large, "2020-01-01")]}):
        left = disclosure(original, synthetic, keys="k", sensitive="t", **options)
        assert left.disco == 0
    left = disclosure(original, synthetic, keys="t", sensitive="k", exclude_levels=[large])
    assert left.disco == 0


tables = st.lists(
    st.tuples(
        st.sampled_from(["f", "m"]),
        st.sampled_from([2, 10, None]),
        st.sampled_from(["n", "y", None]),
    ),
    min_size=1,
    max_size=24,
)


@given(tables, tables, st.integers(0, 2), st.sampled_from([0.0, 0.4, 0.5, 0.9]))
def test_pairs_are_those_of_a_loop_over_records(original, synthetic, least, share):
    kinds = {"sex": pl.String, "age": pl.Int64, "ill": pl.String}
    frames = [pl.DataFrame(rows, schema=kinds, orient="row") for rows in (original, synthetic)]
    keys = ["sex", "age"]
    found = disclosure(*frames, keys=keys, sensitive="ill", two_way=(least, share))
    told = [
        row
        for row in original
        if row in synthetic and all(row == other for other in synthetic if other[:2] == row[:2])
    ]
    sizes = Counter(told)
    expected = Counter()
    for place, key in enumerate(keys):
        for row in told:
            if sizes[row] > least:
                expected[key, row[place], row[2]] += 1
    pairs = {}
    for (key, level, value), disclosed in expected.items():
        same = [row for row in original if row[keys.index(key)] == level]
        both = sum(row[2] == value for row in same)
        if both / len(same) > share:
            pairs[key, level, value] = (disclosed, both, len(same))
    assert {
        (check.key, check.key_level, check.level): (
            check.disclosed,
            check.both_records,
            check.key_records,
        )
        for check in found.check_2way
    } == pairs
    counts = [check.disclosed for check in found.check_2way]
    assert counts == sorted(counts, reverse=True)
    values = Counter(row[2] for row in told)
    if not told:
        assert found.check_1way is None
    else:
        assert found.check_1way.level_disclosed == max(values.values())
        assert values[found.check_1way.level] == max(values.values())
        assert found.check_1way.disclosed == len(told)


def test_levels_are_plain_for_json():
    values = ["a", 2**62 + 1, 1.5, True, None, dt.date(2020, 1, 31), dt.timedelta(1), math.inf]
    told = ["a", 2**62 + 1, 1.5, True, None, "2020-01-31", "1 day, 0:00:00", "inf"]
    assert [plain_level(value) for value in values] == told
    assert plain_level(Decimal("0.12345678901234567891")) == "0.12345678901234567891"


def test_only_text_is_quoted_in_a_sentence():
    values = ["no", 2.0, True, None, dt.date(2020, 1, 31)]
    assert [shown_level(value) for value in values] == [
        "'no'",
        "2",
        "True",
        "missing",
        "2020-01-31",
    ]
