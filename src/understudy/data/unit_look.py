"""Whether a column names units that have several records: people, households or firms.

An identifier that repeats is a name all the same. Its values come in groups of a few records, and
there are many of them; either the column's name says what they are, or the values have no law: they
count up, they stand together in the file, each has as many records as any other, or they look like
codes that were given out. Cities and job codes have many values too, but few of these hold most of
the records, and they neither stand together nor are evenly spread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.counted import Counted
from understudy.data.identifier_look import (
    FEWEST,
    looks_like_epoch,
    named_like_codes,
    named_like_count,
    named_like_measure,
    named_like_one,
    text_in_disguise,
    why_number_is_one,
    word_set,
    words_of,
)
from understudy.data.units import without_gaps
from understudy.data.values import to_numpy

FEWEST_NAMED = 10
"""So many different values make a column of names if its own name says so; else it takes
`FEWEST`."""
FEWEST_RECORDS = 400
"""In a smaller table, numbers stand together or have as many records by chance, or by design."""
NEARLY_ALL = 0.9
"""A column with more different values for each record names records, not units."""
TOGETHER = 1.02
"""Values stand together if there are no more than so many runs of equal ones for each."""
ALIKE = 0.9
"""The share of the values that have as many records as the most usual number of them."""
LIGHT, MOST_IN_TENTH = 10, 0.4
"""A tenth of all values has at most this share of the records, unless they follow a law."""
SHORTEST_CODE, SAME_LENGTH = 4, 0.95
"""Codes that were given out are at least so long, and this share of them are equally long."""
SPARSE, MOST_REFERRED = 100, 2**17
"""Numbers are given out if their range is so many times as wide as they are many; so many different
values are compared with others at most."""
_FIRST = 1000
_CODE = r"^[A-Za-z0-9_./:#-]*[0-9][A-Za-z0-9_./:#-]*$"
_EMAIL = r"^[^@\s]+@[^@\s]+\.[^@\s]+$"

_UNITS = word_set("""
    person pers household hh hhold haushalt family patient subject subj individual respondent
    participant proband member customer client kunde kundin user owner employee worker student
    pupil player driver borrower applicant donor resident citizen taxpayer firm company business
    establishment enterprise employer provider hospital clinic school store shop supplier vendor
    merchant account acct vehicle plate tail order invoice ticket session device card basket
    booking contract case nr pnr persnr hhnr address adresse surname lastname nachname firstname
""")
"""Words that say what a unit is, or what names it."""
_ENDINGS = ("id", "nr", "num", "nbr")
_NO_IDS = word_set("""
    paid unpaid prepaid valid invalid covid hybrid grid solid acid rapid liquid fluid
    bid mid aid said kid lipid humid carotid pyramid plasmid aluminum platinum
""")
_WITHIN = _UNITS | {"line", "child", "kid", "mem", "ind", "pn", "lno"}
"""Words that say that a number counts the members of a unit."""


@dataclass(frozen=True, eq=False)
class Repeats:
    """How often the values of a column occur, and how they stand in it.

    Parameters
    ----------
    counts : ndarray of int64
        How many records have each value.
    column : Counted
        The column.
    """

    counts: NDArray[np.int64]
    column: Counted

    @classmethod
    def of(cls, values: pa.Array | Counted) -> Repeats:
        """Count the values of a column."""
        found = Counted.of(values)
        return cls(found.without_gaps().counts, found)

    @property
    def values(self) -> int:
        """How many different values there are."""
        return len(self.counts)

    @property
    def records(self) -> int:
        """How many records have a value."""
        return int(self.counts.sum())

    def enough(self, *, times: int = 1, fewest: int = FEWEST) -> bool:
        """Whether there are many values in groups of a few records; `times` asks for more."""
        many = self.values >= fewest and self.values**2 >= times * self.records
        return many and self.values <= NEARLY_ALL * self.records

    @property
    def together(self) -> bool:
        """Whether the records of each value follow each other."""
        order = self.column.order
        return order is not None and order.runs <= TOGETHER * self.values

    @property
    def rising(self) -> bool:
        """Whether no value is smaller than the one before."""
        order = self.column.order
        return order is not None and order.rising

    @property
    def alike(self) -> bool:
        """Whether nearly all values have the same number of records, more than one."""
        usual = np.bincount(self.counts)
        return int(usual.argmax()) > 1 and int(usual.max()) >= ALIKE * self.values

    @property
    def even(self) -> bool:
        """Whether no few values hold most of the records."""
        most = np.sort(self.counts)[-max(1, self.values // LIGHT) :]
        return float(most.sum()) <= MOST_IN_TENTH * self.records


def named_like_unit(name: str) -> bool:
    """Whether a column's name says that its values name units, or what they are.

    Examples
    --------
    >>> [named_like_unit(name) for name in ("household", "persnum", "hhid", "household size")]
    [True, True, True, False]
    """
    return _numbered(name) or (not _measured(name) and not _UNITS.isdisjoint(words_of(name)))


def _numbered(name: str) -> bool:
    """Whether a name says that values were given out to tell units apart: `id` or a like ending."""
    if _measured(name):
        return False
    return named_like_one(name) or any(
        word.endswith(_ENDINGS) and not word.endswith("oid") and word not in _NO_IDS
        for word in words_of(name)
    )


def _measured(name: str) -> bool:
    return named_like_measure(name) or named_like_count(name)


def why_unit(name: str, array: pa.Array | Counted) -> str:
    """Return why values that repeat look like names of units; empty if they do not.

    Parameters
    ----------
    name : str
        The column's name.
    array : Array or Counted
        Its values: texts or whole numbers.

    Examples
    --------
    >>> homes = pa.array([10 * number for number in range(150) for _ in range(3)])
    >>> why_unit("home", homes)
    'all have the same number of records'
    >>> why_unit("x", pa.array([1, 2, 3] * 40))
    ''
    """
    plain = array.values if isinstance(array, Counted) else array
    if pa.types.is_floating(plain.type) and not _is_whole(without_gaps(plain)):
        return ""  # before they are counted, for there may be as many as records
    counted = Counted.of(array)
    values = counted.without_gaps().values
    text = _is_text(values.type)
    if not text and not _is_whole(values):
        return ""
    if _measured(name):
        return ""
    found = Repeats.of(counted)
    if not found.enough(fewest=FEWEST_NAMED):
        return ""
    if _numbered(name):
        return "the name says so"
    thing = not _UNITS.isdisjoint(words_of(name))
    if text:
        return _why_text(name, values, found, thing=thing)
    return _why_number(name, values, found, thing=thing)


def _is_text(kind: pa.DataType) -> bool:
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(test(kind) for test in tests)


def _is_whole(array: pa.Array) -> bool:
    """Whether values are whole numbers, however they are stored."""
    if pa.types.is_integer(array.type):
        return True
    if not pa.types.is_floating(array.type):
        return False
    if len(array) > _FIRST and not _is_whole(array[:_FIRST]):
        return False  # most often the first values tell
    whole = pc.all(pc.equal(pc.floor(array), array)).as_py()
    return bool(whole) and bool(pc.all(pc.is_finite(array)).as_py())


def _why_text(name: str, values: pa.Array, found: Repeats, *, thing: bool) -> str:
    texts = values.cast(pa.string())
    if text_in_disguise(texts):
        return ""
    if thing:
        return "the name says so"
    if _share(texts, _EMAIL) >= ALIKE:
        return "they are e-mail addresses"
    if named_like_codes(name) or not found.enough(times=4) or not found.even:
        return ""
    lengths = np.bincount(pc.utf8_length(texts).to_numpy())
    usual = int(lengths.argmax())
    if (
        usual >= SHORTEST_CODE
        and lengths[usual] > SAME_LENGTH * len(texts)
        and _share(texts, _CODE) >= ALIKE
    ):
        return "they look like codes that were given out"
    return "records with the same value stand together" if found.together else ""


def _share(texts: pa.Array, pattern: str) -> float:
    return float(pc.mean(pc.match_substring_regex(texts, pattern).cast(pa.float64())).as_py() or 0)


def _why_number(name: str, values: pa.Array, found: Repeats, *, thing: bool) -> str:
    numbers = np.sort(to_numpy(values))
    if looks_like_epoch(numbers):
        return ""
    if thing and (found.together or found.even or _without_law(numbers)):
        return "the name says so"
    if named_like_codes(name) or not found.enough(times=4) or found.records < FEWEST_RECORDS:
        return ""
    if found.alike:
        return "all have the same number of records"
    # A table may be sorted by an amount.
    if found.together and (not found.rising or _without_law(numbers) or _dense(numbers)):
        return "records with the same value stand together"
    return ""


def _without_law(numbers: NDArray[Any]) -> bool:
    """Whether different numbers count up, or are spread evenly."""
    return bool(why_number_is_one("", numbers, len(numbers)))


def _dense(numbers: NDArray[Any]) -> bool:
    """Whether most numbers follow the one before closely, as those that were given out do."""
    gaps = np.diff(numbers)
    return bool(np.mean(gaps <= 3) >= 0.75)


def members_within(
    units: Mapping[str, int], others: Iterable[str], combined: Callable[[str, str], int]
) -> set[str]:
    """Return which columns number the members of a unit, such as the persons of a household.

    Parameters
    ----------
    units : mapping
        Columns that name units, and how many values each has; missing is one, too.
    others : iterable of str
        Columns that `may_be_member` lets pass.
    combined : callable
        Returns how many combinations of values of two columns occur.

    Examples
    --------
    >>> members_within({"home": 30}, ["person"], lambda home, person: 90)
    {'person'}
    """
    return {
        name
        for name in others
        if any(combined(unit, name) > 1.2 * values for unit, values in units.items())
    }


def may_be_member(name: str) -> bool:
    """Whether a column's name allows that it numbers the members of a unit."""
    if _measured(name):
        return False
    stems = {re.sub(r"(id|nr|num|no|nbr)$", "", word) for word in words_of(name)}
    return _numbered(name) or not _WITHIN.isdisjoint({*words_of(name), *stems})


def values_to_refer_to(array: pa.Array | Counted) -> pa.Array | None:
    """Return the different values of a column that may name others; None if it names nobody.

    Numbers that lie close together, such as 1 to 500, may be anything.

    Examples
    --------
    >>> values_to_refer_to(pa.array(range(100))) is None
    True
    """
    if not (_is_text(array.type) or pa.types.is_integer(array.type)):
        return None
    values = Counted.of(array).values.drop_null()
    if len(values) < FEWEST_NAMED or len(values) > MOST_REFERRED:
        return None
    if pa.types.is_integer(array.type):
        ends = pc.min_max(values)
        if ends["max"].as_py() - ends["min"].as_py() < SPARSE * len(values):
            return None
    return values


def referring(values: Mapping[str, pa.Array], names: Sequence[str]) -> set[str]:
    """Return the columns nearly all of whose values are those of a column of names.

    Such as that of the person by whom somebody was infected: who is named there is somebody else of
    the same table.

    Parameters
    ----------
    values : mapping
        The different values of columns, from `values_to_refer_to`.
    names : sequence of str
        Columns that name people or other units.

    Examples
    --------
    >>> people = pa.array([10**6 * n for n in range(1, 31)])
    >>> referring({"id": people, "by": people[:12], "pay": pa.array([5, 900, 10**7])}, ["id"])
    {'by'}
    """
    known = [values[name] for name in names if name in values]
    return {
        name
        for name, own in values.items()
        if name not in names
        for those in known
        if own.type == those.type and _held(own, those) >= ALIKE
    }


def _held(own: pa.Array, those: pa.Array) -> float:
    return float(pc.mean(pc.is_in(own, those).cast(pa.float64())).as_py() or 0)
