"""Looking at a table: what its columns are, and in what ways it does not fit a schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.coders import as_numbers, build_coder
from understudy.data.frames import Frame, Layout
from understudy.data.schema import NUMERIC, Column, Kind, Level, Schema
from understudy.data.stream import FileStream, columns_of, layout_of
from understudy.data.values import decimals_of, form_of, numbers, time_to_text
from understudy.errors import DataError, ParameterError, did_you_mean
from understudy.progress import track
from understudy.showing import SHARED_BY, may_name, records_are_shown
from understudy.wording import counted

FEWEST_IDENTIFIERS = 20
"""In a shorter column, all values may differ by chance: it is not taken for an identifier."""

WORDS_OF_PROSE = 4
"""Values with this many words on average are sentences, not labels."""

_FORMS: dict[str, tuple[str, ...]] = {
    "categorical": ("category", "whole", "number", "boolean"),
    "boolean": ("boolean",),
    "integer": ("whole", "number"),
    "real": ("whole", "number"),
    "datetime": ("time",),
    "text": ("category",),
    "identifier": ("category", "whole", "number"),
}
_EXAMPLES = 3
LARGEST_SPAN = 2**63 - 2**11
"""Differences below this stay within 64 bits, also when they are rounded to a float."""


def infer_columns(
    data: Frame, *, bins: int, binning: Literal["quantile", "width"], special_share: float
) -> Iterator[Column]:
    """Yield the description of each column of a frame or stream."""
    if bins < 1:
        raise ParameterError(f"bins must be at least 1; got {bins}.")
    if binning not in ("quantile", "width"):
        raise ParameterError(f"binning must be 'quantile' or 'width'; got {binning!r}.")
    if not 0 < special_share <= 1:
        raise ParameterError(
            f"special_share must be a share above 0 and up to 1; got {special_share}."
        )
    layout = layout_of(data)
    for name, array in track(columns_of(data), "Describing", len(layout.types)):
        form = form_of(array.type, name)
        if form == "boolean":
            yield Column(name, "boolean", missing=_missing_share(array))
        elif form == "category":
            yield _category(name, array, layout)
        else:
            yield _number(name, array, form == "time", bins, binning, special_share)


def _missing_share(array: pa.Array) -> float:
    gaps = pc.sum(pc.is_null(array, nan_is_null=True)).as_py() or 0
    return gaps / max(len(array), 1)


def _category(name: str, array: pa.Array, layout: Layout) -> Column:
    missing = _missing_share(array)
    values = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    seen = values.unique().drop_null().to_pylist()
    present = len(values) - values.null_count
    if _all_distinct(len(seen), present):
        prose = pa.types.is_dictionary(array.type) or not _is_prose(values)
        return Column(name, "identifier" if prose else "text", missing=missing)
    ordered = pa.types.is_dictionary(array.type) and array.type.ordered
    if not ordered and present >= FEWEST_IDENTIFIERS and 2 * len(seen) > present:
        # Levels that mostly stand for one person each would hand the originals out.
        return Column(name, "text", missing=missing)
    levels = _declared_levels(name, layout) or sorted(seen)
    return Column(name, "categorical", levels=tuple(levels), missing=missing)


def _declared_levels(name: str, layout: Layout) -> list[Level]:
    """Return the levels that the column's own type lists in a meaningful order, if any."""
    stored = layout.types[name]
    if stored["type"] == "dictionary" and not stored["ordered"]:
        return []  # the order in which a file happened to bring them
    return list(stored.get("categories", []))


def _is_prose(values: pa.Array) -> bool:
    words = pc.add(pc.count_substring(pc.utf8_trim_whitespace(values), " "), 1)
    return float(pc.mean(words).as_py() or 0) >= WORDS_OF_PROSE


def _all_distinct(distinct: int, present: int) -> bool:
    return distinct == present >= FEWEST_IDENTIFIERS


def _number(  # the three settings of `Schema.infer` travel together
    name: str,
    array: pa.Array,
    is_time: bool,
    bins: int,
    binning: Literal["quantile", "width"],
    special_share: float,
) -> Column:
    found = numbers(array, name)
    missing = float(found.missing.mean()) if len(found.missing) else 0.0
    kind: Kind = "datetime" if is_time else "integer" if found.whole else "real"
    if kind == "integer":
        found = found.as_whole()
    values, counts = np.unique(found.present, return_counts=True)
    counted = kind == "integer" and not pa.types.is_duration(array.type)
    if counted and _all_distinct(len(values), int(counts.sum())):
        return Column(name, "identifier", missing=missing)
    decimals = decimals_of(values, pa.types.is_float32(array.type)) if kind == "real" else None

    def plain(items: np.ndarray[Any, Any]) -> tuple[Any, ...]:
        listed = items.tolist()
        return (
            tuple(time_to_text(item, array.type) for item in listed) if is_time else tuple(listed)
        )

    often = counts > special_share * len(array)
    if kind == "real":
        often |= ~np.isfinite(values)
    if len(values) - np.count_nonzero(often) <= bins:
        return Column(name, kind, levels=plain(values), decimals=decimals, missing=missing)
    rest = values[~often]
    low, high = plain(rest[[0, -1]])
    return Column(
        name,
        kind,
        binning=binning,
        bins=bins,
        special=plain(values[often]),
        range=(low, high),
        decimals=decimals,
        missing=missing,
    )


def table_problems(schema: Schema, data: Frame | FileStream) -> list[str]:
    """Return a sentence for each way in which a table does not fit a schema."""
    problems = name_problems(schema, tuple(layout_of(data).types))
    for name, array in columns_of(data):
        if name in schema:
            problems += column_problems(schema[name], array)
    return problems


def name_problems(schema: Schema, names: Sequence[str]) -> list[str]:
    """Return a sentence for each column that the table or the schema has alone."""
    spare = [name for name in names if name not in schema]
    absent = [name for name in schema.names if name not in names]
    problems = [f"the table has no column {name!r}.{did_you_mean(name, spare)}" for name in absent]
    problems += [
        f"{name!r} is not in the schema; describe it there, or drop it from the table."
        for name in spare
    ]
    return problems


def column_problems(column: Column, array: pa.Array) -> list[str]:
    """Return a sentence for each way in which a column's values do not fit its description."""
    try:
        wrong = form_problems(column, array)
        if wrong:
            return wrong
        problems = missing_problems(column, array)
        if column.kind in ("identifier", "text"):
            return problems
        if column.kind in NUMERIC:
            return problems + _number_problems(column, array)
    except DataError as error:
        return [str(error)]
    if column.kind == "categorical" and not column.levels:
        return problems  # left open: to be read from the data
    return problems + _level_problems(column, array)


def _level_problems(column: Column, array: pa.Array) -> list[str]:
    codes, missing = build_coder(column, array).assign(array)
    return value_problems(column, array, (codes < 0) & ~missing)


def form_problems(column: Column, array: pa.Array) -> list[str]:
    """Return a sentence if a column's stored type cannot be what its description says."""
    if form_of(array.type, column.name) in _FORMS[column.kind]:
        return []
    return [f"{column.name!r} holds {array.type}, but the schema says {column.kind}."]


def missing_problems(column: Column, array: pa.Array) -> list[str]:
    """Return a sentence if values are missing where the schema says that none are."""
    gaps = pc.sum(pc.is_null(array, nan_is_null=True)).as_py() or 0
    if column.missing > 0 or not gaps or column.kind in ("identifier", "text"):
        return []
    return [
        f"{column.name!r} has {_rows(gaps)} without a value, but the schema says that none is "
        "missing (missing = 0)."
    ]


def _number_problems(column: Column, array: pa.Array) -> list[str]:
    found = numbers(array, column.name)
    if column.kind == "integer" and not found.whole:
        broken = found.as_whole().missing & ~found.missing
        return [
            f"{column.name!r} has {_rows(np.count_nonzero(broken))} with a number that is not "
            "whole, but the schema says integer."
        ]
    try:
        if column.levels:
            return _level_problems(column, array)
        limits = _limits(column)
        special = as_numbers(column.special, column, array.type)
        if not limits:
            return _span_problems(column, found.present)  # left open: to be read from the data
        low, high = as_numbers(
            (limits[0], limits[-1]), replace(column, kind=_looser(column)), array.type
        )
    except ValueError as error:  # a date in the schema that is none
        told = f": {error}" if records_are_shown() else ""
        return [f"{column.name!r}: the schema gives a value that does not fit {array.type}{told}."]
    outside = (found.values < low) | (found.values > high)
    outside &= ~np.isin(found.values, special) & ~found.missing
    return value_problems(column, array, outside) or _span_problems(column, found.present)


def _span_problems(column: Column, present: NDArray[np.generic]) -> list[str]:
    """Return a sentence if whole numbers lie too far apart to reckon with their differences."""
    if present.dtype.kind == "f" or not len(present):
        return []
    if int(present.max()) - int(present.min()) < LARGEST_SPAN:
        return []
    advice = (
        "Store it in a coarser unit."
        if column.kind == "datetime"
        else "If they are labels, declare it as categorical or identifier."
    )
    return [f"{column.name!r} holds values too far apart to be grouped in 64 bits. {advice}"]


def _looser(column: Column) -> Kind:
    """Return the kind of a column's limits: cut points of whole numbers may lie between them."""
    return "real" if column.kind == "integer" else column.kind


def value_problems(column: Column, array: pa.Array, wrong: NDArray[np.bool_]) -> list[str]:
    """Return a sentence that counts the rows with a value outside the range or the levels.

    It names no value that fewer rows than `SHARED_BY` have, unless records may be shown, and never
    the ends of a range, which are two records' numbers.
    """
    if not wrong.any():
        return []
    values = _counts(array.filter(pa.array(wrong)))
    hint = ""
    if column.binned:
        what = "outside its range"
    else:
        what = f"with a value that is not among its {len(column.levels)} levels"
        first = next(iter(values))
        if isinstance(first, str) and may_name(values[first]):
            hint = did_you_mean(first, [one for one in column.levels if isinstance(one, str)])
            if hint != did_you_mean(first, _shared_levels(column, array)):
                hint = ""  # the nearest one may not be named, and the next one would mislead
    rows = _rows(np.count_nonzero(wrong))
    return [f"{column.name!r} has {rows} {what}{_listed(values)}.{hint}"]


def _counts(array: pa.Array) -> dict[Any, int]:
    """Return how many rows have each value, in the order in which the values come."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    found = array.value_counts()
    return dict(
        zip(found.field("values").to_pylist(), found.field("counts").to_pylist(), strict=True)
    )


def _shared_levels(column: Column, array: pa.Array) -> list[str]:
    """Return the levels of a column that a message may name."""
    values = _counts(array)
    return [
        level
        for level in column.levels
        if isinstance(level, str) and may_name(values.get(level, 0))
    ]


def _limits(column: Column) -> Sequence[Any]:
    return column.edges if column.binning == "edges" else column.range or ()


def _rows(count: int | np.integer) -> str:
    return counted(int(count), "row")


def _listed(values: dict[Any, int]) -> str:
    """Return values as the end of a sentence: those that may be named, and how many others."""
    named = [value for value, rows in values.items() if may_name(rows)]
    more = len(values) - len(named[:_EXAMPLES])
    if not named:
        return f" ({counted(more, 'value')}, not shown: fewer than {SHARED_BY} rows have each)"
    shown = [repr(v) if isinstance(v, str) else str(v) for v in named[:_EXAMPLES]]
    return ": " + ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
