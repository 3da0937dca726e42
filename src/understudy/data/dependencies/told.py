"""What a column must be, given the columns that it follows from or is computed from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.dependencies.families import Formula
from understudy.data.dependencies.formulas import (
    agreeing,
    as_floats,
    computed,
    half_a_unit,
    written,
)
from understudy.data.dependencies.mappings import Entries, plain_array
from understudy.data.frames import arrow_type, describe_arrow
from understudy.data.values import numbers, to_numpy

Arrays: TypeAlias = Mapping[str, pa.Array]
Mask: TypeAlias = NDArray[np.bool_]


class Answer(NamedTuple):
    """The values that follow from others, and for which records there is such a value."""

    values: pa.Array
    known: Mask


@dataclass(frozen=True, eq=False)
class ByTable:
    """A column that follows from one or two others by a table of entries."""

    column: str
    by: tuple[str, ...]
    entries: Entries

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that it follows from."""
        return self.by

    @cached_property
    def _keys(self) -> tuple[list[pa.Array], NDArray[np.int64], NDArray[np.int64]]:
        """The different values of each source, sorted keys of the entries, and their places."""
        known = [one.unique() for one in self.entries.by]
        places = [_place(one, values) for one, values in zip(self.entries.by, known, strict=True)]
        keys = places[0] if len(places) == 1 else places[0] * len(known[1]) + places[1]
        order = np.argsort(keys, kind="stable")
        return known, keys[order], order

    @cached_property
    def _second(self) -> tuple[int, NDArray[np.int64]]:
        """The source that tells more by itself, and an entry for each of its values."""
        known, _, _ = self._keys
        telling = int(np.argmax([len(values) for values in known]))
        places = _place(self.entries.by[telling], known[telling])
        first = np.full(len(known[telling]), -1, np.int64)
        first[places[::-1]] = np.arange(len(places))[::-1]
        return telling, first

    def tell(self, columns: Arrays, *, strict: bool = False) -> Answer:
        """Return what follows for each record.

        For two columns in a combination that the table does not have, it is what goes with the one
        that tells more; with `strict`, nothing.
        """
        known, keys, order = self._keys
        places = [
            _place(plain_array(columns[name]), values)
            for name, values in zip(self.by, known, strict=True)
        ]
        here = np.min(places, axis=0) >= 0
        key = places[0] if len(places) == 1 else places[0] * len(known[1]) + places[1]
        at = np.minimum(np.searchsorted(keys, key), max(len(keys) - 1, 0))
        found = here & (keys[at] == key) if len(keys) else np.zeros(len(key), bool)
        entry = np.where(found, order[at] if len(order) else 0, -1)
        if len(places) == 2 and not strict:
            telling, first = self._second
            other = here & ~found
            entry[other] = first[places[telling][other]]
        indices = pa.array(np.maximum(entry, 0), mask=entry < 0)
        return Answer(self.entries.told.take(indices), entry >= 0)

    def agrees(self, array: pa.Array, columns: Arrays) -> tuple[Mask, Mask]:
        """Return where a column is what follows, and where anything follows."""
        told, known = self.tell(columns, strict=True)
        own = plain_array(array)
        same = to_numpy(pc.fill_null(pc.equal(own.cast(told.type), told), False)).astype(bool)
        return known & (same | (gaps_of(own) & gaps_of(told))), known

    def to_plain(self) -> dict[str, Any]:
        """Return it in values that JSON can hold."""
        return {
            "column": self.column,
            "by": list(self.by),
            "of": [array_to_plain(one) for one in self.entries.by],
            "told": array_to_plain(self.entries.told),
            "few": self.entries.few,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> ByTable:
        """Return what `to_plain` took apart."""
        of = tuple(array_from_plain(one) for one in plain["of"])
        told = array_from_plain(plain["told"])
        if not of or any(len(one) != len(told) for one in of) or len(of) != len(plain["by"]):
            raise ValueError(f"a table for {plain['column']!r} with columns of unequal lengths")
        return cls(
            str(plain["column"]), tuple(plain["by"]), Entries(of, told, int(plain.get("few", 0)))
        )


@dataclass(frozen=True, eq=False)
class ByFormula:
    """A column that is computed from others.

    If it has two values, such as 0 and 1, it gets no third one: of two that exclude each other, a
    model may draw both, and white = 1 - black - hispanic would be -1.
    """

    formula: Formula
    kind: pa.DataType
    decimals: int | None
    two: tuple[float, ...] = ()

    @property
    def column(self) -> str:
        """The column that is computed."""
        return self.formula.column

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that it is computed from."""
        return self.formula.of

    def _computed(self, columns: Arrays) -> NDArray[np.float64]:
        return computed(self.formula, [columns[name] for name in self.formula.of])

    def tell(self, columns: Arrays, *, strict: bool = False) -> Answer:  # noqa: ARG002  # of a table
        """Return what each record's value is."""
        told = self._computed(columns)
        if self.two:
            low, high = self.two
            nearest = np.where(told - low < high - told, low, high)
            told = np.where(np.isnan(told), told, nearest)
        return Answer(written(told, self.kind, self.decimals), ~np.isnan(told))

    def agrees(self, array: pa.Array, columns: Arrays) -> tuple[Mask, Mask]:
        """Return where a column is what the formula gives, and where that gives anything."""
        told, own = self._computed(columns), as_floats(array, self.column)
        tolerance = half_a_unit(self.kind, self.decimals, own)
        return agreeing(told, own, tolerance), ~np.isnan(told)

    def to_plain(self) -> dict[str, Any]:
        """Return it in values that JSON can hold."""
        return {
            "formula": self.formula.to_plain(),
            "type": describe_arrow(self.kind),
            "decimals": self.decimals,
            "two": list(self.two),
        }


Told: TypeAlias = ByTable | ByFormula
"""How the values of a column are told by others."""


def _place(array: pa.Array, known: pa.Array) -> NDArray[np.int64]:
    """Return the place of each value among those that are known, -1 for others and for none."""
    if array.type != known.type:
        array = array.cast(known.type, safe=False)
    found = pc.index_in(array, value_set=known, skip_nulls=True)
    return to_numpy(found.cast(pa.int64()), missing=-1)


def gaps_of(array: pa.Array) -> Mask:
    """Return where a column of any kind has no value."""
    return np.asarray(to_numpy(pc.is_null(array, nan_is_null=True)), bool)


def nearest_of(array: pa.Array, known: pa.Array, name: str) -> pa.Array:
    """Return numbers or times with the nearest of those that are known in place of each.

    Examples
    --------
    >>> nearest_of(pa.array([11, None, 18]), pa.array([10, 20]), "code").to_pylist()
    [10, None, 20]
    """
    values = np.sort(numbers(known, name).values)
    found = numbers(array, name)
    if not len(values):
        return array
    upper = np.clip(np.searchsorted(values, found.values), 0, len(values) - 1)
    lower = np.maximum(upper - 1, 0)
    nearer = found.values - values[lower] < values[upper] - found.values
    chosen = np.argsort(numbers(known, name).values, kind="stable")[np.where(nearer, lower, upper)]
    return known.take(pa.array(chosen, mask=found.missing))


def array_to_plain(array: pa.Array) -> dict[str, Any]:
    """Return a column of values as JSON can hold it."""
    values = array
    if pa.types.is_temporal(array.type):
        found = numbers(array, "")
        listed: list[Any] = [
            None if gap else int(value)
            for value, gap in zip(found.values, found.missing, strict=True)
        ]
    else:
        if pa.types.is_decimal(array.type):
            values = array.cast(pa.string())
        listed = [
            str(one) if isinstance(one, float) and not np.isfinite(one) else one
            for one in values.to_pylist()
        ]
    return {"type": describe_arrow(array.type), "values": listed}


def array_from_plain(plain: Mapping[str, Any]) -> pa.Array:
    """Return the column that `array_to_plain` took apart."""
    kind, values = arrow_type(plain["type"]), plain["values"]
    if pa.types.is_temporal(kind):
        ticks = pa.array(values, pa.int64())
        narrow = pa.types.is_date32(kind) or pa.types.is_time32(kind)
        return (ticks.cast(pa.int32()) if narrow else ticks).cast(kind)
    if pa.types.is_decimal(kind):
        return pa.array(values, pa.string()).cast(kind)
    if pa.types.is_floating(kind):
        values = [float(one) if isinstance(one, str) else one for one in values]
    return pa.array(values, kind)
