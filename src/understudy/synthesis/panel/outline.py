"""What is drawn once for a unit, what goes on by steps, and what is drawn anew in each record."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data.codec import Codec
from understudy.data.coded import Codes
from understudy.data.coders import BinCoder, Coder, LevelCoder, NumberLevelCoder
from understudy.data.panel_records import Records, Values, find_time
from understudy.data.schema import NUMERIC, Column, Schema
from understudy.data.units import unit_codes
from understudy.synthesis.panel.scales import Plain, Scale, scale_from_plain, scale_of

FEWEST_STEPS = 20
"""With fewer steps, a column may rise in all of them by chance; but for the one that tells time."""


@dataclass(frozen=True)
class Counter:
    """A column that never falls, or never rises, from record to record: it is drawn by steps.

    Parameters
    ----------
    name : str
        The column.
    scale : Scale
        How its values are added.
    ranked : bool
        Whether its values are categories, which are counted by their places.
    step : int, float or None
        The step, if it is always the same.
    decimals : int or None
        Decimals of real numbers.
    """

    name: str
    scale: Scale
    ranked: bool = False
    step: int | float | None = None
    decimals: int | None = None

    def read(self, values: Values, codes: NDArray[Any]) -> NDArray[Any]:
        """Return a column's values as numbers that can be added."""
        return codes.astype(np.int64) if self.ranked else self.scale.read(values.numbers)

    def rounded(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return numbers with the column's decimals: sums and differences have an error."""
        if numbers.dtype.kind != "f" or self.decimals is None:
            return numbers
        return np.asarray(np.round(numbers, self.decimals))

    def limits(self, codec: Codec) -> tuple[Any, Any]:
        """Return the lowest and the highest number that the column's coding knows."""
        coder = codec.coders[self.name]
        if isinstance(coder, LevelCoder):
            return 0, coder.known - 1
        if isinstance(coder, BinCoder):
            known = np.concatenate([coder.bins.edges[[0, -1]], coder.special])
            low, high = self.scale.read(np.array([known.min(), known.max()]))
        else:
            finite = coder.numbers[np.isfinite(coder.numbers)]
            low, high = self.scale.read(np.array([finite.min(), finite.max()]))
        return low, high

    def within(self, codec: Codec, starts: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[Any]:
        """Return where to begin so that so many equal steps end within the column's limits.

        What would lead beyond them begins earlier, but never before all others.
        """
        low, high = self.limits(codec)
        way = (counts - 1) * (self.step or 0)
        if (self.step or 0) < 0:
            found = np.maximum(starts, np.minimum(low - way, starts.max()))
        else:
            found = np.minimum(starts, np.maximum(high - way, starts.min()))
        return self.rounded(found.astype(starts.dtype))

    def codes(self, codec: Codec, numbers: NDArray[Any]) -> Codes:
        """Return the codes nearest to some numbers, in the coding of the whole table."""
        return self._codes(codec.coders[self.name], numbers).astype(np.uint32)

    def _codes(self, coder: Coder, numbers: NDArray[Any]) -> NDArray[Any]:
        if self.ranked:
            return np.asarray(np.clip(numbers, 0, coder.known - 1))
        stored = self.scale.write(numbers)
        if isinstance(coder, BinCoder):
            edges = coder.bins.edges
            found = coder.bins.assign(np.clip(stored, edges[0], edges[-1]))
            return np.asarray(found + len(coder.special))
        assert isinstance(coder, NumberLevelCoder)  # noqa: S101  # a counter holds numbers
        order = np.argsort(coder.numbers, kind="stable")
        known = coder.numbers[order]
        middles = known[:-1] + (known[1:] - known[:-1]) / 2
        return np.asarray(order[np.searchsorted(middles, stored)])

    def to_plain(self) -> dict[str, Any]:
        """Return the counter in values that JSON can hold."""
        scale = self.scale.to_plain()
        return {"name": self.name, "ranked": self.ranked, "step": self.step, "scale": scale}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], schema: Schema) -> Counter:
        """Return the counter that `to_plain` took apart."""
        column = schema[plain["name"]]
        step = plain["step"]
        if step is not None and (isinstance(step, bool) or not np.isfinite(step)):
            raise ValueError("a step that is no number")
        scale = scale_from_plain(plain["scale"])
        return cls(column.name, scale, bool(plain["ranked"]), step, column.decimals)


@dataclass(frozen=True)
class Outline:
    """How the columns of a panel are drawn.

    Parameters
    ----------
    units : tuple of str
        The columns that name the unit.
    time : str or None
        The column that orders a unit's records; None if they stand as in the file.
    constant : tuple of str
        Columns with one value in each unit.
    counters : tuple of Counter
        Columns that go on by steps, time among them.
    varying : tuple of str
        All others.
    named : tuple of str
        Identifiers that are the same in all records of a unit, the columns of the unit among them.
    """

    units: tuple[str, ...]
    time: str | None
    constant: tuple[str, ...]
    counters: tuple[Counter, ...]
    varying: tuple[str, ...]
    named: tuple[str, ...]

    @property
    def clock(self) -> Counter | None:
        """The counter that tells time."""
        return next((one for one in self.counters if one.name == self.time), None)

    @property
    def moving(self) -> tuple[Counter, ...]:
        """The counters whose steps differ, and are drawn."""
        return tuple(one for one in self.counters if one.step is None)

    @property
    def numbered(self) -> bool:
        """Whether the number of a record tells what time does not."""
        return self.time is None

    def to_plain(self) -> dict[str, Any]:
        """Return the outline in values that JSON can hold."""
        return {
            "time": self.time,
            "constant": list(self.constant),
            "counters": [one.to_plain() for one in self.counters],
            "named": list(self.named),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], codec: Codec) -> Outline:
        """Return the outline that `to_plain` took apart; ValueError if it is of other columns."""
        schema = codec.schema
        constant = tuple(plain["constant"])
        counters = tuple(Counter.from_plain(one, schema) for one in plain["counters"])
        known = [*constant, *(one.name for one in counters)]
        named = tuple(plain["named"])
        time = plain["time"]
        fits = (
            len(set(known)) == len(known)
            and set(known) <= set(codec.names)
            and set(schema.units) <= set(named) <= set(schema.identifiers)
            and (time is None or time in codec.names)
        )
        if not fits or not schema.units:
            raise ValueError("a panel of other columns")
        varying = tuple(name for name in codec.names if name not in known)
        return cls(schema.units, time, constant, counters, varying, named)


def order_records(
    codec: Codec, columns: Mapping[str, pa.Array], time: str | None, codes: NDArray[Any] | None
) -> Records:
    """Return the records of each unit in the order of time; without a time last of all."""
    units = unit_codes([columns[name] for name in codec.schema.units])
    if time is None:
        return Records.of(units)
    if codec.schema[time].kind not in NUMERIC:
        assert codes is not None  # noqa: S101  # of every column that is no number
        return Records.of(units, codes.astype(np.int64))
    values = Values.of(columns[time], time, numeric=True)
    when = values.numbers.astype(np.float64) if values.missing.any() else values.numbers
    return Records.of(
        units, np.where(values.missing, np.inf, when) if values.missing.any() else when
    )


def time_of(codec: Codec, columns: Mapping[str, pa.Array]) -> str | None:
    """Return the column that orders records: the one with this role, or one that looks like it."""
    schema = codec.schema
    if schema.time is not None:
        return schema.time
    found = find_time(schema, columns, unit_codes([columns[name] for name in schema.units]))
    if found is not None:
        logging.getLogger("understudy").warning(
            "The records of a unit are put in the order of %r, which no two of them share. If "
            "another column tells the order, name that one as `time`.",
            found,
        )
    return found


def outline_of(
    codec: Codec,
    columns: Mapping[str, pa.Array],
    codes: Mapping[str, NDArray[Any]],
    records: Records,
    time: str | None,
    *,
    set_by_rules: Collection[str] = (),
    hidden: Collection[str] = (),
) -> Outline:
    """Find out how the columns of a panel are drawn.

    `codes` are those of the table. Columns that are `set_by_rules` are drawn in each record, and
    `hidden` ones, which nothing depends on, not by steps.
    """
    constant, counters, varying = [], [], []
    now, before = records.order[records.later], records.order[records.later - 1]
    for name in codec.names:
        column = codec.schema[name]
        values = Values.of(columns[name], name, numeric=column.kind in NUMERIC)
        if name in set_by_rules:
            varying.append(name)
            continue
        if values.same(now, before).all():
            constant.append(name)
            continue
        found = None
        if name not in hidden:
            found = _counter(column, columns[name].type, values, codes[name], (now, before), time)
        if found is None:
            varying.append(name)
        else:
            counters.append(found)
    named = tuple(
        name
        for name in codec.schema.identifiers
        if name in codec.schema.units
        or (len(now) and Values.of(columns[name], name, numeric=False).same(now, before).all())
    )
    clock = time if time in {*constant, *(one.name for one in counters)} else None
    if time is not None and clock is None:
        logging.getLogger("understudy").warning(
            "%r orders the records of a unit, but has missing values. So its steps are not kept.",
            time,
        )
    units = codec.schema.units
    return Outline(units, time, tuple(constant), tuple(counters), tuple(varying), named)


def _counter(
    column: Column,
    kind: pa.DataType,
    values: Values,
    codes: NDArray[Any],
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    time: str | None,
) -> Counter | None:
    """Return how a column goes on by steps; None if it does not."""
    is_time = column.name == time
    ranked = column.kind not in NUMERIC
    now, before = pairs
    if values.missing.any() or (ranked and not is_time):
        return None
    if not ranked and not np.isfinite(values.numbers).all():
        return None
    if not is_time and len(now) < FEWEST_STEPS:
        return None
    scale = Plain() if ranked else scale_of(values.numbers, kind)
    found = Counter(column.name, scale, ranked, None, column.decimals)
    numbers = found.read(values, codes)
    steps = found.rounded(numbers[now] - numbers[before])
    if steps.min() < 0 < steps.max():
        return None
    step = steps[0].item() if (steps == steps[0]).all() else None
    return Counter(column.name, scale, ranked, step, column.decimals)
