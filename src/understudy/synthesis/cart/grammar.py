"""Reading the text of a rule: a small language of its own, so that no text is ever run as code.

.. code-block:: text

    rule       = "if" either "then" column "=" (value | "missing")
    either     = both {"or" both}
    both       = negation {"and" negation}
    negation   = "not" negation | "(" either ")" | test
    test       = operand operator operand
               | column ["not"] "in" "(" value {"," value} ")"
               | column "is" ["not"] "missing"
    operator   = "==" | "=" | "!=" | "<" | "<=" | ">" | ">="
    operand    = column | value
    value      = number | text in quotes | "true" | "false"
    column     = bare word | name in backticks
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, takewhile
from math import isfinite
from typing import Literal, NoReturn

from understudy.errors import ParameterError, did_you_mean
from understudy.synthesis.cart.conditions import (
    KEYWORDS,
    And,
    Column,
    Comparison,
    Condition,
    Joined,
    Membership,
    Missing,
    Not,
    Or,
    is_in_word,
)
from understudy.synthesis.cart.operands import Operator, Value

DEEPEST = 50
"""Parentheses and `not` that can be inside each other."""

LONGEST = 20_000
"""Characters of a rule."""

LARGEST = 2**64
"""Whole numbers of a rule are smaller than this."""

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_SYMBOL = re.compile(r"==|!=|<=|>=|[=<>(),]")
_FLIPPED: dict[Operator, Operator] = {
    "==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=",
}  # fmt: skip
_OPERATORS: dict[str, Operator] = {"=": "==", **{operator: operator for operator in _FLIPPED}}
_INSTEAD = {"&": "and", "|": "or", "!": "not", "~": "not"}
_SHOWN = 70


@dataclass(frozen=True)
class _Token:
    """A piece of a rule: a word, a name in backticks, a value, a symbol, or the end."""

    kind: Literal["word", "name", "value", "symbol", "end"]
    text: str
    start: int
    value: Value = ""

    @property
    def keyword(self) -> str | None:
        folded = self.text.casefold()
        return folded if self.kind == "word" and folded in KEYWORDS else None


def read_condition(text: str, names: Sequence[str]) -> Condition:
    """Read the text of a condition on the columns `names`.

    Raises
    ------
    ParameterError
        If the text is no condition, with the place and what was expected there.

    Examples
    --------
    >>> read_condition("age >= 18 and job is missing", ["age", "job"]).parts[0]
    Comparison(column='age', operator='>=', other=18)
    """
    reader = _Reader(text, names)
    condition = reader.either()
    if reader.token.kind != "end":
        reader.expected_after_condition("`and`, `or` or the end")
    return condition


def read_rule(text: str, names: Sequence[str]) -> tuple[str, Condition, Value | None]:
    """Read the text of a rule: the column that it sets, its condition, and the value.

    Raises
    ------
    ParameterError
        If the text is no rule, with the place and what was expected there.

    Examples
    --------
    >>> read_rule("if job is missing then hours = 0", ["job", "hours"])
    ('hours', Missing(column='job'), 0)
    """
    reader = _Reader(text, names)
    if not reader.skip_keyword("if"):
        reader.expected("`if`", " A rule reads `if CONDITION then COLUMN = VALUE`.")
    condition = reader.either()
    if not reader.skip_keyword("then"):
        reader.expected_after_condition("`and`, `or` or `then`")
    column = reader.column("a column")
    reader.take_symbol("=")
    value = None if reader.skip_keyword("missing") else reader.value("a value or `missing`")
    if reader.token.kind != "end":
        reader.expected("the end")
    return column, condition, value


class _Reader:
    """Reads one text from left to right."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        self.text = text
        self.names = names
        self.depth = 0
        if len(text) > LONGEST:
            raise ParameterError(
                f"A rule has at most {LONGEST} characters; one that begins {text[:_SHOWN]!r} has "
                f"{len(text)}. Split it into several rules for the same column."
            )
        self.tokens = list(self._tokens())
        self.place = 0

    @property
    def token(self) -> _Token:
        return self.tokens[self.place]

    def fail(self, token: _Token | int, problem: str, hint: str = "") -> NoReturn:
        """Raise, with the rule and a mark under the place."""
        start = token if isinstance(token, int) else token.start
        first = max(0, start - _SHOWN // 2)
        line = re.sub(r"\s", " ", self.text[first : first + _SHOWN])
        before, after = "..." * (first > 0), "..." * (first + _SHOWN < len(self.text))
        mark = " " * (len(before) + start - first) + "^"
        raise ParameterError(
            f"A rule cannot be read at position {start + 1}: {problem}.{hint}\n"
            f"  {before}{line}{after}\n  {mark}"
        )

    def expected(self, what: str, hint: str = "") -> NoReturn:
        """Raise, since the next piece is not what it must be."""
        token = self.token
        found = "the rule ends" if token.kind == "end" else f"found {token.text}"
        self.fail(token, f"expected {what}; {found}", hint)

    def expected_after_condition(self, what: str) -> NoReturn:
        """Raise, since a condition is followed by something else; say what may be meant."""
        hint = ""
        if self.token.kind == "symbol":
            joined = " Two comparisons are joined by `and`."
            hint = " No parenthesis is open." if self.token.text == ")" else joined
        self.expected(what, hint)

    def _tokens(self) -> Iterator[_Token]:
        start, text = 0, self.text
        while start < len(text):
            character = text[start]
            if character.isspace():
                start += 1
                continue
            token = self._token_at(start, character)
            yield token
            start += len(token.text)
        yield _Token("end", "", len(text))

    def _token_at(self, start: int, character: str) -> _Token:
        if character in "'\"`":
            return self._quoted(start, character)
        if character.isidentifier():
            rest = islice(self.text, start, None)
            return _Token("word", "".join(takewhile(is_in_word, rest)), start)
        if number := _NUMBER.match(self.text, start):
            return self._number(start, number[0])
        symbol = _SYMBOL.match(self.text, start)
        if not symbol:
            instead = _INSTEAD.get(character)
            hint = f" Write `{instead}`." if instead else ""
            self.fail(start, f"{character!r} has no meaning here", hint)
        return _Token("symbol", symbol[0], start)

    def _quoted(self, start: int, quote: str) -> _Token:
        pattern = re.compile(f"{quote}([^{quote}]*(?:{quote}{quote}[^{quote}]*)*){quote}")
        found = pattern.match(self.text, start)
        if not found:
            self.fail(start, f"this {quote} is not closed", f" A {quote} inside is doubled.")
        inside = found[1].replace(quote * 2, quote)
        return _Token("name" if quote == "`" else "value", found[0], start, inside)

    def _number(self, start: int, text: str) -> _Token:
        stop = start + len(text)
        if stop < len(self.text) and is_in_word(self.text[stop]):
            hint = " A name that begins with a digit is written in backticks."
            self.fail(stop, "a number ends before a letter", hint)
        whole = text.lstrip("+-").isdigit()
        if whole and len(text) < 2 * len(str(LARGEST)) and abs(int(text)) < LARGEST:
            return _Token("value", text, start, int(text))
        if whole or not isfinite(float(text)):
            self.fail(start, "the number is too large")
        return _Token("value", text, start, float(text))

    def skip_keyword(self, word: str) -> bool:
        """Go on if the keyword is next, and tell whether it was."""
        found = self.token.keyword == word
        self.place += found
        return found

    def skip_symbol(self, symbol: str) -> bool:
        """Go on if the symbol is next, and tell whether it was."""
        found = self.token.kind == "symbol" and self.token.text == symbol
        self.place += found
        return found

    def take_symbol(self, symbol: str) -> None:
        if not self.skip_symbol(symbol):
            self.expected(f"`{symbol}`")

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """Count how deep conditions are inside each other: Python's own stack has an end."""
        self.depth += 1
        if self.depth > DEEPEST:
            self.fail(self.token, f"more than {DEEPEST} conditions are inside each other")
        yield
        self.depth -= 1

    def either(self) -> Condition:
        return self._joined(Or, self.both)

    def both(self) -> Condition:
        return self._joined(And, self.negation)

    def _joined(self, join: type[Joined], part: Callable[[], Condition]) -> Condition:
        parts = [part()]
        while self.skip_keyword(join.word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else join(tuple(parts))

    def negation(self) -> Condition:
        if self.skip_keyword("not"):
            with self._inside():
                return Not(self.negation())
        if self.skip_symbol("("):
            with self._inside():
                condition = self.either()
            if not self.skip_symbol(")"):
                self.expected("`and`, `or` or `)`")
            return condition
        return self.test()

    def test(self) -> Condition:
        if self._is_value():
            return self._flipped_comparison()
        column = self.column("a condition")
        if self.skip_keyword("is"):
            negated = self.skip_keyword("not")
            if not self.skip_keyword("missing"):
                self.expected("`missing`" if negated else "`missing` or `not missing`")
            return Not(Missing(column)) if negated else Missing(column)
        negated = self.skip_keyword("not")
        if self.skip_keyword("in"):
            member = Membership(column, self._list())
            return Not(member) if negated else member
        if negated:
            self.expected("`in`")
        operator = self._operator("a comparison such as ==, `in` or `is missing`")
        return Comparison(column, operator, self._operand())

    def _flipped_comparison(self) -> Condition:
        """Read a comparison with the value on the left; the tree has it on the right."""
        value = self.value("a value")
        operator = _FLIPPED[self._operator("a comparison such as ==")]
        return Comparison(self.column("a column"), operator, value)

    def _operator(self, expected: str) -> Operator:
        token = self.token
        if token.kind != "symbol" or token.text not in _OPERATORS:
            self.expected(expected)
        self.place += 1
        return _OPERATORS[token.text]

    def _operand(self) -> Value | Column:
        what = "a value or a column"
        if self.token.keyword == "missing":
            self.expected(what, " Missing values are found by `is missing`.")
        return self.value(what) if self._is_value() else Column(self.column(what, quotes=True))

    def _list(self) -> tuple[Value, ...]:
        self.take_symbol("(")
        values = [self.value("a value")]
        while self.skip_symbol(","):
            values.append(self.value("a value"))
        if not self.skip_symbol(")"):
            self.expected("`,` or `)`")
        return tuple(values)

    def _is_value(self) -> bool:
        return self.token.kind == "value" or self.token.keyword in {"true", "false"}

    def value(self, expected: str) -> Value:
        """Read a number, a text in quotes, `true` or `false`."""
        token = self.token
        if not self._is_value():
            word = token.kind == "word" and not token.keyword
            self.expected(expected, f" Text is written in quotes: '{token.text}'." if word else "")
        self.place += 1
        return token.keyword == "true" if token.keyword else token.value

    def column(self, expected: str, *, quotes: bool = False) -> str:
        """Read the name of a column; where a text could be meant, say how that is written."""
        token = self.token
        if token.kind not in {"word", "name"} or token.keyword:
            same = token.keyword and token.text in self.names
            self.expected(expected, f" The column is written `{token.text}`." if same else "")
        name = str(token.value) if token.kind == "name" else token.text
        if name not in self.names:
            near = did_you_mean(name, self.names)
            text = " Text is written in quotes." if quotes and token.kind == "word" else ""
            self.fail(token, f"{name!r} is not a column", near + text)
        self.place += 1
        return name
