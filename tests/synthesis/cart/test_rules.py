"""Rules: every form that a user may give, texts that read back, and rows counted by hand."""

from __future__ import annotations

import datetime as dt
import json
from datetime import date, datetime, time
from decimal import Decimal

import narwhals as nw
import narwhals.stable.v1 as nw_v1
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.codec import Codec
from understudy.data.schema import Schema
from understudy.errors import ParameterError
from understudy.showing import showing_records
from understudy.synthesis.cart.conditions import Comparison, Missing
from understudy.synthesis.cart.rules import (
    Rule,
    RuleBook,
    covered_rows,
    read_rules,
    rules_to_plain,
)

NAMES = ["marital", "age", "ymarr", "hours per week"]
SINGLE = Comparison("marital", "==", "SINGLE")
COLUMNS = {
    "marital": ["SINGLE", "SINGLE", "SINGLE", "MARRIED", None],
    "age": [15, 40, 70, 40, 12],
    "ymarr": [None, 3.0, None, 12.0, 1.0],
}


def one(rule, names=NAMES):
    (read,) = read_rules([rule], names)
    return read


def test_no_rules():
    assert read_rules(None, NAMES) == read_rules([], NAMES) == read_rules({}, NAMES) == ()
    assert rules_to_plain(()) == []


def test_every_form_gives_the_same_rule():
    expected = Rule("ymarr", SINGLE, None, "")
    for rules in [
        ["if marital == 'SINGLE' then ymarr = missing"],
        (" IF (marital='SINGLE') THEN ymarr=MISSING ",),
        [("ymarr", "marital == 'SINGLE'", None)],
        [["ymarr", "marital == 'SINGLE'", float("nan")]],
        {"ymarr": ("marital == 'SINGLE'", None)},
        {"ymarr": ["marital == 'SINGLE'", None]},
        {"ymarr": [("marital == 'SINGLE'", None)]},
        {"ymarr": (("marital == 'SINGLE'", None),)},
    ]:
        assert read_rules(rules, NAMES) == (expected,), rules


def test_order_is_kept():
    rules = {"ymarr": [("age < 16", 0), ("age > 60", None)], "age": ("marital is missing", 1)}
    assert [(rule.column, rule.value) for rule in read_rules(rules, NAMES)] == [
        ("ymarr", 0),
        ("ymarr", None),
        ("age", 1),
    ]
    mixed = ["if age < 16 then ymarr = 0", ("marital", nw.col("age") < 16, "SINGLE")]
    assert [rule.column for rule in read_rules(mixed, NAMES)] == ["ymarr", "marital"]


def test_text_and_columns():
    written = one("  if  age<16 then ymarr = 0 ")
    assert written.text == "if age < 16 then ymarr = 0"
    assert written.columns == {"age"}
    triple = one(("ymarr", "age<16 and `hours per week` = 0", 0))
    assert triple.text == "if age < 16 and `hours per week` == 0 then ymarr = 0"
    assert triple.columns == {"age", "hours per week"}
    expression = one(("ymarr", nw.col("age") < 16, None))
    assert "age" in expression.text
    assert expression.text.endswith("then ymarr = missing")
    assert expression.columns is None


@pytest.mark.parametrize(
    ("given_value", "value"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (date(2020, 1, 31), "2020-01-31"),
        (time(12, 30), "12:30:00"),
        (datetime.fromisoformat("2020-01-31T12:30"), "2020-01-31T12:30:00"),
        (pd.Timestamp("2020-01-31"), "2020-01-31T00:00:00"),
        (np.datetime64("2020-01-31", "D"), "2020-01-31"),
        (np.datetime64("2020-01-31", "ns"), "2020-01-31T00:00:00.000000000"),
        (np.float64("nan"), None),
        (np.datetime64("NaT"), None),
        (pd.NaT, None),
    ],
)
def test_values_of_other_libraries(given_value, value):
    found = one(("ymarr", "age < 16", given_value)).value
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("value", [float("inf"), 2**64, Decimal(1), [1], pl.lit(1), pd.NA, b"a"])
def test_values_that_cannot_be_set(value):
    with pytest.raises(ParameterError, match="The value of a rule for column 'ymarr' is "):
        one(("ymarr", "age < 16", value))


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("if age < 16 then ymarr = 0", "rules must be a list or a mapping of rules, not 'if age"),
        (3, "rules must be a list or a mapping of rules, not 3"),
        ([3], "3 is not a rule"),
        ([("ymarr", "age < 16")], "is not a rule. A rule is a text such as"),
        ([(1, "age < 16", 0)], "1 is not a column name"),
        ([("ymar", "age < 16", 0)], "'ymar' is not a column. Did you mean 'ymarr'?"),
        ({"ymar": ("age < 16", 0)}, "'ymar' is not a column. Did you mean 'ymarr'?"),
        ([("ymarr", "agee < 16", 0)], "'agee' is not a column. Did you mean 'age'?"),
        ([("ymarr", 3, 0)], "The condition of a rule for column 'ymarr' is builtins.int"),
        ([("ymarr", pl.col("age") < 16, 0)], 'import narwhals as nw; nw.col("age")'),
        ({"ymarr": [(pl.col("age") < 16, 0)]}, "'ymarr' is polars.Expr. Write it as text"),
        ({"ymarr": "age < 16"}, "rules of column 'ymarr' must be (condition, value) or a list"),
        ({"ymarr": []}, "rules of column 'ymarr' must be (condition, value) or a list"),
        ({"ymarr": [("age < 16",)]}, "rules of column 'ymarr' must be (condition, value)"),
        ({"ymarr": [("age < 16", 0), "x"]}, "rules of column 'ymarr' must be (condition, value)"),
        ({"ymarr": ("age < 16", 0, 1)}, "rules of column 'ymarr' must be (condition, value)"),
        (["if ymarr > 1 then ymarr = 0"], "a rule for column 'ymarr' cannot look at that column"),
        ([("ymarr", "age < ymarr", 0)], "a rule for column 'ymarr' cannot look at that column"),
    ],
)  # fmt: skip
def test_mistakes(rules, expected):
    with pytest.raises(ParameterError) as caught:
        read_rules(rules, NAMES)
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    "condition",
    [
        "marital == 'SINGLE' and age > 20",
        (nw.col("marital") == "SINGLE") & (nw.col("age") > 20),
        (nw_v1.col("marital") == "SINGLE") & (nw_v1.col("age") > 20),
    ],
    ids=["text", "expression", "stable expression"],
)
def test_holds_in_every_library(condition, as_frame):
    found = one(("ymarr", condition, None)).holds(as_frame(COLUMNS))
    assert found.dtype == np.bool_
    assert found.tolist() == [False, True, True, False, False]


def test_an_expression_that_is_unknown_does_not_hold():
    # In pandas the answer for a gap may be yes: an expression means what its library says.
    rule = one(("ymarr", nw.col("marital") != "SINGLE", None))
    assert rule.holds(pl.DataFrame(COLUMNS)).tolist() == [False, False, False, True, False]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (nw.col("agee") > 1, "cannot be evaluated ("),
        (nw.col("marital").dt.year() > 1, "cannot be evaluated ("),
        (nw.col("age") + 1, "must tell yes or no for each row; its expression gives Int64"),
        (nw.col("age", "ymarr") > 1, "must tell yes or no for each row"),
        (nw.col("age").max() > 1, "for each of 5 rows; its expression gives 1 values"),
    ],
)
@showing_records()
def test_expressions_that_are_no_conditions(expression, expected):
    rule = one(("ymarr", expression, None))
    with pytest.raises(ParameterError) as caught:
        rule.holds(pl.DataFrame(COLUMNS))
    assert str(caught.value).startswith(f"Rule `{rule.text}`")
    assert expected in str(caught.value)


def test_a_rule_that_does_not_fit_the_table_is_named():
    rule = one("if age == 'old' then ymarr = missing")
    with pytest.raises(ParameterError) as caught:
        rule.holds(pl.DataFrame(COLUMNS))
    assert str(caught.value) == (
        "Rule `if age == 'old' then ymarr = missing`: `age == 'old'` cannot be decided. Column "
        "'age' holds numbers and cannot be compared with the text 'old'. Write a number."
    )


def test_plain_texts_read_back():
    rules = read_rules(
        [
            "if age<16 OR not marital in ('it''s', \"x\") then `hours per week` = 1e3",
            ("ymarr", "marital is missing", True),
            ("marital", "ymarr > age", "'"),
        ],
        NAMES,
    )
    plain = rules_to_plain(rules)
    assert plain == [
        "if age < 16 or marital not in ('it''s', 'x') then `hours per week` = 1000.0",
        "if marital is missing then ymarr = true",
        "if ymarr > age then marital = ''''",
    ]
    again = read_rules(json.loads(json.dumps(plain)), NAMES)
    assert again == rules
    assert rules_to_plain(again) == plain


@given(
    column=st.text(min_size=1, max_size=6),
    value=st.none()
    | st.text(max_size=6)
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False),
)
def test_any_column_and_value_read_back(column, value):
    other = column + "2"
    rule = Rule(column, Missing(other), value, "")
    (again,) = read_rules(rules_to_plain([rule]), [column, other])
    assert again == rule
    assert repr(again.value) == repr(value)  # unlike ==, it tells 1 from 1.0 and True


def test_expressions_cannot_be_saved():
    rules = read_rules(["if age < 16 then ymarr = 0", ("ymarr", nw.col("age") > 1, 0)], NAMES)
    with pytest.raises(ParameterError, match=r"is a narwhals expression and cannot be saved\. Wr"):
        rules_to_plain(rules)


def test_the_first_rule_that_holds_covers_a_row(as_frame):
    rules = read_rules(
        {
            "ymarr": [
                ("age < 16", 0),
                (nw.col("age") > 60, 1),
                ("marital == 'SINGLE'", None),
            ]
        },
        NAMES,
    )
    # Ages 15 and 12: rule 0; 70: rule 1, though single; 40 and single: rule 2; 40, married: none.
    found = covered_rows(rules, as_frame(COLUMNS))
    assert found.dtype == np.int64
    assert found.tolist() == [0, 2, 1, -1, 0]
    assert covered_rows((), as_frame(COLUMNS)).tolist() == [-1] * 5


def test_no_rows():
    empty = pl.DataFrame(COLUMNS).clear()
    rules = read_rules(["if age < 16 then ymarr = 0", ("ymarr", nw.col("age") > 1, 0)], NAMES)
    assert covered_rows(rules, empty).tolist() == []


@given(st.lists(st.integers(0, 5) | st.none(), max_size=12), st.data())
def test_covered_rows_agrees_with_a_slow_twin(ages, data):
    bounds = data.draw(st.lists(st.integers(0, 6), max_size=4))
    rules = read_rules([("y", f"x < {bound}", 0) for bound in bounds], ["x", "y"])
    expected = [
        next((place for place, bound in enumerate(bounds) if age is not None and age < bound), -1)
        for age in ages
    ]
    frame = pl.DataFrame({"x": ages}, schema={"x": pl.Int64})
    assert covered_rows(rules, frame).tolist() == expected


RECORDS = pl.DataFrame(
    {
        "job": ["cook", None, "none", "none"],
        "age": [15, 40, 16, 70],
        "hours": [0.0, 37.5, None, 20.0],
        "since": [dt.date(2020, 1, 1), dt.date(2021, 6, 30), None, dt.date(2020, 1, 1)],
        "paid": [True, False, False, True],
    }
)


def book_of(*rules, frame=RECORDS, schema=None):
    codec = Codec.fit(frame, schema, exact=True)
    read = read_rules(list(rules), frame.columns)
    return RuleBook.of(codec, read), read, codec


def set_values(*rules, frame=RECORDS):
    """Return the value that the rules set for each record; "free" where they set none."""
    book, read, codec = book_of(*rules, frame=frame)
    found = book.covered(read, dict(enumerate(codec.encode(frame).columns)))
    name = read[0].column
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
    book, read, codec = book_of(("hours", nw.col("since").is_null(), 0))
    known = dict(enumerate(codec.encode(RECORDS).columns[:2]))
    with pytest.raises(ParameterError, match="cannot be evaluated"):
        book.covered(read, known)


def test_only_the_columns_of_the_condition_are_needed():
    book, read, codec = book_of("if age < 18 then hours = 0")
    coded = codec.encode(RECORDS)
    assert book.which(read, {1: coded["age"]}).tolist() == [0, -1, 0, -1]
    assert book.which(read, {1: coded["age"][:0]}).tolist() == []


def test_a_column_without_rules_covers_nothing():
    book, _, codec = book_of("if age < 18 then hours = 0")
    assert book.covered((), {0: codec.encode(RECORDS)["job"]}) is None


def test_conditions_are_about_the_numbers_before_they_are_moved():
    book, read, codec = book_of("if age == 15 then hours = 0")
    coders = dict(codec.coders)
    coders["age"] = coders["age"].smoothed("density", np.ones(4, np.int64))
    moved = RuleBook(Codec(codec.schema, codec.layout, codec.types, coders), book.codes)
    codes = np.tile(codec.encode(RECORDS)["age"], 50)
    assert moved.which(read, {1: codes}).tolist() == [0, -1, -1, -1] * 50


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
@showing_records()
def test_a_value_that_the_column_does_not_have(rule, message):
    with pytest.raises(ParameterError, match=message):
        book_of(rule)


def test_a_value_can_be_named_in_the_schema():
    frame = pl.DataFrame({"age": list(range(60)) * 2, "hours": [0.5 + n for n in range(120)]})
    with pytest.raises(ParameterError, match=r"among the column's special values in the schema"):
        book_of("if age < 18 then hours = 0", frame=frame)
    schema = Schema.infer(frame, dependencies=False).edit("hours", special=(0.0,))
    book, _, _ = book_of("if age < 18 then hours = 0", frame=frame, schema=schema)
    assert book.codes == {"hours": (0,)}
