"""What is done to one column so that a dependency holds: before it is coded, and after it is drawn.

Before, `reduced` turns the column into what a model draws, or into nothing if the others tell it.
After, `restored` turns what was drawn into the column again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.bins import Decoding
from understudy.data.coders import Coder
from understudy.data.dependencies.composites import as_code, as_count
from understudy.data.dependencies.families import Code
from understudy.data.dependencies.mappings import plain_array
from understudy.data.dependencies.told import Arrays, Mask, Told, gaps_of, nearest_of
from understudy.data.schema import Column
from understudy.data.values import Numbers, from_numpy, numbers, numbers_to_arrow, to_numpy

AS_TOLD = "as the others tell"


class Reduced(NamedTuple):
    """What is coded in place of a column (None: nothing), and which records could be drawn."""

    array: pa.Array | None
    possible: Mask


class Drawing(NamedTuple):
    """How values are drawn when codes become values again."""

    how: Decoding
    rng: np.random.Generator


@dataclass(frozen=True, eq=False)
class Derive:
    """A column that others tell, and that is not coded at all.

    `otherwise` has one value, for records of which the others tell nothing though the column has no
    gaps: a model may draw what the original has nowhere.
    """

    told: Told
    otherwise: pa.Array | None = None

    @property
    def column(self) -> str:
        """The column."""
        return self.told.column

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that it is made from."""
        return self.told.sources

    def reduced(self, columns: Arrays) -> Reduced:
        """Return nothing to code, and where the column is what the others tell."""
        return Reduced(None, self.told.agrees(columns[self.column], columns)[0])

    def restored(self, drawn: pa.Array | None, columns: Arrays, drawing: Drawing) -> pa.Array:  # noqa: ARG002
        """Return what the others tell."""
        told = self.told.tell(columns).values
        if self.otherwise is None or not told.null_count:
            return told
        return pc.fill_null(told, self.otherwise[0].cast(told.type))


@dataclass(frozen=True, eq=False)
class Overrule:
    """A column that a model draws for the sake of the others, and that is then set right.

    `exceptions` is the share of records that keep what was drawn; with `gaps`, those that were
    drawn as missing keep this too.
    """

    told: Told
    exceptions: float
    gaps: bool = False

    @property
    def column(self) -> str:
        """The column."""
        return self.told.column

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that it is made from."""
        return self.told.sources

    def reduced(self, columns: Arrays) -> Reduced:
        """Return the column as it is, and where it does not contradict the others."""
        own = columns[self.column]
        agree, known = self.told.agrees(own, columns)
        return Reduced(own, agree | ~known | np.where(gaps_of(own), self.gaps, self.exceptions > 0))

    def restored(self, drawn: pa.Array | None, columns: Arrays, drawing: Drawing) -> pa.Array:
        """Return what the others tell, and what was drawn where they tell nothing."""
        told, known = self.told.tell(columns)
        assert drawn is not None  # noqa: S101  # for the type checker
        if self.exceptions:
            known = known & (drawing.rng.random(len(known)) >= self.exceptions)
        if self.gaps:
            known = known & ~gaps_of(drawn)
        return _chosen(known, told, plain_array(drawn).cast(told.type))


@dataclass(frozen=True, eq=False)
class Residue:
    """A column that others tell for most records: a model draws for which ones, and what else.

    Codes are 0 for what the others tell, and then those of `coder`, with missing as the last.

    Parameters
    ----------
    told : ByTable or ByFormula
        What the others tell.
    coder : Coder
        Codes the values of the records for which that is not so.
    described : Column
        The description of these values.
    exceptions : float
        Share of the records of which the others tell a value that have another.
    gaps : float
        Share of these records that have none.
    blank : float
        Share of the records of which the others tell nothing that have no value either.
    special : mapping of str to tuple
        Numbers of the sources that mean something else: then the others need not tell anything.
    """

    told: Told
    coder: Coder
    described: Column
    exceptions: float
    gaps: float
    blank: float
    special: Mapping[str, tuple[Any, ...]]

    @property
    def column(self) -> str:
        """The column."""
        return self.told.column

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that it is made from."""
        return self.told.sources

    @property
    def labels(self) -> list[str]:
        """What each code stands for, in words."""
        return [AS_TOLD, *self.coder.labels(), "missing"]

    def reduced(self, columns: Arrays) -> Reduced:
        """Return 0 where the others tell the value, and a number for what it is elsewhere.

        Exceptions that were too few for any to be known are coded as told, and so come back.
        """
        own = columns[self.column]
        agree, known = self.told.agrees(own, columns)
        codes, missing = self.coder.assign(own)
        unknown = ~missing & (codes < 0) & (self.coder.known > 0)
        codes = np.where(missing, self.coder.known, codes) + 1
        ordinary = known & ~self.is_special(columns)
        unknown |= ordinary & (missing if not self.gaps else ~missing & (self.exceptions == 0))
        if self.blank < 1:
            agree = agree & (known | ~missing)
        return Reduced(pa.array(np.where(agree, 0, codes)), agree | ~unknown)

    def restored(self, drawn: pa.Array | None, columns: Arrays, drawing: Drawing) -> pa.Array:
        """Return what the others tell where the draw says so, and what was drawn elsewhere."""
        told, known = self.told.tell(columns)
        assert drawn is not None  # noqa: S101  # for the type checker
        codes = to_numpy(plain_array(drawn).cast(pa.int64())).astype(np.int64)
        missing, rng = self.coder.known + 1, drawing.rng
        if self.blank < 1:
            empty = ~known & (codes == 0)
            blank = empty & (rng.random(len(codes)) < self.blank)
            other = (codes > 0) & (codes < missing)
            codes = borrowed(np.where(blank, missing, codes), empty & ~blank, other, rng)
            left = empty & (codes == 0)  # nobody had a value to lend
            if self.coder.known:
                codes[left] = rng.integers(1, missing, int(np.count_nonzero(left)))
        ordinary = known & ~self.is_special(columns)
        other, gap = (codes > 0) & (codes < missing), codes == missing
        left_out = _too_many(ordinary & other, ordinary, self.exceptions, rng)
        left_out |= _too_many(ordinary & gap, ordinary, self.gaps, rng)
        codes = np.where(left_out, 0, codes)
        own = plain_array(self.coder.build(np.maximum(codes - 1, 0), *drawing))
        return _chosen(codes == 0, told, own.cast(told.type))

    def is_special(self, columns: Arrays) -> Mask:
        """Return where a source has a number that means something else."""
        found = np.zeros(len(columns[self.sources[0]]), bool)
        for name, values in self.special.items():
            number = numbers(columns[name], name)
            found |= np.isin(number.values, np.array(values)) & ~number.missing
        return found


def counted_as(array: pa.Array, code: Code | None, name: str) -> Numbers:
    """Return the numbers of a column; if they are codes, the minutes, days or months of these."""
    return numbers(array, name) if code is None else as_count(array, code, name)


@dataclass(frozen=True, eq=False)
class Difference:
    """A column that is never below others, drawn by its distance from the highest of them.

    Parameters
    ----------
    column : str
        The upper column.
    lows : tuple of str
        The lower ones.
    anchor : int or float
        What stands for the lower ones where all of them are missing: nothing lies below it.
    top : int or float
        The largest number that is given back, unless a lower column is above it.
    kind : pyarrow.DataType
        The column's type.
    decimals : int or None
        Decimals of the column.
    code : str or None
        How all these columns write dates or times as whole numbers: then the distance, the anchor
        and the top are minutes, days or months.
    """

    column: str
    lows: tuple[str, ...]
    anchor: int | float
    top: int | float
    kind: pa.DataType
    decimals: int | None
    code: Code | None = None

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that it is made from."""
        return self.lows

    @property
    def _whole(self) -> bool:
        return isinstance(self.anchor, int)

    def _base(self, columns: Arrays) -> NDArray[Any]:
        kind = np.int64 if self._whole else np.float64
        least = np.iinfo(np.int64).min if self._whole else -np.inf
        base = np.full(len(columns[self.lows[0]]), least, kind)
        for name in self.lows:
            low = counted_as(columns[name], self.code, name)
            # What is no date, whatever the column says, lies below all.
            below = low.missing | (low.values < 0) if self.code is not None else low.missing
            base = np.where(below, base, np.maximum(base, low.values.astype(kind)))
        return np.where(base == least, kind(self.anchor), base)

    def reduced(self, columns: Arrays) -> Reduced:
        """Return the distance from the highest of the lower columns."""
        own, base = counted_as(columns[self.column], self.code, self.column), self._base(columns)
        gap = own.values.astype(base.dtype) - base
        if not self._whole:
            gap = np.round(gap, 12 if self.decimals is None else max(self.decimals, 0) + 6)
        return Reduced(from_numpy(gap, own.missing), own.missing | (gap >= 0))

    def restored(self, drawn: pa.Array | None, columns: Arrays, drawing: Drawing) -> pa.Array:  # noqa: ARG002
        """Return the lower columns and the distance together."""
        assert drawn is not None  # noqa: S101  # for the type checker
        gap, base = numbers(drawn, self.column), self._base(columns)
        value = base + np.maximum(gap.values.astype(base.dtype), 0)
        value = np.maximum(np.minimum(value, base.dtype.type(self.top)), base)
        if not self._whole and self.decimals is not None:
            rounded = np.round(value, self.decimals)
            # Rounding down must not lead below the lower column.
            value = np.where(
                rounded < base, np.round(rounded + 10.0**-self.decimals, self.decimals), rounded
            )
        elif not self._whole:
            value = np.maximum(value, base)
        if self.code is not None:
            value = as_code(value, self.code)
        value = np.where(gap.missing, value.dtype.type(0), value)
        return numbers_to_arrow(Numbers(value, gap.missing), self.kind)

    def to_plain(self) -> dict[str, Any]:
        """Return it in values that JSON can hold; the type is that of the column."""
        return {
            "column": self.column,
            "lows": list(self.lows),
            "anchor": self.anchor,
            "top": self.top,
            "decimals": self.decimals,
            "code": self.code,
        }


@dataclass(frozen=True, eq=False)
class Count:
    """A date or time that is written as one number, drawn by its minutes, days or months."""

    column: str
    code: Code
    kind: pa.DataType

    @property
    def sources(self) -> tuple[str, ...]:
        """No other column has a part in it."""
        return ()

    def reduced(self, columns: Arrays) -> Reduced:
        """Return minutes, days or months."""
        found = as_count(columns[self.column], self.code, self.column)
        return Reduced(from_numpy(found.values, found.missing), found.missing | (found.values >= 0))

    def restored(self, drawn: pa.Array | None, columns: Arrays, drawing: Drawing) -> pa.Array:  # noqa: ARG002
        """Return the codes of minutes, days or months."""
        assert drawn is not None  # noqa: S101  # for the type checker
        found = numbers(drawn, self.column)
        return numbers_to_arrow(Numbers(as_code(found.values, self.code), found.missing), self.kind)


Step: TypeAlias = Derive | Overrule | Residue | Difference | Count
"""What is done to the values of one column."""


@dataclass(frozen=True, eq=False)
class Snap:
    """A number that others follow from takes only values that there are entries for."""

    column: str
    values: pa.Array

    def snapped(self, array: pa.Array) -> pa.Array:
        """Return the nearest of these values for each."""
        return nearest_of(array, self.values, self.column)


@dataclass(frozen=True, eq=False)
class Blank:
    """A column that is missing where another one is missing, or has a certain level.

    With `exactly`, it is missing nowhere else: what was drawn as missing there is drawn again, from
    the other records.
    """

    column: str
    other: str
    level: str | int | float | bool | None
    exactly: bool

    def blank_rows(self, columns: Arrays) -> Mask:
        """Return which records must have no value."""
        other = plain_array(columns[self.other])
        if self.level is None:
            return gaps_of(other)
        try:
            level = pa.scalar(self.level).cast(other.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return np.zeros(len(other), bool)
        return to_numpy(pc.fill_null(pc.equal(other, level), False)).astype(bool)

    def kept(self, columns: Arrays) -> Mask:
        """Return which records obey."""
        wanted = self.blank_rows(columns)
        gaps = gaps_of(columns[self.column])
        return gaps == wanted if self.exactly else gaps | ~wanted

    def blanked(self, drawn: pa.Array, columns: Arrays, rng: np.random.Generator) -> pa.Array:
        """Return what was drawn for the column, missing where it must be."""
        wanted = self.blank_rows(columns)
        gaps = gaps_of(drawn)
        rows = np.arange(len(drawn))
        if self.exactly:
            rows = borrowed(rows, gaps & ~wanted, ~gaps, rng)
        return drawn.take(pa.array(rows, mask=wanted))


def borrowed(
    values: NDArray[np.int64], wanted: Mask, good: Mask, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return values with those of other records, that are good, where something else is wanted."""
    count, donors = int(np.count_nonzero(wanted)), np.flatnonzero(good)
    if not count or not len(donors):
        return values
    values = values.copy()
    values[wanted] = values[donors[rng.integers(0, len(donors), count)]]
    return values


def _too_many(drawn: Mask, among: Mask, share: float, rng: np.random.Generator) -> Mask:
    """Return which records to leave out so that a share of some others is not exceeded by far.

    A model that draws a column by itself draws exceptions where there are none.
    """
    if not share:
        return drawn.copy()
    count, wanted = int(np.count_nonzero(drawn)), share * int(np.count_nonzero(among))
    if count <= wanted + 2 * wanted**0.5 + 1:
        return np.zeros(len(drawn), bool)
    return drawn & (rng.random(len(drawn)) >= wanted / count)


def _chosen(first: Mask, one: pa.Array, other: pa.Array) -> pa.Array:
    """Return the values of one column where a mask says so, and of another elsewhere."""
    return pc.if_else(pa.array(first), one, other)
