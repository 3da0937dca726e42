"""Identifiers that look like the original's, but are none of them.

What is kept of the original's is their form: which characters may stand at each place. A character
is kept as it is only if nearly all records share it. The made-up ones begin in ways in which no
original begins, so that they differ from all of them by construction: a model holds no identifier,
and no trace of one such as a hash, which could be guessed back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.check_digits import (
    SCHEMES,
    Characters,
    Check,
    characters_of,
    check_places,
    find_check,
    set_check,
)
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

SHARED, FEWEST_SHARED = 0.9, 20
"""A character stays as it is if this share of the records have it, and at least so many."""

FEWEST = 5
"""Fewer records than this have no say in what may stand at a place."""

DIGITS = "0123456789"
_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_CLASSES = (
    DIGITS,
    _UPPER,
    _LOWER,
    DIGITS + "abcdef",
    DIGITS + "ABCDEF",
    DIGITS + _UPPER,
    DIGITS + _LOWER,
    DIGITS + _UPPER + _LOWER,
)
_EMAIL = r"^[^@\s]+@[^@\s]+\.[^@\s]+$"
_DOMAINS = ("example.org", "example.net", "example.com", "made-up.example")
_PREFIXES = ("synthetic-", "made-up-", "synthetic-made-up-")
_MOST_BEGINNINGS, _MOST_COUNTED = 2**22, 2**31
_FEW_KEPT, _MOST_KEPT = 64, 4096
"""Beginnings that are kept: so many for variety, and no more than this."""
_MORE = 10**8
"""How many identifiers a form is widened to hold if the first one runs out."""


@dataclass(frozen=True)
class Form:
    """One form of identifiers: what may stand at each place, and how none of the original's begins.

    Parameters
    ----------
    places : tuple of str
        The characters that may stand at each place.
    lead : int
        How many places with a choice make up the beginning.
    free : tuple of int
        The beginnings that no original has, by their number among all.
    check : str
        The scheme of the check digits; empty for none.
    checked : tuple of int
        Their places.
    """

    places: tuple[str, ...]
    lead: int = 0
    free: tuple[int, ...] = ()
    check: Check = ""
    checked: tuple[int, ...] = ()

    @property
    def open(self) -> list[int]:
        """The places with a choice, without those of check digits."""
        return [n for n, one in enumerate(self.places) if len(one) > 1 and n not in self.checked]

    @property
    def _counted(self) -> int:
        """How many of the last open places count the identifiers; those between are filled."""
        count, combinations = 0, 1
        for place in reversed(self.open[self.lead :]):
            if combinations * len(self.places[place]) > _MOST_COUNTED:
                break
            combinations *= len(self.places[place])
            count += 1
        return count

    @property
    def _per_beginning(self) -> int:
        last = self.open[len(self.open) - self._counted :]
        return math.prod(len(self.places[place]) for place in last)

    @property
    def room(self) -> int:
        """How many different identifiers there are of this form."""
        return len(self.free) * self._per_beginning

    def make(self, order: NDArray[np.int64]) -> Characters:
        """Return the identifiers at some places of a fixed order, a row each."""
        made = np.empty((len(order), len(self.places)), np.uint32)
        for place, one in enumerate(self.places):
            made[:, place] = ord(one[0])
        first, turn = order % len(self.free), order // len(self.free)
        self._write(made, self.open[: self.lead], np.array(self.free, np.int64)[first])
        counted = len(self.open) - self._counted
        size = self._per_beginning
        start = (_mixed(first, 0) % np.uint64(size)).astype(np.int64)
        self._write(made, self.open[counted:], (turn * _step(size) + start) % size)
        for number, place in enumerate(self.open[self.lead : counted]):
            alphabet = _codes(self.places[place])
            made[:, place] = alphabet[_mixed(order, number) % np.uint64(len(alphabet))]
        set_check(self.check, made, list(self.checked))
        return made

    def _write(self, made: Characters, places: Sequence[int], numbers: NDArray[np.int64]) -> None:
        """Write a number in the characters of some places, the last of them the units."""
        rest = numbers
        for place in reversed(places):
            alphabet = _codes(self.places[place])
            made[:, place] = alphabet[rest % len(alphabet)]
            rest = rest // len(alphabet)

    def fitted(self, characters: Characters, wanted: int) -> Form | None:
        """Return the form with beginnings that no original has; None if it lacks the room.

        The shortest beginnings that leave room for `wanted` identifiers are taken.
        """
        own = characters[self._of_this_form(characters)]
        taken = np.zeros(len(own), np.int64)
        combinations = 1
        for lead, place in enumerate(self.open, 1):
            alphabet = self.places[place]
            combinations *= len(alphabet)
            if combinations > _MOST_BEGINNINGS:
                return None
            ranks = np.searchsorted(np.sort(_codes(alphabet)), own[:, place])
            taken = taken * len(alphabet) + np.argsort(_codes(alphabet), kind="stable")[ranks]
            unused = np.ones(combinations, bool)
            unused[taken] = False
            free = np.flatnonzero(unused)
            form = replace(self, lead=lead, free=(0,))
            needed = -(-wanted // form.room)
            if len(free) >= needed:
                if needed > _MOST_KEPT:
                    return None  # longer beginnings leave less room each
                spread = np.linspace(0, len(free) - 1, max(needed, min(len(free), _FEW_KEPT)))
                return replace(form, free=tuple(free[spread.astype(int)].tolist()))
        return None

    def _of_this_form(self, characters: Characters) -> NDArray[np.bool_]:
        same = np.full(len(characters), characters.shape[1] == len(self.places))
        if not same.any():
            return same
        allowed = np.zeros(int(characters.max()) + 1, bool)
        for place, one in enumerate(self.places):
            if place not in self.checked:
                codes = _codes(one)
                allowed[:] = False
                allowed[codes[codes < len(allowed)]] = True
                same &= allowed[characters[:, place]]
        return same

    def looser(self, first: str) -> Form | None:
        """Return the form with one more digit left open, the last that is fixed; None if none is.

        `first` are the digits that may come first.
        """
        for place in reversed(range(len(self.places))):
            one = self.places[place]
            if len(one) == 1 and one in DIGITS and place not in self.checked:
                digits = first if place == 0 else DIGITS
                return replace(
                    self, places=(*self.places[:place], digits, *self.places[place + 1 :])
                )
        return None

    def wider(self, digits: int) -> Form | None:
        """Return the form with more digits; None if its check digits need this length."""
        if self.check not in ("", "luhn"):
            return None
        numeric = [place for place in self.open if self.places[place][-1:] == "9"]
        end = max(numeric, default=len(self.places) - 1) + 1
        places = (*self.places[:end], *[DIGITS] * digits, *self.places[end:])
        moved = tuple(one + digits * (one >= end) for one in self.checked)
        return replace(self, places=places, checked=moved)


def _step(size: int) -> int:
    """Return a step near the golden section that comes to every number below `size` in turn."""
    start = int(0.618 * size) + 1
    return next(one for one in range(start, start + size + 1) if math.gcd(one, size) == 1) % size


def _codes(alphabet: str) -> NDArray[np.uint32]:
    return np.array([ord(one) for one in alphabet], np.uint32)


def _mixed(order: NDArray[np.int64], number: int) -> NDArray[np.uint64]:
    """Return numbers that look random (splitmix64), the same for the same row and place."""
    with np.errstate(over="ignore"):
        state = order.astype(np.uint64) * np.uint64(64) + np.uint64(number + 1)
        state *= np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (state ^ (state >> np.uint64(31))) >> np.uint64(33)


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
    """

    forms: tuple[Form, ...] = ()
    prefix: str = "synthetic-"
    suffix: str = ""
    below: int = 0
    spare: int | None = None

    @classmethod
    def learn(cls, array: pa.Array, name: str) -> Pattern:
        """Return the pattern of a column of identifiers."""
        kind = array.type
        if pa.types.is_dictionary(kind):
            array, kind = array.dictionary_decode(), kind.value_type
        values = array.unique().drop_null()
        if form_of(kind, name) == "category":
            return _of_texts(values.cast(pa.string()))
        return _of_numbers(values, kind, name)

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


def _of_texts(values: pa.Array) -> Pattern:
    texts = values.to_pylist()
    prefix = next(
        (one for one in _PREFIXES if not _any_starts(values, one)),
        "synthetic" + "-" * (1 + max(map(len, texts), default=0)),
    )
    plain = Pattern(prefix=prefix)
    enough = max(SHARED * len(texts), FEWEST)
    if (pc.sum(pc.match_substring_regex(values, _EMAIL)).as_py() or 0) >= enough:
        domain = next((one for one in _DOMAINS if not _any_ends(values, f"@{one}")), None)
        if domain is not None:
            return Pattern(prefix="person-", suffix=f"@{domain}")
    lengths = np.asarray(pc.utf8_length(values))
    by_length = {int(one): _rows_of(texts, lengths, int(one)) for one in np.unique(lengths)}
    forms = _forms_of(by_length, len(texts), DIGITS, most=None)
    return replace(plain, forms=forms)


def _rows_of(texts: list[str], lengths: NDArray[Any], length: int) -> Characters:
    if not length:
        return np.empty((0, 0), np.uint32)
    return characters_of([texts[row] for row in np.flatnonzero(lengths == length)])


def _any_starts(values: pa.Array, prefix: str) -> bool:
    return bool(pc.any(pc.starts_with(values, prefix)).as_py())


def _any_ends(values: pa.Array, suffix: str) -> bool:
    return bool(pc.any(pc.ends_with(values, suffix, ignore_case=True)).as_py())


def _of_numbers(values: pa.Array, kind: pa.DataType, name: str) -> Pattern:
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
    by_length = {
        int(one): _written(found[lengths == one], powers[:one]) for one in np.unique(lengths)
    }
    forms = _forms_of(by_length, len(found), DIGITS[1:], most=str(top))
    return Pattern(forms, below=below, spare=spare)


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
    by_length: Mapping[int, Characters], count: int, first: str, most: str | None
) -> tuple[Form, ...]:
    """Return the form of the identifiers, and a wider one for when it runs out; none may fit.

    `first` are the digits that may come first, and `most` is the largest number that the type can
    hold; None for texts.
    """
    if not by_length:
        return ()
    main = max(by_length, key=lambda length: (len(by_length[length]), length))
    own = by_length[main]
    if not main or len(own) < max(FEWEST, count / 4):
        return ()
    form = _read_form(own, first if most is not None else None)
    if form is None:
        return ()
    wanted = 2 * count + 100
    found: list[Form] = []
    for one in _candidates(form, first):
        if found and (found[0].room >= _MORE or len(one.places) <= len(found[0].places)):
            continue
        fitting = _within(one, most)
        if fitting is None:
            continue
        others = by_length.get(len(one.places), np.empty((0, len(one.places)), np.uint32))
        fitted = fitting.fitted(others, wanted if not found else _MORE)
        if fitted is not None:
            found.append(fitted)
        if len(found) == 2 or (found and found[0].room >= _MORE):
            break
    return tuple(found)


def _candidates(form: Form, first: str) -> Iterator[Form]:
    """Yield forms to try: as it is, with more digits left open, and with more digits."""
    looser: Form | None = form
    while looser is not None:
        yield looser
        form, looser = looser, looser.looser(first)
    for digits in range(1, 10):
        wider = form.wider(digits)
        if wider is None:
            return
        yield wider


def _within(form: Form, most: str | None) -> Form | None:
    """Return the form without numbers that the type cannot hold; None if nothing is left."""
    if most is None or len(form.places) < len(most):
        return form
    lower = "".join(digit for digit in form.places[0] if digit < most[0])
    if len(form.places) > len(most) or not lower:
        return None
    return replace(form, places=(lower, *form.places[1:]))


def _read_form(characters: Characters, first: str | None) -> Form | None:
    """Return what may stand at each place of identifiers of one length; None if it has no form.

    `first` are the digits that may come first if they are numbers.
    """
    if characters.shape[1] == 36 and first is None:
        uuid = _uuid_form(characters)
        if uuid is not None:
            return uuid
    places = []
    for place, column in enumerate(characters.T):
        times = np.bincount(column)
        codes = np.flatnonzero(times)
        counts = times[codes]
        top = int(counts.argmax())
        if counts[top] >= max(SHARED * len(column), FEWEST_SHARED):
            places.append(chr(codes[top]))
            continue
        allowed = next(
            (one for one in _CLASSES if counts[~np.isin(codes, _codes(one))].sum() < FEWEST),
            None,
        )
        if allowed is None:
            return None
        places.append(first if first is not None and place == 0 else allowed)
    form = Form(tuple(places))
    own = characters[form._of_this_form(characters)]  # noqa: SLF001  # the same idea
    if len(own) < FEWEST:
        return None
    check = find_check(own) if len(own) >= FEWEST_SHARED else ""
    if check:
        form = replace(form, check=check, checked=tuple(check_places(check, own)))
    return form if form.open or any(one in DIGITS for one in form.places) else None


def _uuid_form(characters: Characters) -> Form | None:
    dashes = [8, 13, 18, 23]
    fit = (characters[:, dashes] == ord("-")).all(axis=1)
    fit &= np.isin(np.delete(characters, dashes, axis=1), _codes(DIGITS + "abcdefABCDEF")).all(
        axis=1
    )
    if np.count_nonzero(fit) < max(SHARED * len(fit), FEWEST):
        return None
    own = characters[fit]
    upper = np.isin(own, _codes(_UPPER)).sum() > np.isin(own, _codes(_LOWER)).sum()
    letters = "ABCDEF" if upper else "abcdef"
    versions, counts = np.unique(own[:, 14], return_counts=True)
    common = counts.max() >= max(SHARED * len(own), FEWEST_SHARED)
    places = [DIGITS + letters] * 36
    for dash in dashes:
        places[dash] = "-"
    places[14] = chr(versions[counts.argmax()]) if common else "4"
    places[19] = "89" + letters[:2]
    return Form(tuple(places))
