"""Reading rules: what each form means, and that every mistake is shown with its place."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import ParameterError
from understudy.synthesis.cart.conditions import (
    And,
    Column,
    Comparison,
    Membership,
    Missing,
    Not,
    Or,
)
from understudy.synthesis.cart.grammar import DEEPEST, LONGEST, read_condition, read_rule

NAMES = ["age", "marital", "ymarr", "hours per week", "in", "a`b", "größe", "x.1"]
AGE, MARITAL, YMARR = (Missing(name) for name in NAMES[:3])


def test_a_rule():
    assert read_rule("if marital == 'SINGLE' then ymarr = missing", NAMES) == (
        "ymarr",
        Comparison("marital", "==", "SINGLE"),
        None,
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-12", -12),
        ("+3", 3),
        ("1.50", 1.5),
        ("-.5", -0.5),
        ("1e3", 1000.0),
        ("2.5E-3", 0.0025),
        ("18446744073709551615", 2**64 - 1),
        ("true", True),
        ("FALSE", False),
        ("'it''s'", "it's"),
        ('"say ""hi"""', 'say "hi"'),
        ("''", ""),
        ("' if '", " if "),
        ("'2020-12-31'", "2020-12-31"),
        ("missing", None),
        ("Missing", None),
    ],
)
def test_values(text, value):
    found = read_rule(f"if age > 1 then ymarr = {text}", NAMES)[2]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age = 1", Comparison("age", "==", 1)),
        ("age==1", Comparison("age", "==", 1)),
        ("age!=-1", Comparison("age", "!=", -1)),
        ("  age\n<=\t1.0 ", Comparison("age", "<=", 1.0)),
        ("18 < age", Comparison("age", ">", 18)),
        ("18 >= age", Comparison("age", "<=", 18)),
        ("'f' = marital", Comparison("marital", "==", "f")),
        ("age > ymarr", Comparison("age", ">", Column("ymarr"))),
        ("`hours per week` > 1", Comparison("hours per week", ">", 1)),
        ("`in` IN (1,2)", Membership("in", (1, 2))),
        ("`a``b` is missing", Missing("a`b")),
        ("größe == x.1", Comparison("größe", "==", Column("x.1"))),
        ("marital NOT In ('a', \"b\")", Not(Membership("marital", ("a", "b")))),
        ("age Is Not Missing", Not(AGE)),
        ("not age is missing", Not(AGE)),
        ("not not age is missing", Not(Not(AGE))),
        ("((age is missing))", AGE),
    ],
)
def test_conditions(text, expected):
    assert read_condition(text, NAMES) == expected


def test_not_binds_before_and_and_and_before_or():
    a, b, c = "age is missing", "marital is missing", "ymarr is missing"
    assert read_condition(f"{a} or {b} and {c}", NAMES) == Or((AGE, And((MARITAL, YMARR))))
    assert read_condition(f"({a} or {b}) and {c}", NAMES) == And((Or((AGE, MARITAL)), YMARR))
    assert read_condition(f"not {a} and {b}", NAMES) == And((Not(AGE), MARITAL))
    assert read_condition(f"not ({a} and {b})", NAMES) == Not(And((AGE, MARITAL)))
    assert read_condition(f"{a} and {b} and {c}", NAMES) == And((AGE, MARITAL, YMARR))
    assert read_condition(f"{a} and ({b} and {c})", NAMES) == And((AGE, And((MARITAL, YMARR))))


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("", 1, "expected `if`; the rule ends. A rule reads `if CONDITION then COLUMN = VALUE`"),
        ("age > 1", 1, "expected `if`; found age"),
        ("if maritl == 'S' then ymarr = 1", 4, "'maritl' is not a column. Did you mean 'marital'?"),
        ("if `hours` > 1 then ymarr = 1", 4, "'hours' is not a column"),
        ("if marital == SINGLE then ymarr = 1", 15, "'SINGLE' is not a column. Text is written in"),
        ("if marital == 'S then ymarr = 1", 15, "this ' is not closed. A ' inside is doubled"),
        ("if `marital == 1 then ymarr = 1", 4, "this ` is not closed"),
        ("if ((age > 1) then ymarr = 1", 15, "expected `and`, `or` or `)`; found then"),
        ("if age > 1) then ymarr = 1", 11, "found ). No parenthesis is open"),
        ("if 1 < age < 5 then ymarr = 1", 12, "Two comparisons are joined by `and`"),
        ("if age then ymarr = 1", 8, "expected a comparison such as ==, `in` or `is missing`"),
        ("if age > then ymarr = 1", 10, "expected a value or a column; found then"),
        ("if age == missing then ymarr = 1", 11, "Missing values are found by `is missing`"),
        ("if age in () then ymarr = 1", 12, "expected a value; found )"),
        ("if age in 1 then ymarr = 1", 11, "expected `(`; found 1"),
        ("if age in (1 2) then ymarr = 1", 14, "expected `,` or `)`; found 2"),
        ("if age in (ymarr) then ymarr = 1", 12, "Text is written in quotes: 'ymarr'"),
        ("if age in (missing) then ymarr = 1", 12, "expected a value; found missing"),
        ("if age not 1 then ymarr = 1", 12, "expected `in`; found 1"),
        ("if age is 1 then ymarr = 1", 11, "expected `missing` or `not missing`; found 1"),
        ("if age is not 1 then ymarr = 1", 15, "expected `missing`; found 1"),
        ("if in == 1 then ymarr = 1", 4, "found in. The column is written `in`"),
        ("if 1 == 1 then ymarr = 1", 9, "expected a column; found 1"),
        ("if true then ymarr = 1", 9, "expected a comparison such as ==; found then"),
        ("if age > 1 and then ymarr = 1", 16, "expected a condition; found then"),
        ("if age > 1 then ymar = 1", 17, "'ymar' is not a column. Did you mean 'ymarr'?"),
        ("if age > 1 then 3 = 1", 17, "expected a column; found 3"),
        ("if age > 1 then ymarr == 1", 23, "expected `=`; found =="),
        ("if age > 1 then ymarr", 22, "expected `=`; the rule ends"),
        ("if age > 1 then ymarr = ", 25, "expected a value or `missing`; the rule ends"),
        ("if age > 1 then ymarr = age", 25, "expected a value or `missing`; found age"),
        ("if age > 1 then ymarr = 1 and age = 2", 27, "expected the end; found and"),
        ("if age > 1 & ymarr > 2 then ymarr = 1", 12, "'&' has no meaning here. Write `and`"),
        ("if age + 1 > 2 then ymarr = 1", 8, "'+' has no meaning here"),
        ("if age > 2nd then ymarr = 1", 11, "a number ends before a letter"),
        ("if age > 1.2.3 then ymarr = 1", 13, "a number ends before a letter"),
        ("if age > 1e999 then ymarr = 1", 10, "the number is too large"),
        (f"if age > {2**64} then ymarr = 1", 10, "the number is too large"),
        (f"if age > {'9' * 5000} then ymarr = 1", 10, "the number is too large"),
    ],
)  # fmt: skip
def test_mistakes_are_shown_with_their_place(text, position, expected):
    with pytest.raises(ParameterError) as caught:
        read_rule(text, NAMES)
    message, line, mark = str(caught.value).split("\n")
    assert message.startswith(f"A rule cannot be read at position {position}: ")
    assert expected in message
    assert mark.index("^") == 2 + position - 1
    assert line[2:].startswith(text[:60])


def test_a_condition_alone_ends_where_it_ends():
    with pytest.raises(ParameterError, match="expected `and`, `or` or the end; found then"):
        read_condition("age > 1 then ymarr = 1", NAMES)
    with pytest.raises(ParameterError, match="expected a condition; found if"):
        read_condition("if age > 1", NAMES)


def test_the_mark_is_right_in_the_middle_of_a_long_rule():
    text = "if " + "age > 1 or " * 50 + "agee > 1" + " or age > 1" * 50 + " then ymarr = 1"
    with pytest.raises(ParameterError) as caught:
        read_rule(text, NAMES)
    _, line, mark = str(caught.value).split("\n")
    assert line[mark.index("^") :].startswith("agee > 1 or")
    assert line.startswith("  ...")
    assert line.endswith("...")
    assert len(line) < 100


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('touch stolen')",
        "if __import__('os').system('touch stolen') == 0 then ymarr = 1",
        "if age == __import__('os') then ymarr = 1",
        "if age.__class__ == 1 then ymarr = 1",
        "if age > (lambda: 1)() then ymarr = 1",
        "if age > 1 then ymarr = open('stolen', 'w')",
        "if age > 1 then ymarr = 1; import os",
        "if `age` == f'{age}' then ymarr = 1",
        "if age > 1 then ymarr = [1][0]",
        "if age > 1 then ymarr = 1\x00",
    ],
)
def test_code_is_not_a_rule(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError):
        read_rule(text, NAMES)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("opening", ["(", "not ", "not ("])
def test_depth_has_a_bound(opening):
    def nested(times):
        return opening * times + "age > 1" + ")" * (times if "(" in opening else 0)

    fits = DEEPEST // (2 if opening == "not (" else 1)
    read_condition(nested(fits), NAMES)
    for times in (fits + 1, 1000):
        with pytest.raises(ParameterError, match=f"more than {DEEPEST} conditions are inside"):
            read_condition(nested(times), NAMES)


def test_depth_is_that_of_the_deepest_and_not_of_all():
    read_condition(" and ".join(["(not (age > 1))"] * (2 * DEEPEST)), NAMES)


def test_length_has_a_bound():
    text = "age > 1".ljust(LONGEST)
    read_condition(text, NAMES)
    with pytest.raises(ParameterError, match=f"at most {LONGEST} characters.*has {LONGEST + 1}"):
        read_condition(text + " ", NAMES)


@given(st.text(max_size=60) | st.text("ifthenorag= ()'`<>,1.e-", max_size=60))
def test_any_text_is_read_or_refused(text):
    for rule in (text, f"if {text} then ymarr = 1", f"if age > 1 then ymarr = {text}"):
        with suppress(ParameterError):
            read_rule(rule, NAMES)
