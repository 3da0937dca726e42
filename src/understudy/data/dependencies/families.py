"""The kinds of dependency between columns: what each one says, in words and in plain values.

A dependency names columns and says what holds for every record, or for all but a few. It holds no
values of the data but the one level of `MissingWhen`: the table of codes and names, for example,
is read from the data by whoever keeps or checks the dependency.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from understudy.errors import did_you_mean
from understudy.wording import listed

Form = Literal[
    "multiple",
    "square",
    "log",
    "log10",
    "log2",
    "log1p",
    "rounded",
    "rounded down",
    "rounded up",
    "quotient",
    "remainder",
    "year",
    "quarter",
    "month",
    "day",
    "weekday",
    "hour",
    "minute",
    "second",
    "yyyymmdd",
    "yyyymm",
    "hhmm",
    "date",
    "sum",
    "difference",
    "product",
    "ratio",
    "ratio to square",
    "gap",
    "years",
    "clock",
]
"""What a formula computes; see `Formula`."""

Code = Literal["hhmm", "yyyymmdd", "yyyymm"]
"""A date, month or time written as one whole number, such as 1345, 20240229 or 202402."""

CODES: dict[Code, tuple[str, str]] = {
    "hhmm": ("clock times", "minutes"),
    "yyyymmdd": ("dates", "days"),
    "yyyymm": ("months", "months"),
}
"""What is written so, and in what it is drawn."""

OF_TWO: tuple[Form, ...] = (
    *("sum", "difference", "product", "ratio", "ratio to square"),
    *("gap", "years", "clock"),
)
"""The forms that take two columns."""

PARTS: tuple[Form, ...] = (
    *("year", "quarter", "month", "day", "weekday"),
    *("hour", "minute", "second"),
    *CODES,
)
"""The forms that are a part of a date or time, or write one as a whole number."""

PART_CODES: Mapping[Code, tuple[Form, ...]] = {
    "hhmm": ("hour", "minute"),
    "yyyymmdd": ("year", "month", "day", "yyyymm"),
    "yyyymm": ("year", "month"),
}
"""The parts of what is written as one number."""

SECONDS = {86400.0: "days", 604800.0: "weeks", 3600.0: "hours", 60.0: "minutes", 1.0: "seconds"}
"""The units of a gap between two dates or times."""


@dataclass(frozen=True, kw_only=True)
class _Dependency:
    """What all kinds share: whether a synthesizer keeps it, and for how many it does not hold."""

    kind: ClassVar[str]

    exceptions: float = 0.0
    keep: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it names."""
        raise NotImplementedError

    @property
    def sentence(self) -> str:
        """What holds, in a few words."""
        raise NotImplementedError

    def to_plain(self) -> dict[str, Any]:
        """Return the dependency in values that TOML and JSON can hold; unset ones are left out."""
        plain: dict[str, Any] = {"kind": self.kind}
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name != "keep" and value != item.default:
                plain[item.name] = list(value) if isinstance(value, tuple) else value
        return plain | {"keep": self.keep}

    def problems(self, known: Sequence[str]) -> Iterator[str]:
        """Yield a sentence for everything that is wrong with it in a table of these columns."""
        names = self.names
        for name in names:
            if name not in known:
                yield f"there is no column {name!r}.{did_you_mean(str(name), known)}"
        if len(set(names)) < len(names):
            yield "it names a column twice."
        if not isinstance(self.exceptions, int | float) or not 0 <= self.exceptions <= 1:
            yield f"exceptions must be a share between 0 and 1; got {self.exceptions!r}."
        if self.keep not in (True, False):
            yield f"keep must be true or false; got {self.keep!r}."


@dataclass(frozen=True)
class Determined(_Dependency):
    """A column whose value follows from that of one other column, or of two, as a name from a code.

    Examples
    --------
    >>> Determined("state", ("city",)).sentence
    "'state' follows from 'city'"
    """

    kind: ClassVar[str] = "determined"

    column: str
    by: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it names, the determined one first."""
        return (self.column, *self.by)

    @property
    def sentence(self) -> str:
        """What holds, in a few words."""
        return f"{self.column!r} follows from {listed([repr(name) for name in self.by])}"

    def problems(self, known: Sequence[str]) -> Iterator[str]:
        """Yield a sentence for everything that is wrong with it."""
        yield from super().problems(known)
        if not 1 <= len(self.by) <= 2:
            yield f"by must name one or two columns; it names {len(self.by)}."


@dataclass(frozen=True)
class Formula(_Dependency):
    """A column that is computed from one other column, or from two.

    Parameters
    ----------
    column : str
        The column that is computed.
    form : str
        Of one column a: multiple (factor * a + constant), square (factor * a * a), log, log10,
        log2, log1p, rounded, rounded down or up (to multiples of `factor`), quotient and
        remainder (of a whole division by `factor`), and parts of a date or time: year, quarter,
        month, day, weekday (Monday is 1), hour, minute, second, date; or all of it as a whole
        number: yyyymmdd, yyyymm, hhmm.
        Of two columns a and b: sum (factor * (a + b) + constant), difference (a - b +
        constant), product (factor * a * b), ratio (factor * a / b), ratio to square (factor * a /
        b^2), gap (time from b to a, in units of `factor` seconds), years (whole years from b to
        a, as ages are counted), clock (a time as hhmm, so many minutes later).
    of : tuple of str
        The columns that it is computed from.
    factor, constant : float
        Numbers of the formula.

    Examples
    --------
    >>> Formula("total", "sum", ("rent", "heating")).sentence
    "'total' = 'rent' + 'heating'"
    >>> Formula("exper2", "square", ("exper",), factor=0.01).sentence
    "'exper2' = 0.01 * 'exper' squared"
    """

    kind: ClassVar[str] = "formula"

    column: str
    form: Form
    of: tuple[str, ...]
    factor: float = 1.0
    constant: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it names, the computed one first."""
        return (self.column, *self.of)

    @property
    def sentence(self) -> str:
        """What holds, in a few words."""
        return f"{self.column!r} = {self.text}"

    @property
    def text(self) -> str:
        """What is computed, in words."""
        return self._of_two() if self.form in OF_TWO else self._of_one()

    @property
    def _times(self) -> str:
        return "" if self.factor == 1 else f"{self.factor:.6g} * "

    @property
    def _plus(self) -> str:
        sign = "+" if self.constant > 0 else "-"
        return f" {sign} {abs(self.constant):.6g}" if self.constant else ""

    def _of_one(self) -> str:
        a, by = repr(self.of[0]), f"{self.factor:.6g}"
        to = "" if self.factor == 1 else f" to multiples of {by}"
        if self.form in CODES:
            return f"{a} as {self.form}"
        return {
            "multiple": f"{self._times}{a}{self._plus}",
            "square": f"{self._times}{a} squared",
            "log1p": f"log(1 + {a})",
            "quotient": f"{a} divided by {by}, rounded down",
            "remainder": f"the remainder of {a} divided by {by}",
            **{form: f"{form}({a})" for form in ("log", "log10", "log2")},
            **{form: f"{a} {form}{to}" for form in ("rounded", "rounded down", "rounded up")},
        }.get(self.form, f"the {self.form} of {a}")

    def _of_two(self) -> str:
        a, b = (repr(name) for name in (self.of[0], self.of[-1]))
        total = f"({a} + {b})" if self._times else f"{a} + {b}"
        unit = SECONDS.get(self.factor, f"units of {self.factor:g} seconds")
        if self.form == "sum" and self.factor == -1:
            return f"{self.constant:.6g} - {a} - {b}"
        return {
            "sum": f"{self._times}{total}{self._plus}",
            "difference": f"{a} - {b}{self._plus}",
            "product": f"{self._times}{a} * {b}",
            "ratio": f"{self._times}{a} / {b}",
            "ratio to square": f"{self._times}{a} / {b} squared",
            "gap": f"{a} - {b} in {unit}{self._plus}",
            "years": f"the whole years from {b} to {a}",
            "clock": f"{a} and {b} minutes, on the clock",
        }[self.form]

    def problems(self, known: Sequence[str]) -> Iterator[str]:
        """Yield a sentence for everything that is wrong with it."""
        yield from super().problems(known)
        if self.form not in get_args(Form):
            hint = did_you_mean(str(self.form), get_args(Form))
            yield f"form must be one of {', '.join(get_args(Form))}; got {self.form!r}.{hint}"
            return
        needed = 2 if self.form in OF_TWO else 1
        if len(self.of) != needed:
            yield f"the form {self.form!r} is of {needed}; 'of' names {len(self.of)}."
        for name in ("factor", "constant"):
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or value - value != 0 or (name == "factor" and value == 0):
                yield f"{name} must be a number{' other than 0' if name == 'factor' else ''}."


@dataclass(frozen=True)
class Ordered(_Dependency):
    """Two columns of which one is never above the other, such as a start and an end.

    Examples
    --------
    >>> Ordered("start", "end").sentence
    "'start' <= 'end'"
    """

    kind: ClassVar[str] = "ordered"

    low: str
    high: str

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it names, the upper one first: it is drawn by its difference."""
        return (self.high, self.low)

    @property
    def sentence(self) -> str:
        """What holds, in a few words."""
        return f"{self.low!r} <= {self.high!r}"


@dataclass(frozen=True)
class MissingTogether(_Dependency):
    """Columns that are missing in the same records, as the answers of a block that was skipped.

    Examples
    --------
    >>> MissingTogether(("brand", "packs")).sentence
    "'brand' and 'packs' are missing together"
    """

    kind: ClassVar[str] = "missing together"

    columns: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it names; the first decides."""
        return self.columns

    @property
    def sentence(self) -> str:
        """What holds, in a few words."""
        return f"{listed([repr(name) for name in self.columns])} are missing together"

    def problems(self, known: Sequence[str]) -> Iterator[str]:
        """Yield a sentence for everything that is wrong with it."""
        yield from super().problems(known)
        if len(self.columns) < 2:
            yield "columns must name two or more."


@dataclass(frozen=True)
class MissingWhen(_Dependency):
    """A column that is missing where another one has a certain value, or is missing itself.

    With `exactly`, it is missing nowhere else. Without a `level`, it is missing where the other one
    is.

    Examples
    --------
    >>> MissingWhen("packs", "smokes", "no", exactly=True).sentence
    "'packs' is missing exactly when 'smokes' is 'no'"
    """

    kind: ClassVar[str] = "missing when"

    column: str
    other: str
    level: str | int | float | bool | None = None
    exactly: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it names, the one with gaps first."""
        return (self.column, self.other)

    @property
    def sentence(self) -> str:
        """What holds, in a few words."""
        when = "exactly when" if self.exactly else "when"
        level = "missing" if self.level is None else repr(self.level)
        return f"{self.column!r} is missing {when} {self.other!r} is {level}"


@dataclass(frozen=True)
class Composite(_Dependency):
    """A date or time that is written as one whole number: 1345 for 13:45, or 20240229.

    Examples
    --------
    >>> Composite("dep_time", "hhmm").sentence
    "'dep_time' holds clock times as hhmm"
    """

    kind: ClassVar[str] = "composite"

    column: str
    code: Code

    @property
    def names(self) -> tuple[str, ...]:
        """The column that it names."""
        return (self.column,)

    @property
    def sentence(self) -> str:
        """What holds, in a few words."""
        what = CODES[self.code][0] if self.code in CODES else "something"
        return f"{self.column!r} holds {what} as {self.code}"

    def problems(self, known: Sequence[str]) -> Iterator[str]:
        """Yield a sentence for everything that is wrong with it."""
        yield from super().problems(known)
        if self.code not in get_args(Code):
            yield f"code must be one of {', '.join(get_args(Code))}; got {self.code!r}."


Dependency: TypeAlias = Determined | Formula | Ordered | MissingTogether | MissingWhen | Composite
"""Something that holds between columns."""

FAMILIES: dict[str, type[Dependency]] = {family.kind: family for family in get_args(Dependency)}
"""The kinds of dependency by the names that files know them by."""


def plain_problems(plain: object) -> list[str]:
    """Return a sentence for each reason why a section of a file is no dependency."""
    if not isinstance(plain, Mapping):
        return ["it is not a section of fields."]
    family = FAMILIES.get(str(plain.get("kind")))
    if family is None:
        hint = did_you_mean(str(plain.get("kind")), list(FAMILIES))
        return [f"kind must be one of {', '.join(FAMILIES)}; got {plain.get('kind')!r}.{hint}"]
    known = {item.name: item for item in fields(family)}
    problems = [
        f"there is no field {name!r}.{did_you_mean(name, list(known))}"
        for name in plain
        if name != "kind" and name not in known
    ]
    for name, item in known.items():
        listed_type = str(item.type).startswith("tuple")
        if name not in plain:
            if item.default is MISSING:
                problems.append(f"{name} is missing.")
        elif listed_type:
            if not isinstance(plain[name], list) or not all(
                isinstance(one, str) for one in plain[name]
            ):
                problems.append(f"{name} must be a list of names.")
        elif name in ("column", "low", "high", "other") and not isinstance(plain[name], str):
            problems.append(f"{name} must be the name of a column.")
        elif name == "level" and not isinstance(plain[name], str | int | float | bool):
            problems.append("level must be a text, a number, or true or false.")
    return problems


def dependency_from_plain(plain: Mapping[str, Any]) -> Dependency:
    """Return the dependency that `to_plain` put into plain values.

    Examples
    --------
    >>> dependency_from_plain({"kind": "ordered", "low": "tmin", "high": "tmax", "keep": False})
    Ordered(exceptions=0.0, keep=False, low='tmin', high='tmax')
    """
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in plain.items()
        if name != "kind"
    }
    return FAMILIES[str(plain["kind"])](**values)
