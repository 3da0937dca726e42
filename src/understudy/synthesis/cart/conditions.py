"""Conditions on the values of a record: a tree that reads as text and is evaluated on a table.

A comparison with a missing value is neither true nor false but unknown, as in SQL: then so is its
`not`, while `and` and `or` tell what they can (Kleene's logic). An unknown condition does not
hold. So neither ``age > 17`` nor ``not age > 17`` holds where the age is missing; only ``age is
missing`` does. A number that is NaN is missing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.data.frames import Frame
from understudy.errors import ParameterError
from understudy.synthesis.cart.operands import Operator, Stored, Value, among, compare, store

KEYWORDS = frozenset({"if", "then", "and", "or", "not", "in", "is", "missing", "true", "false"})
"""Words that are no column names unless they are in backticks, in capitals or not."""


def is_word(text: str) -> bool:
    """Return whether a name can be written without backticks; keywords are words too.

    Examples
    --------
    >>> is_word("Straße.2"), is_word("hours per week"), is_word("2nd")
    (True, False, False)
    """
    return text[:1].isidentifier() and all(is_in_word(character) for character in text)


def is_in_word(character: str) -> bool:
    """Return whether a bare name can go on with this character."""
    return character == "." or f"a{character}".isidentifier()


def name_to_text(name: str) -> str:
    """Return a column's name as a rule writes it.

    Examples
    --------
    >>> print(name_to_text("age"), name_to_text("hours per week"), name_to_text("Is"))
    age `hours per week` `Is`
    """
    if is_word(name) and name.casefold() not in KEYWORDS:
        return name
    return "`" + name.replace("`", "``") + "`"


def value_to_text(value: Value | None) -> str:
    """Return a value as a rule writes it.

    Examples
    --------
    >>> print(value_to_text("it's"), value_to_text(1.5), value_to_text(True), value_to_text(None))
    'it''s' 1.5 true missing
    """
    if value is None:
        return "missing"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value).lower() if isinstance(value, bool) else repr(value)


@dataclass(frozen=True)
class Condition(ABC):
    """Something that holds for a record of a table, or does not.

    Examples
    --------
    >>> adult = Comparison("age", ">", 17)
    >>> adult.holds(pl.DataFrame({"age": [20, 3, None]}))
    array([ True, False, False])
    >>> Not(adult).to_text()
    'not age > 17'
    """

    @property
    @abstractmethod
    def columns(self) -> frozenset[str]:
        """The names of the columns that the condition looks at."""

    @abstractmethod
    def to_text(self) -> str:
        """Return the text that reads as this condition."""

    @abstractmethod
    def expression(self, stored: Mapping[str, Stored]) -> pl.Expr:
        """Return whether the condition holds for each row; null where that is unknown."""

    def holds(self, frame: Frame) -> NDArray[np.bool_]:
        """Return for each row of a pandas, polars or pyarrow frame whether the condition holds.

        Raises
        ------
        ParameterError
            If a column is not there, or cannot be compared so.
        """
        table, stored = store(frame, self.columns)
        found = table.select(self.expression(stored)).to_series()
        return found.fill_null(value=False).to_numpy()


@dataclass(frozen=True)
class Atom(Condition):
    """A condition that compares values, and is unknown where one of them is missing."""

    column: str

    @property
    def columns(self) -> frozenset[str]:
        """The names of the columns that the condition looks at."""
        return frozenset({self.column})

    @abstractmethod
    def test(self, stored: Mapping[str, Stored]) -> pl.Expr:
        """Return whether the values pass, for rows where no column is missing."""

    def expression(self, stored: Mapping[str, Stored]) -> pl.Expr:
        """Return whether the condition holds for each row; null where that is unknown."""
        try:
            test = self.test(stored)
        except ParameterError as error:
            raise ParameterError(f"`{self.to_text()}` cannot be decided. {error}") from error
        missing = pl.any_horizontal(stored[name].missing for name in sorted(self.columns))
        return pl.when(~missing).then(test)


@dataclass(frozen=True)
class Column:
    """The name of a column on the right of a comparison."""

    name: str


@dataclass(frozen=True)
class Comparison(Atom):
    """A column compared with a value or with another column.

    Parameters
    ----------
    column : str
        The column on the left.
    operator : {"==", "!=", "<", "<=", ">", ">="}
        Text is ordered by its characters, levels by their list, false and true are not ordered.
    other : str, int, float, bool or Column
        What is on the right.
    """

    operator: Operator
    other: Value | Column

    @property
    def columns(self) -> frozenset[str]:
        """The names of the columns that the condition looks at."""
        more = {self.other.name} if isinstance(self.other, Column) else set()
        return frozenset({self.column} | more)

    def to_text(self) -> str:
        """Return the text that reads as this condition."""
        other = self.other
        right = name_to_text(other.name) if isinstance(other, Column) else value_to_text(other)
        return f"{name_to_text(self.column)} {self.operator} {right}"

    def test(self, stored: Mapping[str, Stored]) -> pl.Expr:
        """Return whether the values pass, for rows where no column is missing."""
        right = stored[self.other.name] if isinstance(self.other, Column) else self.other
        return compare(stored[self.column], self.operator, right)


@dataclass(frozen=True)
class Membership(Atom):
    """A column that has one of the listed values."""

    values: tuple[Value, ...]

    def to_text(self, *, negated: bool = False) -> str:
        """Return the text that reads as this condition, or as its opposite."""
        listed = ", ".join(map(value_to_text, self.values))
        return f"{name_to_text(self.column)} {'not in' if negated else 'in'} ({listed})"

    def test(self, stored: Mapping[str, Stored]) -> pl.Expr:
        """Return whether the values pass, for rows where no column is missing."""
        return among(stored[self.column], self.values)


@dataclass(frozen=True)
class Missing(Condition):
    """A column that has no value; this is never unknown."""

    column: str

    @property
    def columns(self) -> frozenset[str]:
        """The names of the columns that the condition looks at."""
        return frozenset({self.column})

    def to_text(self, *, negated: bool = False) -> str:
        """Return the text that reads as this condition, or as its opposite."""
        return f"{name_to_text(self.column)} is {'not missing' if negated else 'missing'}"

    def expression(self, stored: Mapping[str, Stored]) -> pl.Expr:
        """Return whether the condition holds for each row."""
        return stored[self.column].missing


@dataclass(frozen=True)
class Not(Condition):
    """The opposite of a condition; unknown where that is unknown."""

    part: Condition

    @property
    def columns(self) -> frozenset[str]:
        """The names of the columns that the condition looks at."""
        return self.part.columns

    def to_text(self) -> str:
        """Return the text that reads as this condition."""
        if isinstance(self.part, Membership | Missing):
            return self.part.to_text(negated=True)
        return f"not {_in_parentheses(self.part)}"

    def expression(self, stored: Mapping[str, Stored]) -> pl.Expr:
        """Return whether the condition holds for each row; null where that is unknown."""
        return ~self.part.expression(stored)


@dataclass(frozen=True)
class Joined(Condition):
    """Two or more conditions that are joined by one word; polars knows Kleene's logic."""

    word: ClassVar[str]
    parts: tuple[Condition, ...]

    @property
    def columns(self) -> frozenset[str]:
        """The names of the columns that the condition looks at."""
        return frozenset().union(*(part.columns for part in self.parts))

    def to_text(self) -> str:
        """Return the text that reads as this condition."""
        return f" {self.word} ".join(map(_in_parentheses, self.parts))


class And(Joined):
    """Conditions that hold together."""

    word = "and"

    def expression(self, stored: Mapping[str, Stored]) -> pl.Expr:
        """Return whether the condition holds for each row; null where that is unknown."""
        return pl.all_horizontal(part.expression(stored) for part in self.parts)


class Or(Joined):
    """Conditions of which one holds at least."""

    word = "or"

    def expression(self, stored: Mapping[str, Stored]) -> pl.Expr:
        """Return whether the condition holds for each row; null where that is unknown."""
        return pl.any_horizontal(part.expression(stored) for part in self.parts)


def _in_parentheses(part: Condition) -> str:
    """Return a part's text; `and` and `or` inside another condition are kept together."""
    return f"({part.to_text()})" if isinstance(part, Joined) else part.to_text()
