"""Domains that are read from the records with noise, and paid for.

Levels of a category are published if so many records have them, after noise, that a level of one
person hardly could be among them. Numbers are counted first by their size, in powers of two, and
then evenly between the smallest and the largest size that was found: this gives range and cuts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data import FileStream, Schema
from understudy.data.coders import is_gap
from understudy.data.frames import Frame
from understudy.data.schema import NUMERIC, Column
from understudy.data.source import TableSource, source_of
from understudy.data.values import TICKS_PER_SECOND, holds_text, numbers, time_to_text, unit_of
from understudy.errors import DataError, ParameterError
from understudy.privacy.accountant import Accountant
from understudy.privacy.domain import needs_domain, open_columns
from understudy.privacy.noise import rounded_down

OTHER = "other"
"""The level of all texts that too few records have to be published."""

_CELLS = 256
"""Into so many cells of the same width a range is cut before its quantiles are found."""

_LEAST_SHARE_AT_ZERO = 0.05
"""Zero is a value of its own if it is so common, after noise."""

_WRONGLY = 0.01
"""The probability that a range reaches to where no record is, or a bit more."""

_SMALLEST_POWER, _LARGEST_POWER = -32, 63
_FIRST_YEAR, _LAST_YEAR = 1700, 2300


@dataclass(frozen=True)
class BoughtDomain:
    """A schema whose open columns were described with noise."""

    schema: Schema
    names: tuple[str, ...]
    grouped: tuple[str, ...]
    """The columns in which all other texts became one level."""


def buy_domain(
    data: Frame | FileStream, schema: Schema, accountant: Accountant, share: Fraction
) -> BoughtDomain:
    """Read the domain of all open columns from the records, for a share of the budget.

    Parameters
    ----------
    data : frame or FileStream
        The table.
    schema : Schema
        What is public of it; kinds and numbers of bins are taken from here.
    accountant : Accountant
        Pays.
    share : Fraction
        The share of the budget, spread evenly over questions.
    """
    names = [name for name in open_columns(schema) if needs_domain(schema[name])]
    questions = sum(_questions(schema[name]) for name in names)
    if not questions:
        return BoughtDomain(schema, tuple(names), ())
    cost = accountant.total * share / questions
    listed = [name for name in names if schema[name].kind == "categorical"]
    delta = accountant.delta_for_domain / max(len(listed), 1)
    found: dict[str, Column] = {}
    grouped = []
    source = source_of(data)
    for name in [name for name in source.layout.types if name in names]:
        array = source.table([name])[name].combine_chunks()
        column = _what_is_public(schema[name])
        if column.kind == "categorical":
            found[name] = _buy_levels(column, array, accountant, cost, delta)
            if OTHER in found[name].levels:
                grouped.append(name)
        elif column.kind in NUMERIC:
            found[name] = _buy_numbers(column, array, accountant, cost)
        else:
            found[name] = _buy_gaps(column, array, accountant, cost)
    columns = [found.get(column.name, column) for column in schema]
    return BoughtDomain(Schema(columns), tuple(names), tuple(grouped))


def _what_is_public(column: Column) -> Column:
    """Return a column without what may have been read from the records: that is bought anew."""
    if column.public:
        return column
    return Column(
        column.name,
        column.kind,
        role=column.role,
        bins=column.bins,
        public=True,
        outside=column.outside,
    )


def in_bought_levels(source: TableSource, domain: BoughtDomain) -> TableSource:
    """Return a table in which texts that were not published are one level."""
    kept = {name: frozenset(map(str, domain.schema[name].levels)) for name in domain.grouped}
    return source.with_joined(tuple((name, levels, OTHER) for name, levels in kept.items()))


def needs_delta(schema: Schema) -> bool:
    """Return whether levels are to be read from the records, which takes a part of delta."""
    return any(schema[name].kind == "categorical" for name in open_columns(schema))


def _questions(column: Column) -> int:
    return 2 if column.kind in NUMERIC else 1


def _buy_gaps(column: Column, array: pa.Array, accountant: Accountant, cost: Fraction) -> Column:
    gaps = _gaps(array)
    counts = np.array([len(array) - gaps, gaps], np.int64)
    noisy = accountant.counts(f"records with a value of {column.name!r}, and without", counts, cost)
    return replace(column, missing=_missing(noisy, accountant.scale_of(cost)))


def _gaps(array: pa.Array) -> int:
    return int(pc.sum(pc.is_null(array, nan_is_null=True)).as_py() or 0)


def _missing(noisy: NDArray[np.int64], scale: float) -> float:
    """Return the share of the last of noisy counts, if it stands out from noise, and else 0."""
    gaps, total = int(noisy[-1]), int(np.maximum(noisy, 0).sum())
    return gaps / total if gaps > 2 * scale else 0.0


def _buy_levels(
    column: Column, array: pa.Array, accountant: Accountant, cost: Fraction, delta: Fraction
) -> Column:
    """Publish the levels that many records have.

    Each of two neighbours has at most one level that the other has not, and one record alone has
    it: it passes the threshold with a probability of at most `delta`. If it does not, what is
    published comes from levels that both have, whose counts differ by one record in all.
    """
    if not delta:
        raise ParameterError(
            f"delta must be above 0: the levels of {column.name!r} are to be read from the "
            "records, and with a small probability one that a single record has is published. "
            "Declare the levels public, or give a delta."
        )
    table = array.value_counts()
    values = table.field("values").to_pylist()
    occurring = table.field("counts").to_numpy(zero_copy_only=False)
    # What is not a level comes last: missing, which may be published in any case.
    known = sorted(
        ((value, int(n)) for value, n in zip(values, occurring, strict=True) if not is_gap(value)),
        key=lambda pair: str(pair[0]),
    )
    counts = np.array([*(n for _, n in known), _gaps(array)], np.int64)
    what = f"levels of {column.name!r} that many records have"
    # How many levels there are is not public.
    noisy = accountant.counts(what, counts, cost, delta=delta, answers=0)
    scale = accountant.scale_of(cost)
    threshold = 1 + accountant.reach(cost, rounded_down(delta))
    passed = np.flatnonzero(noisy[:-1] >= threshold)
    kept = [known[place][0] for place in passed]
    # The type decides, not the values: whether there are others is not public.
    if holds_text(array.type) and OTHER not in kept:
        kept.append(OTHER)
    if not kept:
        raise DataError(
            f"No level of {column.name!r} is common enough to be published: {threshold:,} records "
            "are needed at this epsilon. Declare the levels public, or drop the column."
        )
    # The noisy counts of levels that did not pass must not tell anything.
    published = noisy[[*passed, -1]]
    return replace(column, levels=tuple(kept), missing=_missing(published, scale))


def _buy_numbers(column: Column, array: pa.Array, accountant: Accountant, cost: Fraction) -> Column:
    found = numbers(array, column.name)
    values = found.present
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    sizes = _Sizes.of(column, array.type)
    counts = np.append(sizes.count(finite), len(array) - len(values))
    what = f"records with each size of {column.name!r}, in powers of two"
    noisy = accountant.counts(what, counts, cost)
    scale = accountant.scale_of(cost)
    wrong = _WRONGLY / len(counts)
    sure = accountant.reach(cost, wrong)
    low, high = sizes.range_of(noisy[:-1], sure, column.name)
    missing = _missing(noisy, scale)
    if column.kind == "integer" and high - low < column.bins:
        levels = tuple(range(low, high + 1))
        return replace(column, levels=levels, special=(), missing=missing)
    special: tuple[Any, ...] = ()
    zero = sizes.zero
    if zero is not None and noisy[zero] > max(
        _LEAST_SHARE_AT_ZERO * max(noisy[:-1].sum(), 0), 2 * scale
    ):
        special = (0,)
    edges = _noisy_edges(column, finite, (low, high), special, accountant, cost)
    decimals = column.decimals
    if column.kind == "real" and decimals is None:
        width = (high - low) / _CELLS
        decimals = int(min(15, max(0, math.ceil(-math.log10(width)) + 1)))
    if column.kind == "datetime":
        kind = array.type
        edges = [time_to_text(int(edge), kind) for edge in edges]
        limits: tuple[Any, Any] = (edges[0], edges[-1])
        special = ()
    else:
        limits = (low, high)
    return replace(
        column,
        levels=(),
        special=special,
        binning="edges",
        edges=tuple(edges),
        range=limits,
        decimals=decimals,
        missing=missing,
    )


@dataclass(frozen=True, eq=False)
class _Sizes:
    """Cells of a public grid in which numbers of any size have their place."""

    cuts: NDArray[Any]
    zero: int | None

    @classmethod
    def of(cls, column: Column, kind: pa.DataType) -> _Sizes:
        if column.kind == "datetime":
            return cls(_years(kind), None)
        if column.kind == "integer":
            up = np.array([1 << power for power in range(63)], np.int64)
            cuts = np.concatenate([-up[::-1], [0], up])
        else:
            powers = np.arange(_SMALLEST_POWER, _LARGEST_POWER + 1)
            up = np.ldexp(1.0, powers)
            cuts = np.concatenate([-up[::-1], [0.0, np.nextafter(0, 1)], up])
        return cls(cuts, int(np.searchsorted(cuts, 0)))

    def count(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the records in each cell: from a cut to below the next."""
        places = np.searchsorted(self.cuts, values.astype(self.cuts.dtype), side="right") - 1
        places = np.clip(places, 0, len(self.cuts) - 2)
        return np.bincount(places, minlength=len(self.cuts) - 1).astype(np.int64)

    def range_of(self, noisy: NDArray[np.int64], sure: float, name: str) -> tuple[Any, Any]:
        """Return the ends of the cells with more records than noise alone gives."""
        held = np.flatnonzero(noisy > sure)
        if not len(held):
            raise DataError(
                f"The range of {name!r} cannot be found at this epsilon: no size is common "
                "enough. Declare a range public, or drop the column."
            )
        low, high = self.cuts[held[0]].item(), self.cuts[held[-1] + 1].item()
        return low, (high - 1 if isinstance(high, int) and high - 1 > low else high)


def _years(kind: pa.DataType) -> NDArray[np.int64]:
    """Return where years begin, in the ticks of a column; hours for times of the day."""
    unit = unit_of(kind)
    if pa.types.is_time(kind):
        return np.arange(25, dtype=np.int64) * 3600 * TICKS_PER_SECOND[unit]
    first, last = _FIRST_YEAR, _LAST_YEAR
    starts = np.arange(str(first), str(last), dtype="datetime64[Y]")
    if unit == "ns":  # which reaches from 1677 to 2262 alone
        starts = starts[: 2262 - first]
    return starts.astype(f"datetime64[{unit}]").astype(np.int64)


def _noisy_edges(
    column: Column,
    values: NDArray[Any],
    ends: tuple[Any, Any],
    special: Sequence[Any],
    accountant: Accountant,
    cost: Fraction,
) -> list[Any]:
    """Return cut points with about the same number of records between each two."""
    low, high = ends
    whole = isinstance(low, int)
    if whole and high - low < _CELLS:
        cells = np.arange(low, high + 2)
    elif whole:
        cells = np.unique([low + (high - low) * k // _CELLS for k in range(_CELLS)] + [high + 1])
    else:
        cells = np.linspace(low, high, _CELLS + 1)
    ordinary = values[~np.isin(values, special)] if len(special) else values
    inside = np.clip(ordinary, cells[0], cells[-2] if whole else cells[-1])
    places = np.clip(np.searchsorted(cells, inside, side="right") - 1, 0, len(cells) - 2)
    counts = np.bincount(places, minlength=len(cells) - 1).astype(np.int64)
    what = f"records in each part of the range of {column.name!r}"
    noisy = np.maximum(accountant.counts(what, counts, cost), 0)
    total = int(noisy.sum())
    bins = min(column.bins, len(noisy))
    if total:
        wanted = np.arange(1, bins) * total / bins
        inner = cells[np.searchsorted(np.cumsum(noisy), wanted) + 1]
    else:
        inner = cells[np.arange(1, bins) * len(noisy) // bins]
    last = high
    found = sorted({low, *(edge for edge in inner.tolist() if low < edge < last), last})
    return found if len(found) > 1 else [low, last + 1]
