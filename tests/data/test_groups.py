"""Groups of numbers: how they are named, and what cannot be asked for."""

from __future__ import annotations

import math

import polars as pl
import pytest

from understudy.data.joint_coding import code_together
from understudy.errors import ParameterError


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
        (["x"], None, r"groups is a mapping, such as groups=\{'age': 5\}; got \['x'\]"),
        (3, None, "groups is a mapping, .* got 3"),
        ({"x": 2}, [-8], r"special is a mapping, .* got \[-8\]"),
        ({"y": 2}, None, "groups and special are for keys and the sensitive attribute; got 'y'"),
        ({"x": 2}, {"x": 8}, "special of 'x' is a list of numbers; got 8"),
        ({"x": 2}, {"x": iter([8])}, "special of 'x' is a list of numbers"),
        ({"x": 2}, {"x": "8"}, "special of 'x' is a list of numbers; got '8'"),
        ({"x": 2}, {"x": [8, "a"]}, "special of 'x' are numbers; got 'a'"),
        ({"x": 2}, {"x": [True]}, "special of 'x' are numbers; got True"),
        ({"x": 2}, {"x": [math.nan]}, "special of 'x' are numbers; got nan"),
        (None, {"x": [8]}, "special: 'x' is not among groups"),
    ],
)
def test_what_says_nothing_of_groups(groups, special, message):
    with pytest.raises(ParameterError, match=message):
        levels_of([1, 2, 3], groups=groups, special=special)
