"""How the numbers of a column are written: decimals, thousands, signs, money and percent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

Negative = Literal["before", "inside", "brackets", "after"]
"""Where a minus stands beside a sign of money: -$5, $-5, ($5) or $5-."""

Plus = Literal["", "positive", "zero"]
"""Which numbers have a plus sign."""

Exponents = Literal["late", "early", "short", "always"]
"""When a number is written with an exponent.

``late`` is polars' way, from 1e16 on and for very small ones; ``early`` is Python's and pandas',
also below 0.0001; ``short`` is R's, wherever that is shorter: 1e+05; ``always`` is 1.50e+00.
"""

LARGEST_FIXED = 1e15
"""From here on, floats do not hold all the digits that fixed decimals would show."""

_SIGNS = (
    *("R$", "US$", "A$", "C$", "NZ$", "HK$", "S$", *"$€£¥₹₽₩₺₪฿₫₴₦₱¢"),
    *("zł", "Rs.", "Rs", "kr.", "kr", "Kč"),
)
_CODES = (
    *("USD", "EUR", "GBP", "JPY", "CNY", "INR", "CHF", "CAD", "AUD", "NZD", "SEK", "NOK", "DKK"),
    *("PLN", "CZK", "HUF", "RUB", "TRY", "BRL", "MXN", "ZAR", "KRW", "SGD", "HKD", "ILS", "Ft"),
)
MONEY = "|".join(re.escape(sign) for sign in (*_SIGNS, *_CODES))
"""A regular expression for signs of money."""
LAKHS = r"\d{1,2}(?:GROUP\d{2})*GROUP\d{3}"
"""A regular expression for digits in groups of two but for the last three, as in India."""
_SMALL, _R_SMALL = 1e-4, 1e-3
_TINY = 1e-3
DECIMALS_KEPT = 9
"""Up to so many decimals, a column's description says how many new numbers have."""
WIDEST = 1_000
"""So wide may a column of numbers be that are filled up with spaces."""


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a column are written.

    Parameters
    ----------
    whole : bool
        Whether all of them are whole numbers, and stored as such.
    places : int, optional
        The decimals of each number; without it, each has as many as it needs.
    decimal, thousands : str
        The decimal sign, and what stands between groups of three digits, if anything.
    prefix, suffix : str
        What stands before and after each number, such as ``$`` or ``" %"``.
    negative : {"before", "inside", "brackets", "after"}
        Where the minus stands: -$5, $-5, ($5) or $5-.
    plus : {"", "positive", "zero"}
        Which numbers have a plus sign: none, those above 0, or those from 0.
    trimmed : bool
        Whether 2.0 is written as 2.
    bare : bool
        Whether 0.5 is written as .5.
    exponents : {"late", "early", "short", "always"}
        When numbers have an exponent.
    capital : bool
        Whether the exponent is an E.
    digits : int
        The most decimals that any of the numbers has, if none has an exponent: new ones have no
        more, and no exponent either. 0 if that is not known.
    significant : int
        The most digits that any of them has, without zeros in front; 0 if that is not known.
    minus : str
        The sign before numbers below zero.
    width : int
        The characters to which each number is filled up by spaces in front; 0 for none, and -1 if
        there are spaces here and there, which are not written.
    odd : tuple of str
        Numbers that many records have and that are always written in another way, such as 9999
        among 17.5 and 20.0.
    magnitudes : tuple of str
        What stands after thousands, millions and so on, as in 1.2k and 3.4M.
    lakhs : bool
        Whether the groups before the last three digits have two each, as in 12,34,567.
    """

    whole: bool = False
    places: int | None = None
    decimal: str = "."
    thousands: str = ""
    prefix: str = ""
    suffix: str = ""
    negative: Negative = "before"
    plus: Plus = ""
    trimmed: bool = False
    bare: bool = False
    exponents: Exponents = "late"
    capital: bool = False
    digits: int = 0
    significant: int = 0
    minus: str = "-"
    width: int = 0
    odd: tuple[str, ...] = ()
    magnitudes: tuple[str, ...] = ()
    lakhs: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "odd", tuple(self.odd))  # JSON has lists
        object.__setattr__(self, "magnitudes", tuple(self.magnitudes))
        if not -1 <= self.width <= WIDEST or not all(isinstance(one, str) for one in self.odd):
            raise ValueError("no format of numbers")

    @property
    def dtype(self) -> pl.DataType:
        """The type in which the numbers are stored."""
        return pl.Int64() if self.whole else pl.Float64()

    @property
    def plain(self) -> bool:
        """Whether polars writes the numbers so by itself, apart from the decimal sign."""
        return self == NumberFormat(
            whole=self.whole,
            decimal=self.decimal,
            digits=self.digits,
            significant=self.significant,
        )

    @property
    def undressed(self) -> bool:
        """Whether the numbers may be written so by a program, with as many decimals as needed."""
        return self == NumberFormat(
            whole=self.whole,
            places=self.places,
            trimmed=self.trimmed,
            exponents=self.exponents,
            capital=self.capital,
            digits=self.digits,
            significant=self.significant,
            odd=self.odd,
        )

    def exceeded(self, values: pl.Series) -> bool:
        """Return whether some numbers may need more decimals than `digits`, or an exponent."""
        if not self.digits or not values.dtype.is_float():
            return False
        size = values.abs()
        return self.digits > DECIMALS_KEPT or bool(((size > 0) & (size < _TINY)).any())

    @property
    def words(self) -> str:
        """What is special about the numbers, in words; empty for plain ones."""
        said = [
            f"{self.prefix.strip()!r} before" if self.prefix.strip() else "",
            f"{self.suffix.strip()!r} after" if self.suffix.strip() else "",
            f"{_named(self.thousands)} for thousands{' and lakhs' * self.lakhs}"
            if self.thousands
            else "",
            "decimal comma" if self.decimal == "," and not self.whole else "",
            "exponents" if self.exponents == "always" else "",
            "" if self.places is None else _decimals(self.places),
            {"brackets": "negative in brackets", "after": "minus at the end"}.get(
                self.negative, ""
            ),
            "plus signs" if self.plus else "",
            "no 0 before the point" if self.bare else "",
            f"spaces to a width of {self.width}" if self.width > 0 else "",
            f"{', '.join(map(str.strip, self.magnitudes))} for thousands and more"
            if self.magnitudes
            else "",
        ]
        told = ", ".join(filter(None, said))
        money = re.fullmatch(MONEY, self.prefix.strip() or self.suffix.strip())
        kind = "money" if money else "percentages" if self.suffix.strip() == "%" else "numbers"
        return f"{kind}: {told}" if told else ""

    def parsed(self, text: pl.Expr) -> pl.Expr:
        """Return texts as numbers, null where they are none."""
        for removed in filter(None, (self.thousands, self.prefix.strip(), self.suffix.strip())):
            text = text.str.replace_all(removed, "", literal=True)
        if self.prefix or self.suffix or self.width:
            text = text.str.strip_chars()
        if self.minus != "-":
            text = text.str.replace(self.minus, "-", literal=True)
        if self.negative == "brackets":
            text = text.str.replace(r"^\((.*)\)$", "-$1")
        elif self.negative == "after":
            text = text.str.replace(r"^(.*)-$", "-$1")
        if self.prefix:
            text = text.str.replace(r"^([-+])\s+", "$1")
        if self.decimal == ",":
            text = text.str.replace(",", ".", literal=True)
        for power, sign in enumerate(self.magnitudes, 1):
            text = text.str.replace(f"{re.escape(sign)}$", f"e{3 * power}")
        number = text.cast(self.dtype, strict=False)
        return number if self.whole else number.fill_nan(None)

    def parse(self, texts: pl.Series) -> pl.Series:
        """Return a column of texts as numbers."""
        return texts.to_frame("text").select(self.parsed(pl.col("text"))).to_series()

    def rendered(self, values: pl.Series) -> pl.Series:
        """Return numbers as texts of this format."""
        if self.whole and values.dtype.is_float():
            values = values.round().cast(self.dtype, strict=False)
        elif not self.whole and not values.dtype.is_float():
            values = values.cast(pl.Float64)
        if self.plain:
            text = self._within(_cast(values), values)
            return text.str.replace(".", ",", literal=True) if self.decimal == "," else text
        text = self._digits(values)
        frame = pl.DataFrame({"value": values, "text": text})
        signed = self._signed(pl.col("value"), pl.col("text"))
        if self.odd:
            held = self.parse(pl.Series(self.odd, dtype=pl.String))
            signed = pl.col("value").replace_strict(
                held, list(self.odd), default=signed, return_dtype=pl.String
            )
        return frame.select(signed.str.pad_start(max(self.width, 0))).to_series()

    def _digits(self, values: pl.Series) -> pl.Series:
        """Return the absolute numbers as texts, with their thousands and decimals."""
        if self.magnitudes:
            return self._scaled(values.abs())
        if self.whole:
            text = _cast(values).str.strip_prefix("-")
        elif self.exponents == "always":
            text = _scientific(values.abs(), self.places or 0, self.capital)
        elif self.places is not None:
            text = _fixed(values, self.places)
        else:
            text = _with_exponents(values.abs(), self.exponents, self.capital)
            text = self._within(text, values.abs())
            if self.trimmed:
                text = text.str.strip_suffix(".0")
        if self.bare:
            text = text.str.replace(r"^0\.", ".")
        if not self.thousands:
            return text.str.replace(".", self.decimal, literal=True)
        parts = text.str.splitn(".", 2).struct.unnest()
        whole = parts["field_0"]
        if self.lakhs:
            whole = _in_groups(whole.str.head(-3), 2) + "," + whole.str.tail(3)
        else:
            whole = _in_groups(whole, 3)
        whole = whole.str.strip_prefix(",").str.replace_all(",", self.thousands, literal=True)
        tail = (self.decimal + parts["field_1"]).fill_null("")
        return whole + tail

    def _scaled(self, size: pl.Series) -> pl.Series:
        """Return absolute numbers in thousands, millions and so on, with the sign of these."""
        places = self.digits if self.places is None else self.places
        amounts = size.fill_null(0.0).to_numpy()
        texts = np.char.mod("%.0f", amounts)
        for power, sign in enumerate(self.magnitudes, 1):
            # 999,960 is 1.0M and not 1000.0k.
            smaller = places if power > 1 else 0
            reached = np.round(amounts / 1000.0 ** (power - 1), smaller) >= 1000.0
            scaled = np.char.mod(f"%.{places}f", amounts / 1000.0**power)
            if self.places is None and places:
                scaled = np.char.rstrip(np.char.rstrip(scaled, "0"), ".")
            scaled = np.char.add(np.char.replace(scaled, ".", self.decimal), sign)
            texts = np.where(reached, scaled, texts)
        written = pl.Series(texts.tolist(), dtype=pl.String)
        return written.zip_with(size.is_not_null(), pl.Series([None], dtype=pl.String))

    def _within(self, text: pl.Series, values: pl.Series) -> pl.Series:
        """Return texts of numbers, those with an exponent or too many digits written anew."""
        if not self.exceeded(values):
            return text
        odd = text.str.contains("[eE]") | (_decimals_in(text) > self.digits)
        if self.significant:
            odd |= digits_in(text) > self.significant
        at = (odd & values.is_finite()).fill_null(value=False).arg_true()
        if not len(at):
            return text
        numbers = values.gather(at).to_numpy()
        if self.significant:
            numbers = np.char.mod(f"%.{self.significant}g", numbers).astype(np.float64)
        anew = _without_exponents(_cast(pl.Series(numbers)))
        long = (_decimals_in(anew) > self.digits).arg_true()
        if len(long):
            fixed = np.char.mod(f"%.{self.digits}f", numbers[long.to_numpy()])
            cut = pl.Series(fixed.tolist(), dtype=pl.String)
            cut = cut.str.strip_chars_end("0").str.replace(r"\.$", ".0")
            anew = anew.scatter(long, cut.str.replace(r"^-0\.0$", "0.0"))
        return text.scatter(at, anew)

    def _signed(self, value: pl.Expr, digits: pl.Expr) -> pl.Expr:
        below = value < 0
        if not self.whole:
            # A rounded -0.0 keeps its sign, as it came.
            fixed = self.places is not None and self.exponents != "always"
            below = (value.round(self.places or 0) if fixed else value) < 0
            below |= (value == 0) & (1 / value < 0)
        dressed = pl.lit(self.prefix) + digits + pl.lit(self.suffix)
        minus = {
            "before": pl.lit(self.minus) + dressed,
            "inside": pl.lit(f"{self.prefix}{self.minus}") + digits + pl.lit(self.suffix),
            "brackets": pl.lit("(") + dressed + pl.lit(")"),
            "after": dressed + pl.lit(self.minus),
        }[self.negative]
        if not self.plus:
            return pl.when(below).then(minus).otherwise(dressed)
        sign = "+" if self.negative == "before" else ""
        inner = "" if sign else "+"
        plus = pl.lit(sign + self.prefix + inner) + digits + pl.lit(self.suffix)
        above = value > 0 if self.plus == "positive" else value >= 0
        return pl.when(below).then(minus).when(above).then(plus).otherwise(dressed)

    def pattern(self) -> str:
        """Return a regular expression for the texts, with any number of decimals."""
        before, after = re.escape(self.prefix), re.escape(self.suffix)
        group = re.escape(self.thousands)
        grouped = LAKHS if self.lakhs else r"\d{1,3}(?:GROUP\d{3})+"
        digits = rf"{grouped.replace('GROUP', group)}|\d+" if self.thousands else r"\d+"
        point = re.escape(self.decimal)
        end = "|".join(map(re.escape, self.magnitudes)) if self.magnitudes else r"[eE][-+]?\d+"
        number = rf"(?:(?:{digits})(?:{point}\d*)?|{point}\d+)(?:{end})?"
        number = f"{number}|inf" if not (self.prefix or self.suffix) else number
        minus = re.escape(self.minus)
        shape = {
            "before": rf"[+{minus}]?{before}(?:{number}){after}",
            "inside": rf"{before}[+{minus}]?(?:{number}){after}",
            "brackets": rf"(?:{before}(?:{number}){after}|\({before}(?:{number}){after}\))",
            "after": rf"{before}(?:{number}){after}(?:{minus})?",
        }[self.negative]
        return f"^ *{shape}$" if self.width else f"^{shape}$"


def _in_groups(digits: pl.Series, size: int) -> pl.Series:
    """Return digits with a comma between groups of a size, counted from the last."""
    turned = digits.str.reverse().str.replace_all(rf"(\d{{{size}}})", "$1,")
    return turned.str.reverse().str.strip_prefix(",")


def _decimals_in(text: pl.Series) -> pl.Series:
    point = text.str.find(".", literal=True).cast(pl.Int64)
    return text.str.len_bytes().cast(pl.Int64) - point - 1


def _without_exponents(text: pl.Series) -> pl.Series:
    """Return numbers with all their zeros in place of exponents, which few of them have."""
    places = text.str.contains("[eE]").arg_true()
    if not len(places):
        return text
    some = [np.format_float_positional(float(one), trim="0") for one in text.gather(places)]
    return text.scatter(places, pl.Series(some, dtype=pl.String))


def digits_in(texts: pl.Series, decimal: str = ".") -> pl.Series:
    """Return how many digits numbers have, without zeros in front of them.

    Examples
    --------
    >>> digits_in(pl.Series(["-0.0125", "10.5", "3.0"])).to_list()
    [3, 3, 1]
    """
    plain = texts.str.strip_suffix(f"{decimal}0").str.replace_all(r"\D", "")
    return plain.str.strip_chars_start("0").str.len_bytes().cast(pl.Int64)


def _named(sign: str) -> str:
    named = {",": "comma", ".": "point", "'": "apostrophe", "\u2019": "apostrophe"}
    return named.get(sign, "space")


def _decimals(places: int) -> str:
    return f"{places} decimal{'' if places == 1 else 's'}" if places else "no decimals"


def _cast(values: pl.Series) -> pl.Series:
    return values.cast(pl.String)


def _fixed(values: pl.Series, places: int) -> pl.Series:
    """Return absolute numbers with a number of decimals."""
    size = values.abs()
    text = size.cast(pl.Decimal(38, places), strict=False).cast(pl.String)
    large = ~(size < LARGEST_FIXED)
    return text.zip_with(~large, _cast(size)) if large.any() else text


def _scientific(size: pl.Series, places: int, capital: bool) -> pl.Series:
    """Return numbers with one digit before the point, and an exponent."""
    texts = np.char.mod(f"%.{places}{'E' if capital else 'e'}", size.fill_null(0.0).to_numpy())
    written = pl.Series(texts.tolist(), dtype=pl.String)
    return written.zip_with(size.is_not_null(), pl.Series([None], dtype=pl.String))


def _with_exponents(size: pl.Series, exponents: Exponents, capital: bool) -> pl.Series:
    text = _cast(size)
    if exponents == "early":
        text = _replaced(text, (size < _SMALL) & (size > 0), size)
    elif exponents == "short":
        odd = ((size < _R_SMALL) & (size > 0)) | ((size >= 1e5) & (size % 1e4 == 0))
        text = _replaced(text, odd, size)
        text = _shortened(text, odd)
    return text.str.to_uppercase() if capital else text


def _replaced(text: pl.Series, odd: pl.Series, size: pl.Series) -> pl.Series:
    """Return texts with the odd ones as Python writes them."""
    places = odd.fill_null(value=False).arg_true()
    if not len(places):
        return text
    as_python = size.gather(places).to_numpy().astype(str)
    return text.scatter(places, pl.Series(as_python.tolist(), dtype=pl.String))


def _shortened(text: pl.Series, odd: pl.Series) -> pl.Series:
    """Return texts with the odd ones as R writes them: the shorter form, the plain one if equal."""
    places = odd.fill_null(value=False).arg_true()
    if not len(places):
        return text
    some = text.gather(places).to_numpy()
    plain = np.array([np.format_float_positional(float(one), trim="-") for one in some])
    short = np.array(
        [np.format_float_scientific(float(one), trim="-", exp_digits=2) for one in some]
    )
    chosen = np.where(np.char.str_len(plain) <= np.char.str_len(short), plain, short)
    return text.scatter(places, pl.Series(chosen.tolist(), dtype=pl.String))
