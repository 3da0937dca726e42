"""Rules on codes: what they set, whom they cover, and values that they cannot set."""

from __future__ import annotations

import datetime as dt

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from understudy.data.codec import Codec
from understudy.data.schema import Schema
from understudy.errors import ParameterError
from understudy.synthesis.cart.applying import RuleBook
from understudy.synthesis.cart.plan import Step
from understudy.synthesis.cart.rules import read_rules

FRAME = pl.DataFrame(
    {
        "job": ["cook", None, "none", "none"],
        "age": [15, 40, 16, 70],
        "hours": [0.0, 37.5, None, 20.0],
        "since": [dt.date(2020, 1, 1), dt.date(2021, 6, 30), None, dt.date(2020, 1, 1)],
        "paid": [True, False, False, True],
    }
)


def book_of(*rules, frame=FRAME, schema=None):
    codec = Codec.fit(frame, schema, exact=True)
    read = read_rules(list(rules), frame.columns)
    place = frame.columns.index(read[0].column)
    return RuleBook.of(codec, read), Step(place, (), 5, 1e-8, read), codec


def set_values(*rules, frame=FRAME):
    """Return the value that the rules set for each record; "free" where they set none."""
    book, step, codec = book_of(*rules, frame=frame)
    found = book.covered(step, dict(enumerate(codec.encode(frame).columns)))
    name = frame.columns[step.column]
    labels = codec.labels(name)
    return ["free" if code < 0 else labels[code] for code in found.tolist()]


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ("if age < 18 then hours = 0", ["0", "free", "0", "free"]),
        ("if age >= 40 then hours = missing", ["free", "missing", "free", "missing"]),
        ("if job is missing then paid = true", ["free", "True", "free", "free"]),
        ("if job == 'none' then since = '2020-01-01'", ["free", "free", *["2020-01-01"] * 2]),
        ("if age > 16 then job = 'cook'", ["free", "cook", "free", "cook"]),
        ("if age > 16 then job = missing", ["free", "missing", "free", "missing"]),
        ("if hours is missing then age = 16", ["free", "free", "16", "free"]),
        ("if since > '2020-12-31' then hours = 37.5", ["free", "37.5", "free", "free"]),
        ("if age > 99 then hours = 0", ["free"] * 4),
    ],
)
def test_what_a_rule_sets(rule, wanted):
    assert set_values(rule) == wanted


def test_the_first_rule_that_holds_decides():
    rules = ["if age < 18 then hours = 0", "if job == 'none' then hours = 20"]
    assert set_values(*rules) == ["0", "free", "0", "20"]
    assert set_values(*rules[::-1]) == ["0", "free", "20", "20"]


def test_an_expression_sees_all_known_columns():
    assert set_values(("hours", nw.col("age") < 18, 0)) == ["0", "free", "0", "free"]
    # A condition that looks at a column which is not drawn yet cannot be evaluated.
    book, step, codec = book_of(("hours", nw.col("since").is_null(), 0))
    known = dict(enumerate(codec.encode(FRAME).columns[:2]))
    with pytest.raises(ParameterError, match="cannot be evaluated"):
        book.covered(step, known)


def test_only_the_columns_of_the_condition_are_needed():
    book, step, codec = book_of("if age < 18 then hours = 0")
    coded = codec.encode(FRAME)
    assert book.which(step, {1: coded["age"]}).tolist() == [0, -1, 0, -1]
    assert book.which(step, {1: coded["age"][:0]}).tolist() == []


def test_a_step_without_rules_covers_nothing():
    book, _, codec = book_of("if age < 18 then hours = 0")
    assert book.covered(Step(1, (), 5, 1e-8), {0: codec.encode(FRAME)["job"]}) is None


def test_conditions_are_about_the_numbers_before_they_are_moved():
    book, step, codec = book_of("if age == 15 then hours = 0")
    coders = dict(codec.coders)
    coders["age"] = coders["age"].smoothed("density", np.ones(4, np.int64))
    moved = RuleBook(Codec(codec.schema, codec.layout, codec.types, coders), book.codes)
    codes = np.tile(codec.encode(FRAME)["age"], 50)
    assert moved.which(step, {1: codes}).tolist() == [0, -1, -1, -1] * 50


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("if age < 18 then hours = 1", r"'hours' has no value 1 in the original"),
        ("if age < 18 then hours = 'none'", r"'hours' has no value 'none'"),
        ("if age < 18 then job = 'Cook'", r"no value 'Cook'.*Did you mean 'cook'"),
        ("if hours > 18 then age = missing", r"no value of 'age' is missing in the original"),
        ("if age < 18 then since = 'soon'", r"'since' has no value 'soon'"),
        ("if age < 18 then since = '2020-01-02'", r"'since' has no value '2020-01-02'"),
        ("if age < 18 then job = 3", r"'job' has no value 3"),
    ],
)
def test_a_value_that_the_column_does_not_have(rule, message):
    with pytest.raises(ParameterError, match=message):
        book_of(rule)


def test_a_value_can_be_named_in_the_schema():
    frame = pl.DataFrame({"age": list(range(60)) * 2, "hours": [0.5 + n for n in range(120)]})
    with pytest.raises(ParameterError, match=r"among the column's special values in the schema"):
        book_of("if age < 18 then hours = 0", frame=frame)
    schema = Schema.infer(frame).edit("hours", special=(0.0,))
    book, _, _ = book_of("if age < 18 then hours = 0", frame=frame, schema=schema)
    assert book.codes == {"hours": (0,)}
