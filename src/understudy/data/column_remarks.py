"""What there is to know about how one column was read, and the line that changes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.coders import as_numbers
from understudy.data.counted import Counted
from understudy.data.identifier_look import (
    DATE_TEXT,
    FEWEST,
    looks_like_epoch,
    named_like_codes,
    named_like_one,
    text_in_disguise,
    why_number_is_one,
)
from understudy.data.inspection import is_prose
from understudy.data.schema import NUMERIC, Column, Kind
from understudy.data.unit_look import NEARLY_ALL, Repeats, may_be_member, why_unit
from understudy.data.values import form_of, to_numpy
from understudy.wording import counted, listed

Topic = Literal[
    "unit",
    "refused",
    "made up",
    "all differ",
    "may be a name",
    "codes",
    "words",
    "dependency",
    "special",
    "format",
    "rare",
]
"""What there is to know about a column; in this order they are told."""

FEWEST_TOLD = 5
"""A special number is named if so many records have it, else only counted."""

RARE_BELOW = 5

_NUMBER = (
    r"^\s*\(?[-+]?(?:[$\x{20ac}\x{a3}\x{a5}\x{20b9}] ?)?[-+]?"
    r"(?:\d+|\d{1,3}(?:[,.' ]\d{3})+)(?:[.,]\d+)?(?: ?[%\x{20ac}])?\)?\s*$"
)
_FEW_WORDS, _RARE_WORDS = 3, 0.5
"""So few words among so many numbers may stand for missing values."""

TOPICS: tuple[Topic, ...] = get_args(Topic)


@dataclass(frozen=True)
class Remark:
    """Something to know about how a column was read.

    Parameters
    ----------
    topic : str
        What it is about: see `Topic`.
    why : str
        What was decided and why, in words.
    line : str
        What changes it: a line for the column's section of the schema file, or a few words.
    setting, value : str
        The same for programs: the `kind` to give the column, `drop` it, `group` rare levels, or
        name a `unit` with it, or else give it the kind that is the value; empty if only the schema
        file can say it. With `missing`, the value is a word that may stand for a missing one.
    """

    topic: Topic
    why: str
    line: str = ""
    setting: Literal["", "kind", "drop", "group", "unit", "missing"] = ""
    value: str = ""


def _to_kind(topic: Topic, why: str, kind: Kind) -> Remark:
    """Return a remark that another kind answers."""
    return Remark(topic, why, f'kind = "{kind}"', "kind", kind)


def remarks_about(column: Column, array: Counted) -> Iterator[Remark]:
    """Yield what there is to know about how a column was read."""
    if column.kind == "text":
        words = next(_few_words(array), None)
        told = words and replace(words, topic="refused", why=f"refused: {words.why}")
        yield told or _refused(array)
    elif column.kind == "identifier":
        yield _about_units(column, array) or _made_up(column, array)
    elif column.kind in NUMERIC:
        yield from _about_numbers(column, array)
    elif column.kind == "categorical":
        times = _known(array).counts
        yield from _about_names(column, times)
        yield from _few_words(array)
        line = f"group levels of fewer than {RARE_BELOW} records"
        yield from _rare(column, times, Remark("rare", "", line, "group", str(RARE_BELOW)))


def _known(array: Counted) -> Counted:
    """Return the values that are not missing; NaN may be one of them."""
    held = to_numpy(pc.is_valid(array.values))
    return replace(array, values=array.values.drop_null(), counts=array.counts[held])


def _refused(array: Counted) -> Remark:
    known = array.without_gaps()
    values, times = known.values, known.counts
    text = pa.types.is_string(values.type) or _is_large(values)
    what = text_in_disguise(values, times) if text else ""
    if what:
        why = f"refused: it looks like {what} written as text"
    elif len(times) and len(times) == times.sum() and is_prose(values):
        why = "refused: all values differ, and most are sentences"
    elif len(times) * 2 > times.sum():
        why = "refused: most values stand for one record each"
    else:
        why = "refused: the schema says that it is text"
    return Remark("refused", why, "drop it, or sort it into categories", "drop")


def _about_units(column: Column, array: Counted) -> Remark | None:
    """Return what to say of a column that names units with several records, or their members."""
    found = Repeats.of(array)
    if column.role == "unit":
        why = f"names the units: {found.values:,} in {counted(found.records, 'record')}"
        return _to_kind("made up", why, "categorical")
    if found.values > NEARLY_ALL * found.records:
        return None
    kind: Kind = "categorical" if form_of(array.type, column.name) == "category" else "integer"
    why = why_unit(column.name, array)
    if why:
        reason = (
            f"looks like the name of a unit with several records: {found.values:,} values in "
            f"{counted(found.records, 'record')}, and {why}. Until you say, values are made up, a "
            "new one in each row"
        )
        line = f'role = "unit" if it is; kind = "{kind}" if not'
        return Remark("unit", reason, line, "unit", kind)
    if may_be_member(column.name):
        return _to_kind("made up", "values replaced: it seems to number a unit's members", kind)
    return None


def _is_large(values: pa.Array) -> bool:
    return bool(pa.types.is_large_string(values.type) or pa.types.is_string_view(values.type))


def _made_up(column: Column, array: Counted) -> Remark:
    known = _known(array)
    listed = pa.types.is_dictionary(array.type)
    values = known.values.dictionary_decode() if listed else known.values
    kind: Kind = "categorical"
    why = ""
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        distinct, times = replace(known, values=values).numbers_of(column.name, whole=True)
        kind, why = "integer", why_number_is_one(column.name, distinct, int(times.sum()))
    else:
        times = known.counts
        if len(times) == times.sum():
            told = named_like_one(column.name)
            why = "the name says so" if told else _look(values, array.rows)
    if why:
        some = "all" if len(times) == times.sum() else "nearly all"
        reason = f"values replaced: {some} {times.sum():,} differ, and {why}"
    else:
        reason = "values replaced: the schema says that it names somebody"
    return _to_kind("made up", reason, kind)


def _look(values: pa.Array, records: int) -> str:
    """Return what texts that all differ look like, if so many records have one or none."""
    spaced = pc.sum(pc.match_substring(values.cast(pa.string()), " ")).as_py() or 0
    return "they look like names" if spaced > records / 2 else "they look like codes"


def _about_numbers(column: Column, array: Counted) -> Iterator[Remark]:
    values, times = array.numbers_of(column.name)
    if column.kind == "integer" and not pa.types.is_duration(array.type):
        yield from _about_whole(column, values, times)
    if column.special:
        yield _special(column, array.type, values, times)
    if column.levels:
        yield from _rare(column, times, Remark("rare", "", "bins = 10, no levels"))


def _about_whole(
    column: Column, values: NDArray[Any], times: NDArray[np.int64]
) -> Iterator[Remark]:
    if len(values) == times.sum() >= FEWEST:
        epoch = looks_like_epoch(values)
        what = ", and may be times since 1970" if epoch else ""
        yield _to_kind(
            "all differ",
            f"all values differ{what}: if they name somebody, make it an identifier",
            "identifier",
        )
    else:
        yield from _about_names(column, times)
    if column.binned and (named_like_codes(column.name) or _look_like_codes(values, times)):
        yield _to_kind(
            "codes",
            "may be codes, read as amounts: if they are labels, make it categorical",
            "categorical",
        )


def _about_names(column: Column, times: NDArray[np.int64]) -> Iterator[Remark]:
    """Yield a remark if a name says that values stand for somebody, although they repeat."""
    if named_like_one(column.name) and len(times) > FEWEST:
        yield _to_kind(
            "may be a name",
            "the name says that it names somebody, but values repeat: make it an identifier",
            "identifier",
        )


def _few_words(array: Counted) -> Iterator[Remark]:
    """Yield a remark if texts are numbers or dates but for a few words: these may mean gaps."""
    known = array.without_gaps()
    if not (pa.types.is_string(known.values.type) or _is_large(known.values)):
        return
    for what, pattern in (("dates or times", DATE_TEXT), ("numbers", _NUMBER)):
        meant = to_numpy(pc.match_substring_regex(known.values, pattern))
        rest = known.counts[~meant]
        if np.count_nonzero(meant) < FEWEST or not 0 < len(rest) <= _FEW_WORDS:
            continue
        if rest.sum() > _RARE_WORDS * known.counts.sum():
            continue
        words = known.values.filter(pa.array(~meant)).to_pylist()
        told = [repr(word) for word, times in zip(words, rest, strict=True) if times >= FEWEST_TOLD]
        if len(told) < len(words):
            told.append(counted(len(words) - len(told), "other text" if told else "text"))
        first = words[int(rest.argmax())] if rest.max() >= FEWEST_TOLD else "WORD"
        stand = "it stands" if len(words) == 1 else "they stand"
        why = f"{what} but for {listed(told)}: if {stand} for missing values, say so"
        yield Remark("words", why, "name the word among those for missing values", "missing", first)
        return


def _look_like_codes(values: NDArray[Any], times: NDArray[np.int64]) -> bool:
    """Whether whole numbers are few of many with as many digits, each of several records."""
    if len(values) < 2 or len(values) * 3 > times.sum() or values[0] < 1000:
        return False
    whole = values.astype(np.int64)
    if len(str(whole[0])) != len(str(whole[-1])):
        return False
    sparse = len(whole) < 0.1 * float(whole[-1] - whole[0])
    return sparse and int(np.gcd.reduce(np.diff(whole))) < 5  # amounts are often rounded


def _special(
    column: Column, kind: pa.DataType, values: NDArray[Any], times: NDArray[np.int64]
) -> Remark:
    known = dict(zip(values.tolist(), times.tolist(), strict=True))
    asked = as_numbers(column.special, column, kind).tolist()
    told = [
        f"{shown:.15g}" if isinstance(shown, float) else str(shown)
        for shown, number in zip(column.special, asked, strict=True)
        if known.get(number, 0) >= FEWEST_TOLD
    ]
    rest = len(column.special) - len(told)
    if rest:
        told.append(counted(rest, "other number" if told else "number"))
    alone = "is a group of its own" if len(column.special) == 1 else "are groups of their own"
    return Remark("special", f"{listed(told)} {alone}", "special = []")


def _rare(column: Column, times: NDArray[np.int64], remark: Remark) -> Iterator[Remark]:
    once = int(np.count_nonzero(times == 1))
    if once:
        occur = "occurs" if once == 1 else "occur"
        levels = counted(max(len(column.levels), len(times)), "level")
        yield replace(remark, why=f"{once:,} of {levels} {occur} once")
