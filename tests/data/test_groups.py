"""Groups of numbers: limits, names, what is kept apart, and what cannot be asked for."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.groups import code_in_groups, quantile_limits
from understudy.data.joint_coding import CodedTables, code_together
from understudy.errors import DataError, ParameterError


def levels_of(values, **options):
    return code_together({"one": pl.DataFrame({"x": values})}, ["x"], **options).levels["x"]


def test_labels_tell_groups_apart():
    values = [1234567.25, 1234567.5, 1234567.75, 1234568.0]
    levels = levels_of(values, groups={"x": 2}, special={"x": [1234568.0]})
    assert levels.labels == ("1234567.25 to 1234567.5", "1234567.5 to 1234567.75", "1234568")
    assert levels.values == levels.labels
    levels = levels_of([1234567.25, 1234567.5, None], groups={"x": 2})
    assert levels.labels == ("1234567.25", "1234567.5", "missing")
    assert levels.values == ("1234567.25", "1234567.5", None)
    # Twelve digits are enough for limits, unless they would make two of them one.
    levels = levels_of([0.0, 0.1, 0.1 + 0.2], groups={"x": 2})
    assert levels.labels == ("0 to 0.1", "0.1 to 0.3")
    near = [1.0, 1 + 2**-51, 1 + 2**-50]
    levels = levels_of(near, groups={"x": 2})
    assert levels.labels == (f"1 to {near[1]!r}", f"{near[1]!r} to {near[2]!r}")


@pytest.mark.parametrize(
    ("groups", "special", "message"),
    [
        (["x"], None, r"groups must be a mapping, such as groups=\{'age': 5\}; got \['x'\]"),
        (3, None, "groups must be a mapping, .* got 3"),
        ({"x": 2}, [-8], r"special must be a mapping, .* got \[-8\]"),
        ({"y": 2}, None, "groups and special are for keys and the sensitive attribute; got 'y'"),
        ({"x": 2}, {"x": 8}, "special of 'x' must be a list of numbers; got 8"),
        ({"x": 2}, {"x": iter([8])}, "special of 'x' must be a list of numbers"),
        ({"x": 2}, {"x": "8"}, "special of 'x' must be a list of numbers; got '8'"),
        ({"x": 2}, {"x": [8, "a"]}, "special of 'x' must be numbers; got 'a'"),
        ({"x": 2}, {"x": [True]}, "special of 'x' must be numbers; got True"),
        ({"x": 2}, {"x": [math.nan]}, "special of 'x' must be numbers; got nan"),
        (None, {"x": [8]}, "special: 'x' is not among groups"),
    ],
)
def test_what_says_nothing_of_groups(groups, special, message):
    with pytest.raises(ParameterError, match=message):
        levels_of([1, 2, 3], groups=groups, special=special)


# Groups for comparing shares


def coded_in_groups(original, synthetic, **options):
    tables = CodedTables.of({"original": original, "synthetic": synthetic})
    return code_in_groups(tables, **options)


def counted(found, column):
    """Return how often each label occurs in either table."""
    labels = found.labels(column)
    return {
        label: tuple(
            int(np.count_nonzero(table[column] == code))
            for table in (found.original, found.synthetic)
        )
        for code, label in enumerate(labels)
    }


def test_whole_numbers_in_tenths(as_frame):
    original = as_frame({"age": list(range(100))})
    synthetic = as_frame({"age": [0, 9, 10, 1000, -5]})
    found = coded_in_groups(original, synthetic)
    assert found.groups == {"age": 10}
    # Outside of the original's range is its first or its last group.
    assert counted(found, "age") == {
        "below 10": (10, 3),
        **{f"{low} to {low + 9}": (10, int(low == 10)) for low in range(10, 90, 10)},
        "90 and more": (10, 1),
    }


def test_no_label_tells_the_smallest_or_the_largest_number():
    table = pl.DataFrame({"x": [0.017, *np.linspace(1, 2, 98), 99.75]})
    text = " ".join(coded_in_groups(table, table).labels("x"))
    assert "0.017" not in text
    assert "99.75" not in text


def test_a_frequent_number_is_a_group_of_its_own():
    original = pl.DataFrame({"gain": [0.0] * 91 + [0.5 + n for n in range(10)]})
    synthetic = pl.DataFrame({"gain": [0.0, -1.0, 0.25, 3.5]})
    # Every quantile is 0 up to the ninth tenth, so that only 0 is a limit.
    assert counted(coded_in_groups(original, synthetic), "gain") == {
        "below 0": (0, 1),
        "0": (91, 1),
        "over 0": (10, 2),
    }
    together = coded_in_groups(original, synthetic, apart=False)
    assert counted(together, "gain") == {"below 0": (0, 1), "0 and more": (101, 3)}


def test_between_two_frequent_numbers():
    original = pl.DataFrame({"x": [0.0] * 5 + [1.0] * 5 + [0.25, 2.25, 3.5]})
    found = coded_in_groups(original, original, groups=3)
    # Five of thirteen are more than a third; the third of thirds starts at 1, its quantile.
    assert counted(found, "x") == {
        "0": (5, 5),
        "over 0 to 1": (1, 1),
        "1": (5, 5),
        "over 1": (2, 2),
    }


def test_few_numbers_are_all_kept_apart():
    original = pl.DataFrame({"level": [1] * 97 + [2, 3, 5]})
    synthetic = pl.DataFrame({"level": [1, 4, 6, 7]})
    # What the original lacks is not taken for what it has.
    assert counted(coded_in_groups(original, synthetic), "level") == {
        "1": (97, 1),
        "2": (1, 0),
        "3": (1, 0),
        "4": (0, 1),
        "5": (1, 0),
        "6 and more": (0, 2),
    }


def test_missing_and_special_numbers_are_levels():
    original = pl.DataFrame({"x": [None, -8, *range(20)], "y": ["a"] * 21 + [None]})
    found = coded_in_groups(original, original, groups={"x": 2}, special={"x": [-8]})
    assert counted(found, "x") == {
        "below 10": (10, 10),
        "10 and more": (10, 10),
        "-8": (1, 1),
        None: (1, 1),
    }
    assert found.groups == {"x": 2}  # special numbers and missing are no groups
    assert counted(found, "y") == {"a": (21, 21), None: (1, 1)}


def test_dates_are_put_in_groups():
    days = [dt.date(2020, 1, 1) + dt.timedelta(days) for days in range(20)]
    original = pl.DataFrame({"day": [*days, None]})
    found = coded_in_groups(original, original.head(4), groups=2)
    assert counted(found, "day") == {
        "below 2020-01-11": (10, 4),
        "2020-01-11 and more": (10, 0),
        None: (1, 0),
    }


def test_a_frequent_last_date():
    last = dt.date(2020, 2, 1)
    days = [dt.date(2020, 1, 1) + dt.timedelta(days) for days in range(20)] + [last] * 20
    original = pl.DataFrame({"day": days})
    found = coded_in_groups(original, original, groups=2)
    assert counted(found, "day") == {"below 2020-02-01": (20, 20), "2020-02-01 and more": (20, 20)}


def test_columns_without_a_known_number():
    original = pl.DataFrame({"x": pl.Series([None, None], dtype=pl.Float64), "y": [np.inf, 1.0]})
    synthetic = pl.DataFrame({"x": [1.0, 2.0], "y": [-np.inf, np.inf]})
    found = coded_in_groups(original, synthetic)
    assert counted(found, "x") == {"all numbers": (0, 2), None: (2, 0)}
    assert counted(found, "y") == {"below 1": (0, 1), "1": (1, 0), "2 and more": (1, 1)}


def test_text_and_booleans_level_by_level(as_frame):
    original = as_frame({"sex": ["f", "m", None], "ill": [True, False, True]})
    synthetic = as_frame({"sex": ["x", "m", "m"], "ill": [True, True, True]})
    found = coded_in_groups(original, synthetic)
    assert counted(found, "sex") == {"f": (1, 0), "m": (1, 2), "x": (0, 1), None: (1, 0)}
    assert counted(found, "ill") == {"False": (1, 0), "True": (2, 3)}
    assert found.groups == {}


@given(
    st.lists(st.integers(-5, 60) | st.floats(-5, 60).map(lambda x: round(x, 2)), min_size=1),
    st.integers(2, 12),
    st.booleans(),
)
def test_groups_hold_their_share_at_the_most(numbers, groups, apart):
    known = np.array(numbers, np.float64)
    limits = quantile_limits(known, groups, "apart" if apart else "joined")
    assert np.all(np.diff(limits) > 0)
    place = np.searchsorted(limits, known, side="right")
    for group in np.unique(place):
        inside = known[place == group]
        # Two limits are a group's share apart, and neighbours may be on the limit.
        if apart and len(np.unique(inside)) > 1:
            assert len(inside) <= 2 * len(known) / groups + 1
    if len(np.unique(known)) <= groups:
        assert len(np.unique(place)) == len(np.unique(known))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groups": 1}, "groups must be a whole number from 2 or a mapping, .*{'age': 5}; got 1"),
        ({"groups": True}, "got True"),
        ({"groups": {"age": 1.5}}, "groups of 'age' must be a whole number from 2; got 1.5"),
        ({"groups": {"agee": 3}}, "groups: 'agee' is not a column. Did you mean 'age'"),
        ({"groups": {"sex": 3}}, "groups: 'sex' holds no numbers"),
        ({"special": [-8]}, r"special must be a mapping, such as .*{'age': \[-8\]}; got \[-8\]"),
        ({"special": {"age": -8}}, "special of 'age' must be a list of numbers; got -8"),
        ({"special": {"age": "-8"}}, "special of 'age' must be a list of numbers; got '-8'"),
        ({"special": {"sex": [1]}}, "special: 'sex' holds no numbers"),
    ],
)
def test_what_cannot_be_done_is_refused(arguments, message):
    table = pl.DataFrame({"age": [1, 2], "sex": ["f", "m"]})
    with pytest.raises(ParameterError, match=message):
        coded_in_groups(table, table, **arguments)


def test_tables_without_rows_are_refused():
    table = pl.DataFrame({"age": [1, 2]})
    with pytest.raises(DataError, match="The synthetic table has no rows"):
        coded_in_groups(table, table.head(0))
    with pytest.raises(DataError, match="The original table has no rows"):
        coded_in_groups(table.head(0), table)
