"""Describing a table by looking at it: kind, levels or bins, special values and identifiers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.frames import Frame, Layout
from understudy.data.schema import Column, Kind, Level
from understudy.data.stream import columns_of, layout_of
from understudy.data.values import decimals_of, form_of, numbers, time_to_text
from understudy.errors import ParameterError

FEWEST_IDENTIFIERS = 20
"""In a shorter column, all values may differ by chance: it is not taken for an identifier."""

WORDS_OF_PROSE = 4
"""Values with this many words on average are sentences, not labels."""


def infer_columns(
    data: Frame, *, bins: int, binning: Literal["quantile", "width"], special_share: float
) -> Iterator[Column]:
    """Yield the description of each column of a frame or stream."""
    if bins < 1:
        raise ParameterError(f"bins must be at least 1; got {bins}.")
    if binning not in ("quantile", "width"):
        raise ParameterError(f"binning must be 'quantile' or 'width'; got {binning!r}.")
    if not 0 < special_share <= 1:
        raise ParameterError(f"special_share is a share above 0 and up to 1; got {special_share}.")
    layout = layout_of(data)
    for name, array in columns_of(data):
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
