"""How the durations of a column are written: 2h 15m, 1 day 3 hours, 3 days, 4:05:06, PT1H30M."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import polars as pl

Style = Literal["words", "clock", "iso"]
Zeros = Literal["kept", "inner", "none"]
"""Which parts of nothing are written: 0h 0m, 0m and 2h 0m, or 0m and 2h."""

Negative = Literal["minus", "floored", "plus"]
"""How less than nothing is written: -1:00:00, or as Python and pandas do, with days below zero and
what is to be added to them: -1 day, 23:00:00 and -1 days +23:00:00."""

Fraction = Literal["fixed", "some", "needed"]
"""Whether all seconds have as many decimals, those with a fraction, or each as many as it needs."""

SIZES = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
CALENDAR_SIZES = {"year": 12, "month": 1}
"""Months are not all as long, but twelve are a year."""
MOST_DIGITS = 9
"""Decimals of a second that a whole number can hold beside the days of centuries."""
_ISO = {"week": "W", "day": "D", "hour": "H", "minute": "M", "second": "S"}
_PARTS_OF_SECOND = {
    1: "tenths of a second",
    2: "hundredths of a second",
    3: "milliseconds",
    6: "microseconds",
    9: "nanoseconds",
}


@dataclass(frozen=True)
class DurationFormat:
    """How the durations of a column are written; their values are whole numbers of the finest unit.

    Parameters
    ----------
    style : {"words", "clock", "iso"}
        Each part with its unit, as in 2h 15m; a clock, perhaps after the days; or PT2H15M.
    units : tuple of str
        The units of the parts, from the largest on.
    labels : tuple of tuple of str
        What stands after one and after several of each unit; in a clock, of the days alone.
    between : str
        What stands between the parts.
    zeros : {"kept", "inner", "none"}
        Which parts of nothing are written.
    padded : bool
        Whether parts after the first have two digits; in a clock, the first.
    negative : {"minus", "floored", "plus"}
        How less than nothing is written.
    digits : int
        The most decimals that seconds have.
    fraction : {"fixed", "some", "needed"}
        Which seconds have them.

    Examples
    --------
    >>> short = DurationFormat("words", ("hour", "minute"), (("h", "h"), ("m", "m")), " ")
    >>> short.rendered(pl.Series([135, 60, None])).to_list()
    ['2h 15m', '1h 0m', None]
    >>> pl.select(short.parsed(pl.lit("2h 15m"))).item(), short.words
    (135, 'durations as 9h 9m, in minutes')
    """

    style: Style
    units: tuple[str, ...]
    labels: tuple[tuple[str, str], ...] = ()
    between: str = ""
    zeros: Zeros = "kept"
    padded: bool = False
    negative: Negative = "minus"
    digits: int = 0
    fraction: Fraction = "fixed"

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", tuple(self.units))  # JSON has lists
        object.__setattr__(self, "labels", tuple((one, more) for one, more in self.labels))
        known = {*self.units} <= {*SIZES} or {*self.units} <= {*CALENDAR_SIZES}
        if not self.units or not known or not 0 <= self.digits <= MOST_DIGITS:
            raise ValueError("no format of durations")

    @property
    def dtype(self) -> pl.DataType:
        """The type in which the durations are stored."""
        return pl.Int64()

    @property
    def words(self) -> str:
        """An example in nines, and the unit of the numbers."""
        unit = _PARTS_OF_SECOND.get(self.digits, f"seconds of {self.digits} decimals")
        finest = unit if self.digits else f"{self.units[-1]}s"
        if self.style == "clock" and not self.digits and len(self.units) == 2:
            finest = "60ths of the first number"  # hours and minutes, or minutes and seconds
        most = sum(9 * size for size in self._sizes()) + 10**self.digits - 1
        shown = self.rendered(pl.Series([most]))[0]
        return f"durations as {shown}, in {finest}"

    def _sizes(self) -> list[int]:
        """Return what the parts are worth, in the unit of the numbers."""
        known = SIZES if self.units[0] in SIZES else CALENDAR_SIZES
        finest = known[self.units[-1]]
        return [known[unit] // finest * 10**self.digits for unit in self.units]

    def pattern(self) -> str:
        """Return a regular expression for the texts, with a group for each part."""
        numbers = [rf"(?<{unit}>\d{{1,9}})" for unit in self.units]
        fraction = r"(?:\.(?<fraction>\d+))?" if self.digits else ""
        if self.style == "iso":
            parts = [f"(?:{number}{_ISO[unit]})?" for number, unit in self._pairs(numbers[:-1])]
            parts.append(f"(?:{numbers[-1]}{fraction}{_ISO[self.units[-1]]})?")
            days = sum(unit in ("week", "day") for unit in self.units)
            return f"^(?<minus>-)?P{''.join(parts[:days])}T?{''.join(parts[days:])}$"
        if self.style == "words":
            gap = f"(?:{re.escape(self.between)})?"
            parts = [
                f"(?:{number}(?:{re.escape(one)}|{re.escape(more)}))?"
                for number, (one, more) in zip(numbers, self.labels, strict=True)
            ]
            return f"^(?<minus>-)?{gap.join(parts)}$"
        clock = ":".join(numbers[len(self.labels) :]) + fraction
        if not self.labels:
            return f"^(?<minus>-)?{clock}$"
        ((one, more),) = self.labels
        after = f"(?:{re.escape(one)}|{re.escape(more)})"
        if self.negative == "minus":
            return f"^(?<minus>-)?(?:{numbers[0]}{after})?{clock}$"
        return rf"^(?:(?<day>-?\d{{1,9}}){after})?\+?{clock}$"

    def _pairs(self, numbers: list[str]) -> list[tuple[str, str]]:
        return list(zip(numbers, self.units, strict=False))

    def parsed(self, text: pl.Expr) -> pl.Expr:
        """Return texts as whole numbers of the finest unit, null where they are none."""
        groups = text.str.extract_groups(self.pattern())
        known = [groups.struct.field(unit) for unit in self.units]
        parts = [
            part.cast(self.dtype, strict=False).fill_null(0) * size
            for part, size in zip(known, self._sizes(), strict=True)
        ]
        if self.digits:
            held = groups.struct.field("fraction").str.pad_end(self.digits, "0")
            parts.append(held.cast(self.dtype, strict=False).fill_null(0))
        whole = pl.sum_horizontal(parts)
        if self.negative == "minus":
            whole = pl.when(groups.struct.field("minus") == "-").then(-whole).otherwise(whole)
        return pl.when(pl.any_horizontal(part.is_not_null() for part in known)).then(whole)

    def rendered(self, values: pl.Series) -> pl.Series:
        """Return whole numbers of the finest unit as texts of this format."""
        different = values.unique()
        whole = different.round() if different.dtype.is_float() else different
        frame = pl.DataFrame({"key": different, "value": whole.cast(self.dtype, strict=False)})
        value, below = pl.col("value"), pl.col("value") < 0
        rest = value.abs() if self.negative == "minus" else value
        parts = []
        for size in self._sizes():
            parts.append(rest // size)
            rest = rest % size
        tail = self._fraction(rest)
        if self.style == "clock":
            text = self._clock(parts, tail, below)
        elif self.style == "iso":
            text = self._iso(parts, tail, rest)
        else:
            text = self._in_words(parts)
        if self.negative == "minus":
            text = pl.when(below).then(pl.lit("-")).otherwise(pl.lit("")) + text
        made = frame.select("key", text=pl.when(value.is_not_null()).then(text))
        joined = values.to_frame("key").join(
            made, on="key", how="left", maintain_order="left", nulls_equal=True
        )
        return joined["text"]

    def _fraction(self, rest: pl.Expr) -> pl.Expr:
        """Return what stands after whole seconds."""
        if not self.digits:
            return pl.lit("")
        text = pl.lit(".") + rest.cast(pl.String).str.zfill(self.digits)
        if self.fraction == "needed":
            text = text.str.strip_chars_end("0")
        return (
            text
            if self.fraction == "fixed"
            else pl.when(rest == 0).then(pl.lit("")).otherwise(text)
        )

    def _clock(self, parts: list[pl.Expr], tail: pl.Expr, below: pl.Expr) -> pl.Expr:
        days = len(self.labels)
        first, *others = parts[days:]
        clock = first.cast(pl.String).str.zfill(2 if self.padded else 1)
        for part in others:
            clock = clock + pl.lit(":") + part.cast(pl.String).str.zfill(2)
        clock = clock + tail
        if not days:
            return clock
        ((one, more),) = self.labels
        after = pl.when(parts[0].abs() == 1).then(pl.lit(one)).otherwise(pl.lit(more))
        before = parts[0].cast(pl.String) + after
        if self.negative == "plus":
            before = pl.when(below).then(before + pl.lit("+")).otherwise(before)
        if self.zeros != "kept":
            before = pl.when(parts[0] == 0).then(pl.lit("")).otherwise(before)
        return before + clock

    def _iso(self, parts: list[pl.Expr], tail: pl.Expr, rest: pl.Expr) -> pl.Expr:
        written = self._written(parts)
        if self.digits:
            written[-1] |= rest != 0
        pieces = []
        for place, (part, unit) in enumerate(zip(parts, self.units, strict=True)):
            last = place == len(parts) - 1
            piece = part.cast(pl.String) + (tail if last else pl.lit("")) + pl.lit(_ISO[unit])
            pieces.append(pl.when(written[place]).then(piece).otherwise(pl.lit("")))
        days = sum(unit in ("week", "day") for unit in self.units)
        text = pl.concat_str(pl.lit("P"), *pieces[:days])
        if days == len(pieces):
            return text
        some = pl.any_horizontal(written[days:])
        return text + pl.when(some).then(pl.concat_str(pl.lit("T"), *pieces[days:])).otherwise(
            pl.lit("")
        )

    def _in_words(self, parts: list[pl.Expr]) -> pl.Expr:
        written = self._written(parts)
        pieces = []
        for place, (part, (one, more)) in enumerate(zip(parts, self.labels, strict=True)):
            number = part.cast(pl.String)
            if self.padded and place:
                earlier = pl.any_horizontal(written[:place])
                number = pl.when(earlier).then(number.str.zfill(2)).otherwise(number)
            label = pl.when(part == 1).then(pl.lit(one)).otherwise(pl.lit(more))
            pieces.append(pl.when(written[place]).then(number + label))
        return pl.concat_str(pieces, separator=self.between, ignore_nulls=True)

    def _written(self, parts: list[pl.Expr]) -> list[pl.Expr]:
        """Return which parts are written; of nothing at all, the last is."""
        if self.zeros == "kept":
            return [pl.lit(True) for _ in parts]  # a value
        seen = [
            pl.any_horizontal(part != 0 for part in parts[: place + 1])
            for place in range(len(parts))
        ]
        written = seen if self.zeros == "inner" else [part != 0 for part in parts]
        return [*written[:-1], written[-1] | ~seen[-1]]
