"""Rules of a table that its synthetic copy keeps: if a condition holds, a column has this value.

Records that meet the condition tell nothing about how the column varies: they are left out of its
fit, and get the value in the synthetic data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data import Codec
from understudy.data.coded import Codes
from understudy.data.coders import as_numbers
from understudy.data.frames import Frame, to_narwhals
from understudy.data.value_coder import ValueCoder
from understudy.data.values import to_numpy
from understudy.errors import ParameterError, unknown_columns
from understudy.showing import hint_of, reason
from understudy.synthesis.cart.conditions import Condition, name_to_text, value_to_text
from understudy.synthesis.cart.grammar import LARGEST, read_condition, read_rule
from understudy.synthesis.cart.operands import Value

_FORMS = (
    "A rule is a text such as \"if marital == 'single' then years_married = missing\", or "
    "(column, condition, value), where the condition is text or a narwhals expression."
)


@dataclass(frozen=True)
class Rule:
    """A value that a column has in all records that meet a condition.

    Parameters
    ----------
    column : str
        The column that the rule sets.
    when : Condition or narwhals Expr
        Which records it is for.
    value : str, int, float, bool or None
        The value; None for missing.
    text : str
        The rule as the user knows it, for messages.

    Examples
    --------
    >>> import polars as pl
    >>> (rule,) = read_rules(["if job is missing then hours = 0"], ["job", "hours"])
    >>> rule.holds(pl.DataFrame({"job": ["cook", None], "hours": [30, 0]}))
    array([False,  True])
    """

    column: str
    when: Condition | nw.Expr
    value: Value | None
    text: str = field(compare=False)

    @property
    def columns(self) -> frozenset[str] | None:
        """The columns that the condition looks at; None for an expression, which does not tell."""
        return self.when.columns if isinstance(self.when, Condition) else None

    def holds(self, frame: Frame) -> NDArray[np.bool_]:
        """Return for each row of a pandas, polars or pyarrow frame whether the condition holds.

        Raises
        ------
        ParameterError
            If the condition cannot be evaluated on this frame.
        """
        if isinstance(self.when, nw.Expr):
            return self._evaluate(self.when, to_narwhals(frame))
        try:
            return self.when.holds(frame)
        except ParameterError as error:
            raise ParameterError(f"Rule `{self.text}`: {error}") from error

    def _evaluate(self, expression: nw.Expr, table: nw.DataFrame[Any]) -> NDArray[np.bool_]:
        try:
            result = table.select(expression)
        except Exception as error:  # whatever the frame's own library raises
            raise ParameterError(
                f"Rule `{self.text}` cannot be evaluated ({reason(error)}). Correct the expression."
            ) from error
        if result.shape[1] != 1 or result[result.columns[0]].dtype != nw.Boolean:
            kinds = ", ".join(str(dtype) for dtype in result.schema.values())
            raise ParameterError(
                f"Rule `{self.text}` must tell yes or no for each row; its expression gives "
                f"{kinds}. Compare with something, as in nw.col('age') > 17."
            )
        if len(result) != len(table):
            raise ParameterError(
                f"Rule `{self.text}` must tell yes or no for each of {len(table)} rows; its "
                f"expression gives {len(result)} values. Use an expression without aggregation."
            )
        mask = result[result.columns[0]].fill_null(value=False)
        return to_numpy(mask.to_arrow()).astype(np.bool_, copy=False)


def read_rules(rules: object, names: Sequence[str]) -> tuple[Rule, ...]:
    """Read the rules of a synthesizer, in each form that a user may give them.

    Parameters
    ----------
    rules : None, sequence or mapping
        Rules as texts ``"if CONDITION then COLUMN = VALUE"`` or as ``(column, condition, value)``;
        or for each column one ``(condition, value)`` or a list of them. In these a condition is
        text or a narwhals expression, and the value None stands for missing.
    names : sequence of str
        The columns of the table.

    Returns
    -------
    tuple of Rule
        In the order given: of several rules for one column, the first that holds decides.

    Raises
    ------
    ParameterError
        If a rule cannot be read, or names a column that is not there.

    Examples
    --------
    >>> rules = read_rules({"hours": [("job is missing", 0)]}, ["job", "hours"])
    >>> rules_to_plain(rules)
    ['if job is missing then hours = 0']
    """
    if rules is None:
        return ()
    if isinstance(rules, Mapping):
        items = [(column, *pair) for column in rules for pair in _pairs(column, rules[column])]
        return tuple(_read_triple(item, names) for item in items)
    if isinstance(rules, str) or not isinstance(rules, Sequence):
        raise ParameterError(f"rules must be a list or a mapping of rules, not {rules!r}. {_FORMS}")
    return tuple(
        _read_text(item, names) if isinstance(item, str) else _read_triple(item, names)
        for item in rules
    )


def rules_to_plain(rules: Sequence[Rule]) -> list[str]:
    """Return rules as texts that `read_rules` reads back to the same rules.

    Raises
    ------
    ParameterError
        If a rule has a narwhals expression, which cannot be put into words.
    """
    for rule in rules:
        if isinstance(rule.when, nw.Expr):
            raise ParameterError(
                f"Rule `{rule.text}` is a narwhals expression and cannot be saved. Write its "
                "condition as text, such as \"marital == 'single'\"."
            )
    return [_to_text(rule.column, rule.when, rule.value) for rule in rules]


def covered_rows(rules: Sequence[Rule], frame: Frame) -> NDArray[np.int64]:
    """Return for each row the place of the first of `rules` that holds, -1 where none does."""
    found = np.full(len(to_narwhals(frame)), -1, np.int64)
    for place in reversed(range(len(rules))):
        found[rules[place].holds(frame)] = place
    return found


def _pairs(column: object, given: object) -> Iterator[Sequence[object]]:
    """Yield each (condition, value) that a mapping gives for a column."""
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given):
        several = given if not isinstance(given[0], str) and _is_pair(given[0]) else [given]
        if all(map(_is_pair, several)):
            yield from several
            return
    raise ParameterError(
        f"The rules of column {column!r} must be (condition, value) or a list of such pairs, "
        f"not {given!r}."
    )


def _is_pair(given: object) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 2


def _read_text(text: str, names: Sequence[str]) -> Rule:
    column, condition, value = read_rule(text, names)
    return _checked(Rule(column, condition, value, _to_text(column, condition, value)))


def _read_triple(item: object, names: Sequence[str]) -> Rule:
    if not isinstance(item, Sequence) or len(item) != 3:
        raise ParameterError(f"{item!r} is not a rule. {_FORMS}")
    column, condition, given = item
    if not isinstance(column, str):
        raise ParameterError(f"{column!r} is not a column name, in the rule {item!r}. {_FORMS}")
    problems = unknown_columns([column], names)
    if problems:
        raise ParameterError(f"A rule for column {column!r} cannot be used: {problems[0]}")
    when = _read_when(condition, column, names)
    value = _read_value(given, column)
    return _checked(Rule(column, when, value, _to_text(column, when, value)))


def _read_when(given: object, column: str, names: Sequence[str]) -> Condition | nw.Expr:
    if isinstance(given, nw.Expr):
        return given
    if isinstance(given, str):
        return read_condition(given, names)
    kind = f"{type(given).__module__.partition('.')[0]}.{type(given).__name__}"
    raise ParameterError(
        f"The condition of a rule for column {column!r} is {kind}. Write it as text, such as "
        '"age > 17", or as a narwhals expression: import narwhals as nw; nw.col("age") > 17.'
    )


def _read_value(given: object, column: str) -> Value | None:
    """Return a value as text could give it: dates as ISO text, NumPy's numbers as Python's."""
    if isinstance(given, float | np.floating | date | np.datetime64) and given != given:  # noqa: PLR0124  # NaN, NaT
        return None
    if isinstance(given, np.datetime64):
        return str(given)
    value = given.item() if isinstance(given, np.generic) else given
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, int) and abs(value) < LARGEST:
        return value
    if isinstance(value, float) and not math.isinf(value):
        return value
    raise ParameterError(
        f"The value of a rule for column {column!r} is {given!r}. A rule sets text, a finite "
        "number below 2^64, true or false, a date or time, or None for missing."
    )


def _checked(rule: Rule) -> Rule:
    if rule.columns and rule.column in rule.columns:
        raise ParameterError(
            f"Rule `{rule.text}`: a rule for column {rule.column!r} cannot look at that column "
            "itself, since it has no value yet. Use other columns in the condition."
        )
    return rule


def _to_text(column: str, when: Condition | nw.Expr, value: Value | None) -> str:
    condition = when.to_text() if isinstance(when, Condition) else repr(when)
    return f"if {condition} then {name_to_text(column)} = {value_to_text(value)}"


@dataclass(frozen=True, eq=False)
class RuleBook:
    """Applies rules to codes: it knows the values that codes stand for, which conditions are about.

    `codes` has the codes that the rules of each column set.
    """

    codec: Codec
    codes: Mapping[str, tuple[int, ...]]

    @classmethod
    def of(cls, codec: Codec, rules: Sequence[Rule]) -> RuleBook:
        """Return the book of the given rules, or say which of them sets an impossible value."""
        codes: dict[str, tuple[int, ...]] = {}
        for rule in rules:
            codes[rule.column] = (*codes.get(rule.column, ()), _code_of(rule, codec))
        return cls(codec, codes)

    def which(self, rules: Sequence[Rule], known: Mapping[int, Codes]) -> NDArray[np.int64]:
        """Return the number of the first rule that covers each record, or -1."""
        used: set[str] | None = set()
        for rule in rules:
            used = None if used is None or rule.columns is None else used | rule.columns
        names = self.codec.names
        columns = {
            names[place]: self._values(names[place], codes)
            for place, codes in known.items()
            if used is None or names[place] in used
        }
        return covered_rows(rules, pl.DataFrame(columns))

    def covered(
        self, rules: Sequence[Rule], known: Mapping[int, Codes]
    ) -> NDArray[np.int64] | None:
        """Return the code that a rule sets for each record, -1 where none does."""
        if not rules:
            return None
        set_to = np.array([*self.codes[rules[0].column], -1])
        return set_to[self.which(rules, known)]

    def set_to(self, rules: Sequence[Rule], known: Mapping[str, Codes]) -> NDArray[np.int64] | None:
        """Return what `covered` does, of columns by name; None if one that decides it is unknown.

        `rules` are those of one column, all of them.
        """
        if not rules or len(self._decided(rules, known)) < len(rules):
            return None
        return self.covered(rules, self._by_place(known))

    def broken(self, rules: Sequence[Rule], known: Mapping[str, Codes]) -> dict[str, int]:
        """Return how many records break each rule of one column, as far as these columns tell."""
        decided = self._decided(rules, known)
        if not decided or decided[0].column not in known:
            return {}
        first = self.which(decided, self._by_place(known))
        name = decided[0].column
        set_to = np.array([*self.codes[name][: len(decided)], -1])[first]
        wrong = np.bincount(first[(first >= 0) & (known[name] != set_to)], minlength=len(decided))
        return {rule.text: int(n) for rule, n in zip(decided, wrong, strict=True) if n}

    def _decided(self, rules: Sequence[Rule], known: Mapping[str, Codes]) -> Sequence[Rule]:
        """Return the first rules up to one whose condition looks at an unknown column.

        Of several rules the first that holds decides, so nothing is known of those behind.
        """
        for place, rule in enumerate(rules):
            every = rule.columns is None  # an expression does not tell
            looked_at = {*self.codec.names} - {rule.column} if every else rule.columns or set()
            if not looked_at <= set(known):
                return rules[:place]
        return rules

    def _by_place(self, known: Mapping[str, Codes]) -> dict[int, Codes]:
        names = self.codec.names
        return {place: known[name] for place, name in enumerate(names) if name in known}

    def _values(self, name: str, codes: Codes) -> pl.Series:
        coder = self.codec.coders[name]
        if isinstance(coder, ValueCoder):
            coder = replace(coder, smoothing=None)
        array = coder.build(codes.astype(np.int64), "interpolate", np.random.default_rng(0))
        plain = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
        return pl.Series(name, pl.from_arrow(plain))


def _code_of(rule: Rule, codec: Codec) -> int:
    """Return the code of the value that a rule sets."""
    column, coder = codec.schema[rule.column], codec.coders[rule.column]
    if rule.value is None:
        if column.missing == 0:
            raise ParameterError(
                f"rules: no value of {rule.column!r} is missing in the original, so a rule cannot "
                f"set it to missing: {rule.text}"
            )
        return coder.known
    try:
        if isinstance(coder, ValueCoder):
            # NumPy would read the text '1' and true as the number 1.
            of_kind = isinstance(rule.value, str if column.kind == "datetime" else int | float)
            wanted = as_numbers((rule.value,), column, coder.kind)
            own = of_kind and not isinstance(rule.value, bool)
            found = np.flatnonzero((coder.numbers == wanted[0]) & own)
        else:
            levels = (False, True) if column.kind == "boolean" else column.levels
            found = np.array([place for place, level in enumerate(levels) if level == rule.value])
    except (TypeError, ValueError, OverflowError):
        found = np.empty(0, np.int64)
    if len(found):
        return int(found[0])
    known = [str(level) for level in column.levels]
    place = "special values" if column.binned else "levels"
    raise ParameterError(
        f"rules: {rule.column!r} has no value {rule.value!r} in the original."
        f"{hint_of(str(rule.value), known)} Name it among the column's {place} in the schema "
        f"to use it: {rule.text}"
    )
