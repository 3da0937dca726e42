"""Looking at a table: what its columns are, and in what ways it does not fit a schema."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.coders import as_numbers, build_coder, levels_of
from understudy.data.counted import Counted
from understudy.data.frames import Frame, Layout
from understudy.data.identifier_look import (
    FEWEST,
    FEWEST_NAMED,
    named_like_one,
    text_in_disguise,
    why_number_is_one,
)
from understudy.data.schema import NUMERIC, Column, Kind, Level, Schema
from understudy.data.source import TableSource, source_of
from understudy.data.special_values import special_values
from understudy.data.unit_look import (
    may_be_member,
    members_within,
    referring,
    values_to_refer_to,
    why_unit,
)
from understudy.data.values import (
    Form,
    decimals_of,
    form_of,
    held_in_words,
    numbers,
    time_to_text,
)
from understudy.errors import DataError, ParameterError, did_you_mean, unknown_columns
from understudy.progress import track
from understudy.showing import SHARED_BY, may_name, records_are_shown
from understudy.wording import counted, listed

WORDS_OF_PROSE = 4
"""Values with this many words on average are sentences, not labels."""
_WITH_DIGITS = r"\S*\d\S*"

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


class Grouping(NamedTuple):
    """How numbers are grouped: the settings of `Schema.infer` that every column shares."""

    bins: int = 20
    binning: Literal["quantile", "width"] = "quantile"
    special_share: float = 0.05


def infer_columns(
    data: Frame | TableSource,
    grouping: Grouping = Grouping(),  # noqa: B008  # it never changes
    kinds: Mapping[str, Kind] | None = None,
    names: Collection[str] | None = None,
) -> Iterator[Column]:
    """Yield the description of each column of a frame or stream, or of those in `names`.

    `kinds` says what some columns are, whatever they look like.
    """
    bins, binning, special_share = grouping
    if bins < 1:
        raise ParameterError(f"bins must be at least 1; got {bins}.")
    if binning not in ("quantile", "width"):
        raise ParameterError(f"binning must be 'quantile' or 'width'; got {binning!r}.")
    if not 0 < special_share <= 1:
        raise ParameterError(
            f"special_share must be a share above 0 and up to 1; got {special_share}."
        )
    source, kinds = source_of(data), kinds or {}
    layout, special = source.layout, source.special
    check_kinds(kinds, tuple(layout.types))
    found: list[Column] = []
    named = _NamesOfUnits()
    for name, array in track(source.describe(names), "Describing", len(names or layout.types)):
        form, kind = form_of(array.type, name), kinds.get(name)
        if kind is not None:
            _check_form(name, kind, form, array)
        if kind in ("identifier", "text", "boolean") or (form == "boolean" and kind is None):
            found.append(Column(name, kind or "boolean", missing=_missing_share(array)))
        elif kind is None and form != "time" and name not in special and named.take(name, array):
            found.append(Column(name, "identifier", missing=_missing_share(array)))
        elif form == "category" or kind == "categorical":
            found.append(_category(name, array, layout, kind))
        else:
            known = special.get(name, ())
            found.append(_number(name, array, form == "time", grouping, kind, known))
    yield from named.with_members(found, source)


class _NamesOfUnits:
    """The columns that were taken for names of units, and those that may refer to them."""

    def __init__(self) -> None:
        self._units: dict[str, int] = {}
        self._others: list[str] = []
        self._values: dict[str, pa.Array] = {}

    def take(self, name: str, array: Counted) -> bool:
        """Whether a column names units; what is needed of it and its like is kept."""
        if pa.types.is_dictionary(array.type) and array.type.ordered:
            return False  # a scale
        if why_unit(name, array):
            self._units[name] = len(array.values)
        elif may_be_member(name):
            self._others.append(name)
        if (values := values_to_refer_to(array)) is not None:
            self._values[name] = values
        return name in self._units

    def with_members(self, columns: Sequence[Column], source: TableSource) -> Iterator[Column]:
        """Yield the columns; those that number the members of units, or name others, are names."""

        def combined(*names: str) -> int:
            return len(source.combinations(names).counts)

        named = members_within(self._units, self._others, combined)
        known = [column.name for column in columns if column.kind == "identifier"]
        named |= referring(self._values, known)
        for column in columns:
            is_name = column.name in named and column.kind != "text"
            yield Column(column.name, "identifier", missing=column.missing) if is_name else column


def check_kinds(kinds: Mapping[str, Kind], names: Sequence[str]) -> None:
    """Raise unless every column of `kinds` is one of the table's, and has a kind that there is."""
    problems = unknown_columns(kinds, names)
    for name, kind in kinds.items():
        if kind not in get_args(Kind):
            hint = did_you_mean(str(kind), get_args(Kind))
            problems.append(
                f"The kind of {name!r} must be one of {', '.join(get_args(Kind))}; got {kind!r}."
                f"{hint}"
            )
    if problems:
        raise ParameterError(" ".join(problems))


def _check_form(name: str, kind: Kind, form: Form, array: Counted) -> None:
    if form not in _FORMS[kind]:
        possible = [one for one, forms in _FORMS.items() if form in forms]
        raise ParameterError(
            f"Column {name!r} holds {held_in_words(array.type)}, which cannot be read as {kind}. "
            f"It can be {listed(possible, 'or')}."
        )


def _missing_share(array: Counted) -> float:
    return array.gaps / max(array.rows, 1)


def _category(name: str, array: Counted, layout: Layout, kind: Kind | None = None) -> Column:
    missing = _missing_share(array)
    if form_of(array.type, name) != "category":
        return Column(name, "categorical", levels=levels_of(array), missing=missing)
    coded, values = pa.types.is_dictionary(array.type), array.values
    texts = (values.dictionary_decode().unique() if coded else values).drop_null()
    if kind is None:
        kind = _kind_of_texts(name, array, texts)
    if kind != "categorical":
        return Column(name, kind, missing=missing)
    levels = _declared_levels(name, layout) or sorted(texts.to_pylist())
    return Column(name, "categorical", levels=tuple(levels), missing=missing)


def _kind_of_texts(name: str, array: Counted, values: pa.Array) -> Kind:
    """Return what texts are: labels, identifiers, or text that no model can use."""
    listed, seen, present = pa.types.is_dictionary(array.type), len(values), array.present
    fewest = FEWEST_NAMED if named_like_one(name) else FEWEST
    if seen == present >= fewest:
        if listed or not (is_prose(values) or text_in_disguise(values)):
            return "identifier"
        return "text"
    ordered = listed and array.type.ordered
    if not ordered and present >= FEWEST and 2 * seen > present:
        # Levels that mostly stand for one person each would hand the originals out.
        return "text"
    return "categorical"


def _declared_levels(name: str, layout: Layout) -> list[Level]:
    """Return the levels that the column's own type lists in a meaningful order, if any."""
    stored = layout.types[name]
    if stored["type"] == "dictionary" and not stored["ordered"]:
        return []  # the order in which a file happened to bring them
    return list(stored.get("categories", []))


def is_prose(values: pa.Array) -> bool:
    """Whether texts are sentences rather than labels, names or codes in groups of digits."""
    trimmed = pc.utf8_trim_whitespace(values)
    words = float(pc.mean(pc.add(pc.count_substring(trimmed, " "), 1)).as_py() or 0)
    if words < WORDS_OF_PROSE:
        return False
    return float(pc.mean(pc.count_substring_regex(trimmed, _WITH_DIGITS)).as_py()) < words / 2


def _number(  # how it is stored, and all that was said of it
    name: str,
    array: Counted,
    is_time: bool,
    grouping: Grouping,
    kind: Kind | None,
    known: Sequence[float] = (),
) -> Column:
    missing = _missing_share(array)
    asked = kind
    whole = kind is None and not is_time and numbers(array.values, name).whole
    kind = kind or ("datetime" if is_time else "integer" if whole else "real")
    values, counts = array.numbers_of(name, whole=kind == "integer")
    # A duration is measured, whatever it is called; so is what has special values.
    open_to_question = kind == "integer" and asked is None and not pa.types.is_duration(array.type)
    if open_to_question and not len(known) and why_number_is_one(name, values, int(counts.sum())):
        return Column(name, "identifier", missing=missing)
    decimals = decimals_of(values, pa.types.is_float32(array.type)) if kind == "real" else None

    def plain(items: np.ndarray[Any, Any]) -> tuple[Any, ...]:
        listed = items.tolist()
        return (
            tuple(time_to_text(item, array.type) for item in listed) if is_time else tuple(listed)
        )

    bins, binning, share = grouping
    endless = ~np.isfinite(values) if kind == "real" else np.zeros(len(values), bool)
    told = np.isin(values, known)
    often = (counts > share * array.rows) | endless | told
    # Bins for the few numbers between the frequent ones would hide more than they keep.
    if len(values) - np.count_nonzero(often) <= bins:
        return Column(name, kind, levels=plain(values), decimals=decimals, missing=missing)
    special = endless | told
    if special.any():
        special[~special] = special_values(
            values[~special], counts[~special], array.rows, share, coded=not is_time
        )
    else:
        special = special_values(values, counts, array.rows, share, coded=not is_time)
    ends = special.argmin(), len(special) - 1 - special[::-1].argmin()
    low, high = plain(values[[*ends]])
    return Column(
        name,
        kind,
        binning=binning,
        bins=bins,
        special=plain(values[special]),
        range=(low, high),
        decimals=decimals,
        missing=missing,
    )


def table_problems(schema: Schema, data: Frame | TableSource) -> list[str]:
    """Return a sentence for each way in which a table does not fit a schema."""
    source = source_of(data)
    problems = name_problems(schema, tuple(source.layout.types))
    known = [name for name in source.layout.types if name in schema]
    for name, array in source.describe(known):
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


def column_problems(column: Column, array: Counted) -> list[str]:
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


def _level_problems(column: Column, array: Counted) -> list[str]:
    codes, missing = build_coder(column, array).assign(array.values)
    return value_problems(column, array, (codes < 0) & ~missing)


def form_problems(column: Column, array: pa.Array | Counted) -> list[str]:
    """Return a sentence if a column's stored type cannot be what its description says."""
    if form_of(array.type, column.name) in _FORMS[column.kind]:
        return []
    held = held_in_words(array.type)
    return [f"{column.name!r} holds {held}, but the schema says {column.kind}."]


def missing_problems(column: Column, array: pa.Array | Counted) -> list[str]:
    """Return a sentence if values are missing where the schema says that none are."""
    if column.missing > 0 or column.kind in ("identifier", "text"):
        return []
    gaps = Counted.of(array).gaps
    if not gaps:
        return []
    return [
        f"{column.name!r} has {_rows(gaps)} without a value, but the schema says that none is "
        "missing (missing = 0)."
    ]


def _number_problems(column: Column, array: Counted) -> list[str]:
    found = numbers(array.values, column.name)
    if column.kind == "integer" and not found.whole:
        broken = found.as_whole().missing & ~found.missing
        return [
            f"{column.name!r} has {_rows(array.records(broken))} with a number that is not "
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


def value_problems(column: Column, array: Counted, wrong: NDArray[np.bool_]) -> list[str]:
    """Return a sentence that counts the rows with some values, outside the range or the levels.

    It names no value that fewer rows than `SHARED_BY` have, unless records may be shown, and never
    the ends of a range, which are two records' numbers.
    """
    if not wrong.any():
        return []
    values = _counts(array, wrong)
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
    rows = _rows(array.records(wrong))
    return [f"{column.name!r} has {rows} {what}{_listed(values)}.{hint}"]


def _counts(array: Counted, which: NDArray[np.bool_]) -> dict[Any, int]:
    """Return how many rows have each of some values, in the order in which the values come."""
    values = array.values.filter(pa.array(which)).to_pylist()
    return dict(zip(values, array.counts[which].tolist(), strict=True))


def _shared_levels(column: Column, array: Counted) -> list[str]:
    """Return the levels of a column that a message may name."""
    values = _counts(array, np.ones(len(array.counts), bool))
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
