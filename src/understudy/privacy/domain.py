"""The public domain: a coding that is made without a look at the records.

What a column can hold (levels, ranges, cut points) tells something of the records if it is read
from them: the largest income is somebody's. So a private model takes it from a schema that calls
it public. The codec is made of a table without rows, and so can know nothing else.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.data import Codec, Coded, Schema
from understudy.data.bins import WholeGrid, build_bins
from understudy.data.coders import BinCoder, Coder, FoldedCoder, NumberLevelCoder
from understudy.data.frames import Frame, Layout, to_arrow
from understudy.data.inspection import check_kinds
from understudy.data.made_up_identifiers import Pattern
from understudy.data.schema import NUMERIC, Column, Kind
from understudy.data.source import TableSource, source_of
from understudy.data.values import TICKS_PER_SECOND, Form, form_of, unit_of
from understudy.errors import PublicDomainError
from understudy.privacy.accountant import Accountant
from understudy.wording import quoted

_SHARE_FOR_OUTSIDE = Fraction(1, 100)
"""What it may cost of the budget to know how many records lie outside the domain."""

_WRONGLY = 1e-5
"""The chance that a message speaks of records outside the domain if there are none."""

_SECONDS_OF_A_DAY = 86_400


def open_columns(schema: Schema) -> tuple[str, ...]:
    """Return the columns whose domain would have to be read from the records."""
    return tuple(column.name for column in schema if not column.public or _leaves_open(column))


def _leaves_open(column: Column) -> bool:
    if column.kind == "categorical":
        return not column.levels
    return column.binned and column.binning != "edges" and column.range is None


def needs_domain(column: Column) -> bool:
    """Return whether a column has a domain: identifiers are made up without one."""
    return column.kind != "identifier"


def check_public(schema: Schema) -> None:
    """Raise, naming the columns, unless a schema says of all columns what is public."""
    unknown = [name for name in open_columns(schema) if needs_domain(schema[name])]
    if not unknown:
        return
    undeclared = [name for name in unknown if not schema[name].public]
    lacking = [name for name in unknown if schema[name].public]
    problems = []
    if undeclared:
        problems.append(f"not declared public: {quoted(undeclared)}.")
    problems += [
        f"{name!r} is public, but has "
        f"{'no levels' if schema[name].kind == 'categorical' else 'neither a range nor edges'}."
        for name in lacking
    ]
    raise PublicDomainError(
        "With `epsilon`, levels, ranges and cut points must be public knowledge, not read from "
        "the records. Write them into a schema, and declare it public: public = true in its file, "
        f"{PublicDomainError.in_python}. Or pay for reading them from the records with noise: set "
        "`spend_on_domain` to a share of the budget, such as 0.1.",
        problems,
    )


_KINDS: dict[Form, Kind] = {
    "category": "categorical",
    "boolean": "boolean",
    "whole": "integer",
    "number": "real",
    "time": "datetime",
}


def schema_of_types(data: Frame | TableSource, kinds: Mapping[str, Kind] | None = None) -> Schema:
    """Return what the types of columns alone say of them: no value of a record is looked at.

    Parameters
    ----------
    data : frame or TableSource
        The table.
    kinds : mapping, optional
        What some columns are, whatever their type.
    """
    given = kinds or {}
    empty = to_arrow(source_of(data).empty)
    types = dict(zip(empty.column_names, empty.schema.types, strict=True))
    check_kinds(given, tuple(types))
    return Schema(
        Column(name, given.get(name) or _KINDS[form_of(kind, name)]) for name, kind in types.items()
    )


def public_codec(data: Frame | TableSource, schema: Schema) -> Codec:
    """Return the codec of a table that knows no more than a public schema and the types.

    Dependencies between columns are not kept: whether they hold is a matter of the records.
    """
    kept = [one.sentence for one in schema.dependencies if one.keep]
    if kept:
        logging.getLogger("understudy").warning(
            "Not kept with epsilon, since whether they hold is a matter of the records: %s.",
            "; ".join(kept),
        )
    columns = [_told_publicly(column) for column in schema]
    codec = Codec.fit(source_of(data).empty, Schema(columns))
    coders = {name: _public(coder, codec.schema[name]) for name, coder in codec.coders.items()}
    return replace(
        codec,
        coders=coders,
        made_up=dict.fromkeys(codec.made_up, Pattern()),
        layout=_public_layout(codec.layout, codec.schema),
    )


def _told_publicly(column: Column) -> Column:
    """Return a column with what a public schema can say: quantiles would have to be looked up."""
    if not needs_domain(column):
        return Column(column.name, column.kind, role=column.role, public=column.public)
    width = column.binned and column.binning == "quantile"
    return replace(column, binning="width") if width else column


def _public(coder: Coder, column: Column) -> Coder:
    """Return a coder whose dates have the step that the schema writes them in."""
    if not isinstance(coder, BinCoder) or column.kind != "datetime":
        return coder
    unit = unit_of(coder.kind)
    written = (*(column.range or ()), *column.edges)
    by_day = not any(":" in text for text in written)
    if unit == "D":
        return coder
    step = TICKS_PER_SECOND[unit] * (_SECONDS_OF_A_DAY if by_day else 1)
    edges = coder.bins.edges
    grid = WholeGrid(step, int(edges[0]) % step)
    return replace(coder, bins=build_bins(edges, edges[:0], grid, coder.special))


def _public_layout(layout: Layout, schema: Schema) -> Layout:
    """Return a layout whose categories are the levels of the schema."""
    levels = {column.name: list(column.levels) for column in schema if column.levels}
    others = [name for name in layout.types if name not in levels]
    layout = layout.forget_values(others)

    def listed(stored: dict[str, Any], name: str) -> dict[str, Any]:
        if "categories" in stored:
            return {**stored, "categories": levels[name]}
        return {**stored, "arrow": listed(stored["arrow"], name)} if "arrow" in stored else stored

    types = {
        name: listed(dict(stored), name) if name in levels else stored
        for name, stored in layout.types.items()
    }
    return replace(layout, types=types)


def clamping(codec: Codec) -> Codec:
    """Return a codec that moves numbers outside a range to its nearer end, where so declared."""
    coders: dict[str, Coder] = {}
    for name, coder in codec.coders.items():
        column = codec.schema[name]
        clamped = column.kind in NUMERIC and column.outside == "clamp" and coder.known
        coders[name] = _clamped(coder) if clamped else coder
    return replace(codec, coders=coders)


def _clamped(coder: Coder) -> Coder:
    if isinstance(coder, BinCoder):
        low, high = coder.bins.edges[[0, -1]].tolist()
        return replace(coder, bottom=low, top=high)
    if isinstance(coder, NumberLevelCoder):
        values = np.unique(coder.values)
        finite = values[np.isfinite(values)]
        if len(finite) == len(values):
            low, high = values[[0, -1]].tolist()
            return FoldedCoder(values, coder.kind, coder.name, low, high)
    return coder


@dataclass(frozen=True)
class Records:
    """The records of a table that lie inside its public domain.

    How many there are exactly is not public, and must not be used but through an accountant.
    """

    coded: Coded
    places: NDArray[np.int64]
    """How many lie inside, were moved to an end, and were left out."""


def records_inside(data: Frame | TableSource, codec: Codec) -> Records:
    """Return the records that a public codec knows, as codes, with clamping as declared."""
    clamped = clamping(codec)
    parts, places = [], np.zeros(3, np.int64)
    for table in source_of(data).arrow_batches():
        coded, known = clamped.encode_seen(table)
        _, as_they_are = codec.encode_seen(table)
        kept = int(np.count_nonzero(known))
        inside = int(np.count_nonzero(as_they_are))
        places += [inside, kept - inside, len(known) - kept]
        parts.append(coded if kept == len(known) else coded.take(np.flatnonzero(known)))
    return Records(Coded.concatenate(parts), places)


def count_outside(records: Records, accountant: Accountant) -> int:
    """Return about how many records lie inside the domain, and say if many do not."""
    cost = accountant.total * _SHARE_FOR_OUTSIDE
    what = "records inside the public domain, moved to its ends, and left out"
    inside, moved, left_out = accountant.counts(what, records.places, cost).tolist()
    sure = accountant.reach(cost, _WRONGLY)
    logger = logging.getLogger("understudy")
    if moved > sure:
        logger.warning(
            "About %s records have a number outside the public ranges, which was moved to the "
            "nearer end.",
            f"{moved:,}",
        )
    if left_out > sure:
        logger.warning(
            "About %s records were left out: they have a value that the public schema does not "
            "know, or none where it allows none.",
            f"{left_out:,}",
        )
    return max(1, int(inside + moved))


def public_inputs(codec: Codec, bought: Sequence[str], neighbours: str) -> Iterator[str]:
    """Yield a sentence for all that a private model takes for public."""
    if neighbours == "change-one":
        yield "The number of records."
    kinds = ", ".join(f"{column.name!r} {column.kind}" for column in codec.schema)
    yield f"The columns, in order, with their kinds: {kinds}."
    yield (
        "How the table is stored: the type of each column, and the form of its file, such as its "
        "delimiter and how numbers, dates and durations are written."
    )
    declared = [
        column.name for column in codec.schema if needs_domain(column) and column.name not in bought
    ]
    if declared:
        yield f"What these columns can hold, from a schema declared public: {quoted(declared)}."
    if bought:
        yield f"What these columns can hold was read with noise, and paid for: {quoted(bought)}."
