"""How the texts of a column are written, so that new values can be written in the same way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import polars as pl

from understudy.data.date_format import DateFormat
from understudy.data.duration_format import DurationFormat
from understudy.data.number_format import NumberFormat


@dataclass(frozen=True)
class TextFormat:
    """Texts that are no numbers, dates or truth values, and stay as they are.

    Parameters
    ----------
    codes : bool
        Whether they are digits with zeros in front, such as 01067, which numbers would lose.
    empty: bool
        Whether quotes with nothing between them are a text of their own, and not missing.
    """

    codes: bool = False
    empty: bool = False
    dtype: ClassVar[pl.DataType] = pl.String()

    @property
    def words(self) -> str:
        """What is special about the texts, in words."""
        return "codes with zeros in front, kept as text" if self.codes else ""

    def parsed(self, text: pl.Expr) -> pl.Expr:
        """Return the texts."""
        return text

    def rendered(self, values: pl.Series) -> pl.Series:
        """Return the texts."""
        return values


@dataclass(frozen=True)
class BooleanFormat:
    """Truth values, with the words for true and false.

    Examples
    --------
    >>> BooleanFormat("TRUE", "FALSE").rendered(pl.Series([True, None, False])).to_list()
    ['TRUE', None, 'FALSE']
    """

    true: str = "true"
    false: str = "false"
    dtype: ClassVar[pl.DataType] = pl.Boolean()

    @property
    def words(self) -> str:
        """The words, unless they are the usual ones."""
        return "" if self == BooleanFormat() else f"{self.true} and {self.false}"

    def parsed(self, text: pl.Expr) -> pl.Expr:
        """Return whether texts are the word for true, null where they are neither."""
        return pl.when(text == self.true).then(True).when(text == self.false).then(False)

    def rendered(self, values: pl.Series) -> pl.Series:
        """Return the words for truth values."""
        meaning = {True: self.true, False: self.false}
        return values.replace_strict(meaning, default=None, return_dtype=pl.String)


ValueFormat = TextFormat | BooleanFormat | NumberFormat | DateFormat | DurationFormat
_KINDS: dict[str, type[ValueFormat]] = {
    "text": TextFormat,
    "boolean": BooleanFormat,
    "number": NumberFormat,
    "date": DateFormat,
    "duration": DurationFormat,
}


@dataclass(frozen=True)
class ColumnFormat:
    """How a column of a CSV file is written.

    Parameters
    ----------
    values : TextFormat, BooleanFormat, NumberFormat, DateFormat or DurationFormat
        How its values are written.
    missing : tuple of str
        The texts that stand for a missing value; the first is written. The empty one is an empty
        field.
    quoted : bool
        Whether every value is in quotes, also where that is not necessary.
    missing_quoted : bool
        Whether the text for a missing value is in quotes.

    Examples
    --------
    >>> money = ColumnFormat(NumberFormat(places=2, prefix="$", thousands=","), ("N/A",))
    >>> money.parse(pl.Series(["$7,061.73", "N/A"])).to_list()
    [7061.73, None]
    >>> money.render(pl.Series([1234.5, None])).to_list()
    ['$1,234.50', 'N/A']
    >>> money.words
    "money: '$' before, comma for thousands, 2 decimals; missing is 'N/A'"
    """

    values: ValueFormat = TextFormat()
    missing: tuple[str, ...] = ("",)
    quoted: bool = False
    missing_quoted: bool = False

    @property
    def dtype(self) -> pl.DataType:
        """The type in which the values are stored."""
        return self.values.dtype

    @property
    def words(self) -> str:
        """How the column is written, in words for a person; empty if there is nothing to say."""
        gap = f"missing is {self.missing[0]!r}" if self.missing[0] else ""
        return "; ".join(filter(None, (self.values.words, gap)))

    def plain(self, decimal: str = ".") -> bool:
        """Return whether polars writes such a column so by itself, with a decimal sign."""
        if self.missing[0] or self.quoted or self.missing_quoted:
            return False
        held = self.values
        if isinstance(held, NumberFormat):
            return held.plain and (held.whole or held.decimal == decimal)
        if isinstance(held, DateFormat):
            return held == DateFormat("date", "%Y-%m-%d")
        return isinstance(held, TextFormat) or held == BooleanFormat()

    def parsed(self, text: pl.Expr) -> pl.Expr:
        """Return texts of a file as values: an expression of the whole column."""
        # What is empty is no number or date, and may be a text of its own.
        empty = isinstance(self.values, TextFormat) and not self.values.empty
        words = [word for word in self.missing if word or empty]
        if words:
            text = pl.when(~text.is_in(words)).then(text)
        return self.values.parsed(text)

    def parse(self, texts: pl.Series) -> pl.Series:
        """Return texts of a file as values."""
        return texts.to_frame("text").select(self.parsed(pl.col("text"))).to_series()

    def render(self, values: pl.Series) -> pl.Series:
        """Return values as the texts of a file; an empty field is null."""
        text = self.texts(values)
        return text.fill_null(self.missing[0]) if self.missing[0] else text

    def texts(self, values: pl.Series) -> pl.Series:
        """Return values as texts, null where they are missing."""
        if values.dtype.is_float() and self.fits(values.dtype):
            values = values.fill_nan(None)  # how pandas has missing numbers
        text = self.values.rendered(values) if self.fits(values.dtype) else as_text(values)
        return text.alias(values.name)

    def fits(self, kind: pl.DataType) -> bool:
        """Return whether values of a type can be written in this format."""
        held = self.values
        if isinstance(held, NumberFormat | DurationFormat):
            return kind.is_numeric() and not kind.is_decimal()
        if isinstance(held, DateFormat):
            if held.kind == "time":
                return kind == pl.Time
            zoned = getattr(kind, "time_zone", None) is not None
            return kind in (pl.Date, pl.Datetime) and zoned == bool(held.zone)
        return kind == held.dtype

    def to_plain(self) -> dict[str, Any]:
        """Return the format as JSON can hold it."""
        name = next(name for name, kind in _KINDS.items() if kind is type(self.values))
        values = {
            item.name: getattr(self.values, item.name)
            for item in fields(self.values)
            if getattr(self.values, item.name) != item.default
        }
        plain: dict[str, Any] = {"kind": name, **({"values": values} if values else {})}
        if self.missing != ("",):
            plain["missing"] = list(self.missing)
        return plain | {flag: True for flag in ("quoted", "missing_quoted") if getattr(self, flag)}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> ColumnFormat:
        """Return the format that `to_plain` described; raise `ValueError` if it is none."""
        try:
            values = _KINDS[plain["kind"]](**plain.get("values", {}))
            rest = {name: plain[name] for name in ("quoted", "missing_quoted") if name in plain}
            return cls(values, tuple(plain.get("missing", ("",))), **rest)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{plain!r} is no format of a column") from error


def as_text(values: pl.Series) -> pl.Series:
    """Return values as polars writes them to a CSV file."""
    if not values.dtype.is_temporal():
        return values if values.dtype == pl.String else values.cast(pl.String)
    lines = values.to_frame().write_csv(include_header=False, quote_style="never").split("\n")
    return pl.Series(values.name, lines[:-1], pl.String).replace("", None)
