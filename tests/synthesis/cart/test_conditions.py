"""Conditions: Kleene's logic by hand, a slow twin over random trees, and texts that read back."""

from __future__ import annotations

import math
import operator
from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.synthesis.cart.conditions import (
    KEYWORDS,
    And,
    Column,
    Comparison,
    Membership,
    Missing,
    Not,
    Or,
    name_to_text,
)
from understudy.synthesis.cart.grammar import read_condition

OPERATORS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
LEVELS = ["low", "mid", "high"]
DAYS = ["2020-01-01", "2020-01-02", "2021-05-31"]
# The values that each column of the twin's table can have, beside gaps.
DOMAINS = {
    "whole": [-1, 0, 2],
    "real": [-1.0, 0.5, 2.0, float("nan")],
    "text": ["", "a", "b'c"],
    "a category": ["a", "b'c", "z"],
    "level": LEVELS,
    "flag": [False, True],
    "day": [date.fromisoformat(day) for day in DAYS],
}
TYPES = {
    "whole": pl.Int16,
    "real": pl.Float64,
    "text": pl.String,
    "a category": pl.Categorical,
    "level": pl.Enum(LEVELS),
    "flag": pl.Boolean,
    "day": pl.Date,
}
LITERALS = {
    "whole": [-1, 0, 0.5, 2.0],
    "real": [-1, 0.5, 2],
    "text": ["", "a", "b'c", "z"],
    "a category": ["a", "b'c", "other"],
    "level": LEVELS,
    "flag": [False, True],
    "day": DAYS,
}
COMPARABLE = [("whole", "real"), ("real", "whole"), ("text", "a category"), ("day", "day")]

X, Y, Z = (
    [True] * 9 + [False] * 9 + [None] * 9,
    ([True] * 3 + [False] * 3 + [None] * 3) * 3,
    [True, False, None] * 9,
)
THREE = pl.DataFrame({"x": X, "y": Y, "z": Z})


def is_true(name):
    return Comparison(name, "==", True)


def kleene_and(*values):
    return False if False in values else None if None in values else True


def kleene_or(*values):
    return True if True in values else None if None in values else False


def kleene_not(value):
    return None if value is None else not value


def test_and_or_not_by_the_tables_of_kleene():
    x, y, z = map(is_true, "xyz")
    rows = list(zip(X, Y, Z, strict=True))
    for condition, rule in [
        (And((x, y, z)), kleene_and),
        (Or((x, y, z)), kleene_or),
        (Not(And((x, y, z))), lambda *row: kleene_not(kleene_and(*row))),
        (Not(Or((x, y, z))), lambda *row: kleene_not(kleene_or(*row))),
        (Or((Not(x), And((y, z)))), lambda x, y, z: kleene_or(kleene_not(x), kleene_and(y, z))),
        (Not(Not(x)), lambda *row: row[0]),
    ]:
        expected = [rule(*row) is True for row in rows]
        assert condition.holds(THREE).tolist() == expected, condition.to_text()


def test_an_unknown_comparison_and_its_opposite_do_not_hold():
    frame = pl.DataFrame({"age": [18, 17, None]})
    for text, expected in {
        "age > 17": [True, False, False],
        "not age > 17": [False, True, False],
        "age != 17": [True, False, False],
        "not age != 17": [False, True, False],
        "age not in (17)": [True, False, False],
        "age > 17 or age is missing": [True, False, True],
        "not (age > 17 and age is not missing)": [False, True, True],
        "age == age": [True, True, False],
    }.items():
        assert read_condition(text, ["age"]).holds(frame).tolist() == expected, text


def test_nan_is_missing():
    frame = pl.DataFrame({"x": [1.0, float("nan"), None]})
    for text, expected in {
        "x == 1": [True, False, False],
        "x != 1": [False, False, False],
        "x > 1": [False, False, False],
        "x not in (3)": [True, False, False],
        "x == x": [True, False, False],
        "x is missing": [False, True, True],
    }.items():
        assert read_condition(text, ["x"]).holds(frame).tolist() == expected, text


def test_columns_of_a_condition():
    text = "a == 1 and not (b in (2) or `c d` is missing) or e < f"
    assert read_condition(text, ["a", "b", "c d", "e", "f"]).columns == {"a", "b", "c d", "e", "f"}


def test_a_long_condition_is_evaluated():
    text = " or ".join(f"x == {number}" for number in range(1500))
    mask = read_condition(text, ["x"]).holds(pl.DataFrame({"x": [0, 1499, 1500]}))
    assert mask.tolist() == [True, True, False]


def test_the_deepest_condition_is_evaluated():
    text = "not (" * 25 + "x == 1" + ")" * 25
    mask = read_condition(text, ["x"]).holds(pl.DataFrame({"x": [1, 2, None]}))
    assert mask.tolist() == [False, True, False]  # 25 times not, an odd number


@st.composite
def atoms(draw):
    name = draw(st.sampled_from(sorted(DOMAINS)))
    form = draw(st.sampled_from(["value", "column", "list", "missing"]))
    if form == "missing":
        return Missing(name)
    literals = st.sampled_from(LITERALS[name])
    if form == "list":
        return Membership(name, tuple(draw(st.lists(literals, min_size=1, max_size=3))))
    if form == "column":
        left, right = draw(st.sampled_from(COMPARABLE))
        # Categories are ordered by their text only where no list says otherwise.
        return Comparison(left, draw(st.sampled_from(sorted(OPERATORS))), Column(right))
    signs = ["==", "!="] if name == "flag" else sorted(OPERATORS)
    return Comparison(name, draw(st.sampled_from(signs)), draw(literals))


def trees(leaves):
    def grown(inner):
        several = st.lists(inner, min_size=2, max_size=3).map(tuple)
        return inner.map(Not) | several.map(And) | several.map(Or)

    return st.recursive(leaves, grown, max_leaves=8)


@st.composite
def tables(draw):
    rows = draw(st.integers(0, 6))
    columns = {
        name: draw(st.lists(st.sampled_from([None, *values]), min_size=rows, max_size=rows))
        for name, values in DOMAINS.items()
    }
    return pl.DataFrame(columns, schema=TYPES)


def is_gap(value):
    return value is None or (isinstance(value, float) and math.isnan(value))


def truth(condition, record):
    """Return True, False or None for one record: a plain twin without frames."""
    match condition:
        case Missing(column):
            return is_gap(record[column])
        case Not(part):
            return kleene_not(truth(part, record))
        case And(parts):
            return kleene_and(*(truth(part, record) for part in parts))
        case Or(parts):
            return kleene_or(*(truth(part, record) for part in parts))
        case Membership(column, values):
            return kleene_or(*(truth(Comparison(column, "==", value), record) for value in values))
    left, right = record[condition.column], condition.other
    if isinstance(right, Column):
        right = record[right.name]
    elif condition.column == "day":
        right = date.fromisoformat(right)
    if is_gap(left) or is_gap(right):
        return None
    if condition.column == "level":
        left, right = LEVELS.index(left), LEVELS.index(right)
    return OPERATORS[condition.operator](left, right)


@given(condition=trees(atoms()), table=tables())
def test_holds_agrees_with_a_slow_twin_in_every_library(condition, table):
    expected = [truth(condition, record) is True for record in table.iter_rows(named=True)]
    assert condition.holds(table).tolist() == expected
    assert condition.holds(table.to_arrow()).tolist() == expected
    if len(table):  # an empty column of objects has no type that pandas could tell
        assert condition.holds(table.to_pandas()).tolist() == expected


@given(condition=trees(atoms()), table=tables(), data=st.data())
def test_rows_are_told_one_by_one(condition, table, data):
    order = data.draw(st.permutations(range(len(table))))
    np.testing.assert_array_equal(condition.holds(table[order]), condition.holds(table)[order])


names = st.text(min_size=1, max_size=8) | st.sampled_from(
    [*KEYWORDS, "Then", "größe", "x.1", "_", "1st", "`", "``", "a b", "Ω", "नाम", "'"]
)
values = (
    st.text(max_size=8)
    | st.booleans()
    | st.integers(-(2**64) + 1, 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
any_atoms = (
    st.builds(Missing, names)
    | st.builds(Membership, names, st.lists(values, min_size=1, max_size=4).map(tuple))
    | st.builds(
        Comparison, names, st.sampled_from(sorted(OPERATORS)), values | st.builds(Column, names)
    )
)


@given(trees(any_atoms))
def test_texts_read_back_to_the_same_tree(condition):
    again = read_condition(condition.to_text(), sorted(condition.columns))
    assert repr(again) == repr(condition)  # unlike ==, it tells 1 from 1.0 and True
    assert again == condition


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Not(Missing("x")), "x is not missing"),
        (Not(Membership("x", (1, "a"))), "x not in (1, 'a')"),
        (Not(Not(Missing("x"))), "not x is not missing"),
        (Not(Comparison("x", "<", Column("Is"))), "not x < `Is`"),
        (And((Or((Missing("a"), Missing("b"))), Missing("c"))), "(a is missing or b is missing)"
         " and c is missing"),
        (Comparison("x", "==", "it's"), "x == 'it''s'"),
    ],
)  # fmt: skip
def test_texts_by_hand(condition, text):
    assert condition.to_text() == text


@pytest.mark.parametrize("name", ["age", "x.1", "größe", "_x"])
def test_plain_names_need_no_backticks(name):
    assert name_to_text(name) == name
