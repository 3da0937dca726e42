"""Identifiers that look like the original's, but are none of them.

What is kept of the original's is their form: which characters may stand at each place. A character
is kept as it is only if nearly all records share it. The made-up ones begin in ways in which no
original begins, so that they differ from all of them by construction: a model holds no identifier,
and no trace of one such as a hash, which could be guessed back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.check_digits import (
    SCHEMES,
    Characters,
    characters_of,
)
from understudy.data.identifier_forms import DIGITS, FEWEST, SHARED, Form, read_form
from understudy.data.identifier_shapes import form_by_shape
from understudy.data.values import (
    LARGEST_WHOLE,
    Numbers,
    form_of,
    from_numpy,
    make_identifiers,
    numbers,
    numbers_to_arrow,
)
from understudy.errors import DataError

_EMAIL = r"^[^@\s]+@[^@\s]+\.[^@\s]+$"
_DOMAINS = ("example.org", "example.net", "example.com", "made-up.example")
_PREFIXES = ("synthetic-", "made-up-", "synthetic-made-up-")
_PIECE = 2**18
"""Identifiers that are written out at a time."""
_MORE = 10**8
"""How many identifiers a form is widened to hold if the first one runs out."""


@dataclass(frozen=True)
class Pattern:
    """How the identifiers of a column are made up: by forms, and after these by a plain count.

    Parameters
    ----------
    forms : tuple of Form
        They are used up in turn.
    prefix, suffix : str
        What stands before and after the count of texts that have no form.
    below : int
        Numbers that have no form count down from minus this.
    spare : int or None
        How many numbers without a sign are left at the upper end of their type; None if it was not
        looked.
    above : int
        The power of ten above all numbers, if there is room above it: too few of them have a form,
        and made-up ones count up from here.
    """

    forms: tuple[Form, ...] = ()
    prefix: str = "synthetic-"
    suffix: str = ""
    below: int = 0
    spare: int | None = None
    above: int = 0

    @classmethod
    def learn(cls, array: pa.Array, name: str, records: int = 0) -> Pattern:
        """Return the pattern of a column of identifiers, with room for so many `records`.

        Names of units repeat, and a release without units has a new one in each record.
        """
        kind = array.type
        if pa.types.is_dictionary(kind):
            array, kind = array.dictionary_decode(), kind.value_type
        values = array.unique().drop_null()
        if form_of(kind, name) == "category":
            return _of_texts(values.cast(pa.string()), max(records, len(values)))
        return _of_numbers(values, kind, name, max(records, len(values)))

    def make(self, name: str, kind: pa.DataType, count: int, first: int = 0) -> pa.Array:
        """Return identifiers number `first` and following, as values of a type.

        Raises
        ------
        DataError
            If the type cannot hold so many that differ from each other and from the original's.
        """
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        text = form_of(kind, name) == "category"
        parts, before, last = [], 0, first + count
        for form in self.forms:
            low, high = max(first - before, 0), min(last - before, form.room)
            if low < high:
                made = form.make(np.arange(low, high))
                parts.append(_as_texts(made) if text else _as_numbers(made, kind))
            before += form.room
        low = max(first - before, 0)
        if last - before > low or not parts:
            parts.append(
                self._counted_down(name, kind, max(last - before - low, 0), low, text=text)
            )
        return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)

    def _counted_down(
        self, name: str, kind: pa.DataType, count: int, first: int, *, text: bool
    ) -> pa.Array:
        if text:
            return pa.array(
                [f"{self.prefix}{n}{self.suffix}" for n in range(first + 1, first + 1 + count)],
                pa.string(),
            )
        if self.above and self.above + first + count <= _largest(kind):
            order = np.arange(self.above + first, self.above + first + count, dtype=np.int64)
            return numbers_to_arrow(Numbers(order, np.zeros(count, bool)), kind)
        if self.spare is not None and first + count > self.spare:
            raise DataError(
                f"Column {name!r} is stored as {kind}, which cannot hold {first + count:,} "
                "identifiers that are none of the original's. Store it in a wider type, or drop it."
            )
        return make_identifiers(name, kind, count, first + self.below)

    def to_plain(self) -> dict[str, Any]:
        """Return the pattern in values that JSON can hold."""
        return {
            "forms": [
                {
                    "places": list(one.places),
                    "lead": one.lead,
                    "free": list(one.free),
                    "check": one.check,
                    "checked": list(one.checked),
                }
                for one in self.forms
            ],
            "prefix": self.prefix,
            "suffix": self.suffix,
            "below": self.below,
            "spare": self.spare,
            "above": self.above,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Pattern:
        """Return the pattern that `to_plain` took apart; ValueError if it cannot be one."""
        forms = []
        for one in plain["forms"]:
            places, lead = tuple(map(str, one["places"])), int(one["lead"])
            form = Form(
                places,
                lead,
                tuple(map(int, one["free"])),
                one["check"],
                tuple(map(int, one["checked"])),
            )
            combinations = math.prod(len(places[place]) for place in form.open[:lead])
            if (
                not all(places)
                or not 0 < lead <= len(form.open)
                or not form.free
                or not all(0 <= number < combinations for number in form.free)
                or form.check not in ("", *SCHEMES)
                or not all(0 <= place < len(places) for place in form.checked)
            ):
                raise ValueError("a pattern of identifiers that cannot be")
            forms.append(form)
        spare = plain["spare"]
        return cls(
            tuple(forms),
            str(plain["prefix"]),
            str(plain["suffix"]),
            int(plain["below"]),
            None if spare is None else int(spare),
            int(plain.get("above", 0)),
        )


def _as_texts(made: Characters) -> pa.Array:
    width = made.shape[1]
    return pa.array(np.ascontiguousarray(made).view(f"<U{width}").ravel(), pa.string())


def _as_numbers(made: Characters, kind: pa.DataType) -> pa.Array:
    weights = 10 ** np.arange(made.shape[1] - 1, -1, -1, dtype=np.uint64)
    found = ((made - np.uint32(ord("0"))).astype(np.uint64) * weights).sum(axis=1)
    present = np.zeros(len(found), bool)
    if pa.types.is_unsigned_integer(kind):
        return from_numpy(found.astype(kind.to_pandas_dtype()), present)
    return numbers_to_arrow(Numbers(found.astype(np.int64), present), kind)


@dataclass(frozen=True)
class _Rows:
    """Identifiers of one length, written out in pieces: together they may not fit in memory."""

    count: int
    read: Callable[[NDArray[np.int64]], Characters]

    def __iter__(self) -> Iterator[Characters]:
        for start in range(0, self.count, _PIECE):
            yield self.read(np.arange(start, min(start + _PIECE, self.count)))

    def sample(self) -> Characters:
        """Return up to one piece of them, from all over the column."""
        rows = np.linspace(0, self.count - 1, min(self.count, _PIECE))
        return self.read(rows.astype(np.int64))


def _of_texts(values: pa.Array, wanted: int) -> Pattern:
    lengths = np.asarray(pc.utf8_length(values))
    prefix = next(
        (one for one in _PREFIXES if not _any_starts(values, one)),
        "synthetic" + "-" * (1 + int(lengths.max(initial=0))),
    )
    enough = max(SHARED * len(values), FEWEST)
    if (pc.sum(pc.match_substring_regex(values, _EMAIL)).as_py() or 0) >= enough:
        domain = next((one for one in _DOMAINS if not _any_ends(values, f"@{one}")), None)
        if domain is not None:
            return Pattern(prefix="person-", suffix=f"@{domain}")

    def rows(length: int) -> _Rows:
        own = values.filter(pa.array(lengths == length))
        return _Rows(len(own), lambda rows: characters_of(own.take(pa.array(rows)).to_pylist()))

    by_length = {int(one): rows(int(one)) for one in np.unique(lengths) if one}
    forms = _forms_of(by_length, wanted, DIGITS, most=None)
    if not forms and (shape := form_by_shape(values)) is not None:
        forms = _with_room(shape, by_length, wanted, DIGITS, most=None)
    return Pattern(forms, prefix=prefix)


def _any_starts(values: pa.Array, prefix: str) -> bool:
    return bool(pc.any(pc.starts_with(values, prefix)).as_py())


def _any_ends(values: pa.Array, suffix: str) -> bool:
    return bool(pc.any(pc.ends_with(values, suffix, ignore_case=True)).as_py())


def _of_numbers(values: pa.Array, kind: pa.DataType, name: str, wanted: int) -> Pattern:
    if pa.types.is_unsigned_integer(kind):
        found = values.to_numpy(zero_copy_only=False).astype(np.uint64)
        top = np.iinfo(kind.to_pandas_dtype()).max
        room = int(top) - int(found.max(initial=0))
        # Only the size of what is left: the number itself would name the last record.
        spare = 10 ** (len(str(room)) - 1) if room else 0
        below = 0
    else:
        whole = numbers(values, name).as_whole()
        found = whole.present
        lowest = int(found.min(initial=0))
        below = 10 ** len(str(-lowest)) if lowest < 0 else 0
        spare, top = None, _largest(kind)
        found = found[found >= 0].astype(np.uint64)
    powers = 10 ** np.arange(20, dtype=np.uint64)
    lengths = np.maximum(np.searchsorted(powers, found, side="right"), 1)

    def rows(length: int) -> _Rows:
        own = found[lengths == length]
        return _Rows(len(own), lambda rows: _written(own[rows], powers[:length]))

    by_length = {int(one): rows(int(one)) for one in np.unique(lengths)}
    forms = _forms_of(by_length, wanted, DIGITS[1:], most=str(top))
    above = 10 ** int(lengths.max(initial=1))
    has_room = not forms and len(found) > 0 and above + wanted <= top
    return Pattern(forms, below=below, spare=spare, above=above if has_room else 0)


def _written(found: NDArray[np.uint64], powers: NDArray[np.uint64]) -> Characters:
    """Return numbers of one length in decimal characters."""
    digits = found[:, None] // powers[::-1] % np.uint64(10)
    return digits.astype(np.uint32) + np.uint32(ord("0"))


def _largest(kind: pa.DataType) -> int:
    if pa.types.is_integer(kind):
        return int(np.iinfo(kind.to_pandas_dtype()).max)
    if pa.types.is_decimal(kind):
        return int(min(10 ** (kind.precision - kind.scale) - 1, 2**53))
    return int(LARGEST_WHOLE.get(kind, 2.0**53))


def _forms_of(
    by_length: Mapping[int, _Rows], wanted: int, first: str, most: str | None
) -> tuple[Form, ...]:
    """Return the form of the identifiers, and a wider one for when it runs out; none may fit.

    The form has room for as many as are `wanted`. `first` are the digits that may come first, and
    `most` is the largest number that the type can hold; None for texts.
    """
    if not by_length:
        return ()
    main = max(by_length, key=lambda length: (by_length[length].count, length))
    if by_length[main].count < max(FEWEST, sum(one.count for one in by_length.values()) / 4):
        return ()
    form = read_form(by_length[main].sample(), first if most is not None else None)
    return () if form is None else _with_room(form, by_length, wanted, first, most)


def _with_room(
    form: Form, by_length: Mapping[int, _Rows], wanted: int, first: str, most: str | None
) -> tuple[Form, ...]:
    """Return a form with beginnings that no original has, and a wider one; none may fit."""

    def fitted(one: Form, room: int) -> Form | None:
        fitting = _within(one, most)
        return None if fitting is None else fitting.fitted(by_length.get(len(one.places), ()), room)

    same = list(_looser(form, first))
    wider = [one for digits in range(1, 10) if (one := form.wider(digits)) is not None]
    # As long as the original's if there is room for as many, and better for several times that.
    tries = [(one, times * wanted + FEWEST) for times in (4, 1) for one in same]
    tries += [(one, wanted + FEWEST) for one in wider]
    main_form = next((made for one, room in tries if (made := fitted(one, room))), None)
    if main_form is None:
        return ()
    if main_form.room >= _MORE:
        return (main_form,)
    longer = (one for one in wider if len(one.places) > len(main_form.places))
    more = next((made for one in longer if (made := fitted(one, _MORE))), None)
    return (main_form,) if more is None else (main_form, more)


def _looser(form: Form, first: str) -> Iterator[Form]:
    """Yield a form, and the same with more and more of its fixed digits left open."""
    looser: Form | None = form
    while looser is not None:
        yield looser
        looser = looser.looser(first)


def _within(form: Form, most: str | None) -> Form | None:
    """Return the form without numbers that the type cannot hold; None if nothing is left."""
    if most is None or len(form.places) < len(most):
        return form
    lower = "".join(digit for digit in form.places[0] if digit < most[0])
    if len(form.places) > len(most) or not lower:
        return None
    return replace(form, places=(lower, *form.places[1:]))
